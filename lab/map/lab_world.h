/* lab_world.h - a world (sim/world.h) as part of a lab: each agent a place with a namespace of its own, each site a
 * place in the namespace `servers`, the name server there too, and `hq` beside one of the agents. */
#pragma once

#include "base/buf.h"
#include "lab/map/lab.h"
#include "sim/world.h"

/* Nothing in a world has these addresses: they are for benchmarks (RFC 2544) and documentation (RFC 3849). */
#define LAB_HQ4 "198.18.0.1"
#define LAB_DNS4 "198.18.0.53"
#define LAB_HQ6 "2001:db8:6c61:6200::1"
#define LAB_DNS6 "2001:db8:6c61:6200::53"

struct lab_world {
    struct world *world;  /* owned by whoever made this */
    size_t agents, sites; /* so many of each, the first ones */
    size_t hq;            /* the agent that hq is beside */
    double dns_rtt_ms;    /* from everywhere */
    unsigned hq_place, dns_place;
    unsigned *agent_place, *site_place; /* in the lab's arena */
};

/* Before map_seal: places, sites, names. ST_EXISTS: a place is there already; why says which. */
MUST_USE status lab_world_places(struct lab *l, struct lab_world *w, struct buf *why);
/* After it. */
MUST_USE status lab_world_paths(struct lab *l, const struct lab_world *w, struct buf *why);
