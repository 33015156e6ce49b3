#include "sim/delegate_run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/clock.h"
#include "sim/delegate_game.h"
#include "sim/draw.h"

#define LAST_SITES 50 /* paper 000: "the last 50 URLs" */
#define TELL_EVERY 256

/* Agents are numbered from 1 for the strategy. */
static uint64_t number_of(size_t agent)
{
    return agent + 1;
}

static uint32_t agent_of_number(const struct game *g, uint64_t number)
{
    assert(number >= 1 && number <= g->agent_count);
    return (uint32_t)(number - 1);
}

bool sites_family_parse(struct span name, sites_family *out)
{
    static const char names[][5] = {[SITES_V4] = "4", [SITES_V6] = "6", [SITES_ALL] = "both"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (span_is(name, names[i])) {
            *out = (sites_family)i;
            return true;
        }
    return false;
}

/* ---- the strategy, and the time it takes ---- */

/* By which it is met. */
static const struct addr *addr_of(const struct game *g, size_t site)
{
    const struct world_site *s = world_site(g->world, site);
    return g->opts->family != SITES_V4 && s->addr6.family ? &s->addr6 : &s->addr;
}

struct delegate_question game_question(const struct game *g, size_t site, const struct delegate_probe *probes, size_t n)
{
    const struct world_site *s = world_site(g->world, site);
    return (struct delegate_question){
        .addr = *addr_of(g, site), .domain = world_site_domain(s), .probes = probes, .probe_count = n};
}

struct delegate_question game_net_question(const struct game *g, const struct game_net *n)
{
    struct delegate_question q = game_question(g, n->site, n->probes, n->probe_count);
    q.old_count = n->old_count;
    return q;
}

static void ask(struct game *g, const struct game_net *n, struct delegate_answer *answer)
{
    struct delegate_question q = game_net_question(g, n);
    *answer = (struct delegate_answer){0};
    int64_t begin = clock_thread_us();
    delegator_ask(g->delegator, &q, answer);
    g->strategy_us += clock_thread_us() - begin;
}

static void tell_assigned(struct game *g, const struct game_net *n, uint32_t agent)
{
    struct delegate_question q = game_net_question(g, n);
    int64_t begin = clock_thread_us();
    delegator_assigned(g->delegator, &q, agent == GAME_NO_AGENT ? 0 : number_of(agent));
    g->strategy_us += clock_thread_us() - begin;
}

static void let_learn(struct game *g, const struct game_net *n)
{
    struct delegate_question q = game_net_question(g, n);
    int64_t begin = clock_thread_us();
    delegator_learn(g->delegator, &q);
    g->strategy_us += clock_thread_us() - begin;
}

static void meet_agents(struct game *g)
{
    for (size_t i = 0; i < g->agent_count; i++) {
        const struct world_agent *a = world_agent(g->world, i);
        delegator_agent_put(g->delegator, &(struct delegator_agent){.number = number_of(i),
                                                                    .is_open = true,
                                                                    .weight = 1,
                                                                    .addr = a->addr,
                                                                    .has_spot = true,
                                                                    .spot = a->spot});
    }
    for (size_t i = 0; i < g->agent_count; i++)
        for (size_t j = i + 1; j < g->agent_count; j++)
            delegator_agent_rtt(g->delegator, number_of(i), number_of(j), world_agent_rtt(g->world, i, j));
}

/* ---- networks ---- */

static uint64_t network_key(const struct game *g, const struct addr *a)
{
    const struct hierarchy *h = g->opts->delegator.hierarchy;
    uint32_t node = h ? hierarchy_network(h, a) : HIERARCHY_NONE;
    if (node != HIERARCHY_NONE)
        return node;
    struct network net = addr_network(a);
    return draw_hash(1, span_of(&net.first, sizeof(net.first))) | UINT64_C(1) << 63;
}

static struct game_net *find_net(struct game *g, size_t site, bool *is_new)
{
    uint64_t key = network_key(g, addr_of(g, site));
    uintptr_t at = (uintptr_t)table_get(&g->by_network, key);
    *is_new = at == 0;
    if (at) {
        struct game_net *n = &g->nets[at - 1];
        g->next_site[n->last_site] = (uint32_t)site;
        n->last_site = (uint32_t)site;
        return n;
    }
    g->nets = mem_grow(g->nets, &g->net_cap, g->net_count + 1, sizeof(*g->nets));
    struct game_net *n = &g->nets[g->net_count++];
    *n = (struct game_net){
        .id = g->net_count, .site = (uint32_t)site, .last_site = (uint32_t)site, .agent = GAME_NO_AGENT};
    table_put(&g->by_network, key, (void *)(uintptr_t)g->net_count);
    return n;
}

void game_net_add_probe(struct game_net *n, const struct delegate_probe *p)
{
    n->probes = mem_grow(n->probes, &n->probe_cap, n->probe_count + 1, sizeof(*n->probes));
    n->probes[n->probe_count++] = *p;
}

void game_give(struct game *g, struct game_net *n, uint32_t agent)
{
    n->agent = agent;
    for (uint32_t s = n->site; s != GAME_NO_SITE; s = g->next_site[s])
        g->agent_of[s] = agent;
    tell_assigned(g, n, agent);
}

double game_cost(const struct game *g, const struct game_net *n, uint32_t agent)
{
    double sum = 0;
    for (uint32_t s = n->site; s != GAME_NO_SITE; s = g->next_site[s])
        sum += (double)world_site(g->world, s)->pages * ground_rtt(&g->ground, s, agent);
    return sum;
}

/* ---- a decision ---- */

void game_measure(struct game *g, struct game_net *n, uint64_t number)
{
    size_t before = 0;
    for (size_t i = 0; i < n->probe_count; i++)
        before += n->probes[i].agent == number;
    struct delegate_probe p = {.agent = number};
    p.ms = ground_probe(&g->ground, n->site, agent_of_number(g, number),
                        (unsigned)before + (g->ground.has_drifted ? 1000 : 0));
    game_net_add_probe(n, &p);
}

bool game_was_measured(const struct game_net *n, uint64_t number)
{
    for (size_t i = n->old_count; i < n->probe_count; i++)
        if (n->probes[i].agent == number)
            return true;
    return false;
}

void game_fetch(struct game *g, struct game_net *n, uint64_t number)
{
    if (n->trial_count < GAME_TRIALS)
        n->trials[n->trial_count++] = number;
    game_measure(g, n, number);
}

bool game_decide(struct game *g, struct game_net *n, struct delegate_answer *answer)
{
    /* Each question brings at least one measurement; nobody needs more than a few of each agent. */
    for (size_t left = 2 * g->agent_count + 16; left > 0; left--) {
        ask(g, n, answer);
        if (answer->verdict == DELEGATE_TO && answer->is_trial && n->trial_count < GAME_TRIALS) {
            game_fetch(g, n, answer->agent);
            buf_done(&answer->why);
            continue;
        }
        if (answer->verdict != DELEGATE_PROBE)
            return answer->verdict == DELEGATE_TO;
        assert(answer->probe_count > 0 && answer->probe_count <= DELEGATE_PROBES_MAX);
        for (unsigned i = 0; i < answer->probe_count; i++)
            game_measure(g, n, answer->probes[i]);
        buf_done(&answer->why);
    }
    assert(!"the strategy never comes to an end");
    return false;
}

size_t game_count_probes(const struct game_net *n, uint64_t owner)
{
    size_t fetches = 0;
    for (unsigned i = 0; i < n->trial_count; i++)
        fetches += n->trials[i] == owner;
    return n->probe_count - (fetches > 0);
}

static void note_surprise(struct game *g, const struct game_net *n, const struct delegate_answer *a)
{
    if (a->expected_ms < 0 || a->is_known)
        return;
    g->surprise_ms += fabs(a->expected_ms - ground_rtt(&g->ground, n->site, agent_of_number(g, a->agent)));
    g->surprises++;
}

/* ---- what is decided becomes known ---- */

static void forget_probes(struct game *g, struct game_net *n)
{
    if (g->balancer || g->opts->has_drift)
        return;
    free(n->probes); /* nobody asks for them again */
    n->probes = NULL;
    n->probe_count = n->probe_cap = 0;
}

static void publish(struct game *g, struct game_net *n)
{
    tell_assigned(g, n, n->agent);
    let_learn(g, n);
    forget_probes(g, n);
}

/* `met` sites were met; makes room for one more that is undecided. `learned` gives a network away at once and lets it
 * wait for its probes until its neighbours have taught what they can (coord/placing.c): of those that wait it has asked
 * about fewer, which is what counts here. */
static void publish_some(struct game *g, size_t met)
{
    double share = g->opts->arrive / (g->opts->delegator.strategy == DELEGATE_LEARNED ? GAME_PATIENCE : 1);
    for (;;) {
        size_t waiting = g->pending_to - g->pending_from, known = met > waiting ? met - waiting : 0;
        size_t most = (size_t)(share * (double)known);
        most = most > GAME_AT_ONCE ? most : GAME_AT_ONCE;
        if (waiting < most)
            return;
        publish(g, &g->nets[g->pending[g->pending_from++]]);
    }
}

static void decide_new(struct game *g, struct game_net *n, size_t at)
{
    struct delegate_answer a;
    bool is_decided = game_decide(g, n, &a);
    if (!is_decided) {
        g->nobody++;
        n->agent = 0;
        g->agent_of[n->site] = 0;
    } else {
        uint32_t agent = agent_of_number(g, a.agent);
        size_t probes = game_count_probes(n, a.agent);
        g->decisions += !a.is_known;
        g->probes += probes;
        g->measurements += n->probe_count;
        g->probes_of[at] = (uint16_t)(probes > UINT16_MAX ? UINT16_MAX : probes);
        note_surprise(g, n, &a);
        if (!game_was_measured(n, a.agent))
            game_fetch(g, n, a.agent);
        bool is_later = !a.is_known && g->opts->arrive > 0;
        if (is_later)
            g->pending[g->pending_to++] = (uint32_t)(n - g->nets);
        if (!a.is_known && !is_later) {
            game_give(g, n, agent);
            let_learn(g, n);
        } else
            n->agent = g->agent_of[n->site] = agent;
        if (g->balancer)
            game_balance_site(g, n, n->site, true, agent);
    }
    buf_done(&a.why);
    if (g->opts->arrive <= 0)
        forget_probes(g, n);
}

/* A site of a network that was met before: it goes with it. The strategy is asked all the same, as the coordinator
 * would, because what it says is the truth. */
static void join(struct game *g, struct game_net *n, size_t site)
{
    struct delegate_question q = game_question(g, site, NULL, 0);
    int64_t begin = clock_thread_us();
    uint64_t owner = delegator_owner(g->delegator, &q.addr);
    g->strategy_us += clock_thread_us() - begin;
    g->agent_of[site] = owner ? agent_of_number(g, owner) : n->agent;
    if (g->balancer)
        game_balance_site(g, n, site, false, n->agent);
}

static void meet(struct game *g, size_t at)
{
    bool is_new;
    size_t site = g->order[at];
    if (g->opts->arrive > 0)
        publish_some(g, at);
    struct game_net *n = find_net(g, site, &is_new);
    if (is_new)
        decide_new(g, n, at);
    else
        join(g, n, site);
}

/* ---- the game ---- */

static void order_at_random(struct game *g, size_t all)
{
    struct rng r = draw_for(g->opts->seed, DRAW_ORDER, 0, 0);
    for (size_t i = 0; i < all; i++) {
        size_t j = rng_below(&r, i + 1);
        g->order[i] = g->order[j];
        g->order[j] = (uint32_t)i;
    }
}

static void order_as_told(struct game *g, size_t all)
{
    bool *is_told = mem_alloc(all);
    size_t n = 0;
    for (; n < g->opts->met_count; n++) {
        g->order[n] = g->opts->met[n];
        is_told[g->opts->met[n]] = true;
    }
    for (size_t i = 0; i < all; i++)
        if (!is_told[i])
            g->order[n++] = (uint32_t)i;
    free(is_told);
}

static void begin_game(struct game *g, const struct world *w, const struct delegate_run_opts *o)
{
    struct delegator_opts delegator = o->delegator;
    struct ground_opts ground = o->ground;
    delegator.seed = o->seed;
    ground.seed = o->seed;
    size_t all = world_site_count(w), met = 0;
    *g = (struct game){.world = w, .opts = o, .agent_count = world_agent_count(w)};
    ground_init(&g->ground, w, &ground);
    g->delegator = delegator_new(&delegator);
    g->order = mem_alloc(all * sizeof(*g->order));
    g->agent_of = mem_alloc(all * sizeof(*g->agent_of));
    g->next_site = mem_alloc(all * sizeof(*g->next_site));
    g->probes_of = mem_alloc(all * sizeof(*g->probes_of));
    g->pending = mem_alloc(all * sizeof(*g->pending));
    for (size_t i = 0; i < all; i++)
        g->next_site[i] = GAME_NO_SITE;
    if (o->arrive > 0)
        order_as_told(g, all);
    else
        order_at_random(g, all);
    for (size_t i = 0; i < all; i++)
        if (o->family != SITES_V6 || world_site(w, g->order[i])->addr6.family)
            g->order[met++] = g->order[i];
    g->site_count = o->sites && o->sites < met ? o->sites : met;
    meet_agents(g);
    game_balance_begin(g);
}

static void end_game(struct game *g, struct delegate_result *out)
{
    delegator_free(g->delegator);
    balancer_free(g->balancer);
    for (size_t i = 0; i < g->net_count; i++)
        free(g->nets[i].probes);
    free(g->nets);
    free(g->next_site);
    free(g->pending);
    table_done(&g->by_network);
    out->order = g->order;
    out->agent_of = g->agent_of;
    out->probes_of = g->probes_of;
}

static double mean_probes(const struct game *g, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += g->probes_of[i];
    return to > from ? sum / (double)(to - from) : 0;
}

static void fill_figures(struct game *g, struct delegate_figures *f)
{
    size_t n = g->site_count, tenth = n / 10 ? n / 10 : n;
    *f = (struct delegate_figures){.sites = n,
                                   .agents = g->agent_count,
                                   .networks = g->net_count,
                                   .decisions = g->decisions,
                                   .nobody = g->nobody,
                                   .moves = g->moves,
                                   .events = g->events,
                                   .drift = g->drift,
                                   .balance_best = -1,
                                   .balance_exact = -1,
                                   .balance_ratio = -1};
    quality_measure(&g->ground, g->order, n, g->agent_of, &f->quality);
    baseline_measure(&g->ground, g->order, n, &f->baseline);
    f->probes = (double)g->probes / (double)n;
    f->measurements = (double)g->measurements / (double)n;
    f->probes_first = mean_probes(g, 0, tenth);
    f->probes_last = mean_probes(g, n - tenth, n);
    f->probes_last50 = mean_probes(g, n > LAST_SITES ? n - LAST_SITES : 0, n);
    f->cpu_us = g->decisions ? (double)g->strategy_us / (double)g->decisions : 0;
    f->off_ms = g->surprises ? g->surprise_ms / (double)g->surprises : -1;
    if (g->balancer)
        game_balance_end(g, f);
}

void delegate_run(const struct world *w, const struct delegate_run_opts *o, struct delegate_result *out)
{
    struct game g;
    begin_game(&g, w, o);
    for (size_t i = 0; i < g.site_count; i++) {
        meet(&g, i);
        if (o->tell && i % TELL_EVERY == 0)
            o->tell(o->arg, i, g.site_count);
    }
    while (g.pending_from < g.pending_to)
        publish(&g, &g.nets[g.pending[g.pending_from++]]);
    if (o->has_drift)
        game_drift(&g);
    fill_figures(&g, &out->figures);
    end_game(&g, out);
}

void delegate_result_done(struct delegate_result *r)
{
    free(r->probes_of);
    free(r->agent_of);
    free(r->order);
    *r = (struct delegate_result){0};
}
