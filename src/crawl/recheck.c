/* recheck.c - known pages of a channel once more, in the order that gains most (plan/page_order.h).
 *
 * The store is gone over with little in hand, so that a million pages cost no more memory than the best of them: first
 * to learn from some how often pages here change, then to choose. Then those that were chosen are read and queued. */
#include "base/table.h"
#include "crawl/engine.h"
#include "io/clock.h"
#include "plan/page_order.h"

#define LEARNED_MAX 100000 /* pages that say what the others are like */

struct recheck {
    struct crawl *cr;
    struct store *store;  /* borrowed: that is read from */
    struct table waiting; /* keys that are in a queue already */
    struct table picked;  /* numbers of pages: not the rest */
    struct page_order order;
    struct arena arena;
    uint64_t most, queued; /* most 0: all */
    uint64_t learned;
    bool is_whole, is_told;
};

static struct page_signs signs_of(const struct page_glance *g)
{
    return (struct page_signs){.number = g->number,
                               .rate = g->rate,
                               .visited = g->at,
                               .told = g->listed,
                               .is_list = g->page_flags & PAGE_LIST};
}

static status learn(void *arg, const struct page_glance *g)
{
    struct recheck *r = arg;
    struct page_signs signs = signs_of(g);
    page_order_learn(&r->order, &signs);
    return ++r->learned < LEARNED_MAX ? ST_OK : ST_END;
}

static status offer(void *arg, const struct page_glance *g)
{
    struct recheck *r = arg;
    struct page_signs signs = signs_of(g);
    if (!table_get(&r->waiting, g->key))
        page_order_offer(&r->order, &signs);
    return ST_OK;
}

static status queue_page(void *arg, const struct page *p)
{
    struct recheck *r = arg;
    struct url u;
    arena_reset(&r->arena);
    if (url_parse(&r->arena, p->url, NULL, &u) != ST_OK || refused_has(r->cr, &u))
        return ST_OK;
    struct channel *c = shard_channel(&r->cr->shards[0], p->channel);
    if (c && channel_wants_no_more(c, &u, p->depth))
        return ST_OK;
    /* Pages got before there was an index are got once more, whole. */
    bool lacks_content = r->cr->sink.has_contents && !p->content && p->digest && !(p->page_flags & PAGE_NOINDEX);
    bool is_copy = p->good_at != 0 && !lacks_content && !r->is_whole;
    crawl_queue(r->cr, &(struct frontier_url){.key = p->key,
                                              .url = &u,
                                              .channel = p->channel,
                                              .depth = p->depth,
                                              .is_known = true,
                                              .is_urgent = r->is_told,
                                              .etag = is_copy ? p->etag : (struct span){0},
                                              .last_modified = is_copy ? p->last_modified : (struct span){0}});
    r->queued++;
    return ST_OK;
}

/* Those that somebody says have changed go before all that waits: the last that is put there is the first. */
static status queue_picks(struct recheck *r)
{
    size_t told = 0;
    status st = ST_OK;
    while (told < r->order.count && r->order.picks[told].is_told)
        told++;
    r->is_told = true;
    for (size_t i = told; st == ST_OK && i-- > 0;)
        st = store_page_numbered(r->store, r->order.picks[i].number, queue_page, r);
    r->is_told = false;
    for (size_t i = told; st == ST_OK && i < r->order.count; i++)
        st = store_page_numbered(r->store, r->order.picks[i].number, queue_page, r);
    return st;
}

static status queue_other(void *arg, const struct page_glance *g)
{
    struct recheck *r = arg;
    if (r->most && r->queued >= r->most)
        return ST_END;
    if (table_get(&r->picked, g->number) || table_get(&r->waiting, g->key))
        return ST_OK;
    return store_page_numbered(r->store, g->number, queue_page, r);
}

