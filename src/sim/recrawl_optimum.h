/* recrawl_optimum.h - the most freshness that any timetable could reach: who knows the true rates, and never has bad
 * luck.
 *
 * A channel that is visited every x / rate has a current copy for (1 - e^-x) / x of the time. Visits are given so that
 * one more minute of a thread would gain the same everywhere (a multiplier, found by bisection), none closer than the
 * ceiling allows. A task that takes d of an agent's time costs (e^(hd) - 1) / h for each one that succeeds, where
 * agents vanish with rate h: as much as tasks that are begun anew until one of them is through. Pure. */
#pragma once

#include "sim/recrawl_ground.h"

#define OPTIMUM_VANISH_RATE (2.0 / 3 / 1000) /* a step: two of three lives of 1,000 steps end so */

struct recrawl_optimum {
    double freshness, freshness_weighted; /* the former under the timetable that is best for the latter */
    double threads;                       /* that it uses: fewer than there are when the ceiling binds */
    double demand;                        /* threads for one visit a change: what fixed asks for, without any loss */
};
/* `page_rate`: pages a step of a thread at the mean round trip between channels and their nearest nodes. */
void recrawl_optimum(const struct recrawl_ground *g, double threads, double page_rate, double ceiling,
                     struct recrawl_optimum *out);
