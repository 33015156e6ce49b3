#include "crawl/writer.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pack.h"
#include "io/clock.h"
#include "store/file.h"
#include "web/facts.h"
#include "web/summary.h"

#define COMMIT_RECORDS 5000 /* in a transaction, at most */
#define COMMIT_MS 1000      /* and no longer than this */
#define PUBLISH_MS 2000     /* with an index: both together, and a page can be found 3 to 4 s after it came */

typedef enum item_kind {
    ITEM_SUMMARIES,
    ITEM_HOST,
    ITEM_PROGRESS,
    ITEM_CHANNEL,
    ITEM_PAGES,
    ITEM_TOLD,
    ITEM_CHECKPOINT,
    ITEM_SETTLE
} item_kind;

struct item {
    struct item *next;
    item_kind kind;
    struct buf data;             /* owned */
    size_t name_len;             /* ITEM_HOST: data is name, then packed */
    struct records_writer *file; /* ITEM_CHECKPOINT, owned */
    uint64_t generation;         /* ITEM_CHECKPOINT; ITEM_CHANNEL: its id; ITEM_SETTLE: its ticket */
    char *tmp_path, *final_path; /* owned */
};

struct writer {
    struct writer_opts o;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct item *first, *last;
    size_t backlog;
    atomic_uint_fast64_t unchanged, restored;
    uint64_t tickets, settled; /* of writer_settle: given out; reached */
    bool is_stopping, is_idle, is_draining;
    status failure; /* set once */
    /* the thread's own */
    int64_t last_commit, last_sync, last_publish;
    bool is_dirty, journals_dirty, is_unpublished;
};

static void item_free(struct item *i)
{
    records_close(i->file);
    buf_done(&i->data);
    free(i->tmp_path);
    free(i->final_path);
    free(i);
}

