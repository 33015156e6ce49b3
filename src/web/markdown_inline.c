#include "web/markdown_inline.h"

#include <stdlib.h>

#define DEPTH_MAX 4          /* links within links: pictures that are links, and what is no Markdown any more */
#define URL_BYTES_MAX 2048   /* of a destination; the crawl takes no longer ones */
#define TITLE_BYTES_MAX 1024 /* of what stands behind it in quotes */
#define TICKS_MAX 64         /* a longer row of backquotes is no code */
#define PARENS_MAX 32
#define NO_MATCH UINT32_MAX

struct inline_state {
    struct buf *out;
    struct span text;
    const struct markdown_refs *refs;
    uint32_t *match; /* by position of '[': that of its ']' */
    size_t next_gt;  /* position of a '>' at or after the place that was asked for last; text.n: none */
    bool has_no_ticks[TICKS_MAX + 1]; /* no row of so many closes any more */
};

static void put_range(struct inline_state *st, size_t from, size_t to, unsigned depth);

static bool is_word(char c)
{
    return ascii_is_alpha(c) || ascii_is_digit(c) || (unsigned char)c >= 0x80;
}

static bool is_punct(char c)
{
    return c > ' ' && c < 0x7f && !ascii_is_alpha(c) && !ascii_is_digit(c);
}

void markdown_escape(struct buf *out, struct span text)
{
    for (size_t i = 0; i < text.n; i++) {
        switch (text.p[i]) {
        case '<':
            buf_puts(out, "&lt;");
            break;
        case '&':
            buf_puts(out, "&amp;");
            break;
        case '"':
            buf_puts(out, "&quot;");
            break;
        default:
            buf_putc(out, text.p[i]);
        }
    }
}

/* In an attribute character references stay what they are. */
static void put_attr(struct buf *out, struct span text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\\' && i + 1 < text.n && is_punct(text.p[i + 1]))
            i++;
        if (text.p[i] == '"')
            buf_puts(out, "&quot;");
        else if (text.p[i] == '<')
            buf_puts(out, "&lt;");
        else
            buf_putc(out, text.p[i]);
    }
}

int markdown_ref_cmp(const void *a, const void *b)
{
    const struct markdown_ref *x = a, *y = b;
    for (size_t i = 0; i < x->label.n && i < y->label.n; i++) {
        int d = (unsigned char)ascii_lower(x->label.p[i]) - (unsigned char)ascii_lower(y->label.p[i]);
        if (d)
            return d;
    }
    if (x->label.n != y->label.n)
        return x->label.n < y->label.n ? -1 : 1;
    /* The first of two definitions counts. */
    return a == b ? 0 : x->url.p < y->url.p ? -1 : x->url.p > y->url.p;
}

static int label_cmp(const void *key, const void *item)
{
    const struct span *label = key;
    const struct markdown_ref *r = item;
    if (span_eq_nocase(*label, r->label))
        return 0;
    const struct markdown_ref k = {.label = *label};
    return markdown_ref_cmp(&k, r);
}

static const struct markdown_ref *find_ref(const struct markdown_refs *refs, struct span label)
{
    label = span_trim(label);
    return label.n && refs->n ? bsearch(&label, refs->refs, refs->n, sizeof(*refs->refs), label_cmp) : NULL;
}

/* ---- links ---- */

bool markdown_destination(struct span s, size_t *at, struct span *url)
{
    size_t i = *at, end = i + URL_BYTES_MAX < s.n ? i + URL_BYTES_MAX : s.n;
    if (i < s.n && s.p[i] == '<') {
        for (i++; i < end && s.p[i] != '>' && s.p[i] != '<' && s.p[i] != '\n';)
            i++;
        if (i >= end || s.p[i] != '>')
            return false;
        *url = span_cut(s, *at + 1, i - *at - 1);
        *at = i + 1;
        return true;
    }
    unsigned parens = 0;
    for (; i < end && !ascii_is_space(s.p[i]); i++) {
        if (s.p[i] == '\\' && i + 1 < end && is_punct(s.p[i + 1]))
            i++;
        else if (s.p[i] == '(' && ++parens > PARENS_MAX)
            return false;
        else if (s.p[i] == ')' && parens-- == 0)
            break;
    }
    *url = span_cut(s, *at, i - *at);
    *at = i;
    return url->n > 0;
}

static void skip_space(struct span s, size_t *at)
{
    while (*at < s.n && ascii_is_space(s.p[*at]))
        (*at)++;
}

