#include "sim/chart.h"

#include <math.h>

#include "base/utf8.h"

#define WIDTH 640.0
#define BAR_HEIGHT 26.0
#define BAR_LABEL 140.0
#define BAR_LABEL_MAX 280.0
#define BAR_NOTE 120.0
#define LETTER_WIDTH 7.4 /* of labels, about */
#define LETTER_HEIGHT 14.0
#define PLOT_HEIGHT 300.0
#define LEFT 52.0
#define RIGHT 16.0
#define TOP 12.0
#define BOTTOM 46.0
#define LEGEND_ROW 20.0
#define TICKS 6
#define NOTE_WIDTH 44.0
#define NOTE_HEIGHT 13.0

void chart_text(struct buf *out, struct span s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '&')
            buf_puts(out, "&amp;");
        else if (c == '<')
            buf_puts(out, "&lt;");
        else if (c == '>')
            buf_puts(out, "&gt;");
        else if (c == '"')
            buf_puts(out, "&quot;");
        else if (c == '\'')
            buf_puts(out, "&#39;");
        else
            buf_putc(out, c < 0x20 || c == 0x7f ? ' ' : (char)c);
    }
}

static void text_of(struct buf *out, const char *s)
{
    chart_text(out, span_str(s));
}

static void open_svg(struct buf *out, const char *name, double width, double height)
{
    buf_printf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", width, height);
    text_of(out, name);
    buf_puts(out, "\">");
}

static double letters(struct span s)
{
    size_t n = 0, i = 0;
    while (i < s.n) {
        (void)utf8_next(s, &i, NULL);
        n++;
    }
    return (double)n;
}

/* ---- bars ---- */

void chart_bars(struct buf *out, const char *name, const struct chart_bar *bars, size_t n)
{
    double most = 0, left = BAR_LABEL;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fmax(bars[i].value, bars[i].high));
        left = fmin(BAR_LABEL_MAX, fmax(left, 14 + LETTER_WIDTH * letters(span_str(bars[i].label))));
    }
    double room = WIDTH - left - BAR_NOTE;
    open_svg(out, name, WIDTH, (double)n * BAR_HEIGHT + 4);
    for (size_t i = 0; i < n; i++) {
        double y = (double)i * BAR_HEIGHT, width = most > 0 ? room * bars[i].value / most : 0;
        buf_printf(out, "<text class=\"q\" x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">", left - 10, y + 18);
        text_of(out, bars[i].label);
        buf_printf(out, "</text><rect class=\"s%u%s\" x=\"%.0f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" rx=\"3\"/>",
                   bars[i].colour, bars[i].is_pale ? " pale" : "", left, y + 4, fmax(width, 1.5), BAR_HEIGHT - 8);
        if (bars[i].high > bars[i].low && most > 0) {
            double low = left + room * fmax(0, bars[i].low) / most, high = left + room * bars[i].high / most;
            buf_printf(out, "<path class=\"spread\" d=\"M%.1f %.1fv8m0-4H%.1fm0-4v8\"/>", low, y + 9, high);
            width = fmax(width, high - left);
        }
        if (bars[i].note) {
            buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\">", left + fmax(width, 1.5) + 8, y + 18);
            text_of(out, bars[i].note);
            buf_puts(out, "</text>");
        }
    }
    buf_puts(out, "</svg>");
}

/* ---- lines ---- */

/* A round step so that about TICKS of them cover the range. */
static double nice_step(double range)
{
    double raw = range / TICKS, power = pow(10, floor(log10(raw))), part = raw / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 2.5 ? 2.5 : part <= 5 ? 5 : 10);
}

struct scale {
    double min, max, step;
    double from, to; /* in the picture */
};

static struct scale make_scale(const struct chart_axis *a, double low, double high, double from, double to)
{
    struct scale s = {.from = from, .to = to};
    bool is_given = a->min != 0 || a->max != 0;
    low = is_given ? a->min : a->from_zero ? 0 : low;
    high = is_given ? a->max : high;
    if (!(high > low))
        high = low + 1;
    s.step = nice_step(high - low);
    s.min = is_given ? low : floor(low / s.step + 1e-9) * s.step;
    s.max = is_given ? high : ceil(high / s.step - 1e-9) * s.step;
    return s;
}

static double at(const struct scale *s, double v)
{
    return s->from + (v - s->min) / (s->max - s->min) * (s->to - s->from);
}

static void put_number(struct buf *out, double v, double step, const char *unit)
{
    int decimals = step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3;
    if (step == 2.5)
        decimals = 1;
    buf_printf(out, "%.*f%s", decimals, fabs(v) < step / 1000 ? 0 : v, unit ? unit : "");
}

/* The i-th round number of the scale; false: it is past the end. */
static bool tick(const struct scale *s, unsigned i, double *v)
{
    *v = (ceil(s->min / s->step - 1e-9) + i) * s->step;
    return *v <= s->max + s->step * 1e-6;
}

