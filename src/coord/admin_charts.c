/* admin_charts.c - places for charts, and the errors by kind as a table that is the chart's legend too. ui/admin.js
 * draws; without scripts there are the numbers. */
#include "coord/admin_pages.h"

static void put_chart(struct buf *out, const struct chart *c)
{
    buf_printf(out,
               "<figure><figcaption><span id=\"title-%s\">%s</span><span class=\"last\" id=\"last-%s\" "
               "data-unit=\"%s\"></span>"
               "</figcaption><div><canvas id=\"chart-%s\" role=\"img\" aria-labelledby=\"title-%s last-%s\">"
               "</canvas></div></figure>",
               c->id, c->title, c->id, c->unit, c->id, c->id, c->id);
}

void put_charts(struct buf *out, const char *heading, const struct chart *charts, size_t n)
{
    buf_printf(
        out, "<section class=\"drawn\" aria-labelledby=\"charts-h\"><h2 id=\"charts-h\">%s</h2><div class=\"charts\">",
        heading);
    for (size_t i = 0; i < n; i++)
        put_chart(out, &charts[i]);
    buf_puts(out, "</div></section>\n");
}

static void put_kind(struct buf *out, const struct errors_shown *e, error_kind k)
{
    uint64_t n = e->counts->by_kind[k];
    bool is_error = error_kind_is_counted(k);
    buf_printf(out, "<tr data-key=\"%s\" data-kind=\"%s\"%s><th scope=\"row\"><span class=\"swatch\">%s</span></th>",
               error_kind_name(k), error_kind_name(k), n ? "" : " class=\"none\"", error_kind_text(k));
    buf_puts(out, "<td class=\"n\">");
    put_rate(out, e->per_min[k]);
    buf_puts(out, "</td><td class=\"n\">");
    html_count(out, n);
    buf_puts(out, "</td><td class=\"n\">");
    if (is_error && e->counts->errors)
        buf_printf(out, "%.0f %%", 100.0 * (double)n / (double)e->counts->errors);
    else
        buf_puts(out, DASH);
    buf_puts(out, "</td></tr>");
}

static void put_own(struct buf *out, const char *name, uint64_t n)
{
    buf_printf(out, "<tr data-key=\"%s\"%s><th scope=\"row\">%s</th><td class=\"n\">" DASH "</td><td class=\"n\">",
               name, n ? "" : " class=\"none\"", name);
    html_count(out, n);
    buf_puts(out, "</td><td class=\"n\">" DASH "</td></tr>");
}

static void put_group(struct buf *out, const char *name)
{
    buf_printf(out, "</tbody><tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"4\">%s</th></tr>", name);
}

void put_errors(struct buf *out, const struct errors_shown *e)
{
    /* In the order in which a request meets them. "Other" comes last. */
    buf_puts(out, "<section aria-labelledby=\"errors-h\"><h2 id=\"errors-h\">Errors by kind</h2><div class=\"errors\">"
                  "<div class=\"drawn\"><div class=\"charts\">");
    put_chart(out, &(struct chart){"errors", "Errors a minute, by kind", "a minute"});
    buf_puts(out, "</div></div><div data-live id=\"errors\"><table class=\"tight\"><caption class=\"vh\">Errors by kind"
                  "</caption><thead><tr><th scope=\"col\">Kind</th><th scope=\"col\" class=\"n\">A minute</th><th "
                  "scope=\"col\" class=\"n\">In all</th><th scope=\"col\" class=\"n\">Share</th></tr></thead><tbody>");
    for (int k = ERROR_OTHER + 1; k < ERROR_KINDS; k++)
        if (error_kind_is_counted((error_kind)k))
            put_kind(out, e, (error_kind)k);
    put_kind(out, e, ERROR_OTHER);
    put_group(out, "Not counted as errors");
    for (int k = 0; k < ERROR_KINDS; k++)
        if (!error_kind_is_counted((error_kind)k))
            put_kind(out, e, (error_kind)k);
    put_group(out, e->is_fleet ? "Of what agents sent, here" : "Of what it sent, here");
    put_own(out, "Visits outside its tasks, dropped", e->dropped);
    if (e->is_fleet)
        put_own(out, "Damaged packages", e->damaged);
    buf_puts(out, "</tbody></table></div></div></section>\n");
}
