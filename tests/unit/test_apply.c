/* Summaries reach store, contents and index exactly once in effect; what a kill or damage takes from the index comes
 * back from the contents. */
#include "test.h"

#include <dirent.h>
#include <sys/wait.h>

#include "apply/apply.h"
#include "apply/verify.h"
#include "base/mem.h"
#include "base/rng.h"
#include "index/search/search.h"
#include "store/contents.h"
#include "store/file.h"
#include "test_folder.h"
#include "web/summary.h"

struct bench {
    struct store *store;
    struct apply *apply;
};

static struct bench open_with(struct apply_start *start)
{
    struct bench b = {0};
    struct buf why = {0};
    CHECK_STATUS("store", store_open(test_folder(), STORE_WRITE, &b.store, &why), ST_OK);
    struct apply_opts o = {.store = b.store};
    status st = apply_open(&o, &b.apply, start, &why);
    if (st != ST_OK)
        fail_msg("apply_open: %s: %s", status_name(st), buf_cstr(&why));
    buf_done(&why);
    return b;
}

static struct bench open_bench(void)
{
    return open_with(NULL);
}

static void close_bench(struct bench *b)
{
    apply_free(b->apply);
    store_free(b->store);
    *b = (struct bench){0};
}

static struct summary page(uint64_t number, const char *url, const char *title, const char *text)
{
    return (struct summary){.fetch_number = number,
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
                            .dns_us = -1,
                            .connect_us = -1,
                            .tls_us = -1,
                            .first_byte_us = -1,
                            .total_us = -1};
}

static visit_outcome put(struct bench *b, const struct summary *s)
{
    struct buf packed = {0};
    struct visit_effect effect = {.outcome = VISIT_ERROR};
    summary_pack(s, &packed);
    CHECK_STATUS("apply", apply_summary(b->apply, buf_span(&packed), &effect), ST_OK);
    buf_done(&packed);
    return effect.outcome;
}

static void finish(struct bench *b)
{
    CHECK_STATUS("finish", apply_finish(b->apply), ST_OK);
}

