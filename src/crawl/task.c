/* task.c - what is told to a crawl: channels, seeds, networks that come and go. Rechecks: recheck.c.
 *
 * All of it is done by the caller's thread with the shards parked (crawl_hold) or not yet started, straight on their
 * structures. Parked shards stay so until the progress callback returns, so that several calls cost one parking. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crawl/engine.h"
#include "io/clock.h"

#define PAGES_BATCH_BYTES (1u << 20) /* handed to the writer at a time */

void crawl_queue(struct crawl *cr, const struct frontier_url *u)
{
    struct shard *s = &cr->shards[route_host(cr->route, u->url->host)];
    frontier_add(s->frontier, shard_now(s), u);
}

bool crawl_normal_url(struct crawl *cr, struct arena *a, struct span text, struct url *out)
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
    if (refused_has(cr, u))
        return ST_OK;
    status st = crawl_note_urls(cr, &key, 1, &is_new);
    if (st != ST_OK || !is_new)
        return st;
    cr->has_new_seeds = true;
    crawl_queue(cr, &(struct frontier_url){.key = key, .url = u, .channel = channel, .is_urgent = true});
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

/* ---- what waits, and is not wanted any more ---- */

struct unwanted {
    struct crawl *cr;
    uint64_t channel;
    struct arena arena;
};

static bool is_unwanted(void *self, struct span url, uint64_t channel, unsigned depth)
{
    struct unwanted *w = self;
    struct url u;
    if (channel != w->channel)
        return false;
    arena_reset(&w->arena);
    return url_parse(&w->arena, url, NULL, &u) == ST_OK &&
           channel_wants_no_more(shard_channel(&w->cr->shards[0], channel), &u, depth);
}

/* Found again when the channel wants it, it is new. */
static void on_unwanted(void *arg, uint64_t key)
{
    const struct unwanted *w = arg;
    crawl_note_away(w->cr, key);
}

static status drop_unwanted(struct crawl *cr, uint64_t channel)
{
    struct unwanted w = {.cr = cr, .channel = channel};
    const struct frontier_where where = {is_unwanted, NULL, &w};
    status st = ST_OK;
    arena_init(&w.arena);
    for (unsigned i = 0; st == ST_OK && i < cr->shard_count; i++)
        st = frontier_drop_where(cr->shards[i].frontier, &where, on_unwanted, &w);
    arena_done(&w.arena);
    return st;
}

status crawl_add_unseeded(struct crawl *cr, struct channel *c)
{
    crawl_hold(cr);
    const struct lane *old = crawl_lane(cr, channel_id(c));
    bool is_narrower = old && channel_is_narrower(c, lane_channel(cr, old));
    const struct lane *l = lane_put(cr, c);
    status st = lane_share(cr, l);
    if (st == ST_OK)
        st = keep_channel(cr, l);
    if (st == ST_OK && is_narrower)
        st = drop_unwanted(cr, l->id);
    crawl_publish(cr);
    return st;
}

status crawl_add_seeds(struct crawl *cr, uint64_t channel)
{
    const struct lane *l = crawl_lane(cr, channel);
    if (!l)
        return ST_NOT_FOUND;
    crawl_hold(cr);
    const struct channel_opts *o = channel_get_opts(lane_channel(cr, l));
    status st = add_seeds(cr, lane_channel(cr, l));
    if (st == ST_OK && o->list_count && !cr->o.no_sitemaps)
        st = crawl_lists(cr, channel, o->lists, o->list_count);
    crawl_publish(cr);
    return st;
}

status crawl_add(struct crawl *cr, struct channel *c)
{
    uint64_t id = channel_id(c);
    status st = crawl_add_unseeded(cr, c);
    return st == ST_OK ? crawl_add_seeds(cr, id) : st;
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
        if (!crawl_normal_url(cr, &a, urls[i], &u))
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

void crawl_doubt(struct crawl *cr, bool is_doubted)
{
    atomic_store(&cr->is_doubted, is_doubted);
}

void crawl_pause(struct crawl *cr, bool is_paused)
{
    atomic_store(&cr->is_paused, is_paused);
    for (unsigned i = 0; !is_paused && i < cr->shard_count; i++)
        waker_wake(cr->shards[i].waker);
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

void crawl_network_share(struct crawl *cr, const struct network *n)
{
    crawl_hold(cr);
    for (unsigned i = 0; i < cr->shard_count; i++)
        frontier_share_network(cr->shards[i].frontier, n);
    crawl_publish(cr);
}

struct putting {
    struct crawl *cr;
    struct span host;
    struct arena arena;
    struct table waiting; /* keys of `channel`, as far as known pages came */
    uint64_t channel;
};

static void note_waiting(void *arg, uint64_t key)
{
    struct putting *p = arg;
    table_put(&p->waiting, key, p);
}

/* A page that is to be looked at again, and waits for that already. */
static status waits_already(struct putting *p, const struct url *u, uint64_t channel, uint64_t key, bool *out)
{
    status st = ST_OK;
    if (p->channel != channel) {
        struct shard *s = &p->cr->shards[route_host(p->cr->route, u->host)];
        table_done(&p->waiting);
        p->channel = channel;
        st = frontier_each_waiting(s->frontier, channel, note_waiting, p);
    }
    *out = table_get(&p->waiting, key) != NULL;
    return st;
}

static status put_url(void *arg, const struct frontier_packed_url *f)
{
    struct putting *p = arg;
    struct crawl *cr = p->cr;
    struct url u;
    arena_reset(&p->arena);
    if (!crawl_lane(cr, f->channel) || !crawl_normal_url(cr, &p->arena, f->url, &u) || !span_eq(u.host, p->host) ||
        refused_has(cr, &u))
        return ST_OK;
    /* Keys are the folder's own. */
    uint64_t key = siphash(&cr->key, u.href);
    bool is_new = false, is_waiting = false;
    status st = crawl_note_urls(cr, &key, 1, &is_new);
    if (st == ST_OK && f->is_known && !is_new)
        st = waits_already(p, &u, f->channel, key, &is_waiting);
    if (st != ST_OK || (!is_new && (!f->is_known || is_waiting)))
        return st;
    crawl_queue(cr, &(struct frontier_url){.key = key,
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
    table_done(&p.waiting);
    arena_done(&p.arena);
    frontier_info_done(&info);
    crawl_publish(cr);
    return st;
}

/* ---- pages ---- */

status task_settle(struct crawl *cr, status st)
{
    bool is_done;
    if (st == ST_OK)
        return cr->sink.commit(cr->sink.self, true, &is_done);
    cr->sink.rollback(cr->sink.self);
    return st;
}

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
        if (!crawl_normal_url(cr, &a, p.url, &u) || refused_has(cr, &u))
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
    if (cr->writer)
        writer_put_pages(cr->writer, &batch);
    else
        st = task_settle(cr, st);
    buf_done(&batch);
    arena_done(&a);
    return st;
}

status crawl_capture(struct crawl *cr, uint64_t channel, bool is_wanted)
{
    if (!crawl_lane(cr, channel))
        return ST_NOT_FOUND;
    crawl_hold(cr);
    for (unsigned i = 0; i < cr->shard_count; i++) {
        shard_lane(&cr->shards[i], channel)->wants_capture = is_wanted;
        cr->shards[i].has_captures |= is_wanted;
    }
    return ST_OK;
}
