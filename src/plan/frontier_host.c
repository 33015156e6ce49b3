/* frontier_host.c - hosts, their queues, and their place under address and network. */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "plan/frontier_internal.h"
#include "web/domain.h"

#define PRESSED_QUEUE 16 /* URLs of a host in memory once memory_max is passed */
/* What one of each takes, with its slot in the tables and the smallest heap and table inside it. */
#define SLOT_BYTES 32
#define HEAP_BYTES 64
#define TABLE_BYTES 256
#define HOST_BYTES (sizeof(struct host) + SLOT_BYTES)
#define IP_BYTES (sizeof(struct ip) + SLOT_BYTES + HEAP_BYTES + TABLE_BYTES)
#define NET_BYTES (sizeof(struct net) + SLOT_BYTES + HEAP_BYTES + TABLE_BYTES)

struct domain_count {
    unsigned hosts;
};

/* ---- entries and lists ---- */

static size_t entry_size(const struct entry *e)
{
    return sizeof(*e) + e->target_len + e->etag_len + e->modified_len;
}

struct entry *entry_make(struct frontier *f, struct span target, struct span etag, struct span modified)
{
    assert(target.n <= UINT16_MAX);
    if (etag.n > UINT16_MAX)
        etag.n = 0;
    if (modified.n > UINT16_MAX)
        modified.n = 0;
    struct entry *e = mem_alloc(sizeof(*e) + target.n + etag.n + modified.n);
    e->target_len = (uint16_t)target.n;
    e->etag_len = (uint16_t)etag.n;
    e->modified_len = (uint16_t)modified.n;
    char *at = e->text;
    const struct span parts[] = {target, etag, modified};
    for (unsigned i = 0; i < 3; i++) {
        if (parts[i].n)
            memcpy(at, parts[i].p, parts[i].n);
        at += parts[i].n;
    }
    f->memory += entry_size(e);
    f->url_memory += entry_size(e);
    return e;
}

void entry_free(struct frontier *f, struct entry *e)
{
    if (!e)
        return;
    f->memory -= entry_size(e);
    f->url_memory -= entry_size(e);
    free(e);
}

void entry_drop_conditions(struct frontier *f, struct entry *e)
{
    size_t size = entry_size(e);
    e->etag_len = e->modified_len = 0;
    f->memory -= size - entry_size(e);
    f->url_memory -= size - entry_size(e);
}

void list_append(struct entry_list *l, struct entry *e)
{
    e->next = NULL;
    if (l->last)
        l->last->next = e;
    else
        l->first = e;
    l->last = e;
    l->n++;
}

void list_prepend(struct entry_list *l, struct entry *e)
{
    e->next = l->first;
    l->first = e;
    if (!l->last)
        l->last = e;
    l->n++;
}

struct entry *list_pop(struct entry_list *l)
{
    struct entry *e = l->first;
    if (!e)
        return NULL;
    l->first = e->next;
    if (!l->first)
        l->last = NULL;
    l->n--;
    return e;
}

static void list_free(struct frontier *f, struct entry_list *l)
{
    for (struct entry *e; (e = list_pop(l));)
        entry_free(f, e);
}

/* ---- a host's queue: head, runs, tail ---- */

static void run_push(struct frontier *f, struct host *h, struct frontier_run run)
{
    if (h->run_at + h->run_count == h->run_cap) {
        if (h->run_at > h->run_cap / 2) {
            memmove(h->runs, h->runs + h->run_at, h->run_count * sizeof(*h->runs));
            h->run_at = 0;
        } else {
            size_t was = h->run_cap;
            h->runs = mem_grow(h->runs, &h->run_cap, h->run_cap + 1, sizeof(*h->runs));
            f->memory += (h->run_cap - was) * sizeof(*h->runs);
        }
    }
    h->runs[h->run_at + h->run_count++] = run;
}

/* A failure to put away is no failure of the queue: the URLs stay in memory and the next append tries again. */
static void put_tail_away(struct frontier *f, struct host *h)
{
    struct buf packed = {0};
    struct frontier_run run;
    entries_pack(&packed, &h->tail);
    if (f->o.put_away && f->o.put_away(f->o.self, buf_span(&packed), &run) == ST_OK) {
        h->put_away += h->tail.n;
        list_free(f, &h->tail);
        run_push(f, h, run);
    }
    buf_done(&packed);
}

void queue_append(struct frontier *f, struct host *h, struct entry *e)
{
    bool pressed = f->memory > f->o.memory_max;
    size_t head_max = pressed ? PRESSED_QUEUE : FRONTIER_HOST_URLS - FRONTIER_RUN_URLS;
    size_t tail_max = pressed ? PRESSED_QUEUE : FRONTIER_RUN_URLS;
    if (h->run_count == 0 && h->tail.n == 0 && h->head.n < head_max) {
        list_append(&h->head, e);
        return;
    }
    list_append(&h->tail, e);
    if (h->tail.n >= tail_max)
        put_tail_away(f, h);
}

