#include "test.h"

#include <math.h>

#include "base/rng.h"
#include "plan/change_rate.h"

static const struct change_prior weak = {.changes = 1, .time = 10};

typedef double change_rate_of(const struct change_rate *c, const struct change_prior *p);

static double exponential(struct rng *r, double rate)
{
    return -log(1 - rng_unit(r)) / rate;
}

/* Sum of exponentials and, for the rest of the shape, a power of a uniform: enough for a shape of 1, 2, 3. */
static double draw_gamma(struct rng *r, int shape, double time)
{
    double sum = 0;
    for (int i = 0; i < shape; i++)
        sum += exponential(r, time);
    return sum;
}

/* ---- one page ---- */

static void a_page_that_nobody_visited_is_like_the_others(void **state)
{
    struct change_rate c = {0};
    assert_float_equal(change_rate_mean(&c, &weak), 0.1, 1e-12);
    assert_float_equal(change_chance(&c, &weak, 10), 0.5, 1e-12); /* 1 - (10 / 20)^1 */
}

static void time_without_a_change_counts_exactly(void **state)
{
    struct change_rate c = {0};
    change_observe(&c, &weak, 4, false, -1);
    change_observe(&c, &weak, 6, false, -1);
    assert_float_equal(c.changes, 0, 1e-6);
    assert_float_equal(c.time, 10, 1e-5);
}

static void a_change_whose_time_is_told_counts_exactly(void **state)
{
    struct change_rate c = {0};
    change_observe(&c, &weak, 8, true, 3);
    assert_float_equal(c.changes, 1, 1e-6);
    assert_float_equal(c.time, 3, 1e-5);
    struct change_rate lie = {0}, plain = {0};
    change_observe(&lie, &weak, 8, true, 9); /* before the visit before: nothing to go by */
    change_observe(&plain, &weak, 8, true, -1);
    assert_float_equal(lie.changes, plain.changes, 1e-6);
    assert_float_equal(lie.time, plain.time, 1e-5);
}

static void gaps_that_are_none_change_nothing(void **state)
{
    struct change_rate c = {0};
    change_observe(&c, &weak, 0, true, -1);
    change_observe(&c, &weak, -1, false, -1);
    change_observe(&c, &weak, NAN, true, -1);
    assert_true(c.changes == 0.0f && c.time == 0.0f);
}

/* The naive twin: the belief on a fine grid of rates. */
#define GRID 4000
struct grid {
    double p[GRID];
};

static double grid_rate(int i)
{
    return exp(-12 + 16.0 * i / GRID);
}

static void grid_init(struct grid *g, const struct change_prior *p)
{
    for (int i = 0; i < GRID; i++) {
        double rate = grid_rate(i);
        g->p[i] = pow(rate, p->changes) * exp(-p->time * rate); /* one power more: the grid is logarithmic */
    }
}

static void grid_observe(struct grid *g, double gap, bool has_changed)
{
    for (int i = 0; i < GRID; i++)
        g->p[i] *= has_changed ? -expm1(-grid_rate(i) * gap) : exp(-grid_rate(i) * gap);
}

static double grid_mean(const struct grid *g, bool of_log)
{
    double sum = 0, all = 0;
    for (int i = 0; i < GRID; i++) {
        sum += g->p[i] * (of_log ? log(grid_rate(i)) : grid_rate(i));
        all += g->p[i];
    }
    return sum / all;
}

static void one_visit_gives_mean_of_the_exact_belief(void **state)
{
    static const double gaps[] = {0.001, 0.1, 1, 5, 10, 40, 200, 5000};
    for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
        struct grid g;
        struct change_rate c = {0};
        grid_init(&g, &weak);
        grid_observe(&g, gaps[i], true);
        change_observe(&c, &weak, gaps[i], true, -1);
        if (fabs(change_rate_mean(&c, &weak) / grid_mean(&g, false) - 1) > 0.01)
            fail_msg("gap %g: %g, exactly %g", gaps[i], change_rate_mean(&c, &weak), grid_mean(&g, false));
    }
}

