/* task.c - what is told to a crawl: channels, seeds, rechecks, networks that come and go.
 *
 * All of it is done by the caller's thread with the shards parked (crawl_hold) or not yet started, straight on their
 * structures. Parked shards stay so until the progress callback returns, so that several calls cost one parking. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crawl/engine.h"
#include "io/clock.h"

#define PAGES_BATCH_BYTES (1u << 20) /* handed to the writer at a time */

static void queue_now(struct crawl *cr, const struct frontier_url *u)
{
    struct shard *s = &cr->shards[route_host(cr->route, u->url->host)];
    frontier_add(s->frontier, shard_now(s), u);
}

/* The URL in its one form, in the arena; false when it is no http(s) URL of ours. */
static bool normal(struct crawl *cr, struct arena *a, struct span text, struct url *out)
{
    struct url parsed;
    const struct url_norm *norm = cr->o.norm ? cr->o.norm : &url_norm_default;
    return url_parse(a, text, NULL, &parsed) == ST_OK && url_is_http(&parsed) &&
           url_normalise(a, &parsed, norm, CRAWL_URL_MAX, out) == ST_OK;
}

/* ---- channels and seeds ---- */

static status add_seed(struct crawl *cr, uint64_t channel, const struct url *u)
{
    uint64_t key = siphash(&cr->key, u->href);
    bool is_new = false;
    status st = crawl_note_urls(cr, &key, 1, &is_new);
    if (st != ST_OK || !is_new)
        return st;
    cr->has_new_seeds = true;
    queue_now(cr, &(struct frontier_url){.key = key, .url = u, .channel = channel, .is_urgent = true});
    return ST_OK;
}

static status add_seeds(struct crawl *cr, const struct channel *c)
{
    const struct channel_opts *o = channel_get_opts(c);
    struct arena a;
    arena_init(&a);
    status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < o->seed_count; i++) {
        struct url u;
        arena_reset(&a);
        st = url_parse(&a, o->seeds[i], NULL, &u);
        if (st == ST_OK)
            st = add_seed(cr, channel_id(c), &u);
    }
    arena_done(&a);
    return st;
}

/* In the journal too while the crawl runs: pages of the channel may be written there before the next checkpoint. */
static status keep_channel(struct crawl *cr, const struct lane *l)
{
    struct buf packed = {0};
    status st = ST_OK;
    channel_pack(lane_channel(cr, l), &packed);
    if (!cr->writer) {
        st = store_channel_put(cr->store, l->id, buf_span(&packed));
    } else {
        writer_put_channel(cr->writer, l->id, buf_span(&packed));
        st = records_append(cr->shards[0].journal, REC_CHANNEL, buf_span(&packed));
    }
    buf_done(&packed);
    return st;
}

status crawl_add(struct crawl *cr, struct channel *c)
{
    crawl_hold(cr);
    const struct lane *l = lane_put(cr, c);
    status st = lane_share(cr, l);
    if (st == ST_OK)
        st = keep_channel(cr, l);
    if (st == ST_OK)
        st = add_seeds(cr, c);
    crawl_publish(cr);
    return st;
}

static void widen_all(struct crawl *cr, struct lane *l, const struct url *u)
{
    channel_widen(l->channel, u);
    for (unsigned i = 0; i < cr->shard_count; i++)
        channel_widen(shard_channel(&cr->shards[i], l->id), u);
}

status crawl_seed(struct crawl *cr, uint64_t channel, const struct span *urls, size_t n)
{
    struct lane *l = crawl_lane(cr, channel);
    struct arena a;
    status st = ST_OK;
    bool is_wider = false;
    if (!l)
        return ST_NOT_FOUND;
    crawl_hold(cr);
    arena_init(&a);
    for (size_t i = 0; st == ST_OK && i < n; i++) {
        struct url u;
        arena_reset(&a);
        if (!normal(cr, &a, urls[i], &u))
            continue;
        channel_verdict v = channel_check(shard_channel(&cr->shards[0], channel), &u, 0, NULL);
        if (v == CHANNEL_OUT_OF_SCOPE) {
            widen_all(cr, l, &u);
            is_wider = true;
            v = channel_check(shard_channel(&cr->shards[0], channel), &u, 0, NULL);
        }
        if (v == CHANNEL_YES)
            st = add_seed(cr, channel, &u);
    }
    arena_done(&a);
    if (st == ST_OK && is_wider)
        st = keep_channel(cr, l);
    crawl_publish(cr);
    return st;
}

static void on_dropped(void *arg, uint64_t key)
{
    crawl_note_away(arg, key);
}

/* URLs left that shards remember as known: what they do not parse again they would not find again either. */
static void forget_recent(struct crawl *cr)
{
    for (unsigned i = 0; i < cr->shard_count; i++)
        memset(cr->shards[i].recent, 0, sizeof(cr->shards[i].recent));
}

