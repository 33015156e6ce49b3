#include "sim/world_nets.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/draw.h"

/* How the made-up registries give out networks. */
#define AT_HOME 0.80
#define IN_COUNTRY 0.96 /* those at home included; the rest is anywhere */
#define CUSTOMER 0.25   /* of assignments */
#define NESTED 0.10     /* of assignments: with a smaller one inside */
#define ANYCAST 0.01    /* of holders */
#define HOLDER_NETS_MAX 200
#define ALLOCATION_NETS_MAX 16
#define TRIES 64

/* Regions of the world, roughly the registries': their IPv4 blocks lie together. */
#define REGIONS 5
static const uint32_t six_blocks[REGIONS] = {0x26000000, 0x28000000, 0x2a000000, 0x2c000000, 0x24000000};

struct region {
    uint32_t next, end; /* addresses left of its /8 */
    uint32_t six;       /* next /32 */
};

struct nets {
    const struct places *places;
    uint64_t seed;
    const struct hierarchy *hierarchy;
    struct plot *plots;
    size_t count, cap;
    struct rng rng;
    struct region regions[REGIONS];
    uint32_t block; /* the last /8 that was given to a region */
    uint32_t holders;
    struct buf text; /* lines of networks.tsv */
};

/* ---- address space ---- */

/* The /8s that hold private, loopback, documentation or otherwise special ranges are left out whole. */
static bool block_is_plain(uint32_t block)
{
    static const uint8_t special[] = {0, 10, 100, 127, 169, 172, 192, 198, 203};
    return block < 224 && memchr(special, (int)block, sizeof(special)) == NULL;
}

static unsigned region_of(struct spot s)
{
    if (s.longitude < -30)
        return s.latitude > 33 ? 0 : 1;
    if (s.longitude < 60)
        return s.latitude > 36 ? 2 : s.longitude < 50 ? 3 : 4;
    return s.latitude > 45 && s.longitude < 90 ? 2 : 4;
}

/* 0: the space is used up. */
static uint32_t take_block(struct nets *n, unsigned region, unsigned bits)
{
    struct region *r = &n->regions[region];
    uint32_t size = UINT32_C(1) << (32 - bits);
    uint32_t first = (r->next + size - 1) & ~(size - 1);
    if (!r->end || first < r->next || first > r->end || r->end - first < size - 1) {
        do
            n->block++;
        while (n->block < 224 && !block_is_plain(n->block));
        if (n->block >= 224)
            return 0;
        first = n->block << 24;
        r->end = first + 0xffffff;
    }
    r->next = first + size;
    return first;
}

/* ---- making ---- */

static void put_holder(struct buf *out, uint32_t holder)
{
    buf_printf(out, "Holder %u", holder);
}

static void put_line(struct nets *n, uint32_t first, unsigned bits, const char *country, uint32_t holder)
{
    buf_printf(&n->text, "%u.%u.%u.%u/%u\t%s\t", first >> 24, first >> 16 & 255, first >> 8 & 255, first & 255, bits,
               country);
    put_holder(&n->text, holder);
    buf_putc(&n->text, '\n');
}

static void put_line6(struct nets *n, uint32_t six, uint32_t part, unsigned bits, const char *country, uint32_t holder)
{
    buf_printf(&n->text, "%x:%x:", six >> 16, six & 0xffff);
    if (bits == 48 && part)
        buf_printf(&n->text, "%x:", part);
    buf_printf(&n->text, ":/%u\t%s\t", bits, country);
    put_holder(&n->text, holder);
    buf_putc(&n->text, '\n');
}

struct holder {
    uint32_t number, home;
    uint32_t six, six_parts; /* its /32 and how many /48 are given out */
    char country[3];
    bool is_anycast;
};

static struct holder new_holder(struct nets *n, size_t home)
{
    struct holder h = {.number = ++n->holders, .home = (uint32_t)home};
    memcpy(h.country, n->places->list[home].country, sizeof(h.country));
    h.is_anycast = rng_unit(&n->rng) < ANYCAST;
    return h;
}

static uint32_t place_of(const struct nets *n, struct rng *r, uint32_t home, const char *country)
{
    double x = rng_unit(r);
    size_t place = home;
    if (x >= IN_COUNTRY)
        place = places_draw(n->places, r);
    else if (x >= AT_HOME)
        (void)places_draw_in(n->places, country, r, &place);
    return (uint32_t)place;
}

