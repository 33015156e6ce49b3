#include "test.h"

#include <math.h>

#include "base/rng.h"
#include "plan/balance.h"
#include "plan/split.h"

static const balance_rule rules[] = {BALANCE_GAIN, BALANCE_VARIANCE, BALANCE_NEXT_BEST};
#define RULES (sizeof(rules) / sizeof(*rules))

static void agent(struct balancer *b, uint64_t number, double capacity)
{
    balancer_agent_put(b, &(struct balance_agent){.number = number, .capacity = capacity, .is_open = true});
}

/* ms: of agents 1, 2, ...; below 0: not measured */
static void network(struct balancer *b, uint64_t id, uint64_t owner, double load, const double *ms, size_t count)
{
    struct delegate_probe probes[16];
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (ms[i] >= 0)
            probes[n++] = (struct delegate_probe){.agent = i + 1, .ms = ms[i]};
    balancer_network_put(b,
                         &(struct balance_network){
                             .id = id, .agent = owner, .load = load, .pages = 1, .probes = probes, .probe_count = n});
}

static void describe(const struct balance_plan *p, struct buf *out)
{
    buf_clear(out);
    for (unsigned i = 0; i < p->count; i++)
        buf_printf(out, "%llu:%llu>%llu ", (unsigned long long)p->moves[i].network,
                   (unsigned long long)p->moves[i].from, (unsigned long long)p->moves[i].to);
}

static void check_plan(const char *label, struct balancer *b, uint64_t id, uint64_t to, const char *want)
{
    struct balance_plan p;
    struct buf got = {0};
    CHECK_STATUS(label, balancer_plan(b, id, to, &p), ST_OK);
    describe(&p, &got);
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    buf_done(&got);
}

static void names_of_rules_are_read_and_written(void **state)
{
    for (size_t i = 0; i < RULES; i++) {
        balance_rule r;
        CHECK(balance_rule_name(rules[i]), balance_rule_parse(span_str(balance_rule_name(rules[i])), &r));
        assert_int_equal(r, rules[i]);
    }
    balance_rule r;
    assert_false(balance_rule_parse(SPAN("best"), &r));
}

static void a_network_that_fits_goes_where_it_should(void **state)
{
    for (size_t i = 0; i < RULES; i++) {
        const char *label = balance_rule_name(rules[i]);
        struct balancer *b = balancer_new(rules[i]);
        agent(b, 1, 100);
        agent(b, 2, 0);
        network(b, 10, 1, 60, (double[]){5, 50}, 2);
        network(b, 11, 0, 40, (double[]){5, 50}, 2);
        check_plan(label, b, 11, 1, "11:0>1 ");
        check_plan("the second best, asked for", b, 11, 2, "11:0>2 ");
        CHECK(label, balancer_load(b, 1) == 60 && balancer_room(b, 1) == 40 && balancer_room(b, 2) > 1e200);
        balancer_free(b);
    }
    balancer_free(NULL);
}

/* One agent with three networks; the new one is nearest to it too. */
static struct balancer *crowded(balance_rule rule)
{
    struct balancer *b = balancer_new(rule);
    agent(b, 1, 30);
    agent(b, 2, 30);
    agent(b, 3, 30);
    network(b, 10, 1, 10, (double[]){10, 30, 31}, 3);   /* varies: 20 to the next */
    network(b, 11, 1, 10, (double[]){10, 22, 21}, 3);   /* varies least; 11 to the next */
    network(b, 12, 1, 10, (double[]){10, 19, 100}, 3);  /* varies most; 9 to the next */
    network(b, 20, 0, 10, (double[]){10, 200, 300}, 3); /* the new one */
    return b;
}

