/* test_store_lookup.c - what is kept is found again, listed in order and counted: settings, channels, hosts, pages. */
#include "store_pages.h"

#include "base/rng.h"

static void keeps_settings_channels_and_hosts(void **state)
{
    (void)state;
    struct store *s = open_store(STORE_WRITE);
    struct buf b = {0};
    char path[TEST_PATH];
    data_path(path);
    assert_string_equal(store_dir(s), path);
    CHECK_STATUS("missing", store_setting_get(s, "contact", &b), ST_NOT_FOUND);
    CHECK_STATUS("put", store_setting_put(s, "contact", SPAN("a@b")), ST_OK);
    CHECK_STATUS("again", store_setting_put(s, "contact", SPAN("c\0d")), ST_OK);
    CHECK_STATUS("empty", store_setting_put(s, "empty", SPAN("")), ST_OK);
    struct sip_key key = *store_key(s);
    store_free(s);
    store_free(NULL);
    s = open_store(STORE_WRITE);
    assert_memory_equal(store_key(s), &key, sizeof(key));
    assert_true(key.k0 != 0 && key.k1 != 0 && key.k0 != key.k1);
    CHECK_STATUS("get", store_setting_get(s, "contact", &b), ST_OK);
    CHECK_SPAN("get", buf_span(&b), SPAN("c\0d"));
    CHECK_STATUS("empty", store_setting_get(s, "empty", &b), ST_OK);
    CHECK_SPAN("empty", buf_span(&b), SPAN("c\0d"));
    buf_done(&b);
    store_free(s);
}

static status note_channel(void *arg, uint64_t id, struct span packed)
{
    buf_printf(arg, "%llu:%.*s|", (unsigned long long)id, SPAN_ARG(packed));
    return ST_OK;
}

static status note_host(void *arg, struct span host, struct span packed)
{
    buf_printf(arg, "%.*s:%.*s|", SPAN_ARG(host), SPAN_ARG(packed));
    return ST_OK;
}

static status stop(void *arg, struct span host, struct span packed)
{
    return ST_CANCELLED;
}

static void lists_channels_and_hosts_in_order(void **state)
{
    (void)state;
    struct store *s = open_store(STORE_WRITE);
    struct buf b = {0};
    CHECK_STATUS("5", store_channel_put(s, 5, SPAN("five")), ST_OK);
    CHECK_STATUS("2", store_channel_put(s, 2, SPAN("two")), ST_OK);
    CHECK_STATUS("5", store_channel_put(s, 5, SPAN("FIVE")), ST_OK);
    CHECK_STATUS("each", store_channel_each(s, note_channel, &b), ST_OK);
    CHECK_SPAN("channels", buf_span(&b), SPAN("2:two|5:FIVE|"));
    buf_clear(&b);
    CHECK_STATUS("none", store_host_get(s, SPAN("b.example"), note_host, &b), ST_NOT_FOUND);
    CHECK_STATUS("b", store_host_put(s, SPAN("b.example"), SPAN("1")), ST_OK);
    CHECK_STATUS("a", store_host_put(s, SPAN("a.example"), SPAN("")), ST_OK);
    CHECK_STATUS("b", store_host_put(s, SPAN("b.example"), SPAN("2")), ST_OK);
    CHECK_STATUS("no name", store_host_put(s, SPAN(""), SPAN("2")), ST_INVALID);
    CHECK_STATUS("get", store_host_get(s, SPAN("b.example"), note_host, &b), ST_OK);
    CHECK_STATUS("each", store_host_each(s, note_host, &b), ST_OK);
    CHECK_SPAN("hosts", buf_span(&b), SPAN("b.example:2|a.example:|b.example:2|"));
    CHECK_STATUS("stop", store_host_each(s, stop, NULL), ST_CANCELLED);
    buf_done(&b);
    store_free(s);
}

struct listing {
    struct buf text;
    struct store *s;
};

static status list_page(void *arg, const struct page *p)
{
    struct listing *l = arg;
    struct buf b = {0};
    buf_printf(&l->text, "%llu ", (unsigned long long)p->key);
    CHECK_STATUS("nested", store_page_get(l->s, p->key, show_page, &b), ST_OK);
    buf_done(&b);
    return ST_OK;
}

static void lists_pages_in_order_of_first_visit(void **state)
{
    (void)state;
    struct store *s = open_store(STORE_WRITE);
    static const uint64_t keys[] = {9, 3, 7, 3, 1, 9};
    for (size_t i = 0; i < 6; i++) {
        struct page p = good_page(keys[i], i + 1, 1);
        p.channel = keys[i] == 7 || keys[i] == 9 ? 2 : 1;
        visit(s, "visit", &p);
    }
    static const struct {
        uint64_t channel;
        const char *want;
    } cases[] = {{0, "9 3 7 1 "}, {1, "3 1 "}, {2, "9 7 "}, {3, ""}};
    for (size_t i = 0; i < 4; i++) {
        struct listing l = {.s = s};
        CHECK_STATUS("each", store_page_each(s, cases[i].channel, list_page, &l), ST_OK);
        CHECK_SPAN("order", buf_span(&l.text), span_str(cases[i].want));
        buf_done(&l.text);
    }
    store_free(s);
}

