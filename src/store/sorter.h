/* sorter.h - puts more rows of 64-bit numbers into order than memory holds.
 *
 * Rows go in, in any order; after sorter_sort they come out by the first key_bits bits of their first number, and rows
 * that have these in common in the order they went in. While they fit into half of the memory given nothing touches the
 * disk; else sorted runs go to a file that has no name any more, so that a kill leaves nothing. One thread. */
#pragma once

#include "base/status.h"

#define SORTER_WIDTH_MAX 32 /* numbers a row */

struct sorter;

struct sorter_opts {
    const char *path; /* a file that may be made here; copied */
    unsigned width;   /* numbers a row */
    unsigned key_bits;
    size_t memory; /* bytes, of everything */
};

struct sorter *sorter_new(const struct sorter_opts *o);
void sorter_free(struct sorter *s); /* NULL is fine */

/* ST_FULL, ST_IO. */
MUST_USE status sorter_add(struct sorter *s, const uint64_t *row);
/* Nothing may be added from here on. May be called again: it begins at the first row then. */
MUST_USE status sorter_sort(struct sorter *s);
/* ST_END: that was the last. */
MUST_USE status sorter_next(struct sorter *s, uint64_t *row);
uint64_t sorter_count(const struct sorter *s);
/* Empty again, with other key bits perhaps. */
void sorter_clear(struct sorter *s, unsigned key_bits);
