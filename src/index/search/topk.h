/* topk.h - the best k pages seen so far, near-duplicates of one group taken as one.
 *
 * Order: higher score first, then the lower key, so that it does not matter in which order pages come or how they lie
 * in segments. With folding, k counts groups: besides the best page of each of the k best groups all other pages of
 * these groups are kept that are better than the k-th group's best, so that they can be counted; that set too is the
 * same whatever the order. One thread; owns its arrays. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOPK_GROUP_MAX 100 /* pages of one group that are kept, the best ones */

struct topk_item {
    double score;
    uint64_t key, group; /* group 0: in none */
    uint32_t part, doc;
};

struct topk {
    struct topk_item *items; /* a heap, the worst first */
    size_t n, cap;
    unsigned k, distinct; /* groups, and pages of none, among the items */
    bool folds;
    double threshold; /* a page with a lower score cannot enter; -INFINITY while there is room */
    struct topk_group {
        uint64_t group; /* 0: free */
        uint32_t count;
    } * groups;
    size_t group_cap, group_used; /* used: with those whose count went back to 0 */
};

void topk_init(struct topk *t, unsigned k, bool folds); /* k > 0 */
void topk_done(struct topk *t);
void topk_push(struct topk *t, const struct topk_item *item);
/* Puts the items into order, best first. Nothing may be pushed after it. */
void topk_sort(struct topk *t);

static inline bool topk_is_full(const struct topk *t)
{
    return t->distinct >= t->k;
}
