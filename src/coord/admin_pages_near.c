/* admin_pages_near.c - the dashboard's page of nearness: the map, how near agents are to their networks, what finding
 * out cost, and which networks changed hands. */
#include <math.h>
#include <stdio.h>

#include "coord/admin_near.h"
#include "coord/admin_pages.h"
#include "coord/agents.h"
#include "coord/diary.h"
#include "io/clock.h"

#define AGENTS_SHOWN 30
#define MOVES_SHOWN 30
#define NAMES_SHOWN 20

/* ---- numbers ---- */

static void tile(struct buf *out, const char *name)
{
    buf_printf(out, "<div><dt>%s</dt><dd>", name);
}

static void tile_sub(struct buf *out)
{
    buf_puts(out, "</dd><dd class=\"quietly\">");
}

static void tile_end(struct buf *out)
{
    buf_puts(out, "</dd></div>");
}

static void put_ms(struct buf *out, double ms)
{
    if (ms >= 0)
        buf_printf(out, "%.1f ms", ms);
    else
        buf_puts(out, DASH);
}

static void put_share(struct buf *out, uint64_t part, uint64_t all)
{
    if (!all)
        buf_puts(out, DASH);
    else if (part && part * 1000 < all * 5)
        buf_puts(out, "&lt; 1 %");
    else if (part < all && part * 1000 >= all * 995)
        buf_printf(out, "%.1f %%", floor(1000.0 * (double)part / (double)all) / 10); /* never 100 when some are not */
    else
        buf_printf(out, "%.0f %%", 100.0 * (double)part / (double)all);
}

static uint64_t sum_moves(const uint64_t moves[MOVE_KINDS])
{
    uint64_t sum = 0;
    for (int i = 0; i < MOVE_KINDS; i++)
        sum += moves[i];
    return sum;
}

static void put_numbers(struct buf *out, const struct near_view *v, const struct near_times *t)
{
    double now = near_mean_now(&v->all), best = near_mean_best(&v->all);
    buf_puts(out, "<div data-live id=\"numbers\"><dl class=\"numbers big\">");
    tile(out, "Round trip, on average");
    put_ms(out, now);
    tile_sub(out);
    if (best > 0)
        buf_printf(out, "best known %.1f ms" DOT "%.2f times that", best, now / best);
    else
        buf_puts(out, "nothing measured yet");
    tile_end(out);
    tile(out, "Within 5 ms of the best known");
    put_share(out, v->near, v->all.measured);
    tile_sub(out);
    buf_puts(out, "of ");
    html_count(out, v->all.measured);
    buf_puts(out, " measured networks");
    tile_end(out);
    tile(out, "Probes a network");
    if (t->given)
        buf_printf(out, "%.2f", (double)t->probes / (double)t->given);
    else
        buf_puts(out, DASH);
    tile_sub(out);
    html_count(out, t->probes);
    buf_puts(out, " probes" DOT);
    html_count(out, t->given);
    buf_puts(out, " networks given");
    tile_end(out);
    tile(out, "Moved");
    html_count(out, sum_moves(t->moves));
    tile_sub(out);
    html_count(out, t->moves[MOVE_CALIBRATED]);
    buf_puts(out, " by calibration" DOT);
    html_count(out, t->moves[MOVE_BALANCED]);
    buf_puts(out, " by balancing");
    tile_end(out);
    buf_puts(out, "</dl><p class=\"sub below\">");
    html_count(out, v->all.networks);
    buf_printf(out, " network%s with an agent, of them ", v->all.networks == 1 ? "" : "s");
    put_share(out, v->trial, v->all.networks);
    buf_puts(out, " on trial, ");
    put_share(out, v->provisional, v->all.networks);
    buf_puts(out, " for the time being, ");
    put_share(out, v->replicated, v->all.networks);
    buf_puts(out, " in several places; ");
    html_count(out, v->free);
    buf_puts(out, " without an agent.</p></div>\n");
}

