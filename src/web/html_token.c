#include "web/html_token.h"

#include "web/html_next.h"
#include "web/html_raw.h"
#include "web/html_scan.h"

#define SPACE_BITS (HTML_CH_SPACE | HTML_CH_NAME_END | HTML_CH_ATTR_END | HTML_CH_VALUE_END)

const uint8_t HTML_CHARS[256] = {
    ['\t'] = SPACE_BITS,
    ['\n'] = SPACE_BITS,
    ['\f'] = SPACE_BITS,
    ['\r'] = SPACE_BITS,
    [' '] = SPACE_BITS,
    ['/'] = HTML_CH_NAME_END | HTML_CH_ATTR_END | HTML_CH_OPENS,
    ['>'] = HTML_CH_NAME_END | HTML_CH_ATTR_END | HTML_CH_VALUE_END,
    ['='] = HTML_CH_ATTR_END,
    ['!'] = HTML_CH_OPENS,
    ['?'] = HTML_CH_OPENS,
};

void html_begin(struct html_tok *t, struct span html)
{
    t->at = html.p ? html.p : "";
    t->end = t->at + html.n;
    t->state = HTML_DATA;
    t->foreign = false;
    t->last_start = (struct span){0};
    t->wants_attrs = NULL;
}

/* Everything up to the next '>' is a comment. */
static bool take_bogus(struct html_tok *t, struct html_token *tok, const char *p)
{
    const char *stop = scan_for(p, t->end, '>');
    t->at = stop < t->end ? stop + 1 : stop;
    return html_give(tok, HTML_COMMENT, p, stop, HTML_NUL_SHOWN);
}

static bool take_cdata(struct html_tok *t, struct html_token *tok, const char *p)
{
    const char *stop = p;
    while ((stop = scan_for(stop, t->end, ']')) < t->end && !(t->end - stop >= 3 && stop[1] == ']' && stop[2] == '>'))
        stop++;
    t->at = stop < t->end ? stop + 3 : stop;
    return stop > p && html_give(tok, HTML_TEXT, p, stop, 0);
}

/* What starts with "<!"; p is behind it. */
static bool take_declaration(struct html_tok *t, struct html_token *tok, const char *p)
{
    struct span rest = span_of(p, (size_t)(t->end - p));
    if (span_starts(rest, SPAN("--"))) {
        struct span data;
        t->at = html_comment_end(p + 2, t->end, &data);
        return html_give(tok, HTML_COMMENT, data.p, data.p + data.n, HTML_NUL_SHOWN);
    }
    if (span_starts_nocase(rest, SPAN("doctype"))) {
        const char *stop = scan_for(p + 7, t->end, '>');
        tok->at_eof = stop == t->end;
        t->at = stop < t->end ? stop + 1 : stop;
        return html_give(tok, HTML_DOCTYPE, p + 7, stop, HTML_NUL_SHOWN);
    }
    if (t->foreign && span_starts(rest, SPAN("[CDATA[")))
        return take_cdata(t, tok, p + 7);
    return take_bogus(t, tok, p);
}

bool html_take_rare(struct html_tok *t, struct html_token *tok)
{
    const char *p = t->at + 1;
    if (*p != '/')
        return *p == '!' ? take_declaration(t, tok, p + 1) : take_bogus(t, tok, p);
    if (p[1] != '>')
        return take_bogus(t, tok, p + 1);
    t->at = p + 2;
    return false;
}

bool html_take_raw(struct html_tok *t, struct html_token *tok)
{
    const char *start = t->at, *stop = t->end;
    unsigned decode = HTML_NUL_SHOWN;
    bool can_end = t->state != HTML_PLAINTEXT && t->last_start.n; /* without a start tag no end tag is the right one */
    if (can_end && t->state == HTML_SCRIPT)
        stop = html_script_end(start, t->end, t->last_start);
    else if (can_end)
        stop = html_raw_end(start, t->end, t->last_start);
    if (t->state == HTML_RCDATA)
        decode |= HTML_REFS;
    if (t->state != HTML_PLAINTEXT)
        t->state = HTML_DATA;
    t->at = stop;
    return stop > start && html_give(tok, HTML_TEXT, start, stop, decode);
}

bool html_next(struct html_tok *t, struct html_token *tok)
{
    return html_next_inline(t, tok);
}

const struct span *html_attr_find(const struct html_token *tok, struct span name)
{
    for (size_t i = 0; i < tok->attr_count; i++) {
        const struct html_attr *a = &tok->attrs[i];
        if (a->name.n == name.n && (a->name.p[0] | 0x20) == name.p[0] && span_starts_nocase(a->name, name))
            return &a->value;
    }
    return NULL;
}
