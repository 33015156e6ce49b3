/* span.h - borrowed text: a pointer and a length, never NUL-terminated by promise.
 *
 * A span owns nothing; whoever made it says how long it lives. The empty span may have p == NULL. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
    const char *p; /* borrowed */
    size_t n;
};

/* For string literals only. */
#define SPAN(lit) ((struct span){"" lit, sizeof(lit) - 1})
/* The same inside a static initialiser, where C17 allows no compound literal. */
#define SPAN_INIT(lit)          \
    {                           \
        "" lit, sizeof(lit) - 1 \
    }
/* For printf: printf("%.*s", SPAN_ARG(s)). */
#define SPAN_ARG(s) (int)((s).n > INT32_MAX ? INT32_MAX : (s).n), (s).p ? (s).p : ""

static inline struct span span_of(const void *p, size_t n)
{
    return (struct span){(const char *)p, n};
}

static inline struct span span_str(const char *s)
{
    return (struct span){s, s ? strlen(s) : 0};
}

static inline struct span span_from(struct span s, size_t at)
{
    return at >= s.n ? (struct span){s.p ? s.p + s.n : NULL, 0} : (struct span){s.p + at, s.n - at};
}

static inline struct span span_cut(struct span s, size_t at, size_t n)
{
    s = span_from(s, at);
    if (s.n > n)
        s.n = n;
    return s;
}

static inline bool span_eq(struct span a, struct span b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool span_is(struct span a, const char *s)
{
    return span_eq(a, span_str(s));
}

static inline char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static inline bool ascii_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

static inline bool ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool ascii_is_alpha(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

/* Value of a hexadecimal digit, or -1. */
int ascii_hex(char c);

bool span_starts(struct span s, struct span prefix);
bool span_starts_nocase(struct span s, struct span prefix);

/* Equal but for ASCII case. Inline, because most comparisons end at the length. */
static inline bool span_eq_nocase(struct span a, struct span b)
{
    return a.n == b.n && span_starts_nocase(a, b);
}

static inline bool span_is_nocase(struct span a, const char *s)
{
    return span_eq_nocase(a, span_str(s));
}

bool span_ends(struct span s, struct span suffix);

/* Without ASCII white space at either end. */
struct span span_trim(struct span s);

/* Index of the first `c` at or after `from`, or s.n. */
size_t span_find(struct span s, char c, size_t from);
/* Index of the first occurrence of `needle`, or s.n; `nocase` folds ASCII. */
size_t span_search(struct span s, struct span needle, bool nocase);

/* Cuts the part before the next `sep` off *rest; false once *rest is used up (then *part is untouched). An
 * empty *rest with p == NULL is used up; "a," yields "a" and "". */
bool span_split(struct span *rest, char sep, struct span *part);

/* The number in a span of decimal digits only; false when empty, not digits, or above `max`. */
bool span_u64(struct span s, uint64_t max, uint64_t *out);

/* memcmp order, shorter first on a tie. */
int span_cmp(struct span a, struct span b);
