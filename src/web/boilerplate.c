#include "web/boilerplate.h"

#include <stdlib.h>

#include "base/mem.h"
#include "web/simhash.h"

#define FIRST_CAP 1024u
#define PAGE_BLOCKS_MAX 4096 /* of a page that count */
#define LEFT_OUT 0x80000000u /* in block.site: it is boilerplate */
#define COUNT_MAX (1u << 30)

struct block {
    uint64_t id; /* of site and block together; 0: free */
    uint32_t count;
    uint32_t site; /* place of its site | LEFT_OUT */
};

struct site {
    uint64_t id; /* 0: free */
    uint32_t pages;
    uint32_t epoch;
};

struct boilerplate {
    struct block *blocks; /* open addressing, cap a power of two */
    size_t block_count, block_cap;
    struct site *sites; /* in the order they came */
    uint32_t *places;   /* id -> place in sites + 1: open addressing, 0: free */
    size_t site_count, site_cap, place_cap;
};

struct boilerplate *boilerplate_new(void)
{
    struct boilerplate *b = mem_alloc(sizeof(*b));
    b->block_cap = b->place_cap = FIRST_CAP;
    b->blocks = mem_alloc(b->block_cap * sizeof(*b->blocks));
    b->places = mem_alloc(b->place_cap * sizeof(*b->places));
    return b;
}

void boilerplate_free(struct boilerplate *b)
{
    if (!b)
        return;
    free(b->blocks);
    free(b->sites);
    free(b->places);
    free(b);
}

size_t boilerplate_memory(const struct boilerplate *b)
{
    return b->block_cap * sizeof(*b->blocks) + b->site_cap * sizeof(*b->sites) + b->place_cap * sizeof(*b->places);
}

/* ---- sites ---- */

static uint32_t *place_slot(const struct boilerplate *b, uint64_t site)
{
    size_t mask = b->place_cap - 1, i = (site * 0x9e3779b97f4a7c15u >> 20) & mask;
    while (b->places[i] && b->sites[b->places[i] - 1].id != site)
        i = (i + 1) & mask;
    return &b->places[i];
}

static struct site *find_site(const struct boilerplate *b, uint64_t site)
{
    uint32_t place = *place_slot(b, site);
    return place ? &b->sites[place - 1] : NULL;
}

static void grow_places(struct boilerplate *b)
{
    free(b->places);
    b->place_cap *= 2;
    b->places = mem_alloc(b->place_cap * sizeof(*b->places));
    for (size_t i = 0; i < b->site_count; i++)
        *place_slot(b, b->sites[i].id) = (uint32_t)i + 1;
}

/* NULL: there are too many already. */
static struct site *enter_site(struct boilerplate *b, uint64_t site)
{
    uint32_t *slot = place_slot(b, site);
    if (*slot)
        return &b->sites[*slot - 1];
    if (b->site_count == BOILERPLATE_SITES_MAX)
        return NULL;
    if ((b->site_count + 1) * 2 > b->place_cap) {
        grow_places(b);
        slot = place_slot(b, site);
    }
    b->sites = mem_grow(b->sites, &b->site_cap, b->site_count + 1, sizeof(*b->sites));
    b->sites[b->site_count++] = (struct site){.id = site};
    *slot = (uint32_t)b->site_count;
    return &b->sites[b->site_count - 1];
}

/* ---- blocks ---- */

static uint64_t id_of(uint64_t site, uint64_t block)
{
    uint64_t id = (site * 0x9e3779b97f4a7c15u ^ block) * 0xff51afd7ed558ccdu;
    id ^= id >> 32;
    return id ? id : 1;
}

static struct block *block_slot(const struct boilerplate *b, uint64_t id)
{
    size_t mask = b->block_cap - 1, i = id & mask;
    while (b->blocks[i].id && b->blocks[i].id != id)
        i = (i + 1) & mask;
    return &b->blocks[i];
}

/* The table is larger than the caches of a processor: a slot is asked for before it is looked at. */
static inline void fetch_soon(const struct boilerplate *b, uint64_t id)
{
    __builtin_prefetch(&b->blocks[id & (b->block_cap - 1)]);
}

/* A table of `cap` slots with the blocks that were seen more than `rare` times. */
static void rebuild(struct boilerplate *b, size_t cap, uint32_t rare)
{
    struct block *old = b->blocks;
    size_t old_cap = b->block_cap;
    b->block_cap = cap;
    b->block_count = 0;
    b->blocks = mem_alloc(cap * sizeof(*b->blocks));
    for (size_t i = 0; i < old_cap; i++) {
        if (!old[i].id || (old[i].count <= rare && !(old[i].site & LEFT_OUT)))
            continue;
        *block_slot(b, old[i].id) = old[i];
        b->block_count++;
    }
    free(old);
}

/* Room for one block more. At the limit the rarest go, until a quarter is free. */
static void make_room(struct boilerplate *b)
{
    if (b->block_count + 1 <= b->block_cap / 4 * 3 && b->block_count < BOILERPLATE_BLOCKS_MAX)
        return;
    if (b->block_count < BOILERPLATE_BLOCKS_MAX) {
        rebuild(b, b->block_cap * 2, 0);
        return;
    }
    for (uint32_t rare = 1; b->block_count > BOILERPLATE_BLOCKS_MAX / 4 * 3; rare *= 2) {
        if (rare > COUNT_MAX) { /* nothing but boilerplate: it is decided anew */
            for (size_t i = 0; i < b->block_cap; i++)
                b->blocks[i].site &= ~LEFT_OUT;
            rare = 1;
        }
        rebuild(b, b->block_cap, rare);
    }
}

