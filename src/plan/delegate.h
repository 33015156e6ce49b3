/* delegate.h - which agent crawls a network: strategies behind one header.
 *
 * The unit is the network, never a single site: whoever has a network decides its politeness alone. A strategy knows
 * the agents (delegator_agent_put), is asked about a network when a site in it is first met (delegator_ask), and may
 * want probes before it answers; it never waits itself. The caller keeps the probes and asks again with all of them, so
 * that a decision outlives a restart and thousands can be open at a time. Deterministic: the same calls with the same
 * seed give the same answers. Pure and clock-free: the coordinator and the simulator run it unchanged. One thread.
 *
 *     ask(question) -> PROBE from 3 and 8      the caller has them measured, adds both to question.probes
 *     ask(question) -> TO 5, on trial          5 may begin; its first request's round trip is added as well
 *     ask(question) -> TO 8                    so 8 it is, after all
 *     assigned(question, 8)                    it is 8's from now on
 *     learn(question)                          once 8's own round trip is among the probes */
#pragma once

#include "base/buf.h"
#include "base/siphash.h"
#include "base/status.h"
#include "place/addr.h"
#include "place/cities.h"
#include "place/geo.h"
#include "place/hierarchy.h"

#define DELEGATE_PROBES_MAX 16 /* wanted at a time */
#define DELEGATE_THRESHOLD_MS 50.0
#define DELEGATE_NEAR_MS 5.0 /* an agent within so much of the best one is near */

struct delegator;

typedef enum delegate_strategy {
    DELEGATE_RANDOM = 1,
    DELEGATE_HASH,      /* of the registered domain; of the network where there is none */
    DELEGATE_IPMICRA,   /* as the papers have it: ALGORITHMS 2 */
    DELEGATE_LEARNED,   /* places and round trips learned from every probe */
    DELEGATE_PROBE_ALL, /* the nearest of all: the optimum */
    DELEGATE_FARTHEST,  /* the farthest of all: the worst case */
} delegate_strategy;
bool delegate_strategy_parse(struct span name, delegate_strategy *out); /* "random", "probe-all" */
const char *delegate_strategy_name(delegate_strategy s);

/* What one agent that has other networks of the same holder is worth: the papers differ. */
typedef enum delegate_same_holder {
    SAME_HOLDER_001,      /* it is probed and must be under the threshold */
    SAME_HOLDER_000,      /* it takes the network without a probe; several are probed */
    SAME_HOLDER_000_CODE, /* the first found takes it, never a probe */
} delegate_same_holder;
bool delegate_same_holder_parse(struct span name, delegate_same_holder *out); /* "001", "000", "000-code" */

struct delegator_opts {
    delegate_strategy strategy;
    uint64_t seed;
    double threshold_ms;               /* ipmicra; 0: DELEGATE_THRESHOLD_MS */
    delegate_same_holder same_holder;  /* ipmicra */
    double cost_ms;                    /* learned: what a probe must be expected to gain; 0: its default */
    const struct hierarchy *hierarchy; /* borrowed; NULL: networks are /24 and /48, a holder is a registered domain */
    const struct cities *cities;       /* borrowed; NULL: `learned` knows no places but the agents' */
};

struct delegator *delegator_new(const struct delegator_opts *o);
void delegator_free(struct delegator *d); /* NULL is fine */

/* An agent as far as delegation cares. */
struct delegator_agent {
    uint64_t number;
    bool is_open;     /* may be given networks: there, not draining, with room */
    bool is_asleep;   /* outside of its hours: cannot probe now */
    bool is_new;      /* on probation: its word does not count against others' */
    double weight;    /* share it should get by random and hash; 1 unless its capacity says otherwise */
    struct addr addr; /* family 0: not known */
    bool has_spot;
    struct spot spot; /* declared place */
};
/* New, or changed. One with an address owns the network it lives in, unless somebody has that already. */
void delegator_agent_put(struct delegator *d, const struct delegator_agent *a);
/* Its networks are nobody's. */
void delegator_agent_remove(struct delegator *d, uint64_t number);
/* The round trip between two agents, in both directions. */
void delegator_agent_rtt(struct delegator *d, uint64_t a, uint64_t b, double ms);

