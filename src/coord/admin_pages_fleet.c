/* admin_pages_fleet.c - the dashboard's overview, the agents and the page of one. */
#include <stdio.h>

#include "coord/admin_pages.h"
#include "coord/ingest.h"
#include "io/clock.h"

static const char *const scripts_live[] = {"admin.js", NULL};
static const char *const scripts_charts[] = {"chart.min.js", "charts.js", "admin.js", NULL};

/* ---- overview ---- */

static void put_alerts(struct ask *r, struct buf *out)
{
    struct alert *list = arena_alloc(r->arena, ALERTS_MAX * sizeof(*list));
    size_t n = alerts_get(r->a, list, ALERTS_MAX);
    buf_puts(out, "<div data-live id=\"alerts\">");
    if (n) {
        buf_puts(out, "<ul class=\"alerts\" aria-label=\"Alerts\">");
        for (size_t i = 0; i < n; i++) {
            buf_puts(out, "<li>");
            if (list[i].agent[0]) {
                put_agent_link(out, list[i].agent);
                buf_putc(out, ' ');
            }
            html_text(out, span_str(list[i].text));
            buf_puts(out, ".</li>");
        }
        buf_puts(out, "</ul>");
    }
    buf_puts(out, "</div>\n");
}

static void put_number(struct buf *out, const char *name, uint64_t v, bool is_bytes)
{
    buf_printf(out, "<div><dt>%s</dt><dd>", name);
    if (is_bytes)
        html_bytes(out, v);
    else
        html_count(out, v);
    buf_puts(out, "</dd></div>");
}

static void put_rate(struct buf *out, const char *name, double v)
{
    buf_printf(out, "<div><dt>%s</dt><dd>%.1f</dd></div>", name, v);
}

static void put_numbers(struct ask *r, struct buf *out)
{
    struct figures_total t;
    struct ingest_stats in;
    figures_total_get(r->a, &t);
    ingest_get_stats(r->c->ingest, &in);
    buf_puts(out, "<div data-live id=\"numbers\"><dl class=\"numbers\">");
    buf_printf(out, "<div><dt>Agents here</dt><dd>%u of %u</dd></div>", t.there, t.joined);
    put_rate(out, "Pages a second", t.pages_per_s);
    put_rate(out, "Packages a minute", t.packages_per_min);
    put_number(out, "Waiting URLs", t.queue, false);
    put_number(out, "Pages crawled", t.pages, false);
    put_number(out, "Pages searchable", in.index_docs, false);
    put_number(out, "Crawled", t.bytes_crawled, true);
    put_number(out, "Sent by agents", t.bytes_sent, true);
    buf_puts(out, "<div><dt>Crawled for each byte sent</dt><dd>");
    if (t.bytes_sent)
        buf_printf(out, "%.1f", (double)t.bytes_crawled / (double)t.bytes_sent);
    else
        buf_puts(out, "\xe2\x80\x93");
    buf_puts(out, "</dd></div>");
    put_number(out, "Channels", t.channels, false);
    put_number(out, "Networks", t.networks, false);
    put_number(out, "Hosts", t.hosts, false);
    put_number(out, "Packages to take in", in.waiting, false);
    put_number(out, "Waiting at agents", t.spool_bytes, true);
    put_number(out, "Free on our disk", t.disk_free, true);
    buf_puts(out, "</dl></div>\n");
}

static void put_errors(struct ask *r, struct buf *out)
{
    struct figures_total t;
    struct ingest_stats in;
    figures_total_get(r->a, &t);
    ingest_get_stats(r->c->ingest, &in);
    const struct {
        const char *name;
        uint64_t n;
    } rows[] = {{"Requests of agents that failed", t.errors},
                {"Pages that are gone", t.gone},
                {"Visits outside an agent's tasks, dropped", t.dropped},
                {"Packages that were damaged", in.damaged}};
    buf_puts(out, "<section aria-labelledby=\"errors-h\"><h2 id=\"errors-h\">Errors by kind</h2><div data-live "
                  "id=\"errors\"><table><thead><tr><th scope=\"col\">Kind</th><th scope=\"col\" class=\"n\">Count</th>"
                  "</tr></thead><tbody>");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        buf_printf(out, "<tr><th scope=\"row\">%s</th><td class=\"n\">", rows[i].name);
        html_count(out, rows[i].n);
        buf_puts(out, "</td></tr>");
    }
    buf_puts(out, "</tbody></table></div></section>\n");
}

