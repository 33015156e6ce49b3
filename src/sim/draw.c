#include "sim/draw.h"

#include <math.h>

#include "base/siphash.h"

static uint64_t mix(uint64_t x, uint64_t y)
{
    uint64_t z = (x ^ y) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 32) * 0xd6e8feb86659fd93u;
    return z ^ z >> 29;
}

struct rng draw_for(uint64_t seed, draw_kind kind, uint64_t a, uint64_t b)
{
    struct rng r;
    rng_seed(&r, mix(mix(mix(seed + 0x632be59bd9b4e019u, (uint64_t)kind), a), b));
    return r;
}

uint64_t draw_hash(uint64_t seed, struct span text)
{
    struct sip_key key = {seed, 0};
    return siphash(&key, text);
}

double draw_between(struct rng *r, double low, double high)
{
    return low + rng_unit(r) * (high - low);
}

double draw_exponential(struct rng *r, double mean)
{
    return -mean * log(1 - rng_unit(r));
}

double draw_normal(struct rng *r)
{
    double radius = sqrt(-2 * log(1 - rng_unit(r)));
    return radius * cos(2 * 3.14159265358979323846 * rng_unit(r));
}

double draw_lognormal(struct rng *r, double mean_of_log, double deviation_of_log)
{
    return exp(mean_of_log + deviation_of_log * draw_normal(r));
}

double draw_pareto(struct rng *r, double alpha)
{
    return pow(1 - rng_unit(r), -1 / alpha);
}
