#include "base/span.h"

int ascii_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = ascii_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool span_starts(struct span s, struct span prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool span_starts_nocase(struct span s, struct span prefix)
{
    if (s.n < prefix.n)
        return false;
    for (size_t i = 0; i < prefix.n; i++)
        if (s.p[i] != prefix.p[i] && ascii_lower(s.p[i]) != ascii_lower(prefix.p[i]))
            return false;
    return true;
}

bool span_ends(struct span s, struct span suffix)
{
    return s.n >= suffix.n && (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

struct span span_trim(struct span s)
{
    while (s.n && ascii_is_space(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n && ascii_is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

size_t span_find(struct span s, char c, size_t from)
{
    if (from >= s.n)
        return s.n;
    const char *hit = memchr(s.p + from, c, s.n - from);
    return hit ? (size_t)(hit - s.p) : s.n;
}

/* Goes from one first byte of the needle to the next, so that most of `s` is memchr's. */
static size_t search_exactly(struct span s, struct span needle)
{
    for (size_t i = 0; (i = span_find(s, needle.p[0], i)) + needle.n <= s.n; i++)
        if (memcmp(s.p + i, needle.p, needle.n) == 0)
            return i;
    return s.n;
}

size_t span_search(struct span s, struct span needle, bool nocase)
{
    if (needle.n > s.n || needle.n == 0)
        return needle.n ? s.n : 0;
    if (!nocase)
        return search_exactly(s, needle);
    char first = ascii_lower(needle.p[0]);
    for (size_t i = 0; i + needle.n <= s.n; i++)
        if (ascii_lower(s.p[i]) == first && span_starts_nocase(span_from(s, i), needle))
            return i;
    return s.n;
}

bool span_split(struct span *rest, char sep, struct span *part)
{
    if (!rest->p)
        return false;
    size_t at = span_find(*rest, sep, 0);
    *part = (struct span){rest->p, at};
    *rest = at == rest->n ? (struct span){NULL, 0} : span_from(*rest, at + 1);
    return true;
}

bool span_u64(struct span s, uint64_t max, uint64_t *out)
{
    if (s.n == 0)
        return false;
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (!ascii_is_digit(s.p[i]))
            return false;
        uint64_t d = (uint64_t)(s.p[i] - '0');
        if (d > max || v > (max - d) / 10)
            return false;
        v = v * 10 + d;
    }
    *out = v;
    return true;
}

int span_cmp(struct span a, struct span b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : (a.n > b.n) - (a.n < b.n);
}
