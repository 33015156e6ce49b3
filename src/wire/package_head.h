/* package_head.h - the fixed beginning of a package. Inside wire/ only. */
#pragma once

#include "wire/package.h"

/* Writes PACKAGE_HEAD_BYTES for a body of head->body_bytes. */
void package_head_write(const struct package_head *head, const struct sign_key *agent, struct span body, char *to);
