/* admin_fresh_charts.c - charts of freshness as SVG, which need no script: how fresh, what was visited, what waits. */
#include <math.h>
#include <stdio.h>

#include "coord/admin_fresh.h"
#include "coord/admin_pages.h"
#include "coord/admin_plot.h"

#define SERIES_MAX 3

/* ---- times ---- */

void fresh_times_get(const struct freshness *f, wall_ms now, bool is_hours, struct fresh_times *out)
{
    int64_t end = now / (is_hours ? HOUR_MS : DAY_MS);
    *out = (struct fresh_times){.is_hours = is_hours, .n = is_hours ? FRESHNESS_HOURS : FRESH_DAYS_SHOWN};
    for (size_t i = 0; i < out->n; i++) {
        int64_t at = end - (int64_t)(out->n - 1 - i);
        const struct freshness_count *k = is_hours ? freshness_hour(f, at) : freshness_day(f, at);
        out->list[i] = k ? *k : (struct freshness_count){.at = at};
    }
}

/* ---- words ---- */

void put_fresh_share(struct buf *out, double share)
{
    if (share < 0)
        buf_puts(out, DASH);
    else if (share > 0 && share < 0.005)
        buf_puts(out, "&lt; 1 %");
    else if (share >= 0.995 && share < 1)
        buf_printf(out, "%.1f %%", floor(share * 1000) / 10);
    else
        buf_printf(out, "%.0f %%", share * 100);
}

void put_weight(struct buf *out, double weight)
{
    if (weight >= 99.95)
        html_count(out, (uint64_t)(weight + 0.5));
    else
        buf_printf(out, "%.3g", weight < 0.001 ? 0 : weight);
}

/* ---- lines ---- */

struct series {
    const char *class_name, *name;
    double v[FRESHNESS_HOURS]; /* < 0: nothing was seen */
};

/* Where nobody looked the line is broken. */
static void put_line(struct buf *out, const struct series *s, size_t n, double max)
{
    bool is_on = false;
    buf_printf(out, "<path class=\"line %s\" d=\"", s->class_name);
    for (size_t i = 0; i < n; i++) {
        if (s->v[i] >= 0)
            buf_printf(out, "%c%.1f %.1f", is_on ? 'L' : 'M', plot_x(i, n), plot_y(s->v[i], max));
        is_on = s->v[i] >= 0;
    }
    buf_puts(out, "\"/>");
}

/* What is under it, run by run. */
static void put_area(struct buf *out, const struct series *s, size_t n, double max)
{
    buf_puts(out, "<path class=\"band\" d=\"");
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && s->v[end] >= 0; end++)
            buf_printf(out, "%c%.1f %.1f", end == i ? 'M' : 'L', plot_x(end, n), plot_y(s->v[end], max));
        if (end > i)
            buf_printf(out, "L%.1f %.1fL%.1f %.1fZ", plot_x(end - 1, n), plot_y(0, max), plot_x(i, n), plot_y(0, max));
        else
            end++;
    }
    buf_puts(out, "\"/>");
}

static bool is_empty(const struct fresh_times *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->list[i].looks)
            return false;
    return true;
}

static void put_axis(struct buf *out, const struct fresh_times *t)
{
    plot_times(out, t->is_hours, t->list[0].at, t->list[t->n - 1].at);
}

void put_fresh_chart(struct buf *out, const struct fresh_times *t)
{
    struct series s = {.class_name = "s1"};
    for (size_t i = 0; i < t->n; i++)
        s.v[i] = freshness_mean(&t->list[i], t->list[i].fresh) / FRESHNESS_WHOLE * 100;
    plot_begin(out, t->is_hours ? "fresh-hours" : "fresh-days", t->is_hours ? "Fresh by hour, %" : "Fresh by day, %",
               "Share of what is kept that is expected to be current");
    plot_grid(out, 100);
    put_area(out, &s, t->n, 100);
    put_line(out, &s, t->n, 100);
    for (size_t i = 0; i < t->n; i++) {
        if (s.v[i] < 0)
            continue;
        buf_printf(out, "<circle class=\"s1\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>", plot_x(i, t->n),
                   plot_y(s.v[i], 100));
        plot_when(out, t->is_hours, t->list[i].at);
        buf_puts(out, ": ");
        put_fresh_share(out, s.v[i] / 100);
        buf_puts(out, " fresh</title></circle>");
    }
    put_axis(out, t);
    if (is_empty(t))
        plot_none(out, "Nothing to look at yet");
    plot_end(out);
}

static void put_legend(struct buf *out, const char *class_name, const char *name, double v)
{
    buf_printf(out, "<li><span class=\"swatch %s\">%s</span> ", class_name, name);
    if (v >= 10 || v == floor(v))
        html_count(out, (uint64_t)(v + 0.5));
    else
        buf_printf(out, "%.1f", v);
    buf_puts(out, "</li>");
}

