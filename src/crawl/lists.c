/* lists.c - sitemaps and feeds that a crawl hears of from others than a page: robots.txt, and whoever started it.
 *
 * They are URLs like others once they are in a queue: what a document is, is told by the document (web/document.h).
 * They begin a link away from the seeds, as what they list does. */
#include "base/pack.h"
#include "crawl/engine.h"
#include "io/clock.h"

#define LIST_DEPTH 1
#define CHANNELS_MAX 16 /* of a host, that are asked whether they want a list */

/* In its one form, in the arena; false when it is no http(s) URL of ours. */
static bool normal(const struct crawl *cr, struct arena *a, struct span text, const struct url *base, struct url *out)
{
    struct url parsed;
    const struct url_norm *norm = cr->o.norm ? cr->o.norm : &url_norm_default;
    return url_parse(a, text, base, &parsed) == ST_OK && url_is_http(&parsed) &&
           url_normalise(a, &parsed, norm, CRAWL_URL_MAX, out) == ST_OK;
}

/* The first of the site's channels that takes it: a URL is visited for one. 0: none does. */
static uint64_t channel_for(const struct shard *s, const struct url *u, struct span host)
{
    uint64_t ids[CHANNELS_MAX];
    size_t n = frontier_host_channels(s->frontier, host, ids, CHANNELS_MAX);
    for (size_t i = 0; i < n; i++) {
        struct channel *c = shard_channel(s, ids[i]);
        if (c && channel_takes_list(c, u, LIST_DEPTH))
            return ids[i];
    }
    return 0;
}

/* The record is on its way to the journal with that of the site's rules: when a kill takes both, the rules are asked
 * for again; when one is there, both are. */
static void queue_found(struct shard *s, uint64_t channel, const struct url *u)
{
    struct frontier_url f = {
        .key = siphash(&s->crawl->key, u->href), .url = u, .channel = channel, .depth = LIST_DEPTH};
    struct buf b = {0};
    bool is_new = false;
    status st = crawl_note_urls(s->crawl, &f.key, 1, &is_new);
    if (st != ST_OK)
        crawl_fail(s->crawl, st, "note the sitemaps of a site");
    if (!is_new)
        return;
    pack_u64(&b, channel);
    pack_var(&b, f.depth);
    pack_text(&b, u->href);
    records_frame(&s->framed, REC_FOUND, buf_span(&b));
    buf_done(&b);
    shard_queue(s, &f);
}

void lists_of_robots(struct shard *s, const struct job *j, struct span url, const struct robots *rules)
{
    struct arena a;
    struct url base;
    if (s->crawl->o.no_sitemaps || !robots_sitemap_count(rules))
        return;
    arena_init(&a);
    bool has_base = url_parse(&a, url, NULL, &base) == ST_OK;
    for (size_t i = 0; has_base && i < robots_sitemap_count(rules); i++) {
        struct url u;
        uint64_t channel =
            normal(s->crawl, &a, robots_sitemap(rules, i), &base, &u) ? channel_for(s, &u, j->lease.host) : 0;
        if (channel)
            queue_found(s, channel, &u);
    }
    arena_done(&a);
}

status crawl_lists(struct crawl *cr, uint64_t channel, const struct span *urls, size_t n)
{
    struct arena a;
    status st = ST_OK;
    if (!crawl_lane(cr, channel))
        return ST_NOT_FOUND;
    crawl_hold(cr);
    arena_init(&a);
    for (size_t i = 0; st == ST_OK && i < n; i++) {
        struct url u;
        bool is_new = false;
        arena_reset(&a);
        if (!normal(cr, &a, urls[i], NULL, &u) || refused_has(cr, &u))
            continue;
        struct frontier_url f = {
            .key = siphash(&cr->key, u.href), .url = &u, .channel = channel, .depth = LIST_DEPTH, .is_urgent = true};
        st = crawl_note_urls(cr, &f.key, 1, &is_new);
        if (st != ST_OK || !is_new)
            continue;
        cr->has_new_seeds = true;
        struct shard *s = &cr->shards[route_host(cr->route, u.host)];
        frontier_add(s->frontier, shard_now(s), &f);
    }
    arena_done(&a);
    crawl_publish(cr);
    return st;
}
