/* rng.h - a seeded generator (xoshiro256**), for jitter, sampling and tests; never for secrets.
 *
 * The seed is passed in, so that a simulation repeats. */
#pragma once

#include <stdint.h>

struct rng {
    uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_u64(struct rng *r);
/* Uniform in [0, n); n > 0. */
uint64_t rng_below(struct rng *r, uint64_t n);
/* Uniform in [0, 1). */
double rng_unit(struct rng *r);
