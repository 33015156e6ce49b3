/* html_scan.h - looking at sixteen bytes of text at once.
 *
 * A mask has bit i set when byte i matches. SSE2 where the compiler has it; elsewhere plain loops with the same
 * results. The mask functions read exactly 16 bytes: the caller knows they are there. */
#pragma once

#include <string.h>

#include "base/span.h"

#define SCAN_BLOCK 16

#if defined(__SSE2__)
#include <emmintrin.h>

static inline unsigned scan_eq(const char *p, char c)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(c)));
}

/* Bytes that are at most `max`, unsigned. */
static inline unsigned scan_le(const char *p, unsigned char max)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8((char)max)), v));
}
#else
static inline unsigned scan_eq(const char *p, char c)
{
    unsigned mask = 0;
    for (int i = 0; i < SCAN_BLOCK; i++)
        mask |= (unsigned)(p[i] == c) << i;
    return mask;
}

static inline unsigned scan_le(const char *p, unsigned char max)
{
    unsigned mask = 0;
    for (int i = 0; i < SCAN_BLOCK; i++)
        mask |= (unsigned)((unsigned char)p[i] <= max) << i;
    return mask;
}
#endif

/* First `c` in [p, end), or end. The near blocks are looked at inline, since most runs in HTML are short; memchr has
 * wider registers for the long ones. */
static inline const char *scan_for(const char *p, const char *end, char c)
{
    for (int i = 0; i < 3; i++) {
        if (end - p < SCAN_BLOCK)
            break;
        unsigned mask = scan_eq(p, c);
        if (mask)
            return p + __builtin_ctz(mask);
        p += SCAN_BLOCK;
    }
    const char *hit = p < end ? memchr(p, c, (size_t)(end - p)) : NULL;
    return hit ? hit : end;
}

/* First of two bytes in [p, end), or end. */
static inline const char *scan_for2(const char *p, const char *end, char c, char d)
{
    for (; end - p >= SCAN_BLOCK; p += SCAN_BLOCK) {
        unsigned mask = scan_eq(p, c) | scan_eq(p, d);
        if (mask)
            return p + __builtin_ctz(mask);
    }
    while (p < end && *p != c && *p != d)
        p++;
    return p;
}

/* Eight bytes as a number whose lowest byte is the first one. */
static inline uint64_t scan_load64(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}
