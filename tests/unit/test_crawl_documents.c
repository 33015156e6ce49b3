/* Documents in the crawl engine: PDFs that are read, that cannot be, and that nobody is there to read; over loopback,
 * with real workers. */
#include "test.h"

#include <limits.h>
#include <stdatomic.h>
#include <unistd.h>

#include "apply/apply_sink.h"
#include "crawl/crawl.h"
#include "io/httpd.h"
#include "mobile/reader.h"
#include "sample/pdf.h"
#include "test_folder.h"

static const struct addr LOOPBACK = {.family = 4, .b = {127, 0, 0, 1}};

/* ---- the site ---- */

struct site {
    struct httpd *server;
    struct buf pdf, many, list;
    atomic_uint bodies; /* PDF bodies that were asked for, without conditions */
};

static void answer(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct site *s = self;
    struct span t = req->target;
    bool is_pdf = span_ends(t, SPAN(".pdf"));
    if (span_is(t, "/robots.txt")) {
        ans->status = 404;
        return;
    }
    if (is_pdf && httpd_header(req, "If-None-Match").n) {
        ans->status = 304;
        return;
    }
    s->bodies += is_pdf;
    buf_puts(&ans->head, is_pdf                       ? "Content-Type: application/pdf\nETag: \"1\"\n"
                         : span_ends(t, SPAN(".md"))  ? "Content-Type: text/plain\n"
                         : span_ends(t, SPAN(".xml")) ? "Content-Type: text/xml\n"
                         : span_ends(t, SPAN(".zip"))
                             ? "Content-Type: application/zip\nContent-Disposition: attachment; "
                               "filename=\"bundle 7.zip\"\n"
                             : "Content-Type: text/html\n");
    if (span_is(t, "/"))
        buf_puts(&ans->body,
                 "<a href=good.pdf>g</a> <a href=cut.pdf>c</a> <a href=none.pdf>n</a> <a href=huge.pdf>h</a> "
                 "<a href=empty.pdf>e</a> <a href=a.md>m</a> <a href=get.zip?id=7.zip>z</a> <a href=long.xml>l</a> <a "
                 "href=long.html>h</a>");
    else if (span_is(t, "/good.pdf"))
        buf_put(&ans->body, buf_span(&s->pdf));
    else if (span_is(t, "/cut.pdf"))
        buf_put(&ans->body, span_cut(buf_span(&s->pdf), 0, 60));
    else if (span_is(t, "/none.pdf"))
        buf_puts(&ans->body, "no PDF, whatever the server says");
    else if (span_is(t, "/huge.pdf"))
        buf_put(&ans->body, buf_span(&s->many));
    else if (span_is(t, "/a.md"))
        buf_puts(&ans->body, "# Read me\n\n[on](b.html)\n");
    else if (span_is(t, "/long.xml"))
        buf_put(&ans->body, buf_span(&s->list));
    else if (span_is(t, "/long.html"))
        buf_printf(&ans->body, "<title>Long</title><p>%.*s", SPAN_ARG(buf_span(&s->many)));
    else if (span_starts(t, SPAN("/get.zip")))
        buf_puts(&ans->body, "PK");
}

static void site_init(struct site *s)
{
    const struct httpd_opts o = {.addr = LOOPBACK, .fn = answer, .self = s};
    *s = (struct site){0};
    sample_pdf(SPAN("Tides"), SPAN("The tide table of the old harbour"), &s->pdf);
    for (unsigned i = 0; i < 3000; i++)
        buf_printf(&s->many, "%%%0100u\n", i);
    buf_puts(&s->list, "<urlset><url><loc>/b.html</loc></url>");
    for (unsigned i = 0; i < 3000; i++)
        buf_printf(&s->list, "<url><loc>http://elsewhere.example/%0100u</loc></url>", i);
    buf_puts(&s->list, "</urlset>");
    CHECK_STATUS("server", httpd_new(&o, &s->server), ST_OK);
}

static void site_done(struct site *s)
{
    httpd_free(s->server);
    buf_done(&s->pdf);
    buf_done(&s->many);
    buf_done(&s->list);
}

/* ---- a crawl of it ---- */

static const char *worker_path(void)
{
    static char path[PATH_MAX + 64];
    if (getenv("ORB_TEST_WORKER"))
        return getenv("ORB_TEST_WORKER");
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
    while (n > 0 && path[n - 1] != '/')
        n--;
    snprintf(path + n, 64, "../../src/mobile/orb-worker");
    return path;
}

