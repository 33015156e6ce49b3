#include "lab/map/lab_world.h"

#include <stdio.h>

#include "base/mem.h"

static const struct span servers = SPAN_INIT("servers");
#define NO_PLACE UINT32_MAX

static struct span lower(struct arena *a, struct span s)
{
    char *p = arena_bytes(a, s.n + 1);
    for (size_t i = 0; i < s.n; i++)
        p[i] = ascii_lower(s.p[i]);
    p[s.n] = '\0';
    return span_of(p, s.n);
}

static status add_host(struct map *m, unsigned place, const struct addr *a)
{
    struct network n = {.first = *a, .bits = a->family == 4 ? 32 : 128};
    return map_add_prefix(m, place, &n, a);
}

static status add_fixed(struct lab *l, struct span name, struct span node, const char *four, const char *six,
                        unsigned *place, struct buf *why)
{
    struct addr a4, a6;
    status st = map_add_place(l->map, name, node, place);
    if (st == ST_OK)
        st = addr_parse(span_str(four), &a4);
    if (st == ST_OK)
        st = addr_parse(span_str(six), &a6);
    if (st == ST_OK)
        st = add_host(l->map, *place, &a4);
    if (st == ST_OK)
        st = add_host(l->map, *place, &a6);
    if (st != ST_OK)
        buf_printf(why, "place %.*s of the world: %s", SPAN_ARG(name), status_name(st));
    return st;
}

/* A world's agents have IPv4 addresses only; half of its sites are reached by IPv6 too. */
static struct addr agent_addr6(size_t i)
{
    struct addr a;
    status st = addr_parse(SPAN(LAB_HQ6), &a);
    if (st != ST_OK)
        return (struct addr){0};
    a.b[6] = (uint8_t)((i + 1) >> 8);
    a.b[7] = (uint8_t)(i + 1);
    return a;
}

static status add_agent(struct lab *l, struct lab_world *w, size_t i, struct buf *why)
{
    const struct world_agent *a = world_agent(w->world, i);
    struct addr six = agent_addr6(i);
    status st = map_add_place(l->map, a->name, (struct span){0}, &w->agent_place[i]);
    if (st == ST_OK)
        st = add_host(l->map, w->agent_place[i], &a->addr);
    if (st == ST_OK && a->addr.family == 4)
        st = add_host(l->map, w->agent_place[i], &six);
    if (st != ST_OK)
        buf_printf(why, "agent %.*s of the world: %s", SPAN_ARG(a->name), status_name(st));
    else
        lab_add_spot(l, lower(&l->arena, a->name), a->spot);
    return st;
}

static void add_name(struct lab *l, struct span host, const struct addr *a)
{
    l->names = mem_grow(l->names, &l->name_cap, l->name_count + 1, sizeof(*l->names));
    l->names[l->name_count++] = (struct lab_name){host, *a, -1};
}

/* Sites that share an address share the place of the first of them; one that has an agent's address is left out: it
 * would have to be in two namespaces. */
static status add_site(struct lab *l, struct lab_world *w, size_t i, struct buf *why)
{
    const struct world_site *s = world_site(w->world, i);
    struct span host = lower(&l->arena, s->host);
    unsigned node, at;
    w->site_place[i] = NO_PLACE;
    if (map_at(l->map, &s->addr, &at) && map_find_node(l->map, servers, &node)) {
        if (map_place(l->map, at)->node != node)
            return ST_OK;
    } else {
        status st = map_add_place(l->map, host, servers, &at);
        if (st == ST_OK)
            st = add_host(l->map, at, &s->addr);
        if (st != ST_OK) {
            buf_printf(why, "site %.*s of the world: %s", SPAN_ARG(host), status_name(st));
            return st;
        }
        w->site_place[i] = at;
    }
    bool has6 = s->addr6.family == 6 && add_host(l->map, at, &s->addr6) == ST_OK;
    l->sites = mem_grow(l->sites, &l->site_cap, l->site_count + 1, sizeof(*l->sites));
    struct lab_site *mine = &l->sites[l->site_count++];
    *mine = lab_site_default();
    mine->host = host;
    mine->addr4 = s->addr;
    mine->addr6 = has6 ? s->addr6 : (struct addr){0};
    mine->pages = s->pages ? s->pages : 1;
    mine->bytes_per_page = s->bytes_per_page;
    mine->change_per_day = s->changes_per_day;
    lab_add_spot(l, host, s->spot);
    add_name(l, host, &s->addr);
    if (has6)
        add_name(l, host, &s->addr6);
    return ST_OK;
}

status lab_world_places(struct lab *l, struct lab_world *w, struct buf *why)
{
    if (w->agents > world_agent_count(w->world))
        w->agents = world_agent_count(w->world);
    if (w->sites > world_site_count(w->world))
        w->sites = world_site_count(w->world);
    if (w->agents == 0) {
        buf_puts(why, "the world has no agents");
        return ST_INVALID;
    }
    w->agent_place = arena_alloc(&l->arena, w->agents * sizeof(*w->agent_place));
    w->site_place = arena_alloc(&l->arena, (w->sites + 1) * sizeof(*w->site_place));
    lab_add_spot(l, SPAN("hq"), world_agent(w->world, w->hq)->spot);
    status st = add_fixed(l, SPAN("hq"), (struct span){0}, LAB_HQ4, LAB_HQ6, &w->hq_place, why);
    if (st == ST_OK)
        st = add_fixed(l, SPAN("dns"), servers, LAB_DNS4, LAB_DNS6, &w->dns_place, why);
    for (size_t i = 0; st == ST_OK && i < w->agents; i++)
        st = add_agent(l, w, i, why);
    for (size_t i = 0; st == ST_OK && i < w->sites; i++)
        st = add_site(l, w, i, why);
    if (st == ST_OK && l->dns.family == 0)
        st = addr_parse(SPAN(LAB_DNS4), &l->dns);
    return st;
}

static status set(struct lab *l, unsigned a, unsigned b, double rtt_ms)
{
    struct map_path p = {.rtt_ms = (float)rtt_ms};
    return map_set_path(l->map, a, b, &p);
}

static status site_paths(struct lab *l, const struct lab_world *w, size_t i)
{
    unsigned at = w->site_place[i];
    if (at == NO_PLACE)
        return ST_OK;
    status st = set(l, at, w->hq_place, world_rtt(w->world, i, w->hq));
    for (size_t j = 0; st == ST_OK && j < w->agents; j++)
        st = set(l, at, w->agent_place[j], world_rtt(w->world, i, j));
    return st;
}

status lab_world_paths(struct lab *l, const struct lab_world *w, struct buf *why)
{
    status st = set(l, w->hq_place, w->dns_place, w->dns_rtt_ms);
    for (size_t i = 0; st == ST_OK && i < w->agents; i++) {
        st = set(l, w->agent_place[i], w->dns_place, w->dns_rtt_ms);
        if (st == ST_OK)
            st = set(l, w->agent_place[i], w->hq_place, world_agent_rtt(w->world, i, w->hq));
        for (size_t j = 0; st == ST_OK && j < i; j++)
            st = set(l, w->agent_place[i], w->agent_place[j], world_agent_rtt(w->world, i, j));
    }
    for (size_t i = 0; st == ST_OK && i < w->sites; i++)
        st = site_paths(l, w, i);
    if (st != ST_OK)
        buf_printf(why, "a round trip of the world: %s", status_name(st));
    return st;
}
