/* report_charts.c - charts of a scenario: chosen by what varies between its runs. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lab/play/audit.h"
#include "lab/play/figures_internal.h"
#include "lab/play/report_internal.h"
#include "store/file.h"

#define BARS_MAX 40
#define CURVES_MAX 8 /* over time */
#define CURVE_POINTS 200
#define CURVE_TIMES_MAX 5000000
#define DECISIONS_MAX 4 /* groups: dots and a line each */
#define DECISION_BINS 50
#define THRESHOLDS_MAX 32
#define MARKS_MAX 40
#define LABEL_MAX 34
#define MARK_LABEL_MAX 36

/* ---- bars ---- */

static const char *note_of(struct arena *a, const struct figure_kind *k, double v)
{
    struct buf b = {0};
    figure_put(&b, k, v);
    if (k && *k->unit)
        buf_printf(&b, " %s", k->unit);
    struct span s = arena_copy(a, buf_span(&b));
    buf_done(&b);
    return s.p;
}

static size_t add_bar(const struct result *r, size_t group, struct span name, const struct figure_kind *k,
                      const char *label, bool is_pale, struct arena *a, struct chart_bar *to)
{
    struct result_value v;
    double by = k ? k->by : 1;
    if (!result_figure(&r->groups[group], name, &v))
        return 0;
    *to = (struct chart_bar){.label = label,
                             .value = v.mean / by,
                             .note = note_of(a, k, v.mean),
                             .colour = report_colour(r, group),
                             .low = v.least / by,
                             .high = v.most / by,
                             .is_pale = is_pale};
    return 1;
}

static void put_bars(const struct result *r, struct span name, const struct figure_kind *k, struct buf *out)
{
    struct arena a = {0};
    struct chart_bar bars[BARS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < r->group_count && n + 2 <= BARS_MAX; i++) {
        n += add_bar(r, i, name, k, report_label(&a, r->groups[i].label, LABEL_MAX), false, &a, &bars[n]);
        if (k && k->sim)
            n += add_bar(r, i, span_str(k->sim), k, "simulator", true, &a, &bars[n]);
    }
    const char *title = k ? k->title : report_label(&a, name, LABEL_MAX);
    report_open_card(out, title, k ? k->about : "A figure of this scenario.", "");
    chart_bars(out, title, bars, n);
    report_close_card(out);
    arena_done(&a);
}

void report_bars(const struct result *r, struct buf *out)
{
    struct span columns[BARS_MAX];
    size_t n = result_columns(r, columns, BARS_MAX);
    if (r->group_count < 2)
        return;
    bool is_line = result_varies(r, "threshold");
    for (size_t i = 0; i < n; i++) {
        const struct figure_kind *k = figure_kind_of(columns[i]);
        bool is_in_lines = is_line && k && (span_is(columns[i], "near") || span_is(columns[i], "probes"));
        if ((!k || k->about) && !is_in_lines)
            put_bars(r, columns[i], k, out);
    }
}

/* ---- thresholds ---- */

struct threshold_line {
    struct span label;
    double x[THRESHOLDS_MAX], y[THRESHOLDS_MAX];
    size_t n;
};

/* What varies besides the threshold. */
static struct span rest_label(const struct result_group *g, struct arena *a)
{
    struct buf b = {0};
    for (const struct json_node *v = g->variables->children; v; v = v->next) {
        if (span_is(v->name, "threshold") || span_is(v->name, "repeat") || v->kind != NODE_TEXT)
            continue;
        buf_puts(&b, b.n ? ", " : "");
        if (v->text.n && ascii_is_digit(v->text.p[0])) {
            buf_put(&b, v->name);
            buf_putc(&b, ' ');
        }
        buf_put(&b, v->text);
    }
    struct span s = b.n ? arena_copy(a, buf_span(&b)) : SPAN("lab");
    buf_done(&b);
    return s;
}

static bool threshold_of(const struct result_group *g, double *out)
{
    const struct json_node *v = json_member(g->variables, "threshold");
    *out = v->number;
    return v->kind == NODE_NUMBER || figures_number(v->text, out);
}

static size_t threshold_lines(const struct result *r, const char *figure, struct arena *a, struct threshold_line *lines)
{
    size_t n = 0;
    for (size_t i = 0; i < r->group_count; i++) {
        struct result_value v;
        double x;
        struct span label = rest_label(&r->groups[i], a);
        size_t k = 0;
        if (!threshold_of(&r->groups[i], &x) || !result_figure(&r->groups[i], span_str(figure), &v))
            continue;
        while (k < n && !span_eq(lines[k].label, label))
            k++;
        if (k == CHART_SERIES_MAX / 2)
            continue;
        if (k == n)
            lines[n++] = (struct threshold_line){.label = label};
        if (lines[k].n < THRESHOLDS_MAX) {
            lines[k].x[lines[k].n] = x;
            lines[k].y[lines[k].n++] = v.mean;
        }
    }
    return n;
}