static void push(struct writer *w, struct item *i)
{
    pthread_mutex_lock(&w->lock);
    if (w->last)
        w->last->next = i;
    else
        w->first = i;
    w->last = i;
    w->backlog += i->data.n;
    w->is_idle = false;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

/* ---- the thread ---- */

static void fail(struct writer *w, status st, const char *doing)
{
    pthread_mutex_lock(&w->lock);
    bool first = w->failure == ST_OK;
    if (first)
        w->failure = st;
    pthread_mutex_unlock(&w->lock);
    if (first)
        w->o.failed(w->o.self, st, doing);
    /* Half of a page may be in the transaction; the journal has all of it. */
    w->o.sink->rollback(w->o.sink->self);
    w->is_dirty = false;
}

static status commit(struct writer *w, bool must)
{
    bool is_done = false;
    status st = w->o.sink->commit(w->o.sink->self, must, &is_done);
    if (st != ST_OK || is_done)
        w->is_dirty = false;
    w->last_commit = clock_mono(); /* a sink that waits for more is asked again after the same while */
    return st;
}

static status begin(struct writer *w)
{
    w->is_dirty = true;
    return w->o.sink->begin(w->o.sink->self);
}

/* Where a packed summary has its channel: docs/formats/summary.md. */
static uint64_t channel_of(struct span packed)
{
    struct unpack u = unpack_of(packed);
    (void)unpack_u8(&u);
    (void)unpack_var(&u);
    return unpack_u64(&u);
}

static status apply_batch(struct writer *w, struct span batch)
{
    struct unpack u = unpack_of(batch);
    status st = ST_OK;
    struct visit_effect effect;
    while (st == ST_OK && !unpack_at_end(&u)) {
        struct span packed = unpack_text(&u, SUMMARY_BYTES_MAX);
        w->is_dirty = true;
        st = w->o.sink->visit(w->o.sink->self, packed, &effect);
        if (st == ST_OK && effect.outcome == VISIT_UNCHANGED && !(effect.page_flags & PAGE_LIST))
            atomic_fetch_add(&w->unchanged, 1);
        if (st == ST_OK)
            w->o.visited(w->o.self, channel_of(packed), &effect);
        if (st == ST_OK && w->o.sink->pending(w->o.sink->self) >= COMMIT_RECORDS)
            st = commit(w, true);
    }
    w->journals_dirty = w->is_unpublished = true;
    return st;
}

/* ---- pages from elsewhere ---- */

void writer_pack_page(struct buf *b, const struct page *p)
{
    pack_u64(b, p->key);
    pack_u64(b, p->channel);
    pack_u64(b, (uint64_t)p->at);
    pack_var(b, p->http_status);
    pack_var(b, p->depth);
    pack_var(b, p->page_flags);
    pack_u64(b, p->digest);
    pack_u64(b, p->rate);
    pack_text(b, p->url);
    pack_text(b, p->etag);
    pack_text(b, p->last_modified);
}

static struct page unpack_page(struct unpack *u)
{
    struct page p = {.key = unpack_u64(u), .channel = unpack_u64(u), .at = (wall_ms)unpack_u64(u)};
    p.http_status = (uint16_t)unpack_var(u);
    p.depth = (uint16_t)unpack_var(u);
    p.page_flags = (uint16_t)unpack_var(u);
    p.digest = unpack_u64(u);
    p.rate = unpack_u64(u);
    p.url = unpack_text(u, SIZE_MAX);
    p.etag = unpack_text(u, SIZE_MAX);
    p.last_modified = unpack_text(u, SIZE_MAX);
    return p;
}

static status restore_pages(struct writer *w, struct span pages)
{
    struct unpack u = unpack_of(pages);
    status st = begin(w);
    while (st == ST_OK && !unpack_at_end(&u)) {
        struct page p = unpack_page(&u);
        bool is_new_good = false;
        assert(!u.bad);
        st = store_page_restore(w->o.store, &p, &is_new_good);
        if (is_new_good)
            atomic_fetch_add(&w->restored, 1);
    }
    return st;
}

void writer_pack_told(struct buf *b, uint64_t key, wall_ms at)
{
    pack_u64(b, key);
    pack_u64(b, (uint64_t)at);
}

static status tell_pages(struct writer *w, struct span told)
{
    struct unpack u = unpack_of(told);
    status st = begin(w);
    while (st == ST_OK && !unpack_at_end(&u)) {
        uint64_t key = unpack_u64(&u);
        wall_ms at = (wall_ms)unpack_u64(&u);
        assert(!u.bad);
        st = store_page_tell(w->o.store, key, at);
    }
    return st;
}

/* ---- the work ---- */

static status make_durable(struct writer *w, struct item *i)
{
    status st = commit(w, true);
    if (st == ST_OK)
        st = store_sync(w->o.store);
    if (st == ST_OK)
        st = w->o.sync_archive(w->o.self);
    if (st == ST_OK)
        st = records_sync(i->file);
    if (st == ST_OK && rename(i->tmp_path, i->final_path) != 0)
        st = ST_IO;
    if (st == ST_OK)
        st = file_sync_dir(store_dir(w->o.store));
    if (st == ST_OK)
        w->o.checkpoint_done(w->o.self, i->generation);
    return st;
}

static void perform(struct writer *w, struct item *i)
{
    status st = ST_OK;
    const char *doing = "write pages to the data folder";
    if (w->failure != ST_OK)
        return; /* the folder is as the journal has it; the next start replays that */
    switch (i->kind) {
    case ITEM_SUMMARIES:
        st = apply_batch(w, buf_span(&i->data));
        break;
    case ITEM_HOST:
        st = begin(w);
        if (st == ST_OK)
            st =
                store_host_put(w->o.store, span_of(i->data.p, i->name_len), span_from(buf_span(&i->data), i->name_len));
        break;
    case ITEM_PROGRESS:
        st = begin(w);
        if (st == ST_OK)
            st = store_setting_put(w->o.store, "progress", buf_span(&i->data));
        break;
    case ITEM_CHANNEL:
        st = begin(w);
        if (st == ST_OK)
            st = store_channel_put(w->o.store, i->generation, buf_span(&i->data));
        break;
    case ITEM_PAGES:
        st = restore_pages(w, buf_span(&i->data));
        break;
    case ITEM_TOLD:
        st = tell_pages(w, buf_span(&i->data));
        break;
    case ITEM_SETTLE:
        st = commit(w, true);
        break;
    case ITEM_CHECKPOINT:
        doing = "write a checkpoint to the data folder";
        st = make_durable(w, i);
        break;
    }
    if (st != ST_OK)
        fail(w, st, doing);
}

static void on_time(struct writer *w, int64_t now)
{
    status st = ST_OK;
    if (w->is_dirty && w->failure == ST_OK && now - w->last_commit >= COMMIT_MS) {
        st = commit(w, false);
        if (st != ST_OK)
            fail(w, st, "commit to the data folder");
    }
    if (st == ST_OK && w->is_unpublished && !w->is_dirty && w->failure == ST_OK &&
        now - w->last_publish >= PUBLISH_MS) {
        st = w->o.sink->publish(w->o.sink->self);
        if (st != ST_OK)
            fail(w, st, "hand the pages on");
        w->is_unpublished = false;
        w->last_publish = now;
    }
    if (w->journals_dirty && now - w->last_sync >= COMMIT_MS) {
        w->o.sync_journals(w->o.self);
        w->journals_dirty = false;
        w->last_sync = now;
    }
}

static void wait_a_little(struct writer *w)
{
    struct timespec until = clock_in(200);
    pthread_cond_timedwait(&w->changed, &w->lock, &until);
}

static void conclude(struct writer *w)
{
    status st = commit(w, true);
    if (st == ST_OK)
        st = store_sync(w->o.store);
    if (st != ST_OK) {
        fail(w, st, "commit to the data folder");
        return;
    }
    st = w->o.sink->finish(w->o.sink->self);
    if (st != ST_OK)
        fail(w, st, "hand the pages on");
}

static void *run(void *arg)
{
    struct writer *w = arg;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->first && !w->is_stopping && !w->is_draining) {
            wait_a_little(w);
            pthread_mutex_unlock(&w->lock);
            on_time(w, clock_mono());
            pthread_mutex_lock(&w->lock);
        }
        if (w->is_stopping)
            break;
        struct item *i = w->first;
        if (!i) { /* draining, and nothing left */
            pthread_mutex_unlock(&w->lock);
            if (w->failure == ST_OK)
                conclude(w);
            pthread_mutex_lock(&w->lock);
            w->is_draining = false;
            w->is_idle = true;
            pthread_cond_broadcast(&w->changed);
            continue;
        }
        w->first = i->next;
        if (!w->first)
            w->last = NULL;
        pthread_mutex_unlock(&w->lock);
        perform(w, i);
        on_time(w, clock_mono());
        pthread_mutex_lock(&w->lock);
        w->backlog -= i->data.n;
        if (i->kind == ITEM_SETTLE) {
            w->settled = i->generation;
            pthread_cond_broadcast(&w->changed);
        }
        item_free(i);
    }
    pthread_mutex_unlock(&w->lock);
    w->o.sink->rollback(w->o.sink->self);
    return NULL;
}

