/* admin_pages_work.c - the dashboard's pages of what is crawled and by whom: channels, networks, programs, people. */
#include <stdio.h>

#include "coord/admin_pages.h"
#include "io/clock.h"

static const char *const scripts_live[] = {"admin.js", NULL};
static const char *const scopes[] = {"site", "domain", "prefix"};
static const char *const scope_texts[] = {"the site", "the whole domain", "the folder"};

/* A choice of agents that could work. coord.lock held. */
static void put_agent_choice(struct ask *r, struct buf *out, const char *name, const char *label, const char *none,
                             uint64_t current, bool is_labelled)
{
    struct c_agent **list;
    size_t n = agents_sorted(r->c, r->arena, &list);
    buf_printf(out,
               "<label%s for=\"f-%s\">%s</label><select id=\"f-%s\" name=\"%s\"><option value=\"\">%s"
               "</option>",
               is_labelled ? "" : " class=\"vh\"", name, label, name, name, none);
    for (size_t i = 0; i < n && i < ADMIN_ROWS_MAX; i++) {
        if (!list[i]->is_joined && list[i]->number != current)
            continue;
        buf_puts(out, "<option value=\"");
        html_text(out, span_str(list[i]->name));
        buf_printf(out, "\"%s>", list[i]->number == current ? " selected" : "");
        html_text(out, span_str(list[i]->name));
        buf_puts(out, "</option>");
    }
    buf_puts(out, "</select>");
}

/* ---- channels ---- */

static struct span every_text(struct arena *a, int64_t ms)
{
    char text[32];
    if (ms == 0)
        return SPAN("never");
    if (ms == 86400000)
        return SPAN("1 day");
    if (ms % 86400000 == 0)
        snprintf(text, sizeof(text), "%lld days", (long long)(ms / 86400000));
    else if (ms % 3600000 == 0)
        snprintf(text, sizeof(text), "%lld h", (long long)(ms / 3600000));
    else if (ms % 60000 == 0)
        snprintf(text, sizeof(text), "%lld min", (long long)(ms / 60000));
    else
        snprintf(text, sizeof(text), "%lld s", (long long)(ms / 1000));
    return arena_copy(a, span_str(text));
}

static struct span lines_text(struct arena *a, const struct span *list, size_t n)
{
    struct buf b = {0};
    for (size_t i = 0; i < n; i++) {
        buf_put(&b, list[i]);
        buf_putc(&b, '\n');
    }
    struct span s = arena_copy(a, buf_span(&b));
    buf_done(&b);
    return s;
}

/* `ch` is NULL for a new one. coord.lock held. */
static void put_channel_fields(struct ask *r, struct buf *out, const struct c_channel *ch)
{
    static const char *const kinds[] = {"text", "keywords"}, *const kind_texts[] = {"whole text", "keywords only"};
    const struct channel_opts *o = ch ? channel_get_opts(ch->channel) : NULL;
    char number[24] = "";
    buf_puts(out, "<div class=\"grid\">");
    form_field(r, out,
               &(struct form_field){.name = "label",
                                    .label = "Label",
                                    .value = ch ? arena_copy(r->arena, span_str(ch->label)) : SPAN(""),
                                    .more = " maxlength=\"100\" placeholder=\"the first host\""});
    if (!ch)
        form_select(r, out, "scope", "What belongs to it", scopes, scope_texts, 3, SPAN("site"));
    form_select(r, out, "kind", "Agents send", kinds, kind_texts, 2,
                ch && ch->kind == SUMMARY_KEYWORDS ? SPAN("keywords") : SPAN("text"));
    form_field(
        r, out,
        &(struct form_field){.name = "every",
                             .label = "Look again every",
                             .value = every_text(r->arena, ch ? ch->every_ms : CHANNEL_EVERY_DEFAULT_MS),
                             .help = "Such as <code>12 h</code> or <code>7 days</code>, or <code>never</code>."});
    snprintf(number, sizeof(number), "%u", o ? o->depth_max : 64);
    form_field(r, out,
               &(struct form_field){.name = "depth",
                                    .label = "Depth, links from a seed",
                                    .value = arena_copy(r->arena, span_str(number)),
                                    .more = " inputmode=\"numeric\""});
    snprintf(number, sizeof(number), "%llu", ch ? (unsigned long long)ch->expected_pages : 0);
    form_field(
        r, out,
        &(struct form_field){.name = "expected",
                             .label = "Pages expected",
                             .value = ch && ch->expected_pages ? arena_copy(r->arena, span_str(number)) : SPAN(""),
                             .more = " inputmode=\"numeric\" placeholder=\"unknown\""});
    form_field(r, out,
               &(struct form_field){.name = "program",
                                    .label = "Program",
                                    .value = ch ? arena_copy(r->arena, span_str(ch->program)) : SPAN(""),
                                    .more = " maxlength=\"32\" placeholder=\"none\""});
    buf_puts(out, "<div class=\"field\">");
    put_agent_choice(r, out, "agent", "Agent", "any agent", ch ? ch->pinned_agent : 0, true);
    buf_puts(out, "</div>");
    form_field(r, out,
               &(struct form_field){.name = "include",
                                    .label = "Only URLs like",
                                    .value = o ? lines_text(r->arena, o->include, o->include_count) : SPAN(""),
                                    .is_long = true,
                                    .rows = 2,
                                    .help = "Patterns, one a line: <code>*/docs/*</code>, or <code>re:REGEX</code>."});
    form_field(r, out,
               &(struct form_field){.name = "exclude",
                                    .label = "No URLs like",
                                    .value = o ? lines_text(r->arena, o->exclude, o->exclude_count) : SPAN(""),
                                    .is_long = true,
                                    .rows = 2});
    form_check(r, out, "warc", "Keep the raw pages too (WARC)", ch && ch->wants_warc);
    buf_puts(out, "</div>");
}

