/* bench_recrawl.c - the decisions of recrawling on their own. Usage:
 *
 *     bench_recrawl rate SEED...     errors of estimated change rates on Poisson pages, by the bound of Cramer and Rao
 *     bench_recrawl history FILE     chances of change that are foretold on a real history (docs/formats/changes.md)
 *     bench_recrawl many CHANNELS    greedy with so many channels: time of a decision and of the longest call, bytes
 *
 * Prints `name value unit` lines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "foretell.h"
#include "plan/recrawl.h"

/* ---- rates ---- */

#define PAGES 5000
#define VISITS_MAX 50

struct visit {
    double gap;
    bool has_changed;
};

/* Rates over two orders of magnitude, gaps that are uneven; the prior is learned from these very visits. */
static double rms_over_bound(uint64_t seed, int visits)
{
    struct change_rate *pages = mem_alloc(PAGES * sizeof(*pages));
    struct visit *seen = mem_alloc(PAGES * VISITS_MAX * sizeof(*seen));
    double *rates = mem_alloc(PAGES * sizeof(*rates)), squares = 0, bounds = 0;
    struct change_prior p = {.changes = 1, .time = 1};
    struct rng r;
    rng_seed(&r, seed);
    for (size_t i = 0; i < PAGES; i++) {
        double info = 0;
        rates[i] = exp(log(0.03) + log(100) * rng_unit(&r));
        for (int v = 0; v < visits; v++) {
            struct visit *s = &seen[i * VISITS_MAX + (size_t)v];
            s->gap = (0.2 + 1.6 * rng_unit(&r)) / sqrt(rates[i] * 0.3); /* a scheduler that half knows */
            double x = rates[i] * s->gap;
            s->has_changed = rng_unit(&r) < -expm1(-x);
            info += x * x / expm1(x);
        }
        bounds += 1 / info;
    }
    for (int round = 0; round < 20; round++) {
        struct change_population pop = {0};
        for (size_t i = 0; i < PAGES; i++) {
            pages[i] = (struct change_rate){0};
            for (int v = 0; v < visits; v++)
                change_observe(&pages[i], &p, seen[i * VISITS_MAX + (size_t)v].gap,
                               seen[i * VISITS_MAX + (size_t)v].has_changed, -1);
            change_population_add(&pop, &pages[i], &p);
        }
        if (round < 19)
            change_population_fit(&pop, &p);
    }
    for (size_t i = 0; i < PAGES; i++) {
        double off = change_rate_log(&pages[i], &p) - log(rates[i]);
        squares += off * off;
    }
    free(pages);
    free(seen);
    free(rates);
    return sqrt(squares / bounds);
}

static void rate(int argc, char **argv)
{
    static const int visits[] = {10, 50};
    for (size_t k = 0; k < 2; k++) {
        double sum = 0, least = INFINITY, most = 0;
        for (int i = 0; i < argc; i++) {
            double v = rms_over_bound(strtoull(argv[i], NULL, 10), visits[k]);
            sum += v;
            least = fmin(least, v);
            most = fmax(most, v);
        }
        printf("rate_rms_%d_visits %.4f bound\n", visits[k], sum / argc);
        printf("rate_rms_%d_visits_least %.4f bound\n", visits[k], least);
        printf("rate_rms_%d_visits_most %.4f bound\n", visits[k], most);
    }
}

/* ---- many channels ---- */

#define START INT64_C(1700000000000)
#define UNDER_WAY 4096

/* CPU time of this thread: others may be at work on the machine. */
static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What is true of a channel. */
struct many_channel {
    float gap_s, cost_ms;
    wall_ms visited;
};

/* Slots for one visit a channel every four changes; then twice, then half as many. */
static void many(size_t n)
{
    struct recrawl *r = recrawl_new(&(struct recrawl_opts){.strategy = RECRAWL_GREEDY});
    uint32_t *ring = mem_alloc(UNDER_WAY * sizeof(*ring));
    struct many_channel *truth = mem_alloc(n * sizeof(*truth));
    struct rng rng;
    double demand = 0, spent, longest = 0, longest_done = 0, all = 0;
    size_t decisions = 0, slices = 0, head = 0, tail = 0;
    wall_ms now = START, wake;
    uint32_t id;
    rng_seed(&rng, 1);
    double begin = now_s();
    for (size_t i = 0; i < n; i++) {
        double gap_s = 3600 * exp(5 * rng_unit(&rng)); /* one hour to six days */
        demand += 1 / gap_s;
        struct recrawl_rule rule = {.weight = exp(3 * rng_unit(&rng))};
        struct recrawl_history h = {.visited = START - (int64_t)(gap_s * 4000 * rng_unit(&rng)),
                                    .rate = {16, (float)(16 * gap_s)},
                                    .cost_ms = 1000 * exp(4 * rng_unit(&rng))};
        truth[i] = (struct many_channel){(float)gap_s, (float)h.cost_ms, h.visited};
        if (recrawl_put(r, START, &rule, &h, &id) != ST_OK)
            exit(1);
    }
    printf("many_put %.3f us\n", (now_s() - begin) * 1e6 / (double)n);
    static const double capacity[] = {0.25, 0.5, 0.125};
    for (size_t phase = 0; phase < 3; phase++) {
        double step_ms = 1000 / (demand * capacity[phase]), at = 0;
        spent = 0;
        for (size_t k = 0; k < n; k++) {
            at += step_ms;
            wall_ms t = now + (wall_ms)at;
            struct recrawl_result done = {0};
            bool has_result = tail - head == UNDER_WAY / 2;
            if (has_result) {
                struct many_channel *c = &truth[ring[head % UNDER_WAY]];
                done.has_changed = rng_unit(&rng) < -expm1((double)(c->visited - t) / 1000 / (double)c->gap_s);
                done.took_ms = (int64_t)((double)c->cost_ms * (0.8 + 0.4 * rng_unit(&rng)));
                c->visited = t;
            }
            begin = now_s();
            if (has_result)
                recrawl_done(r, t, ring[head++ % UNDER_WAY], &done);
            double call = now_s();
            longest_done = fmax(longest_done, call - begin);
            for (bool is_over = false; !is_over;) {
                status st = recrawl_next(r, t, true, &id, &wake);
                double after = now_s();
                longest = fmax(longest, after - call);
                call = after;
                is_over = st == ST_OK || wake > t;
                slices += !is_over;
                if (st == ST_OK)
                    ring[tail++ % UNDER_WAY] = id;
            }
            spent += call - begin;
        }
        now += (wall_ms)at;
        decisions += n;
        all += spent;
        printf("many_decision_at_%g %.3f us\n", capacity[phase], spent * 1e6 / (double)n);
    }
    printf("many_decision %.3f us\n", all * 1e6 / (double)decisions);
    printf("many_longest %.3f ms\n", longest * 1e3);
    printf("many_longest_done %.3f ms\n", longest_done * 1e3);
    printf("many_slices %zu calls\n", slices);
    printf("many_bytes %.1f bytes\n", (double)recrawl_bytes(r) / (double)n);
    free(ring);
    free(truth);
    recrawl_free(r);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "rate") == 0)
        rate(argc - 2, argv + 2);
    else if (argc == 3 && strcmp(argv[1], "history") == 0)
        return foretell_history(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "many") == 0)
        many((size_t)strtoull(argv[2], NULL, 10));
    else {
        fputs("usage: bench_recrawl rate SEED... | history FILE | many CHANNELS\n", stderr);
        return 2;
    }
    return 0;
}
