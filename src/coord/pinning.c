/* pinning.c - the operator's lines on who may crawl what (plan/pins.h), kept in the fleet store as they were written.
 *
 * The unit stays the network. Where lines are about several of its hosts, the most precise one decides; of two equally
 * precise ones the one that was written first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/pinning.h"
#include "coord/placing.h"

#define PINS_KEY SPAN("pins")
#define NAMES_SHOWN 20 /* in a complaint */

static void country_at(const struct coord *c, const struct addr *addr, char out[3])
{
    struct hierarchy_node node;
    uint32_t at = c->hierarchy ? hierarchy_network(c->hierarchy, addr) : HIERARCHY_NONE;
    out[0] = '\0';
    for (; at != HIERARCHY_NONE && !out[0]; at = node.parent) {
        hierarchy_get(c->hierarchy, at, &node);
        if (ascii_is_alpha(node.country[0]) && ascii_is_alpha(node.country[1]))
            memcpy(out, node.country, 3);
    }
}

/* Where it says that it is; else where its address is registered. */
void agent_country(const struct coord *c, const struct c_agent *a, char out[3])
{
    struct addr addr;
    const struct city *city =
        a->has_place ? cities_near(&c->cities, (struct spot){(float)a->latitude, (float)a->longitude}) : NULL;
    out[0] = '\0';
    if (city)
        memcpy(out, city->country, 3);
    else if (agent_addr(a, &addr))
        country_at(c, &addr, out);
}

void network_country(const struct coord *c, const struct c_network *n, char out[3])
{
    country_at(c, &n->network.first, out);
}

static struct span holder_of(const struct coord *c, const struct c_network *n)
{
    struct hierarchy_node node;
    uint32_t at = c->hierarchy ? hierarchy_network(c->hierarchy, &n->network.first) : HIERARCHY_NONE;
    if (at == HIERARCHY_NONE)
        return (struct span){0};
    hierarchy_get(c->hierarchy, at, &node);
    return node.holder ? hierarchy_holder_name(c->hierarchy, node.holder) : (struct span){0};
}

/* The line of `pins` that decides about a network; NULL. */
static const struct pin *pin_among(const struct coord *c, const struct pins *pins, const struct c_network *n)
{
    struct pin_site site = {.addr = n->network.first, .holder = holder_of(c, n)};
    const struct pin *best = NULL;
    if (!pins_count(pins))
        return NULL;
    network_country(c, n, site.country);
    for (size_t i = 0; i < n->host_count || i == 0; i++) {
        site.host = n->host_count ? span_str(n->hosts[i]->name) : (struct span){0};
        if (n->host_count && network_has(&n->network, &n->hosts[i]->addr))
            site.addr = n->hosts[i]->addr;
        const struct pin *pin = pins_find(pins, &site);
        if (pin && (!best || pin_is_before(pin, best)))
            best = pin;
    }
    return best;
}

const struct pin *pinning_of(const struct coord *c, const struct c_network *n)
{
    return c->pins ? pin_among(c, c->pins, n) : NULL;
}

/* ---- countries that owners refuse ---- */

static bool refuses(const struct c_agent *a, const char country[3])
{
    for (size_t i = 0; country[0] && i + 1 < a->refuses.n; i += 2)
        if (memcmp(a->refuses.p + i, country, 2) == 0)
            return true;
    return false;
}

/* Its country, when some agent's owner refuses that; "". */
static void refused_country(const struct coord *c, const struct c_network *n, char out[3])
{
    bool is_refused = false;
    out[0] = '\0';
    if (!c->refusing)
        return;
    network_country(c, n, out);
    for (size_t i = 0; i < c->agent_count && !is_refused; i++)
        is_refused = c->agents[i] && refuses(c->agents[i], out);
    if (!is_refused)
        out[0] = '\0';
}

void pinning_take_setup(struct coord *c, struct c_agent *a)
{
    struct arena arena;
    struct report r;
    bool did = a->refuses.n > 0;
    buf_clear(&a->refuses);
    arena_init(&arena);
    if (a->setup.n && report_unpack(&arena, buf_span(&a->setup), &r) == ST_OK)
        for (size_t i = 0; i < r.setup.refused_country_count; i++) {
            struct span code = r.setup.refused_countries[i];
            for (size_t k = 0; code.n == 2 && k < 2; k++)
                buf_putc(&a->refuses, ascii_is_alpha(code.p[k]) ? (char)(code.p[k] & ~0x20) : '?');
        }
    arena_done(&arena);
    c->refusing += (a->refuses.n > 0) - did;
}

void pinning_refused(struct coord *c, const struct c_agent *a)
{
    struct leavers l = {0};
    size_t at = 0;
    char country[3];
    if (!a->refuses.n)
        return;
    for (struct c_network *n; (n = table_next(&c->networks, &at));) {
        if (n->agent != a->number || n->state != NETWORK_OWNED)
            continue;
        network_country(c, n, country);
        if (!refuses(a, country))
            continue;
        n->is_fixed = false;
        leavers_add(&l, n);
    }
    assign_leave(c, &l, MOVE_PINNED, "the owner of its agent refuses this country");
}

/* ---- who may have a network ---- */

/* Into c->among, which grows as needed: good until the next call. `pin` may be NULL. */
static size_t list_allowed(struct coord *c, const struct pin *pin, const char country[3])
{
    size_t count = 0;
    struct pin_agent *agents = mem_alloc((c->agent_count + 1) * sizeof(*agents));
    c->among = mem_grow(c->among, &c->among_cap, c->agent_count + 1, sizeof(*c->among));
    for (size_t i = 0; i < c->agent_count; i++) {
        const struct c_agent *a = c->agents[i];
        if (!a || !a->name[0] || refuses(a, country))
            continue;
        c->among[count] = a->number;
        agents[count] = (struct pin_agent){.number = a->number, .name = span_str(a->name)};
        memcpy(agents[count++].country, a->country, 3);
    }
    if (pin)
        count = pin_agents(c->pins, pin, agents, count, c->among);
    free(agents);
    return count;
}

