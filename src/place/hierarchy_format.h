/* hierarchy_format.h - the bytes of a hierarchy (docs/formats/hierarchy.md), shared by its reader and its builder. */
#pragma once

#include <endian.h>

#include "place/hierarchy.h"

__extension__ typedef unsigned __int128 wide; /* an address of either family as a number */

#define HIERARCHY_MAGIC "orbhier1"
#define HIERARCHY_HEAD_BYTES 512
#define HIERARCHY_ALIGN 64
#define HIERARCHY_INDEX_BITS_MAX 16 /* the table of first stretches has 2^bits + 1 entries */
#define HIERARCHY_FAN 16            /* keys under one key of the next level up, IPv6 */
#define HIERARCHY_LEVELS_MAX 8      /* 16^8 is more than there can be */
#define HIERARCHY_HAS_UNARY 0x80000000u
#define HIERARCHY_DEPTH_MAX 255 /* deeper ones say this */

enum hierarchy_section {
    SECTION_ORIGIN,
    SECTION_NODES4,
    SECTION_NODES6,
    SECTION_INDEX4,
    SECTION_STARTS4,
    SECTION_PLACES4,
    SECTION_STARTS6_HIGH,
    SECTION_STARTS6_LOW,
    SECTION_PLACES6,
    SECTION_LEVELS6,
    SECTION_HOLDERS,
    SECTION_LISTS,
    SECTION_LIST_NODES,
    SECTION_NAMES,
    SECTION_COUNT
};

/* Where numbers stand in the head. */
enum {
    HEAD_BYTES_AT = 8,
    HEAD_NODES4_AT = 16,
    HEAD_NODES6_AT = 20,
    HEAD_HOLDERS_AT = 24,
    HEAD_HEIGHT_AT = 28,
    HEAD_STRETCHES4_AT = 32,
    HEAD_STRETCHES6_AT = 36,
    HEAD_INDEX_BITS_AT = 40,
    HEAD_SECTIONS_AT = 48, /* each: u64 offset, u64 bytes, u32 crc, u32 0 */
    HEAD_SECTION_BYTES = 24,
    HEAD_CRC_AT = HIERARCHY_HEAD_BYTES - 4
};

/* All numbers little-endian. */
struct row4 {
    uint32_t first, last, parent, end, holder;
    uint8_t country[2];
    uint8_t kind; /* registry in the low four bits, status in the high four */
    uint8_t depth;
};

struct row6 {
    uint64_t first_high, first_low, last_high, last_low;
    uint32_t parent, end, holder;
    uint8_t country[2];
    uint8_t kind;
    uint8_t depth;
};

struct holder_row {
    uint32_t at; /* in the names: the name as registered, and after it the folded one */
    uint16_t name_bytes, folded_bytes;
};

_Static_assert(sizeof(struct row4) == 24 && sizeof(struct row6) == 48 && sizeof(struct holder_row) == 8,
               "rows are as the format says");

static inline wide wide_of(const struct addr *a)
{
    uint64_t high, low;
    if (a->family == 4) {
        uint32_t v;
        memcpy(&v, a->b, sizeof(v));
        return be32toh(v);
    }
    memcpy(&high, a->b, 8);
    memcpy(&low, a->b + 8, 8);
    return (wide)be64toh(high) << 64 | be64toh(low);
}

static inline struct addr addr_of_wide(unsigned family, wide v)
{
    struct addr a = {.family = (uint8_t)family};
    if (family == 4) {
        uint32_t b = htobe32((uint32_t)v);
        memcpy(a.b, &b, sizeof(b));
    } else {
        uint64_t high = htobe64((uint64_t)(v >> 64)), low = htobe64((uint64_t)v);
        memcpy(a.b, &high, 8);
        memcpy(a.b + 8, &low, 8);
    }
    return a;
}

/* Entries of all levels above `n` keys; sizes[0] is the lowest of them. Returns how many levels there are. */
static inline unsigned hierarchy_levels(size_t n, size_t sizes[HIERARCHY_LEVELS_MAX], size_t *total)
{
    unsigned count = 0;
    *total = 0;
    while (n > HIERARCHY_FAN && count < HIERARCHY_LEVELS_MAX) {
        n = (n + HIERARCHY_FAN - 1) / HIERARCHY_FAN;
        sizes[count++] = n;
        *total += n;
    }
    return count;
}
