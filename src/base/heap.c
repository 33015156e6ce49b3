#include "base/heap.h"

#include <stdlib.h>

#include "base/mem.h"

static bool before(const struct heap_node *a, const struct heap_node *b)
{
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

static void place(struct heap *h, struct heap_node *node, size_t i)
{
    h->items[i] = node;
    node->at = i + 1;
}

static void sift_up(struct heap *h, struct heap_node *node, size_t i)
{
    while (i > 0) {
        size_t up = (i - 1) / 2;
        if (!before(node, h->items[up]))
            break;
        place(h, h->items[up], i);
        i = up;
    }
    place(h, node, i);
}

static void sift_down(struct heap *h, struct heap_node *node, size_t i)
{
    for (;;) {
        size_t down = 2 * i + 1;
        if (down >= h->n)
            break;
        if (down + 1 < h->n && before(h->items[down + 1], h->items[down]))
            down++;
        if (!before(h->items[down], node))
            break;
        place(h, h->items[down], i);
        i = down;
    }
    place(h, node, i);
}

static void settle(struct heap *h, struct heap_node *node, size_t i)
{
    if (i > 0 && before(node, h->items[(i - 1) / 2]))
        sift_up(h, node, i);
    else
        sift_down(h, node, i);
}

void heap_done(struct heap *h)
{
    free(h->items);
    *h = (struct heap){0};
}

void heap_set(struct heap *h, struct heap_node *node, int64_t key)
{
    if (node->at && node->key == key)
        return;
    node->key = key;
    node->order = h->next_order++;
    if (node->at) {
        settle(h, node, node->at - 1);
        return;
    }
    h->items = mem_grow(h->items, &h->cap, h->n + 1, sizeof(*h->items));
    sift_up(h, node, h->n++);
}

void heap_remove(struct heap *h, struct heap_node *node)
{
    if (!node->at)
        return;
    size_t i = node->at - 1;
    node->at = 0;
    struct heap_node *last = h->items[--h->n];
    if (last != node)
        settle(h, last, i);
}
