/* world_model.h - round trips of a made-up world, computed: the same numbers for everybody who has model.tsv.
 *
 *     path     = distance / km_per_ms x a factor of the two countries + jitter of the place and the agent
 *     site     = path from its place + what its access line adds + what the agent's adds
 *     anycast  = the shortest path to any of the replicas, + anycast_ms, + access lines
 *
 * Everything is drawn by seed and name, not by order, and rounded to 0.01 ms before it is added up: differences in the
 * last bit of a machine's logarithm do not show. Paths are kept for places seen before. Computing from a const model is
 * safe in one thread at a time only. */
#pragma once

#include "base/buf.h"
#include "base/span.h"
#include "base/status.h"
#include "place/geo.h"

#define MODEL_REPLICAS_MAX 256

struct model_place {
    struct spot spot;
    char country[3];
};

struct model_opts {
    uint64_t seed;
    double km_per_ms;              /* of round trip */
    double factor_min, factor_max; /* of a country pair: how much longer cables are than the great circle */
    double access_site_ms;         /* mean, exponential */
    double access_agent_ms;
    double jitter_ms; /* mean, exponential */
    double anycast_ms;
};
void model_defaults(uint64_t seed, struct model_opts *out);

struct model;
struct model *model_new(const struct model_opts *o);
void model_free(struct model *m); /* NULL is fine */
/* All of them before the first round trip is asked for. */
void model_add_replica(struct model *m, const struct model_place *p);
void model_add_agent(struct model *m, struct span name, const struct model_place *p);

/* Replicas of anycast sites as one place; else the place is remembered by its coordinates. */
#define MODEL_EVERYWHERE 0u
uint32_t model_place(struct model *m, const struct model_place *p);
uint32_t model_place_count(const struct model *m); /* with MODEL_EVERYWHERE */
/* The path from a place to an agent, access lines not counted, in hundredths of a millisecond. */
const uint32_t *model_paths(struct model *m, uint32_t place); /* one an agent */
uint32_t model_access_agent(const struct model *m, size_t agent);
uint32_t model_access_site(const struct model *m, struct span host);
uint32_t model_between_agents(struct model *m, size_t a, size_t b);

/* model.tsv. */
void model_write(const struct model *m, struct buf *out);
MUST_USE status model_read(const char *path, struct model **out, struct buf *why); /* agents are not in it */
