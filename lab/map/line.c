#include "lab/map/line.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

#define PACKETS_DEFAULT 131072
#define SLAB 64     /* packets made at a time */
#define FLOWS 32768 /* a power of two */
#define PROBES 16

/* Open addressing over a fixed array. A slot whose time has passed is free: it cannot hold anybody back any more. When
 * all the slots that a flow may have are taken, the one that ends first gives way: with 32,768 slots and 16 places a
 * flow that takes tens of thousands of flows with packets on the way at once. */
struct flow {
    uint64_t key;
    mono_ns last;
};

struct line {
    struct heap heap;
    struct line_packet *spare;
    struct line_packet **slabs;
    size_t slab_count, slab_cap, slab_max;
    struct flow *flows;
};

struct line *line_new(size_t packets_max)
{
    struct line *l = mem_alloc(sizeof(*l));
    l->slab_max = ((packets_max ? packets_max : PACKETS_DEFAULT) + SLAB - 1) / SLAB;
    l->flows = mem_alloc(FLOWS * sizeof(*l->flows));
    for (size_t i = 0; i < FLOWS; i++)
        l->flows[i].last = INT64_MIN;
    return l;
}

void line_free(struct line *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->slab_count; i++)
        free(l->slabs[i]);
    free(l->slabs);
    free(l->flows);
    heap_done(&l->heap);
    free(l);
}

static bool grow(struct line *l)
{
    if (l->slab_count == l->slab_max)
        return false;
    struct line_packet *slab = mem_alloc(SLAB * sizeof(*slab));
    l->slabs = mem_grow(l->slabs, &l->slab_cap, l->slab_count + 1, sizeof(struct line_packet *));
    l->slabs[l->slab_count++] = slab;
    for (size_t i = 0; i < SLAB; i++)
        line_done(l, &slab[i]);
    return true;
}

/* The time at which the packet may leave, and note of it. */
static mono_ns in_order(struct line *l, uint64_t key, mono_ns due, mono_ns now)
{
    struct flow *best = NULL;
    for (size_t i = 0; i < PROBES; i++) {
        struct flow *f = &l->flows[(key + i) & (FLOWS - 1)];
        if (f->key == key && f->last >= now) {
            f->last = f->last > due ? f->last : due;
            return f->last;
        }
        if (!best || f->last < best->last)
            best = f;
    }
    *best = (struct flow){key, due};
    return due;
}

status line_put(struct line *l, struct span packet, unsigned link, uint64_t flow, mono_ns due, mono_ns now)
{
    if (packet.n > PACKET_MAX || (!l->spare && !grow(l)))
        return ST_LIMIT;
    struct line_packet *p = l->spare;
    l->spare = p->next;
    p->link = link;
    p->n = (uint16_t)packet.n;
    p->is_queued = false;
    memcpy(p->data, packet.p, packet.n);
    heap_set(&l->heap, &p->due, in_order(l, flow, due, now)); /* equal times leave in the order of heap_set */
    return ST_OK;
}

struct line_packet *line_take(struct line *l, mono_ns now)
{
    struct heap_node *top = heap_top(&l->heap);
    if (!top || top->key > now)
        return NULL;
    heap_remove(&l->heap, top);
    return CONTAINER_OF(top, struct line_packet, due);
}

void line_done(struct line *l, struct line_packet *p)
{
    assert(!heap_has(&p->due));
    p->next = l->spare;
    l->spare = p;
}

void line_again(struct line *l, struct line_packet *p, mono_ns due)
{
    assert(!heap_has(&p->due));
    heap_set(&l->heap, &p->due, due);
}

mono_ns line_next(const struct line *l)
{
    const struct heap_node *top = heap_top(&l->heap);
    return top ? top->key : INT64_MAX;
}

size_t line_count(const struct line *l)
{
    return l->heap.n;
}
