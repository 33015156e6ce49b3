#include "sim/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/chart.h"

#define BINS 50 /* points of the chart over time */
#define MAP_SITES_MAX 3000

static const double thresholds[] = {25, 50, 75, 100, 125}; /* ms; 000, section 4.5 */
#define THRESHOLDS (sizeof(thresholds) / sizeof(*thresholds))
static const double costs[] = {0.25, 0.5, 1, 2, 4, 8}; /* ms */
#define COSTS (sizeof(costs) / sizeof(*costs))

struct one_run {
    const char *label;
    delegate_strategy strategy;
    double threshold_ms, cost_ms;
    unsigned colour;
    struct delegate_result result;
};

enum { RUN_PROBE_ALL, RUN_LEARNED, RUN_IPMICRA_25, RUN_IPMICRA, RUN_HASH, RUN_RANDOM, RUN_FARTHEST, RUNS };

struct report {
    const struct world *world;
    const struct report_opts *opts;
    struct buf *out;
    struct one_run runs[RUNS];
    struct one_run by_threshold[THRESHOLDS], by_cost[COSTS];
};

/* ---- running ---- */

static void run_one(struct report *r, struct one_run *one)
{
    struct delegate_run_opts o = r->opts->run;
    o.delegator.strategy = one->strategy;
    o.delegator.threshold_ms = one->threshold_ms;
    o.delegator.cost_ms = one->cost_ms;
    if (r->opts->tell)
        r->opts->tell(r->opts->arg, one->label);
    delegate_run(r->world, &o, &one->result);
}

static void run_all(struct report *r)
{
    const struct one_run runs[RUNS] = {
        [RUN_PROBE_ALL] = {.label = "probe-all", .strategy = DELEGATE_PROBE_ALL, .colour = 1},
        [RUN_LEARNED] = {.label = "learned",
                         .strategy = DELEGATE_LEARNED,
                         .cost_ms = r->opts->run.delegator.cost_ms,
                         .colour = 2},
        [RUN_IPMICRA_25] = {.label = "ipmicra, 25 ms", .strategy = DELEGATE_IPMICRA, .threshold_ms = 25, .colour = 4},
        [RUN_IPMICRA] = {.label = "ipmicra, 50 ms", .strategy = DELEGATE_IPMICRA, .threshold_ms = 50, .colour = 3},
        [RUN_HASH] = {.label = "hash", .strategy = DELEGATE_HASH, .colour = 5},
        [RUN_RANDOM] = {.label = "random", .strategy = DELEGATE_RANDOM, .colour = 6},
        [RUN_FARTHEST] = {.label = "farthest", .strategy = DELEGATE_FARTHEST, .colour = 7},
    };
    for (size_t i = 0; i < RUNS; i++) {
        r->runs[i] = runs[i];
        run_one(r, &r->runs[i]);
    }
    for (size_t i = 0; i < THRESHOLDS; i++) {
        r->by_threshold[i] = (struct one_run){
            .label = "ipmicra by threshold", .strategy = DELEGATE_IPMICRA, .threshold_ms = thresholds[i]};
        run_one(r, &r->by_threshold[i]);
    }
    for (size_t i = 0; i < COSTS; i++) {
        r->by_cost[i] = (struct one_run){.label = "learned by cost", .strategy = DELEGATE_LEARNED, .cost_ms = costs[i]};
        run_one(r, &r->by_cost[i]);
    }
}

/* ---- pieces of the page ---- */

/* The last part of its path. */
static struct span world_name(const struct report *r)
{
    struct span s = span_str(r->opts->name);
    while (s.n > 1 && s.p[s.n - 1] == '/')
        s.n--;
    for (size_t i = s.n; i-- > 0;)
        if (s.p[i] == '/')
            return span_from(s, i + 1);
    return s;
}

static void put_head(struct report *r)
{
    struct buf *out = r->out;
    const struct delegate_figures *f = &r->runs[RUN_PROBE_ALL].result.figures;
    buf_puts(out, "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                  "content=\"width=device-width, initial-scale=1\"><title>Delegation on ");
    chart_text(out, world_name(r));
    buf_puts(out, "</title>");
    buf_puts(out, "<style>\n");
    buf_put(out, report_style());
    buf_puts(out, "</style>");
    buf_puts(out, "</head><body><main><h1>Who crawls what: ");
    chart_text(out, world_name(r));
    buf_printf(out,
               "</h1><p class=\"sub\">%zu sites in %zu networks, %zu agents. Each strategy chose an agent for every "
               "network as it was met; a measurement is the median of %u samples.</p><div class=\"cards\">",
               f->sites, f->networks, f->agents,
               r->opts->run.ground.samples ? r->opts->run.ground.samples : GROUND_SAMPLES);
}

