/* What is forgotten is nowhere: not in the page table, not in the texts, not in the index, not in what links called
 * others; it does not come back, and a failure in the middle only delays it. */
#include "test.h"

#include <dirent.h>
#include <errno.h>

#include "apply/alike.h"
#include "apply/alike_pages.h"
#include "apply/apply.h"
#include "apply/verify.h"
#include "index/search/search.h"
#include "store/contents.h"
#include "store/file.h"
#include "test_folder.h"
#include "web/summary.h"

struct bench {
    struct store *store;
    struct apply *apply;
    struct apply_start start;
};

static void open_bench(struct bench *b, const char *dir)
{
    struct buf why = {0};
    *b = (struct bench){0};
    CHECK_STATUS("store", store_open(dir, STORE_WRITE, &b->store, &why), ST_OK);
    struct apply_opts o = {.store = b->store};
    status st = apply_open(&o, &b->apply, &b->start, &why);
    if (st != ST_OK)
        fail_msg("apply_open: %s: %s", status_name(st), buf_cstr(&why));
    buf_done(&why);
}

static void close_bench(struct bench *b)
{
    apply_free(b->apply);
    store_free(b->store);
}

static void put(struct bench *b, uint64_t number, const char *url, const char *title, const char *text,
                const struct summary_link *links, size_t link_count)
{
    struct buf packed = {0};
    struct summary s = {.fetch_number = number,
                        .channel = 1,
                        .at = 1700000000000 + (wall_ms)number,
                        .url = span_str(url),
                        .http_status = 200,
                        .is_html = true,
                        .digest = facts_digest(span_str(text)),
                        .text_bytes = strlen(text),
                        .content_type = SPAN("text/html"),
                        .lang = SPAN("en"),
                        .title = span_str(title),
                        .text = span_str(text),
                        .links = links,
                        .link_count = link_count,
                        .dns_us = -1,
                        .connect_us = -1,
                        .tls_us = -1,
                        .first_byte_us = -1,
                        .total_us = -1};
    summary_pack(&s, &packed);
    CHECK_STATUS(url, apply_summary(b->apply, buf_span(&packed), NULL), ST_OK);
    buf_done(&packed);
}

static void remember(struct bench *b, const char *place)
{
    struct forgotten f = {span_str(place), 1700000000000, SPAN("asked for")};
    CHECK_STATUS("begin", apply_begin(b->apply), ST_OK);
    CHECK_STATUS("remember", store_forgotten_put(b->store, &f), ST_OK);
    CHECK_STATUS("mark", store_setting_put(b->store, APPLY_FORGET_SETTING, SPAN("1")), ST_OK);
    CHECK_STATUS("commit", apply_commit(b->apply), ST_OK);
}

static struct apply_erased forget(struct bench *b, const char *place)
{
    struct apply_erased gone;
    remember(b, place);
    CHECK_STATUS(place, apply_forget(b->apply, &gone), ST_OK);
    return gone;
}

static void check_search(const char *dir_name, const char *query, const char *want)
{
    struct buf dir = {0}, got = {0};
    struct index_reader *reader = NULL;
    struct index_snapshot *snapshot = NULL;
    struct search_result r;
    struct arena a;
    arena_init(&a);
    apply_index_dir(dir_name, &dir);
    CHECK_STATUS(query, index_reader_open(dir.p, &reader, NULL), ST_OK);
    CHECK_STATUS(query, index_reader_snapshot(reader, &snapshot), ST_OK);
    struct search_opts o = {.query = span_str(query), .now = 1700000000000, .cpu_ms = -1};
    CHECK_STATUS(query, search_run(snapshot, &o, &a, &r), ST_OK);
    for (size_t i = 0; i < r.hit_count; i++)
        buf_printf(&got, "%s%.*s", i ? " " : "", SPAN_ARG(r.hits[i].url));
    CHECK_SPAN(query, buf_span(&got), span_str(want));
    index_snapshot_free(snapshot);
    index_reader_free(reader);
    arena_done(&a);
    buf_done(&dir);
    buf_done(&got);
}

struct texts {
    struct store *store;
    uint64_t known, strange;
};

static status see_page(void *arg, const struct page *p)
{
    return ST_OK;
}

