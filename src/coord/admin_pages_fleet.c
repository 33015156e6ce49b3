/* admin_pages_fleet.c - the dashboard's overview, and the list of agents. */
#include "coord/admin_pages.h"
#include "coord/agents.h"
#include "coord/ingest.h"
#include "io/clock.h"

#define AGENTS_ON_OVERVIEW 20

/* ---- the table of agents ---- */

/* What matters most is the state; what it does at the moment stands below. */
static void put_agent_state(struct ask *r, struct buf *out, const struct c_agent *a, const struct figures *f)
{
    const char *state = agent_shown_state(r->c, a);
    put_state(out, state);
    if (strcmp(state, "resting") == 0 || (strcmp(state, "there") == 0 && !agent_is_in_hours(a, clock_wall())))
        buf_puts(out, "<span class=\"quietly\">outside its hours</span>");
    else if (strcmp(state, "there") == 0 && f->activity)
        buf_printf(out, "<span class=\"quietly\">%s</span>", activity_name(f->activity));
    else if (strcmp(state, "invited") == 0)
        buf_puts(out, "<span class=\"quietly\">not joined yet</span>");
}

static void put_agent_row(struct ask *r, struct table_out *t, const struct c_agent *a, wall_ms now)
{
    struct buf *out = t->out;
    struct figures f;
    figures_of(r->a, a->number, &f);
    row_begin(t, span_str(a->name));
    put_agent_link(out, a->name);
    if (a->place[0]) {
        buf_puts(out, "<span class=\"quietly\"><bdi>");
        html_text(out, span_str(a->place));
        buf_puts(out, "</bdi></span>");
    }
    cell(t);
    put_agent_state(r, out, a, &f);
    cell(t);
    html_text(out, span_str(a->hours_text[0] ? a->hours_text : "always"));
    cell(t);
    put_rate(out, f.pages_per_s);
    cell(t);
    html_count(out, f.said.errors);
    if (f.error_share >= 0.005)
        buf_printf(out, "<span class=\"quietly\">%.0f %% lately</span>", f.error_share * 100);
    cell(t);
    html_count(out, f.queue);
    cell(t);
    html_bytes(out, f.spool_bytes);
    if (f.spool_packages) {
        buf_puts(out, "<span class=\"quietly\">");
        html_count(out, f.spool_packages);
        buf_printf(out, " package%s</span>", f.spool_packages == 1 ? "" : "s");
    }
    cell(t);
    html_bytes(out, f.said.bytes_crawled);
    cell(t);
    html_bytes(out, f.said.bytes_sent);
    if (f.said.bytes_sent && f.said.bytes_crawled >= f.said.bytes_sent) {
        buf_puts(out, "<span class=\"quietly\">");
        put_ratio(out, f.said.bytes_crawled, f.said.bytes_sent);
        buf_puts(out, " of it</span>");
    }
    cell(t);
    put_ago(out, a->heard, now);
    cell(t);
    html_text(out, span_str(f.version[0] ? f.version : DASH));
    row_end(t);
}

void put_agents_table(struct ask *r, struct buf *out, struct c_agent **list, size_t from, size_t to,
                      const struct listing *l)
{
    static const struct column cols[] = {{.name = "Agent", .sort = ""},
                                         {.name = "State"},
                                         {.name = "Hours"},
                                         {.name = "Pages/s", .is_number = true, .sort = "rate"},
                                         {.name = "Errors", .is_number = true, .sort = "errors"},
                                         {.name = "Queue", .is_number = true, .sort = "queue"},
                                         {.name = "Spool", .is_number = true, .sort = "spool"},
                                         {.name = "Crawled", .is_number = true, .sort = "crawled"},
                                         {.name = "Sent", .is_number = true},
                                         {.name = "Last seen", .is_number = true},
                                         {.name = "Version"}};
    struct table_out t;
    wall_ms now = clock_wall();
    table_begin(&t, out, "Agents", cols, sizeof(cols) / sizeof(*cols), l);
    for (size_t i = from; i < to; i++)
        put_agent_row(r, &t, list[i], now);
    table_end(&t);
}

