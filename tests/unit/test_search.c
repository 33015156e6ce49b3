#include "test.h"

#include <sys/stat.h>

#include "index/segment/rank.h"
#include "index/search/search.h"
#include "index/snapshot.h"
#include "index/search/topk.h"
#include "test_folder.h"
#include "test_pages.h"

/* ---- an index of made-up pages ---- */

struct world {
    struct arena arena;
    struct rng rng;
    struct test_page *pages;
    size_t n;
};

static void world_fields(struct world *w, size_t i)
{
    struct test_page *p = &w->pages[i];
    p->is_keywords = i % 9 == 4;
    if (i % 3 == 0)
        p->fields[p->field_count++] = (struct summary_field){SPAN("price"), test_printf(&w->arena, "%zu.50", i % 10)};
    if (i % 4 == 0)
        p->fields[p->field_count++] = (struct summary_field){SPAN("kind"), i % 8 ? SPAN("Old Map") : SPAN("new")};
}

/* Queries of which some ask for a field as well. */
static void world_query(struct world *w, struct buf *q, int i)
{
    static const char *const filters[] = {" field:price", " field:price=3.50", " -field:kind",
                                          " field:kind=\"old map\"", " field:none"};
    buf_clear(q);
    test_query(&w->rng, q, w->pages, w->n);
    if (i % 4 == 0)
        buf_puts(q, filters[i / 4 % 5]);
}

static void world_make(struct world *w, uint64_t seed, size_t n)
{
    arena_init(&w->arena);
    rng_seed(&w->rng, seed);
    w->n = n;
    w->pages = calloc(n, sizeof(*w->pages));
    for (size_t i = 0; i < n; i++) {
        test_page_make(&w->rng, &w->arena, i * 7919 + 1, i + 1, &w->pages[i]);
        if (rng_below(&w->rng, 4) == 0)
            w->pages[i].group = 1 + rng_below(&w->rng, n / 8);
        world_fields(w, i);
    }
}

static void world_done(struct world *w)
{
    free(w->pages);
    arena_done(&w->arena);
}

/* In one segment, or in many, and the pages forwards or backwards. */
static struct index_snapshot *world_index(const struct world *w, const char *name, size_t a_commit, bool backwards)
{
    char path[TEST_PATH];
    test_path(path, name);
    struct index *ix = test_index_open(path);
    for (size_t i = 0; i < w->n; i++) {
        test_page_add(ix, &w->pages[backwards ? w->n - 1 - i : i]);
        if (i % a_commit == a_commit - 1)
            CHECK_STATUS("commit", index_commit(ix, i), ST_OK);
    }
    CHECK_STATUS("commit", index_commit(ix, w->n), ST_OK);
    index_close(ix);
    return test_snapshot(path);
}

static struct search_result run_as_is(const struct index_snapshot *s, const struct search_opts *o, struct arena *a)
{
    struct search_opts with = *o;
    struct search_result r = {0};
    char label[600];
    with.now = TEST_NOW;
    if (!with.cpu_ms)
        with.cpu_ms = -1;
    snprintf(label, sizeof(label), "%.*s", SPAN_ARG(o->query));
    CHECK_STATUS(label, search_run(s, &with, a, &r), ST_OK);
    return r;
}

/* By the formula alone. */
static struct search_result run(const struct index_snapshot *s, const struct search_opts *o, struct arena *a)
{
    struct search_opts with = *o;
    with.plain = true;
    return run_as_is(s, &with, a);
}

static void check_same_hits(struct span query, const struct search_result *x, const struct search_result *y)
{
    if (x->hit_count != y->hit_count)
        fail_msg("%.*s: %zu hits or %zu", SPAN_ARG(query), x->hit_count, y->hit_count);
    for (size_t i = 0; i < x->hit_count; i++) {
        const struct search_hit *p = &x->hits[i], *q = &y->hits[i];
        if (p->key != q->key || p->score != q->score || p->similar != q->similar)
            fail_msg("%.*s: hit %zu: page %llu, %.17g, %u similar or page %llu, %.17g, %u similar", SPAN_ARG(query), i,
                     (unsigned long long)p->key, p->score, p->similar, (unsigned long long)q->key, q->score,
                     q->similar);
    }
}

static void check_same_facets(struct span query, const struct search_facet *x, unsigned n, const struct search_facet *y,
                              unsigned m)
{
    bool is_same = n == m;
    for (unsigned i = 0; i < n && is_same; i++)
        is_same = span_eq(x[i].name, y[i].name) && x[i].count == y[i].count;
    if (!is_same)
        fail_msg("%.*s: facets differ", SPAN_ARG(query));
}

static void answers_do_not_depend_on_segments(void **state)
{
    struct world w;
    struct buf q = {0};
    struct arena a;
    arena_init(&a);
    world_make(&w, 11, 1200);
    struct index_snapshot *one = world_index(&w, "one", SIZE_MAX, false);
    struct index_snapshot *many = world_index(&w, "many", 131, true);
    CHECK("one segment", one->part_count == 1);
    CHECK("many segments", many->part_count > 5);
    for (int i = 0; i < 400; i++) {
        arena_reset(&a);
        world_query(&w, &q, i);
        struct search_opts o = {.query = buf_span(&q), .with_facets = true, .no_folding = i % 3 == 0};
        struct search_result x = run(one, &o, &a), y = run(many, &o, &a);
        check_same_hits(o.query, &x, &y);
        check_same_facets(o.query, x.sites, x.site_count, y.sites, y.site_count);
        check_same_facets(o.query, x.langs, x.lang_count, y.langs, y.lang_count);
        if (x.total != y.total || x.is_estimate || y.is_estimate)
            fail_msg("%.*s: totals differ", SPAN_ARG(o.query));
    }
    index_snapshot_free(one);
    index_snapshot_free(many);
    buf_done(&q);
    arena_done(&a);
    world_done(&w);
}

