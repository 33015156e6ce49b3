#include "lab/serve/names.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "base/table.h"

#define HOST_MAX 255

static const struct sip_key key = {0x6c61622064776e73, 0x6e616d6573756666};

struct entry {
    struct span host; /* borrowed, or in the arena */
    struct addr addr;
    int place;     /* -1: for everybody */
    bool is_place; /* the name of a place */
};

struct names {
    struct arena arena;
    struct entry *all; /* in the order of the file, places last */
    size_t n, cap;
    struct entry **by_host, **by_addr; /* those of one host or address in the order above */
    size_t host_count;
    struct table suffixes; /* of every host, itself included; key: hash */
    const struct lab *lab; /* borrowed */
    const struct lab_spot **spots;
};

/* ---- order ---- */

static int by_host(const void *a, const void *b)
{
    const struct entry *x = *(const struct entry *const *)a, *y = *(const struct entry *const *)b;
    int c = span_cmp(x->host, y->host);
    return c ? c : x < y ? -1 : x > y;
}

static int addr_cmp(const struct addr *a, const struct addr *b)
{
    return a->family != b->family ? a->family - b->family : memcmp(a->b, b->b, sizeof(a->b));
}

static int by_addr(const void *a, const void *b)
{
    const struct entry *x = *(const struct entry *const *)a, *y = *(const struct entry *const *)b;
    int c = addr_cmp(&x->addr, &y->addr);
    return c ? c : x < y ? -1 : x > y;
}

static int by_spot(const void *a, const void *b)
{
    const struct lab_spot *x = *(const struct lab_spot *const *)a, *y = *(const struct lab_spot *const *)b;
    int c = span_cmp(x->host, y->host);
    return c ? c : x < y ? -1 : x > y;
}

static struct span lower(struct span host, char to[HOST_MAX])
{
    for (size_t i = 0; i < host.n; i++)
        to[i] = ascii_lower(host.p[i]);
    return span_of(to, host.n);
}

/* ---- making ---- */

static void add(struct names *n, struct span host, const struct addr *a, int place, bool is_place)
{
    if (host.n > HOST_MAX || a->family == 0)
        return;
    n->all = mem_grow(n->all, &n->cap, n->n + 1, sizeof(*n->all));
    n->all[n->n++] = (struct entry){host, *a, place, is_place};
}

static void add_suffixes(struct names *n, struct span host)
{
    for (struct span s = host; s.n; s = span_from(s, span_find(s, '.', 0) + 1)) {
        uint64_t id = siphash(&key, s);
        if (table_get(&n->suffixes, id))
            return; /* and so are all that follow */
        table_put(&n->suffixes, id, n);
    }
}

/* Places whose name is said to be something else already are no hosts; their addresses have names all the same. */
static void add_places(struct names *n, const struct map *m)
{
    for (unsigned i = 0; i < map_place_count(m); i++) {
        const struct map_place *p = map_place(m, i);
        struct span host = arena_copy(&n->arena, p->name);
        for (size_t k = 0; k < host.n; k++)
            ((char *)(uintptr_t)host.p)[k] = ascii_lower(host.p[k]);
        add(n, host, &p->addr4, -1, true);
        add(n, host, &p->addr6, -1, true);
    }
}

static void sort_all(struct names *n)
{
    n->by_host = mem_alloc((n->n + 1) * sizeof(*n->by_host));
    n->by_addr = mem_alloc((n->n + 1) * sizeof(*n->by_addr));
    for (size_t i = 0; i < n->n; i++)
        n->by_host[i] = n->by_addr[i] = &n->all[i];
    qsort(n->by_host, n->n, sizeof(*n->by_host), by_host);
    qsort(n->by_addr, n->n, sizeof(*n->by_addr), by_addr);
    n->host_count = 0;
    const struct entry *first = NULL; /* of the host */
    for (size_t i = 0; i < n->n; i++) {
        struct entry *e = n->by_host[i];
        if (!first || !span_eq(first->host, e->host))
            first = e;
        if (!e->is_place || first->is_place)
            n->by_host[n->host_count++] = e;
    }
}

