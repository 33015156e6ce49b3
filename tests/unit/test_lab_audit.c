/* The ledger of the lab's servers, read again. */
#include "test.h"
#include "test_folder.h"

#include <math.h>

#include "base/buf.h"
#include "base/rng.h"
#include "lab/play/audit.h"

static void write_file(const char *path, struct span text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text.p, 1, text.n, f), text.n);
    fclose(f);
}

static status audit_text(struct audit *a, double pause_ms, struct span text, struct buf *why)
{
    char path[TEST_PATH];
    test_path(path, "ledger");
    write_file(path, text);
    audit_init(a, pause_ms);
    return audit_file(a, path, why);
}

static void lines_are_read(void **state)
{
    static const struct {
        const char *line;
        bool is_good;
    } cases[] = {
        {"1700000000.000001\t20.0.0.1\t2a01::1\ta.example\tGET\t/\t200\t4000", true},
        {"1700000000\t20.0.0.1\t30.0.0.1\t\tGET\t/\t404\t0", true},
        {"1700000000.5\t20.0.0.1\t30.0.0.1\ta.example\tGET\t/\t200\t0\tmore\tlater", true},
        {"1700000000.5\t20.0.0.1\t30.0.0.1\ta\\x00\xff\tGET\t/\x01\xc3\t200\t0", true},
        {"1700000000.5\t20.0.0.1\t30.0.0.1\ta.example\tGET\t/\t200", false},
        {"-1.5\t20.0.0.1\t30.0.0.1\ta.example\tGET\t/\t200\t0", false},
        {"1.\t20.0.0.1\t30.0.0.1\ta.example\tGET\t/\t200\t0", false},
        {"1.1234567890\t20.0.0.1\t30.0.0.1\ta.example\tGET\t/\t200\t0", false},
        {"nan\t20.0.0.1\t30.0.0.1\ta.example\tGET\t/\t200\t0", false},
        {"1.5\t20.0.0\t30.0.0.1\ta.example\tGET\t/\t200\t0", false},
        {"1.5\t20.0.0.1\tx\ta.example\tGET\t/\t200\t0", false},
        {"1.5\t20.0.0.1\t30.0.0.1\ta.example\tGET\t/\t2000\t0", false},
        {"1.5\t20.0.0.1\t30.0.0.1\ta.example\tGET\t/\t200\t-1", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct audit_entry e;
        CHECK(cases[i].line, audit_entry_parse(span_str(cases[i].line), &e) == cases[i].is_good);
    }
    struct audit_entry e;
    assert_true(audit_entry_parse(span_str(cases[0].line), &e));
    assert_true(e.at == 1700000000.000001 && e.status == 200 && e.bytes == 4000 && e.to.family == 6);
    CHECK_SPAN("host", e.host, SPAN("a.example"));
    CHECK_SPAN("target", e.target, SPAN("/"));
}

static const char story[] = "10.000000\t20.0.0.1\t30.0.0.1\ta.example\tGET\t/robots.txt\t200\t30\n"
                            "10.200000\t20.0.0.1\t30.0.0.1\ta.example\tGET\t/\t200\t100\n"
                            "10.250000\t20.0.0.1\t30.0.0.1\tb.example\tGET\t/\t200\t100\n" /* the same server */
                            "10.399999\t20.0.0.2\t30.0.0.1\ta.example\tGET\t/\t200\t100\n" /* handed over too soon */
                            "10.599999\t20.0.0.2\t30.0.0.1\ta.example\tHEAD\t/p/1.html\t200\t0\n"
                            "11.599999\t20.0.0.2\t30.0.0.1\ta.example\tGET\t/private/never.html\t503\t9\n"
                            "12.599999\t20.0.0.1\t30.0.0.1\ta.example\tGET\t/p/1.html\t304\t0\n"
                            "13.599999\t20.0.0.1\t30.0.0.1\ta.example\tGET\t/p/2.html\t429\t3\n"
                            "14.599999\t20.0.0.1\t30.0.0.1\ta.example\tGET\t/sitemap.xml\t200\t3\n"
                            "15.0\t20.0.0.1\t30.0.0.1\ta.exa"; /* cut off */

static void an_audit_counts(void **state)
{
    struct audit a;
    struct buf why = {0};
    CHECK_STATUS("read", audit_text(&a, 200, span_str(story), &why), ST_OK);
    assert_int_equal(a.requests, 9);
    assert_int_equal(a.pages, 2);
    assert_int_equal(a.again, 1);
    assert_int_equal(a.unchanged, 1);
    assert_int_equal(a.forbidden, 1);
    assert_int_equal(a.robots, 1);
    assert_int_equal(a.limited, 1);
    assert_int_equal(a.errors, 1);
    assert_int_equal(a.bytes, 345);
    assert_int_equal(a.host.pairs, 7);
    assert_int_equal(a.host.close, 1);
    assert_true(a.host.least_ms == 199.999);
    assert_int_equal(a.handed.pairs, 2);
    assert_int_equal(a.handed.close, 1);
    assert_int_equal(a.server.pairs, 8);
    assert_int_equal(a.server.close, 2);
    assert_true(a.server.least_ms == 50);
    assert_true(a.first == 10 && a.last == 14.599999);
    assert_int_equal(a.client_count, 2);
    assert_int_equal(a.clients[1].requests, 3);
    assert_int_equal(a.clients[1].pages, 0);
    audit_done(&a);
    buf_done(&why);
}

static void nothing_is_nothing(void **state)
{
    struct audit a;
    struct buf why = {0};
    CHECK_STATUS("read", audit_text(&a, 200, SPAN("1.0\t20."), &why), ST_OK);
    assert_int_equal(a.requests, 0);
    assert_true(isinf(a.host.least_ms));
    audit_done(&a);
    CHECK_STATUS("no file", audit_file(&a, "/nonexistent/ledger", &why), ST_NOT_FOUND);
    buf_done(&why);
}

static void bad_lines_are_named(void **state)
{
    struct audit a;
    struct buf why = {0}, text = {0};
    buf_puts(&text, "1.5\t20.0.0.1\t30.0.0.1\ta\tGET\t/\t200\t0\nwhat\n");
    CHECK_STATUS("bad", audit_text(&a, 1, buf_span(&text), &why), ST_INVALID);
    CHECK("which", span_search(buf_span(&why), SPAN("ledger:2: "), false) < why.n);
    audit_done(&a);
    for (int whole = 0; whole < 2; whole++) {
        buf_clear(&text);
        for (size_t i = 0; i <= AUDIT_LINE_MAX; i++)
            buf_putc(&text, 'x');
        if (whole)
            buf_putc(&text, '\n');
        CHECK_STATUS("long", audit_text(&a, 1, buf_span(&text), &why), ST_LIMIT);
        audit_done(&a);
    }
    buf_done(&why);
    buf_done(&text);
}

/* A naive twin: every pair of neighbours of a host, found by looking back through all entries. */
static void agrees_with_a_search_of_all(void **state)
{
    enum { N = 2000 };
    static struct {
        int host, page;
        uint64_t us;
    } all[N];
    struct rng r;
    struct buf text = {0}, why = {0};
    uint64_t us = 5000000, pages = 0, pairs = 0, close = 0;
    double least = INFINITY;
    rng_seed(&r, 8);
    for (int i = 0; i < N; i++) {
        us += rng_below(&r, 20000);
        all[i].host = (int)rng_below(&r, 40);
        all[i].page = (int)rng_below(&r, 30);
        all[i].us = us;
        buf_printf(&text, "%llu.%06llu\t20.0.0.1\t30.0.0.1\th%d.example\tGET\t/p/%d.html\t200\t1\n",
                   (unsigned long long)(us / 1000000), (unsigned long long)(us % 1000000), all[i].host, all[i].page);
        bool is_new = true, is_first = true;
        for (int k = i - 1; k >= 0; k--) {
            if (all[k].host != all[i].host)
                continue;
            if (is_first) {
                uint64_t gap = us - all[k].us;
                pairs++;
                close += gap < 100000;
                least = fmin(least, (double)gap / 1e3);
                is_first = false;
            }
            is_new = is_new && all[k].page != all[i].page;
        }
        pages += is_new;
    }
    struct audit a;
    CHECK_STATUS("read", audit_text(&a, 100, buf_span(&text), &why), ST_OK);
    assert_int_equal(a.pages, pages);
    assert_int_equal(a.again, N - pages);
    assert_int_equal(a.host.pairs, pairs);
    assert_int_equal(a.host.close, close);
    assert_true(a.host.least_ms == least);
    assert_int_equal(a.handed.pairs, 0);
    audit_done(&a);
    buf_done(&text);
    buf_done(&why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read),
        TEST_IN_FOLDER(an_audit_counts),
        TEST_IN_FOLDER(nothing_is_nothing),
        TEST_IN_FOLDER(bad_lines_are_named),
        TEST_IN_FOLDER(agrees_with_a_search_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
