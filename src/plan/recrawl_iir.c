/* recrawl_iir.c - iterated interval reassignment (003, section 3.1), and what icr has in common with it.
 *
 * When half of the fastest channels have had more than WINDOW_UPDATES updates, every rank gets the mean gap that its
 * channels had between updates as its new interval. A rank whose share of successful tasks rose is encouraged: a
 * shorter one. The observed gap is the interval by that share, so the share settles near the square root of the
 * encouragement; an encouragement above the square of what churn allows lets the intervals drift upward. */
#include <math.h>

#include "plan/recrawl_internal.h"

bool window_is_full(const struct recrawl *r)
{
    for (int k = 0; k < RECRAWL_RANKS; k++)
        if (r->in_rank[k])
            return 2 * r->full[k] >= r->in_rank[k];
    return false;
}

/* A slower rank is never visited more often than a faster one, nor very much less often. */
static void keep_order(const struct recrawl *r, double interval_s[RECRAWL_RANKS])
{
    for (int k = 1; k < RECRAWL_RANKS; k++) {
        if (interval_s[k] < interval_s[k - 1])
            interval_s[k] = interval_s[k - 1] * RECRAWL_GROWTH_LEAST;
        interval_s[k] = fmin(interval_s[k], interval_s[k - 1] * r->opts.growth_most);
    }
}

void window_assign(struct recrawl *r, double interval_s[RECRAWL_RANKS])
{
    for (int k = 0; k < RECRAWL_RANKS; k++) {
        const struct rank_window *w = &r->window[k];
        double success = w->submissions ? (double)w->updates / (double)w->submissions : 0;
        if (success > r->last_success[k])
            interval_s[k] *= r->opts.encouragement;
        r->last_success[k] = success;
    }
    keep_order(r, interval_s);
    for (int k = 0; k < RECRAWL_RANKS; k++) {
        r->interval_s[k] = fmax(interval_s[k], 1);
        r->window[k] = (struct rank_window){0};
        r->full[k] = 0;
    }
    for (uint32_t i = 0; i < r->count; i++) {
        r->channels[i].window = 0;
        r->channels[i].before = r->channels[i].visited;
    }
}

/* Mean gap between updates in the window, from the last one before it. Without any: as long as it has waited already,
 * and its interval at least. */
static double observed_gap(const struct recrawl *r, const struct channel *c, uint32_t now)
{
    if (c->window && c->visited > c->before)
        return (double)(c->visited - c->before) / c->window;
    return fmax(r->interval_s[c->rank], (double)now - (double)c->visited);
}

static void reassign(struct recrawl *r, uint32_t now)
{
    double sum[RECRAWL_RANKS] = {0}, count[RECRAWL_RANKS] = {0}, interval_s[RECRAWL_RANKS];
    if (!window_is_full(r))
        return;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct channel *c = &r->channels[i];
        if (!c->is_used || c->is_never || !c->visited)
            continue;
        sum[c->rank] += observed_gap(r, c, now);
        count[c->rank]++;
    }
    for (int k = 0; k < RECRAWL_RANKS; k++)
        interval_s[k] = count[k] > 0 ? sum[k] / count[k] : r->interval_s[k];
    window_assign(r, interval_s);
}

const struct strategy_calls recrawl_iir = {interval_place, interval_due, interval_take, reassign, NULL};
