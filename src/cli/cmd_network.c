#include <stdio.h>

#include "cli/admin_call.h"
#include "cli/command.h"

static int list(const struct options *o, struct arena *a)
{
    struct buf path = {0}, raw = {0}, text = {0};
    const struct json_node *answer;
    buf_puts(&path, "/api/v1/networks");
    if (opt_is_set(o, OPT_AGENT)) {
        buf_puts(&path, "?agent=");
        form_path(&path, opt_text(o, OPT_AGENT));
    }
    int code = admin_call(o, "network list", buf_cstr(&path), NULL, a, &raw, &answer);
    if (code == EXIT_DONE) {
        buf_printf(&text, "%-24s %-20s %-9s %6s %8s  %s\n", "NETWORK", "AGENT", "STATE", "HOSTS", "RTT", "WHY");
        for (const struct json_node *n = json_member(answer, "networks")->children; n; n = n->next) {
            struct buf agent = {0}, why = {0}, rtt = {0};
            put_safe(&agent, json_member_text(n, "agent"));
            put_safe(&why, json_member_text(n, "why"));
            if (json_member_number(n, "rtt_ms") > 0)
                buf_printf(&rtt, "%.1f ms", json_member_number(n, "rtt_ms"));
            buf_printf(&text, "%-24.*s %-20s %-9.*s %6.0f %8s  %s\n", SPAN_ARG(json_member_text(n, "network")),
                       agent.n ? buf_cstr(&agent) : "-", SPAN_ARG(json_member_text(n, "state")),
                       json_member_number(n, "hosts"), rtt.n ? buf_cstr(&rtt) : "-", buf_cstr(&why));
            buf_done(&agent);
            buf_done(&why);
            buf_done(&rtt);
        }
        code = admin_show(o, &text, &raw);
    }
    buf_done(&path);
    buf_done(&raw);
    buf_done(&text);
    return code;
}

static int move(const struct options *o, struct arena *a)
{
    struct buf form = {0}, raw = {0}, text = {0};
    const struct json_node *answer;
    form_text(&form, "network", o->args[1]);
    form_text(&form, "to", o->args[2]);
    int code = admin_call(o, "network move", "/api/v1/networks/move", &form, a, &raw, &answer);
    if (code == EXIT_DONE) {
        buf_printf(&text, "%.*s moves to %.*s once its agent has stopped\n", SPAN_ARG(o->args[1]),
                   SPAN_ARG(o->args[2]));
        code = admin_show(o, &text, &raw);
    }
    buf_done(&form);
    buf_done(&raw);
    buf_done(&text);
    return code;
}

/* ---- who may crawl what ---- */

static int pins_show(const struct options *o, struct arena *a)
{
    struct buf raw = {0}, text = {0};
    const struct json_node *answer;
    int code = admin_call(o, "network pins", "/api/v1/pins", NULL, a, &raw, &answer);
    if (code == EXIT_DONE) {
        const struct json_node *first = json_member(answer, "lines")->children;
        if (first)
            buf_printf(&text, "%8s %8s  %s\n", "NETWORKS", "WAITING", "LINE");
        else
            buf_puts(&text, "no lines: every network may go to every agent\n");
        for (const struct json_node *n = first; n; n = n->next) {
            buf_printf(&text, "%8.0f %8.0f  ", json_member_number(n, "networks"), json_member_number(n, "waiting"));
            put_safe(&text, json_member_text(n, "text"));
            buf_putc(&text, '\n');
        }
        code = admin_show(o, &text, &raw);
    }
    buf_done(&raw);
    buf_done(&text);
    return code;
}

static int pins_change(const struct options *o, struct arena *a, const char *what, const char *field, struct span value)
{
    struct buf form = {0}, raw = {0}, text = {0};
    const struct json_node *answer;
    form_text(&form, field, value);
    int code = admin_call(o, what, "/api/v1/pins", &form, a, &raw, &answer);
    if (code == EXIT_DONE) {
        buf_puts(&text, "done: networks that may not stay where they are move\n");
        code = admin_show(o, &text, &raw);
    }
    buf_done(&form);
    buf_done(&raw);
    buf_done(&text);
    return code;
}

static int pins_replace(const struct options *o, struct arena *a)
{
    struct buf file = {0};
    int code = read_input("network pins", o->args[1].p, &file);
    if (code == EXIT_DONE)
        code = pins_change(o, a, "network pins", "pins", buf_span(&file));
    buf_done(&file);
    return code;
}

int cmd_network(const struct options *o)
{
    struct arena a;
    int code;
    arena_init(&a);
    if (span_is(o->args[0], "list") && o->arg_count == 1)
        code = list(o, &a);
    else if (span_is(o->args[0], "move") && o->arg_count == 3)
        code = move(o, &a);
    else if (span_is(o->args[0], "pins") && o->arg_count == 1)
        code = pins_show(o, &a);
    else if (span_is(o->args[0], "pins") && o->arg_count == 2)
        code = pins_replace(o, &a);
    else if (span_is(o->args[0], "pin") && o->arg_count == 2)
        code = pins_change(o, &a, "network pin", "add", o->args[1]);
    else if (span_is(o->args[0], "unpin") && o->arg_count == 2)
        code = pins_change(o, &a, "network unpin", "remove", o->args[1]);
    else
        code = complain(EXIT_USAGE, "network: list, move NETWORK AGENT, pins [FILE], pin LINE or unpin LINE: see orb "
                                    "help network");
    arena_done(&a);
    return code;
}
