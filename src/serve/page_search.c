/* page_search.c - results, for people and as JSON. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "codec/json.h"
#include "index/search/search_json.h"
#include "io/clock.h"
#include "serve/filters.h"
#include "serve/html.h"
#include "serve/page.h"
#include "serve/request.h"
#include "web/media.h"

#define PAGES_AROUND 2 /* page links on each side of the current one */
#define PAGES_MAX (SEARCH_DEPTH_MAX / PAGE_HITS)
#define FIELDS_SHOWN 6
#define FIELD_BYTES_SHOWN 120

const double timing_bounds[TIMING_BUCKETS - 1] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1};

struct results {
    const struct page_request *r;
    struct buf *out;
    struct span query;
    uint64_t page;
    bool is_unfolded; /* near-duplicates each on their own */
    uint64_t like;    /* only this page and its near-duplicates; 0: all */
    struct search_result found;
    int64_t took_us;
};

static void count_search(struct serve *s, status st, const struct search_result *found, int64_t took_us)
{
    struct serve_counters *c = &s->counters;
    unsigned i = 0;
    while (i < TIMING_BUCKETS - 1 && (double)took_us > timing_bounds[i] * 1e6)
        i++;
    atomic_fetch_add(&c->searches, 1);
    if (st != ST_OK && st != ST_INVALID && st != ST_LIMIT)
        atomic_fetch_add(&c->searches_failed, 1);
    if (st == ST_OK && found->is_partial)
        atomic_fetch_add(&c->searches_partial, 1);
    atomic_fetch_add(&c->timing[i], 1);
    atomic_fetch_add(&c->timing_us, (unsigned long long)took_us);
}

/* ---- addresses of result pages ---- */

static void put_search_href(struct buf *out, struct span query, uint64_t page, bool is_unfolded)
{
    buf_puts(out, "/search?q=");
    html_query_value(out, query);
    if (page > 1)
        buf_printf(out, "&amp;page=%llu", (unsigned long long)page);
    if (is_unfolded)
        buf_puts(out, "&amp;similar=1");
}

/* ---- parts of the page ---- */

/* The query with the field as one more filter, or an empty span where the value cannot be written in a query. */
static struct span with_field(struct results *x, const struct summary_field *f)
{
    struct buf b = {0};
    buf_put(&b, x->query);
    buf_printf(&b, " field:%.*s=\"%.*s\"", SPAN_ARG(f->name), SPAN_ARG(f->value));
    bool fits = f->value.n <= FIELD_BYTES_SHOWN && b.n <= SEARCH_QUERY_MAX && utf8_is_valid(f->value);
    for (size_t at = 0; at < f->value.n && fits;) {
        uint32_t c = utf8_next(f->value, &at, NULL);
        fits = c >= ' ' && c != '"' && !(c >= 0x201c && c <= 0x201f) && c != 0xab && c != 0xbb && c != 0xff02;
    }
    bool is_there = span_search(x->query, span_from(buf_span(&b), x->query.n), false) < x->query.n;
    struct span query = fits && !is_there ? arena_copy(x->r->arena, buf_span(&b)) : (struct span){0};
    buf_done(&b);
    return query;
}

static void put_field(struct results *x, const struct summary_field *f)
{
    struct buf *out = x->out;
    struct span value = utf8_cut(f->value, FIELD_BYTES_SHOWN), query = with_field(x, f);
    buf_puts(out, "<li><span class=\"name\" lang=\"\">");
    html_text(out, f->name);
    buf_puts(out, "</span>: ");
    if (query.n) {
        buf_puts(out, "<a rel=\"nofollow\" href=\"");
        put_search_href(out, query, 1, x->is_unfolded);
        buf_puts(out, "\">");
    }
    buf_puts(out, "<bdi>");
    html_text(out, value);
    buf_puts(out, value.n < f->value.n ? "\xe2\x80\xa6</bdi>" : "</bdi>");
    buf_puts(out, query.n ? "</a></li>" : "</li>");
}