static void add_plot(struct nets *n, const struct holder *owner, struct holder *lir, uint32_t place, uint32_t first,
                     uint32_t count)
{
    struct plot p = {
        .holder = owner->number, .place = place, .first = first, .count = count, .is_anycast = owner->is_anycast};
    memcpy(p.country, owner->country, sizeof(p.country));
    if (rng_unit(&n->rng) < 0.5 && lir->six_parts < 0xffff) {
        if (!lir->six) {
            unsigned region = region_of(n->places->list[lir->home].spot);
            lir->six = six_blocks[region] + ++n->regions[region].six;
            put_line6(n, lir->six, 0, 32, lir->country, lir->number);
        }
        p.six = lir->six;
        p.six_part = (uint16_t)++lir->six_parts;
        put_line6(n, p.six, p.six_part, 48, owner->country, owner->number);
    }
    n->plots = mem_grow(n->plots, &n->cap, n->count + 1, sizeof(*n->plots));
    n->plots[n->count++] = p;
}

static struct holder customer_of(struct nets *n, const struct holder *lir)
{
    size_t home = lir->home;
    (void)places_draw_in(n->places, lir->country, &n->rng, &home);
    return new_holder(n, home);
}

/* One assignment, and sometimes a smaller one in its upper half. */
static void assign(struct nets *n, struct holder *lir, uint32_t first, unsigned bits)
{
    struct holder customer, *owner = lir;
    uint32_t size = UINT32_C(1) << (32 - bits);
    if (rng_unit(&n->rng) < CUSTOMER) {
        customer = customer_of(n, lir);
        owner = &customer;
    }
    put_line(n, first, bits, owner->country, owner->number);
    bool has_nested = rng_unit(&n->rng) < NESTED;
    add_plot(n, owner, lir, place_of(n, &n->rng, owner->home, owner->country), first, has_nested ? size / 2 : size);
    if (!has_nested)
        return;
    struct holder inner = customer_of(n, owner);
    unsigned inner_bits = bits + 2;
    put_line(n, first + size / 2, inner_bits, inner.country, inner.number);
    add_plot(n, &inner, lir, place_of(n, &n->rng, inner.home, inner.country), first + size / 2, size / 4);
}

static unsigned draw_bits(struct rng *r)
{
    static const struct {
        double up_to;
        unsigned bits;
    } sizes[] = {{0.06, 25}, {0.60, 24}, {0.74, 23}, {0.86, 22}, {0.94, 21}, {1, 20}};
    double x = rng_unit(r);
    size_t i = 0;
    while (x >= sizes[i].up_to)
        i++;
    return sizes[i].bits;
}

/* An allocation with up to `wanted` assignments of one size; returns how many. 0: no addresses are left. */
static size_t allocate(struct nets *n, struct holder *h, size_t wanted)
{
    unsigned bits = draw_bits(&n->rng), parts = 0;
    size_t most = 1 + rng_below(&n->rng, ALLOCATION_NETS_MAX);
    wanted = wanted < most ? wanted : most;
    while ((size_t)1 << parts < wanted)
        parts++;
    parts += rng_unit(&n->rng) < 0.5; /* half of them have as much again unassigned */
    unsigned region = region_of(n->places->list[h->home].spot);
    uint32_t first = take_block(n, region, bits - parts);
    if (!first)
        return 0;
    if (parts)
        put_line(n, first, bits - parts, h->country, h->number);
    for (size_t i = 0; i < wanted; i++)
        assign(n, h, first + (uint32_t)(i << (32 - bits)), bits);
    return wanted;
}

void nets_grow(struct nets *n, size_t wanted)
{
    while (!n->hierarchy && n->count < wanted) {
        struct holder h = new_holder(n, places_draw(n->places, &n->rng));
        double size = draw_pareto(&n->rng, 1.2);
        size_t left = size > HOLDER_NETS_MAX ? HOLDER_NETS_MAX : (size_t)size, got = 1;
        while (left && got) {
            got = allocate(n, &h, left);
            left -= got;
        }
        if (!got)
            return; /* the internet is full */
    }
}

struct nets *nets_made_up(const struct places *p, uint64_t seed)
{
    struct nets *n = mem_alloc(sizeof(*n));
    n->places = p;
    n->seed = seed;
    n->rng = draw_for(seed, DRAW_NETWORKS, 0, 0);
    return n;
}

/* ---- of a hierarchy ---- */

static uint32_t number_of(const struct addr *a)
{
    return (uint32_t)a->b[0] << 24 | (uint32_t)a->b[1] << 16 | (uint32_t)a->b[2] << 8 | a->b[3];
}

static struct addr address_of(uint32_t v)
{
    return (struct addr){4, {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v}};
}

