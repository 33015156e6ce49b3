/* warc_purge.h - takes records out of the WARC files of a folder (warc_files.h), and old files out of it.
 *
 * A file that has records to go is written anew without them beside the old one, synced, and renamed over it: a kill
 * leaves the one or the other. A revisit that stays and has its body in a record that goes becomes the response
 * (warc_heirs.h). What is known of its bodies (seen/) goes too, so that bodies that come again are written
 * again. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

/* Is a record with this WARC-Target-URI to go? */
typedef bool warc_purge_fn(void *arg, struct span url);

struct warc_purged {
    uint64_t files, records, bytes; /* files that had such records; bytes won */
    uint64_t others;                /* web archives in the folder that are not ours, and were left as they are */
    uint64_t kept;                  /* bodies of old files that stay, because younger records refer to them */
    struct buf names;               /* of those files, a line each; the caller frees it */
};

/* `is_dry`: only counts. ST_NOT_FOUND: no such folder; ST_BUSY: somebody writes there; ST_CORRUPT: a file that was
 * closed is damaged and was left as it is, `why` (may be NULL) names the first; the others were gone over. */
MUST_USE status warc_purge(const char *dir, bool is_dry, warc_purge_fn *fn, void *arg, struct warc_purged *out,
                           struct buf *why);

/* For which list of places (a word made of it) the folder was gone over last, so that it need not be every time.
 * Whoever writes records there that the list has not seen takes the note away: an empty word. */
bool warc_listed_is(const char *dir, struct span word);
MUST_USE status warc_listed_put(const char *dir, struct span word);

/* Removes closed files, oldest first, while all of them together have more than `bytes_max` (0: no limit), and those
 * that were last written before `before` (0: none). Bodies that revisits in files that stay refer to are left, in a
 * file under the old name; nothing new will refer to them, so that they go when those revisits do. */
MUST_USE status warc_expire(const char *dir, bool is_dry, uint64_t bytes_max, wall_ms before, struct warc_purged *out);
