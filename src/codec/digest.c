#include "codec/digest.h"

#include <assert.h>
#include <endian.h>
#include <nettle/md5.h>
#include <nettle/nettle-meta.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <sodium.h>
#include <stdlib.h>

#include "base/mem.h"

#ifdef __x86_64__
#include <nmmintrin.h>
#endif

struct digest128 digest_blake2b128(struct span data)
{
    struct digest128 d;
    int rc = crypto_generichash(d.b, sizeof(d.b), (const unsigned char *)data.p, data.n, NULL, 0);
    assert(rc == 0);
    (void)rc;
    return d;
}

static uint64_t load_u64_le(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return le64toh(v);
}

uint64_t digest_blake2b64(struct span data)
{
    struct digest128 d = digest_blake2b128(data);
    return load_u64_le(d.b);
}

struct digest160 digest_sha1(const struct span *parts, size_t count)
{
    struct sha1_ctx ctx;
    struct digest160 d;
    sha1_init(&ctx);
    for (size_t i = 0; i < count; i++)
        sha1_update(&ctx, parts[i].n, (const uint8_t *)parts[i].p);
    sha1_digest(&ctx, sizeof(d.b), d.b);
    return d;
}

size_t digest_named(struct span name, const struct span *parts, size_t count, unsigned char out[DIGEST_BYTES_MAX])
{
    static const struct {
        const char *name, *dashed;
        const struct nettle_hash *hash;
    } known[] = {{"sha1", "sha-1", &nettle_sha1},
                 {"sha256", "sha-256", &nettle_sha256},
                 {"sha512", "sha-512", &nettle_sha512},
                 {"md5", "md-5", &nettle_md5}};
    union {
        struct md5_ctx md5;
        struct sha1_ctx sha1;
        struct sha256_ctx sha256;
        struct sha512_ctx sha512;
    } ctx;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        const struct nettle_hash *h = known[i].hash;
        if (!span_is_nocase(name, known[i].name) && !span_is_nocase(name, known[i].dashed))
            continue;
        assert(h->context_size <= sizeof(ctx) && h->digest_size <= DIGEST_BYTES_MAX);
        h->init(&ctx);
        for (size_t k = 0; k < count; k++)
            h->update(&ctx, parts[k].n, (const uint8_t *)parts[k].p);
        h->digest(&ctx, h->digest_size, out);
        return h->digest_size;
    }
    return 0;
}

/* Table k holds what a byte becomes after 8 * (k + 1) shifts through the reflected polynomial 82F63B78. Shifting is
 * linear over xor, so an entry is the xor of the entries of its bits, and eight constants make a table. */
#define ENTRY(i, a, b, c, d, e, f, g, h)                                                                  \
    (((i)&1 ? (a) : 0) ^ ((i)&2 ? (b) : 0) ^ ((i)&4 ? (c) : 0) ^ ((i)&8 ? (d) : 0) ^ ((i)&16 ? (e) : 0) ^ \
     ((i)&32 ? (f) : 0) ^ ((i)&64 ? (g) : 0) ^ ((i)&128 ? (h) : 0))
#define ROW4(i, ...) \
    ENTRY(i, __VA_ARGS__), ENTRY((i) + 1, __VA_ARGS__), ENTRY((i) + 2, __VA_ARGS__), ENTRY((i) + 3, __VA_ARGS__)
#define ROW16(i, ...) \
    ROW4(i, __VA_ARGS__), ROW4((i) + 4, __VA_ARGS__), ROW4((i) + 8, __VA_ARGS__), ROW4((i) + 12, __VA_ARGS__)
#define ROW64(i, ...) \
    ROW16(i, __VA_ARGS__), ROW16((i) + 16, __VA_ARGS__), ROW16((i) + 32, __VA_ARGS__), ROW16((i) + 48, __VA_ARGS__)
#define TABLE(...)                                                                                      \
    {                                                                                                   \
        ROW64(0, __VA_ARGS__), ROW64(64, __VA_ARGS__), ROW64(128, __VA_ARGS__), ROW64(192, __VA_ARGS__) \
    }

