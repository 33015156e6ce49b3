/* seen.h - which URLs are known: a set of 64-bit keyed hashes, 8 bytes a URL on disk.
 *
 * 64 partitions by the key's top bits. Each has an in-memory front (open addressing) and at most one sorted file of
 * keys. A full front is merged with its file into a new one; the old file stays until the next checkpoint no longer
 * needs it. Lookups in a file are by interpolation (keys are uniform), so 1 or 2 pages are touched; batches are sorted
 * first so that they walk forward.
 *
 * Durable state is what the last checkpoint names (seen_save -> seen_load); keys added later come back from the
 * journal. Keys must be uniform (siphash): order decides the place in a front too, so sorted batches walk through that
 * as well, and a front is nearly sorted when it is merged. Any thread: one lock a partition.
 *
 * When a merge fails (disk full) the front goes on up to twice its share, trying again now and then; after that
 * seen_add fails. */
#pragma once

#include "store/records.h"

#define SEEN_BATCH_MAX (1u << 26)
#define SEEN_FRONT_BYTES_MAX ((size_t)2 << 30)

struct seen;

struct seen_opts {
    size_t front_bytes; /* memory for all fronts together, up to SEEN_FRONT_BYTES_MAX; 0 = 32 MiB */
};

/* `dir` is made when missing. Starts empty; seen_load fills it from a checkpoint, then seen_settle() removes stray
 * files. */
MUST_USE status seen_open(const char *dir, const struct seen_opts *opts, struct seen **out);
void seen_free(struct seen *s);

/* For each key tells whether it was new, and adds it. The same new key twice in one batch is new once (the first).
 * All or nothing: on error (ST_FULL, ST_IO from a merge that the fronts can no longer do without; ST_LIMIT: n above
 * SEEN_BATCH_MAX) no key was added and the same call may be tried again. A batch larger than the fronts makes them grow
 * for a while. */
MUST_USE status seen_add(struct seen *s, const uint64_t *keys, size_t n, bool *is_new);
bool seen_has(struct seen *s, uint64_t key);
uint64_t seen_count(const struct seen *s);
size_t seen_memory(const struct seen *s);
uint64_t seen_disk(const struct seen *s); /* of the files in use */

/* Checkpoint: no seen_add meanwhile. Key files are fsynced, then one record of type `type` a partition is appended
 * (file version and the front's keys). A failed save changes nothing: the files of the last settled checkpoint stay. */
MUST_USE status seen_save(struct seen *s, struct records_writer *w, uint8_t type);
/* Replaces the partition that the record is about. ST_CORRUPT: the record or the file it names is bad. */
MUST_USE status seen_load(struct seen *s, struct span record);
/* The checkpoint with the last seen_save (or seen_load) is durable: files that it does not name, and that are not in
 * use, go. */
void seen_settle(struct seen *s);

/* For readers beside a running crawl: whether the set as one saved record has it holds `key` (false also when the key
 * belongs to another partition, or the file is gone). */
bool seen_record_has(const char *dir, struct span record, uint64_t key);
