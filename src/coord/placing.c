/* placing.c - which agent a network belongs to: the strategy is asked, probes are ordered, answers are gathered, and
 * what ordinary requests tell later is watched.
 *
 *     free      ask -> given, or given on trial, or probes first; asked again with their results
 *     on trial  its agent crawls; the first round trip that it reports decides: it stays, others are probed, it moves
 *     settled   round trips are compared with what is remembered; when they have become worse, it is in doubt
 *     in doubt  as on trial, but a move must be worth it
 *
 * Nothing waits: a network whose probes are under way is looked at again when they are all in, or late. What was
 * measured is in the network's record, so that a restart asks again with it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/balancing.h"
#include "coord/diary.h"
#include "coord/forgetting.h"
#include "coord/pinning.h"
#include "coord/placing.h"
#include "io/clock.h"
#include "web/domain.h"

#define SITES_LOOKED_AT 64             /* of a network, for one that may be asked */
#define PROBE_LATE_MS 30000            /* then the agent counts as having had no answer */
#define TRIAL_LATE_MS (10 * 60 * 1000) /* on trial, and still no round trip */
#define TRIALS_LOOK_MS 60000
#define PROBES_OLD 128 /* of a network whose ways have changed: more are not kept */
#define TRIAL_GAIN_MS                                                                               \
    2.0 /* a network that was just given moves for this; a settled one for the floor of calibration \
         */

#define SPREAD_MS 20.0 /* a replicated site may be so much farther from whoever has least to do */
/* Networks on trial that are probed at a time, of a country: what one teaches saves the next a probe. The more are
 * known, the less one more teaches. */
#define PROBING_LEAST 4
#define PROBING_PART 2
#define DECISIONS_A_TICK 32
#define GATHER_MS 15000 /* after a restart of ours: agents come back before it is decided who is near */
#define MEETS_MAX 32    /* other agents that one measures itself against */

struct probe_wait {
    uint64_t id;
    struct c_network *network; /* NULL: the round trip to agent `other` */
    uint64_t agent, other;
    uint64_t order; /* its number at the agent */
    enum { FOR_DECISION, FOR_LOOK, FOR_BALANCE } purpose;
    mono_ms until;
};

/* ---- the question ---- */

struct delegate_question placing_question(struct coord *c, const struct c_network *n)
{
    struct delegate_question q = {
        .addr = n->network.first, .probes = n->probes, .probe_count = n->probe_count, .old_count = n->old_count};
    if (n->host_count) {
        if (network_has(&n->network, &n->hosts[0]->addr))
            q.addr = n->hosts[0]->addr;
        q.domain = domain_registered(span_str(n->hosts[0]->name));
    }
    pinning_ask(c, n, &q);
    return q;
}

void placing_probe_add(struct c_network *n, const struct delegate_probe *p)
{
    size_t at = n->old_count;
    while (at < n->probe_count && n->probes[at].agent != p->agent)
        at++;
    if (at == n->probe_count) { /* as many as there are agents: who asks for a probe must see what came of it */
        n->probes = mem_grow(n->probes, &n->probe_cap, n->probe_count + 1, sizeof(*n->probes));
        n->probe_count++;
    }
    n->probes[at] = *p;
}

const struct delegate_probe *placing_probe_of(const struct c_network *n, uint64_t agent)
{
    for (size_t i = n->old_count; i < n->probe_count; i++)
        if (n->probes[i].agent == agent)
            return &n->probes[i];
    return NULL;
}

/* What was measured before the world changed has said where the network is. */
static void forget_old(struct c_network *n)
{
    memmove(n->probes, n->probes + n->old_count, (n->probe_count - n->old_count) * sizeof(*n->probes));
    n->probe_count -= n->old_count;
    n->old_count = 0;
}

/* ---- probes ---- */

