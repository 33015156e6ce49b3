/* merge.h - several segments into one, without their dead documents.
 *
 * Documents keep their order and get new numbers; postings and stored records are copied as they are, nothing is
 * analysed again. Reads and writes in streams. Inside src/index only. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "index/segment/segment.h"
#include "index/tombs.h"

#define MERGE_INPUTS_MAX 64

struct merge_input {
    const struct segment *segment; /* borrowed */
    const struct tombs *tombs;     /* borrowed; NULL: none is dead */
};

/* Writes segment `number` in dir; *docs is how many are in it. ST_END: there is no living document, nothing was
 * written. ST_CANCELLED: *stop became true. ST_CORRUPT: *bad is the input that is damaged. ST_FULL, ST_IO. */
MUST_USE status merge_segments(const char *dir, uint32_t number, const struct merge_input *in, size_t count,
                               const atomic_bool *stop, uint32_t *docs, size_t *bad);
