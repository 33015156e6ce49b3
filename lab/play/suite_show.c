/* suite_show.c - a line a run, and a table at the end. */
#include <math.h>
#include <stdio.h>

#include "lab/play/suite.h"

#define COLUMNS_MAX 6
#define LINE_FIGURES_MAX 4

/* ---- which figures ---- */

struct picked {
    struct span names[COLUMNS_MAX];
    size_t n, max;
};

static void pick(struct picked *p, struct span name)
{
    for (size_t i = 0; i < p->n; i++) {
        if (span_eq(p->names[i], name))
            return;
    }
    if (name.n && p->n < p->max)
        p->names[p->n++] = name;
}

/* What the scenario speaks of is what people want to see: orders, its own figures, what it expects. */
static void pick_all(const struct suite *s, const struct scenario_run *run, struct picked *p)
{
    for (size_t i = 0; i < s->opts.scenario->order_count; i++) {
        pick(p, s->opts.scenario->orders[i].a);
        pick(p, s->opts.scenario->orders[i].b);
    }
    for (size_t i = 0; i < run->figure_count; i++)
        pick(p, run->figures[i].name);
    for (size_t i = 0; i < run->step_count; i++)
        pick(p, run->steps[i].as);
    for (size_t i = 0; i < run->expect_count; i++) {
        pick(p, run->expects[i].a.name);
        pick(p, run->expects[i].b.name);
    }
}

/* ---- numbers ---- */

static void put_value(struct buf *out, double v)
{
    double size = fabs(v);
    if (!isfinite(v))
        buf_puts(out, "-");
    else if (size < 1e15 && v == nearbyint(v))
        buf_printf(out, "%.0f", v);
    else
        buf_printf(out, "%.*f", size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3, v);
}

static void put_mean(struct buf *out, const struct suite_mean *m)
{
    put_value(out, m->mean);
    if (m->n < 2 || m->least == m->most)
        return;
    buf_puts(out, " (");
    put_value(out, m->least);
    buf_puts(out, " to ");
    put_value(out, m->most);
    buf_putc(out, ')');
}

/* ---- a run ---- */

static void put_failed(const struct suite_run *r, struct buf *out)
{
    for (size_t i = 0; i < r->run->expect_count; i++) {
        const struct suite_expected *e = &r->expected[i];
        if (e->is_passed || !r->is_whole)
            continue;
        buf_printf(out, "    expected %.*s: ", SPAN_ARG(e->expect->text));
        if (isnan(e->value)) {
            buf_puts(out, "there is no such figure\n");
            continue;
        }
        buf_puts(out, "it is ");
        put_value(out, e->value);
        buf_putc(out, '\n');
    }
    if (r->problem.n)
        buf_printf(out, "    %.*s\n", SPAN_ARG(buf_span(&r->problem)));
}

void suite_show_run(const struct suite *s, const struct suite_run *r, struct buf *out)
{
    struct picked p = {.max = LINE_FIGURES_MAX};
    double v;
    buf_printf(out, "%.*s %.*s: %.1f s", SPAN_ARG(s->opts.scenario->name), SPAN_ARG(r->run->name), r->seconds);
    pick_all(s, r->run, &p);
    for (size_t i = 0; i < p.n; i++) {
        if (!figures_get(&r->figures, p.names[i], &v))
            continue;
        buf_printf(out, ", %.*s ", SPAN_ARG(p.names[i]));
        put_value(out, v);
    }
    if (r->attempts > 1)
        buf_printf(out, ", at the %u. attempt", r->attempts);
    buf_puts(out, r->is_passed ? ": passed\n" : !r->is_valid ? ": not valid\n" : ": FAILED\n");
    if (!r->is_passed)
        put_failed(r, out);
}

/* ---- the table ---- */

struct table {
    struct buf cells[COLUMNS_MAX + 2];
    size_t columns;
    int widths[COLUMNS_MAX + 2];
};

static void cell(struct table *t, size_t column, struct buf *row, bool is_measuring)
{
    struct span text = buf_span(&t->cells[column]);
    if (is_measuring)
        t->widths[column] = (int)text.n > t->widths[column] ? (int)text.n : t->widths[column];
    else
        buf_printf(row, column + 1 < t->columns ? "%-*.*s  " : "%-*.*s", t->widths[column], (int)text.n,
                   text.n ? text.p : "");
    buf_clear(&t->cells[column]);
}

