/* writer.h - the thread that owns the store while a crawl runs: applies summaries, syncs the journals once a second,
 * makes checkpoints durable, lets the sink publish every few seconds.
 *
 * Work is done in the order it was handed over, so a checkpoint is committed only after every summary written before
 * it. */
#pragma once

#include "base/log.h"
#include "store/records.h"
#include "store/sink.h"

struct writer;

struct writer_opts {
    struct store *store;     /* borrowed; only the writer touches it between writer_new and writer_free */
    const struct sink *sink; /* borrowed; the same */
    const struct log *log;
    void (*sync_journals)(void *self);                        /* called once a second when something was written */
    status (*sync_archive)(void *self);                       /* before a checkpoint is durable */
    void (*checkpoint_done)(void *self, uint64_t generation); /* the checkpoint is durable */
    void (*failed)(void *self, status st, const char *doing); /* called once; the writer drops everything afterwards */
    void (*visited)(void *self, uint64_t channel, const struct visit_effect *e); /* a visit is in the store */
    void *self;
};

struct writer *writer_new(const struct writer_opts *o);
/* Takes the buffer's content (packed summaries, each behind a varint length) and leaves it empty. Any thread. */
void writer_put(struct writer *w, struct buf *batch);
/* Bytes handed over and not yet applied: callers slow down above WRITER_QUEUE_MAX. */
#define WRITER_QUEUE_MAX (32u << 20)
size_t writer_backlog(struct writer *w);
/* Visits applied so far that found the page as it was. */
uint64_t writer_unchanged(const struct writer *w);
/* Hosts and the progress text for readers in other processes: replaces what was there. Takes the buffers. */
void writer_put_host(struct writer *w, struct span host, struct span packed);
void writer_put_progress(struct writer *w, struct span json);
/* A checkpoint file at tmp_path, fully written and flushed: sync, rename to final_path, then checkpoint_done. Takes
 * `file`. */
void writer_put_checkpoint(struct writer *w, struct records_writer *file, uint64_t generation, const char *tmp_path,
                           const char *final_path);
/* A channel's packed form. Any thread, as the two above. */
void writer_put_channel(struct writer *w, uint64_t id, struct span packed);
/* Copies of pages from elsewhere (store_page_restore), as writer_pack_page made them. Takes the buffer's content. */
void writer_pack_page(struct buf *pages, const struct page *p);
void writer_put_pages(struct writer *w, struct buf *pages);
/* What somebody says of pages (store_page_tell), as writer_pack_told made it. Takes the buffer's content. */
void writer_pack_told(struct buf *told, uint64_t key, wall_ms at);
void writer_put_told(struct writer *w, struct buf *told);
/* Good pages that came with writer_put_pages and were not known. */
uint64_t writer_restored(const struct writer *w);
/* Waits until everything handed over so far is done and committed; a checkpoint among it is durable then. ST_OK, or the
 * first failure. Not the writer's own thread. */
MUST_USE status writer_settle(struct writer *w);
/* Finishes everything handed over, commits, syncs, and makes it searchable, which may take minutes: meanwhile calls
 * `waiting` a few times a second, unless it is NULL. ST_OK, or the first failure. */
MUST_USE status writer_finish(struct writer *w, void (*waiting)(void *arg), void *arg);
void writer_free(struct writer *w); /* drops what is not done */
