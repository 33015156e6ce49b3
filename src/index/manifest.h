/* manifest.h - the file that says which segments make up the index: a commit is the moment it is renamed into place.
 *
 * Packing is pure; docs/formats/index.md has it byte by byte. Inside src/index only. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define MANIFEST_VERSION 1
#define MANIFEST_SEGMENTS_MAX 16384
#define MANIFEST_BYTES_MAX (1u << 20)

struct manifest_segment {
    uint32_t number;
    uint32_t docs, dead;
    uint64_t tombs; /* generation of its tombstone file; 0: there is none, and none of the documents is dead */
    uint64_t bytes; /* of the segment's files */
};

struct manifest {
    uint64_t identity;   /* drawn when the index was made: numbers below mean nothing across two indexes */
    uint64_t generation; /* one more with every manifest */
    uint64_t applied;    /* how far the caller's log is in here */
    uint32_t next_segment;
    uint32_t dictionary_bytes, dictionary_crc; /* of the file "dictionary"; 0 bytes: there is none */
    struct manifest_segment *segments;         /* owned */
    size_t segment_count;
};

void manifest_done(struct manifest *m);
void manifest_pack(const struct manifest *m, struct buf *out);
/* ST_NEWER: a later format. ST_CORRUPT: damaged, or made by other rules of analysis or ranking; *why (may be NULL) gets
 * the reason. */
MUST_USE status manifest_unpack(struct span packed, struct manifest *out, struct buf *why);

/* ST_NOT_FOUND: there is no index. */
MUST_USE status manifest_read(const char *dir, struct manifest *out, struct buf *why);
/* Safe against a kill. When it fails the new one may be in place all the same (the folder's sync failed): read it. */
MUST_USE status manifest_write(const char *dir, const struct manifest *m);
