#include "cli/channel_fresh.h"

#include "cli/admin_call.h"
#include "cli/command.h"
#include "cli/format.h"
#include "plan/change_words.h"

#define DAY_S 86400.0

static void put_every(struct buf *out, double ms)
{
    double s = ms / 1000;
    if (s >= 2 * DAY_S)
        buf_printf(out, "%.1f days", s / DAY_S);
    else if (s >= 7200)
        buf_printf(out, "%.1f h", s / 3600);
    else if (s >= 120)
        buf_printf(out, "%.1f min", s / 60);
    else
        buf_printf(out, "%.1f s", s);
}

static void put_when(struct buf *out, const struct json_node *o, const char *name, const char *never)
{
    double t = json_member_number(o, name);
    if (t > 0)
        put_iso_time(out, (wall_ms)t);
    else
        buf_puts(out, never);
}

static void put_rule(struct buf *out, const struct json_node *c)
{
    double most = json_member_number(c, "at_most_every_ms"), least = json_member_number(c, "at_least_every_ms");
    if (json_member_number(c, "never") > 0) {
        buf_puts(out, "never");
        return;
    }
    if (most > 0 && most == least) {
        buf_puts(out, "every ");
        put_every(out, most);
        return;
    }
    buf_puts(out, "as often as it changes");
    if (most > 0) {
        buf_puts(out, ", at most every ");
        put_every(out, most);
    }
    if (least > 0) {
        buf_puts(out, ", at least every ");
        put_every(out, least);
    }
}

static void put_fact(struct buf *out, const char *name)
{
    buf_printf(out, "  %-16s ", name);
}

static void put_visits(struct buf *out, const struct json_node *f)
{
    put_fact(out, "visits");
    put_count(out, (uint64_t)json_member_number(f, "submissions"));
    buf_puts(out, " ordered, ");
    put_count(out, (uint64_t)json_member_number(f, "successes"));
    buf_puts(out, " came to an end, ");
    put_count(out, (uint64_t)json_member_number(f, "updates"));
    buf_puts(out, " brought something new\n");
    if (!(json_member_number(f, "successes") > 0))
        return;
    put_fact(out, "the last one");
    put_count(out, (uint64_t)json_member_number(f, "looked"));
    buf_puts(out, " pages: ");
    put_count(out, (uint64_t)json_member_number(f, "changed"));
    buf_puts(out, " changed, ");
    put_count(out, (uint64_t)json_member_number(f, "added"));
    buf_puts(out, " new, ");
    put_count(out, (uint64_t)json_member_number(f, "gone"));
    buf_puts(out, " gone, ");
    put_count(out, (uint64_t)json_member_number(f, "failed"));
    buf_puts(out, " failed, in ");
    put_seconds(out, (uint64_t)json_member_number(f, "took_ms"));
    buf_puts(out, "\n");
}

static void put_fresh(struct buf *out, const struct json_node *c)
{
    const struct json_node *f = json_member(c, "recrawl");
    bool is_visited = json_member_number(f, "visited") > 0;
    put_fact(out, "visited again");
    put_rule(out, c);
    buf_puts(out, "\n");
    put_fact(out, "weight");
    buf_printf(out, "%g", json_member_number(f, "weight"));
    if (json_member_number(f, "inlinks") > 1)
        buf_printf(out, ", %.1f of it by links", json_member_number(f, "inlinks"));
    buf_puts(out, "\n");
    put_fact(out, "last visit");
    put_when(out, f, "visited", "not yet: it is crawled for the first time");
    buf_puts(out, json_member_number(f, "under_way") > 0 ? "; one is under way\n" : "\n");
    if (!is_visited)
        return;
    put_fact(out, "changes");
    double a_day = json_member_number(f, "changes_a_day");
    if (a_day > 0)
        change_words_range(out, a_day, json_member_number(f, "uncertainty"));
    else
        buf_puts(out, "not known yet");
    buf_printf(out, "; rank %.0f\n", json_member_number(f, "rank"));
    put_fact(out, "fresh");
    buf_printf(out, "%.1f %%\n", json_member_number(f, "freshness") * 100);
    put_fact(out, "next visit");
    if (json_member_number(f, "next") > 0)
        buf_puts(out, "not before ");
    put_when(out, f, "next", json_member_number(f, "under_way") > 0 ? "when this one is over" : "none is planned");
    buf_puts(out, "\n");
    put_visits(out, f);
}

