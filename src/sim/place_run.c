#include "sim/place_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"

#define FIT_PAIRS_MAX 200000
#define OWN_STEPS_MAX 100     /* of the world's agents */
#define OWN_PAIRS_MAX 2000000 /* sites x agents: every n-th site stands for all when there are more */
#define ENOUGH_GAIN 0.01

/* Sites at one place, as one. */
struct spot_group {
    struct spot spot;
    double weight;
    double line_ms; /* what their own lines add, in the mean */
    double now_ms;  /* mean round trip from the nearest agent so far */
};

struct search {
    const struct world *world;
    const struct place_opts *opts;
    struct place_result *result;
    double *now_ms; /* by site: from the nearest chosen so far */
    double total;   /* weight of the sites that are looked at */
    size_t stride;  /* one in so many is */
    struct spot_group *groups;
    size_t group_count, group_cap;
};

static double weight_of(const struct search *s, size_t site)
{
    return s->opts->by_pages ? (double)world_site(s->world, site)->pages : 1;
}

static void add_step(struct search *s, bool is_city, size_t at, double rtt_ms, double nearest)
{
    struct place_result *r = s->result;
    r->steps[r->count++] = (struct place_step){.is_city = is_city, .at = at, .rtt_ms = rtt_ms, .nearest = nearest};
}

/* ---- the world's agents ---- */

static double mean_with(const struct search *s, size_t agent, double *nearest)
{
    double sum = 0, won = 0;
    for (size_t i = 0; i < world_site_count(s->world); i += s->stride) {
        double ms = world_rtt(s->world, i, agent), w = weight_of(s, i);
        sum += w * fmin(ms, s->now_ms[i]);
        won += ms < s->now_ms[i] ? w : 0;
    }
    *nearest = won / s->total;
    return sum / s->total;
}

static void choose_agents(struct search *s, size_t most)
{
    size_t agents = world_agent_count(s->world);
    bool *is_chosen = mem_alloc(agents);
    for (size_t n = 0; n < agents && n < most; n++) {
        size_t best = SIZE_MAX;
        double best_ms = INFINITY, best_nearest = 0;
        for (size_t a = 0; a < agents; a++) {
            double nearest = 0, ms = is_chosen[a] ? INFINITY : mean_with(s, a, &nearest);
            if (ms < best_ms) {
                best = a;
                best_ms = ms;
                best_nearest = nearest;
            }
        }
        is_chosen[best] = true;
        for (size_t i = 0; i < world_site_count(s->world); i += s->stride)
            s->now_ms[i] = fmin(s->now_ms[i], world_rtt(s->world, i, best));
        add_step(s, false, best, best_ms, best_nearest);
    }
    free(is_chosen);
}

/* ---- what a round trip would be ---- */

/* Least squares of round trip over light, on pairs that are spread evenly over all. */
static void fit_line(struct search *s)
{
    size_t agents = world_agent_count(s->world), sites = world_site_count(s->world);
    double n = 0, x1 = 0, y1 = 0, xx = 0, xy = 0;
    size_t step = sites * agents / FIT_PAIRS_MAX + 1;
    for (size_t i = 0; i < sites * agents; i += step) {
        const struct world_site *site = world_site(s->world, i / agents);
        if (site->is_anycast)
            continue;
        double x = geo_light_ms(geo_km(site->spot, world_agent(s->world, i % agents)->spot));
        double y = world_rtt(s->world, i / agents, i % agents);
        n++;
        x1 += x;
        y1 += y;
        xx += x * x;
        xy += x * y;
    }
    double spread = n * xx - x1 * x1;
    s->result->slope = spread > 0 ? fmax(1, (n * xy - x1 * y1) / spread) : 1;
    s->result->base_ms = n > 0 ? fmax(0, (y1 - s->result->slope * x1) / n) : 0;
}

/* What the site adds whoever asks: the least that any agent saw beyond the distance. */
static double line_of(const struct search *s, size_t site)
{
    const struct world_site *w = world_site(s->world, site);
    double least = INFINITY;
    for (size_t a = 0; a < world_agent_count(s->world); a++) {
        double light = geo_light_ms(geo_km(w->spot, world_agent(s->world, a)->spot));
        least = fmin(least, world_rtt(s->world, site, a) - s->result->slope * light);
    }
    return fmin(fmax(least, 0), s->now_ms[site]);
}

static void group_sites(struct search *s)
{
    struct table by_spot = {0};
    for (size_t i = 0; i < world_site_count(s->world); i += s->stride) {
        const struct world_site *w = world_site(s->world, i);
        uint64_t key;
        if (w->is_anycast) /* it is near already */
            continue;
        memcpy(&key, &w->spot, sizeof(key));
        uintptr_t at = (uintptr_t)table_get(&by_spot, key);
        if (!at) {
            s->groups = mem_grow(s->groups, &s->group_cap, s->group_count + 1, sizeof(*s->groups));
            s->groups[s->group_count] = (struct spot_group){.spot = w->spot};
            at = ++s->group_count;
            table_put(&by_spot, key, (void *)at);
        }
        struct spot_group *g = &s->groups[at - 1];
        double weight = weight_of(s, i);
        g->line_ms += weight * line_of(s, i);
        g->now_ms += weight * s->now_ms[i];
        g->weight += weight;
    }
    for (size_t i = 0; i < s->group_count; i++) {
        s->groups[i].line_ms /= s->groups[i].weight;
        s->groups[i].now_ms /= s->groups[i].weight;
    }
    table_done(&by_spot);
}

