#include "base/rng.h"

#include <assert.h>

static inline uint64_t rotl(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

void rng_seed(struct rng *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++) { /* splitmix64, as the generator's authors advise */
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        r->s[i] = z ^ z >> 31;
    }
}

uint64_t rng_u64(struct rng *r)
{
    uint64_t *s = r->s, out = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return out;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
    assert(n > 0);
    uint64_t limit = UINT64_MAX - UINT64_MAX % n, v;
    do
        v = rng_u64(r);
    while (v >= limit);
    return v % n;
}

double rng_unit(struct rng *r)
{
    return (double)(rng_u64(r) >> 11) * 0x1.0p-53;
}
