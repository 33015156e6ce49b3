/* admin_pages_channels.c - what is crawled: the list of channels, and the page of one. */
#include <stdio.h>

#include "coord/admin_fresh.h"
#include "coord/admin_pages.h"
#include "coord/agents.h"
#include "coord/channels.h"
#include "io/clock.h"

static const char *const scopes[] = {"site", "domain", "prefix"};
static const char *const scope_texts[] = {"the site", "the whole domain", "the folder"};

#define SITES_SHOWN 100

/* ---- the form ---- */

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
    static const char *const no_yes[] = {"no", "yes"}, *const warc_texts[] = {"not sent", "sent and kept (WARC)"};
    const struct channel_opts *o = ch ? channel_get_opts(ch->channel) : NULL;
    char number[24] = "";
    buf_puts(out, "<div class=\"grid\">");
    form_field(r, out,
               &(struct form_field){.name = "label",
                                    .label = "Label",
                                    .value = ch ? arena_copy(r->arena, span_str(ch->label)) : SPAN(""),
                                    .more = " maxlength=\"100\" placeholder=\"the first host\""});
    if (!ch)
        form_select(r, out,
                    &(struct form_choice){.name = "scope",
                                          .label = "What belongs to it",
                                          .values = scopes,
                                          .texts = scope_texts,
                                          .n = 3,
                                          .current = SPAN("site")});
    form_select(r, out,
                &(struct form_choice){.name = "kind",
                                      .label = "Agents send",
                                      .help = "Keywords take fewer bytes, and find no phrases.",
                                      .values = kinds,
                                      .texts = kind_texts,
                                      .n = 2,
                                      .current = ch && ch->kind == SUMMARY_KEYWORDS ? SPAN("keywords") : SPAN("text")});
    form_select(r, out,
                &(struct form_choice){.name = "warc",
                                      .label = "Answers as they came",
                                      .help = "Kept in WARC files here, in the folder <code>warc</code>.",
                                      .values = no_yes,
                                      .texts = warc_texts,
                                      .n = 2,
                                      .current = ch && ch->wants_warc ? SPAN("yes") : SPAN("no")});
    put_rule_fields(r, out, ch);
    snprintf(number, sizeof(number), "%u", o ? o->depth_max : 64);
    form_field(r, out,
               &(struct form_field){.name = "depth",
                                    .label = "Depth, links from a seed",
                                    .value = arena_copy(r->arena, span_str(number)),
                                    .help = "Up to 64.",
                                    .more = " inputmode=\"numeric\""});
    snprintf(number, sizeof(number), "%llu", ch ? (unsigned long long)ch->expected_pages : 0);
    form_field(
        r, out,
        &(struct form_field){.name = "expected",
                             .label = "Pages expected",
                             .value = ch && ch->expected_pages ? arena_copy(r->arena, span_str(number)) : SPAN(""),
                             .help = "Agents make room for so many.",
                             .more = " inputmode=\"numeric\" placeholder=\"unknown\""});
    form_field(r, out,
               &(struct form_field){.name = "program",
                                    .label = "Program",
                                    .value = ch ? arena_copy(r->arena, span_str(ch->program)) : SPAN(""),
                                    .help = "The name of one that was sent to its agents.",
                                    .more = " maxlength=\"32\" placeholder=\"none\" autocapitalize=\"none\""});
    form_agents(r, out, &(struct form_choice){.name = "agent", .label = "Agent", .none = "any agent"},
                ch ? ch->pinned_agent : 0);
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
    buf_puts(out, "</div>");
}

