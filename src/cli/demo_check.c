#include "cli/demo_check.h"

#include <stdio.h>

#include "codec/json.h"
#include "io/http_get.h"

#define TIMEOUT_MS 20000

const struct demo_query demo_queries[] = {
    {"\"sourdough hydration\"", "bakery/hydration-table.html", NULL, "en", false,
     "a phrase: these words next to each other"},
    {"kingfiser", "", "kingfisher", NULL, false, "misspelt: it asks whether you meant the bird"},
    {"winter lang:de", NULL, NULL, "de", false, "only pages in German; without lang: there are English ones too"},
    {"parse header", "skein/std/http_header/reference.html", NULL, "en", false,
     "finds the function parseHeader by the parts of its name"},
    {"ribollita", "cucina/ricette/ribollita/", NULL, "it", true,
     "a recipe; its print version is folded into it (\"1 similar\")"},

    {"ring_buffer_push", "skein/std/ring_buffer/reference.html", NULL, "en", false, NULL},
    {"parseHeader", "skein/std/http_header/reference.html", NULL, "en", false, NULL},
    {"Steinhornbahn Fahrplan Winter", "bergbahn/strecken/steinhorn/fahrplan-winter.html", NULL, "de", false, NULL},
    {"site:radio." DEMO_DOMAIN " hum", "radio/sets/heron-5/repair.html", NULL, "en", false, NULL},
    {"title:caponata storia", "cucina/ricette/caponata/storia.html", NULL, "it", false, NULL},
    {"りんご lang:ja", "station/eki/yukimi/", NULL, "ja", false, NULL},
    {"图书馆 lang:zh", "university/zh-library.html", NULL, "zh", false, NULL},
    {"기숙사 lang:ko", "university/ko-dormitory.html", NULL, "ko", false, NULL},
    {"туманность Ориона", NULL, NULL, "ru", false, NULL},
    {"cafe pier", "harbour/caf%C3%A9.html", NULL, "en", false, NULL},
    {"conservare pomodori", "cucina/pomodori.html", NULL, NULL, false, NULL}, /* says that it is English */
    {"script alert", "skein/notes/escaping.html", NULL, NULL, false, NULL},
    {"valve stock", "radio/members.html", NULL, NULL, false, NULL},
    {"chestnut loaf", "bakery/blog/chestnut-loaf.html", NULL, "en", false, NULL}, /* only the feed names it */
    {"yearly report type:pdf", "harbour/report.pdf", NULL, NULL, false, NULL},
    {"cover.png", "library/cover.png", NULL, NULL, false, NULL},
    {"title:upgrade version", "skein/notes/upgrade.html", NULL, "en", false, NULL}, /* only Markdown leads there */
    {"title:coroutines", "", NULL, NULL, false, NULL},                              /* that page says noindex */
};
const size_t demo_query_count = sizeof(demo_queries) / sizeof(*demo_queries);

void demo_target(const char *path, const char *query, struct buf *out)
{
    static const char kept[] = "-._~:";
    buf_printf(out, "%s?q=", path);
    for (const char *p = query; *p; p++) {
        if (ascii_is_alpha(*p) || ascii_is_digit(*p) || strchr(kept, *p))
            buf_putc(out, *p);
        else if (*p == ' ')
            buf_putc(out, '+');
        else
            buf_printf(out, "%%%02X", (unsigned char)*p);
    }
}

/* ---- asking ---- */

struct check {
    const struct demo_page *page;
    struct http_got got;
    struct buf why; /* empty: all is well */
    unsigned failed;
};

static bool has(const struct buf *b, const char *text)
{
    return span_search(buf_span(b), span_str(text), false) < b->n;
}

/* Fills in c->got; false, with the reason, when it was not answered with 200. */
static bool get(struct check *c, const char *target)
{
    const struct addr here = {.family = 4, .b = {127, 0, 0, 1}};
    status st = http_get(&here, c->page->port, target, TIMEOUT_MS, &c->got);
    if (st != ST_OK)
        buf_printf(&c->why, "GET %s: %s", target, status_name(st));
    else if (c->got.status != 200)
        buf_printf(&c->why, "GET %s: status %d", target, c->got.status);
    return c->why.n == 0;
}

static void tell(struct check *c, const char *what)
{
    if (c->why.n) {
        printf("not ok %s: %s\n", what, buf_cstr(&c->why));
        c->failed++;
    } else {
        printf("ok %s\n", what);
    }
    fflush(stdout);
    buf_clear(&c->why);
}

/* A page that must be there and have some text in it. */
static void check_page(struct check *c, const char *what, const char *target, const char *text)
{
    if (get(c, target) && !has(&c->got.body, text))
        buf_printf(&c->why, "GET %s: \"%s\" is not in it", target, text);
    tell(c, what);
}

/* ---- searching ---- */

/* Cuts the text after the next `"key":"` off *rest; false: no more. */
static bool next_text(struct span *rest, const char *key, struct span *out)
{
    struct buf mark = {0};
    buf_printf(&mark, "\"%s\":\"", key);
    size_t at = span_search(*rest, buf_span(&mark), false);
    bool is_there = at < rest->n;
    *rest = span_from(*rest, at + mark.n);
    *out = span_cut(*rest, 0, span_find(*rest, '"', 0));
    buf_done(&mark);
    return is_there;
}