static void put_fields(struct results *x, const struct search_hit *h)
{
    if (!h->field_count)
        return;
    buf_puts(x->out, "<ul class=\"fields\" aria-label=\"Fields\">");
    for (size_t i = 0; i < h->field_count && i < FIELDS_SHOWN; i++)
        put_field(x, &h->fields[i]);
    if (h->field_count > FIELDS_SHOWN)
        buf_printf(x->out, "<li lang=\"en\">%zu more</li>", h->field_count - FIELDS_SHOWN);
    buf_puts(x->out, "</ul>");
}

/* A badge for what is no web page. Returns what parts it from the next fact. */
static const char *put_type(struct buf *out, const struct search_hit *h)
{
    if (!h->type[0] || strcmp(h->type, "html") == 0)
        return "";
    buf_printf(out, "<span class=\"type\">%s</span>", h->type);
    if (h->bytes) {
        buf_puts(out, " <span>");
        media_put_size(out, h->bytes);
        buf_puts(out, "</span>");
    }
    return "<span class=\"dot\" aria-hidden=\"true\"> \xc2\xb7 </span>";
}

static void put_hit(struct results *x, const struct search_hit *h)
{
    struct buf *out = x->out;
    struct arena *a = x->r->arena;
    struct buf href = {0};
    bool is_link = html_href(&href, a, h->url);
    buf_puts(out, "<li><article");
    if (h->lang[0]) {
        buf_puts(out, " lang=\"");
        html_text(out, span_str(h->lang));
        buf_putc(out, '"');
    }
    buf_puts(out, "><h2 dir=\"auto\">");
    if (is_link) {
        buf_puts(out, "<a rel=\"noopener nofollow noreferrer\" href=\"");
        buf_put(out, buf_span(&href));
        buf_puts(out, "\">");
    }
    html_marked(out, &h->title);
    buf_puts(out, is_link ? "</a></h2>" : "</h2>");
    buf_puts(out, "<p class=\"where\" lang=\"\"><bdi>");
    html_breadcrumbs(out, a, h->url);
    buf_puts(out, "</bdi></p>");
    if (h->snippet.text.n) {
        buf_puts(out, "<p class=\"snippet\" dir=\"auto\">");
        html_marked(out, &h->snippet);
        buf_puts(out, "</p>");
    }
    put_fields(x, h);
    buf_puts(out, "<p class=\"facts\" lang=\"en\">");
    const char *dot = put_type(out, h);
    wall_ms date = h->changed ? h->changed : h->fetched;
    if (date > 0) {
        buf_puts(out, dot);
        html_date(out, date);
        dot = "<span class=\"dot\" aria-hidden=\"true\"> \xc2\xb7 </span>";
    }
    if (h->lang[0]) {
        buf_printf(out, "%s<span>", dot);
        html_language(out, span_str(h->lang));
        buf_puts(out, "</span>");
        dot = "<span class=\"dot\" aria-hidden=\"true\"> \xc2\xb7 </span>";
    }
    if (h->is_keywords) {
        buf_printf(out, "%s<span>known by its words only</span>", dot);
        dot = "<span class=\"dot\" aria-hidden=\"true\"> \xc2\xb7 </span>";
    }
    if (h->similar) {
        buf_printf(out, "%s<a rel=\"nofollow\" href=\"", dot);
        put_search_href(out, x->query, 1, false);
        buf_printf(out, "&amp;like=%llu\">%u similar</a>", (unsigned long long)h->key, h->similar);
    }
    buf_puts(out, "</p></article></li>\n");
    buf_done(&href);
}

static void put_facet_list(struct results *x, const char *heading, const struct search_facet *facets, unsigned n,
                           filter_kind kind)
{
    struct buf *out = x->out;
    if (n < 2)
        return;
    buf_printf(out, "<h3>%s</h3><ul>", heading);
    for (unsigned i = 0; i < n; i++) {
        struct span name = facets[i].name;
        if (name.n == 0)
            continue;
        buf_puts(out, "<li><a rel=\"nofollow\" href=\"");
        put_search_href(out, filter_with(x->r->arena, x->query, kind, name), 1, x->is_unfolded);
        buf_puts(out, "\"><bdi>");
        if (kind == FILTER_LANG)
            html_language(out, name);
        else
            html_text(out, name);
        buf_printf(out, "</bdi><span class=\"n\">%s", x->found.facets_are_estimates ? "about " : "");
        html_count(out, facets[i].count);
        buf_puts(out, "</span></a></li>");
    }
    buf_puts(out, "</ul>");
}

