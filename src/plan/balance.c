#include "plan/balance.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "plan/balance_internal.h"

#define DOUBT_SPREADS 2.5      /* an estimate that would have to be off by more is believed */
#define REPLICATED_SPREADS 1.2 /* as likely as that: about one in eight of the suspects answers from many places */
#define SPREAD_MIN_MS 0.1

static const char rule_names[][10] = {
    [BALANCE_GAIN] = "gain", [BALANCE_VARIANCE] = "variance", [BALANCE_NEXT_BEST] = "next-best"};

bool balance_rule_parse(struct span name, balance_rule *out)
{
    for (size_t i = BALANCE_GAIN; i <= BALANCE_NEXT_BEST; i++)
        if (span_is(name, rule_names[i])) {
            *out = (balance_rule)i;
            return true;
        }
    return false;
}

const char *balance_rule_name(balance_rule r)
{
    return r >= BALANCE_GAIN && r <= BALANCE_NEXT_BEST ? rule_names[r] : "unknown";
}

/* ---- life ---- */

struct balancer *balancer_new(balance_rule rule)
{
    struct balancer *b = mem_alloc(sizeof(*b));
    b->rule = rule;
    return b;
}

void balancer_free(struct balancer *b)
{
    if (!b)
        return;
    size_t at = 0;
    for (struct b_agent *a; (a = table_next(&b->agents, &at));) {
        free(a->networks);
        free(a->wishers);
        free(a);
    }
    at = 0;
    for (struct b_network *n; (n = table_next(&b->networks, &at));)
        free(n);
    table_done(&b->agents);
    table_done(&b->networks);
    free(b);
}

/* ---- agents ---- */

static struct b_agent *agent_of(struct balancer *b, uint64_t number)
{
    struct b_agent *a = table_get(&b->agents, number);
    if (a)
        return a;
    a = mem_alloc(sizeof(*a));
    a->number = number;
    table_put(&b->agents, number, a);
    return a;
}

static void unwish(struct b_cost *c)
{
    if (!c->wish)
        return;
    struct b_agent *a = c->agent;
    struct b_network *last = a->wishers[--a->wish_count];
    a->wishers[c->wish - 1] = last;
    for (size_t i = 0; i < last->cost_count; i++)
        if (last->costs[i].agent == a)
            last->costs[i].wish = c->wish;
    c->wish = 0;
}

static void wish(struct b_network *n, struct b_cost *c)
{
    struct b_agent *a = c->agent;
    a->wishers = mem_grow(a->wishers, &a->wish_cap, a->wish_count + 1, sizeof(struct b_network *));
    a->wishers[a->wish_count++] = n;
    c->wish = a->wish_count;
}

static void take_from_agent(struct b_network *n)
{
    struct b_agent *a = n->agent;
    for (size_t i = 0; i < n->cost_count; i++)
        unwish(&n->costs[i]);
    if (!a)
        return;
    a->networks[n->at] = a->networks[--a->count];
    a->networks[n->at]->at = n->at;
    a->load -= n->load;
    if (!a->count)
        a->load = 0; /* whatever rounding left */
    n->agent = NULL;
}

static void give_to_agent(struct b_network *n, struct b_agent *a)
{
    a->networks = mem_grow(a->networks, &a->cap, a->count + 1, sizeof(struct b_network *));
    n->at = a->count;
    a->networks[a->count++] = n;
    a->load += n->load;
    n->agent = a;
    double here = b_cost_here(n, a);
    for (size_t i = 0; i < n->cost_count && n->costs[i].ms < here && !n->is_pinned && n->load > 0; i++)
        wish(n, &n->costs[i]);
}

void balancer_agent_put(struct balancer *b, const struct balance_agent *a)
{
    struct b_agent *known = agent_of(b, a->number);
    known->is_there = true;
    known->is_open = a->is_open;
    known->capacity = a->capacity;
}

void balancer_agent_remove(struct balancer *b, uint64_t number)
{
    struct b_agent *a = table_get(&b->agents, number);
    if (!a)
        return;
    while (a->count)
        take_from_agent(a->networks[a->count - 1]);
    a->is_there = a->is_open = false; /* networks still mention it */
}

