/* optimum.h - the exact optimum of a transportation problem: goods from sources to bins, as cheaply as they fit.
 *
 * Sources may be split over bins, so that this is the least that any choice of whole sources can cost. By augmenting
 * along cheapest paths, source by source; bins are few, and a path goes over bins only. Pure. */
#pragma once

#include "base/status.h"

#define OPTIMUM_CELLS_MAX 1000000 /* sources x bins */
#define OPTIMUM_BINS_MAX 256

struct optimum_problem {
    size_t sources, bins;
    const int64_t *amount; /* of a source, >= 0 */
    const int64_t *room;   /* of a bin, >= 0 */
    const double *cost;    /* of a unit: [source * bins + bin] */
};
/* ST_FULL: it does not fit; ST_LIMIT: too large. `flow` (may be NULL) gets what goes where, laid out as `cost`. */
MUST_USE status optimum_solve(const struct optimum_problem *p, double *cost, int64_t *flow);
