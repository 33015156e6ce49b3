#include "index/segment/bits.h"

#include <assert.h>
#include <string.h>

#define ROWS (BITS_COUNT / 4)
/* One copy of each loop a width, unrolled, for speed. Sanitizers make minutes of that: there each loop is one, for all
 * widths. */
#if defined(__SANITIZE_ADDRESS__)
#define ONE_FOR_ALL
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define ONE_FOR_ALL
#endif
#endif
#ifdef ONE_FOR_ALL
#define INLINE static __attribute__((noinline))
#else
#define INLINE static inline __attribute__((always_inline))
#endif

/* Four lanes; the compiler makes SSE2 of it, or what the machine has. */
typedef uint32_t lanes __attribute__((vector_size(16)));

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
INLINE lanes swapped(lanes v)
{
    return v >> 24 | (v >> 8 & 0xFF00) | (v << 8 & 0xFF0000) | v << 24;
}
#else
INLINE lanes swapped(lanes v)
{
    return v;
}
#endif

INLINE lanes load(const unsigned char *p)
{
    lanes v;
    memcpy(&v, p, sizeof(v));
    return swapped(v);
}

INLINE void store(unsigned char *p, lanes v)
{
    v = swapped(v);
    memcpy(p, &v, sizeof(v));
}

unsigned bits_width(const uint32_t in[BITS_COUNT])
{
    uint32_t all = 0;
    for (int i = 0; i < BITS_COUNT; i++)
        all |= in[i];
    return all ? 32 - (unsigned)__builtin_clz(all) : 0;
}

/* Row r of the numbers. `width` is a constant wherever this ends up, and r too once the loop is unrolled: what stays is
 * a load, a shift or two, a mask. */
INLINE lanes row(const unsigned char *restrict in, const unsigned width, const unsigned r)
{
    const unsigned bit = r * width, word = bit / 32, shift = bit % 32;
    const uint32_t mask = width == 32 ? UINT32_MAX : (1u << width) - 1;
    lanes v = load(in + 16 * word) >> shift;
    if (shift + width > 32)
        v |= load(in + 16 * (word + 1)) << (32 - shift);
    return v & mask;
}

INLINE void unpack(const unsigned char *restrict in, const unsigned width, uint32_t *restrict out)
{
#pragma GCC unroll 32
    for (unsigned r = 0; r < ROWS; r++) {
        lanes v = row(in, width, r);
        memcpy(out + 4 * r, &v, sizeof(v));
    }
}

INLINE void unpack_steps(const unsigned char *restrict in, const unsigned width, uint32_t base, uint32_t *restrict out)
{
    const lanes zero = {0, 0, 0, 0}, ones = {1, 2, 3, 4};
    lanes before = {base, base, base, base};
#pragma GCC unroll 32
    for (unsigned r = 0; r < ROWS; r++) {
        lanes v = row(in, width, r);
        v += __builtin_shufflevector(zero, v, 0, 4, 5, 6);
        v += __builtin_shufflevector(zero, v, 0, 1, 4, 5);
        v += ones;
        v += before;
        before = __builtin_shufflevector(v, v, 3, 3, 3, 3);
        memcpy(out + 4 * r, &v, sizeof(v));
    }
}

INLINE void pack(const uint32_t *restrict in, const unsigned width, unsigned char *restrict out)
{
    lanes word = {0, 0, 0, 0};
#pragma GCC unroll 32
    for (unsigned r = 0; r < ROWS; r++) {
        const unsigned bit = r * width, shift = bit % 32;
        lanes v;
        memcpy(&v, in + 4 * r, sizeof(v));
        word |= v << shift;
        if (shift + width >= 32) {
            store(out + 16 * (bit / 32), word);
            word = shift + width > 32 ? v >> (32 - shift) : (lanes){0, 0, 0, 0};
        }
    }
}

#define EIGHT(X, n) X(n + 1) X(n + 2) X(n + 3) X(n + 4) X(n + 5) X(n + 6) X(n + 7) X(n + 8)
#define WIDTHS(X) EIGHT(X, 0) EIGHT(X, 8) EIGHT(X, 16) EIGHT(X, 24)
#ifdef ONE_FOR_ALL
#define WIDTH(w) width
#else
#define WIDTH(w) (w)
#endif

void bits_pack(const uint32_t in[BITS_COUNT], unsigned width, unsigned char *out)
{
    switch (width) {
    case 0:
        return;
#define X(w)                     \
    case w:                      \
        pack(in, WIDTH(w), out); \
        return;
        WIDTHS(X)
#undef X
    default:
        assert(!"at most 32 bits");
    }
}

void bits_unpack(const unsigned char *in, unsigned width, uint32_t out[BITS_COUNT])
{
    switch (width) {
    case 0:
        memset(out, 0, BITS_COUNT * sizeof(*out));
        return;
#define X(w)                       \
    case w:                        \
        unpack(in, WIDTH(w), out); \
        return;
        WIDTHS(X)
#undef X
    default:
        assert(!"at most 32 bits");
    }
}

void bits_unpack_steps(const unsigned char *in, unsigned width, uint32_t base, uint32_t out[BITS_COUNT])
{
    switch (width) {
    case 0:
        for (unsigned i = 0; i < BITS_COUNT; i++)
            out[i] = base + 1 + i;
        return;
#define X(w)                                   \
    case w:                                    \
        unpack_steps(in, WIDTH(w), base, out); \
        return;
        WIDTHS(X)
#undef X
    default:
        assert(!"at most 32 bits");
    }
}
