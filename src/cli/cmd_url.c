#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "codec/json.h"
#include "cli/url_opts.h"

static void put_json(const struct url *u, struct buf *out)
{
    struct json j = {.out = out};
    const struct {
        const char *name;
        struct span value;
        bool is_there;
    } parts[] = {
        {"href", u->href, true},           {"scheme", u->scheme, true},
        {"username", u->username, true},   {"password", u->password, true},
        {"host", u->host, u->has_host},    {"path", u->path, true},
        {"query", u->query, u->has_query}, {"fragment", u->fragment, u->has_fragment},
    };
    json_open(&j, '{');
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        json_key(&j, parts[i].name);
        if (parts[i].is_there)
            json_text(&j, parts[i].value);
        else
            json_null(&j);
    }
    json_key(&j, "port");
    if (u->port >= 0)
        json_i64(&j, u->port);
    else
        json_null(&j);
    json_close(&j, '}');
}

/* Appends one line of answer. Returns false when it is `failure`. */
static bool answer(const struct options *o, const struct url_norm *norm, struct arena *a, const struct span *base_text,
                   struct span text, struct buf *out)
{
    struct url base, u;
    status st = base_text ? url_parse(a, *base_text, NULL, &base) : ST_OK;
    if (st == ST_OK)
        st = url_parse(a, text, base_text ? &base : NULL, &u);
    if (st == ST_OK && opt_flag(o, OPT_NORMALISE)) {
        struct url in = u;
        st = url_normalise(a, &in, norm, URL_BYTES_MAX, &u);
    }
    if (st != ST_OK)
        buf_puts(out, opt_flag(o, OPT_JSON) ? "{\"failure\":true}" : "failure");
    else if (opt_flag(o, OPT_JSON))
        put_json(&u, out);
    else
        buf_put(out, u.href); /* a serialised URL holds no control bytes */
    buf_putc(out, '\n');
    return st == ST_OK;
}

static int answer_lines(const struct options *o, const struct url_norm *norm)
{
    struct arena a;
    struct buf out = {0};
    char *line = NULL;
    size_t cap = 0;
    int code = EXIT_DONE;
    arena_init(&a);
    for (ssize_t n; (n = getline(&line, &cap, stdin)) >= 0;) {
        struct span text = span_of(line, (size_t)n);
        if (text.n && text.p[text.n - 1] == '\n')
            text.n--;
        size_t tab = span_find(text, '\t', 0);
        struct span base = span_cut(text, 0, tab);
        bool has_base = tab < text.n;
        if (!answer(o, norm, &a, has_base ? &base : NULL, has_base ? span_from(text, tab + 1) : text, &out))
            code = EXIT_INPUT;
        print_buf(&out);
        arena_reset(&a);
    }
    free(line);
    buf_done(&out);
    arena_done(&a);
    return code;
}

int cmd_url(const struct options *o)
{
    struct arena a;
    struct buf out = {0};
    arena_init(&a);
    struct url_norm norm = url_norm_from(o, &a);
    int code;
    if (o->arg_count == 1 && span_is(o->args[0], "-"))
        code = answer_lines(o, &norm);
    else {
        bool has_base = o->arg_count == 2;
        code = answer(o, &norm, &a, has_base ? &o->args[0] : NULL, o->args[has_base ? 1 : 0], &out) ? EXIT_DONE
                                                                                                    : EXIT_INPUT;
    }
    print_buf(&out);
    buf_done(&out);
    arena_done(&a);
    return code;
}