static void put_charts(struct buf *out)
{
    static const char *const charts[][2] = {{"rate", "Pages a second"},
                                            {"packages", "Packages a minute"},
                                            {"queue", "Waiting URLs"},
                                            {"bytes", "Bytes a second: crawled and sent"},
                                            {"errors", "Failed requests a minute"},
                                            {"there", "Agents here"}};
    buf_puts(out, "<section id=\"charts\" aria-labelledby=\"charts-h\" hidden><h2 id=\"charts-h\">Last hour</h2>"
                  "<div class=\"charts\">");
    for (size_t i = 0; i < sizeof(charts) / sizeof(*charts); i++)
        buf_printf(out,
                   "<figure><figcaption>%s</figcaption><div><canvas id=\"chart-%s\" role=\"img\" aria-label=\"Chart: "
                   "%s. The numbers are on this page too.\"></canvas></div></figure>",
                   charts[i][1], charts[i][0], charts[i][1]);
    buf_puts(out, "</div></section>\n");
}

static void put_noscript(struct buf *out)
{
    buf_puts(out, "<noscript><p class=\"notice\">This page shows how things stood when it was loaded. Load it again to "
                  "see them now.</p></noscript>\n");
}

void page_overview(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    struct figures_total t;
    figures_total_get(r->a, &t);
    admin_begin(r, ans, "/", SPAN("Overview"));
    buf_puts(out,
             "<div class=\"head\"><h1>Overview</h1><p id=\"lost\" class=\"lost-note\" role=\"status\"></p></div>\n");
    put_noscript(out);
    put_alerts(r, out);
    if (!t.agents && r->who.role >= ROLE_OPERATOR)
        buf_puts(out,
                 "<p class=\"notice\">There are no agents yet. <a href=\"/agents/new\">Add the first one</a>, then "
                 "<a href=\"/channels\">say what to crawl</a>.</p>\n");
    put_numbers(r, out);
    put_charts(out);
    put_errors(r, out);
    buf_puts(out, "<section aria-labelledby=\"id-h\"><h2 id=\"id-h\">This coordinator</h2><dl class=\"facts-list\">"
                  "<dt>Fingerprint</dt><dd><code>");
    pthread_mutex_lock(&r->c->lock);
    html_text(out, span_str(r->c->id.fingerprint_hex));
    pthread_mutex_unlock(&r->c->lock);
    buf_puts(out, "</code></dd><dt>Running for</dt><dd>");
    html_duration(out, (clock_mono() - r->c->started) / 1000);
    buf_puts(out, "</dd></dl>");
    if (r->who.role >= ROLE_ADMIN) {
        buf_puts(out, "<div class=\"actions\">");
        form_button(r, out, "/api/v1/identity/rotate", "Make a new key", "small",
                    "Agents learn the new key, signed by the old one. Lines to join with that were not used yet do not "
                    "work any more.");
        buf_puts(out, "</div>");
    }
    buf_puts(out, "</section>\n");
    admin_end(r, ans, scripts_charts);
}

/* ---- agents ---- */

static void put_state(struct ask *r, struct buf *out, const struct c_agent *a, const struct figures *f)
{
    struct span state = span_str(agent_shown_state(r->c, a));
    buf_puts(out, "<span class=\"state ");
    buf_put(out, span_is(state, "paused") ? SPAN("pause") : span_is(state, "draining") ? SPAN("drain") : state);
    buf_puts(out, "\">");
    buf_put(out, span_is(state, "there") ? SPAN("here") : state);
    buf_puts(out, "</span>");
    if (span_is(state, "there") && f->activity)
        buf_printf(out, "<span class=\"quietly\">%s</span>", activity_name(f->activity));
}

