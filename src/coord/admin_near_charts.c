/* admin_near_charts.c - charts of nearness as SVG, which need no script: probes and moves over time, round trips as
 * they are against the best that is known. */
#include <math.h>
#include <stdio.h>

#include "coord/admin_near.h"
#include "coord/admin_pages.h"
#include "coord/admin_plot.h"
#include "coord/diary.h"

#define DAYS_SHOWN 60

/* ---- times ---- */

void near_times_get(struct coord *c, wall_ms now, struct near_times *out)
{
    int64_t today = now / DAY_MS, hour = now / HOUR_MS, first = 0;
    *out = (struct near_times){0};
    for (int64_t day = today - DIARY_DAYS + 1; day <= today; day++) {
        const struct diary_count *k = diary_day(&c->diary, day);
        if (!k)
            continue;
        first = first ? first : day;
        out->given += k->given;
        out->probes += k->probes;
        for (int i = 0; i < MOVE_KINDS; i++)
            out->moves[i] += k->moves[i];
    }
    out->is_hours = !first || today - first < 3; /* too few days for a chart */
    int64_t end = out->is_hours ? hour : today, from = out->is_hours                 ? hour - DIARY_HOURS + 1
                                                       : today - first >= DAYS_SHOWN ? today - DAYS_SHOWN + 1
                                                       : today - first >= 13         ? first
                                                                                     : today - 13;
    for (int64_t at = from; at <= end; at++) {
        const struct diary_count *k = out->is_hours ? diary_hour(&c->diary, at) : diary_day(&c->diary, at);
        out->list[out->n++] = k ? *k : (struct diary_count){.at = at};
    }
}

/* ---- probes ---- */

static double probes_each(const struct diary_count *k)
{
    return k->given ? (double)k->probes / (double)k->given : 0;
}

void put_probes_chart(struct buf *out, const struct near_times *t)
{
    double most = 0;
    for (size_t i = 0; i < t->n; i++)
        most = fmax(most, probes_each(&t->list[i]));
    double max = plot_round_up(fmax(most, 1));
    plot_begin(out, "probes", t->is_hours ? "Probes a network, by hour" : "Probes a network, by day",
               "Probes for each network that got its first agent");
    plot_grid(out, max);
    for (size_t i = 0; i < t->n; i++) {
        const struct diary_count *k = &t->list[i];
        if (!k->given && !k->probes)
            continue;
        double y = plot_y(probes_each(k), max);
        plot_bar(out, "s1", i, t->n, y, PLOT_TOP + PLOT_INNER_HEIGHT - y);
        buf_puts(out, "<title>");
        plot_when(out, t->is_hours, k->at);
        buf_printf(out, ": %llu probes, %llu new networks</title></rect>", (unsigned long long)k->probes,
                   (unsigned long long)k->given);
    }
    plot_times(out, t->is_hours, t->list[0].at, t->list[t->n - 1].at);
    plot_end(out);
}

/* ---- moves ---- */

static uint64_t moves_of(const struct diary_count *k)
{
    uint64_t sum = 0;
    for (int i = 0; i < MOVE_KINDS; i++)
        sum += k->moves[i];
    return sum;
}

static void put_moves_of(struct buf *out, const struct near_times *t, size_t at, double max)
{
    const struct diary_count *k = &t->list[at];
    double from = 0;
    for (int i = 0; i < MOVE_KINDS; i++) {
        if (!k->moves[i])
            continue;
        char name[8];
        snprintf(name, sizeof(name), "m%d", i);
        double to = from + (double)k->moves[i], y = plot_y(to, max);
        plot_bar(out, name, at, t->n, y, plot_y(from, max) - y);
        buf_puts(out, "<title>");
        plot_when(out, t->is_hours, k->at);
        buf_printf(out, ": %llu moved, %s</title></rect>", (unsigned long long)k->moves[i],
                   move_kind_text((move_kind)i));
        from = to;
    }
}

void put_moves_chart(struct buf *out, const struct near_times *t)
{
    uint64_t most = 0, sums[MOVE_KINDS] = {0}, all = 0;
    for (size_t i = 0; i < t->n; i++) {
        uint64_t n = moves_of(&t->list[i]);
        most = n > most ? n : most;
        all += n;
        for (int k = 0; k < MOVE_KINDS; k++)
            sums[k] += t->list[i].moves[k];
    }
    double max = plot_round_up(most > 2 ? (double)most : 2);
    plot_begin(out, "moves", t->is_hours ? "Networks that moved, by hour" : "Networks that moved, by day",
               "Networks that changed hands, by reason");
    plot_grid(out, max);
    for (size_t i = 0; i < t->n; i++)
        put_moves_of(out, t, i, max);
    plot_times(out, t->is_hours, t->list[0].at, t->list[t->n - 1].at);
    if (!all)
        plot_none(out, "None in this time");
    plot_end_svg(out);
    if (all) {
        buf_puts(out, "<ul class=\"legend\">");
        for (int k = 0; k < MOVE_KINDS; k++)
            if (sums[k])
                buf_printf(out, "<li><span class=\"swatch m%d\">%s</span> %llu</li>", k, move_kind_text((move_kind)k),
                           (unsigned long long)sums[k]);
        buf_puts(out, "</ul>");
    }
    buf_puts(out, "</figure>\n");
}