static void put_channel(struct buf *out, const struct json_node *c)
{
    buf_printf(out, "%.*s  ", SPAN_ARG(json_member_text(c, "id")));
    put_safe(out, json_member_text(c, "label"));
    buf_puts(out, "\n");
    put_fact(out, "state");
    put_safe(out, json_member_text(c, "state"));
    if (json_member_text(c, "waits_for").n) {
        buf_puts(out, ": ");
        put_safe(out, json_member_text(c, "waits_for"));
    }
    buf_puts(out, "\n");
    put_fact(out, "pages");
    put_count(out, (uint64_t)json_member_number(c, "fetched"));
    buf_puts(out, " fetched, ");
    put_count(out, (uint64_t)json_member_number(c, "queued"));
    buf_puts(out, " wait, ");
    put_count(out, (uint64_t)json_member_number(c, "errors"));
    buf_puts(out, " failed\n");
    put_fact(out, "agents");
    const struct json_node *first = json_member(c, "agents")->children;
    for (const struct json_node *n = first; n; n = n->next) {
        buf_puts(out, n == first ? "" : ", ");
        put_safe(out, n->text);
    }
    buf_puts(out, first ? "\n" : "none yet\n");
    put_fact(out, "seeds");
    first = json_member(c, "seeds")->children;
    for (const struct json_node *n = first; n; n = n->next) {
        buf_puts(out, n == first ? "" : " ");
        put_safe(out, n->text);
    }
    buf_puts(out, "\n");
    put_fresh(out, c);
}

int channel_show(const struct options *o, struct arena *a)
{
    struct buf path = {0}, raw = {0}, text = {0};
    const struct json_node *answer;
    buf_puts(&path, "/api/v1/channels/");
    form_path(&path, o->args[1]);
    int code = admin_call(o, "channel show", buf_cstr(&path), NULL, a, &raw, &answer);
    if (code == EXIT_DONE) {
        put_channel(&text, answer);
        code = admin_show(o, &text, &raw);
    }
    buf_done(&path);
    buf_done(&raw);
    buf_done(&text);
    return code;
}

/* ---- all of them ---- */

static void put_ranks(struct buf *out, const struct json_node *f)
{
    buf_printf(out, "\n%-6s %10s %12s %8s\n", "RANK", "CHANNELS", "INTERVAL", "FRESH");
    for (const struct json_node *n = json_member(f, "ranks")->children; n; n = n->next) {
        struct buf every = {0};
        put_every(&every, json_member_number(n, "interval_ms"));
        buf_printf(out, "%-6.0f %10.0f %12s", json_member_number(n, "rank"), json_member_number(n, "channels"),
                   buf_cstr(&every));
        if (json_member_number(n, "channels") > 0)
            buf_printf(out, " %6.1f %%\n", json_member_number(n, "freshness") * 100);
        else
            buf_printf(out, " %8s\n", "-");
        buf_done(&every);
    }
}

static void put_stalest(struct buf *out, const struct json_node *f)
{
    const struct json_node *first = json_member(f, "stalest")->children;
    if (!first)
        return;
    buf_printf(out, "\n%-18s %8s %8s  %-20s  %s\n", "STALEST", "WEIGHT", "FRESH", "VISITED", "LABEL");
    for (const struct json_node *n = first; n; n = n->next) {
        struct buf visited = {0};
        put_when(&visited, n, "visited", "-");
        buf_printf(out, "%-18.*s %8.2f %6.1f %%  %-20s  ", SPAN_ARG(json_member_text(n, "id")),
                   json_member_number(n, "weight"), json_member_number(n, "freshness") * 100, buf_cstr(&visited));
        put_safe(out, json_member_text(n, "label"));
        buf_puts(out, "\n");
        buf_done(&visited);
    }
}

static void put_figures(struct buf *out, const struct json_node *f)
{
    put_fact(out, "strategy");
    put_safe(out, json_member_text(f, "strategy"));
    buf_printf(out, ", at most %g visits a change\n", json_member_number(f, "ceiling"));
    put_fact(out, "channels");
    put_count(out, (uint64_t)json_member_number(f, "channels"));
    buf_puts(out, " kept fresh, ");
    put_count(out, (uint64_t)json_member_number(f, "new"));
    buf_puts(out, " not crawled yet\n");
    if (json_member_number(f, "channels") > 0) {
        put_fact(out, "fresh now");
        buf_printf(out, "%.1f %%, by weight\n", json_member_number(f, "freshness") * 100);
    }
    put_fact(out, "visits");
    buf_printf(out, "%.0f due, %.0f queued, %.0f running; %.0f done and %.0f lost since the coordinator started\n",
               json_member_number(f, "due"), json_member_number(f, "queued"), json_member_number(f, "running"),
               json_member_number(f, "done"), json_member_number(f, "lost"));
    put_ranks(out, f);
    put_stalest(out, f);
}

int channel_recrawl(const struct options *o, struct arena *a)
{
    struct buf form = {0}, raw = {0}, text = {0};
    const struct json_node *answer;
    bool is_switch = o->arg_count > 1;
    if (is_switch)
        form_text(&form, "strategy", o->args[1]);
    int code = admin_call(o, "channel recrawl", "/api/v1/recrawl", is_switch ? &form : NULL, a, &raw, &answer);
    if (code == EXIT_DONE) {
        if (is_switch)
            buf_printf(&text, "channels are kept fresh by: %.*s\n", SPAN_ARG(json_member_text(answer, "strategy")));
        else
            put_figures(&text, answer);
        code = admin_show(o, &text, &raw);
    }
    buf_done(&form);
    buf_done(&raw);
    buf_done(&text);
    return code;
}
