/* recrawl_places.c - where channels wait: the heap of times, and the lists of levels. */
#include "plan/recrawl_internal.h"

/* ---- the heap of times: four children a node, so that a step down looks at one line of the cache ---- */

#define CHILDREN 4

static void heap_put(struct recrawl *r, size_t at, struct heap_entry e)
{
    r->heap[at] = e;
    r->channels[e.channel].heap_at = (uint32_t)at + 1;
}

static void heap_up(struct recrawl *r, size_t at, struct heap_entry e)
{
    while (at > 0) {
        size_t parent = (at - 1) / CHILDREN;
        if (r->heap[parent].key <= e.key)
            break;
        heap_put(r, at, r->heap[parent]);
        at = parent;
    }
    heap_put(r, at, e);
}

static void heap_down(struct recrawl *r, size_t at, struct heap_entry e)
{
    for (;;) {
        size_t child = at * CHILDREN + 1, end = child + CHILDREN, best;
        if (child >= r->heap_count)
            break;
        if (end > r->heap_count)
            end = r->heap_count;
        for (best = child++; child < end; child++)
            if (r->heap[child].key < r->heap[best].key)
                best = child;
        if (r->heap[best].key >= e.key)
            break;
        heap_put(r, at, r->heap[best]);
        at = best;
    }
    heap_put(r, at, e);
}

static void heap_fix(struct recrawl *r, size_t at, struct heap_entry e)
{
    if (at > 0 && r->heap[(at - 1) / CHILDREN].key > e.key)
        heap_up(r, at, e);
    else
        heap_down(r, at, e);
}

void channel_unwait(struct recrawl *r, uint32_t id)
{
    size_t at = r->channels[id].heap_at;
    if (!at--)
        return;
    r->channels[id].heap_at = 0;
    struct heap_entry moved = r->heap[--r->heap_count];
    if (at < r->heap_count)
        heap_fix(r, at, moved);
}

void channel_wait(struct recrawl *r, uint32_t id, uint32_t until)
{
    struct heap_entry e = {until, id};
    size_t at = r->channels[id].heap_at;
    if (at)
        heap_fix(r, at - 1, e);
    else
        heap_up(r, r->heap_count++, e); /* room for every channel was made when it was put */
}

/* ---- lists of levels ---- */

static void list_leave(struct recrawl *r, uint32_t id)
{
    struct channel *c = &r->channels[id];
    if (!c->level)
        return;
    unsigned level = c->level - 1u;
    if (c->prev == NONE)
        r->first[level] = c->next;
    else
        r->channels[c->prev].next = c->next;
    if (c->next == NONE)
        r->last[level] = c->prev;
    else
        r->channels[c->next].prev = c->prev;
    if (r->first[level] == NONE)
        r->filled[level / 64] &= ~(UINT64_C(1) << level % 64);
    c->level = 0;
}

void channel_ready(struct recrawl *r, uint32_t id, unsigned level)
{
    struct channel *c = &r->channels[id];
    list_leave(r, id);
    c->prev = r->last[level];
    c->next = NONE;
    if (c->prev == NONE)
        r->first[level] = id;
    else
        r->channels[c->prev].next = id;
    r->last[level] = id;
    r->filled[level / 64] |= UINT64_C(1) << level % 64;
    c->level = (uint16_t)(level + 1);
}

void channel_leave(struct recrawl *r, uint32_t id)
{
    list_leave(r, id);
    channel_unwait(r, id);
}

unsigned top_level(const struct recrawl *r)
{
    for (size_t i = LEVELS / 64; i-- > 0;)
        if (r->filled[i])
            return (unsigned)(i * 64 + 63) - (unsigned)__builtin_clzll(r->filled[i]);
    return LEVELS;
}
