/* hierarchy_build.c - sort, fold what is there twice, name the holders, lay out the bytes.
 *
 * Memory at its largest: the ranges (16 or 40 bytes each) twice while they are sorted, then once beside the result. */
#include "place/hierarchy_build.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "codec/digest.h"
#include "place/hierarchy_shape.h"
#include "place/holder.h"
#include "place/key_sort.h"
#include "place/name_pool.h"

#define HOLDER_IS_REF 0x80000000u /* range_facts.holder names an organisation, not a name, until the end */

/* What is known of a holder, from little to much. */
enum { RANK_NONE, RANK_OPAQUE, RANK_AS, RANK_NAME, RANK_ORGANISATION };

struct hierarchy_builder {
    struct range4 *items4; /* owned */
    struct range6 *items6; /* owned */
    size_t count4, count6, cap4, cap6;
    struct name_pool names; /* of holders, as they were given */
    struct name_pool refs;  /* ids of organisations, upper case */
    uint32_t *ref_names;    /* owned; what ref i stands for, a number in names, 0: not known */
    size_t ref_cap;
    uint64_t given, everything; /* all ranges; those that are node 0 */
};

struct hierarchy_builder *hierarchy_builder_new(void)
{
    return mem_alloc(sizeof(struct hierarchy_builder));
}

void hierarchy_builder_free(struct hierarchy_builder *b)
{
    if (!b)
        return;
    free(b->items4);
    free(b->items6);
    name_pool_done(&b->names);
    name_pool_done(&b->refs);
    free(b->ref_names);
    free(b);
}

/* ---- taking in ---- */

static bool is_as_number(struct span s)
{
    uint64_t n;
    return s.n > 2 && span_starts_nocase(s, SPAN("AS")) && span_u64(span_from(s, 2), UINT32_MAX, &n);
}

static uint32_t add_ref(struct hierarchy_builder *b, struct span id)
{
    char upper[HOLDER_NAME_MAX];
    size_t n = id.n < sizeof(upper) ? id.n : sizeof(upper);
    for (size_t i = 0; i < n; i++)
        upper[i] = id.p[i] >= 'a' && id.p[i] <= 'z' ? (char)(id.p[i] - 0x20) : id.p[i];
    uint32_t ref = name_pool_add(&b->refs, span_of(upper, n));
    if (ref >= HOLDER_IS_REF)
        return 0;
    if (ref >= b->ref_cap) {
        size_t before = b->ref_cap;
        b->ref_names = mem_grow(b->ref_names, &b->ref_cap, (size_t)ref + 1, sizeof(*b->ref_names));
        memset(b->ref_names + before, 0, (b->ref_cap - before) * sizeof(*b->ref_names));
    }
    return ref;
}

static status take_facts(struct hierarchy_builder *b, const struct registry_record *r, struct range_facts *out)
{
    struct span holder = utf8_cut(span_trim(r->holder), HOLDER_NAME_MAX);
    *out = (struct range_facts){.kind = (uint8_t)((unsigned)r->registry | (unsigned)r->state << 4)};
    memcpy(out->country, r->country, 2);
    if (holder.n == 0)
        return ST_OK;
    out->holder = r->is_holder_ref ? add_ref(b, holder) : name_pool_add(&b->names, holder);
    if (out->holder == 0 || out->holder >= HOLDER_IS_REF)
        return ST_LIMIT;
    if (r->is_holder_ref)
        out->holder |= HOLDER_IS_REF;
    out->rank = r->is_opaque ? RANK_OPAQUE : is_as_number(holder) ? RANK_AS : RANK_NAME;
    return ST_OK;
}