/* Into *out, unless it is forgotten: then nothing of it is asked for, not even how far it is. */
static void put_site(struct coord *c, struct span url, struct buf *out)
{
    struct arena a;
    struct url u;
    arena_init(&a);
    if (!out->n && url.n && url_parse(&a, url, NULL, &u) == ST_OK && !forgetting_has(c, &u))
        buf_put(out, url);
    arena_done(&a);
}

static void site_of_host(struct coord *c, const struct c_host *h, struct buf *out)
{
    struct arena a;
    struct buf root = {0};
    arena_init(&a);
    for (size_t i = 0; i < h->channel_count && !out->n; i++) {
        const struct channel_opts *o = channel_get_opts(h->channels[i]->channel);
        for (size_t k = 0; k < o->seed_count && k < 64 && !out->n; k++) {
            struct url u;
            if (url_parse(&a, o->seeds[k], NULL, &u) == ST_OK && span_is(u.host, h->name))
                put_site(c, o->seeds[k], out);
        }
    }
    struct span rest = buf_span(&h->seeds), url;
    if (span_split(&rest, '\n', &url))
        put_site(c, url, out);
    buf_printf(&root, "https://%s/", h->name);
    put_site(c, buf_span(&root), out);
    buf_done(&root);
    arena_done(&a);
}

/* A URL of a host of the network that some channel reaches, as the channel has it. False: there is none that may be
 * asked. */
static bool site_of(struct coord *c, const struct c_network *n, struct buf *out)
{
    for (size_t i = 0; i < n->host_count && i < SITES_LOOKED_AT && !out->n; i++)
        if (n->hosts[i]->channel_count)
            site_of_host(c, n->hosts[i], out);
    return out->n > 0;
}

static void send_probe(struct coord *c, struct c_agent *a, const struct probe_ask *ask)
{
    struct buf body = {0};
    probe_order_pack(&(struct probe_order){.probes = ask, .probe_count = 1}, &body);
    agent_order(c, a, ORDER_PROBE, buf_span(&body));
    buf_done(&body);
}

static void order_probe(struct coord *c, struct c_agent *a, struct probe_ask *ask, struct probe_wait w)
{
    ask->id = w.id = ++c->probe_id;
    w.agent = a->number;
    w.order = a->orders_given + 1;
    w.until = clock_mono() + PROBE_LATE_MS;
    c->waits = mem_grow(c->waits, &c->wait_cap, c->wait_count + 1, sizeof(*c->waits));
    c->waits[c->wait_count++] = w;
    if (w.network) /* not those between agents */
        diary_note_probes(c, 1);
    send_probe(c, a, ask);
}

static void order_probes(struct coord *c, struct c_network *n, const uint64_t *agents, unsigned count)
{
    struct buf site = {0};
    bool may_ask = site_of(c, n, &site);
    for (unsigned i = 0; i < count; i++) {
        struct c_agent *a = agent_get(c, agents[i]);
        if (a && a->is_joined && may_ask) {
            n->waiting++;
            n->asked++;
            order_probe(c, a, &(struct probe_ask){.url = buf_span(&site)}, (struct probe_wait){.network = n});
        } else
            placing_probe_add(n, &(struct delegate_probe){.agent = agents[i], .ms = -1});
    }
    buf_done(&site);
    if (!n->waiting)
        c->has_free = true;
}

static void order_one(struct coord *c, struct c_network *n, struct c_agent *a, int purpose)
{
    struct buf site = {0};
    if (site_of(c, n, &site))
        order_probe(c, a, &(struct probe_ask){.url = buf_span(&site)},
                    (struct probe_wait){.network = n, .purpose = purpose});
    buf_done(&site);
}

void placing_look(struct coord *c, struct c_network *n, struct c_agent *a)
{
    order_one(c, n, a, FOR_LOOK);
}

void placing_measure(struct coord *c, struct c_network *n, uint64_t agent)
{
    struct c_agent *a = agent_get(c, agent);
    for (size_t i = 0; i < c->wait_count; i++)
        if (c->waits[i].network == n && c->waits[i].agent == agent)
            return;
    if (a && a->is_joined)
        order_one(c, n, a, FOR_BALANCE);
}

