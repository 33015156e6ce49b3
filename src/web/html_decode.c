/* html_decode.c - from raw spans of a token to what the standard makes of them. */
#include "web/html_token.h"

#include "web/html_entity.h"
#include "web/html_scan.h"

#define REPLACEMENT "\xEF\xBF\xBD"

/* The longest that `raw` can become: "&nLt;" is five bytes and becomes six, NUL becomes three. */
static size_t decoded_max(struct span raw)
{
    return memchr(raw.p, '\0', raw.n) ? raw.n * 3 : raw.n + raw.n / 4 + 1;
}

static size_t decode_into(char *out, struct span raw, unsigned flags)
{
    char *start = out;
    for (size_t i = 0; i < raw.n;) {
        char c = raw.p[i];
        size_t used = 0, made;
        if (c == '&' && (flags & HTML_REFS)) {
            char ref[HTML_REF_OUT];
            used = html_ref(span_from(raw, i), flags & HTML_IN_ATTR, ref, &made);
            if (used) {
                memcpy(out, ref, made);
                out += made;
                i += used;
                continue;
            }
        }
        i++;
        if (c == '\r') {
            *out++ = '\n';
            if (i < raw.n && raw.p[i] == '\n')
                i++;
        } else if (c == '\0' && (flags & HTML_NUL_SHOWN)) {
            memcpy(out, REPLACEMENT, 3);
            out += 3;
        } else {
            *out++ = c;
        }
    }
    return (size_t)(out - start);
}

/* Whether none of sixteen bytes has a meaning of its own. */
static inline bool is_plain_block(const char *p, bool refs)
{
    return !(scan_eq(p, '\r') | scan_eq(p, '\0') | (refs ? scan_eq(p, '&') : 0));
}

static bool is_plain(struct span raw, unsigned flags)
{
    bool refs = flags & HTML_REFS;
    size_t i = 0;
    if (raw.n >= SCAN_BLOCK) {
        for (; raw.n - i >= SCAN_BLOCK; i += SCAN_BLOCK)
            if (!is_plain_block(raw.p + i, refs))
                return false;
        return is_plain_block(raw.p + raw.n - SCAN_BLOCK, refs); /* some of it for the second time */
    }
    for (; i < raw.n; i++)
        if ((raw.p[i] == '&' && refs) || raw.p[i] == '\r' || raw.p[i] == '\0')
            return false;
    return true;
}

struct span html_decoded(struct arena *a, struct span raw, unsigned flags)
{
    if (is_plain(raw, flags))
        return raw;
    char *out = arena_bytes(a, decoded_max(raw));
    return span_of(out, decode_into(out, raw, flags));
}

struct span html_attr_value(struct arena *a, struct span raw)
{
    return html_decoded(a, raw, HTML_REFS | HTML_IN_ATTR | HTML_NUL_SHOWN);
}

void html_decode(struct buf *out, struct span raw, unsigned flags)
{
    if (raw.n)
        out->n += decode_into(buf_room(out, decoded_max(raw)), raw, flags);
}

void html_decode_name(struct buf *out, struct span raw)
{
    size_t from = out->n;
    html_decode(out, raw, HTML_NUL_SHOWN);
    for (size_t i = from; i < out->n; i++)
        out->p[i] = ascii_lower(out->p[i]);
}

/* A quoted identifier at the start of *rest, cut off it. False: its quote does not close. */
static bool take_id(struct span *rest, struct span *id)
{
    size_t close = span_find(*rest, rest->p[0], 1);
    *id = span_cut(*rest, 1, close - 1);
    bool is_closed = close < rest->n;
    *rest = span_from(*rest, close + 1);
    return is_closed;
}

static struct span skip_space(struct span s)
{
    size_t i = 0;
    while (i < s.n && ascii_is_space(s.p[i]))
        i++;
    return span_from(s, i);
}

static bool is_quote(struct span s)
{
    return s.n && (s.p[0] == '"' || s.p[0] == '\'');
}

struct html_doctype html_doctype_parse(const struct html_token *tok)
{
    struct html_doctype d = {.force_quirks = true};
    struct span rest = skip_space(tok->raw);
    if (!rest.n)
        return d;
    size_t len = 0;
    while (len < rest.n && !ascii_is_space(rest.p[len]))
        len++;
    d.name = span_cut(rest, 0, len);
    rest = skip_space(span_from(rest, len));
    bool is_public = span_starts_nocase(rest, SPAN("public"));
    if (is_public || span_starts_nocase(rest, SPAN("system"))) {
        rest = skip_space(span_from(rest, 6));
        if (!is_quote(rest) || !take_id(&rest, is_public ? &d.public_id : &d.system_id))
            return d;
        rest = skip_space(rest);
        if (is_public && is_quote(rest)) {
            if (!take_id(&rest, &d.system_id))
                return d;
            rest = skip_space(rest);
        }
        /* Behind a system identifier anything is ignored; behind a public one alone it is not. */
        if (rest.n)
            d.force_quirks = is_public && !d.system_id.p;
        else
            d.force_quirks = tok->at_eof;
        return d;
    }
    d.force_quirks = rest.n || tok->at_eof;
    return d;
}
