#include "cli/command.h"
#include "codec/json.h"
#include "web/robots.h"
#include "web/url.h"

/* The request target of a URL, or of a path written alone. */
static status target_of(struct arena *a, struct span text, struct span *out)
{
    struct buf whole = {0};
    struct url u;
    if (text.n && text.p[0] == '/')
        buf_puts(&whole, "http://host.invalid");
    buf_put(&whole, text);
    status st = url_parse(a, buf_span(&whole), NULL, &u);
    if (st == ST_OK && !url_is_http(&u))
        st = ST_UNSUPPORTED;
    if (st == ST_OK)
        *out = url_request_target(&u);
    buf_done(&whole);
    return st;
}

static void put_verdict(const struct options *o, struct span url, const struct robots_verdict *v, struct buf *out)
{
    const char *word = v->allowed ? "allow" : "disallow";
    if (opt_flag(o, OPT_JSON)) {
        struct json j = {.out = out};
        json_open(&j, '{');
        json_key(&j, "url");
        json_text(&j, url);
        json_key(&j, "verdict");
        json_str(&j, word);
        json_key(&j, "rule");
        json_text_or_null(&j, v->rule);
        json_key(&j, "line");
        if (v->line)
            json_u64(&j, v->line);
        else
            json_null(&j);
        json_close(&j, '}');
    } else {
        buf_puts(out, word);
        if (opt_flag(o, OPT_EXPLAIN) && v->line) {
            buf_printf(out, "\tline %u: ", v->line);
            put_safe(out, v->rule);
        } else if (opt_flag(o, OPT_EXPLAIN))
            buf_puts(out, "\tno rule matches");
    }
    buf_putc(out, '\n');
}

int cmd_robots(const struct options *o)
{
    struct buf body = {0}, out = {0};
    struct arena a;
    int code = read_input("robots", o->args[0].p, &body);
    arena_init(&a);
    struct robots *rules = code == EXIT_DONE ? robots_parse(buf_span(&body), o->args[1]) : NULL;
    for (size_t i = 2; rules && i < o->arg_count; i++) {
        struct span target;
        if (target_of(&a, o->args[i], &target) != ST_OK) {
            code = complain(EXIT_INPUT, "robots: %s: not an http(s) URL nor a path: begin with http://, https:// or /",
                            o->args[i].p);
            break;
        }
        struct robots_verdict v = robots_check(rules, target);
        put_verdict(o, o->args[i], &v, &out);
        if (!v.allowed)
            code = EXIT_NO;
    }
    print_buf(&out);
    robots_free(rules);
    arena_done(&a);
    buf_done(&body);
    buf_done(&out);
    return code;
}
