#include "lab/play/report.h"

#include "lab/play/report_internal.h"

#define COLUMNS 9

/* ---- pieces ---- */

void report_open_card(struct buf *out, const char *title, const char *text, const char *class)
{
    buf_printf(out, "<section class=\"%s\"><h3>", class);
    chart_text(out, span_str(title));
    buf_puts(out, "</h3>");
    if (text && *text) {
        buf_puts(out, "<p>");
        chart_text(out, span_str(text));
        buf_puts(out, "</p>");
    }
    buf_puts(out, "<div class=\"scroll\">");
}

void report_close_card(struct buf *out)
{
    buf_puts(out, "</div></section>\n");
}

const char *report_label(struct arena *a, struct span s, size_t max)
{
    struct buf b = {0};
    bool is_cut = s.n > max;
    if (is_cut) {
        s.n = max - 1;
        while (s.n && ((unsigned char)s.p[s.n] & 0xc0) == 0x80) /* not within a letter */
            s.n--;
    }
    buf_put(&b, s);
    buf_puts(&b, is_cut ? "\xe2\x80\xa6" : "");
    struct span kept = arena_copy(a, buf_span(&b));
    buf_done(&b);
    return kept.p;
}

/* What is compared has one colour whatever else varies: strategies; at thresholds, what differs besides; else every
 * group has its own. NULL: that. */
static const char *colour_key(const struct result *r)
{
    if (result_varies(r, "strategy"))
        return "strategy";
    if (!result_varies(r, "threshold"))
        return NULL;
    for (const struct json_node *v = r->groups[0].variables->children; v; v = v->next)
        if (!span_is(v->name, "threshold") && v->name.n)
            return v->name.p; /* NUL-terminated by json_tree */
    return "";
}

unsigned report_colour(const struct result *r, size_t group)
{
    const char *key = colour_key(r);
    unsigned colour = 0;
    if (!key)
        return 1 + (unsigned)group % CHART_SERIES_MAX;
    struct span mine = result_variable(&r->groups[group], key);
    for (size_t i = 0; i <= group; i++) {
        struct span other = result_variable(&r->groups[i], key);
        bool is_new = true;
        if (span_eq(other, mine))
            break;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = !span_eq(result_variable(&r->groups[k], key), other);
        colour += is_new;
    }
    return 1 + colour % CHART_SERIES_MAX;
}

static void put_state(struct buf *out, bool is_good, const char *good, const char *bad)
{
    buf_printf(out, "<span class=\"badge %s\">%s</span>", is_good ? "good" : "bad", is_good ? good : bad);
}

/* "2026-11-16T15:47:00Z" for people. */
static void put_time(struct buf *out, struct span begun)
{
    if (begun.n < 16)
        return;
    buf_puts(out, ", ");
    chart_text(out, span_cut(begun, 0, 10));
    buf_putc(out, ' ');
    chart_text(out, span_cut(begun, 11, 5));
    buf_puts(out, " UTC");
}

static void put_id(struct buf *out, size_t number)
{
    buf_printf(out, "s%zu", number);
}

/* ---- the head ---- */

static void put_head(const struct results *r, struct buf *out)
{
    size_t passed = 0;
    for (size_t i = 0; i < r->n; i++)
        passed += r->list[i].is_passed;
    buf_puts(out, "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                  "content=\"width=device-width, initial-scale=1\"><title>What the lab found</title><style>\n");
    buf_put(out, report_style());
    buf_puts(out, "</style></head><body><main><h1>What the lab found</h1>");
    buf_printf(out, "<p class=\"sub\">%zu scenario%s with real processes, %zu passed, %zu failed.</p>", r->n,
               r->n == 1 ? "" : "s", passed, r->n - passed);
    buf_puts(out, "<nav><ul class=\"index\">");
    for (size_t i = 0; i < r->n; i++) {
        buf_puts(out, "<li>");
        put_state(out, r->list[i].is_passed, "passed", "failed");
        buf_puts(out, " <a href=\"#");
        put_id(out, i);
        buf_puts(out, "\">");
        chart_text(out, r->list[i].title);
        buf_puts(out, "</a></li>");
    }
    buf_puts(out, "</ul></nav>\n");
}

static void put_facts(const struct result *r, struct buf *out)
{
    const struct json_node *machine = json_member(r->root, "machine");
    buf_puts(out, "<p class=\"sub\"><code>orb lab run ");
    chart_text(out, r->scenario);
    buf_printf(out, "%s</code>: %zu run%s, %.0f s", r->is_short ? " --short" : "", r->run_count,
               r->run_count == 1 ? "" : "s", json_member_number(r->root, "seconds"));
    put_time(out, json_member_text(r->root, "begun"));
    if (machine->kind == NODE_OBJECT) {
        buf_printf(out, ", %.0f cores", json_member_number(machine, "cores"));
        if (json_member(machine, "load")->kind == NODE_NUMBER)
            buf_printf(out, ", load %.2f when it began", json_member_number(machine, "load"));
        if (json_member(machine, "busy")->kind == NODE_NUMBER)
            buf_printf(out, ", busy %.0f %%", 100 * json_member_number(machine, "busy"));
    }
    buf_puts(out, ".</p>");
}

/* ---- tables ---- */

static void put_range(struct buf *out, const struct figure_kind *kind, const struct result_value *v)
{
    figure_put(out, kind, v->mean);
    if (v->n > 1 && figure_differs(kind, v->least, v->most)) {
        buf_puts(out, " <small>");
        figure_put(out, kind, v->least);
        buf_puts(out, "\xe2\x80\x93");
        figure_put(out, kind, v->most);
        buf_puts(out, "</small>");
    }
}

