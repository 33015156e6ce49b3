/* fuzz_hierarchy.c - any bytes as the file of a hierarchy. The checksum and length in the head are put right first, or
 * nothing would ever be opened; then everything is asked, and no answer may lead out of the bytes. */
#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "codec/digest.h"
#include "place/hierarchy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD_BYTES 512
#define NODES_MAX 2000

static void put_number(char *at, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (char)(v >> (8 * i));
}

static void ask_nodes(const struct hierarchy *h)
{
    uint32_t count = hierarchy_count(h);
    for (uint32_t i = 0; i <= count + 1 && i < NODES_MAX; i++) {
        struct hierarchy_node n;
        hierarchy_get(h, i, &n);
        assert(n.parent == 0 || n.parent < i);
        assert(n.end > i || i > count);
        assert(n.end <= count + 1 && n.holder <= hierarchy_holder_count(h));
        assert(hierarchy_parent(h, i) == n.parent && hierarchy_end(h, i) == n.end);
        if (n.first.family == 0)
            continue;
        assert(hierarchy_lookup(h, &n.first) <= count && hierarchy_network(h, &n.last) <= count);
        assert(hierarchy_find(h, &n.first, &n.last) <= count && hierarchy_enclosing(h, &n.first, &n.last) <= count);
        struct addr a = addr_unmapped(&n.last);
        struct network cell = hierarchy_cell(h, &n.last);
        assert(network_has(&cell, &a));
    }
}

static void ask_holders(const struct hierarchy *h)
{
    unsigned sum = 0;
    for (uint32_t i = 0; i <= hierarchy_holder_count(h) + 1 && i < NODES_MAX; i++) {
        size_t n;
        const uint32_t *nodes = hierarchy_holder_nodes(h, i, &n);
        for (size_t k = 0; k < n; k++)
            sum += nodes[k];
        struct span name = hierarchy_holder_name(h, i);
        for (size_t k = 0; k < name.n; k++)
            sum += (unsigned char)name.p[k];
        assert(hierarchy_holder_find(h, name) <= hierarchy_holder_count(h));
    }
    struct span origin = hierarchy_origin(h);
    for (size_t k = 0; k < origin.n; k++)
        sum += (unsigned char)origin.p[k];
    __asm__ volatile("" : : "r"(sum)); /* so that the reads above stay */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hierarchy *h = NULL;
    struct buf why = {0};
    char *copy = mem_alloc(size);
    memcpy(copy, data, size);
    if (size >= HEAD_BYTES) {
        put_number(copy + 8, size, 8);
        put_number(copy + HEAD_BYTES - 4, digest_crc32c(span_of(copy, HEAD_BYTES - 4)), 4);
    }
    status st = hierarchy_open(span_of(copy, size), &h, &why);
    assert(st == ST_OK || ((st == ST_CORRUPT || st == ST_NEWER) && why.n > 0));
    if (st == ST_OK) {
        ask_nodes(h);
        ask_holders(h);
        st = hierarchy_check(h, &why);
        assert(st == ST_OK || (st == ST_CORRUPT && why.n > 0));
    }
    hierarchy_free(h);
    buf_done(&why);
    free(copy);
    return 0;
}