/* The URLs found, best first, with blanks between. */
static void check_search(const char *query, const char *want)
{
    struct buf dir = {0}, got = {0};
    struct index_reader *reader = NULL;
    struct index_snapshot *snapshot = NULL;
    struct search_result r;
    struct arena a;
    arena_init(&a);
    apply_index_dir(test_folder(), &dir);
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

static void check_stored(const char *url, const char *title, const char *text)
{
    struct buf dir = {0};
    struct store *s = NULL;
    struct index_reader *reader = NULL;
    struct index_snapshot *snapshot = NULL;
    struct index_document d;
    struct arena a;
    arena_init(&a);
    apply_index_dir(test_folder(), &dir);
    CHECK_STATUS(url, store_open(test_folder(), STORE_READ, &s, NULL), ST_OK);
    CHECK_STATUS(url, index_reader_open(dir.p, &reader, NULL), ST_OK);
    CHECK_STATUS(url, index_reader_snapshot(reader, &snapshot), ST_OK);
    CHECK_STATUS(url, index_document(snapshot, siphash(store_key(s), span_str(url)), &a, &d), ST_OK);
    CHECK_SPAN(url, d.title, span_str(title));
    CHECK_SPAN(url, d.text, span_str(text));
    index_snapshot_free(snapshot);
    index_reader_free(reader);
    store_free(s);
    arena_done(&a);
    buf_done(&dir);
}

static void check_verify(const char *label, bool repair, bool is_well, bool was_rebuilt)
{
    const struct verify_opts o = {.data_dir = test_folder(), .repair = repair};
    struct verify_report r;
    struct buf why = {0};
    CHECK_STATUS(label, verify_run(&o, &r, &why), ST_OK);
    if (r.is_well != is_well || r.was_rebuilt != was_rebuilt)
        fail_msg("%s: well %d rebuilt %d: %s", label, r.is_well, r.was_rebuilt, buf_cstr(&r.problems));
    verify_report_done(&r);
    buf_done(&why);
}

static void a_page_is_found_until_it_goes(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct summary one = page(1, "http://a.example/one", "Bees", "Honey bees dance.");
    struct summary two = page(2, "http://a.example/two", "Wasps", "Paper wasps build nests.");
    assert_int_equal(put(&b, &one), VISIT_NEW);
    assert_int_equal(put(&b, &two), VISIT_NEW);
    finish(&b);
    check_search("honey", "http://a.example/one");
    check_search("nest", "http://a.example/two");

    struct summary changed = page(3, "http://a.example/one", "Bees", "Bumblebees hum.");
    assert_int_equal(put(&b, &changed), VISIT_CHANGED);
    assert_int_equal(put(&b, &one), VISIT_CHANGED); /* an old visit again: ignored */
    finish(&b);
    check_search("honey", "");
    check_search("bumblebees", "http://a.example/one");

    struct summary gone = {.fetch_number = 4, .url = SPAN("http://a.example/one"), .http_status = 404};
    assert_int_equal(put(&b, &gone), VISIT_GONE);
    struct summary refused = {.fetch_number = 5, .url = SPAN("http://a.example/two"), .is_refused = true};
    put(&b, &refused);
    finish(&b);
    check_search("bumblebees", "");
    check_search("nest", "http://a.example/two"); /* a refusal says nothing about the copy */

    struct summary hidden = page(6, "http://a.example/two", "Wasps", "Paper wasps build nests.");
    hidden.page_flags = PAGE_NOINDEX;
    assert_int_equal(put(&b, &hidden), VISIT_UNCHANGED);
    finish(&b);
    check_search("nest", "");
    close_bench(&b);
    check_verify("after all that", false, true, false);
}

static void a_new_title_alone_reaches_the_index(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct summary s = page(1, "http://a.example/", "Old name", "The same text.");
    put(&b, &s);
    struct summary renamed = page(2, "http://a.example/", "Fresh name", "The same text.");
    assert_int_equal(put(&b, &renamed), VISIT_UNCHANGED);
    finish(&b);
    check_search("fresh", "http://a.example/");
    check_search("old", "");
    close_bench(&b);
}

static void other_fields_alone_reach_the_index(void **state)
{
    (void)state;
    struct bench b = open_bench();
    const struct summary_field old[] = {{SPAN_INIT("price"), SPAN_INIT("1")},
                                        {SPAN_INIT("Not a name"), SPAN_INIT("1")}};
    const struct summary_field new[] = {{SPAN_INIT("price"), SPAN_INIT("2")}};
    struct summary s = page(1, "http://a.example/", "Shop", "The same text.");
    s.fields = old;
    s.field_count = 2;
    put(&b, &s);
    finish(&b);
    check_search("field:price=1", "http://a.example/");
    s.fetch_number = 2;
    assert_int_equal(put(&b, &s), VISIT_UNCHANGED);
    s.fetch_number = 3;
    s.fields = new;
    s.field_count = 1;
    assert_int_equal(put(&b, &s), VISIT_CHANGED);
    finish(&b);
    check_search("field:price=1", "");
    check_search("same field:price=2", "http://a.example/");
    s.fetch_number = 2; /* an old visit again */
    s.fields = old;
    put(&b, &s);
    finish(&b);
    check_search("field:price=2", "http://a.example/");
    s.fetch_number = 4;
    s.field_count = 0;
    assert_int_equal(put(&b, &s), VISIT_CHANGED);
    finish(&b);
    check_search("field:price", "");
    check_search("same", "http://a.example/");
    close_bench(&b);
    check_verify("after all that", false, true, false);
}

/* Also when it is indexed again because of links to it, and when the index is made anew. */
static void fields_and_words_without_order_stay(void **state)
{
    (void)state;
    struct bench b = open_bench();
    const struct summary_field fields[] = {{SPAN_INIT("kind"), SPAN_INIT("Map")}};
    struct summary s = page(1, "http://a.example/bag", "Bag", "blue whale blue ");
    s.fields = fields;
    s.field_count = 1;
    s.is_keywords = true;
    put(&b, &s);
    finish(&b);
    const struct summary_link links[] = {{.url = SPAN_INIT("http://a.example/bag"), .text = SPAN_INIT("sack")}};
    s = page(2, "http://a.example/", "Home", "Somewhere else.");
    s.links = links;
    s.link_count = 1;
    put(&b, &s);
    finish(&b);
    for (int turn = 0; turn < 2; turn++) {
        check_search("whale sack field:kind=map", "http://a.example/bag");
        check_search("\"blue whale\"", "");
        check_search("\"whale blue\"", "");
        close_bench(&b);
        struct buf dir = {0};
        apply_index_dir(test_folder(), &dir);
        CHECK_STATUS("erase", index_erase(dir.p), ST_OK);
        buf_done(&dir);
        b = open_bench();
        finish(&b);
    }
    close_bench(&b);
}

static void link_texts_find_their_target(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct summary target = page(1, "http://a.example/target", "Untitled", "Nothing of interest here.");
    put(&b, &target);
    finish(&b);
    check_search("quagga", "");
    const struct summary_link links[] = {
        {.url = SPAN_INIT("http://a.example/target"), .text = SPAN_INIT("the last quagga"), .kind = LINK_A},
        {.url = SPAN_INIT("http://a.example/target"), .text = SPAN_INIT("okapi"), .kind = LINK_A, .rel = REL_NOFOLLOW},
    };
    struct summary source = page(2, "http://b.example/", "Zoo", "A list of links.");
    source.links = links;
    source.link_count = 2;
    put(&b, &source);
    finish(&b);
    check_search("quagga", "http://a.example/target");
    check_search("okapi", "");
    check_search("interest", "http://a.example/target"); /* and its own words still do */
    check_stored("http://a.example/target", "Untitled", "Nothing of interest here.");
    close_bench(&b);
    check_verify("one document a page", false, true, false);
}

static void dates_of_lists_are_kept_by_page(void **state)
{
    (void)state;
    struct bench b = open_bench();
    const struct summary_link links[] = {
        {.url = SPAN_INIT("http://a.example/1"), .text = SPAN_INIT("2023-01-02T03:04:05Z"), .kind = LINK_LISTED},
        {.url = SPAN_INIT("http://a.example/2"), .text = SPAN_INIT("2099-01-01T00:00:00Z"), .kind = LINK_LISTED},
        {.url = SPAN_INIT("http://a.example/3"), .text = SPAN_INIT("2023-01-02T03:04:05Z"), .kind = LINK_A},
    };
    struct summary list = page(1, "http://a.example/sitemap.xml", "", "");
    list.is_html = false;
    list.page_flags = PAGE_NOINDEX | PAGE_LIST;
    list.links = links;
    list.link_count = 3;
    put(&b, &list);
    put(&b, &list); /* as after a kill */
    finish(&b);
    wall_ms at = 0;
    const struct sip_key *key = store_key(b.store);
    CHECK_STATUS("told", store_listed_get(b.store, siphash(key, links[0].url), &at), ST_OK);
    assert_int_equal(at, 1672628645000);
    CHECK_STATUS("not yet", store_listed_get(b.store, siphash(key, links[1].url), &at), ST_NOT_FOUND);
    CHECK_STATUS("a name", store_listed_get(b.store, siphash(key, links[2].url), &at), ST_NOT_FOUND);
    check_search("2023", "");
    close_bench(&b);
}

static void put_many(struct bench *b, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i <= to; i++) {
        char url[64], title[64], text[400];
        snprintf(url, sizeof(url), "http://a.example/%llu", (unsigned long long)i);
        snprintf(title, sizeof(title), "Page number%llu", (unsigned long long)i);
        snprintf(text, sizeof(text),
                 "This page has the number%llu and a few sentences around it, so that there is something to compress "
                 "and to learn a dictionary from; every one of them ends in word%llu. It is not a long text, yet long "
                 "enough to be a sample for the dictionary.",
                 (unsigned long long)i, (unsigned long long)i % 7);
        struct summary s = page(i, url, title, text);
        put(b, &s);
    }
}