/* ---- the map ---- */

static void put_unknown_agents(struct buf *out, const struct near_view *v)
{
    size_t n = 0;
    for (size_t i = 0; i < v->agent_count; i++) {
        if (v->agents[i].source != NEAR_NOWHERE)
            continue;
        if (n < NAMES_SHOWN) {
            buf_puts(out, n ? ", " : "<p>Not on the map: ");
            put_agent_link(out, v->agents[i].name);
        }
        n++;
    }
    if (n > NAMES_SHOWN)
        buf_printf(out, " and %zu more", n - NAMES_SHOWN);
    if (n)
        buf_puts(out, ". Where an agent is can be said in its settings, as a city or in degrees.</p>");
}

static void put_map_notes(struct buf *out, const struct near_view *v)
{
    buf_puts(out, "<div data-live id=\"map-notes\" class=\"notes\">");
    buf_puts(out, "<p>A bubble is networks in one place, a line leads to their agent. A place is a guess: the largest "
                  "city of the country a network is registered in that its round trips allow.");
    if (v->unplaced) {
        buf_puts(out, " ");
        html_count(out, v->unplaced);
        buf_printf(out, " network%s", v->unplaced == 1 ? " is" : "s are");
        buf_puts(out, " in no place that is known.");
    }
    if (!v->has_hierarchy)
        buf_puts(out,
                 " Countries come with the <a href=\"/hierarchy\">registry hierarchy</a>, which is not there yet.");
    buf_puts(out, "</p>");
    put_unknown_agents(out, v);
    buf_puts(out, "</div>\n");
}

static void put_place(struct buf *out, const struct near_agent *a)
{
    double lat = (double)a->spot.latitude, lon = (double)a->spot.longitude;
    if (a->place[0]) {
        buf_puts(out, "<bdi>");
        html_text(out, span_str(a->place));
        buf_puts(out, "</bdi>");
    }
    if (a->source != NEAR_NOWHERE)
        buf_printf(out, "<span class=\"quietly\">%.1f\xc2\xb0 %s, %.1f\xc2\xb0 %s%s</span>", lat < 0 ? -lat : lat,
                   lat < 0 ? "S" : "N", lon < 0 ? -lon : lon, lon < 0 ? "W" : "E",
                   a->source == NEAR_BY_ADDRESS ? ", by its address" : "");
    else if (!a->place[0])
        buf_puts(out, DASH);
}

static void put_agents(struct buf *out, const struct near_view *v)
{
    static const struct column cols[] = {{.name = "Agent"},
                                         {.name = "Place", .is_wide = true},
                                         {.name = "Networks", .is_number = true},
                                         {.name = "Round trip", .is_number = true},
                                         {.name = "Best known", .is_number = true}};
    struct table_out t;
    size_t n = v->agent_count < AGENTS_SHOWN ? v->agent_count : AGENTS_SHOWN;
    buf_puts(out, "<div data-live id=\"near-agents\">");
    if (n) {
        table_begin(&t, out, "Agents and their networks", cols, sizeof(cols) / sizeof(*cols), NULL);
        for (size_t i = 0; i < n; i++) {
            const struct near_agent *a = &v->agents[i];
            row_begin(&t, span_str(a->name));
            buf_printf(out, "<span class=\"swatch k%u\">", a->colour);
            put_agent_link(out, a->name);
            buf_puts(out, "</span>");
            cell(&t);
            put_place(out, a);
            cell(&t);
            html_count(out, a->sums.networks);
            cell(&t);
            put_ms(out, near_mean_now(&a->sums));
            cell(&t);
            put_ms(out, near_mean_best(&a->sums));
            row_end(&t);
        }
        table_end(&t);
    }
    if (v->agent_count > n)
        buf_printf(out, "<p class=\"foot\"><a href=\"/agents\">All %zu agents</a></p>", v->agent_count);
    buf_puts(out, "</div>\n");
}

