/* seen_file.h - the sorted key file of one partition of the seen set. Inside store/ only.
 *
 *     header   "orbseen1", u32 partition, u32 version, u64 count, u32 crc32c of the above, u32 0
 *     keys     count x u64, little-endian, ascending
 *
 * A file never changes once it has its name; a merge writes the next version. */
#pragma once

#include "store/file.h"

struct seen_file {
    uint32_t version;     /* 0: there is none */
    struct mapped *map;   /* owned */
    const uint64_t *keys; /* inside map, little-endian */
    size_t n;
};

void seen_file_path(const char *dir, unsigned part, uint32_t version, struct buf *out);
void seen_file_temp_path(const char *dir, unsigned part, struct buf *out);
/* Version 0: a temporary file. */
bool seen_file_parse_name(const char *name, unsigned *part, uint32_t *version);

MUST_USE status seen_file_open(const char *dir, unsigned part, uint32_t version, struct seen_file *out);
void seen_file_close(struct seen_file *f);
/* Writes the union of `old` and the sorted keys `add` as a new version, not synced. On failure nothing is left behind.
 */
MUST_USE status seen_file_merge(const char *dir, unsigned part, uint32_t version, const struct seen_file *old,
                                const uint64_t *add, size_t n);
MUST_USE status seen_file_sync(const char *dir, unsigned part, uint32_t version);
uint64_t seen_file_bytes(const struct seen_file *f);

/* Place of the first key >= `key` in f. When keys are asked for in ascending order, the last answer is a good
 * hint; it only saves time, and may be anything. */
size_t seen_file_find(const struct seen_file *f, uint64_t key, size_t hint);
uint64_t seen_file_key(const struct seen_file *f, size_t at);
/* Starts fetching the cache line where the key probably is. */
void seen_file_prefetch(const struct seen_file *f, uint64_t key);
