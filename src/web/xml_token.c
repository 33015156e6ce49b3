#include "web/xml_token.h"

#include <string.h>

#include "web/html_entity.h"

void xml_begin(struct xml_reader *r, struct span text)
{
    *r = (struct xml_reader){text, 0};
}

static struct span rest_of(const struct xml_reader *r)
{
    return span_from(r->in, r->at);
}

/* Past the next `end`, or to the end of the input. */
static void skip_past(struct xml_reader *r, struct span end)
{
    struct span rest = rest_of(r);
    size_t at = span_search(rest, end, false);
    r->at += at == rest.n ? rest.n : at + end.n;
}

/* A comment or an instruction, whose quotes are people's. False: none begins here. */
static bool skip_remark(struct xml_reader *r)
{
    struct span rest = rest_of(r);
    bool is_comment = span_starts(rest, SPAN("<!--"));
    if (!is_comment && !span_starts(rest, SPAN("<?")))
        return false;
    r->at += is_comment ? 4 : 0;
    skip_past(r, is_comment ? SPAN("-->") : SPAN("?>"));
    return true;
}

/* <!DOCTYPE x [ ... ]>: to the '>' that is in no brackets and no quotes. */
static void skip_declaration(struct xml_reader *r)
{
    struct span s = r->in;
    bool is_inside = false;
    char quote = 0;
    while (r->at < s.n) {
        if (is_inside && !quote && skip_remark(r))
            continue;
        char c = s.p[r->at];
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '[' || c == ']')
            is_inside = c == '[';
        r->at++;
        if (c == '>' && !is_inside && !quote)
            break;
    }
}

static bool ends_name(char c)
{
    return ascii_is_space(c) || c == '/' || c == '>' || c == '<' || c == '=' || c == '"' || c == '\'';
}

static struct span take_name(struct span s, size_t *at)
{
    size_t from = *at;
    while (*at < s.n && !ends_name(s.p[*at]))
        (*at)++;
    return span_cut(s, from, *at - from);
}

static struct span local_name(struct span name)
{
    size_t colon = span_find(name, ':', 0);
    return colon == name.n ? name : span_from(name, colon + 1);
}

/* A tag whose name is at r->at; `is_end` when a '/' was before it. False: the input ends before the tag does, and who
 * knows what it would have been. */
static bool take_tag(struct xml_reader *r, bool is_end, struct xml_token *out)
{
    struct span s = r->in;
    struct span name = take_name(s, &r->at);
    size_t from = r->at;
    char quote = 0;
    while (r->at < s.n && s.p[r->at] != '<') { /* no attribute may have one */
        char c = s.p[r->at];
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '>')
            break;
        else if (c == '"' || c == '\'')
            quote = c;
        r->at++;
    }
    if (r->at == s.n)
        return false;
    struct span attrs = span_trim(span_cut(s, from, r->at - from));
    r->at += s.p[r->at] == '>';
    *out = (struct xml_token){.kind = is_end ? XML_END : XML_START, .name = local_name(name), .attrs = attrs};
    if (!is_end && span_ends(attrs, SPAN("/"))) {
        out->is_empty = true;
        out->attrs = span_trim(span_cut(attrs, 0, attrs.n - 1));
    }
    return true;
}

static void take_text(struct xml_reader *r, struct xml_token *out)
{
    size_t from = r->at, end = span_find(r->in, '<', from + 1);
    *out = (struct xml_token){.kind = XML_TEXT, .text = span_cut(r->in, from, end - from)};
    r->at = end;
}

static void take_cdata(struct xml_reader *r, struct xml_token *out)
{
    struct span rest = rest_of(r);
    size_t end = span_search(rest, SPAN("]]>"), false);
    *out = (struct xml_token){.kind = XML_TEXT, .text = span_cut(rest, 0, end), .is_literal = true};
    r->at += end == rest.n ? rest.n : end + 3;
}

bool xml_next(struct xml_reader *r, struct xml_token *out)
{
    while (r->at < r->in.n) {
        struct span rest = rest_of(r);
        if (rest.p[0] != '<' || rest.n < 2) {
            take_text(r, out);
            return true;
        }
        char c = rest.p[1];
        if (skip_remark(r))
            continue;
        if (span_starts(rest, SPAN("<![CDATA["))) {
            r->at += 9;
            take_cdata(r, out);
            return true;
        } else if (c == '!') {
            r->at += 2;
            skip_declaration(r);
        } else {
            size_t name_at = c == '/' ? 2 : 1;
            if (name_at >= rest.n || ends_name(rest.p[name_at])) {
                take_text(r, out);
                return true;
            }
            r->at += name_at;
            return take_tag(r, c == '/', out);
        }
    }
    return false;
}

static struct span decoded(struct arena *a, struct span raw)
{
    size_t first = span_find(raw, '&', 0), n = first;
    if (first == raw.n)
        return raw;
    char *p = arena_bytes(a, raw.n + raw.n / 4 + HTML_REF_OUT); /* "&nGt;" becomes six bytes: none grows by more */
    memcpy(p, raw.p, first);
    for (size_t at = first; at < raw.n;) {
        char out[HTML_REF_OUT];
        size_t out_n = 0, took = raw.p[at] == '&' ? html_ref(span_from(raw, at), true, out, &out_n) : 0;
        if (!took) {
            p[n++] = raw.p[at++];
            continue;
        }
        memcpy(p + n, out, out_n);
        n += out_n;
        at += took;
    }
    return span_of(p, n);
}

struct span xml_text(struct arena *a, const struct xml_token *t)
{
    return t->is_literal ? t->text : decoded(a, t->text);
}

/* What follows a name: ="value", ='value', =value or nothing. */
static struct span take_value(struct span s, size_t *at)
{
    size_t i = *at;
    while (i < s.n && ascii_is_space(s.p[i]))
        i++;
    if (i >= s.n || s.p[i] != '=')
        return (struct span){"", 0};
    do
        i++;
    while (i < s.n && ascii_is_space(s.p[i]));
    bool is_quoted = i < s.n && (s.p[i] == '"' || s.p[i] == '\'');
    size_t from = i + is_quoted, end = from;
    while (end < s.n && (is_quoted ? s.p[end] != s.p[i] : !ascii_is_space(s.p[end])))
        end++;
    *at = end < s.n ? end + is_quoted : end;
    return span_cut(s, from, end - from);
}

bool xml_attr(struct arena *a, const struct xml_token *t, struct span name, struct span *out)
{
    struct span s = t->attrs;
    for (size_t at = 0; at < s.n;) {
        if (ends_name(s.p[at])) {
            at++;
            continue;
        }
        struct span found = local_name(take_name(s, &at)), value = take_value(s, &at);
        if (span_eq_nocase(found, name)) {
            *out = span_trim(decoded(a, value));
            return true;
        }
    }
    return false;
}
