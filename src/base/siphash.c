#include "base/siphash.h"

#include <endian.h>

static inline uint64_t rotl(uint64_t x, int b)
{
    return x << b | x >> (64 - b);
}

#define ROUND(v0, v1, v2, v3)   \
    do {                        \
        v0 += v1;               \
        v2 += v3;               \
        v1 = rotl(v1, 13) ^ v0; \
        v3 = rotl(v3, 16) ^ v2; \
        v0 = rotl(v0, 32);      \
        v2 += v1;               \
        v0 += v3;               \
        v1 = rotl(v1, 17) ^ v2; \
        v3 = rotl(v3, 21) ^ v0; \
        v2 = rotl(v2, 32);      \
    } while (0)

static inline uint64_t load_le64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return le64toh(v);
}

static inline uint32_t load_le32(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return le32toh(v);
}

/* Up to seven bytes, by loads that overlap. Most of what is hashed are words and names, and a loop over their last
 * bytes takes longer than the rounds. */
static inline uint64_t load_rest(const unsigned char *p, size_t n)
{
    if (n >= 4)
        return load_le32(p) | (uint64_t)load_le32(p + n - 4) << (8 * (n - 4));
    if (!n)
        return 0;
    return p[0] | (uint64_t)p[n / 2] << (8 * (n / 2)) | (uint64_t)p[n - 1] << (8 * (n - 1));
}

uint64_t siphash(const struct sip_key *key, struct span data)
{
    uint64_t v0 = key->k0 ^ 0x736f6d6570736575u, v1 = key->k1 ^ 0x646f72616e646f6du;
    uint64_t v2 = key->k0 ^ 0x6c7967656e657261u, v3 = key->k1 ^ 0x7465646279746573u;
    const unsigned char *p = (const unsigned char *)data.p;
    size_t left = data.n;
    for (; left >= 8; left -= 8, p += 8) {
        uint64_t m = load_le64(p);
        v3 ^= m;
        ROUND(v0, v1, v2, v3);
        v0 ^= m;
    }
    uint64_t last = (uint64_t)data.n << 56 | load_rest(p, left);
    v3 ^= last;
    ROUND(v0, v1, v2, v3);
    v0 ^= last;
    v2 ^= 0xff;
    ROUND(v0, v1, v2, v3);
    ROUND(v0, v1, v2, v3);
    ROUND(v0, v1, v2, v3);
    return v0 ^ v1 ^ v2 ^ v3;
}
