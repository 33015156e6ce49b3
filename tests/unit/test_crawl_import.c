/* Answers of somebody else as visits of a folder: what becomes of them, in any order, twice, and after a kill. */
#include "test.h"

#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apply/apply_sink.h"
#include "crawl/crawl.h"
#include "sample/pdf.h"
#include "store/store.h"
#include "test_folder.h"

#define T0 1500000000000 /* some moment */

struct bed {
    char dir[TEST_PATH];
    struct apply_sink_opts sink;
    struct crawl *cr;
    uint64_t channel;
};

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

static void bed_open(struct bed *b)
{
    const struct span seeds[] = {SPAN("http://example.org/")};
    const struct channel_opts c = {.seeds = seeds, .seed_count = 1, .scope = SCOPE_SITE, .depth_max = 64};
    struct buf why = {0};
    struct channel *channel = NULL;
    test_path(b->dir, "data");
    b->sink = (struct apply_sink_opts){.no_index = false};
    const struct crawl_opts o = {.data_dir = b->dir,
                                 .fetch = {.user_agent = SPAN("orbweaver/1")},
                                 .delay_ms = -1,
                                 .shards = 1,
                                 .open_sink = apply_sink_open,
                                 .sink_arg = &b->sink,
                                 .worker_path = worker_path()};
    CHECK_STATUS("open", crawl_open(&o, &b->cr, &why), ST_OK);
    CHECK_STATUS("channel", channel_new(&c, &channel, &why), ST_OK);
    b->channel = channel_id(channel);
    CHECK_STATUS("add", crawl_add_unseeded(b->cr, channel), ST_OK);
    CHECK_STATUS("begin", crawl_import_begin(b->cr), ST_OK);
    buf_done(&why);
}

static struct crawl_stats bed_close(struct bed *b)
{
    struct crawl_stats stats;
    CHECK_STATUS("end", crawl_import_end(b->cr), ST_OK);
    crawl_get_stats(b->cr, &stats);
    crawl_close(b->cr);
    return stats;
}

static crawl_import_verdict give_typed(struct bed *b, const char *url, wall_ms at, int http, const char *type,
                                       struct span body)
{
    struct crawl_import_page page;
    crawl_import_verdict verdict = IMPORT_NO_URL;
    CHECK_STATUS(url, crawl_import_check(b->cr, b->channel, span_str(url), at, (unsigned)http, &page, &verdict), ST_OK);
    if (verdict != IMPORT_WANTED)
        return verdict;
    struct fetch_result r = {.st = ST_OK,
                             .why = "",
                             .http_status = http,
                             .http_version = 11,
                             .content_type = span_str(type),
                             .etag = SPAN("\"v1\""),
                             .body = body,
                             .wire_bytes = body.n,
                             .timing = {-1, -1, -1, -1, -1}};
    if (http >= 300 && http < 400)
        r.location = body;
    CHECK_STATUS(url, crawl_import(b->cr, &page, &r), ST_OK);
    return verdict;
}

static crawl_import_verdict give(struct bed *b, const char *url, wall_ms at, int http, const char *body)
{
    return give_typed(b, url, at, http, "text/html", span_str(body));
}

struct row {
    char title[64], etag[16], reason[64];
    wall_ms at, first_seen;
    unsigned http, visits, changes;
    bool has_content;
};

static status take_row(void *arg, const struct page *p)
{
    struct row *r = arg;
    *r = (struct row){.at = p->at,
                      .first_seen = p->first_seen,
                      .http = p->http_status,
                      .visits = p->visits,
                      .changes = p->changes,
                      .has_content = p->content != 0};
    snprintf(r->title, sizeof(r->title), "%.*s", SPAN_ARG(p->title));
    snprintf(r->etag, sizeof(r->etag), "%.*s", SPAN_ARG(p->etag));
    snprintf(r->reason, sizeof(r->reason), "%.*s", SPAN_ARG(p->reason));
    return ST_OK;
}

static struct row row_of(const struct bed *b, const char *url)
{
    struct store *s = NULL;
    struct row r = {0};
    CHECK_STATUS("store", store_open(b->dir, STORE_READ, &s, NULL), ST_OK);
    status st = store_page_get(s, siphash(store_key(s), span_str(url)), take_row, &r);
    store_free(s);
    CHECK(url, st == ST_OK || st == ST_NOT_FOUND);
    return r;
}

#define PAGE_A                                                                                      \
    "<title>One</title><p>Words of the first page, enough of them.<a href=/b>b</a><a href=/c>c</a>" \
    "<a href=http://elsewhere.example/>away</a>"