static void what_was_committed_is_indexed_after_a_kill(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct bench b = open_bench();
        put_many(&b, 1, 400); /* enough for a dictionary */
        if (apply_commit(b.apply) != ST_OK)
            _exit(1);
        put_many(&b, 401, 450); /* never committed */
        kill(getpid(), SIGKILL);
    }
    int how = 0;
    waitpid(child, &how, 0);
    assert_true(WIFSIGNALED(how));
    struct apply_start start;
    struct bench b = open_with(&start);
    assert_int_equal(start.caught_up, 400);
    check_search("number400", "http://a.example/400");
    check_search("number401", "");
    put_many(&b, 380, 500); /* the journal is replayed */
    finish(&b);
    check_search("number401", "http://a.example/401");
    check_search("number390", "http://a.example/390");
    close_bench(&b);
    check_verify("after the kill", false, true, false);
}

static void damage(const char *suffix)
{
    char dir[TEST_PATH], path[TEST_PATH * 2];
    test_path(dir, "index");
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (!span_ends(span_str(e->d_name), span_str(suffix)))
            continue;
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        struct buf content = {0};
        CHECK_STATUS(path, file_read(path, 1u << 26, &content), ST_OK);
        for (size_t i = content.n / 3; i < content.n / 3 + 16; i++)
            content.p[i] = (char)(content.p[i] ^ 0x55);
        CHECK_STATUS(path, file_replace(path, buf_span(&content)), ST_OK);
        buf_done(&content);
    }
    closedir(d);
}