static void open_card(struct buf *out, const char *title, const char *text, const char *class)
{
    buf_printf(out, "<section class=\"%s\"><h2>%s</h2><p>%s</p>", class, title, text);
}

static void close_card(struct buf *out)
{
    buf_puts(out, "</section>\n");
}

static void put_table(struct report *r)
{
    struct buf *out = r->out;
    open_card(
        out, "Side by side",
        "Near: within 5 ms of the nearest agent. Probes: measurements, but for the first fetch of whoever stays the "
        "owner. Round trips and excess in ms; download is the slowest agent\xe2\x80\x99s time by the model of paper "
        "002 over lines of 16 Mbit/s, and the mean of all agents.",
        "wide");
    buf_puts(out,
             "<div class=\"scroll\"><table><thead><tr><th>Strategy</th><th>Optimal</th><th>Near</th><th>Mean round "
             "trip</th><th>of the optimum</th><th>Mean excess</th><th>Largest</th><th>Probes a site</th><th>Last "
             "50 sites</th><th>Measure-<br>ments</th><th>Download, slowest</th><th>mean</th><th>CPU a "
             "decision</th></tr></thead><tbody>");
    for (size_t i = 0; i < RUNS; i++) {
        const struct delegate_figures *f = &r->runs[i].result.figures;
        const struct quality *q = &f->quality;
        buf_printf(out, "<tr><th scope=\"row\"><span class=\"dot b%u\"></span>%s</th>", r->runs[i].colour,
                   r->runs[i].label);
        buf_printf(out, "<td>%.1f %%</td><td>%.1f %%</td><td>%.1f</td><td>%.3f</td><td>%.1f</td><td>%.0f</td>",
                   100 * q->optimal, 100 * q->near, q->rtt_ms, q->rtt_ratio, q->excess_ms, q->excess_max_ms);
        buf_printf(
            out, "<td>%.2f</td><td>%.2f</td><td>%.2f</td><td>%.0f s</td><td>%.0f s</td><td>%.0f &micro;s</td></tr>",
            f->probes, f->probes_last50, f->measurements, q->download_today_s, q->download_today_mean_s, f->cpu_us);
    }
    buf_puts(out, "</tbody></table></div>");
    close_card(out);
}

/* 000, figure 3. */
static void put_download(struct report *r)
{
    struct chart_bar bars[RUNS];
    char notes[RUNS][64];
    double most = r->runs[RUN_FARTHEST].result.figures.quality.download_today_mean_s;
    for (size_t i = 0; i < RUNS; i++) {
        const struct quality *q = &r->runs[i].result.figures.quality;
        (void)snprintf(notes[i], sizeof(notes[i]), "%.1f s (%.0f %%)", q->download_today_mean_s,
                       most > 0 ? 100 * q->download_today_mean_s / most : 0);
        bars[i] = (struct chart_bar){.label = r->runs[i].label,
                                     .value = q->download_today_mean_s,
                                     .note = notes[i],
                                     .colour = r->runs[i].colour};
    }
    open_card(
        r->out, "Download time by strategy",
        "Paper 000, figure 3: IPMicra against the optimum, random and the worst case. Here the mean over agents of "
        "the time for all their pages.",
        "");
    chart_bars(r->out, "Download time by strategy", bars, RUNS);
    close_card(r->out);
}

/* 000, figure 4. */
static void put_thresholds(struct report *r)
{
    double optimal[THRESHOLDS], near[THRESHOLDS], probes[THRESHOLDS];
    for (size_t i = 0; i < THRESHOLDS; i++) {
        const struct delegate_figures *f = &r->by_threshold[i].result.figures;
        optimal[i] = 100 * f->quality.optimal;
        near[i] = 100 * f->quality.near;
        probes[i] = f->probes;
    }
    const double across[2] = {thresholds[0], thresholds[THRESHOLDS - 1]};
    const struct delegate_figures *learned = &r->runs[RUN_LEARNED].result.figures;
    double learned_near[2] = {100 * learned->quality.near, 100 * learned->quality.near};
    double learned_probes[2] = {learned->probes, learned->probes};
    open_card(r->out, "Accuracy by threshold",
              "Paper 000, figure 4: a low threshold makes ipmicra exact, and dear. The dashed line is learned.", "");
    chart_lines(
        r->out, "Accuracy of ipmicra by threshold",
        &(struct chart_axis){.title = "threshold, ms", .min = 20, .max = 130},
        &(struct chart_axis){.title = "share of sites", .from_zero = true, .max = 100, .min = 1e-9, .unit = " %"},
        (struct chart_series[]){{"optimal", thresholds, optimal, THRESHOLDS, 3, true, true, false, NULL},
                                {"near", thresholds, near, THRESHOLDS, 4, true, true, false, NULL},
                                {"near, learned", across, learned_near, 2, 2, true, false, true, NULL}},
        3);
    close_card(r->out);
    open_card(r->out, "Probes by threshold", "The other half of figure 4: probes a site.", "");
    chart_lines(r->out, "Probes of ipmicra by threshold",
                &(struct chart_axis){.title = "threshold, ms", .min = 20, .max = 130},
                &(struct chart_axis){.title = "probes a site", .from_zero = true},
                (struct chart_series[]){{"ipmicra", thresholds, probes, THRESHOLDS, 3, true, true, false, NULL},
                                        {"learned", across, learned_probes, 2, 2, true, false, true, NULL}},
                2);
    close_card(r->out);
}

