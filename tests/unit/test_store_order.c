/* test_store_order.c - which pages are looked at again first: what lists tell, the last visit, how often they change.
 */
#include "store_pages.h"

static void of_dates_that_lists_tell_the_newest_stays(void **state)
{
    (void)state;
    struct store *s = open_store(STORE_WRITE);
    wall_ms at = 0;
    CHECK_STATUS("nothing", store_listed_get(s, 7, &at), ST_NOT_FOUND);
    CHECK_STATUS("put", store_listed_put(s, UINT64_MAX, 5000), ST_OK);
    CHECK_STATUS("later", store_listed_put(s, 7, 2000), ST_OK);
    CHECK_STATUS("earlier", store_listed_put(s, 7, 1000), ST_OK);
    CHECK_STATUS("get", store_listed_get(s, 7, &at), ST_OK);
    assert_int_equal(at, 2000);
    CHECK_STATUS("get", store_listed_get(s, UINT64_MAX, &at), ST_OK);
    assert_int_equal(at, 5000);
    store_free(s);
}

static status show_glance(void *arg, const struct page_glance *g)
{
    buf_printf(arg, "%llu:%lld:%lld:%llu ", (unsigned long long)g->key, (long long)g->at, (long long)g->listed,
               (unsigned long long)g->rate);
    return ST_OK;
}

static void check_glance(struct store *s, const char *label, uint64_t channel, wall_ms before, const char *want)
{
    struct buf got = {0};
    CHECK_STATUS(label, store_page_glance(s, channel, before, show_glance, &got), ST_OK);
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    buf_done(&got);
}