/* One measurement from an agent to the site in question. */
struct delegate_probe {
    uint64_t agent;
    double ms;           /* < 0: no answer */
    struct addr reached; /* as the agent resolved the name; family 0: the address in question */
};

struct delegate_question {
    struct addr addr;      /* of the site that is asked for */
    struct span domain;    /* its registered domain */
    uint64_t not_agent;    /* the network is being moved away from this one; 0: none */
    const uint64_t *among; /* only these may have it: pinned; NULL: all */
    size_t among_count;
    const struct delegate_probe *probes; /* so far, in the order in which they came */
    size_t probe_count;
    size_t old_count; /* so many of them, the first, are from before something changed: they say where the network is,
                         not what an agent has to offer today */
};

bool delegate_question_allows(const struct delegate_question *q, uint64_t agent); /* `among` and `not_agent` */

typedef enum delegate_verdict {
    DELEGATE_TO,     /* answer.agent */
    DELEGATE_PROBE,  /* answer.probes first; ask again with them */
    DELEGATE_NOBODY, /* no agent is open; ask again when one is */
} delegate_verdict;

struct delegate_answer {
    delegate_verdict verdict;
    uint64_t agent;
    uint64_t probes[DELEGATE_PROBES_MAX]; /* agents that should measure the site; none of them asleep */
    unsigned probe_count;
    bool is_known;       /* the network had this agent before: nothing was decided */
    bool is_trial;       /* nobody measured from `agent` yet: its first request will; ask again with that. Who would
                            rather know before anything is fetched has it probed. */
    bool is_provisional; /* an agent that sleeps may be better: ask again when it wakes */
    bool is_replicated;  /* it answers from several places: any agent is as good, take the least loaded */
    uint64_t refused;    /* an agent whose measurement cannot be true and was not used (sanity.h); 0: none */
    double expected_ms;  /* round trip from `agent`; < 0: no idea */
    double sure;         /* chance that `agent` is near (DELEGATE_NEAR_MS); < 0: no idea */
    struct buf why;      /* owned: one sentence for people; buf_done() it */
};
/* What a probe would be asked next when verdict is PROBE; `agent`, `expected_ms` and `sure` are then the best guess so
 * far (agent 0: none). Changes nothing but the state of `random`. */
void delegator_ask(struct delegator *d, const struct delegate_question *q, struct delegate_answer *out);

/* What the round trips from agents to the site in question are: measured where q->probes has them, else as the
 * strategy guesses; nearest first. Those that it has no idea of are left out, and so are agents of which it can say at
 * once that they are far. Returns how many of at most `max`. Changes nothing. For balancing and for people. */
struct delegate_estimate {
    uint64_t agent;
    double ms;
    bool is_measured;
    double spread_ms; /* how far off the guess may be (standard deviation); 0 where it was measured */
};
size_t delegator_estimates(struct delegator *d, const struct delegate_question *q, struct delegate_estimate *out,
                           size_t max);

/* The network of q->addr was given to an agent, whoever decided. agent 0: it is nobody's now. */
void delegator_assigned(struct delegator *d, const struct delegate_question *q, uint64_t agent);
/* All that was measured to the network, once, when its owner's own round trip is among it. Measurements that cannot be
 * true teach nothing. */
void delegator_learn(struct delegator *d, const struct delegate_question *q);
/* Who has the network of an address; 0: nobody. */
uint64_t delegator_owner(const struct delegator *d, const struct addr *a);
/* Another hierarchy from now on (NULL: none), borrowed. Delegations go to the same range, or to the smallest that
 * encloses it; what differs is told: a network of `first`..`last` that was `agent`'s is now inside `node`, or lost
 * because another agent's delegation was there before (is_lost). */
struct delegator_carry {
    struct addr first, last;
    uint64_t agent;
    uint32_t node;
    bool is_lost;
};
typedef void delegator_carry_fn(void *arg, const struct delegator_carry *c);
void delegator_hierarchy(struct delegator *d, const struct hierarchy *h, delegator_carry_fn *fn, void *arg);