static void each_rule_moves_the_network_of_its_choice(void **state)
{
    static const struct {
        balance_rule rule;
        const char *want;
    } cases[] = {
        {BALANCE_VARIANCE, "11:1>3 20:0>1 "}, {BALANCE_NEXT_BEST, "12:1>2 20:0>1 "}, {BALANCE_GAIN, "12:1>2 20:0>1 "}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct balancer *b = crowded(cases[i].rule);
        check_plan(balance_rule_name(cases[i].rule), b, 20, 1, cases[i].want);
        balancer_free(b);
    }
}

static void a_next_best_agent_that_is_full_or_closed_is_passed_over(void **state)
{
    struct balancer *b = crowded(BALANCE_VARIANCE);
    agent(b, 3, 5);
    check_plan("full: the next in order of variance", b, 20, 1, "10:1>2 20:0>1 ");
    balancer_agent_put(b, &(struct balance_agent){.number = 2, .capacity = 30});
    struct balance_plan p;
    CHECK_STATUS("closed: nothing can move, and nobody else takes it", balancer_plan(b, 20, 1, &p), ST_FULL);
    balancer_free(b);
}

static void networks_with_one_probe_are_no_candidates_for_the_papers_rules(void **state)
{
    for (size_t i = 1; i < RULES; i++) {
        struct balancer *b = balancer_new(rules[i]);
        agent(b, 1, 20);
        agent(b, 2, 20);
        network(b, 10, 1, 20, (double[]){10, -1}, 2);
        network(b, 20, 0, 10, (double[]){10, 90}, 2);
        check_plan("the new one goes to its second best", b, 20, 1, "20:0>2 ");
        network(b, 20, 0, 10, (double[]){10, -1}, 2);
        check_plan("never measured: to whom has room", b, 20, 1, "20:0>2 ");
        balancer_free(b);
    }
}

static void pinned_networks_stay(void **state)
{
    for (size_t i = 0; i < RULES; i++) {
        struct balancer *b = balancer_new(rules[i]);
        struct delegate_probe probes[] = {{.agent = 1, .ms = 10}, {.agent = 2, .ms = 11}};
        struct balance_network n = {.id = 10, .agent = 1, .load = 20, .pages = 1, .probes = probes, .probe_count = 2};
        agent(b, 1, 20);
        agent(b, 2, 20);
        n.is_pinned = true;
        balancer_network_put(b, &n);
        network(b, 20, 0, 10, (double[]){10, 90}, 2);
        check_plan(balance_rule_name(rules[i]), b, 20, 1, "20:0>2 ");
        balancer_free(b);
    }
}

static void nothing_fits_anywhere_is_said(void **state)
{
    for (size_t i = 0; i < RULES; i++) {
        struct balancer *b = balancer_new(rules[i]);
        struct balance_plan p = {.count = 7};
        agent(b, 1, 20);
        agent(b, 2, 20);
        network(b, 10, 1, 20, (double[]){10, 20}, 2);
        network(b, 11, 2, 20, (double[]){10, 20}, 2);
        network(b, 20, 0, 10, (double[]){10, 90}, 2);
        CHECK_STATUS(balance_rule_name(rules[i]), balancer_plan(b, 20, 1, &p), ST_FULL);
        assert_int_equal(p.count, 7);
        network(b, 21, 0, 50, (double[]){10, 90}, 2);
        CHECK_STATUS("larger than any capacity", balancer_plan(b, 21, 1, &p), ST_FULL);
        balancer_free(b);
    }
}

static void gain_finds_chains_of_moves(void **state)
{
    struct balancer *b = balancer_new(BALANCE_GAIN);
    agent(b, 1, 10);
    agent(b, 2, 10);
    agent(b, 3, 10);
    network(b, 10, 1, 10, (double[]){10, 12, -1}, 3);
    network(b, 11, 2, 10, (double[]){-1, 10, 12}, 3);
    network(b, 20, 0, 10, (double[]){10, 90, 300}, 3);
    check_plan("chain", b, 20, 1, "11:2>3 10:1>2 20:0>1 ");
    network(b, 11, 2, 10, (double[]){-1, 10, 300}, 3);
    check_plan("where nobody measured it costs a hundred more", b, 20, 1, "10:1>3 20:0>1 ");
    balancer_free(b);
}