void pinning_ask(struct coord *c, const struct c_network *n, struct delegate_question *q)
{
    const struct pin *pin = pinning_of(c, n);
    char country[3];
    refused_country(c, n, country);
    if (!pin && !country[0])
        return;
    q->among_count = list_allowed(c, pin, country);
    q->among = c->among;
}

bool pinning_allows(struct coord *c, const struct c_network *n, uint64_t agent)
{
    const struct pin *pin = pinning_of(c, n);
    const struct c_agent *a = agent_get(c, agent);
    char country[3];
    refused_country(c, n, country);
    if (a && refuses(a, country))
        return false;
    size_t count = pin ? list_allowed(c, pin, country) : 0;
    for (size_t i = 0; i < count; i++)
        if (c->among[i] == agent)
            return true;
    return !pin;
}

/* ---- another text ---- */

/* Networks that are not where they may be leave. Those that a person moved there leave too: a line is a person's word
 * about more than one network. Those that a line held are decided anew. `was`: the lines before; may be NULL. */
static void apply(struct coord *c, struct pins *was)
{
    struct leavers l = {0};
    size_t at = 0;
    for (struct c_network *n; (n = table_next(&c->networks, &at));) {
        const struct pin *pin = n->state == NETWORK_OWNED ? pinning_of(c, n) : NULL;
        if (!pin || pinning_allows(c, n, n->agent)) {
            if (n->state == NETWORK_OWNED && !n->is_fixed && was && pin_among(c, was, n))
                placing_reconsider(c, n);
            continue;
        }
        struct span text = pin_text(pin);
        snprintf(n->why, sizeof(n->why), "line %u: %.*s", pin_line(pin), (int)(text.n < 120 ? text.n : 120), text.p);
        n->is_fixed = false;
        leavers_add(&l, n);
    }
    assign_leave(c, &l, MOVE_PINNED, NULL);
    c->has_free = true;
}

/* A name that is nobody's keeps its networks from everybody, and a slip of the pen looks like one of an agent that is
 * to come. So new lines name agents that are there; `orb agent add` makes one long before it joins. Lines that were
 * there before stay: their agent may have been removed. */
struct unknown {
    struct coord *c;
    struct table before; /* lines that were there, by their text */
    struct span name;    /* of the first line that has one; empty: there is none */
    unsigned line;
};

static void note_line(void *arg, struct span agent, struct span text, unsigned line)
{
    struct unknown *u = arg;
    (void)agent;
    (void)line;
    table_put(&u->before, siphash(&u->c->key, text), u->c);
}

static void note_unknown(void *arg, struct span agent, struct span text, unsigned line)
{
    struct unknown *u = arg;
    if ((u->name.n && u->line <= line) || agent_by_name(u->c, agent) ||
        table_get(&u->before, siphash(&u->c->key, text)))
        return;
    u->name = agent;
    u->line = line;
}

static void put_names(const struct coord *c, struct buf *out)
{
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < c->agent_count; i++) {
        const struct c_agent *a = c->agents[i];
        if (!a || !a->name[0])
            continue;
        if (shown == NAMES_SHOWN)
            more++;
        else
            buf_printf(out, "%s%s", shown++ ? ", " : "; there are: ", a->name);
    }
    if (more)
        buf_printf(out, " and %zu more", more);
    if (!shown)
        buf_puts(out, "; there are none yet");
}

static status check_names(struct coord *c, const struct pins *pins, struct buf *why)
{
    struct unknown u = {.c = c};
    if (c->pins)
        pins_each_agent(c->pins, note_line, &u);
    pins_each_agent(pins, note_unknown, &u);
    table_done(&u.before);
    if (!u.name.n)
        return ST_OK;
    buf_printf(why, "line %u: there is no agent \"%.*s\"", u.line, SPAN_ARG(utf8_cut(u.name, 64)));
    put_names(c, why);
    buf_puts(why, ". One that is to come later is added first (orb agent add)");
    return ST_INVALID;
}

status pinning_set(struct coord *c, struct span text, struct buf *why)
{
    struct pins *pins;
    status st = pins_read(text, &pins, why);
    if (st != ST_OK)
        return st;
    st = check_names(c, pins, why);
    if (st != ST_OK) {
        pins_free(pins);
        return st;
    }
    st = fleet_put(c->fleet, FLEET_SETTING, PINS_KEY, text.n ? text : SPAN("\n"));
    if (st != ST_OK) {
        pins_free(pins);
        buf_puts(why, "cannot be written down");
        return st;
    }
    struct pins *was = c->pins;
    c->pins = pins;
    buf_clear(&c->pins_text);
    buf_put(&c->pins_text, text);
    apply(c, was);
    pins_free(was);
    return ST_OK;
}

status pinning_load(struct coord *c, struct buf *why)
{
    status st = fleet_get(c->fleet, FLEET_SETTING, PINS_KEY, &c->pins_text);
    if (st == ST_NOT_FOUND)
        return ST_OK;
    if (st == ST_OK)
        st = pins_read(buf_span(&c->pins_text), &c->pins, why);
    return st;
}

void pinning_free(struct coord *c)
{
    pins_free(c->pins);
    buf_done(&c->pins_text);
    free(c->among);
}
