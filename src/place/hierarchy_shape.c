#include "place/hierarchy_shape.h"

#include <stdlib.h>

#include "base/mem.h"

void range4_set(struct range4 *r, wide first, wide last)
{
    uint32_t f = htobe32((uint32_t)first), l = htobe32(~(uint32_t)last);
    memcpy(r->key, &f, 4);
    memcpy(r->key + 4, &l, 4);
}

void range6_set(struct range6 *r, wide first, wide last)
{
    uint64_t w[4] = {htobe64((uint64_t)(first >> 64)), htobe64((uint64_t)first), htobe64((uint64_t)(~last >> 64)),
                     htobe64((uint64_t)~last)};
    memcpy(r->key, w, sizeof(w));
}

/* ---- a heap of ranges that are still open, the smallest key on top ---- */

struct open_range {
    wide key, last;
    size_t i;
};

struct open_ranges {
    struct open_range *items; /* owned */
    size_t n, cap;
};

static bool comes_before(const struct open_range *a, const struct open_range *b)
{
    return a->key < b->key || (a->key == b->key && a->i < b->i);
}

static void open_push(struct open_ranges *o, struct open_range r)
{
    o->items = mem_grow(o->items, &o->cap, o->n + 1, sizeof(*o->items));
    size_t at = o->n++;
    while (at > 0 && comes_before(&r, &o->items[(at - 1) / 2])) {
        o->items[at] = o->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    o->items[at] = r;
}

static void open_pop(struct open_ranges *o)
{
    struct open_range r = o->items[--o->n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < o->n; at = child) {
        if (child + 1 < o->n && comes_before(&o->items[child + 1], &o->items[child]))
            child++;
        if (!comes_before(&o->items[child], &r))
            break;
        o->items[at] = o->items[child];
    }
    if (o->n)
        o->items[at] = r;
}

/* ---- the tree ----
 *
 * The stack holds the ranges around the one before. A range that does not hold the next one is done: later ones begin
 * even later, and if one of them lay inside of it, it would lie inside of the next one too (that one ends later, or it
 * would be inside itself). So whatever crosses ends up below the smallest range that holds it, and nodes stay in
 * order. `crossed` has the last addresses of ranges that were put away while they still went on. */

struct nest {
    size_t *stack; /* owned */
    size_t n, cap;
    struct open_ranges crossed;
};

static void close_top(struct nest *t, size_t end, const struct shape_sink *sink)
{
    sink->end(sink->self, t->stack[--t->n], end);
}

static void close_until_inside(struct nest *t, const struct ranges *r, size_t i, const struct shape_sink *sink)
{
    wide first, last, f, l;
    range_bounds(r, i, &first, &last);
    while (t->n > 0) {
        range_bounds(r, t->stack[t->n - 1], &f, &l);
        if (l >= last)
            return;
        if (l >= first)
            open_push(&t->crossed, (struct open_range){l, l, t->stack[t->n - 1]});
        close_top(t, i, sink);
    }
}

static bool crosses_earlier(struct nest *t, const struct ranges *r, size_t i)
{
    wide first, last;
    range_bounds(r, i, &first, &last);
    while (t->crossed.n && t->crossed.items[0].last < first)
        open_pop(&t->crossed);
    return t->crossed.n && t->crossed.items[0].last < last;
}

void shape_tree(const struct ranges *r, const struct shape_sink *sink, struct shape_figures *figures)
{
    struct nest t = {0};
    for (size_t i = 0; i < r->count; i++) {
        wide first, last;
        range_bounds(r, i, &first, &last);
        close_until_inside(&t, r, i, sink);
        figures->crossings += crosses_earlier(&t, r, i);
        figures->unary += first == last;
        unsigned depth = t.n < HIERARCHY_DEPTH_MAX ? (unsigned)t.n + 1 : HIERARCHY_DEPTH_MAX;
        figures->at_depth[depth < 31 ? depth : 31]++;
        if (t.n + 1 > figures->height)
            figures->height = (unsigned)(t.n + 1);
        sink->node(sink->self, i, t.n ? t.stack[t.n - 1] : SIZE_MAX, depth);
        t.stack = mem_grow(t.stack, &t.cap, t.n + 1, sizeof(*t.stack));
        t.stack[t.n++] = i;
    }
    while (t.n > 0)
        close_top(&t, r->count, sink);
    free(t.stack);
    free(t.crossed.items);
}

/* ---- stretches ----
 *
 * A sweep over the addresses. The heap has the ranges that are open, the smallest on top, and some that ended below
 * the top without anybody noticing; the answer can change only where a range begins or the top one ends. */

static bool is_unary_at(const struct ranges *r, size_t i)
{
    wide first, last;
    range_bounds(r, i, &first, &last);
    return first == last;
}

static wide first_of(const struct ranges *r, size_t i)
{
    wide first, last;
    range_bounds(r, i, &first, &last);
    return first;
}

static void open_from(struct open_ranges *o, const struct ranges *r, size_t i)
{
    wide first, last;
    range_bounds(r, i, &first, &last);
    if (first != last)
        open_push(o, (struct open_range){last - first, last, i});
}

void shape_stretches(const struct ranges *r, void (*put)(void *self, wide start, size_t i), void *self)
{
    struct open_ranges open = {0};
    size_t next = 0, told = 0;
    wide at = 0, all = r->family == 4 ? UINT32_MAX : ~(wide)0;
    bool has_told = false;
    while (r->count > 0) {
        for (; next < r->count && first_of(r, next) == at; next++)
            open_from(&open, r, next);
        while (open.n && open.items[0].last < at)
            open_pop(&open);
        size_t i = open.n ? open.items[0].i : SIZE_MAX;
        if (!has_told || i != told)
            put(self, at, i);
        has_told = true;
        told = i;
        while (next < r->count && is_unary_at(r, next))
            next++;
        bool has_end = open.n && open.items[0].last < all;
        if (!has_end && next == r->count)
            break;
        wide end = has_end ? open.items[0].last + 1 : all;
        wide begin = next < r->count ? first_of(r, next) : all;
        at = has_end && (next == r->count || end < begin) ? end : begin;
    }
    free(open.items);
}