static void put_thresholds(const struct result *r, const char *figure, const char *sim, const char *title,
                           const char *text, const struct chart_axis *y, struct buf *out)
{
    struct arena a = {0};
    static const bool is_sim[2] = {false, true};
    struct threshold_line *lines = arena_alloc(&a, CHART_SERIES_MAX * sizeof(*lines));
    struct chart_series series[CHART_SERIES_MAX];
    size_t n = 0;
    for (size_t s = 0; s < 2; s++) {
        struct threshold_line *at = lines + s * (CHART_SERIES_MAX / 2);
        size_t count = threshold_lines(r, is_sim[s] ? sim : figure, &a, at);
        for (size_t i = 0; i < count; i++) {
            struct buf label = {0};
            buf_put(&label, at[i].label);
            buf_puts(&label, is_sim[s] ? ", simulator" : "");
            series[n] = (struct chart_series){.label = report_label(&a, buf_span(&label), LABEL_MAX),
                                              .x = at[i].x,
                                              .y = at[i].y,
                                              .n = at[i].n,
                                              .colour = 1 + (unsigned)i,
                                              .has_line = true,
                                              .has_dots = true,
                                              .is_dashed = is_sim[s]};
            n++;
            buf_done(&label);
        }
    }
    if (n) {
        report_open_card(out, title, text, "");
        chart_lines(out, title, &(struct chart_axis){.title = "threshold, ms", .from_zero = true}, y, series, n);
        report_close_card(out);
    }
    arena_done(&a);
}

void report_thresholds(const struct result *r, struct buf *out)
{
    if (!result_varies(r, "threshold"))
        return;
    put_thresholds(
        r, "near", "sim_near", "Near sites by threshold", "Paper 000, figure 4: a low threshold is exact, and dear.",
        &(struct chart_axis){.title = "sites within 5 ms of the nearest agent", .min = 1e-9, .max = 100, .unit = " %"},
        out);
    put_thresholds(r, "probes", "sim_probes", "Probes by threshold", "The other half of figure 4.",
                   &(struct chart_axis){.title = "probes a site", .from_zero = true}, out);
}

/* ---- over time ---- */

/* NULL: there is nothing to tell apart. */
static const char *legend_of(const struct result *r, size_t group, struct arena *a)
{
    return r->group_count > 1 ? report_label(a, r->groups[group].label, LABEL_MAX) : NULL;
}

struct times {
    struct audit audit;
    double *at; /* owned: of new pages */
    size_t n, cap;
};

