/* pins.h - the operator's word on who crawls what: sites, networks, holders and countries pinned to agents.
 *
 *     # one a line
 *     group alps = geneva, milan, country:CH
 *     site www.example.org -> agent paris
 *     site example.org -> agent paris, group alps
 *     network 192.0.2.0/24 -> agent lab
 *     holder "Deutsche Telekom AG" -> group country:DE
 *     country DE -> group eu
 *     all -> group europe
 *
 * `site` means the host and all names below it. The most precise line that is about a site decides alone: the longest
 * name, then the smallest network, the holder, the country, all. Two lines about the same thing are an error. A group
 * is a list of agents; country:XX are the agents in that country. Groups that are always there: country:XX, eu, africa,
 * antarctica, asia, europe, north-america, oceania, south-america.
 *
 * Agents are known by name here; whether there is one is for the caller to say (pins_each_agent). Pure; a struct pins
 * never changes: any thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "place/addr.h"

#define PINS_TEXT_MAX (4u << 20)
#define PINS_MAX 100000u /* lines that say something */
#define PINS_GROUPS_MAX 256u
#define PINS_NAMES_MAX 64u /* on one line */

struct pins;
struct pin;

/* ST_INVALID, ST_LIMIT: `why` (may be NULL) says where and what. The text may go. */
MUST_USE status pins_read(struct span text, struct pins **out, struct buf *why);
void pins_free(struct pins *p); /* NULL is fine */
size_t pins_count(const struct pins *p);

struct pin_site {
    struct span host;   /* as in struct url; empty: any */
    struct addr addr;   /* family 0: not known */
    struct span holder; /* as registered; empty: not known */
    char country[3];    /* of the network; "" when not known */
};
/* NULL: nobody said anything about it. */
const struct pin *pins_find(const struct pins *p, const struct pin_site *s);
struct span pin_text(const struct pin *pin); /* its line */
unsigned pin_line(const struct pin *pin);    /* the first is 1 */
/* Of lines about several sites of a network: is a more precise than b, or as precise and written before it? */
bool pin_is_before(const struct pin *a, const struct pin *b);

struct pin_agent {
    uint64_t number;
    struct span name;
    char country[3]; /* "" when not known */
};
/* Those of `agents` that may have it, in their order, into `out` (room for `count`): what delegate_question.among
 * wants. 0: nobody may, for now. */
size_t pin_agents(const struct pins *p, const struct pin *pin, const struct pin_agent *agents, size_t count,
                  uint64_t *out);
/* Each agent that a line or a group names, with that line; a name as often as it stands there, in no order. */
typedef void pins_name_fn(void *arg, struct span agent, struct span text, unsigned line);
void pins_each_agent(const struct pins *p, pins_name_fn *fn, void *arg);
/* Is `country` in the built-in group ("eu", "asia", "country:DE")? */
bool pins_group_has(struct span group, const char *country);
