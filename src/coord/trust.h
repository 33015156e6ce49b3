/* trust.h - agents belong to others: what they say is checked. Lock held.
 *
 * What an agent says about pages outside its tasks is dropped. A new agent is on probation: it gets a small share, and
 * one page in TRUST_SAMPLE of it (coord_opts.check_every), at a place in each TRUST_SAMPLE that it cannot know, is
 * fetched by another agent too and compared:
 *
 *     said        a text, or "there is no such page"
 *     first look  near what was said: good, done
 *     second look by somebody else where there is one
 *                 near what was said: good
 *                 far from the first look, too: the page changes all the time, no verdict
 *                 near the first look: a strike
 *
 * Dates, counters and advertisements are near enough (web/sketch.h). A strike counts when the two looks are of two
 * agents, or of one that is past its probation: of two new ones that disagree nobody knows who lies. After a strike the
 * probation begins anew, with ten times the checks; TRUST_STRIKES of them, and the agent is demoted: it gets nothing
 * more, what it still sends is dropped, and its networks go to others, who crawl them anew. What is known of them is
 * not believed until somebody else has said it (c_network.distrust).
 *
 * Checks live in memory: a restart forgets those under way. Channels with a program are not checked, for what their
 * programs make of a page is not what the page says. */
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

/* A visit of a channel came from an agent: perhaps somebody else should look, too. */
void trust_page(struct coord *c, struct c_agent *a, const struct c_channel *ch, const struct summary *s);
void trust_outcome(struct coord *c, struct c_agent *a, const struct outcome *o);
/* It lied: it gets nothing more, and what it said of its networks is not believed. */
void trust_demote(struct coord *c, struct c_agent *a, const char *why);
void trust_tick(struct coord *c, mono_ms now);
/* May the agent tell of one more new site today? `in_package` counts those of the package. */
bool trust_new_site(struct coord *c, struct c_agent *a, unsigned *in_package);