/* The filters in the query, each with a link that takes it away; then what the results could be narrowed to. */
static bool put_filters(struct results *x)
{
    struct buf *out = x->out;
    struct span rest = x->query, word, value;
    bool any = false;
    while (filter_next_word(&rest, &word)) {
        filter_kind kind = filter_of(word, &value);
        if (kind == FILTER_NONE)
            continue;
        if (!any)
            buf_puts(out, "<ul class=\"active\" aria-label=\"Filters in use\">");
        any = true;
        buf_puts(out, "<li><a href=\"");
        put_search_href(out, filter_without(x->r->arena, x->query, kind), 1, x->is_unfolded);
        buf_puts(out, "\"><span class=\"vh\">Remove filter </span><bdi>");
        if (kind == FILTER_LANG)
            html_language(out, value);
        else
            html_text(out, value);
        buf_puts(out, "</bdi><span aria-hidden=\"true\"> \xc3\x97</span></a></li>");
    }
    if (any)
        buf_puts(out, "</ul>\n");
    return any;
}

static void put_facets(struct results *x)
{
    const struct search_result *f = &x->found;
    if (f->site_count < 2 && f->lang_count < 2)
        return;
    buf_puts(x->out, "<aside id=\"narrow\" aria-labelledby=\"narrow-h\"><h2 id=\"narrow-h\">Narrow the results</h2>");
    put_facet_list(x, "Site", f->sites, f->site_count, FILTER_SITE);
    put_facet_list(x, "Language", f->langs, f->lang_count, FILTER_LANG);
    buf_puts(x->out, "</aside>\n");
}

static void put_page_link(struct results *x, uint64_t page, const char *text, const char *label, const char *rel)
{
    buf_puts(x->out, "<li><a href=\"");
    put_search_href(x->out, x->query, page, x->is_unfolded);
    buf_printf(x->out, "\"%s%s%s%s%s%s>%s</a></li>", rel ? " rel=\"" : "", rel ? rel : "", rel ? "\"" : "",
               label ? " aria-label=\"" : "", label ? label : "", label ? "\"" : "", text);
}

static void put_paging(struct results *x)
{
    const struct search_result *f = &x->found;
    /* Folding leaves fewer hits than pages match, and the total may be an estimate. */
    uint64_t last = (f->total + PAGE_HITS - 1) / PAGE_HITS;
    if (!f->has_more || x->like)
        last = x->page;
    else if (last <= x->page)
        last = x->page + 1;
    last = last > PAGES_MAX ? PAGES_MAX : last;
    if (last <= 1)
        return;
    uint64_t from = x->page > PAGES_AROUND + 1 ? x->page - PAGES_AROUND : 1;
    uint64_t to = x->page + PAGES_AROUND < last ? x->page + PAGES_AROUND : last;
    buf_puts(x->out, "<nav class=\"pages\" aria-label=\"Result pages\"><ul>");
    if (x->page > 1)
        put_page_link(x, x->page - 1, "\xe2\x80\xb9 Previous", NULL, "prev");
    if (from > 1)
        put_page_link(x, 1, "1", "Page 1", NULL);
    if (from > 2)
        buf_puts(x->out, "<li class=\"gap\" aria-hidden=\"true\">\xe2\x80\xa6</li>");
    for (uint64_t p = from; p <= to; p++) {
        char text[24], label[32];
        snprintf(text, sizeof(text), "%llu", (unsigned long long)p);
        snprintf(label, sizeof(label), "Page %llu", (unsigned long long)p);
        if (p == x->page)
            buf_printf(x->out, "<li><span aria-current=\"page\" aria-label=\"%s\">%s</span></li>", label, text);
        else
            put_page_link(x, p, text, label, NULL);
    }
    if (x->page < last)
        put_page_link(x, x->page + 1, "Next \xe2\x80\xba", NULL, "next");
    buf_puts(x->out, "</ul></nav>\n");
}

