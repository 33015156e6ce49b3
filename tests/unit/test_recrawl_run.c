#include "test.h"

#include <math.h>

#include "place/cities.h"
#include "sim/recrawl_fleet.h"
#include "sim/recrawl_optimum.h"
#include "sim/recrawl_run.h"

static struct cities cities;

static int read_cities(void **state)
{
    return cities_read(cities_text(), &cities) == ST_OK ? 0 : -1;
}

static int free_cities(void **state)
{
    cities_done(&cities);
    return 0;
}

static struct recrawl_ground ground_of(size_t agents, size_t channels, unsigned steps)
{
    struct recrawl_ground g;
    recrawl_ground_init(&g, &(struct recrawl_ground_opts){
                                .seed = 3, .agents = agents, .channels = channels, .steps = steps, .cities = &cities});
    return g;
}

/* ---- the ground ---- */

static void the_ground_is_the_papers(void **state)
{
    struct recrawl_ground g = ground_of(1400, 0, 90000);
    size_t in_rank[RECRAWL_RANKS] = {0}, lines[3] = {0};
    double pages = 0, longest = 0;
    for (size_t i = 0; i < g.channels; i++) {
        in_rank[g.channel[i].rank]++;
        pages += (double)g.channel[i].pages;
        longest = fmax(longest, (double)g.channel[i].pages);
    }
    for (size_t i = 0; i < g.agents; i++)
        lines[g.agent[i].page_s > 0.9f ? 0 : g.agent[i].page_s > 0.5f ? 1 : 2]++;
    assert_int_equal(g.channels, 17777);
    assert_int_equal(in_rank[0], 603);
    assert_int_equal(in_rank[2], 7944);
    assert_int_equal(in_rank[4], 597);
    assert_float_equal(pages / (double)g.channels, 8738, 2);
    assert_true(longest < 37000); /* 600 minutes at the slowest line */
    assert_true(lines[1] > lines[0] && lines[1] > lines[2] && lines[0] > 100 && lines[2] > 100);
    recrawl_ground_done(&g);
}

static void changes_have_the_mean_gap_of_their_rank(void **state)
{
    struct recrawl_ground g = ground_of(10, 500, 90000);
    double sum[RECRAWL_RANKS] = {0}, count[RECRAWL_RANKS] = {0};
    for (size_t i = 0; i < g.channels; i++) {
        struct ground_changes c;
        double last = 0;
        ground_changes_begin(&g, i, &c);
        for (; c.next < 90000; ground_changes_step(&g, i, &c)) {
            assert_true(c.next >= last);
            sum[g.channel[i].rank] += c.next - last;
            count[g.channel[i].rank]++;
            last = c.next;
        }
    }
    for (int k = 0; k < RECRAWL_RANKS; k++)
        if (fabs(sum[k] / count[k] / recrawl_mean_gap[k] - 1) > 0.05)
            fail_msg("rank %d: %g steps", k, sum[k] / count[k]);
    recrawl_ground_done(&g);
}

static void histories_go_round_in_order(void **state)
{
    struct changes changes;
    struct buf why = {0};
    assert_int_equal(changes_read_text(SPAN("a/x\t1000A 1100M 1500M 1900M\nb/y\t1000A 2000M\nc/z\t1500A\n"), "test",
                                       &(struct changes_opts){0}, &changes, &why),
                     ST_OK);
    struct recrawl_ground g;
    recrawl_ground_init(
        &g, &(struct recrawl_ground_opts){
                .seed = 3, .agents = 10, .channels = 40, .steps = 1000, .cities = &cities, .changes = &changes});
    for (size_t i = 0; i < g.channels; i++) {
        struct ground_changes c;
        double last = 0;
        int n = 0;
        ground_changes_begin(&g, i, &c);
        for (; c.next < 1000; ground_changes_step(&g, i, &c), n++) {
            assert_true(c.next >= last);
            last = c.next;
        }
        assert_int_not_equal(g.channel[i].history, 2); /* one time says nothing */
        assert_in_range(n, (int)changes.list[g.channel[i].history].count - 1,
                        (int)changes.list[g.channel[i].history].count + 1);
    }
    recrawl_ground_done(&g);
    changes_done(&changes);
    buf_done(&why);
}

