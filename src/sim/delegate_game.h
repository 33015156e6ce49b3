/* delegate_game.h - what delegate_run.c, balance_run.c and drift_run.c share: one game in progress. */
#pragma once

#include "base/table.h"
#include "sim/delegate_run.h"

#define GAME_NO_AGENT UINT32_MAX
#define GAME_NO_SITE UINT32_MAX
#define GAME_AT_ONCE 8
#define GAME_PATIENCE 3 /* with it probes are within 8 % of those of six runs in the lab, 4 to 12 agents */
#define GAME_TRIALS 16  /* of a network; more than that are probed */

/* A network of which a site was met. */
struct game_net {
    uint64_t id;                   /* for the balancer: its place in the list + 1 */
    uint32_t site;                 /* the first that was met: questions are about it */
    uint32_t last_site;            /* of the chain game.next_site */
    uint32_t agent;                /* index in the world */
    double load, pages;            /* a day */
    struct delegate_probe *probes; /* owned: what was measured to it */
    size_t probe_count, probe_cap;
    size_t old_count;             /* of them, from before something changed */
    uint64_t trials[GAME_TRIALS]; /* agents whose measurement was their first fetch */
    unsigned trial_count;
};

struct game {
    const struct world *world;
    const struct delegate_run_opts *opts;
    struct ground ground;
    struct delegator *delegator;
    size_t site_count, agent_count;
    uint32_t *order;     /* sites as they are met */
    uint32_t *agent_of;  /* by site */
    uint32_t *next_site; /* by site: the next of the same network */
    uint16_t *probes_of; /* by place in `order` */
    struct game_net *nets;
    size_t net_count, net_cap;
    uint32_t *pending; /* owned: decided, but nobody knows it yet: places in `nets`, the oldest first */
    size_t pending_from, pending_to;
    struct table by_network; /* key of a network -> its place in the list + 1 */
    int64_t strategy_us;
    size_t decisions, nobody;
    uint64_t probes, measurements;
    double surprise_ms;
    size_t surprises;
    /* balance_run.c */
    struct balancer *balancer; /* NULL: no capacity */
    double capacity;
    size_t moves, events, judged, best, exact;
    uint64_t balance_probes;
    /* drift_run.c */
    struct drift_figures drift;
};

struct delegate_question game_net_question(const struct game *g, const struct game_net *n);
struct delegate_question game_question(const struct game *g, size_t site, const struct delegate_probe *probes,
                                       size_t n);
/* Asks until an agent is named, with measurements appended to the network's own. False: nobody is open. */
bool game_decide(struct game *g, struct game_net *n, struct delegate_answer *answer);
void game_net_add_probe(struct game_net *n, const struct delegate_probe *p);
void game_measure(struct game *g, struct game_net *n, uint64_t number);
/* The agent's first request, which is a measurement too. */
void game_fetch(struct game *g, struct game_net *n, uint64_t number);
bool game_was_measured(const struct game_net *n, uint64_t number);
/* Its measurements that count as probes: all but the first fetch of whoever stays the owner. */
size_t game_count_probes(const struct game_net *n, uint64_t owner);
/* All its sites have this agent from now on, and the strategy knows it. */
void game_give(struct game *g, struct game_net *n, uint32_t agent);
/* Pages x round trip from an agent, over the sites of a network. */
double game_cost(const struct game *g, const struct game_net *n, uint32_t agent);

/* balance_run.c */
void game_balance_begin(struct game *g);
/* A site joined the network; with `is_new` the network itself is new and should go to `agent`. */
void game_balance_site(struct game *g, struct game_net *n, size_t site, bool is_new, uint32_t agent);
void game_balance_end(struct game *g, struct delegate_figures *out);

/* drift_run.c */
void game_drift(struct game *g);
