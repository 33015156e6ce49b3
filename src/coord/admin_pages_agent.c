/* admin_pages_agent.c - the page of one agent: how it is, what it does, what it may, what can be done with it. */
#include <stdio.h>

#include "coord/admin_pages.h"
#include "coord/agents.h"
#include "io/clock.h"

/* ---- how it is ---- */

/* Why it does not work, and what happens next. Nothing when all is well. */
static void put_note(struct ask *r, struct buf *out, const struct c_agent *a, const struct figures *f)
{
    const char *state = agent_shown_state(r->c, a);
    buf_puts(out, "<div data-live id=\"agent-note\">");
    if (strcmp(state, "away") == 0) {
        buf_puts(out, "<p class=\"notice bad\">It has not been heard ");
        if (a->heard) {
            buf_puts(out, "for ");
            html_duration(out, (clock_wall() - a->heard) / 1000);
        } else
            buf_puts(out, "since the coordinator started");
        buf_puts(out, ", in its working hours. Its networks go to other agents when that has lasted ");
        html_duration(out, (r->c->o.move_after_ms ? r->c->o.move_after_ms : COORD_MOVE_AFTER_MS) / 1000);
        buf_puts(out, ".</p>");
    } else if (strcmp(state, "resting") == 0)
        buf_puts(out, "<p class=\"notice\">It is outside its working hours: its orders wait until it calls again.</p>");
    else if (strcmp(state, "demoted") == 0)
        buf_printf(
            out,
            "<p class=\"notice bad\">What it said could not be confirmed by others (%llu times). It gets no work, "
            "and its networks go to others.</p>",
            (unsigned long long)a->checks_bad);
    else if (strcmp(state, "paused") == 0)
        buf_puts(out, "<p class=\"notice warn\">It is paused: it keeps its networks and crawls nothing until it is "
                      "resumed.</p>");
    else if (strcmp(state, "draining") == 0)
        buf_puts(out, "<p class=\"notice warn\">It is being drained: its networks go to other agents.</p>");
    else if (f->error_share > ALERT_ERROR_SHARE)
        buf_printf(out,
                   "<p class=\"notice bad\">%.0f %% of its last requests ended in an error: see the kinds below.</p>",
                   f->error_share * 100);
    buf_puts(out, "</div>\n");
}

static void tile(struct buf *out, const char *name)
{
    buf_printf(out, "<div><dt>%s</dt><dd>", name);
}

static void put_tiles(struct buf *out, const struct c_agent *a, const struct figures *f)
{
    wall_ms now = clock_wall();
    buf_puts(out, "<div data-live id=\"agent-numbers\"><dl class=\"numbers big\">");
    tile(out, "Last seen");
    put_ago(out, a->heard, now);
    buf_puts(out, "</dd><dd class=\"quietly\">version ");
    html_text(out, span_str(f->version[0] ? f->version : DASH));
    buf_puts(out, "</dd></div>");
    tile(out, "Pages a second");
    put_rate(out, f->pages_per_s);
    buf_puts(out, "</dd><dd class=\"quietly\">");
    html_count(out, f->said.pages);
    buf_puts(out, " crawled</dd></div>");
    tile(out, "Errors a minute");
    put_rate(out, f->errors_per_min);
    buf_puts(out, "</dd><dd class=\"quietly\">");
    html_count(out, f->said.errors);
    buf_puts(out, " in all");
    if (f->error_share >= 0)
        buf_printf(out, DOT "%.0f %% lately", f->error_share * 100);
    buf_puts(out, "</dd></div>");
    tile(out, "Waiting URLs");
    html_count(out, f->queue);
    buf_puts(out, "</dd><dd class=\"quietly\">");
    html_count(out, f->hosts_waiting);
    buf_printf(out, " host%s in back-off</dd></div>", f->hosts_waiting == 1 ? "" : "s");
    tile(out, "Spool");
    html_bytes(out, f->spool_bytes);
    buf_puts(out, "</dd><dd class=\"quietly\">");
    html_count(out, f->spool_packages);
    buf_printf(out, " package%s to send</dd></div>", f->spool_packages == 1 ? "" : "s");
    tile(out, "Sent");
    html_bytes(out, f->said.bytes_sent);
    buf_puts(out, "</dd><dd class=\"quietly\">");
    put_ratio(out, f->said.bytes_crawled, f->said.bytes_sent);
    buf_puts(out, " of ");
    html_bytes(out, f->said.bytes_crawled);
    buf_puts(out, " crawled</dd></div>");
    tile(out, "Taken in");
    html_count(out, a->packages);
    buf_printf(out, " <small>package%s</small></dd><dd class=\"quietly\">", a->packages == 1 ? "" : "s");
    html_count(out, a->visits);
    buf_puts(out, " visits</dd></div>");
    tile(out, "Orders");
    html_count(out, a->orders_given - a->orders_done);
    buf_puts(out, " <small>open</small></dd><dd class=\"quietly\">");
    html_count(out, a->orders_done);
    buf_puts(out, " carried out</dd></div></dl></div>\n");
}

