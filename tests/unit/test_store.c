#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/table.h"
#include "store/file.h"
#include "store/store.h"
#include "store/store_db.h"
#include "test_folder.h"

static void data_path(char path[TEST_PATH])
{
    test_path(path, "data");
}

static struct store *open_store(store_mode mode)
{
    char path[TEST_PATH];
    struct store *s = NULL;
    struct buf why = {0};
    data_path(path);
    status st = store_open(path, mode, &s, &why);
    if (st != ST_OK)
        fail_msg("open: %s: %s", status_name(st), buf_cstr(&why));
    buf_done(&why);
    return s;
}

static void check_open(const char *label, const char *path, store_mode mode, status want, const char *phrase)
{
    struct store *s = NULL;
    struct buf why = {0};
    CHECK_STATUS(label, store_open(path, mode, &s, &why), want);
    CHECK(label, s == NULL);
    if (!strstr(buf_cstr(&why), phrase))
        fail_msg("%s: \"%s\" lacks \"%s\"", label, why.p, phrase);
    CHECK_STATUS(label, store_open(path, mode, &s, NULL), want);
    buf_done(&why);
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* A page as text, so that tests compare whole pages by eye. */
static status show_page(void *arg, const struct page *p)
{
    static const char *const outcomes[] = {"new", "changed", "unchanged", "redirect", "gone", "error", "refused"};
    struct buf *b = arg;
    buf_clear(b);
    buf_printf(b, "%.*s %s #%llu at %lld http %u digest %llu", SPAN_ARG(p->url), outcomes[p->outcome],
               (unsigned long long)p->fetch_number, (long long)p->at, p->http_status, (unsigned long long)p->digest);
    buf_printf(b, " title '%.*s' etag '%.*s' type '%.*s' reason '%.*s' to '%.*s'", SPAN_ARG(p->title),
               SPAN_ARG(p->etag), SPAN_ARG(p->content_type), SPAN_ARG(p->reason), SPAN_ARG(p->redirect));
    buf_printf(b, " text %llu first %lld changed %lld good %lld visits %u changes %u",
               (unsigned long long)p->text_bytes, (long long)p->first_seen, (long long)p->changed_at,
               (long long)p->good_at, p->visits, p->changes);
    return ST_OK;
}

static void check_page(struct store *s, const char *label, uint64_t key, const char *want)
{
    struct buf got = {0};
    CHECK_STATUS(label, store_page_get(s, key, show_page, &got), ST_OK);
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    buf_done(&got);
}

static struct page good_page(uint64_t key, uint64_t number, uint64_t digest)
{
    return (struct page){.key = key,
                         .url = SPAN("http://a/"),
                         .channel = 1,
                         .fetch_number = number,
                         .at = (wall_ms)number * 1000,
                         .outcome = VISIT_NEW,
                         .http_status = 200,
                         .digest = digest,
                         .title = SPAN("T"),
                         .etag = SPAN("e"),
                         .content_type = SPAN("text/html"),
                         .text_bytes = 500};
}

static void visit(struct store *s, const char *label, const struct page *p)
{
    CHECK_STATUS(label, store_page_visit(s, p, NULL), ST_OK);
}

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

static void a_visit_becomes_the_right_row(void **state)
{
    (void)state;
    struct store *s = open_store(STORE_WRITE);
    struct page p = good_page(7, 1, 100);
    CHECK_STATUS("unknown", store_page_get(s, 7, show_page, NULL), ST_NOT_FOUND);
    visit(s, "first", &p);
    check_page(s, "first", 7,
               "http://a/ new #1 at 1000 http 200 digest 100 title 'T' etag 'e' type 'text/html' reason '' to '' "
               "text 500 first 1000 changed 1000 good 1000 visits 1 changes 0");
    p = good_page(7, 1, 101);
    visit(s, "the same fetch again", &p);
    p = good_page(7, 0, 101);
    visit(s, "an older fetch", &p);
    check_page(s, "ignored", 7,
               "http://a/ new #1 at 1000 http 200 digest 100 title 'T' etag 'e' type 'text/html' reason '' to '' "
               "text 500 first 1000 changed 1000 good 1000 visits 1 changes 0");
    p = (struct page){
        .key = 7, .fetch_number = 2, .at = 2000, .outcome = VISIT_UNCHANGED, .http_status = 304, .etag = SPAN("f")};
    visit(s, "304", &p);
    check_page(s, "304", 7,
               "http://a/ unchanged #2 at 2000 http 304 digest 100 title 'T' etag 'f' type 'text/html' reason '' to '' "
               "text 500 first 1000 changed 1000 good 2000 visits 2 changes 0");
    p = good_page(7, 3, 100);
    p.title = SPAN("");
    p.text_bytes = 400;
    visit(s, "the same digest", &p);
    check_page(s, "the same digest", 7,
               "http://a/ unchanged #3 at 3000 http 200 digest 100 title 'T' etag 'e' type 'text/html' reason '' to '' "
               "text 400 first 1000 changed 1000 good 3000 visits 3 changes 0");
    p = good_page(7, 4, 102);
    p.title = SPAN("");
    visit(s, "another digest", &p);
    check_page(s, "another digest", 7,
               "http://a/ changed #4 at 4000 http 200 digest 102 title '' etag 'e' type 'text/html' reason '' to '' "
               "text 500 first 1000 changed 4000 good 4000 visits 4 changes 1");
    p = (struct page){
        .key = 7, .fetch_number = 5, .at = 5000, .outcome = VISIT_ERROR, .failure = ST_TIMEOUT, .reason = SPAN("slow")};
    visit(s, "error", &p);
    check_page(s, "error", 7,
               "http://a/ error #5 at 5000 http 0 digest 102 title '' etag 'e' type 'text/html' reason 'slow' to '' "
               "text 500 first 1000 changed 4000 good 4000 visits 5 changes 1");
    p = (struct page){
        .key = 7, .fetch_number = 6, .at = 6000, .outcome = VISIT_REDIRECT, .http_status = 301, .redirect = SPAN("/b")};
    visit(s, "redirect", &p);
    check_page(s, "redirect", 7,
               "http://a/ redirect #6 at 6000 http 301 digest 0 title '' etag '' type '' reason '' to '/b' "
               "text 0 first 1000 changed 4000 good 4000 visits 6 changes 1");
    p = good_page(7, 7, 102);
    visit(s, "back", &p);
    check_page(s, "back", 7,
               "http://a/ changed #7 at 7000 http 200 digest 102 title 'T' etag 'e' type 'text/html' reason '' to '' "
               "text 500 first 1000 changed 7000 good 7000 visits 7 changes 2");
    store_free(s);
}

static void a_page_first_refused_is_new_when_it_is_got(void **state)
{
    (void)state;
    struct store *s = open_store(STORE_WRITE);
    struct page p = {.key = 0,
                     .url = SPAN("http://a/"),
                     .fetch_number = 1,
                     .at = 1000,
                     .outcome = VISIT_REFUSED,
                     .reason = SPAN("robots")};
    visit(s, "refused", &p);
    p = good_page(0, 2, 5);
    p.outcome = VISIT_UNCHANGED;
    visit(s, "got", &p);
    check_page(s, "got", 0,
               "http://a/ new #2 at 2000 http 200 digest 5 title 'T' etag 'e' type 'text/html' reason '' to '' "
               "text 500 first 1000 changed 2000 good 2000 visits 2 changes 0");
    store_free(s);
}

static status compare_page(void *arg, const struct page *got)
{
    const struct page *want = arg;
#define SAME(name) CHECK(#name, got->name == want->name)
#define SAME_TEXT(name) CHECK_SPAN(#name, got->name, want->name)
    SAME(key);
    SAME(channel);
    SAME(fetch_number);
    SAME(at);
    SAME(outcome);
    SAME(failure);
    SAME(http_status);
    SAME(depth);
    SAME(page_flags);
    SAME(digest);
    SAME(body_bytes);
    SAME(wire_bytes);
    SAME(text_bytes);
    SAME(dns_us);
    SAME(connect_us);
    SAME(tls_us);
    SAME(first_byte_us);
    SAME(total_us);
    SAME_TEXT(url);
    SAME_TEXT(title);
    SAME_TEXT(lang);
    SAME_TEXT(canonical);
    SAME_TEXT(etag);
    SAME_TEXT(last_modified);
    SAME_TEXT(content_type);
    SAME_TEXT(charset);
    SAME_TEXT(redirect);
    SAME_TEXT(reason);
    SAME_TEXT(address);
    return ST_OK;
}

static void every_field_comes_back(void **state)
{
    (void)state;
    struct store *s = open_store(STORE_WRITE);
    struct page p = {.key = UINT64_MAX,
                     .url = SPAN("http://a/\0b\xff"),
                     .channel = UINT64_MAX - 1,
                     .fetch_number = 12,
                     .at = 1700000000123,
                     .outcome = VISIT_GONE,
                     .failure = ST_TLS,
                     .http_status = 65535,
                     .depth = 65534,
                     .page_flags = 65533,
                     .digest = UINT64_MAX - 2,
                     .title = SPAN("t"),
                     .lang = SPAN("l"),
                     .canonical = SPAN("c"),
                     .etag = SPAN("e"),
                     .last_modified = SPAN("m"),
                     .content_type = SPAN("ct"),
                     .charset = SPAN("cs"),
                     .redirect = SPAN("r"),
                     .reason = SPAN("why"),
                     .address = SPAN("::1"),
                     .body_bytes = 1ull << 40,
                     .wire_bytes = 3,
                     .text_bytes = 4,
                     .dns_us = -1,
                     .connect_us = 0,
                     .tls_us = 1,
                     .first_byte_us = INT32_MAX,
                     .total_us = -1};
    for (int round = 0; round < 2; round++) { /* once by insert, once by update */
        p.fetch_number += (uint64_t)round;
        visit(s, "visit", &p);
        CHECK_STATUS("get", store_page_get(s, p.key, compare_page, &p), ST_OK);
    }
    store_free(s);
}

static void history_keeps_the_newest_visits(void **state)
{
    (void)state;
    struct store *s = open_store(STORE_WRITE);
    for (uint64_t i = 1; i <= 40; i++) {
        struct page p = good_page(3, i, i / 3);
        p.at = (wall_ms)(1700000000 + i * i) * 1000 + 999;
        if (i % 10 == 0)
            p.outcome = VISIT_ERROR;
        visit(s, "visit", &p);
    }
    struct page p = good_page(3, 41, 13);
    p.at = 1600000000000; /* the clock went back */
    visit(s, "earlier", &p);
    struct buf b = {0};
    sqlite3_stmt *st = NULL;
    assert_int_equal(sqlite3_prepare_v2(s->db, "SELECT history FROM page", -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    buf_put(&b, store_db_column(st, 0));
    sqlite3_finalize(st);
    struct span rest = buf_span(&b);
    wall_ms at = 0;
    bool changed;
    assert_true(store_history_next(&rest, &at, &changed));
    assert_int_equal(at, 1600000000000);
    assert_false(changed);
    unsigned n = 1;
    for (uint64_t i = 39; store_history_next(&rest, &at, &changed); i--, n++) {
        if (i % 10 == 0)
            i--;
        /* Of 30 (an error, its digest not taken) 31 finds what 30 would have found. */
        bool want = i % 3 == 0 || (i % 10 == 1 && (i - 1) % 3 == 0);
        char label[32];
        snprintf(label, sizeof(label), "visit %d", (int)i);
        CHECK(label, changed == want);
    }
    assert_int_equal(n, STORE_HISTORY_MAX);
    buf_done(&b);
    store_free(s);
}

static void broken_history_ends(void **state)
{
    (void)state;
    const struct span cases[] = {SPAN(""), SPAN("\x80"), SPAN("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
                                 SPAN("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct span h = cases[i];
        wall_ms at = 0;
        bool changed;
        assert_false(store_history_next(&h, &at, &changed));
        assert_int_equal(h.n, 0);
    }
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

static void a_transaction_is_all_or_nothing(void **state)
{
    (void)state;
    struct store *s = open_store(STORE_WRITE);
    struct buf b = {0};
    struct page p = good_page(1, 1, 1);
    CHECK_STATUS("begin", store_begin(s), ST_OK);
    visit(s, "inside", &p);
    CHECK_STATUS("setting", store_setting_put(s, "x", SPAN("y")), ST_OK);
    store_rollback(s);
    store_rollback(s);
    CHECK_STATUS("page", store_page_get(s, 1, show_page, &b), ST_NOT_FOUND);
    CHECK_STATUS("setting", store_setting_get(s, "x", &b), ST_NOT_FOUND);
    CHECK_STATUS("begin", store_begin(s), ST_OK);
    visit(s, "inside", &p);
    CHECK_STATUS("commit", store_commit(s), ST_OK);
    CHECK_STATUS("sync", store_sync(s), ST_OK);
    CHECK_STATUS("page", store_page_get(s, 1, show_page, &b), ST_OK);
    buf_done(&b);
    store_free(s);
}

static void what_was_committed_survives_a_kill(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct store *s = open_store(STORE_WRITE);
        struct page p = good_page(1, 1, 1);
        visit(s, "committed", &p);
        CHECK_STATUS("begin", store_begin(s), ST_OK);
        p = good_page(2, 2, 2);
        visit(s, "not committed", &p);
        kill(getpid(), SIGKILL);
    }
    int how = 0;
    waitpid(child, &how, 0);
    assert_true(WIFSIGNALED(how));
    struct buf b = {0};
    struct store *s = open_store(STORE_READ);
    CHECK_STATUS("reading", store_page_get(s, 1, show_page, &b), ST_OK);
    store_free(s);
    s = open_store(STORE_WRITE);
    CHECK_STATUS("1", store_page_get(s, 1, show_page, &b), ST_OK);
    CHECK_STATUS("2", store_page_get(s, 2, show_page, &b), ST_NOT_FOUND);
    buf_done(&b);
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

static void a_second_writer_is_told_who_has_it(void **state)
{
    (void)state;
    char path[TEST_PATH], phrase[64];
    data_path(path);
    struct store *s = open_store(STORE_WRITE);
    snprintf(phrase, sizeof(phrase), "in use by process %ld", (long)getpid());
    check_open("second", path, STORE_WRITE, ST_BUSY, phrase);
    store_free(s);
    store_free(open_store(STORE_WRITE));
}

static status visit_meanwhile(void *arg, const struct page *p)
{
    struct page extra = good_page(p->key + 1000, 5000 + p->key, 1);
    return store_page_visit(arg, &extra, NULL);
}

static void readers_see_a_snapshot_while_somebody_writes(void **state)
{
    (void)state;
    struct store *writer = open_store(STORE_WRITE);
    struct page_counts c;
    for (uint64_t i = 1; i <= 100; i++) {
        struct page p = good_page(i, i, 1);
        visit(writer, "visit", &p);
    }
    struct store *reader = open_store(STORE_READ);
    assert_memory_equal(store_key(reader), store_key(writer), sizeof(struct sip_key));
    CHECK_STATUS("each", store_page_each(reader, 0, visit_meanwhile, writer), ST_OK);
    CHECK_STATUS("counts", store_page_counts(reader, &c), ST_OK);
    assert_int_equal(c.known, 200);
    CHECK_STATUS("begin", store_begin(writer), ST_OK);
    struct page p = good_page(9999, 9999, 1);
    visit(writer, "uncommitted", &p);
    CHECK_STATUS("counts", store_page_counts(reader, &c), ST_OK);
    assert_int_equal(c.known, 200);
    CHECK_STATUS("commit", store_commit(writer), ST_OK);
    CHECK_STATUS("counts", store_page_counts(reader, &c), ST_OK);
    assert_int_equal(c.known, 201);
    CHECK_STATUS("a reader cannot write", store_setting_put(reader, "x", SPAN("y")), ST_IO);
    store_free(writer);
    CHECK_STATUS("writer gone", store_page_counts(reader, &c), ST_OK);
    store_free(reader);
}

static void bad_folders_are_explained(void **state)
{
    (void)state;
    char path[TEST_PATH], db[TEST_PATH];
    data_path(path);
    check_open("no folder", path, STORE_READ, ST_NOT_FOUND, "no data folder");
    CHECK_STATUS("mkdir", file_mkdir(path), ST_OK);
    check_open("empty folder", path, STORE_READ, ST_NOT_FOUND, "no data folder");
    test_path(db, "data/orb.db");
    CHECK_STATUS("empty file", file_replace(db, SPAN("")), ST_OK);
    check_open("empty file", path, STORE_READ, ST_NOT_FOUND, "no data folder");
    char junk[8192];
    memset(junk, 'x', sizeof(junk));
    CHECK_STATUS("junk", file_replace(db, span_of(junk, sizeof(junk))), ST_OK);
    check_open("junk", path, STORE_READ, ST_CORRUPT, "not a database");
    check_open("junk", path, STORE_WRITE, ST_CORRUPT, "not a database");
    unlink(db);
    run_sql(db, "CREATE TABLE other (x)");
    check_open("other program", path, STORE_READ, ST_CORRUPT, "another program");
    check_open("other program", path, STORE_WRITE, ST_CORRUPT, "another program");
    test_path(path, "file");
    CHECK_STATUS("file", file_replace(path, SPAN("x")), ST_OK);
    check_open("a file", path, STORE_READ, ST_IO, "Not a directory");
    check_open("a file", path, STORE_WRITE, ST_IO, "Not a directory");
    check_open("below a file", "/dev/null/x", STORE_WRITE, ST_IO, "Not a directory");
}

static void versions_are_checked(void **state)
{
    (void)state;
    char path[TEST_PATH], db[TEST_PATH];
    data_path(path);
    test_path(db, "data/orb.db");
    store_free(open_store(STORE_WRITE));
    run_sql(db, "PRAGMA user_version = 5");
    check_open("newer", path, STORE_READ, ST_NEWER, "newer");
    check_open("newer", path, STORE_WRITE, ST_NEWER, "newer");
    run_sql(db, "PRAGMA user_version = 3");
    check_open("older", path, STORE_READ, ST_UNSUPPORTED, "older");
    run_sql(db, "PRAGMA user_version = 4");
    store_free(open_store(STORE_READ));
    run_sql(db, "DELETE FROM setting");
    check_open("no key", path, STORE_READ, ST_CORRUPT, "damaged");
    run_sql(db, "INSERT INTO setting VALUES ('hash_key', x'0102')");
    check_open("short key", path, STORE_WRITE, ST_CORRUPT, "damaged");
}

static void damage_is_corrupt(void **state)
{
    (void)state;
    struct store *s = open_store(STORE_WRITE);
    for (uint64_t i = 1; i <= 500; i++) {
        struct page p = good_page(i, i, 1);
        visit(s, "visit", &p);
    }
    store_free(s);
    char db[TEST_PATH];
    test_path(db, "data/orb.db");
    struct span good = test_read_file(db);
    char *bad = mem_str(good);
    memset(bad + 4096, 0x5a, good.n - 4096);
    CHECK_STATUS("write", file_replace(db, span_of(bad, good.n)), ST_OK);
    data_path(db);
    check_open("all but the first page", db, STORE_WRITE, ST_CORRUPT, "damaged");
    check_open("all but the first page", db, STORE_READ, ST_CORRUPT, "damaged");
    free(bad);
    free((char *)good.p);
}

static const struct store_migration two_steps[] = {
    {"CREATE TABLE thing (name TEXT); INSERT INTO thing VALUES ('old')"},
    {"ALTER TABLE thing ADD COLUMN size INTEGER; UPDATE thing SET size = length(name)"},
};
static const struct store_migration failing_step[] = {
    {"CREATE TABLE thing (name TEXT); INSERT INTO thing VALUES ('old')"},
    {"ALTER TABLE thing ADD COLUMN size INTEGER; UPDATE nothing SET size = 1"},
};
static const struct store_migration deadly_step[] = {
    {"CREATE TABLE thing (name TEXT); INSERT INTO thing VALUES ('old')"},
    {"ALTER TABLE thing ADD COLUMN size INTEGER; UPDATE thing SET size = die()"},
};

static int64_t number_of(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st = NULL;
    int64_t n = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
        n = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return n;
}

static void die(sqlite3_context *context, int n, sqlite3_value **values)
{
    kill(getpid(), SIGKILL);
}

static sqlite3 *open_old(const char *path)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    return db;
}

static void migrations_run_in_order_and_once(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_path(path, "old.db");
    sqlite3 *db = open_old(path);
    CHECK_STATUS("to 1", store_db_migrate(db, two_steps, 1), ST_OK);
    assert_int_equal(number_of(db, "PRAGMA user_version"), 1);
    CHECK_STATUS("to 2", store_db_migrate(db, two_steps, 2), ST_OK);
    assert_int_equal(number_of(db, "SELECT size FROM thing"), 3);
    CHECK_STATUS("again", store_db_migrate(db, two_steps, 2), ST_OK);
    CHECK_STATUS("newer", store_db_migrate(db, two_steps, 1), ST_NEWER);
    assert_int_equal(number_of(db, "PRAGMA user_version"), 2);
    sqlite3_close(db);
}

static void a_failed_or_killed_migration_leaves_the_old_version(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_path(path, "old.db");
    sqlite3 *db = open_old(path);
    assert_int_not_equal(store_db_migrate(db, failing_step, 2), ST_OK);
    assert_int_equal(number_of(db, "PRAGMA user_version"), 1);
    assert_int_equal(number_of(db, "SELECT size FROM thing"), -1);
    sqlite3_close(db);
    pid_t child = fork();
    if (child == 0) {
        db = open_old(path);
        sqlite3_create_function(db, "die", 0, SQLITE_UTF8, NULL, die, NULL, NULL);
        _exit(store_db_migrate(db, deadly_step, 2) == ST_OK ? 0 : 1);
    }
    int how = 0;
    waitpid(child, &how, 0);
    assert_true(WIFSIGNALED(how));
    db = open_old(path);
    assert_int_equal(number_of(db, "PRAGMA user_version"), 1);
    CHECK_STATUS("after the kill", store_db_migrate(db, two_steps, 2), ST_OK);
    assert_int_equal(number_of(db, "SELECT size FROM thing"), 3);
    sqlite3_close(db);
}

/* In a child with its own view of the file system, where the folder is mounted read-only. Exit code 99: not allowed
 * here. */
static int read_on_read_only_mount(const char *path, bool damaged)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(path, path, NULL, MS_BIND, NULL) != 0 ||
        mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) != 0)
        return 99;
    struct store *s = NULL;
    struct buf why = {0}, page = {0};
    status st = store_open(path, STORE_READ, &s, &why);
    if (damaged)
        return st == ST_IO && strstr(buf_cstr(&why), "writable") ? 0 : 1;
    if (st != ST_OK || store_page_get(s, 1, show_page, &page) != ST_OK)
        return 2;
    store_free(s);
    s = NULL;
    buf_clear(&why);
    st = store_open(path, STORE_WRITE, &s, &why);
    return st == ST_IO && strstr(buf_cstr(&why), "Read-only") ? 0 : 3;
}

static void reads_from_a_read_only_file_system(void **state)
{
    (void)state;
    for (int damaged = 0; damaged < 2; damaged++) {
        char path[TEST_PATH];
        data_path(path);
        struct store *s = open_store(STORE_WRITE);
        struct page p = good_page(1, 1, 1);
        visit(s, "visit", &p);
        store_free(s);
        if (damaged) {
            char wal[TEST_PATH];
            test_path(wal, "data/orb.db-wal");
            CHECK_STATUS("wal", file_replace(wal, SPAN("left by a kill")), ST_OK);
        }
        pid_t child = fork();
        if (child == 0)
            _exit(read_on_read_only_mount(path, damaged));
        int how = 0;
        waitpid(child, &how, 0);
        assert_true(WIFEXITED(how));
        if (WEXITSTATUS(how) == 99)
            skip();
        CHECK(damaged ? "not closed properly" : "closed", WEXITSTATUS(how) == 0);
    }
}

static void unreadable_folders_are_explained(void **state)
{
    (void)state;
    char path[TEST_PATH];
    data_path(path);
    store_free(open_store(STORE_WRITE));
    pid_t child = fork();
    if (child == 0) {
        struct store *s = NULL;
        struct buf why = {0};
        if (chmod(path, 0700) != 0 || (geteuid() == 0 && setuid(65534) != 0))
            _exit(99);
        if (geteuid() != 0 && getuid() != 65534 && chmod(path, 0) != 0)
            _exit(99);
        status st = store_open(path, STORE_READ, &s, &why);
        _exit(st == ST_IO && strstr(buf_cstr(&why), "Permission denied") ? 0 : 1);
    }
    int how = 0;
    waitpid(child, &how, 0);
    chmod(path, 0700);
    if (WEXITSTATUS(how) == 99)
        skip();
    assert_int_equal(WEXITSTATUS(how), 0);
}

static void odd_folder_names_work(void **state)
{
    (void)state;
    char path[TEST_PATH], db[TEST_PATH];
    struct store *s = NULL;
    test_path(path, "a?b#c%41 d\xc3\xa9/e");
    CHECK_STATUS("open", store_open(path, STORE_WRITE, &s, NULL), ST_OK);
    test_path(db, "a?b#c%41 d\xc3\xa9/e/orb.db");
    assert_int_equal(access(db, F_OK), 0);
    store_free(s);
}

static void the_content_that_counts_follows_the_visits(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        uint64_t digest;
        const char *title;
        uint16_t http_status, flags;
        uint8_t outcome;
        bool has_content;
        uint64_t before, after;
    } visits[] = {
        {"new", 1, "T", 200, 0, VISIT_NEW, true, 0, 1},
        {"the same", 1, "T", 200, 0, VISIT_NEW, true, 1, 1},
        {"304", 0, "", 304, 0, VISIT_UNCHANGED, false, 1, 1},
        {"another text", 2, "T", 200, 0, VISIT_NEW, true, 1, 4},
        {"another title", 2, "U", 200, 0, VISIT_NEW, true, 4, 5},
        {"an error keeps it", 0, "", 500, 0, VISIT_ERROR, false, 5, 5},
        {"a refusal keeps it", 0, "", 0, 0, VISIT_REFUSED, false, 5, 5},
        {"another wish", 2, "U", 200, 8, VISIT_NEW, true, 5, 8},
        {"not for the index", 2, "U", 200, 1, VISIT_NEW, false, 8, 0},
        {"still not", 2, "U", 200, 1, VISIT_NEW, false, 0, 0},
        {"for the index again, unchanged", 2, "U", 200, 0, VISIT_NEW, true, 0, 11},
        {"gone", 0, "", 404, 0, VISIT_GONE, false, 11, 0},
        {"back", 2, "U", 200, 0, VISIT_NEW, true, 0, 13},
        {"moved", 0, "", 301, 0, VISIT_REDIRECT, false, 13, 0},
    };
    struct store *s = open_store(STORE_WRITE);
    struct visit_effect e;
    for (size_t i = 0; i < sizeof(visits) / sizeof(*visits); i++) {
        struct page p = good_page(1, i + 1, visits[i].digest);
        p.title = span_str(visits[i].title);
        p.http_status = visits[i].http_status;
        p.page_flags = visits[i].flags;
        p.outcome = visits[i].outcome;
        p.has_content = visits[i].has_content;
        CHECK_STATUS(visits[i].label, store_page_visit(s, &p, &e), ST_OK);
        if (e.content_before != visits[i].before || e.content != visits[i].after)
            fail_msg("%s: content %llu, then %llu", visits[i].label, (unsigned long long)e.content_before,
                     (unsigned long long)e.content);
        CHECK_STATUS(visits[i].label, store_page_visit(s, &p, &e), ST_OK);
        CHECK(visits[i].label, e.content_before == e.content && e.content == visits[i].after);
    }
    struct page p = good_page(2, 20, 1);
    p.has_content = true;
    CHECK_STATUS("another page", store_page_visit(s, &p, NULL), ST_OK);
    CHECK_STATUS("drop", store_page_drop_content(s, 2), ST_OK);
    p.fetch_number = 21;
    CHECK_STATUS("again", store_page_visit(s, &p, &e), ST_OK);
    CHECK("brought again", e.outcome == VISIT_UNCHANGED && e.content_before == 0 && e.content == 21);
    store_free(s);
}

/* ---- pages of another folder ---- */

static struct page copy_page(uint64_t key, wall_ms at, uint16_t http, uint64_t digest)
{
    return (struct page){.key = key,
                         .url = SPAN("http://a/"),
                         .channel = 1,
                         .fetch_number = 999, /* the other folder's: ignored */
                         .title = SPAN("ignored"),
                         .at = at,
                         .http_status = http,
                         .digest = digest,
                         .etag = SPAN("e2")};
}

static void a_copy_becomes_a_known_page(void **state)
{
    static const struct {
        const char *label;
        uint16_t http;
        uint64_t digest;
        const char *want;
        bool is_new_good;
    } cases[] = {
        {"good", 200, 7,
         "http://a/ unchanged #0 at 5000 http 200 digest 7 title '' etag 'e2' type '' reason '' to '' text 0 first "
         "5000 "
         "changed 5000 good 5000 visits 1 changes 0",
         true},
        {"gone", 404, 0,
         "http://a/ gone #0 at 5000 http 404 digest 0 title '' etag 'e2' type '' reason '' to '' text 0 first 5000 "
         "changed 0 good 0 visits 1 changes 0",
         false},
        {"moved", 301, 0,
         "http://a/ redirect #0 at 5000 http 301 digest 0 title '' etag 'e2' type '' reason '' to '' text 0 first 5000 "
         "changed 0 good 0 visits 1 changes 0",
         false},
        {"no answer", 0, 7,
         "http://a/ error #0 at 5000 http 0 digest 7 title '' etag 'e2' type '' reason '' to '' text 0 first 5000 "
         "changed 5000 good 5000 visits 1 changes 0",
         false},
    };
    struct store *s = open_store(STORE_WRITE);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        bool is_new_good;
        struct page p = copy_page(i + 1, 5000, cases[i].http, cases[i].digest);
        for (int twice = 0; twice < 2; twice++) {
            CHECK_STATUS(cases[i].label, store_page_restore(s, &p, &is_new_good), ST_OK);
            CHECK(cases[i].label, is_new_good == (cases[i].is_new_good && !twice));
            check_page(s, cases[i].label, i + 1, cases[i].want);
        }
    }
    store_free(s);
}