status hierarchy_builder_add(struct hierarchy_builder *b, const struct registry_record *r)
{
    if (r->first.family != r->last.family || (r->first.family != 4 && r->first.family != 6))
        return ST_INVALID;
    wide first = wide_of(&r->first), last = wide_of(&r->last);
    if (first > last || (unsigned)r->registry > REGISTRY_OTHER || (unsigned)r->state > REG_LEGACY)
        return ST_INVALID;
    if (b->count4 + b->count6 >= HIERARCHY_NODES_MAX)
        return ST_LIMIT;
    struct range_facts facts;
    status st = take_facts(b, r, &facts);
    if (st != ST_OK)
        return st;
    b->given++;
    if (first == 0 && last == (r->first.family == 4 ? UINT32_MAX : ~(wide)0)) {
        b->everything++;
    } else if (r->first.family == 4) {
        b->items4 = mem_grow(b->items4, &b->cap4, b->count4 + 1, sizeof(*b->items4));
        struct range4 *item = &b->items4[b->count4++];
        range4_set(item, first, last);
        item->facts = facts;
    } else {
        b->items6 = mem_grow(b->items6, &b->cap6, b->count6 + 1, sizeof(*b->items6));
        struct range6 *item = &b->items6[b->count6++];
        range6_set(item, first, last);
        item->facts = facts;
    }
    return ST_OK;
}

void hierarchy_builder_organisation(struct hierarchy_builder *b, struct span id, struct span name)
{
    id = span_trim(id);
    name = utf8_cut(span_trim(name), HOLDER_NAME_MAX);
    uint32_t ref = id.n && name.n ? add_ref(b, id) : 0;
    if (ref && b->ref_names[ref] == 0)
        b->ref_names[ref] = name_pool_add(&b->names, name);
}

/* ---- one range, one item ---- */

/* An organisation's name for its id. An id that nobody explains stays, as a name that says little. */
static void resolve(struct hierarchy_builder *b, struct range_facts *f, uint64_t *unknown)
{
    if (!(f->holder & HOLDER_IS_REF))
        return;
    uint32_t ref = f->holder & ~HOLDER_IS_REF;
    f->rank = RANK_ORGANISATION;
    if (b->ref_names[ref] == 0) {
        (*unknown)++;
        f->rank = RANK_OPAQUE;
        b->ref_names[ref] = name_pool_add(&b->names, name_pool_get(&b->refs, ref));
    }
    f->holder = b->ref_names[ref];
}

static void merge_facts(struct range_facts *to, const struct range_facts *from)
{
    if (to->country[0] == 0)
        memcpy(to->country, from->country, 2);
    if ((to->kind & 0x0F) == 0)
        to->kind |= from->kind & 0x0F;
    if ((to->kind & 0xF0) == 0)
        to->kind |= from->kind & 0xF0;
    if (from->rank > to->rank) {
        to->rank = from->rank;
        to->holder = from->holder;
    }
}

/* Of items in order: each range once, with the facts of all. Returns how many are left. */
static size_t unify(struct hierarchy_builder *b, void *items, size_t count, size_t size, size_t key_bytes,
                    uint64_t *unknown)
{
    char *at = items;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        char *item = at + i * size, *last = at + (kept ? kept - 1 : 0) * size;
        struct range_facts facts, merged;
        memcpy(&facts, item + key_bytes, sizeof(facts));
        resolve(b, &facts, unknown);
        if (kept && memcmp(last, item, key_bytes) == 0) {
            memcpy(&merged, last + key_bytes, sizeof(merged));
            merge_facts(&merged, &facts);
            memcpy(last + key_bytes, &merged, sizeof(merged));
            continue;
        }
        memmove(at + kept * size, item, key_bytes);
        memcpy(at + kept++ * size + key_bytes, &facts, sizeof(facts));
    }
    return kept;
}

static void sort_and_unify(struct hierarchy_builder *b, struct hierarchy_figures *figures)
{
    struct range4 *spare4 = mem_alloc(b->count4 * sizeof(*spare4));
    struct range4 *sorted4 = key_sort_16(b->items4, spare4, b->count4, sizeof(spare4->key));
    free(sorted4 == b->items4 ? spare4 : b->items4);
    b->items4 = sorted4;
    struct range6 *spare6 = mem_alloc(b->count6 * sizeof(*spare6));
    struct range6 *sorted6 = key_sort_40(b->items6, spare6, b->count6, sizeof(spare6->key));
    free(sorted6 == b->items6 ? spare6 : b->items6);
    b->items6 = sorted6;
    size_t before = b->count4 + b->count6;
    b->count4 = unify(b, b->items4, b->count4, sizeof(*sorted4), sizeof(sorted4->key), &figures->references_unknown);
    b->count6 = unify(b, b->items6, b->count6, sizeof(*sorted6), sizeof(sorted6->key), &figures->references_unknown);
    figures->duplicates += before - b->count4 - b->count6;
}

