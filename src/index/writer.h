/* writer.h - the writing side of the index: what its threads share.
 *
 *     caller      index_add, index_delete: into the queue of builder (key % builders)
 *     builders    analyse, gather, flush to segments that nobody sees yet; at a seal, hand those to `sealed`
 *     committer   asks all builders for a seal, then joins `sealed` to the segments there are (change.h)
 *     mergers     put several segments, or one with many dead, into one; two of them, for small and for large ones, so
 *                 that a long merge does not let small segments pile up
 *
 * Two locks. `lock` is held for moments and guards everything here but `parts` for writing. `change` is held while a
 * manifest is made, by the committer or by a merger; parts are changed with both held and read with either. `change`
 * comes first. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/table.h"
#include "index/accumulate.h"
#include "index/index.h"
#include "index/snapshot.h"
#include "index/tombs.h"

struct part {
    struct shared_segment *shared; /* counted */
    struct tombs *tombs;           /* counted; NULL: none is dead */
};

struct parts {
    struct part *p; /* owned */
    size_t n, cap;
};

/* Takes over the references. */
void parts_add(struct parts *ps, struct part p);
void part_list_done(struct parts *ps);

struct deletion {
    uint64_t key, fetch_number;
};

/* What is on disk or noted but not committed. Segments of one builder come in the order of their making. */
struct batch {
    struct parts parts;
    struct deletion *deletions; /* owned */
    size_t deletion_count, deletion_cap;
};

/* Appends `from` to `to` and empties it. */
void batch_move(struct batch *to, struct batch *from);
void batch_done(struct batch *b);

struct item;

struct builder {
    struct index *ix;
    pthread_t thread;
    bool has_thread;
    /* under the lock: */
    struct item *first, **last;
    uint64_t seal; /* the last one reached */
    pthread_cond_t work;
    /* of the thread: */
    struct accumulator *acc;
    struct batch batch;
    struct table deleted; /* key to number in batch.deletions + 1 */
    atomic_size_t memory_bytes;
};

struct merger {
    struct index *ix;
    pthread_t thread;
    bool has_thread;
    bool is_for_small;
};

struct index {
    char *dir;
    size_t share; /* of memory, a builder */
    uint64_t seed;
    const struct log *log;
    int lock_fd;
    atomic_bool is_stopping;

    pthread_mutex_t change, lock;
    pthread_cond_t progress; /* room in the queue, a seal, a commit, a failure */
    pthread_cond_t merging;  /* something to merge may have come, or a merge has ended */

    struct parts parts;
    uint64_t identity, generation, applied;
    uint32_t dictionary_bytes, dictionary_crc;
    bool is_unsynced;   /* the manifest is in place, but the folder's sync failed; or the dictionary is new */
    struct buf garbage; /* under change: paths to remove after the next manifest, NUL after each */

    atomic_uint next_segment;
    struct batch sealed;
    status failure; /* of a flush or a commit; sticky until the next attempt */
    uint64_t attempt;
    uint64_t queued_bytes;

    uint64_t seal_wanted; /* the last one asked for, one a commit */
    uint64_t commit_wanted, commit_done;
    uint64_t commit_applied;
    status commit_status;
    pthread_cond_t commit;
    pthread_t committer;
    bool has_committer;

    struct merger mergers[2];
    bool no_merge;
    unsigned merges_running;
    bool is_merge_failing; /* the last one failed: wait for the next commit */

    struct builder *builders; /* owned */
    unsigned builder_count;

    atomic_ullong added, replaced, flushes, merges, merged_docs;
};

/* builder.c */
status builder_start(struct builder *b, struct index *ix);
void builder_join(struct builder *b); /* after is_stopping */
/* The lock is held. */
void builder_push(struct builder *b, struct item *it);
struct item *item_add(const struct index_doc *doc);
struct item *item_delete(uint64_t key, uint64_t fetch_number);
struct item *item_seal(uint64_t number);
size_t item_bytes(const struct item *it);

/* merger.c */
status merger_start(struct index *ix);
void merger_join(struct index *ix);
