#include "index/segment/name.h"

#include "index/segment/segment.h"

struct span name_of(const struct token *tokens, size_t n, char out[NAME_BYTES_MAX])
{
    size_t at = 0;
    out[at++] = TERM_SPECIAL;
    out[at++] = 'n';
    for (size_t i = 0; i < n; i++) {
        struct span t = tokens[i].term->text;
        if (tokens[i].is_whole)
            continue;
        if (at + 1 + t.n > NAME_BYTES_MAX)
            return (struct span){0};
        if (at > 2)
            out[at++] = ' ';
        memcpy(out + at, t.p, t.n);
        at += t.n;
    }
    return at > 2 ? span_of(out, at) : (struct span){0};
}
