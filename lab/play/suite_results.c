/* suite_results.c - groups of runs, orders over them, and all of it as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "codec/json.h"
#include "lab/play/suite.h"

/* ---- groups ---- */

static struct span value_in(const struct scenario_run *run, struct span name)
{
    for (size_t i = 0; i < run->varied_count; i++) {
        if (span_eq(run->varied[i].name, name))
            return run->varied[i].value;
    }
    return (struct span){0};
}

static bool is_repeat(struct span name)
{
    return span_is(name, "repeat");
}

static bool is_same_group(const struct scenario_run *a, const struct scenario_run *b)
{
    for (size_t i = 0; i < a->varied_count; i++) {
        struct span name = a->varied[i].name;
        if (!is_repeat(name) && !span_eq(a->varied[i].value, value_in(b, name)))
            return false;
    }
    return true;
}

bool suite_begins_group(const struct suite *s, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (is_same_group(s->runs[i].run, s->runs[k].run))
            return false;
    }
    return true;
}

static bool counts(const struct suite_run *r)
{
    return r->is_done && r->is_valid && r->is_whole;
}

static void add(struct suite_mean *m, double v)
{
    m->least = m->n == 0 || v < m->least ? v : m->least;
    m->most = m->n == 0 || v > m->most ? v : m->most;
    m->n++;
    m->mean += (v - m->mean) / (double)m->n;
}

bool suite_group_mean(const struct suite *s, size_t i, struct span figure, struct suite_mean *out)
{
    struct suite_mean m = {0};
    double v;
    for (size_t k = 0; k < s->run_count; k++) {
        const struct suite_run *r = &s->runs[k];
        if (counts(r) && is_same_group(s->runs[i].run, r->run) && figures_get(&r->figures, figure, &v) && isfinite(v))
            add(&m, v);
    }
    if (m.n)
        *out = m;
    return m.n > 0;
}

/* ---- orders ---- */

/* The variable whose values are put in order; empty: none varies. */
static struct span first_each(const struct suite *s)
{
    const struct scenario_run *run = s->runs[0].run;
    return run->varied_count && !is_repeat(run->varied[0].name) ? run->varied[0].name : (struct span){0};
}

static double mean_with(const struct suite *s, struct span name, struct span value, struct span figure)
{
    struct suite_mean m = {0};
    double v;
    for (size_t k = 0; k < s->run_count; k++) {
        const struct suite_run *r = &s->runs[k];
        if (counts(r) && span_eq(value_in(r->run, name), value) && figures_get(&r->figures, figure, &v) && isfinite(v))
            add(&m, v);
    }
    return m.n ? m.mean : NAN;
}

static size_t collect(const struct suite *s, struct span name, struct suite_rank *ranks)
{
    size_t n = 0;
    for (size_t k = 0; k < s->run_count && n < SUITE_RANKS_MAX; k++) {
        struct span value = value_in(s->runs[k].run, name);
        bool is_known = false;
        for (size_t i = 0; i < n; i++)
            is_known = is_known || span_eq(ranks[i].value, value);
        if (!is_known)
            ranks[n++] = (struct suite_rank){.value = value};
    }
    return n;
}

/* -1, 1: x is less or more than y by more than `tie`; 0: they may stand either way. */
static int compare(double x, double y, double tie)
{
    double most = fmax(fabs(x), fabs(y));
    if (fabs(x - y) <= tie * most)
        return 0;
    return x < y ? -1 : 1;
}

bool suite_order(const struct suite *s, const struct order_rule *rule, struct suite_rank *ranks, size_t *n)
{
    struct span name = s->run_count ? first_each(s) : (struct span){0};
    bool is_passed = true;
    *n = name.n ? collect(s, name, ranks) : 0;
    for (size_t i = 0; i < *n; i++) {
        ranks[i].a = mean_with(s, name, ranks[i].value, rule->a);
        ranks[i].b = mean_with(s, name, ranks[i].value, rule->b);
        is_passed = is_passed && !isnan(ranks[i].a) && !isnan(ranks[i].b);
        for (size_t k = 0; k < i; k++)
            is_passed = is_passed &&
                        compare(ranks[i].a, ranks[k].a, rule->tie) * compare(ranks[i].b, ranks[k].b, rule->tie) >= 0;
    }
    return is_passed;
}

