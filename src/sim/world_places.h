/* world_places.h - where agents and sites of a made-up world may be, and with a matrix the round trips between places.
 *
 * The places are the cities of the extract, or the nodes of somebody's measurements: a table with the columns a, b, ms
 * (also source, destination, avg) and, in it or in a second table, coordinates of the nodes. Pairs count the better of
 * both directions; a node that lacks more than a tenth of its pairs is left out. One thread. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/rng.h"
#include "place/cities.h"

#define PLACES_MATRIX_MAX 4096 /* nodes of a matrix */

struct place_spot {
    struct spot spot;
    char country[3];
    struct span name;
};

struct places {
    struct place_spot *list; /* owned; by country */
    size_t count;
    double *weight; /* owned: running sums, how likely each is drawn */
    float *ms;      /* owned: count x count, < 0 not known; NULL: there is no matrix */
    struct arena text;
};

void places_from_cities(const struct cities *c, struct places *out);
/* `nodes` may be NULL: coordinates are in the first table, as a_lat, a_lon, b_lat, b_lon. Countries that are not two
 * letters are those of the nearest city. */
MUST_USE status places_from_matrix(const char *pairs, const char *nodes, const struct cities *c, struct places *out,
                                   struct buf *why);
void places_done(struct places *p); /* zeroed is fine */

double places_weight(const struct places *p, size_t i);
size_t places_draw(const struct places *p, struct rng *r);
/* One of a country, by weight; false: it has none. */
bool places_draw_in(const struct places *p, const char *country, struct rng *r, size_t *out);