static void put_agent_row(struct ask *r, struct buf *out, const struct c_agent *a, wall_ms now)
{
    struct figures f;
    figures_of(r->a, a->number, &f);
    buf_puts(out, "<tr><th scope=\"row\">");
    put_agent_link(out, a->name);
    buf_puts(out, "</th><td data-name=\"State\">");
    put_state(r, out, a, &f);
    buf_puts(out, "</td><td data-name=\"Place\"><bdi>");
    html_text(out, span_str(a->place[0] ? a->place : "\xe2\x80\x93"));
    buf_puts(out, "</bdi></td><td data-name=\"Hours\">");
    html_text(out, span_str(a->hours_text[0] ? a->hours_text : "always"));
    buf_printf(out, "</td><td class=\"n\" data-name=\"Pages/s\">%.1f</td><td class=\"n\" data-name=\"Queue\">",
               f.pages_per_s);
    html_count(out, f.queue);
    buf_puts(out, "</td><td class=\"n\" data-name=\"Spool\">");
    html_bytes(out, f.spool_bytes);
    buf_puts(out, "</td><td class=\"n\" data-name=\"Crawled\">");
    html_bytes(out, f.bytes_crawled);
    buf_puts(out, "</td><td class=\"n\" data-name=\"Sent\">");
    html_bytes(out, f.bytes_sent);
    buf_puts(out, "</td><td class=\"n\" data-name=\"Last seen\">");
    put_ago(out, a->heard, now);
    buf_puts(out, "</td><td data-name=\"Version\">");
    html_text(out, span_str(f.version[0] ? f.version : "\xe2\x80\x93"));
    buf_puts(out, "</td></tr>\n");
}

void page_agents(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    struct c_agent **list;
    wall_ms now = clock_wall();
    admin_begin(r, ans, "/agents", SPAN("Agents"));
    buf_puts(out, "<div class=\"head\"><h1>Agents</h1>");
    if (r->who.role >= ROLE_OPERATOR)
        buf_puts(out, "<a class=\"button main\" href=\"/agents/new\">Add an agent</a>");
    buf_puts(out, "</div>\n<p id=\"lost\" class=\"lost-note\" role=\"status\"></p><div data-live id=\"agents\">");
    pthread_mutex_lock(&r->c->lock);
    size_t n = agents_sorted(r->c, r->arena, &list);
    if (n) {
        buf_puts(out,
                 "<div class=\"scroll\"><table class=\"cards\"><thead><tr><th scope=\"col\">Agent</th><th "
                 "scope=\"col\">State</th><th scope=\"col\">Place</th><th scope=\"col\">Hours</th><th scope=\"col\" "
                 "class=\"n\">Pages/s</th><th scope=\"col\" class=\"n\">Queue</th><th scope=\"col\" class=\"n\">Spool"
                 "</th><th scope=\"col\" class=\"n\">Crawled</th><th scope=\"col\" class=\"n\">Sent</th><th "
                 "scope=\"col\" class=\"n\">Last seen</th><th scope=\"col\">Version</th></tr></thead><tbody>\n");
        for (size_t i = 0; i < n && i < ADMIN_ROWS_MAX; i++)
            put_agent_row(r, out, list[i], now);
        buf_puts(out, "</tbody></table></div>");
        if (n > ADMIN_ROWS_MAX)
            buf_printf(out, "<p class=\"sub\">And %zu more: GET /api/v1/agents has them all.</p>", n - ADMIN_ROWS_MAX);
    } else
        buf_puts(out,
                 "<div class=\"empty\"><p>There are no agents yet. An agent is a crawler on some machine, near the "
                 "sites it crawls. It needs one line to join.</p></div>");
    pthread_mutex_unlock(&r->c->lock);
    buf_puts(out, "</div>\n");
    admin_end(r, ans, scripts_live);
}

/* ---- the form of an agent ---- */

static struct span bytes_text(struct arena *a, uint64_t n)
{
    char text[32];
    static const struct {
        uint64_t unit;
        const char *name;
    } units[] = {{1000000000000, "TB"}, {1000000000, "GB"}, {1000000, "MB"}, {1000, "kB"}};
    if (n == 0)
        return SPAN("");
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (n % units[i].unit == 0) {
            snprintf(text, sizeof(text), "%llu %s", (unsigned long long)(n / units[i].unit), units[i].name);
            return arena_copy(a, span_str(text));
        }
    snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
    return arena_copy(a, span_str(text));
}

static struct span degrees_text(struct arena *a, bool is_there, double v)
{
    char text[32];
    snprintf(text, sizeof(text), "%.5g", v);
    return is_there ? arena_copy(a, span_str(text)) : SPAN("");
}