static void put_channel_form(struct ask *r, struct buf *out)
{
    const char *add = "/api/v1/channels", *import = "/api/v1/channels/import";
    buf_printf(out,
               "<div class=\"openers\"><details class=\"more\"%s><summary class=\"button main\">Add a channel"
               "</summary>",
               form_was_sent(r, add) ? " open" : "");
    form_begin(r, out, add, "wide-form");
    buf_puts(out, "<fieldset><legend>Channel</legend><div class=\"stack\">");
    form_field(r, out,
               &(struct form_field){.name = "seeds",
                                    .label = "Addresses to start from, one a line",
                                    .is_required = true,
                                    .is_long = true,
                                    .rows = 3,
                                    .help = "Such as <code>https://example.org/</code>."});
    put_channel_fields(r, out, NULL);
    buf_puts(out, "</div></fieldset><button class=\"button main\">Add the channel</button></form></details>");
    buf_printf(out, "<details class=\"more\"%s><summary class=\"button\">Add many</summary>",
               form_was_sent(r, import) ? " open" : "");
    form_begin(r, out, import, "wide-form");
    buf_puts(out, "<fieldset><legend>Many channels</legend>");
    form_field(r, out,
               &(struct form_field){.name = "lines",
                                    .label = "Addresses, one a line",
                                    .is_required = true,
                                    .is_long = true,
                                    .rows = 6,
                                    .help = "Each becomes a channel of its site. Lines that begin with # are left "
                                            "out."});
    buf_puts(out, "</fieldset><button class=\"button main\">Import them</button></form></details></div>\n");
}

/* ---- the list ---- */

static void put_channel_agents(struct ask *r, struct buf *out, const struct channel_figures *f)
{
    unsigned named = 0;
    for (unsigned i = 0; i < f->agent_count; i++) {
        const struct c_agent *a = agent_get(r->c, f->agents[i]);
        if (!a || !a->name[0])
            continue;
        buf_puts(out, named++ ? ", " : "");
        put_agent_link(out, a->name);
    }
    if (!named)
        buf_puts(out, DASH);
    if (f->tasks > f->agent_count)
        buf_printf(out, " and %u more", f->tasks - f->agent_count);
}

static void put_channel_row(struct ask *r, struct table_out *t, const struct c_channel *ch)
{
    const struct channel_opts *o = channel_get_opts(ch->channel);
    struct buf *out = t->out;
    struct channel_figures f;
    char id[20];
    snprintf(id, sizeof(id), "%016llx", (unsigned long long)ch->id);
    channel_figures_get(ch, &f);
    row_begin(t, span_str(id));
    buf_printf(out, "<a href=\"/channels/%s\"><bdi>", id);
    html_text(out, span_str(ch->label[0] ? ch->label : "no label"));
    buf_puts(out, "</bdi></a>");
    if (o->seed_count && (!span_is(o->seeds[0], ch->label) || o->seed_count > 1)) {
        buf_puts(out, "<span class=\"quietly\"><bdi>");
        html_text(out, span_cut(o->seeds[0], 0, 100));
        buf_puts(out, "</bdi>");
        if (o->seed_count > 1)
            buf_printf(out, " and %zu more", o->seed_count - 1);
        buf_puts(out, "</span>");
    }
    cell(t);
    put_state(out, channel_shown_state(ch, &f));
    cell(t);
    put_channel_agents(r, out, &f);
    const uint64_t numbers[] = {f.fetched, f.queued, f.errors, ch->host_count};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        cell(t);
        html_count(out, numbers[i]);
    }
    row_end(t);
}

static bool has_agent(const struct c_channel *ch, uint64_t agent)
{
    for (size_t i = 0; i < ch->task_count; i++)
        if (ch->tasks[i]->agent == agent && !ch->tasks[i]->is_ended)
            return true;
    return false;
}

/* Keeps those that are looked for, in the order that is asked for. coord.lock held. */
static size_t choose_channels(struct ask *r, const struct listing *l, struct c_channel **list, size_t n)
{
    struct ranked *ranked = arena_alloc(r->arena, (n + 1) * sizeof(*ranked));
    const struct c_agent *agent = l->agent.n ? agent_by_name(r->c, l->agent) : NULL;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct channel_figures f;
        const struct channel_opts *o = channel_get_opts(list[i]->channel);
        if (!listing_matches(l, span_str(list[i]->label), o->seed_count ? o->seeds[0] : SPAN("")) ||
            (l->agent.n && !(agent && has_agent(list[i], agent->number))))
            continue;
        channel_figures_get(list[i], &f);
        if (l->state.n && !span_is(l->state, channel_shown_state(list[i], &f)))
            continue;
        uint64_t value = span_is(l->sort, "pages")    ? f.fetched
                         : span_is(l->sort, "queued") ? f.queued
                         : span_is(l->sort, "errors") ? f.errors
                                                      : 0;
        ranked[kept] = (struct ranked){value, kept, list[i]};
        kept++;
    }
    if (l->sort.n)
        rank(ranked, kept);
    for (size_t i = 0; i < kept; i++)
        list[i] = ranked[i].item;
    return kept;
}