void put_waiting_chart(struct buf *out, const struct fresh_times *t)
{
    struct series list[SERIES_MAX] = {{.class_name = "s2", .name = "due"},
                                      {.class_name = "s3", .name = "queued"},
                                      {.class_name = "s1", .name = "running"}};
    double most = 0, last[SERIES_MAX] = {0};
    for (size_t i = 0; i < t->n; i++) {
        const struct freshness_count *k = &t->list[i];
        const uint64_t sums[SERIES_MAX] = {k->due, k->queued, k->running};
        for (size_t s = 0; s < SERIES_MAX; s++) {
            list[s].v[i] = freshness_mean(k, sums[s]);
            most = fmax(most, list[s].v[i]);
            last[s] = list[s].v[i] >= 0 ? list[s].v[i] : last[s];
        }
    }
    double max = plot_round_up(fmax(most, 2));
    plot_begin(out, t->is_hours ? "waiting-hours" : "waiting-days",
               t->is_hours ? "Due, queued and running, by hour" : "Due, queued and running, by day",
               "Channels that were due, queued at an agent, or being visited, on average");
    plot_grid(out, max);
    for (size_t s = 0; s < SERIES_MAX; s++)
        put_line(out, &list[s], t->n, max);
    for (size_t i = 0; i < t->n; i++) {
        if (!t->list[i].looks)
            continue;
        for (size_t s = 0; s < SERIES_MAX; s++) {
            buf_printf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>", list[s].class_name,
                       plot_x(i, t->n), plot_y(list[s].v[i], max));
            plot_when(out, t->is_hours, t->list[i].at);
            buf_printf(out, ": %.1f %s, on average</title></circle>", list[s].v[i], list[s].name);
        }
    }
    put_axis(out, t);
    if (is_empty(t))
        plot_none(out, "Nothing to look at yet");
    plot_end_svg(out);
    if (!is_empty(t)) {
        buf_puts(out, "<ul class=\"legend\">");
        for (size_t s = 0; s < SERIES_MAX; s++)
            put_legend(out, list[s].class_name, list[s].name, last[s]);
        buf_puts(out, "</ul>");
    }
    buf_puts(out, "</figure>\n");
}

/* ---- bars ---- */

#define OUTCOMES 3
static const struct {
    const char *class_name, *name;
} outcomes[OUTCOMES] = {{"s1", "something new"}, {"s4", "nothing new"}, {"s5", "in vain"}};

static void outcomes_of(const struct freshness_count *k, uint64_t out[OUTCOMES])
{
    out[0] = k->updated;
    out[1] = k->unchanged;
    out[2] = k->lost;
}

static void put_visits_of(struct buf *out, const struct fresh_times *t, size_t at, double max)
{
    uint64_t n[OUTCOMES];
    double from = 0;
    outcomes_of(&t->list[at], n);
    for (size_t i = 0; i < OUTCOMES; i++) {
        if (!n[i])
            continue;
        double to = from + (double)n[i], y = plot_y(to, max);
        plot_bar(out, outcomes[i].class_name, at, t->n, y, plot_y(from, max) - y);
        buf_puts(out, "<title>");
        plot_when(out, t->is_hours, t->list[at].at);
        buf_printf(out, ": %llu visit%s, %s</title></rect>", (unsigned long long)n[i], n[i] == 1 ? "" : "s",
                   outcomes[i].name);
        from = to;
    }
}

void put_visits_chart(struct buf *out, const struct fresh_times *t)
{
    uint64_t most = 0, sums[OUTCOMES] = {0}, all = 0;
    for (size_t i = 0; i < t->n; i++) {
        uint64_t n[OUTCOMES], here = 0;
        outcomes_of(&t->list[i], n);
        for (size_t k = 0; k < OUTCOMES; k++) {
            sums[k] += n[k];
            here += n[k];
        }
        most = here > most ? here : most;
        all += here;
    }
    double max = plot_round_up(most > 2 ? (double)most : 2);
    plot_begin(out, t->is_hours ? "visits-hours" : "visits-days",
               t->is_hours ? "Visits that ended, by hour" : "Visits that ended, by day", "Visits by what they brought");
    plot_grid(out, max);
    for (size_t i = 0; i < t->n; i++)
        put_visits_of(out, t, i, max);
    put_axis(out, t);
    if (!all)
        plot_none(out, "None in this time");
    plot_end_svg(out);
    if (all) {
        buf_puts(out, "<ul class=\"legend\">");
        for (size_t k = 0; k < OUTCOMES; k++)
            if (sums[k])
                put_legend(out, outcomes[k].class_name, outcomes[k].name, (double)sums[k]);
        buf_puts(out, "</ul>");
    }
    buf_puts(out, "</figure>\n");
}
