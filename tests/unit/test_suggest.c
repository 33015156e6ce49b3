#include "test.h"

#include "base/buf.h"
#include "index/search/search.h"
#include "index/search/search_json.h"
#include "index/search/suggest.h"
#include "index/search/suggest_near.h"
#include "test_folder.h"
#include "test_pages.h"

/* ---- distance ---- */

static void costs_of_edits(void **state)
{
    static const struct {
        const char *a, *b;
        int cost;
    } cases[] = {
        {"index", "index", 0},
        {"idnex", "index", NEAR_SWAP},
        {"indexx", "index", NEAR_DOUBLE},
        {"tabel", "table", NEAR_SWAP},
        {"comit", "commit", NEAR_DOUBLE},
        {"indx", "index", NEAR_DROP},
        {"indeks", "index", NEAR_DROP + NEAR_CHANGE},
        {"ondex", "index", NEAR_CHANGE},
        {"", "ab", 2 * NEAR_DROP},
        {"индкес", "индекс", NEAR_SWAP},
        {"abc", "xyz", NEAR_NEVER},
        {"index", "indices and more", NEAR_NEVER},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int got = near_cost(span_str(cases[i].a), span_str(cases[i].b), NEAR_TWO);
        int back = near_cost(span_str(cases[i].b), span_str(cases[i].a), NEAR_TWO);
        if (got != cases[i].cost || back != got)
            fail_msg("%s, %s: %d and back %d, want %d", cases[i].a, cases[i].b, got, back, cases[i].cost);
    }
}

/* The recursive definition, without any table. */
static int naive_cost(const char *a, size_t n, const char *b, size_t m)
{
    if (n == 0 && m == 0)
        return 0;
    int best = NEAR_NEVER;
    int drop_a = n > 1 && a[n - 1] == a[n - 2] ? NEAR_DOUBLE : NEAR_DROP;
    int drop_b = m > 1 && b[m - 1] == b[m - 2] ? NEAR_DOUBLE : NEAR_DROP;
    int tries[4] = {NEAR_NEVER, NEAR_NEVER, NEAR_NEVER, NEAR_NEVER};
    if (n)
        tries[0] = naive_cost(a, n - 1, b, m) + drop_a;
    if (m)
        tries[1] = naive_cost(a, n, b, m - 1) + drop_b;
    if (n && m)
        tries[2] = naive_cost(a, n - 1, b, m - 1) + (a[n - 1] == b[m - 1] ? 0 : NEAR_CHANGE);
    if (n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1])
        tries[3] = naive_cost(a, n - 2, b, m - 2) + NEAR_SWAP;
    for (int i = 0; i < 4; i++)
        best = tries[i] < best ? tries[i] : best;
    return best;
}

static void costs_agree_with_the_definition(void **state)
{
    struct rng r;
    rng_seed(&r, 5);
    for (int turn = 0; turn < 2000; turn++) {
        char a[6], b[6];
        size_t n = rng_below(&r, 6), m = rng_below(&r, 6);
        for (size_t i = 0; i < n; i++)
            a[i] = (char)('a' + rng_below(&r, 3));
        for (size_t i = 0; i < m; i++)
            b[i] = (char)('a' + rng_below(&r, 3));
        int want = naive_cost(a, n, b, m), got = near_cost(span_of(a, n), span_of(b, m), NEAR_TWO);
        if (got != (want <= NEAR_TWO ? want : NEAR_NEVER))
            fail_msg("%.*s, %.*s: %d, want %d", (int)n, a, (int)m, b, got, want);
    }
}

/* ---- in an index ---- */

static void add_page(struct index *ix, uint64_t key, const char *lang, const char *title, const char *text)
{
    struct test_page p = {.key = key, .fetch_number = key, .site = SPAN("a.example"), .lang = span_str(lang)};
    char url[64];
    snprintf(url, sizeof(url), "https://a.example/%llu", (unsigned long long)key);
    p.url = span_str(url);
    p.title = span_str(title);
    p.text = span_str(text);
    p.changed = TEST_NOW;
    test_page_add(ix, &p);
}

/* 60 pages in two segments: common words in all of them, others in one. */
static struct index_snapshot *make_index(void)
{
    char path[TEST_PATH];
    test_path(path, "index");
    struct index *ix = test_index_open(path);
    for (uint64_t i = 1; i <= 60; i++) {
        if (i <= 40)
            add_page(ix, i, "en", "Databases", "Running a database of indexes in PostgreSQL with getElementById.");
        else
            add_page(ix, i, "de", "Häuser", "Über die Verzeichnisse der schönen Häuser");
        if (i == 30)
            CHECK_STATUS("commit", index_commit(ix, i), ST_OK);
    }
    add_page(ix, 100, "en", "Rare", "A databsae is a rare misspelling, kept as it was.");
    add_page(ix, 101, "ru", "Указатель", "Полнотекстовый поиск по базе данных");
    CHECK_STATUS("commit", index_commit(ix, 101), ST_OK);
    index_close(ix);
    return test_snapshot(path);
}

