/* hierarchy_shape.h - from sorted ranges to a tree and to stretches: the arithmetic of hierarchy_build.c, apart from
 * its bytes. Pure. */
#pragma once

#include "place/hierarchy_format.h"

/* What the builder knows of a range besides its bounds. */
struct range_facts {
    uint32_t holder;
    uint8_t country[2];
    uint8_t kind; /* as in struct row4 */
    uint8_t rank; /* of the holder: the higher one wins */
};

/* Begin with their sort key, so that key_sort puts them in the order of nodes: the first address, and all bits of the
 * last one turned round, both in network order. */
struct range4 {
    uint8_t key[8];
    struct range_facts facts;
};
struct range6 {
    uint8_t key[32];
    struct range_facts facts;
};
_Static_assert(sizeof(struct range4) == 16 && sizeof(struct range6) == 40, "as key_sort wants them");

/* Ranges of one family, in order, none twice. */
struct ranges {
    unsigned family;
    const void *items; /* borrowed: struct range4 or range6 */
    size_t count;
};

void range4_set(struct range4 *r, wide first, wide last);
void range6_set(struct range6 *r, wide first, wide last);

static inline void range_bounds(const struct ranges *r, size_t i, wide *first, wide *last)
{
    if (r->family == 4) {
        uint32_t f, l;
        const struct range4 *item = (const struct range4 *)r->items + i;
        memcpy(&f, item->key, 4);
        memcpy(&l, item->key + 4, 4);
        *first = be32toh(f);
        *last = (uint32_t)~be32toh(l);
        return;
    }
    uint64_t w[4];
    memcpy(w, ((const struct range6 *)r->items + i)->key, sizeof(w));
    *first = (wide)be64toh(w[0]) << 64 | be64toh(w[1]);
    *last = ~((wide)be64toh(w[2]) << 64 | be64toh(w[3]));
}

static inline const struct range_facts *range_facts_of(const struct ranges *r, size_t i)
{
    return r->family == 4 ? &((const struct range4 *)r->items + i)->facts
                          : &((const struct range6 *)r->items + i)->facts;
}

struct shape_figures {
    uint64_t crossings; /* ranges that begin inside of an earlier one and end outside of it */
    uint64_t unary;
    unsigned height;
    uint64_t at_depth[32]; /* [31]: and deeper */
};

struct shape_sink {
    /* Once a range, in order. */
    void (*node)(void *self, size_t i, size_t parent, unsigned depth); /* parent SIZE_MAX: the top */
    /* Once a range, when all that is inside of it has come: the first range after that. */
    void (*end)(void *self, size_t i, size_t end);
    void *self; /* borrowed */
};

/* Adds to *figures. */
void shape_tree(const struct ranges *r, const struct shape_sink *sink, struct shape_figures *figures);

/* Calls `put` for every stretch, the first at address 0: `i` is the smallest range with more than one address, the
 * first of equals, or SIZE_MAX. Neighbours differ. Nothing for no ranges. */
void shape_stretches(const struct ranges *r, void (*put)(void *self, wide start, size_t i), void *self);
