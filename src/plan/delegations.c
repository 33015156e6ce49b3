/* Who has which network: nodes of the hierarchy by number, others by address; and by whom a holder's are crawled. */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "plan/delegate_internal.h"

/* ---- life ---- */

static void open_hierarchy(struct delegations *has, const struct hierarchy *h)
{
    uint32_t holders = hierarchy_holder_count(h), at = 0;
    has->nodes = owners_new(hierarchy_count(h) + 1);
    has->holder_at = mem_alloc(((size_t)holders + 2) * sizeof(*has->holder_at));
    for (uint32_t i = 1; i <= holders; i++) {
        size_t count;
        has->holder_at[i] = at;
        (void)hierarchy_holder_nodes(h, i, &count);
        at += (uint32_t)count;
    }
    has->holder_at[holders + 1] = at;
    has->holders = owners_new(at);
}

void delegations_init(struct delegator *d)
{
    if (d->o.hierarchy)
        open_hierarchy(&d->has, d->o.hierarchy);
}

static void close_delegations(struct delegations *has)
{
    size_t at = 0;
    for (struct loose_network *n; (n = table_next(&has->loose, &at));) {
        free(n->domains);
        free(n);
    }
    at = 0;
    for (struct loose_domain *g; (g = table_next(&has->domains, &at));) {
        free(g->networks);
        free(g);
    }
    table_done(&has->loose);
    table_done(&has->domains);
    owners_free(has->nodes);
    owners_free(has->holders);
    free(has->holder_at);
    *has = (struct delegations){0};
}

void delegations_done(struct delegator *d)
{
    close_delegations(&d->has);
}

/* ---- places ---- */

struct delegate_place delegate_place(const struct delegator *d, const struct addr *a)
{
    struct addr plain = addr_unmapped(a);
    struct delegate_place p = {.node = d->o.hierarchy ? hierarchy_network(d->o.hierarchy, &plain) : HIERARCHY_NONE};
    if (!p.node)
        p.network = addr_network(&plain);
    return p;
}

static uint64_t network_hash(const struct delegator *d, const struct network *n)
{
    unsigned char text[2 + sizeof(n->first.b)] = {n->first.family, n->bits};
    memcpy(text + 2, n->first.b, sizeof(n->first.b));
    return siphash(&d->key, span_of(text, sizeof(text)));
}

static struct loose_network *loose_get(const struct delegator *d, const struct network *n)
{
    return table_get(&d->has.loose, network_hash(d, n));
}

uint32_t delegate_owner(const struct delegator *d, const struct delegate_place *p)
{
    if (p->node)
        return owners_get(d->has.nodes, p->node);
    const struct loose_network *n = loose_get(d, &p->network);
    return n ? n->slot : OWNERS_NOBODY;
}

static int network_cmp(const struct network *a, const struct network *b)
{
    if (a->first.family != b->first.family)
        return a->first.family < b->first.family ? -1 : 1;
    return memcmp(a->first.b, b->first.b, sizeof(a->first.b));
}

/* ---- giving ---- */

/* Where the node stands among its holder's; false: it has none. */
static bool holder_place(const struct delegator *d, uint32_t node, uint32_t *holder, uint32_t *place)
{
    struct hierarchy_node n;
    hierarchy_get(d->o.hierarchy, node, &n);
    if (!n.holder || n.holder > hierarchy_holder_count(d->o.hierarchy))
        return false;
    size_t count, from = 0;
    const uint32_t *nodes = hierarchy_holder_nodes(d->o.hierarchy, n.holder, &count);
    for (size_t to = count; from < to;) {
        size_t mid = from + (to - from) / 2;
        if (nodes[mid] < node)
            from = mid + 1;
        else
            to = mid;
    }
    if (from == count || nodes[from] != node) /* a damaged file */
        return false;
    *holder = n.holder;
    *place = d->has.holder_at[n.holder] + (uint32_t)from;
    return true;
}

static void give_node(struct delegator *d, uint32_t node, uint32_t slot)
{
    uint32_t holder, place;
    owners_set(d->has.nodes, node, slot);
    if (holder_place(d, node, &holder, &place))
        owners_set(d->has.holders, place, slot);
}

static void forget_domain(struct delegator *d, struct loose_domain *g, const struct loose_network *n)
{
    size_t at = 0;
    while (g->networks[at] != n)
        at++;
    g->network_count--;
    memmove(&g->networks[at], &g->networks[at + 1], (g->network_count - at) * sizeof(struct loose_network *));
    if (g->network_count)
        return;
    table_remove(&d->has.domains, g->hash);
    free(g->networks);
    free(g);
}

