#include <math.h>
#include <stdio.h>

#include "cli/admin_call.h"
#include "cli/command.h"
#include "cli/format.h"

/* What one may do to an agent, and the words for it. */
static const struct action {
    const char *name;
    const char *done; /* said afterwards; NULL: the answer is shown */
} actions[] = {{"pause", "paused: it finishes what is under way and fetches nothing more"},
               {"resume", "resumed"},
               {"drain", "drained: its networks move to others that take them, or wait for one"},
               {"kill", "told to end: it sends what it has, then its process ends"},
               {"remove", "removed: its key is worth nothing any more"},
               {"trust", "trusted again"},
               {"rekey", "told to make a new key"},
               {"invite", NULL},
               {"change", "changed"}};

static void put_form(struct buf *form, const struct options *o)
{
    struct span at = opt_is_set(o, OPT_AT) ? opt_text(o, OPT_AT) : (struct span){0}, part;
    form_option(form, "place", o, OPT_PLACE);
    if (at.n && span_split(&at, ',', &part)) {
        form_text(form, "latitude", span_trim(part));
        form_text(form, "longitude", span_trim(at));
    }
    form_option(form, "hours", o, OPT_HOURS);
    form_option(form, "bytes_a_day", o, OPT_BYTES_A_DAY);
    form_option(form, "bytes_per_s", o, OPT_BANDWIDTH);
    form_option(form, "memory", o, OPT_MEMORY);
    form_option(form, "disk", o, OPT_DISK);
    form_option(form, "idle_only", o, OPT_IDLE_ONLY);
    form_option(form, "tasks", o, OPT_TASKS);
}

static void put_line(struct buf *out, const struct json_node *answer)
{
    buf_puts(out, "On the agent's machine, within an hour:\n\n  ");
    put_safe(out, json_member_text(answer, "line"));
    buf_puts(out, "\n");
}

static int add(const struct options *o, struct arena *a)
{
    struct buf form = {0}, raw = {0}, text = {0};
    const struct json_node *answer;
    form_text(&form, "name", o->args[1]);
    form_option(&form, "trusted", o, OPT_TRUSTED);
    put_form(&form, o);
    int code = admin_call(o, "agent add", "/api/v1/agents", &form, a, &raw, &answer);
    if (code == EXIT_DONE) {
        put_line(&text, answer);
        code = admin_show(o, &text, &raw);
    }
    buf_done(&form);
    buf_done(&raw);
    buf_done(&text);
    return code;
}

static void put_ago(struct buf *out, double seconds)
{
    if (seconds < 0)
        buf_puts(out, "never");
    else if (seconds < 120)
        buf_printf(out, "%.0f s ago", seconds);
    else if (seconds < 7200)
        buf_printf(out, "%.0f min ago", seconds / 60);
    else if (seconds < 172800)
        buf_printf(out, "%.0f h ago", seconds / 3600);
    else
        buf_printf(out, "%.0f days ago", seconds / 86400);
}

static void put_row(struct buf *out, const struct json_node *agent)
{
    struct buf name = {0}, heard = {0}, rate = {0};
    put_safe(&name, json_member_text(agent, "name"));
    put_ago(&heard, json_member(agent, "heard_s")->kind == NODE_NUMBER ? json_member_number(agent, "heard_s") : -1);
    buf_printf(&rate, "%.1f", json_member_number(agent, "pages_per_s"));
    buf_printf(out, "%-20s %-12.*s %-13s %10.0f %8s %9.0f %7.0f\n", buf_cstr(&name),
               SPAN_ARG(json_member_text(agent, "state")), buf_cstr(&heard), json_member_number(agent, "pages"),
               buf_cstr(&rate), json_member_number(agent, "queue"), json_member_number(agent, "networks"));
    buf_done(&name);
    buf_done(&heard);
    buf_done(&rate);
}

