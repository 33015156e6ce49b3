#include "place/name_pool.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/siphash.h"

static const struct sip_key open_key = {0x6f7262, 0x6e616d65};

void name_pool_done(struct name_pool *p)
{
    buf_done(&p->text);
    free(p->places);
    free(p->slots);
    *p = (struct name_pool){0};
}

struct span name_pool_get(const struct name_pool *p, uint32_t number)
{
    assert(number > 0 && number <= p->count);
    return (struct span){p->text.p + p->places[number - 1].at, p->places[number - 1].n};
}

static void put_slot(struct name_pool *p, uint64_t hash, uint32_t number)
{
    size_t at = hash & (p->slot_cap - 1);
    while (p->slots[at])
        at = (at + 1) & (p->slot_cap - 1);
    p->slots[at] = (hash & ~(uint64_t)UINT32_MAX) | number;
}

/* The lower bits of a hash are gone from its slot, so names are hashed again; all growing together costs as much as
 * adding each once more. */
static void grow(struct name_pool *p)
{
    free(p->slots);
    p->slot_cap = p->slot_cap ? p->slot_cap * 2 : 1024;
    p->slots = mem_alloc(p->slot_cap * sizeof(*p->slots));
    for (uint32_t i = 1; i <= p->count; i++)
        put_slot(p, siphash(&open_key, name_pool_get(p, i)), i);
}

uint32_t name_pool_add(struct name_pool *p, struct span text)
{
    uint64_t hash = siphash(&open_key, text);
    if (p->count >= p->slot_cap / 2)
        grow(p);
    for (size_t at = hash & (p->slot_cap - 1); p->slots[at]; at = (at + 1) & (p->slot_cap - 1))
        if (p->slots[at] >> 32 == hash >> 32 && span_eq(name_pool_get(p, (uint32_t)p->slots[at]), text))
            return (uint32_t)p->slots[at];
    if (text.n > NAME_POOL_MAX - p->text.n || p->count == UINT32_MAX - 1)
        return 0;
    p->places = mem_grow(p->places, &p->place_cap, (size_t)p->count + 1, sizeof(*p->places));
    p->places[p->count++] = (struct name_place){(uint32_t)p->text.n, (uint32_t)text.n};
    buf_put(&p->text, text);
    put_slot(p, hash, p->count);
    return p->count;
}
