/* recrawling_figures.c - how fresh what was crawled is: of one channel, and of all of them. */
#include <math.h>
#include <string.h>

#include "coord/agents.h"
#include "coord/recrawling_internal.h"

#define DAY_MS (24.0 * 3600 * 1000)
#define NEWS_MS 1000 /* figures of few channels are made anew when they are older */

void recrawling_look(const struct coord *c, const struct c_channel *ch, wall_ms now, struct recrawling_view *out)
{
    const struct recrawling *p = c->recrawling;
    const struct c_recrawl *r = &ch->recrawl;
    const struct recrawl_history *h = &r->plan.history;
    double inlinks = inlink_factor(ch);
    double age = h->visited ? fmax(0, (double)(plan_time(p, now) - h->visited)) : 0;
    bool is_by_interval = r->plan.due > 0 && r->plan.due != MONO_NEVER;
    wall_ms next = plan_wall(p, is_by_interval && r->plan.due > r->plan.open ? r->plan.due : r->plan.open);
    *out = (struct recrawling_view){
        .is_planned = r->is_planned && !r->rule.is_never,
        .is_under_way = r->asked != 0,
        .rank = h->rank,
        .weight = (r->rule.weight > 0 ? r->rule.weight : 1) * inlinks,
        .inlinks = inlinks,
        .rate_a_day = r->plan.rate_a_day * p->scale,
        .rate_factor = exp(r->plan.rate_deviation),
        .freshness = h->visited ? exp(-r->plan.rate_a_day * age / DAY_MS) : 0,
        .visited = plan_wall(p, h->visited),
        .next = r->is_planned && !r->rule.is_never && !r->asked && !p->is_off ? next : 0,
        .submissions = h->submissions,
        .successes = h->updates,
        .updates = r->updates,
        .looked = r->last.looked,
        .changed = r->last.changed,
        .added = r->last.added,
        .gone = r->last.gone,
        .failed = r->last.failed,
        .took_ms = r->last.took_ms,
    };
}

/* ---- all of them ---- */

/* The largest loss first. */
static void note_stale(struct recrawling_figures *f, const struct c_channel *ch, const struct recrawling_view *v)
{
    double loss = v->weight * (1 - v->freshness);
    size_t at = f->stalest_count;
    while (at > 0 && f->stalest[at - 1].loss < loss)
        at--;
    if (at == RECRAWLING_STALEST)
        return;
    size_t kept = f->stalest_count < RECRAWLING_STALEST ? f->stalest_count : RECRAWLING_STALEST - 1;
    memmove(&f->stalest[at + 1], &f->stalest[at], (kept - at) * sizeof(*f->stalest));
    f->stalest_count = kept + 1;
    struct recrawling_stale *s = &f->stalest[at];
    *s = (struct recrawling_stale){.id = ch->id,
                                   .weight = v->weight,
                                   .freshness = v->freshness,
                                   .loss = loss,
                                   .rate_a_day = v->rate_a_day,
                                   .visited = v->visited};
    memcpy(s->label, ch->label, sizeof(s->label));
}

static void add(const struct coord *c, struct recrawling_figures *f, const struct c_channel *ch, wall_ms now)
{
    struct recrawling_view v;
    if (ch->is_removed || ch->is_paused)
        return;
    if (!ch->recrawl.is_planned) {
        f->fresh++;
        return;
    }
    recrawling_look(c, ch, now, &v);
    f->channels++;
    f->weight += v.weight;
    f->freshness += v.weight * v.freshness;
    f->ranks[v.rank].channels++;
    f->ranks[v.rank].weight += v.weight;
    f->ranks[v.rank].freshness += v.weight * v.freshness;
    f->due += v.is_planned && !v.is_under_way && v.next && v.next <= now;
    if (v.is_planned)
        note_stale(f, ch, &v);
}

static void mean(double *sum, double weight)
{
    *sum = weight > 0 ? *sum / weight : 0;
}

/* What a round over the channels found takes the place of the one before; what is counted as it happens stays. */
static void take_round(struct recrawling *p, wall_ms now)
{
    struct recrawling_figures was = p->figures;
    p->figures = p->round;
    p->round = (struct recrawling_figures){0};
    p->round_at = 0;
    p->figures.at = now;
    mean(&p->figures.freshness, p->figures.weight);
    for (int i = 0; i < RECRAWL_RANKS; i++)
        mean(&p->figures.ranks[i].freshness, p->figures.ranks[i].weight);
    p->figures.submitted = was.submitted;
    p->figures.done = was.done;
    p->figures.updated = was.updated;
    p->figures.lost = was.lost;
    p->figures.declined = was.declined;
    p->figures.forwarded = was.forwarded;
}

/* Goes on with the round, by RECRAWLING_AT_ONCE channels. */
static void go_on(struct coord *c, wall_ms now)
{
    struct recrawling *p = c->recrawling;
    const struct c_channel *ch = NULL;
    for (size_t n = 0; n < RECRAWLING_AT_ONCE && (ch = table_next(&c->channels, &p->round_at)); n++)
        add(c, &p->round, ch, now);
    if (!ch)
        take_round(p, now);
}

void freshness_tick(struct coord *c, wall_ms now)
{
    if (c->channels.n > RECRAWLING_AT_ONCE)
        go_on(c, now);
}

void recrawling_figures_get(struct coord *c, wall_ms now, struct recrawling_figures *out)
{
    struct recrawling *p = c->recrawling;
    if (c->channels.n <= RECRAWLING_AT_ONCE && (now - p->figures.at >= NEWS_MS || now < p->figures.at)) {
        p->round = (struct recrawling_figures){0};
        p->round_at = 0;
        while (p->figures.at != now) /* once, or twice: take_round ends it */
            go_on(c, now);
    }
    *out = p->figures;
    out->strategy = p->strategy;
    out->is_off = p->is_off;
    out->ceiling = c->o.recrawl_ceiling > 0 ? c->o.recrawl_ceiling : RECRAWL_CEILING;
    out->prior_a_day =
        p->state.prior.time > 0 ? p->state.prior.changes / p->state.prior.time * DAY_MS / 1000 * p->scale : 0;
    for (int i = 0; i < RECRAWL_RANKS; i++)
        out->ranks[i].interval_ms = p->state.intervals[i] / p->scale;
    for (size_t i = 0; i < p->under_way_count; i++) {
        bool is_begun = false;
        const struct c_channel *ch = p->under_way[i];
        for (size_t k = 0; k < ch->task_count; k++) {
            const struct c_agent *a = ch->tasks[k]->visit ? agent_get(c, ch->tasks[k]->agent) : NULL;
            is_begun |= a && a->orders_done >= ch->tasks[k]->last_order;
        }
        out->queued += !is_begun;
        out->running += is_begun;
    }
}