/* "(url "title")" at *at. */
static bool inline_target(struct span s, size_t *at, struct span *url)
{
    size_t i = *at + 1;
    *url = (struct span){0};
    skip_space(s, &i);
    if (i < s.n && s.p[i] != ')' && !markdown_destination(s, &i, url))
        return false;
    skip_space(s, &i);
    char quote = i < s.n && (s.p[i] == '"' || s.p[i] == '\'') ? s.p[i] : i < s.n && s.p[i] == '(' ? ')' : 0;
    if (quote) {
        size_t end = i + TITLE_BYTES_MAX < s.n ? i + TITLE_BYTES_MAX : s.n;
        for (i++; i < end && s.p[i] != quote;)
            i += s.p[i] == '\\' ? 2 : 1;
        i++;
        skip_space(s, &i);
    }
    if (i >= s.n || s.p[i] != ')')
        return false;
    *at = i + 1;
    return true;
}

/* Where the link whose text ends at `close` goes, and the place behind all of it. */
static bool link_target(const struct inline_state *st, size_t open, size_t close, size_t *end, struct span *url)
{
    struct span label = span_cut(st->text, open + 1, close - open - 1);
    size_t at = close + 1;
    if (at < st->text.n && st->text.p[at] == '(' && inline_target(st->text, &at, url)) {
        *end = at;
        return true;
    }
    if (at < st->text.n && st->text.p[at] == '[' && st->match[at] != NO_MATCH) {
        if (st->match[at] > at + 1)
            label = span_cut(st->text, at + 1, st->match[at] - at - 1);
        at = st->match[at] + 1;
    }
    const struct markdown_ref *r = find_ref(st->refs, label);
    if (r) {
        *url = r->url;
        *end = at;
    }
    return r != NULL;
}

/* Pairs of brackets, in one go. */
static void match_brackets(struct inline_state *st)
{
    uint32_t open = NO_MATCH; /* the innermost; the one around it stands in its place until it is closed */
    memset(st->match, 0xff, st->text.n * sizeof(*st->match));
    for (size_t i = 0; i < st->text.n; i++) {
        char c = st->text.p[i];
        if (c == '\\') {
            i++;
        } else if (c == '[') {
            st->match[i] = open;
            open = (uint32_t)i;
        } else if (c == ']' && open != NO_MATCH) {
            uint32_t outer = st->match[open];
            st->match[open] = (uint32_t)i;
            open = outer;
        }
    }
    while (open != NO_MATCH) {
        uint32_t outer = st->match[open];
        st->match[open] = NO_MATCH;
        open = outer;
    }
}

/* At '[' or "![". Returns the place behind it; `at` when it is no link. */
static size_t put_link(struct inline_state *st, size_t at, size_t to, unsigned depth)
{
    bool is_image = st->text.p[at] == '!';
    size_t open = at + is_image, end;
    struct span url;
    if (open >= to || st->match[open] == NO_MATCH || st->match[open] >= to || depth >= DEPTH_MAX)
        return at;
    size_t close = st->match[open];
    if (!link_target(st, open, close, &end, &url) || end > to)
        return at;
    if (!is_image) {
        buf_puts(st->out, "<a href=\"");
        put_attr(st->out, url);
        buf_puts(st->out, "\">");
    }
    put_range(st, open + 1, close, depth + 1);
    buf_puts(st->out, is_image ? " " : "</a>");
    return end;
}

static void put_auto(struct inline_state *st, struct span url, unsigned depth)
{
    if (depth == 0) {
        buf_puts(st->out, "<a href=\"");
        put_attr(st->out, url);
        buf_puts(st->out, "\">");
    }
    markdown_escape(st->out, url);
    if (depth == 0)
        buf_puts(st->out, "</a>");
}

static bool starts_url(struct span s)
{
    return span_starts_nocase(s, SPAN("http://")) || span_starts_nocase(s, SPAN("https://"));
}

/* A URL in the middle of the text ends before white space, '<' and what rather belongs to the sentence. */
static size_t put_bare(struct inline_state *st, size_t at, size_t to, unsigned depth)
{
    size_t end = at, opened = 0, closed = 0;
    while (end < to && end - at < URL_BYTES_MAX && !ascii_is_space(st->text.p[end]) && st->text.p[end] != '<' &&
           st->text.p[end] != '`' && st->text.p[end] != ']') {
        opened += st->text.p[end] == '(';
        closed += st->text.p[end] == ')';
        end++;
    }
    for (; end > at; end--) {
        char c = st->text.p[end - 1];
        if (c == ')' && closed > opened)
            closed--;
        else if (!memchr("?!.,:*_~'\"", c, 10))
            break;
    }
    put_auto(st, span_cut(st->text, at, end - at), depth);
    return end;
}

/* ---- code, HTML, emphasis ---- */

static size_t row_of(struct span s, size_t at, char c)
{
    size_t n = 0;
    while (at + n < s.n && s.p[at + n] == c)
        n++;
    return n;
}