static void many_visits_stay_near_the_exact_belief(void **state)
{
    struct rng r;
    rng_seed(&r, 5);
    for (int page = 0; page < 200; page++) {
        struct grid g;
        struct change_rate c = {0};
        double rate = exp(-6 + 6 * rng_unit(&r));
        grid_init(&g, &weak);
        for (int i = 0; i < 40; i++) {
            double gap = exponential(&r, rate) * 2 + 0.01;
            bool has_changed = rng_unit(&r) < -expm1(-rate * gap);
            grid_observe(&g, gap, has_changed);
            change_observe(&c, &weak, gap, has_changed, -1);
        }
        double off = change_rate_log(&c, &weak) - grid_mean(&g, true);
        if (fabs(off) > 0.9 * change_rate_log_deviation(&c, &weak))
            fail_msg("page %d: log of the rate %g, exactly %g", page, change_rate_log(&c, &weak), grid_mean(&g, true));
    }
}

static void always_and_never_stay_finite(void **state)
{
    struct change_rate always = {0}, never = {0};
    for (int i = 0; i < 10000; i++) {
        change_observe(&always, &weak, 1, true, -1);
        change_observe(&never, &weak, 1, false, -1);
    }
    double most = change_rate_mean(&always, &weak), least = change_rate_mean(&never, &weak);
    assert_true(isfinite(most) && most > 1);
    assert_true(least > 0 && least < 0.001);
    assert_true(change_chance(&always, &weak, 1) > 0.9 && change_chance(&always, &weak, 1) < 1);
}

static void a_page_that_slows_down_is_noticed(void **state)
{
    struct change_rate c = {0};
    for (int i = 0; i < 1000; i++)
        change_observe(&c, &weak, 1, true, 0.5);
    assert_true(c.changes <= (float)CHANGE_MEMORY + 0.01f);
    double before = change_rate_mean(&c, &weak);
    for (int i = 0; i < (int)CHANGE_MEMORY; i++)
        change_observe(&c, &weak, 1, false, -1);
    assert_true(change_rate_mean(&c, &weak) < before / 2);
}

/* Pages of one rate, each visited twice in the gap that is believed of it, for as long as the slowest need for 94
 * changes; without the two visits that getting to know one takes. */
static double visits_a_change(struct rng *r, double gap, const struct change_prior *p, change_rate_of *rate)
{
    enum { PAGES = 400 };
    const double length = 90000;
    double visits = 0;
    for (int i = 0; i < PAGES; i++) {
        struct change_rate c = {0};
        for (double at = 0, wait; at < length; at += wait, visits++) {
            wait = 1 / (2 * rate(&c, p));
            change_observe(&c, p, wait, rng_unit(r) < -expm1(-wait / gap), -1);
        }
    }
    return (visits / PAGES - 2) / (length / gap);
}

static void a_ceiling_by_the_cautious_rate_is_kept(void **state)
{
    const struct change_prior all = {.changes = 2.9, .time = 577}, one = {.changes = 1, .time = 199};
    struct rng r;
    rng_seed(&r, 21);
    for (double gap = 60; gap <= 960; gap *= 2) {
        double visits = visits_a_change(&r, gap, &one, change_rate_cautious);
        if (visits > 2 || visits < 1.85)
            fail_msg("gap %g: %g visits a change", gap, visits);
    }
    /* By what is believed of slow ones the others speak for them. */
    assert_true(visits_a_change(&r, 960, &all, change_rate_mean) > 2.1);
}

static void neighbours_that_change_are_a_sign(void **state)
{
    struct change_activity a = {0};
    assert_float_equal(change_activity_factor(&a, 100, 15), 1, 1e-12);
    for (int i = 0; i < 10; i++)
        change_activity_note(&a, 100, 15, 0.1, true);
    assert_float_equal(change_activity_factor(&a, 100, 15), 11.0 / 2, 1e-5);
    assert_true(change_activity_factor(&a, 200, 15) < 1.02); /* and soon forgotten */
    for (int i = 0; i < 100; i++)
        change_activity_note(&a, 100, 15, 0.1, false);
    assert_float_equal(change_activity_factor(&a, 100, 15), 11.0 / 12, 1e-4);
    assert_float_equal(change_chance_times(0.5, 2), 0.75, 1e-12);
    assert_float_equal(change_chance_times(1, 2), 1, 1e-12);
}

/* ---- against the bound ---- */

/* No unbiased estimate of log(rate) has a smaller deviation than 1 / sqrt(sum x^2 / (e^x - 1)), x = rate x gap. Pages
 * of a population whose prior is learned from their own visits; the bound is the mean over the pages. */
