#include "apply/apply_sink.h"

#include <unistd.h>

static status sink_visit(void *self, struct span packed, struct visit_effect *effect)
{
    return apply_summary(self, packed, effect);
}

static status sink_begin(void *self)
{
    return apply_begin(self);
}

static status sink_commit(void *self, bool must, bool *is_done)
{
    *is_done = true;
    return apply_commit(self);
}

static void sink_rollback(void *self)
{
    apply_rollback(self);
}

static unsigned sink_pending(void *self)
{
    return apply_pending(self);
}

static status sink_publish(void *self)
{
    return apply_publish(self);
}

static status sink_finish(void *self)
{
    status st = apply_finish(self);
    if (st == ST_OK)
        apply_find_alike(self, 0);
    return st;
}

static void sink_stats(void *self, struct sink_stats *out)
{
    struct apply_stats n;
    apply_get_stats(self, &n);
    *out = (struct sink_stats){.docs = n.index_docs,
                               .segments = n.index_segments,
                               .bytes = n.index_bytes,
                               .is_comparing = n.is_looking,
                               .compared_percent = n.looked_percent};
}

static void sink_close(void *self)
{
    apply_free(self);
}

/* A folder that has an index keeps it up to date: pages that changed unseen would be wrong in it for good. */
static status check_no_index(struct store *s, struct buf *why)
{
    struct buf path = {0};
    apply_contents_dir(store_dir(s), &path);
    bool has_index = access(path.p, F_OK) == 0;
    buf_done(&path);
    if (!has_index)
        return ST_OK;
    buf_puts(why, "it has an index, which would no longer be true with --no-index");
    return ST_INVALID;
}

static unsigned builders_of(unsigned shards)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return (shards ? shards : cores > 0 ? (unsigned)cores : 1) / 2;
}

status apply_sink_open(void *arg, struct store *s, struct sink *out, struct buf *why)
{
    const struct apply_sink_opts *so = arg;
    struct apply_opts o = {.store = s,
                           .no_index = so->no_index,
                           .no_documents = so->no_documents,
                           .index_memory = so->index_memory,
                           .builders = builders_of(so->shards),
                           .log = so->log};
    struct apply_start start;
    struct apply *a = NULL;
    status st = so->no_index ? check_no_index(s, why) : ST_OK;
    if (st == ST_OK)
        st = apply_open(&o, &a, &start, why);
    if (st != ST_OK)
        return st;
    if (start.caught_up)
        log_write(so->log, LOG_INFO, "index", "%s pages=%llu",
                  start.was_rebuilt ? "made anew from the stored pages" : "caught up with the stored pages",
                  (unsigned long long)start.caught_up);
    *out = (struct sink){.visit = sink_visit,
                         .begin = sink_begin,
                         .commit = sink_commit,
                         .rollback = sink_rollback,
                         .pending = sink_pending,
                         .publish = sink_publish,
                         .finish = sink_finish,
                         .stats = sink_stats,
                         .close = sink_close,
                         .keeps_text = !so->no_index,
                         .has_contents = !so->no_index,
                         .self = a};
    return ST_OK;
}
