/* recrawl_icr.c - iterated capacity reassignment (003, section 3.2): the ratios between the intervals of ranks stay as
 * they were at first, and one factor fits them to the slot time that updates have taken lately. */
#include "plan/recrawl_internal.h"

static void reassign(struct recrawl *r, uint32_t now)
{
    (void)now;
    double wanted = 0, achieved = 0, interval_s[RECRAWL_RANKS];
    double first = (double)r->opts.interval[0];
    if (!window_is_full(r))
        return;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct channel *c = &r->channels[i];
        if (!c->is_used || c->is_never || !c->visited)
            continue;
        double cost = channel_cost(r, c), gap = c->gap_s > 0 ? (double)c->gap_s : r->interval_s[c->rank];
        wanted += cost * first / (double)r->opts.interval[c->rank];
        achieved += cost / gap;
    }
    if (!(achieved > 0))
        return;
    /* Slots that the first intervals, stretched by theta, would keep busy = slots that were. */
    double theta_first = wanted / achieved; /* theta x the first interval of the fastest rank, in seconds */
    for (int k = 0; k < RECRAWL_RANKS; k++)
        interval_s[k] = theta_first * (double)r->opts.interval[k] / first;
    window_assign(r, interval_s);
}

const struct strategy_calls recrawl_icr = {interval_place, interval_due, interval_take, reassign, NULL};