/* ---- cities ---- */

static int by_people(const void *a, const void *b)
{
    const struct city *x = *(const struct city *const *)a, *y = *(const struct city *const *)b;
    if (x->people != y->people)
        return x->people < y->people ? 1 : -1;
    return (x > y) - (x < y);
}

struct candidates {
    const struct city **list;
    size_t count;
    float *ms; /* [candidate * groups + group] */
};

static void find_candidates(const struct search *s, struct candidates *c)
{
    const struct cities *cities = s->opts->cities;
    c->list = mem_alloc((cities->count ? cities->count : 1) * sizeof(*c->list));
    for (size_t i = 0; i < cities->count; i++)
        c->list[i] = &cities->list[i];
    qsort(c->list, cities->count, sizeof(*c->list), by_people);
    c->count = cities->count < PLACE_CANDIDATES_MAX ? cities->count : PLACE_CANDIDATES_MAX;
    c->ms = mem_alloc((c->count * s->group_count + 1) * sizeof(*c->ms));
    for (size_t i = 0; i < c->count; i++)
        for (size_t g = 0; g < s->group_count; g++)
            c->ms[i * s->group_count + g] =
                (float)(s->groups[g].line_ms +
                        s->result->slope * geo_light_ms(geo_km(c->list[i]->spot, s->groups[g].spot)));
}

static double gain_of(const struct search *s, const struct candidates *c, size_t i, double *won)
{
    double gain = 0;
    *won = 0;
    for (size_t g = 0; g < s->group_count; g++) {
        double less = s->groups[g].now_ms - (double)c->ms[i * s->group_count + g];
        if (less > 0) {
            gain += s->groups[g].weight * less;
            *won += s->groups[g].weight;
        }
    }
    return gain;
}

static void choose_cities(struct search *s, double mean_ms, size_t most)
{
    struct candidates c = {0};
    fit_line(s);
    group_sites(s);
    find_candidates(s, &c);
    for (size_t n = 0; n < most; n++) {
        size_t best = SIZE_MAX;
        double best_gain = 0, best_won = 0, won;
        for (size_t i = 0; i < c.count; i++) {
            double gain = gain_of(s, &c, i, &won);
            if (gain > best_gain) {
                best = i;
                best_gain = gain;
                best_won = won;
            }
        }
        if (best == SIZE_MAX)
            break;
        mean_ms -= best_gain / s->total;
        for (size_t g = 0; g < s->group_count; g++)
            s->groups[g].now_ms = fmin(s->groups[g].now_ms, (double)c.ms[best * s->group_count + g]);
        add_step(s, true, (size_t)(c.list[best] - s->opts->cities->list), mean_ms, best_won / s->total);
    }
    free(c.list);
    free(c.ms);
}

/* The first of the steps `from` .. `to` after which one more gains little; `to`: none. */
static size_t enough(const struct place_result *r, size_t from, size_t to)
{
    for (size_t i = from + 1; i < to; i++)
        if (r->steps[i - 1].rtt_ms - r->steps[i].rtt_ms < ENOUGH_GAIN * r->steps[i - 1].rtt_ms)
            return i;
    return to;
}

void place_run(const struct world *w, const struct place_opts *o, struct place_result *out)
{
    struct search s = {.world = w, .opts = o, .result = out};
    size_t agents = world_agent_count(w), sites = world_site_count(w);
    *out = (struct place_result){0};
    size_t own = agents < OWN_STEPS_MAX ? agents : OWN_STEPS_MAX;
    size_t more = o->more < PLACE_STEPS_MAX ? o->more : PLACE_STEPS_MAX;
    out->steps = mem_alloc((own + more + 1) * sizeof(*out->steps));
    s.stride = (size_t)((uint64_t)sites * agents / OWN_PAIRS_MAX + 1);
    s.now_ms = mem_alloc(sites * sizeof(*s.now_ms));
    for (size_t i = 0; i < sites; i += s.stride) {
        s.now_ms[i] = INFINITY;
        s.total += weight_of(&s, i);
    }
    choose_agents(&s, own);
    out->own = out->count;
    double mean_ms = 0;
    for (size_t i = 0; i < sites; i += s.stride) { /* agents that were not chosen count too */
        (void)world_nearest(w, i, &s.now_ms[i]);
        mean_ms += weight_of(&s, i) * s.now_ms[i] / s.total;
    }
    choose_cities(&s, mean_ms, more);
    out->own_enough = enough(out, 0, out->own);
    out->enough = enough(out, out->own ? out->own - 1 : 0, out->count);
    free(s.now_ms);
    free(s.groups);
}

void place_result_done(struct place_result *r)
{
    free(r->steps);
    *r = (struct place_result){0};
}
