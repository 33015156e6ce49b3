/* index_files.h - names of the files of an index, and sweeping those that nobody needs.
 *
 *     lock                     held by the process that writes
 *     manifest                 see manifest.h
 *     dictionary               that contents are compressed with
 *     NNNNNNNN.docs ...        segments: segment.h
 *     NNNNNNNN.del-GGGGGGGG    which documents of a segment are dead: tombs.h
 *
 * Inside src/index only. Paths are put in place of what the buffer has, and end in a NUL. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

struct manifest;

void index_file_lock(struct buf *path, const char *dir);
void index_file_manifest(struct buf *path, const char *dir);
void index_file_dictionary(struct buf *path, const char *dir);
void index_file_tombs(struct buf *path, const char *dir, uint32_t segment, uint64_t generation);

/* Removes every file of an index but the lock and what the manifest names (NULL: nothing, so the manifest too). Files
 * of other names stay. */
MUST_USE status index_sweep(const char *dir, const struct manifest *keep);
