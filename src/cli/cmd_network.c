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

int cmd_network(const struct options *o)
{
    struct arena a;
    int code;
    arena_init(&a);
    if (span_is(o->args[0], "list") && o->arg_count == 1)
        code = list(o, &a);
    else if (span_is(o->args[0], "move") && o->arg_count == 3)
        code = move(o, &a);
    else
        code = complain(EXIT_USAGE, "network: list, or move NETWORK AGENT: see orb help network");
    arena_done(&a);
    return code;
}