/* Zones that people choose from; any name of the system's may be typed. */
static void put_zones(struct buf *out)
{
    static const char *const zones[] = {"UTC",
                                        "Africa/Cairo",
                                        "Africa/Johannesburg",
                                        "Africa/Lagos",
                                        "America/Chicago",
                                        "America/Denver",
                                        "America/Los_Angeles",
                                        "America/New_York",
                                        "America/Sao_Paulo",
                                        "Asia/Dubai",
                                        "Asia/Hong_Kong",
                                        "Asia/Kolkata",
                                        "Asia/Nicosia",
                                        "Asia/Seoul",
                                        "Asia/Shanghai",
                                        "Asia/Singapore",
                                        "Asia/Tokyo",
                                        "Australia/Sydney",
                                        "Europe/Athens",
                                        "Europe/Berlin",
                                        "Europe/London",
                                        "Europe/Madrid",
                                        "Europe/Paris",
                                        "Europe/Rome",
                                        "Pacific/Auckland"};
    buf_puts(out, "<datalist id=\"zones\">");
    for (size_t i = 0; i < sizeof(zones) / sizeof(*zones); i++)
        buf_printf(out, "<option value=\"%s\">", zones[i]);
    buf_puts(out, "</datalist>");
}

/* `a` is NULL for a new one. The zone is a field of its own: hours_text ends in it. */
static void put_agent_fields(struct ask *r, struct buf *out, const struct c_agent *a)
{
    struct arena *m = r->arena;
    static const struct agent_settings none;
    const struct agent_settings *s = a ? &a->settings : &none;
    struct span hours = a ? span_str(a->hours_text) : SPAN(""), zone = a ? span_str(a->hours.zone) : SPAN("");
    if (zone.n && span_ends(hours, zone))
        hours = span_trim(span_cut(hours, 0, hours.n - zone.n));
    buf_puts(out, "<fieldset><legend>When and where</legend><div class=\"grid\">");
    form_field(r, out,
               &(struct form_field){.name = "hours",
                                    .label = "Working hours",
                                    .value = hours,
                                    .more = " placeholder=\"always\" autocapitalize=\"none\"",
                                    .help = "Such as <code>mon-fri 20:00-06:00; sat,sun 00:00-24:00</code>. Nothing: "
                                            "always."});
    form_field(r, out,
               &(struct form_field){.name = "zone",
                                    .label = "Time zone of the hours",
                                    .value = zone,
                                    .more = " list=\"zones\" placeholder=\"UTC\" autocapitalize=\"none\"",
                                    .help = "Such as <code>Europe/Athens</code>."});
    form_field(r, out,
               &(struct form_field){.name = "place",
                                    .label = "Place",
                                    .value = a ? arena_copy(m, span_str(a->place)) : SPAN(""),
                                    .more = " maxlength=\"100\" placeholder=\"Nicosia, Cyprus\""});
    form_field(r, out,
               &(struct form_field){.name = "latitude",
                                    .label = "Latitude",
                                    .value = a ? degrees_text(m, a->has_place, a->latitude) : SPAN(""),
                                    .more = " inputmode=\"decimal\" placeholder=\"35.17\""});
    form_field(r, out,
               &(struct form_field){.name = "longitude",
                                    .label = "Longitude",
                                    .value = a ? degrees_text(m, a->has_place, a->longitude) : SPAN(""),
                                    .more = " inputmode=\"decimal\" placeholder=\"33.36\""});
    put_zones(out);
    buf_puts(out, "</div></fieldset><fieldset><legend>How much</legend><div class=\"grid\">");
    form_field(r, out,
               &(struct form_field){.name = "bytes_a_day",
                                    .label = "Capacity, bytes a day",
                                    .value = bytes_text(m, s->bytes_a_day),
                                    .more = " placeholder=\"no limit\"",
                                    .help = "Such as <code>10 GB</code>."});
    form_field(r, out,
               &(struct form_field){.name = "bytes_per_s",
                                    .label = "Bandwidth, bytes a second",
                                    .value = bytes_text(m, s->bytes_per_s),
                                    .more = " placeholder=\"no limit\"",
                                    .help = "Such as <code>2 MB</code>."});
    form_field(r, out,
               &(struct form_field){.name = "memory",
                                    .label = "Memory",
                                    .value = bytes_text(m, s->memory_bytes),
                                    .more = " placeholder=\"as the agent thinks fit\""});
    form_field(r, out,
               &(struct form_field){.name = "disk",
                                    .label = "Disk",
                                    .value = bytes_text(m, s->disk_bytes),
                                    .more = " placeholder=\"as the agent thinks fit\""});
    char tasks[16] = "";
    if (s->tasks_max)
        snprintf(tasks, sizeof(tasks), "%u", s->tasks_max);
    form_field(r, out,
               &(struct form_field){.name = "tasks",
                                    .label = "Tasks at a time",
                                    .value = arena_copy(m, span_str(tasks)),
                                    .more = " inputmode=\"numeric\" placeholder=\"as the agent thinks fit\""});
    form_check(r, out, "idle_only", "Only while nobody uses the machine", s->idle_only);
    buf_puts(out, "</div><p class=\"help\">Limits that its owner set on the agent's own machine win when they are "
                  "lower.</p></fieldset>");
}