/* ---- one after the other ---- */

/* Networks on trial are being crawled: they can wait for what their neighbours teach. 0: nobody knows where it is. */
static unsigned country_of(const struct coord *c, const struct c_network *n)
{
    struct hierarchy_node node;
    uint32_t at = c->hierarchy ? hierarchy_network(c->hierarchy, &n->network.first) : HIERARCHY_NONE;
    for (; at != HIERARCHY_NONE; at = node.parent) {
        hierarchy_get(c->hierarchy, at, &node);
        if (ascii_is_alpha(node.country[0]) && ascii_is_alpha(node.country[1]))
            return 1 + (unsigned)((node.country[0] & 31) * 32 + (node.country[1] & 31)) % (COORD_COUNTRIES - 1);
    }
    return 0;
}

static void defer(struct coord *c, struct c_network *n)
{
    if (n->is_deferred)
        return;
    c->deferred = mem_grow(c->deferred, &c->deferred_cap, c->deferred_count + 1, sizeof(struct c_network *));
    c->deferred[c->deferred_count++] = n;
    n->is_deferred = true;
}

static unsigned probing_max(const struct coord *c, unsigned country)
{
    unsigned part = c->decided[country] / PROBING_PART;
    return part > PROBING_LEAST ? part : PROBING_LEAST;
}

static bool must_wait(const struct coord *c, struct c_network *n)
{
    if (!n->country)
        n->country = (uint16_t)country_of(c, n);
    return n->country && c->probing[n->country] >= probing_max(c, n->country);
}

/* Its probes begin, or are all in. */
static void note_probing(struct coord *c, struct c_network *n, bool is_probed)
{
    if (is_probed == n->is_probed)
        return;
    n->is_probed = is_probed;
    c->probing[n->country] += is_probed ? 1 : -1;
}

/* ---- decisions ---- */

static void note_answer(struct coord *c, struct c_network *n, const struct delegate_answer *a)
{
    struct c_agent *liar = agent_get(c, a->refused);
    if (liar && agent_may_be_logged(liar))
        log_write(c->o.log, LOG_WARN, "assign", "a round trip that cannot be is not used agent=%s network=%s",
                  liar->name, n->text);
    n->expected_ms = (float)a->expected_ms;
    n->sure = (float)a->sure;
    n->is_provisional = a->is_provisional;
    n->is_replicated = a->is_replicated;
}

/* It answers from several places, so whoever has least to do should have it; once it is known that it is not much
 * farther from there, which takes one probe. True: that is under way. */
static bool spread(struct coord *c, struct c_network *n, const struct delegate_question *q, struct delegate_answer *a)
{
    const struct delegate_probe *best = placing_probe_of(n, a->agent), *there;
    if (!a->is_replicated || a->verdict != DELEGATE_TO)
        return false;
    if (!n->spread_to) {
        n->spread_to = balancing_idlest(c, q);
        if (n->spread_to && !placing_probe_of(n, n->spread_to)) {
            order_probes(c, n, &n->spread_to, 1);
            return true;
        }
    }
    there = placing_probe_of(n, n->spread_to);
    if (there && there->ms >= 0 && best && there->ms <= best->ms + SPREAD_MS && n->spread_to != a->agent) {
        a->agent = n->spread_to;
        a->expected_ms = there->ms;
        buf_clear(&a->why);
        buf_printf(&a->why, "it answers from several places, and this agent has least to do");
    }
    return false;
}

/* The order of decisions tells what the strategy had learned when it made them. */
static void note_decided(struct c_network *n)
{
    if (!n->decided)
        n->decided = clock_wall();
}

