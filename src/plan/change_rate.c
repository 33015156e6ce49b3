#include "plan/change_rate.h"

#include <math.h>

#define SHAPE_MIN 0.1 /* of a fitted prior: less would put nearly all pages at never */
#define SHAPE_MAX 50.0
#define NEWTON_STEPS 3
#define CAUTION 0.25      /* changes: about what is found too many where nobody says when they were */
#define CAUTION_LEAST 1.0 /* what is left of them, at least */

/* Derivatives of the logarithm of the gamma function, x > 0: upwards by recurrence, then their asymptotic series. */
static double digamma(double x)
{
    double low = 0;
    while (x < 6) {
        low -= 1 / x;
        x += 1;
    }
    double s = 1 / (x * x);
    return low + log(x) - 0.5 / x - s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s / 240)));
}

static double trigamma(double x)
{
    double low = 0;
    while (x < 6) {
        low += 1 / (x * x);
        x += 1;
    }
    double s = 1 / (x * x);
    return low + 1 / x + s / 2 + s / x * (1.0 / 6 - s * (1.0 / 30 - s * (1.0 / 42 - s / 30)));
}

static double shape_of(const struct change_rate *c, const struct change_prior *p)
{
    return p->changes + (double)c->changes;
}

static double time_of(const struct change_rate *c, const struct change_prior *p)
{
    return p->time + (double)c->time;
}

/* The shape of the gamma whose mean logarithm lies `spread` > 0 below the logarithm of its mean: a close guess, then
 * Newton. */
static double shape_of_spread(double spread)
{
    double shape = (3 - spread + sqrt((spread - 3) * (spread - 3) + 24 * spread)) / (12 * spread);
    for (int i = 0; i < NEWTON_STEPS; i++) {
        double off = log(shape) - digamma(shape) - spread, slope = 1 / shape - trigamma(shape);
        double next = shape - off / slope;
        shape = next > shape / 2 ? next : shape / 2;
    }
    return shape;
}

/* With belief gamma(a, b) a change within g leaves a difference of two gammas, b^-a - (b + g)^-a. The gamma nearest to
 * it has the same mean and the same mean logarithm. */
static void change_within(double g, double *a, double *b)
{
    double shrink = -log1p(g / *b); /* log of b / (b + g) */
    double none = -expm1(*a * shrink);
    double mean = *a / *b * (expm1((*a + 1) * shrink) / -none);
    double mean_log = digamma(*a) - log(*b) - shrink * (1 - none) / none;
    double spread = log(mean) - mean_log;
    if (!(none > 0) || !(spread > 0) || !isfinite(spread))
        return; /* a gap so long or so short that it says nothing a double could hold */
    *a = shape_of_spread(spread);
    *b = *a / mean;
}

void change_observe(struct change_rate *c, const struct change_prior *p, double gap, bool has_changed, double since)
{
    if (!(gap > 0))
        return;
    double a = shape_of(c, p), b = time_of(c, p);
    if (!has_changed)
        b += gap;
    else if (since > 0 && since <= gap) {
        a += 1;
        b += since;
    } else
        change_within(gap, &a, &b);
    double changes = fmax(0, a - p->changes), time = fmax(0, b - p->time);
    double thin = changes > CHANGE_MEMORY ? CHANGE_MEMORY / changes : 1;
    c->changes = (float)(changes * thin);
    c->time = (float)(time * thin);
}

double change_rate_mean(const struct change_rate *c, const struct change_prior *p)
{
    return shape_of(c, p) / time_of(c, p);
}

double change_rate_cautious(const struct change_rate *c, const struct change_prior *p)
{
    double mean = change_rate_mean(c, p), time = (double)c->time;
    return time > 0 ? fmin(mean, fmax((double)c->changes - CAUTION, CAUTION_LEAST) / time) : mean;
}

double change_rate_log(const struct change_rate *c, const struct change_prior *p)
{
    return digamma(shape_of(c, p)) - log(time_of(c, p));
}

double change_rate_log_deviation(const struct change_rate *c, const struct change_prior *p)
{
    return sqrt(trigamma(shape_of(c, p)));
}

double change_chance(const struct change_rate *c, const struct change_prior *p, double gap)
{
    return gap > 0 ? -expm1(-shape_of(c, p) * log1p(gap / time_of(c, p))) : 0;
}

/* ---- activity ---- */

static double faded(const struct change_activity *a, double now, double fade)
{
    return now > a->at ? exp((a->at - now) / fade) : 1;
}

void change_activity_note(struct change_activity *a, double now, double fade, double chance, bool has_changed)
{
    double keep = faded(a, now, fade);
    a->found = (float)(keep * (double)a->found + has_changed);
    a->expected = (float)(keep * (double)a->expected + chance);
    a->at = fmax(a->at, now);
}

/* With one change found where one was expected added to it: little evidence says little. */
double change_activity_factor(const struct change_activity *a, double now, double fade)
{
    double keep = faded(a, now, fade);
    return (keep * (double)a->found + 1) / (keep * (double)a->expected + 1);
}

double change_chance_times(double chance, double factor)
{
    return chance < 1 ? -expm1(factor * log1p(-chance)) : 1;
}

/* ---- the population ---- */

void change_population_add(struct change_population *pop, const struct change_rate *c, const struct change_prior *p)
{
    pop->count += 1;
    pop->rate += change_rate_mean(c, p);
    pop->log += change_rate_log(c, p);
}

void change_population_fit(const struct change_population *pop, struct change_prior *p)
{
    if (pop->count < CHANGE_POPULATION_MIN || !(pop->rate > 0))
        return;
    double mean = pop->rate / pop->count, spread = log(mean) - pop->log / pop->count;
    if (!(spread > 0))
        return;
    double shape = shape_of_spread(spread);
    p->changes = fmin(fmax(shape, SHAPE_MIN), SHAPE_MAX);
    p->time = p->changes / mean;
}
