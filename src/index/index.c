#include "index/index.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mem.h"
#include "codec/digest.h"
#include "index/change.h"
#include "index/index_files.h"
#include "index/writer.h"
#include "store/file.h"

#define MEMORY_DEFAULT (96u << 20)
#define MEMORY_LEAST (64u << 10)
#define SHARE_MAX (1u << 30) /* offsets of an accumulator have 32 bits */
#define BUILDERS_MAX 64

/* ---- the committer ---- */

static bool all_have_sealed(const struct index *ix)
{
    for (unsigned i = 0; i < ix->builder_count; i++)
        if (ix->builders[i].seal < ix->seal_wanted)
            return false;
    return true;
}

/* The lock is held. */
static status wait_for_seal(struct index *ix)
{
    while (!all_have_sealed(ix) && ix->failure == ST_OK && !atomic_load(&ix->is_stopping))
        pthread_cond_wait(&ix->progress, &ix->lock);
    if (atomic_load(&ix->is_stopping))
        return ST_CANCELLED;
    return all_have_sealed(ix) ? ST_OK : ix->failure;
}

static bool is_empty(const struct batch *b)
{
    return !b->parts.n && !b->deletion_count;
}

/* Puts what could not be committed back before what was sealed since. */
static void put_back(struct index *ix, struct batch *b)
{
    pthread_mutex_lock(&ix->lock);
    batch_move(b, &ix->sealed);
    ix->sealed = *b;
    *b = (struct batch){0};
    pthread_mutex_unlock(&ix->lock);
}

static status commit_batch(struct index *ix, struct batch *b, uint64_t applied)
{
    struct change c;
    status st = ST_OK;
    pthread_mutex_lock(&ix->change);
    if (!is_empty(b) || applied != ix->applied || ix->is_unsynced) {
        change_init(&c, ix);
        c.applied = applied;
        st = change_join(&c, b);
        if (st == ST_OK)
            st = change_install(&c, ix);
        if (st != ST_OK && !c.is_adopted)
            put_back(ix, b);
        change_done(&c);
    }
    pthread_mutex_unlock(&ix->change);
    batch_done(b);
    return st;
}

/* The lock is held, but not all the time. */
static status run_commit(struct index *ix, uint64_t applied)
{
    status st = wait_for_seal(ix);
    if (st != ST_OK)
        return st;
    struct batch b = ix->sealed;
    ix->sealed = (struct batch){0};
    pthread_mutex_unlock(&ix->lock);
    st = commit_batch(ix, &b, applied);
    pthread_mutex_lock(&ix->lock);
    return st;
}

static void *committer_main(void *arg)
{
    struct index *ix = arg;
    pthread_mutex_lock(&ix->lock);
    for (;;) {
        while (ix->commit_done == ix->commit_wanted && !atomic_load(&ix->is_stopping))
            pthread_cond_wait(&ix->commit, &ix->lock);
        if (atomic_load(&ix->is_stopping))
            break;
        status st = run_commit(ix, ix->commit_applied);
        if (st != ST_OK)
            ix->failure = st;
        ix->commit_status = st;
        ix->commit_done = ix->commit_wanted;
        pthread_cond_broadcast(&ix->progress);
    }
    pthread_mutex_unlock(&ix->lock);
    return NULL;
}

/* The lock is held; no commit is under way. */
static void ask_for_commit(struct index *ix, uint64_t applied)
{
    ix->failure = ST_OK;
    ix->attempt++;
    ix->seal_wanted++;
    ix->commit_wanted++;
    ix->commit_applied = applied;
    for (unsigned i = 0; i < ix->builder_count; i++)
        builder_push(&ix->builders[i], item_seal(ix->seal_wanted));
    pthread_cond_signal(&ix->commit);
}

static void wait_for_commit(struct index *ix)
{
    while (ix->commit_done < ix->commit_wanted)
        pthread_cond_wait(&ix->progress, &ix->lock);
}

status index_commit(struct index *ix, uint64_t applied)
{
    pthread_mutex_lock(&ix->lock);
    wait_for_commit(ix);
    ask_for_commit(ix, applied);
    wait_for_commit(ix);
    status st = ix->commit_status;
    pthread_mutex_unlock(&ix->lock);
    return st;
}

status index_commit_soon(struct index *ix, uint64_t applied)
{
    pthread_mutex_lock(&ix->lock);
    wait_for_commit(ix);
    status st = ix->failure;
    if (st == ST_OK)
        ask_for_commit(ix, applied);
    pthread_mutex_unlock(&ix->lock);
    return st;
}

/* ---- adding ---- */

static status push(struct index *ix, uint64_t key, struct item *it)
{
    pthread_mutex_lock(&ix->lock);
    while (ix->failure == ST_OK && ix->queued_bytes && ix->queued_bytes + item_bytes(it) > INDEX_QUEUE_MAX)
        pthread_cond_wait(&ix->progress, &ix->lock);
    status st = ix->failure;
    if (st == ST_OK)
        builder_push(&ix->builders[key % ix->builder_count], it);
    pthread_mutex_unlock(&ix->lock);
    if (st != ST_OK)
        free(it);
    return st;
}

