/* admin_map.c - a map of the world: agents, and where their networks seem to be. SVG that needs no script; colours and
 * sizes are classes of ui/admin.css. What changes is one group, so that the land need not be sent again. */
#include "coord/admin_near.h"

#include <math.h>
#include <stdio.h>

#include "coord/admin_pages.h"
#include "place/atlas.h"

#define WAYS_MAX 250  /* drawn; the largest */
#define DOTS_MAX 400  /* of agents */
#define LABELS_MAX 40 /* of them with a name beside it, where there is room */
#define SAME_DOT 4.0  /* agents closer than that are one dot */
#define SAME_SPOT 3.0 /* a network this close to its agent needs no line */
#define LETTER 6.3    /* of a label */
#define LABEL_HEIGHT 12.0
#define DOT_SIZE 5.0

/* Agents in one place. */
struct dot {
    struct atlas_point at;
    size_t first, count; /* the one with most networks, and how many */
    uint64_t networks;
};

struct box {
    double x, y, w, h;
};

struct drawing {
    struct buf *out;
    const struct near_view *v;
    struct dot *dots;
    size_t dot_count;
    struct box *taken; /* by labels and dots */
    size_t taken_count;
};

static void put_ms(struct buf *out, const struct near_sums *s)
{
    if (s->measured)
        buf_printf(out, ", %.1f ms on average", near_mean_now(s));
}

static void put_networks(struct buf *out, const struct near_sums *s)
{
    html_count(out, s->networks);
    buf_printf(out, " network%s", s->networks == 1 ? "" : "s");
    put_ms(out, s);
}

/* ---- networks ---- */

static void put_flow_title(struct drawing *d, const struct near_flow *f)
{
    const struct near_agent *a = &d->v->agents[f->agent];
    buf_puts(d->out, "<title>");
    html_text(d->out, span_str(a->name));
    if (f->city.n) {
        buf_puts(d->out, " \xe2\x86\x92 ");
        html_text(d->out, f->city);
        buf_printf(d->out, ", %s: ", f->country);
    } else
        buf_puts(d->out, ", close by: ");
    put_networks(d->out, &f->sums);
    buf_puts(d->out, "</title>");
}

static double share(const struct drawing *d, const struct near_flow *f)
{
    return sqrt((double)f->sums.networks / (double)d->v->flows[0].sums.networks);
}

static void put_way(struct drawing *d, const struct near_flow *f)
{
    const struct near_agent *a = &d->v->agents[f->agent];
    struct atlas_point from = atlas_project(a->spot), to = atlas_project(f->spot);
    if (a->source == NEAR_NOWHERE || hypot(from.x - to.x, from.y - to.y) < SAME_SPOT)
        return;
    buf_printf(d->out, "<path class=\"k%u\" stroke-width=\"%.1f\" d=\"", a->colour, 0.9 + 2.6 * share(d, f));
    atlas_way(a->spot, f->spot, d->out);
    buf_puts(d->out, "\">");
    put_flow_title(d, f);
    buf_puts(d->out, "</path>");
}

static void put_bubble(struct drawing *d, const struct near_flow *f)
{
    struct atlas_point at = atlas_project(f->spot);
    buf_printf(d->out, "<circle class=\"k%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\">", d->v->agents[f->agent].colour, at.x,
               at.y, 2.2 + 7.8 * share(d, f));
    put_flow_title(d, f);
    buf_puts(d->out, "</circle>");
}

static void put_flows(struct drawing *d)
{
    size_t n = d->v->flow_count < WAYS_MAX ? d->v->flow_count : WAYS_MAX;
    buf_puts(d->out, "<g class=\"ways\">");
    for (size_t i = n; i-- > 0;) /* the largest on top */
        put_way(d, &d->v->flows[i]);
    buf_puts(d->out, "</g><g class=\"bubbles\">");
    for (size_t i = 0; i < n; i++) /* the smallest on top */
        put_bubble(d, &d->v->flows[i]);
    buf_puts(d->out, "</g>");
}

/* ---- agents ---- */

static void gather_dots(struct drawing *d)
{
    for (size_t i = 0; i < d->v->agent_count; i++) {
        const struct near_agent *a = &d->v->agents[i];
        size_t k = 0;
        if (a->source == NEAR_NOWHERE)
            continue;
        struct atlas_point at = atlas_project(a->spot);
        while (k < d->dot_count && hypot(d->dots[k].at.x - at.x, d->dots[k].at.y - at.y) > SAME_DOT)
            k++;
        if (k == DOTS_MAX)
            continue;
        if (k == d->dot_count)
            d->dots[d->dot_count++] = (struct dot){.at = at, .first = i};
        d->dots[k].count++;
        d->dots[k].networks += a->sums.networks;
    }
}