static void skipping_changes_nothing(void **state)
{
    struct world w;
    struct buf q = {0};
    struct arena a;
    arena_init(&a);
    world_make(&w, 12, 6000);
    struct index_snapshot *s = world_index(&w, "index", 2500, false);
    for (int i = 0; i < 600; i++) {
        arena_reset(&a);
        world_query(&w, &q, i);
        struct search_opts o = {.query = buf_span(&q), .no_folding = i % 2, .limit = i % 5 ? 10 : 3};
        struct search_result quick = run(s, &o, &a);
        o.exhaustive = true;
        struct search_result slow = run(s, &o, &a);
        check_same_hits(o.query, &quick, &slow);
        if (slow.is_estimate || (!quick.is_estimate && quick.total != slow.total))
            fail_msg("%.*s: %llu pages, looked at all %llu", SPAN_ARG(o.query), (unsigned long long)quick.total,
                     (unsigned long long)slow.total);
    }
    index_snapshot_free(s);
    buf_done(&q);
    arena_done(&a);
    world_done(&w);
}

static void another_rank_gives_another_order(void **state)
{
    struct world w;
    struct arena a;
    arena_init(&a);
    world_make(&w, 13, 1500);
    struct index_snapshot *s = world_index(&w, "index", SIZE_MAX, false);
    struct search_opts o = {.query = SPAN("index OR run OR keloba"), .rank = &rank_plain, .no_folding = true};
    struct search_result plain = run(s, &o, &a);
    o.exhaustive = true;
    struct search_result slow = run(s, &o, &a);
    check_same_hits(o.query, &plain, &slow);
    o.rank = NULL;
    struct search_result usual = run(s, &o, &a);
    CHECK("same pages", usual.total == plain.total && !plain.is_estimate);
    CHECK("other scores", usual.hits[0].score != plain.hits[0].score);
    index_snapshot_free(s);
    arena_done(&a);
    world_done(&w);
}

static void check_pages(const struct index_snapshot *s, const char *query, bool plain, struct arena *a)
{
    struct search_opts o = {.query = span_str(query), .limit = 140, .plain = plain};
    struct search_result all = run_as_is(s, &o, a);
    CHECK(query, all.hit_count > 40);
    o.limit = 7;
    for (; o.offset + o.limit <= 140; o.offset += o.limit) {
        struct search_result part = run_as_is(s, &o, a);
        size_t left = all.hit_count > o.offset ? all.hit_count - o.offset : 0;
        CHECK(query, part.hit_count == (left < o.limit ? left : o.limit));
        CHECK(query, part.total == all.total);
        for (size_t k = 0; k < part.hit_count; k++)
            if (part.hits[k].key != all.hits[o.offset + k].key)
                fail_msg("%s: %s, from %u on: hit %zu is another", query, plain ? "plain" : "closer", o.offset, k);
    }
}

static void pages_of_results_join_up(void **state)
{
    static const char *const queries[] = {"tokeba",
                                          "tokeba vikeba",
                                          "tokeba OR vikeba OR index",
                                          "\"tokeba vikeba\"",
                                          "\"tokeba vikeba\" OR run",
                                          "site:example.org"};
    struct world w;
    struct arena a;
    arena_init(&a);
    world_make(&w, 14, 900);
    struct index_snapshot *s = world_index(&w, "index", 300, false);
    for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
        check_pages(s, queries[i], true, &a);
        check_pages(s, queries[i], false, &a);
    }
    index_snapshot_free(s);
    arena_done(&a);
    world_done(&w);
}

/* Whether the time runs out depends on the machine; what is said then does not. */
static void says_when_its_time_is_up(void **state)
{
    struct world w;
    struct buf q = {0};
    struct arena a;
    arena_init(&a);
    world_make(&w, 15, 3000);
    struct index_snapshot *s = world_index(&w, "index", 1000, false);
    for (int i = 0; i < 60; i++)
        buf_printf(&q, "%s%s", i ? " OR " : "", i % 2 ? "\"kelo baloba\"" : test_words[i / 2 % TEST_WORDS]);
    struct search_opts o = {.query = buf_span(&q), .exhaustive = true};
    struct search_result all = run(s, &o, &a);
    o.cpu_ms = 1;
    struct search_result quick = run(s, &o, &a);
    CHECK("all", !all.is_partial && !all.is_estimate);
    if (quick.is_partial)
        CHECK("partial", quick.hit_count <= all.hit_count && (quick.is_estimate || quick.total == all.total));
    else
        check_same_hits(o.query, &all, &quick);
    index_snapshot_free(s);
    buf_done(&q);
    arena_done(&a);
    world_done(&w);
}

/* ---- facets and totals against counting by hand ---- */

