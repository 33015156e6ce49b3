/* balance_run.c - capacity in the game: who moves when something does not fit, and what the referee says of it. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/delegate_game.h"
#include "sim/optimum.h"

/* A site larger than this share of an agent is crawled over several days: else a single one could fit nowhere. */
#define SITE_SHARE_MAX 0.125
#define DOUBTS 2                /* measured each time that something does not fit */
#define PLANS 8                 /* made anew because something was measured */
#define JUDGE_CELLS_MAX 2000000 /* networks x agents up to which every choice is judged */

static bool is_ours(const struct game *g)
{
    return !g->opts->balance || g->opts->balance == BALANCE_GAIN;
}

static double site_load(const struct game *g, const struct world_site *s)
{
    double bytes = (double)s->pages * (double)s->bytes_per_page;
    return fmin(bytes, SITE_SHARE_MAX * g->capacity);
}

void game_balance_begin(struct game *g)
{
    const struct delegate_run_opts *o = g->opts;
    if (!(o->capacity_share > 0) && !(o->capacity_bytes > 0))
        return;
    double total = 0;
    for (size_t i = 0; i < g->site_count; i++) {
        const struct world_site *s = world_site(g->world, g->order[i]);
        total += (double)s->pages * (double)s->bytes_per_page;
    }
    g->capacity = o->capacity_bytes > 0 ? o->capacity_bytes : o->capacity_share * total / (double)g->agent_count;
    /* Cutting large sites makes the whole smaller, and with it a fair share: a few rounds settle it. */
    for (int round = 0; round < 20 && o->capacity_share > 0 && !(o->capacity_bytes > 0); round++) {
        total = 0;
        for (size_t i = 0; i < g->site_count; i++)
            total += site_load(g, world_site(g->world, g->order[i]));
        g->capacity = o->capacity_share * total / (double)g->agent_count;
    }
    g->balancer = balancer_new(o->balance ? o->balance : BALANCE_GAIN);
    for (size_t i = 0; i < g->agent_count; i++)
        balancer_agent_put(g->balancer,
                           &(struct balance_agent){.number = i + 1, .capacity = g->capacity, .is_open = true});
}

static void put(struct game *g, const struct game_net *n, bool has_agent)
{
    struct delegate_estimate expected[BALANCE_PROBES_MAX];
    struct delegate_question q = game_net_question(g, n);
    size_t count = delegator_estimates(g->delegator, &q, expected, BALANCE_PROBES_MAX);
    balancer_network_put(g->balancer, &(struct balance_network){.id = n->id,
                                                                .agent = has_agent ? n->agent + 1 : 0,
                                                                .load = n->load,
                                                                .pages = n->pages,
                                                                .probes = n->probes,
                                                                .probe_count = n->probe_count,
                                                                .estimates = expected,
                                                                .estimate_count = count});
}

static void measure(struct game *g, uint64_t network, uint64_t agent, const struct game_net *fresh)
{
    struct game_net *n = &g->nets[network - 1];
    game_measure(g, n, agent);
    g->balance_probes++;
    put(g, n, n != fresh);
}

/* Nothing moves on a guess, but by the papers' rules, which have none. True: something was measured, plan anew. */
static bool look_first(struct game *g, const struct balance_plan *plan, const struct game_net *fresh)
{
    bool is_news = false;
    for (unsigned i = 0; i < plan->count && is_ours(g); i++)
        if (plan->moves[i].is_guess) {
            measure(g, plan->moves[i].network, plan->moves[i].to, fresh);
            is_news = true;
        }
    return is_news;
}

/* Something that nobody measured may be a better choice. */
static bool look_elsewhere(struct game *g, uint32_t agent, double need, double cost, const struct game_net *fresh)
{
    struct balance_doubt doubt;
    bool is_any = is_ours(g) && balancer_doubt(g->balancer, agent + 1, need, cost, &doubt);
    if (is_any)
        measure(g, doubt.network, doubt.from, fresh);
    return is_any;
}

/* ---- the referee ---- */

static double true_cost(const struct game *g, const struct balance_plan *plan, uint32_t wanted)
{
    double sum = 0;
    for (unsigned i = 0; i < plan->count; i++) {
        const struct game_net *n = &g->nets[plan->moves[i].network - 1];
        uint32_t from = plan->moves[i].from ? (uint32_t)(plan->moves[i].from - 1) : wanted;
        sum += game_cost(g, n, (uint32_t)(plan->moves[i].to - 1)) - game_cost(g, n, from);
    }
    return sum;
}

/* The cheapest of all single moves away from `agent` after which everything fits, the new network's among them;
 * INFINITY: no single one is enough. */
static double best_single(const struct game *g, const struct game_net *fresh, uint32_t agent, double excess)
{
    double best = INFINITY;
    for (size_t i = 0; i < g->net_count; i++) {
        const struct game_net *n = &g->nets[i];
        bool is_here = n == fresh || n->agent == agent;
        if (!is_here || n->load < excess)
            continue;
        double here = game_cost(g, n, agent);
        for (uint32_t to = 0; to < g->agent_count; to++)
            if (to != agent && balancer_load(g->balancer, to + 1) + n->load <= g->capacity)
                best = fmin(best, game_cost(g, n, to) - here);
    }
    return best;
}

