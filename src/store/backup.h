/* backup.h - a data folder as one file, a tar archive compressed with zstd that other tools can unpack too
 * (docs/formats/backup.md):
 *
 *     orb-backup.json     what it is, first
 *     ...                 the files of the folder, by name
 *     orb-backup.sums     SHA-256 of each, as sha256sum writes and checks them; last
 *
 * The file gets its name when it is whole and on the disk; a restored folder gets its name likewise, or
 * its database when it was there, and empty. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define BACKUP_FILES_MAX 10000000
#define BACKUP_SUMS_MAX (1u << 30)
#define BACKUP_INFO_MAX (64u << 10)

typedef void backup_progress_fn(void *arg, uint64_t done, uint64_t all);

struct backup_report {
    uint64_t files, bytes; /* in the archive, as they are in the folder */
    uint64_t file_bytes;   /* of the archive */
    struct buf info;       /* orb-backup.json; the caller frees it */
    struct buf problem;    /* what is wrong with it, for people; the caller frees it */
};
void backup_report_done(struct backup_report *r);

#define BACKUP_STDOUT "-"
/* Writes the files under `dir` (a snapshot) to `path`, which only its owner may read; to standard output, or into what
 * is there under that name and is no file. `info` is a JSON object. */
MUST_USE status backup_write(const char *dir, struct span info, const char *path, backup_progress_fn *progress,
                             void *arg, struct backup_report *out);
/* Reads all of it: every checksum. ST_CORRUPT, ST_INVALID, ST_UNSUPPORTED, ST_LIMIT: report.problem says what is wrong.
 */
MUST_USE status backup_verify(const char *path, backup_progress_fn *progress, void *arg, struct backup_report *out);
/* Makes the folder, which must not be there or be empty, from a file that was verified. ST_EXISTS. */
MUST_USE status backup_restore(const char *path, const char *dir, backup_progress_fn *progress, void *arg,
                               struct backup_report *out);