static void put_trust(struct buf *out, const struct c_agent *a)
{
    fact(out, "Trust");
    if (a->is_demoted)
        buf_puts(out, "none");
    else if (a->probation_left) {
        buf_puts(out, "on probation for ");
        html_count(out, a->probation_left);
        buf_puts(out, " more pages");
    } else
        buf_puts(out, "full");
    buf_printf(out, "<span class=\"quietly\">%llu checks right, %llu wrong, %llu visits dropped</span>",
               (unsigned long long)a->checks_good, (unsigned long long)a->checks_bad, (unsigned long long)a->dropped);
    fact_end(out);
}

/* What it may, as the coordinator says; its owner may allow less. */
static void put_limits(struct buf *out, const struct c_agent *a)
{
    const struct agent_settings *s = &a->settings;
    buf_puts(out, "<section aria-labelledby=\"may-h\"><h2 id=\"may-h\">Hours and limits</h2><dl class=\"facts-list\">");
    fact(out, "Working hours");
    html_text(out, span_str(a->hours_text[0] ? a->hours_text : "always"));
    if (a->hours_text[0])
        buf_printf(out, "<span class=\"quietly\">%s now</span>",
                   agent_is_in_hours(a, clock_wall()) ? "inside them" : "outside them");
    fact_end(out);
    fact_bytes(out, "Capacity a day", s->bytes_a_day, "no limit");
    fact_bytes(out, "Bandwidth a second", s->bytes_per_s, "no limit");
    fact_bytes(out, "Memory", s->memory_bytes, "as the agent thinks fit");
    fact_bytes(out, "Disk", s->disk_bytes, "as the agent thinks fit");
    fact(out, "Tasks at a time");
    if (s->tasks_max)
        html_count(out, s->tasks_max);
    else
        buf_puts(out, "as the agent thinks fit");
    fact_end(out);
    fact(out, "When others use the machine");
    buf_puts(out, s->idle_only ? "it stops" : "it works on");
    fact_end(out);
    put_trust(out, a);
    buf_puts(out, "</dl></section>\n");
}

static void fact_text(struct buf *out, const char *name, struct span v)
{
    if (!v.n)
        return;
    fact(out, name);
    buf_puts(out, "<bdi>");
    html_text(out, span_cut(v, 0, 200));
    buf_puts(out, "</bdi>");
    fact_end(out);
}

static void put_machine(struct ask *r, struct buf *out, const struct c_agent *a, const struct figures *f)
{
    struct report rep;
    buf_puts(out, "<section aria-labelledby=\"setup-h\"><h2 id=\"setup-h\">Its machine</h2>");
    if (!a->setup.n || report_unpack(r->arena, buf_span(&a->setup), &rep) != ST_OK || !rep.has_setup) {
        buf_puts(out, "<p class=\"sub\">It has not said yet.</p></section>\n");
        return;
    }
    const struct agent_setup *s = &rep.setup;
    buf_puts(out, "<dl class=\"facts-list\">");
    fact_text(out, "System", s->system);
    fact_text(out, "Machine", s->machine);
    fact(out, "Cores");
    buf_printf(out, "%u", s->cores);
    fact_end(out);
    fact(out, "Memory");
    html_bytes(out, s->memory_bytes);
    buf_puts(out, "<span class=\"quietly\">the agent uses ");
    html_bytes(out, f->memory);
    buf_puts(out, "</span>");
    fact_end(out);
    fact(out, "Free disk");
    html_bytes(out, f->disk_free);
    if (s->disk_bytes) {
        buf_puts(out, " of ");
        html_bytes(out, s->disk_bytes);
    }
    fact_end(out);
    fact_bytes(out, "Bandwidth to us, a second", s->bandwidth_bytes_per_s, "not measured yet");
    fact_text(out, "Address", s->address);
    fact_text(out, "Its time zone", s->zone);
    fact_text(out, "Place, as its owner says", s->place);
    fact(out, "Running for");
    html_duration(out, f->uptime_ms / 1000);
    fact_end(out);
    if (s->own_site_count) {
        fact(out, "Its owner's sites");
        for (size_t i = 0; i < s->own_site_count && i < 20; i++) {
            buf_puts(out, i ? "<br><bdi>" : "<bdi>");
            html_text(out, span_cut(s->own_sites[i], 0, 200));
            buf_puts(out, "</bdi>");
        }
        fact_end(out);
    }
    buf_puts(out, "</dl></section>\n");
}

