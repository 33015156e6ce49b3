#include "web/html_token.h"

#include "web/html_raw.h"
#include "web/html_scan.h"

enum {
    CH_SPACE = 1,     /* tab LF FF CR space */
    CH_NAME_END = 2,  /* CH_SPACE / > : ends a tag name */
    CH_ATTR_END = 4,  /* CH_NAME_END = : ends an attribute name */
    CH_VALUE_END = 8, /* CH_SPACE > : ends an unquoted value */
    CH_OPENS = 16,    /* ! / ? : after '<' this may be markup; so may a letter */
};

#define SPACE_BITS (CH_SPACE | CH_NAME_END | CH_ATTR_END | CH_VALUE_END)

static const uint8_t CHARS[256] = {
    ['\t'] = SPACE_BITS,
    ['\n'] = SPACE_BITS,
    ['\f'] = SPACE_BITS,
    ['\r'] = SPACE_BITS,
    [' '] = SPACE_BITS,
    ['/'] = CH_NAME_END | CH_ATTR_END | CH_OPENS,
    ['>'] = CH_NAME_END | CH_ATTR_END | CH_VALUE_END,
    ['='] = CH_ATTR_END,
    ['!'] = CH_OPENS,
    ['?'] = CH_OPENS,
};

static inline bool is_char(const char *p, unsigned bits)
{
    return CHARS[(unsigned char)*p] & bits;
}

static inline const char *skip_space(const char *p, const char *end)
{
    while (p < end && is_char(p, CH_SPACE))
        p++;
    return p;
}

static inline const char *skip_until(const char *p, const char *end, unsigned bits)
{
    while (p < end && !is_char(p, bits))
        p++;
    return p;
}

void html_begin(struct html_tok *t, struct span html)
{
    t->at = html.p ? html.p : "";
    t->end = t->at + html.n;
    t->state = HTML_DATA;
    t->foreign = false;
    t->last_start = (struct span){0};
    t->wants_attrs = NULL;
}

/* Attributes of one tag being read. `seen` has a bit for each hash of a kept name, so that the search for a duplicate
 * is made only where there may be one. */
struct attr_list {
    struct html_attr *attrs;
    size_t count;
    uint64_t seen;
};

static inline void add_attr(struct attr_list *list, struct span name, struct span value)
{
    if (list->count == HTML_ATTRS_MAX)
        return;
    unsigned hash = (unsigned)name.n + (name.p[0] & 0x1F) * 7u + (name.p[name.n - 1] & 0x1F) * 3u;
    uint64_t bit = (uint64_t)1 << (hash & 63);
    if (list->seen & bit)
        for (size_t i = 0; i < list->count; i++)
            if (span_eq_nocase(list->attrs[i].name, name))
                return;
    list->seen |= bit;
    list->attrs[list->count++] = (struct html_attr){name, value};
}

/* From behind an attribute name to behind its value, if it has one. NULL: the input ends in the tag. */
static inline const char *take_value(const char *p, const char *end, struct span *value)
{
    *value = (struct span){"", 0};
    if (p < end && is_char(p, CH_SPACE))
        p = skip_space(p, end);
    if (p == end)
        return NULL;
    if (*p != '=')
        return p;
    p++;
    if (p < end && is_char(p, CH_SPACE))
        p = skip_space(p, end);
    if (p == end)
        return NULL;
    if (*p == '"' || *p == '\'') {
        const char *close = scan_for(p + 1, end, *p);
        if (close == end)
            return NULL;
        *value = span_of(p + 1, (size_t)(close - p - 1));
        return close + 1;
    }
    const char *start = p;
    p = skip_until(p, end, CH_VALUE_END);
    *value = span_of(start, (size_t)(p - start));
    return p;
}

/* From behind the tag name to behind the '>'; NULL: the input ends in the tag. `list` NULL: nobody wants them. */
static inline const char *take_attrs(const char *p, const char *end, struct attr_list *list, bool *self_closing)
{
    for (;;) {
        p = skip_space(p, end);
        if (p == end)
            return NULL;
        if (*p == '>')
            return p + 1;
        if (*p == '/') {
            p++;
            if (p < end && *p == '>') {
                *self_closing = true;
                return p + 1;
            }
            continue;
        }
        const char *start = p;
        p = skip_until(p + 1, end, CH_ATTR_END); /* a '=' in first place belongs to the name */
        struct span name = span_of(start, (size_t)(p - start)), value;
        p = take_value(p, end, &value);
        if (!p)
            return NULL;
        if (list)
            add_attr(list, name, value);
    }
}

#define BYTES(b) ((uint64_t)0x0101010101010101 * (b))

/* The tag name at p: its end, and which tag it is. The first eight bytes are looked at as one number: a byte up to
 * 0x20,
 * '/' or '>' ends the name. Borrowing makes wrong hits only above a right one, and the lowest is taken. */
static inline const char *take_name(const char *p, const char *end, html_tag *tag)
{
    if (end - p >= 8) {
        uint64_t word = scan_load64(p);
        uint64_t slash = word ^ BYTES('/'), angle = word ^ BYTES('>');
        uint64_t ends =
            (((word - BYTES(0x21)) & ~word) | ((slash - BYTES(1)) & ~slash) | ((angle - BYTES(1)) & ~angle)) &
            BYTES(0x80);
        if (ends) {
            unsigned len = (unsigned)__builtin_ctzll(ends) / 8;
            if (is_char(p + len, CH_NAME_END)) {
                /* Setting 0x20 in digits changes nothing, and nothing but a capital becomes a small letter. */
                uint64_t key = (word | BYTES(0x20)) & (((uint64_t)1 << (8 * len)) - 1);
                *tag = html_tag_of_key(key, span_of(p, len));
                return p + len;
            }
        }
    }
    const char *stop = skip_until(p, end, CH_NAME_END);
    *tag = html_tag_of(span_of(p, (size_t)(stop - p)));
    return stop;
}