static uint64_t count_of(const struct search_facet *f, unsigned n, struct span name)
{
    for (unsigned i = 0; i < n; i++)
        if (span_eq(f[i].name, name))
            return f[i].count;
    return 0;
}

static void facets_count_all_pages(void **state)
{
    struct world w;
    struct arena a;
    uint64_t de = 0, s3 = 0, live = 0;
    char path[TEST_PATH];
    arena_init(&a);
    world_make(&w, 16, 800);
    for (size_t i = 0; i < w.n; i++)
        w.pages[i].title = test_printf(&w.arena, "everywhere %.*s", SPAN_ARG(w.pages[i].title));
    index_snapshot_free(world_index(&w, "index", 300, false));
    test_path(path, "index");
    struct index *ix = test_index_open(path);
    for (size_t i = 0; i < w.n; i++) {
        if (i % 5 == 0) {
            CHECK_STATUS("delete", index_delete(ix, w.pages[i].key, w.n + 1 + i), ST_OK);
            continue;
        }
        live++;
        de += span_is(w.pages[i].lang, "de");
        s3 += span_is(w.pages[i].site, "s3.example.org");
    }
    CHECK_STATUS("commit", index_commit(ix, 2 * w.n), ST_OK);
    struct index_snapshot *s = test_snapshot(path);
    static const char *const queries[] = {"everywhere", "title:everywhere", "everywhere OR keloba", "everywhere -qqqq"};
    for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
        struct search_result r = run(s, &(struct search_opts){.query = span_str(queries[i]), .with_facets = true}, &a);
        CHECK(queries[i], r.total == live && !r.is_estimate && !r.facets_are_estimates);
        CHECK(queries[i], count_of(r.langs, r.lang_count, SPAN("de")) == de);
        CHECK(queries[i], count_of(r.sites, r.site_count, SPAN("s3.example.org")) == s3);
        for (unsigned k = 1; k < r.site_count; k++)
            CHECK(queries[i], r.sites[k - 1].count >= r.sites[k].count);
    }
    index_snapshot_free(s);
    index_close(ix);
    arena_done(&a);
    world_done(&w);
}

/* Far more pages than an exact count is made of: the estimate is marked, and near. */
static void large_totals_are_estimates_and_near(void **state)
{
    enum { MANY = 60000 };
    struct arena a;
    struct rng r;
    char path[TEST_PATH];
    arena_init(&a);
    rng_seed(&r, 17);
    test_path(path, "index");
    struct index *ix = test_index_open(path);
    for (uint64_t i = 0; i < MANY; i++) {
        arena_reset(&a);
        bool x = rng_below(&r, 2), y = rng_below(&r, 4) > 0;
        uint64_t site = rng_below(&r, 6) / 2 % 3;
        struct test_page p = {.key = i + 1, .fetch_number = 1, .changed = TEST_NOW};
        p.url = test_printf(&a, "https://a%d.example/%d", (int)site, (int)i);
        p.site = test_printf(&a, "a%d.example", (int)site);
        p.text = test_printf(&a, "%s%s%s%s filler", x ? "left " : "", y ? "right " : "", x && y ? "left right " : "",
                             rng_below(&r, 2) ? "left" : "right");
        test_page_add(ix, &p);
    }
    CHECK_STATUS("commit", index_commit(ix, 1), ST_OK);
    struct index_snapshot *s = test_snapshot(path);
    struct search_opts o = {.query = SPAN("\"left right left\""), .with_facets = true};
    struct search_result about = run(s, &o, &a);
    o.exhaustive = true;
    struct search_result all = run(s, &o, &a);
    check_same_hits(o.query, &about, &all);
    CHECK("all", !all.is_estimate);
    CHECK("about", about.is_estimate && about.facets_are_estimates);
    if (about.total < all.total * 0.9 || about.total > all.total * 1.1)
        fail_msg("about %llu, in truth %llu", (unsigned long long)about.total, (unsigned long long)all.total);
    for (int i = 0; i < 3; i++) {
        double found = (double)count_of(about.sites, about.site_count, test_printf(&a, "a%d.example", i));
        CHECK("sites", found > 0.8 * (double)all.total / 3 && found < 1.2 * (double)all.total / 3);
    }
    struct search_result one = run(s, &(struct search_opts){.query = SPAN("filler")}, &a);
    CHECK("one word is counted by its list", one.total == MANY && !one.is_estimate);
    index_snapshot_free(s);
    index_close(ix);
    arena_done(&a);
}

/* ---- a few pages by hand ---- */