void placing_ask(struct coord *c, struct c_network *n, uint64_t not_agent)
{
    struct delegate_answer answer;
    struct delegate_question q = placing_question(c, n);
    if (n->waiting || !n->host_count)
        return;
    q.not_agent = not_agent;
    if (n->network.parts) { /* as near to one as to another */
        uint64_t idlest = balancing_idlest(c, &q);
        if (idlest)
            assign_give(c, n, idlest,
                        "a part of a network that answers from several places; this agent has least to do");
        else
            c->has_free = true;
        return;
    }
    delegator_ask(c->delegator, &q, &answer);
    const struct c_agent *owner = answer.is_known ? agent_get(c, answer.agent) : NULL;
    if (answer.is_known && !(owner && owner->is_told_open)) { /* it lives there, and takes nothing now */
        buf_done(&answer.why);
        q.not_agent = answer.agent;
        delegator_ask(c->delegator, &q, &answer);
    }
    bool is_spreading = spread(c, n, &q, &answer);
    if (answer.verdict == DELEGATE_TO && !is_spreading) {
        note_answer(c, n, &answer);
        uint64_t to = balancing_fit(c, n, answer.agent, &answer.why);
        n->is_trial = answer.is_trial && to == answer.agent;
        if (!n->is_trial)
            note_decided(n);
        assign_give(c, n, to, buf_cstr(&answer.why));
    } else if (answer.verdict == DELEGATE_PROBE)
        order_probes(c, n, answer.probes, answer.probe_count);
    else if (answer.verdict == DELEGATE_NOBODY) {
        snprintf(n->why, sizeof(n->why), "%s", buf_cstr(&answer.why));
        c->has_free = true;
    }
    buf_done(&answer.why);
}

/* One more is known of its country. */
static void count_decided(struct coord *c, struct c_network *n)
{
    if (!n->is_trial)
        return;
    if (!n->country)
        n->country = (uint16_t)country_of(c, n);
    c->decided[n->country]++;
}

/* It stays where it is. */
static void settle_here(struct coord *c, struct c_network *n, const char *why)
{
    if (n->old_count)
        forget_old(n);
    const struct delegate_probe *own = placing_probe_of(n, n->agent);
    struct delegate_question q = placing_question(c, n);
    count_decided(c, n);
    n->is_trial = false;
    note_decided(n);
    if (why)
        snprintf(n->why, sizeof(n->why), "%s", why);
    delegator_assigned(c->delegator, &q, n->agent);
    delegator_learn(c->delegator, &q);
    calibrate_decided(&n->calibration, &c->o.calibrate, own ? own->ms : -1, clock_wall());
    save_network(c, n);
    balancing_network(c, n);
    looks_won(c, n);
}

/* Without that the first request would say what is usual, however long it took by then. Only a move that calibration
 * asked for is followed by a time of quiet. */
void placing_given(struct coord *c, struct c_network *n)
{
    n->is_doubted = false; /* that was about the agent before */
    if (n->old_count)
        forget_old(n);
    const struct delegate_probe *own = placing_probe_of(n, n->agent);
    if (n->is_trial)
        return; /* settle_here() */
    if (n->move != MOVE_CALIBRATED) {
        n->calibration.base_ms = 0;
        n->calibration.samples = 0;
    }
    calibrate_decided(&n->calibration, &c->o.calibrate, own ? own->ms : -1, clock_wall());
}

