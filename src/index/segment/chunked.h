/* chunked.h - files that are written once and read through a map, checked 64 KiB at a time on first use.
 *
 *     header   64 bytes: magic, kind, segment number
 *     body     whatever the kind is about
 *     table    a CRC-32C for every 64 KiB of header and body
 *     info     up to CHUNKED_INFO_MAX numbers of the kind
 *     footer   where the body ends, a CRC of table, info and footer
 *
 * Opening reads footer and table only. A reader is shared by threads: what it remembers of checked chunks is atomic,
 * and checking twice does no harm. A writer belongs to one thread. */
#pragma once

#include <assert.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/status.h"

#define CHUNKED_CHUNK_BITS 16
#define CHUNKED_CHUNK (1u << CHUNKED_CHUNK_BITS)
#define CHUNKED_HEADER_BYTES 64
#define CHUNKED_FOOTER_BYTES 32
#define CHUNKED_INFO_MAX 8

struct mapped;

struct chunked {
    const unsigned char *p; /* borrowed from the map, or from whoever gave the span */
    uint64_t body;          /* where it ends; it begins at CHUNKED_HEADER_BYTES */
    uint64_t file_bytes;
    const unsigned char *table; /* in the file */
    atomic_uchar *good;         /* owned: a byte a chunk, 1 when it was checked */
    uint32_t chunks, info_count;
    uint64_t info[CHUNKED_INFO_MAX];
    struct mapped *map; /* owned; NULL for a span */
};

/* ST_NOT_FOUND, ST_CORRUPT (another kind or number too), ST_NEWER, ST_IO. */
MUST_USE status chunked_open(struct chunked *f, const char *path, uint32_t kind, uint32_t number);
/* The same from bytes in memory, which must stay. */
MUST_USE status chunked_open_span(struct chunked *f, struct span bytes, uint32_t kind, uint32_t number);
void chunked_close(struct chunked *f); /* a zeroed one is fine */
/* Checks the chunks of a range that lies in the body; false when one is damaged. */
bool chunked_check(const struct chunked *f, uint64_t at, uint64_t n);
/* Reads every chunk anew, whatever was checked before: ST_CORRUPT. */
MUST_USE status chunked_check_all(const struct chunked *f);

/* n bytes of the body from `at` on, checked; NULL when they are not all in the body, or damaged. */
static inline const unsigned char *chunked_get(const struct chunked *f, uint64_t at, uint64_t n)
{
    if (n > f->body || at > f->body - n)
        return NULL;
    uint64_t first = at >> CHUNKED_CHUNK_BITS;
    bool is_checked = first == (at + n) >> CHUNKED_CHUNK_BITS && first < f->chunks &&
                      atomic_load_explicit(&f->good[first], memory_order_relaxed);
    return is_checked || chunked_check(f, at, n) ? f->p + at : NULL;
}

/* ---- writing ---- */

#define CHUNKED_ROOM_MAX CHUNKED_CHUNK
#define CHUNKED_BUFFER (4 * CHUNKED_CHUNK)

struct chunked_writer {
    int fd;                /* -1: not open */
    unsigned char *buffer; /* owned */
    size_t used;
    uint64_t flushed; /* bytes before the buffer: a multiple of the chunk */
    struct buf table; /* CRCs of those */
    status st;        /* sticky */
    int error;        /* errno of it */
};

/* Makes or empties the file. ST_FULL, ST_IO. Whatever comes back, chunked_writer_done is due. */
MUST_USE status chunked_writer_init(struct chunked_writer *w, const char *path, uint32_t kind, uint32_t number);
void chunked_writer_done(struct chunked_writer *w); /* closes; the file stays as it is */
void chunked_flush(struct chunked_writer *w);

/* Where the next byte goes, in the file. */
static inline uint64_t chunked_at(const struct chunked_writer *w)
{
    return w->flushed + w->used;
}

/* Room for n <= CHUNKED_ROOM_MAX bytes; the caller adds to `used` what it wrote. Never NULL: after a failure what is
 * written goes nowhere. */
static inline unsigned char *chunked_room(struct chunked_writer *w, size_t n)
{
    assert(n <= CHUNKED_ROOM_MAX);
    if (w->used + n > CHUNKED_BUFFER)
        chunked_flush(w);
    return w->buffer + w->used;
}

/* Failures are remembered: chunked_finish, or w->st, tells. */
void chunked_put(struct chunked_writer *w, struct span s);
void chunked_pad(struct chunked_writer *w, unsigned to); /* zeros, until the offset is a multiple of `to` */
/* Writes what is left, the table and the footer, and syncs. */
MUST_USE status chunked_finish(struct chunked_writer *w, const uint64_t *info, uint32_t info_count);
