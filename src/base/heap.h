/* heap.h - a binary min-heap of items that know their place in it.
 *
 * Items embed a struct heap_node; the heap owns only its array of pointers. Equal keys come out in the
 * order in which they were put in or re-keyed, which is what makes the frontier fair. All operations O(log n). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_node {
    int64_t key;
    uint64_t order;
    size_t at; /* place in the array + 1; 0 = not in a heap */
};

struct heap {
    struct heap_node **items; /* array owned, nodes borrowed */
    size_t n, cap;
    uint64_t next_order;
};

void heap_done(struct heap *h);
/* Puts the node in, or moves it when it is there already. */
void heap_set(struct heap *h, struct heap_node *node, int64_t key);
void heap_remove(struct heap *h, struct heap_node *node); /* harmless when it is not in */

static inline struct heap_node *heap_top(const struct heap *h)
{
    return h->n ? h->items[0] : NULL;
}

static inline bool heap_has(const struct heap_node *node)
{
    return node->at != 0;
}

#define CONTAINER_OF(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))