static void crawl_it(struct site *s, const char *program, struct crawl_stats *stats)
{
    char dir[TEST_PATH], seed[64];
    struct apply_sink_opts sink = {0};
    struct channel *c = NULL;
    struct crawl *cr = NULL;
    struct buf why = {0};
    crawl_end end = CRAWL_FAILED;
    test_path(dir, "crawl");
    const struct crawl_opts o = {
        .data_dir = dir,
        .fetch = {.user_agent = SPAN("orbweaver/0.1 (test)"), .allow_private = true, .body_bytes_max = 200000},
        .shards = 2,
        .delay_ms = 0,
        .open_sink = apply_sink_open,
        .sink_arg = &sink,
        .worker_path = worker_path(),
        .pdf_program = program};
    snprintf(seed, sizeof(seed), "http://127.0.0.1:%d/", httpd_port(s->server));
    const struct span seeds[] = {span_str(seed)};
    const struct channel_opts co = {.seeds = seeds, .seed_count = 1, .scope = SCOPE_SITE, .depth_max = 9};
    status st = crawl_open(&o, &cr, &why);
    if (st != ST_OK)
        fail_msg("open: %s: %s", status_name(st), buf_cstr(&why));
    CHECK_STATUS("channel", channel_new(&co, &c, NULL), ST_OK);
    CHECK_STATUS("add", crawl_add(cr, c), ST_OK);
    CHECK_STATUS("run", crawl_run(cr, NULL, NULL, &end), ST_OK);
    crawl_get_stats(cr, stats);
    crawl_close(cr);
    CHECK("end", end == CRAWL_COMPLETE);
    buf_done(&why);
}

/* What the page table has of a page, as "title|text or none|reason". */
static status note_page(void *arg, const struct page *p)
{
    buf_printf(arg, "%.*s|%s|%.*s", SPAN_ARG(p->title), p->text_bytes ? "text" : "none", SPAN_ARG(p->reason));
    return ST_OK;
}

static void check_page(struct site *s, const char *path, const char *want)
{
    char dir[TEST_PATH], url[128];
    struct store *store = NULL;
    struct buf got = {0}, why = {0};
    test_path(dir, "crawl");
    snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", httpd_port(s->server), path);
    CHECK_STATUS("store", store_open(dir, STORE_READ, &store, &why), ST_OK);
    CHECK_STATUS(path, store_page_get(store, siphash(store_key(store), span_str(url)), note_page, &got), ST_OK);
    CHECK_SPAN(path, buf_span(&got), span_str(want));
    store_free(store);
    buf_done(&got);
    buf_done(&why);
}

static const char *pdftotext(void)
{
    const char *path = reader_find_pdftotext();
    if (!path)
        fail_msg("pdftotext is not there: install poppler-utils");
    return path;
}

static void documents_are_read_or_known_by_name(void **state)
{
    struct site s;
    struct crawl_stats n;
    site_init(&s);
    crawl_it(&s, pdftotext(), &n);
    check_page(&s, "/good.pdf", "Tides|text|");
    check_page(&s, "/cut.pdf", "|none|PDF known by its name only: it is damaged, or no PDF");
    check_page(&s, "/none.pdf", "|none|PDF known by its name only: it is damaged, or no PDF");
    check_page(&s, "/huge.pdf", "|none|PDF known by its name only: it is too long");
    check_page(&s, "/empty.pdf", "|none|PDF known by its name only: it is empty");
    check_page(&s, "/a.md", "Read me|text|");
    check_page(&s, "/get.zip?id=7.zip", "bundle 7.zip|none|");
    check_page(&s, "/b.html", "|none|"); /* found by the link in the Markdown */
    check_page(&s, "/long.xml", "|none|only its beginning was read: it is too long");
    check_page(&s, "/long.html", "Long|text|only its beginning was read: it is too long");
    CHECK("counts", n.fetched == 10 && n.lists == 1 && n.not_html == 7 && n.not_read == 5 && n.pdf_failed == 4 &&
                        n.pdf_left == 0);
    CHECK("bodies", s.bodies == 5);
    crawl_it(&s, pdftotext(), &n); /* again: validators hold, whatever could be read */
    CHECK("nothing is new", n.unchanged == 10 && n.lists == 1 && s.bodies == 5);
    check_page(&s, "/cut.pdf", "|none|PDF known by its name only: it is damaged, or no PDF"); /* still */
    site_done(&s);
}

static void without_pdftotext_they_are_read_later(void **state)
{
    struct site s;
    struct crawl_stats n;
    site_init(&s);
    crawl_it(&s, "/nonexistent/pdftotext", &n);
    check_page(&s, "/good.pdf", "|none|");
    CHECK("left", n.pdf_left == 5 && n.pdf_failed == 0 && n.pdf_state == ST_NOT_FOUND);
    crawl_it(&s, pdftotext(), &n);
    check_page(&s, "/good.pdf", "Tides|text|");
    CHECK("read", n.pdf_left == 0 && n.pdf_failed == 4);
    site_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(documents_are_read_or_known_by_name),
        TEST_IN_FOLDER(without_pdftotext_they_are_read_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