status queue_peek(struct frontier *f, struct host *h, struct entry **out)
{
    if (!h->head.first && h->run_count) {
        struct frontier_run run = h->runs[h->run_at];
        struct buf packed = {0};
        struct entry_list back = {0};
        status st = f->o.bring_back(f->o.self, run, &packed);
        if (st == ST_OK)
            st = entries_unpack(f, buf_span(&packed), &back);
        buf_done(&packed);
        if (st != ST_OK)
            return st;
        h->run_at++;
        h->run_count--;
        h->put_away -= back.n < h->put_away ? back.n : h->put_away;
        h->head = back;
        if (f->o.drop)
            f->o.drop(f->o.self, run);
    }
    if (!h->head.first) {
        h->head = h->tail;
        h->tail = (struct entry_list){0};
    }
    *out = h->head.first;
    return ST_OK;
}

struct entry *queue_pop(struct frontier *f, struct host *h)
{
    return list_pop(&h->head);
}

uint64_t host_queued(const struct host *h)
{
    return h->head.n + h->tail.n + h->put_away;
}

/* ---- hosts ---- */

struct span site_span(const struct site *s)
{
    return span_of(s->prefix, s->prefix_len);
}

int host_site(struct frontier *f, struct host *h, struct span prefix)
{
    for (size_t i = 0; i < h->site_count; i++)
        if (span_eq(site_span(&h->sites[i]), prefix))
            return (int)i;
    if (h->site_count == FRONTIER_SITES_MAX)
        return -1;
    h->sites = mem_realloc(h->sites, (h->site_count + 1) * sizeof(*h->sites));
    h->sites[h->site_count] = (struct site){.prefix = mem_str(prefix), .prefix_len = prefix.n};
    f->memory += sizeof(*h->sites) + prefix.n;
    return (int)h->site_count++;
}

void site_set_rules(struct frontier *f, struct site *s, struct robots *rules, mono_ms expire)
{
    if (s->rules)
        f->memory -= robots_bytes(s->rules);
    robots_free(s->rules);
    s->rules = rules;
    s->rules_expire = expire;
    f->memory += robots_bytes(rules);
}

struct host *host_find(const struct frontier *f, struct span name)
{
    return table_get(&f->hosts, siphash(f->o.key, name));
}

struct host *host_make(struct frontier *f, struct span name)
{
    struct host *h = mem_alloc(sizeof(*h));
    h->name = mem_str(name);
    h->name_len = name.n;
    h->key = siphash(f->o.key, name);
    h->rtt_ms = h->server_ms = -1;
    h->state = HOST_RESOLVING; /* so that host_want_addr lists it */
    h->is_own = f->o.is_own && f->o.is_own(f->o.self, name);
    table_put(&f->hosts, h->key, h);
    f->memory += HOST_BYTES + name.n;
    host_want_addr(f, h);
    return h;
}

void host_unlist(struct frontier *f, struct host *h)
{
    if (h->state != HOST_NEEDS_ADDR)
        return;
    struct host **at = &f->unresolved, *before = NULL;
    for (; *at && *at != h; at = &(*at)->next_unresolved)
        before = *at;
    if (!*at)
        return;
    *at = h->next_unresolved;
    if (f->unresolved_last == h)
        f->unresolved_last = before;
}

void host_destroy(struct frontier *f, struct host *h)
{
    shares_release(f, h);
    host_detach(f, h);
    host_unlist(f, h);
    list_free(f, &h->head);
    list_free(f, &h->tail);
    for (size_t i = 0; i < h->site_count; i++) {
        f->memory -= sizeof(*h->sites) + h->sites[i].prefix_len;
        if (h->sites[i].rules)
            f->memory -= robots_bytes(h->sites[i].rules);
        robots_free(h->sites[i].rules);
        free(h->sites[i].prefix);
    }
    f->memory -= HOST_BYTES + h->name_len + h->run_cap * sizeof(*h->runs);
    table_remove(&f->hosts, h->key);
    trap_free(h->variants);
    free(h->sites);
    free(h->runs);
    free(h->name);
    free(h);
}

void host_want_addr(struct frontier *f, struct host *h)
{
    if (h->state == HOST_NEEDS_ADDR)
        return;
    h->state = HOST_NEEDS_ADDR;
    h->next_unresolved = NULL;
    if (f->unresolved_last)
        f->unresolved_last->next_unresolved = h;
    else
        f->unresolved = h;
    f->unresolved_last = h;
}

static uint64_t addr_key(const struct frontier *f, const struct addr *a, uint8_t bits)
{
    char text[18];
    text[0] = (char)a->family;
    memcpy(text + 1, a->b, 16);
    text[17] = (char)bits;
    return siphash(f->o.key, span_of(text, sizeof(text)));
}

