/* segment_check.h - reads everything that a segment has and holds it against itself.
 *
 * Checksums; order of terms, documents, positions and keys; counts and offsets; that no posting is above the bound of
 * its block, nor a block above its list; that stored records can be taken apart. Takes some 20 us a document of 400
 * different words. */
#pragma once

#include "index/segment/segment.h"

struct segment_counts {
    uint64_t docs, terms, postings, positions;
};

/* ST_CORRUPT: *problem has the first thing found, for people. *out is what was read up to then. Any thread. */
MUST_USE status segment_check(const struct segment *s, struct buf *problem, struct segment_counts *out);