static void answers_become_visits_of_their_dates(void **state)
{
    (void)state;
    struct bed b;
    bed_open(&b);
    assert_int_equal(give(&b, "http://example.org/a", T0, 200, PAGE_A), IMPORT_WANTED);
    assert_int_equal(give(&b, "http://example.org/b", T0 + 1, 200, "<title>Two</title><p>Other words"), IMPORT_WANTED);
    assert_int_equal(give(&b, "http://elsewhere.example/", T0, 200, "x"), IMPORT_OUT_OF_SCOPE);
    assert_int_equal(give(&b, "ftp://example.org/", T0, 200, "x"), IMPORT_NO_URL);
    struct crawl_stats s = bed_close(&b);
    assert_int_equal(s.pages, 2);
    assert_int_equal(s.fetched, 2);
    assert_int_equal(s.index_docs, 2);
    assert_int_equal(s.queued, 1); /* c: b came in itself */
    struct row r = row_of(&b, "http://example.org/a");
    CHECK("its date", r.at == T0 && r.first_seen == T0 && r.http == 200 && r.has_content);
    CHECK_SPAN("title", span_str(r.title), SPAN("One"));
    CHECK_SPAN("validator", span_str(r.etag), SPAN("\"v1\""));

    /* The queue is the same in the next run. */
    bed_open(&b);
    s = bed_close(&b);
    assert_int_equal(s.queued, 1);
}

static void the_same_again_changes_nothing(void **state)
{
    (void)state;
    struct bed b;
    bed_open(&b);
    give(&b, "http://example.org/a", T0, 200, PAGE_A);
    assert_int_equal(give(&b, "http://example.org/a", T0, 200, "<title>Else</title>"), IMPORT_OLDER);
    (void)bed_close(&b);
    bed_open(&b);
    assert_int_equal(give(&b, "http://example.org/a", T0, 200, PAGE_A), IMPORT_OLDER);
    struct crawl_stats s = bed_close(&b);
    assert_int_equal(s.pages, 1);
    assert_int_equal(s.fetched, 0);
    assert_int_equal(s.queued, 2);
    assert_int_equal(row_of(&b, "http://example.org/a").visits, 1);
}

static void the_newest_counts_in_any_order(void **state)
{
    (void)state;
    struct bed b;
    bed_open(&b);
    give(&b, "http://example.org/up", T0, 200, "<title>Old</title><p>a");
    give(&b, "http://example.org/up", T0 + 5000, 200, "<title>New</title><p>b");
    give(&b, "http://example.org/down", T0 + 5000, 200, "<title>New</title><p>b");
    assert_int_equal(give(&b, "http://example.org/down", T0, 200, "<title>Old</title><p>a"), IMPORT_OLDER);
    (void)bed_close(&b);
    struct row up = row_of(&b, "http://example.org/up"), down = row_of(&b, "http://example.org/down");
    CHECK_SPAN("up", span_str(up.title), SPAN("New"));
    CHECK_SPAN("down", span_str(down.title), SPAN("New"));
    CHECK("dates", up.at == T0 + 5000 && down.at == up.at);
    CHECK("history", up.visits == 2 && up.changes == 1 && down.visits == 1);
}

static void of_one_moment_the_good_answer_counts(void **state)
{
    (void)state;
    struct bed b;
    bed_open(&b);
    give(&b, "http://example.org/x", T0, 302, "/x?cookie");
    assert_int_equal(give(&b, "http://example.org/x", T0, 200, "<title>It</title><p>a"), IMPORT_WANTED);
    assert_int_equal(give(&b, "http://example.org/x", T0, 302, "/x?cookie"), IMPORT_OLDER);
    give(&b, "http://example.org/y", T0, 200, "<title>It</title><p>a");
    assert_int_equal(give(&b, "http://example.org/y", T0, 404, ""), IMPORT_OLDER);
    (void)bed_close(&b);
    assert_int_equal(row_of(&b, "http://example.org/x").http, 200);
    assert_int_equal(row_of(&b, "http://example.org/y").http, 200);
}

/* Several are read at once, while other answers are taken; of one page each answer still follows the one before. The
 * buffer of an answer is another's as soon as the call returns. */
