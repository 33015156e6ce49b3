/* balancing.c - capacity: what agents have to do by what they can, and the moves that keep the two together.
 *
 * Loads are bytes a day, as agents report them, in a sum that forgets over a day. The balancer (plan/balance.h) always
 * knows every network that somebody has; guesses of the strategy are added where something has to move, since few
 * agents were ever measured. What would move on a guess is measured first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/balancing.h"
#include "coord/channels.h"
#include "coord/pinning.h"
#include "coord/placing.h"
#include "io/clock.h"

#define DAY_MS (24.0 * 3600 * 1000)
#define TICK_MS 10000
#define SOON_MS 1000 /* after a tick that asked for a measurement: its answer is a few round trips away */
#define SOON_MAX 16  /* such ticks in a row: measurements that do not come are not waited for any sooner */
#define MOVES_A_TICK 16
#define STAY_MS (3600ll * 1000) /* what just came does not go again for so long */
#define REPORT_MAX (1ull << 40) /* bytes of a network in one report: more is not believed */
#define PAGE_BYTES 40e3         /* of a page that nobody has seen yet */
#define NEW_LOAD 4e6            /* of a network that nobody has seen yet: a hundred pages a day */
#define TOLD_AGAIN 1.2          /* a load that changed by so much is told anew */
#define USUAL_CAPACITY 10e9     /* of an agent without a limit, to compare it with others */
#define SPLIT_SHARE 0.25        /* of an agent's capacity: a replicated network above it is split rather than moved */
#define GUESSES_MAX 48          /* agents a network */
#define GUESSED_A_TICK 500      /* networks */
#define DOUBTS_MAX 3            /* measured in a row, a tick each: whoever has too much does not wait for all of them */

static uint64_t id_of(const struct coord *c, const struct c_network *n)
{
    return siphash(&c->key, span_str(n->text));
}

void balancing_agent(struct coord *c, const struct c_agent *a)
{
    balancer_agent_put(c->balancer, &(struct balance_agent){.number = a->number,
                                                            .capacity = (double)a->settings.bytes_a_day,
                                                            .is_open = a->is_told_open});
}

/* ---- loads ---- */

/* Before anything came: what its channels are expected to have. */
static double expected_load(const struct c_network *n)
{
    double pages = 0;
    for (size_t i = 0; i < n->host_count; i++)
        for (size_t k = 0; k < n->hosts[i]->channel_count; k++) {
            const struct c_channel *ch = n->hosts[i]->channels[k];
            double days = (double)channel_every_ms(ch) / DAY_MS;
            pages += (double)ch->expected_pages / (ch->host_count ? (double)ch->host_count : 1) / (days < 1 ? 1 : days);
        }
    return pages > 0 ? pages * PAGE_BYTES : NEW_LOAD;
}

static double load_of(const struct c_network *n)
{
    double expected = expected_load(n);
    return n->load > expected || clock_wall() - n->since > (wall_ms)DAY_MS ? n->load : expected;
}

void balancing_bytes(struct coord *c, struct c_network *n, uint64_t bytes)
{
    wall_ms now = clock_wall();
    double passed = n->load_at && now > n->load_at ? (double)(now - n->load_at) : 0;
    n->load = n->load * exp(-passed / DAY_MS) + (bytes < REPORT_MAX ? (double)bytes : (double)REPORT_MAX);
    n->load_at = now;
    double load = load_of(n);
    if (load > n->load_told * TOLD_AGAIN || load * TOLD_AGAIN < n->load_told)
        balancing_network(c, n);
}

/* ---- networks ---- */

static void put(struct coord *c, struct c_network *n, uint64_t agent, const struct delegate_estimate *estimates,
                size_t count)
{
    n->load_told = load_of(n);
    bool is_new = clock_wall() - n->since < STAY_MS && n->move == MOVE_BALANCED;
    balancer_network_put(c->balancer, &(struct balance_network){.id = id_of(c, n),
                                                                .agent = agent,
                                                                .load = n->load_told,
                                                                .pages = n->load_told / PAGE_BYTES,
                                                                .is_pinned = n->is_fixed || is_new || n->is_trial ||
                                                                             n->is_doubted || assign_pinned(c, n),
                                                                .probes = n->probes,
                                                                .probe_count = n->probe_count,
                                                                .estimates = estimates,
                                                                .estimate_count = count});
}

void balancing_network(struct coord *c, struct c_network *n)
{
    if (n->state == NETWORK_OWNED)
        put(c, n, n->agent, NULL, 0);
    else if (n->state == NETWORK_LEAVING && n->next_agent)
        put(c, n, n->next_agent, NULL, 0);
    else
        balancer_network_remove(c->balancer, id_of(c, n));
}

/* With the strategy's guesses, of those that may have it. */
static void put_guessed(struct coord *c, struct c_network *n, uint64_t agent)
{
    struct delegate_estimate e[GUESSES_MAX];
    struct delegate_question q = placing_question(c, n);
    size_t count = delegator_estimates(c->delegator, &q, e, GUESSES_MAX), kept = 0;
    for (size_t i = 0; i < count; i++)
        if (delegate_question_allows(&q, e[i].agent))
            e[kept++] = e[i];
    put(c, n, agent, e, kept);
}

