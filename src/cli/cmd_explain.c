#include "cli/command.h"
#include "cli/crawl_setup.h"
#include "cli/explain_alternates.h"
#include "cli/explain_fleet.h"
#include "cli/url_opts.h"
#include "store/fleet.h"

static void put_lines(struct buf *out, struct span lines)
{
    struct span line;
    while (span_split(&lines, '\n', &line)) {
        if (line.n == 0 && lines.n == 0)
            break;
        put_safe(out, line);
        buf_putc(out, '\n');
    }
}

/* One more member of the object in `out`. */
static void put_member(struct buf *out, const char *name, struct span value)
{
    if (!value.n)
        return;
    out->n--;
    buf_printf(out, ",\"%s\":", name);
    buf_put(out, span_trim(value));
    buf_putc(out, '}');
}

static void put_json(struct buf *out, const struct explain *e, const struct explain_fleet *fleet,
                     struct span alternates)
{
    buf_put(out, buf_span(&e->json));
    put_member(out, "alternates", alternates);
    put_member(out, "fleet", buf_span(&fleet->json));
    buf_putc(out, '\n');
}

static int explain(const struct options *o, const char *dir, struct span url)
{
    struct explain e = {0};
    struct explain_fleet fleet = {0};
    struct buf why = {0}, out = {0}, alternate_lines = {0}, alternates = {0};
    int code = EXIT_DONE;
    status st = crawl_explain(dir, url, &e, &why);
    if (st != ST_OK)
        code = complain(st == ST_NOT_FOUND ? EXIT_IO : exit_code_of(st), "explain: open data folder %s: %s: %s", dir,
                        why.n ? buf_cstr(&why) : status_name(st), folder_advice(st));
    else if (fleet_is_there(dir))
        code = explain_fleet(o, dir, url, &fleet);
    if (code == EXIT_DONE) {
        explain_alternates(dir, e.url, &alternate_lines, &alternates);
        if (opt_flag(o, OPT_JSON))
            put_json(&out, &e, &fleet, buf_span(&alternates));
        else {
            put_lines(&out, buf_span(&fleet.lines));
            put_lines(&out, buf_span(&e.lines));
            buf_put(&out, buf_span(&alternate_lines));
        }
        print_buf(&out);
        bool is_unvisited = strcmp(e.state, "not visited") == 0;
        if (strcmp(e.state, "unknown") == 0 || (is_unvisited && !fleet.is_wanted))
            code = EXIT_NO;
    }
    explain_done(&e);
    explain_fleet_done(&fleet);
    buf_done(&why);
    buf_done(&out);
    buf_done(&alternate_lines);
    buf_done(&alternates);
    return code;
}

int cmd_explain(const struct options *o)
{
    struct arena a;
    struct url u;
    struct buf why = {0};
    const char *dir = opt_cstr(o, OPT_DATA);
    int code;
    arena_init(&a);
    struct url_norm norm = url_norm_from(o, &a);
    if (!dir)
        code = complain(EXIT_USAGE, "explain: --data: empty: give a folder");
    else if (seed_parse(&a, o->args[0], &norm, &u, &why) != ST_OK)
        code = complain(EXIT_INPUT, "explain %s: %s", o->args[0].p, buf_cstr(&why));
    else
        code = explain(o, dir, u.href);
    buf_done(&why);
    arena_done(&a);
    return code;
}