static int list(const struct options *o, struct arena *a)
{
    struct buf raw = {0}, text = {0};
    const struct json_node *answer;
    int code = admin_call(o, "agent list", "/api/v1/agents", NULL, a, &raw, &answer);
    if (code == EXIT_DONE) {
        const struct json_node *agents = json_member(answer, "agents");
        if (!agents->children)
            buf_puts(&text, "No agents yet: orb agent add NAME\n");
        else
            buf_printf(&text, "%-20s %-12s %-13s %10s %8s %9s %7s\n", "NAME", "STATE", "HEARD", "PAGES", "PAGES/S",
                       "QUEUE", "NETWORKS");
        for (const struct json_node *n = agents->children; n; n = n->next)
            put_row(&text, n);
        code = admin_show(o, &text, &raw);
    }
    buf_done(&raw);
    buf_done(&text);
    return code;
}

static void put_facts(struct buf *out, const struct json_node *n, int depth)
{
    for (const struct json_node *c = n->children; c; c = c->next) {
        buf_printf(out, "%*s%.*s%s", depth * 2, "", SPAN_ARG(c->name), c->name.n ? "  " : "");
        if (c->kind == NODE_TEXT)
            put_safe(out, c->text);
        else if (c->kind == NODE_NUMBER)
            buf_printf(out, floor(c->number) == c->number ? "%.0f" : "%.3f", c->number);
        else if (c->kind == NODE_TRUTH)
            buf_puts(out, c->number > 0 ? "yes" : "no");
        buf_puts(out, "\n");
        if (c->kind == NODE_LIST || c->kind == NODE_OBJECT)
            put_facts(out, c, depth + 1);
    }
}

static int show(const struct options *o, struct arena *a)
{
    struct buf path = {0}, raw = {0}, text = {0};
    const struct json_node *answer;
    buf_puts(&path, "/api/v1/agents/");
    form_path(&path, o->args[1]);
    int code = admin_call(o, "agent show", buf_cstr(&path), NULL, a, &raw, &answer);
    if (code == EXIT_DONE) {
        put_facts(&text, answer, 0);
        code = admin_show(o, &text, &raw);
    }
    buf_done(&path);
    buf_done(&raw);
    buf_done(&text);
    return code;
}

static int act(const struct options *o, struct arena *a, const struct action *action)
{
    struct buf path = {0}, form = {0}, raw = {0}, text = {0}, what = {0};
    const struct json_node *answer;
    buf_puts(&path, "/api/v1/agents/");
    form_path(&path, o->args[1]);
    buf_printf(&path, "/%s", action->name);
    buf_printf(&what, "agent %s", action->name);
    put_form(&form, o);
    int code = admin_call(o, buf_cstr(&what), buf_cstr(&path), &form, a, &raw, &answer);
    if (code == EXIT_DONE) {
        if (action->done)
            buf_printf(&text, "%.*s: %s\n", SPAN_ARG(o->args[1]), action->done);
        else
            put_line(&text, answer);
        code = admin_show(o, &text, &raw);
    }
    buf_done(&path);
    buf_done(&form);
    buf_done(&raw);
    buf_done(&text);
    buf_done(&what);
    return code;
}

static int run(const struct options *o, struct arena *a)
{
    struct span verb = o->args[0];
    if (span_is(verb, "list") && o->arg_count == 1)
        return list(o, a);
    if (span_is(verb, "list"))
        return complain(EXIT_USAGE, "agent list: takes no name: see orb agent show NAME");
    if (span_is(verb, "offer"))
        return agent_offer(o, a);
    bool is_action = span_is(verb, "add") || span_is(verb, "show");
    const struct action *action = NULL;
    for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
        if (span_is(verb, actions[i].name))
            action = &actions[i];
    if (!is_action && !action)
        return complain(EXIT_USAGE, "agent %.*s: no such verb: see orb help agent", SPAN_ARG(verb));
    if (o->arg_count < 2)
        return complain(EXIT_USAGE, "agent %.*s: which agent? give its NAME", SPAN_ARG(verb));
    if (action)
        return act(o, a, action);
    return span_is(verb, "add") ? add(o, a) : show(o, a);
}

int cmd_agent(const struct options *o)
{
    struct arena a;
    arena_init(&a);
    int code = run(o, &a);
    arena_done(&a);
    return code;
}