/* What accuracy costs: the operator's choice. */
static void put_trade(struct report *r)
{
    double x[2][COSTS > THRESHOLDS ? COSTS : THRESHOLDS], y[2][COSTS > THRESHOLDS ? COSTS : THRESHOLDS];
    char notes[2][COSTS > THRESHOLDS ? COSTS : THRESHOLDS][24];
    const char *pointers[2][COSTS > THRESHOLDS ? COSTS : THRESHOLDS];
    for (size_t i = 0; i < THRESHOLDS; i++) {
        x[0][i] = r->by_threshold[i].result.figures.probes;
        y[0][i] = 100 * r->by_threshold[i].result.figures.quality.near;
        (void)snprintf(notes[0][i], sizeof(notes[0][i]), "%.0f ms", thresholds[i]);
        pointers[0][i] = notes[0][i];
    }
    for (size_t i = 0; i < COSTS; i++) {
        x[1][i] = r->by_cost[i].result.figures.probes;
        y[1][i] = 100 * r->by_cost[i].result.figures.quality.near;
        (void)snprintf(notes[1][i], sizeof(notes[1][i]), "%g ms", costs[i]);
        pointers[1][i] = notes[1][i];
    }
    open_card(r->out, "Accuracy against probes",
              "Each point is a run: ipmicra at a threshold, learned at a cost (what a probe must be expected to gain). "
              "Up and to the left is better.",
              "");
    chart_lines(r->out, "Accuracy against probes", &(struct chart_axis){.title = "probes a site", .from_zero = true},
                &(struct chart_axis){.title = "near", .unit = " %"},
                (struct chart_series[]){{"ipmicra", x[0], y[0], THRESHOLDS, 3, true, true, false, pointers[0]},
                                        {"learned", x[1], y[1], COSTS, 2, true, true, false, pointers[1]}},
                2);
    close_card(r->out);
}

/* ---- over time ---- */

struct trend {
    double x[BINS], y[BINS]; /* means of bins */
    size_t n;
    double line_x[2], line_y[2]; /* least squares over all sites */
};