/* ---- overview ---- */

static void put_alerts(struct ask *r, struct buf *out)
{
    static const char *const titles[][2] = {
        {"away", "Away"}, {"disk", "Disk"}, {"errors", "Errors"}, {"inbox", "Taking in"}, {"trust", "Trust"}};
    struct alert *list = arena_alloc(r->arena, ALERTS_MAX * sizeof(*list));
    size_t n = alerts_get(r->a, list, ALERTS_MAX);
    buf_puts(out, "<div data-live id=\"alerts\">");
    if (n) {
        buf_puts(out, "<ul class=\"alerts\" aria-label=\"Alerts\">");
        for (size_t i = 0; i < n; i++) {
            buf_puts(out, "<li>");
            for (size_t k = 0; k < sizeof(titles) / sizeof(*titles); k++)
                if (strcmp(list[i].kind, titles[k][0]) == 0)
                    buf_printf(out, "<strong>%s</strong> ", titles[k][1]);
            buf_puts(out, "<span>");
            if (list[i].agent[0]) {
                put_agent_link(out, list[i].agent);
                buf_putc(out, ' ');
            }
            html_text(out, span_str(list[i].text));
            buf_puts(out, ".</span></li>");
        }
        buf_puts(out, "</ul>");
    }
    buf_puts(out, "</div>\n");
}

static void tile(struct buf *out, const char *name)
{
    buf_printf(out, "<div><dt>%s</dt><dd>", name);
}

/* What is below the number: more about it. */
static void tile_sub(struct buf *out)
{
    buf_puts(out, "</dd><dd class=\"quietly\">");
}

static void tile_end(struct buf *out)
{
    buf_puts(out, "</dd></div>");
}

static void put_agents_tile(struct buf *out, const struct figures_total *t)
{
    const struct {
        unsigned n;
        const char *text;
    } parts[] = {{t->away, "away"}, {t->resting, "resting"}, {t->paused, "paused"}, {t->demoted, "demoted"}};
    bool is_first = true;
    tile(out, "Agents here");
    buf_printf(out, "%u <small>of %u</small>", t->there, t->joined);
    tile_sub(out);
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (parts[i].n) {
            buf_printf(out, "%s%u %s", is_first ? "" : DOT, parts[i].n, parts[i].text);
            is_first = false;
        }
    if (is_first)
        buf_puts(out, t->joined ? "none away, paused or demoted" : "none has joined yet");
    tile_end(out);
}

static void put_tiles(struct ask *r, struct buf *out)
{
    struct figures_total t;
    struct ingest_stats in;
    figures_total_get(r->a, &t);
    ingest_get_stats(r->c->ingest, &in);
    buf_puts(out, "<div data-live id=\"numbers\"><dl class=\"numbers big\">");
    put_agents_tile(out, &t);
    tile(out, "Pages a second");
    put_rate(out, t.pages_per_s);
    tile_sub(out);
    html_count(out, t.said.pages);
    buf_puts(out, " crawled");
    tile_end(out);
    tile(out, "Packages a minute");
    put_rate(out, t.packages_per_min);
    tile_sub(out);
    html_count(out, t.packages);
    buf_puts(out, " taken in" DOT);
    html_count(out, in.waiting);
    buf_puts(out, " waiting");
    tile_end(out);
    tile(out, "Errors a minute");
    put_rate(out, t.errors_per_min);
    tile_sub(out);
    html_count(out, t.said.errors);
    buf_puts(out, " of ");
    html_count(out, t.said.requests);
    buf_puts(out, " requests");
    tile_end(out);
    tile(out, "Pages searchable");
    html_count(out, in.index_docs);
    tile_sub(out);
    buf_puts(out, "index of ");
    html_bytes(out, in.index_bytes);
    tile_end(out);
    tile(out, "Waiting URLs");
    html_count(out, t.queue);
    tile_sub(out);
    html_bytes(out, t.spool_bytes);
    buf_puts(out, " wait to be sent");
    tile_end(out);
    tile(out, "Sent by agents");
    html_bytes(out, t.said.bytes_sent);
    tile_sub(out);
    put_ratio(out, t.said.bytes_crawled, t.said.bytes_sent);
    buf_puts(out, " of ");
    html_bytes(out, t.said.bytes_crawled);
    buf_puts(out, " crawled");
    tile_end(out);
    tile(out, "Channels");
    html_count(out, t.channels);
    tile_sub(out);
    html_count(out, t.hosts);
    buf_puts(out, " hosts in ");
    html_count(out, t.networks);
    buf_puts(out, " networks");
    tile_end(out);
    buf_puts(out, "</dl></div>\n");
}