static void free_loose(struct delegator *d, struct loose_network *n)
{
    for (size_t i = 0; i < n->domain_count; i++)
        forget_domain(d, n->domains[i], n);
    table_remove(&d->has.loose, network_hash(d, &n->network));
    free(n->domains);
    free(n);
}

static void note_domain(struct delegator *d, struct loose_network *n, uint64_t hash)
{
    for (size_t i = 0; i < n->domain_count; i++)
        if (n->domains[i]->hash == hash)
            return;
    struct loose_domain *g = table_get(&d->has.domains, hash);
    if (n->domain_count == LOOSE_DOMAINS_MAX || (g && g->network_count == LOOSE_NETWORKS_MAX))
        return;
    if (!g) {
        g = mem_alloc(sizeof(*g));
        g->hash = hash;
        table_put(&d->has.domains, hash, g);
    }
    size_t at = 0;
    while (at < g->network_count && network_cmp(&g->networks[at]->network, &n->network) < 0)
        at++;
    g->networks = mem_grow(g->networks, &g->network_cap, g->network_count + 1, sizeof(struct loose_network *));
    memmove(&g->networks[at + 1], &g->networks[at], (g->network_count - at) * sizeof(struct loose_network *));
    g->networks[at] = n;
    g->network_count++;
    n->domains = mem_grow(n->domains, &n->domain_cap, n->domain_count + 1, sizeof(struct loose_domain *));
    n->domains[n->domain_count++] = g;
}

static struct loose_network *give_loose(struct delegator *d, const struct network *network, uint32_t slot)
{
    struct loose_network *n = loose_get(d, network);
    if (!n) {
        n = mem_alloc(sizeof(*n));
        n->network = *network;
        table_put(&d->has.loose, network_hash(d, network), n);
    }
    n->slot = slot;
    return n;
}

static uint64_t domain_hash(const struct delegator *d, struct span domain)
{
    return siphash(&d->key, domain);
}

void delegate_give(struct delegator *d, const struct delegate_place *p, struct span domain, uint32_t slot)
{
    struct loose_network *n;
    if (p->node)
        give_node(d, p->node, slot);
    else if (slot != OWNERS_NOBODY) {
        n = give_loose(d, &p->network, slot);
        if (domain.n)
            note_domain(d, n, domain_hash(d, domain));
    } else if ((n = loose_get(d, &p->network)))
        free_loose(d, n);
}

/* All agents but one; or none of them. */
static struct owner_set all_but(const struct delegator *d, uint32_t slot)
{
    struct owner_set s = {0};
    owner_set_widen(&s, d->open.count);
    memset(s.words, 0xff, s.count * sizeof(*s.words));
    owner_set_put(&s, slot, false);
    return s;
}

void delegate_give_up(struct delegator *d, uint32_t slot)
{
    if (d->has.nodes) {
        struct owner_set skip = all_but(d, slot);
        uint32_t end = hierarchy_count(d->o.hierarchy) + 1;
        for (uint32_t node = 0; (node = owners_first(d->has.nodes, node, end, &skip)) < end;)
            give_node(d, node, OWNERS_NOBODY);
        owner_set_done(&skip);
    }
    struct loose_network **lost = NULL, *n;
    size_t count = 0, cap = 0, at = 0;
    while ((n = table_next(&d->has.loose, &at)))
        if (n->slot == slot) {
            lost = mem_grow(lost, &cap, count + 1, sizeof(struct loose_network *));
            lost[count++] = n;
        }
    for (size_t i = 0; i < count; i++)
        free_loose(d, lost[i]);
    free(lost);
}

/* ---- holders ---- */

struct delegate_kin delegate_kin(const struct delegator *d, const struct delegate_place *p, struct span domain)
{
    struct delegate_kin k = {0};
    uint32_t holder, place;
    if (!p->node)
        k.loose = domain.n ? table_get(&d->has.domains, domain_hash(d, domain)) : NULL;
    else if (holder_place(d, p->node, &holder, &place)) {
        k.from = d->has.holder_at[holder];
        k.to = d->has.holder_at[holder + 1];
    }
    return k;
}

