/* html_next.h - the inner loop of the tokenizer: html_next for the one caller whose time it is.
 *
 * Most of a crawl's work on a page is to step from token to token. Inline, the kind of a token is known where it is
 * made, and what belongs to it stays in registers; what is rare (comments, declarations, raw text) is in html_token.c.
 * Everybody else calls html_next. */
#pragma once

#include "web/html_scan.h"
#include "web/html_tag.h"
#include "web/html_token.h"

enum {
    HTML_CH_SPACE = 1,     /* tab LF FF CR space */
    HTML_CH_NAME_END = 2,  /* HTML_CH_SPACE / > : ends a tag name */
    HTML_CH_ATTR_END = 4,  /* HTML_CH_NAME_END = : ends an attribute name */
    HTML_CH_VALUE_END = 8, /* HTML_CH_SPACE > : ends an unquoted value */
    HTML_CH_OPENS = 16,    /* ! / ? : after '<' this may be markup; so may a letter */
};

extern const uint8_t HTML_CHARS[256];

static inline bool html_is_char(const char *p, unsigned bits)
{
    return HTML_CHARS[(unsigned char)*p] & bits;
}

static inline const char *html_skip_space(const char *p, const char *end)
{
    while (p < end && html_is_char(p, HTML_CH_SPACE))
        p++;
    return p;
}

static inline const char *html_skip_until(const char *p, const char *end, unsigned bits)
{
    while (p < end && !html_is_char(p, bits))
        p++;
    return p;
}

/* Where the name of an attribute ends. */
static inline const char *html_skip_attr_name(const char *p, const char *end)
{
    if (end - p >= SCAN_BLOCK) {
        unsigned ends = scan_le(p, 0x20) | scan_eq(p, '=') | scan_eq(p, '>') | scan_eq(p, '/');
        if (ends && html_is_char(p + __builtin_ctz(ends), HTML_CH_ATTR_END)) /* not all below 0x20 is white space */
            return p + __builtin_ctz(ends);
    }
    return html_skip_until(p, end, HTML_CH_ATTR_END);
}

/* Attributes of one tag being read. `seen` has a bit for each hash of a kept name, so that the search for a duplicate
 * is made only where there may be one. */
struct html_attr_list {
    struct html_attr *attrs;
    size_t count;
    uint64_t seen;
};

static inline void html_add_attr(struct html_attr_list *list, struct span name, struct span value)
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
static inline const char *html_take_value(const char *p, const char *end, struct span *value)
{
    *value = (struct span){"", 0};
    if (p < end && html_is_char(p, HTML_CH_SPACE))
        p = html_skip_space(p, end);
    if (p == end)
        return NULL;
    if (*p != '=')
        return p;
    p++;
    if (p < end && html_is_char(p, HTML_CH_SPACE))
        p = html_skip_space(p, end);
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
    p = html_skip_until(p, end, HTML_CH_VALUE_END);
    *value = span_of(start, (size_t)(p - start));
    return p;
}

/* From behind the tag name to behind the '>'; NULL: the input ends in the tag. `list` may be NULL. */
static inline const char *html_take_attrs(const char *p, const char *end, struct html_attr_list *list,
                                          bool *self_closing)
{
    for (;;) {
        p = html_skip_space(p, end);
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
        p = html_skip_attr_name(p + 1, end); /* a '=' in first place belongs to the name */
        struct span name = span_of(start, (size_t)(p - start)), value;
        p = html_take_value(p, end, &value);
        if (!p)
            return NULL;
        if (list)
            html_add_attr(list, name, value);
    }
}

/* The same when nobody wants them. Up to the first '=' there are names only, so the '>' or the '=' that comes first
 * tells how it goes on; what is not name="value" is left to html_take_attrs. */
static inline const char *html_skip_attrs(const char *p, const char *end, bool *self_closing)
{
    const char *from = p; /* no attribute is begun there */
    while (end - p > SCAN_BLOCK) {
        unsigned stops = scan_eq(p, '>') | scan_eq(p, '=');
        p += stops ? __builtin_ctz(stops) : SCAN_BLOCK;
        if (!stops)
            continue;
        if (*p == '>') {
            *self_closing = p[-1] == '/';
            return p + 1;
        }
        if (p == from || html_is_char(p - 1, HTML_CH_ATTR_END) || (p[1] != '"' && p[1] != '\''))
            break;
        p = scan_for(p + 2, end, p[1]);
        if (p == end)
            return NULL;
        from = ++p;
    }
    return html_take_attrs(from, end, NULL, self_closing);
}

#define HTML_BYTES(b) ((uint64_t)0x0101010101010101 * (b))

