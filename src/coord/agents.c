/* agents.c - registering agents, what they are told, and whether they are there. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "codec/armor.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/balancing.h"
#include "coord/forgetting.h"
#include "coord/pinning.h"
#include "coord/placing.h"
#include "coord/polls.h"
#include "io/zones.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "plan/sanity.h"

#define POLL_MS_DEFAULT 10000
#define SAVE_MS 30000 /* figures that only people look at are written this often */
#define PRUNE_MS (60ll * 60 * 1000)
#define PACKAGES_KEPT 64 /* of an agent, applied: its record says which one was the last */

struct c_agent *agent_get(struct coord *c, uint64_t number)
{
    return number && number <= c->agent_count ? c->agents[number - 1] : NULL;
}

struct c_agent *agent_by_name(struct coord *c, struct span name)
{
    for (size_t i = 0; i < c->agent_count; i++)
        if (c->agents[i] && name.n && span_is(name, c->agents[i]->name))
            return c->agents[i];
    return NULL;
}

/* ---- tokens ---- */

void agent_token_line(struct coord *c, const unsigned char token[JOIN_TOKEN_BYTES], struct buf *line)
{
    struct join_line j = {.port = coord_port(c), .is_plain = c->o.is_plain, .fingerprint = c->id.fingerprint};
    struct span host = c->o.public_host, port = {0};
    size_t colon = host.n;
    while (colon > 0 && host.p[colon - 1] != ':')
        colon--;
    if (colon > 0 && host.p[host.n - 1] != ']') {
        uint64_t n;
        port = span_from(host, colon);
        host = span_cut(host, 0, colon - 1);
        if (span_u64(port, 65535, &n))
            j.port = (int)n;
    }
    if (host.n > 1 && host.p[0] == '[')
        host = span_cut(host, 1, host.n - 2);
    if (!host.n) {
        char text[ADDR_TEXT_MAX];
        host = span_str(addr_format(&c->o.addr, text));
        memcpy(j.host, host.p, host.n < sizeof(j.host) - 1 ? host.n : sizeof(j.host) - 1);
    } else {
        memcpy(j.host, host.p, host.n < sizeof(j.host) - 1 ? host.n : sizeof(j.host) - 1);
    }
    memcpy(j.token, token, sizeof(j.token));
    join_line_format(&j, line);
}

status agent_invite(struct coord *c, struct c_agent *a, struct buf *line)
{
    unsigned char token[JOIN_TOKEN_BYTES];
    status st = entropy_draw(token, sizeof(token));
    if (st != ST_OK)
        return st;
    struct digest256 d = digest_sha256(span_of((const char *)token, sizeof(token)));
    memcpy(a->token, d.b, sizeof(a->token));
    a->token_until = clock_wall() + COORD_TOKEN_MS;
    a->is_token_used = false;
    save_agent(c, a);
    agent_token_line(c, token, line);
    sign_wipe(token, sizeof(token));
    return ST_OK;
}

/* ---- settings ---- */

static status take_form(const struct coord *c, struct c_agent *a, const struct agent_form *f, struct buf *why)
{
    struct hours h;
    status st = hours_parse(f->hours, &h, why);
    if (st != ST_OK)
        return st;
    if (h.zone[0] && !zone_is_known(h.zone)) {
        buf_printf(why, "no time zone is called %s", h.zone);
        return ST_INVALID;
    }
    agent_state state = a->settings.state ? a->settings.state : AGENT_RUN;
    struct buf text = {0};
    hours_format(&h, &text);
    a->hours = h;
    set_text(a->hours_text, sizeof(a->hours_text), buf_span(&text));
    buf_done(&text);
    a->settings = f->settings;
    a->settings.state = state;
    a->settings.hours = span_str(a->hours_text);
    set_text(a->place, sizeof(a->place), f->place);
    a->latitude = f->latitude;
    a->longitude = f->longitude;
    a->has_place = f->has_place;
    const struct city *city = f->has_place ? NULL : cities_named(&c->cities, f->place);
    if (city) {
        a->latitude = city->spot.latitude;
        a->longitude = city->spot.longitude;
        a->has_place = true;
    }
    return ST_OK;
}

