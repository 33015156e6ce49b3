/* changes.h - histories of pages that really changed, read from a file: docs/formats/changes.md.
 *
 * "path<TAB>TIME+KIND TIME+KIND ...", times in seconds since 1970 in order, kind A (added), M (changed) or D (removed);
 * B behind it: one of many pages that one edit touched. Lines that begin with # are left out. The file may be .zst. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/span.h"
#include "base/status.h"

#define CHANGES_MAX ((size_t)1 << 26)

struct change_history {
    struct span path;
    const uint32_t *times; /* borrowed: seconds; when it was added first, then every change */
    size_t count;
    uint32_t removed; /* 0: it is still there */
};

struct changes {
    struct change_history *list; /* owned; at least one time each */
    size_t count;
    uint32_t *times; /* owned */
    uint32_t first, last;
    struct arena text;
};

struct changes_opts {
    bool has_mass_edits; /* keep those marked B: else they are no change */
    bool by_folder;      /* a history for each folder that has pages: whatever changes in it */
};
/* ST_NOT_FOUND, ST_INVALID, ST_LIMIT, ...: `why` has file, line and what is wrong. */
MUST_USE status changes_read(const char *path, const struct changes_opts *o, struct changes *out, struct buf *why);
/* The same of a text that is there already, under a name for complaints. */
MUST_USE status changes_read_text(struct span text, const char *name, const struct changes_opts *o, struct changes *out,
                                  struct buf *why);
void changes_done(struct changes *c); /* zeroed is fine */
