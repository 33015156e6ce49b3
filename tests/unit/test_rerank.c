/* The closer look at the best pages, what happens when no page has all words, and pages that say the same. */
#include "test.h"

#include "index/segment/rank.h"
#include "index/search/relax.h"
#include "index/search/search.h"
#include "test_folder.h"
#include "test_pages.h"

struct small {
    const char *title, *text, *anchors;
};

static struct index_snapshot *make(const struct small *pages, size_t n)
{
    struct index *ix = NULL;
    struct index_reader *reader = NULL;
    struct index_snapshot *s = NULL;
    struct index_opts io = {.dir = test_folder(), .seed = 3};
    CHECK_STATUS("open", index_open(&io, &ix, NULL), ST_OK);
    for (size_t i = 0; i < n; i++) {
        char url[64];
        struct buf packed = {0}, zipped = {0};
        snprintf(url, sizeof(url), "http://a.example/%zu", i + 1);
        struct content c = {.url = span_str(url), .title = span_str(pages[i].title), .text = span_str(pages[i].text)};
        content_pack(&c, &packed);
        zip_zstd(buf_span(&packed), 1, &zipped);
        struct index_doc d = {.key = i + 1,
                              .fetch_number = 1,
                              .url = c.url,
                              .site = SPAN("a.example"),
                              .lang = SPAN("en"),
                              .title = c.title,
                              .text = c.text,
                              .anchors = span_str(pages[i].anchors),
                              .digest = facts_digest(c.text),
                              .content = buf_span(&zipped)};
        CHECK_STATUS(url, index_add(ix, &d), ST_OK);
        buf_done(&packed);
        buf_done(&zipped);
    }
    CHECK_STATUS("commit", index_commit(ix, 1), ST_OK);
    index_close(ix);
    CHECK_STATUS("reader", index_reader_open(test_folder(), &reader, NULL), ST_OK);
    CHECK_STATUS("snapshot", index_reader_snapshot(reader, &s), ST_OK);
    index_reader_free(reader);
    return s;
}

/* The keys found, best first, as digits; `note` is what the note has to begin with. */
static void check(const struct index_snapshot *s, const char *query, bool plain, const char *want, const char *note)
{
    struct arena a;
    struct search_result r;
    char got[32] = "";
    arena_init(&a);
    struct search_opts o = {
        .query = span_str(query), .now = TEST_NOW, .cpu_ms = -1, .plain = plain, .with_suggestion = true};
    CHECK_STATUS(query, search_run(s, &o, &a, &r), ST_OK);
    for (size_t i = 0; i < r.hit_count && i + 1 < sizeof(got); i++)
        got[i] = (char)('0' + r.hits[i].key);
    if (strcmp(got, want) != 0)
        fail_msg("%s: found %s, want %s", query, got, want);
    if (!span_starts(r.note, span_str(note)) || (!*note && r.note.n))
        fail_msg("%s: note '%.*s', want '%s'", query, SPAN_ARG(r.note), note);
    arena_done(&a);
}

#define FILLER "one two three four five six seven eight nine ten "

static void words_that_stand_together_come_first(void **state)
{
    (void)state;
    static const struct small pages[] = {
        {"A", "copper " FILLER FILLER "kettle end of it all", ""},
        {"B", FILLER "copper kettle " FILLER "end of it all", ""},
        {"C", "kettle " FILLER "copper " FILLER "end of it all", ""},
    };
    struct index_snapshot *s = make(pages, 3);
    check(s, "copper kettle", true, "123", "");
    check(s, "copper kettle", false, "231", "");
    check(s, "copper OR kettle", false, "231", "");
    index_snapshot_free(s);
}

