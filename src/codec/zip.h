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

/* ---- many small records of one kind ---- */

#define ZIP_DICT_BYTES (32u << 10)

/* A dictionary, ready for both directions. Immutable: shared by threads. */
struct zip_dict;
/* Trains one from samples laid end to end, the length of each in `sizes`; appended to *out, at most ZIP_DICT_BYTES.
 * ST_INVALID: too few or too alike to learn from. Some 40 ms for 300 kB. */
MUST_USE status zip_dict_train(struct span samples, const size_t *sizes, size_t count, struct buf *out);
MUST_USE status zip_dict_new(struct span dictionary, int level, struct zip_dict **out); /* ST_CORRUPT */
void zip_dict_free(struct zip_dict *d);                                                 /* NULL is fine */

/* Contexts kept between records: making one costs more than a small record. One thread each. */
struct zipper;
struct zipper *zipper_new(int level);
void zipper_free(struct zipper *z);
void zipper_run(struct zipper *z, const struct zip_dict *d, struct span in, struct buf *out); /* d may be NULL */
struct unzipper;
struct unzipper *unzipper_new(void);
void unzipper_free(struct unzipper *u);
/* What a frame says that it becomes, by its first bytes; ST_CORRUPT: it does not say, and unzipper_run would not take
 * it.
 */
MUST_USE status unzip_size(struct span in, uint64_t *out);
/* One frame, made with `d` or without any. ST_LIMIT, ST_CORRUPT (another dictionary too). Appends. */
MUST_USE status unzipper_run(struct unzipper *u, const struct zip_dict *d, struct span in, size_t max, struct buf *out);