/* ---- round trips ---- */

#define MS_MIN 0.3
#define MS_MAX 1000.0

/* Both axes are logarithmic: 3 and 300 ms are both of interest. */
static double along(double ms)
{
    double v = ms < MS_MIN ? MS_MIN : ms > MS_MAX ? MS_MAX : ms;
    return log(v / MS_MIN) / log(MS_MAX / MS_MIN);
}

static void put_ms_grid(struct buf *out)
{
    static const double marks[] = {1, 10, 100, 1000};
    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
        double x = PLOT_LEFT + PLOT_INNER_WIDTH * along(marks[i]), y = plot_y(along(marks[i]), 1);
        bool is_last = marks[i] >= MS_MAX;
        buf_printf(out,
                   "<path class=\"grid\" d=\"M%.0f %.1fH%.0fM%.1f %.0fV%.0f\"/><text x=\"%.0f\" y=\"%.1f\" "
                   "text-anchor=\"end\">%.0f</text><text x=\"%.1f\" y=\"%.0f\" text-anchor=\"%s\">%.0f ms</text>",
                   PLOT_LEFT, y, PLOT_WIDTH - PLOT_RIGHT, x, PLOT_TOP, PLOT_TOP + PLOT_INNER_HEIGHT, PLOT_LEFT - 6,
                   y + 4, marks[i], x, PLOT_HEIGHT - 5, is_last ? "end" : "middle", marks[i]);
    }
    /* On the line an agent is the best one known; up to the edge of the band it is near. */
    buf_printf(out, "<path class=\"band\" d=\"M%.1f %.1f", PLOT_LEFT, plot_y(along(MS_MIN + DELEGATE_NEAR_MS), 1));
    for (int i = 0; i <= 40; i++) {
        double ms = MS_MIN * pow(MS_MAX / MS_MIN, i / 40.0);
        buf_printf(out, "L%.1f %.1f", PLOT_LEFT + PLOT_INNER_WIDTH * along(ms),
                   plot_y(along(ms + DELEGATE_NEAR_MS), 1));
    }
    buf_printf(out, "L%.1f %.1fZ\"/><path class=\"even\" d=\"M%.1f %.1fL%.1f %.1f\"/>", PLOT_LEFT,
               PLOT_TOP + PLOT_INNER_HEIGHT, PLOT_LEFT, PLOT_TOP + PLOT_INNER_HEIGHT, PLOT_WIDTH - PLOT_RIGHT,
               PLOT_TOP);
}

void put_pairs_chart(struct buf *out, const struct near_view *v)
{
    plot_begin(out, "pairs", "Round trip now against the best known",
               "The round trip of each network against the best that is known");
    put_ms_grid(out);
    buf_printf(out,
               "<text class=\"name\" x=\"%.0f\" y=\"%.0f\">now</text><text class=\"name\" x=\"%.0f\" y=\"%.0f\" "
               "text-anchor=\"end\">best known</text>",
               PLOT_LEFT + 6, PLOT_TOP + 12, PLOT_WIDTH - PLOT_RIGHT - 4, PLOT_TOP + PLOT_INNER_HEIGHT - 6);
    for (size_t i = v->pair_count; i-- > 0;) { /* those that lose most on top */
        const struct near_pair *p = &v->pairs[i];
        char text[NETWORK_TEXT_MAX];
        buf_printf(out, "<circle class=\"k%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%s: ", v->agents[p->agent].colour,
                   PLOT_LEFT + PLOT_INNER_WIDTH * along((double)p->best_ms), plot_y(along((double)p->now_ms), 1),
                   network_format(&p->network, text));
        html_text(out, span_str(v->agents[p->agent].name));
        buf_printf(out, " %.1f ms", (double)p->now_ms);
        if (p->best != p->agent) {
            buf_puts(out, ", best known ");
            html_text(out, span_str(p->best < v->agent_count ? v->agents[p->best].name : "an agent that left"));
            buf_printf(out, " %.1f ms", (double)p->best_ms);
        }
        buf_puts(out, "</title></circle>");
    }
    if (!v->pair_count)
        plot_none(out, "Nothing measured yet");
    plot_end(out);
}
