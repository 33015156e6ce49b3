#include "plan/page_rate.h"

#include <math.h>
#include <string.h>

#define JUST_NOW 64 /* a change in the last so-manieth part of a gap is one that the server makes up */
#define TIME_MAX (100 * 365.0f * 86400) /* s; more is nobody's evidence */

const struct change_prior page_prior = {.changes = 0.12, .time = 13300};

uint64_t page_rate_pack(const struct change_rate *c)
{
    uint32_t changes, time;
    memcpy(&changes, &c->changes, sizeof(changes));
    memcpy(&time, &c->time, sizeof(time));
    return (uint64_t)changes << 32 | time;
}

static float within(float v, float max)
{
    return v > 0 ? fminf(v, max) : 0; /* what is no number is not above 0 */
}

struct change_rate page_rate_unpack(uint64_t packed)
{
    uint32_t changes = (uint32_t)(packed >> 32), time = (uint32_t)packed;
    struct change_rate c;
    memcpy(&c.changes, &changes, sizeof(changes));
    memcpy(&c.time, &time, sizeof(time));
    c.changes = within(c.changes, (float)CHANGE_MEMORY);
    c.time = within(c.time, TIME_MAX);
    return c;
}

double page_rate_days(uint64_t packed, double *factor)
{
    struct change_rate c = page_rate_unpack(packed);
    if (factor)
        *factor = exp(change_rate_log_deviation(&c, &page_prior));
    return 1 / (change_rate_mean(&c, &page_prior) * 86400);
}

uint64_t page_rate_visit(uint64_t packed, int64_t gap_ms, bool has_changed, int64_t since_ms)
{
    struct change_rate c = page_rate_unpack(packed);
    double gap = (double)gap_ms / 1000, since = (double)since_ms / 1000;
    if (since * JUST_NOW < gap)
        since = -1;
    change_observe(&c, &page_prior, gap, has_changed, since);
    return page_rate_pack(&c);
}
