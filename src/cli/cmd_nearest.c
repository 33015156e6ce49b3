#include "cli/admin_call.h"
#include "cli/command.h"

static void put_one(struct buf *text, const struct json_node *n)
{
    struct buf agent = {0}, why = {0}, holder = {0}, ms = {0}, sure = {0};
    put_safe(&agent, json_member_text(n, "agent"));
    put_safe(&why, json_member_text(n, "why"));
    put_safe(&holder, json_member_text(n, "holder"));
    if (json_member_number(n, "expected_ms") > 0)
        buf_printf(&ms, "%.1f ms", json_member_number(n, "expected_ms"));
    if (json_member_number(n, "sure") > 0)
        buf_printf(&sure, "%.0f %%", 100 * json_member_number(n, "sure"));
    buf_printf(text, "%-16.*s %-18.*s %-3.*s %-24s %-16s %9s %6s  %s\n", SPAN_ARG(json_member_text(n, "ip")),
               SPAN_ARG(json_member_text(n, "network")), SPAN_ARG(json_member_text(n, "country")),
               holder.n ? buf_cstr(&holder) : "-", agent.n ? buf_cstr(&agent) : "-", ms.n ? buf_cstr(&ms) : "-",
               sure.n ? buf_cstr(&sure) : "-", buf_cstr(&why));
    buf_done(&agent);
    buf_done(&why);
    buf_done(&holder);
    buf_done(&ms);
    buf_done(&sure);
}

int cmd_nearest(const struct options *o)
{
    struct arena a;
    struct buf path = {0}, raw = {0}, text = {0};
    const struct json_node *answer;
    arena_init(&a);
    buf_puts(&path, "/api/v1/nearest?ip=");
    for (size_t i = 0; i < o->arg_count; i++) {
        if (i)
            buf_putc(&path, ',');
        form_path(&path, o->args[i]);
    }
    int code = admin_call(o, "nearest", buf_cstr(&path), NULL, &a, &raw, &answer);
    if (code == EXIT_DONE) {
        buf_printf(&text, "%-16s %-18s %-3s %-24s %-16s %9s %6s  %s\n", "ADDRESS", "NETWORK", "", "HOLDER", "AGENT",
                   "RTT", "NEAR", "WHY");
        for (const struct json_node *n = json_member(answer, "nearest")->children; n; n = n->next)
            put_one(&text, n);
        code = admin_show(o, &text, &raw);
    }
    buf_done(&path);
    buf_done(&raw);
    buf_done(&text);
    arena_done(&a);
    return code;
}
