/* fuzz_html.c - the tokenizer and the fact collector over any bytes, now and then over so many of them that the text
 * does not fit the window it is folded in; html_token.h, facts.h. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "web/facts.h"
#include "web/facts_text.h"
#include "web/html_token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void insist(bool claim)
{
    if (!claim)
        abort();
}

static void begin(struct html_tok *t, struct span html, html_state state, bool foreign)
{
    html_begin(t, html);
    html_switch(t, state);
    t->last_start = SPAN("script");
    t->foreign = foreign;
}

/* Spans lie in the input, in order, everything decodes, and tags end where they do when nobody wants their attributes.
 */
static void run_tokens(struct span html, html_state state, bool foreign)
{
    static const bool wants_none[HTML_TAG_COUNT];
    static struct html_tok t, bare;
    struct html_token tok, same;
    struct buf out = {0};
    const char *last = html.p;
    begin(&t, html, state, foreign);
    begin(&bare, html, state, foreign);
    bare.wants_attrs = wants_none;
    while (html_next(&t, &tok)) {
        insist(html_next(&bare, &same) && same.kind == tok.kind && same.raw.p == tok.raw.p && bare.at == t.at);
        insist(tok.kind != HTML_START || same.self_closing == tok.self_closing);
        insist(tok.raw.p >= last && tok.raw.p + tok.raw.n <= html.p + html.n);
        last = tok.raw.p + tok.raw.n;
        buf_clear(&out);
        html_decode(&out, tok.raw, tok.decode);
        if (tok.kind == HTML_DOCTYPE)
            (void)html_doctype_parse(&tok);
        for (size_t i = 0; tok.kind == HTML_START && i < tok.attr_count; i++) {
            html_decode_name(&out, tok.attrs[i].name);
            html_decode(&out, tok.attrs[i].value, HTML_REFS | HTML_IN_ATTR | HTML_NUL_SHOWN);
        }
    }
    insist(t.at == t.end);
    buf_done(&out);
}

static void check_text(struct span s, bool input_is_valid)
{
    insist(!input_is_valid || utf8_is_valid(s));
}

/* What is kept makes no difference to what is found. */
static void run_facts(struct span html)
{
    struct arena a;
    struct facts full, lean, plain;
    bool is_valid = utf8_is_valid(html);
    arena_init(&a);
    facts_collect(&a, html, &(struct facts_opts){SPAN("orbbot"), true, true, 0}, &full);
    facts_collect(&a, html, &(struct facts_opts){SPAN("orbbot"), false, false, 0}, &lean);
    facts_collect_plain(&a, html, &(struct facts_opts){SPAN(""), true, false, 0}, &plain);
    insist(full.digest == lean.digest && full.text_bytes == lean.text_bytes && full.link_count == lean.link_count);
    insist(full.text_bytes > FACTS_TEXT_MAX || full.digest == facts_digest(full.text));
    insist(plain.text_bytes > FACTS_TEXT_MAX || plain.digest == facts_digest(plain.text));
    check_text(full.text, is_valid);
    check_text(full.title, is_valid);
    check_text(full.description, is_valid);
    check_text(plain.title, is_valid);
    for (size_t i = 0; i < full.link_count; i++) {
        check_text(full.links[i].text, is_valid);
        check_text(full.links[i].href, is_valid);
    }
    for (size_t i = 0; i < full.heading_count; i++)
        check_text(full.headings[i].text, is_valid);
    (void)facts_robots_header(html, SPAN("orbbot"), 1000000000000);
    arena_done(&a);
}

static void run_long(struct span html)
{
    struct buf many = {0};
    while (many.n <= 3 * FOLD_WINDOW)
        buf_put(&many, html);
    run_facts(buf_span(&many));
    buf_done(&many);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span html = span_of(data, size);
    for (int state = HTML_DATA; state <= HTML_PLAINTEXT; state++)
        run_tokens(html, (html_state)state, state & 1);
    run_facts(html);
    if (size && data[size - 1] % 64 == 0)
        run_long(html);
    return 0;
}