/* Each length fails once at most, so that all rows together cost little. */
static size_t put_code(struct inline_state *st, size_t at, size_t to)
{
    size_t n = row_of(st->text, at, '`'), i = at + n;
    if (n > TICKS_MAX || st->has_no_ticks[n]) {
        markdown_escape(st->out, span_cut(st->text, at, n));
        return at + n;
    }
    while (i < to) {
        size_t m = row_of(st->text, i, '`');
        if (m == n && i + m <= to) {
            markdown_escape(st->out, span_cut(st->text, at + n, i - at - n));
            return i + m;
        }
        i += m ? m : 1;
    }
    if (to == st->text.n)
        st->has_no_ticks[n] = true;
    markdown_escape(st->out, span_cut(st->text, at, n));
    return at + n;
}

static size_t find_gt(struct inline_state *st, size_t at)
{
    if (st->next_gt < at)
        st->next_gt = span_find(st->text, '>', at);
    return st->next_gt;
}

/* "<https://example.org>" */
static bool is_autolink(struct span s)
{
    size_t n = 0;
    while (n < s.n && (ascii_is_alpha(s.p[n]) || (n && (ascii_is_digit(s.p[n]) || memchr("+.-", s.p[n], 3)))))
        n++;
    if (n < 2 || n > 32 || n == s.n || s.p[n] != ':')
        return false;
    for (size_t i = n; i < s.n; i++)
        if (ascii_is_space(s.p[i]) || s.p[i] == '<')
            return false;
    return true;
}

static size_t put_angle(struct inline_state *st, size_t at, size_t to, unsigned depth)
{
    size_t gt = find_gt(st, at);
    char next = at + 1 < to ? st->text.p[at + 1] : ' ';
    struct span inside = gt < to ? span_cut(st->text, at + 1, gt - at - 1) : (struct span){0};
    if (gt < to && inside.n <= URL_BYTES_MAX && is_autolink(inside)) {
        put_auto(st, inside, depth);
        return gt + 1;
    }
    if (gt < to && (ascii_is_alpha(next) || next == '/' || next == '!' || next == '?')) {
        buf_put(st->out, span_cut(st->text, at, gt + 1 - at)); /* HTML: facts.c knows what to do with it */
        return gt + 1;
    }
    bool opens_comment = at == 0 && span_starts(st->text, SPAN("<!--")); /* a block: it ends wherever it does */
    buf_puts(st->out, opens_comment ? "<" : "&lt;");
    return at + 1;
}

/* A row of '*', '_' or '~': a mark, unless it stands alone or within a word. */
static size_t put_marks(struct inline_state *st, size_t at, size_t to)
{
    char c = st->text.p[at];
    size_t n = row_of(st->text, at, c), end = at + n < to ? at + n : to;
    char before = at ? st->text.p[at - 1] : ' ', after = end < st->text.n ? st->text.p[end] : ' ';
    bool is_alone = ascii_is_space(before) && ascii_is_space(after);
    bool is_inside = is_word(before) && is_word(after) && (c == '_' || end - at == 1);
    if (is_alone || is_inside || (c == '~' && end - at == 1))
        buf_put(st->out, span_cut(st->text, at, end - at));
    return end;
}

static void put_range(struct inline_state *st, size_t from, size_t to, unsigned depth)
{
    for (size_t at = from; at < to;) {
        char c = st->text.p[at];
        size_t next = at;
        if (c == '\\' && at + 1 < to && is_punct(st->text.p[at + 1])) {
            markdown_escape(st->out, span_cut(st->text, at + 1, 1));
            next = at + 2;
        } else if (c == '`') {
            next = put_code(st, at, to);
        } else if (c == '<') {
            next = put_angle(st, at, to, depth);
        } else if (c == '*' || c == '_' || c == '~') {
            next = put_marks(st, at, to);
        } else if (c == '[' || (c == '!' && at + 1 < to && st->text.p[at + 1] == '[')) {
            next = put_link(st, at, to, depth);
        } else if ((c == 'h' || c == 'H') && (at == 0 || !is_word(st->text.p[at - 1])) &&
                   starts_url(span_cut(st->text, at, to - at))) {
            next = put_bare(st, at, to, depth);
        }
        if (next == at) {
            buf_putc(st->out, c);
            next = at + 1;
        }
        at = next;
    }
}

void markdown_inline(struct buf *out, struct span text, const struct markdown_refs *refs, uint32_t *matches)
{
    struct inline_state st = {.out = out, .text = text, .refs = refs, .match = matches};
    if (!text.n)
        return;
    st.next_gt = span_find(text, '>', 0);
    match_brackets(&st);
    put_range(&st, 0, text.n, 0);
}