static void put_count(struct results *x)
{
    const struct search_result *f = &x->found;
    struct buf *out = x->out;
    buf_puts(out, "<p class=\"count\" role=\"status\">");
    if (x->page > 1)
        buf_printf(out, "Page %llu of ", (unsigned long long)x->page);
    if (f->is_estimate)
        buf_puts(out, x->page > 1 ? "about " : "About ");
    html_count(out, f->total);
    buf_printf(out, " %s <span class=\"took\">", f->total == 1 ? "result" : "results");
    if (x->took_us < 1000)
        buf_puts(out, "in under 1 ms</span>");
    else
        buf_printf(out, "in %.0f ms</span>", (double)x->took_us / 1000);
    if (f->site_count > 1 || f->lang_count > 1)
        buf_puts(out, " <a class=\"to-narrow\" href=\"#narrow\">Narrow</a>");
    buf_puts(out, "</p>\n");
}

static void put_notices(struct results *x)
{
    const struct search_result *f = &x->found;
    struct buf *out = x->out;
    if (f->is_partial)
        buf_puts(out,
                 "<p class=\"notice warn\" role=\"status\">This search was stopped because it took too long: there may "
                 "be better results. Words that are rarer make it quicker.</p>\n");
    if (f->note.n) {
        buf_puts(out, "<p class=\"notice\" role=\"status\">");
        html_text(out, f->note);
        buf_puts(out, "</p>\n");
    }
    if (f->suggestion.n) {
        buf_puts(out, "<p class=\"suggestion\">Did you mean <a href=\"");
        put_search_href(out, f->suggestion, 1, false);
        buf_puts(out, "\"><bdi>");
        html_text(out, f->suggestion);
        buf_puts(out, "</bdi></a>?</p>\n");
    }
    if (x->like) {
        buf_puts(out, "<p class=\"notice\">Only pages that are nearly the same as one of the results. <a href=\"");
        put_search_href(out, x->query, 1, false);
        buf_puts(out, "\">All results</a> or <a href=\"");
        put_search_href(out, x->query, 1, true);
        buf_puts(out, "\">all, each on its own</a></p>\n");
    }
    if (x->is_unfolded) {
        buf_puts(out, "<p class=\"notice\">Similar pages are listed each on their own. <a href=\"");
        put_search_href(out, x->query, 1, false);
        buf_puts(out, "\">Fold them again</a></p>\n");
    }
}

static void put_nothing(struct results *x)
{
    struct buf *out = x->out;
    buf_puts(out, "<div class=\"nothing\"><h2>");
    if (x->page > 1 || x->like) {
        buf_puts(out, "No more results</h2><p><a href=\"");
        put_search_href(out, x->query, 1, x->is_unfolded);
        buf_puts(out, "\">Back to the first page</a></p></div>\n");
        return;
    }
    buf_puts(out, "No page has all of these words</h2><ul><li>Check the spelling.</li><li>Use fewer or more common "
                  "words.</li>");
    struct span rest = x->query, word, value;
    bool has_filter = false;
    while (!has_filter && filter_next_word(&rest, &word))
        has_filter = filter_of(word, &value) != FILTER_NONE;
    if (has_filter) {
        struct span all = filter_without(x->r->arena, filter_without(x->r->arena, x->query, FILTER_SITE), FILTER_LANG);
        buf_puts(out, "<li><a href=\"");
        put_search_href(out, all, 1, false);
        buf_puts(out, "\">Search all sites and languages</a></li>");
    }
    buf_puts(out, "<li>Put OR between words to find either: <code>cat OR dog</code></li></ul></div>\n");
}

