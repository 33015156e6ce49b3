/* snapshot.h - one commit of the index as the inside of this folder sees it.
 *
 * Immutable once made; counted, because searches outlive merges. */
#pragma once

#include <stdatomic.h>

#include "codec/zip.h"
#include "index/index.h"
#include "index/segment/segment.h"

struct tombs;

/* A segment that several commits, or several threads, have in common. */
struct shared_segment {
    atomic_uint refs;
    struct segment *segment; /* owned */
    /* of the writer, under its lock: */
    bool is_merging;
    bool is_broken; /* a merge found it damaged: none tries again */
};
MUST_USE status shared_segment_open(const char *dir, uint32_t number, struct shared_segment **out);
struct shared_segment *shared_segment_ref(struct shared_segment *s);
void shared_segment_unref(struct shared_segment *s); /* NULL is fine */

struct snapshot_part {
    struct shared_segment *shared; /* counted: segments live on in newer snapshots */
    const struct segment *segment; /* of shared */
    struct tombs *tombs;           /* counted; NULL: no document is dead */
    const uint8_t *dead;           /* of tombs: a bit a document, NULL: none is */
    uint32_t dead_count;
};

struct index_snapshot {
    atomic_uint refs;
    uint64_t identity, generation, applied;
    struct snapshot_part *parts; /* owned, largest first */
    unsigned part_count;
    uint64_t docs;               /* live */
    uint64_t all_docs;           /* with the dead, which document frequencies count too */
    struct zip_dict *dictionary; /* of shared_dict; NULL: none */
    struct shared_dict *shared_dict;
};

static inline bool part_is_dead(const struct snapshot_part *p, uint32_t doc)
{
    return p->dead && (p->dead[doc >> 3] >> (doc & 7) & 1);
}

/* Some file can no longer be read: see segment_guard. */
bool snapshot_is_lost(const struct index_snapshot *s);
/* A document of a part, unpacked into the arena. */
MUST_USE status snapshot_document(const struct index_snapshot *s, unsigned part, uint32_t doc, struct arena *a,
                                  struct index_document *out);
/* Languages of the collection that have a stemmer, most frequent first; at most `max`; returns how many. */
unsigned snapshot_languages(const struct index_snapshot *s, lang_code *out, unsigned max);
