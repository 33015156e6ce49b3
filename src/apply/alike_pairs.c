#include "apply/alike_pairs.h"

#include <stdlib.h>

#include "base/mem.h"

#define TABLE_MEMORY (24u << 20)
#define LEADERS_MAX 64 /* different pages with one lane in common that are told apart */
#define CANCEL_EVERY 4096
#define ROW (1 + SIMHASH_BAND_LANES)

/* A page of the order, as far as the tables need it. */
struct leader {
    uint64_t bands[SIMHASH_BAND_LANES];
    uint32_t place;
};

typedef size_t seek_fn(const struct leader *here, size_t n, size_t i, const uint64_t *bands);

struct search {
    struct alike_pairs *p;
    struct sorter *table;
    uint8_t *is_same;    /* a bit a page: another page stands for it */
    struct leader *here; /* pages of one place of the table */
    size_t here_count;
    uint64_t masks[ALIKE_BLOCKS * ALIKE_BLOCKS]; /* of the tables of a lane */
    unsigned mask_count;
    seek_fn *seek;
};

static void order_title(const struct rows *order, size_t at, struct title_words *out)
{
    uint64_t numbers[TITLE_NUMBERS];
    for (unsigned i = 0; i < TITLE_NUMBERS; i++)
        numbers[i] = rows_number(order, at, ALIKE_ORDER_TITLE + i);
    title_unpack(numbers, out);
}

void alike_order_hash(const struct rows *order, size_t at, struct simhash *out)
{
    uint64_t numbers[SIMHASH_NUMBERS];
    for (unsigned i = 0; i < SIMHASH_NUMBERS; i++)
        numbers[i] = rows_number(order, at, ALIKE_ORDER_HASH + i);
    simhash_unpack(numbers, out);
}

bool alike_is_near(const struct simhash *a, const struct title_words *title_a, const struct simhash *b,
                   const struct title_words *title_b)
{
    if (simhash_band_distance(a->bands, b->bands) > ALIKE_BAND_DISTANCE)
        return false;
    return simhash_distance(a, b) <= (title_agrees(title_a, title_b) ? ALIKE_DISTANCE : ALIKE_RENAMED_DISTANCE);
}

static bool is_cancelled(const struct search *s)
{
    const atomic_bool *flag = s->p->o->is_cancelled;
    return flag && atomic_load(flag);
}

/* A page of unknown language may be in any. */
static bool may_be_one(uint64_t a, uint64_t b)
{
    return a == b || !a || !b;
}

static bool has_bit(const uint8_t *bits, size_t i)
{
    return bits[i >> 3] >> (i & 7) & 1;
}

/* ---- the very same ---- */

/* A page whose first lane is that of the pages before it in the list: follows one of them, or is a first one too. */
static status follow(struct search *s, const struct leader *l)
{
    for (size_t i = 0; i < s->here_count; i++) {
        const struct leader *k = &s->here[i];
        bool is_same = true;
        for (unsigned n = 1; n < ALIKE_ORDER_WIDTH && is_same; n++) /* language, title and all of the fingerprint */
            is_same = rows_number(s->p->order, k->place, n) == rows_number(s->p->order, l->place, n);
        if (!is_same)
            continue;
        s->is_same[l->place >> 3] |= (uint8_t)(1u << (l->place & 7));
        uint64_t pair = (uint64_t)k->place << 32 | l->place;
        return sorter_add(s->p->same, &pair);
    }
    if (s->here_count < LEADERS_MAX)
        s->here[s->here_count++] = *l;
    return ST_OK;
}

static status find_same(struct search *s)
{
    const struct rows *order = s->p->order;
    uint64_t row[ROW], last = 0;
    status st = ST_OK;
    sorter_clear(s->table, 64);
    for (size_t i = 0; i < order->count && st == ST_OK; i++)
        st = sorter_add(s->table, (uint64_t[ROW]){rows_number(order, i, ALIKE_ORDER_HASH), i});
    if (st == ST_OK)
        st = sorter_sort(s->table);
    s->here_count = 0;
    while (st == ST_OK && (st = sorter_next(s->table, row)) == ST_OK) {
        struct leader l = {.place = (uint32_t)row[1]};
        if (row[0] != last)
            s->here_count = 0;
        last = row[0];
        st = follow(s, &l);
    }
    return st == ST_END ? ST_OK : st;
}

/* ---- tables ---- */

static uint64_t block_mask(unsigned i)
{
    unsigned from = i * 64 / ALIKE_BLOCKS, to = (i + 1) * 64 / ALIKE_BLOCKS;
    return (to == 64 ? 0 : UINT64_C(1) << to) - (UINT64_C(1) << from);
}

_Static_assert(ALIKE_BLOCKS >= 4, "the first number of a row has two blocks of bits, and 32 for the place");
static void make_masks(struct search *s)
{
    for (unsigned i = 0; i < ALIKE_BLOCKS; i++)
        for (unsigned k = i + 1; k < ALIKE_BLOCKS; k++)
            s->masks[s->mask_count++] = block_mask(i) | block_mask(k);
}

bool alike_meet(const struct simhash *a, const struct simhash *b)
{
    for (unsigned lane = 0; lane < SIMHASH_BAND_LANES; lane++) {
        unsigned same = 0;
        for (unsigned i = 0; i < ALIKE_BLOCKS; i++)
            same += !((a->bands[lane] ^ b->bands[lane]) & block_mask(i));
        if (same >= 2)
            return true;
    }
    return false;
}