/* Owned and on trial or in doubt: with all that was measured by now. */
static void decide(struct coord *c, struct c_network *n)
{
    const struct delegate_probe *own = placing_probe_of(n, n->agent);
    struct delegate_question q = placing_question(c, n);
    struct delegate_answer answer;
    if (n->waiting || n->state != NETWORK_OWNED || !n->host_count)
        return;
    if (n->is_fixed || assign_pinned(c, n) == n->agent) { /* a person has decided */
        note_probing(c, n, false);
        n->is_doubted = n->is_provisional = false;
        settle_here(c, n, NULL);
        return;
    }
    delegator_assigned(c->delegator, &q, 0); /* else it would say whose it is */
    delegator_ask(c->delegator, &q, &answer);
    note_answer(c, n, &answer);
    if (spread(c, n, &q, &answer)) {
        buf_done(&answer.why);
        return;
    }
    bool is_spread = answer.is_replicated && answer.agent == n->spread_to;
    const struct delegate_probe *other = placing_probe_of(n, answer.agent);
    double gain = !own || !other || other->ms < 0 ? 0 : own->ms < 0 ? INFINITY : own->ms - other->ms;
    bool is_worth = n->is_doubted ? calibrate_is_worth(&c->o.calibrate, own ? own->ms : 0, own ? own->ms - gain : 0)
                                  : gain >= TRIAL_GAIN_MS || is_spread;
    bool wants_probe = answer.verdict == DELEGATE_PROBE ||
                       /* Moving what is being crawled on a guess costs more than a probe. */
                       (answer.verdict == DELEGATE_TO && answer.agent != n->agent && answer.is_trial);
    if (!wants_probe)
        note_probing(c, n, false);
    if (wants_probe && !n->is_probed && must_wait(c, n))
        defer(c, n);
    else if (wants_probe) {
        note_probing(c, n, true);
        if (answer.verdict == DELEGATE_PROBE)
            order_probes(c, n, answer.probes, answer.probe_count);
        else
            order_probes(c, n, &answer.agent, 1);
    } else if (answer.verdict == DELEGATE_TO && answer.agent != n->agent && is_worth) {
        move_kind kind = n->is_doubted ? MOVE_CALIBRATED : MOVE_TRIAL;
        count_decided(c, n);
        n->is_trial = n->is_doubted = false;
        note_decided(n);
        if (n->old_count)
            forget_old(n);
        q = placing_question(c, n);
        delegator_learn(c->delegator, &q);
        if (assign_move(c, n, answer.agent, kind, buf_cstr(&answer.why)) != ST_OK)
            settle_here(c, n, NULL);
    } else {
        n->is_doubted = false;
        settle_here(c, n, answer.verdict == DELEGATE_TO && answer.agent == n->agent ? buf_cstr(&answer.why) : NULL);
    }
    buf_done(&answer.why);
}

static void look_again(struct coord *c, struct c_network *n)
{
    if (n->waiting)
        return;
    save_network(c, n);
    if (n->state == NETWORK_OWNED && (n->is_trial || n->is_doubted) && n->host_count) {
        decide(c, n);
        return;
    }
    note_probing(c, n, false); /* somebody moved it meanwhile */
    if (n->state == NETWORK_FREE)
        c->has_free = true;
}

/* ---- agents among themselves ---- */

static bool have_met(const struct c_agent *a, uint64_t other)
{
    for (size_t i = 0; i < a->rtt_count; i++)
        if (a->rtts[i].agent == other)
            return true;
    return false;
}

static void note_rtt(struct coord *c, struct c_agent *a, uint64_t other, uint32_t us)
{
    if (have_met(a, other))
        return;
    a->rtts = mem_grow(a->rtts, &a->rtt_cap, a->rtt_count + 1, sizeof(*a->rtts));
    a->rtts[a->rtt_count++] = (struct c_rtt){.agent = other, .us = us};
    delegator_agent_rtt(c->delegator, a->number, other, us / 1000.0);
    a->is_dirty = true;
}

void placing_meet(struct coord *c, struct c_agent *a)
{
    unsigned count = 0;
    for (size_t i = 0; i < c->agent_count && count < MEETS_MAX; i++) {
        struct c_agent *b = c->agents[i];
        struct addr addr;
        char text[ADDR_TEXT_MAX];
        if (!b || b == a || !b->is_joined || have_met(a, b->number) || have_met(b, a->number) || !agent_addr(b, &addr))
            continue;
        order_probe(c, a, &(struct probe_ask){.address = span_str(addr_format(&addr, text))},
                    (struct probe_wait){.other = b->number});
        count++;
    }
}