double balancer_load(const struct balancer *b, uint64_t agent)
{
    const struct b_agent *a = table_get(&b->agents, agent);
    return a ? a->load : 0;
}

double balancer_room(const struct balancer *b, uint64_t agent)
{
    const struct b_agent *a = table_get(&b->agents, agent);
    return a && a->is_there ? b_room(a) : 0;
}

/* ---- networks ---- */

static int cost_cmp(const void *a, const void *b)
{
    const struct b_cost *x = a, *y = b;
    if (x->ms != y->ms)
        return x->ms < y->ms ? -1 : 1;
    return x->agent->number < y->agent->number ? -1 : x->agent->number > y->agent->number;
}

static bool is_last_of_agent(const struct balance_network *n, size_t i)
{
    for (size_t k = i + 1; k < n->probe_count; k++)
        if (n->probes[k].agent == n->probes[i].agent)
            return false;
    return true;
}

static bool was_probed(const struct balance_network *n, uint64_t agent)
{
    for (size_t i = 0; i < n->probe_count; i++)
        if (n->probes[i].agent == agent)
            return true;
    return false;
}

void balancer_network_put(struct balancer *b, const struct balance_network *n)
{
    assert(n->id);
    size_t known = n->probe_count + n->estimate_count;
    struct b_network *new = mem_alloc(sizeof(*new) + known * sizeof(new->costs[0]));
    new->id = n->id;
    new->load = n->load > 0 ? n->load : 0;
    new->pages = n->pages > 0 ? n->pages : 0;
    new->is_pinned = n->is_pinned;
    for (size_t i = 0; i < n->probe_count; i++)
        if (n->probes[i].ms >= 0 && is_last_of_agent(n, i))
            new->costs[new->cost_count++] =
                (struct b_cost){agent_of(b, n->probes[i].agent), n->probes[i].ms, 0, true, 0};
    for (size_t i = 0; i < n->estimate_count && b->rule == BALANCE_GAIN; i++)
        if (!was_probed(n, n->estimates[i].agent))
            new->costs[new->cost_count++] = (struct b_cost){agent_of(b, n->estimates[i].agent), n->estimates[i].ms,
                                                            n->estimates[i].spread_ms, false, 0};
    if (new->cost_count)
        qsort(new->costs, new->cost_count, sizeof(new->costs[0]), cost_cmp);
    if (new->cost_count > BALANCE_PROBES_MAX)
        new->cost_count = BALANCE_PROBES_MAX;
    new = mem_realloc(new, sizeof(*new) + new->cost_count * sizeof(new->costs[0]));
    balancer_network_remove(b, n->id);
    table_put(&b->networks, new->id, new);
    if (n->agent)
        give_to_agent(new, agent_of(b, n->agent));
}

void balancer_network_remove(struct balancer *b, uint64_t id)
{
    struct b_network *n = table_remove(&b->networks, id);
    if (n)
        take_from_agent(n);
    free(n);
}

static const struct b_cost *cost_of(const struct b_network *n, const struct b_agent *a)
{
    for (size_t i = 0; i < n->cost_count; i++)
        if (n->costs[i].agent == a)
            return &n->costs[i];
    return NULL;
}

double b_cost_here(const struct b_network *n, const struct b_agent *a)
{
    const struct b_cost *c = cost_of(n, a);
    if (c || n->is_guess)
        return b_cost_there(n, a);
    return n->cost_count ? n->costs[0].ms : 0;
}

double b_cost_there(const struct b_network *n, const struct b_agent *a)
{
    const struct b_cost *c = cost_of(n, a);
    if (c)
        return c->ms;
    return (n->cost_count ? n->costs[n->cost_count - 1].ms : 0) + BALANCE_UNKNOWN_MS;
}

bool b_is_known(const struct b_network *n, const struct b_agent *a)
{
    return cost_of(n, a);
}

bool b_is_measured(const struct b_network *n, const struct b_agent *a)
{
    const struct b_cost *c = cost_of(n, a);
    return c && c->is_measured;
}

void b_move(struct b_network *n, struct b_agent *to, bool is_guess)
{
    take_from_agent(n);
    n->is_guess = is_guess;
    if (to)
        give_to_agent(n, to);
}

