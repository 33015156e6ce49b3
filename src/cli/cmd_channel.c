#include <stdio.h>

#include "cli/admin_call.h"
#include "cli/channel_fresh.h"
#include "cli/command.h"

static void put_form(struct buf *form, const struct options *o)
{
    form_option(form, "scope", o, OPT_SCOPE);
    form_option(form, "depth", o, OPT_DEPTH);
    form_option(form, "include", o, OPT_INCLUDE);
    form_option(form, "exclude", o, OPT_EXCLUDE);
    form_option(form, "sitemaps", o, OPT_SITEMAP);
    form_option(form, "label", o, OPT_LABEL);
    form_option(form, "kind", o, OPT_KIND);
    form_option(form, "every", o, OPT_EVERY); /* in milliseconds */
    form_option(form, "weight", o, OPT_WEIGHT);
    form_option(form, "never", o, OPT_NEVER);
    form_option(form, "at_most_every", o, OPT_AT_MOST_EVERY);
    form_option(form, "at_least_every", o, OPT_AT_LEAST_EVERY);
    form_option(form, "agent", o, OPT_AGENT);
    form_option(form, "program", o, OPT_PROGRAM_NAME);
    form_option(form, "expected", o, OPT_EXPECTED);
    form_option(form, "warc", o, OPT_CHANNEL_WARC);
}

static void put_row(struct buf *out, const struct json_node *c)
{
    struct buf agents = {0}, label = {0};
    for (const struct json_node *n = json_member(c, "agents")->children; n; n = n->next) {
        buf_puts(&agents, agents.n ? "," : "");
        put_safe(&agents, n->text);
    }
    put_safe(&label, json_member_text(c, "label"));
    buf_printf(out, "%-18.*s %-10.*s %9.0f %9.0f  %-16s %s\n", SPAN_ARG(json_member_text(c, "id")),
               SPAN_ARG(json_member_text(c, "state")), json_member_number(c, "fetched"),
               json_member_number(c, "queued"), agents.n ? buf_cstr(&agents) : "-", buf_cstr(&label));
    buf_done(&agents);
    buf_done(&label);
}

static int list(const struct options *o, struct arena *a)
{
    struct buf raw = {0}, text = {0};
    const struct json_node *answer;
    int code = admin_call(o, "channel list", "/api/v1/channels", NULL, a, &raw, &answer);
    if (code == EXIT_DONE) {
        const struct json_node *channels = json_member(answer, "channels");
        if (!channels->children)
            buf_puts(&text, "No channels yet: orb channel add URL\n");
        else
            buf_printf(&text, "%-18s %-10s %9s %9s  %-16s %s\n", "ID", "STATE", "FETCHED", "QUEUED", "AGENT", "LABEL");
        for (const struct json_node *n = channels->children; n; n = n->next)
            put_row(&text, n);
        code = admin_show(o, &text, &raw);
    }
    buf_done(&raw);
    buf_done(&text);
    return code;
}

/* Posts a form; says `done`, or the ids of what was made. */
static int post(const struct options *o, struct arena *a, const char *what, const char *path, const struct buf *form,
                const char *done)
{
    struct buf raw = {0}, text = {0};
    const struct json_node *answer;
    int code = admin_call(o, what, path, form, a, &raw, &answer);
    if (code == EXIT_DONE) {
        struct span id = json_member_text(answer, "id");
        const struct json_node *added = json_member(answer, "added");
        if (done)
            buf_printf(&text, "%.*s: %s\n", SPAN_ARG(o->args[1]), done);
        else if (id.n)
            buf_printf(&text, "channel %.*s\n", SPAN_ARG(id));
        else
            buf_printf(&text, "%.0f channels added\n", added->number);
        code = admin_show(o, &text, &raw);
    }
    buf_done(&raw);
    buf_done(&text);
    return code;
}

static int add(const struct options *o, struct arena *a)
{
    struct buf form = {0};
    for (size_t i = 1; i < o->arg_count; i++)
        form_text(&form, "seeds", o->args[i]);
    put_form(&form, o);
    int code = post(o, a, "channel add", "/api/v1/channels", &form, NULL);
    buf_done(&form);
    return code;
}

static int import(const struct options *o, struct arena *a)
{
    struct buf form = {0}, lines = {0};
    int code = read_input("channel import", o->args[1].p, &lines);
    if (code == EXIT_DONE) {
        form_text(&form, "lines", buf_span(&lines));
        put_form(&form, o);
        code = post(o, a, "channel import", "/api/v1/channels/import", &form, NULL);
    }
    buf_done(&form);
    buf_done(&lines);
    return code;
}

static const struct {
    const char *name, *done;
} verbs[] = {{"edit", "changed"},
             {"pause", "paused"},
             {"resume", "resumed"},
             {"recheck", "its agents look at its pages again"},
             {"remove", "removed; its pages stay searchable"},
             {"move", "its networks move"}};

static int act(const struct options *o, struct arena *a, size_t verb)
{
    struct buf path = {0}, form = {0}, what = {0};
    buf_puts(&path, "/api/v1/channels/");
    form_path(&path, o->args[1]);
    buf_printf(&path, "/%s", verbs[verb].name);
    buf_printf(&what, "channel %s", verbs[verb].name);
    put_form(&form, o);
    form_option(&form, "whole", o, OPT_WHOLE);
    if (o->arg_count > 2)
        form_text(&form, "to", o->args[2]);
    int code = post(o, a, buf_cstr(&what), buf_cstr(&path), &form, verbs[verb].done);
    buf_done(&path);
    buf_done(&form);
    buf_done(&what);
    return code;
}

static int run(const struct options *o, struct arena *a)
{
    struct span verb = o->args[0];
    if (span_is(verb, "list"))
        return list(o, a);
    if (span_is(verb, "recrawl"))
        return channel_recrawl(o, a);
    size_t at = 0;
    while (at < sizeof(verbs) / sizeof(*verbs) && !span_is(verb, verbs[at].name))
        at++;
    bool is_known =
        at < sizeof(verbs) / sizeof(*verbs) || span_is(verb, "add") || span_is(verb, "import") || span_is(verb, "show");
    if (!is_known)
        return complain(EXIT_USAGE, "channel %.*s: no such verb: see orb help channel", SPAN_ARG(verb));
    if (o->arg_count < 2)
        return complain(EXIT_USAGE, "channel %.*s: of what? give %s", SPAN_ARG(verb),
                        span_is(verb, "add")      ? "URLs"
                        : span_is(verb, "import") ? "a FILE"
                                                  : "the channel's ID");
    if (span_is(verb, "move") && o->arg_count != 3)
        return complain(EXIT_USAGE, "channel move: give the channel's ID and the AGENT to move it to");
    if (span_is(verb, "add"))
        return add(o, a);
    if (span_is(verb, "show"))
        return channel_show(o, a);
    return span_is(verb, "import") ? import(o, a) : act(o, a, at);
}

int cmd_channel(const struct options *o)
{
    struct arena a;
    arena_init(&a);
    int code = run(o, &a);
    arena_done(&a);
    return code;
}
