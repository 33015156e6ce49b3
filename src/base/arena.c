#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>

#include "base/mem.h"

#define FIRST_BLOCK 4096
#define KEEP_MAX (4u << 20)

struct arena_block {
    struct arena_block *next;
    size_t size; /* of data */
    alignas(16) char data[];
};

void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

void arena_done(struct arena *a)
{
    for (struct arena_block *b = a->block; b;) {
        struct arena_block *next = b->next;
        free(b);
        b = next;
    }
    arena_init(a);
}

void arena_reset(struct arena *a)
{
    struct arena_block *keep = a->block;
    if (!keep)
        return;
    if (keep->size > KEEP_MAX) {
        arena_done(a);
        return;
    }
    a->block = keep->next;
    keep->next = NULL;
    arena_done(a);
    a->block = keep;
    a->at = keep->data;
    a->end = keep->data + keep->size;
    a->total = keep->size;
}

static void add_block(struct arena *a, size_t need)
{
    size_t size = a->block ? a->block->size * 2 : FIRST_BLOCK;
    if (size > KEEP_MAX)
        size = KEEP_MAX;
    if (size < need)
        size = need;
    struct arena_block *b = mem_realloc(NULL, sizeof(*b) + size);
    b->next = a->block;
    b->size = size;
    a->block = b;
    a->at = b->data;
    a->end = b->data + size;
    a->total += size;
}

char *arena_bytes(struct arena *a, size_t n)
{
    if ((size_t)(a->end - a->at) < n)
        add_block(a, n);
    char *p = a->at;
    a->at += n;
    return p;
}

void *arena_alloc(struct arena *a, size_t n)
{
    assert(n < SIZE_MAX - 32);
    size_t pad = (size_t)(-(uintptr_t)a->at & 15);
    if ((size_t)(a->end - a->at) < n + pad || !a->at) {
        add_block(a, n + 16);
        pad = (size_t)(-(uintptr_t)a->at & 15);
    }
    a->at += pad;
    return arena_bytes(a, n);
}

struct span arena_copy(struct arena *a, struct span s)
{
    char *p = arena_bytes(a, s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return (struct span){p, s.n};
}