static void take_probe(struct coord *c, const struct probe_wait *w, const struct delegate_probe *p)
{
    struct c_network *n = w->network;
    if (w->purpose == FOR_DECISION)
        n->waiting--;
    else if (p->ms < 0 && placing_probe_of(n, p->agent))
        return; /* what was known before is worth more than silence */
    placing_probe_add(n, p);
    if (w->purpose == FOR_DECISION) {
        look_again(c, n);
        return;
    }
    save_network(c, n);
    balancing_network(c, n);
    if (w->purpose == FOR_LOOK)
        looks_result(c, n, p);
}

void placing_result(struct coord *c, struct c_agent *a, const struct probe_report *r)
{
    for (size_t i = 0; i < c->wait_count; i++) {
        struct probe_wait w = c->waits[i];
        if (w.id != r->id || w.agent != a->number)
            continue;
        struct delegate_probe p = {.agent = a->number, .ms = r->st == ST_OK ? r->min_us / 1000.0 : -1};
        if (!w.network) {
            c->waits[i] = c->waits[--c->wait_count];
            if (r->st == ST_OK)
                note_rtt(c, a, w.other, r->min_us);
            return;
        }
        if (addr_parse(r->address, &p.reached) != ST_OK)
            p.reached = (struct addr){0};
        c->waits[i] = c->waits[--c->wait_count];
        take_probe(c, &w, &p);
        return;
    }
}

/* ---- what ordinary requests tell ---- */

void placing_timing(struct coord *c, struct c_network *n, double path_ms, double total_ms)
{
    if (n->state != NETWORK_OWNED || !(path_ms > 0) || n->network.parts)
        return;
    bool was_measured = placing_probe_of(n, n->agent) != NULL;
    struct delegate_probe p = {.agent = n->agent, .ms = path_ms};
    if (n->is_trial) {
        if (n->waiting)
            return;
        placing_probe_add(n, &p);
        save_network(c, n); /* it may be the only time that this is told */
        decide(c, n);
    } else if (!was_measured) { /* decided without a look: now it is one more thing that is known */
        placing_probe_add(n, &p);
        settle_here(c, n, NULL);
    } else if (calibrate_note(&n->calibration, &c->o.calibrate, path_ms, total_ms, clock_wall()) && !n->is_doubted &&
               !n->is_fixed && !assign_pinned(c, n)) {
        n->is_doubted = true;
        if (n->probe_count > PROBES_OLD)
            n->probe_count = 0;
        n->old_count = n->probe_count; /* the world has changed */
        p.ms = calibration_ms(&n->calibration);
        placing_probe_add(n, &p);
        decide(c, n);
    }
}

/* Nobody waits for one who is not there. */
void placing_agent_away(struct coord *c, uint64_t agent)
{
    for (size_t i = 0; i < c->wait_count; i++)
        if (c->waits[i].agent == agent && c->waits[i].network)
            c->waits[i].until = 0;
}

/* Its probes were lost with the process. They are ordered again, and are late when they would have been. */
void placing_restarted(struct coord *c, struct c_agent *a)
{
    for (size_t i = 0; i < c->wait_count; i++) {
        struct probe_wait *w = &c->waits[i];
        struct c_agent *other = agent_get(c, w->other);
        struct probe_ask ask = {.id = w->id};
        struct buf site = {0};
        char text[ADDR_TEXT_MAX];
        struct addr addr;
        if (w->agent != a->number || w->order > a->orders_done) /* it has that order still */
            continue;
        w->order = a->orders_given + 1;
        if (w->network && site_of(c, w->network, &site))
            ask.url = buf_span(&site);
        else if (!w->network && other && agent_addr(other, &addr))
            ask.address = span_str(addr_format(&addr, text));
        if (ask.url.n || ask.address.n)
            send_probe(c, a, &ask);
        buf_done(&site);
    }
}

static void look_at_deferred(struct coord *c, mono_ms now)
{
    if (now < c->gathers_until)
        return;
    struct c_network **list = c->deferred;
    size_t count = c->deferred_count;
    unsigned left = DECISIONS_A_TICK;
    c->deferred = NULL;
    c->deferred_count = c->deferred_cap = 0;
    for (size_t i = 0; i < count; i++) {
        struct c_network *n = list[i];
        n->is_deferred = false;
        if (n->state != NETWORK_OWNED || !(n->is_trial || n->is_doubted))
            continue;
        if (left && c->probing[n->country] < probing_max(c, n->country)) {
            left--;
            decide(c, n);
        } else
            defer(c, n);
    }
    free(list);
}