/* ---- handing over ---- */

struct writer *writer_new(const struct writer_opts *o)
{
    struct writer *w = mem_alloc(sizeof(*w));
    w->o = *o;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &attr);
    pthread_condattr_destroy(&attr);
    w->last_commit = w->last_sync = w->last_publish = clock_mono();
    w->is_idle = true;
    if (pthread_create(&w->thread, NULL, run, w) != 0)
        abort(); /* no thread means no memory for one */
    return w;
}

void writer_put(struct writer *w, struct buf *batch)
{
    if (!batch->n)
        return;
    struct item *i = mem_alloc(sizeof(*i));
    i->kind = ITEM_SUMMARIES;
    i->data = *batch;
    *batch = (struct buf){0};
    push(w, i);
}

uint64_t writer_unchanged(const struct writer *w)
{
    return atomic_load(&w->unchanged);
}

size_t writer_backlog(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    size_t n = w->backlog;
    pthread_mutex_unlock(&w->lock);
    return n;
}

void writer_put_host(struct writer *w, struct span host, struct span packed)
{
    struct item *i = mem_alloc(sizeof(*i));
    i->kind = ITEM_HOST;
    buf_put(&i->data, host);
    buf_put(&i->data, packed);
    i->name_len = host.n;
    push(w, i);
}

void writer_put_progress(struct writer *w, struct span json)
{
    struct item *i = mem_alloc(sizeof(*i));
    i->kind = ITEM_PROGRESS;
    buf_put(&i->data, json);
    push(w, i);
}

void writer_put_checkpoint(struct writer *w, struct records_writer *file, uint64_t generation, const char *tmp_path,
                           const char *final_path)
{
    struct item *i = mem_alloc(sizeof(*i));
    i->kind = ITEM_CHECKPOINT;
    i->file = file;
    i->generation = generation;
    i->tmp_path = mem_str(span_str(tmp_path));
    i->final_path = mem_str(span_str(final_path));
    push(w, i);
}

void writer_put_channel(struct writer *w, uint64_t id, struct span packed)
{
    struct item *i = mem_alloc(sizeof(*i));
    i->kind = ITEM_CHANNEL;
    i->generation = id;
    buf_put(&i->data, packed);
    push(w, i);
}

void writer_put_pages(struct writer *w, struct buf *pages)
{
    if (!pages->n)
        return;
    struct item *i = mem_alloc(sizeof(*i));
    i->kind = ITEM_PAGES;
    i->data = *pages;
    *pages = (struct buf){0};
    push(w, i);
}

void writer_put_told(struct writer *w, struct buf *told)
{
    if (!told->n)
        return;
    struct item *i = mem_alloc(sizeof(*i));
    i->kind = ITEM_TOLD;
    i->data = *told;
    *told = (struct buf){0};
    push(w, i);
}

uint64_t writer_restored(const struct writer *w)
{
    return atomic_load(&w->restored);
}

status writer_settle(struct writer *w)
{
    struct item *i = mem_alloc(sizeof(*i));
    i->kind = ITEM_SETTLE;
    pthread_mutex_lock(&w->lock);
    uint64_t ticket = i->generation = ++w->tickets;
    pthread_mutex_unlock(&w->lock);
    push(w, i);
    pthread_mutex_lock(&w->lock);
    while (w->settled < ticket)
        pthread_cond_wait(&w->changed, &w->lock);
    status st = w->failure;
    pthread_mutex_unlock(&w->lock);
    return st;
}

status writer_finish(struct writer *w, void (*waiting)(void *arg), void *arg)
{
    pthread_mutex_lock(&w->lock);
    w->is_draining = true;
    w->is_idle = false;
    pthread_cond_broadcast(&w->changed);
    while (!w->is_idle) {
        wait_a_little(w);
        pthread_mutex_unlock(&w->lock);
        if (waiting)
            waiting(arg);
        pthread_mutex_lock(&w->lock);
    }
    status st = w->failure;
    pthread_mutex_unlock(&w->lock);
    return st;
}

void writer_free(struct writer *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->is_stopping = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    for (struct item *i = w->first, *next; i; i = next) {
        next = i->next;
        item_free(i);
    }
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