void balancer_network_move(struct balancer *b, uint64_t id, uint64_t agent)
{
    struct b_network *n = table_get(&b->networks, id);
    assert(n);
    struct b_agent *to = agent ? agent_of(b, agent) : NULL;
    b_move(n, to, to && !cost_of(n, to));
}

bool b_is_roomier(const struct b_agent *a, const struct b_agent *than)
{
    double room = b_room(a), other = b_room(than);
    return room != other ? room > other : a->number < than->number;
}

/* ---- the papers' rules ---- */

struct candidate {
    struct b_network *network;
    const struct b_cost *next; /* the best of the others */
    double key;
};

static double variance(const struct b_network *n)
{
    double mean = 0, sum = 0;
    for (size_t i = 0; i < n->cost_count; i++)
        mean += n->costs[i].ms / (double)n->cost_count;
    for (size_t i = 0; i < n->cost_count; i++)
        sum += (n->costs[i].ms - mean) * (n->costs[i].ms - mean);
    return sum / (double)n->cost_count;
}

static int candidate_cmp(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->network->id < y->network->id ? -1 : x->network->id > y->network->id;
}

static const struct b_cost *best_of_others(const struct b_network *n, const struct b_agent *a)
{
    for (size_t i = 0; i < n->cost_count; i++)
        if (n->costs[i].agent != a)
            return &n->costs[i];
    return NULL;
}

static struct candidate *list_candidates(const struct balancer *b, const struct b_agent *a, const struct b_network *but,
                                         size_t *count)
{
    struct candidate *list = mem_alloc((a->count ? a->count : 1) * sizeof(*list));
    size_t n = 0;
    for (size_t i = 0; i < a->count; i++) {
        struct b_network *m = a->networks[i];
        const struct b_cost *next = best_of_others(m, a);
        if (m == but || m->is_pinned || m->cost_count < 2 || m->load <= 0 || !next)
            continue;
        list[n++] =
            (struct candidate){m, next, b->rule == BALANCE_VARIANCE ? variance(m) : next->ms - b_cost_here(m, a)};
    }
    qsort(list, n, sizeof(*list), candidate_cmp);
    *count = n;
    return list;
}

static void add_move(struct balance_plan *p, const struct b_network *n, const struct b_agent *to, double cost)
{
    p->moves[p->count++] =
        (struct balance_move){n->id, n->agent ? n->agent->number : 0, to->number, !b_is_measured(n, to)};
    p->cost += cost;
}

/* Frees what the agent has too much, `left` moves at most; what stays too much. The moves are in the deltas. */
static double free_by_rule(const struct balancer *b, struct b_agent *a, const struct b_network *but, unsigned left,
                           struct balance_plan *out)
{
    size_t count;
    struct candidate *list = list_candidates(b, a, but, &count);
    for (size_t i = 0; i < count && out->count < left && b_over(a) > 0; i++) {
        struct b_network *n = list[i].network;
        struct b_agent *to = list[i].next->agent;
        if (!b_may_take(to) || b_room(to) < n->load)
            continue;
        add_move(out, n, to, n->pages * (list[i].next->ms - b_cost_here(n, a)));
        to->delta += n->load;
        a->delta -= n->load;
    }
    free(list);
    return b_over(a);
}

static void forget_deltas(struct balancer *b)
{
    size_t at = 0;
    for (struct b_agent *a; (a = table_next(&b->agents, &at));)
        a->delta = 0;
}

size_t b_roomy(const struct balancer *b, struct b_agent *out[B_ROOMY])
{
    size_t at = 0, count = 0;
    for (struct b_agent *a; (a = table_next(&b->agents, &at));) {
        if (!b_may_take(a))
            continue;
        size_t k = count < B_ROOMY ? count++ : B_ROOMY;
        if (k == B_ROOMY && !b_is_roomier(a, out[--k]))
            continue;
        for (; k > 0 && b_is_roomier(a, out[k - 1]); k--)
            out[k] = out[k - 1];
        out[k] = a;
    }
    return count;
}

/* The best of those that have room, wherever that is. */
static struct b_agent *second_best(const struct balancer *b, const struct b_network *n)
{
    for (size_t i = 0; i < n->cost_count; i++)
        if (b_may_take(n->costs[i].agent) && b_room(n->costs[i].agent) >= n->load)
            return n->costs[i].agent;
    struct b_agent *roomy[B_ROOMY];
    return b_roomy(b, roomy) && b_room(roomy[0]) >= n->load ? roomy[0] : NULL;
}