static void put_channels(struct ask *r, struct buf *out)
{
    static const char *const states[] = {"waiting", "running", "done", "paused", "removed"};
    static const struct column cols[] = {{.name = "Channel", .sort = "", .is_wide = true},
                                         {.name = "State"},
                                         {.name = "Agents"},
                                         {.name = "Pages", .is_number = true, .sort = "pages"},
                                         {.name = "Queued", .is_number = true, .sort = "queued"},
                                         {.name = "Errors", .is_number = true, .sort = "errors"},
                                         {.name = "Hosts", .is_number = true}};
    struct c_channel **list;
    struct listing l;
    struct table_out t;
    listing_read(r, "/channels", &l);
    size_t all = channels_sorted(r->c, r->arena, &list), n = choose_channels(r, &l, list, all);
    if (all > 5 || listing_is_filtered(&l))
        listing_form(r, out, &l, "channels", states, sizeof(states) / sizeof(*states), true);
    buf_puts(out, "<div data-live id=\"channels\">");
    listing_cut(&l, n);
    if (n) {
        table_begin(&t, out, "Channels", cols, sizeof(cols) / sizeof(*cols), &l);
        for (size_t i = l.from; i < l.to; i++)
            put_channel_row(r, &t, list[i]);
        table_end(&t);
        listing_foot(out, &l, "channels");
    } else if (all)
        buf_puts(out, "<div class=\"empty\"><p>No channel is like that.</p></div>");
    else
        buf_puts(out, "<div class=\"empty\"><p>There are no channels yet. A channel is what is crawled: a site, a "
                      "folder of it, or a set of folders.</p></div>");
    buf_puts(out, "</div>\n");
}

void page_channels(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    admin_begin(r, ans, "/channels", SPAN("Channels"));
    buf_puts(out, "<div class=\"head\"><h1>Channels</h1>");
    put_lost_note(out);
    buf_puts(out, "<a class=\"button\" href=\"/forgotten\">Forgotten places</a></div>\n");
    pthread_mutex_lock(&r->c->lock);
    if (r->who.role >= ROLE_OPERATOR)
        put_channel_form(r, out);
    put_channels(r, out);
    pthread_mutex_unlock(&r->c->lock);
    admin_end(r, ans, scripts_live);
}

/* ---- one channel ---- */

static void channel_action(char *out, size_t size, const struct c_channel *ch, const char *verb)
{
    snprintf(out, size, "/api/v1/channels/%016llx/%s", (unsigned long long)ch->id, verb);
}

static void put_channel_actions(struct ask *r, struct buf *out, const struct c_channel *ch)
{
    char action[96];
    buf_puts(out, "<section aria-labelledby=\"do-h\"><h2 id=\"do-h\">Actions</h2><div class=\"actions\">");
    channel_action(action, sizeof(action), ch, ch->is_paused ? "resume" : "pause");
    form_button(r, out, action, ch->is_paused ? "Resume" : "Pause", ch->is_paused ? "main" : "", NULL);
    channel_action(action, sizeof(action), ch, "recheck");
    form_button(r, out, action, "Look again now", "", NULL);
    channel_action(action, sizeof(action), ch, "move");
    buf_printf(out, "<details class=\"confirm\"%s><summary class=\"button\">Move its networks</summary><div>",
               form_was_sent(r, action) ? " open" : "");
    form_begin(r, out, action, "stack");
    form_agents(r, out,
                &(struct form_choice){.name = "to",
                                      .label = "To",
                                      .none = "whom the strategy chooses",
                                      .help = "Other channels in these networks move too."},
                0);
    buf_puts(out, "<div><button class=\"button\">Move them</button></div></form></div></details></div></section>\n");
    buf_puts(out, "<section class=\"danger-zone\" aria-labelledby=\"danger-h\"><h2 id=\"danger-h\">Remove</h2><div><p>"
                  "<strong>Remove it.</strong> Its agents stop crawling it. Pages that were found stay searchable."
                  "</p>");
    channel_action(action, sizeof(action), ch, "remove");
    form_button(r, out, action, "Remove", "danger", "It can be added again; what its agents had queued is lost.");
    if (ch->host_count == 1) {
        buf_puts(out,
                 "</div><div><p><strong>Forget its site.</strong> What is kept of it is overwritten, and it is never "
                 "asked for again.</p><a class=\"button danger\" href=\"/forgotten?place=");
        html_query_value(out, ch->hosts[0]);
        buf_puts(out, "\">Forget the site</a>");
    }
    buf_puts(out, "</div></section>\n");
}

