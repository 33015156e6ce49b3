/* search_world.h - an index of made-up pages, and searches in it. */
#pragma once

#include "test.h"

#include "index/search/search.h"
#include "index/snapshot.h"
#include "test_folder.h"
#include "test_pages.h"

struct world {
    struct arena arena;
    struct rng rng;
    struct test_page *pages;
    size_t n;
};

static inline void world_fields(struct world *w, size_t i)
{
    struct test_page *p = &w->pages[i];
    p->is_keywords = i % 9 == 4;
    if (i % 3 == 0)
        p->fields[p->field_count++] = (struct summary_field){SPAN("price"), test_printf(&w->arena, "%zu.50", i % 10)};
    if (i % 4 == 0)
        p->fields[p->field_count++] = (struct summary_field){SPAN("kind"), i % 8 ? SPAN("Old Map") : SPAN("new")};
}

/* Queries of which some ask for a field as well. */
static inline void world_query(struct world *w, struct buf *q, int i)
{
    static const char *const filters[] = {" field:price", " field:price=3.50", " -field:kind",
                                          " field:kind=\"old map\"", " field:none"};
    buf_clear(q);
    test_query(&w->rng, q, w->pages, w->n);
    if (i % 4 == 0)
        buf_puts(q, filters[i / 4 % 5]);
}

static inline void world_make(struct world *w, uint64_t seed, size_t n)
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

static inline void world_done(struct world *w)
{
    free(w->pages);
    arena_done(&w->arena);
}

/* In one segment, or in many, and the pages forwards or backwards. */
static inline struct index_snapshot *world_index(const struct world *w, const char *name, size_t a_commit,
                                                 bool backwards)
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

static inline struct search_result run_as_is(const struct index_snapshot *s, const struct search_opts *o,
                                             struct arena *a)
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
static inline struct search_result run(const struct index_snapshot *s, const struct search_opts *o, struct arena *a)
{
    struct search_opts with = *o;
    with.plain = true;
    return run_as_is(s, &with, a);
}

static inline void check_same_hits(struct span query, const struct search_result *x, const struct search_result *y)
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