/* ---- the fleet ---- */

struct ends {
    size_t of[3];
};

static void count_end(void *arg, const struct fleet_end *e)
{
    ((struct ends *)arg)->of[e->fate]++;
}

static void every_task_has_one_end(void **state)
{
    for (unsigned a_step = 1; a_step < 12; a_step += 5) { /* idle, and more than there are threads for */
        struct recrawl_ground g = ground_of(140, 2000, 20000);
        struct ends ends = {0};
        struct fleet *f = fleet_new(&g, 140, count_end, &ends);
        size_t submitted = 0;
        for (uint32_t step = 1; step < 20000; step++) {
            fleet_step(f, step);
            assert_true(fleet_free_threads(f) <= fleet_present(f) * RECRAWL_THREADS);
            for (unsigned i = 0; i < a_step && step < 17000; i++, submitted++)
                fleet_submit(f, (step * 7 + i * 131) % 2000, 300);
        }
        assert_int_equal(ends.of[FATE_DONE] + ends.of[FATE_LATE] + ends.of[FATE_LOST], submitted);
        assert_true(ends.of[FATE_DONE] > submitted / 3 && ends.of[FATE_LOST] > 0);
        assert_int_equal(fleet_queued(f), 0);
        assert_int_equal(fleet_free_threads(f), fleet_present(f) * RECRAWL_THREADS);
        fleet_free(f);
        recrawl_ground_done(&g);
    }
}

/* All threads are busy all the time, so that what is handed over has to wait. It has run for longer than it may wait:
 * that is no waiting. */
static void who_ran_before_may_wait(void **state)
{
    struct recrawl_ground g = ground_of(140, 2000, 10000);
    struct ends ends = {0};
    struct fleet_figures figures;
    struct fleet *f = fleet_new(&g, 140, count_end, &ends);
    for (uint32_t step = 1, n = 0; step < 10000; step++) {
        fleet_step(f, step);
        for (; fleet_free_threads(f) > 0; n++)
            fleet_submit(f, n * 131 % 2000, 120);
    }
    fleet_figures(f, &figures);
    assert_true(figures.handed_over > 200);
    if (ends.of[FATE_LATE] > figures.handed_over / 5)
        fail_msg("%zu were too late, of %llu that were handed over", ends.of[FATE_LATE],
                 (unsigned long long)figures.handed_over);
    fleet_free(f);
    recrawl_ground_done(&g);
}

static void five_of_eight_agents_are_there(void **state)
{
    struct recrawl_ground g = ground_of(1400, 10, 20000);
    struct ends ends = {0};
    struct fleet *f = fleet_new(&g, 1400, count_end, &ends);
    double sum = 0;
    for (uint32_t step = 1; step < 20000; step++) {
        fleet_step(f, step);
        sum += step >= 10000 ? (double)fleet_present(f) : 0;
    }
    assert_float_equal(sum / 10000 / 1400, 1000.0 / 1600, 0.02);
    fleet_leave(f, 0, 1400, 2);
    assert_true(fleet_present(f) <= 700);
    for (uint32_t step = 20000; step < 23000; step++)
        fleet_step(f, step);
    assert_true(fleet_present(f) <= 700); /* who was sent away stays away */
    fleet_come(f, 0, 1400, 1);
    assert_int_equal(fleet_present(f), 1400);
    fleet_free(f);
    recrawl_ground_done(&g);
}

/* ---- the optimum ---- */

static double weighted_freshness(double x)
{
    return (1 - exp(-x)) / x;
}

static void enough_capacity_ends_at_the_ceiling(void **state)
{
    struct recrawl_ground g = ground_of(10, 300, 1000);
    struct recrawl_optimum o;
    recrawl_optimum(&g, 1e6, 100, 2, &o);
    assert_float_equal(o.freshness_weighted, weighted_freshness(0.5), 1e-6);
    assert_true(o.threads < 1e6);
    recrawl_optimum(&g, 1e6, 100, 4, &o);
    assert_float_equal(o.freshness_weighted, weighted_freshness(0.25), 1e-6);
    recrawl_ground_done(&g);
}

