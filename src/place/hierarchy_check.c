/* hierarchy_check.c - reads the whole of a hierarchy and holds it to what its reader relies on. */
#include "codec/digest.h"
#include "place/hierarchy_internal.h"

static status bad(struct buf *why, const char *what, uint64_t number)
{
    if (why)
        buf_printf(why, "%s %llu", what, (unsigned long long)number);
    return ST_CORRUPT;
}

static status check_sums(const struct hierarchy *h, struct buf *why)
{
    for (int s = 0; s < SECTION_COUNT; s++)
        if (digest_crc32c(h->section[s]) != h->section_crc[s])
            return bad(why, "damaged bytes in part", (uint64_t)s);
    return ST_OK;
}

/* A node's raw numbers: what the reader would mend must be right here. */
static void raw(const struct hierarchy *h, uint32_t node, uint32_t *parent, uint32_t *end, uint32_t *holder)
{
    if (node <= h->nodes4) {
        const struct row4 *r = &h->rows4[node - 1];
        *parent = le32toh(r->parent);
        *end = le32toh(r->end);
        *holder = le32toh(r->holder);
    } else {
        const struct row6 *r = &h->rows6[node - 1 - h->nodes4];
        *parent = le32toh(r->parent);
        *end = le32toh(r->end);
        *holder = le32toh(r->holder);
    }
}

static status check_node(const struct hierarchy *h, uint32_t node, unsigned *height, struct buf *why)
{
    struct hierarchy_node n, up;
    wide first, last, f, l;
    uint32_t parent, end, holder;
    hierarchy_get(h, node, &n);
    hierarchy_range(h, node, &first, &last);
    raw(h, node, &parent, &end, &holder);
    if (first > last)
        return bad(why, "it ends before it begins: node", node);
    bool is_first = node == 1 || node == h->nodes4 + 1;
    if (!is_first) {
        hierarchy_range(h, node - 1, &f, &l);
        if (f > first || (f == first && l <= last))
            return bad(why, "not in order: node", node);
    }
    if (parent >= node || end <= node || end > hierarchy_count(h) + 1 || holder > h->holders)
        return bad(why, "a number is out of range in node", node);
    /* Ends nest: a node's lies within its parent's, and its first child is the next node if it has any. */
    hierarchy_get(h, parent, &up);
    if (parent) {
        hierarchy_range(h, parent, &f, &l);
        if (f > first || l < last || up.first.family != n.first.family)
            return bad(why, "outside of its parent: node", node);
    }
    if (end > up.end || (node <= h->nodes4 && end > h->nodes4 + 1))
        return bad(why, "more inside than in its parent: node", node);
    if (end > node + 1 && hierarchy_parent(h, node + 1) != node)
        return bad(why, "not the parent of the next: node", node);
    if (end <= hierarchy_count(h) && hierarchy_parent(h, end) >= node)
        return bad(why, "ends too early: node", node);
    unsigned depth = up.depth < HIERARCHY_DEPTH_MAX ? up.depth + 1 : HIERARCHY_DEPTH_MAX;
    if (n.depth != depth)
        return bad(why, "its depth is wrong: node", node);
    if (n.depth > *height)
        *height = n.depth;
    return ST_OK;
}

static status check_nodes(const struct hierarchy *h, struct buf *why)
{
    unsigned height = 0;
    status st = ST_OK;
    for (uint32_t node = 1; st == ST_OK && node <= hierarchy_count(h); node++)
        st = check_node(h, node, &height, why);
    if (st == ST_OK && (height < HIERARCHY_DEPTH_MAX ? h->height != height : h->height < height))
        return bad(why, "its height is not", h->height);
    return st;
}

static wide start_of(const struct hierarchy *h, unsigned family, size_t i)
{
    return family == 4 ? le32toh(h->starts4[i]) : (wide)le64toh(h->starts6_high[i]) << 64 | le64toh(h->starts6_low[i]);
}

