/* admin_pages_work.c - the dashboard's pages of networks and programs: who has what. */
#include <stdio.h>

#include "coord/admin_pages.h"
#include "coord/agents.h"
#include "io/clock.h"

/* ---- networks ---- */

static void put_network_row(struct ask *r, struct table_out *t, const struct c_network *n, wall_ms now)
{
    const struct c_agent *a = n->state == NETWORK_FREE ? NULL : agent_get(r->c, n->agent);
    const struct c_agent *next = n->state == NETWORK_LEAVING ? agent_get(r->c, n->next_agent) : NULL;
    struct buf *out = t->out;
    row_begin(t, span_str(n->text));
    buf_puts(out, n->text);
    cell(t);
    put_state(out, network_state_name(n->state));
    cell(t);
    if (a && a->name[0])
        put_agent_link(out, a->name);
    else
        buf_puts(out, DASH);
    if (next && next->name[0]) {
        buf_puts(out, "<span class=\"quietly\">goes to ");
        put_agent_link(out, next->name);
        buf_puts(out, "</span>");
    }
    cell(t);
    put_ago(out, n->since, now);
    cell(t);
    if (n->rtt_us)
        buf_printf(out, "%.1f ms", n->rtt_us / 1000.0);
    else
        buf_puts(out, DASH);
    cell(t);
    buf_puts(out, "<bdi>");
    for (size_t i = 0; i < n->host_count && i < 3; i++) {
        buf_puts(out, i ? ", " : "");
        html_text(out, span_cut(span_str(n->hosts[i]->name), 0, 80));
    }
    buf_puts(out, "</bdi>");
    if (n->host_count > 3)
        buf_printf(out, " and %zu more", n->host_count - 3);
    cell(t);
    html_text(out, span_str(n->why[0] ? n->why : DASH));
    if (r->who.role >= ROLE_OPERATOR) {
        cell(t);
        buf_puts(out, "<a class=\"button small\" href=\"/networks?move=");
        html_query_value(out, span_str(n->text));
        buf_printf(out, "#move\" aria-label=\"Move %s\">Move</a>", n->text);
    }
    row_end(t);
}

static void put_move_form(struct ask *r, struct buf *out)
{
    const char *action = "/api/v1/networks/move";
    struct span asked = r->is_post ? SPAN("") : pairs_get(&r->in, "move");
    buf_printf(out, "<details class=\"more\" id=\"move\"%s><summary>Move a network</summary>",
               asked.n || form_was_sent(r, action) ? " open" : "");
    form_begin(r, out, action, "wide-form");
    buf_puts(out, "<fieldset><legend>Move a network</legend><div class=\"grid\">");
    form_field(r, out,
               &(struct form_field){.name = "network",
                                    .label = "Network",
                                    .value = span_cut(asked, 0, 64),
                                    .is_required = true,
                                    .help = "Its pages and its politeness go with it.",
                                    .more = " placeholder=\"192.0.2.0/24\" autocapitalize=\"none\""});
    form_agents(r, out, &(struct form_choice){.name = "to", .label = "To", .none = "whom the strategy chooses"}, 0);
    buf_puts(out, "</div></fieldset><button class=\"button main\">Move it</button></form></details>\n");
}

static bool network_matches(const struct listing *l, const struct c_network *n)
{
    if (l->state.n && !span_is(l->state, network_state_name(n->state)))
        return false;
    if (listing_matches(l, span_str(n->text), SPAN("")))
        return true;
    for (size_t i = 0; i < n->host_count; i++)
        if (listing_matches(l, span_str(n->hosts[i]->name), SPAN("")))
            return true;
    return false;
}

/* coord.lock held. */
static void put_networks(struct ask *r, struct buf *out)
{
    static const char *const states[] = {"owned", "leaving", "free"};
    static const struct column cols[] = {{.name = "Network"},
                                         {.name = "State"},
                                         {.name = "Agent"},
                                         {.name = "Since", .is_number = true},
                                         {.name = "Round trip", .is_number = true},
                                         {.name = "Hosts", .is_wide = true},
                                         {.name = "Why", .is_wide = true},
                                         {.name = ""}};
    struct c_network **list;
    struct listing l;
    struct table_out t;
    wall_ms now = clock_wall();
    listing_read(r, "/networks", &l);
    const struct c_agent *a = l.agent.n ? agent_by_name(r->c, l.agent) : NULL;
    size_t all = l.agent.n && !a ? 0 : networks_sorted(r->c, r->arena, a ? a->number : 0, &list), n = 0;
    for (size_t i = 0; i < all; i++)
        if (network_matches(&l, list[i]))
            list[n++] = list[i];
    if (all > 5 || listing_is_filtered(&l))
        listing_form(r, out, &l, "networks", states, 3, true);
    buf_puts(out, "<div data-live id=\"networks\">");
    listing_cut(&l, n);
    if (n) {
        table_begin(&t, out, "Networks", cols, r->who.role >= ROLE_OPERATOR ? 8 : 7, NULL);
        for (size_t i = l.from; i < l.to; i++)
            put_network_row(r, &t, list[i], now);
        table_end(&t);
        listing_foot(out, &l, "networks");
    } else if (listing_is_filtered(&l))
        buf_puts(out, "<div class=\"empty\"><p>No network is like that.</p></div>");
    else
        buf_puts(out,
                 "<div class=\"empty\"><p>There are none yet: a network comes with the first site in it.</p></div>");
    buf_puts(out, "</div>\n");
}

