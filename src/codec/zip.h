/* zip.h - zstd and gzip in memory, with a ceiling on what comes out. Pure; any thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define ZIP_WINDOW_LOG_MAX 27 /* a zstd frame may ask for this much memory (128 MiB) and no more */

/* Append to *out. */
void zip_zstd(struct span in, int level, struct buf *out);
/* ST_LIMIT: more than `max` bytes would come out, or a frame asks for too large a window; ST_CORRUPT: not zstd / gzip,
 * cut short or damaged. *out is unchanged then. Concatenated frames / members are read through; zero bytes after the
 * last gzip member are padding. */
MUST_USE status unzip_zstd(struct span in, size_t max, struct buf *out);
MUST_USE status unzip_gzip(struct span in, size_t max, struct buf *out);