static void order_settings(struct coord *c, struct c_agent *a)
{
    struct buf b = {0};
    agent_settings_pack(&a->settings, &b);
    agent_order(c, a, ORDER_SETTINGS, buf_span(&b));
    buf_done(&b);
    agent_tell_delegator(c, a);
}

void agent_greet(struct coord *c, struct c_agent *a)
{
    order_settings(c, a);
    if (c->forgotten_list.n)
        forgetting_greet(c, a);
}

status agent_add(struct coord *c, const struct agent_form *f, struct c_agent **out, struct buf *line, struct buf *why)
{
    if (!join_name_is_good(f->name)) {
        buf_printf(why, "a name is 1 to %d letters, digits, '-', '_' and '.'", JOIN_NAME_MAX);
        return ST_INVALID;
    }
    if (agent_by_name(c, f->name)) {
        buf_puts(why, "there is an agent of this name");
        return ST_EXISTS;
    }
    if (c->agent_count >= COORD_AGENTS_MAX) {
        buf_printf(why, "there are %d agents", COORD_AGENTS_MAX);
        return ST_LIMIT;
    }
    struct c_agent *a = mem_alloc(sizeof(*a));
    set_text(a->name, sizeof(a->name), f->name);
    status st = take_form(c, a, f, why);
    if (st != ST_OK) {
        free(a);
        return st;
    }
    c->agents = mem_grow(c->agents, &c->agent_cap, c->agent_count + 1, sizeof(struct c_agent *));
    c->agents[c->agent_count++] = a;
    a->number = c->agent_count;
    a->added = clock_wall();
    a->probation_left = f->is_trusted ? 0 : COORD_PROBATION_PAGES;
    a->wants_setup = true;
    st = agent_invite(c, a, line);
    if (st == ST_OK)
        agent_greet(c, a);
    *out = a;
    return st;
}

status agent_change(struct coord *c, struct c_agent *a, const struct agent_form *f, struct buf *why)
{
    status st = take_form(c, a, f, why);
    if (st != ST_OK)
        return st;
    save_agent(c, a);
    order_settings(c, a);
    return ST_OK;
}

void agent_set_state(struct coord *c, struct c_agent *a, agent_state s)
{
    a->settings.state = s;
    save_agent(c, a);
    order_settings(c, a);
    if (s == AGENT_DRAIN)
        assign_leave_agent(c, a->number, "the agent is drained");
}

/* ---- orders ---- */

void agent_order(struct coord *c, struct c_agent *a, order_kind kind, struct span body)
{
    struct buf b = {0};
    struct order o = {.number = a->orders_given + 1, .kind = kind, .body = body};
    bool is_part = fleet_is_begun(c->fleet);
    status st = is_part ? ST_OK : fleet_begin(c->fleet);
    order_pack(&o, &b);
    if (st == ST_OK)
        st = fleet_order_put(c->fleet, a->number, o.number, buf_span(&b));
    if (st == ST_OK) {
        a->orders_given++;
        save_agent(c, a);
    }
    if (!is_part && fleet_is_begun(c->fleet)) {
        if (st == ST_OK)
            st = fleet_commit(c->fleet, false);
        else
            fleet_rollback(c->fleet);
        if (st == ST_OK)
            polls_wake(c, a);
        else
            a->orders_given = o.number - 1;
    }
    note_trouble(c, st, "write down an order");
    buf_done(&b);
}

static status find_identity(void *arg, uint64_t number, struct span packed)
{
    struct order o;
    bool *is_open = arg;
    *is_open |= order_unpack(packed, &o) == ST_OK && o.kind == ORDER_IDENTITY;
    return ST_OK;
}

bool agent_has_identity_order(struct coord *c, const struct c_agent *a)
{
    bool is_open = false;
    note_trouble(c, fleet_order_each(c->fleet, a->number, a->orders_done, find_identity, &is_open), "read orders");
    return is_open;
}