static struct span results_of(const struct buf *json)
{
    struct span all = buf_span(json), start = SPAN("\"results\":[");
    all = span_from(all, span_search(all, start, false) + start.n);
    return span_cut(all, 0, span_search(all, SPAN("\"facets\":"), false));
}

static void put_best(const struct check *c, const struct demo_query *q, struct buf *out)
{
    struct span best = span_str(q->best);
    size_t slash = span_find(best, '/', 0);
    buf_printf(out, "http://%.*s." DEMO_DOMAIN ":%d", (int)slash, q->best, c->page->sample_port);
    buf_put(out, span_from(best, slash));
}

static void check_langs(struct check *c, const struct demo_query *q, struct span results)
{
    struct span lang;
    while (next_text(&results, "lang", &lang))
        if (!span_is(lang, q->lang) && c->why.n == 0)
            buf_printf(&c->why, "a result in %.*s, not in %s", SPAN_ARG(lang), q->lang);
}

static void check_answer(struct check *c, const struct demo_query *q, struct span best)
{
    struct span results = results_of(&c->got.body), rest = results, url = {0}, suggestion = {0};
    bool is_found = next_text(&rest, "url", &url);
    if (q->best && !*q->best && is_found)
        buf_printf(&c->why, "found %.*s, where nothing should be found", SPAN_ARG(url));
    else if (!(q->best && !*q->best) && !is_found)
        buf_puts(&c->why, "nothing was found");
    else if (best.n && !span_eq(url, best))
        buf_printf(&c->why, "the first result is %.*s, not %.*s", SPAN_ARG(url), SPAN_ARG(best));
    else if (q->is_folded && json_peek_u64(results, "similar") == 0)
        buf_puts(&c->why, "nothing is folded into the first result");
    rest = buf_span(&c->got.body);
    if (q->suggestion && (!next_text(&rest, "suggestion", &suggestion) || !span_is(suggestion, q->suggestion)))
        buf_printf(&c->why, "it does not ask whether %s was meant", q->suggestion);
    if (q->lang)
        check_langs(c, q, results);
}

/* The page shows the same answer, and nothing of what was found runs in it. */
static void check_shown(struct check *c, const struct demo_query *q, struct span best)
{
    struct span body = buf_span(&c->got.body);
    if (best.n && span_search(body, best, false) == body.n)
        buf_puts(&c->why, "the page does not link the best result");
    else if (q->suggestion && !has(&c->got.body, q->suggestion))
        buf_puts(&c->why, "the page does not show the suggestion");
    else if (has(&c->got.body, "<script>alert") || has(&c->got.body, "<img src=x"))
        buf_puts(&c->why, "markup of a page that was found is markup of the page that shows it");
    else if (!has(&c->got.head, "Content-Security-Policy:"))
        buf_puts(&c->why, "no Content-Security-Policy");
}

static void check_query(struct check *c, const struct demo_query *q)
{
    struct buf best = {0}, target = {0}, what = {0};
    if (q->best && *q->best)
        put_best(c, q, &best);
    demo_target("/api/v1/search", q->query, &target);
    if (get(c, buf_cstr(&target)))
        check_answer(c, q, buf_span(&best));
    buf_clear(&target);
    demo_target("/search", q->query, &target);
    if (c->why.n == 0 && get(c, buf_cstr(&target)))
        check_shown(c, q, buf_span(&best));
    buf_printf(&what, "search for %s", q->query);
    tell(c, buf_cstr(&what));
    buf_done(&best);
    buf_done(&target);
    buf_done(&what);
}

/* ---- */

static void check_metrics(struct check *c)
{
    struct span start = SPAN("\norb_index_docs ");
    if (get(c, "/metrics")) {
        struct span rest = buf_span(&c->got.body);
        uint64_t docs = 0;
        rest = span_from(rest, span_search(rest, start, false) + start.n);
        (void)span_u64(span_cut(rest, 0, span_find(rest, '\n', 0)), UINT64_MAX, &docs);
        if (docs != c->page->docs)
            buf_printf(&c->why, "%llu pages in the index, not %llu", (unsigned long long)docs,
                       (unsigned long long)c->page->docs);
    }
    tell(c, "metrics count the pages of the index");
}

static void check_nosnippet(struct check *c)
{
    struct span snippet, rest;
    if (get(c, "/api/v1/search?q=valve+stock")) {
        rest = results_of(&c->got.body);
        if (!next_text(&rest, "snippet", &snippet) || snippet.n > 0)
            buf_puts(&c->why, "text of a page that says nosnippet is shown");
    }
    tell(c, "no text of a page that says nosnippet");
}

unsigned demo_check(const struct demo_page *p)
{
    struct check c = {.page = p};
    check_page(&c, "start page", "/", "name=\"q\"");
    for (size_t i = 0; i < demo_query_count; i++)
        check_query(&c, &demo_queries[i]);
    check_nosnippet(&c);
    check_page(&c, "status page", "/status", "</html>");
    check_page(&c, "status as JSON", "/api/v1/status", "\"index\":");
    check_metrics(&c);
    check_page(&c, "page for site owners", "/about-this-crawler", "robots.txt");
    http_got_done(&c.got);
    buf_done(&c.why);
    return c.failed;
}