/* ---- JSON ---- */

static void put_number(struct json *j, double v)
{
    char text[40];
    int n = isfinite(v) ? snprintf(text, sizeof(text), "%.10g", v) : 0;
    if (n > 0)
        json_raw(j, span_of(text, (size_t)n));
    else
        json_null(j);
}

static void key_number(struct json *j, const char *key, double v)
{
    json_key(j, key);
    put_number(j, v);
}

static void key_text(struct json *j, const char *key, struct span v)
{
    json_key(j, key);
    json_text(j, v);
}

/* A share; three digits are all there is to it. */
static void put_busy(struct json *j, double share)
{
    json_key(j, "busy");
    json_real(j, share, 3);
}

static void key_bool(struct json *j, const char *key, bool v)
{
    json_key(j, key);
    json_bool(j, v);
}

/* Names of variables and figures are letters, digits and a few signs: short, and no NUL. */
static void put_key(struct json *j, struct span name)
{
    char key[160];
    snprintf(key, sizeof(key), "%.*s", SPAN_ARG(name));
    json_key(j, key);
}

static void put_variables(struct json *j, const struct variable *v, size_t n, bool with_repeat)
{
    json_key(j, "variables");
    json_open(j, '{');
    for (size_t i = 0; i < n; i++) {
        if (is_repeat(v[i].name) && !with_repeat)
            continue;
        put_key(j, v[i].name);
        json_text(j, v[i].value);
    }
    json_close(j, '}');
}

/* Those that are the same in all runs. */
static void put_constants(struct json *j, const struct scenario_run *run)
{
    json_key(j, "variables");
    json_open(j, '{');
    for (size_t i = 0; i < run->variable_count; i++) {
        const struct variable *v = &run->variables[i];
        if (value_in(run, v->name).p || is_repeat(v->name))
            continue;
        put_key(j, v->name);
        json_text(j, v->value);
    }
    json_close(j, '}');
}

