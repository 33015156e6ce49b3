/* trust.h - agents belong to others: what they say is checked. Lock held.
 *
 * What an agent says about pages outside its tasks is dropped. A new agent is on probation: it gets a small share, and
 * one page in TRUST_SAMPLE of it is fetched again by another agent and compared. Two texts that differ much are a
 * strike; TRUST_STRIKES of them and the agent is demoted: it gets nothing more, and its networks go to others, who
 * crawl them anew. */
#pragma once

#include "coord/state.h"
#include "web/summary.h"

#define TRUST_SAMPLE 100
#define TRUST_STRIKES 3
#define TRUST_PENDING_MAX 1000
#define TRUST_NEW_SITES_A_PACKAGE 100
#define TRUST_NEW_SITES_A_DAY 10000

struct trust;
struct trust *trust_new(uint64_t seed);
void trust_free(struct trust *t); /* NULL is fine */

/* A good page came from an agent: perhaps somebody else should look, too. */
void trust_page(struct coord *c, struct c_agent *a, const struct summary *s);
void trust_outcome(struct coord *c, struct c_agent *a, const struct outcome *o);
void trust_tick(struct coord *c, mono_ms now);
/* May the agent tell of one more new site today? `in_package` counts those of the package. */
bool trust_new_site(struct coord *c, struct c_agent *a, unsigned *in_package);