status crawl_drop(struct crawl *cr, uint64_t channel)
{
    struct lane *l = crawl_lane(cr, channel);
    status st = ST_OK;
    if (!l)
        return ST_OK; /* told twice */
    crawl_hold(cr);
    for (unsigned i = 0; st == ST_OK && i < cr->shard_count; i++)
        st = frontier_drop_channel(cr->shards[i].frontier, channel, on_dropped, cr);
    forget_recent(cr);
    crawl_publish(cr);
    if (st == ST_OK)
        lane_remove(cr, l);
    return st;
}

void crawl_pause(struct crawl *cr, bool is_paused)
{
    atomic_store(&cr->is_paused, is_paused);
    for (unsigned i = 0; !is_paused && i < cr->shard_count; i++)
        waker_wake(cr->shards[i].waker);
}

/* ---- known pages again ---- */

struct recheck {
    struct crawl *cr;
    struct table waiting; /* keys that are in a queue already */
    struct arena arena;
    uint64_t most, queued;
    bool is_whole;
};

static status recheck_page(void *arg, const struct page *p)
{
    struct recheck *r = arg;
    struct url u;
    arena_reset(&r->arena);
    if (table_get(&r->waiting, p->key) || url_parse(&r->arena, p->url, NULL, &u) != ST_OK)
        return ST_OK;
    /* Pages got before there was an index are got once more, whole. */
    bool lacks_content = r->cr->sink.has_contents && !p->content && p->digest && !(p->page_flags & PAGE_NOINDEX);
    bool is_copy = p->good_at != 0 && !lacks_content && !r->is_whole;
    queue_now(r->cr, &(struct frontier_url){.key = p->key,
                                            .url = &u,
                                            .channel = p->channel,
                                            .depth = p->depth,
                                            .is_known = true,
                                            .etag = is_copy ? p->etag : (struct span){0},
                                            .last_modified = is_copy ? p->last_modified : (struct span){0}});
    r->queued++;
    return r->most && r->queued >= r->most ? ST_END : ST_OK;
}

status task_recheck_all(struct crawl *cr)
{
    struct recheck r = {.cr = cr};
    arena_init(&r.arena);
    status st = store_page_each(cr->store, 0, recheck_page, &r);
    arena_done(&r.arena);
    return st;
}

static void note_waiting(void *arg, uint64_t key)
{
    struct recheck *r = arg;
    table_put(&r->waiting, key, r);
}

/* The store is the writer's while it runs: what was visited is committed first, then read beside it. */
static status reading_store(struct crawl *cr, struct store **own)
{
    if (!cr->writer)
        return ST_OK;
    for (unsigned i = 0; i < cr->shard_count; i++)
        writer_put(cr->writer, &cr->shards[i].batch);
    status st = writer_settle(cr->writer);
    return st == ST_OK ? store_open(cr->o.data_dir, STORE_READ, own, NULL) : st;
}

status crawl_recheck(struct crawl *cr, uint64_t channel, uint64_t pages_max, wall_ms older_than, bool is_whole,
                     uint64_t *queued)
{
    struct recheck r = {.cr = cr, .most = pages_max, .is_whole = is_whole};
    struct store *own = NULL;
    if (!crawl_lane(cr, channel))
        return ST_NOT_FOUND;
    crawl_hold(cr);
    arena_init(&r.arena);
    status st = reading_store(cr, &own);
    for (unsigned i = 0; st == ST_OK && i < cr->shard_count; i++)
        st = frontier_each_waiting(cr->shards[i].frontier, channel, note_waiting, &r);
    if (st == ST_OK)
        st = store_page_oldest(own ? own : cr->store, channel, older_than, 0, recheck_page, &r);
    if (st == ST_END)
        st = ST_OK;
    /* Somebody wants to know again: hosts that did not answer get another chance. */
    for (unsigned i = 0; st == ST_OK && r.queued && i < cr->shard_count; i++)
        frontier_revive(cr->shards[i].frontier, shard_now(&cr->shards[i]));
    store_free(own);
    table_done(&r.waiting);
    arena_done(&r.arena);
    crawl_publish(cr);
    if (st == ST_OK && queued)
        *queued = r.queued;
    return st;
}

/* ---- networks ---- */

struct taking {
    struct crawl *cr;
    frontier_host_fn *fn;
    void *arg;
};

static status on_host(void *arg, struct span host, struct span packed)
{
    struct taking *t = arg;
    return t->fn(t->arg, host, packed);
}

static void on_taken(void *arg, uint64_t key)
{
    struct taking *t = arg;
    crawl_note_away(t->cr, key);
}

