#include "sim/recrawl_ground.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "place/cities.h"
#include "sim/draw.h"
#include "sim/world_model.h"
#include "sim/world_places.h"

#define MODEL_NODES 140
#define MODEL_SITES 1600
#define PAGES_MEAN 8738.0     /* 15,187,511 URLs of 1,738 hosts */
#define PAGES_SPREAD 1.5      /* deviation of the logarithm: half of the channels have a third of the mean */
#define CRAWL_STEPS_MAX 600.0 /* over the slowest line: so that a crawl fits in an agent's life, N(1000, 200) */
#define SPREAD_LEAST 0.1
#define SPREAD_MOST 0.5

const double recrawl_mean_gap[RECRAWL_RANKS] = {60, 120, 240, 480, 960};
const double recrawl_weight[RECRAWL_RANKS] = {16, 8, 4, 2, 1};
static const double line_bits[3] = {512e3, 1e6, 2e6}; /* a second */
static const double rank_share[RECRAWL_RANKS] = {603, 4393, 7944, 4240, 597};

/* ---- round trips ---- */

static void from_world(struct recrawl_ground *g, const struct world *w)
{
    g->nodes = world_agent_count(w) < RECRAWL_NODES_MAX ? world_agent_count(w) : RECRAWL_NODES_MAX;
    g->sites = world_site_count(w) < RECRAWL_SITES_MAX ? world_site_count(w) : RECRAWL_SITES_MAX;
    g->rtt_ms = mem_alloc(g->sites * g->nodes * sizeof(*g->rtt_ms));
    for (size_t s = 0; s < g->sites; s++)
        for (size_t n = 0; n < g->nodes; n++)
            g->rtt_ms[s * g->nodes + n] = (float)world_rtt(w, s, n);
}

static struct model_place draw_place(const struct places *p, struct rng *r)
{
    const struct place_spot *at = &p->list[places_draw(p, r)];
    struct model_place out = {.spot = at->spot};
    for (int i = 0; i < 3; i++)
        out.country[i] = at->country[i];
    return out;
}

static void from_model(struct recrawl_ground *g, const struct cities *cities)
{
    struct model_opts o;
    struct places places;
    struct rng r = draw_for(g->seed, DRAW_AGENTS, 0, 0);
    char name[32];
    g->nodes = MODEL_NODES;
    g->sites = MODEL_SITES;
    g->rtt_ms = mem_alloc(g->sites * g->nodes * sizeof(*g->rtt_ms));
    model_defaults(g->seed, &o);
    struct model *m = model_new(&o);
    places_from_cities(cities, &places);
    for (size_t n = 0; n < g->nodes; n++) {
        struct model_place p = draw_place(&places, &r);
        (void)snprintf(name, sizeof(name), "node%zu", n);
        model_add_agent(m, span_str(name), &p);
    }
    r = draw_for(g->seed, DRAW_SITES, 0, 0);
    for (size_t s = 0; s < g->sites; s++) {
        struct model_place p = draw_place(&places, &r);
        (void)snprintf(name, sizeof(name), "site%zu", s);
        const uint32_t *paths = model_paths(m, model_place(m, &p));
        uint32_t access = model_access_site(m, span_str(name));
        for (size_t n = 0; n < g->nodes; n++)
            g->rtt_ms[s * g->nodes + n] = (float)(paths[n] + access + model_access_agent(m, n)) / 100;
    }
    places_done(&places);
    model_free(m);
}

static void sort_nodes(struct recrawl_ground *g)
{
    g->order = mem_alloc(g->sites * g->nodes * sizeof(*g->order));
    for (size_t s = 0; s < g->sites; s++) {
        const float *row = g->rtt_ms + s * g->nodes;
        uint16_t *order = g->order + s * g->nodes;
        for (size_t n = 0; n < g->nodes; n++) {
            size_t at = n;
            for (; at > 0 && row[order[at - 1]] > row[n]; at--)
                order[at] = order[at - 1];
            order[at] = (uint16_t)n;
        }
    }
}

