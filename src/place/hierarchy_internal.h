/* hierarchy_internal.h - an open hierarchy, for hierarchy.c and hierarchy_check.c alone. */
#pragma once

#include "place/hierarchy_format.h"

struct hierarchy {
    struct span bytes; /* borrowed, or own_bytes */
    char *own_bytes;
    uint32_t *own_list_nodes; /* only on big-endian machines */
    struct span section[SECTION_COUNT];
    uint32_t section_crc[SECTION_COUNT];
    uint32_t nodes4, nodes6, holders, height, stretches4, stretches6, index_bits;
    const struct row4 *rows4;
    const struct row6 *rows6;
    const uint32_t *index4, *starts4, *places4, *places6;
    const uint64_t *starts6_high, *starts6_low;
    const uint64_t *levels6[HIERARCHY_LEVELS_MAX];
    size_t level_sizes[HIERARCHY_LEVELS_MAX];
    unsigned level_count;
    const struct holder_row *holder_rows;
    const uint32_t *lists, *list_nodes;
};

status hierarchy_say(struct buf *why, status st, const char *phrase); /* returns st */
void hierarchy_range(const struct hierarchy *h, uint32_t node, wide *first, wide *last);
struct span hierarchy_holder_folded(const struct hierarchy *h, uint32_t holder);
