/* key_file.h - the secret key of whoever signs programs, as a file that only its owner reads.
 *
 *     orb-program-key 1
 *     seed: BASE64URL */
#pragma once

#include "codec/sign.h"

/* All complain by themselves and return an exit code; `what` is the command's name. */
int key_file_make(const char *what, const char *path, struct sign_key *out); /* never over a file that is there */
int key_file_read(const char *what, const char *path, struct sign_key *out); /* not when others may read it */