static const struct test_page hand[] = {
    {.key = 1,
     .url = SPAN_INIT("https://www.python.org/doc/tutorial.html"),
     .site = SPAN_INIT("www.python.org"),
     .lang = SPAN_INIT("en"),
     .title = SPAN_INIT("The tutorial"),
     .text = SPAN_INIT("Snakes are running. The quick brown fox jumps over the lazy dog."),
     .changed = 1577836800000 /* 2020-01-01 */},
    {.key = 2,
     .url = SPAN_INIT("https://docs.python.org/3/reference/"),
     .site = SPAN_INIT("docs.python.org"),
     .lang = SPAN_INIT("en"),
     .text = SPAN_INIT("See pg_stat_activity for a quick fox. He ran and runs brown things."),
     .changed = 1609459200000 /* 2021-01-01 */},
    {.key = 3,
     .url = SPAN_INIT("http://localhost.example:8080/a%20b?x=1"),
     .site = SPAN_INIT("localhost.example:8080"),
     .lang = SPAN_INIT("de"),
     .title = SPAN_INIT("Häuser am See"),
     .text = SPAN_INIT("Die Häuser stehen am See. pg stat activity. fox brown quick."),
     .changed = 1640995200000 /* 2022-01-01 */},
    {.key = 4,
     .url = SPAN_INIT("https://jp.example/"),
     .site = SPAN_INIT("jp.example"),
     .lang = SPAN_INIT("ja"),
     .title = SPAN_INIT("東京都"),
     .text = SPAN_INIT("東京都の電車。大阪も。"),
     .changed = 1672531200000 /* 2023-01-01 */,
     .flags = PAGE_NOSNIPPET},
    {.key = 5,
     .url = SPAN_INIT("https://www.python.org/brown"),
     .site = SPAN_INIT("www.python.org"),
     .title = SPAN_INIT("quick brown"),
     .anchors = SPAN_INIT("the lazy\ndog house"),
     .text = SPAN_INIT("nothing here"),
     .changed = 1704067200000 /* 2024-01-01 */,
     .fields = {{SPAN_INIT("author"), SPAN_INIT("J\u00f6rg  O'NEILL")},
                {SPAN_INIT("price"), SPAN_INIT("12.50")},
                {SPAN_INIT("Bad Name"), SPAN_INIT("x")}},
     .field_count = 3},
    {.key = 6,
     .url = SPAN_INIT("https://bag.example/x"),
     .site = SPAN_INIT("bag.example"),
     .lang = SPAN_INIT("en"),
     .title = SPAN_INIT("Bag of words"),
     .description = SPAN_INIT("What the whale says of itself."),
     .text = SPAN_INIT("blue whale whale blue get_krill 名古屋 whale "),
     .is_keywords = true,
     .fields = {{SPAN_INIT("price"), SPAN_INIT("12.5")},
                {SPAN_INIT("price"), SPAN_INIT("-3")},
                {SPAN_INIT("empty"), SPAN_INIT("")}},
     .field_count = 3},
    {.key = 7,
     .url = SPAN_INIT("https://bag.example/y"),
     .site = SPAN_INIT("bag.example"),
     .lang = SPAN_INIT("en"),
     .title = SPAN_INIT("In order"),
     .text = SPAN_INIT("blue whale and other animals of the sea that eat krill all of the day")},
};

static struct index_snapshot *hand_index(void)
{
    char path[TEST_PATH];
    test_path(path, "hand");
    struct index *ix = test_index_open(path);
    for (size_t i = 0; i < sizeof(hand) / sizeof(*hand); i++) {
        struct test_page p = hand[i];
        p.fetch_number = i + 1;
        test_page_add(ix, &p);
        if (i % 2)
            CHECK_STATUS("commit", index_commit(ix, i), ST_OK);
    }
    CHECK_STATUS("commit", index_commit(ix, 9), ST_OK);
    index_close(ix);
    return test_snapshot(path);
}

static int compare_chars(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

static void finds_what_is_asked_for(void **state)
{
    static const struct {
        const char *query, *keys; /* of the pages found, ascending */
    } cases[] = {
        {"fox", "123"},
        {"quick fox", "123"},
        {"\"quick brown\"", "15"},
        {"\"brown fox\"", "1"},
        {"\"quick brown fox jumps\"", "1"},
        {"\"fox quick\"", ""},
        {"fox -snakes", "23"},
        {"fox -\"quick brown\"", "23"},
        {"fox -pg -snakes", ""},
        {"snakes OR see", "123"},
        {"brown snakes OR pg_stat_activity", "12"},
        {"running", "12"}, /* stems: runs; ran is another word */
        {"hauser", "3"},
        {"title:brown", "5"},
        {"title:quick title:brown", "5"},
        {"title:\"quick brown\"", "5"},
        {"title:\"brown quick\"", ""},
        {"brown -title:brown", "123"},
        {"url:brown", "5"},
        {"url:reference", "2"},
        {"site:python.org", "125"},
        {"site:docs.python.org", "2"},
        {"fox site:python.org", "12"},
        {"fox -site:python.org", "3"},
        {"site:localhost.example", "3"},
        {"lang:de", "3"},
        {"fox lang:en", "12"},
        {"fox after:2020", "23"},
        {"fox before:2021", "1"},
        {"fox after:2020 before:2022", "2"},
        {"pg_stat_activity", "2"}, /* the whole, since a page has it */
        {"stat activity", "23"},
        {"\"pg stat\"", "23"},
        {"pg_stat", "23"}, /* no page has that whole: its parts in a row */
        {"東京", "4"},
        {"東", "4"}, /* begins a pair */
        {"都", "4"},
        {"大", "4"},
        {"京東", ""},
        {"\"lazy dog\"", "1"}, /* two anchors are two texts */
        {"\"lazy dog\" OR \"dog house\"", "15"},
        {"nosuchword", ""},
        {"fox nosuchword", ""},
        {"fox OR nosuchword", "123"},
        {"\"fox nosuchword\" OR snakes", "1"},
        {"blue whale", "67"},
        {"\"blue whale\"", "7"}, /* words without their order are in no row */
        {"\"whale blue\"", ""},
        {"\"whale whale\"", ""},
        {"\"bag of words\"", "6"}, /* a title has an order */
        {"get_krill", "6"},        /* within a word there is one, too */
        {"名古屋", "6"},
        {"field:price", "56"},
        {"field:Price=12.50", "5"},
        {"field:price=12.5", "6"},
        {"field:price=-3", "6"},
        {"field:price=3", ""},
        {"field:author=\"jorg o'neill\"", "5"},
        {"field:\"author=JÖRG O'Neill\"", "5"},
        {"field:author=jorg", ""},
        {"field:author field:price", "5"},
        {"field:author OR field:empty", "56"},
        {"field:empty=", "6"},
        {"brown field:price", "5"},
        {"whale -field:price", "7"},
        {"field:bad", ""},
    };
    struct index_snapshot *s = hand_index();
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char got[16] = "";
        arena_reset(&a);
        struct search_result r = run(s, &(struct search_opts){.query = span_str(cases[i].query)}, &a);
        for (size_t k = 0; k < r.hit_count && k + 1 < sizeof(got); k++)
            got[k] = (char)('0' + r.hits[k].key);
        qsort(got, r.hit_count, 1, compare_chars);
        if (strcmp(got, cases[i].keys) != 0 || r.total != strlen(cases[i].keys) || r.is_estimate || r.is_partial)
            fail_msg("%s: found %s of %llu, want %s", cases[i].query, got, (unsigned long long)r.total, cases[i].keys);
    }
    index_snapshot_free(s);
    arena_done(&a);
}