/* ---- holders ---- */

struct folded_name {
    size_t at; /* in the text of all folded names */
    uint32_t n;
    uint32_t name;
};

struct holders {
    uint32_t *of_name;        /* owned: number in names -> holder, 0: none */
    struct folded_name *list; /* owned; holder i is list[i - 1]: the first name that folds so */
    uint32_t count;
    struct buf folded; /* text */
};

static struct span folded_of(const struct buf *text, const struct folded_name *f)
{
    return (struct span){text->p + f->at, f->n};
}

static int compare_folded(const void *a, const void *b, void *text)
{
    const struct folded_name *x = a, *y = b;
    int c = span_cmp(folded_of(text, x), folded_of(text, y));
    return c ? c : (x->name > y->name) - (x->name < y->name);
}

static void mark_used(const struct ranges *r, uint32_t *of_name)
{
    for (size_t i = 0; i < r->count; i++)
        of_name[range_facts_of(r, i)->holder] = 1;
}

static void name_holders(const struct hierarchy_builder *b, const struct ranges both[2], struct holders *h)
{
    size_t used = 0;
    h->of_name = mem_alloc(((size_t)b->names.count + 1) * sizeof(*h->of_name));
    mark_used(&both[0], h->of_name);
    mark_used(&both[1], h->of_name);
    h->of_name[0] = 0;
    for (uint32_t i = 1; i <= b->names.count; i++)
        used += h->of_name[i];
    h->list = mem_alloc(used * sizeof(*h->list));
    size_t n = 0;
    for (uint32_t i = 1; i <= b->names.count; i++) {
        size_t before = h->folded.n;
        if (!h->of_name[i])
            continue;
        h->of_name[i] = 0;
        holder_fold(name_pool_get(&b->names, i), &h->folded);
        if (h->folded.n > before)
            h->list[n++] = (struct folded_name){before, (uint32_t)(h->folded.n - before), i};
    }
    qsort_r(h->list, n, sizeof(*h->list), compare_folded, &h->folded);
    for (size_t i = 0; i < n; i++) {
        struct folded_name f = h->list[i];
        if (h->count == 0 || !span_eq(folded_of(&h->folded, &h->list[h->count - 1]), folded_of(&h->folded, &f)))
            h->list[h->count++] = f;
        h->of_name[f.name] = h->count;
    }
}

static void holders_done(struct holders *h)
{
    free(h->of_name);
    free(h->list);
    buf_done(&h->folded);
}

/* ---- the bytes ---- */

struct layout {
    struct buf *out;
    uint64_t offset[SECTION_COUNT], bytes[SECTION_COUNT];
    uint64_t total;
};

static void reserve(struct layout *l, enum hierarchy_section s, uint64_t count, size_t each)
{
    l->offset[s] = l->total;
    l->bytes[s] = count * each;
    l->total += (count * each + HIERARCHY_ALIGN - 1) / HIERARCHY_ALIGN * HIERARCHY_ALIGN;
}

static void *part(const struct layout *l, enum hierarchy_section s)
{
    return l->out->p + l->offset[s];
}

struct tree_writer {
    const struct ranges *ranges;
    const struct holders *holders;
    struct row4 *rows4; /* one of the two */
    struct row6 *rows6;
    uint32_t base; /* node of range 0 */
};

static uint32_t node_number(const struct tree_writer *w, size_t i)
{
    return i == SIZE_MAX ? 0 : w->base + (uint32_t)i;
}