void page_agent_new(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    admin_begin(r, ans, "/agents", SPAN("Add an agent"));
    buf_puts(out,
             "<div class=\"head\"><div><h1>Add an agent</h1><p class=\"sub\">Afterwards you get one line to run on "
             "its machine.</p></div></div>\n");
    form_begin(r, out, "/api/v1/agents", "wide-form");
    buf_puts(out, "<fieldset><legend>Agent</legend><div class=\"grid\">");
    form_field(r, out,
               &(struct form_field){.name = "name",
                                    .label = "Name",
                                    .is_required = true,
                                    .more = " maxlength=\"64\" pattern=\"[A-Za-z0-9._\\-]+\" autocapitalize=\"none\" "
                                            "autofocus placeholder=\"nicosia-1\"",
                                    .help = "Letters, digits and . _ - ; it stays as long as the agent."});
    buf_puts(out, "</div></fieldset>");
    put_agent_fields(r, out, NULL);
    buf_puts(out, "<button class=\"button main\">Add the agent</button> <a class=\"button\" href=\"/agents\">Cancel</a>"
                  "</form>\n");
    admin_end(r, ans, NULL);
}

/* ---- one agent ---- */

static void put_line_box(struct ask *r, struct buf *out, const struct c_agent *a)
{
    struct buf line = {0};
    session_line_get(r->a, &r->who, a->number, &line);
    if (line.n && !a->is_token_used && clock_wall() < a->token_until) {
        buf_puts(out, "<div class=\"joinbox\"><p><strong>Run this on the agent's machine:</strong></p><div "
                      "class=\"copy\"><pre><code id=\"join-line\">orb-agent --join ");
        html_text(out, buf_span(&line));
        buf_puts(out,
                 "</code></pre><button class=\"button\" type=\"button\" data-copy=\"join-line\" hidden>Copy</button>"
                 "</div><p role=\"status\" id=\"copied\">It works once, for the next ");
        html_duration(out, (a->token_until - clock_wall()) / 1000);
        buf_puts(out,
                 ", and for this agent only. Whoever has it can join in its place: send it like a password.</p></div>"
                 "\n");
    } else if (!a->is_joined)
        buf_puts(out, "<p class=\"notice\">It has not joined yet. A new line to join with can be made below.</p>\n");
    sign_wipe(line.p, line.n);
    buf_done(&line);
}

static void fact(struct buf *out, const char *name)
{
    buf_printf(out, "<dt>%s</dt><dd>", name);
}

static void fact_bytes(struct buf *out, const char *name, uint64_t v, const char *none)
{
    fact(out, name);
    if (v)
        html_bytes(out, v);
    else
        buf_puts(out, none);
    buf_puts(out, "</dd>");
}