static const uint32_t crc_table[8][256] = {
    TABLE(0xF26B8303U, 0xE13B70F7U, 0xC79A971FU, 0x8AD958CFU, 0x105EC76FU, 0x20BD8EDEU, 0x417B1DBCU, 0x82F63B78U),
    TABLE(0x13A29877U, 0x274530EEU, 0x4E8A61DCU, 0x9D14C3B8U, 0x3FC5F181U, 0x7F8BE302U, 0xFF17C604U, 0xFBC3FAF9U),
    TABLE(0xA541927EU, 0x4F6F520DU, 0x9EDEA41AU, 0x38513EC5U, 0x70A27D8AU, 0xE144FB14U, 0xC76580D9U, 0x8B277743U),
    TABLE(0xDD45AAB8U, 0xBF672381U, 0x7B2231F3U, 0xF64463E6U, 0xE964B13DU, 0xD725148BU, 0xABA65FE7U, 0x52A0C93FU),
    TABLE(0x38116FACU, 0x7022DF58U, 0xE045BEB0U, 0xC5670B91U, 0x8F2261D3U, 0x1BA8B557U, 0x37516AAEU, 0x6EA2D55CU),
    TABLE(0xEF306B19U, 0xDB8CA0C3U, 0xB2F53777U, 0x6006181FU, 0xC00C303EU, 0x85F4168DU, 0x0E045BEBU, 0x1C08B7D6U),
    TABLE(0x68032CC8U, 0xD0065990U, 0xA5E0C5D1U, 0x4E2DFD53U, 0x9C5BFAA6U, 0x3D5B83BDU, 0x7AB7077AU, 0xF56E0EF4U),
    TABLE(0x493C7D27U, 0x9278FA4EU, 0x211D826DU, 0x423B04DAU, 0x847609B4U, 0x0D006599U, 0x1A00CB32U, 0x34019664U),
};

/* Eight bytes a turn, each through the table of its distance from the end of the eight. */
uint32_t digest_crc32c_by_table(struct span data)
{
    uint32_t crc = UINT32_MAX;
    size_t at = 0;
    for (; data.n - at >= 8; at += 8) {
        uint64_t w = load_u64_le(data.p + at) ^ crc;
        crc = 0;
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++)
            crc ^= crc_table[7 - i][w >> (8 * i) & 0xFF];
    }
    for (; at < data.n; at++)
        crc = crc >> 8 ^ crc_table[0][(crc ^ (unsigned char)data.p[at]) & 0xFF];
    return ~crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(struct span data)
{
    uint64_t crc = UINT32_MAX;
    size_t at = 0;
    for (; data.n - at >= 8; at += 8) {
        uint64_t w;
        memcpy(&w, data.p + at, 8);
        crc = _mm_crc32_u64(crc, w);
    }
    for (; at < data.n; at++)
        crc = _mm_crc32_u8((uint32_t)crc, (unsigned char)data.p[at]);
    return ~(uint32_t)crc;
}
#endif

uint32_t digest_crc32c(struct span data)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2"))
        return crc32c_sse42(data);
#endif
    return digest_crc32c_by_table(data);
}

struct sha256 {
    crypto_hash_sha256_state state;
};

struct sha256 *sha256_new(void)
{
    struct sha256 *h = mem_alloc(sizeof(*h));
    crypto_hash_sha256_init(&h->state);
    return h;
}

void sha256_free(struct sha256 *h)
{
    free(h);
}

void sha256_put(struct sha256 *h, struct span piece)
{
    crypto_hash_sha256_update(&h->state, (const unsigned char *)piece.p, piece.n);
}

struct sha256_sum sha256_end(struct sha256 *h)
{
    struct sha256_sum d;
    crypto_hash_sha256_final(&h->state, d.b);
    crypto_hash_sha256_init(&h->state);
    return d;
}