static void write_node(void *self, size_t i, size_t parent, unsigned depth)
{
    struct tree_writer *w = self;
    const struct range_facts *f = range_facts_of(w->ranges, i);
    uint32_t holder = htole32(w->holders->of_name[f->holder]), up = htole32(node_number(w, parent));
    wide first, last;
    range_bounds(w->ranges, i, &first, &last);
    if (w->rows4) {
        w->rows4[i] = (struct row4){.first = htole32((uint32_t)first),
                                    .last = htole32((uint32_t)last),
                                    .parent = up,
                                    .holder = holder,
                                    .country = {f->country[0], f->country[1]},
                                    .kind = f->kind,
                                    .depth = (uint8_t)depth};
        return;
    }
    w->rows6[i] = (struct row6){.first_high = htole64((uint64_t)(first >> 64)),
                                .first_low = htole64((uint64_t)first),
                                .last_high = htole64((uint64_t)(last >> 64)),
                                .last_low = htole64((uint64_t)last),
                                .parent = up,
                                .holder = holder,
                                .country = {f->country[0], f->country[1]},
                                .kind = f->kind,
                                .depth = (uint8_t)depth};
}

static void write_end(void *self, size_t i, size_t end)
{
    struct tree_writer *w = self;
    uint32_t node = htole32(w->base + (uint32_t)end);
    if (w->rows4)
        w->rows4[i].end = node;
    else
        w->rows6[i].end = node;
}

static void write_trees(const struct layout *l, const struct ranges both[2], const struct holders *holders,
                        struct shape_figures *figures)
{
    struct tree_writer w4 = {&both[0], holders, part(l, SECTION_NODES4), NULL, 1};
    struct tree_writer w6 = {&both[1], holders, NULL, part(l, SECTION_NODES6), (uint32_t)both[0].count + 1};
    shape_tree(&both[0], &(struct shape_sink){write_node, write_end, &w4}, figures);
    shape_tree(&both[1], &(struct shape_sink){write_node, write_end, &w6}, figures);
}

static void count_stretch(void *self, wide start, size_t i)
{
    (void)start;
    (void)i;
    ++*(uint64_t *)self;
}

struct stretch_writer {
    uint32_t base;
    size_t n;
    uint32_t *starts4; /* of one family */
    uint64_t *high, *low;
    uint32_t *places;
};

static void write_stretch(void *self, wide start, size_t i)
{
    struct stretch_writer *w = self;
    if (w->starts4)
        w->starts4[w->n] = htole32((uint32_t)start);
    else {
        w->high[w->n] = htole64((uint64_t)(start >> 64));
        w->low[w->n] = htole64((uint64_t)start);
    }
    w->places[w->n++] = htole32(i == SIZE_MAX ? 0 : w->base + (uint32_t)i);
}

static wide start_at(const struct stretch_writer *w, size_t i)
{
    return w->starts4 ? le32toh(w->starts4[i]) : (wide)le64toh(w->high[i]) << 64 | le64toh(w->low[i]);
}

/* So that a lookup knows where one more search is worth it. */
static void mark_unary(const struct stretch_writer *w, const struct ranges *r)
{
    size_t at = 0;
    for (size_t i = 0; i < r->count; i++) {
        wide first, last;
        range_bounds(r, i, &first, &last);
        while (at + 1 < w->n && start_at(w, at + 1) <= first)
            at++;
        if (first == last)
            w->places[at] |= htole32(HIERARCHY_HAS_UNARY);
    }
}

static void write_index4(const struct layout *l, unsigned bits, size_t n)
{
    uint32_t *index = part(l, SECTION_INDEX4), at = 0;
    const uint32_t *starts = part(l, SECTION_STARTS4);
    for (size_t k = 0; n && k <= (size_t)1 << bits; k++) {
        while (at < n && le32toh(starts[at]) < (uint64_t)k << (32 - bits))
            at++;
        index[k] = htole32(at);
    }
}

static void write_levels6(const struct layout *l, size_t n)
{
    size_t sizes[HIERARCHY_LEVELS_MAX], total;
    unsigned levels = hierarchy_levels(n, sizes, &total);
    const uint64_t *below = part(l, SECTION_STARTS6_HIGH);
    uint64_t *level = part(l, SECTION_LEVELS6);
    for (unsigned i = 0; i < levels; i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            level[k] = below[k * HIERARCHY_FAN];
        below = level;
        level += sizes[i];
    }
}