/* Two channels: every division of the threads, tried. */
static void two_channels_are_divided_as_trying_all_finds(void **state)
{
    struct recrawl_ground g = ground_of(10, 2, 1000);
    g.channel[0].rank = 0;
    g.channel[1].rank = 2;
    g.channel[0].pages = 9000;
    g.channel[1].pages = 2000;
    g.channel[1].site = g.channel[0].site;
    g.channel[1].spread_ms = g.channel[0].spread_ms;
    for (double threads = 0.2; threads < 4; threads *= 1.5) {
        struct recrawl_optimum o;
        double best = 0, cost[2];
        recrawl_optimum(&g, threads, 100, 2, &o);
        for (int i = 0; i < 2; i++)
            cost[i] = expm1(OPTIMUM_VANISH_RATE * ((double)g.channel[i].pages / 100 + 0.5)) / OPTIMUM_VANISH_RATE;
        for (int k = 0; k <= 10000; k++) {
            double f0 = threads * k / 10000 / cost[0], f1 = threads * (10000 - k) / 10000 / cost[1];
            double x0 = fmax(0.5, 1 / (60 * f0)), x1 = fmax(0.5, 1 / (240 * f1));
            best = fmax(best, (16 * weighted_freshness(x0) + 4 * weighted_freshness(x1)) / 20);
        }
        if (fabs(o.freshness_weighted - best) > 1e-3)
            fail_msg("%g threads: %g, trying all %g", threads, o.freshness_weighted, best);
    }
    recrawl_ground_done(&g);
}

/* ---- runs ---- */

static struct recrawl_run_opts small_run(recrawl_strategy s)
{
    return (struct recrawl_run_opts){
        .ground = {.seed = 5, .agents = 70, .channels = 900, .steps = 14400, .cities = &cities}, .strategy = s};
}

static void nobody_is_fresher_than_the_optimum(void **state)
{
    for (int s = RECRAWL_FIXED; s <= RECRAWL_GREEDY; s++) {
        struct recrawl_run_opts o = small_run((recrawl_strategy)s);
        struct recrawl_run_result r;
        recrawl_run(&o, &r);
        const struct recrawl_figures *f = &r.figures;
        if (!(f->freshness_weighted > 0.05) || f->freshness_weighted > f->optimum_weighted)
            fail_msg("%s: %g, optimum %g", recrawl_strategy_name(o.strategy), f->freshness_weighted,
                     f->optimum_weighted);
        assert_true(f->updates + f->late + f->lost <= f->tasks);
        assert_true(f->visits_a_change_most <= 2.05);
        recrawl_run_result_done(&r);
    }
}

static void same_seed_same_figures(void **state)
{
    struct recrawl_run_opts o = small_run(RECRAWL_GREEDY);
    struct recrawl_run_result a, b;
    recrawl_run(&o, &a);
    recrawl_run(&o, &b);
    assert_memory_equal(&a.figures, &b.figures, sizeof(a.figures));
    o.ground.seed = 6;
    recrawl_run_result_done(&b);
    recrawl_run(&o, &b);
    assert_true(a.figures.tasks != b.figures.tasks);
    recrawl_run_result_done(&a);
    recrawl_run_result_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ground_is_the_papers),
        cmocka_unit_test(changes_have_the_mean_gap_of_their_rank),
        cmocka_unit_test(histories_go_round_in_order),
        cmocka_unit_test(every_task_has_one_end),
        cmocka_unit_test(who_ran_before_may_wait),
        cmocka_unit_test(five_of_eight_agents_are_there),
        cmocka_unit_test(enough_capacity_ends_at_the_ceiling),
        cmocka_unit_test(two_channels_are_divided_as_trying_all_finds),
        cmocka_unit_test(nobody_is_fresher_than_the_optimum),
        cmocka_unit_test(same_seed_same_figures),
    };
    return cmocka_run_group_tests(tests, read_cities, free_cities);
}
