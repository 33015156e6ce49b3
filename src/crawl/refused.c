/* refused.c - places that are never asked for: what is forgotten, and who wants to be left alone.
 *
 * The set hangs in every shard's channels (channel_refuse), so that whatever asks whether a URL belongs to one gets the
 * answer; what waits already is dropped when the set changes. Shards read it without a lock: it changes while they are
 * held. */
#include "base/pack.h"
#include "crawl/engine.h"

bool refused_has(const struct crawl *cr, const struct url *u)
{
    return places_find(cr->refused, u) != NULL;
}

static void share(struct crawl *cr)
{
    for (unsigned i = 0; i < cr->shard_count; i++) {
        size_t at = 0;
        for (struct shard_lane *l; (l = table_next(&cr->shards[i].lanes, &at));)
            channel_refuse(l->channel, cr->refused);
    }
}

/* ---- what waits ---- */

struct drop {
    struct crawl *cr;
    struct arena arena;
};

static bool has_url(void *self, struct span url, uint64_t channel, unsigned depth)
{
    (void)channel;
    (void)depth;
    struct drop *d = self;
    struct url u;
    arena_reset(&d->arena);
    return url_parse(&d->arena, url, NULL, &u) == ST_OK && refused_has(d->cr, &u);
}

static bool has_host(void *self, struct span host)
{
    struct drop *d = self;
    return places_have_host(d->cr->refused, host);
}

static void on_dropped(void *arg, uint64_t key)
{
    struct drop *d = arg;
    crawl_note_away(d->cr, key);
}

/* Runs of all hosts share files: those that stay are put to others, or the dropped ones would stay with them. */
static status drop_waiting(struct crawl *cr)
{
    struct drop d = {.cr = cr};
    struct frontier_where where = {has_url, has_host, &d};
    status st = ST_OK;
    if (!places_count(cr->refused))
        return ST_OK;
    arena_init(&d.arena);
    runs_rotate(cr->runs);
    for (unsigned i = 0; st == ST_OK && i < cr->shard_count; i++)
        st = frontier_drop_where(cr->shards[i].frontier, &where, on_dropped, &d);
    for (unsigned i = 0; st == ST_OK && i < cr->shard_count; i++)
        st = shard_rewrite_runs(&cr->shards[i]);
    arena_done(&d.arena);
    return st;
}

status crawl_refuse(struct crawl *cr, struct places *places)
{
    crawl_hold(cr);
    struct places *old = cr->refused;
    cr->refused = places;
    share(cr);
    places_free(old);
    status st = drop_waiting(cr);
    crawl_publish(cr);
    return st;
}

/* ---- what is known of them ---- */

struct known {
    struct crawl *cr;
    struct arena arena;
    struct buf keys; /* packed */
};

static status note_page(void *arg, const struct page *p)
{
    struct known *k = arg;
    struct url u;
    arena_reset(&k->arena);
    if (url_parse(&k->arena, p->url, NULL, &u) == ST_OK && refused_has(k->cr, &u))
        pack_u64(&k->keys, p->key);
    return ST_OK;
}

static status remove_pages(struct crawl *cr, struct span keys)
{
    struct unpack u = unpack_of(keys);
    status st = store_erase_begin(cr->store);
    if (st == ST_OK)
        st = store_begin(cr->store);
    if (st != ST_OK)
        return st;
    while (st == ST_OK && !unpack_at_end(&u)) {
        uint64_t key = unpack_u64(&u);
        st = store_page_remove(cr->store, key);
        if (st == ST_OK)
            st = store_unsee_put(cr->store, key);
    }
    if (st == ST_OK)
        st = store_commit(cr->store);
    else
        store_rollback(cr->store);
    if (st == ST_OK)
        st = store_erase_end(cr->store);
    return st == ST_OK || st == ST_BUSY ? unsee_load(cr) : st; /* ST_BUSY: somebody reads; its log goes later */
}

status crawl_erase_refused(struct crawl *cr)
{
    struct known k = {.cr = cr};
    arena_init(&k.arena);
    status st = places_count(cr->refused) ? store_page_each(cr->store, 0, note_page, &k) : ST_OK;
    if (st == ST_OK && k.keys.n)
        st = remove_pages(cr, buf_span(&k.keys));
    arena_done(&k.arena);
    buf_done(&k.keys);
    return st;
}

/* ---- from the store ---- */

static status load_place(void *arg, const struct forgotten *f)
{
    return places_add(arg, f->place, NULL);
}

status refused_load(struct crawl *cr)
{
    struct places *places = places_new(&cr->key);
    status st = store_forgotten_each(cr->store, load_place, places);
    if (st != ST_OK || !places_count(places)) {
        places_free(places);
        return st;
    }
    return crawl_refuse(cr, places);
}
