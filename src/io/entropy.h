/* entropy.h - random bytes for keys, tokens and nonces. Any thread. */
#pragma once

#include "base/status.h"

MUST_USE status entropy_draw(void *out, size_t n); /* ST_IO: the kernel has none */
