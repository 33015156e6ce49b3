/* The pure parts of the lab's web servers: when pages change, their time, limits, sitemaps, sites, the ledger. */
#include "test.h"
#include "test_folder.h"

#include <math.h>

#include "base/rng.h"
#include "lab/map/lab.h"
#include "lab/play/audit.h"
#include "lab/serve/change.h"
#include "lab/serve/labtime.h"
#include "lab/serve/ledger.h"
#include "lab/serve/limit.h"
#include "lab/serve/pages.h"
#include "lab/serve/sitemap.h"
#include "lab/serve/sites.h"

/* ---- change ---- */

#define DAY CHANGE_DAY_S

/* The changes of the first `days`, found by asking often; each is told as long as it is the last. */
static size_t changes_until(uint64_t seed, double per_day, double days, size_t steps)
{
    double last = 0;
    size_t n = 0;
    for (size_t i = 0; i <= steps; i++) {
        double now = days * DAY * (double)i / (double)steps, got = change_last(seed, per_day, now);
        CHECK("never after now", got <= now);
        CHECK("never back", got >= last);
        n += got > last;
        last = got;
    }
    return n;
}

static void a_page_changes_as_often_as_its_rate_says(void **state)
{
    static const double rates[] = {0.05, 1, 30};
    for (size_t i = 0; i < 3; i++) {
        double expected = 0, found = 0;
        for (uint64_t seed = 1; seed <= 40; seed++) {
            double days = 50 / rates[i];
            found += (double)changes_until(seed * 7919, rates[i], days, 5000);
            expected += 50;
        }
        CHECK("within four deviations", fabs(found - expected) < 4 * sqrt(expected) + expected * 0.01);
    }
}

/* A Poisson process has no memory: the age of the last change is exponential, whenever it is asked for. */
static void ages_are_exponential(void **state)
{
    enum { N = 4000 };
    size_t young = 0, middle = 0;
    for (uint64_t seed = 0; seed < N; seed++) {
        double now = 1000 * DAY + (double)seed * 977, age = (now - change_last(seed * 31 + 5, 1, now)) / DAY;
        young += age < 0.1;
        middle += age < 1;
    }
    double p1 = 1 - exp(-0.1), p2 = 1 - exp(-1);
    CHECK("young", fabs((double)young - N * p1) < 4 * sqrt(N * p1 * (1 - p1)));
    CHECK("middle", fabs((double)middle - N * p2) < 4 * sqrt(N * p2 * (1 - p2)));
}

/* What is told once stays true: the answer does not depend on what else was asked, nor on how long the lab has run. */
static void the_past_does_not_change(void **state)
{
    struct rng r;
    rng_seed(&r, 4);
    for (int i = 0; i < 2000; i++) {
        uint64_t seed = rng_u64(&r);
        double rate = 0.01 + rng_unit(&r) * 100, now = rng_unit(&r) * 1e9;
        double last = change_last(seed, rate, now);
        assert_true(change_last(seed, rate, now) == last);
        if (last > 0) {
            CHECK("at the change", fabs(change_last(seed, rate, last + 1e-3) - last) < 1e-2);
            CHECK("between", change_last(seed, rate, (last + now) / 2) <= last + 1e-6);
        }
    }
}

static void what_never_changes_never_does(void **state)
{
    assert_true(change_last(1, 0, 1e12) == 0);
    assert_true(change_last(1, -1, 1e12) == 0);
    assert_true(change_last(1, 1e6, 0) == 0);
    assert_true(change_last(1, 1e6, -5) == 0);
    assert_true(change_last(1, (double)NAN, 5) == 0);
    assert_true(change_last(1, 1e-30, 1e6) == 0);
    double last = change_last(1, 1e6, 1e11); /* 3,000 years */
    assert_true(last > 1e11 - 10 && last <= 1e11);
}

static void rates_are_drawn(void **state)
{
    double sum = 0, low = 1e9, high = 0;
    enum { N = 20000 };
    for (uint64_t i = 0; i < N; i++) {
        double site = change_site_rate(i);
        low = fmin(low, site);
        high = fmax(high, site);
        sum += change_page_rate(i, 3);
    }
    CHECK("sites", low >= 0.02 && low < 0.021 && high <= 2 && high > 1.99);
    CHECK("the pages of a site have its rate on average", fabs(sum / N - 3) < 0.1);
    assert_true(change_page_rate(7, 0) == 0);
}