static void what_decides_the_order_is_seen_at_a_glance(void **state)
{
    struct store *s = open_store(STORE_WRITE);
    static const struct {
        const char *label;
        uint64_t channel;
        wall_ms before;
        const char *want;
    } cases[] = {
        {"a channel", 1, 0, "1:3000:3000:0 2:2000:2001:77 4:1000:0:0 "},
        {"all", 0, 0, "1:3000:3000:0 2:2000:2001:77 3:1000:9000:0 4:1000:0:0 "},
        {"by age", 1, 3000, "2:2000:2001:77 4:1000:0:0 "},
        {"nobody's", 9, 0, ""},
        {"none so old", 0, 1000, ""},
    };
    static const struct {
        uint64_t key, at, channel;
    } pages[] = {{1, 3, 1}, {2, 2, 1}, {3, 1, 2}, {4, 1, 1}};
    uint64_t told = 99;
    for (size_t i = 0; i < 4; i++) {
        struct page p = good_page(pages[i].key, pages[i].at, 1);
        p.channel = pages[i].channel;
        visit(s, "visit", &p);
    }
    CHECK_STATUS("then", store_listed_put(s, 1, 3000), ST_OK);
    CHECK_STATUS("since", store_page_tell(s, 2, 2001), ST_OK);
    CHECK_STATUS("before that", store_page_tell(s, 2, 1999), ST_OK);
    CHECK_STATUS("another", store_listed_put(s, 3, 9000), ST_OK);
    CHECK_STATUS("unknown", store_page_tell(s, 5, 9000), ST_OK);
    CHECK_STATUS("rate", store_page_put_rate(s, 2, 77), ST_OK);
    CHECK_STATUS("no such page", store_page_put_rate(s, 5, 77), ST_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_glance(s, cases[i].label, cases[i].channel, cases[i].before, cases[i].want);
    CHECK_STATUS("told", store_page_told(s, 1, &told), ST_OK);
    CHECK("of pages that changed since", told == 1);
    CHECK_STATUS("told", store_page_told(s, 9, &told), ST_OK);
    CHECK("of nobody's", told == 0);
    /* One who is not known is not remembered: a site could name as many as it likes. */
    wall_ms listed;
    CHECK_STATUS("unknown", store_listed_get(s, 5, &listed), ST_NOT_FOUND);
    struct page next = good_page(2, 8, 1);
    visit(s, "visited since", &next);
    CHECK_STATUS("told", store_page_told(s, 1, &told), ST_OK);
    CHECK("nothing is left", told == 0);
    store_free(s);
}

static void a_page_goes_with_the_channel_that_visits_it(void **state)
{
    struct store *s = open_store(STORE_WRITE);
    struct page p = good_page(1, 1, 1), q = good_page(1, 2, 1), copy = copy_page(1, 9000, 200, 1);
    visit(s, "first", &p);
    q.channel = 2;
    visit(s, "by another", &q);
    check_glance(s, "not there", 1, 0, "");
    check_glance(s, "there", 2, 0, "1:2000:0:0 ");
    copy.channel = 3;
    CHECK_STATUS("copy", store_page_restore(s, &copy, NULL), ST_OK);
    check_glance(s, "not there", 2, 0, "");
    check_glance(s, "there", 3, 0, "1:9000:0:0 ");
    store_free(s);
}

/* Writes down what it is told: gap and since in seconds, as digits. */
static uint64_t tell_tale(uint64_t rate, int64_t gap_ms, bool has_changed, int64_t since_ms)
{
    uint64_t since = since_ms < 0 ? 9 : (uint64_t)since_ms / 1000;
    return rate * 1000 + (uint64_t)gap_ms / 1000 * 100 + since * 10 + has_changed;
}

static status note_rate(void *arg, const struct page *p)
{
    *(uint64_t *)arg = p->rate;
    return ST_OK;
}

static uint64_t rate_of(struct store *s, uint64_t key)
{
    uint64_t rate = 0;
    CHECK_STATUS("rate", store_page_get(s, key, note_rate, &rate), ST_OK);
    return rate;
}

static void visits_are_counted_by_the_rate_function(void **state)
{
    struct store *s = open_store(STORE_WRITE);
    struct visit_effect e;
    static const struct {
        const char *label;
        uint64_t at, digest;
        uint16_t http;
        wall_ms modified;
        uint64_t want;
        wall_ms want_modified;
    } visits[] = {
        {"first", 1, 7, 200, 0, 0, 0},
        {"as it was", 3, 7, 200, 2500, 290, 0},
        {"304", 4, 0, 304, 0, 290190, 0},
        {"an error says nothing", 5, 0, 500, 0, 290190, 0},
        {"changed", 6, 8, 200, 0, 290190291, 0},
        {"changed, and says when", 9, 9, 200, 7000, 290190291321, 7000},
        {"says what cannot be", 10, 10, 200, 8000, 290190291321191, 0},
    };
    store_set_rate(s, tell_tale);
    for (size_t i = 0; i < sizeof(visits) / sizeof(*visits); i++) {
        struct page p = good_page(1, visits[i].at, visits[i].digest);
        p.http_status = visits[i].http;
        p.outcome = (uint8_t)visit_outcome_of(false, ST_OK, visits[i].http);
        p.modified = visits[i].modified;
        CHECK_STATUS(visits[i].label, store_page_visit(s, &p, &e), ST_OK);
        if (e.rate != visits[i].want || e.modified != visits[i].want_modified)
            fail_msg("%s: %llu, %lld", visits[i].label, (unsigned long long)e.rate, (long long)e.modified);
        if (i == 2) { /* the same visit once more changes nothing */
            CHECK_STATUS("twice", store_page_visit(s, &p, &e), ST_OK);
            CHECK("twice", e.rate == visits[i].want && e.modified == 0);
        }
    }
    store_free(s);
    /* It is on the disk; and without a function it stays. */
    s = open_store(STORE_WRITE);
    CHECK("opened again", rate_of(s, 1) == 290190291321191);
    struct page p = good_page(1, 20, 11);
    visit(s, "nobody counts", &p);
    CHECK("as it was", rate_of(s, 1) == 290190291321191);
    store_free(s);
}

static void a_list_tells_when_a_page_changed(void **state)
{
    struct store *s = open_store(STORE_WRITE);
    struct visit_effect e;
    struct page first = good_page(1, 1, 7), second = good_page(1, 5, 8), third = good_page(1, 9, 9);
    store_set_rate(s, tell_tale);
    visit(s, "first", &first);
    CHECK_STATUS("listed", store_listed_put(s, 1, 3000), ST_OK);
    CHECK_STATUS("second", store_page_visit(s, &second, &e), ST_OK);
    CHECK("then", e.modified == 3000 && e.rate == 421);
    CHECK_STATUS("third", store_page_visit(s, &third, &e), ST_OK);
    CHECK("that was the change before", e.modified == 0 && e.rate == 421491);
    store_free(s);
}

/* The table as it was before there were rates. */
static void pages_of_before_are_counted_from_their_history(void **state)
{
    char path[TEST_PATH];
    struct store *s = open_store(STORE_WRITE);
    static const uint64_t digests[] = {7, 7, 8, 8};
    for (uint64_t i = 0; i < 4; i++) {
        struct page p = good_page(1, i + 1, digests[i]);
        visit(s, "visit", &p);
    }
    store_free(s);
    test_path(path, "data/orb.db");
    run_sql(path,
            "DROP TABLE unsee; DROP INDEX page_channel; ALTER TABLE page DROP COLUMN rate; PRAGMA user_version = 3");
    s = open_store(STORE_WRITE);
    CHECK("nothing is counted", rate_of(s, 1) == 0);
    check_glance(s, "without a function", 1, 0, "1:4000:0:0 ");
    store_set_rate(s, tell_tale);
    check_glance(s, "from the history", 1, 0, "1:4000:0:190191190 ");
    struct page p = good_page(1, 5, 8);
    visit(s, "visit", &p);
    CHECK("goes on from there", rate_of(s, 1) == 190191190190);
    store_free(s);
}

static void a_copy_brings_its_rate(void **state)
{
    struct store *s = open_store(STORE_WRITE);
    struct page p = copy_page(1, 5000, 200, 7);
    p.rate = 42;
    CHECK_STATUS("copy", store_page_restore(s, &p, NULL), ST_OK);
    CHECK("its rate", rate_of(s, 1) == 42);
    p = copy_page(1, 6000, 200, 7);
    CHECK_STATUS("of one who does not know", store_page_restore(s, &p, NULL), ST_OK);
    CHECK("stays", rate_of(s, 1) == 42);
    store_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(what_decides_the_order_is_seen_at_a_glance),
        TEST_IN_FOLDER(a_page_goes_with_the_channel_that_visits_it),
        TEST_IN_FOLDER(visits_are_counted_by_the_rate_function),
        TEST_IN_FOLDER(a_list_tells_when_a_page_changed),
        TEST_IN_FOLDER(pages_of_before_are_counted_from_their_history),
        TEST_IN_FOLDER(a_copy_brings_its_rate),
        TEST_IN_FOLDER(of_dates_that_lists_tell_the_newest_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
