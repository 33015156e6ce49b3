/* tombs.h - which documents of a segment are dead: a bit each, written anew as a whole when one is added.
 *
 *     "orbdel1\n", u32 segment, u32 docs, u32 dead, bits (docs / 8 rounded up), u32 crc32c of all before
 *
 * Counted and shared between the writer and snapshots: immutable once more than one has it. Inside src/index only. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "base/status.h"

struct tombs {
    atomic_uint refs;
    uint32_t docs, dead;
    uint64_t generation; /* of the file; 0: not written yet */
    uint8_t bits[];
};

struct tombs *tombs_new(uint32_t docs);
struct tombs *tombs_copy(const struct tombs *t); /* not written, one owner */
struct tombs *tombs_ref(struct tombs *t);        /* NULL is fine */
void tombs_unref(struct tombs *t);               /* NULL is fine */

static inline bool tombs_has(const struct tombs *t, uint32_t doc)
{
    return t && (t->bits[doc >> 3] >> (doc & 7) & 1);
}

/* By the one owner. */
void tombs_set(struct tombs *t, uint32_t doc);

/* Synced; the folder is not. t->generation is set. */
MUST_USE status tombs_write(struct tombs *t, const char *dir, uint32_t segment, uint64_t generation);
/* ST_NOT_FOUND, ST_CORRUPT: also when it is for another number of documents. */
MUST_USE status tombs_read(const char *dir, uint32_t segment, uint64_t generation, uint32_t docs, struct tombs **out);