static void gain_swaps_small_for_large(void **state)
{
    struct balancer *b = balancer_new(BALANCE_GAIN);
    struct balance_plan p;
    agent(b, 1, 10);
    agent(b, 2, 10);
    network(b, 10, 1, 6, (double[]){10, 11}, 2);
    network(b, 11, 1, 3, (double[]){10, 11}, 2);
    network(b, 12, 2, 4, (double[]){11, 10}, 2);
    network(b, 13, 2, 4, (double[]){11, 10}, 2);
    network(b, 20, 0, 3, (double[]){10, 11}, 2);
    CHECK_STATUS("20 of 20 fit in one way only", balancer_plan(b, 20, 1, &p), ST_OK);
    for (unsigned i = 0; i < p.count; i++)
        balancer_network_move(b, p.moves[i].network, p.moves[i].to);
    assert_true(balancer_load(b, 1) == 10 && balancer_load(b, 2) == 10);
    balancer_free(b);
}

static void an_agent_over_capacity_is_relieved_as_far_as_can_be(void **state)
{
    for (size_t i = 0; i < RULES; i++) {
        const char *label = balance_rule_name(rules[i]);
        struct balancer *b = crowded(rules[i]);
        struct balance_plan p;
        balancer_relieve(b, 1, &p);
        CHECK(label, p.count == 0);
        agent(b, 1, 15);
        balancer_relieve(b, 1, &p);
        CHECK(label, p.count == 2);
        agent(b, 2, 5);
        agent(b, 3, 12);
        balancer_relieve(b, 1, &p);
        CHECK(label, p.count == 1 && p.moves[0].to == 3); /* more cannot be had */
        agent(b, 3, 5);
        balancer_relieve(b, 1, &p);
        CHECK(label, p.count == 0);
        balancer_relieve(b, 99, &p);
        CHECK(label, p.count == 0);
        balancer_free(b);
    }
}

static void what_an_agent_had_is_nobodys_when_it_is_removed(void **state)
{
    struct balancer *b = crowded(BALANCE_GAIN);
    balancer_agent_remove(b, 1);
    balancer_agent_remove(b, 99);
    assert_true(balancer_load(b, 1) == 0 && balancer_room(b, 1) == 0);
    check_plan("second best", b, 20, 1, "20:0>2 ");
    agent(b, 1, 30);
    check_plan("back", b, 20, 1, "20:0>1 ");
    network(b, 20, 2, 10, (double[]){10, 200, 300}, 3);
    assert_true(balancer_load(b, 2) == 10);
    check_plan("a move has its origin", b, 20, 1, "20:2>1 ");
    balancer_network_remove(b, 20);
    balancer_network_remove(b, 20);
    assert_true(balancer_load(b, 2) == 0);
    balancer_free(b);
}

/* ---- against the optimum ---- */

#define AGENTS 3
#define NETWORKS 8

struct small_world {
    double capacity[AGENTS], load[NETWORKS], pages[NETWORKS], ms[NETWORKS][AGENTS];
};

static void make_world(struct rng *r, struct small_world *w)
{
    double sum = 0;
    for (int n = 0; n < NETWORKS; n++) {
        w->load[n] = 1 + (double)rng_below(r, 5);
        w->pages[n] = w->load[n] * (0.5 + rng_unit(r));
        sum += w->load[n];
        double x = rng_unit(r) * 4000, y = rng_unit(r) * 4000; /* km; agents stand at three corners */
        static const double corner[AGENTS][2] = {{0, 0}, {4000, 0}, {2000, 4000}};
        for (int a = 0; a < AGENTS; a++) {
            double dx = x - corner[a][0], dy = y - corner[a][1];
            w->ms[n][a] = 5 + sqrt(dx * dx + dy * dy) / 100 * (1.3 + rng_unit(r));
        }
    }
    for (int a = 0; a < AGENTS; a++)
        w->capacity[a] = ceil(sum / AGENTS * 1.25);
}

