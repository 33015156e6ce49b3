#include "place/hierarchy.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "codec/digest.h"
#include "place/hierarchy_format.h"
#include "place/hierarchy_internal.h"
#include "place/holder.h"

/* ---- opening ---- */

static uint32_t head_u32(struct span bytes, size_t at)
{
    uint32_t v;
    memcpy(&v, bytes.p + at, sizeof(v));
    return le32toh(v);
}

static uint64_t head_u64(struct span bytes, size_t at)
{
    uint64_t v;
    memcpy(&v, bytes.p + at, sizeof(v));
    return le64toh(v);
}

status hierarchy_say(struct buf *why, status st, const char *phrase)
{
    if (why)
        buf_puts(why, phrase);
    return st;
}

static status check_head(struct span bytes, struct buf *why)
{
    if (bytes.n < HIERARCHY_HEAD_BYTES || memcmp(bytes.p, HIERARCHY_MAGIC, 7) != 0)
        return hierarchy_say(why, ST_CORRUPT, "it is no hierarchy");
    if (bytes.p[7] > HIERARCHY_MAGIC[7])
        return hierarchy_say(why, ST_NEWER, "a newer version wrote it");
    if (bytes.p[7] != HIERARCHY_MAGIC[7])
        return hierarchy_say(why, ST_CORRUPT, "it is no hierarchy");
    if (head_u32(bytes, HEAD_CRC_AT) != digest_crc32c(span_cut(bytes, 0, HEAD_CRC_AT)))
        return hierarchy_say(why, ST_CORRUPT, "its head is damaged");
    if (head_u64(bytes, HEAD_BYTES_AT) != bytes.n)
        return hierarchy_say(why, ST_CORRUPT, "it is not as long as it says");
    return ST_OK;
}

static bool take_section(struct hierarchy *h, enum hierarchy_section s)
{
    size_t at = HEAD_SECTIONS_AT + (size_t)s * HEAD_SECTION_BYTES;
    uint64_t offset = head_u64(h->bytes, at), bytes = head_u64(h->bytes, at + 8);
    if (offset > h->bytes.n || bytes > h->bytes.n - offset || offset % 8 != 0)
        return false;
    h->section[s] = (struct span){h->bytes.p + offset, (size_t)bytes};
    h->section_crc[s] = head_u32(h->bytes, at + 16);
    return true;
}

static bool has_bytes(const struct hierarchy *h, enum hierarchy_section s, uint64_t count, size_t each)
{
    return h->section[s].n == count * each;
}

static status take_sections(struct hierarchy *h, struct buf *why)
{
    for (int s = 0; s < SECTION_COUNT; s++)
        if (!take_section(h, (enum hierarchy_section)s))
            return hierarchy_say(why, ST_CORRUPT, "a part of it lies outside of it");
    h->nodes4 = head_u32(h->bytes, HEAD_NODES4_AT);
    h->nodes6 = head_u32(h->bytes, HEAD_NODES6_AT);
    h->holders = head_u32(h->bytes, HEAD_HOLDERS_AT);
    h->height = head_u32(h->bytes, HEAD_HEIGHT_AT);
    h->stretches4 = head_u32(h->bytes, HEAD_STRETCHES4_AT);
    h->stretches6 = head_u32(h->bytes, HEAD_STRETCHES6_AT);
    h->index_bits = head_u32(h->bytes, HEAD_INDEX_BITS_AT);
    if (h->nodes4 > HIERARCHY_NODES_MAX || h->nodes6 > HIERARCHY_NODES_MAX - h->nodes4 ||
        h->holders > HIERARCHY_NODES_MAX || h->index_bits > HIERARCHY_INDEX_BITS_MAX)
        return hierarchy_say(why, ST_CORRUPT, "it says that it has too many nodes");
    size_t levels_total;
    h->level_count = hierarchy_levels(h->stretches6, h->level_sizes, &levels_total);
    size_t index = h->stretches4 ? ((size_t)1 << h->index_bits) + 1 : 0;
    if (!has_bytes(h, SECTION_NODES4, h->nodes4, sizeof(struct row4)) ||
        !has_bytes(h, SECTION_NODES6, h->nodes6, sizeof(struct row6)) || !has_bytes(h, SECTION_INDEX4, index, 4) ||
        !has_bytes(h, SECTION_STARTS4, h->stretches4, 4) || !has_bytes(h, SECTION_PLACES4, h->stretches4, 4) ||
        !has_bytes(h, SECTION_STARTS6_HIGH, h->stretches6, 8) || !has_bytes(h, SECTION_STARTS6_LOW, h->stretches6, 8) ||
        !has_bytes(h, SECTION_PLACES6, h->stretches6, 4) || !has_bytes(h, SECTION_LEVELS6, levels_total, 8) ||
        !has_bytes(h, SECTION_HOLDERS, h->holders, sizeof(struct holder_row)) ||
        !has_bytes(h, SECTION_LISTS, (uint64_t)h->holders + 1, 4) || h->section[SECTION_LIST_NODES].n % 4 != 0)
        return hierarchy_say(why, ST_CORRUPT, "a part of it has not the size that it should have");
    return ST_OK;
}