static void put_channel_form(struct ask *r, struct buf *out)
{
    buf_printf(out, "<details class=\"more\"%s><summary class=\"button main\">Add a channel</summary>",
               r->error.n ? " open" : "");
    form_begin(r, out, "/api/v1/channels", "wide-form");
    buf_puts(out, "<fieldset><legend>Channel</legend><div class=\"stack\">");
    form_field(r, out,
               &(struct form_field){.name = "seeds",
                                    .label = "Addresses to start from, one a line",
                                    .is_required = true,
                                    .is_long = true,
                                    .rows = 3,
                                    .help = "Such as <code>https://example.org/</code>."});
    put_channel_fields(r, out, NULL);
    buf_puts(out, "</div></fieldset><button class=\"button main\">Add the channel</button></form>");
    buf_puts(out, "<h2>Or many at once</h2>");
    form_begin(r, out, "/api/v1/channels/import", "wide-form");
    form_field(r, out,
               &(struct form_field){
                   .name = "lines", .label = "One address a line; each becomes a channel", .is_long = true, .rows = 4});
    buf_puts(out, "<p><button class=\"button\">Import</button></p></form></details>\n");
}

static void put_channel_row(struct ask *r, struct buf *out, const struct c_channel *ch)
{
    const struct channel_opts *o = channel_get_opts(ch->channel);
    struct channel_figures f;
    channel_figures_get(ch, &f);
    const char *state = channel_shown_state(ch, &f);
    buf_printf(out, "<tr><th scope=\"row\"><a href=\"/channels/%016llx\"><bdi>", (unsigned long long)ch->id);
    html_text(out, span_str(ch->label[0] ? ch->label : "no label"));
    buf_puts(out, "</bdi></a><span class=\"quietly\"><bdi>");
    if (o->seed_count && !span_is(o->seeds[0], ch->label))
        html_text(out, span_cut(o->seeds[0], 0, 100));
    buf_puts(out, "</bdi>");
    if (o->seed_count > 1)
        buf_printf(out, " and %zu more", o->seed_count - 1);
    buf_printf(out,
               "</span></th><td data-name=\"State\"><span class=\"state %s\">%s</span></td><td data-name=\"Agents\">",
               strcmp(state, "paused") == 0 ? "pause" : state, state);
    unsigned named = 0;
    for (unsigned i = 0; i < f.agent_count; i++) {
        const struct c_agent *a = agent_get(r->c, f.agents[i]);
        if (!a || !a->name[0])
            continue;
        buf_puts(out, named++ ? ", " : "");
        put_agent_link(out, a->name);
    }
    if (!named)
        buf_puts(out, "\xe2\x80\x93");
    if (f.tasks > f.agent_count)
        buf_printf(out, " and %u more", f.tasks - f.agent_count);
    buf_puts(out, "</td><td class=\"n\" data-name=\"Pages\">");
    html_count(out, f.fetched);
    buf_puts(out, "</td><td class=\"n\" data-name=\"Queued\">");
    html_count(out, f.queued);
    buf_puts(out, "</td><td class=\"n\" data-name=\"Errors\">");
    html_count(out, f.errors);
    buf_puts(out, "</td><td class=\"n\" data-name=\"Hosts\">");
    html_count(out, ch->host_count);
    buf_puts(out, "</td></tr>\n");
}

