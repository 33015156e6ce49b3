/* split.h - a replicated network over several agents, by registered domain.
 *
 * A network that answers from everywhere, such as a CDN's, may be more than one agent can do. It is cut into
 * SPLIT_PARTS; a registered domain is in one part for ever, a part with one agent at a time, and with each part goes as
 * much of the network's limits: 1 of its 16 requests in flight and 1 of its 16 a second (DESIGN, defaults). So the
 * limits hold whoever has what, and no site is crawled by two. Pure; any thread. */
#pragma once

#include "base/status.h"
#include "place/addr.h"

#define SPLIT_PARTS 16u

struct split {
    uint64_t agent[SPLIT_PARTS]; /* who has the part; 0: nobody */
};

struct split_agent {
    uint64_t number;
    double room; /* bytes a day that it can take, what it has of this network included */
};

/* Shares out `load` bytes a day: to as few agents as can carry it (those with most room), each a number of parts that
 * follows its room. Parts stay where they are as far as that allows (`was` may be NULL). Where all together have too
 * little, they share it all the same. ST_FULL: nobody has any room; *out is untouched. */
MUST_USE status split_plan(const struct split_agent *agents, size_t count, double load, const struct split *was,
                           struct split *out);
/* The part of a registered domain, the same everywhere: agents have to know which sites are theirs. */
unsigned split_part(struct span domain);
/* Is the host's domain in one of the network's parts? The address is the caller's business. */
bool split_has(const struct network *n, struct span host);
/* The parts that an agent has, as struct network has them. */
uint16_t split_parts(const struct split *s, uint64_t agent);
/* How many parts an agent has: of SPLIT_PARTS, its share of the limits. */
unsigned split_share(const struct split *s, uint64_t agent);