static void set_pointers(struct hierarchy *h)
{
    h->rows4 = (const struct row4 *)(const void *)h->section[SECTION_NODES4].p;
    h->rows6 = (const struct row6 *)(const void *)h->section[SECTION_NODES6].p;
    h->index4 = (const uint32_t *)(const void *)h->section[SECTION_INDEX4].p;
    h->starts4 = (const uint32_t *)(const void *)h->section[SECTION_STARTS4].p;
    h->places4 = (const uint32_t *)(const void *)h->section[SECTION_PLACES4].p;
    h->starts6_high = (const uint64_t *)(const void *)h->section[SECTION_STARTS6_HIGH].p;
    h->starts6_low = (const uint64_t *)(const void *)h->section[SECTION_STARTS6_LOW].p;
    h->places6 = (const uint32_t *)(const void *)h->section[SECTION_PLACES6].p;
    h->holder_rows = (const struct holder_row *)(const void *)h->section[SECTION_HOLDERS].p;
    h->lists = (const uint32_t *)(const void *)h->section[SECTION_LISTS].p;
    h->list_nodes = (const uint32_t *)(const void *)h->section[SECTION_LIST_NODES].p;
    const uint64_t *level = (const uint64_t *)(const void *)h->section[SECTION_LEVELS6].p;
    for (unsigned i = 0; i < h->level_count; i++) {
        h->levels6[i] = level;
        level += h->level_sizes[i];
    }
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    /* The one array that callers read themselves. */
    size_t n = h->section[SECTION_LIST_NODES].n / 4;
    h->own_list_nodes = mem_alloc(n * 4);
    for (size_t i = 0; i < n; i++)
        h->own_list_nodes[i] = le32toh(h->list_nodes[i]);
    h->list_nodes = h->own_list_nodes;
#endif
}

status hierarchy_open(struct span bytes, struct hierarchy **out, struct buf *why)
{
    status st = check_head(bytes, why);
    if (st != ST_OK)
        return st;
    struct hierarchy *h = mem_alloc(sizeof(*h));
    if ((uintptr_t)bytes.p % 8 != 0) {
        h->own_bytes = mem_alloc(bytes.n);
        memcpy(h->own_bytes, bytes.p, bytes.n);
        bytes.p = h->own_bytes;
    }
    h->bytes = bytes;
    st = take_sections(h, why);
    if (st != ST_OK) {
        hierarchy_free(h);
        return st;
    }
    set_pointers(h);
    *out = h;
    return ST_OK;
}

void hierarchy_free(struct hierarchy *h)
{
    if (!h)
        return;
    free(h->own_bytes);
    free(h->own_list_nodes);
    free(h);
}

/* ---- nodes ---- */

uint32_t hierarchy_count(const struct hierarchy *h)
{
    return h->nodes4 + h->nodes6;
}

unsigned hierarchy_height(const struct hierarchy *h)
{
    return h->height;
}

/* Whatever a damaged file says: a parent comes before its children, an end after its node, a holder is there. */
static uint32_t good_parent(uint32_t node, uint32_t parent)
{
    return parent < node ? parent : 0;
}

static uint32_t good_end(const struct hierarchy *h, uint32_t node, uint32_t end)
{
    return end > node && end <= hierarchy_count(h) + 1 ? end : node + 1;
}

static uint32_t good_holder(const struct hierarchy *h, uint32_t holder)
{
    return holder <= h->holders ? holder : 0;
}