static void write_stretches(const struct layout *l, const struct ranges both[2], unsigned bits)
{
    struct stretch_writer w4 = {.base = 1, .starts4 = part(l, SECTION_STARTS4), .places = part(l, SECTION_PLACES4)};
    struct stretch_writer w6 = {.base = (uint32_t)both[0].count + 1,
                                .high = part(l, SECTION_STARTS6_HIGH),
                                .low = part(l, SECTION_STARTS6_LOW),
                                .places = part(l, SECTION_PLACES6)};
    shape_stretches(&both[0], write_stretch, &w4);
    shape_stretches(&both[1], write_stretch, &w6);
    mark_unary(&w4, &both[0]);
    mark_unary(&w6, &both[1]);
    write_index4(l, bits, w4.n);
    write_levels6(l, w6.n);
}

static void write_holders(const struct layout *l, const struct hierarchy_builder *b, const struct ranges both[2],
                          const struct holders *h)
{
    struct holder_row *rows = part(l, SECTION_HOLDERS);
    char *text = part(l, SECTION_NAMES);
    size_t at = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        struct span name = name_pool_get(&b->names, h->list[i].name), folded = folded_of(&h->folded, &h->list[i]);
        rows[i] = (struct holder_row){htole32((uint32_t)at), htole16((uint16_t)name.n), htole16((uint16_t)folded.n)};
        memcpy(text + at, name.p, name.n);
        memcpy(text + at + name.n, folded.p, folded.n);
        at += name.n + folded.n;
    }
    /* lists[i] counts what is before list i; while the lists are filled it is where the next one goes. */
    uint32_t *lists = part(l, SECTION_LISTS), *nodes = part(l, SECTION_LIST_NODES), sum = 0;
    for (int f = 0; f < 2; f++)
        for (size_t i = 0; i < both[f].count; i++) {
            uint32_t holder = h->of_name[range_facts_of(&both[f], i)->holder];
            if (holder)
                lists[holder]++;
        }
    for (uint32_t i = 1; i <= h->count; i++) {
        uint32_t n = lists[i];
        lists[i] = sum;
        sum += n;
    }
    uint32_t node = 1;
    for (int f = 0; f < 2; f++)
        for (size_t i = 0; i < both[f].count; i++, node++) {
            uint32_t holder = h->of_name[range_facts_of(&both[f], i)->holder];
            if (holder)
                nodes[lists[holder]++] = htole32(node);
        }
    for (uint32_t i = 0; i <= h->count; i++)
        lists[i] = htole32(lists[i]);
}

static void put_u32(char *head, size_t at, uint64_t v)
{
    uint32_t le = htole32((uint32_t)v);
    memcpy(head + at, &le, sizeof(le));
}

static void put_u64(char *head, size_t at, uint64_t v)
{
    uint64_t le = htole64(v);
    memcpy(head + at, &le, sizeof(le));
}

struct counts {
    uint64_t stretches[2];
    uint64_t held, name_bytes;
    unsigned index_bits;
};

static void write_head(const struct layout *l, const struct ranges both[2], const struct counts *c,
                       const struct holders *holders, unsigned height)
{
    char *head = l->out->p;
    memcpy(head, HIERARCHY_MAGIC, 8);
    put_u64(head, HEAD_BYTES_AT, l->total);
    put_u32(head, HEAD_NODES4_AT, both[0].count);
    put_u32(head, HEAD_NODES6_AT, both[1].count);
    put_u32(head, HEAD_HOLDERS_AT, holders->count);
    put_u32(head, HEAD_HEIGHT_AT, height);
    put_u32(head, HEAD_STRETCHES4_AT, c->stretches[0]);
    put_u32(head, HEAD_STRETCHES6_AT, c->stretches[1]);
    put_u32(head, HEAD_INDEX_BITS_AT, c->index_bits);
    for (int s = 0; s < SECTION_COUNT; s++) {
        size_t at = HEAD_SECTIONS_AT + (size_t)s * HEAD_SECTION_BYTES;
        put_u64(head, at, l->offset[s]);
        put_u64(head, at + 8, l->bytes[s]);
        put_u32(head, at + 16, digest_crc32c(span_of(head + l->offset[s], (size_t)l->bytes[s])));
    }
    put_u32(head, HEAD_CRC_AT, digest_crc32c(span_of(head, HEAD_CRC_AT)));
}