static double rms_over_bound(uint64_t seed, int visits)
{
    enum { PAGES = 2000 };
    static struct change_rate pages[PAGES];
    static double rates[PAGES];
    static struct {
        double gap;
        bool has_changed;
    } seen[PAGES][50];
    struct change_prior p = {.changes = 1, .time = 1};
    struct rng r;
    double squares = 0, bounds = 0;
    rng_seed(&r, seed);
    for (int i = 0; i < PAGES; i++) {
        double info = 0;
        rates[i] = exp(log(0.3) + 1.0 * (rng_unit(&r) + rng_unit(&r) + rng_unit(&r) - 1.5) * 2);
        for (int v = 0; v < visits; v++) {
            double gap = 0.2 + 4 * rng_unit(&r), x = rates[i] * gap;
            seen[i][v].gap = gap;
            seen[i][v].has_changed = rng_unit(&r) < -expm1(-x);
            info += x * x / expm1(x);
        }
        bounds += 1 / info;
    }
    for (int round = 0; round < 12; round++) {
        struct change_population pop = {0};
        for (int i = 0; i < PAGES; i++) {
            pages[i] = (struct change_rate){0};
            for (int v = 0; v < visits; v++)
                change_observe(&pages[i], &p, seen[i][v].gap, seen[i][v].has_changed, -1);
            change_population_add(&pop, &pages[i], &p);
        }
        if (round < 11)
            change_population_fit(&pop, &p);
    }
    for (int i = 0; i < PAGES; i++) {
        double off = change_rate_log(&pages[i], &p) - log(rates[i]);
        squares += off * off;
    }
    return sqrt(squares / bounds);
}

static void errors_are_near_the_bound(void **state)
{
    double few = rms_over_bound(101, 10), many = rms_over_bound(102, 50);
    if (few > 1.15 || many > 1.15)
        fail_msg("root mean square over the bound: %g at 10 visits, %g at 50", few, many);
}

/* ---- the population ---- */

static void the_population_is_found(void **state)
{
    enum { PAGES = 4000 };
    static struct change_rate pages[PAGES];
    struct change_prior p = {.changes = 1, .time = 1};
    struct rng r;
    rng_seed(&r, 7);
    static double rates[PAGES];
    for (int i = 0; i < PAGES; i++)
        rates[i] = draw_gamma(&r, 3, 30); /* mean 0.1 */
    for (int round = 0; round < 30; round++) {
        struct change_population pop = {0};
        struct rng visits;
        rng_seed(&visits, 8);
        for (int i = 0; i < PAGES; i++) {
            pages[i] = (struct change_rate){0};
            for (int v = 0; v < 20; v++) {
                double gap = 5 + 10 * rng_unit(&visits);
                change_observe(&pages[i], &p, gap, rng_unit(&visits) < -expm1(-rates[i] * gap), -1);
            }
            change_population_add(&pop, &pages[i], &p);
        }
        change_population_fit(&pop, &p);
    }
    assert_float_equal(p.changes / p.time, 0.1, 0.006);
    assert_float_equal(p.changes, 3, 0.5);
}

static void few_pages_are_no_population(void **state)
{
    struct change_prior p = weak;
    struct change_population pop = {0};
    struct change_rate c = {.changes = 50, .time = 1};
    for (int i = 0; i < CHANGE_POPULATION_MIN - 1; i++)
        change_population_add(&pop, &c, &p);
    change_population_fit(&pop, &p);
    assert_true(p.changes == weak.changes && p.time == weak.time);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_that_nobody_visited_is_like_the_others),
        cmocka_unit_test(time_without_a_change_counts_exactly),
        cmocka_unit_test(a_change_whose_time_is_told_counts_exactly),
        cmocka_unit_test(gaps_that_are_none_change_nothing),
        cmocka_unit_test(one_visit_gives_mean_of_the_exact_belief),
        cmocka_unit_test(many_visits_stay_near_the_exact_belief),
        cmocka_unit_test(always_and_never_stay_finite),
        cmocka_unit_test(a_page_that_slows_down_is_noticed),
        cmocka_unit_test(a_ceiling_by_the_cautious_rate_is_kept),
        cmocka_unit_test(neighbours_that_change_are_a_sign),
        cmocka_unit_test(errors_are_near_the_bound),
        cmocka_unit_test(the_population_is_found),
        cmocka_unit_test(few_pages_are_no_population),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