static struct ip *ip_get(struct frontier *f, const struct addr *addr)
{
    uint64_t key = addr_key(f, addr, 255);
    struct ip *ip = table_get(&f->ips, key);
    if (ip)
        return ip;
    struct network network = addr_network(addr);
    uint64_t net_key = addr_key(f, &network.first, network.bits);
    struct net *net = table_get(&f->net_table, net_key);
    if (!net) {
        net = mem_alloc(sizeof(*net));
        net->key = net_key;
        net->share = addr_share(f, addr);
        table_put(&f->net_table, net_key, net);
        f->memory += NET_BYTES;
    }
    ip = mem_alloc(sizeof(*ip));
    ip->addr = *addr;
    ip->key = key;
    ip->net = net;
    ip->is_held = addr_is_held(f, addr);
    table_put(&f->ips, key, ip);
    f->memory += IP_BYTES;
    return ip;
}

/* An address without hosts and without requests is forgotten, and so is a network without addresses. */
void ip_release(struct frontier *f, struct ip *ip)
{
    if (ip->host_count || ip->flight)
        return;
    struct net *net = ip->net;
    heap_remove(&net->ips, &ip->node);
    heap_done(&ip->hosts);
    table_done(&ip->domains);
    table_remove(&f->ips, ip->key);
    f->memory -= IP_BYTES;
    free(ip);
    if (net->hosts || net->flight)
        return;
    heap_remove(&f->nets, &net->node);
    heap_done(&net->ips);
    table_done(&net->domains);
    table_remove(&f->net_table, net->key);
    f->memory -= NET_BYTES;
    free(net);
}

static void count_in(struct frontier *f, struct table *domains, uint64_t key, int by)
{
    struct domain_count *d = table_get(domains, key);
    if (!d) {
        d = mem_alloc(sizeof(*d));
        table_put(domains, key, d);
        f->memory += sizeof(*d);
    }
    if (by > 0) {
        d->hosts++;
    } else if (--d->hosts == 0) {
        table_remove(domains, key);
        f->memory -= sizeof(*d);
        free(d);
    }
}

/* The network counts for itself: a domain that is on many of its addresses is one domain. */
static void count_domain(struct frontier *f, struct host *h, int by)
{
    uint64_t key = siphash(f->o.key, domain_registered(span_of(h->name, h->name_len)));
    count_in(f, &h->ip->domains, key, by);
    count_in(f, &h->ip->net->domains, key, by);
}

void host_attach(struct frontier *f, struct host *h, const struct addr *addr)
{
    if (h->ip && addr_eq(&h->ip->addr, addr))
        return;
    host_detach(f, h);
    h->ip = ip_get(f, addr);
    if (addr->family)
        h->last_addr = *addr;
    h->ip->host_count++;
    h->ip->net->hosts++;
    count_domain(f, h, 1);
}

void host_detach(struct frontier *f, struct host *h)
{
    struct ip *ip = h->ip;
    if (!ip)
        return;
    heap_remove(&ip->hosts, &h->node);
    count_domain(f, h, -1);
    ip->host_count--;
    ip->net->hosts--;
    h->ip = NULL;
    ip_update(f, ip);
    ip_release(f, ip);
}

void host_repace(struct frontier *f, struct host *h)
{
    int64_t crawl_delay = -1;
    for (size_t i = 0; i < h->site_count; i++)
        if (h->sites[i].rules && robots_crawl_delay_ms(h->sites[i].rules) > crawl_delay)
            crawl_delay = robots_crawl_delay_ms(h->sites[i].rules);
    const struct addr none = {0};
    h->pace = pace_of(&f->o.pace, h->ip ? &h->ip->addr : &none, h->is_own, crawl_delay,
                      h->server_ms > 0 ? h->server_ms : 0, h->borne.pause_ms);
}

static bool host_is_ready(const struct host *h)
{
    return h->state == HOST_READY && !h->is_given_up && !h->has_robots_lent && h->flight < h->pace.per_host &&
           host_queued(h) > 0;
}

void ip_update(struct frontier *f, struct ip *ip)
{
    struct net *net = ip->net;
    const struct heap_node *top = heap_top(&ip->hosts);
    /* Floors are the same for all hosts of an address: they depend on the address and on the operator. They hold while
     * every host of it is being asked, too: then none is here to tell. */
    if (top)
        ip->has_floors = CONTAINER_OF(top, struct host, node)->pace.has_floors;
    bool has_floors = ip->has_floors;
    unsigned limit = pace_shared(&f->o.pace, f->o.pace.addr_flight, (unsigned)ip->domains.n);
    if (!top || ip->is_held || (has_floors && ip->flight >= limit))
        heap_remove(&net->ips, &ip->node);
    else
        heap_set(&net->ips, &ip->node, top->key > ip->next_ok ? top->key : ip->next_ok);

    top = heap_top(&net->ips);
    limit = share_of_limit(f, net, pace_shared(&f->o.pace, f->o.pace.network_flight, (unsigned)net->domains.n));
    if (!top || (has_floors && net->flight >= limit))
        heap_remove(&f->nets, &net->node);
    else
        heap_set(&f->nets, &net->node, top->key > net->next_ok ? top->key : net->next_ok);
}

void host_update(struct frontier *f, struct host *h)
{
    if (!h->ip)
        return;
    if (host_is_ready(h))
        heap_set(&h->ip->hosts, &h->node, h->next_ok);
    else
        heap_remove(&h->ip->hosts, &h->node);
    ip_update(f, h->ip);
}
