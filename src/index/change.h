/* change.h - from one commit to the next: the list of segments and tombstones in the making, and its manifest.
 *
 * ix->change is held from change_init to change_done. Nothing of the index is touched before change_install. */
#pragma once

#include "index/manifest.h"
#include "index/writer.h"

struct change {
    struct parts parts;
    uint64_t applied;
    bool is_adopted; /* by change_install: the index is the new one now, even if a failure came back */
};

/* As the index is. */
void change_init(struct change *c, struct index *ix);
void change_done(struct change *c);

/* Marks a document dead in the new list. */
void change_kill(struct change *c, size_t part, uint32_t doc);
/* Joins new segments and deletions: of every key the winner stays (version_wins), the others die. ST_CORRUPT, ST_IO. */
MUST_USE status change_join(struct change *c, const struct batch *b);

/* Writes tombstones and manifest; the index takes the new list over; removes files that are no longer needed. Segments
 * without a living document are left out. ST_FULL, ST_IO. */
MUST_USE status change_install(struct change *c, struct index *ix);