void page_channels(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    struct c_channel **list;
    admin_begin(r, ans, "/channels", SPAN("Channels"));
    buf_puts(out,
             "<div class=\"head\"><h1>Channels</h1><p id=\"lost\" class=\"lost-note\" role=\"status\"></p></div>\n");
    pthread_mutex_lock(&r->c->lock);
    if (r->who.role >= ROLE_OPERATOR)
        put_channel_form(r, out);
    buf_puts(out, "<div data-live id=\"channels\">");
    size_t n = channels_sorted(r->c, r->arena, &list);
    if (n) {
        buf_puts(out,
                 "<div class=\"scroll\"><table class=\"cards\"><thead><tr><th scope=\"col\">Channel</th><th "
                 "scope=\"col\">State</th><th scope=\"col\">Agents</th><th scope=\"col\" class=\"n\">Pages</th><th "
                 "scope=\"col\" class=\"n\">Queued</th><th scope=\"col\" class=\"n\">Errors</th><th scope=\"col\" "
                 "class=\"n\">Hosts</th></tr></thead><tbody>\n");
        for (size_t i = 0; i < n && i < ADMIN_ROWS_MAX; i++)
            put_channel_row(r, out, list[i]);
        buf_puts(out, "</tbody></table></div>");
        if (n > ADMIN_ROWS_MAX)
            buf_printf(out, "<p class=\"sub\">And %zu more: GET /api/v1/channels has them all.</p>",
                       n - ADMIN_ROWS_MAX);
    } else
        buf_puts(out,
                 "<div class=\"empty\"><p>There are no channels yet. A channel is what is crawled: a site, a folder "
                 "of it, or a set of folders.</p></div>");
    buf_puts(out, "</div>\n");
    pthread_mutex_unlock(&r->c->lock);
    admin_end(r, ans, scripts_live);
}

/* ---- one channel ---- */

static void put_channel_actions(struct ask *r, struct buf *out, const struct c_channel *ch)
{
    char action[96];
    const char *base = "/api/v1/channels/";
    unsigned long long id = ch->id;
    buf_puts(out, "<section aria-labelledby=\"do-h\"><h2 id=\"do-h\">Actions</h2><div class=\"actions\">");
    snprintf(action, sizeof(action), "%s%016llx/%s", base, id, ch->is_paused ? "resume" : "pause");
    form_button(r, out, action, ch->is_paused ? "Resume" : "Pause", "", NULL);
    snprintf(action, sizeof(action), "%s%016llx/recheck", base, id);
    form_button(r, out, action, "Look again now", "", NULL);
    snprintf(action, sizeof(action), "%s%016llx/move", base, id);
    form_begin(r, out, action, "inline");
    put_agent_choice(r, out, "to", "Move its networks to", "whom the strategy chooses", 0, false);
    buf_puts(out, " <button class=\"button\">Move its networks</button></form>");
    snprintf(action, sizeof(action), "%s%016llx/remove", base, id);
    form_button(r, out, action, "Remove", "danger",
                "Its agents stop crawling it. Pages that were found stay searchable.");
    buf_puts(out, "</div></section>\n");
}

