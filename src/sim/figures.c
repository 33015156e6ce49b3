#include "sim/figures.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "plan/delegate.h"
#include "sim/draw.h"

#define EQUAL_MS 1e-6

const struct download_model download_paper = {10, 16e3, 10e3, 15, 10};
const struct download_model download_today = {10, 16e6, 0, 0.015, 10};

double download_site_s(const struct download_model *m, const struct world_site *s, double rtt_ms)
{
    double rounds = ceil((double)s->pages / m->pages_a_round);
    double bytes = m->page_bytes > 0 ? m->page_bytes : (double)s->bytes_per_page;
    return rounds * (2 * rtt_ms / 1000 + m->pages_a_round * bytes * 8 / m->bits_per_second + m->server_s);
}

/* Seconds by agent, and the slowest of them. */
struct load {
    double *paper, *today;
    size_t agents;
};

static struct load load_new(size_t agents)
{
    return (struct load){mem_alloc(agents * sizeof(double)), mem_alloc(agents * sizeof(double)), agents};
}

static void load_done(struct load *l)
{
    free(l->paper);
    free(l->today);
}

static void load_add(struct load *l, const struct world_site *s, size_t agent, double rtt_ms)
{
    l->paper[agent] += download_site_s(&download_paper, s, rtt_ms);
    l->today[agent] += download_site_s(&download_today, s, rtt_ms);
}

static double slowest(const double *seconds, size_t n, double connections)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, seconds[i]);
    return most / connections;
}

static double mean(const double *seconds, size_t n, double connections)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += seconds[i];
    return sum / (double)n / connections;
}

void quality_measure(const struct ground *g, const uint32_t *sites, size_t n, const uint32_t *agent_of,
                     struct quality *out)
{
    struct quality q = {0};
    struct load load = load_new(world_agent_count(g->world));
    size_t optimal = 0, near = 0;
    double sum = 0, best_sum = 0, excess = 0, pages = 0, page_sum = 0, page_best = 0;
    for (size_t i = 0; i < n; i++) {
        const struct world_site *s = world_site(g->world, sites[i]);
        double best_ms, ms = ground_rtt(g, sites[i], agent_of[sites[i]]);
        (void)ground_nearest(g, sites[i], &best_ms);
        sum += ms;
        best_sum += best_ms;
        optimal += ms <= best_ms + EQUAL_MS;
        near += ms <= best_ms + DELEGATE_NEAR_MS;
        excess += ms - best_ms;
        q.excess_max_ms = fmax(q.excess_max_ms, ms - best_ms);
        pages += s->pages;
        page_sum += s->pages * ms;
        page_best += s->pages * best_ms;
        load_add(&load, s, agent_of[sites[i]], ms);
    }
    double count = n ? (double)n : 1;
    q.optimal = (double)optimal / count;
    q.near = (double)near / count;
    q.rtt_ms = sum / count;
    q.best_ms = best_sum / count;
    q.rtt_ratio = best_sum > 0 ? sum / best_sum : 1;
    q.excess_ms = n > optimal ? excess / (double)(n - optimal) : 0;
    q.page_ms = pages > 0 ? page_sum / pages : 0;
    q.page_ratio = page_best > 0 ? page_sum / page_best : 1;
    q.download_s = slowest(load.paper, load.agents, download_paper.connections);
    q.download_mean_s = mean(load.paper, load.agents, download_paper.connections);
    q.download_today_s = slowest(load.today, load.agents, download_today.connections);
    q.download_today_mean_s = mean(load.today, load.agents, download_today.connections);
    load_done(&load);
    *out = q;
}

static size_t farthest(const struct ground *g, size_t site, double *ms)
{
    size_t worst = 0;
    *ms = -1;
    for (size_t i = 0; i < world_agent_count(g->world); i++) {
        double x = ground_rtt(g, site, i);
        if (x > *ms) {
            *ms = x;
            worst = i;
        }
    }
    return worst;
}

void baseline_measure(const struct ground *g, const uint32_t *sites, size_t n, struct baseline *out)
{
    size_t agents = world_agent_count(g->world);
    struct load drawn = load_new(agents), far = load_new(agents), best = load_new(agents);
    double sum = 0, ms;
    for (size_t i = 0; i < n; i++) {
        const struct world_site *s = world_site(g->world, sites[i]);
        struct rng r = draw_for(g->opts.seed, DRAW_BASELINE, sites[i], 0);
        size_t agent = rng_below(&r, agents);
        ms = ground_rtt(g, sites[i], agent);
        sum += ms;
        load_add(&drawn, s, agent, ms);
        agent = farthest(g, sites[i], &ms);
        load_add(&far, s, agent, ms);
        agent = ground_nearest(g, sites[i], &ms);
        load_add(&best, s, agent, ms);
    }
    *out = (struct baseline){
        .random_s = slowest(drawn.paper, agents, download_paper.connections),
        .farthest_s = slowest(far.paper, agents, download_paper.connections),
        .best_s = slowest(best.paper, agents, download_paper.connections),
        .random_today_s = slowest(drawn.today, agents, download_today.connections),
        .farthest_today_s = slowest(far.today, agents, download_today.connections),
        .best_today_s = slowest(best.today, agents, download_today.connections),
        .random_today_mean_s = mean(drawn.today, agents, download_today.connections),
        .farthest_today_mean_s = mean(far.today, agents, download_today.connections),
        .best_today_mean_s = mean(best.today, agents, download_today.connections),
        .random_ms = n ? sum / (double)n : 0,
    };
    load_done(&drawn);
    load_done(&far);
    load_done(&best);
}
