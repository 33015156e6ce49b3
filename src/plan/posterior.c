#include "plan/posterior.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define LAST_MS 5.0f          /* from the place to the site: expected, */
#define LAST_SPREAD_MS 4.0f   /* and its spread */
#define NOISE 0.02f           /* of a measurement, as a share of it */
#define NOISE_MS2 0.3f        /* and its floor, squared */
#define LIGHT_SLACK 0.95f     /* declared places and grid are not exact */
#define LIGHT_SLACK_KM 150.0f /* a round trip that beats light to a place by more than this rules it out, */
#define RULED_OUT 1e-4f       /* nearly: declared places may be wrong */
#define FAINT 0.004f          /* places below this share are not weighed when a probe's worth is */
#define LEARN_SHARE 0.05      /* nor taught */

struct place_guess {
    uint32_t place;
    float weight, widen;
    float ms[POSTERIOR_AGENTS];
    float var[POSTERIOR_AGENTS][POSTERIOR_AGENTS]; /* covariance */
};

struct posterior {
    struct field *field; /* borrowed */
    uint32_t slots[POSTERIOR_AGENTS];
    size_t agents, wide; /* wide: agents, up to a multiple of 8, so that loops over them are straight */
    float likeness[POSTERIOR_AGENTS][POSTERIOR_AGENTS];
    struct place_guess *guesses; /* owned: POSTERIOR_PLACES */
    size_t count;
    struct {
        size_t agent;
        float ms;
    } seen[POSTERIOR_AGENTS];
    size_t seen_count;
};

struct posterior *posterior_new(void)
{
    struct posterior *p = mem_alloc(sizeof(*p));
    p->guesses = mem_alloc(POSTERIOR_PLACES * sizeof(*p->guesses));
    return p;
}

void posterior_free(struct posterior *p)
{
    if (!p)
        return;
    free(p->guesses);
    free(p);
}

void posterior_begin(struct posterior *p, struct field *f, const uint32_t *slots, size_t count)
{
    assert(count <= POSTERIOR_AGENTS);
    p->field = f;
    p->count = p->seen_count = 0;
    p->agents = count;
    p->wide = (count + 7) / 8 * 8;
    memcpy(p->slots, slots, count * sizeof(*slots));
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++)
            p->likeness[a][b] = field_likeness(f, slots[a], slots[b]);
}

void posterior_add(struct posterior *p, uint32_t place, double weight, double widen)
{
    float spread[POSTERIOR_AGENTS];
    for (size_t i = 0; i < p->count; i++)
        if (p->guesses[i].place == place && p->guesses[i].widen == (float)widen) {
            p->guesses[i].weight += (float)weight;
            return;
        }
    if (p->count == POSTERIOR_PLACES)
        return;
    struct place_guess *g = &p->guesses[p->count++];
    memset(g, 0, sizeof(*g));
    g->place = place;
    g->weight = (float)weight;
    g->widen = (float)widen;
    field_predict(p->field, place, p->slots, p->agents, g->ms, spread);
    for (size_t a = 0; a < p->agents; a++)
        spread[a] *= g->widen;
    for (size_t a = 0; a < p->agents; a++) {
        g->ms[a] += LAST_MS;
        for (size_t b = 0; b < p->agents; b++)
            g->var[a][b] = spread[a] * spread[b] * p->likeness[a][b] + LAST_SPREAD_MS * LAST_SPREAD_MS;
    }
}

static float noise_of(float ms)
{
    return NOISE * NOISE * ms * ms + NOISE_MS2;
}

/* Student's t with four degrees of freedom, but for a constant: tails that one odd measurement does not break. */
static float tail(float x)
{
    float y = 1 + x * 0.25f;
    return 1 / (y * y * sqrtf(y));
}

static void note(struct posterior *p, size_t agent, double ms)
{
    if (p->seen_count == POSTERIOR_AGENTS)
        return;
    p->seen[p->seen_count].agent = agent;
    p->seen[p->seen_count++].ms = (float)ms;
}

void posterior_reroute(struct posterior *p, size_t agent, double ms)
{
    note(p, agent, ms);
    for (size_t i = 0; i < p->count; i++) {
        struct place_guess *g = &p->guesses[i];
        g->ms[agent] = (float)ms;
        memset(g->var[agent], 0, sizeof(g->var[agent]));
        for (size_t b = 0; b < p->agents; b++)
            g->var[b][agent] = 0;
        g->var[agent][agent] = noise_of((float)ms);
    }
}

