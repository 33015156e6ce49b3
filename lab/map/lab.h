/* lab.h - what a lab file says: a map, and the sites and names that are served in it (docs/formats/lab.md).
 *
 * Everything belongs to the struct and lives until lab_done. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "lab/map/lab_paths.h"
#include "lab/map/map.h"
#include "place/addr.h"
#include "place/geo.h"

#define LAB_SITES_MAX MAP_PLACES_MAX
#define LAB_NAMES_MAX 65536
#define LAB_PAGES_MAX 1000000
#define LAB_PAGE_BYTES_MAX (16u << 20)
#define LAB_THINK_MAX_MS 600000
#define LAB_CHANGE_MAX 1e6 /* a day */
#define LAB_LIMIT_MAX 1e6  /* a second */

struct lab_site {
    struct span host;         /* lower case */
    struct addr addr4, addr6; /* family 0: none */
    uint32_t pages, bytes_per_page;
    int think_ms;         /* what its server takes besides the path */
    float change_per_day; /* of a page, on average; negative: drawn by the seed */
    bool has_own_change;  /* its line says so; not the world */
    float errors_percent; /* of its answers; negative: not said */
    float limit_per_s;    /* requests that one client may make; 0: any number; negative: not said */
};

/* What DNS says of a host. Sites have theirs here too. */
struct lab_name {
    struct span host; /* lower case */
    struct addr addr;
    int place; /* only askers of this place are told so; -1: everybody who has no answer of his own */
};

/* Where DNS says that a host is. */
struct lab_spot {
    struct span host; /* lower case */
    struct spot spot;
};

struct lab {
    struct arena arena;
    struct map *map; /* owned; sealed */
    struct lab_site *sites;
    size_t site_count, site_cap;
    struct lab_name *names;
    size_t name_count, name_cap;
    struct lab_spot *spots;
    size_t spot_count, spot_cap;
    struct addr dns; /* where the name server is; family 0: none */
    uint64_t seed;   /* of pages and jitter */
};

/* `path` is a lab file, or the folder of a world. `why` gets FILE:LINE and what is wrong with it. ST_NOT_FOUND, ST_IO,
 * ST_INVALID, ST_LIMIT. */
MUST_USE status lab_load(const char *path, struct lab *out, struct buf *why);
/* The same from text; files that it names are looked for in `dir`. */
MUST_USE status lab_parse(struct span text, const char *dir, struct lab *out, struct buf *why);
void lab_done(struct lab *l); /* zeros are fine */

/* Reads a round-trip table into the map: a row of names, then a row a place; for a lab that runs too. Places that are
 * not on the map are passed over. */
MUST_USE status lab_matrix(struct map *m, struct span text, struct buf *why);
MUST_USE status lab_matrix_file(struct map *m, const char *path, struct buf *why);
/* "12.5"; false: no number from 0 to `max`. */
bool lab_number(struct span text, double max, double *out);
/* What a site is before its line says more. */
struct lab_site lab_site_default(void);
/* pages=N, bytes=N, think=MS, change=PER_DAY, errors=PERCENT, limit=PER_S. *is_option false: the word is none of them.
 * ST_INVALID: why. */
MUST_USE status lab_site_option(struct lab_site *s, struct span word, bool *is_option, struct buf *why);
/* "38,23.7": degrees of latitude and longitude. */
bool lab_spot_parse(struct span text, struct spot *out);
void lab_add_spot(struct lab *l, struct span host, struct spot spot); /* borrows the host */