static void put_agent_facts(struct ask *r, struct buf *out, const struct c_agent *a, const struct figures *f)
{
    wall_ms now = clock_wall();
    buf_puts(out, "<section aria-labelledby=\"now-h\"><h2 id=\"now-h\">Now</h2><dl class=\"facts-list\">");
    fact(out, "Last seen");
    put_ago(out, a->heard, now);
    fact(out, "Version");
    html_text(out, span_str(f->version[0] ? f->version : "\xe2\x80\x93"));
    fact(out, "Pages a second");
    buf_printf(out, "%.1f", f->pages_per_s);
    fact(out, "Pages");
    html_count(out, f->pages);
    fact(out, "Errors");
    html_count(out, f->errors);
    if (f->error_share >= 0)
        buf_printf(out, " (%.0f %% of the last requests)", f->error_share * 100);
    fact(out, "Queue");
    html_count(out, f->queue);
    buf_puts(out, " URLs</dd>");
    fact_bytes(out, "Crawled", f->bytes_crawled, "nothing");
    fact_bytes(out, "Sent", f->bytes_sent, "nothing");
    fact(out, "Spool");
    html_count(out, f->spool_packages);
    buf_puts(out, " packages, ");
    html_bytes(out, f->spool_bytes);
    fact(out, "Taken in");
    html_count(out, a->packages);
    buf_puts(out, " packages, ");
    html_count(out, a->visits);
    buf_puts(out, " visits</dd>");
    fact_bytes(out, "Free disk", f->disk_free, "\xe2\x80\x93");
    fact_bytes(out, "Memory used", f->memory, "\xe2\x80\x93");
    fact(out, "Orders");
    if (a->orders_done < a->orders_given)
        buf_printf(out, "%llu to be carried out", (unsigned long long)(a->orders_given - a->orders_done));
    else
        buf_puts(out, "all carried out");
    fact(out, "Trust");
    if (a->is_demoted)
        buf_puts(out, "none: what it said could not be confirmed");
    else if (a->probation_left)
        buf_printf(out, "on probation for %llu more pages", (unsigned long long)a->probation_left);
    else
        buf_puts(out, "full");
    buf_printf(out, " (%llu checks right, %llu wrong)</dd></dl></section>\n", (unsigned long long)a->checks_good,
               (unsigned long long)a->checks_bad);
}

static void put_setup_facts(struct ask *r, struct buf *out, const struct c_agent *a)
{
    struct report rep;
    buf_puts(out, "<section aria-labelledby=\"setup-h\"><h2 id=\"setup-h\">Its machine</h2>");
    if (!a->setup.n || report_unpack(r->arena, buf_span(&a->setup), &rep) != ST_OK || !rep.has_setup) {
        buf_puts(out, "<p class=\"sub\">It has not said yet.</p></section>\n");
        return;
    }
    const struct agent_setup *s = &rep.setup;
    buf_puts(out, "<dl class=\"facts-list\">");
    fact(out, "Cores");
    buf_printf(out, "%u</dd>", s->cores);
    fact_bytes(out, "Memory", s->memory_bytes, "\xe2\x80\x93");
    fact_bytes(out, "Disk", s->disk_bytes, "\xe2\x80\x93");
    fact_bytes(out, "Bandwidth to us, a second", s->bandwidth_bytes_per_s, "not measured yet");
    const struct {
        const char *name;
        struct span v;
    } texts[] = {{"System", s->system},
                 {"Machine", s->machine},
                 {"Address", s->address},
                 {"Its time zone", s->zone},
                 {"Place, as its owner says", s->place}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (!texts[i].v.n)
            continue;
        fact(out, texts[i].name);
        buf_puts(out, "<bdi>");
        html_text(out, span_cut(texts[i].v, 0, 200));
        buf_puts(out, "</bdi></dd>");
    }
    if (s->own_site_count) {
        fact(out, "Its owner's sites");
        for (size_t i = 0; i < s->own_site_count && i < 20; i++) {
            buf_puts(out, i ? "<br><bdi>" : "<bdi>");
            html_text(out, span_cut(s->own_sites[i], 0, 200));
            buf_puts(out, "</bdi>");
        }
        buf_puts(out, "</dd>");
    }
    buf_puts(out, "</dl></section>\n");
}