/* ---- time ---- */

static void time_goes_on_at_another_speed(void **state)
{
    static struct labtime t;
    labtime_init(&t, 1000, 10);
    assert_true(labtime_at(&t, 999) == 0);
    assert_true(labtime_at(&t, 1002) == 20);
    assert_true(labtime_wall(&t, 20) == 1002);
    CHECK_STATUS("faster", labtime_set_speed(&t, 1010, 100), ST_OK);
    assert_true(labtime_at(&t, 1010) == 100);
    assert_true(labtime_at(&t, 1011) == 200);
    CHECK_STATUS("stop", labtime_set_speed(&t, 1012, 0), ST_OK);
    assert_true(labtime_at(&t, 2000) == 300);
    CHECK_STATUS("slow", labtime_set_speed(&t, 2000, 0.5), ST_OK);
    assert_true(labtime_at(&t, 2002) == 301);
    static const struct {
        double lab, wall;
    } cases[] = {{0, 1000}, {50, 1005}, {100, 1010}, {200, 1011}, {300, 2000}, {301, 2002}};
    for (size_t i = 0; i < 6; i++)
        assert_true(labtime_wall(&t, cases[i].lab) == cases[i].wall);
    CHECK_STATUS("a clock that was set back", labtime_set_speed(&t, 1500, 1), ST_OK);
    assert_true(labtime_at(&t, 1500) == 300 && labtime_at(&t, 2001) == 301);
}

static void time_never_goes_back(void **state)
{
    static struct labtime t;
    struct rng r;
    double wall = 50, last = 0;
    rng_seed(&r, 6);
    labtime_init(&t, wall, 1);
    for (int i = 0; i < 5000; i++) {
        wall += rng_unit(&r);
        if (rng_below(&r, 10) == 0) {
            status st = labtime_set_speed(&t, wall, rng_unit(&r) * (double)rng_below(&r, 1000));
            CHECK("until it is too often", st == ST_OK || t.n == LABTIME_SPEEDS_MAX);
        }
        double now = labtime_at(&t, wall);
        CHECK("not back", now >= last);
        CHECK("dates are not of the future", labtime_wall(&t, now * rng_unit(&r)) <= wall + 1e-6);
        last = now;
    }
}

/* ---- limits ---- */

