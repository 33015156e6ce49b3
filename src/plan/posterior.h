/* posterior.h - where a site may be, and how far that is from each agent, after what was measured so far.
 *
 * A mixture: places with their weights, and for each a Gaussian over the round trips from the agents that are weighed.
 * The last metres of a site are in all of its round trips alike, so that differences between agents count more than
 * their sizes. An observation changes weights (places that do not fit fade) and, within each place, what is expected
 * from the other agents. Pure; one thread; memory is fixed: some POSTERIOR_PLACES x POSTERIOR_AGENTS^2 numbers. */
#pragma once

#include "plan/field.h"

#define POSTERIOR_PLACES 128
#define POSTERIOR_AGENTS 32

struct posterior;
struct posterior *posterior_new(void);
void posterior_free(struct posterior *p); /* NULL is fine */

/* Another site, weighed by these agents. `count` <= POSTERIOR_AGENTS. The field must not change before the next one. */
void posterior_begin(struct posterior *p, struct field *f, const uint32_t *slots, size_t count);
/* It may be there; a place that is in already gets more weight. Places beyond POSTERIOR_PLACES are left out. `widen` >
 * 1: it may be there, and all that is known of round trips to there so much less certain: odd routes. */
void posterior_add(struct posterior *p, uint32_t place, double weight, double widen);
/* Agents are meant by their position in `slots` from here on. */
void posterior_observe(struct posterior *p, size_t agent, double ms);
/* The same from before something changed: it says where the site is, but is not taught again. */
void posterior_recall(struct posterior *p, size_t agent, double ms);
/* From this agent it is so much today, and nothing follows for the others: its route is another one now. */
void posterior_reroute(struct posterior *p, size_t agent, double ms);

double posterior_mean(const struct posterior *p, size_t agent);   /* ms; INFINITY: no place was added */
double posterior_spread(const struct posterior *p, size_t agent); /* ms: standard deviation */
/* The likeliest place and its share. UINT32_MAX. */
uint32_t posterior_place(const struct posterior *p, double *share);
double posterior_share(const struct posterior *p, uint32_t place);
/* How much shorter the round trip of the best of `may` (a bit an agent) is expected to be once `agent` has measured. */
double posterior_gain(const struct posterior *p, size_t agent, uint32_t may);
/* Chance that no agent of `may` is more than `ms` better than this one. */
double posterior_sure(const struct posterior *p, size_t agent, uint32_t may, double ms);
/* Teaches the field what was observed; each measurement goes to the likely places by their shares. The site itself is
 * counted there when it `is_new`. */
void posterior_learn(const struct posterior *p, struct field *f, bool is_new);
/* Calls back for every place above `share`. */
typedef void posterior_fn(void *arg, uint32_t place, double share);
void posterior_each(const struct posterior *p, double share, posterior_fn *fn, void *arg);