void agent_tell_identity(struct coord *c, struct c_agent *a)
{
    struct span key = span_of((const char *)c->id.key.open.b, sizeof(c->id.key.open.b));
    struct signature sig;
    struct buf body = {0};
    sign_make(&c->id.old_key, key, &sig);
    identity_order_pack(&(struct identity_order){.identity = key, .sig = span_of(sig.b, sizeof(sig.b))}, &body);
    agent_order(c, a, ORDER_IDENTITY, buf_span(&body));
    buf_done(&body);
}

bool agent_takes_more(const struct c_agent *a)
{
    return a->orders_given - a->orders_done < COORD_ORDERS_WAITING;
}

/* ---- how much it may cost ---- */

bool allowance_take(struct allowance *p, double per_s, double burst, mono_ms now)
{
    p->left = p->at ? p->left + (double)(now - p->at) * per_s / 1000 : burst;
    if (p->left > burst)
        p->left = burst;
    p->at = now;
    if (p->left < 1)
        return false;
    p->left -= 1;
    return true;
}

bool agent_may_be_logged(struct c_agent *a)
{
    return allowance_take(&a->talk, 0.5, 20, clock_mono());
}

/* ---- there or not ---- */

static int32_t offset_of(void *arg, wall_ms at)
{
    return zone_offset_of(arg, at);
}

bool agent_is_in_hours(const struct c_agent *a, wall_ms at)
{
    return hours_is_open(&a->hours, at, offset_of, (void *)a->hours.zone);
}

static int64_t poll_ms(const struct c_agent *a)
{
    return a->settings.poll_ms ? a->settings.poll_ms : POLL_MS_DEFAULT;
}

/* Since when it is silent. A poll that waits is no silence: it was our turn to speak. After a restart of ours the
 * silence counts from then: agents had nobody to talk to. */
static mono_ms silent_since(const struct coord *c, const struct c_agent *a)
{
    mono_ms since = a->answered_mono > a->heard_mono ? a->answered_mono : a->heard_mono;
    return since ? since : c->started;
}

static int64_t move_after(const struct coord *c)
{
    return c->o.move_after_ms ? c->o.move_after_ms : COORD_MOVE_AFTER_MS;
}

/* For longer than it may be. */
static bool is_silent(const struct coord *c, const struct c_agent *a)
{
    int64_t most = 3 * poll_ms(a) + 30000;
    if (most > move_after(c)) /* somebody wants to know sooner */
        most = move_after(c);
    return !a->poll && clock_mono() - silent_since(c, a) >= most;
}

bool agent_is_there(const struct coord *c, const struct c_agent *a)
{
    return a->is_joined && (a->poll || a->heard_mono) && !is_silent(c, a);
}

bool agent_is_missed(const struct coord *c, const struct c_agent *a)
{
    return a->is_joined && is_silent(c, a) && agent_is_in_hours(a, clock_wall());
}

bool agent_may_work(const struct coord *c, const struct c_agent *a)
{
    return a->is_joined && !a->is_demoted && a->settings.state == AGENT_RUN;
}

/* May be given networks: it works, and is there or asleep. */
static bool is_open(const struct coord *c, const struct c_agent *a)
{
    bool has_enough = a->probation_left && a->networks >= COORD_PROBATION_NETWORKS && c->trusted >= SANITY_WITNESSES;
    bool is_full = c->o.no_balance && balancer_room(c->balancer, a->number) <= 0;
    return agent_may_work(c, a) && !has_enough && !is_full &&
           (agent_is_there(c, a) || !agent_is_in_hours(a, clock_wall()));
}

/* As we see it; else, when it is on our own network, as it says. */
bool agent_addr(const struct c_agent *a, struct addr *out)
{
    struct arena arena;
    struct report r;
    struct addr said;
    bool is_known = a->peer.family && addr_classify(&a->peer) == ADDR_PUBLIC;
    if (is_known)
        *out = a->peer;
    arena_init(&arena);
    if (!is_known && a->setup.n && report_unpack(&arena, buf_span(&a->setup), &r) == ST_OK &&
        addr_parse(r.setup.address, &said) == ST_OK && addr_classify(&said) == ADDR_PUBLIC) {
        *out = said;
        is_known = true;
    }
    arena_done(&arena);
    return is_known;
}