static void put_grid(struct buf *out, const struct chart_axis *x, const struct chart_axis *y, const struct scale *sx,
                     const struct scale *sy)
{
    double v;
    for (unsigned i = 0; tick(sy, i, &v); i++) {
        buf_printf(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", sx->from, at(sy, v), sx->to);
        buf_printf(out, "<text class=\"q\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", sx->from - 7, at(sy, v) + 4);
        put_number(out, v, sy->step, y->unit);
        buf_puts(out, "</text>");
    }
    for (unsigned i = 0; tick(sx, i, &v); i++) {
        buf_printf(out, "<text class=\"q\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", at(sx, v), sy->from + 18);
        put_number(out, v, sx->step, x->unit);
        buf_puts(out, "</text>");
    }
    buf_printf(out, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>", sx->from, sy->from, sx->to);
    buf_printf(out, "<text class=\"q\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (sx->from + sx->to) / 2,
               sy->from + 38);
    text_of(out, x->title);
    buf_puts(out, "</text>");
}

static void put_series(struct buf *out, const struct chart_series *s, const struct scale *sx, const struct scale *sy)
{
    if (s->has_line && s->n) {
        buf_printf(out, "<path class=\"line c%u%s\" d=\"", s->colour, s->is_dashed ? " dashed" : "");
        for (size_t i = 0; i < s->n; i++)
            buf_printf(out, "%c%.1f %.1f", i ? 'L' : 'M', at(sx, s->x[i]), at(sy, s->y[i]));
        buf_puts(out, "\"/>");
    }
    double note_x = -1e9, note_y = -1e9; /* the last note: the next must not lie on it */
    for (size_t i = 0; i < s->n; i++) {
        double px = at(sx, s->x[i]), py = at(sy, s->y[i]);
        if (s->has_dots)
            buf_printf(out, "<circle class=\"s%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"/>", s->colour, px, py,
                       s->n > 60 ? "1.8" : "3.5");
        bool has_room = fabs(px - note_x) > NOTE_WIDTH || fabs(py - note_y) > NOTE_HEIGHT;
        if (!s->notes || !has_room)
            continue;
        bool is_left = px > WIDTH - RIGHT - NOTE_WIDTH;
        buf_printf(out, "<text class=\"note\" x=\"%.1f\" y=\"%.1f\"%s>", px + (is_left ? -7 : 7), py + 14,
                   is_left ? " text-anchor=\"end\"" : "");
        text_of(out, s->notes[i]);
        buf_puts(out, "</text>");
        note_x = px;
        note_y = py;
    }
}

/* Labels stand upright beside their lines, so that many fit; one that would lie on the last is left out. */
static void put_marks(struct buf *out, const struct chart_axis *x, const struct scale *sx, const struct scale *sy)
{
    double last = -1e9;
    for (size_t i = 0; i < x->mark_count; i++) {
        double px = at(sx, x->marks[i].x);
        if (!(px >= sx->from && px <= sx->to))
            continue;
        buf_printf(out, "<path class=\"mark\" d=\"M%.1f %.1fV%.1f\"/>", px, sy->from, sy->to);
        if (px - last < NOTE_HEIGHT)
            continue;
        last = px;
        buf_printf(out, "<text class=\"note\" transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"end\">",
                   px - 4, sy->to + 4);
        text_of(out, x->marks[i].label);
        buf_puts(out, "</text>");
    }
}

static double legend_width(const struct chart_series *s)
{
    return 44 + 7.2 * letters(span_str(s->label));
}

/* Rows that the legend needs; a series without a label has no entry. */
static unsigned legend_rows(const struct chart_series *series, size_t n)
{
    double x = LEFT;
    unsigned rows = 1;
    for (size_t i = 0; i < n; i++) {
        if (!series[i].label)
            continue;
        if (x > LEFT && x + legend_width(&series[i]) > WIDTH) {
            rows++;
            x = LEFT;
        }
        x += legend_width(&series[i]);
    }
    return rows;
}

static void put_legend(struct buf *out, const char *y_title, const struct chart_series *series, size_t n, double y)
{
    double x = LEFT;
    buf_printf(out, "<text class=\"q\" x=\"4\" y=\"%.1f\">", y);
    text_of(out, y_title);
    buf_puts(out, "</text>");
    y += LEGEND_ROW;
    for (size_t i = 0; i < n; i++) {
        if (!series[i].label)
            continue;
        if (x > LEFT && x + legend_width(&series[i]) > WIDTH) {
            y += LEGEND_ROW;
            x = LEFT;
        }
        buf_printf(out, "<path class=\"line c%u%s\" d=\"M%.1f %.1fh18\"/>", series[i].colour,
                   series[i].is_dashed ? " dashed" : "", x, y - 4);
        buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\">", x + 24, y);
        text_of(out, series[i].label);
        buf_puts(out, "</text>");
        x += legend_width(&series[i]);
    }
}

void chart_lines(struct buf *out, const char *name, const struct chart_axis *x, const struct chart_axis *y,
                 const struct chart_series *series, size_t n)
{
    double low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
    double top = TOP + (1 + legend_rows(series, n)) * LEGEND_ROW;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < series[i].n; j++) {
            low_x = fmin(low_x, series[i].x[j]);
            high_x = fmax(high_x, series[i].x[j]);
            low_y = fmin(low_y, series[i].y[j]);
            high_y = fmax(high_y, series[i].y[j]);
        }
    if (!isfinite(low_x))
        low_x = low_y = 0, high_x = high_y = 1;
    struct scale sx = make_scale(x, low_x, high_x, LEFT, WIDTH - RIGHT);
    struct scale sy = make_scale(y, low_y, high_y, top + PLOT_HEIGHT, top);
    open_svg(out, name, WIDTH, top + PLOT_HEIGHT + BOTTOM);
    put_grid(out, x, y, &sx, &sy);
    for (size_t i = 0; i < n; i++)
        put_series(out, &series[i], &sx, &sy);
    put_marks(out, x, &sx, &sy);
    put_legend(out, y->title, series, n, TOP + 4);
    buf_puts(out, "</svg>");
}