/* Where it is crawled: its sites with their networks and agents. */
static void put_sites(struct ask *r, struct buf *out, const struct c_channel *ch)
{
    static const struct column cols[] = {{.name = "Site"},
                                         {.name = "Network"},
                                         {.name = "State"},
                                         {.name = "Agent"},
                                         {.name = "Round trip", .is_number = true}};
    struct table_out t;
    buf_puts(out, "<h2>Sites</h2>");
    if (!ch->host_count) {
        buf_puts(out, "<div class=\"empty\"><p>None is known yet.</p></div>");
        return;
    }
    table_begin(&t, out, "Sites of the channel", cols, sizeof(cols) / sizeof(*cols), NULL);
    for (size_t i = 0; i < ch->host_count && i < SITES_SHOWN; i++) {
        const struct c_host *h = table_get(&r->c->hosts, siphash(&r->c->key, ch->hosts[i]));
        const struct c_network *n = h ? h->network : NULL;
        const struct c_agent *a = n && n->state != NETWORK_FREE ? agent_get(r->c, n->agent) : NULL;
        row_begin(&t, ch->hosts[i]);
        buf_puts(out, "<bdi>");
        html_text(out, span_cut(ch->hosts[i], 0, 255));
        buf_puts(out, "</bdi>");
        cell(&t);
        buf_puts(out, n ? n->text : DASH);
        cell(&t);
        put_state(out, n ? network_state_name(n->state) : h && h->state == HOST_FAILED ? "not found" : "waiting");
        cell(&t);
        if (a && a->name[0])
            put_agent_link(out, a->name);
        else
            buf_puts(out, DASH);
        cell(&t);
        if (n && n->rtt_us)
            buf_printf(out, "%.1f ms", n->rtt_us / 1000.0);
        else
            buf_puts(out, DASH);
        row_end(&t);
    }
    table_end(&t);
    if (ch->host_count > SITES_SHOWN)
        buf_printf(out, "<p class=\"sub below\">And %zu more.</p>", ch->host_count - SITES_SHOWN);
}

static void put_channel_tasks(struct ask *r, struct buf *out, const struct c_channel *ch)
{
    static const struct column cols[] = {{.name = "Agent"},
                                         {.name = "State"},
                                         {.name = "Networks", .is_number = true},
                                         {.name = "Pages", .is_number = true},
                                         {.name = "Queued", .is_number = true},
                                         {.name = "Errors", .is_number = true}};
    struct table_out t = {0};
    size_t shown = 0;
    buf_puts(out, "<h2>Agents that crawl it</h2>");
    for (size_t i = 0; i < ch->task_count && shown < LISTING_ROWS; i++) {
        const struct c_task *k = ch->tasks[i];
        const struct c_agent *a = agent_get(r->c, k->agent);
        if (k->is_ended || !a || !a->name[0])
            continue;
        if (shown++ == 0)
            table_begin(&t, out, "Agents that crawl it", cols, sizeof(cols) / sizeof(*cols), NULL);
        row_begin(&t, span_str(a->name));
        put_agent_link(out, a->name);
        cell(&t);
        put_state(out, task_state_name(k->progress.state));
        const uint64_t numbers[] = {k->network_count, k->progress.fetched, k->progress.queued, k->progress.errors};
        for (size_t n = 0; n < sizeof(numbers) / sizeof(*numbers); n++) {
            cell(&t);
            html_count(out, numbers[n]);
        }
        row_end(&t);
    }
    if (shown)
        table_end(&t);
    else {
        struct buf why = {0};
        channel_waits_for(r->c, ch, &why);
        buf_puts(out, "<div class=\"empty\"><p>None yet");
        if (why.n) {
            buf_puts(out, ": ");
            html_text(out, buf_span(&why));
        }
        buf_puts(out, ".</p></div>");
        buf_done(&why);
    }
}

