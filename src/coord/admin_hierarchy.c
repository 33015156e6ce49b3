/* admin_hierarchy.c - a look into the registry hierarchy: a range, what is around it and inside it, and which agents
 * have networks there. */
#include "coord/admin_tree.h"
#include "coord/agents.h"
#include "coord/networks.h"

#include <stdlib.h>

/* ---- ranges ---- */

/* Bits that first and last share; -1: the range is no prefix. */
static int prefix_bits(const struct addr *first, const struct addr *last)
{
    unsigned all = first->family == 4 ? 32 : 128, bits = 0;
    while (bits < all && (((first->b[bits / 8] ^ last->b[bits / 8]) >> (7 - bits % 8)) & 1) == 0)
        bits++;
    for (unsigned i = bits; i < all; i++)
        if (((first->b[i / 8] >> (7 - i % 8)) & 1) != 0 || ((last->b[i / 8] >> (7 - i % 8)) & 1) == 0)
            return -1;
    return (int)bits;
}

void tree_range(struct buf *out, const struct hierarchy_node *n)
{
    char text[ADDR_TEXT_MAX];
    if (!n->first.family) {
        buf_puts(out, "everything");
        return;
    }
    int bits = prefix_bits(&n->first, &n->last);
    buf_puts(out, addr_format(&n->first, text));
    if (bits >= 0)
        buf_printf(out, "/%d", bits);
    else
        buf_printf(out, " \xe2\x80\x93 %s", addr_format(&n->last, text));
}

static int compare(const struct addr *a, const struct addr *b)
{
    return a->family != b->family ? (a->family < b->family ? -1 : 1) : memcmp(a->b, b->b, sizeof(a->b));
}