static void put_groups(const struct result *r, struct buf *out)
{
    struct span columns[COLUMNS];
    struct result_value v;
    size_t n = result_columns(r, columns, COLUMNS);
    if (!n)
        return;
    report_open_card(out, "Figures", "Means over runs; small: least and most.", "wide");
    buf_puts(out, "<table><thead><tr><th>Runs</th>");
    for (size_t k = 0; k < n; k++) {
        const struct figure_kind *kind = figure_kind_of(columns[k]);
        buf_puts(out, "<th>");
        chart_text(out, kind ? span_str(kind->title) : columns[k]);
        buf_printf(out, "%s%s</th>", kind && *kind->unit ? ", " : "", kind ? kind->unit : "");
    }
    buf_puts(out, "</tr></thead><tbody>");
    for (size_t i = 0; i < r->group_count; i++) {
        buf_printf(out, "<tr><th scope=\"row\"><span class=\"dot b%u\"></span>", report_colour(r, i));
        chart_text(out, r->groups[i].label);
        buf_puts(out, "</th>");
        for (size_t k = 0; k < n; k++) {
            buf_puts(out, "<td>");
            if (result_figure(&r->groups[i], columns[k], &v))
                put_range(out, figure_kind_of(columns[k]), &v);
            buf_puts(out, "</td>");
        }
        buf_puts(out, "</tr>");
    }
    buf_puts(out, "</tbody></table>");
    report_close_card(out);
}

static void put_claim(struct buf *out, bool is_good, const char *before, struct span text)
{
    buf_puts(out, "<tr><td>");
    put_state(out, is_good, "holds", "fails");
    buf_puts(out, "</td><th scope=\"row\"><code>");
    buf_puts(out, before);
    chart_text(out, text);
    buf_puts(out, "</code></th>");
}

static void put_expected(const struct result *r, struct buf *out)
{
    struct arena a = {0};
    struct result_expected *list;
    size_t n = result_expectations(r, &a, &list);
    const struct json_node *orders = json_member(r->root, "orders")->children;
    if (n || orders) {
        report_open_card(out, "What must hold", "", "wide");
        buf_puts(out, "<table class=\"held\"><thead><tr><th></th><th>Expected</th><th>Measured</th><th>Runs</th></tr>"
                      "</thead><tbody>");
    }
    for (size_t i = 0; i < n; i++) {
        const struct result_expected *e = &list[i];
        put_claim(out, e->passed == e->n, "", e->text);
        buf_puts(out, "<td>");
        figure_put(out, e->kind, e->least);
        if (figure_differs(e->kind, e->least, e->most)) {
            buf_puts(out, "\xe2\x80\x93");
            figure_put(out, e->kind, e->most);
        }
        buf_printf(out, "</td><td>%zu of %zu</td></tr>", e->passed, e->n);
    }
    for (const struct json_node *o = orders; o; o = o->next) {
        put_claim(out, json_member_number(o, "passed") != 0, "order ", json_member_text(o, "text"));
        struct buf values = {0};
        result_order_values(o, &values);
        buf_puts(out, "<td colspan=\"2\" class=\"words\">");
        chart_text(out, buf_span(&values));
        buf_done(&values);
        buf_puts(out, "</td></tr>");
    }
    if (n || orders) {
        buf_puts(out, "</tbody></table>");
        report_close_card(out);
    }
    arena_done(&a);
}

/* Runs that did not go as they should. */
static void put_problems(const struct result *r, struct buf *out)
{
    bool has_any = false;
    size_t n = 0;
    for (const struct json_node *i = json_member(r->root, "runs")->children; i && n++ < RESULTS_RUNS_MAX; i = i->next) {
        struct span problem = json_member_text(i, "problem");
        bool is_valid = json_member_number(i, "valid") != 0;
        if (is_valid && !problem.n)
            continue;
        if (!has_any) {
            report_open_card(out, "Problems", "", "wide");
            buf_puts(out, "<ul>");
            has_any = true;
        }
        buf_puts(out, "<li><code>");
        chart_text(out, json_member_text(i, "name"));
        buf_puts(out, "</code>: ");
        chart_text(out, problem.n ? problem : SPAN("not valid: the machine was too busy to keep to the distances"));
        buf_puts(out, "</li>");
    }
    if (has_any) {
        buf_puts(out, "</ul>");
        report_close_card(out);
    }
}

static void put_result(const struct result *r, size_t number, struct buf *out)
{
    buf_puts(out, "<article id=\"");
    put_id(out, number);
    buf_puts(out, "\"><h2>");
    chart_text(out, r->title);
    buf_putc(out, ' ');
    put_state(out, r->is_passed, "passed", "failed");
    buf_puts(out, "</h2>");
    if (r->about.n) {
        buf_puts(out, "<p>");
        chart_text(out, r->about);
        buf_puts(out, "</p>");
    }
    put_facts(r, out);
    buf_puts(out, "<div class=\"cards\">");
    put_problems(r, out);
    put_expected(r, out);
    put_groups(r, out);
    report_thresholds(r, out);
    report_bars(r, out);
    report_over_time(r, out);
    report_decisions(r, out);
    buf_puts(out, "</div></article>\n");
}

void lab_report_page(const struct results *r, const char *command, struct buf *out)
{
    put_head(r, out);
    for (size_t i = 0; i < r->n; i++)
        put_result(&r->list[i], i, out);
    buf_puts(out, "<footer>Made by <code>");
    chart_text(out, span_str(command));
    buf_puts(out, "</code>.</footer></main></body></html>\n");
}
