#include "base/table.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

static size_t slot_of(const struct table *t, uint64_t key)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 20) & (t->cap - 1);
}

static size_t find(const struct table *t, uint64_t key)
{
    size_t i = slot_of(t, key);
    while (t->slots[i].value && t->slots[i].key != key)
        i = (i + 1) & (t->cap - 1);
    return i;
}

void table_done(struct table *t)
{
    free(t->slots);
    *t = (struct table){0};
}

void *table_get(const struct table *t, uint64_t key)
{
    return t->cap ? t->slots[find(t, key)].value : NULL;
}

static void grow(struct table *t)
{
    struct table old = *t;
    t->cap = old.cap ? old.cap * 2 : 16;
    t->slots = mem_alloc(t->cap * sizeof(*t->slots));
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].value)
            t->slots[find(t, old.slots[i].key)] = old.slots[i];
    free(old.slots);
}

void table_put(struct table *t, uint64_t key, void *value)
{
    assert(value);
    if (t->n + 1 > t->cap / 4 * 3)
        grow(t);
    struct table_slot *s = &t->slots[find(t, key)];
    if (!s->value)
        t->n++;
    *s = (struct table_slot){key, value};
}

void *table_remove(struct table *t, uint64_t key)
{
    if (!t->cap)
        return NULL;
    size_t i = find(t, key);
    void *was = t->slots[i].value;
    if (!was)
        return NULL;
    t->n--;
    /* Close the gap: move back every follower that may stand in it. */
    for (size_t j = i;;) {
        t->slots[i].value = NULL;
        for (;;) {
            j = (j + 1) & (t->cap - 1);
            if (!t->slots[j].value)
                return was;
            size_t home = slot_of(t, t->slots[j].key);
            if (((j - home) & (t->cap - 1)) >= ((j - i) & (t->cap - 1)))
                break;
        }
        t->slots[i] = t->slots[j];
        i = j;
    }
}

void *table_next(const struct table *t, size_t *at)
{
    while (*at < t->cap) {
        void *v = t->slots[(*at)++].value;
        if (v)
            return v;
    }
    return NULL;
}