static struct addr client(unsigned n)
{
    return (struct addr){.family = 4, .b = {20, (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n}};
}

static void a_client_that_keeps_to_the_rate_gets_through(void **state)
{
    static const double rates[] = {0.2, 1, 5, 100};
    for (size_t i = 0; i < 4; i++) {
        struct limit *l = limit_new();
        struct addr a = client(1);
        double wait_s;
        struct rng r;
        rng_seed(&r, i);
        for (int k = 0; k < 1000; k++) { /* late by up to half a turn */
            double now = 100 + (k + rng_unit(&r) / 2) / rates[i];
            CHECK("in time", limit_take(l, 0, &a, rates[i], now, &wait_s));
        }
        limit_free(l);
    }
}

static void one_that_does_not_is_told_when(void **state)
{
    struct limit *l = limit_new();
    struct addr a = client(1), b = client(2);
    double wait_s = 0;
    int n = 0;
    while (n < 100 && limit_take(l, 0, &a, 5, 10, &wait_s))
        n++;
    assert_int_equal(n, 5);
    CHECK("wait", fabs(wait_s - 0.2) < 1e-9);
    CHECK("others may", limit_take(l, 0, &b, 5, 10, &wait_s));
    CHECK("so may it elsewhere", limit_take(l, 1, &a, 5, 10, &wait_s));
    CHECK("too early", !limit_take(l, 0, &a, 5, 10.19, &wait_s));
    CHECK("in time", limit_take(l, 0, &a, 5, 10.2001, &wait_s));
    CHECK("slow ones have two", limit_take(l, 2, &a, 0.1, 10, &wait_s) && limit_take(l, 2, &a, 0.1, 10, &wait_s));
    CHECK("and no more", !limit_take(l, 2, &a, 0.1, 10, &wait_s) && fabs(wait_s - 10) < 1e-9);
    limit_free(l);
}

/* A crowd that keeps asking gets about what the rate says, however long. */
static void no_rate_is_passed(void **state)
{
    struct limit *l = limit_new();
    int got[50] = {0};
    double wait_s;
    for (int t = 0; t < 20000; t++) {
        struct addr a = client((unsigned)t % 50);
        got[t % 50] += limit_take(l, 0, &a, 2, t * 0.001, &wait_s);
    }
    for (int i = 0; i < 50; i++)
        CHECK("20 seconds at 2 a second", got[i] >= 40 && got[i] <= 42);
    limit_free(l);
}

/* ---- sitemaps ---- */

static int64_t day_of(const void *self, uint32_t page)
{
    return 1704067200 + (int64_t)page * 86400;
}

static size_t count_of(const struct buf *b, const char *what)
{
    size_t n = 0;
    struct span rest = buf_span(b);
    for (size_t at; (at = span_search(rest, span_str(what), false)) < rest.n; n++)
        rest = span_from(rest, at + 1);
    return n;
}

static void a_small_site_has_one_sitemap(void **state)
{
    struct sitemap s = {.host = SPAN("a.example"), .port = 80, .count = 2, .modified_s = day_of};
    struct buf out = {0};
    assert_true(sitemap_write(&s, SPAN("/sitemap.xml"), &out));
    assert_string_equal(buf_cstr(&out),
                        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
                        "<url><loc>http://a.example/</loc><lastmod>2024-01-01T00:00:00Z</lastmod></url>\n"
                        "<url><loc>http://a.example/p/1.html</loc><lastmod>2024-01-02T00:00:00Z</lastmod></url>\n"
                        "</urlset>\n");
    assert_false(sitemap_write(&s, SPAN("/sitemap-1.xml"), &out));
    buf_clear(&out);
    s.port = 8080;
    sitemap_robots(&s, &out);
    assert_string_equal(buf_cstr(&out),
                        "User-agent: *\nDisallow: /private/\n\nSitemap: http://a.example:8080/sitemap.xml\n");
    buf_done(&out);
}

static void a_large_site_has_an_index_and_every_page_in_one_part(void **state)
{
    struct sitemap s = {.host = SPAN("a.example"), .port = 80, .count = 2 * SITEMAP_URLS + 1, .modified_s = day_of};
    struct buf index = {0}, part = {0};
    assert_true(sitemap_write(&s, SPAN("/sitemap.xml"), &index));
    assert_int_equal(count_of(&index, "<sitemap><loc>"), 3);
    assert_int_equal(count_of(&index, "http://a.example/sitemap-3.xml<"), 1);
    static const size_t sizes[] = {SITEMAP_URLS, SITEMAP_URLS, 1};
    for (size_t i = 0; i < 3; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/sitemap-%zu.xml", i + 1);
        buf_clear(&part);
        assert_true(sitemap_write(&s, span_str(path), &part));
        assert_int_equal(count_of(&part, "<url>"), sizes[i]);
    }
    assert_int_equal(count_of(&part, "/p/10000.html<"), 1);
    static const char *const none[] = {"/sitemap-0.xml", "/sitemap-4.xml", "/sitemap-01.xml",
                                       "/sitemap-.xml",  "/sitemap-x.xml", "/sitemap-99999999999999999999.xml"};
    for (size_t i = 0; i < 6; i++)
        CHECK(none[i], !sitemap_write(&s, span_str(none[i]), &part));
    buf_done(&index);
    buf_done(&part);
}

/* ---- pages ---- */

static struct span host_of(void *self, size_t site)
{
    static const struct span hosts[] = {SPAN_INIT("a.example"), SPAN_INIT("b.example")};
    return hosts[site];
}

static void another_version_is_another_text_with_the_same_links(void **state)
{
    struct pages p = {.seed = 9, .site_count = 2, .host = host_of, .port = 80};
    struct buf text[3] = {0};
    char tags[3][PAGES_TAG];
    for (size_t i = 0; i < 3; i++) {
        struct page page = {.site = 0, .number = 0, .count = 20, .bytes = 3000, .version = i * 1000};
        pages_write(&p, &page, &text[i]);
        pages_tag(&p, &page, tags[i]);
        text[i].n = span_search(buf_span(&text[i]), SPAN("</ul>"), false);
        if (i > 0) {
            CHECK_SPAN("links", buf_span(&text[i]), buf_span(&text[0]));
            CHECK("tag", strcmp(tags[i], tags[i - 1]) != 0);
            CHECK("text", memcmp(text[i].p + text[i].n, text[i - 1].p + text[i].n, 1000) != 0);
        }
    }
    for (size_t i = 0; i < 3; i++)
        buf_done(&text[i]);
}

/* ---- sites ---- */

static struct addr addr(const char *text)
{
    struct addr a;
    CHECK_STATUS(text, addr_parse(span_str(text), &a), ST_OK);
    return a;
}

static void load(const char *text, struct lab *out)
{
    struct buf why = {0};
    status st = lab_parse(span_str(text), ".", out, &why);
    if (st != ST_OK)
        fail_msg("%s: %s", status_name(st), buf_cstr(&why));
    buf_done(&why);
}

static void sites_are_at_their_addresses_only(void **state)
{
    struct lab l;
    load("place s@servers 30.0.0.0/16 2a01::/32\n"
         "site a.example 30.0.0.1 2a01::1\n"
         "site b.example 30.0.0.1\n"
         "site c.example 30.0.0.3\n"
         "name c.example 30.0.0.4\n"
         "name other.example 30.0.0.9\n",
         &l);
    static const struct {
        const char *host, *at;
        int site;
    } cases[] = {{"a.example", "30.0.0.1", 0},      {"A.Example", "2a01::1", 0},
                 {"b.example", "30.0.0.1", 1},      {"b.example", "2a01::1", -1},
                 {"c.example", "30.0.0.4", 2},      {"c.example", "30.0.0.1", -1},
                 {"unknown", "30.0.0.1", 0},        {"", "30.0.0.3", 2},
                 {"other.example", "30.0.0.9", -1}, {"c.example", "127.0.0.1", 2},
                 {"other.example", "30.0.0.3", 2}};
    struct sites *s = sites_new(&l);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct addr at = addr(cases[i].at);
        size_t site = 99;
        bool is_there = sites_asked(s, span_str(cases[i].host), &at, &site);
        if (is_there != (cases[i].site >= 0) || (is_there && (int)site != cases[i].site))
            fail_msg("%s at %s", cases[i].host, cases[i].at);
    }
    sites_free(s);
    lab_done(&l);
}

