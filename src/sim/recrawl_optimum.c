#include "sim/recrawl_optimum.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

struct want {
    double rate, weight, cost, steps;
};

/* The x of the gain y < 1: where a visit brings so much of what a certain one would. */
static double x_of_growth(double y)
{
    double low = 0, high = 60;
    for (int i = 0; i < 60; i++) {
        double mid = (low + high) / 2;
        if (recrawl_growth(mid) < y)
            low = mid;
        else
            high = mid;
    }
    return high;
}

/* Threads in use when a minute must gain `least`; x of each channel, 0: never. */
static double timetable(const struct want *w, size_t n, double ceiling, double least, double *x)
{
    double threads = 0;
    for (size_t i = 0; i < n; i++) {
        double y = least * w[i].rate * w[i].cost / w[i].weight;
        x[i] = y < 1 ? fmax(x_of_growth(y), 1 / ceiling) : 0;
        threads += x[i] > 0 ? w[i].cost * w[i].rate / x[i] : 0;
    }
    return threads;
}

static double near_ms(const struct recrawl_ground *g, size_t i)
{
    const struct ground_channel *c = &g->channel[i];
    return (double)(g->rtt_ms[c->site * g->nodes + g->order[c->site * g->nodes]] + c->spread_ms);
}

static struct want *wants_new(const struct recrawl_ground *g, double page_rate)
{
    struct want *w = mem_alloc(g->channels * sizeof(*w));
    double mean_ms = 0;
    for (size_t i = 0; i < g->channels; i++)
        mean_ms += near_ms(g, i) / (double)g->channels;
    for (size_t i = 0; i < g->channels; i++) {
        double page = 1 / page_rate + (near_ms(g, i) - mean_ms) / 60000;
        w[i].steps = (double)g->channel[i].pages * page + 0.5; /* whole steps: half a one more in the mean */
        w[i].rate = 1 / ground_change_gap(g, i);
        w[i].weight = recrawl_weight[g->channel[i].rank];
        w[i].cost = expm1(OPTIMUM_VANISH_RATE * w[i].steps) / OPTIMUM_VANISH_RATE;
    }
    return w;
}

void recrawl_optimum(const struct recrawl_ground *g, double threads, double page_rate, double ceiling,
                     struct recrawl_optimum *out)
{
    struct want *w = wants_new(g, page_rate);
    double *x = mem_alloc(g->channels * sizeof(*x)), low = -60, high = 60, sum = 0, weights = 0, plain = 0;
    for (int i = 0; i < 50; i++) {
        double mid = (low + high) / 2;
        if (timetable(w, g->channels, ceiling, exp2(mid), x) > threads)
            low = mid;
        else
            high = mid;
    }
    *out = (struct recrawl_optimum){.threads = timetable(w, g->channels, ceiling, exp2(high), x)};
    for (size_t i = 0; i < g->channels; i++) {
        double fresh = x[i] > 0 ? -expm1(-x[i]) / x[i] : 0;
        sum += w[i].weight * fresh;
        weights += w[i].weight;
        plain += fresh;
        out->demand += w[i].rate * w[i].steps;
    }
    out->freshness = plain / (double)g->channels;
    out->freshness_weighted = sum / weights;
    free(x);
    free(w);
}
