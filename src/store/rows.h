/* rows.h - a file of rows of 64-bit numbers, checksummed, written once and then only replaced: what is made from other
 * data and looked up by its first number.
 *
 *     header   "orbrows1", u32 kind, u32 numbers a row, u64 rows, u64 stamp, u32 crc32c of the rows, u32 crc32c of the
 *              header before it
 *     rows     u64, little-endian
 *
 * A file gets its name when it is whole and on the disk: until then the old one stays. Readers map it; one that was
 * replaced stays valid for those who have it open. A writer is one thread's; a reader any thread's. */
#pragma once

#include <endian.h>

#include "base/status.h"
#include "store/file.h"

struct rows_writer;

/* Writes beside `path`. What a killed writer left there is written over. */
MUST_USE status rows_create(const char *path, uint32_t kind, unsigned width, struct rows_writer **out);
MUST_USE status rows_put(struct rows_writer *w, const uint64_t *row);
/* The file gets its name. Frees the writer, whatever comes of it. */
MUST_USE status rows_commit(struct rows_writer *w, uint64_t stamp);
void rows_abandon(struct rows_writer *w); /* removes what was written; NULL is fine */

/* All zeros: no rows. */
struct rows {
    struct mapped *map; /* owned */
    const uint64_t *at; /* inside map */
    size_t count;
    unsigned width;
    uint64_t stamp;
};

/* Checks all of it. ST_NOT_FOUND, ST_CORRUPT (also another kind or width), ST_NEWER, ST_IO. */
MUST_USE status rows_open(const char *path, uint32_t kind, unsigned width, struct rows *out);
/* For rows that nobody needs later: opens what was written, without a name on the disk and without waiting for it.
 * Frees the writer, whatever comes of it. */
MUST_USE status rows_keep(struct rows_writer *w, struct rows *out);
void rows_close(struct rows *r);

static inline uint64_t rows_number(const struct rows *r, size_t row, unsigned i)
{
    return le64toh(r->at[row * r->width + i]);
}

/* Place of the first row whose first number is not below `key`, when they ascend: r->count when there is none. */
size_t rows_find(const struct rows *r, uint64_t key);
/* Whether the row at rows_find(key) is of that key. */
bool rows_has(const struct rows *r, uint64_t key, size_t *at);