static void add_node(struct nets *n, uint32_t node)
{
    struct hierarchy_node h;
    hierarchy_get(n->hierarchy, node, &h);
    if (h.first.family != 4 || !h.holder || !h.country[0])
        return;
    uint32_t first = number_of(&h.first), size = number_of(&h.last) - first;
    if (size < 63 || size > 65535)
        return;
    struct rng home_rng = draw_for(n->seed, DRAW_HOME, h.holder, (uint64_t)h.country[0] << 8 | (uint64_t)h.country[1]);
    struct rng place_rng = draw_for(n->seed, DRAW_PLACE, first, size);
    size_t home;
    if (!places_draw_in(n->places, h.country, &home_rng, &home))
        return;
    struct rng anycast_rng = draw_for(n->seed, DRAW_REPLICA, h.holder, 1);
    struct plot p = {.holder = h.holder,
                     .place = place_of(n, &place_rng, (uint32_t)home, h.country),
                     .first = first,
                     .count = size + 1,
                     .node = node,
                     .is_anycast = rng_unit(&anycast_rng) < ANYCAST};
    memcpy(p.country, h.country, sizeof(p.country));
    n->plots = mem_grow(n->plots, &n->cap, n->count + 1, sizeof(*n->plots));
    n->plots[n->count++] = p;
}

/* The /48s of an IPv6 network, by the 48 bits that they begin with. */
struct six {
    uint32_t holder;
    uint64_t first, count;
};
struct six_list {
    struct six *items; /* by holder */
    size_t count, cap;
};

static uint64_t part_of(const struct addr *a)
{
    uint64_t v = 0;
    for (size_t i = 0; i < 6; i++)
        v = v << 8 | a->b[i];
    return v;
}

static void add_six(struct six_list *l, const struct hierarchy_node *h)
{
    static const uint8_t none[10];
    if (h->first.family != 6 || !h->holder || memcmp(h->first.b + 6, none, sizeof(none)) != 0)
        return;
    uint64_t first = part_of(&h->first), last = part_of(&h->last);
    for (size_t i = 6; i < 16; i++)
        if (h->last.b[i] != 0xff)
            return; /* smaller than a /48, or odd */
    l->items = mem_grow(l->items, &l->cap, l->count + 1, sizeof(*l->items));
    l->items[l->count++] = (struct six){h->holder, first, last - first + 1};
}