static void take_time(void *arg, const struct audit_entry *e)
{
    struct times *t = arg;
    uint64_t pages = t->audit.pages;
    audit_add(&t->audit, e);
    if (t->audit.pages == pages || t->n == CURVE_TIMES_MAX)
        return;
    t->at = mem_grow(t->at, &t->cap, t->n + 1, sizeof(*t->at));
    t->at[t->n++] = e->at;
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Pages had by then, at most CURVE_POINTS of them; 0: there is no ledger to be read. */
static size_t curve_of(const struct result *r, const struct result_group *g, double *x, double *y)
{
    struct times t = {0};
    struct buf path = {0}, text = {0}, why = {0};
    double begin = 0;
    size_t n = 0;
    audit_init(&t.audit, 0);
    if (result_run_file(r, g, "begin", &path) && file_read(buf_cstr(&path), 64, &text) == ST_OK &&
        figures_number(buf_span(&text), &begin) && result_run_file(r, g, "ledger", &path) &&
        audit_read(buf_cstr(&path), take_time, &t, &why) == ST_OK && t.n) {
        qsort(t.at, t.n, sizeof(*t.at), by_value);
        size_t points = t.n < CURVE_POINTS ? t.n : CURVE_POINTS;
        for (n = 0; n < points; n++) {
            size_t i = points > 1 ? n * (t.n - 1) / (points - 1) : 0;
            x[n] = t.at[i] - begin;
            y[n] = (double)(i + 1);
        }
    }
    audit_done(&t.audit);
    free(t.at);
    buf_done(&path);
    buf_done(&text);
    buf_done(&why);
    return n;
}

/* What somebody did to the run; that a condition came true, and looking, is none of it. */
static bool is_deed(struct span what)
{
    static const char *const quiet[] = {"wait", "shell", "clear"};
    for (size_t i = 0; i < sizeof(quiet) / sizeof(*quiet); i++)
        if (span_starts(what, span_str(quiet[i])))
            return false;
    return what.n > 0;
}

static size_t marks_of(const struct result_group *g, struct arena *a, struct chart_mark *marks)
{
    size_t n = 0;
    for (const struct json_node *e = json_member(g->run, "events")->children; e && n < MARKS_MAX; e = e->next) {
        struct span what = json_member_text(e, "what");
        if (span_starts(what, SPAN("router ")) || span_starts(what, SPAN("servers ")))
            what = span_from(what, span_find(what, ' ', 0) + 1);
        if (is_deed(what))
            marks[n++] =
                (struct chart_mark){.x = json_member_number(e, "t"), .label = report_label(a, what, MARK_LABEL_MAX)};
    }
    return n;
}

void report_over_time(const struct result *r, struct buf *out)
{
    struct arena a = {0};
    struct chart_series series[CURVES_MAX];
    struct chart_mark marks[MARKS_MAX];
    size_t n = 0, mark_count = 0;
    for (size_t i = 0; i < r->group_count && n < CURVES_MAX; i++) {
        double *x = arena_alloc(&a, CURVE_POINTS * sizeof(double)), *y = arena_alloc(&a, CURVE_POINTS * sizeof(double));
        size_t points = r->groups[i].run ? curve_of(r, &r->groups[i], x, y) : 0;
        if (!points)
            continue;
        if (!mark_count)
            mark_count = marks_of(&r->groups[i], &a, marks);
        series[n] =
            (struct chart_series){.label = legend_of(r, i, &a),
                                  .x = x,
                                  .y = y,
                                  .n = points,
                                  .colour = r->group_count <= CHART_SERIES_MAX ? 1 + (unsigned)i : report_colour(r, i),
                                  .has_line = true};
        n++;
    }
    if (n) {
        report_open_card(out, "Pages over time",
                         mark_count ? "By the servers' ledger, one run of each. Upright lines: what was done, and when."
                                    : "By the servers' ledger, one run of each.",
                         "");
        chart_lines(out, "Pages over time",
                    &(struct chart_axis){.title = "seconds since the order to crawl",
                                         .from_zero = true,
                                         .marks = marks,
                                         .mark_count = mark_count},
                    &(struct chart_axis){.title = "pages", .from_zero = true}, series, n);
        report_close_card(out);
    }
    arena_done(&a);
}

/* ---- the order of decisions ---- */

static bool read_decisions(const struct result *r, const struct result_group *g, struct arena *a, double **probes,
                           size_t *n)
{
    struct buf path = {0}, text = {0};
    const struct json_node *networks;
    *n = 0;
    if (result_run_file(r, g, "networks.json", &path) && file_read(buf_cstr(&path), FIGURES_FILE_MAX, &text) == ST_OK &&
        json_tree(a, buf_span(&text), &networks) == ST_OK)
        *n = figures_decisions(networks, a, probes);
    buf_done(&path);
    buf_done(&text);
    return *n >= DECISION_BINS / 2;
}

/* Dots: means of a fiftieth of the sites; the line is that of all of them. */
static void add_decisions(const double *probes, size_t n, struct arena *a, const char *label, unsigned colour,
                          struct chart_series *to)
{
    size_t bins = n < DECISION_BINS ? n : DECISION_BINS;
    double *x = arena_alloc(a, (bins + 2) * sizeof(double)), *y = arena_alloc(a, (bins + 2) * sizeof(double));
    double at_zero, slope = figures_slope(probes, n, &at_zero);
    for (size_t b = 0; b < bins; b++) {
        size_t from = b * n / bins, end = (b + 1) * n / bins;
        y[b] = 0;
        for (size_t i = from; i < end; i++)
            y[b] += probes[i] / (double)(end - from);
        x[b] = (double)(from + end) / 2;
    }
    x[bins] = 0;
    x[bins + 1] = (double)n;
    y[bins] = fmax(0, at_zero);
    y[bins + 1] = fmax(0, at_zero + slope * (double)n);
    to[0] = (struct chart_series){.label = label, .x = x, .y = y, .n = bins, .colour = colour, .has_dots = true};
    to[1] = (struct chart_series){
        .x = x + bins, .y = y + bins, .n = 2, .colour = colour, .has_line = true, .is_dashed = true};
}

void report_decisions(const struct result *r, struct buf *out)
{
    struct arena a = {0};
    struct chart_series series[2 * DECISIONS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < r->group_count && n < 2 * DECISIONS_MAX; i++) {
        struct result_value v;
        double *probes;
        size_t count;
        if (!r->groups[i].run || !result_figure(&r->groups[i], SPAN("probes"), &v) || !(v.mean > 0.2) ||
            !read_decisions(r, &r->groups[i], &a, &probes, &count))
            continue;
        add_decisions(probes, count, &a, legend_of(r, i, &a), 1 + (unsigned)(n / 2), &series[n]);
        n += 2;
    }
    if (n) {
        report_open_card(out, "Probes, site after site",
                         "Paper 000, figure 5: as sites are met, fewer probes are needed. Points are means of a "
                         "fiftieth of the sites, dashed lines the straight ones through all.",
                         "");
        chart_lines(out, "Probes, site after site", &(struct chart_axis){.title = "sites decided", .from_zero = true},
                    &(struct chart_axis){.title = "probes a site", .from_zero = true}, series, n);
        report_close_card(out);
    }
    arena_done(&a);
}