/* ---- what it does ---- */

static void put_networks_line(struct ask *r, struct buf *out, const struct c_agent *a)
{
    struct c_network **list;
    size_t n = networks_sorted(r->c, r->arena, a->number, &list);
    buf_printf(out, "<p class=\"sub below\">%zu %s", n, n == 1 ? "network" : "networks");
    for (size_t i = 0; i < n && i < 20; i++)
        buf_printf(out, "%s%s", i ? ", " : ": ", list[i]->text);
    buf_puts(out, n > 20 ? ", \xe2\x80\xa6" : "");
    if (n) {
        buf_puts(out, " (<a href=\"/networks?agent=");
        html_query_value(out, span_str(a->name));
        buf_puts(out, "\">all with their hosts</a>)");
    }
    buf_puts(out, "</p>");
}

static void put_task_row(struct table_out *t, const struct c_task *k)
{
    struct buf *out = t->out;
    char id[20];
    snprintf(id, sizeof(id), "%016llx", (unsigned long long)k->channel->id);
    row_begin(t, span_str(id));
    buf_printf(out, "<a href=\"/channels/%s\"><bdi>", id);
    html_text(out, span_str(k->channel->label[0] ? k->channel->label : "no label"));
    buf_puts(out, "</bdi></a>");
    cell(t);
    put_state(out, task_state_name(k->progress.state));
    const uint64_t numbers[] = {k->network_count, k->progress.fetched, k->progress.queued, k->progress.errors,
                                k->progress.gone};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        cell(t);
        html_count(out, numbers[i]);
    }
    cell(t);
    html_bytes(out, k->progress.bytes);
    row_end(t);
}

static void put_tasks(struct ask *r, struct buf *out, const struct c_agent *a)
{
    static const struct column cols[] = {{.name = "Channel"},
                                         {.name = "State"},
                                         {.name = "Networks", .is_number = true},
                                         {.name = "Pages", .is_number = true},
                                         {.name = "Queued", .is_number = true},
                                         {.name = "Errors", .is_number = true},
                                         {.name = "Gone", .is_number = true},
                                         {.name = "Crawled", .is_number = true}};
    struct table_out t = {0};
    size_t shown = 0, more = 0;
    buf_puts(out, "<section aria-labelledby=\"tasks-h\"><h2 id=\"tasks-h\">Tasks</h2>");
    for (size_t i = 0; i < r->c->task_count; i++) {
        const struct c_task *k = r->c->tasks[i];
        if (!k || k->agent != a->number || k->is_ended)
            continue;
        if (shown >= LISTING_ROWS) {
            more++;
            continue;
        }
        if (shown++ == 0)
            table_begin(&t, out, "Tasks", cols, sizeof(cols) / sizeof(*cols), NULL);
        put_task_row(&t, k);
    }
    if (shown)
        table_end(&t);
    else
        buf_puts(out,
                 "<div class=\"empty\"><p>It has no tasks. It gets some when a network is assigned to it.</p></div>");
    if (more) {
        buf_printf(out, "<p class=\"foot\"><a href=\"/channels?agent=");
        html_query_value(out, span_str(a->name));
        buf_printf(out, "\">And %zu more</a></p>", more);
    }
    put_networks_line(r, out, a);
    buf_puts(out, "</section>\n");
}

