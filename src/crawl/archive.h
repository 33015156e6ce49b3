/* archive.h - answers as they came: into WARC files (`orb crawl --warc`), or packed beside a visit for whoever makes
 * the files (an agent's tasks).
 *
 * A shard's records wait in memory for the end of its turn and are written before its journal: what the journal calls
 * done is in the archive. One shard's thread each. */
#pragma once

#include "base/arena.h"
#include "base/rng.h"
#include "io/fetcher.h"
#include "store/warc_files.h"

struct archive {
    struct warc_files *files; /* borrowed; NULL: none */
    struct warc_writer *writer;
    struct rng rng;
    struct buf records;
    struct warc_note *notes; /* owned; their URLs are in `strings` */
    size_t note_count, note_cap;
    struct arena strings;
    struct buf facts, original;
};

void archive_init(struct archive *a, struct warc_files *files, member_kind kind);
void archive_done(struct archive *a);
/* May the request have conditions? Not as long as there is nothing that a 304 could refer to. */
bool archive_has(struct archive *a, struct span url);
/* `facts`: lines for the metadata record. */
void archive_take(struct archive *a, struct span url, const struct fetch_result *r, struct span facts);
MUST_USE status archive_flush(struct archive *a);
static inline bool archive_is_waiting(const struct archive *a)
{
    return a->records.n > 0;
}

/* The capture of an answer; its texts live as long as the result's, `address` is for the address. */
struct warc_capture capture_of(struct span url, const struct fetch_result *r, char address[ADDR_TEXT_MAX]);