static void put_results(struct results *x)
{
    struct buf *out = x->out;
    buf_puts(out, "<h1 class=\"vh\">Results for ");
    html_text(out, x->query);
    buf_puts(out, "</h1>\n<div class=\"columns\"><div class=\"results\">\n");
    if (x->found.hit_count)
        put_count(x);
    put_filters(x);
    put_notices(x);
    if (x->found.hit_count == 0)
        put_nothing(x);
    else {
        buf_printf(out, "<ol class=\"hits\" start=\"%llu\">\n", (unsigned long long)((x->page - 1) * PAGE_HITS + 1));
        for (size_t i = 0; i < x->found.hit_count; i++)
            put_hit(x, &x->found.hits[i]);
        buf_puts(out, "</ol>\n");
        put_paging(x);
    }
    buf_puts(out, "</div>\n");
    put_facets(x);
    buf_puts(out, "</div>\n");
}

/* ---- the two forms ---- */

static status run_search(const struct page_request *r, const struct index_snapshot *snap, const struct search_opts *o,
                         struct search_result *found, int64_t *took_us)
{
    int64_t start = clock_mono_us();
    status st = search_run(snap, o, r->arena, found);
    *took_us = clock_mono_us() - start;
    count_search(r->s, st, found, *took_us);
    return st;
}

/* Changes when what is found may: with the index, and with the groups of near-duplicates. */
static uint64_t generation_of(const struct index_snapshot *snap, const struct groups *groups)
{
    return index_snapshot_generation(snap) + groups_stamp(groups) * 0x9e3779b97f4a7c15u;
}

static void put_failure(const struct page_request *r, struct httpd_answer *ans, status st, const struct results *x)
{
    const char *heading = "The search went wrong",
               *text = "The index cannot be read at the moment. Try again in a while.";
    int code = 500;
    if (st == ST_INVALID) {
        code = 200; /* nobody did anything wrong */
        heading = "There is nothing to look for";
        text = "Every word of it is ignored. Add a word that the page should have.";
    } else if (st == ST_LIMIT) {
        code = 400;
        heading = "That is too much";
        text = "A query may have 2,048 characters and 64 words, and the first 1,000 results can be seen.";
    } else if (st == ST_NOT_FOUND) {
        code = 503;
        heading = "Nothing to search yet";
        text = "This folder has no index. Once a crawl has found pages they can be searched a few seconds later.";
    } else if (st == ST_CORRUPT) {
        heading = "The index cannot be read";
        text = "It is damaged, or of an older version of the program. Whoever runs this search can make it anew with: "
               "orb check";
    } else if (st == ST_NEWER) {
        heading = "The index is too new";
        text = "It was made by a newer version of this program.";
    }
    buf_clear(&ans->head);
    ans->status = code;
    page_headers(ans, PAGE_HTML, "no-store");
    page_begin(r, &ans->body, AT_NOWHERE, span_str(heading), x->query);
    buf_puts(&ans->body, "<div class=\"message\"><h1>");
    html_text(&ans->body, span_str(heading));
    buf_puts(&ans->body, "</h1><p>");
    html_text(&ans->body, st == ST_INVALID && x->found.note.n ? x->found.note : span_str(text));
    buf_puts(&ans->body, "</p></div>\n");
    page_end(r, &ans->body, AT_NOWHERE, NULL);
}