void posterior_observe(struct posterior *p, size_t agent, double ms)
{
    note(p, agent, ms);
    posterior_recall(p, agent, ms);
}

void posterior_recall(struct posterior *p, size_t agent, double observed)
{
    float ms = (float)observed, sum = 0;
    for (size_t i = 0; i < p->count; i++) {
        struct place_guess *g = &p->guesses[i];
        float row[POSTERIOR_AGENTS], var = g->var[agent][agent] + noise_of(ms), off = ms - g->ms[agent];
        g->weight *= tail(off * off / var) / sqrtf(var);
        float light = field_light_ms(p->field, g->place, p->slots[agent]);
        if (ms < LIGHT_SLACK * light - LIGHT_SLACK_KM / (float)GEO_KM_PER_MS)
            g->weight *= RULED_OUT;
        memcpy(row, g->var[agent], sizeof(row));
        for (size_t a = 0; a < p->agents; a++) {
            float gain = row[a] / var;
            g->ms[a] += gain * off;
            for (size_t b = 0; b < p->wide; b++)
                g->var[a][b] -= gain * row[b];
        }
        sum += g->weight;
    }
    for (size_t i = 0; i < p->count && sum > 0; i++)
        p->guesses[i].weight /= sum;
}

static float weight_of_all(const struct posterior *p)
{
    float sum = 0;
    for (size_t i = 0; i < p->count; i++)
        sum += p->guesses[i].weight;
    return sum;
}

double posterior_mean(const struct posterior *p, size_t agent)
{
    float sum = 0, all = weight_of_all(p);
    for (size_t i = 0; i < p->count; i++)
        sum += p->guesses[i].weight * p->guesses[i].ms[agent];
    return all > 0 ? sum / all : INFINITY;
}

double posterior_spread(const struct posterior *p, size_t agent)
{
    float all = weight_of_all(p), mean = (float)posterior_mean(p, agent), sum = 0;
    for (size_t i = 0; i < p->count; i++) {
        float off = p->guesses[i].ms[agent] - mean;
        sum += p->guesses[i].weight * (off * off + p->guesses[i].var[agent][agent]);
    }
    return all > 0 ? sqrt(fmax((double)(sum / all), 0)) : INFINITY;
}

uint32_t posterior_place(const struct posterior *p, double *share)
{
    size_t best = 0;
    if (!p->count)
        return UINT32_MAX;
    for (size_t i = 1; i < p->count; i++)
        if (p->guesses[i].weight > p->guesses[best].weight)
            best = i;
    *share = p->guesses[best].weight / weight_of_all(p);
    return p->guesses[best].place;
}

double posterior_share(const struct posterior *p, uint32_t place)
{
    float sum = 0;
    for (size_t i = 0; i < p->count; i++)
        sum += p->guesses[i].place == place ? p->guesses[i].weight : 0;
    return sum / weight_of_all(p);
}

static size_t best_of(const float *ms, size_t count, uint32_t may)
{
    size_t best = 0;
    float least = INFINITY;
    for (size_t b = 0; b < count; b++)
        if (may >> b & 1 && ms[b] < least) {
            least = ms[b];
            best = b;
        }
    return best;
}

/* The places that are weighed when the worth of a probe is, as far as that one agent sees them: side by side, so that
 * the loops over them are straight. */
struct view {
    float ms[POSTERIOR_PLACES], spread[POSTERIOR_PLACES], by_var[POSTERIOR_PLACES], weight[POSTERIOR_PLACES];
    const struct place_guess *guess[POSTERIOR_PLACES];
    size_t count;
    float all; /* their shares together */
};

static void look(const struct posterior *p, size_t agent, struct view *v)
{
    float all = weight_of_all(p);
    v->count = 0;
    v->all = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct place_guess *g = &p->guesses[i];
        if (g->weight < FAINT * all)
            continue;
        float var = g->var[agent][agent] + noise_of(g->ms[agent]), spread = sqrtf(var);
        v->guess[v->count] = g;
        v->ms[v->count] = g->ms[agent];
        v->spread[v->count] = spread;
        v->by_var[v->count] = 1 / var;
        v->weight[v->count++] = g->weight / spread;
        v->all += g->weight;
    }
}

