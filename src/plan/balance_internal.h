/* balance_internal.h - for plan/balance*.c only. */
#pragma once

#include "base/table.h"
#include "plan/balance.h"

/* What a network costs at an agent that nobody measured it from: this much more than the worst that is known. */
#define BALANCE_UNKNOWN_MS 100.0
#define BALANCE_NO_LIMIT 1e300

struct b_network;

struct b_agent {
    uint64_t number;
    bool is_there, is_open; /* not there: only mentioned in probes */
    double capacity, load;
    double delta;                /* of the moves under consideration */
    struct b_network **networks; /* owned array of borrowed, in no order */
    size_t count, cap;
    struct b_network **wishers; /* owned array of borrowed: networks that would rather be here than where they are */
    size_t wish_count, wish_cap;
    double price; /* balance_gain.c: of a byte here, in ms x pages; 0 where there is room */
    /* of the plan being made */
    struct b_options *options; /* balance_search.c; NULL: not looked at yet */
    uint64_t stamp;
};

struct b_cost {
    struct b_agent *agent; /* borrowed */
    double ms;
    double spread_ms; /* of what is only expected */
    bool is_measured; /* not only expected */
    size_t wish;      /* place in agent->wishers + 1; 0: not there */
};

struct b_network {
    uint64_t id;
    struct b_agent *agent; /* borrowed; NULL: nobody's */
    size_t at;             /* in its agent's list */
    double load, pages;
    bool is_pinned;
    bool is_guess; /* moved to an agent that nobody measured it from */
    bool is_moved; /* by the moves under consideration */
    size_t cost_count;
    struct b_cost costs[]; /* fastest first */
};

struct balancer {
    balance_rule rule;
    struct table agents;   /* number -> b_agent, owned */
    struct table networks; /* id -> b_network, owned */
    uint64_t stamp;
};

/* Bytes that an agent still takes with the moves under consideration; below 0: too many. */
static inline double b_room(const struct b_agent *a)
{
    return a->capacity > 0 ? a->capacity - a->load - a->delta : BALANCE_NO_LIMIT;
}

/* By how much it has too many; rounding is none. */
static inline double b_over(const struct b_agent *a)
{
    double room = b_room(a);
    return room < -1e-9 * (a->capacity + a->load) ? -room : 0;
}

static inline bool b_may_take(const struct b_agent *a)
{
    return a->is_there && a->is_open;
}

/* Milliseconds at the agent that has it: chosen without a probe, it is taken for the best that is known. */
double b_cost_here(const struct b_network *n, const struct b_agent *a);
/* At another one. */
double b_cost_there(const struct b_network *n, const struct b_agent *a);
/* By room, then number. */
bool b_is_roomier(const struct b_agent *a, const struct b_agent *than);

bool b_is_known(const struct b_network *n, const struct b_agent *a); /* measured, or expected */
bool b_is_measured(const struct b_network *n, const struct b_agent *a);
/* With load, lists and wishes; `to` NULL: it is nobody's. */
void b_move(struct b_network *n, struct b_agent *to, bool is_guess);

/* Those with most room, most first: targets for everything, measured or not. */
#define B_ROOMY 4u
size_t b_roomy(const struct balancer *b, struct b_agent *out[B_ROOMY]);

/* ---- balance_gain.c ---- */
status b_gain_plan(struct balancer *b, struct b_network *n, struct b_agent *agent, struct balance_plan *out);
void b_gain_relieve(struct balancer *b, struct b_agent *agent, struct balance_plan *out);

/* ---- balance_search.c ---- */
/* Tries everything, as far as that goes: for packings that are so tight that moves one by one do not get there. */
status b_search_plan(struct balancer *b, struct b_network *n, struct b_agent *agent, struct balance_plan *out);