static void hits_show_pages(void **state)
{
    struct index_snapshot *s = hand_index();
    struct arena a;
    arena_init(&a);
    struct search_opts o = {.with_snippets = true};
    o.query = SPAN("snakes");
    struct search_result r = run(s, &o, &a);
    CHECK_SPAN("title", r.hits[0].title.text, SPAN("The tutorial"));
    CHECK_SPAN("url", r.hits[0].url, hand[0].url);
    CHECK_SPAN("site", r.hits[0].site, hand[0].site);
    CHECK_SPAN("lang", span_str(r.hits[0].lang), SPAN("en"));
    CHECK("changed", r.hits[0].changed == hand[0].changed);
    CHECK("marks", r.hits[0].snippet.mark_count == 1);
    CHECK_SPAN("marked",
               span_cut(r.hits[0].snippet.text, r.hits[0].snippet.marks[0].at, r.hits[0].snippet.marks[0].bytes),
               SPAN("Snakes"));
    o.query = SPAN("pg_stat_activity");
    r = run(s, &o, &a);
    CHECK_SPAN("no title: the URL's last part", r.hits[0].title.text, SPAN("reference"));
    o.query = SPAN("大阪");
    r = run(s, &o, &a);
    CHECK_SPAN("title", r.hits[0].title.text, SPAN("東京都"));
    CHECK("the page wants no snippet", r.hits[0].snippet.text.n == 0);
    o.with_snippets = false;
    o.query = SPAN("snakes");
    r = run(s, &o, &a);
    CHECK("no snippet asked for", r.hits[0].snippet.text.n == 0 && r.hits[0].title.text.n > 0);
    index_snapshot_free(s);
    arena_done(&a);
}

static void hits_show_fields_and_what_is_known_by_words(void **state)
{
    struct index_snapshot *s = hand_index();
    struct arena a;
    arena_init(&a);
    struct search_opts o = {.with_snippets = true, .query = SPAN("krill field:price")};
    struct search_result r = run(s, &o, &a);
    CHECK("one", r.hit_count == 1 && r.hits[0].is_keywords);
    CHECK_SPAN("no text is made of words", r.hits[0].snippet.text, SPAN("What the whale says of itself."));
    CHECK("fields", r.hits[0].field_count == 3);
    CHECK_SPAN("name", r.hits[0].fields[1].name, SPAN("price"));
    CHECK_SPAN("value", r.hits[0].fields[1].value, SPAN("-3"));
    o.query = SPAN("quick fox");
    r = run(s, &o, &a);
    CHECK("none", r.hit_count == 3 && !r.hits[0].field_count && !r.hits[0].is_keywords && r.hits[0].snippet.text.n);
    index_snapshot_free(s);
    arena_done(&a);
}

/* The closer look is the same as none for a page whose words have no order. */
static void words_without_order_are_never_close(void **state)
{
    struct index_snapshot *s = hand_index();
    struct arena a;
    arena_init(&a);
    struct search_opts o = {.query = SPAN("whale blue")};
    struct search_result plain = run(s, &o, &a), closer = run_as_is(s, &o, &a);
    CHECK("both", plain.hit_count == 2 && closer.hit_count == 2);
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 2; k++)
            if (plain.hits[i].key == closer.hits[k].key)
                CHECK("score", (plain.hits[i].score == closer.hits[k].score) == (plain.hits[i].key == 6));
    index_snapshot_free(s);
    arena_done(&a);
}