/* How much better than agent `now` the best would be expected to be, if the measurement were `ms`. */
static float gain_if(const struct posterior *p, const struct view *v, size_t agent, float ms, size_t now, uint32_t may)
{
    float sums[POSTERIOR_AGENTS] = {0}, weights[POSTERIOR_PLACES], all = 0, most = 0;
    for (size_t i = 0; i < v->count; i++) {
        float off = ms - v->ms[i], r = 1 / sqrtf(1 + 0.25f * off * off * v->by_var[i]);
        weights[i] = v->weight[i] * r * r * r * r * r; /* tail() */
        all += weights[i];
        most = fmaxf(most, weights[i]);
    }
    for (size_t i = 0; i < v->count; i++) {
        if (weights[i] < 1e-3f * most)
            continue;
        const struct place_guess *g = v->guess[i];
        const float *row = g->var[agent];
        float shift = (ms - v->ms[i]) * v->by_var[i];
        for (size_t b = 0; b < p->wide; b++)
            sums[b] += weights[i] * (g->ms[b] + row[b] * shift);
    }
    return (sums[now] - sums[best_of(sums, p->agents, may)]) / all;
}

/* For each place three outcomes, in its middle and at its edges (Gauss-Hermite): so the rare ones count, which a few
 * random draws would miss. Both sides of the difference are of the same outcomes, so it is never below 0. */
double posterior_gain(const struct posterior *p, size_t agent, uint32_t may)
{
    static const float at[3] = {-1.7320508f, 0, 1.7320508f}, part[3] = {1 / 6.0f, 2 / 3.0f, 1 / 6.0f};
    struct view v;
    float means[POSTERIOR_AGENTS] = {0}, gain = 0;
    look(p, agent, &v);
    if (!v.count)
        return 0;
    for (size_t i = 0; i < v.count; i++)
        for (size_t b = 0; b < p->wide; b++)
            means[b] += v.guess[i]->weight * v.guess[i]->ms[b];
    size_t now = best_of(means, p->agents, may);
    for (size_t i = 0; i < v.count; i++)
        for (int k = 0; k < 3; k++)
            gain += v.guess[i]->weight * part[k] * gain_if(p, &v, agent, v.ms[i] + at[k] * v.spread[i], now, may);
    return gain / v.all;
}

static float normal_tail(float x) /* chance of more than x */
{
    return 0.5f * erfcf(x * 0.70710678f);
}

double posterior_sure(const struct posterior *p, size_t agent, uint32_t may, double ms)
{
    float all = weight_of_all(p), unsure = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct place_guess *g = &p->guesses[i];
        float worst = 0;
        for (size_t b = 0; b < p->agents && g->weight > FAINT * all; b++) {
            if (b == agent || !(may >> b & 1))
                continue;
            float var = g->var[b][b] + g->var[agent][agent] - 2 * g->var[agent][b];
            worst = fmaxf(worst, normal_tail((g->ms[b] - g->ms[agent] + (float)ms) / sqrtf(fmaxf(var, 0.01f))));
        }
        unsure += g->weight * worst;
    }
    return all > 0 ? 1 - unsure / all : 0;
}

/* What was taught before stays, even where a route has changed for sure: forgetting it (of the agent, of the place, of
 * its neighbours) made later decisions worse in every variant that was tried, because two in three are still right. */
void posterior_learn(const struct posterior *p, struct field *f, bool is_new)
{
    float all = weight_of_all(p);
    for (size_t i = 0; i < p->count; i++) {
        const struct place_guess *g = &p->guesses[i];
        double share = g->weight / all;
        if (!(share > LEARN_SHARE))
            continue;
        if (is_new)
            field_learn_site(f, g->place, share);
        for (size_t k = 0; k < p->seen_count; k++) {
            float ms = p->seen[k].ms;
            field_learn(f, g->place, p->slots[p->seen[k].agent], ms - LAST_MS,
                        LAST_SPREAD_MS * LAST_SPREAD_MS + NOISE * NOISE * ms * ms + 1, share);
        }
    }
}

void posterior_each(const struct posterior *p, double share, posterior_fn *fn, void *arg)
{
    float all = weight_of_all(p);
    for (size_t i = 0; i < p->count; i++)
        if (p->guesses[i].weight > share * all)
            fn(arg, p->guesses[i].place, p->guesses[i].weight / all);
}
