/* field.h - how long a round trip is from each agent to each place, learned from whatever was measured.
 *
 * Places are a grid of cities and the spots of the agents. A prediction is a straight line over the distance plus what
 * the line leaves over. Leftovers, in units of the spread that is usual at such a distance, are a Gaussian field: those
 * of places near each other are alike, more so inside one country, and so are those of agents near each other. One
 * measurement thus teaches about its neighbourhood, and what is not known yet comes with an honest spread.
 *
 * What agents measured to each other is the first knowledge: it shows how far the lines are off in their regions.
 * Agents are slots, small numbers that the caller gives. Pure, deterministic, one thread. A prediction costs some
 * microseconds, is kept until something is learned near the place, and does not grow with the number of sites; memory
 * is the places' and a few words for each (place, agent) that was ever measured. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "place/cities.h"
#include "place/geo.h"
#include "plan/owners.h"

struct field;

/* `cities` (may be NULL) is borrowed. */
struct field *field_new(const struct cities *cities);
void field_free(struct field *f); /* NULL is fine */

/* New, or at another spot. `country` may be "": that of the nearest city then. */
void field_agent_put(struct field *f, uint32_t slot, struct spot spot, const char country[3]);
void field_agent_remove(struct field *f, uint32_t slot); /* what it measured is forgotten */
bool field_agent_is_there(const struct field *f, uint32_t slot);
void field_agent_rtt(struct field *f, uint32_t a, uint32_t b, double ms);
/* How alike the leftovers of two agents are, at any place: 0..1. */
float field_likeness(struct field *f, uint32_t a, uint32_t b);

/* ---- places: 0..count-1; numbers stay while the field lives ---- */
struct field_place {
    struct spot spot;
    char country[3];
    struct span name; /* of the city; empty: an agent's spot */
    float weight;     /* how likely a site is there before any was seen */
    float sites;      /* seen there, in shares */
};
size_t field_count(const struct field *f);
const struct field_place *field_place(const struct field *f, uint32_t place);
/* Those of a country, at most `max`; returns how many. */
size_t field_places_of(const struct field *f, const char country[3], uint32_t *out, size_t max);
/* Some all over the world, for a site that is not where its registry says: the agents' spots and the largest cities. */
size_t field_places_anywhere(const struct field *f, uint32_t *out, size_t max);
/* The place that a spot is at, or next to. UINT32_MAX: there are none. */
uint32_t field_place_near(const struct field *f, struct spot spot);

/* What is expected from each of these agents to the place: ms and its spread (standard deviation), without the last
 * metres of a site. */
void field_predict(struct field *f, uint32_t place, const uint32_t *slots, size_t count, float *ms, float *spread);
/* No round trip from the agent to the place can be shorter. */
float field_light_ms(const struct field *f, uint32_t place, uint32_t slot);
/* Agents nearest by distance, at most `max`, of `among` only (NULL: of all). */
size_t field_nearest(const struct field *f, uint32_t place, const struct owner_set *among, uint32_t *out, size_t max);

/* An agent measured `ms` (last metres taken off) with this variance to a site that is there with probability `share`.
 */
void field_learn(struct field *f, uint32_t place, uint32_t slot, double ms, double variance, double share);
void field_learn_site(struct field *f, uint32_t place, double share); /* a site is there */