static int by_holder(const void *a, const void *b)
{
    const struct six *x = a, *y = b;
    if (x->holder != y->holder)
        return x->holder < y->holder ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* A /48 of the plot's holder, where it has one that is nobody else's inside of it. */
static void give_six(const struct nets *n, const struct six_list *l, struct plot *p, struct rng *r)
{
    size_t low = 0, high = l->count, end;
    while (low < high) {
        size_t at = low + (high - low) / 2;
        if (l->items[at].holder < p->holder)
            low = at + 1;
        else
            high = at;
    }
    for (end = low; end < l->count && l->items[end].holder == p->holder;)
        end++;
    for (int i = 0; i < TRIES && end > low; i++) {
        const struct six *s = &l->items[low + rng_below(r, end - low)];
        uint64_t part = s->first + rng_below(r, s->count);
        struct plot tried = {.six = (uint32_t)(part >> 16), .six_part = (uint16_t)part};
        struct addr a = nets_address6(&tried, r);
        struct hierarchy_node h = {0};
        uint32_t node = a.family ? hierarchy_network(n->hierarchy, &a) : HIERARCHY_NONE;
        if (node != HIERARCHY_NONE)
            hierarchy_get(n->hierarchy, node, &h);
        if (h.holder == p->holder) {
            p->six = tried.six;
            p->six_part = tried.six_part;
            return;
        }
    }
}

status nets_of_hierarchy(const struct places *p, uint64_t seed, const struct hierarchy *h, struct nets **out)
{
    struct nets *n = nets_made_up(p, seed);
    struct six_list six = {0};
    n->hierarchy = h;
    for (uint32_t i = 1; i <= hierarchy_count(h); i++) {
        struct hierarchy_node node;
        add_node(n, i);
        hierarchy_get(h, i, &node);
        add_six(&six, &node);
    }
    if (six.count)
        qsort(six.items, six.count, sizeof(*six.items), by_holder);
    for (size_t i = 0; i < n->count; i++) {
        struct rng r = draw_for(seed, DRAW_SIX, n->plots[i].first, n->plots[i].count);
        if (rng_unit(&r) < 0.5)
            give_six(n, &six, &n->plots[i], &r);
    }
    free(six.items);
    if (!n->count) {
        nets_free(n);
        return ST_NOT_FOUND;
    }
    *out = n;
    return ST_OK;
}

void nets_free(struct nets *n)
{
    if (!n)
        return;
    free(n->plots);
    buf_done(&n->text);
    free(n);
}

/* ---- using them ---- */

size_t nets_count(const struct nets *n)
{
    return n->count;
}

const struct plot *nets_plot(const struct nets *n, size_t i)
{
    return &n->plots[i];
}

static const struct plot *known_at(const struct nets *n, size_t place, struct rng *r)
{
    const struct plot *same_country = NULL;
    size_t start = rng_below(r, n->count);
    for (size_t i = 0; i < n->count; i++) {
        const struct plot *p = &n->plots[(start + i) % n->count];
        if (p->place == place && !p->is_anycast)
            return p;
        if (!same_country && !p->is_anycast && strcmp(p->country, n->places->list[place].country) == 0)
            same_country = p;
    }
    return same_country ? same_country : &n->plots[start];
}

const struct plot *nets_at(struct nets *n, size_t place, struct rng *r)
{
    if (n->hierarchy)
        return known_at(n, place, r);
    struct holder h = new_holder(n, place);
    h.is_anycast = false;
    uint32_t first = take_block(n, region_of(n->places->list[place].spot), 24);
    if (!first)
        return known_at(n, place, r);
    put_line(n, first, 24, h.country, h.number);
    add_plot(n, &h, &h, (uint32_t)place, first, 256);
    return &n->plots[n->count - 1];
}

bool nets_address(const struct nets *n, const struct plot *p, struct rng *r, struct addr *out)
{
    for (int i = 0; i < TRIES; i++) {
        /* Not the first and the last: they are the network's own and its broadcast. */
        struct addr a = address_of(p->first + 1 + (uint32_t)rng_below(r, p->count - 2));
        if (!n->hierarchy || hierarchy_network(n->hierarchy, &a) == p->node) {
            *out = a;
            return true;
        }
    }
    return false;
}

struct addr nets_address6(const struct plot *p, struct rng *r)
{
    struct addr a = {0};
    if (!p->six)
        return a;
    uint64_t low = rng_u64(r);
    a.family = 6;
    a.b[0] = (uint8_t)(p->six >> 24);
    a.b[1] = (uint8_t)(p->six >> 16);
    a.b[2] = (uint8_t)(p->six >> 8);
    a.b[3] = (uint8_t)p->six;
    a.b[4] = (uint8_t)(p->six_part >> 8);
    a.b[5] = (uint8_t)p->six_part;
    for (size_t i = 0; i < 8; i++)
        a.b[8 + i] = (uint8_t)(low >> 8 * i);
    return a;
}

void nets_holder_name(const struct nets *n, const struct plot *p, struct buf *out)
{
    if (n->hierarchy)
        buf_put(out, hierarchy_holder_name(n->hierarchy, p->holder));
    else
        put_holder(out, p->holder);
}

/* ---- networks.tsv ---- */

__extension__ typedef unsigned __int128 wide;

static wide wide_of(const struct addr *a)
{
    wide v = 0;
    for (size_t i = 0; i < (a->family == 4 ? 4 : 16); i++)
        v = v << 8 | a->b[i];
    return v;
}

static struct addr addr_of(wide v, uint8_t family)
{
    struct addr a = {.family = family};
    for (size_t i = family == 4 ? 4 : 16; i-- > 0; v >>= 8)
        a.b[i] = (uint8_t)v;
    return a;
}

/* A range as the prefixes that it is made of. */
static void put_range(const struct hierarchy *h, const struct hierarchy_node *node, struct buf *out)
{
    unsigned width = node->first.family == 4 ? 32 : 128;
    wide at = wide_of(&node->first), last = wide_of(&node->last);
    for (;;) {
        unsigned free_bits = 0; /* the prefix at `at` is as large as alignment and end allow */
        while (free_bits < width && !(at >> free_bits & 1) && at + (((wide)1 << free_bits << 1) - 1) <= last)
            free_bits++;
        char text[ADDR_TEXT_MAX];
        struct addr first = addr_of(at, node->first.family);
        buf_printf(out, "%s/%u\t%s\t", addr_format(&first, text), width - free_bits, node->country);
        buf_put(out, hierarchy_holder_name(h, node->holder));
        buf_putc(out, '\n');
        if (free_bits == 128 || last - at < (wide)1 << free_bits)
            return;
        at += (wide)1 << free_bits;
    }
}

void nets_write(const struct nets *n, struct buf *out)
{
    buf_puts(out, "prefix\tcountry\tholder\n");
    if (!n->hierarchy) {
        buf_put(out, buf_span(&n->text));
        return;
    }
    for (uint32_t i = 1; i <= hierarchy_count(n->hierarchy); i++) {
        struct hierarchy_node node;
        hierarchy_get(n->hierarchy, i, &node);
        put_range(n->hierarchy, &node, out);
    }
}