static void put_channel_page(struct ask *r, struct buf *out, const struct c_channel *ch)
{
    const struct channel_opts *o = channel_get_opts(ch->channel);
    struct channel_figures f;
    char action[96];
    channel_figures_get(ch, &f);
    const char *state = channel_shown_state(ch, &f);
    buf_puts(out, "<div class=\"head\"><div><h1><bdi>");
    html_text(out, span_str(ch->label[0] ? ch->label : "Channel"));
    buf_puts(out, "</bdi></h1><div class=\"sub\" data-live id=\"channel-state\">");
    buf_printf(out, "<span class=\"state %s\">%s</span> \xc2\xb7 %s%s</div></div></div>\n",
               strcmp(state, "paused") == 0 ? "pause" : state, state, scope_texts[o->scope],
               ch->is_found ? " \xc2\xb7 found through links" : "");
    buf_puts(out, "<div data-live id=\"channel\"><dl class=\"numbers\">");
    const struct {
        const char *name;
        uint64_t v;
    } numbers[] = {{"Pages", f.fetched}, {"Unchanged", f.unchanged}, {"Queued", f.queued},
                   {"Errors", f.errors}, {"Gone", f.gone},           {"Hosts", ch->host_count}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        buf_printf(out, "<div><dt>%s</dt><dd>", numbers[i].name);
        html_count(out, numbers[i].v);
        buf_puts(out, "</dd></div>");
    }
    buf_puts(out, "</dl><h2>Where it is crawled</h2>");
    for (size_t i = 0; i < ch->task_count; i++) {
        const struct c_task *t = ch->tasks[i];
        const struct c_agent *a = agent_get(r->c, t->agent);
        if (t->is_ended || !a)
            continue;
        buf_puts(out, "<p>");
        put_agent_link(out, a->name);
        buf_printf(out, ": %s, ", task_state_name(t->progress.state));
        html_count(out, t->progress.fetched);
        buf_printf(out, " pages, %zu %s", t->network_count, t->network_count == 1 ? "network" : "networks");
        for (size_t k = 0; k < t->network_count && k < 10; k++)
            buf_printf(out, "%s<code>%s</code>", k ? ", " : " ", t->networks[k]->text);
        buf_puts(out, "</p>");
    }
    if (!f.tasks)
        buf_puts(out, "<p class=\"sub\">Nowhere yet: its hosts are being looked up, or no agent is there.</p>");
    buf_puts(out, "</div><h2>Seeds</h2><pre><code>");
    html_text_lines(out, lines_text(r->arena, o->seeds, o->seed_count < 100 ? o->seed_count : 100));
    buf_puts(out, "</code></pre>\n");
    if (r->who.role < ROLE_OPERATOR || ch->is_removed)
        return;
    put_channel_actions(r, out, ch);
    buf_printf(out, "<h2>Settings</h2><details class=\"more\"%s><summary>Change them</summary>",
               r->error.n ? " open" : "");
    snprintf(action, sizeof(action), "/api/v1/channels/%016llx/edit", (unsigned long long)ch->id);
    form_begin(r, out, action, "wide-form");
    buf_puts(out, "<fieldset><legend>Channel</legend>");
    put_channel_fields(r, out, ch);
    buf_puts(out, "</fieldset><button class=\"button main\">Change</button></form></details>\n");
}

void page_channel(struct ask *r, struct httpd_answer *ans)
{
    uint64_t id = 0;
    for (size_t i = 0; i < r->args[0].n && i < 16; i++)
        id = id << 4 | (uint64_t)(ascii_hex(r->args[0].p[i]) & 15);
    pthread_mutex_lock(&r->c->lock);
    const struct c_channel *ch = r->args[0].n == 16 ? channel_get(r->c, id) : NULL;
    if (ch) {
        admin_begin(r, ans, "/channels", span_str(ch->label));
        put_channel_page(r, &ans->body, ch);
    }
    pthread_mutex_unlock(&r->c->lock);
    if (ch)
        admin_end(r, ans, scripts_live);
    else
        admin_message(r, ans, 404, "There is no such channel",
                      SPAN("Perhaps it was removed. The list has all of them."));
}

/* ---- networks ---- */

static void put_network_row(struct ask *r, struct buf *out, const struct c_network *n, wall_ms now)
{
    const struct c_agent *a = n->state == NETWORK_FREE ? NULL : agent_get(r->c, n->agent);
    const char *state = network_state_name(n->state);
    buf_printf(out,
               "<tr><th scope=\"row\">%s</th><td data-name=\"State\"><span class=\"state %s\">%s</span></td><td "
               "data-name=\"Agent\">",
               n->text, n->state == NETWORK_OWNED ? "there" : state, state);
    if (a && a->name[0])
        put_agent_link(out, a->name);
    else
        buf_puts(out, "\xe2\x80\x93");
    buf_puts(out, "</td><td class=\"n\" data-name=\"Since\">");
    put_ago(out, n->since, now);
    buf_puts(out, "</td><td class=\"n\" data-name=\"Round trip\">");
    if (n->rtt_us)
        buf_printf(out, "%.1f ms", n->rtt_us / 1000.0);
    else
        buf_puts(out, "\xe2\x80\x93");
    buf_puts(out, "</td><td class=\"wide\" data-name=\"Hosts\"><bdi>");
    for (size_t i = 0; i < n->host_count && i < 3; i++) {
        buf_puts(out, i ? ", " : "");
        html_text(out, span_cut(span_str(n->hosts[i]->name), 0, 80));
    }
    buf_puts(out, "</bdi>");
    if (n->host_count > 3)
        buf_printf(out, " and %zu more", n->host_count - 3);
    buf_puts(out, "</td><td class=\"wide\" data-name=\"Why\">");
    html_text(out, span_str(n->why));
    buf_puts(out, "</td></tr>\n");
}

