/* table.h - an open-addressing map from 64-bit keys to pointers.
 *
 * Keys are already keyed hashes (base/siphash.h) or small ids, so they are only mixed a little. Owns its
 * slots, never what the pointers point to. Key 0 is allowed. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table {
    struct table_slot {
        uint64_t key;
        void *value; /* borrowed; NULL = free slot */
    } * slots;
    size_t n, cap; /* cap is 0 or a power of two */
};

void table_done(struct table *t);
void *table_get(const struct table *t, uint64_t key);       /* NULL: not there */
void table_put(struct table *t, uint64_t key, void *value); /* replaces; value != NULL */
void *table_remove(struct table *t, uint64_t key);          /* what was there, or NULL */
/* Steps through all values in no order: start with *at = 0, stop at NULL. No changes in between. */
void *table_next(const struct table *t, size_t *at);
