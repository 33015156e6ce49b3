#include "sim/ground.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "sim/draw.h"

#define DRIFT_SHARE (1.0 / 3)
#define SERVER_MS 120.0 /* median time that a server takes for a page */

static const char *const drift_names[] = {"none", "paths", "both", "servers"};

bool drift_parse(struct span name, drift_kind *out)
{
    for (size_t i = 0; i < sizeof(drift_names) / sizeof(*drift_names); i++)
        if (span_is(name, drift_names[i])) {
            *out = (drift_kind)i;
            return true;
        }
    return false;
}

const char *drift_name(drift_kind k)
{
    return drift_names[k];
}

void ground_init(struct ground *g, const struct world *w, const struct ground_opts *o)
{
    *g = (struct ground){.world = w, .opts = *o};
    if (g->opts.noise < 0)
        g->opts.noise = GROUND_NOISE;
    if (!g->opts.samples)
        g->opts.samples = GROUND_SAMPLES;
    assert(g->opts.samples <= GROUND_SAMPLES_MAX);
}

/* ---- what is ---- */

/* Routes change for a place, not for a single site in it. */
static uint64_t place_of(const struct world_site *s)
{
    if (s->is_anycast)
        return UINT64_MAX;
    return (uint64_t)llround(((double)s->spot.latitude + 90) * 1e4) << 32 |
           (uint64_t)llround(((double)s->spot.longitude + 180) * 1e4);
}

static double drifted(const struct ground *g, size_t site, size_t agent, double ms)
{
    const struct world_site *s = world_site(g->world, site);
    struct rng r = draw_for(g->opts.seed, DRAW_DRIFT, place_of(s), agent);
    if (rng_unit(&r) >= DRIFT_SHARE)
        return ms;
    if (g->opts.drift == DRIFT_PATHS || rng_unit(&r) < 0.5)
        return ms * draw_between(&r, 1.5, 3);
    double light = s->is_anycast ? 0 : geo_light_ms(geo_km(s->spot, world_agent(g->world, agent)->spot));
    double shorter = ms * draw_between(&r, 0.4, 0.8);
    return shorter > light ? shorter : fmin(light, ms);
}

double ground_rtt(const struct ground *g, size_t site, size_t agent)
{
    double ms = world_rtt(g->world, site, agent);
    bool is_changed = g->has_drifted && (g->opts.drift == DRIFT_PATHS || g->opts.drift == DRIFT_BOTH);
    return is_changed ? drifted(g, site, agent, ms) : ms;
}

size_t ground_nearest(const struct ground *g, size_t site, double *ms)
{
    if (!g->has_drifted)
        return world_nearest(g->world, site, ms);
    size_t best = 0;
    double best_ms = INFINITY;
    for (size_t i = 0; i < world_agent_count(g->world); i++) {
        double x = ground_rtt(g, site, i);
        if (x < best_ms) {
            best = i;
            best_ms = x;
        }
    }
    if (ms)
        *ms = best_ms;
    return best;
}

/* ---- what a measurement says ---- */

static double sample(const struct ground *g, struct rng *r, double ms)
{
    double noisy = ms * draw_lognormal(r, 0, g->opts.noise);
    if (g->opts.spike_every && rng_below(r, g->opts.spike_every) == 0)
        noisy += g->opts.spike_ms;
    return noisy;
}

static struct rng noise_for(const struct ground *g, draw_kind kind, size_t site, size_t agent, unsigned n)
{
    return draw_for(g->opts.seed, kind, site, (uint64_t)agent << 32 | n);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ground_probe(const struct ground *g, size_t site, size_t agent, unsigned n)
{
    double samples[GROUND_SAMPLES_MAX], ms = ground_rtt(g, site, agent);
    struct rng r = noise_for(g, DRAW_PROBE, site, agent, n);
    for (unsigned i = 0; i < g->opts.samples; i++)
        samples[i] = sample(g, &r, ms);
    qsort(samples, g->opts.samples, sizeof(*samples), by_size);
    return samples[g->opts.samples / 2];
}

void ground_request(const struct ground *g, size_t site, size_t agent, unsigned n, double *path_ms, double *total_ms)
{
    double ms = ground_rtt(g, site, agent);
    struct rng r = noise_for(g, DRAW_FETCH, site, agent, n);
    *path_ms = sample(g, &r, ms);
    struct rng server = draw_for(g->opts.seed, DRAW_SERVER, site, 0);
    double server_ms = draw_lognormal(&server, log(SERVER_MS), 0.8);
    if (g->has_drifted && g->opts.drift == DRIFT_SERVERS && rng_unit(&server) < DRIFT_SHARE)
        server_ms *= draw_between(&server, 3, 10);
    /* The connection, then the request over it. */
    *total_ms = *path_ms + sample(g, &r, ms) + server_ms * draw_lognormal(&r, 0, 0.2);
}
