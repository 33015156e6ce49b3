/* delegate.h - which agent crawls a network: strategies behind one header.
 *
 * The unit is the network, never a single site: whoever has a network decides its politeness alone. A strategy knows
 * the agents (delegator_agent), is asked about a network when a site in it is first met (delegator_ask), and may want
 * probes before it answers; it never waits itself. Deterministic: the same agents, questions, probes and seed give the
 * same answers. Pure and clock-free: the coordinator and the simulator run it unchanged. One thread. */
#pragma once

#include "base/buf.h"
#include "base/siphash.h"
#include "base/status.h"
#include "place/addr.h"

#define DELEGATE_PROBES_MAX 16 /* wanted at a time */

struct delegator;

typedef enum delegate_strategy { DELEGATE_RANDOM = 1, DELEGATE_HASH } delegate_strategy;
bool delegate_strategy_parse(struct span name, delegate_strategy *out); /* "random", "hash" */
const char *delegate_strategy_name(delegate_strategy s);

struct delegator_opts {
    delegate_strategy strategy;
    uint64_t seed;
};

struct delegator *delegator_new(const struct delegator_opts *o);
void delegator_free(struct delegator *d); /* NULL is fine */

/* An agent as far as delegation cares. */
struct delegator_agent {
    uint64_t number;
    bool is_open;  /* may be given networks: there, not draining, with room */
    double weight; /* share it should get; 1 unless its capacity says otherwise */
};
/* New, or changed. */
void delegator_agent_put(struct delegator *d, const struct delegator_agent *a);
void delegator_agent_remove(struct delegator *d, uint64_t number);

struct delegate_question {
    struct network network;
    struct addr addr;   /* of the site that is asked for */
    struct span domain; /* its registered domain */
    uint64_t not_agent; /* the network is being moved away from this one; 0: none */
};

typedef enum delegate_verdict {
    DELEGATE_TO,     /* answer.agent */
    DELEGATE_PROBE,  /* answer.probes first; ask again afterwards */
    DELEGATE_NOBODY, /* no agent is open; ask again when one is */
} delegate_verdict;

struct delegate_answer {
    delegate_verdict verdict;
    uint64_t agent;
    uint64_t probes[DELEGATE_PROBES_MAX]; /* agents that should measure the site */
    unsigned probe_count;
    struct buf why; /* owned: one sentence for people; buf_done() it */
};
void delegator_ask(struct delegator *d, const struct delegate_question *q, struct delegate_answer *out);
/* A network was given to an agent, whoever decided: strategies that learn, learn from it. agent 0: it is nobody's now.
 */
void delegator_assigned(struct delegator *d, const struct network *n, uint64_t agent);