static void judge(struct game *g, const struct game_net *n, uint32_t wanted, double excess,
                  const struct balance_plan *plan)
{
    if (g->net_count * g->agent_count > JUDGE_CELLS_MAX)
        return;
    double best = best_single(g, n, wanted, excess);
    if (!isfinite(best))
        return;
    double pages = 0, cost = true_cost(g, plan, wanted);
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->moves[i].to != (plan->moves[i].from ? plan->moves[i].from : wanted + 1))
            pages += g->nets[plan->moves[i].network - 1].pages;
    g->judged++;
    g->exact += cost <= best + 1e-6 * fabs(best) + 1e-9;
    g->best += cost <= best + DELEGATE_NEAR_MS * pages;
}

/* ---- moves ---- */

static void carry_out(struct game *g, const struct balance_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++) {
        struct game_net *n = &g->nets[plan->moves[i].network - 1];
        uint32_t to = (uint32_t)(plan->moves[i].to - 1);
        g->moves += plan->moves[i].from != 0;
        if (n->agent != to)
            game_give(g, n, to);
        put(g, n, true);
    }
}

static void place_new(struct game *g, struct game_net *n, uint32_t agent)
{
    struct balance_plan plan = {0};
    double excess = balancer_load(g->balancer, agent + 1) + n->load - g->capacity;
    put(g, n, false);
    status st = balancer_plan(g->balancer, n->id, agent + 1, &plan);
    for (int r = 0, looks = excess > 0 ? DOUBTS : 0; r < PLANS && st == ST_OK; r++) {
        if (!look_first(g, &plan, n) && !(looks-- > 0 && look_elsewhere(g, agent, excess, plan.cost, n)))
            break;
        st = balancer_plan(g->balancer, n->id, agent + 1, &plan);
    }
    if (excess > 0)
        g->events++;
    if (st != ST_OK) { /* nothing fits anywhere: over capacity, and counted at the end */
        put(g, n, true);
        return;
    }
    if (excess > 0)
        judge(g, n, agent, excess, &plan);
    carry_out(g, &plan);
}

void game_balance_site(struct game *g, struct game_net *n, size_t site, bool is_new, uint32_t agent)
{
    const struct world_site *s = world_site(g->world, site);
    n->load += site_load(g, s);
    n->pages += s->pages;
    if (is_new) {
        place_new(g, n, agent);
        return;
    }
    struct balance_plan plan = {0};
    put(g, n, true);
    if (balancer_load(g->balancer, n->agent + 1) <= g->capacity)
        return;
    g->events++;
    balancer_relieve(g->balancer, n->agent + 1, &plan);
    for (int r = 0; r < PLANS && look_first(g, &plan, NULL); r++)
        balancer_relieve(g->balancer, n->agent + 1, &plan);
    carry_out(g, &plan);
}

/* ---- at the end ---- */

static double optimum_ratio(const struct game *g)
{
    size_t bins = g->agent_count;
    if (bins > OPTIMUM_BINS_MAX || g->net_count * bins > OPTIMUM_CELLS_MAX)
        return -1;
    int64_t *amount = mem_alloc(g->net_count * sizeof(*amount)), *room = mem_alloc(bins * sizeof(*room));
    double *cost = mem_alloc(g->net_count * bins * sizeof(*cost)), is = 0, could_be = 0;
    for (size_t i = 0; i < g->net_count; i++) {
        const struct game_net *n = &g->nets[i];
        amount[i] = (int64_t)ceil(n->load) > 0 ? (int64_t)ceil(n->load) : 1;
        for (uint32_t a = 0; a < bins; a++)
            cost[i * bins + a] = game_cost(g, n, a) / (double)amount[i];
        is += game_cost(g, n, n->agent);
    }
    for (size_t a = 0; a < bins; a++)
        room[a] = (int64_t)ceil(g->capacity) + (int64_t)g->net_count; /* rounding up must not make it too small */
    status st = optimum_solve(
        &(struct optimum_problem){.sources = g->net_count, .bins = bins, .amount = amount, .room = room, .cost = cost},
        &could_be, NULL);
    free(amount);
    free(room);
    free(cost);
    return st == ST_OK && could_be > 0 ? is / could_be : -1;
}

void game_balance_end(struct game *g, struct delegate_figures *out)
{
    out->is_balanced = true;
    out->balance_probes = (double)g->balance_probes / (double)g->site_count;
    out->balance_best = g->judged ? (double)g->best / (double)g->judged : -1;
    out->balance_exact = g->judged ? (double)g->exact / (double)g->judged : -1;
    out->balance_ratio = optimum_ratio(g);
    for (size_t a = 0; a < g->agent_count; a++) {
        double load = 0;
        for (size_t i = 0; i < g->net_count; i++)
            load += g->nets[i].agent == a ? g->nets[i].load : 0;
        out->over += load > g->capacity * (1 + 1e-9);
    }
}