/* The cheapest way to place the first `count` networks; false: there is none. Tries all. */
static bool optimum(const struct small_world *w, int count, double *best)
{
    int owner[NETWORKS] = {0};
    bool has = false;
    for (;;) {
        double cost = 0, used[AGENTS] = {0};
        bool fits = true;
        for (int n = 0; n < count; n++) {
            used[owner[n]] += w->load[n];
            cost += w->pages[n] * w->ms[n][owner[n]];
        }
        for (int a = 0; a < AGENTS; a++)
            fits &= used[a] <= w->capacity[a];
        if (fits && (!has || cost < *best)) {
            has = true;
            *best = cost;
        }
        int n = 0;
        while (n < count && ++owner[n] == AGENTS)
            owner[n++] = 0;
        if (n == count)
            return has;
    }
}

struct score {
    unsigned decisions, best, full;
    double cost, optimal;
};

static void put_network(struct balancer *b, const struct small_world *w, int n, int owner)
{
    struct delegate_probe probes[AGENTS];
    for (int a = 0; a < AGENTS; a++)
        probes[a] = (struct delegate_probe){.agent = (uint64_t)a + 1, .ms = w->ms[n][a]};
    balancer_network_put(b, &(struct balance_network){.id = (uint64_t)n + 1,
                                                      .agent = owner < 0 ? 0 : (uint64_t)owner + 1,
                                                      .load = w->load[n],
                                                      .pages = w->pages[n],
                                                      .probes = probes,
                                                      .probe_count = AGENTS});
}

/* Networks come one by one, each to its nearest agent. Decisions count from the first that does not fit. */
static void play(const struct small_world *w, balance_rule rule, struct score *s)
{
    struct balancer *b = balancer_new(rule);
    int owner[NETWORKS];
    for (int a = 0; a < AGENTS; a++)
        agent(b, (uint64_t)a + 1, w->capacity[a]);
    for (int n = 0; n < NETWORKS; n++) {
        struct balance_plan p;
        int near = 0;
        double cost = 0, best = 0;
        for (int a = 1; a < AGENTS; a++)
            near = w->ms[n][a] < w->ms[n][near] ? a : near;
        bool is_decision = balancer_load(b, (uint64_t)near + 1) + w->load[n] > w->capacity[near];
        put_network(b, w, n, -1);
        if (balancer_plan(b, (uint64_t)n + 1, (uint64_t)near + 1, &p) != ST_OK) {
            s->full += optimum(w, n + 1, &best);
            break;
        }
        CHECK("own move last", p.moves[p.count - 1].network == (uint64_t)n + 1);
        for (unsigned i = 0; i < p.count; i++) {
            int m = (int)p.moves[i].network - 1;
            CHECK("origin", m == n ? p.moves[i].from == 0 : p.moves[i].from == (uint64_t)owner[m] + 1);
            owner[m] = (int)p.moves[i].to - 1;
            put_network(b, w, m, owner[m]);
        }
        for (int a = 0; a < AGENTS; a++)
            CHECK("nobody is over capacity", balancer_load(b, (uint64_t)a + 1) <= w->capacity[a] + 1e-9);
        if (!is_decision)
            continue;
        for (int m = 0; m <= n; m++)
            cost += w->pages[m] * w->ms[m][owner[m]];
        CHECK("an optimum", optimum(w, n + 1, &best));
        CHECK("not better than that", cost >= best - 1e-6);
        s->decisions++;
        s->best += cost <= best + 1e-6;
        s->cost += cost;
        s->optimal += best;
    }
    balancer_free(b);
}