/* ---- map ---- */

/* Plate carree between 60 south and 78 north: the few that are beyond are drawn at the edge. */
#define MAP_WIDTH 1100.0
#define MAP_NORTH 78.0
#define MAP_SOUTH -60.0
#define MAP_HEIGHT (MAP_WIDTH * (MAP_NORTH - MAP_SOUTH) / 360)
#define MAP_LABELS_MAX 256

struct box {
    double x, y, width, height;
};

struct map {
    struct buf *out;
    struct box taken[MAP_LABELS_MAX];
    size_t count;
};

static double map_x(const struct chart_dot *d)
{
    return ((double)d->longitude + 180) * MAP_WIDTH / 360;
}

static double map_y(const struct chart_dot *d)
{
    double lat = fmin(MAP_NORTH, fmax(MAP_SOUTH, (double)d->latitude));
    return (MAP_NORTH - lat) * MAP_HEIGHT / (MAP_NORTH - MAP_SOUTH);
}

static bool is_free(const struct map *m, const struct box *b)
{
    if (b->x < 0 || b->y < 0 || b->x + b->width > MAP_WIDTH || b->y + b->height > MAP_HEIGHT)
        return false;
    for (size_t i = 0; i < m->count; i++) {
        const struct box *t = &m->taken[i];
        if (b->x < t->x + t->width && t->x < b->x + b->width && b->y < t->y + t->height && t->y < b->y + b->height)
            return false;
    }
    return true;
}

static void take(struct map *m, struct box b)
{
    if (m->count < MAP_LABELS_MAX)
        m->taken[m->count++] = b;
}

/* To the right of its dot, to the left, below or above, wherever nothing is yet. */
static void put_label(struct map *m, const struct chart_dot *d)
{
    double x = map_x(d), y = map_y(d), width = LETTER_WIDTH * letters(d->label);
    const struct box places[] = {{x + 7, y - LETTER_HEIGHT / 2, width, LETTER_HEIGHT},
                                 {x - 7 - width, y - LETTER_HEIGHT / 2, width, LETTER_HEIGHT},
                                 {x - width / 2, y + 6, width, LETTER_HEIGHT},
                                 {x - width / 2, y - 6 - LETTER_HEIGHT, width, LETTER_HEIGHT}};
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
        if (is_free(m, &places[i])) {
            take(m, places[i]);
            buf_printf(m->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", places[i].x + width / 2,
                       places[i].y + 11);
            chart_text(m->out, d->label);
            buf_puts(m->out, "</text>");
            return;
        }
}

/* All of a layer: quiet ones are one path, the others a circle each. */
static void put_dots(struct buf *out, const struct chart_dot *dots, size_t n, bool is_large)
{
    buf_puts(out, is_large ? "" : "<path class=\"land\" d=\"");
    for (size_t i = 0; !is_large && i < n; i++)
        if (!dots[i].colour)
            buf_printf(out, "M%.1f %.1fh2v2h-2", map_x(&dots[i]) - 1, map_y(&dots[i]) - 1);
    buf_puts(out, is_large ? "" : "\"/>");
    for (size_t i = 0; i < n; i++)
        if (dots[i].colour && dots[i].is_large == is_large)
            buf_printf(out, "<circle class=\"%s s%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"/>", is_large ? "agent" : "site",
                       dots[i].colour, map_x(&dots[i]), map_y(&dots[i]), is_large ? "5.5" : "2.4");
}

void chart_map(struct buf *out, const char *name, const struct chart_dot *dots, size_t n)
{
    struct map m = {.out = out};
    open_svg(out, name, MAP_WIDTH, MAP_HEIGHT);
    buf_printf(out, "<rect class=\"sea\" width=\"%.0f\" height=\"%.0f\" rx=\"8\"/>", MAP_WIDTH, MAP_HEIGHT);
    put_dots(out, dots, n, false);
    put_dots(out, dots, n, true);
    for (size_t i = 0; i < n; i++)
        if (dots[i].is_large)
            take(&m, (struct box){map_x(&dots[i]) - 5, map_y(&dots[i]) - 5, 10, 10});
    for (size_t i = 0; i < n; i++)
        if (dots[i].is_large && dots[i].label.n)
            put_label(&m, &dots[i]);
    buf_puts(out, "</svg>");
}
