#include "index/text/identifier.h"

#include <assert.h>

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* Whether a part begins at `i` of a chunk without '_'; 0 < i < n. */
static bool cuts_before(struct span s, size_t i)
{
    char before = s.p[i - 1], here = s.p[i];
    bool lower_follows = i + 1 < s.n && is_lower(s.p[i + 1]);
    if (!is_upper(here))
        return false;
    if (is_upper(before)) {
        bool is_plural = i + 2 == s.n && s.p[i + 1] == 's';
        return lower_follows && !is_plural;
    }
    return is_lower(before) || (ascii_is_digit(before) && lower_follows);
}

struct parts {
    struct identifier_part *p;
    size_t n;
};

static void add(struct parts *parts, size_t from, size_t to)
{
    if (from == to)
        return;
    assert(parts->n < IDENTIFIER_PARTS_MAX);
    parts->p[parts->n++] = (struct identifier_part){(uint16_t)from, (uint16_t)(to - from)};
}

static void split_chunk(struct span word, size_t from, size_t to, struct parts *parts)
{
    struct span chunk = span_cut(word, from, to - from);
    size_t begin = 0, digits = chunk.n;
    for (size_t i = 1; i < chunk.n; i++)
        if (cuts_before(chunk, i)) {
            add(parts, from + begin, from + i);
            begin = i;
        }
    while (begin > 0 && digits > begin && ascii_is_digit(chunk.p[digits - 1]))
        digits--;
    add(parts, from + begin, from + digits);
    add(parts, from + digits, to);
}

size_t identifier_split(struct span word, bool by_case, struct identifier_part parts[IDENTIFIER_PARTS_MAX])
{
    struct parts out = {.p = parts};
    word = span_cut(word, 0, IDENTIFIER_BYTES_MAX);
    for (size_t from = 0; from < word.n;) {
        size_t to = span_find(word, '_', from);
        if (by_case)
            split_chunk(word, from, to, &out);
        else
            add(&out, from, to);
        from = to + 1;
    }
    return out.n;
}