static void put_programs(struct buf *out, const struct report *rep)
{
    static const struct column cols[] = {{.name = "Program"},
                                         {.name = "Serial", .is_number = true},
                                         {.name = "Pages", .is_number = true},
                                         {.name = "Errors", .is_number = true},
                                         {.name = "Last error", .is_wide = true}};
    struct table_out t;
    buf_puts(out, "<section aria-labelledby=\"prog-h\"><h2 id=\"prog-h\">Programs</h2>");
    table_begin(&t, out, "Programs", cols, sizeof(cols) / sizeof(*cols), NULL);
    for (size_t i = 0; i < rep->program_count && i < LISTING_ROWS; i++) {
        const struct program_report *p = &rep->programs[i];
        row_begin(&t, span_cut(p->name, 0, 64));
        buf_puts(out, "<bdi>");
        html_text(out, span_cut(p->name, 0, 64));
        buf_puts(out, "</bdi>");
        cell(&t);
        buf_printf(out, "%llu", (unsigned long long)p->serial);
        if (p->is_fallback)
            buf_puts(out, "<span class=\"quietly\">the newest one failed</span>");
        cell(&t);
        html_count(out, p->pages);
        cell(&t);
        html_count(out, p->errors);
        cell(&t);
        buf_puts(out, "<bdi>");
        html_text(out, p->last_error.n ? span_cut(p->last_error, 0, 300) : SPAN(DASH));
        buf_puts(out, "</bdi>");
        row_end(&t);
    }
    table_end(&t);
    buf_puts(out, "</section>\n");
}

/* Programs, from the newest report, and what its owner's rules refused. */
static void put_report(struct ask *r, struct buf *out, const struct c_agent *a)
{
    struct report rep;
    if (a->report.n && report_unpack(r->arena, buf_span(&a->report), &rep) == ST_OK && rep.program_count)
        put_programs(out, &rep);
    if (a->refusal_count) {
        buf_puts(out, "<section aria-labelledby=\"no-h\"><h2 id=\"no-h\">Refused by its owner's rules</h2><ul "
                      "class=\"plain-list\">");
        for (size_t i = a->refusal_count; i-- > 0;) {
            buf_puts(out, "<li><bdi>");
            html_text(out, span_str(a->refusals[i].text));
            buf_puts(out, "</bdi></li>");
        }
        buf_puts(out, "</ul></section>\n");
    }
}

/* ---- what can be done ---- */

static void put_action(struct ask *r, struct buf *out, const struct c_agent *a, const char *verb, const char *text,
                       const char *class_name, const char *confirm)
{
    char action[160];
    snprintf(action, sizeof(action), "/api/v1/agents/%s/%s", a->name, verb);
    form_button(r, out, action, text, class_name, confirm);
}

static void put_actions(struct ask *r, struct buf *out, const struct c_agent *a)
{
    buf_puts(out, "<section aria-labelledby=\"do-h\"><h2 id=\"do-h\">Actions</h2><div class=\"actions\">");
    if (!a->is_joined) {
        put_action(r, out, a, "invite", "Make a new line", "main", NULL);
        buf_puts(out, "</div></section>\n");
        return;
    }
    if (a->settings.state != AGENT_RUN)
        put_action(r, out, a, "resume", "Resume", "main", NULL);
    if (a->settings.state != AGENT_PAUSE)
        put_action(r, out, a, "pause", "Pause", "", NULL);
    if (a->settings.state != AGENT_DRAIN)
        put_action(r, out, a, "drain", "Drain", "",
                   "It finishes nothing more; its networks go to other agents, with their pages.");
    if (a->is_demoted)
        put_action(r, out, a, "trust", "Trust again", "",
                   "It gets work again, and its pages are checked from the start.");
    put_action(r, out, a, "invite", "New line to join", "",
               "For a machine that lost its key. The agent that joins with it takes this one's place.");
    put_action(r, out, a, "rekey", "New key", "", "The agent makes a new key for itself with its next call.");
    buf_puts(out, "</div></section>\n");
}

static void put_limits_form(struct ask *r, struct buf *out, const struct c_agent *a)
{
    char action[128];
    snprintf(action, sizeof(action), "/api/v1/agents/%s/change", a->name);
    buf_printf(out, "<details class=\"more\"%s><summary>Change hours, place and limits</summary>",
               form_was_sent(r, action) ? " open" : "");
    form_begin(r, out, action, "wide-form");
    put_agent_fields(r, out, a);
    buf_puts(out, "<button class=\"button main\">Change</button></form></details>\n");
}