static status count_text(void *arg, const struct contents_record *r)
{
    struct texts *t = arg;
    bool is_known = store_page_get(t->store, r->key, see_page, NULL) == ST_OK;
    t->known += is_known && !r->is_gone;
    t->strange += !is_known && !r->is_gone;
    return ST_OK;
}

/* All is well: every page has its text and its document, and there is no text and no document of any other, dead ones
 * included. */
static void check_clean(const char *label, const char *dir, uint64_t pages)
{
    const struct verify_opts o = {.data_dir = dir};
    struct verify_report r;
    struct buf why = {0}, path = {0};
    struct texts t = {0};
    CHECK_STATUS(label, verify_run(&o, &r, &why), ST_OK);
    CHECK_STATUS(label, store_open(dir, STORE_READ, &t.store, &why), ST_OK);
    apply_contents_dir(dir, &path);
    CHECK_STATUS(label, contents_each(path.p, 0, count_text, &t, NULL), ST_OK);
    if (!r.is_well || r.pages != pages || t.known < pages || t.strange || r.index.docs != pages || r.index.deleted)
        fail_msg("%s: want %llu: pages %llu texts %llu of others %llu docs %llu deleted %llu: %s", label,
                 (unsigned long long)pages, (unsigned long long)r.pages, (unsigned long long)t.known,
                 (unsigned long long)t.strange, (unsigned long long)r.index.docs, (unsigned long long)r.index.deleted,
                 buf_cstr(&r.problems));
    store_free(t.store);
    verify_report_done(&r);
    buf_done(&why);
    buf_done(&path);
}

static bool file_has(const char *path, const char *needle)
{
    struct span text = test_read_file(path);
    bool has = span_search(text, span_str(needle), false) < text.n;
    free((char *)text.p);
    return has;
}

/* The bytes in any file of the folder, as they are. */
static bool folder_has(const char *dir, const char *needle)
{
    bool has = false;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; !has && (e = readdir(d));) {
        char path[TEST_PATH * 2];
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        if (e->d_type == DT_DIR && e->d_name[0] != '.')
            has = folder_has(path, needle);
        else if (e->d_type == DT_REG)
            has = file_has(path, needle);
    }
    closedir(d);
    return has;
}

/* What a killed backup left: processes have no such number. */
static void put_old_copy(const char *dir)
{
    struct buf path = {0};
    buf_printf(&path, "%s/.backup-2147483647", dir);
    CHECK_STATUS("folder", file_mkdir(buf_cstr(&path)), ST_OK);
    buf_puts(&path, "/orb.db");
    CHECK_STATUS("file", file_replace(buf_cstr(&path), SPAN("Quaggatitle")), ST_OK);
    assert_true(folder_has(dir, "Quaggatitle"));
    buf_done(&path);
}

static void a_page_is_nowhere(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, test_folder());
    put(&b, 1, "http://a.example/keep", "Keepsake", "Things that stay.", NULL, 0);
    put(&b, 2, "http://a.example/quaggapage", "Quaggatitle", "The quagga is no more.", NULL, 0);
    CHECK_STATUS("finish", apply_finish(b.apply), ST_OK);
    check_search(test_folder(), "quagga", "http://a.example/quaggapage");
    put_old_copy(test_folder());
    struct apply_erased gone = forget(&b, "http://a.example/quaggapage");
    assert_int_equal(gone.pages, 1);
    assert_int_equal(gone.texts, 1);
    check_search(test_folder(), "quagga", "");
    check_search(test_folder(), "stay", "http://a.example/keep");
    put(&b, 3, "http://a.example/quaggapage", "Quaggatitle", "The quagga is back.", NULL, 0);
    CHECK_STATUS("finish", apply_finish(b.apply), ST_OK);
    check_search(test_folder(), "quagga", "");
    close_bench(&b);
    check_clean("one is left", test_folder(), 1);
    assert_true(folder_has(test_folder(), "Keepsake"));
    assert_false(folder_has(test_folder(), "Quaggatitle"));
    /* The place itself is remembered, so that it stays forgotten. */
    open_bench(&b, test_folder());
    CHECK_STATUS("undo", store_forgotten_remove(b.store, SPAN("http://a.example/quaggapage")), ST_OK);
    CHECK_STATUS("twice", store_forgotten_remove(b.store, SPAN("http://a.example/quaggapage")), ST_NOT_FOUND);
    close_bench(&b);
    open_bench(&b, test_folder());
    put(&b, 4, "http://a.example/quaggapage", "Quaggatitle", "The quagga is back.", NULL, 0);
    CHECK_STATUS("finish", apply_finish(b.apply), ST_OK);
    check_search(test_folder(), "quagga", "http://a.example/quaggapage");
    close_bench(&b);
}

