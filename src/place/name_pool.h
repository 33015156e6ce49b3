/* name_pool.h - many texts, each kept once and known by a small number. Pure; one thread.
 *
 * Hashes with a key that everybody knows: for files that an operator has chosen, not for text that strangers send. */
#pragma once

#include "base/buf.h"

struct name_pool {
    struct buf text;
    struct name_place {
        uint32_t at, n;
    } * places; /* owned; name i is places[i - 1] */
    uint32_t count;
    size_t place_cap;
    uint64_t *slots; /* owned; upper half of the hash, and the number in the lower 32 bits; 0: free */
    size_t slot_cap; /* 0 or a power of two */
};

#define NAME_POOL_MAX UINT32_MAX /* bytes of all texts */

void name_pool_done(struct name_pool *p);
/* Its number, 1 and up; 0: it would be more than NAME_POOL_MAX. */
uint32_t name_pool_add(struct name_pool *p, struct span text);
/* Until the next name_pool_add. */
struct span name_pool_get(const struct name_pool *p, uint32_t number);