static struct score play_many(balance_rule rule, int worlds)
{
    struct score s = {0};
    struct rng r;
    rng_seed(&r, 5);
    for (int i = 0; i < worlds; i++) {
        struct small_world w;
        make_world(&r, &w);
        play(&w, rule, &s);
    }
    printf("%s: %u decisions, best %.3f, cost ratio %.4f, no place found %u\n", balance_rule_name(rule), s.decisions,
           s.best / (double)s.decisions, s.cost / s.optimal, s.full);
    return s;
}

static void gain_is_close_to_the_optimum_of_small_worlds(void **state)
{
    struct score s = play_many(BALANCE_GAIN, 300);
    assert_true(s.decisions > 300);
    assert_true(s.best >= s.decisions * 2 / 3);
    assert_true(s.cost <= s.optimal * 1.05);
    assert_int_equal(s.full, 0);
}

static void the_papers_rules_are_worse_and_legal(void **state)
{
    struct score gain = play_many(BALANCE_GAIN, 100);
    struct score variance = play_many(BALANCE_VARIANCE, 100), next = play_many(BALANCE_NEXT_BEST, 100);
    assert_true(variance.cost / variance.optimal >= gain.cost / gain.optimal);
    assert_true(next.cost / next.optimal >= gain.cost / gain.optimal);
}

/* ---- against a bound ---- */

enum { TOWNS = 12, MANY = 400 };

struct crowd {
    double load[MANY], ms[MANY][TOWNS], capacity;
};

/* Most networks are in one corner, where fewer of the agents are. */
static void make_crowd(struct rng *r, struct crowd *w)
{
    double at[TOWNS][2], sum = 0;
    for (int a = 0; a < TOWNS; a++)
        for (int k = 0; k < 2; k++)
            at[a][k] = pow(rng_unit(r), 1.5) * 100;
    for (int n = 0; n < MANY; n++) {
        double x = pow(rng_unit(r), 2.5) * 100, y = pow(rng_unit(r), 2.5) * 100;
        sum += w->load[n] = exp(rng_unit(r) * 4);
        for (int a = 0; a < TOWNS; a++)
            w->ms[n][a] = 2 + hypot(x - at[a][0], y - at[a][1]);
    }
    w->capacity = sum * 1.2 / TOWNS;
}

/* No way to share the networks out is cheaper: by duality, whatever the prices; they are improved step by step. */
static double crowd_bound(const struct crowd *w)
{
    double price[TOWNS] = {0}, best = 0, step = 20;
    for (int turn = 0; turn < 1000; turn++) {
        double sum = 0, used[TOWNS] = {0}, length = 0;
        for (int n = 0; n < MANY; n++) {
            int a = 0;
            for (int k = 1; k < TOWNS; k++)
                a = w->ms[n][k] + price[k] < w->ms[n][a] + price[a] ? k : a;
            used[a] += w->load[n];
            sum += (w->ms[n][a] + price[a]) * w->load[n];
        }
        for (int a = 0; a < TOWNS; a++) {
            double more = used[a] - w->capacity;
            sum -= price[a] * w->capacity;
            length += more > 0 || price[a] > 0 ? more * more : 0;
        }
        best = fmax(best, sum);
        for (int a = 0; a < TOWNS && length > 0; a++)
            price[a] = fmax(0, price[a] + step * (used[a] - w->capacity) / sqrt(length));
        step *= 0.995;
    }
    return best;
}