static void the_later_of_copy_and_page_counts(void **state)
{
    struct store *s = open_store(STORE_WRITE);
    struct visit_effect e;
    struct page own = good_page(1, 10, 7), early = copy_page(1, 9000, 200, 8), late = copy_page(1, 11000, 200, 8);
    visit(s, "visit", &own);
    CHECK_STATUS("early", store_page_restore(s, &early, NULL), ST_OK);
    check_page(s, "an earlier copy changes nothing", 1,
               "http://a/ new #10 at 10000 http 200 digest 7 title 'T' etag 'e' type 'text/html' reason '' to '' text "
               "500 first 10000 changed 10000 good 10000 visits 1 changes 0");
    CHECK_STATUS("late", store_page_restore(s, &late, NULL), ST_OK);
    check_page(
        s, "a later one does", 1,
        "http://a/ unchanged #10 at 11000 http 200 digest 8 title 'T' etag 'e2' type 'text/html' reason '' to '' "
        "text 500 first 10000 changed 11000 good 11000 visits 1 changes 0");
    /* A visit after a copy is one of a known page, however low its number. */
    struct page other = copy_page(2, 5000, 200, 7), next = good_page(2, 1, 7);
    CHECK_STATUS("copy", store_page_restore(s, &other, NULL), ST_OK);
    CHECK_STATUS("visit", store_page_visit(s, &next, &e), ST_OK);
    CHECK("unchanged", e.outcome == VISIT_UNCHANGED);
    store_free(s);
}