status index_add(struct index *ix, const struct index_doc *doc)
{
    if (doc->url.n > SEGMENT_URL_MAX || doc->site.n > SEGMENT_SITE_MAX || doc->content.n > SEGMENT_CONTENT_MAX ||
        doc->text.n > INDEX_TEXT_MAX || doc->title.n > INDEX_TEXT_MAX || doc->anchors.n > INDEX_TEXT_MAX)
        return ST_LIMIT;
    return push(ix, doc->key, item_add(doc));
}

status index_delete(struct index *ix, uint64_t key, uint64_t fetch_number)
{
    return push(ix, key, item_delete(key, fetch_number));
}

/* ---- opening and closing ---- */

static status say(struct buf *why, status st, const char *what)
{
    if (why && !why->n)
        buf_puts(why, what);
    return st;
}

static status take_lock(struct index *ix, struct buf *why)
{
    struct buf path = {0};
    long pid = 0;
    index_file_lock(&path, ix->dir);
    status st = file_lock(path.p, &ix->lock_fd, &pid);
    if (st == ST_BUSY && why)
        buf_printf(why, "process %ld is writing to this index", pid);
    else if (st != ST_OK)
        (void)say(why, st, "the index cannot be locked");
    buf_done(&path);
    return st;
}

static status open_part(struct index *ix, const struct manifest_segment *s, struct buf *why)
{
    struct part p = {0};
    status st = shared_segment_open(ix->dir, s->number, &p.shared);
    if (st == ST_OK && (segment_docs(p.shared->segment) != s->docs || segment_bytes(p.shared->segment) != s->bytes))
        st = ST_CORRUPT;
    if (st == ST_OK && s->tombs)
        st = tombs_read(ix->dir, s->number, s->tombs, s->docs, &p.tombs);
    if (st == ST_OK && p.tombs && p.tombs->dead != s->dead)
        st = ST_CORRUPT;
    if (st == ST_OK) {
        parts_add(&ix->parts, p);
        return ST_OK;
    }
    shared_segment_unref(p.shared);
    tombs_unref(p.tombs);
    /* Under the lock nobody takes files away. */
    if (st == ST_NOT_FOUND)
        st = ST_CORRUPT;
    if (why)
        buf_printf(why, "segment %08x of the index: %s", s->number, status_name(st));
    return st;
}

static status open_parts(struct index *ix, const struct manifest *m, struct buf *why)
{
    status st = ST_OK;
    ix->identity = m->identity;
    ix->generation = m->generation;
    ix->applied = m->applied;
    ix->dictionary_bytes = m->dictionary_bytes;
    ix->dictionary_crc = m->dictionary_crc;
    atomic_init(&ix->next_segment, m->next_segment);
    for (size_t i = 0; i < m->segment_count && st == ST_OK; i++)
        st = open_part(ix, &m->segments[i], why);
    return st;
}

/* A new index has a manifest at once, so that readers find one. */
static status make_first(struct index *ix, struct manifest *m)
{
    *m = (struct manifest){.generation = 1, .next_segment = 1};
    if (getrandom(&m->identity, sizeof(m->identity), 0) != sizeof(m->identity))
        return ST_IO;
    status st = index_sweep(ix->dir, NULL);
    return st == ST_OK ? manifest_write(ix->dir, m) : st;
}

static status open_files(struct index *ix, struct buf *why)
{
    struct manifest m = {0};
    status st = file_mkdir(ix->dir);
    if (st != ST_OK)
        return say(why, st, "the folder of the index cannot be made");
    st = take_lock(ix, why);
    if (st != ST_OK)
        return st;
    st = manifest_read(ix->dir, &m, why);
    if (st == ST_NOT_FOUND) {
        if (why)
            buf_clear(why);
        st = make_first(ix, &m);
    }
    if (st == ST_OK)
        st = open_parts(ix, &m, why);
    /* What a killed run left behind. */
    if (st == ST_OK)
        st = index_sweep(ix->dir, &m);
    manifest_done(&m);
    return st == ST_OK ? ST_OK : say(why, st, "the index cannot be opened");
}

static status start_threads(struct index *ix, struct buf *why)
{
    status st = ST_OK;
    for (unsigned i = 0; i < ix->builder_count && st == ST_OK; i++)
        st = builder_start(&ix->builders[i], ix);
    if (st == ST_OK) {
        ix->has_committer = pthread_create(&ix->committer, NULL, committer_main, ix) == 0;
        st = ix->has_committer ? ST_OK : ST_IO;
    }
    if (st == ST_OK && !ix->no_merge)
        st = merger_start(ix);
    return st == ST_OK ? ST_OK : say(why, st, "no thread can be started for the index");
}