static double play_crowd(const struct crowd *w, balance_rule rule)
{
    struct balancer *b = balancer_new(rule);
    int owner[MANY];
    double cost = 0;
    for (int a = 0; a < TOWNS; a++)
        agent(b, (uint64_t)a + 1, w->capacity);
    for (int n = 0; n < MANY; n++) {
        struct delegate_probe probes[TOWNS];
        struct balance_plan p;
        int near = 0;
        for (int a = 0; a < TOWNS; a++) {
            probes[a] = (struct delegate_probe){.agent = (uint64_t)a + 1, .ms = w->ms[n][a]};
            near = w->ms[n][a] < w->ms[n][near] ? a : near;
        }
        balancer_network_put(b, &(struct balance_network){.id = (uint64_t)n + 1,
                                                          .load = w->load[n],
                                                          .pages = w->load[n],
                                                          .probes = probes,
                                                          .probe_count = TOWNS});
        CHECK_STATUS("fits", balancer_plan(b, (uint64_t)n + 1, (uint64_t)near + 1, &p), ST_OK);
        for (unsigned i = 0; i < p.count; i++) {
            balancer_network_move(b, p.moves[i].network, p.moves[i].to);
            owner[p.moves[i].network - 1] = (int)p.moves[i].to - 1;
        }
        for (int a = 0; a < TOWNS; a++)
            CHECK("capacity", balancer_room(b, (uint64_t)a + 1) >= -1e-6);
    }
    for (int n = 0; n < MANY; n++)
        cost += w->load[n] * w->ms[n][owner[n]];
    balancer_free(b);
    return cost;
}

static void gain_is_close_to_the_bound_of_crowded_worlds(void **state)
{
    struct rng r;
    static struct crowd w;
    double sum[RULES] = {0}, bound = 0;
    rng_seed(&r, 12);
    for (int turn = 0; turn < 5; turn++) {
        make_crowd(&r, &w);
        bound += crowd_bound(&w);
        for (size_t i = 0; i < RULES; i++)
            sum[i] += play_crowd(&w, rules[i]);
    }
    for (size_t i = 0; i < RULES; i++)
        printf("crowded worlds, %s: cost ratio %.4f\n", balance_rule_name(rules[i]), sum[i] / bound);
    assert_true(sum[0] >= bound * 0.9999 && sum[0] <= bound * 1.05);
    assert_true(sum[0] < sum[1] && sum[0] < sum[2]);
}

static void a_full_fleet_stays_within_capacity(void **state)
{
    enum { FLEET = 20 };
    struct balancer *b = balancer_new(BALANCE_GAIN);
    struct rng r;
    double place[FLEET], sum = 0;
    static double loads[MANY];
    rng_seed(&r, 9);
    for (int i = 0; i < MANY; i++)
        sum += loads[i] = 1 + rng_unit(&r) * 9;
    for (int a = 0; a < FLEET; a++) {
        place[a] = a < FLEET / 2 ? rng_unit(&r) * 10 : rng_unit(&r) * 100; /* half of them in one corner */
        agent(b, (uint64_t)a + 1, sum * 1.02 / FLEET);
    }
    for (int i = 0; i < MANY; i++) {
        struct delegate_probe probes[FLEET];
        double x = rng_unit(&r) * 100;
        int near = 0;
        for (int a = 0; a < FLEET; a++) {
            probes[a] = (struct delegate_probe){.agent = (uint64_t)a + 1, .ms = 2 + fabs(x - place[a])};
            near = probes[a].ms < probes[near].ms ? a : near;
        }
        struct balance_network n = {
            .id = (uint64_t)i + 1, .load = loads[i], .pages = 10, .probes = probes, .probe_count = FLEET};
        struct balance_plan p;
        balancer_network_put(b, &n);
        CHECK_STATUS("fits", balancer_plan(b, n.id, (uint64_t)near + 1, &p), ST_OK);
        for (unsigned k = 0; k < p.count; k++)
            balancer_network_move(b, p.moves[k].network, p.moves[k].to);
        for (int a = 0; a < FLEET; a++)
            CHECK("capacity", balancer_room(b, (uint64_t)a + 1) >= -1e-6);
    }
    balancer_free(b);
}

/* ---- splits ---- */

