/* test_search_results.c - results as a whole: totals and facets, pages that join up, near-duplicates in one. */
#include "search_world.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(near_duplicates_are_folded),     TEST_IN_FOLDER(pages_of_results_join_up),
        TEST_IN_FOLDER(facets_count_all_pages),         TEST_IN_FOLDER(large_totals_are_estimates_and_near),
        TEST_IN_FOLDER(a_cut_prefix_makes_an_estimate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