/* ---- making room ---- */

static void measure(struct coord *c, struct c_network *n, uint64_t agent)
{
    c->is_balance_measuring = true;
    placing_measure(c, n, agent);
}

/* True: on its way. Where it was never measured from there, that is done first. */
static bool carry_out(struct coord *c, const struct balance_move *m)
{
    struct c_network *n = table_get(&c->networks, m->network);
    const struct c_agent *from = agent_get(c, m->from);
    char why[160];
    if (!n || n->state != NETWORK_OWNED || n->agent != m->from || !pinning_allows(c, n, m->to))
        return false;
    const struct delegate_probe *there = placing_probe_of(n, m->to);
    if (!there)
        measure(c, n, m->to);
    if (!there || there->ms < 0) /* it has tried, and got no answer */
        return false;
    snprintf(why, sizeof(why), "%s has more to do than it can: %.0f %% of its bytes a day",
             from ? from->name : "its agent", from ? 100 * balancing_share(c, from) : 0);
    return assign_move(c, n, m->to, MOVE_BALANCED, why) == ST_OK;
}

uint64_t balancing_fit(struct coord *c, struct c_network *n, uint64_t agent, struct buf *why)
{
    struct balance_plan plan;
    if (c->o.no_balance || balancer_room(c->balancer, agent) >= load_of(n))
        return agent;
    put_guessed(c, n, 0);
    uint64_t id = id_of(c, n), to = agent;
    if (balancer_plan(c->balancer, id, agent, &plan) == ST_OK)
        for (unsigned i = 0; i < plan.count; i++) {
            const struct delegate_probe *there = placing_probe_of(n, plan.moves[i].to);
            if (plan.moves[i].network == id)
                to = there && there->ms < 0 ? agent : plan.moves[i].to;
            else
                (void)carry_out(c, &plan.moves[i]); /* what has to be measured first is looked at again by the tick */
        }
    if (to != agent) {
        const struct c_agent *a = agent_get(c, agent);
        buf_clear(why);
        buf_printf(why, "%s would be nearest and has no room", a ? a->name : "another agent");
    }
    return to;
}

double balancing_share(const struct coord *c, const struct c_agent *a)
{
    double capacity = a->settings.bytes_a_day ? (double)a->settings.bytes_a_day : USUAL_CAPACITY;
    return balancer_load(c->balancer, a->number) / capacity;
}

double balancing_room(const struct coord *c, const struct c_agent *a)
{
    if (a->settings.bytes_a_day)
        return balancer_room(c->balancer, a->number);
    double room = USUAL_CAPACITY - balancer_load(c->balancer, a->number);
    return room > 0 ? room : 1;
}

uint64_t balancing_idlest(struct coord *c, const struct delegate_question *q)
{
    const struct c_agent *best = NULL;
    for (size_t i = 0; i < c->agent_count; i++) {
        const struct c_agent *a = c->agents[i];
        if (a && a->is_told_open && !a->is_told_asleep && delegate_question_allows(q, a->number) &&
            (!best || balancing_share(c, a) < balancing_share(c, best)))
            best = a;
    }
    return best ? best->number : 0;
}

static void relieve(struct coord *c, struct c_agent *a, unsigned *left)
{
    struct balance_plan plan;
    size_t at = 0, guessed = 0;
    for (struct c_network *n; guessed < GUESSED_A_TICK && (n = table_next(&c->networks, &at));)
        if (n->agent == a->number && n->state == NETWORK_OWNED) {
            if (load_of(n) > SPLIT_SHARE * (double)a->settings.bytes_a_day && splitting_try(c, n)) {
                --*left;
                return;
            }
            put_guessed(c, n, n->agent);
            guessed++;
        }
    balancer_relieve(c->balancer, a->number, &plan);
    /* Perhaps something else costs less, once it is measured. */
    struct balance_doubt doubt;
    double need = -balancer_room(c->balancer, a->number);
    bool is_ours = !c->o.balance || c->o.balance == BALANCE_GAIN;
    struct c_network *doubted = is_ours && plan.count && balancer_doubt(c->balancer, a->number, need, plan.cost, &doubt)
                                    ? table_get(&c->networks, doubt.network)
                                    : NULL;
    if (doubted && a->doubts < DOUBTS_MAX && !placing_probe_of(doubted, doubt.from)) {
        a->doubts++;
        measure(c, doubted, doubt.from);
        return;
    }
    a->doubts = 0;
    for (unsigned i = 0; i < plan.count && *left; i++)
        *left -= carry_out(c, &plan.moves[i]);
}

void balancing_tick(struct coord *c, mono_ms now)
{
    unsigned left = MOVES_A_TICK;
    bool is_soon = c->is_balance_measuring && c->balance_soon < SOON_MAX;
    if (c->o.no_balance || now - c->balanced < (is_soon ? SOON_MS : TICK_MS))
        return;
    c->balance_soon = is_soon ? c->balance_soon + 1 : 0;
    c->is_balance_measuring = false;
    c->balanced = now;
    for (size_t i = 0; i < c->agent_count && left; i++)
        if (c->agents[i] && c->agents[i]->settings.bytes_a_day && balancer_room(c->balancer, c->agents[i]->number) < 0)
            relieve(c, c->agents[i], &left);
}