/* More were wanted than are kept in order: the others have their turn after them, as they come. */
static status queue_rest(struct recheck *r, uint64_t channel, wall_ms before)
{
    if (r->order.count < PAGE_ORDER_MAX)
        return ST_OK;
    for (size_t i = 0; i < r->order.count; i++)
        table_put(&r->picked, r->order.picks[i].number, r);
    status st = store_page_glance(r->store, channel, before, queue_other, r);
    return st == ST_END ? ST_OK : st;
}

static status recheck(struct recheck *r, uint64_t channel, wall_ms before)
{
    page_order_init(&r->order, r->most < SIZE_MAX ? (size_t)r->most : 0, clock_wall());
    status st = store_page_glance(r->store, channel, before, learn, r);
    if (st == ST_OK || st == ST_END) {
        page_order_fit(&r->order);
        st = store_page_glance(r->store, channel, before, offer, r);
    }
    if (st == ST_OK) {
        page_order_sort(&r->order);
        st = queue_picks(r);
    }
    return st == ST_OK ? queue_rest(r, channel, before) : st;
}

static void recheck_done(struct recheck *r)
{
    page_order_done(&r->order);
    table_done(&r->waiting);
    table_done(&r->picked);
    arena_done(&r->arena);
}

status recheck_all(struct crawl *cr)
{
    struct recheck r = {.cr = cr, .store = cr->store};
    arena_init(&r.arena);
    status st = recheck(&r, 0, 0);
    recheck_done(&r);
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
    if (st == ST_OK)
        st = store_open(cr->o.data_dir, STORE_READ, own, NULL);
    if (st == ST_OK)
        store_set_rate(*own, page_rate_visit);
    return st;
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
    r.store = own ? own : cr->store;
    lane_rechecked(cr, channel);
    if (st == ST_OK)
        st = recheck(&r, channel, older_than);
    /* Somebody wants to know again: hosts that did not answer get another chance. */
    for (unsigned i = 0; st == ST_OK && r.queued && i < cr->shard_count; i++)
        frontier_revive(cr->shards[i].frontier, shard_now(&cr->shards[i]));
    store_free(own);
    recheck_done(&r);
    crawl_publish(cr);
    if (st == ST_OK && queued)
        *queued = r.queued;
    return st;
}

/* ---- what somebody says of pages ---- */

static status note_told(struct crawl *cr, uint64_t key, wall_ms at)
{
    status st = cr->sink.begin(cr->sink.self);
    return st == ST_OK ? store_page_tell(cr->store, key, at) : st;
}

status crawl_told(struct crawl *cr, uint64_t channel, const struct span *urls, size_t n, wall_ms at)
{
    struct arena a;
    struct buf batch = {0};
    wall_ms now = clock_wall();
    status st = ST_OK;
    if (!crawl_lane(cr, channel))
        return ST_NOT_FOUND;
    if (at > now)
        at = now; /* another machine's clock: no visit could ever be later */
    crawl_hold(cr);
    arena_init(&a);
    for (size_t i = 0; st == ST_OK && i < n; i++) {
        struct url u;
        arena_reset(&a);
        if (!crawl_normal_url(cr, &a, urls[i], &u) || refused_has(cr, &u))
            continue;
        uint64_t key = siphash(&cr->key, u.href);
        if (cr->writer)
            writer_pack_told(&batch, key, at);
        else
            st = note_told(cr, key, at);
    }
    if (cr->writer)
        writer_put_told(cr->writer, &batch);
    else
        st = task_settle(cr, st);
    buf_done(&batch);
    arena_done(&a);
    return st;
}

status crawl_count_told(struct crawl *cr, uint64_t channel, uint64_t *count)
{
    struct store *own = NULL;
    if (!crawl_lane(cr, channel))
        return ST_NOT_FOUND;
    crawl_hold(cr);
    status st = reading_store(cr, &own);
    if (st == ST_OK)
        st = store_page_told(own ? own : cr->store, channel, count);
    store_free(own);
    return st;
}