static void put_move_form(struct ask *r, struct buf *out)
{
    buf_printf(out, "<details class=\"more\"%s><summary>Move a network</summary>", r->error.n ? " open" : "");
    form_begin(r, out, "/api/v1/networks/move", "wide-form");
    buf_puts(out, "<div class=\"grid\">");
    form_field(
        r, out,
        &(struct form_field){
            .name = "network", .label = "Network", .is_required = true, .more = " placeholder=\"192.0.2.0/24\""});
    buf_puts(out, "<div class=\"field\">");
    put_agent_choice(r, out, "to", "To", "whom the strategy chooses", 0, true);
    buf_puts(out, "</div></div><p><button class=\"button\">Move</button></p></form></details>\n");
}

void page_networks(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    struct span name = pairs_get(&r->in, "agent");
    struct c_network **list;
    wall_ms now = clock_wall();
    admin_begin(r, ans, "/networks", SPAN("Networks"));
    buf_puts(out, "<div class=\"head\"><div><h1>Networks</h1><p class=\"sub\">A network has one agent, which alone "
                  "decides how politely its sites are asked.");
    pthread_mutex_lock(&r->c->lock);
    const struct c_agent *a = name.n ? agent_by_name(r->c, name) : NULL;
    if (a) {
        buf_puts(out, " Those of ");
        put_agent_link(out, a->name);
        buf_puts(out, " (<a href=\"/networks\">all</a>).");
    }
    buf_puts(out, "</p></div><p id=\"lost\" class=\"lost-note\" role=\"status\"></p></div>\n");
    if (r->who.role >= ROLE_OPERATOR)
        put_move_form(r, out);
    buf_puts(out, "<div data-live id=\"networks\">");
    size_t n = networks_sorted(r->c, r->arena, a ? a->number : 0, &list);
    if (n) {
        buf_puts(out, "<div class=\"scroll\"><table class=\"cards\"><thead><tr><th scope=\"col\">Network</th><th "
                      "scope=\"col\">State</th><th scope=\"col\">Agent</th><th scope=\"col\" class=\"n\">Since</th><th "
                      "scope=\"col\" class=\"n\">Round trip</th><th scope=\"col\">Hosts</th><th scope=\"col\">Why</th>"
                      "</tr></thead><tbody>\n");
        for (size_t i = 0; i < n && i < ADMIN_ROWS_MAX; i++)
            put_network_row(r, out, list[i], now);
        buf_puts(out, "</tbody></table></div>");
        if (n > ADMIN_ROWS_MAX)
            buf_printf(out, "<p class=\"sub\">And %zu more: GET /api/v1/networks has them all.</p>",
                       n - ADMIN_ROWS_MAX);
    } else
        buf_puts(out,
                 "<div class=\"empty\"><p>There are none yet: a network comes with the first site in it.</p></div>");
    pthread_mutex_unlock(&r->c->lock);
    buf_puts(out, "</div>\n");
    admin_end(r, ans, scripts_live);
}

/* ---- programs ---- */

/* Which agents run which serial, from their newest reports, as HTML for each row. coord.lock held. */
static void find_runners(struct ask *r, const struct program_row *rows, size_t row_count, struct buf *out)
{
    struct c_agent **list;
    size_t n = row_count ? agents_sorted(r->c, r->arena, &list) : 0;
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < n && i < ADMIN_ROWS_MAX; i++) {
        struct report rep;
        arena_reset(&arena);
        if (!list[i]->report.n || report_unpack(&arena, buf_span(&list[i]->report), &rep) != ST_OK)
            continue;
        for (size_t k = 0; k < rep.program_count && k < PROGRAMS_MAX; k++)
            for (size_t row = 0; row < row_count; row++) {
                const struct program_report *p = &rep.programs[k];
                if (p->serial != rows[row].serial || !span_is(p->name, rows[row].name))
                    continue;
                buf_puts(&out[row], out[row].n ? ", " : "");
                put_agent_link(&out[row], list[i]->name);
                if (p->errors)
                    buf_printf(&out[row], " (%llu errors)", (unsigned long long)p->errors);
            }
    }
    arena_done(&arena);
}

