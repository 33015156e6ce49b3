/* balance.h - capacity: which networks move when an agent would have more than it can do.
 *
 * Knows agents with a capacity and networks with a load (bytes a day), an owner and what was measured to them. Decides;
 * the caller moves, and says so (balancer_network_move). Pure, deterministic, one thread. A change costs as much as the
 * network has probes; a decision looks at the networks of those agents that it would take some from. */
#pragma once

#include "base/status.h"
#include "plan/delegate.h"

typedef enum balance_rule {
    BALANCE_GAIN = 1,  /* ours: the moves, chains of moves too, that cost the least time over all pages */
    BALANCE_VARIANCE,  /* the papers': the network whose probe times vary least over agents */
    BALANCE_NEXT_BEST, /* 001's other one: the smallest step from the best to the next best time */
} balance_rule;
bool balance_rule_parse(struct span name, balance_rule *out); /* "gain", "variance", "next-best" */
const char *balance_rule_name(balance_rule r);

struct balancer;
struct balancer *balancer_new(balance_rule rule);
void balancer_free(struct balancer *b); /* NULL is fine */

struct balance_agent {
    uint64_t number;
    double capacity; /* bytes a day; 0: no limit */
    bool is_open;    /* may be given more */
};
void balancer_agent_put(struct balancer *b, const struct balance_agent *a); /* new, or changed */
/* Its networks are nobody's. */
void balancer_agent_remove(struct balancer *b, uint64_t number);
double balancer_load(const struct balancer *b, uint64_t agent);
/* Of an agent without a limit: 1e300. Below 0: it has too much. */
double balancer_room(const struct balancer *b, uint64_t agent);

#define BALANCE_PROBES_MAX 64 /* of a network, with estimates: the fastest of more are kept */

struct balance_network {
    uint64_t id;                         /* not 0 */
    uint64_t agent;                      /* 0: nobody's yet */
    double load;                         /* bytes a day */
    double pages;                        /* a day: what a millisecond is multiplied with */
    bool is_pinned;                      /* never moved */
    const struct delegate_probe *probes; /* copied; the last of an agent counts */
    size_t probe_count;
    /* Copied: what a strategy expects (delegator_estimates); where somebody measured, that counts. The papers' rules do
     * not look at them. */
    const struct delegate_estimate *estimates;
    size_t estimate_count;
};
void balancer_network_put(struct balancer *b, const struct balance_network *n); /* new, or changed */
void balancer_network_remove(struct balancer *b, uint64_t id);
/* A known one changes hands, with all that is known of it; 0: it is nobody's. */
void balancer_network_move(struct balancer *b, uint64_t id, uint64_t agent);

#define BALANCE_MOVES_MAX 64
struct balance_move {
    uint64_t network, from, to; /* from 0: it was nobody's */
    bool is_guess;              /* nobody measured it from `to`: have it measured, put the network again, ask again */
};
struct balance_plan {
    struct balance_move moves[BALANCE_MOVES_MAX]; /* room is made before it is taken, but for swaps */
    unsigned count;
    double cost; /* ms x pages a day that the moves add; the new network's against its best time */
};
/* Network `id` (known) should go to `agent`: the moves after which nobody that they touch is over capacity, the
 * network's own among them, last; perhaps to another agent. The papers' rules move networks with two or more answers
 * only, to their next best agent, and where that does not make room the new network goes to its second best, third
 * best, ...; to whoever has most room when none of those has any. ST_FULL: nothing fits anywhere, *out is untouched. */
MUST_USE status balancer_plan(struct balancer *b, uint64_t id, uint64_t agent, struct balance_plan *out);
/* What is worth a measurement before a plan of so much `cost` is carried out that takes `need` bytes from an agent: the
 * likeliest to turn out cheaper, of single moves that nobody measured. Estimates may be off by their spread; and a
 * network that only its agent measured, within BALANCE_DOUBT_MS, is either next door or answers from many places: then
 * it can go anywhere for nothing. False: nothing is. Put the network with the measurement, and plan again. */
#define BALANCE_DOUBT_MS 10.0
struct balance_doubt {
    uint64_t network, from; /* from: the agent that should measure it */
};
bool balancer_doubt(const struct balancer *b, uint64_t agent, double need, double cost, struct balance_doubt *out);
/* An agent is over its capacity (loads grew, or its capacity was cut): moves that cure it, as far as there are any. Ask
 * again after BALANCE_MOVES_MAX. */
void balancer_relieve(struct balancer *b, uint64_t agent, struct balance_plan *out);