static void check_suggestion(const struct index_snapshot *s, const char *query, const char *want)
{
    struct arena a;
    struct search_result r;
    struct search_opts o = {.query = span_str(query), .now = TEST_NOW, .with_suggestion = true, .cpu_ms = -1};
    arena_init(&a);
    CHECK_STATUS(query, search_run(s, &o, &a, &r), ST_OK);
    CHECK_SPAN(query, r.suggestion, span_str(want));
    arena_done(&a);
}

static void puts_words_right(void **state)
{
    static const struct {
        const char *query, *want;
    } cases[] = {
        {"databse", "database"},    /* a letter left out */
        {"databaase", "database"},  /* doubled */
        {"dtaabase", "database"},   /* swapped */
        {"fatabase", "database"},   /* the first letter */
        {"runnign", "running"},     /* which the index has as "run" */
        {"Databse", "Database"},    /* as typed */
        {"databsae", "database"},   /* in one page, the right one in forty */
        {"dattabasse", "database"}, /* two letters */
        {"\"runing databse\" -x", "\"running database\" -x"},
        {"title:databse site:a.example", "title:database site:a.example"},
        {"kunern", ""},       /* "runern" would be "run" in German, and is nobody's "running" */
        {"Hausre", "Häuser"}, /* accents cost nothing */
        {"databaserunning", "database running"},
        {"data base", "database"},
        {"post gresql", "postgresql"},
        {"getElemetnById", "getElementById"},
        {"hauser", ""}, /* accents do not count */
        {"verzeihcnisse", "verzeichnisse"},
        {"полнотекстовый пиоск", "полнотекстовый поиск"},
        {"database", ""}, /* is there */
        {"zzzzzz", ""},   /* nothing near */
        {"ab", ""},       /* too short to tell */
        {"site:b.example", ""},
        {"-databse index", ""}, /* what is left out stays */
        {"1234567", ""},
    };
    struct index_snapshot *s = make_index();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_suggestion(s, cases[i].query, cases[i].want);
    index_snapshot_free(s);
}

static void results_as_json(void **state)
{
    struct index_snapshot *s = make_index();
    struct arena a;
    struct search_result r;
    struct search_opts o = {.query = SPAN("häuser \"schönen\""), .limit = 1, .now = TEST_NOW, .cpu_ms = -1};
    struct buf got = {0};
    arena_init(&a);
    o.with_snippets = o.with_facets = true;
    CHECK_STATUS("search", search_run(s, &o, &a, &r), ST_OK);
    r.cpu_us = 1500;
    CHECK("one hit", r.hit_count == 1);
    r.hits[0].score = 1;
    r.hits[0].key = 0;
    r.hits[0].url = SPAN("https://a.example/41");
    search_json(&r, &o, &got);
    CHECK_SPAN("json", buf_span(&got),
               SPAN("{\"query\":\"häuser \\\"schönen\\\"\",\"offset\":0,\"limit\":1,\"total\":20,"
                    "\"total_is_estimate\":false,\"partial\":false,\"took_ms\":1.500,\"note\":null,\"suggestion\":null,"
                    "\"results\":[{\"rank\":1,\"url\":\"https://a.example/41\",\"site\":\"a.example\","
                    "\"title\":\"Häuser\",\"title_marks\":[[0,6]],"
                    "\"snippet\":\"Über die Verzeichnisse der schönen Häuser\",\"snippet_marks\":[[27,7],[35,6]],"
                    "\"words_only\":false,\"fields\":null,\"type\":null,\"bytes\":null,"
                    "\"lang\":\"de\",\"fetched\":\"2023-11-14T22:13:20Z\",\"changed\":\"2023-11-14T22:13:20Z\","
                    "\"similar\":0,\"score\":1.0000}],"
                    "\"facets\":{\"estimates\":false,\"sites\":[{\"name\":\"a.example\",\"count\":20}],"
                    "\"langs\":[{\"name\":\"de\",\"count\":20}]}}"));
    buf_done(&got);
    arena_done(&a);
    index_snapshot_free(s);
}

static void fields_as_json(void **state)
{
    static const struct {
        const char *label, *want;
        struct summary_field fields[4];
        size_t n;
    } cases[] = {
        {"none", "null", {{SPAN_INIT(""), SPAN_INIT("")}}, 0},
        {"one", "{\"a\":\"1\"}", {{SPAN_INIT("a"), SPAN_INIT("1")}}, 1},
        {"repeated",
         "{\"a\":[\"1\",\"\\\"2\\\"\",\"\"],\"b\":\"x\"}",
         {{SPAN_INIT("a"), SPAN_INIT("1")},
          {SPAN_INIT("b"), SPAN_INIT("x")},
          {SPAN_INIT("a"), SPAN_INIT("\"2\"")},
          {SPAN_INIT("a"), SPAN_INIT("")}},
         4},
        {"hostile", "{\"a\\\":\":\"\xef\xbf\xbd\\u001b\"}", {{SPAN_INIT("a\":"), SPAN_INIT("\xff\x1b")}}, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf got = {0};
        struct json j = {.out = &got};
        search_json_fields(&j, cases[i].fields, cases[i].n);
        CHECK_SPAN(cases[i].label, buf_span(&got), span_str(cases[i].want));
        buf_done(&got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_of_edits), cmocka_unit_test(costs_agree_with_the_definition),
        TEST_IN_FOLDER(puts_words_right), TEST_IN_FOLDER(results_as_json),
        cmocka_unit_test(fields_as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