static void refuses_what_is_no_query(void **state)
{
    char longest[SEARCH_QUERY_MAX + 2];
    struct index_snapshot *s = hand_index();
    struct arena a;
    arena_init(&a);
    memset(longest, 'a', sizeof(longest));
    const struct {
        const char *label;
        struct search_opts o;
        status want;
    } cases[] = {
        {"empty", {.query = SPAN("")}, ST_INVALID},
        {"blanks", {.query = SPAN("  ")}, ST_INVALID},
        {"only an exclusion", {.query = SPAN("-fox")}, ST_INVALID},
        {"too long", {.query = span_of(longest, SEARCH_QUERY_MAX + 1)}, ST_LIMIT},
        {"too deep", {.query = SPAN("fox"), .offset = SEARCH_DEPTH_MAX - 9}, ST_LIMIT},
        {"far too deep", {.query = SPAN("fox"), .offset = UINT32_MAX}, ST_LIMIT},
        {"too many", {.query = SPAN("fox"), .limit = SEARCH_DEPTH_MAX + 1}, ST_LIMIT},
        {"as deep as it goes", {.query = SPAN("fox"), .offset = SEARCH_DEPTH_MAX - 10}, ST_OK},
        {"past the last", {.query = SPAN("fox"), .offset = 3}, ST_OK},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct search_result r = {0};
        CHECK_STATUS(cases[i].label, search_run(s, &cases[i].o, &a, &r), cases[i].want);
        CHECK(cases[i].label, r.hit_count == 0);
        if (cases[i].want == ST_INVALID)
            CHECK(cases[i].label, r.note.n > 0);
    }
    index_snapshot_free(s);
    arena_done(&a);
}

static void an_empty_index_has_no_answer(void **state)
{
    char path[TEST_PATH];
    struct arena a;
    arena_init(&a);
    test_path(path, "empty");
    struct index *ix = test_index_open(path);
    CHECK_STATUS("commit", index_commit(ix, 0), ST_OK);
    struct index_snapshot *s = test_snapshot(path);
    struct search_opts o = {.query = SPAN("anything"), .with_facets = true, .with_suggestion = true};
    struct search_result r = run(s, &o, &a);
    CHECK("none", r.total == 0 && r.hit_count == 0 && r.site_count == 0 && !r.is_estimate);
    index_snapshot_free(s);
    index_close(ix);
    arena_done(&a);
}

/* ---- near-duplicates ---- */

/* From page 6 on all are in the group of page 40. */
static uint64_t group_of_some(void *arg, uint64_t key, uint64_t group)
{
    const uint64_t *others = arg;
    return key > others[0] - others[1] ? others[0] : group;
}

static void near_duplicates_are_folded(void **state)
{
    char path[TEST_PATH];
    struct arena a;
    arena_init(&a);
    test_path(path, "index");
    struct index *ix = test_index_open(path);
    for (uint64_t i = 1; i <= 40; i++) {
        struct test_page p = {.key = i, .fetch_number = i, .site = SPAN("a.example"), .changed = TEST_NOW};
        p.url = test_printf(&a, "https://a.example/%d", (int)i);
        struct buf text = {0};
        for (uint64_t k = 1; k <= 40; k++)
            buf_puts(&text, k <= i ? "word " : "other ");
        p.text = arena_copy(&a, buf_span(&text));
        buf_done(&text);
        p.group = i <= 20 ? 7 : i <= 30 ? 8 : 0; /* the best of group 7 is 20, of group 8 is 30 */
        test_page_add(ix, &p);
        if (i % 15 == 0)
            CHECK_STATUS("commit", index_commit(ix, i), ST_OK);
    }
    CHECK_STATUS("commit", index_commit(ix, 40), ST_OK);
    struct index_snapshot *s = test_snapshot(path);
    struct search_opts o = {.query = SPAN("word"), .limit = 20};
    struct search_result r = run(s, &o, &a);
    CHECK("groups and the others", r.hit_count == 12);
    CHECK("total counts pages", r.total == 40 && !r.is_estimate);
    CHECK("the best first", r.hits[0].key == 40 && r.hits[9].key == 31 && r.hits[10].key == 30 && r.hits[11].key == 20);
    CHECK("how many more", r.hits[0].similar == 0 && r.hits[10].similar == 9 && r.hits[11].similar == 19);
    o.offset = 10;
    o.limit = 1;
    r = run(s, &o, &a);
    CHECK("pages after folding", r.hit_count == 1 && r.hits[0].key == 30);
    o.offset = 0;
    o.limit = 40;
    o.no_folding = true;
    r = run(s, &o, &a);
    CHECK("each on its own", r.hit_count == 40 && r.hits[10].similar == 0);
    /* Groups that somebody else knows go before those of the index. */
    uint64_t others[] = {40, 35};
    o = (struct search_opts){.query = SPAN("word"), .limit = 20, .group_of = group_of_some, .group_arg = others};
    r = run(s, &o, &a);
    CHECK("with other groups", r.hit_count == 2 && r.hits[0].key == 40 && r.hits[0].similar == 34);
    CHECK("and those of the index", r.hits[1].key == 5 && r.hits[1].similar == 4);
    o.limit = 1;
    o.offset = 1;
    r = run(s, &o, &a);
    CHECK("pages after these", r.hit_count == 1 && r.hits[0].key == 5);
    o.offset = 0;
    o.no_folding = true;
    o.limit = 40;
    r = run(s, &o, &a);
    CHECK("none of them", r.hit_count == 40);
    index_snapshot_free(s);
    index_close(ix);
    arena_done(&a);
}

/* ---- where there is much to skip ---- */

