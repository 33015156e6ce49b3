#include "sim/recrawl_report.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/chart.h"

#define SIZES 3
#define STRATEGIES 4

static const size_t sizes[SIZES] = {1400, 2800, 5600};
static const recrawl_strategy strategies[STRATEGIES] = {RECRAWL_FIXED, RECRAWL_IIR, RECRAWL_ICR, RECRAWL_GREEDY};
static const unsigned colours[STRATEGIES] = {6, 3, 4, 2};

/* Tables 1 and 3, the fastest rank first: tasks in thousands, intervals in steps; tables 2 and 4. */
static const double paper_tasks[2][3][RECRAWL_RANKS] = {
    {{905, 3295, 2979, 795, 56}, {251, 1212, 1512, 471, 38}, {522, 1719, 1499, 393, 27}},
    {{905, 3295, 2979, 795, 56}, {738, 3506, 3388, 943, 75}, {975, 3428, 3805, 691, 52}}};
static const double paper_intervals[2][3][RECRAWL_RANKS] = {
    {{60, 120, 240, 480, 960}, {216, 326, 473, 811, 1412}, {104, 230, 477, 972, 1964}},
    {{60, 120, 240, 480, 960}, {74, 110, 214, 399, 782}, {56, 112, 190, 544, 1119}}};
static const double paper_quality[2][2][3] = {{{1.9987, 2.0266, 2.0176}, {0.5571, 0.4936, 0.4331}},
                                              {{4.7873, 9.1474, 8.2611}, {1.0013, 1.9827, 1.9701}}};

struct runs {
    struct recrawl_run_result of[SIZES][STRATEGIES];
    struct buf *out;
};

static void open_card(struct buf *out, const char *title, const char *text, const char *class)
{
    buf_printf(out, "<section class=\"%s\"><h2>%s</h2><p>%s</p>", class, title, text);
}

static void close_card(struct buf *out)
{
    buf_puts(out, "</section>\n");
}

static void head_row(struct buf *out, const char *first)
{
    buf_printf(out, "<div class=\"scroll\"><table><thead><tr><th>%s</th>", first);
    for (size_t s = 0; s < STRATEGIES; s++)
        buf_printf(out, "<th>%s</th>", recrawl_strategy_name(strategies[s]));
    buf_puts(out, "</tr></thead><tbody>");
}

/* Ours, and the paper's in brackets where it has one. */
static void cell(struct buf *out, int digits, double ours, double paper)
{
    buf_printf(out, "<td>%.*f", digits, ours);
    if (paper > 0)
        buf_printf(out, " <small>(%.*f)</small>", digits, paper);
    buf_puts(out, "</td>");
}

static void put_intervals(struct runs *r, size_t size)
{
    char title[96];
    (void)snprintf(title, sizeof(title), "Tasks and intervals, %zu agents", sizes[size]);
    open_card(r->out, title,
              size < 2
                  ? "Paper 003, tables 1 and 3: tasks in thousands, then steps between two tasks of a channel; the "
                    "paper\xe2\x80\x99s numbers in brackets. Rank 0 changes fastest."
                  : "As tables 1 and 3, where there is more than enough capacity.",
              "");
    head_row(r->out, "Tasks / 1000");
    for (int k = 0; k < RECRAWL_RANKS; k++) {
        buf_printf(r->out, "<tr><th scope=\"row\">rank %d</th>", k);
        for (size_t s = 0; s < STRATEGIES; s++)
            cell(r->out, 0, (double)r->of[size][s].figures.tasks_by_rank[k] / 1000,
                 size < 2 && s < 3 ? paper_tasks[size][s][k] : 0);
        buf_puts(r->out, "</tr>");
    }
    buf_puts(r->out, "</tbody></table></div>");
    head_row(r->out, "Steps");
    for (int k = 0; k < RECRAWL_RANKS; k++) {
        buf_printf(r->out, "<tr><th scope=\"row\">rank %d</th>", k);
        for (size_t s = 0; s < STRATEGIES; s++)
            cell(r->out, 0, r->of[size][s].figures.interval_by_rank[k],
                 size < 2 && s < 3 ? paper_intervals[size][s][k] : 0);
        buf_puts(r->out, "</tr>");
    }
    buf_puts(r->out, "</tbody></table></div>");
    close_card(r->out);
}

static void put_quality(struct runs *r)
{
    open_card(r->out, "Update quality and freshness",
              "Paper 003, tables 2 and 4: updates by changes, weighted by rank and not; the paper\xe2\x80\x99s numbers "
              "in brackets. Freshness is the share of time that stored copies are current, weighted.",
              "wide");
    head_row(r->out, "");
    for (size_t i = 0; i < SIZES; i++) {
        buf_printf(r->out, "<tr><th scope=\"row\">weighted, %zu agents</th>", sizes[i]);
        for (size_t s = 0; s < STRATEGIES; s++)
            cell(r->out, 4, r->of[i][s].figures.quality_weighted, i < 2 && s < 3 ? paper_quality[i][0][s] : 0);
        buf_printf(r->out, "</tr><tr><th scope=\"row\">not weighted, %zu agents</th>", sizes[i]);
        for (size_t s = 0; s < STRATEGIES; s++)
            cell(r->out, 4, r->of[i][s].figures.quality, i < 2 && s < 3 ? paper_quality[i][1][s] : 0);
        buf_printf(r->out, "</tr><tr><th scope=\"row\">freshness, %%, %zu agents</th>", sizes[i]);
        for (size_t s = 0; s < STRATEGIES; s++)
            cell(r->out, 2, 100 * r->of[i][s].figures.freshness_weighted, 0);
        buf_puts(r->out, "</tr>");
    }
    buf_puts(r->out, "</tbody></table></div>");
    close_card(r->out);
}

