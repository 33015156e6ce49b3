#include "lab/play/audit.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/siphash.h"

static const struct sip_key key = {0x61756469746c6564, 0x6765722072656164};

/* The last request to a host or an address. */
struct visited {
    double at;
    struct addr from;
};

void audit_init(struct audit *a, double pause_ms)
{
    *a = (struct audit){.pause_ms = pause_ms};
    a->host.least_ms = a->server.least_ms = a->handed.least_ms = INFINITY;
}

static void free_visits(struct table *t)
{
    struct visited *v;
    for (size_t at = 0; (v = table_next(t, &at));)
        free(v);
    table_done(t);
}

void audit_done(struct audit *a)
{
    free_visits(&a->hosts);
    free_visits(&a->servers);
    table_done(&a->seen);
    table_done(&a->by_addr);
    free(a->clients);
    *a = (struct audit){0};
}

/* ---- gaps ---- */

static void add_gap(const struct audit *a, struct audit_gaps *g, double ms)
{
    g->pairs++;
    g->close += ms < a->pause_ms;
    g->least_ms = ms < g->least_ms ? ms : g->least_ms;
}

/* `handed` may be NULL. Times are rounded to a microsecond again: their difference has noise below that. */
static void visit(const struct audit *a, struct table *t, uint64_t id, const struct audit_entry *e,
                  struct audit_gaps *gaps, struct audit_gaps *handed)
{
    struct visited *v = table_get(t, id);
    if (!v) {
        v = mem_alloc(sizeof(*v));
        table_put(t, id, v);
    } else {
        double ms = fabs(round((e->at - v->at) * 1e6)) / 1e3;
        add_gap(a, gaps, ms);
        if (handed && !addr_eq(&v->from, &e->from))
            add_gap(a, handed, ms);
    }
    *v = (struct visited){e->at, e->from};
}

/* ---- who and what ---- */

static uint64_t addr_id(const struct addr *a)
{
    unsigned char bytes[17] = {a->family};
    memcpy(bytes + 1, a->b, 16);
    return siphash(&key, span_of(bytes, sizeof(bytes)));
}

static struct audit_client *client_of(struct audit *a, const struct addr *from)
{
    uint64_t id = addr_id(from);
    uintptr_t at = (uintptr_t)table_get(&a->by_addr, id);
    if (at)
        return &a->clients[at - 1];
    if (a->client_count == AUDIT_CLIENTS_MAX)
        return NULL;
    a->clients = mem_grow(a->clients, &a->client_cap, a->client_count + 1, sizeof(*a->clients));
    a->clients[a->client_count++] = (struct audit_client){.addr = *from};
    table_put(&a->by_addr, id, (void *)(uintptr_t)a->client_count);
    return &a->clients[a->client_count - 1];
}

/* Returns whether nobody got it before. */
static bool see_page(struct audit *a, const struct audit_entry *e)
{
    struct sip_key k = {key.k0 ^ siphash(&key, e->host), key.k1};
    uint64_t id = siphash(&k, e->target);
    if (table_get(&a->seen, id))
        return false;
    table_put(&a->seen, id, a);
    return true;
}

static bool is_page(struct span target)
{
    return !span_is(target, "/robots.txt") && !span_starts(target, SPAN("/sitemap"));
}

void audit_add(struct audit *a, const struct audit_entry *e)
{
    struct audit_client *c = client_of(a, &e->from);
    a->first = a->requests == 0 || e->at < a->first ? e->at : a->first;
    a->last = a->requests == 0 || e->at > a->last ? e->at : a->last;
    a->requests++;
    a->bytes += e->bytes;
    a->forbidden += span_starts(e->target, SPAN("/private/"));
    a->robots += span_is(e->target, "/robots.txt");
    a->unchanged += e->status == 304;
    a->limited += e->status == 429;
    a->errors += e->status >= 500;
    if (c)
        c->requests++;
    else
        a->other_clients++;
    if (e->status == 200 && span_is(e->method, "GET") && is_page(e->target)) {
        bool is_new = see_page(a, e);
        a->pages += is_new;
        a->again += !is_new;
        if (c)
            c->pages += is_new;
    }
    visit(a, &a->hosts, siphash(&key, e->host), e, &a->host, &a->handed);
    visit(a, &a->servers, addr_id(&e->to), e, &a->server, NULL);
}

static void add_entry(void *arg, const struct audit_entry *e)
{
    audit_add(arg, e);
}

status audit_file(struct audit *a, const char *path, struct buf *why)
{
    return audit_read(path, add_entry, a, why);
}