static void put_channel_facts(struct ask *r, struct buf *out, const struct c_channel *ch)
{
    const struct channel_opts *o = channel_get_opts(ch->channel);
    const struct c_agent *pinned = agent_get(r->c, ch->pinned_agent);
    wall_ms now = clock_wall();
    buf_puts(out, "<section aria-labelledby=\"set-h\"><h2 id=\"set-h\">Settings</h2><dl class=\"facts-list\">");
    fact(out, "Seeds");
    for (size_t i = 0; i < o->seed_count && i < 20; i++) {
        buf_puts(out, i ? "<br><code>" : "<code>");
        html_text(out, span_cut(o->seeds[i], 0, 300));
        buf_puts(out, "</code>");
    }
    if (o->seed_count > 20)
        buf_printf(out, "<br>and %zu more", o->seed_count - 20);
    fact_end(out);
    fact(out, "Agents send");
    buf_puts(out, ch->kind == SUMMARY_KEYWORDS ? "keywords only" : "whole text");
    buf_puts(out, ch->wants_warc ? ", and answers as they came, for WARC files" : "");
    fact_end(out);
    fact(out, "Looked at again");
    put_rule_words(r, out, ch);
    if (ch->checked) {
        buf_puts(out, "<span class=\"quietly\">last: ");
        put_ago(out, ch->checked, now);
        buf_puts(out, "</span>");
    }
    fact_end(out);
    fact(out, "Depth");
    buf_printf(out, "%u links", o->depth_max);
    fact_end(out);
    fact(out, "Program");
    html_text(out, span_str(ch->program[0] ? ch->program : "none"));
    fact_end(out);
    fact(out, "Agent");
    if (pinned && pinned->name[0])
        put_agent_link(out, pinned->name);
    else
        buf_puts(out, "as the strategy decides");
    fact_end(out);
    fact(out, "Added");
    put_ago(out, ch->added, now);
    fact_end(out);
    buf_puts(out, "</dl></section>\n");
}

static void put_channel_page(struct ask *r, struct buf *out, const struct c_channel *ch)
{
    const struct channel_opts *o = channel_get_opts(ch->channel);
    struct channel_figures f;
    char action[96];
    channel_figures_get(ch, &f);
    buf_puts(out, "<nav class=\"crumbs\" aria-label=\"Where this is\"><a href=\"/channels\">Channels</a></nav><div "
                  "class=\"head\"><div><h1><bdi>");
    html_text(out, span_str(ch->label[0] ? ch->label : "Channel"));
    buf_puts(out, "</bdi></h1><div class=\"sub\" data-live id=\"channel-state\">");
    put_state(out, channel_shown_state(ch, &f));
    buf_printf(out, DOT "%s%s</div></div>", scope_texts[o->scope], ch->is_found ? DOT "found through links" : "");
    put_lost_note(out);
    buf_puts(out, "</div>\n<div data-live id=\"channel\"><dl class=\"numbers\">");
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
    buf_puts(out, "<div><dt>Crawled</dt><dd>");
    html_bytes(out, f.bytes);
    buf_puts(out, "</dd></div></dl>");
    put_channel_tasks(r, out, ch);
    put_sites(r, out, ch);
    put_channel_visits(r, out, ch);
    buf_puts(out, "</div>\n");
    put_channel_facts(r, out, ch);
    if (r->who.role < ROLE_OPERATOR || ch->is_removed)
        return;
    channel_action(action, sizeof(action), ch, "edit");
    buf_printf(out, "<details class=\"more\"%s><summary>Change them</summary>",
               form_was_sent(r, action) ? " open" : "");
    form_begin(r, out, action, "wide-form");
    buf_puts(out, "<fieldset><legend>Channel</legend>");
    put_channel_fields(r, out, ch);
    buf_puts(out, "</fieldset><button class=\"button main\">Change</button></form></details>\n");
    put_channel_actions(r, out, ch);
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
