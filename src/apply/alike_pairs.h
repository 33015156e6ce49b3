/* alike_pairs.h - pairs of fingerprints that differ in few bits, found by banding on disk.
 *
 * Each lane of a fingerprint's bands is cut into ALIKE_BLOCKS blocks of bits. For every lane and every two of its
 * blocks (a table) all pages are sorted by the bits of the two blocks, and those that have them in common are compared.
 * A pair is told once, in the first table that has it.
 *
 *     a lane of 64 bits in 4 blocks: 6 tables        |====|====|    |    |  |====|    |====|    | ...
 *
 * Two pages whose bands differ in at most ALIKE_SURE bits have a lane with so few different ones that two of its blocks
 * are untouched, so none of these pairs is missed; of those that differ in twice as many some are (bench_alike counts
 * that in). Memory does not grow with the pages, but for a bit each.
 *
 * Inside src/apply only; one thread. */
#pragma once

#include "apply/alike.h"
#include "store/rows.h"
#include "store/sorter.h"
#include "web/simhash.h"
#include "web/title_words.h"

#define ALIKE_BLOCKS 10
#define ALIKE_SURE (SIMHASH_BAND_LANES * (ALIKE_BLOCKS - 1) - 1)
/* Pages that a table has in one place: the first ones are compared with all, the others only with these. So many are
 * there by chance when there are tens of millions of pages; else somebody makes pages for it. */
#define ALIKE_PLACE_MAX 4096

/* The pages to compare, best first: a row each, known by its place. */
#define ALIKE_ORDER_KIND 4
#define ALIKE_ORDER_TITLE 2
#define ALIKE_ORDER_HASH (ALIKE_ORDER_TITLE + TITLE_NUMBERS)
#define ALIKE_ORDER_WIDTH (ALIKE_ORDER_HASH + SIMHASH_NUMBERS) /* key, language, title, fingerprint */

/* Whether a table has both: two blocks of a lane are the same. */
bool alike_meet(const struct simhash *a, const struct simhash *b);
/* Whether two pages that met are near-duplicates, by their texts and titles. */
bool alike_is_near(const struct simhash *a, const struct title_words *title_a, const struct simhash *b,
                   const struct title_words *title_b);

void alike_order_hash(const struct rows *order, size_t at, struct simhash *out);

struct alike_pairs {
    const struct alike_opts *o; /* borrowed */
    const struct rows *order;   /* borrowed */
    const char *dir;            /* for temporary files */
    struct sorter *same;        /* out: first << 32 | page: pages with the very same fingerprint as a first one */
    struct sorter *near;        /* out: lower << 32 | higher: pairs of the others */
    uint64_t compared;          /* out */
};

/* Sorters are the caller's, one number a row; not yet sorted. ST_LIMIT: more than UINT32_MAX pages. */
MUST_USE status alike_pairs_find(struct alike_pairs *p);