void page_networks(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    admin_begin(r, ans, "/networks", SPAN("Networks"));
    buf_puts(out, "<div class=\"head\"><div><h1>Networks</h1><p class=\"sub\">A network has one agent, which alone "
                  "decides how politely its sites are asked.</p></div>");
    put_lost_note(out);
    buf_puts(out, "</div>\n");
    pthread_mutex_lock(&r->c->lock);
    if (r->who.role >= ROLE_OPERATOR) {
        put_move_form(r, out);
        put_pins_form(r, out);
    }
    put_networks(r, out);
    pthread_mutex_unlock(&r->c->lock);
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

static void put_program_form(struct ask *r, struct buf *out)
{
    const char *action = "/api/v1/programs";
    buf_printf(out, "<details class=\"more\"%s><summary class=\"button main\">Send a program</summary>",
               form_was_sent(r, action) ? " open" : "");
    form_begin(r, out, action, "wide-form");
    buf_puts(out, "<fieldset><legend>Program</legend><div class=\"stack\">");
    form_field(r, out,
               &(struct form_field){.name = "file",
                                    .label = "The signed file, as text",
                                    .is_required = true,
                                    .is_long = true,
                                    .rows = 10,
                                    .help = "What <code>orb program sign</code> wrote. <code>orb program push</code> "
                                            "sends one from a terminal."});
    form_field(r, out,
               &(struct form_field){.name = "agents",
                                    .label = "Agents, one a line",
                                    .is_long = true,
                                    .rows = 2,
                                    .help = "Nothing: all of them, and those that come later."});
    buf_puts(out, "</div></fieldset><button class=\"button main\">Send it</button></form></details>\n");
}

static void put_program_row(struct ask *r, struct table_out *t, const struct program_row *p, bool is_newest,
                            struct span runners, wall_ms now)
{
    struct buf *out = t->out;
    char text[96];
    snprintf(text, sizeof(text), "%s %llu", p->name, (unsigned long long)p->serial);
    row_begin(t, span_str(text));
    buf_puts(out, p->name);
    cell(t);
    buf_printf(out, "%llu", (unsigned long long)p->serial);
    cell(t);
    put_state(out, p->is_removed ? "removed" : is_newest ? "current" : "older");
    buf_printf(out, "<span class=\"quietly\">%s</span>",
               p->is_removed   ? "rolled back"
               : p->is_for_all ? "for all agents"
                               : "for some agents");
    cell(t);
    html_bytes(out, p->bytes);
    cell(t);
    put_ago(out, p->pushed, now);
    buf_puts(out, "<span class=\"quietly\">by <bdi>");
    html_text(out, span_str(p->by));
    buf_puts(out, "</bdi></span>");
    cell(t);
    buf_put(out, runners.n ? runners : SPAN(DASH));
    if (r->who.role >= ROLE_ADMIN) {
        cell(t);
        if (is_newest) {
            snprintf(text, sizeof(text), "/api/v1/programs/%s/rollback", p->name);
            form_button(r, out, text, "Roll back", "small danger",
                        "Agents drop this serial and run the last good one that they have.");
        }
    }
    row_end(t);
}

/* coord.lock held. */
static void put_programs(struct ask *r, struct buf *out)
{
    static const struct column cols[] = {{.name = "Program"},
                                         {.name = "Serial", .is_number = true},
                                         {.name = "State"},
                                         {.name = "Size", .is_number = true},
                                         {.name = "Sent", .is_number = true},
                                         {.name = "Runs at", .is_wide = true},
                                         {.name = ""}};
    struct program_row *rows = arena_alloc(r->arena, PROGRAMS_MAX * sizeof(*rows));
    struct table_out t;
    wall_ms now = clock_wall();
    size_t n = programs_list(r->c, rows, PROGRAMS_MAX);
    if (!n) {
        buf_puts(out, "<div class=\"empty\"><p>No program was sent yet. A program takes fields out of pages, or says "
                      "which links to follow; <code>orb program run</code> tries one.</p></div>");
        return;
    }
    struct buf *runners = arena_alloc(r->arena, (n + 1) * sizeof(*runners));
    memset(runners, 0, (n + 1) * sizeof(*runners));
    find_runners(r, rows, n, runners);
    table_begin(&t, out, "Programs", cols, r->who.role >= ROLE_ADMIN ? 7 : 6, NULL);
    for (size_t i = 0; i < n; i++) {
        /* Sorted by name, newest first: the first one that is not rolled back is what agents should run. */
        bool is_newest = !rows[i].is_removed;
        for (size_t k = i; k-- > 0 && strcmp(rows[k].name, rows[i].name) == 0;)
            is_newest = is_newest && rows[k].is_removed;
        put_program_row(r, &t, &rows[i], is_newest, buf_span(&runners[i]), now);
        buf_done(&runners[i]);
    }
    table_end(&t);
}

void page_programs(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    admin_begin(r, ans, "/programs", SPAN("Programs"));
    buf_puts(out,
             "<div class=\"head\"><div><h1>Programs</h1><p class=\"sub\">Scripts that agents run on pages. They are "
             "signed with a key that this coordinator does not have.</p></div>");
    put_lost_note(out);
    buf_puts(out, "</div>\n");
    if (r->who.role >= ROLE_ADMIN)
        put_program_form(r, out);
    buf_puts(out, "<div data-live id=\"programs\">");
    pthread_mutex_lock(&r->c->lock);
    put_programs(r, out);
    pthread_mutex_unlock(&r->c->lock);
    buf_puts(out, "</div>\n");
    admin_end(r, ans, scripts_live);
}