static struct counts count_all(const struct hierarchy_builder *b, const struct ranges both[2],
                               const struct holders *holders)
{
    struct counts c = {0};
    for (int f = 0; f < 2; f++) {
        shape_stretches(&both[f], count_stretch, &c.stretches[f]);
        for (size_t i = 0; i < both[f].count; i++)
            c.held += holders->of_name[range_facts_of(&both[f], i)->holder] != 0;
    }
    for (uint32_t i = 0; i < holders->count; i++)
        c.name_bytes += name_pool_get(&b->names, holders->list[i].name).n + holders->list[i].n;
    while (c.index_bits < HIERARCHY_INDEX_BITS_MAX && (uint64_t)2 << c.index_bits <= c.stretches[0])
        c.index_bits++;
    return c;
}

static struct layout lay_out(const struct ranges both[2], const struct counts *c, const struct holders *holders,
                             struct span origin, struct buf *out)
{
    struct layout l = {.out = out, .total = HIERARCHY_HEAD_BYTES};
    size_t sizes[HIERARCHY_LEVELS_MAX], levels;
    (void)hierarchy_levels((size_t)c->stretches[1], sizes, &levels);
    reserve(&l, SECTION_ORIGIN, origin.n, 1);
    reserve(&l, SECTION_NODES4, both[0].count, sizeof(struct row4));
    reserve(&l, SECTION_NODES6, both[1].count, sizeof(struct row6));
    reserve(&l, SECTION_INDEX4, c->stretches[0] ? ((uint64_t)1 << c->index_bits) + 1 : 0, 4);
    reserve(&l, SECTION_STARTS4, c->stretches[0], 4);
    reserve(&l, SECTION_PLACES4, c->stretches[0], 4);
    reserve(&l, SECTION_STARTS6_HIGH, c->stretches[1], 8);
    reserve(&l, SECTION_STARTS6_LOW, c->stretches[1], 8);
    reserve(&l, SECTION_PLACES6, c->stretches[1], 4);
    reserve(&l, SECTION_LEVELS6, levels, 8);
    reserve(&l, SECTION_HOLDERS, holders->count, sizeof(struct holder_row));
    reserve(&l, SECTION_LISTS, (uint64_t)holders->count + 1, 4);
    reserve(&l, SECTION_LIST_NODES, c->held, 4);
    reserve(&l, SECTION_NAMES, c->name_bytes, 1);
    buf_clear(out);
    memset(buf_room(out, (size_t)l.total), 0, (size_t)l.total);
    out->n = (size_t)l.total;
    return l;
}

status hierarchy_builder_finish(struct hierarchy_builder *b, struct span origin, struct buf *out,
                                struct hierarchy_figures *figures)
{
    struct hierarchy_figures f = {.ranges = b->given, .duplicates = b->everything};
    struct shape_figures shape = {0};
    struct holders holders = {0};
    sort_and_unify(b, &f);
    const struct ranges both[2] = {{4, b->items4, b->count4}, {6, b->items6, b->count6}};
    name_holders(b, both, &holders);
    struct counts c = count_all(b, both, &holders);
    if (c.name_bytes > UINT32_MAX) {
        holders_done(&holders);
        return ST_LIMIT;
    }
    struct layout l = lay_out(both, &c, &holders, origin, out);
    if (origin.n)
        memcpy(part(&l, SECTION_ORIGIN), origin.p, origin.n);
    write_trees(&l, both, &holders, &shape);
    write_stretches(&l, both, c.index_bits);
    write_holders(&l, b, both, &holders);
    write_head(&l, both, &c, &holders, shape.height);
    f.nodes_v4 = both[0].count;
    f.nodes_v6 = both[1].count;
    f.holders = holders.count;
    f.crossings = shape.crossings;
    f.unary = shape.unary;
    f.height = shape.height;
    memcpy(f.at_depth, shape.at_depth, sizeof(f.at_depth));
    holders_done(&holders);
    *figures = f;
    return ST_OK;
}