struct names *names_new(const struct lab *lab)
{
    struct names *n = mem_alloc(sizeof(*n));
    arena_init(&n->arena);
    n->lab = lab;
    for (size_t i = 0; i < lab->name_count; i++)
        add(n, lab->names[i].host, &lab->names[i].addr, lab->names[i].place, false);
    add_places(n, lab->map);
    sort_all(n);
    for (size_t i = 0; i < n->n; i++)
        add_suffixes(n, n->all[i].host);
    add_suffixes(n, SPAN("in-addr.arpa"));
    add_suffixes(n, SPAN("ip6.arpa"));
    n->spots = mem_alloc((lab->spot_count + 1) * sizeof(*n->spots));
    for (size_t i = 0; i < lab->spot_count; i++)
        n->spots[i] = &lab->spots[i];
    qsort(n->spots, lab->spot_count, sizeof(*n->spots), by_spot);
    return n;
}

void names_free(struct names *n)
{
    if (!n)
        return;
    table_done(&n->suffixes);
    arena_done(&n->arena);
    free(n->all);
    free(n->by_host);
    free(n->by_addr);
    free(n->spots);
    free(n);
}

/* ---- hosts ---- */

static size_t first_of(const struct names *n, struct span host)
{
    size_t low = 0, high = n->host_count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (span_cmp(n->by_host[mid]->host, host) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool names_find(const struct names *n, struct span host, int place, int family, struct addr out[NAMES_ADDRS_MAX],
                size_t *count)
{
    char text[HOST_MAX];
    if (host.n > sizeof(text))
        return false;
    host = lower(host, text);
    size_t from = first_of(n, host), to = from;
    bool has_own = false;
    for (; to < n->host_count && span_eq(n->by_host[to]->host, host); to++)
        has_own = has_own || (place >= 0 && n->by_host[to]->place == place);
    size_t k = 0;
    for (size_t i = from; i < to && k < NAMES_ADDRS_MAX; i++) {
        const struct entry *e = n->by_host[i];
        if (e->place == (has_own ? place : -1) && e->addr.family == family)
            out[k++] = e->addr;
    }
    *count = k;
    return to > from;
}

bool names_exist(const struct names *n, struct span host)
{
    char text[HOST_MAX];
    return host.n == 0 || (host.n <= sizeof(text) && table_get(&n->suffixes, siphash(&key, lower(host, text))));
}

/* The last of equals: later lines hold. */
bool names_spot(const struct names *n, struct span host, struct spot *out)
{
    char text[HOST_MAX];
    if (host.n > sizeof(text))
        return false;
    host = lower(host, text);
    size_t low = 0, high = n->lab->spot_count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (span_cmp(n->spots[mid]->host, host) <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0 || !span_eq(n->spots[low - 1]->host, host))
        return false;
    *out = n->spots[low - 1]->spot;
    return true;
}

/* ---- addresses ---- */

static size_t first_at(const struct names *n, const struct addr *a)
{
    size_t low = 0, high = n->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (addr_cmp(&n->by_addr[mid]->addr, a) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

size_t names_of(const struct names *n, const struct addr *a, struct span out[NAMES_ADDRS_MAX])
{
    size_t k = 0;
    for (size_t i = first_at(n, a); i < n->n && k < NAMES_ADDRS_MAX && addr_eq(&n->by_addr[i]->addr, a); i++) {
        const struct entry *e = n->by_addr[i];
        bool is_there = k > 0 && e->is_place;
        for (size_t j = 0; j < k; j++)
            is_there = is_there || span_eq(out[j], e->host);
        if (!is_there)
            out[k++] = e->host;
    }
    return k;
}

bool names_within(const struct names *n, const struct network *net)
{
    size_t i = first_at(n, &net->first);
    return i < n->n && network_has(net, &n->by_addr[i]->addr);
}