static void make_trend(const struct delegate_result *d, struct trend *t)
{
    size_t n = d->figures.sites, bins = n < BINS ? n : BINS;
    double sx = 0, sy = 0, sxx = 0, sxy = 0, count = (double)n;
    *t = (struct trend){.n = bins};
    for (size_t b = 0; b < bins; b++) {
        size_t from = b * n / bins, to = (b + 1) * n / bins;
        for (size_t i = from; i < to; i++)
            t->y[b] += d->probes_of[i];
        t->y[b] /= (double)(to - from);
        t->x[b] = (double)(from + to) / 2;
    }
    for (size_t i = 0; i < n; i++) {
        double x = (double)i, y = d->probes_of[i];
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    double spread = count * sxx - sx * sx, slope = spread > 0 ? (count * sxy - sx * sy) / spread : 0;
    t->line_x[1] = count;
    t->line_y[0] = (sy - slope * sx) / count;
    t->line_y[1] = fmax(0, t->line_y[0] + slope * count);
}

/* 000, figure 5. */
static void put_time(struct report *r)
{
    struct trend ipmicra, learned;
    make_trend(&r->runs[RUN_IPMICRA].result, &ipmicra);
    make_trend(&r->runs[RUN_LEARNED].result, &learned);
    open_card(
        r->out, "Probes over time",
        "Paper 000, figure 5: as networks are delegated, fewer probes are needed. Points are means of a fiftieth of "
        "the sites, dashed lines the linear trend over all.",
        "");
    chart_lines(
        r->out, "Probes a site over time", &(struct chart_axis){.title = "sites met", .from_zero = true},
        &(struct chart_axis){.title = "probes a site", .from_zero = true},
        (struct chart_series[]){{"ipmicra, 50 ms", ipmicra.x, ipmicra.y, ipmicra.n, 3, false, true, false, NULL},
                                {NULL, ipmicra.line_x, ipmicra.line_y, 2, 3, true, false, true, NULL},
                                {"learned", learned.x, learned.y, learned.n, 2, false, true, false, NULL},
                                {NULL, learned.line_x, learned.line_y, 2, 2, true, false, true, NULL}},
        4);
    close_card(r->out);
}

static void put_last(struct report *r)
{
    static const int which[] = {RUN_IPMICRA_25, RUN_IPMICRA, RUN_LEARNED};
    struct chart_bar bars[6];
    char notes[6][32], labels[6][48];
    for (size_t i = 0; i < 3; i++) {
        const struct one_run *one = &r->runs[which[i]];
        const struct delegate_figures *f = &one->result.figures;
        for (size_t j = 0; j < 2; j++) {
            double v = j ? f->probes_last50 : f->probes;
            (void)snprintf(notes[2 * i + j], sizeof(notes[0]), "%.2f", v);
            (void)snprintf(labels[2 * i + j], sizeof(labels[0]), "%s", j ? "its last 50" : one->label);
            bars[2 * i + j] = (struct chart_bar){
                .label = labels[2 * i + j], .value = v, .note = notes[2 * i + j], .colour = one->colour};
        }
    }
    open_card(r->out, "Probes of the last 50 sites",
              "The paper: 3 probes a site over all, 2.66 over the last 50 (12 agents, 50 ms).", "");
    chart_bars(r->out, "Probes a site: all, and the last 50", bars, 6);
    close_card(r->out);
}

/* ---- a map ---- */

static void put_map(struct report *r)
{
    const struct delegate_result *d = &r->runs[RUN_LEARNED].result;
    size_t agents = world_agent_count(r->world), sites = d->figures.sites, n = 0;
    size_t shown = sites < MAP_SITES_MAX ? sites : MAP_SITES_MAX;
    const struct cities *cities = r->opts->run.delegator.cities;
    size_t land = cities ? cities->count : 0;
    struct chart_dot *dots = mem_alloc((agents + shown + land) * sizeof(*dots));
    for (size_t i = 0; i < land; i++)
        dots[n++] =
            (struct chart_dot){.latitude = cities->list[i].spot.latitude, .longitude = cities->list[i].spot.longitude};
    for (size_t i = 0; i < shown; i++) {
        const struct world_site *s = world_site(r->world, d->order[i]);
        dots[n++] = (struct chart_dot){.latitude = s->spot.latitude,
                                       .longitude = s->spot.longitude,
                                       .colour = 1 + d->agent_of[d->order[i]] % CHART_SERIES_MAX};
    }
    for (size_t i = 0; i < agents; i++) {
        const struct world_agent *a = world_agent(r->world, i);
        dots[n++] = (struct chart_dot){.latitude = a->spot.latitude,
                                       .longitude = a->spot.longitude,
                                       .colour = 1 + (unsigned)i % CHART_SERIES_MAX,
                                       .is_large = true,
                                       .label = agents <= 48 ? a->name : (struct span){0}};
    }
    open_card(
        r->out, "Who got what",
        "Agents and the sites that learned gave them, by colour (colours repeat where there are more than eight "
        "agents). Sites that are far from home, or answer from everywhere, have the colour of an agent elsewhere.",
        "wide map");
    chart_map(r->out, "Agents and their sites on a map", dots, n);
    close_card(r->out);
    free(dots);
}

void report_make(const struct world *w, const struct report_opts *o, struct buf *out)
{
    struct report r = {.world = w, .opts = o, .out = out};
    run_all(&r);
    put_head(&r);
    put_table(&r);
    put_download(&r);
    put_last(&r);
    put_thresholds(&r);
    put_trade(&r);
    put_time(&r);
    put_map(&r);
    if (o->recrawl)
        recrawl_report(o->recrawl, out);
    buf_puts(out, "</div><footer>Made by <code>");
    chart_text(out, span_str(o->command));
    buf_puts(out, "</code>. Cities: GeoNames, CC BY 4.0.</footer></main></body></html>\n");
    for (size_t i = 0; i < RUNS; i++)
        delegate_result_done(&r.runs[i].result);
    for (size_t i = 0; i < THRESHOLDS; i++)
        delegate_result_done(&r.by_threshold[i].result);
    for (size_t i = 0; i < COSTS; i++)
        delegate_result_done(&r.by_cost[i].result);
}
