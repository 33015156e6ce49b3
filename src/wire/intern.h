/* intern.h - texts that repeat, numbered in the order they were first met.
 *
 * All bytes stand in one buffer, each text followed by '\n'. Equality is decided by the bytes, so hashes need no key;
 * texts made to collide are looked for at INTERN_PROBES_MAX places and then simply kept twice. One thread. */
#pragma once

#include "base/buf.h"

#define INTERN_PROBES_MAX 32

struct intern {
    struct buf bytes;
    uint32_t *at; /* owned: where text i begins; count + 1 of them */
    size_t count, at_cap;
    struct intern_slot {
        uint32_t hash, id1; /* id + 1; 0: free */
    } * slots;              /* owned; a power of two */
    size_t slot_count, used;
};

void intern_clear(struct intern *t); /* keeps the memory */
void intern_done(struct intern *t);
/* The number of `s`; *is_new when it was not there. */
uint32_t intern_put(struct intern *t, struct span s, bool *is_new);
/* The same without adding it: UINT32_MAX when it is not there. */
uint32_t intern_find(const struct intern *t, struct span s);
static inline struct span intern_text(const struct intern *t, uint32_t id)
{
    return (struct span){t->bytes.p + t->at[id], t->at[id + 1] - t->at[id] - 1};
}
