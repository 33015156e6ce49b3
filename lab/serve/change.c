#include "lab/serve/change.h"

#include <math.h>

#include "base/rng.h"

#define EXPECTED 4.0    /* changes in a span */
#define IN_SPAN_MAX 100 /* more are less likely than 1e-90 */
#define SPANS_MAX 100   /* so many empty ones in a row: e^-400 */
#define SITE_RATE_LOW 0.02
#define SITE_RATE_HIGH 2.0

static double gap(struct rng *r)
{
    return -log1p(-rng_unit(r));
}

/* In units of the mean gap: the last change of the span at or before `until`; negative: none. */
static double last_in(uint64_t seed, uint64_t span, double until)
{
    struct rng r;
    double at = 0, last = -1;
    rng_seed(&r, seed ^ (span + 1) * 0xd6e8feb86659fd93);
    for (int i = 0; i < IN_SPAN_MAX; i++) {
        at += gap(&r);
        if (at > until || at >= EXPECTED)
            break;
        last = at;
    }
    return last;
}

double change_last(uint64_t seed, double per_day, double now_s)
{
    double unit_s = CHANGE_DAY_S / per_day; /* infinite when nothing changes */
    double now = now_s / unit_s;
    if (!(per_day > 0) || !(now > 0))
        return 0;
    uint64_t span = (uint64_t)(now / EXPECTED);
    double until = now - (double)span * EXPECTED;
    for (int i = 0; i < SPANS_MAX; i++) {
        double last = last_in(seed, span, until);
        if (last >= 0)
            return ((double)span * EXPECTED + last) * unit_s;
        if (span-- == 0)
            break;
        until = EXPECTED;
    }
    return 0;
}

double change_site_rate(uint64_t seed)
{
    struct rng r;
    rng_seed(&r, seed);
    return SITE_RATE_LOW * pow(SITE_RATE_HIGH / SITE_RATE_LOW, rng_unit(&r));
}

double change_page_rate(uint64_t seed, double site_per_day)
{
    struct rng r;
    rng_seed(&r, seed);
    return site_per_day * gap(&r);
}
