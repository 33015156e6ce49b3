#include "cli/explain_fleet.h"

#include "cli/admin_call.h"
#include "cli/command.h"
#include "cli/crawl_setup.h"
#include "cli/folder.h"
#include "cli/format.h"
#include "coord/coord.h"

/* ---- lines ---- */

static void label(struct buf *out, const char *name)
{
    buf_printf(out, "%-16s ", name);
}

static void line(struct buf *out, const char *name, struct span text)
{
    if (!text.n)
        return;
    label(out, name);
    put_safe(out, text);
    buf_putc(out, '\n');
}

static bool is_true(const struct json_node *n, const char *name)
{
    return json_member(n, name)->number > 0;
}

static void put_ms(struct buf *out, const struct json_node *ms)
{
    if (ms->kind == NODE_NUMBER) /* 0.0 on the same machine */
        buf_printf(out, "%.1f ms", ms->number);
    else
        buf_puts(out, "no answer");
}

static void put_where(const struct json_node *n, struct buf *out)
{
    struct span address = json_member_text(n, "address"), state = json_member_text(n, "host_state");
    label(out, "address");
    if (address.n) {
        put_safe(out, address);
        if (is_true(n, "private"))
            buf_puts(out, ", private: crawled only with --allow-private");
        else if (!state.n)
            buf_puts(out, ", looked up just now");
    } else
        buf_puts(out, span_is(state, "failed") ? "not found: its name leads nowhere, or not to a public address"
                                               : "not known");
    buf_putc(out, '\n');
    line(out, "network", json_member_text(n, "network"));
    const char *name = "registered";
    for (const struct json_node *r = json_member(n, "path")->children; r; r = r->next) {
        struct buf text = {0};
        static const char *const parts[] = {"country", "registry", "status"};
        put_safe(&text, json_member_text(r, "network"));
        for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
            if (json_member_text(r, parts[i]).n) {
                buf_putc(&text, ' ');
                put_safe(&text, json_member_text(r, parts[i]));
            }
        if (json_member_text(r, "holder").n) {
            buf_puts(&text, ", ");
            put_safe(&text, json_member_text(r, "holder"));
        }
        line(out, name, buf_span(&text));
        buf_done(&text);
        name = "  inside";
    }
}

static bool put_channels(const struct json_node *n, struct buf *out)
{
    bool is_wanted = false;
    const struct json_node *ch = json_member(n, "channels")->children;
    if (!ch)
        line(out, "channel", SPAN("none reaches it"));
    for (; ch; ch = ch->next) {
        is_wanted |= is_true(ch, "in_scope");
        label(out, "channel");
        put_safe(out, json_member_text(ch, "label"));
        buf_puts(out, ": ");
        put_safe(out, json_member_text(ch, "verdict"));
        if (json_member_text(ch, "pattern").n) {
            buf_puts(out, " by ");
            put_safe(out, json_member_text(ch, "pattern"));
        }
        buf_puts(out, is_true(ch, "paused") ? "; paused\n" : "\n");
    }
    return is_wanted;
}

static void put_agent(const struct json_node *n, struct buf *out)
{
    static const struct {
        const char *name, *text;
    } marks[] = {{"trial", "on trial"},
                 {"doubted", "being decided anew"},
                 {"provisional", "for now: an agent that sleeps may be nearer"},
                 {"replicated", "the site answers from several places"},
                 {"fixed", "a person put it there"}};
    struct span agent = json_member_text(n, "agent"), pinned = json_member_text(n, "pinned");
    const struct json_node *since = json_member(n, "since");
    bool is_decided = is_true(n, "decided");
    label(out, "agent");
    if (is_decided) {
        put_safe(out, agent);
        if (since->kind == NODE_NUMBER) {
            buf_puts(out, ", since ");
            put_iso_time(out, (wall_ms)json_member_number(n, "since"));
        }
    } else if (agent.n) {
        buf_puts(out, "nobody's yet; ");
        put_safe(out, agent);
        buf_puts(out, " would probably get it");
    } else
        buf_puts(out, "nobody's yet");
    if (json_member_text(n, "next").n) {
        buf_puts(out, ", moving to ");
        put_safe(out, json_member_text(n, "next"));
    }
    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
        if (is_true(n, marks[i].name))
            buf_printf(out, "; %s", marks[i].text);
    if (pinned.n) {
        buf_puts(out, "; pinned to ");
        put_safe(out, pinned);
    }
    buf_putc(out, '\n');
}

