/* cities.h - a grid of cities: where servers may be.
 *
 * An extract of GeoNames (data/cities.tsv, CC BY 4.0): per country the largest cities, none close to a larger one.
 * Made by tools/make-cities, embedded at build time. Pure; any thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "base/status.h"
#include "place/geo.h"

#define CITIES_MAX 65536

struct city {
    struct spot spot;
    uint32_t people;
    char country[3];  /* ISO 3166, NUL-terminated */
    struct span name; /* borrowed from the text */
};

/* By country, the largest first. */
struct cities {
    struct city *list; /* owned */
    size_t count;
};

/* "country<TAB>name<TAB>latitude<TAB>longitude<TAB>people" a line, a head line first; the text must stay. ST_INVALID:
 * a line is none of that, or out of order; ST_LIMIT: more than CITIES_MAX. */
MUST_USE status cities_read(struct span text, struct cities *out);
void cities_done(struct cities *c); /* zeroed is fine */
/* Those of a country: where they begin; *count may be 0. */
const struct city *cities_of(const struct cities *c, const char country[3], size_t *count);
/* "Oslo", "paris, US": the largest of that name, whatever its case; NULL. */
const struct city *cities_named(const struct cities *c, struct span name);
/* The nearest one; NULL: there are none. Looks at all of them. */
const struct city *cities_near(const struct cities *c, struct spot spot);
/* The embedded extract, for cities_read. */
struct span cities_text(void);