/* How far a node is from what is nearest to it: of the sites, as nothing is known between nodes. */
static float *nearest_of_nodes(const struct recrawl_ground *g)
{
    float *nearest = mem_alloc(g->nodes * sizeof(*nearest));
    for (size_t n = 0; n < g->nodes; n++) {
        nearest[n] = g->rtt_ms[n];
        for (size_t s = 1; s < g->sites; s++)
            nearest[n] = fminf(nearest[n], g->rtt_ms[s * g->nodes + n]);
    }
    return nearest;
}

/* ---- agents and channels ---- */

static void make_agents(struct recrawl_ground *g)
{
    float *nearest = nearest_of_nodes(g);
    g->agent = mem_alloc(g->agents * sizeof(*g->agent));
    for (size_t i = 0; i < g->agents; i++) {
        struct ground_agent *a = &g->agent[i];
        struct rng r = draw_for(g->seed, DRAW_LINE, i, 0);
        double line = round(1 + 0.5 * draw_normal(&r));
        a->node = (uint16_t)(i % g->nodes);
        a->page_s = (float)(RECRAWL_SERVER_S + RECRAWL_PAGE_BITS * RECRAWL_THREADS /
                                                   line_bits[line < 1   ? 0
                                                             : line > 1 ? 2
                                                                        : 1]);
        r = draw_for(g->seed, DRAW_SPREAD, 1, i);
        a->spread_ms = (float)((double)nearest[a->node] * draw_between(&r, SPREAD_LEAST, SPREAD_MOST));
    }
    free(nearest);
}

/* Numbers of pages: log-normal, capped, with the mean of the data set after that. */
static void make_pages(struct recrawl_ground *g)
{
    double most = CRAWL_STEPS_MAX * 60 / (RECRAWL_SERVER_S + RECRAWL_PAGE_BITS * RECRAWL_THREADS / line_bits[0]);
    double low = 0, high = 20;
    double *z = mem_alloc(g->channels * sizeof(*z));
    for (size_t i = 0; i < g->channels; i++) {
        struct rng r = draw_for(g->seed, DRAW_PAGES, i, 0);
        z[i] = draw_normal(&r);
    }
    for (int k = 0; k < 50; k++) {
        double mid = (low + high) / 2, sum = 0;
        for (size_t i = 0; i < g->channels; i++)
            sum += fmin(most, exp(mid + PAGES_SPREAD * z[i]));
        if (sum < PAGES_MEAN * (double)g->channels)
            low = mid;
        else
            high = mid;
    }
    for (size_t i = 0; i < g->channels; i++)
        g->channel[i].pages = (float)ceil(fmin(most, exp(high + PAGES_SPREAD * z[i])));
    free(z);
}

static void make_ranks(struct recrawl_ground *g)
{
    double all = 0, sum = 0;
    size_t at = 0;
    for (int k = 0; k < RECRAWL_RANKS; k++)
        all += rank_share[k];
    for (int k = 0; k < RECRAWL_RANKS; k++) {
        sum += rank_share[k];
        for (; at < g->channels && (double)at < sum / all * (double)g->channels; at++)
            g->channel[at].rank = (uint8_t)k;
    }
}

/* The rank whose mean gap is nearest. */
static uint8_t rank_of_gap(double gap)
{
    int k = 0;
    while (k + 1 < RECRAWL_RANKS && gap > sqrt(recrawl_mean_gap[k] * recrawl_mean_gap[k + 1]))
        k++;
    return (uint8_t)k;
}