void agent_tell_delegator(struct coord *c, struct c_agent *a)
{
    a->is_told_open = is_open(c, a);
    bool was_asleep = a->is_told_asleep;
    a->is_told_asleep = a->is_joined && !agent_is_in_hours(a, clock_wall());
    struct delegator_agent d = {.number = a->number,
                                .is_open = a->is_told_open,
                                .is_asleep = a->is_told_asleep,
                                .weight = a->probation_left ? 0.25 : 1,
                                .has_spot = a->has_place,
                                .spot = {(float)a->latitude, (float)a->longitude}};
    (void)agent_addr(a, &d.addr);
    if (a->settings.bytes_a_day)
        d.weight *= (double)a->settings.bytes_a_day / 10e9 < 1 ? (double)a->settings.bytes_a_day / 10e9 : 1;
    if (d.weight < 0.01)
        d.weight = 0.01;
    d.is_new = a->probation_left != 0;
    delegator_agent_put(c->delegator, &d);
    agent_country(c, a, a->country);
    balancing_agent(c, a);
    if (was_asleep && !a->is_told_asleep)
        placing_agent_awake(c);
}

void agent_remove(struct coord *c, struct c_agent *a)
{
    uint64_t number = a->number;
    log_write(c->o.log, LOG_INFO, "agents", "removed name=%s", a->name);
    delegator_agent_remove(c->delegator, number);
    balancer_agent_remove(c->balancer, number);
    /* Its key is worth nothing from here on. What it had is free once its lease is over: it may not know yet. */
    memset(&a->key, 0, sizeof(a->key));
    a->is_joined = false;
    a->is_told_open = a->is_told_asleep = false; /* nobody looks after a nameless one any more */
    a->settings.state = AGENT_DRAIN;
    assign_leave_agent(c, number, "the agent was removed");
    note_trouble(c, fleet_orders_drop(c->fleet, number), "forget orders");
    remove_agent(c, a);
    polls_wake(c, a);
    a->name[0] = '\0'; /* free for another one; the rest goes with the last network */
    a->is_dirty = false;
}

static void notice_absence(struct coord *c, struct c_agent *a, mono_ms now)
{
    bool is_away = agent_is_missed(c, a);
    if (is_away != a->was_away) {
        a->was_away = is_away;
        if (is_away)
            placing_agent_away(c, a->number);
        log_write(c->o.log, is_away ? LOG_WARN : LOG_INFO, "agents", is_away ? "not heard name=%s" : "back name=%s",
                  a->name);
    }
    if (a->is_told_open != is_open(c, a) ||
        a->is_told_asleep != (a->is_joined && !agent_is_in_hours(a, clock_wall()))) {
        agent_tell_delegator(c, a);
        c->has_free = true;
    }
    if (is_away && a->networks && now - silent_since(c, a) > move_after(c))
        assign_leave_agent(c, a->number, "the agent has not been heard for too long");
}

/* The ledger has a line for each package that ever came. */
static void prune_packages(struct coord *c, mono_ms now)
{
    if (c->packages_pruned && now - c->packages_pruned < PRUNE_MS)
        return;
    c->packages_pruned = now;
    note_trouble(c, fleet_packages_prune(c->fleet, PACKAGES_KEPT), "forget packages that were applied");
}

void agents_tick(struct coord *c, mono_ms now)
{
    bool save = now - c->agents_saved >= SAVE_MS;
    unsigned trusted = 0;
    for (size_t i = 0; i < c->agent_count; i++) {
        struct c_agent *a = c->agents[i];
        if (!a || !a->name[0])
            continue;
        trusted += a->is_told_open && !a->probation_left;
        notice_absence(c, a, now);
        if (save && a->is_dirty)
            save_agent(c, a);
    }
    c->trusted = trusted;
    if (save) {
        c->agents_saved = now;
        records_save_again(c);
    }
    prune_packages(c, now);
}