static void put_expected(struct json *j, const struct suite_run *r)
{
    json_key(j, "expected");
    json_open(j, '[');
    for (size_t i = 0; i < r->run->expect_count; i++) {
        const struct suite_expected *e = &r->expected[i];
        json_open(j, '{');
        key_text(j, "text", e->expect->text);
        key_number(j, "value", e->value);
        key_bool(j, "passed", e->is_passed);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_events(struct json *j, const struct suite_run *r)
{
    struct span rest = buf_span(&r->events), line, t;
    char number[40];
    json_key(j, "events");
    json_open(j, '[');
    while (rest.n && span_split(&rest, '\n', &line)) {
        if (!span_split(&line, '\t', &t) || line.n == 0)
            continue;
        snprintf(number, sizeof(number), "%.*s", SPAN_ARG(t));
        json_open(j, '{');
        key_number(j, "t", strtod(number, NULL));
        key_text(j, "what", line);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_run(struct json *j, const struct suite_run *r)
{
    json_open(j, '{');
    key_text(j, "name", r->run->name);
    key_text(j, "folder", r->run->name);
    put_variables(j, r->run->varied, r->run->varied_count, true);
    key_bool(j, "valid", r->is_valid);
    key_number(j, "attempts", r->attempts);
    key_bool(j, "passed", r->is_passed);
    key_number(j, "seconds", r->seconds);
    put_busy(j, r->busy);
    key_number(j, "load", r->load);
    json_key(j, "figures");
    json_open(j, '{');
    for (size_t i = 0; i < r->figures.n; i++) {
        put_key(j, r->figures.list[i].name);
        put_number(j, r->figures.list[i].value);
    }
    json_close(j, '}');
    put_expected(j, r);
    put_events(j, r);
    json_key(j, "problem");
    json_text_or_null(j, buf_span(&r->problem));
    json_close(j, '}');
}

/* A figure that a run before `k` of the group has is written already. */
static bool is_new(const struct suite *s, size_t i, size_t k, struct span name)
{
    double v;
    for (size_t m = i; m < k; m++) {
        const struct suite_run *r = &s->runs[m];
        if (counts(r) && is_same_group(s->runs[i].run, r->run) && figures_get(&r->figures, name, &v) && isfinite(v))
            return false;
    }
    return true;
}

static void put_group(struct json *j, const struct suite *s, size_t i)
{
    struct suite_mean m;
    json_open(j, '{');
    put_variables(j, s->runs[i].run->varied, s->runs[i].run->varied_count, false);
    json_key(j, "figures");
    json_open(j, '{');
    for (size_t k = i; k < s->run_count; k++) {
        const struct suite_run *r = &s->runs[k];
        for (size_t f = 0; counts(r) && is_same_group(s->runs[i].run, r->run) && f < r->figures.n; f++) {
            struct span name = r->figures.list[f].name;
            if (!isfinite(r->figures.list[f].value) || !is_new(s, i, k, name) || !suite_group_mean(s, i, name, &m))
                continue;
            put_key(j, name);
            json_open(j, '{');
            key_number(j, "mean", m.mean);
            key_number(j, "least", m.least);
            key_number(j, "most", m.most);
            key_number(j, "n", (double)m.n);
            json_close(j, '}');
        }
    }
    json_close(j, '}');
    json_close(j, '}');
}

static void put_order(struct json *j, const struct suite *s, const struct order_rule *rule)
{
    struct suite_rank ranks[SUITE_RANKS_MAX];
    size_t n;
    bool is_passed = suite_order(s, rule, ranks, &n);
    json_open(j, '{');
    key_text(j, "text", rule->text);
    key_bool(j, "passed", is_passed);
    json_key(j, "values");
    json_open(j, '[');
    for (size_t i = 0; i < n; i++) {
        json_open(j, '{');
        key_text(j, "value", ranks[i].value);
        key_number(j, "a", ranks[i].a);
        key_number(j, "b", ranks[i].b);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void put_head(struct json *j, const struct suite *s)
{
    const struct scenario *c = s->opts.scenario;
    char begun[32];
    time_t at = (time_t)s->begun;
    struct tm tm;
    strftime(begun, sizeof(begun), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &tm));
    key_text(j, "scenario", c->name);
    key_text(j, "title", c->title);
    key_text(j, "about", c->about);
    key_bool(j, "short", s->opts.is_short);
    json_key(j, "begun");
    json_str(j, begun);
    key_number(j, "seconds", s->seconds);
    key_number(j, "planned", (double)s->run_count);
    key_number(j, "jobs", s->jobs);
    json_key(j, "machine");
    json_open(j, '{');
    key_number(j, "cores", s->machine.cores);
    key_number(j, "load", s->machine.load);
    put_busy(j, s->machine.busy);
    json_close(j, '}');
}

void suite_json(const struct suite *s, struct buf *out)
{
    const struct scenario *c = s->opts.scenario;
    struct json j = {.out = out};
    json_open(&j, '{');
    put_head(&j, s);
    put_constants(&j, c->runs);
    json_key(&j, "runs");
    json_open(&j, '[');
    for (size_t i = 0; i < s->run_count; i++) {
        if (s->runs[i].is_done)
            put_run(&j, &s->runs[i]);
    }
    json_close(&j, ']');
    json_key(&j, "groups");
    json_open(&j, '[');
    for (size_t i = 0; i < s->run_count; i++) {
        if (s->runs[i].is_done && suite_begins_group(s, i))
            put_group(&j, s, i);
    }
    json_close(&j, ']');
    json_key(&j, "orders");
    json_open(&j, '[');
    for (size_t i = 0; i < c->order_count; i++)
        put_order(&j, s, &c->orders[i]);
    json_close(&j, ']');
    key_bool(&j, "passed", suite_is_passed(s));
    json_close(&j, '}');
    buf_putc(out, '\n');
}