status crawl_network_take(struct crawl *cr, const struct network *n, frontier_host_fn *fn, void *arg)
{
    struct taking t = {cr, fn, arg};
    bool is_busy = false;
    status st = ST_OK;
    crawl_hold(cr);
    for (unsigned i = 0; i < cr->shard_count; i++)
        is_busy |= frontier_hold_network(cr->shards[i].frontier, n);
    if (is_busy)
        return ST_AGAIN;
    for (unsigned i = 0; st == ST_OK && i < cr->shard_count; i++) {
        struct shard *s = &cr->shards[i];
        st = frontier_take_network(s->frontier, shard_now(s), clock_wall(), n, on_host, on_taken, &t);
    }
    forget_recent(cr);
    crawl_publish(cr);
    return st;
}

struct putting {
    struct crawl *cr;
    struct span host;
    struct arena arena;
    struct recheck waiting; /* of `channel`, as far as known pages came */
    uint64_t channel;
};

/* A page that is to be looked at again, and waits for that already. */
static status waits_already(struct putting *p, const struct url *u, uint64_t channel, uint64_t key, bool *out)
{
    status st = ST_OK;
    if (p->channel != channel) {
        struct shard *s = &p->cr->shards[route_host(p->cr->route, u->host)];
        table_done(&p->waiting.waiting);
        p->channel = channel;
        st = frontier_each_waiting(s->frontier, channel, note_waiting, &p->waiting);
    }
    *out = table_get(&p->waiting.waiting, key) != NULL;
    return st;
}

static status put_url(void *arg, const struct frontier_packed_url *f)
{
    struct putting *p = arg;
    struct crawl *cr = p->cr;
    struct url u;
    arena_reset(&p->arena);
    if (!crawl_lane(cr, f->channel) || !normal(cr, &p->arena, f->url, &u) || !span_eq(u.host, p->host))
        return ST_OK;
    /* Keys are the folder's own. */
    uint64_t key = siphash(&cr->key, u.href);
    bool is_new = false, is_waiting = false;
    status st = crawl_note_urls(cr, &key, 1, &is_new);
    if (st == ST_OK && f->is_known && !is_new)
        st = waits_already(p, &u, f->channel, key, &is_waiting);
    if (st != ST_OK || (!is_new && (!f->is_known || is_waiting)))
        return st;
    queue_now(cr, &(struct frontier_url){.key = key,
                                         .url = &u,
                                         .channel = f->channel,
                                         .depth = f->depth,
                                         .hops = f->hops,
                                         .etag = f->etag,
                                         .last_modified = f->last_modified,
                                         .is_known = f->is_known});
    return ST_OK;
}

status crawl_hosts_put(struct crawl *cr, struct span packed)
{
    struct frontier_info info;
    status st = frontier_info_read(packed, &info);
    if (st != ST_OK)
        return st;
    crawl_hold(cr);
    struct putting p = {.cr = cr, .host = info.name};
    arena_init(&p.arena);
    struct shard *s = &cr->shards[route_host(cr->route, info.name)];
    st = frontier_adopt_host(s->frontier, shard_now(s), clock_wall(), packed);
    if (st == ST_OK)
        st = frontier_packed_urls(packed, put_url, &p);
    table_done(&p.waiting.waiting);
    arena_done(&p.arena);
    frontier_info_done(&info);
    crawl_publish(cr);
    return st;
}

/* ---- pages ---- */

/* Straight into the store while no writer runs. */
static status restore_now(struct crawl *cr, const struct page *p)
{
    status st = cr->sink.begin(cr->sink.self);
    return st == ST_OK ? store_page_restore(cr->store, p, NULL) : st;
}

status crawl_pages_put(struct crawl *cr, uint64_t channel, const struct page *pages, size_t n)
{
    struct arena a;
    struct buf batch = {0};
    status st = ST_OK;
    if (!crawl_lane(cr, channel))
        return ST_NOT_FOUND;
    crawl_hold(cr);
    arena_init(&a);
    for (size_t i = 0; st == ST_OK && i < n; i++) {
        struct page p = pages[i];
        struct url u;
        bool is_new;
        arena_reset(&a);
        if (!normal(cr, &a, p.url, &u))
            continue;
        p.url = u.href;
        p.key = siphash(&cr->key, u.href);
        p.channel = channel;
        st = crawl_note_urls(cr, &p.key, 1, &is_new);
        if (st == ST_OK && !cr->writer)
            st = restore_now(cr, &p);
        else if (st == ST_OK)
            writer_pack_page(&batch, &p);
        if (batch.n >= PAGES_BATCH_BYTES)
            writer_put_pages(cr->writer, &batch);
    }
    if (cr->writer) {
        writer_put_pages(cr->writer, &batch);
    } else if (st == ST_OK) {
        bool is_done;
        st = cr->sink.commit(cr->sink.self, true, &is_done);
    } else {
        cr->sink.rollback(cr->sink.self);
    }
    buf_done(&batch);
    arena_done(&a);
    return st;
}
