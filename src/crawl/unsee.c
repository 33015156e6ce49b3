/* unsee.c - pages that were taken out of the folder are not known any more.
 *
 * The seen set cannot forget. So the transaction that takes a page out leaves its key in the store; whoever opens the
 * folder next makes it a URL that left (lane.c), and once a checkpoint that says so is durable the store drops the key.
 * A kill anywhere in between repeats it. What was about to be looked at again waits on, but is asked for as a whole:
 * the copy that its validators speak of is no more. */
#include "base/pack.h"
#include "base/table.h"
#include "crawl/engine.h"

struct unseeing {
    struct crawl *cr;
    struct table keys; /* -> the struct itself, or `waiting` when it is in there */
    uint64_t last;
    struct buf waiting; /* packed: u64 channel, var depth, text URL */
    struct arena arena;
};

static status see_page(void *arg, const struct page *p)
{
    return ST_OK;
}

/* A page that is there has been visited since: a kill came between the checkpoint and the dropping. */
static status note(void *arg, uint64_t number, uint64_t key)
{
    struct unseeing *u = arg;
    if (u->cr->away.n + u->keys.n >= CRAWL_AWAY_MAX)
        return ST_END; /* the others have their turn when there is room */
    status st = store_page_get(u->cr->store, key, see_page, NULL);
    if (st == ST_NOT_FOUND)
        table_put(&u->keys, key, u);
    u->last = number;
    return st == ST_NOT_FOUND ? ST_OK : st;
}

/* ---- what waits ---- */

/* May be asked more than once about the same URL. */
static bool is_unseen(void *self, struct span url, uint64_t channel, unsigned depth)
{
    struct unseeing *u = self;
    uint64_t key = siphash(&u->cr->key, url);
    const void *known = table_get(&u->keys, key);
    if (known == u) {
        pack_u64(&u->waiting, channel);
        pack_var(&u->waiting, depth);
        pack_text(&u->waiting, url);
        table_put(&u->keys, key, &u->waiting);
    }
    return known;
}

static void queue_again(struct unseeing *u)
{
    struct unpack w = unpack_of(buf_span(&u->waiting));
    while (!unpack_at_end(&w) && !w.bad) {
        struct frontier_url f = {.channel = unpack_u64(&w), .is_known = true};
        struct url url;
        f.depth = (unsigned)unpack_var(&w);
        struct span text = unpack_text(&w, URL_INPUT_MAX);
        f.key = siphash(&u->cr->key, text);
        arena_reset(&u->arena);
        if (url_parse(&u->arena, text, NULL, &url) != ST_OK)
            continue;
        f.url = &url;
        crawl_queue(u->cr, &f);
    }
}

static status ask_as_a_whole(struct unseeing *u)
{
    const struct frontier_where where = {is_unseen, NULL, u};
    status st = ST_OK;
    for (unsigned i = 0; st == ST_OK && i < u->cr->shard_count; i++)
        st = frontier_drop_where(u->cr->shards[i].frontier, &where, NULL, u);
    if (st == ST_OK)
        queue_again(u);
    return st;
}

/* ---- from the store ---- */

status unsee_load(struct crawl *cr)
{
    struct unseeing u = {.cr = cr};
    arena_init(&u.arena);
    status st = store_unsee_each(cr->store, note, &u);
    st = st == ST_END ? ST_OK : st;
    if (st == ST_OK && u.keys.n)
        st = ask_as_a_whole(&u);
    for (size_t i = 0; st == ST_OK && i < u.keys.cap; i++)
        if (u.keys.slots[i].value == &u)
            crawl_note_away(cr, u.keys.slots[i].key);
    if (st == ST_OK)
        cr->unseen = u.last;
    table_done(&u.keys);
    buf_done(&u.waiting);
    arena_done(&u.arena);
    return st;
}

void unsee_settled(struct crawl *cr)
{
    if (cr->unseen && store_unsee_drop(cr->store, cr->unseen) == ST_OK)
        cr->unseen = 0;
}