static void put_agent_tasks(struct ask *r, struct buf *out, const struct c_agent *a)
{
    size_t shown = 0, more = 0;
    buf_puts(out, "<section aria-labelledby=\"tasks-h\"><h2 id=\"tasks-h\">Tasks</h2>");
    for (size_t i = 0; i < r->c->task_count; i++) {
        const struct c_task *t = r->c->tasks[i];
        if (!t || t->agent != a->number || t->is_ended)
            continue;
        if (shown >= ADMIN_ROWS_MAX) {
            more++;
            continue;
        }
        if (shown++ == 0)
            buf_puts(out, "<div class=\"scroll\"><table class=\"cards\"><thead><tr><th scope=\"col\">Channel</th><th "
                          "scope=\"col\">State</th><th scope=\"col\" class=\"n\">Networks</th><th scope=\"col\" "
                          "class=\"n\">Queued</th><th scope=\"col\" class=\"n\">Pages</th><th scope=\"col\" "
                          "class=\"n\">Errors</th></tr></thead><tbody>");
        const char *state = task_state_name(t->progress.state);
        buf_printf(out, "<tr><th scope=\"row\"><a href=\"/channels/%016llx\"><bdi>",
                   (unsigned long long)t->channel->id);
        html_text(out, span_str(t->channel->label));
        buf_printf(out,
                   "</bdi></a></th><td data-name=\"State\"><span class=\"state %s\">%s</span></td><td class=\"n\" "
                   "data-name=\"Networks\">%zu</td><td class=\"n\" data-name=\"Queued\">",
                   state, state, t->network_count);
        html_count(out, t->progress.queued);
        buf_puts(out, "</td><td class=\"n\" data-name=\"Pages\">");
        html_count(out, t->progress.fetched);
        buf_puts(out, "</td><td class=\"n\" data-name=\"Errors\">");
        html_count(out, t->progress.errors);
        buf_puts(out, "</td></tr>");
    }
    buf_puts(out, shown ? "</tbody></table></div>" : "<p class=\"sub\">It has none.</p>");
    if (more)
        buf_printf(out, "<p class=\"sub\">And %zu more.</p>", more);
    struct c_network **list;
    size_t n = networks_sorted(r->c, r->arena, a->number, &list);
    buf_printf(out, "<p class=\"sub\">%zu %s", n, n == 1 ? "network" : "networks");
    for (size_t i = 0; i < n && i < 20; i++)
        buf_printf(out, "%s%s", i ? ", " : ": ", list[i]->text);
    buf_puts(out, n > 20 ? ", \xe2\x80\xa6" : "");
    if (n) {
        buf_puts(out, " (<a href=\"/networks?agent=");
        html_query_value(out, span_str(a->name));
        buf_puts(out, "\">all with their hosts</a>)");
    }
    buf_puts(out, "</p></section>\n");
}

/* What only the newest report has: programs, and what its owner's rules refused. */
static void put_agent_report(struct ask *r, struct buf *out, const struct c_agent *a)
{
    struct report rep;
    if (!a->report.n || report_unpack(r->arena, buf_span(&a->report), &rep) != ST_OK)
        return;
    if (rep.program_count) {
        buf_puts(out,
                 "<section aria-labelledby=\"prog-h\"><h2 id=\"prog-h\">Programs</h2><div class=\"scroll\"><table "
                 "class=\"cards\"><thead><tr><th scope=\"col\">Program</th><th scope=\"col\" class=\"n\">Serial</th>"
                 "<th scope=\"col\" class=\"n\">Pages</th><th scope=\"col\" class=\"n\">Errors</th><th "
                 "scope=\"col\">Last error</th></tr></thead><tbody>");
        for (size_t i = 0; i < rep.program_count && i < 100; i++) {
            const struct program_report *p = &rep.programs[i];
            buf_puts(out, "<tr><th scope=\"row\"><bdi>");
            html_text(out, span_cut(p->name, 0, 64));
            buf_printf(
                out, "</bdi></th><td class=\"n\" data-name=\"Serial\">%llu%s</td><td class=\"n\" data-name=\"Pages\">",
                (unsigned long long)p->serial, p->is_fallback ? " (fallback)" : "");
            html_count(out, p->pages);
            buf_puts(out, "</td><td class=\"n\" data-name=\"Errors\">");
            html_count(out, p->errors);
            buf_puts(out, "</td><td class=\"wide\" data-name=\"Last error\"><bdi>");
            html_text(out, span_cut(p->last_error, 0, 300));
            buf_puts(out, "</bdi></td></tr>");
        }
        buf_puts(out, "</tbody></table></div></section>\n");
    }
    if (rep.refused_count) {
        buf_puts(out, "<section aria-labelledby=\"no-h\"><h2 id=\"no-h\">Refused by its owner's rules</h2><ul>");
        for (size_t i = 0; i < rep.refused_count && i < 50; i++) {
            buf_puts(out, "<li><bdi>");
            html_text(out, span_cut(rep.refused[i], 0, 300));
            buf_puts(out, "</bdi></li>");
        }
        buf_puts(out, "</ul></section>\n");
    }
}