/* As network(), the agents from `measured` on being estimates of this spread. */
static void expected_network(struct balancer *b, uint64_t id, double load, const double *ms, size_t measured,
                             size_t count, double spread)
{
    struct delegate_probe probes[16];
    struct delegate_estimate estimates[16];
    for (size_t i = 0; i < count; i++) {
        probes[i] = (struct delegate_probe){.agent = i + 1, .ms = ms[i]};
        estimates[i] = (struct delegate_estimate){i + 1, i < measured ? 1 : ms[i], i < measured, spread};
    }
    balancer_network_put(b, &(struct balance_network){.id = id,
                                                      .agent = 1,
                                                      .load = load,
                                                      .pages = 1,
                                                      .probes = probes,
                                                      .probe_count = measured,
                                                      .estimates = estimates,
                                                      .estimate_count = count});
}

static void estimates_are_for_gain_only_and_marked_as_guesses(void **state)
{
    for (size_t i = 0; i < RULES; i++) {
        const char *label = balance_rule_name(rules[i]);
        bool is_gain = rules[i] == BALANCE_GAIN;
        struct balancer *b = balancer_new(rules[i]);
        struct balance_plan p;
        for (uint64_t a = 1; a <= 3; a++)
            agent(b, a, 100);
        expected_network(b, 10, 60, (double[]){20, 90, 25}, 1, 3, 5);
        expected_network(b, 11, 60, (double[]){20, 30, 99}, 2, 3, 5);
        balancer_relieve(b, 1, &p);
        assert_int_equal(p.count, 1);
        CHECK(label, p.moves[0].network == (is_gain ? 10 : 11) && p.moves[0].to == (is_gain ? 3 : 2));
        CHECK(label, p.moves[0].is_guess == is_gain);
        balancer_free(b);
    }
}

static void what_may_be_cheaper_is_worth_a_measurement(void **state)
{
    struct balancer *b = balancer_new(BALANCE_GAIN);
    struct balance_doubt d = {0};
    for (uint64_t a = 1; a <= 3; a++)
        agent(b, a, a == 3 ? 80 : 100);
    assert_false(balancer_doubt(b, 7, 1, 10, &d));
    assert_false(balancer_doubt(b, 1, 1, 10, &d));
    expected_network(b, 10, 20, (double[]){20, 50, 90}, 1, 3, 5);
    CHECK("four spreads off", !balancer_doubt(b, 1, 1, 10, &d));
    CHECK("two", balancer_doubt(b, 1, 1, 20, &d) && d.network == 10 && d.from == 2);
    CHECK("too small to help", !balancer_doubt(b, 1, 30, 20, &d));
    expected_network(b, 11, 40, (double[]){3, 150, 160}, 1, 3, 5);
    CHECK("next door, or everywhere", balancer_doubt(b, 1, 1, 10, &d) && d.network == 11 && d.from == 2);
    CHECK("nothing to gain", !balancer_doubt(b, 1, 1, 0, &d));
    expected_network(b, 11, 40, (double[]){3, 150, 160}, 2, 3, 5);
    CHECK("it was next door", !balancer_doubt(b, 1, 1, 10, &d));
    balancer_free(b);
}

static void a_split_is_shared_by_room_among_as_few_as_carry_it(void **state)
{
    static const struct split_agent agents[] = {{1, 100}, {2, 300}, {3, 0}, {4, 50}};
    struct split s;
    CHECK_STATUS("one carries it", split_plan(agents, 4, 250, NULL, &s), ST_OK);
    assert_int_equal(split_share(&s, 2), SPLIT_PARTS);
    CHECK_STATUS("two", split_plan(agents, 4, 400, NULL, &s), ST_OK);
    assert_int_equal(split_share(&s, 2), 12);
    assert_int_equal(split_share(&s, 1), 4);
    CHECK_STATUS("all", split_plan(agents, 4, 1000, NULL, &s), ST_OK);
    assert_int_equal(split_share(&s, 2) + split_share(&s, 1) + split_share(&s, 4), SPLIT_PARTS);
    assert_true(split_share(&s, 4) >= 1);
    assert_int_equal(split_share(&s, 3), 0);
    CHECK_STATUS("nobody", split_plan(&agents[2], 1, 1, NULL, &s), ST_FULL);
    CHECK_STATUS("nothing", split_plan(agents, 0, 1, NULL, &s), ST_FULL);
}