static void count_block(struct boilerplate *b, uint32_t place, uint64_t id)
{
    struct block *slot = block_slot(b, id);
    if (!slot->id) {
        make_room(b);
        slot = block_slot(b, id);
        *slot = (struct block){.id = id, .site = place};
        b->block_count++;
    }
    slot->count += slot->count < COUNT_MAX;
}

/* ---- pages ---- */

void boilerplate_count(struct boilerplate *b, struct arena *work, const struct sip_key *key, uint64_t site,
                       struct span text)
{
    struct site *s = enter_site(b, site);
    struct span block;
    size_t n = 0, slots = 64;
    if (!s)
        return;
    for (size_t i = 0; i < text.n; i++) /* nothing else in this loop: it is done sixteen bytes at a time */
        n += text.p[i] == '\n';
    while (slots < 2 * n + 2 && slots < 2 * PAGE_BLOCKS_MAX)
        slots *= 2;
    uint64_t *seen = arena_alloc(work, slots * sizeof(*seen));
    n = n < PAGE_BLOCKS_MAX ? n + 1 : PAGE_BLOCKS_MAX; /* the last line may end without a line feed */
    uint64_t *ids = arena_alloc(work, n * sizeof(*ids));
    memset(seen, 0, slots * sizeof(*seen));
    s->pages += s->pages < COUNT_MAX;
    uint32_t place = (uint32_t)(s - b->sites);
    size_t count = 0;
    for (n = 0; n < PAGE_BLOCKS_MAX && span_split(&text, '\n', &block); n++) {
        if (!block.n)
            continue;
        uint64_t id = id_of(site, simhash_block(key, block));
        size_t i = id & (slots - 1);
        while (seen[i] && seen[i] != id)
            i = (i + 1) & (slots - 1);
        if (seen[i])
            continue;
        seen[i] = ids[count++] = id;
        fetch_soon(b, id);
    }
    for (size_t i = 0; i < count; i++)
        count_block(b, place, ids[i]);
}

static uint32_t epoch_of(uint32_t pages)
{
    uint32_t epoch = 0;
    for (uint64_t n = BOILERPLATE_SITE_MIN; n <= pages; n *= 2)
        epoch++;
    return epoch;
}

void boilerplate_settle(struct boilerplate *b)
{
    for (size_t i = 0; i < b->block_cap; i++) {
        struct block *k = &b->blocks[i];
        if (!k->id)
            continue;
        const struct site *s = &b->sites[k->site & ~LEFT_OUT];
        if (epoch_of(s->pages) == s->epoch)
            continue;
        bool is_common = epoch_of(s->pages) && k->count >= BOILERPLATE_PAGES_MIN &&
                         (k->count > s->pages / BOILERPLATE_SHARE || k->count >= BOILERPLATE_MANY);
        k->site = (k->site & ~LEFT_OUT) | (is_common ? LEFT_OUT : 0);
    }
    for (size_t i = 0; i < b->site_count; i++)
        b->sites[i].epoch = epoch_of(b->sites[i].pages);
}

bool boilerplate_has(const struct boilerplate *b, uint64_t site, uint64_t block)
{
    const struct block *k = block_slot(b, id_of(site, block));
    return k->id && (k->site & LEFT_OUT);
}

void boilerplate_which(const struct boilerplate *b, uint64_t site, const uint64_t *blocks, size_t n, bool *out)
{
    for (size_t i = 0; i < n; i++)
        fetch_soon(b, id_of(site, blocks[i]));
    for (size_t i = 0; i < n; i++)
        out[i] = boilerplate_has(b, site, blocks[i]);
}

unsigned boilerplate_epoch(const struct boilerplate *b, uint64_t site)
{
    const struct site *s = find_site(b, site);
    return s ? s->epoch : 0;
}

/* ---- rows ---- */

/* A site: its id, 0, pages | epoch << 32. A block: its id, the site's, count | LEFT_OUT << 32. */
void boilerplate_each(const struct boilerplate *b, boilerplate_row_fn *fn, void *arg)
{
    bool goes_on = true;
    for (size_t i = 0; i < b->site_count && goes_on; i++) {
        const struct site *s = &b->sites[i];
        goes_on = fn(arg, (uint64_t[]){s->id, 0, s->pages | (uint64_t)s->epoch << 32});
    }
    for (size_t i = 0; i < b->block_cap && goes_on; i++) {
        const struct block *k = &b->blocks[i];
        if (k->id)
            goes_on = fn(arg, (uint64_t[]){k->id, b->sites[k->site & ~LEFT_OUT].id,
                                           k->count | (uint64_t)(k->site & LEFT_OUT) << 32});
    }
}

static uint32_t count_of(const uint64_t row[BOILERPLATE_ROW])
{
    return (uint32_t)row[2] < COUNT_MAX ? (uint32_t)row[2] : COUNT_MAX;
}

void boilerplate_load(struct boilerplate *b, const uint64_t row[BOILERPLATE_ROW])
{
    if (!row[0])
        return;
    if (!row[1]) {
        struct site *s = enter_site(b, row[0]);
        if (s) {
            s->pages = count_of(row);
            s->epoch = epoch_of(s->pages);
        }
        return;
    }
    const struct site *s = find_site(b, row[1]);
    if (!s || block_slot(b, row[0])->id)
        return;
    make_room(b);
    *block_slot(b, row[0]) = (struct block){
        .id = row[0], .count = count_of(row), .site = (uint32_t)(s - b->sites) | ((uint32_t)(row[2] >> 32) & LEFT_OUT)};
    b->block_count++;
}