static void what_its_links_said_of_others_goes_too(void **state)
{
    (void)state;
    const struct summary_link of_first[] = {
        {.url = SPAN_INIT("http://a.example/target"), .text = SPAN_INIT("the last quagga"), .kind = LINK_A}};
    const struct summary_link of_second[] = {
        {.url = SPAN_INIT("http://a.example/target"), .text = SPAN_INIT("an okapi"), .kind = LINK_A}};
    struct bench b;
    open_bench(&b, test_folder());
    put(&b, 1, "http://a.example/target", "Untitled", "Nothing of interest here.", NULL, 0);
    put(&b, 2, "http://b.example/", "Zoo", "Some links.", of_first, 1);
    put(&b, 3, "http://c.example/", "Park", "More links.", of_second, 1);
    CHECK_STATUS("finish", apply_finish(b.apply), ST_OK);
    check_search(test_folder(), "quagga", "http://a.example/target");
    (void)forget(&b, "b.example");
    check_search(test_folder(), "quagga", "");
    check_search(test_folder(), "okapi", "http://a.example/target");
    check_search(test_folder(), "interest", "http://a.example/target");
    (void)forget(&b, ".c.example");
    check_search(test_folder(), "okapi", "");
    close_bench(&b);
    check_clean("one is left", test_folder(), 1);
}

static void make_text(uint64_t i, char *text, size_t n)
{
    snprintf(
        text, n,
        "This page has the number%llu and a few sentences around it, so that there is something to compress and to "
        "learn a dictionary from. Only it has unmistakable%lluzebra in it, and that is rather long a word. It is "
        "not a long text, yet long enough to be a sample for the dictionary.",
        (unsigned long long)i, (unsigned long long)(i * 7919));
}

static void put_many(struct bench *b, const char *site, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i <= to; i++) {
        char url[64], title[64], text[500];
        snprintf(url, sizeof(url), "http://%s/%llu", site, (unsigned long long)i);
        snprintf(title, sizeof(title), "Page %llu", (unsigned long long)i);
        make_text(i, text, sizeof(text));
        put(b, i, url, title, text, NULL, 0);
    }
}

/* What compresses the texts is made of them. */
static void the_dictionary_forgets_too(void **state)
{
    (void)state;
    struct bench b;
    char path[TEST_PATH], word[64], url[64];
    uint64_t in_it = 0;
    open_bench(&b, test_folder());
    put_many(&b, "a.example", 1, 600);
    CHECK_STATUS("finish", apply_finish(b.apply), ST_OK);
    test_path(path, "contents/dictionary");
    for (uint64_t i = 1; i <= 300 && !in_it; i++) {
        snprintf(word, sizeof(word), "unmistakable%lluzebra", (unsigned long long)(i * 7919));
        if (file_has(path, word))
            in_it = i;
    }
    assert_int_not_equal(in_it, 0);
    snprintf(url, sizeof(url), "http://a.example/%llu", (unsigned long long)in_it);
    struct apply_erased gone = forget(&b, url);
    assert_int_equal(gone.pages, 1);
    assert_true(gone.was_remade);
    check_search(test_folder(), word, "");
    put_many(&b, "b.example", 601, 602);
    CHECK_STATUS("finish", apply_finish(b.apply), ST_OK);
    check_search(test_folder(), "number602", "http://b.example/602");
    close_bench(&b);
    assert_false(folder_has(test_folder(), word));
    check_clean("all others are there", test_folder(), 601);
    assert_false(folder_has(test_folder(), "contents.old"));
}