static void documents_are_read_beside_the_rest(void **state)
{
    struct bed b;
    struct buf pdf = {0};
    char url[64], title[32];
    bed_open(&b);
    for (int i = 0; i < 12; i++) {
        snprintf(url, sizeof(url), "http://example.org/%d.pdf", i);
        snprintf(title, sizeof(title), "Title %d", i);
        buf_clear(&pdf);
        sample_pdf(span_str(title), SPAN("The tide table of the old harbour"), &pdf);
        CHECK(url, give_typed(&b, url, T0, 200, "application/pdf", buf_span(&pdf)) == IMPORT_WANTED);
        CHECK("page", give(&b, "http://example.org/", T0 + i, 200, PAGE_A) == IMPORT_WANTED);
    }
    buf_clear(&pdf);
    sample_pdf(SPAN("Newer"), SPAN("The tide table of the new harbour"), &pdf);
    CHECK("newer",
          give_typed(&b, "http://example.org/11.pdf", T0 + 5, 200, "application/pdf", buf_span(&pdf)) == IMPORT_WANTED);
    CHECK("older", give(&b, "http://example.org/11.pdf", T0 + 4, 404, "") == IMPORT_OLDER);
    CHECK("gone", give(&b, "http://example.org/10.pdf", T0 + 5, 404, "") == IMPORT_WANTED);
    struct crawl_stats stats = bed_close(&b);
    CHECK("counts", stats.pdf_failed == 0 && stats.pdf_left == 0 && stats.gone == 1 && stats.pages == 12);
    for (int i = 0; i < 12; i++) {
        snprintf(url, sizeof(url), "http://example.org/%d.pdf", i);
        snprintf(title, sizeof(title), "Title %d", i);
        struct row r = row_of(&b, url);
        CHECK(url, i == 10 ? r.http == 404 && r.visits == 2 : r.has_content);
        if (i < 10)
            CHECK_SPAN(url, span_str(r.title), span_str(title));
    }
    struct row newer = row_of(&b, "http://example.org/11.pdf");
    CHECK_SPAN("the newer one", span_str(newer.title), SPAN("Newer"));
    CHECK("both visits", newer.visits == 2);
    buf_done(&pdf);
}

static void redirects_lead_on_and_widen_nothing(void **state)
{
    (void)state;
    struct bed b;
    bed_open(&b);
    give(&b, "http://example.org/old", T0, 301, "/new");
    give(&b, "http://example.org/", T0, 301, "http://www.example.com/");
    assert_int_equal(give(&b, "http://www.example.com/", T0, 200, "x"), IMPORT_OUT_OF_SCOPE);
    give(&b, "http://example.org/me", T0, 302, "/me");
    struct crawl_stats s = bed_close(&b);
    assert_int_equal(s.redirects, 3);
    assert_int_equal(s.queued, 1); /* /new */
    CHECK("to itself", strstr(row_of(&b, "http://example.org/me").reason, "cookie"));
}

/* A page that waits in the middle of a queue and then comes in: it is in no queue any more, whatever is killed. */
static void what_comes_in_waits_no_longer(void **state)
{
    (void)state;
    struct bed b;
    struct buf page = {0};
    char url[64];
    buf_puts(&page, "<title>List</title>");
    for (int i = 0; i < 3000; i++)
        buf_printf(&page, "<a href=/p%d>p</a>", i);
    bed_open(&b);
    give(&b, "http://example.org/list", T0, 200, buf_cstr(&page));
    struct crawl_stats s = bed_close(&b);
    assert_int_equal(s.queued, 3000);

    pid_t child = fork();
    if (child == 0) {
        bed_open(&b);
        for (int i = 1000; i < 1500; i++) {
            snprintf(url, sizeof(url), "http://example.org/p%d", i);
            give(&b, url, T0, 200, "<title>P</title><p>some text");
        }
        kill(getpid(), SIGKILL);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    CHECK("killed", WIFSIGNALED(how));
    bed_open(&b);
    unsigned wanted = 0;
    for (int i = 0; i < 3000; i += 2) {
        snprintf(url, sizeof(url), "http://example.org/p%d", i);
        wanted += give(&b, url, T0, 200, "<title>P</title><p>some text") == IMPORT_WANTED;
    }
    s = bed_close(&b);
    /* Of the 500 all but the last, unwritten turn are there. */
    CHECK("the kill lost little", s.pages >= 1 + 1500 + 230 && s.pages <= 1 + 1750);
    CHECK("what was there was not wanted", wanted >= 1250 && wanted <= 1270);
    assert_int_equal(s.queued, 3000 - (s.pages - 1));
    bed_open(&b);
    s = bed_close(&b);
    assert_int_equal(s.queued, 3000 - (s.pages - 1));
    buf_done(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(answers_become_visits_of_their_dates), TEST_IN_FOLDER(the_same_again_changes_nothing),
        TEST_IN_FOLDER(the_newest_counts_in_any_order),       TEST_IN_FOLDER(of_one_moment_the_good_answer_counts),
        TEST_IN_FOLDER(documents_are_read_beside_the_rest),   TEST_IN_FOLDER(redirects_lead_on_and_widen_nothing),
        TEST_IN_FOLDER(what_comes_in_waits_no_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
