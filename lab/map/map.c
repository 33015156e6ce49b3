#include "lab/map/map.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "base/table.h"

#define FAMILY_BITS_MAX 129

struct map {
    struct map_place *places;
    size_t place_count, place_cap;
    struct map_node *nodes;
    size_t node_count, node_cap;
    struct map_prefix *prefixes;
    size_t prefix_count, prefix_cap;
    struct table place_by_name, node_by_name, prefix_by_key; /* values are index + 1 */
    uint8_t bits[2][FAMILY_BITS_MAX];                        /* lengths in use, longest first */
    size_t bits_count[2];
    struct map_path *paths; /* place_count rows of hub_count */
    struct map_path far;
    size_t hub_count;
    bool is_sealed;
};

/* The lab's own files are no outside data: the key may be known. */
static const struct sip_key key = {0x6c6162206d617020, 0x6f7262776561766f};

static uint64_t name_key(struct span name)
{
    return siphash(&key, name);
}

static uint64_t prefix_key(const struct network *n)
{
    unsigned char text[18] = {n->first.family, n->bits};
    memcpy(text + 2, n->first.b, 16);
    return siphash(&key, span_of(text, sizeof(text)));
}

static void *index_value(size_t i)
{
    return (void *)(uintptr_t)(i + 1);
}

static bool value_index(const void *value, unsigned *out)
{
    if (!value)
        return false;
    *out = (unsigned)((uintptr_t)value - 1);
    return true;
}

struct map *map_new(void)
{
    return mem_alloc(sizeof(struct map));
}

void map_free(struct map *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->place_count; i++)
        free((char *)(uintptr_t)m->places[i].name.p);
    for (size_t i = 0; i < m->node_count; i++)
        free((char *)(uintptr_t)m->nodes[i].name.p);
    table_done(&m->place_by_name);
    table_done(&m->node_by_name);
    table_done(&m->prefix_by_key);
    free(m->places);
    free(m->nodes);
    free(m->prefixes);
    free(m->paths);
    free(m);
}

/* ---- places ---- */

static bool name_is_valid(struct span name)
{
    if (name.n == 0 || name.n > MAP_NAME_MAX || name.p[0] == '-')
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (!ascii_is_alpha(c) && !ascii_is_digit(c) && c != '.' && c != '-' && c != '_')
            return false;
    }
    return true;
}

static struct span own(struct span s)
{
    return (struct span){mem_str(s), s.n};
}

static status node_of(struct map *m, struct span name, unsigned *out)
{
    if (map_find_node(m, name, out))
        return ST_OK;
    if (m->node_count == MAP_NODES_MAX)
        return ST_LIMIT;
    m->nodes = mem_grow(m->nodes, &m->node_cap, m->node_count + 1, sizeof(*m->nodes));
    m->nodes[m->node_count] = (struct map_node){.name = own(name)};
    table_put(&m->node_by_name, name_key(name), index_value(m->node_count));
    *out = (unsigned)m->node_count++;
    return ST_OK;
}

status map_add_place(struct map *m, struct span name, struct span node, unsigned *out)
{
    assert(!m->is_sealed);
    unsigned at, seen;
    if (!name_is_valid(name) || (node.n && !name_is_valid(node)))
        return ST_INVALID;
    if (map_find(m, name, &seen))
        return ST_EXISTS;
    if (m->place_count == MAP_PLACES_MAX)
        return ST_LIMIT;
    status st = node_of(m, node.n ? node : name, &at);
    if (st != ST_OK)
        return st;
    m->places = mem_grow(m->places, &m->place_cap, m->place_count + 1, sizeof(*m->places));
    int hub = node.n == 0 || span_eq(node, name) ? (int)m->hub_count++ : -1;
    m->places[m->place_count] = (struct map_place){.name = own(name), .node = at, .hub = hub};
    table_put(&m->place_by_name, name_key(name), index_value(m->place_count));
    *out = (unsigned)m->place_count++;
    return ST_OK;
}

