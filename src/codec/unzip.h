/* unzip.h - bytes that come piece by piece, plain, gzip or zstd; the plain bytes go out piece by piece. Pure; one
 * thread.
 *
 * Which of the three it is, is told by the first four bytes. Memory is bounded whatever the size: 64 KiB, and the
 * window that a zstd frame asks for (ZIP_WINDOW_LOG_MAX). */
#pragma once

#include "base/buf.h"
#include "base/status.h"

struct unzip;

/* `take` gets the plain bytes; a piece lives until it returns. More than `max` bytes in all are ST_LIMIT. */
struct unzip *unzip_new(uint64_t max, void (*take)(void *self, struct span piece), void *self);
void unzip_free(struct unzip *u); /* NULL is fine */
/* ST_CORRUPT, ST_LIMIT: no more comes out, and all later calls say the same. */
MUST_USE status unzip_feed(struct unzip *u, struct span piece);
/* The rest. ST_CORRUPT: it was cut short. */
MUST_USE status unzip_end(struct unzip *u);
