/* recrawl_ground.h - what the simulation of recrawling stands on: where agents and channels are, how large channels are
 * and when they change (003 section 4).
 *
 * A few nodes and sites have round trips of a world, or of the model of `orb world make`; agents and channels are
 * replicas around them, 10 % to 50 % of the way to the nearest neighbour. A channel changes by a Poisson process whose
 * mean gap is that of its rank, or as a history says: pages of a folder that really changed, stretched over the run and
 * begun at another place for each channel. The same seed gives the same of everything, whatever the strategy. */
#pragma once

#include "plan/recrawl.h"
#include "sim/changes.h"
#include "sim/world.h"

#define RECRAWL_CHANNELS 17777 /* table 1's tasks x interval / steps */
#define RECRAWL_NODES_MAX 1024
#define RECRAWL_SITES_MAX 20000
#define RECRAWL_PAGE_BITS (10 * 1024 * 8.0)
#define RECRAWL_SERVER_S 0.2
#define RECRAWL_THREADS 5
#define RECRAWL_QUEUE 5

struct ground_channel {
    uint32_t site;
    float spread_ms;
    float pages;
    uint8_t rank;
    uint32_t history; /* of ground.changes; UINT32_MAX: Poisson */
    double shift;     /* of a history, in steps */
};

struct ground_agent {
    uint16_t node;
    float spread_ms;
    float page_s; /* transfer and server, round trip not counted */
};

struct recrawl_ground {
    uint64_t seed;
    size_t nodes, sites, agents, channels;
    unsigned steps;
    float *rtt_ms;   /* owned: a row a site */
    uint16_t *order; /* owned: nodes by round trip, a row a site */
    struct ground_agent *agent;
    struct ground_channel *channel;
    const struct changes *changes; /* borrowed; NULL: Poisson */
    double scale;                  /* steps a second of the histories */
};

struct recrawl_ground_opts {
    uint64_t seed;
    size_t agents, channels; /* channels 0: RECRAWL_CHANNELS */
    unsigned steps;
    const struct world *world;     /* borrowed; NULL: the model, 140 nodes and 1,600 sites */
    const struct cities *cities;   /* borrowed; for the model */
    const struct changes *changes; /* borrowed; NULL: Poisson */
};
void recrawl_ground_init(struct recrawl_ground *g, const struct recrawl_ground_opts *o);
void recrawl_ground_done(struct recrawl_ground *g);

extern const double recrawl_mean_gap[RECRAWL_RANKS]; /* steps */
extern const double recrawl_weight[RECRAWL_RANKS];
/* Mean gap between changes, in steps: of its rank, or of its history. */
double ground_change_gap(const struct recrawl_ground *g, size_t channel);
/* Steps that a whole crawl takes by an agent. */
double ground_crawl_steps(const struct recrawl_ground *g, size_t channel, size_t agent);

/* Changes of one channel, one after the other. */
struct ground_changes {
    double next; /* step of the next one */
    uint32_t number;
};
void ground_changes_begin(const struct recrawl_ground *g, size_t channel, struct ground_changes *c);
void ground_changes_step(const struct recrawl_ground *g, size_t channel, struct ground_changes *c);
