/* runs.h - URLs that a frontier put away: opaque runs of bytes in append-only files.
 *
 * Files rotate at 64 MiB; each counts its live runs and is deleted once none is left and a checkpoint made since
 * then is durable. Any thread: one lock. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define RUNS_FILE_BYTES (64u << 20) /* a file this long gets no further run */
#define RUNS_BYTES_MAX (64u << 20)  /* of one run */

struct runs;

struct run_ref {
    uint32_t file;
    uint32_t bytes;
    uint64_t offset;
};

MUST_USE status runs_open(const char *dir, struct runs **out);
void runs_free(struct runs *r);

/* ST_FULL, ST_IO: nothing was put, and the same call may be tried again. ST_LIMIT: longer than RUNS_BYTES_MAX. */
MUST_USE status runs_put(struct runs *r, struct span data, struct run_ref *ref);
/* Appends the run's bytes to *out. ST_CORRUPT when its checksum fails or its file is gone. */
MUST_USE status runs_get(struct runs *r, const struct run_ref *ref, struct buf *out);
/* The run is no longer needed; its bytes stay readable until runs_settle() after the next checkpoint. Once a run. */
void runs_drop(struct runs *r, const struct run_ref *ref);
/* At start, for each run the checkpoint names (makes it live); then runs_settle() removes stray files. ST_CORRUPT:
 * there is no such file, or it is too short. */
MUST_USE status runs_keep(struct runs *r, const struct run_ref *ref);
/* Part of making a checkpoint, while nobody puts or drops: the runs are fsynced, and files without a live run are
 * marked. */
MUST_USE status runs_sync(struct runs *r);
/* The checkpoint of the last runs_sync() (or, at start, of the runs_keep() calls) is durable: marked files that are
 * still without a live run are deleted. Drops made since that runs_sync() wait for the next one. */
void runs_settle(struct runs *r);
/* What is put from here on goes to a new file: after that, no file that has a dropped run gets others. */
void runs_rotate(struct runs *r);
/* Whether the run's file has bytes of runs that were dropped; such a file goes once the others have been put again and
 * dropped, too. */
bool runs_has_dropped(struct runs *r, const struct run_ref *ref);
uint64_t runs_disk(const struct runs *r);
