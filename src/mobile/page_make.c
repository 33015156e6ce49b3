#include "mobile/page_make.h"

#include "web/document.h"
#include "web/html_token.h"
#include "web/lang.h"

/* ---- links ---- */

static void make_links(struct arena *a, const struct url *document, const struct facts *facts, struct program_page *out)
{
    struct fact_link *links = arena_alloc(a, facts->link_count * sizeof(*links));
    struct url base, u;
    size_t n = 0;
    if (facts->base.n == 0 || url_parse(a, facts->base, document, &base) != ST_OK)
        base = *document;
    for (size_t i = 0; i < facts->link_count; i++) {
        if (url_parse(a, facts->links[i].href, &base, &u) != ST_OK)
            continue;
        links[n] = facts->links[i];
        links[n++].href = u.href;
    }
    out->links = links;
    out->link_count = n;
}

/* ---- metas ---- */

static void keep_meta(struct arena *a, const struct html_token *tok, struct program_meta *metas, size_t *n)
{
    const struct span *name = html_attr_find(tok, SPAN("name")), *content = html_attr_find(tok, SPAN("content"));
    if (!name)
        name = html_attr_find(tok, SPAN("property"));
    if (name && content && span_trim(*name).n)
        metas[(*n)++] = (struct program_meta){.name = span_trim(html_attr_value(a, *name)),
                                              .content = span_trim(html_attr_value(a, *content))};
}

/* What stands in these is text whatever it looks like; see 13.2.6.4 of the HTML Standard. */
static void switch_text(struct html_tok *t, uint8_t tag)
{
    switch (tag) {
    case HTML_TAG_script:
        html_switch(t, HTML_SCRIPT);
        break;
    case HTML_TAG_style:
    case HTML_TAG_xmp:
    case HTML_TAG_iframe:
    case HTML_TAG_noembed:
    case HTML_TAG_noframes:
        html_switch(t, HTML_RAWTEXT);
        break;
    case HTML_TAG_title:
    case HTML_TAG_textarea:
        html_switch(t, HTML_RCDATA);
        break;
    case HTML_TAG_plaintext:
        html_switch(t, HTML_PLAINTEXT);
        break;
    default:
        break;
    }
}

static void make_metas(struct arena *a, struct span html, struct program_page *out)
{
    static const bool wants_attrs[HTML_TAG_COUNT] = {[HTML_TAG_meta] = true};
    struct program_meta *metas = arena_alloc(a, PROGRAM_METAS_MAX * sizeof(*metas));
    struct html_tok *t = arena_alloc(a, sizeof(*t));
    struct html_token tok;
    size_t n = 0;
    html_begin(t, html);
    t->wants_attrs = wants_attrs;
    while (n < PROGRAM_METAS_MAX && html_next(t, &tok)) {
        if (tok.kind != HTML_START)
            continue;
        if (tok.tag == HTML_TAG_body)
            break;
        if (tok.tag == HTML_TAG_meta)
            keep_meta(a, &tok, metas, &n);
        switch_text(t, tok.tag);
    }
    out->metas = metas;
    out->meta_count = n;
}

/* ---- all of it ---- */

void page_make(struct arena *a, const struct url *document, int http_status, struct span headers, struct span html,
               const struct facts *facts, struct span lang, struct program_page *out)
{
    *out = (struct program_page){
        .url = document->href,
        .http_status = http_status,
        .headers = headers,
        .title = facts->title,
        .description = facts->description,
        .lang = lang,
        .text = facts->text,
        .headings = facts->headings,
        .heading_count = facts->heading_count,
    };
    make_links(a, document, facts, out);
    make_metas(a, html, out);
}

status page_read(struct arena *a, const struct page_source *s, struct program_page *out)
{
    const struct facts_opts opts = {.agent = s->agent, .keep_text = true, .keep_anchors = true};
    struct document *d = arena_alloc(a, sizeof(*d));
    status st = document_read(a, s->content_type, s->document->href, s->body, &opts, d);
    if (st != ST_OK)
        return st;
    struct span html = d->kind == DOCUMENT_HTML ? d->source : (struct span){0};
    struct span lang = span_str(lang_detect(d->facts.text, d->facts.lang));
    page_make(a, s->document, s->http_status, s->headers, html, &d->facts, lang, out);
    return ST_OK;
}
