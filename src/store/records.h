/* records.h - an append-only file of typed, checksummed records: the journal and the checkpoint are made of it.
 *
 *     header   "orbrec1\n", u32 kind, u64 generation, u32 crc32c of the above
 *     record   u32 length of payload, u32 crc32c of (type, payload), u8 type, payload
 *
 * Appending unbuffered is one write(2) a record, so that a kill loses nothing that was appended and a power cut at most
 * what was not yet synced. A torn last record is cut off by the reader, and said. One thread a writer. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define RECORDS_PAYLOAD_MAX (64u << 20)

struct records_writer;

/* Creates the file (fails with ST_EXISTS when it is there). `buffer` 0: each record is written at once. */
MUST_USE status records_create(const char *path, uint32_t kind, uint64_t generation, size_t buffer,
                               struct records_writer **out);
/* After an error the file is cut back to the last whole record where possible, and the same call may be tried again. */
MUST_USE status records_append(struct records_writer *w, uint8_t type, struct span payload);
/* Several records in one write: pack them first (records_frame; a payload is at most RECORDS_PAYLOAD_MAX), then append.
 */
void records_frame(struct buf *out, uint8_t type, struct span payload);
MUST_USE status records_append_framed(struct records_writer *w, struct span framed);
MUST_USE status records_flush(struct records_writer *w); /* the buffer to the kernel */
/* Flush and fdatasync; may be called by another thread when unbuffered. Once the disk failed it fails for good: the
 * kernel has dropped the pages and a later success would mean nothing. Start another file then. */
MUST_USE status records_sync(struct records_writer *w);
uint64_t records_bytes(const struct records_writer *w);
void records_close(struct records_writer *w); /* no flush; NULL is fine */

/* Called for each whole record in order; a status other than ST_OK stops the reading and is returned. */
typedef status records_fn(void *arg, uint8_t type, struct span payload);

struct records_info {
    uint64_t generation;
    uint64_t good_bytes; /* up to the end of the last whole record */
    uint64_t file_bytes;
    bool was_torn; /* something after good_bytes did not check out */
};

/* A file shorter than its header (killed while it was made) is torn, with no record and generation 0. A checkpoint that
 * was synced before it got its name is never torn, so there was_torn means damage. *info (may be NULL) is untouched
 * unless ST_OK. ST_NOT_FOUND, ST_CORRUPT (bad header, other kind), ST_NEWER (unknown header version), or what fn
 * returned. */
MUST_USE status records_read(const char *path, uint32_t kind, records_fn *fn, void *arg, struct records_info *info);

/* The same of a file whose records do not need each other: what does not check out is passed over, up to the next
 * record that does. A record is looked for at every byte where `begins` says that one may begin, by its type, its
 * length and the beginning of its payload; its checksum is looked at then. */
#define RECORDS_BEGIN_BYTES 32 /* of the payload, or all of it when it is shorter */
typedef bool records_begin_fn(void *arg, uint8_t type, uint32_t length, struct span payload);
MUST_USE status records_salvage(const char *path, uint32_t kind, records_fn *fn, records_begin_fn *begins, void *arg,
                                struct records_info *info);

/* Writes the header anew, over one that is damaged; the records behind it have checksums of their own. */
MUST_USE status records_mend_header(const char *path, uint32_t kind, uint64_t generation);