void hierarchy_get(const struct hierarchy *h, uint32_t node, struct hierarchy_node *out)
{
    const uint8_t *facts; /* country, kind, depth */
    *out = (struct hierarchy_node){.end = hierarchy_count(h) + 1};
    if (node == 0 || node > hierarchy_count(h))
        return;
    uint32_t parent, end, holder;
    if (node <= h->nodes4) {
        const struct row4 *r = &h->rows4[node - 1];
        out->first = addr_of_wide(4, le32toh(r->first));
        out->last = addr_of_wide(4, le32toh(r->last));
        parent = le32toh(r->parent);
        end = le32toh(r->end);
        holder = le32toh(r->holder);
        facts = r->country;
    } else {
        const struct row6 *r = &h->rows6[node - 1 - h->nodes4];
        out->first = addr_of_wide(6, (wide)le64toh(r->first_high) << 64 | le64toh(r->first_low));
        out->last = addr_of_wide(6, (wide)le64toh(r->last_high) << 64 | le64toh(r->last_low));
        parent = le32toh(r->parent);
        end = le32toh(r->end);
        holder = le32toh(r->holder);
        facts = r->country;
    }
    out->parent = good_parent(node, parent);
    out->end = good_end(h, node, end);
    out->holder = good_holder(h, holder);
    out->country[0] = (char)facts[0];
    out->country[1] = facts[0] ? (char)facts[1] : '\0';
    unsigned registry = facts[2] & 15u, state = facts[2] >> 4;
    out->registry = registry <= REGISTRY_OTHER ? (registry_name)registry : REGISTRY_NONE;
    out->state = state <= REG_LEGACY ? (registry_status)state : REG_UNKNOWN;
    out->depth = facts[3];
}

uint32_t hierarchy_parent(const struct hierarchy *h, uint32_t node)
{
    if (node == 0 || node > hierarchy_count(h))
        return 0;
    return good_parent(node,
                       le32toh(node <= h->nodes4 ? h->rows4[node - 1].parent : h->rows6[node - 1 - h->nodes4].parent));
}

uint32_t hierarchy_end(const struct hierarchy *h, uint32_t node)
{
    if (node == 0 || node > hierarchy_count(h))
        return hierarchy_count(h) + 1;
    return good_end(h, node, le32toh(node <= h->nodes4 ? h->rows4[node - 1].end : h->rows6[node - 1 - h->nodes4].end));
}

uint32_t hierarchy_holder(const struct hierarchy *h, uint32_t node)
{
    if (node == 0 || node > hierarchy_count(h))
        return 0;
    return good_holder(h,
                       le32toh(node <= h->nodes4 ? h->rows4[node - 1].holder : h->rows6[node - 1 - h->nodes4].holder));
}

void hierarchy_range(const struct hierarchy *h, uint32_t node, wide *first, wide *last)
{
    assert(node > 0 && node <= hierarchy_count(h));
    if (node <= h->nodes4) {
        const struct row4 *r = &h->rows4[node - 1];
        *first = le32toh(r->first);
        *last = le32toh(r->last);
    } else {
        const struct row6 *r = &h->rows6[node - 1 - h->nodes4];
        *first = (wide)le64toh(r->first_high) << 64 | le64toh(r->first_low);
        *last = (wide)le64toh(r->last_high) << 64 | le64toh(r->last_low);
    }
}

/* ---- stretches ----
 *
 * A stretch begins at its start and ends where the next one begins; the first begins at address 0. Its place is the
 * smallest network of its addresses, or 0, with HIERARCHY_HAS_UNARY when nodes of one address lie in it. */

/* How many stretches begin at or before the address; the last of them holds it. 0 only in an empty or damaged file. */
static size_t stretches_upto4(const struct hierarchy *h, uint32_t ip)
{
    if (h->stretches4 == 0)
        return 0;
    uint32_t bucket = h->index_bits ? ip >> (32 - h->index_bits) : 0;
    size_t low = le32toh(h->index4[bucket]), high = le32toh(h->index4[bucket + 1]);
    high = high < h->stretches4 ? high : h->stretches4;
    if (low >= high)
        return high;
    /* Without branches that depend on the data: what is looked for is as good as random. */
    const uint32_t *base = h->starts4 + low;
    size_t n = high - low;
    while (n > 1) {
        size_t half = n / 2;
        base += le32toh(base[half - 1]) <= ip ? half : 0;
        n -= half;
    }
    return (size_t)(base - h->starts4) + (le32toh(*base) <= ip);
}

/* Keys below `key` in a block of up to HIERARCHY_FAN ascending ones that begins at `at`. All are compared: that costs
 * less than one branch that is guessed wrong. */
static size_t count_below(const uint64_t *keys, size_t at, size_t size, uint64_t key)
{
    const uint64_t *block = keys + at;
    size_t n = size - at, below = 0, more = 0;
    if (n >= HIERARCHY_FAN) {
#pragma GCC unroll 8
        for (size_t i = 0; i < HIERARCHY_FAN; i += 2) {
            below += le64toh(block[i]) < key;
            more += le64toh(block[i + 1]) < key;
        }
        return below + more;
    }
    for (size_t i = 0; i < n; i++)
        below += le64toh(block[i]) < key;
    return below;
}

