/* lane.c - the channels of a crawl: who has a copy, how far each is, and the URLs that nobody has any more.
 *
 * How far a channel is, is asked for while its URLs are on the move. A URL counts in the frontier that has it, as of
 * the frontier's last publication; on its way between two shards it counts in `transit`, from before the sender's next
 * publication until the receiver's. Publications and questions exclude each other (lane_lock), so a channel that still
 * has something to do never looks as if it had nothing. */
#include <stdlib.h>

#include "base/mem.h"
#include "crawl/engine.h"
#include "web/facts.h"

/* ---- channels ---- */

struct lane *crawl_lane(const struct crawl *cr, uint64_t id)
{
    return table_get(&cr->lane_at, id);
}

struct shard_lane *shard_lane(const struct shard *s, uint64_t id)
{
    return table_get(&s->lanes, id);
}

struct channel *shard_channel(const struct shard *s, uint64_t id)
{
    const struct shard_lane *l = shard_lane(s, id);
    return l ? l->channel : NULL;
}

static void shard_lane_free(struct shard_lane *l)
{
    if (l)
        channel_free(l->channel);
    free(l);
}

void shard_lanes_done(struct shard *s)
{
    size_t at = 0;
    for (struct shard_lane *l; (l = table_next(&s->lanes, &at));)
        shard_lane_free(l);
    table_done(&s->lanes);
}

void crawl_lanes_done(struct crawl *cr)
{
    for (size_t i = 0; i < cr->lane_count; i++) {
        channel_free(cr->lanes[i]->channel);
        free(cr->lanes[i]);
    }
    free(cr->lanes);
    table_done(&cr->lane_at);
    table_done(&cr->away);
}

/* Its current form: the shards' copies are the widened ones, all alike once the inboxes are empty. */
const struct channel *lane_channel(const struct crawl *cr, const struct lane *l)
{
    const struct shard_lane *sl = shard_lane(&cr->shards[0], l->id);
    return sl ? sl->channel : l->channel;
}

struct lane *lane_put(struct crawl *cr, struct channel *c)
{
    struct lane *l = crawl_lane(cr, channel_id(c));
    if (l) {
        channel_adopt(c, lane_channel(cr, l));
        channel_free(l->channel);
        l->channel = c;
        return l;
    }
    l = mem_alloc(sizeof(*l));
    l->id = channel_id(c);
    l->channel = c;
    pthread_mutex_lock(&cr->lane_lock);
    cr->lanes = mem_realloc(cr->lanes, (cr->lane_count + 1) * sizeof(struct lane *));
    cr->lanes[cr->lane_count++] = l;
    table_put(&cr->lane_at, l->id, l);
    pthread_mutex_unlock(&cr->lane_lock);
    return l;
}

/* Patterns are not for two threads, so every shard has its own. */
status lane_share(struct crawl *cr, const struct lane *l)
{
    struct buf packed = {0};
    status st = ST_OK;
    channel_pack(l->channel, &packed);
    for (unsigned i = 0; st == ST_OK && i < cr->shard_count; i++) {
        struct shard *s = &cr->shards[i];
        struct channel *copy = NULL;
        st = channel_unpack(buf_span(&packed), &copy);
        if (st != ST_OK)
            break;
        channel_refuse(copy, cr->refused);
        struct shard_lane *sl = shard_lane(s, l->id);
        if (sl) {
            channel_free(sl->channel);
            sl->channel = copy;
            continue;
        }
        sl = mem_alloc(sizeof(*sl));
        sl->channel = copy;
        sl->id = l->id;
        pthread_mutex_lock(&cr->lane_lock);
        table_put(&s->lanes, sl->id, sl);
        pthread_mutex_unlock(&cr->lane_lock);
    }
    buf_done(&packed);
    return st;
}

void lane_remove(struct crawl *cr, struct lane *l)
{
    pthread_mutex_lock(&cr->lane_lock);
    for (unsigned i = 0; i < cr->shard_count; i++)
        shard_lane_free(table_remove(&cr->shards[i].lanes, l->id));
    table_remove(&cr->lane_at, l->id);
    size_t at = 0;
    while (cr->lanes[at] != l)
        at++;
    for (; at + 1 < cr->lane_count; at++)
        cr->lanes[at] = cr->lanes[at + 1];
    cr->lane_count--;
    pthread_mutex_unlock(&cr->lane_lock);
    channel_free(l->channel);
    free(l);
}

/* ---- how far ---- */