static void counts_pages(void **state)
{
    (void)state;
    static const struct {
        uint8_t outcome;
        const char *type;
        uint64_t text;
    } pages[] = {{VISIT_NEW, "text/html", 200},
                 {VISIT_NEW, "Text/HTML; charset=x", 199},
                 {VISIT_NEW, "application/xhtml+xml", 0},
                 {VISIT_NEW, "application/pdf", 0},
                 {VISIT_NEW, "", 0},
                 {VISIT_REDIRECT, "text/html", 0},
                 {VISIT_GONE, "text/html", 0},
                 {VISIT_ERROR, "", 0},
                 {VISIT_ERROR, "", 0},
                 {VISIT_REFUSED, "", 0}};
    struct store *s = open_store(STORE_WRITE);
    struct page_counts c;
    CHECK_STATUS("empty", store_page_counts(s, &c), ST_OK);
    assert_int_equal(c.known, 0);
    for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
        struct page p = good_page(i, i + 1, i);
        p.outcome = pages[i].outcome;
        p.content_type = span_str(pages[i].type);
        p.text_bytes = pages[i].text;
        visit(s, "visit", &p);
    }
    CHECK_STATUS("counts", store_page_counts(s, &c), ST_OK);
    struct page_counts want = {.known = 10,
                               .good = 5,
                               .redirects = 1,
                               .gone = 1,
                               .errors = 2,
                               .refused = 1,
                               .html = 3,
                               .not_html = 2,
                               .thin = 2};
    assert_memory_equal(&c, &want, sizeof(c));
    struct page silent = good_page(19, 20, 19); /* its server does not say what it is, and it was read */
    silent.content_type = SPAN("");
    silent.charset = SPAN("utf-8");
    visit(s, "without a type", &silent);
    want.known++;
    want.good++;
    want.html++;
    CHECK_STATUS("counts", store_page_counts(s, &c), ST_OK);
    assert_memory_equal(&c, &want, sizeof(c));
    struct page list = good_page(20, 21, 20);
    list.page_flags = 1 | 32; /* PAGE_NOINDEX | PAGE_LIST */
    visit(s, "a list", &list);
    want.known++;
    want.lists++;
    CHECK_STATUS("counts", store_page_counts(s, &c), ST_OK);
    assert_memory_equal(&c, &want, sizeof(c));
    uint64_t good = 0;
    CHECK_STATUS("good", store_page_good(s, &good), ST_OK);
    assert_int_equal(good, want.good);
    store_free(s);
}

/* More pages than the table of new keys holds: some are found in one table, some in the other. */
static void finds_pages_after_their_keys_have_moved(void **state)
{
    (void)state;
    enum { PAGES = 250000, BATCH = 50000 };
    struct store *s = open_store(STORE_WRITE);
    struct rng r;
    struct buf b = {0};
    rng_seed(&r, 4);
    for (uint64_t i = 0; i < PAGES; i++) {
        if (i % BATCH == 0)
            CHECK_STATUS("begin", store_begin(s), ST_OK);
        struct page p = good_page(rng_u64(&r), i + 1, i);
        visit(s, "visit", &p);
        if (i % BATCH == BATCH - 1)
            CHECK_STATUS("commit", store_commit(s), ST_OK);
    }
    rng_seed(&r, 4);
    CHECK_STATUS("begin", store_begin(s), ST_OK);
    for (uint64_t i = 0; i < PAGES; i++) {
        struct page p = good_page(rng_u64(&r), PAGES + i + 1, i);
        if (i % 100 == 0)
            visit(s, "again", &p);
        if (i % 101 == 0)
            CHECK_STATUS("get", store_page_get(s, p.key, show_page, &b), ST_OK);
    }
    CHECK_STATUS("commit", store_commit(s), ST_OK);
    struct page_counts c;
    CHECK_STATUS("counts", store_page_counts(s, &c), ST_OK);
    assert_int_equal(c.known, PAGES);
    int64_t moved = 0;
    sqlite3_stmt *st = NULL;
    assert_int_equal(sqlite3_prepare_v2(s->db, "SELECT count(*) FROM page_key", -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    moved = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    assert_true(moved > 0 && moved < PAGES);
    buf_done(&b);
    store_free(s);
}

static status note_number(void *arg, const struct page_glance *g)
{
    *(uint64_t *)arg = g->number;
    return ST_OK;
}

static void pages_are_found_by_number(void **state)
{
    struct store *s = open_store(STORE_WRITE);
    struct buf got = {0};
    uint64_t number = 0;
    for (uint64_t key = 1; key <= 3; key++) {
        struct page p = good_page(key, key, 1);
        visit(s, "visit", &p);
    }
    CHECK_STATUS("glance", store_page_glance(s, 0, 0, note_number, &number), ST_OK);
    CHECK_STATUS("the last", store_page_numbered(s, number, show_page, &got), ST_OK);
    CHECK("is it", strstr(buf_cstr(&got), "#3 ") != NULL);
    CHECK_STATUS("none", store_page_numbered(s, number + 1, show_page, &got), ST_NOT_FOUND);
    buf_done(&got);
    store_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(keeps_settings_channels_and_hosts),       TEST_IN_FOLDER(lists_channels_and_hosts_in_order),
        TEST_IN_FOLDER(lists_pages_in_order_of_first_visit),     TEST_IN_FOLDER(counts_pages),
        TEST_IN_FOLDER(finds_pages_after_their_keys_have_moved), TEST_IN_FOLDER(pages_are_found_by_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