/* Apart from everything else, each with what it means. */
static void put_danger(struct ask *r, struct buf *out, const struct c_agent *a)
{
    buf_puts(out, "<section class=\"danger-zone\" aria-labelledby=\"danger-h\"><h2 id=\"danger-h\">End or remove</h2>");
    if (a->is_joined) {
        buf_puts(out, "<div><p><strong>End it.</strong> It sends what it has and ends. Its networks wait for it as for "
                      "one that is away.</p>");
        put_action(r, out, a, "kill", "End it", "danger", "It has to be started again on its own machine.");
        buf_puts(out, "</div>");
    }
    buf_puts(out, "<div><p><strong>Remove it.</strong> Its key is worth nothing from then on, and its networks go to "
                  "others.</p>");
    put_action(r, out, a, "remove", "Remove", "danger",
               "This cannot be undone: to come back, the agent has to join anew.");
    buf_puts(out, "</div></section>\n");
}

/* coord.lock held. */
static void put_page(struct ask *r, struct buf *out, const struct c_agent *a)
{
    static const struct chart charts[] = {
        {"rate", "Pages a second", "/s"}, {"bytes", "Bytes/s", ""}, {"queue", "Waiting URLs", ""}};
    struct figures f;
    double per_min[ERROR_KINDS];
    figures_of(r->a, a->number, &f);
    for (int k = 0; k < ERROR_KINDS; k++)
        per_min[k] = (double)f.by_kind_per_min[k];
    buf_puts(out, "<nav class=\"crumbs\" aria-label=\"Where this is\"><a href=\"/agents\">Agents</a></nav><div "
                  "class=\"head\"><div><h1><bdi>");
    html_text(out, span_str(a->name));
    buf_puts(out, "</bdi></h1><div data-live id=\"agent-state\" class=\"sub\">");
    put_state(out, agent_shown_state(r->c, a));
    if (a->is_joined && !agent_is_in_hours(a, clock_wall()))
        buf_puts(out, DOT "outside its hours");
    else if (f.activity && agent_presence_of(r->c, a) == PRESENCE_THERE)
        buf_printf(out, DOT "%s", activity_name(f.activity));
    if (a->place[0]) {
        buf_puts(out, DOT "<bdi>");
        html_text(out, span_str(a->place));
        buf_puts(out, "</bdi>");
    }
    buf_puts(out, "</div></div>");
    put_lost_note(out);
    buf_puts(out, "</div>\n");
    put_noscript(out);
    put_line_box(r, out, a);
    put_note(r, out, a, &f);
    if (a->is_joined) {
        put_tiles(out, a, &f);
        put_charts(out, "Last hour", charts, sizeof(charts) / sizeof(*charts));
        put_errors(out, &(struct errors_shown){.counts = &f.said, .per_min = per_min, .dropped = a->dropped});
    }
    buf_puts(out, "<div data-live id=\"agent-work\">");
    if (a->is_joined) {
        put_tasks(r, out, a);
        put_report(r, out, a);
    }
    buf_puts(out, "<div class=\"panels\">");
    put_limits(out, a);
    if (a->is_joined)
        put_machine(r, out, a, &f);
    buf_puts(out, "</div></div>\n");
    if (r->who.role < ROLE_OPERATOR)
        return;
    put_limits_form(r, out, a);
    put_actions(r, out, a);
    put_danger(r, out, a);
}

void page_agent(struct ask *r, struct httpd_answer *ans)
{
    char title[JOIN_NAME_MAX + 1] = "";
    pthread_mutex_lock(&r->c->lock);
    const struct c_agent *a = r->args[0].n ? agent_by_name(r->c, r->args[0]) : NULL;
    if (a) {
        memcpy(title, a->name, sizeof(title));
        admin_begin(r, ans, "/agents", span_str(title));
        put_page(r, &ans->body, a);
    }
    pthread_mutex_unlock(&r->c->lock);
    if (a)
        admin_end(r, ans, scripts_charts);
    else
        admin_message(r, ans, 404, "There is no such agent", SPAN("Perhaps it was removed. The list has all of them."));
}