void page_search(const struct page_request *r, struct httpd_answer *ans)
{
    struct results x = {.r = r, .out = &ans->body};
    struct index_snapshot *snap = NULL;
    struct groups *groups = NULL;
    x.query = span_trim(request_param(r->arena, r->query, "q"));
    if (x.query.n == 0) {
        ans->status = 303;
        page_headers(ans, PAGE_HTML, "no-store");
        buf_puts(&ans->head, "Location: /\n");
        return;
    }
    bool is_page = request_number(r->arena, r->query, "page", 1, PAGES_MAX, &x.page) && x.page > 0;
    x.is_unfolded = span_is(request_param(r->arena, r->query, "similar"), "1");
    bool is_like = request_number(r->arena, r->query, "like", 0, UINT64_MAX, &x.like) && (!x.like || x.page == 1);
    status st = is_page && is_like && x.query.n <= SEARCH_QUERY_MAX ? corpus_snapshot(r->s->corpus, &snap) : ST_LIMIT;
    if (st == ST_OK)
        groups = groups_reader_get(r->s->groups);
    if (st == ST_OK && page_is_known(r, ans, generation_of(snap, groups))) {
        page_headers(ans, PAGE_HTML, "private, no-cache");
        index_snapshot_free(snap);
        groups_release(groups);
        return;
    }
    if (st == ST_OK) {
        struct search_opts o = {.query = x.query,
                                .analyzer = r->analyzer,
                                .offset = (unsigned)(x.page - 1) * PAGE_HITS,
                                .limit = x.like ? PAGE_HITS_MAX : PAGE_HITS,
                                .now = clock_wall(),
                                .with_snippets = true,
                                .with_facets = !x.like,
                                .with_suggestion = x.page == 1 && !x.like,
                                .no_folding = x.is_unfolded && !x.like,
                                .like = x.like,
                                .group_of = groups_translate,
                                .group_arg = groups};
        st = run_search(r, snap, &o, &x.found, &x.took_us);
    }
    if (st == ST_OK) {
        page_headers(ans, PAGE_HTML, "private, no-cache");
        page_begin(r, x.out, AT_RESULTS, x.query, x.query);
        put_results(&x);
        page_end(r, x.out, AT_RESULTS, NULL);
    } else
        put_failure(r, ans, st, &x);
    index_snapshot_free(snap);
    groups_release(groups);
}

static void put_failure_json(struct httpd_answer *ans, status st)
{
    buf_clear(&ans->head);
    if (st == ST_INVALID)
        page_error_json(ans, 400, "nothing_to_look_for", "the query has no words to look for");
    else if (st == ST_LIMIT)
        page_error_json(ans, 400, "too_much",
                        "a query has at most 2,048 bytes, limit is at most 100, offset and limit together 1,000");
    else if (st == ST_NOT_FOUND)
        page_error_json(ans, 503, "no_index", "the data folder has no index yet");
    else
        page_error_json(ans, 500, status_name(st), "the index cannot be read");
}

void page_search_json(const struct page_request *r, struct httpd_answer *ans)
{
    struct index_snapshot *snap = NULL;
    struct groups *groups = NULL;
    struct search_result found = {0};
    struct span query = span_trim(request_param(r->arena, r->query, "q"));
    uint64_t offset = 0, limit = 0;
    int64_t took_us = 0;
    bool is_good = request_number(r->arena, r->query, "offset", 0, SEARCH_DEPTH_MAX, &offset) &&
                   request_number(r->arena, r->query, "limit", PAGE_HITS, PAGE_HITS_MAX, &limit) && limit > 0 &&
                   offset + limit <= SEARCH_DEPTH_MAX && query.n <= SEARCH_QUERY_MAX;
    struct search_opts o = {.query = query,
                            .analyzer = r->analyzer,
                            .offset = is_good ? (unsigned)offset : 0,
                            .limit = is_good ? (unsigned)limit : 0,
                            .now = clock_wall(),
                            .with_snippets = true,
                            .with_facets = true,
                            .with_suggestion = true,
                            .no_folding = span_is(request_param(r->arena, r->query, "similar"), "1"),
                            .group_of = groups_translate};
    status st = !is_good ? ST_LIMIT : query.n == 0 ? ST_INVALID : corpus_snapshot(r->s->corpus, &snap);
    if (st == ST_OK)
        o.group_arg = groups = groups_reader_get(r->s->groups);
    if (st == ST_OK && page_is_known(r, ans, generation_of(snap, groups))) {
        page_headers(ans, PAGE_JSON, "private, no-cache");
        index_snapshot_free(snap);
        groups_release(groups);
        return;
    }
    if (st == ST_OK)
        st = run_search(r, snap, &o, &found, &took_us);
    if (st == ST_OK) {
        page_headers(ans, PAGE_JSON, "private, no-cache");
        search_json(&found, &o, &ans->body);
        buf_putc(&ans->body, '\n');
    } else
        put_failure_json(ans, st);
    index_snapshot_free(snap);
    groups_release(groups);
}