static struct network masked(const struct addr *a, unsigned bits)
{
    struct network n = {.first = *a, .bits = (uint8_t)bits};
    for (unsigned i = 0; i < 16; i++) {
        unsigned kept = bits > i * 8 ? bits - i * 8 : 0;
        if (kept < 8)
            n.first.b[i] &= (uint8_t)(0xff00 >> kept);
    }
    return n;
}

static void note_length(struct map *m, const struct network *n)
{
    unsigned f = n->first.family == 6;
    size_t i = 0;
    while (i < m->bits_count[f] && m->bits[f][i] > n->bits)
        i++;
    if (i < m->bits_count[f] && m->bits[f][i] == n->bits)
        return;
    memmove(&m->bits[f][i + 1], &m->bits[f][i], m->bits_count[f] - i);
    m->bits[f][i] = n->bits;
    m->bits_count[f]++;
}

/* Loopback, link-local and multicast addresses mean something else inside of every namespace. */
static bool is_for_hosts(const struct network *n)
{
    const struct addr *a = &n->first;
    addr_class c = addr_classify(a);
    if (n->bits == 0 || c == ADDR_LOOPBACK || c == ADDR_LINK_LOCAL)
        return false;
    return a->family == 4 ? a->b[0] != 0 && a->b[0] < 224 : a->b[0] != 0xff && a->b[0] != 0;
}

static void keep_first(struct addr *mine, const struct addr *a)
{
    if (mine->family == 0)
        *mine = *a;
}

status map_add_prefix(struct map *m, unsigned place, const struct network *net, const struct addr *addr)
{
    assert(!m->is_sealed && place < m->place_count);
    if ((net->first.family != 4 && net->first.family != 6) || !is_for_hosts(net) || !network_has(net, addr))
        return ST_INVALID;
    uint64_t k = prefix_key(net);
    if (table_get(&m->prefix_by_key, k))
        return ST_EXISTS;
    if (m->prefix_count == MAP_PREFIXES_MAX)
        return ST_LIMIT;
    m->prefixes = mem_grow(m->prefixes, &m->prefix_cap, m->prefix_count + 1, sizeof(*m->prefixes));
    m->prefixes[m->prefix_count] = (struct map_prefix){*net, place};
    table_put(&m->prefix_by_key, k, index_value(m->prefix_count));
    m->prefix_count++;
    note_length(m, net);
    struct map_place *p = &m->places[place];
    struct map_node *node = &m->nodes[p->node];
    bool is4 = net->first.family == 4;
    keep_first(is4 ? &p->addr4 : &p->addr6, addr);
    keep_first(is4 ? &node->addr4 : &node->addr6, addr);
    return ST_OK;
}

void map_seal(struct map *m)
{
    assert(!m->is_sealed);
    m->is_sealed = true;
    m->paths = mem_alloc((m->place_count * m->hub_count + 1) * sizeof(*m->paths));
}

/* ---- looking up ---- */

size_t map_place_count(const struct map *m)
{
    return m->place_count;
}

size_t map_node_count(const struct map *m)
{
    return m->node_count;
}

size_t map_prefix_count(const struct map *m)
{
    return m->prefix_count;
}

const struct map_place *map_place(const struct map *m, unsigned i)
{
    assert(i < m->place_count);
    return &m->places[i];
}

const struct map_node *map_node(const struct map *m, unsigned i)
{
    assert(i < m->node_count);
    return &m->nodes[i];
}

const struct map_prefix *map_prefix(const struct map *m, size_t i)
{
    assert(i < m->prefix_count);
    return &m->prefixes[i];
}

bool map_find(const struct map *m, struct span name, unsigned *place)
{
    return value_index(table_get(&m->place_by_name, name_key(name)), place);
}

bool map_find_node(const struct map *m, struct span name, unsigned *node)
{
    return value_index(table_get(&m->node_by_name, name_key(name)), node);
}