/* The tag name at p: its end, and which tag it is. The first eight bytes are looked at as one number: a byte up to
 * 0x20, '/' or '>' ends the name. Borrowing makes wrong hits only above a right one, and the lowest is taken. */
static inline const char *html_take_name(const char *p, const char *end, html_tag *tag)
{
    if (end - p >= 8) {
        uint64_t word = scan_load64(p);
        uint64_t slash = word ^ HTML_BYTES('/'), angle = word ^ HTML_BYTES('>');
        uint64_t ends = (((word - HTML_BYTES(0x21)) & ~word) | ((slash - HTML_BYTES(1)) & ~slash) |
                         ((angle - HTML_BYTES(1)) & ~angle)) &
                        HTML_BYTES(0x80);
        if (ends) {
            unsigned len = (unsigned)__builtin_ctzll(ends) / 8;
            if (html_is_char(p + len, HTML_CH_NAME_END)) {
                /* Setting 0x20 in digits changes nothing, and nothing but a capital becomes a small letter. */
                uint64_t key = (word | HTML_BYTES(0x20)) & (((uint64_t)1 << (8 * len)) - 1);
                *tag = html_tag_of_key(key);
                return p + len;
            }
        }
    }
    const char *stop = html_skip_until(p, end, HTML_CH_NAME_END);
    *tag = html_tag_of(span_of(p, (size_t)(stop - p)));
    return stop;
}

/* A tag whose name starts at p. False: the input ends in it, and then nothing counts. */
static inline bool html_take_tag(struct html_tok *t, struct html_token *tok, const char *p, html_kind kind)
{
    html_tag tag;
    const char *stop = html_take_name(p, t->end, &tag);
    tok->kind = (uint8_t)kind;
    tok->tag = (uint8_t)tag;
    tok->self_closing = false;
    tok->attr_count = 0;
    tok->raw = span_of(p, (size_t)(stop - p));
    if (kind == HTML_START) { /* one by one: as a whole it would be read back from where tok->raw was just written */
        t->last_start.p = p;
        t->last_start.n = (size_t)(stop - p);
    }
    if (stop < t->end && *stop == '>') {
        t->at = stop + 1;
        return true;
    }
    if (kind == HTML_START && (!t->wants_attrs || t->wants_attrs[tag])) {
        struct html_attr_list list = {t->attrs, 0, 0};
        stop = html_take_attrs(stop, t->end, &list, &tok->self_closing);
        tok->attrs = t->attrs;
        tok->attr_count = list.count;
    } else {
        stop = html_skip_attrs(stop, t->end, &tok->self_closing);
    }
    t->at = stop ? stop : t->end;
    return stop != NULL;
}

/* A token of text or of a comment. */
static inline bool html_give(struct html_token *tok, html_kind kind, const char *from, const char *to, unsigned decode)
{
    tok->kind = (uint8_t)kind;
    tok->tag = HTML_TAG_other;
    tok->decode = (uint8_t)decode;
    tok->raw = span_of(from, (size_t)(to - from));
    return true;
}

/* Raw text at t->at up to its end tag, which the next turn takes as an ordinary tag. False: there is none. */
bool html_take_raw(struct html_tok *t, struct html_token *tok);
/* Markup at t->at that is no tag. False: it leaves no token. */
bool html_take_rare(struct html_tok *t, struct html_token *tok);

/* Whether the '<' at p opens markup; before anything else it is text. */
static inline bool html_opens(const char *p, const char *end)
{
    return end - p > 1 &&
           (ascii_is_alpha(p[1]) || (html_is_char(p + 1, HTML_CH_OPENS) && (p[1] != '/' || end - p > 2)));
}

static inline const char *html_find_markup(const char *p, const char *end)
{
    while ((p = scan_for(p, end, '<')) < end && !html_opens(p, end))
        p++;
    return p;
}

/* Markup at t->at. False when it leaves no token ("</>", or the input ends in a tag). */
static inline bool html_take_markup(struct html_tok *t, struct html_token *tok)
{
    const char *p = t->at + 1;
    if (ascii_is_alpha(*p))
        return html_take_tag(t, tok, p, HTML_START);
    if (*p == '/' && ascii_is_alpha(p[1]))
        return html_take_tag(t, tok, p + 1, HTML_END);
    return html_take_rare(t, tok);
}

static inline bool html_next_inline(struct html_tok *t, struct html_token *tok)
{
    while (t->at < t->end) {
        const char *start = t->at;
        if (t->state != HTML_DATA) {
            if (html_take_raw(t, tok))
                return true;
        } else if (*start == '<' && html_opens(start, t->end)) {
            if (html_take_markup(t, tok))
                return true;
        } else {
            t->at = html_find_markup(start + 1, t->end);
            return html_give(tok, HTML_TEXT, start, t->at, HTML_REFS);
        }
    }
    return false;
}
