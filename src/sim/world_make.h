/* world_make.h - makes a world out of a seed: cities, networks, sites, round trips (docs/formats/world.md).
 *
 * The same options give the same files on every machine. Where agents x sites is over `matrix_max`, model.tsv is
 * written in place of rtt.tsv. One thread; memory grows with networks, not with round trips. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "place/cities.h"
#include "place/hierarchy.h"

#define WORLD_MAKE_MATRIX_MAX 50000000u

struct world_make_opts {
    uint64_t seed;
    size_t agents, sites;
    const struct cities *cities;                     /* borrowed */
    const char *matrix, *nodes;                      /* files: world_places.h; NULL: the model */
    const struct hierarchy *hierarchy;               /* borrowed; NULL: networks are made up too */
    uint64_t matrix_max;                             /* 0: WORLD_MAKE_MATRIX_MAX */
    void (*tell)(void *arg, size_t done, size_t of); /* progress; may be NULL */
    void *arg;
};

struct world_make_figures {
    size_t places, plots, sites6, anycast;
    bool has_model; /* instead of a matrix */
};
/* `dir` is made; ST_EXISTS: there is a world in it. `why` has a sentence when something is wrong. */
MUST_USE status world_make(const struct world_make_opts *o, const char *dir, struct world_make_figures *out,
                           struct buf *why);