/* ---- which pages are looked at again first ---- */

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

static status note_number(void *arg, const struct page_glance *g)
{
    *(uint64_t *)arg = g->number;
    return ST_OK;
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
    run_sql(path, "DROP INDEX page_channel; ALTER TABLE page DROP COLUMN rate; PRAGMA user_version = 3");
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
        TEST_IN_FOLDER(the_content_that_counts_follows_the_visits),
        TEST_IN_FOLDER(keeps_settings_channels_and_hosts),
        TEST_IN_FOLDER(lists_channels_and_hosts_in_order),
        TEST_IN_FOLDER(a_visit_becomes_the_right_row),
        TEST_IN_FOLDER(a_page_first_refused_is_new_when_it_is_got),
        TEST_IN_FOLDER(every_field_comes_back),
        TEST_IN_FOLDER(history_keeps_the_newest_visits),
        TEST_IN_FOLDER(broken_history_ends),
        TEST_IN_FOLDER(lists_pages_in_order_of_first_visit),
        TEST_IN_FOLDER(counts_pages),
        TEST_IN_FOLDER(a_transaction_is_all_or_nothing),
        TEST_IN_FOLDER(what_was_committed_survives_a_kill),
        TEST_IN_FOLDER(finds_pages_after_their_keys_have_moved),
        TEST_IN_FOLDER(a_second_writer_is_told_who_has_it),
        TEST_IN_FOLDER(readers_see_a_snapshot_while_somebody_writes),
        TEST_IN_FOLDER(bad_folders_are_explained),
        TEST_IN_FOLDER(versions_are_checked),
        TEST_IN_FOLDER(damage_is_corrupt),
        TEST_IN_FOLDER(migrations_run_in_order_and_once),
        TEST_IN_FOLDER(a_failed_or_killed_migration_leaves_the_old_version),
        TEST_IN_FOLDER(reads_from_a_read_only_file_system),
        TEST_IN_FOLDER(unreadable_folders_are_explained),
        TEST_IN_FOLDER(odd_folder_names_work),
        TEST_IN_FOLDER(a_copy_becomes_a_known_page),
        TEST_IN_FOLDER(the_later_of_copy_and_page_counts),
        TEST_IN_FOLDER(what_decides_the_order_is_seen_at_a_glance),
        TEST_IN_FOLDER(a_page_goes_with_the_channel_that_visits_it),
        TEST_IN_FOLDER(pages_are_found_by_number),
        TEST_IN_FOLDER(visits_are_counted_by_the_rate_function),
        TEST_IN_FOLDER(a_list_tells_when_a_page_changed),
        TEST_IN_FOLDER(pages_of_before_are_counted_from_their_history),
        TEST_IN_FOLDER(a_copy_brings_its_rate),
        TEST_IN_FOLDER(of_dates_that_lists_tell_the_newest_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
