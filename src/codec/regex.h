/* regex.h - PCRE2 patterns with a step limit, so that no pattern and no text can stall us.
 *
 * Pattern and text are bytes: '.' is one byte, classes such as \w are ASCII, and (*UTF) is refused, because URLs and
 * pages may hold any byte. No JIT: its steps are counted otherwise and its depth not at all.
 * Compiled once, matched from any one thread at a time. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define REGEX_PATTERN_MAX 4096
#define REGEX_TEXT_MAX 8192    /* four times the longest URL */
#define REGEX_STEPS_MAX 100000 /* backtracking steps from one start in the text */
/* PCRE2 counts anew from each start, and one step may run over the whole text (possessive repeats, look-ahead). So what
 * is bounded is starts * steps * bytes: about two seconds at the very worst. Up to 200 bytes, or with a pattern
 * anchored by '^', all REGEX_STEPS_MAX are there; a text of 2,048 bytes leaves 953. */
#define REGEX_WORK_MAX UINT64_C(4000000000)
#define REGEX_DEPTH_MAX 10000
#define REGEX_HEAP_KIB_MAX 4096

struct regex;

/* ST_INVALID: bad pattern; *why (when given) gets PCRE2's message and offset. ST_LIMIT: longer than REGEX_PATTERN_MAX.
 */
MUST_USE status regex_new(struct span pattern, struct regex **out, struct buf *why);
void regex_free(struct regex *r); /* NULL is fine */
/* ST_OK: found somewhere in `text`; ST_NOT_FOUND; ST_LIMIT: too many steps, or too long a text. */
MUST_USE status regex_find(struct regex *r, struct span text);
