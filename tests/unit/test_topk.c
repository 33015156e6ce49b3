/* test_topk.c - the heap of the best hits against sorting everything. */
#include "test.h"

#include <math.h>

#include "base/rng.h"
#include "index/search/topk.h"

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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