static void put_agents_here(struct ask *r, struct buf *out)
{
    struct c_agent **list;
    buf_puts(out, "<section aria-labelledby=\"agents-h\"><h2 id=\"agents-h\">Agents</h2><div data-live id=\"agents\">");
    pthread_mutex_lock(&r->c->lock);
    size_t n = agents_sorted(r->c, r->arena, &list);
    if (n)
        put_agents_table(r, out, list, 0, n < AGENTS_ON_OVERVIEW ? n : AGENTS_ON_OVERVIEW, NULL);
    pthread_mutex_unlock(&r->c->lock);
    if (n > AGENTS_ON_OVERVIEW)
        buf_printf(out, "<p class=\"foot\"><a href=\"/agents\">All %zu agents</a></p>", n);
    if (!n)
        buf_puts(out, "<div class=\"empty\"><p>There are no agents yet. An agent is a crawler on some machine, near "
                      "the sites it crawls. It needs one line to join.</p></div>");
    buf_puts(out, "</div></section>\n");
}

static void put_coordinator(struct ask *r, struct buf *out)
{
    struct figures_total t;
    figures_total_get(r->a, &t);
    buf_puts(out, "<section aria-labelledby=\"id-h\"><h2 id=\"id-h\">This coordinator</h2><dl class=\"facts-list\">");
    fact(out, "Fingerprint");
    buf_puts(out, "<code id=\"fingerprint\">");
    pthread_mutex_lock(&r->c->lock);
    html_text(out, span_str(r->c->id.fingerprint_hex));
    pthread_mutex_unlock(&r->c->lock);
    buf_puts(out, "</code>");
    fact_end(out);
    fact(out, "Running for");
    html_duration(out, (clock_mono() - r->c->started) / 1000);
    fact_end(out);
    fact(out, "Free disk");
    html_bytes(out, t.disk_free);
    buf_puts(out, " of ");
    html_bytes(out, t.disk);
    fact_end(out);
    buf_puts(out, "</dl>");
    if (r->who.role >= ROLE_ADMIN) {
        buf_puts(out, "<div class=\"actions\">");
        form_button(r, out, "/api/v1/identity/rotate", "Make a new key", "small",
                    "Agents learn the new key, signed by the old one. Lines to join with that were not used yet do not "
                    "work any more.");
        buf_puts(out, "</div>");
    }
    buf_puts(out, "</section>\n");
}