static void put_freshness(struct runs *r)
{
    struct chart_bar bars[SIZES * (STRATEGIES + 1)];
    char labels[SIZES * (STRATEGIES + 1)][48], notes[SIZES * (STRATEGIES + 1)][32];
    size_t n = 0;
    for (size_t i = 0; i < SIZES; i++)
        for (size_t s = 0; s <= STRATEGIES; s++, n++) {
            bool is_best = s == STRATEGIES;
            const struct recrawl_figures *f = &r->of[i][is_best ? 0 : s].figures;
            double v = is_best ? f->optimum_weighted : f->freshness_weighted;
            (void)snprintf(labels[n], sizeof(labels[n]), "%s, %zu",
                           is_best ? "optimum" : recrawl_strategy_name(strategies[s]), sizes[i]);
            (void)snprintf(notes[n], sizeof(notes[n]), "%.1f %%", 100 * v);
            bars[n] = (struct chart_bar){
                .label = labels[n], .value = 100 * v, .note = notes[n], .colour = is_best ? 1 : colours[s]};
        }
    open_card(r->out, "Freshness by strategy",
              "Weighted share of time that copies are current. The optimum knows the true rates and never loses a task "
              "at a bad moment; ceiling, capacity and losses are the same.",
              "");
    chart_bars(r->out, "Freshness by strategy and number of agents", bars, n);
    close_card(r->out);
}

typedef double bin_value(const struct recrawl_bin *b);

static double queued_of(const struct recrawl_bin *b)
{
    return b->queued;
}

static double megabytes_of(const struct recrawl_bin *b)
{
    return b->bytes / 1e6;
}

static double freshness_of(const struct recrawl_bin *b)
{
    return 100 * b->freshness_weighted;
}

static void put_lines(struct runs *r, size_t size, const char *title, const char *text, const char *axis,
                      bin_value *value)
{
    struct chart_series series[STRATEGIES];
    size_t n = r->of[size][0].bin_count;
    double *x = mem_alloc((n + 1) * sizeof(*x)), *y = mem_alloc((n + 1) * STRATEGIES * sizeof(*y));
    for (size_t i = 0; i < n; i++)
        x[i] = (double)(i + 1) * RECRAWL_BIN;
    for (size_t s = 0; s < STRATEGIES; s++) {
        for (size_t i = 0; i < n; i++)
            y[s * n + i] = value(&r->of[size][s].bins[i]);
        series[s] = (struct chart_series){.label = recrawl_strategy_name(strategies[s]),
                                          .x = x,
                                          .y = y + s * n,
                                          .n = n,
                                          .colour = colours[s],
                                          .has_line = true};
    }
    open_card(r->out, title, text, "");
    chart_lines(r->out, title, &(struct chart_axis){.title = "step", .from_zero = true},
                &(struct chart_axis){.title = axis, .from_zero = true}, series, STRATEGIES);
    close_card(r->out);
    free(x);
    free(y);
}

void recrawl_report(const struct recrawl_report_opts *o, struct buf *out)
{
    struct runs r = {.out = out};
    char what[48];
    for (size_t i = 0; i < SIZES; i++)
        for (size_t s = 0; s < STRATEGIES; s++) {
            struct recrawl_run_opts run = o->run;
            run.ground.agents = sizes[i];
            run.strategy = strategies[s];
            (void)snprintf(what, sizeof(what), "recrawl, %s, %zu agents", recrawl_strategy_name(run.strategy),
                           sizes[i]);
            if (o->tell)
                o->tell(o->arg, what);
            recrawl_run(&run, &r.of[i][s]);
        }
    put_quality(&r);
    put_freshness(&r);
    for (size_t i = 0; i < SIZES; i++)
        put_intervals(&r, i);
    put_lines(&r, 0, "Queued tasks, 1,400 agents", "Paper 003, figure 4, left: tasks that wait at agents.", "queued",
              queued_of);
    put_lines(&r, 0, "Throughput, 1,400 agents", "Paper 003, figure 4, right: bytes of whole crawls.", "MB/s",
              megabytes_of);
    put_lines(&r, 1, "Queued tasks, 2,800 agents", "Paper 003, figure 5, left.", "queued", queued_of);
    put_lines(&r, 1, "Throughput, 2,800 agents", "Paper 003, figure 5, right.", "MB/s", megabytes_of);
    put_lines(&r, 0, "Freshness over time, 1,400 agents", "Weighted; all copies are current at the beginning.", "%",
              freshness_of);
    for (size_t i = 0; i < SIZES; i++)
        for (size_t s = 0; s < STRATEGIES; s++)
            recrawl_run_result_done(&r.of[i][s]);
}