static bool is_taken(const struct drawing *d, struct box b)
{
    if (b.x < 0 || b.y < 0 || b.x + b.w > ATLAS_WIDTH || b.y + b.h > ATLAS_HEIGHT)
        return true;
    for (size_t i = 0; i < d->taken_count; i++) {
        const struct box *t = &d->taken[i];
        if (b.x < t->x + t->w && t->x < b.x + b.w && b.y < t->y + t->h && t->y < b.y + b.h)
            return true;
    }
    return false;
}

static void take(struct drawing *d, struct box b)
{
    d->taken[d->taken_count++] = b;
}

/* Beside the dot, on the first side that has room; nowhere otherwise: the title has the name too. */
static void put_label(struct drawing *d, const struct dot *dot)
{
    const struct near_agent *a = &d->v->agents[dot->first];
    char more[32] = "";
    if (dot->count > 1)
        snprintf(more, sizeof(more), " +%zu", dot->count - 1);
    double w = LETTER * (double)(strlen(a->name) + strlen(more)), x = dot->at.x, y = dot->at.y, gap = DOT_SIZE + 3;
    const struct {
        struct box box;
        const char *anchor;
        double x;
    } sides[] = {{{x + gap, y - LABEL_HEIGHT / 2, w, LABEL_HEIGHT}, "start", x + gap},
                 {{x - gap - w, y - LABEL_HEIGHT / 2, w, LABEL_HEIGHT}, "end", x - gap},
                 {{x - w / 2, y - gap - LABEL_HEIGHT, w, LABEL_HEIGHT}, "middle", x},
                 {{x - w / 2, y + gap, w, LABEL_HEIGHT}, "middle", x}};
    for (size_t i = 0; i < sizeof(sides) / sizeof(*sides); i++) {
        if (is_taken(d, sides[i].box))
            continue;
        take(d, sides[i].box);
        buf_printf(d->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", sides[i].x,
                   sides[i].box.y + LABEL_HEIGHT - 2.5, sides[i].anchor);
        html_text(d->out, span_str(a->name));
        buf_printf(d->out, "%s</text>", more);
        return;
    }
}

static void put_dot(struct drawing *d, const struct dot *dot)
{
    const struct near_agent *a = &d->v->agents[dot->first];
    bool is_here = strcmp(a->state, "there") == 0;
    buf_puts(d->out, "<a href=\"");
    if (dot->count == 1) {
        buf_puts(d->out, "/agents/");
        html_query_value(d->out, span_str(a->name));
    } else
        buf_puts(d->out, "/agents");
    buf_printf(d->out, "\"><circle class=\"k%u%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>", a->colour,
               is_here ? "" : " gone", dot->at.x, dot->at.y, DOT_SIZE);
    html_text(d->out, span_str(a->name));
    if (dot->count > 1)
        buf_printf(d->out, " and %zu more agents here", dot->count - 1);
    if (!is_here)
        buf_printf(d->out, " (%s)", a->state);
    if (a->source == NEAR_BY_ADDRESS)
        buf_puts(d->out, ", placed by its address");
    buf_puts(d->out, ": ");
    if (dot->count > 1) {
        html_count(d->out, dot->networks);
        buf_puts(d->out, " networks");
    } else
        put_networks(d->out, &a->sums);
    buf_puts(d->out, "</title></circle></a>");
}

static void put_agents(struct drawing *d)
{
    gather_dots(d);
    for (size_t i = 0; i < d->dot_count; i++)
        take(d, (struct box){d->dots[i].at.x - DOT_SIZE, d->dots[i].at.y - DOT_SIZE, 2 * DOT_SIZE, 2 * DOT_SIZE});
    buf_puts(d->out, "<g class=\"agents\">");
    for (size_t i = d->dot_count; i-- > 0;)
        put_dot(d, &d->dots[i]);
    buf_puts(d->out, "</g><g class=\"names\" aria-hidden=\"true\">");
    for (size_t i = 0; i < d->dot_count && i < LABELS_MAX; i++)
        put_label(d, &d->dots[i]);
    buf_puts(d->out, "</g>");
}

/* ---- all of it ---- */

void put_near_map(struct buf *out, const struct near_view *v, struct arena *arena, bool has_land)
{
    struct drawing d = {.out = out, .v = v};
    d.dots = arena_alloc(arena, DOTS_MAX * sizeof(*d.dots));
    d.taken = arena_alloc(arena, (DOTS_MAX + LABELS_MAX) * sizeof(*d.taken));
    buf_printf(out,
               "<svg class=\"map\" viewBox=\"0 0 %.0f %.0f\" role=\"group\" aria-label=\"Map of agents and where their "
               "networks seem to be\"><path class=\"sea\" d=\"",
               ATLAS_WIDTH, ATLAS_HEIGHT);
    atlas_globe(out);
    buf_puts(out, "\"/><path class=\"land\" d=\"");
    if (has_land && atlas_land(land_text(), out) != ST_OK)
        buf_puts(out, "M0 0"); /* the embedded file is tested: this is not seen */
    buf_puts(out, "\"/><g id=\"map-now\" data-live>");
    put_flows(&d);
    put_agents(&d);
    buf_puts(out, "</g></svg>\n");
}
