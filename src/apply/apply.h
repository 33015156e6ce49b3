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
    bool no_documents;   /* what nobody has read is not searchable by its name */
    size_t index_memory; /* 0: the index's default */
    unsigned builders;   /* threads; 0: the index's default */
    const struct log *log;
    void (*progress)(void *arg, uint64_t done, uint64_t all); /* while an index is made anew; may be NULL */
    void *progress_arg;
    void (*erasing)(void *arg, const char *what, uint64_t done, uint64_t all); /* while pages are erased; may be NULL */
};

/* Pages that were taken out so that nothing of them is left on the disk. */
struct apply_erased {
    uint64_t pages, texts; /* texts: those that could be searched */
    bool was_remade;       /* contents and index were written anew, because the dictionary had something of them */
    bool is_log_in_use;    /* another process reads the folder: the database's log may have them until it has ended */
};

struct apply_start {
    uint64_t caught_up;         /* contents that the index did not have yet */
    struct apply_erased erased; /* what was to be forgotten and still there */
    bool was_rebuilt; /* the index was missing, damaged or of other rules, and is made anew from the contents */
};

/* Opens contents and index, brings the index up to the contents. `why` gets one phrase for people on failure. */
MUST_USE status apply_open(const struct apply_opts *o, struct apply **out, struct apply_start *start, struct buf *why);
void apply_free(struct apply *a); /* rolls back an open transaction; NULL is fine */

/* ST_CORRUPT/ST_NEWER: not a summary of ours; else what the disk says. Opens a transaction when none is open. *effect
 * (when given) is what the store made of the visit. */
MUST_USE status apply_summary(struct apply *a, struct span packed, struct visit_effect *effect);
MUST_USE status apply_begin(struct apply *a); /* for other writes to the store; harmless when one is open */
MUST_USE status apply_commit(struct apply *a);
void apply_rollback(struct apply *a);
unsigned apply_pending(const struct apply *a); /* summaries in the open transaction */
/* Everything committed becomes searchable soon. Cheap when there is nothing new. */
MUST_USE status apply_publish(struct apply *a);
MUST_USE status apply_finish(struct apply *a);

/* Near-duplicates among the pages that are there (alike.h), when `least_changes` contents came since they were looked
 * for last; 0 or 1: any. Reads and writes files of its own only. What goes wrong is logged, and is put right the next
 * time.
 */
void apply_find_alike(struct apply *a, uint64_t least_changes);

/* ---- taking pages out, so that nothing of them is left on the disk ---- */

/* Settings, put in the same transaction as a place that is to be forgotten. The first: whoever opens the folder next
 * takes out what is there of it. The second, in a coordinator's folder: what it has besides, WARC records and links,
 * has not been gone over since. */
#define APPLY_FORGET_SETTING "forget_pending"
#define APPLY_FORGET_FILES_SETTING "forget_files_pending"
MUST_USE status apply_forget_soon(struct store *s);

/* Looks again which places the store remembers as forgotten, takes out what is there of them; visits of theirs are
 * dropped from now on. After a kill apply_open goes on. */
MUST_USE status apply_forget(struct apply *a, struct apply_erased *out);
/* The pages that fn says yes to. */
typedef bool apply_erase_fn(void *arg, const struct page *p);
MUST_USE status apply_erase(struct apply *a, apply_erase_fn *fn, void *arg, struct apply_erased *out);

struct apply_pruned {
    uint64_t contents_bytes, index_bytes; /* won */
};
/* Writes files anew that have something of the past: contents that no longer count, documents that are dead. */
MUST_USE status apply_prune(struct apply *a, struct apply_pruned *out);

/* How many contents there are by now; once index_applied has come so far they can be searched. */
uint64_t apply_written(const struct apply *a);

struct apply_stats {
    uint64_t index_applied, index_docs, index_segments, index_bytes, index_queued_bytes;
    bool is_looking; /* for near-duplicates */
    unsigned looked_percent;
};
void apply_get_stats(struct apply *a, struct apply_stats *out); /* any thread */

/* Where they are in a data folder; appended. */
void apply_index_dir(const char *data_dir, struct buf *out);
void apply_contents_dir(const char *data_dir, struct buf *out);
