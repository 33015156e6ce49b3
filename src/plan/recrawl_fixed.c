/* recrawl_fixed.c - intervals that stay as they are, and what all strategies with intervals do: a channel is due when
 * its rank's interval is over since it was last submitted, whatever became of that task, and nobody asks who is free.
 */
#include "plan/recrawl_internal.h"

#define READY 0u /* one list is enough: in the order in which they became due */

uint32_t interval_next(const struct recrawl *r, const struct channel *c)
{
    uint32_t open = channel_open(r, c), deadline = channel_deadline(c);
    double due = (double)c->submitted + r->interval_s[c->rank];
    if (!c->submitted || c->is_told)
        return open;
    uint32_t at = due < (double)NONE ? (uint32_t)due : NONE - 1;
    at = deadline < at ? deadline : at;
    return at > open ? at : open;
}

void interval_place(struct recrawl *r, uint32_t id, uint32_t now)
{
    const struct channel *c = &r->channels[id];
    if (!channel_may(r, c))
        return;
    uint32_t at = interval_next(r, c);
    if (at <= now)
        channel_ready(r, id, READY);
    else
        channel_wait(r, id, at);
}

void interval_due(struct recrawl *r, uint32_t id, uint32_t now)
{
    interval_place(r, id, now);
}

uint32_t interval_take(struct recrawl *r, uint32_t now, bool has_slot)
{
    (void)now;
    (void)has_slot;
    return r->first[READY];
}

const struct strategy_calls recrawl_fixed = {interval_place, interval_due, interval_take, NULL, NULL};