uint32_t delegate_kin_first(const struct delegator *d, const struct delegate_kin *k, const struct owner_set *skip)
{
    for (size_t i = 0; k->loose && i < k->loose->network_count; i++)
        if (!owner_set_has(skip, k->loose->networks[i]->slot))
            return k->loose->networks[i]->slot;
    if (k->from == k->to)
        return OWNERS_NOBODY;
    uint32_t place = owners_first(d->has.holders, k->from, k->to, skip);
    return place < k->to ? owners_get(d->has.holders, place) : OWNERS_NOBODY;
}

/* ---- another hierarchy ---- */

struct carried {
    struct addr first, last;
    uint32_t slot;
    const struct loose_network *loose; /* NULL: it was a node */
    bool is_done;
};

static struct addr last_of(const struct network *n)
{
    struct addr a = n->first;
    unsigned bytes = a.family == 4 ? 4 : 16;
    for (unsigned bit = n->bits; bit < bytes * 8; bit++)
        a.b[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
    return a;
}

static int carried_cmp(const void *a, const void *b)
{
    const struct carried *x = a, *y = b;
    return network_cmp(&x->loose->network, &y->loose->network);
}

/* In address order, nodes before others. */
static struct carried *list_all(const struct delegator *d, const struct delegations *had, const struct hierarchy *was,
                                size_t *count)
{
    size_t n = 0, nodes = had->nodes ? owners_count(had->nodes) : 0, at = 0;
    struct carried *list = mem_alloc((nodes + had->loose.n) * sizeof(*list));
    if (nodes) {
        struct owner_set none = {0};
        owner_set_widen(&none, d->open.count);
        uint32_t end = hierarchy_count(was) + 1;
        for (uint32_t i = 0; (i = owners_first(had->nodes, i, end, &none)) < end; i++) {
            struct hierarchy_node node;
            hierarchy_get(was, i, &node);
            list[n++] = (struct carried){.first = node.first, .last = node.last, .slot = owners_get(had->nodes, i)};
        }
        owner_set_done(&none);
    }
    for (const struct loose_network *l; (l = table_next(&had->loose, &at));)
        list[n++] =
            (struct carried){.first = l->network.first, .last = last_of(&l->network), .slot = l->slot, .loose = l};
    if (n > nodes)
        qsort(&list[nodes], n - nodes, sizeof(*list), carried_cmp);
    *count = n;
    return list;
}

static void keep_domains(struct delegator *d, struct loose_network *n, const struct loose_network *had)
{
    for (size_t i = 0; had && i < had->domain_count; i++)
        note_domain(d, n, had->domains[i]->hash);
}

/* There is no range for it any more: only what fits into a network of its own stays. */
static bool carry_loose(struct delegator *d, const struct carried *c)
{
    struct network network = addr_network(&c->first);
    struct loose_network *there = loose_get(d, &network);
    if (!network_has(&network, &c->last) || (there && there->slot != c->slot))
        return false;
    keep_domains(d, give_loose(d, &network, c->slot), c->loose);
    return true;
}

static void carry_rest(struct delegator *d, const struct carried *c, delegator_carry_fn *fn, void *arg)
{
    struct delegator_carry told = {
        .first = c->first, .last = c->last, .agent = d->agents[c->slot].number, .node = HIERARCHY_NONE};
    if (d->o.hierarchy)
        told.node = hierarchy_enclosing(d->o.hierarchy, &c->first, &c->last);
    if (!told.node) {
        told.is_lost = !carry_loose(d, c);
        if (c->loose && !told.is_lost)
            return; /* as it was */
    } else {
        uint32_t owner = owners_get(d->has.nodes, told.node);
        if (owner == OWNERS_NOBODY)
            give_node(d, told.node, c->slot);
        told.is_lost = owner != OWNERS_NOBODY && owner != c->slot;
    }
    if (fn)
        fn(arg, &told);
}

void delegations_carry(struct delegator *d, const struct hierarchy *to, delegator_carry_fn *fn, void *arg)
{
    struct delegations had = d->has;
    size_t count;
    struct carried *list = list_all(d, &had, d->o.hierarchy, &count);
    d->has = (struct delegations){0};
    d->o.hierarchy = to;
    delegations_init(d);
    for (size_t i = 0; to && i < count; i++) {
        uint32_t node = hierarchy_find(to, &list[i].first, &list[i].last);
        if (!node || owners_get(d->has.nodes, node) != OWNERS_NOBODY)
            continue;
        give_node(d, node, list[i].slot);
        list[i].is_done = true;
    }
    for (size_t i = 0; i < count; i++)
        if (!list[i].is_done)
            carry_rest(d, &list[i], fn, arg);
    free(list);
    close_delegations(&had);
}
