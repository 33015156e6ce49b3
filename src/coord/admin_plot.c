/* admin_plot.c - pieces of small charts as SVG. */
#include "coord/admin_plot.h"

#include <math.h>
#include <time.h>

void plot_begin(struct buf *out, const char *id, const char *title, const char *label)
{
    buf_printf(out,
               "<figure><figcaption><span id=\"title-%s\">%s</span></figcaption><svg class=\"plot\" viewBox=\"0 0 %.0f "
               "%.0f\" role=\"img\" aria-label=\"%s\">",
               id, title, PLOT_WIDTH, PLOT_HEIGHT, label);
}

void plot_end_svg(struct buf *out)
{
    buf_puts(out, "</svg>");
}

void plot_end(struct buf *out)
{
    buf_puts(out, "</svg></figure>\n");
}

double plot_round_up(double v)
{
    double base = pow(10, floor(log10(v)));
    return v <= base ? base : v <= 2 * base ? 2 * base : v <= 5 * base ? 5 * base : 10 * base;
}

double plot_y(double v, double max)
{
    return PLOT_TOP + PLOT_INNER_HEIGHT * (1 - v / max);
}

double plot_x(size_t i, size_t n)
{
    return PLOT_LEFT + PLOT_INNER_WIDTH * ((double)i + 0.5) / (double)n;
}

void plot_grid(struct buf *out, double max)
{
    for (int i = 0; i <= 2; i++) {
        double v = max * i / 2, y = plot_y(v, max);
        buf_printf(out,
                   "<path class=\"%s\" d=\"M%.0f %.1fH%.0f\"/><text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%.*f"
                   "</text>",
                   i ? "grid" : "axis", PLOT_LEFT, y, PLOT_WIDTH - PLOT_RIGHT, PLOT_LEFT - 6, y + 4,
                   v == floor(v) ? 0 : 1, v);
    }
}

void plot_bar(struct buf *out, const char *class_name, size_t i, size_t n, double y, double height)
{
    double step = PLOT_INNER_WIDTH / (double)n;
    buf_printf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">", class_name,
               PLOT_LEFT + step * (double)i + step * 0.1, y, step * 0.8, height);
}

void plot_none(struct buf *out, const char *text)
{
    buf_printf(out, "<text class=\"none\" x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>",
               PLOT_LEFT + PLOT_INNER_WIDTH / 2, PLOT_TOP + PLOT_INNER_HEIGHT / 2, text);
}

void plot_when(struct buf *out, bool is_hours, int64_t at)
{
    time_t when = (time_t)(at * (is_hours ? HOUR_MS : DAY_MS) / 1000);
    struct tm tm;
    char text[32] = "";
    if (gmtime_r(&when, &tm))
        strftime(text, sizeof(text), is_hours ? "%d %b, %H:00 UTC" : "%d %b", &tm);
    buf_puts(out, text);
}

void plot_times(struct buf *out, bool is_hours, int64_t first, int64_t last)
{
    static const char *const anchors[] = {"start", "middle", "end"}, *const ago[] = {"48 h ago", "24 h ago", "now"};
    for (int i = 0; i < 3; i++) {
        buf_printf(out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">", PLOT_LEFT + PLOT_INNER_WIDTH * i / 2,
                   PLOT_HEIGHT - 5, anchors[i]);
        if (is_hours)
            buf_puts(out, ago[i]);
        else
            plot_when(out, false, first + (last - first) * i / 2);
        buf_puts(out, "</text>");
    }
}