static void a_new_split_moves_no_more_parts_than_it_must(void **state)
{
    struct split_agent agents[] = {{1, 100}, {2, 100}};
    struct split was, now;
    unsigned moved = 0;
    CHECK_STATUS("half and half", split_plan(agents, 2, 200, NULL, &was), ST_OK);
    assert_int_equal(split_share(&was, 1), 8);
    agents[0].room = 60;
    CHECK_STATUS("less for one", split_plan(agents, 2, 200, &was, &now), ST_OK);
    for (unsigned i = 0; i < SPLIT_PARTS; i++)
        moved += was.agent[i] != now.agent[i];
    assert_int_equal(moved, 8 - split_share(&now, 1));
    assert_int_equal(split_share(&now, 1), 6);
}

static void a_domain_has_one_part_for_ever(void **state)
{
    unsigned seen[SPLIT_PARTS] = {0};
    CHECK("the same for every version", split_part(SPAN("example.org")) == 0);
    for (int i = 0; i < 1600; i++) {
        char name[32];
        snprintf(name, sizeof(name), "d%d.example", i);
        unsigned part = split_part(span_str(name));
        struct network n = {.parts = (uint16_t)(1u << part)}, others = {.parts = (uint16_t)~n.parts}, all = {0};
        char host[48];
        snprintf(host, sizeof(host), "www.%s", name);
        CHECK(host, split_has(&n, span_str(host)) && split_has(&n, span_str(name)));
        CHECK(host, !split_has(&others, span_str(host)) && split_has(&all, span_str(host)));
        seen[part]++;
    }
    for (unsigned i = 0; i < SPLIT_PARTS; i++)
        assert_in_range(seen[i], 60, 140);
    struct split s = {{7, 8, 7, 7}};
    assert_int_equal(split_parts(&s, 7), 0xd);
    assert_int_equal(split_parts(&s, 8), 0x2);
    assert_int_equal(split_parts(&s, 9), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_rules_are_read_and_written),
        cmocka_unit_test(a_network_that_fits_goes_where_it_should),
        cmocka_unit_test(each_rule_moves_the_network_of_its_choice),
        cmocka_unit_test(a_next_best_agent_that_is_full_or_closed_is_passed_over),
        cmocka_unit_test(networks_with_one_probe_are_no_candidates_for_the_papers_rules),
        cmocka_unit_test(pinned_networks_stay),
        cmocka_unit_test(nothing_fits_anywhere_is_said),
        cmocka_unit_test(gain_finds_chains_of_moves),
        cmocka_unit_test(gain_swaps_small_for_large),
        cmocka_unit_test(an_agent_over_capacity_is_relieved_as_far_as_can_be),
        cmocka_unit_test(what_an_agent_had_is_nobodys_when_it_is_removed),
        cmocka_unit_test(gain_is_close_to_the_optimum_of_small_worlds),
        cmocka_unit_test(the_papers_rules_are_worse_and_legal),
        cmocka_unit_test(gain_is_close_to_the_bound_of_crowded_worlds),
        cmocka_unit_test(a_full_fleet_stays_within_capacity),
        cmocka_unit_test(estimates_are_for_gain_only_and_marked_as_guesses),
        cmocka_unit_test(what_may_be_cheaper_is_worth_a_measurement),
        cmocka_unit_test(a_split_is_shared_by_room_among_as_few_as_carry_it),
        cmocka_unit_test(a_new_split_moves_no_more_parts_than_it_must),
        cmocka_unit_test(a_domain_has_one_part_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