/* A word's best pages lie together, the others are many and alike: blocks and windows without the best are skipped. */
static void cluster_pages(struct index *ix, struct arena *a, uint64_t pages)
{
    struct rng r;
    rng_seed(&r, 19);
    for (uint64_t i = 0; i < pages; i++) {
        struct test_page p = {.key = i + 1, .fetch_number = 1, .site = SPAN("a.example"), .changed = TEST_NOW};
        struct buf text = {0};
        bool is_good = i % 3000 < 150;
        arena_reset(a);
        for (int k = 0; k < 4; k++)
            if (rng_below(&r, 3))
                buf_printf(&text, "w%d ", k);
        for (uint64_t k = rng_below(&r, 30); k; k--)
            buf_puts(&text, "filler ");
        p.url = test_printf(a, "https://a.example/%d", (int)i);
        if (is_good)
            p.title = test_printf(a, "w%d w%d", (int)rng_below(&r, 4), (int)rng_below(&r, 4));
        p.text = buf_span(&text);
        test_page_add(ix, &p);
        buf_done(&text);
    }
}

static void skips_only_what_is_worse(void **state)
{
    static const char *const queries[] = {
        "w0",          "w0 w1",           "w0 w1 w2 w3", "w0 OR w1",     "w0 OR w1 OR w2 OR w3", "\"w1 w2\"",
        "w0 w1 OR w2", "w0 OR \"w2 w3\"", "w3 -w2",      "w0 OR w1 -w2", "title:w1 w0",          "w0 OR filler"};
    char path[TEST_PATH];
    struct arena a;
    arena_init(&a);
    test_path(path, "index");
    struct index *ix = test_index_open(path);
    cluster_pages(ix, &a, 12000);
    CHECK_STATUS("commit", index_commit(ix, 1), ST_OK);
    for (int round = 0; round < 2; round++) {
        struct index_snapshot *s = test_snapshot(path);
        for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
            arena_reset(&a);
            struct search_opts o = {.query = span_str(queries[i]), .limit = round ? 20 : 5};
            struct search_result quick = run(s, &o, &a);
            o.exhaustive = true;
            struct search_result slow = run(s, &o, &a);
            check_same_hits(o.query, &quick, &slow);
            if (quick.total != slow.total || quick.is_estimate)
                fail_msg("%s: %llu pages, want %llu", queries[i], (unsigned long long)quick.total,
                         (unsigned long long)slow.total);
        }
        index_snapshot_free(s);
        for (uint64_t i = 0; i < 12000; i += 1 + i % 7)
            CHECK_STATUS("delete", index_delete(ix, i + 1, 2), ST_OK);
        CHECK_STATUS("commit", index_commit(ix, 2), ST_OK);
    }
    index_close(ix);
    arena_done(&a);
}

static void finds_rows_in_long_pages(void **state)
{
    static const struct {
        const char *query;
        uint64_t total;
    } cases[] = {
        {"\"rare common\"", 1},        {"\"common rare\"", 1},
        {"\"rare other\"", 0},         {"\"common common\"", 1},
        {"\"common common rare\"", 1}, {"\"rare common rare\"", 0},
        {"\"often common often\"", 0}, {"\"often common common often\"", 1},
    };
    char path[TEST_PATH];
    struct arena a;
    struct buf text = {0};
    arena_init(&a);
    test_path(path, "index");
    for (int i = 0; i < 30000; i++)
        buf_puts(&text, i % 5000 == 77 ? "rare " : i % 3 == 1 ? "often " : "common ");
    buf_puts(&text, "other ");
    struct index *ix = test_index_open(path);
    struct test_page p = {.key = 1, .fetch_number = 1, .url = SPAN("https://a.example/"), .text = buf_span(&text)};
    test_page_add(ix, &p);
    CHECK_STATUS("commit", index_commit(ix, 1), ST_OK);
    struct index_snapshot *s = test_snapshot(path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct search_result r = run(s, &(struct search_opts){.query = span_str(cases[i].query)}, &a);
        CHECK(cases[i].query, r.total == cases[i].total);
    }
    index_snapshot_free(s);
    index_close(ix);
    buf_done(&text);
    arena_done(&a);
}

/* One character may begin more pairs than are looked for. */
static void a_cut_prefix_makes_an_estimate(void **state)
{
    char path[TEST_PATH];
    struct arena a;
    arena_init(&a);
    test_path(path, "index");
    struct index *ix = test_index_open(path);
    for (uint64_t i = 0; i < 200; i++) {
        struct buf text = {0};
        buf_put_utf8(&text, 0x6771);
        buf_put_utf8(&text, 0x4e00 + (uint32_t)i % 100);
        struct test_page p = {.key = i + 1, .fetch_number = 1, .text = buf_span(&text)};
        p.url = test_printf(&a, "https://a.example/%d", (int)i);
        test_page_add(ix, &p);
        buf_done(&text);
    }
    CHECK_STATUS("commit", index_commit(ix, 1), ST_OK);
    struct index_snapshot *s = test_snapshot(path);
    struct search_result r = run(s, &(struct search_opts){.query = SPAN("東"), .with_facets = true}, &a);
    CHECK("said", r.is_estimate && r.facets_are_estimates);
    CHECK("the most frequent", r.total >= 128 && r.hit_count == 10);
    index_snapshot_free(s);
    index_close(ix);
    arena_done(&a);
}

