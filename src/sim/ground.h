/* ground.h - the referee's side of a simulation: what round trips really are, and what a measurement of one says.
 *
 * A sample is the round trip x lognormal noise, and one in so many takes longer by a fixed amount. Noise belongs to
 * site, agent and number of the measurement, not to the order in which they are made: two strategies that measure the
 * same thing see the same. One thread; borrows the world. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "sim/world.h"

#define GROUND_NOISE 0.03
#define GROUND_SPIKE_EVERY 50
#define GROUND_SPIKE_MS 30.0
#define GROUND_SAMPLES 3
#define GROUND_SAMPLES_MAX 15

/* What changes in the middle of a run. */
typedef enum drift_kind {
    DRIFT_NONE,
    DRIFT_PATHS,   /* a third of the round trips grow to 1.5 .. 3 times */
    DRIFT_BOTH,    /* a third change: half of them grow, half shrink, never below light */
    DRIFT_SERVERS, /* a third of the servers answer 3 .. 10 times slower; paths stay */
} drift_kind;
bool drift_parse(struct span name, drift_kind *out); /* "none", "paths", "both", "servers" */
const char *drift_name(drift_kind k);

struct ground_opts {
    uint64_t seed;
    double noise;         /* deviation of the logarithm; < 0: GROUND_NOISE */
    unsigned spike_every; /* 0: never */
    double spike_ms;
    unsigned samples; /* of a measurement, whose median counts; 0: GROUND_SAMPLES */
    drift_kind drift;
};

struct ground {
    const struct world *world; /* borrowed */
    struct ground_opts opts;
    bool has_drifted; /* set by the caller when it happens */
};
void ground_init(struct ground *g, const struct world *w, const struct ground_opts *o);

double ground_rtt(const struct ground *g, size_t site, size_t agent);
size_t ground_nearest(const struct ground *g, size_t site, double *ms);
/* The n-th measurement from the agent: the median of its samples. */
double ground_probe(const struct ground *g, size_t site, size_t agent, unsigned n);
/* The n-th ordinary request: its connection and all of it. */
void ground_request(const struct ground *g, size_t site, size_t agent, unsigned n, double *path_ms, double *total_ms);
