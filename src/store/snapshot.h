/* snapshot.h - a data folder at one moment, beside whoever writes to it: a folder `.backup-PID` inside it with hard
 * links to its files and copies of its databases.
 *
 * What the order of the steps is good for:
 *
 *     index                       it may lag behind the rest: it catches up
 *     fleet.db                    packages that it knows are in the inbox, or in orb.db
 *     checkpoint, seen, frontier  of one generation: tried again when another came meanwhile
 *     journals                    grow on: a record more is a page that need not be fetched again
 *     inbox and all others
 *     orb.db                      has every page from before the checkpoint
 *     contents                    has every text that orb.db names; looked through again when files of it went, and all
 *                                 begins again when it was made anew (apply/remake.h)
 *     warc                        has every record of a package that orb.db knows; its mark first, and again when
 * another came: what is behind it does not count
 *
 * Files are never written over, only appended to and removed, so that a link keeps what it has. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define SNAPSHOT_PREFIX ".backup-"

struct snapshot_opts {
    const char *data_dir;
    bool no_index;
    /* Writes fleet.db as it is now to `path`, where the folder is a coordinator's. */
    status (*copy_fleet)(void *self, const char *path);
    void *self; /* borrowed */
};

/* The path of what was made, in *dir. ST_NOT_FOUND: no data folder; ST_UNSUPPORTED: the file system has no hard links;
 * ST_AGAIN: too much changed meanwhile. `why` gets a phrase. On failure nothing is left. */
MUST_USE status snapshot_make(const struct snapshot_opts *o, struct buf *dir, struct buf *why);
/* Removes a snapshot. */
void snapshot_remove(const char *dir);
/* Removes those that killed processes left in a data folder; how many bytes that no other name has. */
uint64_t snapshot_sweep(const char *data_dir, bool is_dry);
