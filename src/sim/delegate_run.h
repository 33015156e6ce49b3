/* delegate_run.h - plays delegation on a world: a strategy decides, the referee measures and counts.
 *
 * Follows one site: it is met, the strategy is asked about its network. The network is known: the site goes with it.
 * Else the strategy may want measurements (each one of GROUND_SAMPLES samples, the median counts), or name an agent on
 * trial, whose first fetch measures too, and is asked again with them, until it names an agent for good. Then it may
 * learn from all that was measured, the owner's first fetch among it. Of a site it sees its registered domain and its
 * address, of an agent its address, its place and the round trips to other agents, and nothing else of the world.
 *
 * Counting (the rule): one measurement from one agent is one probe, and so is the first fetch of an agent on trial that
 * does not stay the owner. `measurements` are all that were made before the decision, the owner's trial too.
 *
 * One thread; memory grows with sites; the same options on the same world give the same figures, but for CPU time. */
#pragma once

#include "plan/balance.h"
#include "plan/calibrate.h"
#include "plan/delegate.h"
#include "sim/figures.h"
#include "sim/ground.h"

/* The addresses that sites are met by. */
typedef enum sites_family {
    SITES_V4,
    SITES_V6,  /* those that have one, by it; the others are not met */
    SITES_ALL, /* those that have one by IPv6, the others by IPv4 */
} sites_family;
bool sites_family_parse(struct span name, sites_family *out); /* "4", "6", "both" */

struct delegate_run_opts {
    struct delegator_opts delegator; /* what it points to is borrowed; its seed is set from `seed` */
    struct ground_opts ground;       /* its seed too */
    uint64_t seed;
    size_t sites; /* 0: all */
    /* 0: sites come in random order, each when the one before it is decided. Else in the order of the world, and so
     * many are undecided at a time, as a share of those that are decided (GAME_AT_ONCE at least): the lab has it so. */
    double arrive;
    const uint32_t *met; /* with `arrive`, borrowed: these sites first, in this order; each once. NULL: none */
    size_t met_count;
    sites_family family;
    double capacity_share; /* of each agent, in fair shares of the whole load; 0: see capacity_bytes */
    double capacity_bytes; /* a day; 0 as well: no limit, no balancing */
    balance_rule balance;  /* 0: BALANCE_GAIN */
    bool has_drift;        /* after all are delegated, crawl for `days` and calibrate; ground.drift happens at once */
    struct calibrate_opts calibration;
    unsigned days;           /* 0: 3 */
    unsigned requests_a_day; /* of a network; 0: 48 */
    /* For progress; may be NULL. */
    void (*tell)(void *arg, size_t done, size_t of);
    void *arg;
};

/* Calibration after a change. */
struct drift_figures {
    double ratio_before, ratio_changed, ratio_after; /* mean round trip / optimum: before, just after, at the end */
    double probes_extra;                             /* a site */
    double moves_share_a_day;                        /* of networks */
    size_t moves, decisions, networks;
    /* When the ratio was first within 1.05 again: request number of each network, extra probes a site; -1: never. */
    double back_after_requests, back_after_probes;
};

struct delegate_figures {
    size_t sites, agents, networks, decisions;
    struct quality quality;
    double probes, probes_first, probes_last, probes_last50; /* a site: all, first and last tenth, last 50 */
    double measurements;                                     /* a site */
    struct baseline baseline;
    double cpu_us; /* a decision, all calls into the strategy */
    double off_ms; /* mean |expected - true| of the answers that had an expectation; < 0: none had */
    size_t nobody; /* sites that no agent was found for */
    /* With balancing. */
    bool is_balanced;
    size_t moves;  /* of networks that had an agent */
    size_t events; /* times that something did not fit where it should go */
    /* Shares of them, where it can be told, in which the choice was as good as the best single move, by true round
     * trips: up to DELEGATE_NEAR_MS for each page that moved, which noise hides; exactly. < 0: there were none. */
    double balance_best, balance_exact;
    double balance_probes; /* a site: agents are measured before a network moves there */
    double balance_ratio;  /* cost over all pages / the exact optimum; < 0: not known (too large, or it does not fit) */
    size_t over;           /* agents over their capacity at the end */
    struct drift_figures drift;
};

struct delegate_result {
    struct delegate_figures figures;
    uint16_t *probes_of; /* owned: by the rule, in the order of the sites met */
    uint32_t *agent_of;  /* owned: by site of the world */
    uint32_t *order;     /* owned: the sites as met */
};
void delegate_run(const struct world *w, const struct delegate_run_opts *o, struct delegate_result *out);
void delegate_result_done(struct delegate_result *r); /* zeroed is fine */