/* The first stretch whose upper half is not below `high`. */
static size_t lower_bound6(const struct hierarchy *h, uint64_t high)
{
    size_t block = 0; /* of the level below, to look through next */
    for (unsigned i = h->level_count; i-- > 0;) {
        size_t at = block * HIERARCHY_FAN;
        if (at >= h->level_sizes[i])
            return h->stretches6;
        size_t below = count_below(h->levels6[i], at, h->level_sizes[i], high);
        block = at + (below ? below - 1 : 0);
    }
    size_t at = block * HIERARCHY_FAN;
    if (at >= h->stretches6)
        return h->stretches6;
    return at + count_below(h->starts6_high, at, h->stretches6, high);
}

static size_t stretches_upto6(const struct hierarchy *h, wide ip)
{
    uint64_t high = (uint64_t)(ip >> 64), low = (uint64_t)ip;
    size_t at = lower_bound6(h, high), step = 1;
    /* Several may begin in one /64: gallop, then halve. */
    size_t good = at; /* all before it begin at or before ip */
    while (at < h->stretches6 && le64toh(h->starts6_high[at]) == high && le64toh(h->starts6_low[at]) <= low) {
        good = at + 1;
        at += step;
        step *= 2;
    }
    size_t bad = at < h->stretches6 ? at : h->stretches6; /* it, and all after it, do not */
    while (good < bad) {
        size_t mid = good + (bad - good) / 2;
        if (le64toh(h->starts6_high[mid]) == high && le64toh(h->starts6_low[mid]) <= low)
            good = mid + 1;
        else
            bad = mid;
    }
    return good;
}

/* The place of an address as the file has it, with its flag; *upto as above. */
static uint32_t place_of(const struct hierarchy *h, const struct addr *a, size_t *upto)
{
    if (a->family == 4) {
        *upto = stretches_upto4(h, (uint32_t)wide_of(a));
        return *upto ? le32toh(h->places4[*upto - 1]) : 0;
    }
    *upto = a->family == 6 ? stretches_upto6(h, wide_of(a)) : 0;
    return *upto ? le32toh(h->places6[*upto - 1]) : 0;
}

static uint32_t node_of_place(const struct hierarchy *h, uint32_t place)
{
    place &= ~HIERARCHY_HAS_UNARY;
    return place <= hierarchy_count(h) ? place : HIERARCHY_NONE;
}

uint32_t hierarchy_network(const struct hierarchy *h, const struct addr *a)
{
    struct addr plain = addr_unmapped(a);
    size_t upto;
    return node_of_place(h, place_of(h, &plain, &upto));
}

uint32_t hierarchy_lookup(const struct hierarchy *h, const struct addr *a)
{
    struct addr plain = addr_unmapped(a);
    size_t upto;
    uint32_t place = place_of(h, &plain, &upto), unary;
    if (place & HIERARCHY_HAS_UNARY && (unary = hierarchy_find(h, &plain, &plain)) != HIERARCHY_NONE)
        return unary;
    return node_of_place(h, place);
}

/* ---- ranges ---- */

uint32_t hierarchy_find(const struct hierarchy *h, const struct addr *first, const struct addr *last)
{
    if (first->family != last->family || (first->family != 4 && first->family != 6))
        return HIERARCHY_NONE;
    wide want_first = wide_of(first), want_last = wide_of(last), f, l;
    uint32_t low = first->family == 4 ? 1 : h->nodes4 + 1;
    uint32_t high = first->family == 4 ? h->nodes4 + 1 : hierarchy_count(h) + 1, stop = high;
    while (low < high) { /* order: first up, then last down */
        uint32_t mid = low + (high - low) / 2;
        hierarchy_range(h, mid, &f, &l);
        if (f < want_first || (f == want_first && l > want_last))
            low = mid + 1;
        else
            high = mid;
    }
    if (low == stop)
        return HIERARCHY_NONE;
    hierarchy_range(h, low, &f, &l);
    return f == want_first && l == want_last ? low : HIERARCHY_NONE;
}

/* The first that holds the range on the way up from `node`. */
static uint32_t climb(const struct hierarchy *h, uint32_t node, wide first, wide last)
{
    for (; node != HIERARCHY_NONE; node = hierarchy_parent(h, node)) {
        wide f, l;
        hierarchy_range(h, node, &f, &l);
        if (f <= first && l >= last)
            break;
    }
    return node;
}