/* Histories in turn, each channel with its own beginning. Those with fewer than two changes say nothing. */
static void give_histories(struct recrawl_ground *g)
{
    uint32_t h = 0;
    bool has_any = false;
    for (size_t i = 0; i < g->changes->count; i++)
        has_any = has_any || g->changes->list[i].count > 1;
    g->scale = (double)g->steps / fmax(1, (double)g->changes->last - g->changes->first);
    for (size_t i = 0; has_any && i < g->channels; i++, h++) {
        while (g->changes->list[h % g->changes->count].count < 2)
            h++;
        struct rng r = draw_for(g->seed, DRAW_CHANGE, i, 0);
        g->channel[i].history = h % (uint32_t)g->changes->count;
        g->channel[i].shift = rng_unit(&r) * g->steps;
        g->channel[i].rank = rank_of_gap(ground_change_gap(g, i));
    }
}

static void make_channels(struct recrawl_ground *g)
{
    g->channel = mem_alloc(g->channels * sizeof(*g->channel));
    for (size_t i = 0; i < g->channels; i++) {
        struct ground_channel *c = &g->channel[i];
        struct rng r = draw_for(g->seed, DRAW_SPREAD, 0, i);
        c->site = (uint32_t)(rng_u64(&r) % g->sites);
        c->history = UINT32_MAX;
        double nearest = (double)g->rtt_ms[c->site * g->nodes + g->order[c->site * g->nodes]];
        c->spread_ms = (float)(nearest * draw_between(&r, SPREAD_LEAST, SPREAD_MOST));
    }
    make_pages(g);
    make_ranks(g);
    if (g->changes)
        give_histories(g);
}

void recrawl_ground_init(struct recrawl_ground *g, const struct recrawl_ground_opts *o)
{
    *g = (struct recrawl_ground){.seed = o->seed,
                                 .agents = o->agents,
                                 .channels = o->channels ? o->channels : RECRAWL_CHANNELS,
                                 .steps = o->steps,
                                 .changes = o->changes};
    if (o->world)
        from_world(g, o->world);
    else
        from_model(g, o->cities);
    sort_nodes(g);
    make_agents(g);
    make_channels(g);
}

void recrawl_ground_done(struct recrawl_ground *g)
{
    free(g->rtt_ms);
    free(g->order);
    free(g->agent);
    free(g->channel);
    *g = (struct recrawl_ground){0};
}

double ground_change_gap(const struct recrawl_ground *g, size_t channel)
{
    const struct ground_channel *c = &g->channel[channel];
    if (c->history == UINT32_MAX)
        return recrawl_mean_gap[c->rank];
    return (double)g->steps / (double)g->changes->list[c->history].count;
}

double ground_crawl_steps(const struct recrawl_ground *g, size_t channel, size_t agent)
{
    const struct ground_channel *c = &g->channel[channel];
    const struct ground_agent *a = &g->agent[agent];
    double rtt_ms = (double)(g->rtt_ms[c->site * g->nodes + a->node] + c->spread_ms + a->spread_ms);
    return (double)c->pages * ((double)a->page_s + rtt_ms / 1000) / 60;
}

/* ---- changes ---- */

/* A history goes round: after its end it begins again. */
static double history_step(const struct recrawl_ground *g, const struct ground_channel *c, uint32_t number)
{
    const struct change_history *h = &g->changes->list[c->history];
    size_t rounds = number / h->count;
    return (double)rounds * g->steps + ((double)h->times[number % h->count] - g->changes->first) * g->scale - c->shift;
}

void ground_changes_step(const struct recrawl_ground *g, size_t channel, struct ground_changes *c)
{
    const struct ground_channel *ch = &g->channel[channel];
    if (ch->history != UINT32_MAX) {
        c->next = history_step(g, ch, c->number++);
        return;
    }
    struct rng r = draw_for(g->seed, DRAW_CHANGE, channel, ++c->number);
    c->next += draw_exponential(&r, recrawl_mean_gap[ch->rank]);
}

void ground_changes_begin(const struct recrawl_ground *g, size_t channel, struct ground_changes *c)
{
    *c = (struct ground_changes){0};
    do
        ground_changes_step(g, channel, c);
    while (c->next < 0);
}
