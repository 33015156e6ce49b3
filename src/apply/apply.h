/* apply.h - summaries into store, contents and index, exactly once in effect.
 *
 * A summary may be applied any number of times, in any order: the store keeps, per page, the visit with the highest
 * fetch number, and only what that changes goes on to the contents (the log of page texts) and from there to the index.
 *
 *     apply_summary   page table, contents log, anchors            in the open transaction
 *     apply_commit    contents on the disk, then the transaction   once a second
 *     apply_publish   what was committed goes into the index       every few seconds, in the background
 *     apply_finish    anchors gathered, everything searchable      at the end of a crawl
 *
 * A kill between any two of these loses nothing: the index remembers the number of the last content that is in it, and
 * apply_open adds what comes later. One thread at a time. */
#pragma once

#include "base/log.h"
#include "store/store.h"

struct apply;

struct apply_opts {
    struct store *store; /* borrowed; open for writing */
    bool no_index;       /* pages are only written down */
    size_t index_memory; /* 0: the index's default */
    unsigned builders;   /* threads; 0: the index's default */
    const struct log *log;
    void (*progress)(void *arg, uint64_t done, uint64_t all); /* while an index is made anew; may be NULL */
    void *progress_arg;
};

struct apply_start {
    uint64_t caught_up; /* contents that the index did not have yet */
    bool was_rebuilt;   /* the index was missing, damaged or of other rules, and is made anew from the contents */
};

/* Opens contents and index, brings the index up to the contents. `why` gets one phrase for people on failure. */
MUST_USE status apply_open(const struct apply_opts *o, struct apply **out, struct apply_start *start, struct buf *why);
void apply_free(struct apply *a); /* rolls back an open transaction; NULL is fine */

/* ST_CORRUPT/ST_NEWER: not a summary of ours; else what the disk says. Opens a transaction when none is open. *outcome
 * (when given) is what the store made of the visit. */
MUST_USE status apply_summary(struct apply *a, struct span packed, visit_outcome *outcome);
MUST_USE status apply_begin(struct apply *a); /* for other writes to the store; harmless when one is open */
MUST_USE status apply_commit(struct apply *a);
void apply_rollback(struct apply *a);
unsigned apply_pending(const struct apply *a); /* summaries in the open transaction */
/* Everything committed becomes searchable soon. Cheap when there is nothing new. */
MUST_USE status apply_publish(struct apply *a);
MUST_USE status apply_finish(struct apply *a);

struct apply_stats {
    uint64_t index_docs, index_segments, index_bytes, index_queued_bytes;
};
void apply_get_stats(struct apply *a, struct apply_stats *out); /* any thread */

/* Where they are in a data folder; appended. */
void apply_index_dir(const char *data_dir, struct buf *out);
void apply_contents_dir(const char *data_dir, struct buf *out);