bool map_at(const struct map *m, const struct addr *a, unsigned *place)
{
    unsigned f = a->family == 6, i;
    for (size_t b = 0; b < m->bits_count[f]; b++) {
        struct network n = masked(a, m->bits[f][b]);
        if (value_index(table_get(&m->prefix_by_key, prefix_key(&n)), &i)) {
            *place = m->prefixes[i].place;
            return true;
        }
    }
    return false;
}

/* ---- paths ---- */

static bool path_is_valid(const struct map_path *p)
{
    /* Written so that NaN is refused too. */
    return p->rtt_ms >= 0 && p->rtt_ms <= (float)MAP_RTT_MAX_MS && p->jitter_ms >= 0 &&
           p->jitter_ms <= (float)MAP_RTT_MAX_MS;
}

static struct map_path *cell(const struct map *m, unsigned row, int hub)
{
    return &m->paths[row * m->hub_count + (size_t)hub];
}

/* Both cells of a pair; of a server and a hub there is one. */
static size_t cells(const struct map *m, unsigned a, unsigned b, struct map_path *out[2])
{
    assert(m->is_sealed && a < m->place_count && b < m->place_count);
    size_t n = 0;
    if (m->places[b].hub >= 0)
        out[n++] = cell(m, a, m->places[b].hub);
    if (m->places[a].hub >= 0)
        out[n++] = cell(m, b, m->places[a].hub);
    return n;
}

status map_set_path(struct map *m, unsigned a, unsigned b, const struct map_path *path)
{
    struct map_path *at[2];
    size_t n = cells(m, a, b, at);
    if (!path_is_valid(path))
        return ST_INVALID;
    for (size_t i = 0; i < n; i++) {
        at[i]->rtt_ms = path->rtt_ms;
        at[i]->jitter_ms = path->jitter_ms;
    }
    return n ? ST_OK : ST_UNSUPPORTED;
}

status map_set_loss(struct map *m, unsigned a, unsigned b, unsigned loss)
{
    struct map_path *at[2];
    size_t n = cells(m, a, b, at);
    if (loss > MAP_LOSS_ALL)
        return ST_INVALID;
    for (size_t i = 0; i < n; i++)
        at[i]->loss = (uint16_t)loss;
    return n ? ST_OK : ST_UNSUPPORTED;
}

status map_cut_path(struct map *m, unsigned a, unsigned b, bool is_cut)
{
    struct map_path *at[2];
    size_t n = cells(m, a, b, at);
    for (size_t i = 0; i < n; i++)
        at[i]->is_cut = is_cut;
    return n ? ST_OK : ST_UNSUPPORTED;
}

void map_set_far(struct map *m, const struct map_path *path)
{
    assert(path_is_valid(path));
    m->far.rtt_ms = path->rtt_ms;
    m->far.jitter_ms = path->jitter_ms;
}

void map_set_far_loss(struct map *m, unsigned loss)
{
    assert(loss <= MAP_LOSS_ALL);
    m->far.loss = (uint16_t)loss;
}

struct map_path map_path(const struct map *m, unsigned a, unsigned b)
{
    assert(m->is_sealed && a < m->place_count && b < m->place_count);
    const struct map_place *pa = &m->places[a], *pb = &m->places[b];
    struct map_path p = pb->hub >= 0 ? *cell(m, a, pb->hub) : pa->hub >= 0 ? *cell(m, b, pa->hub) : m->far;
    p.is_cut = p.is_cut || pa->is_cut || pb->is_cut;
    return p;
}

void map_cut_place(struct map *m, unsigned place, bool is_cut)
{
    assert(place < m->place_count);
    m->places[place].is_cut = is_cut;
}

status map_set_bandwidth(struct map *m, unsigned node, uint64_t bytes_a_second)
{
    assert(node < m->node_count);
    if (bytes_a_second > MAP_BANDWIDTH_MAX || (bytes_a_second && bytes_a_second < MAP_BANDWIDTH_MIN))
        return ST_INVALID;
    m->nodes[node].bandwidth = bytes_a_second;
    return ST_OK;
}
