/* report_markdown.c - the same as tables, for docs/results.md. */
#include "lab/play/report.h"

#define FIGURES_MAX 64

/* Text in a table: nothing in it begins another column, a tag or a line. */
static void put_text(struct buf *out, struct span s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '|' || c == '<' || c == '`' || c == '\\' || c == '*' || c == '[')
            buf_putc(out, '\\');
        buf_putc(out, c < 0x20 || c == 0x7f ? ' ' : (char)c);
    }
}

/* As code: a back-quote would end it. */
static void put_code(struct buf *out, struct span s)
{
    buf_putc(out, '`');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        buf_putc(out, c < 0x20 || c == 0x7f || c == '`' || c == '|' ? ' ' : (char)c);
    }
    buf_putc(out, '`');
}

static void put_range(struct buf *out, const struct figure_kind *kind, double mean, double least, double most)
{
    figure_put(out, kind, mean);
    if (!figure_differs(kind, least, most))
        return;
    buf_puts(out, " (");
    figure_put(out, kind, least);
    buf_puts(out, " to ");
    figure_put(out, kind, most);
    buf_putc(out, ')');
}

static void put_name(struct buf *out, struct span name)
{
    const struct figure_kind *kind = figure_kind_of(name);
    put_text(out, name);
    if (kind && kind->by != 1)
        buf_printf(out, ", %s", kind->unit);
}

/* A row a figure: there are more of them than kinds of runs, and Markdown does not scroll sideways. */
static void put_groups(const struct result *r, struct buf *out)
{
    struct span figures[FIGURES_MAX];
    struct result_value v;
    size_t n = result_columns(r, figures, FIGURES_MAX);
    if (!n || !r->group_count)
        return;
    buf_puts(out, "| |");
    for (size_t i = 0; i < r->group_count; i++) {
        buf_putc(out, ' ');
        put_text(out, r->groups[i].label);
        buf_puts(out, " |");
    }
    buf_puts(out, "\n|---|");
    for (size_t i = 0; i < r->group_count; i++)
        buf_puts(out, "---:|");
    buf_putc(out, '\n');
    for (size_t k = 0; k < n; k++) {
        buf_puts(out, "| ");
        put_name(out, figures[k]);
        buf_puts(out, " |");
        for (size_t i = 0; i < r->group_count; i++) {
            buf_putc(out, ' ');
            if (result_figure(&r->groups[i], figures[k], &v))
                put_range(out, figure_kind_of(figures[k]), v.mean, v.least, v.most);
            buf_puts(out, " |");
        }
        buf_putc(out, '\n');
    }
    buf_putc(out, '\n');
}

static void put_expected(const struct result *r, struct buf *out)
{
    struct arena a = {0};
    struct result_expected *list;
    size_t n = result_expectations(r, &a, &list);
    for (size_t i = 0; i < n; i++) {
        const struct result_expected *e = &list[i];
        buf_puts(out, "- ");
        put_code(out, e->text);
        buf_puts(out, ": ");
        figure_put(out, e->kind, e->least);
        if (figure_differs(e->kind, e->least, e->most)) {
            buf_puts(out, " to ");
            figure_put(out, e->kind, e->most);
        }
        if (e->passed < e->n)
            buf_printf(out, "; **held in %zu of %zu**", e->passed, e->n);
        buf_putc(out, '\n');
    }
    const struct json_node *orders = json_member(r->root, "orders")->children;
    for (const struct json_node *o = orders; o; o = o->next) {
        buf_puts(out, "- order ");
        put_code(out, json_member_text(o, "text"));
        buf_puts(out, json_member_number(o, "passed") != 0 ? ": holds" : ": **does not hold**");
        struct buf values = {0};
        result_order_values(o, &values);
        if (values.n) {
            buf_puts(out, " (");
            put_text(out, buf_span(&values));
            buf_putc(out, ')');
        }
        buf_done(&values);
        buf_putc(out, '\n');
    }
    if (n || orders)
        buf_putc(out, '\n');
    arena_done(&a);
}

static size_t runs_that(const struct result *r, const char *member, bool is)
{
    size_t n = 0;
    for (const struct json_node *run = json_member(r->root, "runs")->children; run; run = run->next)
        n += (json_member_number(run, member) != 0) == is;
    return n;
}

/* How it was made, and how far to trust it. */
static void put_end(const struct result *r, struct buf *out)
{
    const struct json_node *machine = json_member(r->root, "machine");
    struct buf command = {0};
    double planned = json_member_number(r->root, "planned");
    size_t not_valid = runs_that(r, "valid", false);
    buf_puts(&command, "orb lab run ");
    buf_put(&command, r->scenario);
    buf_puts(&command, r->is_short ? " --short" : "");
    put_code(out, buf_span(&command));
    buf_done(&command);
    buf_printf(out, ": %zu run%s", r->run_count, r->run_count == 1 ? "" : "s");
    if (planned > (double)r->run_count)
        buf_printf(out, " of %.0f", planned);
    buf_printf(out, ", %.0f s", json_member_number(r->root, "seconds"));
    if (json_member_number(r->root, "jobs") > 1)
        buf_printf(out, ", %.0f at a time", json_member_number(r->root, "jobs"));
    if (machine->kind == NODE_OBJECT)
        buf_printf(out, ", %.0f cores, %.0f %% of them in use", json_member_number(machine, "cores"),
                   100 * json_member_number(machine, "busy"));
    if (not_valid)
        buf_printf(out, "; **%zu not valid**", not_valid);
    buf_puts(out, r->is_passed ? "; passed.\n\n" : "; **failed**.\n\n");
}

void lab_report_markdown(const struct results *r, struct buf *out)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct result *one = &r->list[i];
        buf_puts(out, "## ");
        put_text(out, one->title);
        buf_puts(out, "\n\n");
        if (one->about.n) {
            put_text(out, one->about);
            buf_puts(out, "\n\n");
        }
        put_groups(one, out);
        put_expected(one, out);
        put_end(one, out);
    }
}
