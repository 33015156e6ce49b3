/* test_store_visits.c - what a visit, or a copy of another folder, makes of the row of a page. */
#include "store_pages.h"

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
               "http://a/ unchanged #3 at 3000 http 200 digest 100 title '' etag 'e' type 'text/html' reason '' to '' "
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

/* It was taken out while somebody still had its validators: the next request is to bring it whole. */
static void not_modified_without_a_copy_is_an_error(void **state)
{
    (void)state;
    struct store *s = open_store(STORE_WRITE);
    struct page p = good_page(7, 1, 0);
    p.outcome = VISIT_UNCHANGED;
    p.http_status = 304;
    visit(s, "304", &p);
    check_page(s, "304", 7,
               "http://a/ error #1 at 1000 http 304 digest 0 title '' etag '' type '' reason '' to '' "
               "text 0 first 1000 changed 0 good 0 visits 1 changes 0");
    p = good_page(7, 2, 100);
    visit(s, "whole", &p);
    check_page(s, "whole", 7,
               "http://a/ new #2 at 2000 http 200 digest 100 title 'T' etag 'e' type 'text/html' reason '' to '' "
               "text 500 first 1000 changed 2000 good 2000 visits 2 changes 0");
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
    struct span before_1970 = SPAN("\x14\x16");
    wall_ms at = 0;
    bool changed;
    assert_true(store_history_next(&before_1970, &at, &changed));
    assert_int_equal(at, 10000);
    assert_false(store_history_next(&before_1970, &at, &changed));
    assert_int_equal(before_1970.n, 0);
}

static status note_texts(void *arg, const struct page *p)
{
    buf_printf(arg, "%.*s|%.*s", SPAN_ARG(p->canonical), SPAN_ARG(p->reason));
    return ST_OK;
}

/* The text of a page says nothing of the page that it names as canonical, which decides who stands for it. */
static void another_canonical_is_another_content(void **state)
{
    (void)state;
    static const struct {
        const char *label, *canonical;
        uint16_t http_status;
        uint8_t outcome;
        uint64_t after;
        const char *kept;
    } visits[] = {
        {"new", "http://a/1", 200, VISIT_NEW, 1, "http://a/1|"},
        {"the same", "http://a/1", 200, VISIT_NEW, 1, "http://a/1|"},
        {"304", "", 304, VISIT_UNCHANGED, 1, "http://a/1|"},
        {"another", "http://a/2", 200, VISIT_NEW, 4, "http://a/2|"},
        {"none", "", 200, VISIT_NEW, 5, "|"},
        {"still none", "", 200, VISIT_NEW, 5, "|"},
        {"one again", "http://a/1", 200, VISIT_NEW, 7, "http://a/1|"},
        {"an error", "", 500, VISIT_ERROR, 7, "http://a/1|"},
    };
    struct store *s = open_store(STORE_WRITE);
    struct visit_effect e;
    for (size_t i = 0; i < sizeof(visits) / sizeof(*visits); i++) {
        struct buf got = {0};
        struct page p = good_page(1, i + 1, 100);
        p.canonical = span_str(visits[i].canonical);
        p.http_status = visits[i].http_status;
        p.outcome = visits[i].outcome;
        p.has_content = visits[i].http_status == 200;
        CHECK_STATUS(visits[i].label, store_page_visit(s, &p, &e), ST_OK);
        CHECK(visits[i].label, e.content == visits[i].after && e.outcome != VISIT_CHANGED);
        CHECK_STATUS(visits[i].label, store_page_get(s, 1, note_texts, &got), ST_OK);
        CHECK_SPAN(visits[i].label, buf_span(&got), span_str(visits[i].kept));
        buf_done(&got);
    }
    store_free(s);
}

/* "PDF known by its name only: it is encrypted" holds as long as the PDF is the same; "slow" was of one visit. */
static void why_a_copy_is_as_it_is_stays_with_it(void **state)
{
    (void)state;
    static const struct {
        const char *label, *reason;
        uint16_t http_status;
        uint8_t outcome;
        const char *kept;
    } visits[] = {
        {"new", "encrypted", 200, VISIT_NEW, "|encrypted"},
        {"304", "", 304, VISIT_UNCHANGED, "|encrypted"},
        {"304 again", "", 304, VISIT_UNCHANGED, "|encrypted"},
        {"an error", "slow", 0, VISIT_ERROR, "|slow"},
        {"304 after it", "", 304, VISIT_UNCHANGED, "|"},
        {"as before", "encrypted", 200, VISIT_NEW, "|encrypted"},
        {"read by now", "", 200, VISIT_NEW, "|"},
    };
    struct store *s = open_store(STORE_WRITE);
    for (size_t i = 0; i < sizeof(visits) / sizeof(*visits); i++) {
        struct buf got = {0};
        struct page p = good_page(1, i + 1, 100);
        p.reason = span_str(visits[i].reason);
        p.http_status = visits[i].http_status;
        p.outcome = visits[i].outcome;
        CHECK_STATUS(visits[i].label, store_page_visit(s, &p, NULL), ST_OK);
        CHECK_STATUS(visits[i].label, store_page_get(s, 1, note_texts, &got), ST_OK);
        CHECK_SPAN(visits[i].label, buf_span(&got), span_str(visits[i].kept));
        buf_done(&got);
    }
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
        {"no title any more", 2, "", 200, 0, VISIT_NEW, true, 5, 6},
        {"still none", 2, "", 200, 0, VISIT_NEW, true, 6, 6},
        {"a title again", 2, "U", 200, 0, VISIT_NEW, true, 6, 8},
        {"an error keeps it", 0, "", 500, 0, VISIT_ERROR, false, 8, 8},
        {"a refusal keeps it", 0, "", 0, 0, VISIT_REFUSED, false, 8, 8},
        {"another wish", 2, "U", 200, 8, VISIT_NEW, true, 8, 11},
        {"not for the index", 2, "U", 200, 1, VISIT_NEW, false, 11, 0},
        {"still not", 2, "U", 200, 1, VISIT_NEW, false, 0, 0},
        {"for the index again, unchanged", 2, "U", 200, 0, VISIT_NEW, true, 0, 14},
        {"gone", 0, "", 404, 0, VISIT_GONE, false, 14, 0},
        {"back", 2, "U", 200, 0, VISIT_NEW, true, 0, 16},
        {"moved", 0, "", 301, 0, VISIT_REDIRECT, false, 16, 0},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(the_content_that_counts_follows_the_visits),
        TEST_IN_FOLDER(another_canonical_is_another_content),
        TEST_IN_FOLDER(why_a_copy_is_as_it_is_stays_with_it),
        TEST_IN_FOLDER(a_visit_becomes_the_right_row),
        TEST_IN_FOLDER(not_modified_without_a_copy_is_an_error),
        TEST_IN_FOLDER(a_page_first_refused_is_new_when_it_is_got),
        TEST_IN_FOLDER(every_field_comes_back),
        TEST_IN_FOLDER(history_keeps_the_newest_visits),
        TEST_IN_FOLDER(broken_history_ends),
        TEST_IN_FOLDER(a_copy_becomes_a_known_page),
        TEST_IN_FOLDER(the_later_of_copy_and_page_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
