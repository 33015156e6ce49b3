#include "index/search/topk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void topk_init(struct topk *t, unsigned k, bool folds)
{
    assert(k > 0);
    *t = (struct topk){.k = k, .folds = folds, .threshold = -INFINITY};
}

void topk_done(struct topk *t)
{
    free(t->items);
    free(t->groups);
    *t = (struct topk){0};
}

static bool is_worse(const struct topk_item *a, const struct topk_item *b)
{
    return a->score != b->score ? a->score < b->score : a->key > b->key;
}

/* ---- how many items each group has ---- */

/* The slot of a group, or the free one where it would go. */
static struct topk_group *group_slot(struct topk *t, uint64_t group)
{
    size_t mask = t->group_cap - 1, i = (group * 0x9e3779b97f4a7c15u >> 32) & mask;
    while (t->groups[i].group && t->groups[i].group != group)
        i = (i + 1) & mask;
    return &t->groups[i];
}

/* Counts anew from the items: that drops the groups that have none left. */
static void groups_rebuild(struct topk *t)
{
    size_t cap = 64;
    while (cap < t->n * 4 + 4)
        cap *= 2;
    free(t->groups);
    t->groups = mem_alloc(cap * sizeof(*t->groups));
    t->group_cap = cap;
    t->group_used = 0;
    for (size_t i = 0; i < t->n; i++) {
        uint64_t group = t->items[i].group;
        if (!group)
            continue;
        struct topk_group *g = group_slot(t, group);
        t->group_used += !g->group;
        g->group = group;
        g->count++;
    }
}

static struct topk_group *group_enter(struct topk *t, uint64_t group)
{
    if ((t->group_used + 1) * 2 > t->group_cap)
        groups_rebuild(t);
    struct topk_group *g = group_slot(t, group);
    if (!g->group) {
        *g = (struct topk_group){.group = group};
        t->group_used++;
    }
    return g;
}

/* ---- the heap ---- */

static void sift_up(struct topk *t, size_t i)
{
    struct topk_item item = t->items[i];
    while (i && is_worse(&item, &t->items[(i - 1) / 2])) {
        t->items[i] = t->items[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    t->items[i] = item;
}

static void sift_down(struct topk *t, size_t i)
{
    struct topk_item item = t->items[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= t->n)
            break;
        if (child + 1 < t->n && is_worse(&t->items[child + 1], &t->items[child]))
            child++;
        if (!is_worse(&t->items[child], &item))
            break;
        t->items[i] = t->items[child];
        i = child;
    }
    t->items[i] = item;
}

static void remove_at(struct topk *t, size_t i)
{
    struct topk_item item = t->items[i];
    if (!item.group || --group_slot(t, item.group)->count == 0)
        t->distinct--;
    t->n--;
    if (i == t->n)
        return;
    t->items[i] = t->items[t->n];
    sift_down(t, i);
    sift_up(t, i);
}

static size_t worst_of_group(const struct topk *t, uint64_t group)
{
    size_t worst = SIZE_MAX;
    for (size_t i = 0; i < t->n; i++)
        if (t->items[i].group == group && (worst == SIZE_MAX || is_worse(&t->items[i], &t->items[worst])))
            worst = i;
    assert(worst != SIZE_MAX);
    return worst;
}

/* May the worst item go? Once k groups are better than it: itself counts when it is its group's only one. */
static bool has_surplus(struct topk *t)
{
    const struct topk_item *worst = &t->items[0];
    bool is_only = !worst->group || group_slot(t, worst->group)->count == 1;
    return t->distinct - is_only >= t->k;
}

void topk_push(struct topk *t, const struct topk_item *item)
{
    struct topk_item in = *item;
    if (!t->folds)
        in.group = 0;
    if (topk_is_full(t) && !is_worse(&t->items[0], &in))
        return;
    if (in.group && group_enter(t, in.group)->count == TOPK_GROUP_MAX) {
        size_t worst = worst_of_group(t, in.group);
        if (!is_worse(&t->items[worst], &in))
            return;
        remove_at(t, worst);
    }
    if (!in.group || group_slot(t, in.group)->count++ == 0)
        t->distinct++;
    t->items = mem_grow(t->items, &t->cap, t->n + 1, sizeof(*t->items));
    t->items[t->n] = in;
    sift_up(t, t->n++);
    while (has_surplus(t))
        remove_at(t, 0);
    t->threshold = topk_is_full(t) ? t->items[0].score : -INFINITY;
}

static int compare(const void *a, const void *b)
{
    const struct topk_item *x = a, *y = b;
    return is_worse(y, x) ? -1 : is_worse(x, y) ? 1 : 0;
}

void topk_sort(struct topk *t)
{
    if (t->n)
        qsort(t->items, t->n, sizeof(*t->items), compare);
}