void page_overview(struct ask *r, struct httpd_answer *ans)
{
    static const struct chart charts[] = {{"rate", "Pages a second", "/s"},   {"packages", "Packages a minute", "/min"},
                                          {"bytes", "Bytes/s", ""},           {"queue", "Waiting URLs", ""},
                                          {"spool", "Waiting at agents", ""}, {"there", "Agents here", ""}};
    struct buf *out = &ans->body;
    struct figures_total t;
    struct ingest_stats in;
    figures_total_get(r->a, &t);
    ingest_get_stats(r->c->ingest, &in);
    admin_begin(r, ans, "/", SPAN("Overview"));
    buf_puts(out, "<div class=\"head\"><h1>Overview</h1>");
    put_lost_note(out);
    buf_puts(out, "</div>\n");
    put_noscript(out);
    put_alerts(r, out);
    if (!t.agents && r->who.role >= ROLE_OPERATOR)
        buf_puts(out,
                 "<p class=\"notice\">There are no agents yet. <a href=\"/agents/new\">Add the first one</a>, then "
                 "<a href=\"/channels\">say what to crawl</a>.</p>\n");
    put_tiles(r, out);
    put_charts(out, "Last hour", charts, sizeof(charts) / sizeof(*charts));
    put_agents_here(r, out);
    put_errors(out, &(struct errors_shown){.counts = &t.said,
                                           .per_min = t.by_kind_per_min,
                                           .dropped = t.dropped,
                                           .damaged = in.damaged,
                                           .is_fleet = true});
    put_coordinator(r, out);
    admin_end(r, ans, scripts_charts);
}

/* ---- the list ---- */

static uint64_t value_of(struct ask *r, const struct listing *l, const struct c_agent *a)
{
    struct figures f;
    figures_of(r->a, a->number, &f);
    return span_is(l->sort, "rate")      ? (uint64_t)(f.pages_per_s * 1000)
           : span_is(l->sort, "errors")  ? f.said.errors
           : span_is(l->sort, "queue")   ? f.queue
           : span_is(l->sort, "spool")   ? f.spool_bytes
           : span_is(l->sort, "crawled") ? f.said.bytes_crawled
                                         : 0;
}

/* Keeps those that are looked for, in the order that is asked for; the order of names otherwise. coord.lock held. */
static size_t choose_agents(struct ask *r, const struct listing *l, struct c_agent **list, size_t n)
{
    struct ranked *ranked = arena_alloc(r->arena, (n + 1) * sizeof(*ranked));
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (listing_matches(l, span_str(list[i]->name), span_str(list[i]->place)) &&
            (!l->state.n || span_is(l->state, agent_shown_state(r->c, list[i])) ||
             (span_is(l->state, "here") && agent_presence_of(r->c, list[i]) == PRESENCE_THERE))) {
            ranked[kept] = (struct ranked){l->sort.n ? value_of(r, l, list[i]) : 0, kept, list[i]};
            kept++;
        }
    rank(ranked, kept);
    for (size_t i = 0; i < kept; i++)
        list[i] = ranked[i].item;
    return kept;
}

void page_agents(struct ask *r, struct httpd_answer *ans)
{
    static const char *const states[] = {"here", "away", "resting", "paused", "draining", "demoted", "invited"};
    struct buf *out = &ans->body;
    struct c_agent **list;
    struct listing l;
    listing_read(r, "/agents", &l);
    admin_begin(r, ans, "/agents", SPAN("Agents"));
    buf_puts(out, "<div class=\"head\"><h1>Agents</h1>");
    put_lost_note(out);
    if (r->who.role >= ROLE_OPERATOR)
        buf_puts(out, "<a class=\"button main\" href=\"/agents/new\">Add an agent</a>");
    buf_puts(out, "</div>\n");
    pthread_mutex_lock(&r->c->lock);
    size_t all = agents_sorted(r->c, r->arena, &list), n = choose_agents(r, &l, list, all);
    if (all > 5 || listing_is_filtered(&l))
        listing_form(r, out, &l, "agents", states, sizeof(states) / sizeof(*states), false);
    buf_puts(out, "<div data-live id=\"agents\">");
    listing_cut(&l, n);
    if (n) {
        put_agents_table(r, out, list, l.from, l.to, &l);
        listing_foot(out, &l, "agents");
    } else if (all)
        buf_puts(out, "<div class=\"empty\"><p>No agent is like that.</p></div>");
    else
        buf_puts(out, "<div class=\"empty\"><p>There are no agents yet. An agent is a crawler on some machine, near "
                      "the sites it crawls. It needs one line to join.</p></div>");
    pthread_mutex_unlock(&r->c->lock);
    buf_puts(out, "</div>\n");
    admin_end(r, ans, scripts_live);
}