void page_programs(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    struct program_row *rows = arena_alloc(r->arena, PROGRAMS_MAX * sizeof(*rows));
    wall_ms now = clock_wall();
    char action[96];
    admin_begin(r, ans, "/programs", SPAN("Programs"));
    buf_puts(out,
             "<div class=\"head\"><div><h1>Programs</h1><p class=\"sub\">Scripts that agents run on pages. They are "
             "signed with a key that this coordinator does not have.</p></div></div>\n");
    if (r->who.role >= ROLE_ADMIN) {
        buf_printf(out, "<details class=\"more\"%s><summary class=\"button main\">Send a program</summary>",
                   r->error.n ? " open" : "");
        form_begin(r, out, "/api/v1/programs", "wide-form");
        buf_puts(out, "<fieldset><legend>Program</legend><div class=\"stack\">");
        form_field(r, out,
                   &(struct form_field){.name = "file",
                                        .label = "The signed file, as text",
                                        .is_required = true,
                                        .is_long = true,
                                        .rows = 10,
                                        .help = "What <code>orb program sign</code> wrote."});
        form_field(r, out,
                   &(struct form_field){.name = "agents",
                                        .label = "Agents, one a line",
                                        .is_long = true,
                                        .rows = 2,
                                        .help = "Nothing: all of them, and those that come later."});
        buf_puts(out, "</div></fieldset><button class=\"button main\">Send it</button></form></details>\n");
    }
    pthread_mutex_lock(&r->c->lock);
    size_t n = programs_list(r->c, rows, PROGRAMS_MAX);
    struct buf *runners = arena_alloc(r->arena, (n + 1) * sizeof(*runners));
    memset(runners, 0, (n + 1) * sizeof(*runners));
    find_runners(r, rows, n, runners);
    if (n)
        buf_puts(out, "<div class=\"scroll\"><table class=\"cards\"><thead><tr><th scope=\"col\">Program</th><th "
                      "scope=\"col\" class=\"n\">Serial</th><th scope=\"col\">State</th><th scope=\"col\" class=\"n\">"
                      "Sent</th><th scope=\"col\">By</th><th scope=\"col\">Runs at</th><th scope=\"col\"><span "
                      "class=\"vh\">Actions</span></th></tr></thead><tbody>\n");
    else
        buf_puts(out, "<div class=\"empty\"><p>No program was sent yet.</p></div>");
    for (size_t i = 0; i < n; i++) {
        bool is_newest =
            !rows[i].is_removed && (i == 0 || strcmp(rows[i - 1].name, rows[i].name) != 0 || rows[i - 1].is_removed);
        buf_printf(out,
                   "<tr><th scope=\"row\">%s</th><td class=\"n\" data-name=\"Serial\">%llu</td><td "
                   "data-name=\"State\">%s</td><td class=\"n\" data-name=\"Sent\">",
                   rows[i].name, (unsigned long long)rows[i].serial,
                   rows[i].is_removed   ? "rolled back"
                   : rows[i].is_for_all ? "for all"
                                        : "for some");
        put_ago(out, rows[i].pushed, now);
        buf_puts(out, "</td><td data-name=\"By\"><bdi>");
        html_text(out, span_str(rows[i].by));
        buf_puts(out, "</bdi></td><td data-name=\"Runs at\">");
        if (runners[i].n)
            buf_put(out, buf_span(&runners[i]));
        else
            buf_puts(out, "\xe2\x80\x93");
        buf_done(&runners[i]);
        buf_puts(out, "</td><td class=\"do wide\">");
        if (is_newest && r->who.role >= ROLE_ADMIN) {
            snprintf(action, sizeof(action), "/api/v1/programs/%s/rollback", rows[i].name);
            form_button(r, out, action, "Roll back", "small danger",
                        "Agents drop this serial and run the last good one that they have.");
        }
        buf_puts(out, "</td></tr>\n");
    }
    pthread_mutex_unlock(&r->c->lock);
    if (n)
        buf_puts(out, "</tbody></table></div>\n");
    admin_end(r, ans, NULL);
}

