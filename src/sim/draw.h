/* draw.h - random numbers of a few shapes, and generators that belong to a thing instead of to a moment.
 *
 * draw_for() gives the same generator for the same seed and things, whatever was drawn before: so a round trip, a
 * measurement or a place does not depend on the order in which it was asked for. Pure. */
#pragma once

#include "base/rng.h"
#include "base/span.h"

/* What is drawn; keeps the generators of different things apart. */
typedef enum draw_kind {
    DRAW_FACTOR = 1, /* of a pair of countries */
    DRAW_JITTER,     /* of a path from a place to an agent */
    DRAW_ACCESS_SITE,
    DRAW_ACCESS_AGENT,
    DRAW_AGENTS,
    DRAW_NETWORKS,
    DRAW_SITES,
    DRAW_PLACE,   /* of a network */
    DRAW_HOME,    /* of a holder */
    DRAW_REPLICA, /* of those that answer from everywhere */
    DRAW_PROBE,   /* the noise of a measurement */
    DRAW_FETCH,   /* and of a request */
    DRAW_DRIFT,
    DRAW_SERVER,
    DRAW_ORDER,
    DRAW_BASELINE,
    DRAW_PAGES,  /* of a channel that is recrawled */
    DRAW_CHANGE, /* the gap between two changes of it */
    DRAW_SPREAD, /* where it, or an agent, is around its node */
    DRAW_LINE,   /* bandwidth of an agent */
    DRAW_LIFE,   /* of an agent, how it ends and when it comes back */
    DRAW_SIX,    /* whether a network of a file has IPv6 too, and which */
} draw_kind;

struct rng draw_for(uint64_t seed, draw_kind kind, uint64_t a, uint64_t b);
uint64_t draw_hash(uint64_t seed, struct span text); /* a thing that has a name */

double draw_between(struct rng *r, double low, double high);
double draw_exponential(struct rng *r, double mean);
double draw_normal(struct rng *r); /* mean 0, deviation 1 */
double draw_lognormal(struct rng *r, double mean_of_log, double deviation_of_log);
double draw_pareto(struct rng *r, double alpha); /* 1 and up */
