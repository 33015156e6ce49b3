/* test_search_same.c - the same hits however they are come by: one segment or many, skipping, or looking at all. */
#include "search_world.h"

#include "index/segment/rank.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(answers_do_not_depend_on_segments), TEST_IN_FOLDER(skipping_changes_nothing),
        TEST_IN_FOLDER(another_rank_gives_another_order),  TEST_IN_FOLDER(says_when_its_time_is_up),
        TEST_IN_FOLDER(skips_only_what_is_worse),          TEST_IN_FOLDER(damage_is_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