static void site_lines_have_options(void **state)
{
    struct lab l;
    load("place s 30.0.0.0/16\n"
         "site a.example 30.0.0.1 change=2.5 errors=12.5 limit=0.5 think=9 pages=0\n"
         "site b.example 30.0.0.2\n"
         "site c.example 30.0.0.3 change=0 loc=-10.5,-170\n",
         &l);
    assert_true(l.sites[0].change_per_day == 2.5f && l.sites[0].has_own_change);
    assert_true(l.sites[0].errors_percent == 12.5f && l.sites[0].limit_per_s == 0.5f && l.sites[0].think_ms == 9);
    assert_int_equal(l.sites[0].pages, 1);
    assert_true(l.sites[1].change_per_day < 0 && !l.sites[1].has_own_change && l.sites[1].errors_percent < 0);
    assert_true(l.sites[2].change_per_day == 0 && l.sites[2].has_own_change);
    assert_int_equal(l.spot_count, 1);
    assert_true(l.spots[0].spot.latitude == -10.5f && l.spots[0].spot.longitude == -170);
    lab_done(&l);
    static const char *const bad[] = {"errors=101", "errors=-1", "limit=x",     "change=nan", "change=1e99",
                                      "loc=91,0",   "loc=5",     "loc=5,",      "loc=,5",     "loc=1,2,3",
                                      "loc=--1,5",  "pages=1.5", "colour=blue", "limit="};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct buf text = {0}, why = {0};
        buf_printf(&text, "place s 30.0.0.0/16\nsite a.example 30.0.0.1 %s\n", bad[i]);
        CHECK_STATUS(bad[i], lab_parse(buf_span(&text), ".", &l, &why), ST_INVALID);
        CHECK(bad[i], why.n > 0);
        buf_done(&text);
        buf_done(&why);
    }
}

/* ---- the ledger ---- */