static status check_stretches(const struct hierarchy *h, unsigned family, struct buf *why)
{
    size_t n = family == 4 ? h->stretches4 : h->stretches6;
    const uint32_t *places = family == 4 ? h->places4 : h->places6;
    uint32_t from = family == 4 ? 1 : h->nodes4 + 1, to = family == 4 ? h->nodes4 : hierarchy_count(h);
    if (n == 0)
        return to >= from ? bad(why, "no stretches for family", family) : ST_OK;
    if (start_of(h, family, 0) != 0)
        return bad(why, "addresses before the first stretch of family", family);
    for (size_t i = 0; i < n; i++) {
        wide start = start_of(h, family, i), last = family == 4 ? UINT32_MAX : ~(wide)0, f, l;
        if (i + 1 < n) {
            last = start_of(h, family, i + 1) - 1;
            if (last + 1 <= start)
                return bad(why, "not in order: stretch", i);
        }
        uint32_t node = le32toh(places[i]) & ~HIERARCHY_HAS_UNARY;
        if (node == 0)
            continue;
        if (node < from || node > to)
            return bad(why, "no such node in stretch", i);
        hierarchy_range(h, node, &f, &l);
        if (f > start || l < last || f == l)
            return bad(why, "not inside of its node: stretch", i);
    }
    return ST_OK;
}

static status check_index(const struct hierarchy *h, struct buf *why)
{
    size_t at = 0;
    for (size_t k = 0; h->stretches4 && k <= (size_t)1 << h->index_bits; k++) {
        uint64_t from = (uint64_t)k << (32 - h->index_bits);
        while (at < h->stretches4 && le32toh(h->starts4[at]) < from)
            at++;
        if (le32toh(h->index4[k]) != at)
            return bad(why, "wrong entry of the index:", k);
    }
    const uint64_t *below = h->starts6_high;
    for (unsigned i = 0; i < h->level_count; i++) {
        for (size_t k = 0; k < h->level_sizes[i]; k++)
            if (h->levels6[i][k] != below[k * HIERARCHY_FAN])
                return bad(why, "wrong key in level", i);
        below = h->levels6[i];
    }
    return ST_OK;
}

static status check_holder(const struct hierarchy *h, uint32_t holder, struct buf *why)
{
    struct span fold = hierarchy_holder_folded(h, holder);
    if (hierarchy_holder_name(h, holder).n == 0 || fold.n == 0)
        return bad(why, "no name: holder", holder);
    if (holder > 1 && span_cmp(hierarchy_holder_folded(h, holder - 1), fold) >= 0)
        return bad(why, "not in order: holder", holder);
    size_t n;
    const uint32_t *nodes = hierarchy_holder_nodes(h, holder, &n);
    for (size_t i = 0; i < n; i++)
        if (hierarchy_holder(h, nodes[i]) != holder || (i > 0 && nodes[i - 1] >= nodes[i]))
            return bad(why, "its list is wrong: holder", holder);
    return n ? ST_OK : bad(why, "it holds nothing: holder", holder);
}

static status check_holders(const struct hierarchy *h, struct buf *why)
{
    status st = ST_OK;
    uint64_t held = 0;
    for (uint32_t node = 1; node <= hierarchy_count(h); node++)
        held += hierarchy_holder(h, node) != 0;
    if (held != h->section[SECTION_LIST_NODES].n / 4 || le32toh(h->lists[0]) != 0 ||
        le32toh(h->lists[h->holders]) != held)
        st = bad(why, "holders' lists do not have all nodes:", held);
    for (uint32_t i = 1; st == ST_OK && i <= h->holders; i++)
        st = check_holder(h, i, why);
    return st;
}

status hierarchy_check(const struct hierarchy *h, struct buf *why)
{
    status st = check_sums(h, why);
    if (st == ST_OK)
        st = check_nodes(h, why);
    if (st == ST_OK)
        st = check_stretches(h, 4, why);
    if (st == ST_OK)
        st = check_stretches(h, 6, why);
    if (st == ST_OK)
        st = check_index(h, why);
    return st == ST_OK ? check_holders(h, why) : st;
}
