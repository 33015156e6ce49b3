/* remake.h - the contents of a folder written anew, compressed with what is learnt from the pages that are there now.
 *
 *     contents.new     being written: all contents that count, numbered from 1; removed when nobody finished it
 *     contents_swap    a setting: contents.new is whole, and takes the place of contents
 *     contents.old     on its way out
 *
 * The index has the same compressed bytes, so it goes with the old ones and is made anew when it is opened. A kill at
 * any moment leaves the old ones or the new ones. Inside src/apply only. */
#pragma once

#include "codec/zip.h"
#include "store/store.h"

typedef void remake_progress_fn(void *arg, const char *what, uint64_t done, uint64_t all);

/* Writes contents.new and the setting. `dict` is that of the old ones. */
MUST_USE status remake_write(struct store *s, const struct zip_dict *dict, remake_progress_fn *progress, void *arg);
/* Before contents and index are opened: ends what remake_write has begun, whoever it was. Cheap when nobody did. */
MUST_USE status remake_finish(struct store *s);