static void damage_file(const char *dir, const char *ending)
{
    char path[2 * TEST_PATH];
    snprintf(path, sizeof(path), "%s/00000001.%s", dir, ending);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    for (long at = n / 8; at < n - n / 8; at += 16) {
        fseek(f, at, SEEK_SET);
        fputc(0x5a, f);
    }
    fclose(f);
}

static void damage_is_no_answer(void **state)
{
    static const char *const endings[] = {"post", "pos", "dict", "docs", "text"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
        char path[TEST_PATH];
        struct arena a;
        struct index_reader *reader = NULL;
        struct index_snapshot *s = NULL;
        struct search_result r;
        arena_init(&a);
        test_path(path, endings[i]);
        struct index *ix = test_index_open(path);
        cluster_pages(ix, &a, 3000);
        CHECK_STATUS("commit", index_commit(ix, 1), ST_OK);
        index_close(ix);
        damage_file(path, endings[i]);
        status st = index_reader_open(path, &reader, NULL);
        if (st == ST_OK)
            st = index_reader_snapshot(reader, &s);
        struct search_opts o = {
            .query = SPAN("\"w1 w2\" OR w0"), .cpu_ms = -1, .exhaustive = true, .with_snippets = true};
        if (st == ST_OK)
            st = search_run(s, &o, &a, &r);
        CHECK_STATUS(endings[i], st, ST_CORRUPT);
        index_snapshot_free(s);
        index_reader_free(reader);
        arena_done(&a);
    }
}

/* ---- the heap against sorting everything ---- */

static int best_first(const void *a, const void *b)
{
    const struct topk_item *x = a, *y = b;
    return x->score != y->score ? (x->score > y->score ? -1 : 1) : x->key < y->key ? -1 : 1;
}

/* The first k groups with all of their pages that are better than the last group's best. */
static size_t naive_topk(struct topk_item *items, size_t n, unsigned k, bool folds)
{
    size_t kept = 0;
    unsigned distinct = 0;
    qsort(items, n, sizeof(*items), best_first);
    for (size_t i = 0; i < n && distinct < k; i++) {
        bool is_new = true;
        for (size_t j = 0; j < kept && folds && items[i].group; j++)
            is_new &= items[j].group != items[i].group;
        distinct += is_new;
        items[kept++] = items[i];
    }
    return kept;
}

static void topk_keeps_what_sorting_keeps(void **state)
{
    struct rng r;
    rng_seed(&r, 18);
    for (int round = 0; round < 500; round++) {
        struct topk_item items[300];
        struct topk t;
        size_t n = rng_below(&r, 300);
        unsigned k = 1 + (unsigned)rng_below(&r, 40), groups = 1 + (unsigned)rng_below(&r, 60);
        bool folds = rng_below(&r, 2);
        topk_init(&t, k, folds);
        for (size_t i = 0; i < n; i++) {
            items[i] = (struct topk_item){.score = (double)rng_below(&r, 50), .key = i * 31 % 307};
            items[i].group = rng_below(&r, 3) ? rng_below(&r, groups) : 0;
            double before = t.threshold;
            topk_push(&t, &items[i]);
            CHECK("the threshold rises", t.threshold >= before);
        }
        topk_sort(&t);
        size_t want = naive_topk(items, n, k, folds);
        CHECK("as many", t.n == want);
        for (size_t i = 0; i < want; i++)
            CHECK("the same", t.items[i].key == items[i].key && t.items[i].score == items[i].score);
        topk_done(&t);
    }
}

static void topk_bounds_a_group(void **state)
{
    struct topk t;
    topk_init(&t, 2, true);
    for (uint64_t i = 0; i < 1000; i++)
        topk_push(&t, &(struct topk_item){.score = (double)(i * 7 % 1000), .key = i, .group = 5});
    CHECK("bounded", t.n == TOPK_GROUP_MAX && t.threshold == -INFINITY);
    topk_sort(&t);
    CHECK("the best of them", t.items[0].score == 999 && t.items[TOPK_GROUP_MAX - 1].score == 1000 - TOPK_GROUP_MAX);
    topk_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topk_keeps_what_sorting_keeps),
        cmocka_unit_test(topk_bounds_a_group),
        TEST_IN_FOLDER(finds_what_is_asked_for),
        TEST_IN_FOLDER(hits_show_pages),
        TEST_IN_FOLDER(refuses_what_is_no_query),
        TEST_IN_FOLDER(an_empty_index_has_no_answer),
        TEST_IN_FOLDER(near_duplicates_are_folded),
        TEST_IN_FOLDER(answers_do_not_depend_on_segments),
        TEST_IN_FOLDER(skipping_changes_nothing),
        TEST_IN_FOLDER(another_rank_gives_another_order),
        TEST_IN_FOLDER(pages_of_results_join_up),
        TEST_IN_FOLDER(says_when_its_time_is_up),
        TEST_IN_FOLDER(facets_count_all_pages),
        TEST_IN_FOLDER(large_totals_are_estimates_and_near),
        TEST_IN_FOLDER(skips_only_what_is_worse),
        TEST_IN_FOLDER(finds_rows_in_long_pages),
        TEST_IN_FOLDER(a_cut_prefix_makes_an_estimate),
        TEST_IN_FOLDER(damage_is_no_answer),
        TEST_IN_FOLDER(hits_show_fields_and_what_is_known_by_words),
        TEST_IN_FOLDER(words_without_order_are_never_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
