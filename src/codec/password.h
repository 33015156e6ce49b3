/* password.h - keeps passwords so that a stolen file does not give them away: Argon2id by libsodium, 64 MiB and two
 * passes, salt from the caller. Slow by design (some 100 ms): not on a loop. Pure; any thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define PASSWORD_SALT_BYTES 16
#define PASSWORD_MIN 10   /* characters */
#define PASSWORD_MAX 1024 /* bytes */

/* Appends "argon2id$..." ; ST_INVALID: too short; ST_LIMIT: too long. */
MUST_USE status password_hash(struct span password, const unsigned char salt[PASSWORD_SALT_BYTES], struct buf *out);
bool password_check(struct span hash, struct span password);
