/* import_files.h - the files that `orb import` and `orb warc` read: found, opened, read piece by piece with a progress
 * line. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

#define IMPORT_FILES_MAX 65535 /* in one command */

struct import_file {
    const char *name; /* for people: of a file in a WACZ both names */
    const char *path; /* opened when it is read */
    int spool;        /* what came through a pipe, in a file without a name: that is read instead; -1: none. Borrowed */
    uint64_t first, bytes; /* where it begins, and how long it is */
    const char *wrong;     /* static: why it is no archive, and what to do; NULL: nobody knows yet */
};

struct import_files {
    struct arena arena;       /* of the paths */
    struct import_file *list; /* owned */
    size_t n, cap;
    uint64_t bytes; /* of all */
    int *spools;    /* owned */
    size_t spool_count, spool_cap;
};

/* Files as given, "-" for standard input, and of folders everything under them that is called like an archive, in the
 * order of its names; of zip files, as WACZ are, the archives in them. Complains by itself; returns an exit code. */
int import_files_gather(const char *command, const struct span *args, size_t count, struct import_files *out);
void import_files_done(struct import_files *f);
/* That the file is no archive, and what to do with it. Returns an exit code. */
int import_file_complain(const char *command, const struct import_file *f);

/* A line on the terminal while files are read. */
struct import_meter {
    bool is_on, is_up;
    const char *doing;
    uint64_t done, all; /* bytes */
    uint64_t pages;
    int64_t last;
};
void import_meter_show(struct import_meter *m);
void import_meter_clear(struct import_meter *m);

typedef status import_take_fn(void *arg, struct span piece);
/* From `from` to its end, or until `take` returns something else than ST_OK, which is returned then. ST_IO.
 * ST_INVALID: of one that is known to be no archive. `meter` may be NULL. */
MUST_USE status import_file_read(const struct import_file *f, uint64_t from, uint64_t most, struct import_meter *meter,
                                 import_take_fn *take, void *arg);
