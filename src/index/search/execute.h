/* execute.h - runs a query over the parts of a snapshot, and keeps the best pages.
 *
 *     all clauses    the rarest leads, the others are sought only for pages that could still be good enough
 *     one of words   windows of documents (window.h): words that cannot bring a page in by themselves are only looked
 * up for pages that others brought (MaxScore; Turtle and Flood, 1995, by windows) one of others  block-max WAND (Ding
 * and Suel, "Faster Top-k Document Retrieval Using Block-Max Indexes", 2011)
 *
 * Once the top-k is full, all of them jump over blocks whose bounds say that nothing in them can enter, and over pages
 * whose prior is too low for that. What is skipped is never better: the outcome is that of looking at everything. */
#pragma once

#include "index/search/match.h"
#include "index/search/topk.h"

struct execution {
    struct matcher *matcher; /* borrowed */
    struct topk *top;        /* borrowed */
    bool can_skip;           /* bounds hold: the rank is the one that they were made with */
    int64_t cpu_until_us;    /* of cpu_clock_us; INT64_MAX: no limit */
    uint64_t (*group_of)(void *arg, uint64_t key, uint64_t group); /* see search_opts; NULL: as the index has it */
    void *group_arg;
    /* out */
    uint64_t matches; /* seen; all there are, unless something was skipped */
    bool was_skipped;
    bool is_partial; /* the time was used up */
    unsigned steps;
};

/* CPU time of this thread. */
int64_t cpu_clock_us(void);

/* One part more. ST_CORRUPT, ST_IO. */
MUST_USE status execute_part(struct execution *x, unsigned part);

/* ---- for the loops ---- */

/* Looks at the clock, once in a while: `steps` says how much was done since the last call. */
bool execute_is_out_of_time(struct execution *x, unsigned steps);

/* Is a page with this bound on all but what it brings itself (prior and freshness) too low whatever it brings? */
static inline bool execute_is_too_low(const struct execution *x, double bound)
{
    return (bound + x->matcher->extra_max) * MATCH_SLACK < x->top->threshold;
}
/* The same with the prior that it has. */
static inline bool execute_is_page_too_low(const struct execution *x, double bound, uint32_t doc)
{
    const struct matcher *m = x->matcher;
    return (bound + m->rank.prior[m->codes[2 * (size_t)doc + 1]] + m->fresh_max) * MATCH_SLACK < x->top->threshold;
}

/* And with the age that it has, for which its row must be read: worth it when the words weigh less than that. */
bool execute_is_page_too_old(struct execution *x, double bound, uint32_t doc);
static inline bool execute_asks_for_age(const struct execution *x, double bound)
{
    return bound < x->matcher->fresh_max && topk_is_full(x->top);
}
/* The least code of a prior with which a page of this bound could enter; 256: there is none. */
unsigned execute_least_prior(const struct execution *x, double bound);

/* The document matches, and its words score so much. */
void execute_enter(struct execution *x, uint32_t doc, double score);
/* One clause of single words. */
void execute_words(struct execution *x);
