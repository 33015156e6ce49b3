/* recrawl_run.h - plays recrawling with a strategy of plan/recrawl.h, unchanged, and counts (003 section 4).
 *
 * Follows one channel: the strategy names it, the fleet crawls it or loses the task, and the strategy is told. What is
 * stored is the channel as it was when its task ended: it stays current until the next change. Change rates are the
 * referee's: with given ranks (as in the paper) `fixed`, `iir` and `icr` know them, `greedy` always finds out itself.
 *
 * One thread; the same options give the same figures. */
#pragma once

#include "plan/recrawl.h"
#include "sim/recrawl_ground.h"

#define RECRAWL_STEPS 90000u
#define RECRAWL_BIN 360u /* steps of a point of charts */
#define RECRAWL_DAY 1440u
#define RECRAWL_PHASES 3
#define RECRAWL_WARM_SHARE \
    9u /* freshness counts from a ninth of the run on: all start current, and all agents at once */

struct recrawl_run_opts {
    struct recrawl_ground_opts ground; /* agents: at first; with a swing it has twice as many */
    recrawl_strategy strategy;
    double encouragement, ceiling; /* 0: defaults of recrawl.h */
    bool finds_ranks;              /* else ranks are given */
    uint32_t swing; /* step at which half of the agents leave for a day; after it twice as many as at first are there;
                       0: never */
    void (*tell)(void *arg, size_t done, size_t of); /* progress; may be NULL */
    void *arg;
};

/* A stretch of constant capacity. */
struct recrawl_phase {
    uint32_t from, to; /* steps */
    double threads;    /* mean */
    double freshness_weighted;
    double optimum_weighted; /* < 0: not known */
};

struct recrawl_bin {
    double queued, threads, bytes, freshness_weighted;
};

struct recrawl_figures {
    uint64_t tasks, updates, late, lost;
    uint64_t tasks_by_rank[RECRAWL_RANKS], updates_by_rank[RECRAWL_RANKS];
    size_t channels_by_rank[RECRAWL_RANKS];
    double interval_by_rank[RECRAWL_RANKS]; /* steps: channels x steps / tasks */
    double freshness_by_rank[RECRAWL_RANKS];
    double success_rate, queued_mean;
    double throughput;      /* bytes a second, all agents together */
    double task_throughput; /* bytes by seconds from submission to end, of all tasks */
    double quality, quality_weighted;
    double freshness, freshness_weighted;
    double optimum_weighted; /* of the latter, under the same ceiling, capacity and losses; < 0: not known */
    double capacity;         /* threads that were there by threads that fixed wants */
    double busy;             /* share of thread time */
    uint64_t moves, forwarded, handed_over;
    double load_variation;
    uint64_t starved;            /* channels without an update in the last half */
    double visits_a_change_most; /* of a rank, in the mean of its channels: the ceiling in the long run */
    size_t agents;
};

struct recrawl_run_result {
    struct recrawl_figures figures;
    struct recrawl_phase phases[RECRAWL_PHASES];
    size_t phase_count;
    struct recrawl_bin *bins; /* owned */
    size_t bin_count;
};
void recrawl_run(const struct recrawl_run_opts *o, struct recrawl_run_result *out);
void recrawl_run_result_done(struct recrawl_run_result *r); /* zeroed is fine */