static void a_damaged_index_is_noticed_and_made_anew(void **state)
{
    (void)state;
    static const char *const kinds[] = {".docs", ".keys", ".dict", ".post", ".pos", "manifest"};
    struct bench b = open_bench();
    put_many(&b, 1, 350);
    finish(&b);
    close_bench(&b);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        damage(kinds[i]);
        check_verify(kinds[i], false, false, false);
        check_verify(kinds[i], true, true, true);
        check_search("number300", "http://a.example/300");
        check_verify(kinds[i], false, true, false);
    }
}

static void a_missing_index_is_made_anew_when_the_folder_is_opened(void **state)
{
    (void)state;
    struct bench b = open_bench();
    put_many(&b, 1, 320);
    finish(&b);
    close_bench(&b);
    char dir[TEST_PATH];
    test_path(dir, "index");
    CHECK_STATUS("erase", index_erase(dir), ST_OK);
    struct apply_start start;
    b = open_with(&start);
    assert_true(start.was_rebuilt);
    assert_int_equal(start.caught_up, 320);
    close_bench(&b);
    check_search("number7", "http://a.example/7");
    check_verify("rebuilt", false, true, false);
}

/* Some damage shows only when pages that the index has go in again: here those that were stored before a kill. */
static void damage_that_shows_while_the_index_catches_up_is_mended(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct bench b = open_bench();
        put_many(&b, 1, 300);
        finish(&b);
        struct summary s =
            page(1000, "http://a.example/20", "Page number20", "Other words now, and novelty among them");
        put(&b, &s);
        if (apply_commit(b.apply) != ST_OK)
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    int how = 0;
    waitpid(child, &how, 0);
    assert_true(WIFSIGNALED(how));
    damage(".keys");
    struct apply_start start;
    struct bench b = open_with(&start);
    CHECK("made anew", start.was_rebuilt);
    close_bench(&b);
    check_search("number300", "http://a.example/300");
    check_search("novelty", "http://a.example/20");
    check_verify("made anew", false, true, false);
}

static void a_lost_text_is_fetched_again(void **state)
{
    (void)state;
    struct bench b = open_bench();
    put_many(&b, 1, 40);
    finish(&b);
    close_bench(&b);
    char path[TEST_PATH];
    test_path(path, "contents/0000000000000001");
    struct buf content = {0};
    CHECK_STATUS("read", file_read(path, 1u << 26, &content), ST_OK);
    CHECK_STATUS("cut", file_replace(path, span_cut(buf_span(&content), 0, content.n * 3 / 4)), ST_OK);
    buf_done(&content);
    check_verify("lost", false, false, false);
    check_verify("marked", true, true, true);
    check_verify("consistent again", false, true, false);
    check_search("number1", "http://a.example/1");
    check_search("number40", "");
    b = open_bench();
    put_many(&b, 41, 41);
    struct summary again = page(42, "http://a.example/40", "Page number40", "This page is back: number40.");
    put(&b, &again);
    finish(&b);
    check_search("number40", "http://a.example/40");
    close_bench(&b);
}

static void without_an_index_nothing_is_kept(void **state)
{
    (void)state;
    struct bench b = {0};
    CHECK_STATUS("store", store_open(test_folder(), STORE_WRITE, &b.store, NULL), ST_OK);
    struct apply_opts o = {.store = b.store, .no_index = true};
    CHECK_STATUS("open", apply_open(&o, &b.apply, NULL, NULL), ST_OK);
    put_many(&b, 1, 3);
    finish(&b);
    close_bench(&b);
    char path[TEST_PATH];
    test_path(path, "contents");
    assert_int_not_equal(access(path, F_OK), 0);
    check_verify("nothing to check", false, true, false);
    /* The same pages with an index: their contents were lacking, so they count as new to it. */
    b = open_bench();
    put_many(&b, 4, 4);
    struct summary again = page(5, "http://a.example/1", "Page number1", "This page has the number1.");
    put(&b, &again);
    finish(&b);
    check_search("number1", "http://a.example/1");
    close_bench(&b);
}