/* On trial with an agent that gets no answer at all: that is no round trip, and it would stay there for good. It is
 * asked for a probe; when that fails too, others are looked at. */
static void look_at_trials(struct coord *c, mono_ms now)
{
    size_t at = 0;
    wall_ms wall = clock_wall();
    if (now - c->trials_looked < TRIALS_LOOK_MS)
        return;
    c->trials_looked = now;
    for (struct c_network *n; (n = table_next(&c->networks, &at));) {
        if (n->state != NETWORK_OWNED || !n->is_trial || n->waiting || n->is_deferred || !n->host_count ||
            n->network.parts || wall - n->since < TRIAL_LATE_MS || placing_probe_of(n, n->agent))
            continue;
        const struct c_agent *a = agent_get(c, n->agent);
        if (a && agent_is_there(c, a) && agent_is_in_hours(a, wall))
            order_probes(c, n, &n->agent, 1);
    }
}

void placing_tick(struct coord *c, mono_ms now)
{
    look_at_deferred(c, now);
    look_at_trials(c, now);
    for (size_t i = 0; i < c->wait_count;) {
        struct probe_wait w = c->waits[i];
        if (now < w.until) {
            i++;
            continue;
        }
        c->waits[i] = c->waits[--c->wait_count];
        if (!w.network)
            continue;
        take_probe(c, &w, &(struct delegate_probe){.agent = w.agent, .ms = -1});
    }
}

/* ---- after a start ---- */

/* The strategy learns again what it knew. */
void placing_begin(struct coord *c)
{
    size_t at = 0;
    for (size_t i = 0; i < c->agent_count; i++)
        for (size_t k = 0; c->agents[i] && k < c->agents[i]->rtt_count; k++)
            delegator_agent_rtt(c->delegator, c->agents[i]->number, c->agents[i]->rtts[k].agent,
                                c->agents[i]->rtts[k].us / 1000.0);
    for (struct c_network *n; (n = table_next(&c->networks, &at));) {
        if (n->state != NETWORK_OWNED || n->is_trial || n->network.parts)
            continue;
        struct delegate_question q = placing_question(c, n);
        delegator_assigned(c->delegator, &q, n->agent);
        if (n->probe_count)
            delegator_learn(c->delegator, &q);
    }
    at = 0;
    for (struct c_network *n; (n = table_next(&c->networks, &at));) {
        struct c_agent *a = n->state == NETWORK_FREE ? NULL : agent_get(c, n->agent);
        const struct delegate_probe *own = a ? placing_probe_of(n, n->agent) : NULL;
        if (a)
            a->networks++;
        if (own && own->ms > 0)
            n->rtt_us = (uint32_t)(own->ms * 1000);
        if (a && n->state == NETWORK_OWNED && n->is_trial) /* what was under way was lost with us */
            defer(c, n);
        balancing_network(c, n);
    }
    if (c->deferred_count)
        c->gathers_until = clock_mono() + GATHER_MS;
}

void placing_reconsider(struct coord *c, struct c_network *n)
{
    if (n->state != NETWORK_OWNED || n->waiting || n->network.parts)
        return;
    n->is_provisional = false;
    if (n->is_fixed)
        return;
    n->is_trial = true;
    if (placing_probe_of(n, n->agent))
        decide(c, n);
}

/* A wake-up call: networks that were given away while somebody slept. */
void placing_agent_awake(struct coord *c)
{
    size_t at = 0;
    for (struct c_network *n; (n = table_next(&c->networks, &at));)
        if (n->is_provisional)
            placing_reconsider(c, n);
}

void placing_free(struct coord *c)
{
    free(c->waits);
    free(c->deferred);
}
