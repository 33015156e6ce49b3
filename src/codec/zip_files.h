/* zip_files.h - which files a zip archive (PKWARE's APPNOTE 6.3) has, and where their bytes are. A WACZ is one, with
 * WARC files in it that are stored as they are.
 *
 * Told by the directory at the archive's end, also in its form of 64 bits; the head of each file is asked only for
 * where its bytes begin. Unpacks nothing. Archives in several parts are not read. Pure: the caller reads; any thread.
 */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define ZIP_FILES_DIRECTORY_MAX (64u << 20) /* bytes: some half a million files */

struct zip_file {
    struct span name;   /* as written, any bytes; lives until the callback returns */
    uint64_t at, bytes; /* where in the archive, and how many there; inside of it */
    bool is_stored;     /* as they are: neither compressed nor encrypted */
};

/* Puts the `n` bytes from `at` on into `out`, which is empty. Never asks for bytes beyond the end. */
typedef status zip_files_read_fn(void *self, uint64_t at, size_t n, struct buf *out);
typedef status zip_files_fn(void *arg, const struct zip_file *f);

/* Every file of an archive of `bytes` bytes, in the order of its directory; folders are left out. ST_INVALID: there is
 * no directory at its end: no zip archive, or one that was cut. ST_CORRUPT: it makes no sense. ST_LIMIT. Or what `read`
 * or `fn` returned. */
MUST_USE status zip_files_each(uint64_t bytes, zip_files_read_fn *read, void *self, zip_files_fn *fn, void *arg);