/* The bits of the mask, which is not 0, gathered at the top. */
static uint64_t gather(uint64_t lane, uint64_t mask)
{
    uint64_t out = 0;
    unsigned n = 0;
    do {
        unsigned from = (unsigned)__builtin_ctzll(mask), bits = (unsigned)__builtin_ctzll(~(mask >> from));
        uint64_t ones = (UINT64_C(1) << bits) - 1;
        out |= (lane >> from & ones) << n;
        n += bits;
        mask &= ~(ones << from);
    } while (mask);
    return out << (64 - n);
}

/* Whether a table before this one has the pair too. */
static bool was_told(const struct search *s, unsigned lane, unsigned table, const struct leader *a,
                     const struct leader *b)
{
    for (unsigned l = 0; l <= lane; l++)
        for (unsigned t = 0; t < (l < lane ? s->mask_count : table); t++)
            if (!((a->bands[l] ^ b->bands[l]) & s->masks[t]))
                return true;
    return false;
}

/* The next page from number `i` on whose bands are near enough; n: none is. Nearly all the time of a run is spent here.
 */
static inline __attribute__((always_inline)) size_t seek(const struct leader *here, size_t n, size_t i,
                                                         const uint64_t *bands)
{
    while (i < n && simhash_band_distance(here[i].bands, bands) > ALIKE_BAND_DISTANCE)
        i++;
    return i;
}

static size_t seek_plain(const struct leader *here, size_t n, size_t i, const uint64_t *bands)
{
    return seek(here, n, i, bands);
}

#ifdef __x86_64__
/* Every CPU of the last fifteen years counts bits by itself, and compilers may not take that for granted. */
__attribute__((target("popcnt"))) static size_t seek_popcnt(const struct leader *here, size_t n, size_t i,
                                                            const uint64_t *bands)
{
    return seek(here, n, i, bands);
}
#endif

static seek_fn *seek_of_cpu(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("popcnt"))
        return seek_popcnt;
#endif
    return seek_plain;
}

static bool is_pair(const struct rows *order, size_t a, size_t b)
{
    struct simhash x, y;
    struct title_words t, u;
    if (!may_be_one(rows_number(order, a, 1), rows_number(order, b, 1)))
        return false;
    alike_order_hash(order, a, &x);
    alike_order_hash(order, b, &y);
    order_title(order, a, &t);
    order_title(order, b, &u);
    return alike_is_near(&x, &t, &y, &u);
}

static status compare(struct search *s, unsigned lane, unsigned table, const struct leader *l)
{
    s->p->compared += s->here_count;
    for (size_t i = 0; (i = s->seek(s->here, s->here_count, i, l->bands)) < s->here_count; i++) {
        const struct leader *k = &s->here[i];
        if (was_told(s, lane, table, k, l) || !is_pair(s->p->order, k->place, l->place))
            continue;
        uint64_t pair = (uint64_t)k->place << 32 | l->place;
        status st = sorter_add(s->p->near, &pair);
        if (st != ST_OK)
            return st;
    }
    if (s->here_count < ALIKE_PLACE_MAX)
        s->here[s->here_count++] = *l;
    return ST_OK;
}

static status fill_table(struct search *s, unsigned lane, uint64_t mask)
{
    const struct rows *order = s->p->order;
    status st = ST_OK;
    sorter_clear(s->table, (unsigned)__builtin_popcountll(mask));
    for (size_t i = 0; i < order->count && st == ST_OK; i++) {
        uint64_t row[ROW];
        if (has_bit(s->is_same, i))
            continue;
        row[0] = gather(rows_number(order, i, ALIKE_ORDER_HASH + lane), mask) | i;
        for (unsigned k = 0; k < SIMHASH_BAND_LANES; k++)
            row[1 + k] = rows_number(order, i, ALIKE_ORDER_HASH + k);
        st = sorter_add(s->table, row);
    }
    return st == ST_OK ? sorter_sort(s->table) : st;
}

static status run_table(struct search *s, unsigned lane, unsigned table)
{
    uint64_t row[ROW], value = 0, mask = s->masks[table];
    unsigned width = (unsigned)__builtin_popcountll(mask);
    status st = fill_table(s, lane, mask);
    s->here_count = 0;
    for (uint64_t n = 0; st == ST_OK && (st = sorter_next(s->table, row)) == ST_OK; n++) {
        struct leader l = {.place = (uint32_t)row[0]};
        for (unsigned k = 0; k < SIMHASH_BAND_LANES; k++)
            l.bands[k] = row[1 + k];
        if (row[0] >> (64 - width) != value)
            s->here_count = 0;
        value = row[0] >> (64 - width);
        st = compare(s, lane, table, &l);
        if (st == ST_OK && n % CANCEL_EVERY == 0 && is_cancelled(s))
            st = ST_CANCELLED;
    }
    return st == ST_END ? ST_OK : st;
}

status alike_pairs_find(struct alike_pairs *p)
{
    struct search s = {.p = p};
    struct buf path = {0};
    if (p->order->count > UINT32_MAX)
        return ST_LIMIT;
    buf_printf(&path, "%s/table", p->dir);
    s.table = sorter_new(
        &(struct sorter_opts){.path = buf_cstr(&path), .width = ROW, .key_bits = 64, .memory = TABLE_MEMORY});
    s.is_same = mem_alloc(p->order->count / 8 + 1);
    s.here = mem_alloc(ALIKE_PLACE_MAX * sizeof(*s.here));
    s.seek = seek_of_cpu();
    make_masks(&s);
    status st = find_same(&s);
    for (unsigned lane = 0; lane < SIMHASH_BAND_LANES && st == ST_OK; lane++)
        for (unsigned t = 0; t < s.mask_count && st == ST_OK; t++)
            st = run_table(&s, lane, t);
    sorter_free(s.table);
    free(s.is_same);
    free(s.here);
    buf_done(&path);
    return st;
}