static status plan_by_rule(struct balancer *b, struct b_network *n, struct b_agent *agent, struct balance_plan *out)
{
    double best = n->cost_count ? n->costs[0].ms : 0;
    struct balance_plan plan = {0};
    struct b_agent *to = agent;
    if (n->agent)
        n->agent->delta -= n->load;
    agent->delta += n->load;
    if (!b_may_take(agent) || free_by_rule(b, agent, n, BALANCE_MOVES_MAX - 1, &plan) > 0) {
        forget_deltas(b);
        if (n->agent)
            n->agent->delta -= n->load;
        plan = (struct balance_plan){0};
        to = second_best(b, n);
    }
    forget_deltas(b);
    if (!to)
        return ST_FULL;
    add_move(&plan, n, to, n->pages * ((to == agent ? b_cost_here(n, to) : b_cost_there(n, to)) - best));
    *out = plan;
    return ST_OK;
}

/* ---- asking ---- */

status balancer_plan(struct balancer *b, uint64_t id, uint64_t agent, struct balance_plan *out)
{
    struct b_network *n = table_get(&b->networks, id);
    assert(n);
    struct b_agent *a = agent_of(b, agent);
    if (b->rule == BALANCE_GAIN)
        return b_gain_plan(b, n, a, out);
    return plan_by_rule(b, n, a, out);
}

/* ---- doubts ---- */

static bool may_be_replicated(const struct b_network *n, const struct b_agent *a)
{
    bool is_near = false;
    for (size_t i = 0; i < n->cost_count; i++) {
        if (n->costs[i].is_measured && n->costs[i].agent != a)
            return false;
        is_near |= n->costs[i].agent == a && n->costs[i].is_measured && n->costs[i].ms <= BALANCE_DOUBT_MS;
    }
    return is_near;
}

/* By how many spreads the estimate must be off for the move to cost less. */
static double spreads_off(const struct b_network *n, const struct b_agent *a, const struct b_cost *c, double cost)
{
    return (c->ms - b_cost_here(n, a) - cost / n->pages) / (c->spread_ms + SPREAD_MIN_MS);
}

bool balancer_doubt(const struct balancer *b, uint64_t agent, double need, double cost, struct balance_doubt *out)
{
    const struct b_agent *a = table_get(&b->agents, agent);
    struct b_agent *roomy[B_ROOMY], *roomiest = NULL;
    double least = DOUBT_SPREADS;
    bool is_any = false;
    for (size_t i = a ? b_roomy(b, roomy) : 0; i-- > 0;)
        roomiest = roomy[i] != a ? roomy[i] : roomiest;
    for (size_t i = 0; roomiest && i < a->count; i++) {
        const struct b_network *n = a->networks[i];
        if (n->is_pinned || n->load <= 0 || n->load < need || n->pages <= 0)
            continue;
        if (cost > 0 && least > REPLICATED_SPREADS && may_be_replicated(n, a)) {
            least = REPLICATED_SPREADS;
            *out = (struct balance_doubt){n->id, roomiest->number};
            is_any = true;
        }
        for (size_t k = 0; k < n->cost_count; k++) {
            const struct b_cost *c = &n->costs[k];
            if (c->is_measured || c->agent == a || !b_may_take(c->agent) || b_room(c->agent) < n->load)
                continue;
            double off = spreads_off(n, a, c, cost);
            if (off < least) {
                least = off;
                *out = (struct balance_doubt){n->id, c->agent->number};
                is_any = true;
            }
        }
    }
    return is_any;
}

void balancer_relieve(struct balancer *b, uint64_t agent, struct balance_plan *out)
{
    struct b_agent *a = table_get(&b->agents, agent);
    *out = (struct balance_plan){0};
    if (!a || b_over(a) <= 0)
        return;
    if (b->rule == BALANCE_GAIN) {
        b_gain_relieve(b, a, out);
        return;
    }
    (void)free_by_rule(b, a, NULL, BALANCE_MOVES_MAX, out);
    forget_deltas(b);
}