static void add(struct ledger *l, struct span host, const char *method, struct span target)
{
    struct addr from = client(1), to = client(2);
    struct ledger_entry e = {
        .from = &from, .to = &to, .host = host, .target = target, .method = method, .status = 200, .bytes = 7};
    ledger_add(l, &e);
}

static void count_line(void *arg, const struct audit_entry *e)
{
    CHECK("method", e->method.n > 0 && e->bytes == 7 && e->status == 200);
    ++*(size_t *)arg;
}

static size_t lines(const char *path)
{
    size_t n = 0;
    struct buf why = {0};
    CHECK_STATUS(path, audit_read(path, count_line, &n, &why), ST_OK);
    buf_done(&why);
    return n;
}

static void a_ledger_goes_on_after_a_torn_line(void **state)
{
    char path[TEST_PATH];
    struct ledger *l;
    test_path(path, "ledger");
    for (size_t run = 0; run < 3; run++) {
        CHECK_STATUS("open", ledger_new(path, &l), ST_OK);
        add(l, SPAN("a.example"), "GET", SPAN("/"));
        add(l, SPAN("a.example"), "GET", SPAN("/p/1.html"));
        ledger_flush(l);
        assert_int_equal(lines(path), run * 2 + 2); /* while it is open */
        assert_int_equal(ledger_count(l), 2);
        ledger_free(l);
        FILE *f = fopen(path, "a");
        assert_non_null(f);
        for (size_t i = 0; i < run * 5000; i++) /* longer than what is read at a time */
            fputc('x', f);
        fputs("1.5\t20.0", f);
        fclose(f);
        assert_int_equal(lines(path), run * 2 + 2);
    }
    FILE *f = fopen(path, "w"); /* nothing but a torn line */
    fputs("1.5\t20.0", f);
    fclose(f);
    CHECK_STATUS("open", ledger_new(path, &l), ST_OK);
    add(l, SPAN("a.example"), "GET", SPAN("/"));
    ledger_free(l);
    assert_int_equal(lines(path), 1);
}

static void whatever_is_asked_is_one_line(void **state)
{
    char path[TEST_PATH];
    struct ledger *l;
    struct rng r;
    test_path(path, "ledger");
    rng_seed(&r, 2);
    CHECK_STATUS("open", ledger_new(path, &l), ST_OK);
    for (int i = 0; i < 300; i++) {
        char bytes[6000];
        size_t n = rng_below(&r, sizeof(bytes));
        for (size_t k = 0; k < n; k++)
            bytes[k] = (char)rng_below(&r, rng_below(&r, 2) ? 256 : 32);
        add(l, span_of(bytes, n / 2), i % 2 ? "GE\tT\n" : "HEAD", span_of(bytes, n));
    }
    ledger_free(l);
    assert_int_equal(lines(path), 300);
    assert_int_equal(ledger_new("/nonexistent/ledger", &l), ST_IO);
    CHECK_STATUS("none", ledger_new(NULL, &l), ST_OK);
    add(l, SPAN("a"), "GET", SPAN("/"));
    assert_int_equal(ledger_count(l), 1);
    assert_int_equal(ledger_lost(l), 0);
    ledger_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_changes_as_often_as_its_rate_says),
        cmocka_unit_test(ages_are_exponential),
        cmocka_unit_test(the_past_does_not_change),
        cmocka_unit_test(what_never_changes_never_does),
        cmocka_unit_test(rates_are_drawn),
        cmocka_unit_test(time_goes_on_at_another_speed),
        cmocka_unit_test(time_never_goes_back),
        cmocka_unit_test(a_client_that_keeps_to_the_rate_gets_through),
        cmocka_unit_test(one_that_does_not_is_told_when),
        cmocka_unit_test(no_rate_is_passed),
        cmocka_unit_test(a_small_site_has_one_sitemap),
        cmocka_unit_test(a_large_site_has_an_index_and_every_page_in_one_part),
        cmocka_unit_test(another_version_is_another_text_with_the_same_links),
        cmocka_unit_test(sites_are_at_their_addresses_only),
        cmocka_unit_test(site_lines_have_options),
        TEST_IN_FOLDER(a_ledger_goes_on_after_a_torn_line),
        TEST_IN_FOLDER(whatever_is_asked_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
