#include "cli/command.h"
#include "cli/crawl_setup.h"
#include "cli/url_opts.h"

static int explain(const struct options *o, const char *dir, struct span url)
{
    struct explain e = {0};
    struct buf why = {0}, out = {0};
    status st = crawl_explain(dir, url, &e, &why);
    int code = EXIT_DONE;
    if (st != ST_OK)
        code = complain(st == ST_NOT_FOUND ? EXIT_IO : exit_code_of(st), "explain: open data folder %s: %s: %s", dir,
                        why.n ? buf_cstr(&why) : status_name(st), folder_advice(st));
    else {
        struct span lines = buf_span(&e.lines), line;
        if (opt_flag(o, OPT_JSON)) {
            buf_put(&out, buf_span(&e.json));
            buf_putc(&out, '\n');
        } else
            while (span_split(&lines, '\n', &line)) {
                if (line.n == 0 && lines.n == 0)
                    break;
                put_safe(&out, line);
                buf_putc(&out, '\n');
            }
        print_buf(&out);
        if (strcmp(e.state, "unknown") == 0)
            code = EXIT_NO;
        explain_done(&e);
    }
    buf_done(&why);
    buf_done(&out);
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
