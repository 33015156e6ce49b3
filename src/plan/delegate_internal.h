/* delegate_internal.h - what the strategies share; for plan/delegate*.c only.
 *
 * An agent has a slot as long as it is known: sets of agents are sets of slots. */
#pragma once

#include "base/rng.h"
#include "base/table.h"
#include "plan/delegate.h"
#include "plan/owners.h"

/* What is delegated: a node of the hierarchy or, where that knows nothing, a network of its own. */
struct delegate_place {
    uint32_t node;          /* HIERARCHY_NONE: `network` it is */
    struct network network; /* a /24 or /48 */
};

/* One strategy. Anything but `ask` may be NULL. */
struct delegate_ops {
    bool owns_home; /* an agent has the network that it lives in */
    /* The strategy's own state goes to d->own. */
    void (*make)(struct delegator *d);
    void (*unmake)(struct delegator *d);
    /* `out` says NOBODY, has no agent, -1 for both figures. The place is nobody's, or must not stay with whom has it.
     */
    void (*ask)(struct delegator *d, const struct delegate_question *q, const struct delegate_place *p,
                struct delegate_answer *out);
    /* Round trips of agents that were not measured: see delegator_estimates. In any order, none of d->probed; d is as
     * after delegate_see(). */
    size_t (*estimates)(struct delegator *d, const struct delegate_question *q, const struct delegate_place *p,
                        struct delegate_estimate *out, size_t max);
    void (*agent_put)(struct delegator *d, uint32_t slot);  /* new or changed; it is in d->agents */
    void (*agent_gone)(struct delegator *d, uint32_t slot); /* it still is */
    void (*agent_rtt)(struct delegator *d, uint32_t a, uint32_t b, double ms);
    void (*assigned)(struct delegator *d, const struct delegate_question *q, const struct delegate_place *p,
                     uint32_t slot); /* OWNERS_NOBODY: it is free */
    void (*learn)(struct delegator *d, const struct delegate_question *q, const struct delegate_place *p);
    void (*hierarchy)(struct delegator *d, const struct hierarchy *was); /* d->o.hierarchy is the new one */
};

extern const struct delegate_ops delegate_random, delegate_hash, delegate_ipmicra, delegate_learned, delegate_probe_all,
    delegate_farthest;

/* Networks that are in no hierarchy, and the registered domains that have sites in them. */
struct loose_network {
    struct network network;
    uint32_t slot;
    struct loose_domain **domains; /* owned array of borrowed */
    size_t domain_count, domain_cap;
};
struct loose_domain {
    uint64_t hash;
    struct loose_network **networks; /* owned array of borrowed, in address order */
    size_t network_count, network_cap;
};
#define LOOSE_DOMAINS_MAX 32     /* of a network; where more are at home they say nothing about it */
#define LOOSE_NETWORKS_MAX 1024u /* of a domain */

/* Who has what. */
struct delegations {
    struct owners *nodes;   /* by node; NULL without a hierarchy */
    struct owners *holders; /* the same by holder: of holder h from holder_at[h], in the order of its nodes */
    uint32_t *holder_at;    /* owned: hierarchy_holder_count + 2 */
    struct table loose;     /* hash of network -> loose_network, owned */
    struct table domains;   /* hash of domain -> loose_domain, owned */
};

struct delegator {
    struct delegator_opts o;
    const struct delegate_ops *ops;
    void *own; /* the strategy's */
    struct rng rng;
    struct sip_key key; /* fixed: every coordinator with the same agents hashes a domain to the same one */
    /* agents */
    struct delegator_agent *agents; /* owned, by slot; number 0: free */
    size_t slots, slot_cap;
    uint32_t *by_number; /* owned: slots in the order of their agents' numbers */
    size_t count, by_number_cap;
    struct table slot_of; /* number -> slot + 1 */
    struct owner_set open, asleep;
    struct delegations has;
    /* of one question, see delegate_see() */
    struct owner_set may;
    struct owner_set probed, under; /* under: the threshold */
    double *ms;                     /* owned, by slot; where `probed` */
    size_t ms_cap;
    uint32_t *seen; /* owned: slots of the question's probes, of agents that are known */
    size_t seen_count, seen_cap;
    struct {
        uint64_t agent;
        double ms;
    } * kept; /* owned: the probes that were seen last */
    size_t kept_count, kept_cap;
};

/* OWNERS_NOBODY: not known. */
uint32_t delegate_slot(const struct delegator *d, uint64_t number);

/* Fills d->may (open, not excluded, among those allowed), d->probed, d->under and d->ms (the newest of each agent, no
 * old ones) from the question. Where it is the one before with more probes, only those are looked at: a walk may take
 * hundreds. */
void delegate_see(struct delegator *d, const struct delegate_question *q);
/* After delegate_see: the agent in `may` with the smallest round trip; NOBODY when none had an answer. */
uint32_t delegate_fastest(const struct delegator *d);

/* ---- delegations.c ---- */
void delegations_init(struct delegator *d);
void delegations_done(struct delegator *d);
struct delegate_place delegate_place(const struct delegator *d, const struct addr *a);
uint32_t delegate_owner(const struct delegator *d, const struct delegate_place *p);
/* OWNERS_NOBODY: it is free. */
void delegate_give(struct delegator *d, const struct delegate_place *p, struct span domain, uint32_t slot);
void delegate_give_up(struct delegator *d, uint32_t slot); /* all that it has */

/* The networks of the same holder. */
struct delegate_kin {
    uint32_t from, to;                /* in has.holders */
    const struct loose_domain *loose; /* borrowed; NULL: none */
};
struct delegate_kin delegate_kin(const struct delegator *d, const struct delegate_place *p, struct span domain);
/* The first in address order that has one of them and is not in `skip`; NOBODY. */
uint32_t delegate_kin_first(const struct delegator *d, const struct delegate_kin *k, const struct owner_set *skip);
void delegations_carry(struct delegator *d, const struct hierarchy *to, delegator_carry_fn *fn, void *arg);