static void put_round_trip(const struct json_node *n, struct buf *out)
{
    struct buf text = {0};
    double expected = json_member_number(n, "expected_ms"), now = json_member_number(n, "now_ms");
    const struct json_node *sure = json_member(n, "sure");
    if (expected > 0)
        buf_printf(&text, "expected %.1f ms", expected);
    if (now > 0)
        buf_printf(&text, "%snow %.1f ms", text.n ? ", " : "", now);
    if (sure->kind == NODE_NUMBER)
        buf_printf(&text, "%s%.0f %% sure that no agent is more than 5 ms nearer", text.n ? "; " : "",
                   100 * json_member_number(n, "sure"));
    line(out, "round trip", buf_span(&text));
    buf_done(&text);
}

static void put_probes(const struct json_node *n, struct buf *out)
{
    struct span address = json_member_text(n, "address");
    const char *name = "measured";
    for (const struct json_node *p = json_member(n, "probes")->children; p; p = p->next) {
        struct span agent = json_member_text(p, "agent"), reached = json_member_text(p, "reached");
        label(out, name);
        put_safe(out, agent.n ? agent : SPAN("an agent that is gone"));
        buf_puts(out, ": ");
        put_ms(out, json_member(p, "ms"));
        if (reached.n && !span_eq(reached, address)) {
            buf_puts(out, ", reached ");
            put_safe(out, reached);
        }
        buf_putc(out, '\n');
        name = "";
    }
    if (json_member_number(n, "probes_waiting") > 0)
        buf_printf(out, "%-16s %.0f more under way\n", name, json_member_number(n, "probes_waiting"));
    name = "next nearest";
    for (const struct json_node *p = json_member(n, "others")->children; p; p = p->next) {
        label(out, name);
        put_safe(out, json_member_text(p, "agent"));
        buf_puts(out, ": ");
        put_ms(out, json_member(p, "ms"));
        buf_puts(out, is_true(p, "measured") ? ", measured\n" : ", guessed\n");
        name = "";
    }
}

static void put_all(const struct json_node *n, const char *dir, struct explain_fleet *e)
{
    struct buf *out = &e->lines;
    if (!is_true(n, "running"))
        buf_printf(out, "%-16s stopped: what the folder says; orb coordinator --data %s knows more\n", "coordinator",
                   dir);
    line(out, "host", json_member_text(n, "host"));
    put_where(n, out);
    e->is_wanted = put_channels(n, out);
    put_agent(n, out);
    put_round_trip(n, out);
    put_probes(n, out);
    line(out, "why", json_member_text(n, "why"));
    line(out, "pinned by", json_member_text(n, "line"));
    const char *name = "would change it";
    for (const struct json_node *s = json_member(n, "changes")->children; s; s = s->next) {
        line(out, name, s->text);
        name = "";
    }
}

/* ---- asking ---- */

int explain_fleet(const struct options *o, const char *dir, struct span url, struct explain_fleet *out)
{
    struct arena a;
    struct buf path = {0}, why = {0};
    const struct json_node *root = NULL;
    int code = EXIT_DONE;
    *out = (struct explain_fleet){0};
    arena_init(&a);
    if (folder_writer(dir)) {
        buf_puts(&path, "/api/v1/explain?url=");
        form_path(&path, url);
        code = admin_call(o, "explain", buf_cstr(&path), NULL, &a, &out->json, &root);
    } else {
        status st = coord_explain_folder(dir, url, &out->json, &why);
        if (st == ST_OK)
            st = json_tree(&a, buf_span(&out->json), &root);
        if (st != ST_OK)
            code = complain(exit_code_of(st), "explain: open data folder %s: %s: %s", dir,
                            why.n ? buf_cstr(&why) : status_name(st), folder_advice(st));
    }
    if (code == EXIT_DONE)
        put_all(root, dir, out);
    else
        explain_fleet_done(out);
    buf_done(&path);
    buf_done(&why);
    arena_done(&a);
    return code;
}

void explain_fleet_done(struct explain_fleet *e)
{
    buf_done(&e->lines);
    buf_done(&e->json);
    *e = (struct explain_fleet){0};
}