static void end_row(struct table *t, struct buf *out, bool is_measuring)
{
    for (size_t i = 0; i < t->columns; i++)
        cell(t, i, out, is_measuring);
    while (!is_measuring && out->n && out->p[out->n - 1] == ' ')
        out->n--;
    if (!is_measuring)
        buf_putc(out, '\n');
}

static void put_label(struct buf *out, const struct scenario_run *run)
{
    for (size_t i = 0; i < run->varied_count; i++) {
        if (!span_is(run->varied[i].name, "repeat"))
            buf_printf(out, "%s%.*s=%.*s", out->n ? " " : "", SPAN_ARG(run->varied[i].name),
                       SPAN_ARG(run->varied[i].value));
    }
    if (out->n == 0)
        buf_puts(out, "run");
}

static void put_outcome(const struct suite *s, size_t i, struct buf *out)
{
    size_t n = 0, passed = 0;
    struct buf mine = {0}, other = {0};
    put_label(&mine, s->runs[i].run);
    for (size_t k = i; k < s->run_count; k++) {
        buf_clear(&other);
        put_label(&other, s->runs[k].run);
        if (!span_eq(buf_span(&mine), buf_span(&other)))
            continue;
        n++;
        passed += s->runs[k].is_passed;
    }
    if (passed == n || n == 1)
        buf_puts(out, passed ? "passed" : "FAILED");
    else
        buf_printf(out, "%zu of %zu passed", passed, n);
    buf_done(&mine);
    buf_done(&other);
}

static void rows(const struct suite *s, const struct picked *p, struct table *t, struct buf *out, bool is_measuring)
{
    for (size_t k = 0; k < p->n; k++)
        buf_put(&t->cells[k + 1], p->names[k]);
    end_row(t, out, is_measuring);
    for (size_t i = 0; i < s->run_count; i++) {
        struct suite_mean m;
        if (!s->runs[i].is_done || !suite_begins_group(s, i))
            continue;
        put_label(&t->cells[0], s->runs[i].run);
        for (size_t k = 0; k < p->n; k++) {
            if (suite_group_mean(s, i, p->names[k], &m))
                put_mean(&t->cells[k + 1], &m);
            else
                buf_putc(&t->cells[k + 1], '-');
        }
        put_outcome(s, i, &t->cells[p->n + 1]);
        end_row(t, out, is_measuring);
    }
}

static void put_order(const struct suite *s, const struct order_rule *rule, struct buf *out)
{
    struct suite_rank ranks[SUITE_RANKS_MAX];
    size_t n;
    bool is_passed = suite_order(s, rule, ranks, &n);
    buf_printf(out, "order %.*s: %s\n", SPAN_ARG(rule->text), is_passed ? "passed" : "FAILED");
    for (size_t i = 0; !is_passed && i < n; i++) {
        buf_printf(out, "    %.*s: ", SPAN_ARG(ranks[i].value));
        put_value(out, ranks[i].a);
        buf_puts(out, " and ");
        put_value(out, ranks[i].b);
        buf_putc(out, '\n');
    }
}

void suite_show(const struct suite *s, struct buf *out)
{
    struct picked p = {.max = COLUMNS_MAX};
    struct table t = {0};
    const struct scenario *c = s->opts.scenario;
    pick_all(s, s->runs[0].run, &p);
    t.columns = p.n + 2;
    buf_printf(out, "%.*s: %.*s%s\n", SPAN_ARG(c->name), SPAN_ARG(c->title), s->opts.is_short ? " (short)" : "");
    rows(s, &p, &t, out, true);
    rows(s, &p, &t, out, false);
    for (size_t i = 0; !s->is_stopped && i < c->order_count; i++)
        put_order(s, &c->orders[i], out);
    buf_printf(out, "%.0f s on %u cores, %.0f %% of them in use", s->seconds, s->machine.cores, s->machine.busy * 100);
    if (s->jobs > 1)
        buf_printf(out, ", at most %u runs at a time", s->jobs);
    buf_puts(out, s->is_stopped ? "; stopped\n" : "\n");
    for (size_t i = 0; i < t.columns; i++)
        buf_done(&t.cells[i]);
}