/* ---- files that nobody has read ---- */

static struct summary file(uint64_t number, const char *url, const char *type, uint64_t bytes)
{
    struct summary s = page(number, url, "", "");
    s.is_html = false;
    s.digest = s.text_bytes = 0;
    s.lang = (struct span){0};
    s.content_type = span_str(type);
    s.body_bytes = bytes;
    return s;
}

static void files_are_found_by_name_type_and_links(void **state)
{
    struct bench b = open_bench();
    const struct summary_link link = {
        .url = SPAN("http://a.example/x/data%201.zip"), .text = SPAN("Last year's invoices"), .kind = LINK_A};
    struct summary about = page(1, "http://a.example/", "Data 1", "What is in data 1 and why");
    about.links = &link;
    about.link_count = 1;
    struct summary zip = file(2, "http://a.example/x/data%201.zip", "application/zip", 1234567);
    struct summary odd = file(3, "http://a.example/odd", "application/x-odd; v=1", 0);
    odd.title = SPAN("quarterly.odd");
    struct summary gone = file(4, "http://a.example/gone.zip", "application/zip", 5);
    gone.http_status = 404;
    struct summary hidden = file(5, "http://a.example/hidden.zip", "application/zip", 5);
    hidden.page_flags = PAGE_NOINDEX;
    put(&b, &about);
    put(&b, &zip);
    put(&b, &odd);
    put(&b, &gone);
    put(&b, &hidden);
    finish(&b);
    check_search("type:zip", "http://a.example/x/data%201.zip");
    check_search("type:archive", "http://a.example/x/data%201.zip");
    check_search("invoices", "http://a.example/x/data%201.zip");
    check_search("zip archive", "http://a.example/x/data%201.zip");
    check_search("quarterly.odd", "http://a.example/odd");
    check_search("type:html", "http://a.example/");
    check_search("data 1", "http://a.example/ http://a.example/x/data%201.zip"); /* what says something comes first */
    check_stored("http://a.example/x/data%201.zip", "data 1.zip", "ZIP archive, 1.2 MB");
    check_stored("http://a.example/odd", "quarterly.odd", "file of type application/x-odd");

    /* The same again is no change; another size is. */
    zip.fetch_number = 6;
    assert_int_equal(put(&b, &zip), VISIT_UNCHANGED);
    zip.fetch_number = 7;
    zip.body_bytes = 2000;
    assert_int_equal(put(&b, &zip), VISIT_CHANGED);
    finish(&b);
    check_stored("http://a.example/x/data%201.zip", "data 1.zip", "ZIP archive, 2.0 kB");
    check_search("invoices", "http://a.example/x/data%201.zip");
    close_bench(&b);
}

static void files_can_be_left_out(void **state)
{
    struct bench b = {0};
    struct buf why = {0};
    CHECK_STATUS("store", store_open(test_folder(), STORE_WRITE, &b.store, &why), ST_OK);
    CHECK_STATUS("apply",
                 apply_open(&(struct apply_opts){.store = b.store, .no_documents = true}, &b.apply, NULL, &why), ST_OK);
    const struct summary zip = file(1, "http://a.example/a.zip", "application/zip", 10);
    put(&b, &zip);
    finish(&b);
    check_search("type:zip", "");
    close_bench(&b);
    buf_done(&why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_page_is_found_until_it_goes),
        TEST_IN_FOLDER(a_new_title_alone_reaches_the_index),
        TEST_IN_FOLDER(other_fields_alone_reach_the_index),
        TEST_IN_FOLDER(fields_and_words_without_order_stay),
        TEST_IN_FOLDER(link_texts_find_their_target),
        TEST_IN_FOLDER(dates_of_lists_are_kept_by_page),
        TEST_IN_FOLDER(what_was_committed_is_indexed_after_a_kill),
        TEST_IN_FOLDER(a_damaged_index_is_noticed_and_made_anew),
        TEST_IN_FOLDER(damage_that_shows_while_the_index_catches_up_is_mended),
        TEST_IN_FOLDER(a_missing_index_is_made_anew_when_the_folder_is_opened),
        TEST_IN_FOLDER(a_lost_text_is_fetched_again),
        TEST_IN_FOLDER(without_an_index_nothing_is_kept),
        TEST_IN_FOLDER(files_are_found_by_name_type_and_links),
        TEST_IN_FOLDER(files_can_be_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
