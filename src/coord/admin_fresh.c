/* admin_fresh.c - sums up how fresh copies are, by rank and by site.
 *
 * A site is called by the first host of a channel. What is known of a channel is known of all its hosts together. */
#include "coord/admin_fresh.h"

#include <stdlib.h>

#include "base/mem.h"
#include "coord/channels.h"
#include "io/clock.h"

#define SLICE 1024 /* channels between two breaths of the lock */

struct gathering {
    struct coord *c;
    struct fresh_view *v;
    uint64_t *ids; /* owned: of all channels as it began */
    size_t id_count, site_cap;
    struct table sites; /* of the name -> 1 + its place in v->sites */
};

double fresh_loss(const struct fresh_sums *s)
{
    return s->weight > s->fresh ? s->weight - s->fresh : 0;
}

double fresh_share(const struct fresh_sums *s)
{
    return s->weight > 0 ? s->fresh / s->weight : -1;
}

/* ---- gathering ---- */

static void add_to(struct fresh_sums *s, const struct recrawling_view *w, wall_ms now)
{
    s->channels++;
    s->submissions += w->submissions;
    s->successes += w->successes;
    s->updates += w->updates;
    s->weight += w->weight;
    s->fresh += w->weight * w->freshness;
    s->rate += w->rate_a_day;
    if (!w->visited)
        return;
    s->visited++;
    s->age_ms += now > w->visited ? (double)(now - w->visited) : 0;
    s->last = w->visited > s->last ? w->visited : s->last;
}

static struct span site_name(const struct c_channel *ch)
{
    return ch->host_count ? ch->hosts[0] : span_str(ch->label);
}

static struct fresh_site *site_of(struct gathering *g, const struct c_channel *ch)
{
    struct fresh_view *v = g->v;
    uint64_t key = siphash(&g->c->key, site_name(ch));
    size_t at = (size_t)(uintptr_t)table_get(&g->sites, key);
    if (!at) {
        v->sites = mem_grow(v->sites, &g->site_cap, v->site_count + 1, sizeof(*v->sites));
        v->sites[v->site_count++] = (struct fresh_site){.key = key, .channel = ch->id};
        at = v->site_count;
        table_put(&g->sites, key, (void *)(uintptr_t)at);
    }
    return &v->sites[at - 1];
}

/* coord.lock held. */
static void note_channel(struct gathering *g, uint64_t id, wall_ms now)
{
    const struct c_channel *ch = channel_get(g->c, id);
    struct recrawling_view w;
    if (!ch || !ch->recrawl.is_planned)
        return;
    recrawling_look(g->c, ch, now, &w);
    add_to(&g->v->ranks[w.rank < RECRAWL_RANKS ? w.rank : RECRAWL_RANKS - 1], &w, now);
    struct fresh_site *s = site_of(g, ch);
    add_to(&s->sums, &w, now);
    s->also += ch->host_count > 1 ? ch->host_count - 1 : 0;
}

/* coord.lock held. */
static void begin(struct gathering *g)
{
    size_t at = 0;
    g->ids = mem_alloc((g->c->channels.n + 1) * sizeof(*g->ids));
    for (const struct c_channel *ch; (ch = table_next(&g->c->channels, &at));)
        g->ids[g->id_count++] = ch->id;
}

static int by_loss(const void *x, const void *y)
{
    const struct fresh_site *a = x, *b = y;
    double p = fresh_loss(&a->sums), q = fresh_loss(&b->sums);
    if (p != q)
        return p > q ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* Only those that are told get names. */
static void name_sites(struct gathering *g)
{
    struct fresh_view *v = g->v;
    for (size_t at = 0; at < v->site_count;) {
        pthread_mutex_lock(&g->c->lock);
        for (size_t end = at + SLICE; at < end && at < v->site_count; at++) {
            const struct c_channel *ch = channel_get(g->c, v->sites[at].channel);
            v->sites[at].name = ch ? arena_copy(&v->arena, site_name(ch)) : SPAN("");
        }
        pthread_mutex_unlock(&g->c->lock);
    }
}

static struct kept *make(struct coord *c)
{
    struct gathering g = {.c = c, .v = mem_alloc(sizeof(*g.v))};
    struct fresh_view *v = g.v;
    mono_ms began = clock_mono();
    bool is_more = true;
    arena_init(&v->arena);
    for (size_t at = 0; is_more;) {
        pthread_mutex_lock(&c->lock);
        if (!g.ids)
            begin(&g);
        wall_ms now = clock_wall();
        for (size_t end = at + SLICE; at < end && at < g.id_count; at++)
            note_channel(&g, g.ids[at], now);
        is_more = at < g.id_count;
        pthread_mutex_unlock(&c->lock);
    }
    if (v->site_count)
        qsort(v->sites, v->site_count, sizeof(*v->sites), by_loss);
    v->site_all = v->site_count;
    if (v->site_count > FRESH_SITES_MAX)
        v->site_count = FRESH_SITES_MAX;
    name_sites(&g);
    table_done(&g.sites);
    free(g.ids);
    v->kept.good_until = kept_until(began, FRESH_STEP_MS);
    return &v->kept;
}

/* ---- the one that is kept ---- */

static void dispose(struct kept *k)
{
    struct fresh_view *v = (struct fresh_view *)k;
    free(v->sites);
    arena_done(&v->arena);
    free(v);
}

static const struct kept_kind kind = {make, dispose};

const struct fresh_view *fresh_view_get(struct admin *a)
{
    return (const struct fresh_view *)kept_get(a, &a->fresh, &kind);
}

void fresh_view_done(struct admin *a, const struct fresh_view *v)
{
    kept_done(a, &v->kept, &kind);
}

void fresh_view_forget(struct admin *a)
{
    kept_forget(&a->fresh, &kind);
}
