/* place_run.h - where one more agent would help most, and when more stop helping.
 *
 * Two curves of the mean round trip over all sites (by site, or weighted by pages). First the world's own agents, each
 * time the one that helps most, with their true round trips. Then cities that have no agent yet: nobody has measured
 * from there, so that a straight line through what is known (round trip against distance) is used, and what a site's
 * own line adds is known from its best agent. Greedy; within 1 - 1/e of the best possible gain. One thread. */
#pragma once

#include "place/cities.h"
#include "sim/world.h"

#define PLACE_STEPS_MAX 1000
#define PLACE_CANDIDATES_MAX 2000 /* the largest cities */

struct place_step {
    bool is_city;   /* else one of the world's agents */
    size_t at;      /* agent of the world, or city of the list */
    double rtt_ms;  /* mean, with it and all before */
    double nearest; /* share of sites that are nearer to it than to any before */
};

struct place_opts {
    const struct cities *cities; /* borrowed */
    size_t more;                 /* cities to look for */
    bool by_pages;               /* a site counts as often as it has pages */
};

struct place_result {
    struct place_step *steps; /* owned */
    size_t count;
    double slope, base_ms; /* of the line: ms for a ms of light, and at distance 0 */
    size_t own;            /* steps that are the world's agents: the first ones */
    size_t own_enough;     /* of them: after so many the next one gains less than 1 % */
    size_t enough;         /* of all: the same for cities */
};
void place_run(const struct world *w, const struct place_opts *o, struct place_result *out);
void place_result_done(struct place_result *r);