static void put_agent_actions(struct ask *r, struct buf *out, const struct c_agent *a)
{
    char action[160];
#define ACTION(verb, text, class_name, confirm)                                  \
    do {                                                                         \
        snprintf(action, sizeof(action), "/api/v1/agents/%s/%s", a->name, verb); \
        form_button(r, out, action, text, class_name, confirm);                  \
    } while (0)
    buf_puts(out, "<section aria-labelledby=\"do-h\"><h2 id=\"do-h\">Actions</h2><div class=\"actions\">");
    if (a->settings.state != AGENT_RUN)
        ACTION("resume", "Resume", "", NULL);
    if (a->settings.state != AGENT_PAUSE)
        ACTION("pause", "Pause", "", NULL);
    if (a->settings.state != AGENT_DRAIN)
        ACTION("drain", "Drain", "", "It finishes nothing more; its networks go to other agents, with their pages.");
    if (a->is_demoted)
        ACTION("trust", "Trust again", "", "It gets work again, and its pages are checked from the start.");
    ACTION("invite", a->is_joined ? "New line to join" : "Make a new line", "",
           a->is_joined ? "For a machine that lost its key. The agent that joins with it takes this one's place."
                        : NULL);
    if (a->is_joined) {
        ACTION("rekey", "New key", "", "The agent makes a new key for itself with its next call.");
        ACTION("kill", "End it", "danger",
               "It sends what it has and ends. It has to be started again on its own machine.");
    }
    ACTION("remove", "Remove", "danger",
           "Its key is worth nothing from then on, and its networks go to others. This cannot be undone.");
    buf_puts(out, "</div></section>\n");
#undef ACTION
}

/* coord.lock held. */
static void put_agent_page(struct ask *r, struct httpd_answer *ans, const struct c_agent *a)
{
    struct buf *out = &ans->body;
    struct figures f;
    char action[128];
    figures_of(r->a, a->number, &f);
    buf_puts(out, "<div class=\"head\"><div><h1><bdi>");
    html_text(out, span_str(a->name));
    buf_puts(out, "</bdi></h1><div data-live id=\"agent-state\" class=\"sub\">");
    put_state(r, out, a, &f);
    if (a->place[0]) {
        buf_puts(out, " \xc2\xb7 <bdi>");
        html_text(out, span_str(a->place));
        buf_puts(out, "</bdi>");
    }
    buf_puts(out, " \xc2\xb7 ");
    html_text(out, span_str(a->hours_text[0] ? a->hours_text : "always working"));
    buf_puts(out, "</div></div><p id=\"lost\" class=\"lost-note\" role=\"status\"></p></div>\n");
    put_line_box(r, out, a);
    buf_puts(out, "<div data-live id=\"agent-facts\"><div class=\"panels\">");
    put_agent_facts(r, out, a, &f);
    put_setup_facts(r, out, a);
    buf_puts(out, "</div>");
    put_agent_tasks(r, out, a);
    put_agent_report(r, out, a);
    buf_puts(out, "</div>\n");
    if (r->who.role < ROLE_OPERATOR)
        return;
    put_agent_actions(r, out, a);
    buf_printf(out, "<h2>Hours and limits</h2><details class=\"more\"%s><summary>Change them</summary>",
               r->error.n ? " open" : "");
    snprintf(action, sizeof(action), "/api/v1/agents/%s/change", a->name);
    form_begin(r, out, action, "wide-form");
    put_agent_fields(r, out, a);
    buf_puts(out, "<button class=\"button main\">Change</button></form></details>\n");
}

void page_agent(struct ask *r, struct httpd_answer *ans)
{
    char title[JOIN_NAME_MAX + 1] = "";
    pthread_mutex_lock(&r->c->lock);
    const struct c_agent *a = r->args[0].n ? agent_by_name(r->c, r->args[0]) : NULL;
    if (a) {
        memcpy(title, a->name, sizeof(title));
        admin_begin(r, ans, "/agents", span_str(title));
        put_agent_page(r, ans, a);
    }
    pthread_mutex_unlock(&r->c->lock);
    if (a)
        admin_end(r, ans, scripts_live);
    else
        admin_message(r, ans, 404, "There is no such agent", SPAN("Perhaps it was removed. The list has all of them."));
}