uint32_t hierarchy_enclosing(const struct hierarchy *h, const struct addr *first, const struct addr *last)
{
    if (first->family != last->family || (first->family != 4 && first->family != 6))
        return HIERARCHY_NONE;
    if (addr_eq(first, last))
        return hierarchy_lookup(h, first);
    uint32_t itself = hierarchy_find(h, first, last);
    if (itself != HIERARCHY_NONE)
        return itself;
    wide from = wide_of(first), to = wide_of(last), f[2], l[2];
    uint32_t left = climb(h, hierarchy_network(h, first), from, to);
    uint32_t right = climb(h, hierarchy_network(h, last), from, to);
    if (left == right || right == HIERARCHY_NONE)
        return left;
    if (left == HIERARCHY_NONE)
        return right;
    hierarchy_range(h, left, &f[0], &l[0]);
    hierarchy_range(h, right, &f[1], &l[1]);
    if (l[0] - f[0] == l[1] - f[1])
        return left < right ? left : right;
    return l[0] - f[0] < l[1] - f[1] ? left : right;
}

static void stretch_bounds(const struct hierarchy *h, unsigned family, size_t upto, wide *first, wide *last)
{
    if (family == 4) {
        *first = upto ? le32toh(h->starts4[upto - 1]) : 0;
        *last = upto < h->stretches4 ? le32toh(h->starts4[upto]) - (wide)1 : UINT32_MAX;
        return;
    }
    *first = upto ? (wide)le64toh(h->starts6_high[upto - 1]) << 64 | le64toh(h->starts6_low[upto - 1]) : 0;
    *last = upto < h->stretches6 ? ((wide)le64toh(h->starts6_high[upto]) << 64 | le64toh(h->starts6_low[upto])) - 1
                                 : ~(wide)0;
}

struct network hierarchy_cell(const struct hierarchy *h, const struct addr *a)
{
    struct addr plain = addr_unmapped(a);
    struct network n = addr_network(&plain);
    if (!h || n.bits == 0)
        return n;
    size_t upto;
    wide first, last, ip = wide_of(&plain);
    uint32_t node = node_of_place(h, place_of(h, &plain, &upto));
    unsigned all = plain.family == 4 ? 32 : 128;
    stretch_bounds(h, plain.family, upto, &first, &last);
    for (unsigned bits = node == HIERARCHY_NONE ? n.bits : 0; bits <= all; bits++) {
        wide rest = bits == all ? 0 : bits == 0 && all == 128 ? ~(wide)0 : ((wide)1 << (all - bits)) - 1;
        wide from = ip & ~rest, to = ip | rest;
        if ((from >= first && to <= last) || bits == all) {
            n = (struct network){.first = addr_of_wide(plain.family, from), .bits = (uint8_t)bits};
            break;
        }
    }
    return n;
}

/* ---- holders ---- */

uint32_t hierarchy_holder_count(const struct hierarchy *h)
{
    return h->holders;
}

static struct span holder_text(const struct hierarchy *h, uint32_t holder, bool is_folded)
{
    if (holder == 0 || holder > h->holders)
        return SPAN("");
    const struct holder_row *r = &h->holder_rows[holder - 1];
    size_t at = le32toh(r->at), name = le16toh(r->name_bytes), folded = le16toh(r->folded_bytes);
    struct span names = h->section[SECTION_NAMES];
    if (at > names.n || name + folded > names.n - at)
        return SPAN("");
    return is_folded ? (struct span){names.p + at + name, folded} : (struct span){names.p + at, name};
}

struct span hierarchy_holder_name(const struct hierarchy *h, uint32_t holder)
{
    return holder_text(h, holder, false);
}

struct span hierarchy_holder_folded(const struct hierarchy *h, uint32_t holder)
{
    return holder_text(h, holder, true);
}

uint32_t hierarchy_holder_find(const struct hierarchy *h, struct span name)
{
    struct buf folded = {0};
    holder_fold(name, &folded);
    uint32_t low = 1, high = h->holders + 1;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (span_cmp(holder_text(h, mid, true), buf_span(&folded)) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    bool is_it = folded.n && low <= h->holders && span_eq(holder_text(h, low, true), buf_span(&folded));
    buf_done(&folded);
    return is_it ? low : 0;
}

const uint32_t *hierarchy_holder_nodes(const struct hierarchy *h, uint32_t holder, size_t *count)
{
    *count = 0;
    if (holder == 0 || holder > h->holders)
        return h->list_nodes;
    size_t from = le32toh(h->lists[holder - 1]), to = le32toh(h->lists[holder]);
    if (from > to || to > h->section[SECTION_LIST_NODES].n / 4)
        return h->list_nodes;
    *count = to - from;
    return h->list_nodes + from;
}

struct span hierarchy_origin(const struct hierarchy *h)
{
    return h->section[SECTION_ORIGIN];
}