/* ---- people ---- */

static void put_own_password(struct ask *r, struct buf *out)
{
    char action[96];
    if (!r->who.csrf[0])
        return;
    snprintf(action, sizeof(action), "/api/v1/people/%s/password", r->who.name);
    buf_puts(out,
             "<section aria-labelledby=\"own-h\"><h2 id=\"own-h\">Your password</h2><details class=\"more\"><summary>"
             "Change it</summary>");
    form_begin(r, out, action, "stack door-form");
    buf_puts(out, "<div class=\"grid\">");
    form_field(r, out,
               &(struct form_field){.name = "password",
                                    .label = "New password",
                                    .type = "password",
                                    .is_required = true,
                                    .more = " autocomplete=\"new-password\" minlength=\"10\""});
    form_field(r, out,
               &(struct form_field){.name = "again",
                                    .label = "The same again",
                                    .type = "password",
                                    .is_required = true,
                                    .more = " autocomplete=\"new-password\""});
    buf_puts(out, "</div><p><button class=\"button\">Change the password</button></p></form></details></section>\n");
}

static void put_person_form(struct ask *r, struct buf *out)
{
    static const char *const roles[] = {"viewer", "operator", "admin"};
    static const char *const texts[] = {"viewer: looks", "operator: changes agents and channels",
                                        "admin: also people, keys, programs"};
    buf_printf(out, "<details class=\"more\"%s><summary class=\"button main\">Add a person</summary>",
               r->error.n ? " open" : "");
    form_begin(r, out, "/api/v1/people", "wide-form");
    buf_puts(out, "<fieldset><legend>Person</legend><div class=\"grid\">");
    form_field(r, out,
               &(struct form_field){.name = "name",
                                    .label = "Name",
                                    .is_required = true,
                                    .more = " maxlength=\"32\" autocapitalize=\"none\" autocomplete=\"off\""});
    form_select(r, out, "role", "Role", roles, texts, 3, SPAN("viewer"));
    struct form_field p = {.name = "password",
                           .label = "First password",
                           .type = "password",
                           .is_required = true,
                           .more = " autocomplete=\"new-password\" minlength=\"10\"",
                           .help = "10 characters or more. They can change it themselves."};
    /* The id must not be that of the own password's field. */
    buf_printf(out,
               "<div class=\"field\"><label for=\"f-first\">%s</label><input id=\"f-first\" name=\"password\" "
               "type=\"password\" required%s><p class=\"help\">%s</p></div>",
               p.label, p.more, p.help);
    buf_puts(out, "</div></fieldset><button class=\"button main\">Add</button></form></details>\n");
}

void page_people(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    char action[96];
    admin_begin(r, ans, "/people", SPAN("People"));
    buf_puts(out, "<div class=\"head\"><h1>People</h1></div>\n");
    if (r->who.role >= ROLE_ADMIN) {
        put_person_form(r, out);
        buf_puts(out, "<table class=\"cards\"><thead><tr><th scope=\"col\">Name</th><th scope=\"col\">Role</th><th "
                      "scope=\"col\">Since</th><th scope=\"col\"><span class=\"vh\">Actions</span></th></tr></thead>"
                      "<tbody>\n");
        pthread_mutex_lock(&r->a->lock);
        for (size_t i = 0; i < r->a->person_count && i < ADMIN_ROWS_MAX; i++) {
            const struct person *p = &r->a->people[i];
            buf_puts(out, "<tr><th scope=\"row\"><bdi>");
            html_text(out, span_str(p->name));
            buf_printf(out, "</bdi></th><td data-name=\"Role\">%s</td><td data-name=\"Since\">", role_name(p->role));
            html_date(out, p->added);
            buf_puts(out, "</td><td class=\"do wide\">");
            snprintf(action, sizeof(action), "/api/v1/people/%s/remove", p->name);
            if (strcmp(p->name, r->who.name) != 0)
                form_button(r, out, action, "Remove", "small danger", "They are logged out at once.");
            buf_puts(out, "</td></tr>\n");
        }
        pthread_mutex_unlock(&r->a->lock);
        buf_puts(out, "</tbody></table>\n");
    }
    put_own_password(r, out);
    admin_end(r, ans, NULL);
}
