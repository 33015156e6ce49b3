/* world.h - a world: agents, sites, round trips between them; for simulation and the lab.
 *
 * A folder (docs/formats/world.md): agents.tsv, sites.tsv, rtt.tsv, agent_rtt.tsv, networks.tsv, any of them also
 * .zst. Where rtt.tsv would be too large there is model.tsv instead, and world_rtt computes: the same numbers for
 * everybody. What a strategy may see of it, and what is the referee's, is up to the simulator. Never changes once
 * loaded, but round trips of a model are remembered when first asked for: one thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "place/addr.h"
#include "place/geo.h"

#define WORLD_AGENTS_MAX 65536
#define WORLD_SITES_MAX 10000000
#define WORLD_MATRIX_MAX 100000000 /* round trips in rtt.tsv */
#define WORLD_RTT_MAX 100000.0     /* ms */

struct world_agent {
    struct span name;
    struct addr addr;
    char country[3];
    struct spot spot;
};

struct world_site {
    struct span host, holder;
    struct addr addr, addr6; /* addr6: family 0 when it has none */
    char country[3];         /* where it is, which need not be where its network is registered */
    bool is_anycast;
    struct spot spot;
    uint32_t pages, bytes_per_page;
    float changes_per_day, importance;
};

struct world;
/* ST_NOT_FOUND, ST_INVALID, ST_LIMIT, ...: `why` has file, line and what is wrong. */
MUST_USE status world_load(const char *dir, struct world **out, struct buf *why);
/* The first `sites_max` sites only; 0: all. */
MUST_USE status world_load_part(const char *dir, size_t sites_max, struct world **out, struct buf *why);
/* From now on it has only its first `agents` agents, or all that there are. Before anything is asked of it. */
void world_keep_agents(struct world *w, size_t agents);
void world_free(struct world *w); /* NULL is fine */
size_t world_agent_count(const struct world *w);
size_t world_site_count(const struct world *w);
const struct world_agent *world_agent(const struct world *w, size_t i);
const struct world_site *world_site(const struct world *w, size_t i);
double world_rtt(const struct world *w, size_t site, size_t agent); /* ms */
double world_agent_rtt(const struct world *w, size_t a, size_t b);
/* The agent with the shortest round trip, the first of equals; with a model remembered for each place. */
size_t world_nearest(const struct world *w, size_t site, double *ms);
/* Where networks.tsv is, or "": a path inside the folder or beside it. */
const char *world_networks(const struct world *w);

/* The registered domain that a site of a world stands for: hosts end in ".example", which is left out first. */
struct span world_site_domain(const struct world_site *s);
