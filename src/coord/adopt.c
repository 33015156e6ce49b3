/* adopt.c - a folder that `orb crawl` has filled becomes a coordinator's: its channels go on with agents.
 *
 * Once, when the fleet's state is new. What is known of the pages goes to whoever gets them, so that they are asked for
 * with conditions only. A crawl that was not finished has URLs waiting which nobody else knows: its pages are fetched
 * once more, whole, for their links. */
#include <stdlib.h>

#include "base/mem.h"
#include "codec/json.h"
#include "coord/assign.h"
#include "coord/channels.h"
#include "store/store.h"

#define ADOPTED "adopted" /* setting: it was looked for */
#define ADOPTED_MAX 1000  /* channels: each `orb crawl` of other seeds has left one */

struct adoption {
    struct coord *coord;
    struct c_channel *channels[ADOPTED_MAX];
    size_t count;
    bool is_partial;
    struct buf *why;
};

static status adopt_channel(void *arg, uint64_t id, struct span packed)
{
    struct adoption *a = arg;
    struct channel_form f = {0};
    struct c_channel *ch = NULL;
    if (a->count == sizeof(a->channels) / sizeof(*a->channels) || channel_unpack(packed, &f.channel) != ST_OK)
        return ST_OK;
    const struct channel_opts *o = channel_get_opts(f.channel);
    f.label = o->seed_count ? o->seeds[0] : SPAN("crawl");
    status st = channel_put(a->coord, &f, &ch, a->why);
    channel_free(f.channel);
    if (st != ST_OK)
        return st;
    ch->was_crawled = true;
    ch->wants_links = a->is_partial;
    save_channel(a->coord, ch);
    a->channels[a->count++] = ch;
    return ST_OK;
}

/* Of a channel over a whole domain the hosts are known only from its pages. */
static status adopt_host(void *arg, struct span host, struct span packed)
{
    struct adoption *a = arg;
    struct arena arena;
    struct buf text = {0};
    struct url u;
    arena_init(&arena);
    buf_printf(&text, "http://%.*s/", SPAN_ARG(host));
    if (url_parse(&arena, buf_span(&text), NULL, &u) == ST_OK)
        for (size_t i = 0; i < a->count; i++)
            if (channel_check(a->channels[i]->channel, &u, 0, NULL) == CHANNEL_YES)
                assign_host(a->coord, a->channels[i], u.host);
    buf_done(&text);
    arena_done(&arena);
    return ST_OK;
}

static status adopt(struct coord *c, struct store *s, struct buf *why)
{
    struct adoption *a = mem_alloc(sizeof(*a));
    struct buf progress = {0};
    a->coord = c;
    a->why = why;
    status st = store_setting_get(s, "progress", &progress);
    if (st == ST_NOT_FOUND)
        st = ST_OK;
    a->is_partial = json_peek_u64(buf_span(&progress), "queued") > 0;
    if (st == ST_OK)
        st = store_channel_each(s, adopt_channel, a);
    if (st == ST_OK && a->count)
        st = store_host_each(s, adopt_host, a);
    if (st == ST_OK && a->count)
        log_write(c->o.log, LOG_INFO, "coord", "the folder's own crawl goes on with agents channels=%zu finished=%s",
                  a->count, a->is_partial ? "no" : "yes");
    buf_done(&progress);
    free(a);
    return st;
}

status channels_adopt(struct coord *c, struct buf *why)
{
    struct store *s = NULL;
    if (load_number(c, ADOPTED))
        return ST_OK;
    status st = c->channels.n ? ST_OK : store_open(c->data_dir, STORE_READ, &s, why);
    if (st == ST_OK && s)
        st = adopt(c, s, why);
    store_free(s);
    if (st == ST_OK)
        save_number(c, ADOPTED, 1);
    return st;
}