/* ---- moves ---- */

static void put_agent(struct ask *r, struct buf *out, uint64_t number)
{
    const struct c_agent *a = agent_get(r->c, number);
    if (a && a->name[0])
        put_agent_link(out, a->name);
    else
        buf_puts(out, number ? "one that left" : DASH);
}

/* coord.lock held. */
static void put_moves(struct ask *r, struct buf *out)
{
    static const struct column cols[] = {{.name = "Network"},
                                         {.name = "From"},
                                         {.name = "To"},
                                         {.name = "When", .is_number = true},
                                         {.name = "Because", .is_wide = true}};
    const struct diary_move *m;
    struct table_out t;
    wall_ms now = clock_wall();
    buf_puts(out,
             "<section aria-labelledby=\"moves-h\"><h2 id=\"moves-h\">Last moves</h2><div data-live id=\"moves\">");
    if (!diary_move_at(&r->c->diary, 0))
        buf_puts(out, "<div class=\"empty\"><p>No network has changed hands yet.</p></div>");
    else {
        table_begin(&t, out, "Networks that changed hands", cols, sizeof(cols) / sizeof(*cols), NULL);
        for (size_t i = 0; i < MOVES_SHOWN && (m = diary_move_at(&r->c->diary, i)); i++) {
            char key[96];
            snprintf(key, sizeof(key), "%s %lld", m->network, (long long)m->at);
            row_begin(&t, span_str(key));
            buf_puts(out, "<a href=\"/networks?q=");
            html_query_value(out, span_str(m->network));
            buf_puts(out, "\">");
            html_text(out, span_str(m->network));
            buf_puts(out, "</a>");
            cell(&t);
            put_agent(r, out, m->from);
            cell(&t);
            put_agent(r, out, m->to);
            cell(&t);
            put_ago(out, m->at, now);
            cell(&t);
            buf_printf(out, "<span class=\"swatch m%d\">%s</span><span class=\"quietly\"><bdi>", (int)m->kind,
                       move_kind_text(m->kind));
            html_text(out, span_str(m->why));
            buf_puts(out, "</bdi></span>");
            row_end(&t);
        }
        table_end(&t);
    }
    buf_puts(out, "</div></section>\n");
}

/* ---- the page ---- */

void page_near(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    struct near_times *t = arena_alloc(r->arena, sizeof(*t));
    bool is_live = pairs_is_true(&r->in, "live");
    const struct near_view *v = near_view_get(r->a);
    pthread_mutex_lock(&r->c->lock);
    near_times_get(r->c, clock_wall(), t);
    pthread_mutex_unlock(&r->c->lock);
    admin_begin(r, ans, "/near", SPAN("Nearness"));
    buf_puts(out,
             "<div class=\"head\"><div><h1>Nearness</h1><p class=\"sub\">Every network is crawled by the agent that "
             "is nearest to it in round-trip time.</p></div>");
    put_lost_note(out);
    buf_puts(out, "<a class=\"button\" href=\"/hierarchy\">Hierarchy of networks</a></div>\n");
    put_numbers(out, v, t);
    buf_puts(out, "<section aria-labelledby=\"map-h\"><h2 id=\"map-h\">Agents and their networks</h2>");
    put_near_map(out, v, r->arena, !is_live);
    put_map_notes(out, v);
    put_agents(out, v);
    buf_puts(out, "</section>\n<section aria-labelledby=\"times-h\"><h2 id=\"times-h\">Probes, moves and round "
                  "trips</h2><div data-live "
                  "id=\"plots\" class=\"charts plots\">");
    put_probes_chart(out, t);
    put_moves_chart(out, t);
    put_pairs_chart(out, v);
    buf_puts(out, "</div></section>\n");
    near_view_done(r->a, v);
    pthread_mutex_lock(&r->c->lock);
    put_moves(r, out);
    pthread_mutex_unlock(&r->c->lock);
    admin_end(r, ans, scripts_live);
}