status index_open(const struct index_opts *o, struct index **out, struct buf *why)
{
    struct index *ix = mem_alloc(sizeof(*ix));
    size_t memory = o->memory ? o->memory : MEMORY_DEFAULT;
    ix->dir = mem_str(span_str(o->dir));
    ix->builder_count = !o->builders ? 1 : o->builders > BUILDERS_MAX ? BUILDERS_MAX : o->builders;
    ix->share = (memory < MEMORY_LEAST ? MEMORY_LEAST : memory) / ix->builder_count;
    if (ix->share > SHARE_MAX)
        ix->share = SHARE_MAX;
    ix->seed = o->seed;
    ix->log = o->log;
    ix->no_merge = o->no_merge;
    ix->lock_fd = -1;
    ix->builders = mem_alloc(ix->builder_count * sizeof(*ix->builders));
    pthread_mutex_init(&ix->change, NULL);
    pthread_mutex_init(&ix->lock, NULL);
    pthread_cond_init(&ix->progress, NULL);
    pthread_cond_init(&ix->merging, NULL);
    pthread_cond_init(&ix->commit, NULL);
    status st = open_files(ix, why);
    if (st == ST_OK)
        st = start_threads(ix, why);
    if (st == ST_OK)
        *out = ix;
    else
        index_close(ix);
    return st;
}

static void stop_threads(struct index *ix)
{
    pthread_mutex_lock(&ix->lock);
    atomic_store(&ix->is_stopping, true);
    for (unsigned i = 0; i < ix->builder_count; i++)
        if (ix->builders[i].ix)
            pthread_cond_broadcast(&ix->builders[i].work);
    pthread_cond_broadcast(&ix->progress);
    pthread_cond_broadcast(&ix->commit);
    pthread_cond_broadcast(&ix->merging);
    pthread_mutex_unlock(&ix->lock);
    if (ix->has_committer)
        pthread_join(ix->committer, NULL);
    for (unsigned i = 0; i < ix->builder_count; i++)
        builder_join(&ix->builders[i]);
    merger_join(ix);
}

void index_close(struct index *ix)
{
    if (!ix)
        return;
    stop_threads(ix);
    batch_done(&ix->sealed);
    part_list_done(&ix->parts);
    buf_done(&ix->garbage);
    free(ix->builders);
    pthread_cond_destroy(&ix->commit);
    pthread_cond_destroy(&ix->merging);
    pthread_cond_destroy(&ix->progress);
    pthread_mutex_destroy(&ix->lock);
    pthread_mutex_destroy(&ix->change);
    if (ix->lock_fd >= 0)
        close(ix->lock_fd);
    free(ix->dir);
    free(ix);
}

status index_erase(const char *dir)
{
    struct buf path = {0};
    int fd = -1;
    index_file_lock(&path, dir);
    status st = access(dir, F_OK) == 0 ? file_lock(path.p, &fd, NULL) : ST_NOT_FOUND;
    if (st == ST_OK)
        st = index_sweep(dir, NULL);
    if (st == ST_OK)
        st = file_sync_dir(dir);
    if (fd >= 0)
        close(fd);
    buf_done(&path);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

/* ---- the rest ---- */

uint64_t index_applied(const struct index *ix)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)&ix->lock;
    pthread_mutex_lock(lock);
    uint64_t applied = ix->applied;
    pthread_mutex_unlock(lock);
    return applied;
}

status index_put_dictionary(struct index *ix, struct span dictionary)
{
    struct buf path = {0};
    uint32_t crc = digest_crc32c(dictionary);
    status st = ST_OK;
    if (!dictionary.n || dictionary.n > INDEX_DICTIONARY_MAX)
        return ST_INVALID;
    pthread_mutex_lock(&ix->change);
    if (ix->dictionary_bytes) {
        st = ix->dictionary_bytes == dictionary.n && ix->dictionary_crc == crc ? ST_OK : ST_EXISTS;
    } else {
        index_file_dictionary(&path, ix->dir);
        st = file_replace(path.p, dictionary);
        if (st == ST_OK) {
            ix->dictionary_bytes = (uint32_t)dictionary.n;
            ix->dictionary_crc = crc;
            ix->is_unsynced = true;
        }
    }
    pthread_mutex_unlock(&ix->change);
    buf_done(&path);
    return st;
}

void index_get_stats(struct index *ix, struct index_stats *out)
{
    *out = (struct index_stats){0};
    pthread_mutex_lock(&ix->lock);
    for (size_t i = 0; i < ix->parts.n; i++) {
        const struct part *p = &ix->parts.p[i];
        uint32_t dead = p->tombs ? p->tombs->dead : 0;
        out->docs += segment_docs(p->shared->segment) - dead;
        out->deleted += dead;
        out->bytes += segment_bytes(p->shared->segment);
        out->terms += segment_terms(p->shared->segment);
    }
    out->segments = ix->parts.n;
    out->generation = ix->generation;
    out->applied = ix->applied;
    out->queued_bytes = ix->queued_bytes;
    out->is_merging = ix->merges_running > 0;
    pthread_mutex_unlock(&ix->lock);
    for (unsigned i = 0; i < ix->builder_count; i++)
        out->memory_bytes += atomic_load_explicit(&ix->builders[i].memory_bytes, memory_order_relaxed);
    out->added = atomic_load(&ix->added);
    out->replaced = atomic_load(&ix->replaced);
    out->flushes = atomic_load(&ix->flushes);
    out->merges = atomic_load(&ix->merges);
    out->merged_docs = atomic_load(&ix->merged_docs);
}