void lane_sent(struct crawl *cr, uint64_t channel, uint64_t urls)
{
    struct lane *l = crawl_lane(cr, channel);
    if (l)
        atomic_fetch_add(&l->transit, urls);
}

void lane_arrived(struct shard *s, uint64_t channel, uint64_t urls)
{
    struct shard_lane *l = shard_lane(s, channel);
    if (l)
        l->arrived += urls;
}

void lane_publish(struct shard *s)
{
    struct crawl *cr = s->crawl;
    pthread_mutex_lock(&cr->lane_lock);
    size_t at = 0;
    for (struct shard_lane *l; (l = table_next(&s->lanes, &at));) {
        struct frontier_channel now;
        frontier_channel_counts(s->frontier, l->id, &now);
        l->published = l->n;
        l->published.queued = now.urls;
        l->published.queued_given_up = now.given_up;
        struct lane *of = crawl_lane(cr, l->id);
        if (l->arrived && of)
            atomic_fetch_sub(&of->transit, l->arrived);
        l->arrived = 0;
    }
    pthread_mutex_unlock(&cr->lane_lock);
}

void lane_rechecked(struct crawl *cr, uint64_t channel)
{
    pthread_mutex_lock(&cr->lane_lock);
    struct lane *l = crawl_lane(cr, channel);
    if (l)
        l->newest = 0, l->undated = 0;
    pthread_mutex_unlock(&cr->lane_lock);
}

void lane_visited(struct crawl *cr, uint64_t channel, const struct visit_effect *e)
{
    pthread_mutex_lock(&cr->lane_lock);
    struct lane *l = crawl_lane(cr, channel);
    if (l)
        l->stored++;
    if (l && e->page_flags & PAGE_LIST) {
        l->lists += e->outcome == VISIT_NEW || e->outcome == VISIT_CHANGED || e->outcome == VISIT_UNCHANGED;
    } else if (l) {
        l->added += e->outcome == VISIT_NEW;
        l->changed += e->outcome == VISIT_CHANGED;
        l->unchanged += e->outcome == VISIT_UNCHANGED;
        l->undated += e->outcome == VISIT_CHANGED && !e->modified;
        l->newest = e->modified > l->newest ? e->modified : l->newest;
    }
    pthread_mutex_unlock(&cr->lane_lock);
}

bool crawl_channel_progress(struct crawl *cr, uint64_t channel, struct channel_progress *out)
{
    pthread_mutex_lock(&cr->lane_lock);
    const struct lane *l = crawl_lane(cr, channel);
    if (l) {
        *out = (struct channel_progress){.queued = atomic_load(&l->transit),
                                         .added = l->added,
                                         .changed = l->changed,
                                         .unchanged = l->unchanged,
                                         .lists = l->lists};
        out->changed_at = l->undated ? 0 : l->newest;
        for (unsigned i = 0; i < cr->shard_count; i++) {
            const struct shard_lane *sl = shard_lane(&cr->shards[i], channel);
            const struct channel_progress *p = &sl->published;
            out->queued += p->queued;
            out->queued_given_up += p->queued_given_up;
            out->fetched += p->fetched;
            out->errors += p->errors;
            out->gone += p->gone;
            out->bytes += p->bytes;
            out->storing += p->storing;
        }
        out->storing -= l->stored < out->storing ? l->stored : out->storing;
    }
    pthread_mutex_unlock(&cr->lane_lock);
    return l != NULL;
}

/* ---- URLs that left ---- */

/* The seen set cannot forget. A URL that leaves unvisited (with its network, its host or its channel) is noted here, so
 * that it is new again when somebody brings it back. */
void crawl_note_away(struct crawl *cr, uint64_t key)
{
    pthread_mutex_lock(&cr->away_lock);
    if (cr->away.n < CRAWL_AWAY_MAX)
        table_put(&cr->away, key, cr);
    atomic_store(&cr->away_count, cr->away.n);
    pthread_mutex_unlock(&cr->away_lock);
}

status crawl_note_urls(struct crawl *cr, const uint64_t *keys, size_t n, bool *is_new)
{
    status st = n ? seen_add(cr->seen, keys, n, is_new) : ST_OK;
    if (st != ST_OK || !atomic_load(&cr->away_count))
        return st;
    pthread_mutex_lock(&cr->away_lock);
    for (size_t i = 0; i < n; i++)
        if (!is_new[i] && table_remove(&cr->away, keys[i]))
            is_new[i] = true;
    atomic_store(&cr->away_count, cr->away.n);
    pthread_mutex_unlock(&cr->away_lock);
    return ST_OK;
}
