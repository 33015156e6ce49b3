#include "serve/filters.h"

#include "base/buf.h"

bool filter_next_word(struct span *rest, struct span *word)
{
    size_t from = 0;
    while (from < rest->n && ascii_is_space(rest->p[from]))
        from++;
    size_t at = from;
    bool is_quoted = false;
    while (at < rest->n && (is_quoted || !ascii_is_space(rest->p[at]))) {
        is_quoted ^= rest->p[at] == '"';
        at++;
    }
    if (at == from)
        return false;
    *word = span_cut(*rest, from, at - from);
    *rest = span_from(*rest, at);
    return true;
}

static struct span prefix_of(filter_kind kind)
{
    return kind == FILTER_SITE ? SPAN("site:") : SPAN("lang:");
}

filter_kind filter_of(struct span word, struct span *value)
{
    for (filter_kind k = FILTER_SITE; k <= FILTER_LANG; k++) {
        struct span prefix = prefix_of(k);
        if (word.n > prefix.n && span_starts_nocase(word, prefix)) {
            *value = span_from(word, prefix.n);
            return k;
        }
    }
    return FILTER_NONE;
}

static void put_without(struct buf *out, struct span query, filter_kind kind)
{
    struct span word, value;
    while (filter_next_word(&query, &word)) {
        if (filter_of(word, &value) == kind)
            continue;
        if (out->n)
            buf_putc(out, ' ');
        buf_put(out, word);
    }
}

struct span filter_without(struct arena *a, struct span query, filter_kind kind)
{
    struct buf b = {0};
    put_without(&b, query, kind);
    struct span result = arena_copy(a, buf_span(&b));
    buf_done(&b);
    return result;
}

struct span filter_with(struct arena *a, struct span query, filter_kind kind, struct span value)
{
    struct buf b = {0};
    put_without(&b, query, kind);
    if (b.n)
        buf_putc(&b, ' ');
    buf_put(&b, prefix_of(kind));
    buf_put(&b, value);
    struct span result = arena_copy(a, buf_span(&b));
    buf_done(&b);
    return result;
}