static void a_whole_site_goes_and_the_rest_stays(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, test_folder());
    put_many(&b, "a.example", 1, 700);
    put_many(&b, "b.example", 1001, 1700);
    CHECK_STATUS("finish", apply_finish(b.apply), ST_OK);
    struct apply_erased gone = forget(&b, "a.example");
    assert_int_equal(gone.pages, 700);
    check_search(test_folder(), "number17", "");
    check_search(test_folder(), "number1017", "http://b.example/1017");
    close_bench(&b);
    check_clean("half is left", test_folder(), 700);
}

static uint64_t alike_pages(const char *dir)
{
    struct buf path = {0};
    struct rows rows = {0};
    uint64_t n = UINT64_MAX;
    alike_dir(dir, &path);
    buf_puts(&path, "/pages");
    if (rows_open(buf_cstr(&path), ALIKE_PAGES_KIND, ALIKE_PAGES_WIDTH, &rows) == ST_OK)
        n = rows.count;
    rows_close(&rows);
    buf_done(&path);
    return n;
}

/* Also when the texts are made anew, and their numbers begin again. */
static void fingerprints_go_and_are_made_on(void **state)
{
    (void)state;
    static const char *const places[] = {"http://a.example/7", "a.example"};
    struct bench b;
    uint64_t left = 700;
    bool was_remade = false;
    open_bench(&b, test_folder());
    put_many(&b, "a.example", 1, 600);
    put_many(&b, "b.example", 601, 700);
    CHECK_STATUS("finish", apply_finish(b.apply), ST_OK);
    apply_find_alike(b.apply, 0);
    assert_int_equal(alike_pages(test_folder()), left);
    for (size_t i = 0; i < 2; i++) {
        struct apply_erased gone = forget(&b, places[i]);
        was_remade |= gone.was_remade;
        left -= gone.pages;
        CHECK(places[i], alike_pages(test_folder()) == UINT64_MAX);
        apply_find_alike(b.apply, UINT64_MAX);
        CHECK(places[i], alike_pages(test_folder()) == left);
    }
    assert_true(was_remade);
    put_many(&b, "b.example", 701, 702);
    CHECK_STATUS("finish", apply_finish(b.apply), ST_OK);
    apply_find_alike(b.apply, 0);
    assert_int_equal(alike_pages(test_folder()), 102);
    close_bench(&b);
}

struct unseen {
    struct store *store;
    uint64_t keys, of_pages, last;
};

static status count_unseen(void *arg, uint64_t number, uint64_t key)
{
    struct unseen *u = arg;
    assert_true(number > u->last);
    u->last = number;
    u->keys++;
    u->of_pages += store_page_get(u->store, key, see_page, NULL) == ST_OK;
    return ST_OK;
}

/* The crawl is told of as many pages, none of which is there. */
static void check_unseen(const char *label, struct store *s, uint64_t want)
{
    struct unseen u = {.store = s};
    CHECK_STATUS(label, store_unsee_each(s, count_unseen, &u), ST_OK);
    CHECK(label, u.keys == want && !u.of_pages);
}

static bool is_odd(void *arg, const struct page *p)
{
    return p->fetch_number % 2;
}

static void pages_go_by_any_rule(void **state)
{
    (void)state;
    struct bench b;
    struct apply_erased gone;
    struct apply_pruned won;
    open_bench(&b, test_folder());
    put_many(&b, "a.example", 1, 40);
    CHECK_STATUS("finish", apply_finish(b.apply), ST_OK);
    put_many(&b, "a.example", 41, 80);
    CHECK_STATUS("erase", apply_erase(b.apply, is_odd, NULL, &gone), ST_OK);
    assert_int_equal(gone.pages, 40);
    check_unseen("those that went", b.store, 40);
    CHECK_STATUS("prune", apply_prune(b.apply, &won), ST_OK);
    close_bench(&b);
    check_clean("half is left", test_folder(), 40);
}

static bool is_any(void *arg, const struct page *p)
{
    return true;
}