/* The first known network that does not begin before `a` (is_after: that begins after it). */
static size_t bound(const struct coord *c, const struct addr *a, bool is_after)
{
    size_t from = 0, to = c->sorted_count;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        int order = compare(&c->sorted[mid]->network.first, a);
        if (order < 0 || (is_after && order == 0))
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static void known_inside(const struct coord *c, const struct hierarchy_node *n, size_t *from, size_t *to)
{
    *from = n->first.family ? bound(c, &n->first, false) : 0;
    *to = n->first.family ? bound(c, &n->last, true) : c->sorted_count;
}

/* ---- who has it ---- */

struct held_agent {
    uint64_t number;
    size_t networks;
};

static int by_networks(const void *x, const void *y)
{
    const struct held_agent *a = x, *b = y;
    return a->networks != b->networks ? (a->networks > b->networks ? -1 : 1) : (a->number < b->number ? -1 : 1);
}

/* `counts` has a place for every agent, all zero, and is so again afterwards. */
static void count_held(struct coord *c, struct arena *a, size_t *counts, const struct hierarchy_node *n,
                       struct tree_held *out)
{
    size_t from, to, agents = 0;
    known_inside(c, n, &from, &to);
    *out = (struct tree_held){.networks = to - from};
    for (size_t i = from; i < to; i++) {
        const struct c_network *w = c->sorted[i];
        if (w->state == NETWORK_FREE || !agent_get(c, w->agent))
            continue;
        out->owned++;
        agents += counts[w->agent]++ == 0;
    }
    if (!agents)
        return;
    struct held_agent *list = arena_alloc(a, agents * sizeof(*list));
    agents = 0;
    for (size_t i = from; i < to; i++) {
        const struct c_network *w = c->sorted[i];
        if (w->state == NETWORK_FREE || !agent_get(c, w->agent) || !counts[w->agent])
            continue;
        list[agents++] = (struct held_agent){w->agent, counts[w->agent]};
        counts[w->agent] = 0;
    }
    qsort(list, agents, sizeof(*list), by_networks);
    out->agent_all = (unsigned)agents;
    for (size_t i = 0; i < agents && i < TREE_AGENTS; i++) {
        out->agents[i].name = arena_copy(a, span_str(agent_get(c, list[i].number)->name)).p;
        out->agents[i].networks = list[i].networks;
        out->agent_count++;
    }
}

static void get_row(struct coord *c, struct arena *a, size_t *counts, uint32_t number, struct tree_row *out)
{
    *out = (struct tree_row){.number = number};
    hierarchy_get(c->hierarchy, number, &out->node);
    out->inside = out->node.end - number - 1;
    out->holder = arena_copy(a, hierarchy_holder_name(c->hierarchy, out->node.holder));
    count_held(c, a, counts, &out->node, &out->held);
}

static size_t *no_counts(struct coord *c, struct arena *a)
{
    size_t n = (c->agent_count + 1) * sizeof(size_t);
    return memset(arena_alloc(a, n), 0, n);
}

/* The child of `node` that `at` is in or is; HIERARCHY_NONE: none. */
static uint32_t child_towards(const struct hierarchy *h, uint32_t node, uint32_t at)
{
    while (at != HIERARCHY_NONE) {
        uint32_t up = hierarchy_parent(h, at);
        if (up == node)
            return at;
        at = up;
    }
    return HIERARCHY_NONE;
}

struct children {
    struct coord *c;
    struct arena *arena;
    size_t *counts;
    const struct tree_ask *ask;
    struct tree_view *v;
    size_t seen;
};

static void take_child(struct children *k, uint32_t child)
{
    if (k->seen >= k->ask->from && k->v->child_count < k->ask->max)
        get_row(k->c, k->arena, k->counts, child, &k->v->children[k->v->child_count++]);
    k->seen++;
}

static void take_all(struct children *k)
{
    for (uint32_t at = k->ask->node + 1, next; at < k->v->self.node.end; at = next) {
        next = hierarchy_end(k->c->hierarchy, at);
        if (next <= at) /* of a damaged file */
            break;
        if (!k->ask->only_held)
            take_child(k, at);
        k->v->child_total++;
    }
}

/* From one known network to the first behind the child that it is in. */
static void take_held(struct children *k)
{
    const struct hierarchy *h = k->c->hierarchy;
    size_t at, end, next;
    known_inside(k->c, &k->v->self.node, &at, &end);
    for (uint32_t before = HIERARCHY_NONE; at < end; at = next) {
        uint32_t child = child_towards(h, k->ask->node, hierarchy_network(h, &k->c->sorted[at]->network.first));
        next = at + 1;
        if (child == HIERARCHY_NONE || child == before)
            continue;
        struct hierarchy_node node;
        hierarchy_get(h, child, &node);
        size_t behind = bound(k->c, &node.last, true);
        next = behind > next ? behind : next;
        before = child;
        if (k->ask->only_held)
            take_child(k, child);
        k->v->child_held++;
    }
}

void tree_get(struct coord *c, struct arena *a, const struct tree_ask *ask, struct tree_view *out)
{
    struct children k = {.c = c, .arena = a, .counts = no_counts(c, a), .ask = ask, .v = out};
    uint32_t above[TREE_PATH_MAX];
    size_t at, end;
    *out = (struct tree_view){.from = ask->from};
    get_row(c, a, k.counts, ask->node, &out->self);
    for (uint32_t p = out->self.node.parent; p && out->path_count < TREE_PATH_MAX;
         p = hierarchy_parent(c->hierarchy, p))
        above[out->path_count++] = p;
    out->path = arena_alloc(a, (out->path_count + 1) * sizeof(*out->path));
    for (size_t i = 0; i < out->path_count; i++)
        get_row(c, a, k.counts, above[out->path_count - 1 - i], &out->path[i]);
    out->children = arena_alloc(a, (ask->max + 1) * sizeof(*out->children));
    take_all(&k);
    take_held(&k);
    known_inside(c, &out->self.node, &at, &end);
    out->networks = arena_alloc(a, TREE_NETWORKS * sizeof(struct c_network *));
    for (; at < end && out->network_count < TREE_NETWORKS; at++)
        out->networks[out->network_count++] = c->sorted[at];
}

/* ---- looking for something ---- */

static struct addr last_of(const struct network *n)
{
    struct addr a = n->first;
    for (unsigned i = n->bits; i < (a.family == 4 ? 32 : 128); i++)
        a.b[i / 8] |= (uint8_t)(0x80 >> (i % 8));
    return a;
}

static void find_holder(struct coord *c, struct arena *a, struct span name, struct tree_search *out)
{
    uint32_t holder = hierarchy_holder_find(c->hierarchy, name);
    size_t *counts = no_counts(c, a);
    if (!holder)
        return;
    const uint32_t *nodes = hierarchy_holder_nodes(c->hierarchy, holder, &out->row_total);
    out->found = TREE_HOLDER;
    out->holder = arena_copy(a, hierarchy_holder_name(c->hierarchy, holder));
    out->row_count = out->row_total < TREE_HOLDER_NODES ? out->row_total : TREE_HOLDER_NODES;
    out->rows = arena_alloc(a, (out->row_count + 1) * sizeof(*out->rows));
    for (size_t i = 0; i < out->row_count; i++)
        get_row(c, a, counts, nodes[i], &out->rows[i]);
}

void tree_find(struct coord *c, struct arena *a, struct span what, struct tree_search *out)
{
    struct addr addr, last;
    struct network net;
    *out = (struct tree_search){.found = TREE_NOWHERE};
    if (addr_parse(what, &addr) == ST_OK) {
        out->node = hierarchy_lookup(c->hierarchy, &addr);
        out->network = network_find(c, &addr);
    } else if (network_parse(what, &net) == ST_OK) {
        last = last_of(&net);
        out->node = hierarchy_enclosing(c->hierarchy, &net.first, &last);
    } else
        find_holder(c, a, what, out);
    if (out->node != HIERARCHY_NONE)
        out->found = TREE_NODE;
}

/* ---- GET /api/v1/hierarchy ---- */

#define CHILDREN_DEFAULT 100
#define CHILDREN_MAX 1000

static void put_row(struct json *j, const struct tree_row *w)
{
    char text[ADDR_TEXT_MAX];
    json_open(j, '{');
    put_u64(j, "node", w->number);
    json_key(j, "first");
    json_text_or_null(j, span_str(w->node.first.family ? addr_format(&w->node.first, text) : ""));
    json_key(j, "last");
    json_text_or_null(j, span_str(w->node.last.family ? addr_format(&w->node.last, text) : ""));
    json_key(j, "holder");
    json_text_or_null(j, w->holder);
    json_key(j, "country");
    json_text_or_null(j, span_str(w->node.country));
    json_key(j, "registry");
    json_text_or_null(j, span_str(registry_name_text(w->node.registry)));
    json_key(j, "status");
    json_text_or_null(j, span_str(registry_status_text(w->node.state)));
    put_u64(j, "inside", w->inside);
    put_u64(j, "networks", w->held.networks);
    put_u64(j, "delegated", w->held.owned);
    json_key(j, "agents");
    json_open(j, '[');
    for (unsigned i = 0; i < w->held.agent_count; i++) {
        json_open(j, '{');
        put_str(j, "agent", w->held.agents[i].name);
        put_u64(j, "networks", w->held.agents[i].networks);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void put_rows(struct json *j, const char *name, const struct tree_row *rows, size_t n)
{
    json_key(j, name);
    json_open(j, '[');
    for (size_t i = 0; i < n; i++)
        put_row(j, &rows[i]);
    json_close(j, ']');
}

static void put_tree(struct ask *r, struct deed *d, const struct tree_ask *ask)
{
    struct json j = {.out = &d->out};
    struct tree_view *v = arena_alloc(r->arena, sizeof(*v));
    tree_get(r->c, r->arena, ask, v);
    json_open(&j, '{');
    json_key(&j, "node");
    put_row(&j, &v->self);
    put_rows(&j, "path", v->path, v->path_count);
    put_rows(&j, "children", v->children, v->child_count);
    put_u64(&j, "total", v->child_total);
    put_u64(&j, "held", v->child_held);
    json_key(&j, "networks");
    json_open(&j, '[');
    for (size_t i = 0; i < v->network_count; i++) {
        const struct c_agent *a = v->networks[i]->state == NETWORK_FREE ? NULL : agent_get(r->c, v->networks[i]->agent);
        json_open(&j, '{');
        put_str(&j, "network", v->networks[i]->text);
        json_key(&j, "agent");
        json_text_or_null(&j, span_str(a ? a->name : ""));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

static void put_holder(struct deed *d, const struct tree_search *s)
{
    struct json j = {.out = &d->out};
    json_open(&j, '{');
    put_text(&j, "holder", s->holder);
    put_rows(&j, "ranges", s->rows, s->row_count);
    put_u64(&j, "total", s->row_total);
    json_close(&j, '}');
}

/* coord.lock held. */
static void answer(struct ask *r, struct deed *d)
{
    struct span what = span_cut(pairs_get(&r->in, "ip"), 0, 200);
    uint64_t node = 0, offset = 0, limit = CHILDREN_DEFAULT;
    struct tree_search s;
    if (!r->c->hierarchy) {
        deed_fail(d, 404, "not_found",
                  "No hierarchy is loaded: orb hierarchy fetch, then orb hierarchy build, make one.");
        return;
    }
    if (!pairs_u64(&r->in, "offset", HIERARCHY_NODES_MAX, &offset) ||
        !pairs_u64(&r->in, "limit", CHILDREN_MAX, &limit) ||
        !pairs_u64(&r->in, "node", hierarchy_count(r->c->hierarchy), &node)) {
        deed_fail(d, 400, "invalid", "node is a number up to %u; offset and limit (1,000) are numbers.",
                  hierarchy_count(r->c->hierarchy));
        return;
    }
    if (what.n) {
        tree_find(r->c, r->arena, what, &s);
        if (s.found == TREE_HOLDER) {
            put_holder(d, &s);
            return;
        }
        if (s.found == TREE_NOWHERE) {
            deed_fail(d, 404, "not_found", "No range holds that, and nobody registered is called so.");
            return;
        }
        node = s.node;
    }
    put_tree(r, d,
             &(struct tree_ask){.node = (uint32_t)node,
                                .from = (size_t)offset,
                                .max = (size_t)limit,
                                .only_held = pairs_is_true(&r->in, "held")});
}

void deed_hierarchy(struct ask *r, struct deed *d)
{
    pthread_mutex_lock(&r->c->lock);
    answer(r, d);
    pthread_mutex_unlock(&r->c->lock);
}
