/* utf8.h - stepping through UTF-8 that may be broken. */
#pragma once

#include "base/span.h"

/* Decodes the scalar at s.p[*at] (*at < s.n) and moves *at past it. An invalid sequence yields U+FFFD and skips its
 * maximal valid prefix, as the Encoding Standard does; *valid, when given, tells which it was. */
uint32_t utf8_next(struct span s, size_t *at, bool *valid);
bool utf8_is_valid(struct span s);
/* The longest prefix of at most `max` bytes that does not cut a character. */
struct span utf8_cut(struct span s, size_t max);