/* A tag whose name starts at p. False: the input ends in it, and then nothing counts. */
static inline bool take_tag(struct html_tok *t, struct html_token *tok, const char *p, html_kind kind)
{
    html_tag tag;
    const char *stop = take_name(p, t->end, &tag);
    tok->kind = (uint8_t)kind;
    tok->tag = (uint8_t)tag;
    tok->self_closing = false;
    tok->attr_count = 0;
    tok->raw = span_of(p, (size_t)(stop - p));
    if (kind == HTML_START)
        t->last_start = tok->raw;
    if (stop < t->end && *stop == '>') {
        t->at = stop + 1;
        return true;
    }
    if (kind == HTML_START && (!t->wants_attrs || t->wants_attrs[tag])) {
        struct attr_list list = {t->attrs, 0, 0};
        stop = take_attrs(stop, t->end, &list, &tok->self_closing);
        tok->attrs = t->attrs;
        tok->attr_count = list.count;
    } else {
        stop = take_attrs(stop, t->end, NULL, &tok->self_closing);
    }
    t->at = stop ? stop : t->end;
    return stop != NULL;
}

static bool give(struct html_token *tok, html_kind kind, const char *from, const char *to, unsigned decode)
{
    tok->kind = (uint8_t)kind;
    tok->tag = HTML_TAG_other;
    tok->decode = (uint8_t)decode;
    tok->raw = span_of(from, (size_t)(to - from));
    return true;
}

/* Everything up to the next '>' is a comment. */
static bool take_bogus(struct html_tok *t, struct html_token *tok, const char *p)
{
    const char *stop = scan_for(p, t->end, '>');
    t->at = stop < t->end ? stop + 1 : stop;
    return give(tok, HTML_COMMENT, p, stop, HTML_NUL_SHOWN);
}

static bool take_cdata(struct html_tok *t, struct html_token *tok, const char *p)
{
    const char *stop = p;
    while ((stop = scan_for(stop, t->end, ']')) < t->end && !(t->end - stop >= 3 && stop[1] == ']' && stop[2] == '>'))
        stop++;
    t->at = stop < t->end ? stop + 3 : stop;
    return stop > p && give(tok, HTML_TEXT, p, stop, 0);
}

/* What starts with "<!"; p is behind it. */
static bool take_declaration(struct html_tok *t, struct html_token *tok, const char *p)
{
    struct span rest = span_of(p, (size_t)(t->end - p));
    if (span_starts(rest, SPAN("--"))) {
        struct span data;
        t->at = html_comment_end(p + 2, t->end, &data);
        return give(tok, HTML_COMMENT, data.p, data.p + data.n, HTML_NUL_SHOWN);
    }
    if (span_starts_nocase(rest, SPAN("doctype"))) {
        const char *stop = scan_for(p + 7, t->end, '>');
        tok->at_eof = stop == t->end;
        t->at = stop < t->end ? stop + 1 : stop;
        return give(tok, HTML_DOCTYPE, p + 7, stop, HTML_NUL_SHOWN);
    }
    if (t->foreign && span_starts(rest, SPAN("[CDATA[")))
        return take_cdata(t, tok, p + 7);
    return take_bogus(t, tok, p);
}

/* Markup at t->at, as find_markup saw it. False when it leaves no token ("</>", or the input ends in a tag). */
static inline bool take_markup(struct html_tok *t, struct html_token *tok)
{
    const char *p = t->at + 1;
    if (ascii_is_alpha(*p))
        return take_tag(t, tok, p, HTML_START);
    if (*p == '/') {
        p++;
        if (ascii_is_alpha(*p))
            return take_tag(t, tok, p, HTML_END);
        if (*p != '>')
            return take_bogus(t, tok, p);
        t->at = p + 1;
        return false;
    }
    return *p == '!' ? take_declaration(t, tok, p + 1) : take_bogus(t, tok, p);
}

/* The next '<' that opens markup; a '<' before anything else is text. */
static inline const char *find_markup(const char *p, const char *end)
{
    for (; (p = scan_for(p, end, '<')) < end; p++)
        if (end - p > 1 && (ascii_is_alpha(p[1]) || (is_char(p + 1, CH_OPENS) && (p[1] != '/' || end - p > 2))))
            return p;
    return end;
}

/* Raw text up to its end tag, which the next turn takes as an ordinary tag. */
static bool take_raw(struct html_tok *t, struct html_token *tok)
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
    return stop > start && give(tok, HTML_TEXT, start, stop, decode);
}

bool html_next(struct html_tok *t, struct html_token *tok)
{
    while (t->at < t->end) {
        if (t->state != HTML_DATA) {
            if (take_raw(t, tok))
                return true;
            continue;
        }
        const char *start = t->at;
        t->at = find_markup(start, t->end);
        if (t->at > start)
            return give(tok, HTML_TEXT, start, t->at, HTML_REFS);
        if (take_markup(t, tok))
            return true;
    }
    return false;
}

const struct span *html_attr_find(const struct html_token *tok, struct span name)
{
    for (size_t i = 0; i < tok->attr_count; i++)
        if (span_eq_nocase(tok->attrs[i].name, name))
            return &tok->attrs[i].value;
    return NULL;
}
