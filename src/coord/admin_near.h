/* admin_near.h - how near agents are to their networks, summed up for a page, a map and a call. Inside
 * src/coord/admin*.c only.
 *
 * Made anew at most every few seconds, however many look (admin_kept.h), and in slices, so that a hundred thousand
 * networks do not hold the coordinator's lock for long: sums may be off by a network that moved meanwhile. */
#pragma once

#include "coord/admin_kept.h"

#define NEAR_STEP_MS 4000
#define NEAR_FLOWS_MAX 400 /* told; the largest */
#define NEAR_PAIRS_MAX 400 /* told: those that lose most, and a sample of the rest */
#define NEAR_COLOURS 7     /* agents with a colour of their own; others share colour 0 */

typedef enum near_source {
    NEAR_NOWHERE,    /* nobody said, and its address is not registered anywhere */
    NEAR_REGISTERED, /* coordinates were given with the agent */
    NEAR_BY_ADDRESS, /* the largest city of the country that its address is registered in */
} near_source;

/* Round trips of networks that were measured. */
struct near_sums {
    uint64_t networks, measured;
    double now_ms, best_ms; /* sums over the measured ones */
};

struct near_agent {
    uint64_t number;
    char name[JOIN_NAME_MAX + 1], place[COORD_PLACE_MAX];
    const char *state; /* agent_shown_state */
    near_source source;
    struct spot spot;
    unsigned colour; /* 1 .. NEAR_COLOURS; 0: shared */
    struct near_sums sums;
};

/* Networks of one agent that seem to be in one place. */
struct near_flow {
    size_t agent; /* in agents */
    struct spot spot;
    struct span city; /* borrowed from the embedded cities; "": near the agent, which is all that is known */
    char country[3];  /* "" as well, then */
    struct near_sums sums;
};

/* One network: its agent's round trip, and the best that anybody measured. */
struct near_pair {
    struct network network;
    size_t agent, best; /* in agents; best == SIZE_MAX: one that is gone */
    float now_ms, best_ms;
};

struct near_view {
    struct kept kept; /* first */
    wall_ms at;
    bool has_hierarchy;
    struct near_agent *agents; /* owned, as are the others: most networks first */
    size_t agent_count;
    struct near_flow *flows; /* largest first */
    size_t flow_count, flow_all;
    struct near_pair *pairs; /* those that lose most first */
    size_t pair_count;
    struct near_sums all;
    uint64_t near, trial, provisional, replicated, unplaced, free; /* near: within DELEGATE_NEAR_MS of the best known */
};

/* Good until near_view_done. */
const struct near_view *near_view_get(struct admin *a);
void near_view_done(struct admin *a, const struct near_view *v);
void near_view_forget(struct admin *a); /* the kept one: when the administration ends */

/* Mean round trips; < 0: nothing was measured. */
double near_mean_now(const struct near_sums *s);
double near_mean_best(const struct near_sums *s);

/* ---- admin_map.c: the map as SVG ---- */
void put_near_map(struct buf *out, const struct near_view *v, struct arena *arena, bool has_land);
/* ---- admin_near_charts.c: charts as SVG ---- */
/* What placing did, copied under the lock: oldest first. */
struct near_times {
    bool is_hours;
    size_t n;
    struct diary_count list[DIARY_HOURS > 60 ? DIARY_HOURS : 60];
    uint64_t given, probes, moves[MOVE_KINDS]; /* of all days that are kept */
};
void near_times_get(struct coord *c, wall_ms now, struct near_times *out); /* coord.lock held */
void put_probes_chart(struct buf *out, const struct near_times *t);
void put_moves_chart(struct buf *out, const struct near_times *t);
void put_pairs_chart(struct buf *out, const struct near_view *v);