static void a_page_that_is_called_just_that_comes_first(void **state)
{
    (void)state;
    static const struct small pages[] = {
        {"More on ring buffers", "ring buffer ring buffer ring buffer", "a long text on ring buffers"},
        {"Chapter 7", "ring buffer ring buffer", "Ring buffers\nnext"},
        {"Ring buffer", "ring buffer ring buffer ring", "previous"},
    };
    struct index_snapshot *s = make(pages, 3);
    struct arena a;
    struct search_result r;
    arena_init(&a);
    struct search_opts o = {.query = SPAN("ring buffers"), .now = TEST_NOW, .cpu_ms = -1};
    CHECK_STATUS("search", search_run(s, &o, &a, &r), ST_OK);
    assert_int_equal(r.hit_count, 3);
    assert_int_equal(r.hits[2].key, 1); /* it has the words most often, and is called otherwise */
    arena_done(&a);
    index_snapshot_free(s);
}

static void what_no_page_has_is_looked_for_less_strictly(void **state)
{
    (void)state;
    static const struct small pages[] = {
        {"A", "the path of the os is long", ""},
        {"B", "a walrus on the ice", ""},
        {"C", "ice and snow", ""},
    };
    static const char apart[] = "no page has it in a row", some[] = "no page has all the words";
    struct index_snapshot *s = make(pages, 3);
    check(s, "os.path", true, "", "");
    check(s, "os.path", false, "1", apart);
    check(s, "\"os path\"", false, "", "");
    check(s, "walrus snow", true, "", "");
    check(s, "walrus snow", false, "32", some);
    check(s, "walrus snow -ice", false, "", "");
    check(s, "walrus zebra", false, "2", some);
    check(s, "zebra", false, "", "");
    check(s, "walrus snow site:b.example", false, "", "");
    check(s, "walrus snow site:a.example", false, "32", some);
    check(s, "walrus ice", false, "2", "");
    index_snapshot_free(s);
}

static void pages_with_the_same_text_are_one(void **state)
{
    (void)state;
    static const struct small pages[] = {
        {"A", "quartz " FILLER FILLER, ""},
        {"B", "quartz " FILLER FILLER, ""},
        {"C", "quartz " FILLER FILLER "more", ""},
        {"D", "quartz short", ""},
        {"E", "quartz short", ""},
    };
    struct index_snapshot *s = make(pages, 5);
    struct arena a;
    struct search_result r;
    arena_init(&a);
    struct search_opts o = {.query = SPAN("quartz"), .now = TEST_NOW, .cpu_ms = -1};
    CHECK_STATUS("search", search_run(s, &o, &a, &r), ST_OK);
    assert_int_equal(r.total, 5);
    assert_int_equal(r.hit_count, 4);
    unsigned similar = 0;
    for (size_t i = 0; i < r.hit_count; i++)
        similar += r.hits[i].similar;
    assert_int_equal(similar, 1);
    o.no_folding = true;
    CHECK_STATUS("each on its own", search_run(s, &o, &a, &r), ST_OK);
    assert_int_equal(r.hit_count, 5);
    arena_done(&a);
    index_snapshot_free(s);
}

static void relaxing_changes_only_what_it_may(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        bool rows, all;
    } cases[] = {{"one", false, false},         {"one two", false, true},         {"a.b", true, false},
                 {"\"a b\"", false, false},     {"\"a b\" c", false, true},       {"a.b c", true, true},
                 {"one OR two", false, false},  {"site:x.example", false, false}, {"one site:x.example", false, false},
                 {"title:one two", false, true}};
    struct analyzer *an = analyzer_new(1);
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct query q, relaxed;
        struct query_opts o = {0};
        CHECK_STATUS(cases[i].query, query_parse(&a, an, span_str(cases[i].query), &o, &q), ST_OK);
        CHECK(cases[i].query, query_relax(&a, &q, RELAX_ROWS, &relaxed) == cases[i].rows);
        CHECK(cases[i].query, query_relax(&a, &q, RELAX_ALL, &relaxed) == cases[i].all);
    }
    arena_done(&a);
    analyzer_free(an);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(words_that_stand_together_come_first),
        TEST_IN_FOLDER(a_page_that_is_called_just_that_comes_first),
        TEST_IN_FOLDER(what_no_page_has_is_looked_for_less_strictly),
        TEST_IN_FOLDER(pages_with_the_same_text_are_one),
        cmocka_unit_test(relaxing_changes_only_what_it_may),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