static void the_crawl_is_told_until_it_says_so(void **state)
{
    (void)state;
    struct bench b;
    struct apply_erased gone;
    struct unseen u = {0};
    char fleet[TEST_PATH];
    open_bench(&b, test_folder());
    put_many(&b, "a.example", 1, 20);
    CHECK_STATUS("erase", apply_erase(b.apply, is_odd, NULL, &gone), ST_OK);
    u.store = b.store;
    CHECK_STATUS("each", store_unsee_each(b.store, count_unseen, &u), ST_OK);
    CHECK_STATUS("erase", apply_erase(b.apply, is_any, NULL, &gone), ST_OK);
    check_unseen("both", b.store, 20);
    CHECK_STATUS("drop", store_unsee_drop(b.store, u.last), ST_OK);
    check_unseen("the second", b.store, 10);
    put_many(&b, "a.example", 21, 30);
    CHECK_STATUS("commit", apply_commit(b.apply), ST_OK);
    test_path(fleet, "fleet.db");
    CHECK_STATUS("a coordinator", file_replace(fleet, SPAN("")), ST_OK);
    CHECK_STATUS("erase", apply_erase(b.apply, is_any, NULL, &gone), ST_OK);
    assert_int_equal(gone.pages, 10);
    check_unseen("it crawls nothing", b.store, 10);
    close_bench(&b);
}

/* A disk that fails at the n-th sync of forgetting: whoever opens the folder next ends it. */
static void a_failure_in_the_middle_only_delays_it(void **state)
{
    (void)state;
    bool has_failed = false, has_worked = false;
    for (unsigned n = 0; n < 60 && !has_worked; n++) {
        char dir[TEST_PATH];
        struct bench b;
        struct apply_erased gone;
        char name[32];
        snprintf(name, sizeof(name), "d%u", n);
        test_path(dir, name);
        open_bench(&b, dir);
        put_many(&b, "a.example", 1, 330);
        put(&b, 1000, "http://b.example/", "Quaggatitle", "The quagga is no more.", NULL, 0);
        CHECK_STATUS("finish", apply_finish(b.apply), ST_OK);
        remember(&b, "b.example");
        remember(&b, "http://a.example/1*");
        file_inject_sync_fault(n, EIO);
        has_worked = apply_forget(b.apply, &gone) == ST_OK;
        has_failed |= !has_worked;
        close_bench(&b);
        file_inject_sync_fault(0, 0);
        open_bench(&b, dir);
        CHECK_STATUS("finish", apply_finish(b.apply), ST_OK);
        check_unseen(name, b.store, 111 + 1);
        close_bench(&b);
        /* 1, 10 to 19, 100 to 199 */
        check_clean(name, dir, 330 - 111);
        assert_false(folder_has(dir, "Quaggatitle"));
        check_search(dir, "quagga", "");
    }
    assert_true(has_failed);
    assert_true(has_worked);
}

static void a_check_finds_what_should_be_forgotten(void **state)
{
    (void)state;
    struct bench b;
    struct verify_opts o = {.data_dir = test_folder()};
    struct verify_report r;
    struct buf why = {0};
    open_bench(&b, test_folder());
    put_many(&b, "a.example", 1, 5);
    CHECK_STATUS("finish", apply_finish(b.apply), ST_OK);
    struct forgotten f = {SPAN("http://a.example/3"), 1700000000000, {0}};
    CHECK_STATUS("remember", store_forgotten_put(b.store, &f), ST_OK);
    close_bench(&b);
    CHECK_STATUS("look", verify_run(&o, &r, &why), ST_OK);
    assert_false(r.is_well);
    assert_int_equal(r.forgotten, 1);
    verify_report_done(&r);
    o.repair = true;
    CHECK_STATUS("repair", verify_run(&o, &r, &why), ST_OK);
    assert_true(r.is_well);
    verify_report_done(&r);
    buf_done(&why);
    check_clean("repaired", test_folder(), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_page_is_nowhere),
        TEST_IN_FOLDER(what_its_links_said_of_others_goes_too),
        TEST_IN_FOLDER(the_dictionary_forgets_too),
        TEST_IN_FOLDER(a_whole_site_goes_and_the_rest_stays),
        TEST_IN_FOLDER(fingerprints_go_and_are_made_on),
        TEST_IN_FOLDER(pages_go_by_any_rule),
        TEST_IN_FOLDER(the_crawl_is_told_until_it_says_so),
        TEST_IN_FOLDER(a_failure_in_the_middle_only_delays_it),
        TEST_IN_FOLDER(a_check_finds_what_should_be_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
