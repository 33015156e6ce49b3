/* cmd_hierarchy.c - `orb hierarchy`: finds the verb; lookup; what the verbs share. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/hierarchy_cmd.h"
#include "codec/json.h"

/* ---- what the verbs share ---- */

void hierarchy_file_path(const struct options *o, struct buf *out)
{
    if (opt_cstr(o, OPT_HIERARCHY))
        buf_puts(out, opt_cstr(o, OPT_HIERARCHY));
    else
        buf_printf(out, "%s/hierarchy", opt_text(o, OPT_DATA).p);
}

int hierarchy_file_open(const char *what, const char *path, struct hierarchy_file *out)
{
    struct buf why = {0};
    struct hierarchy_file f = {0};
    status st = mapped_open(path, &f.mapped);
    int code = EXIT_DONE;
    if (st == ST_NOT_FOUND || (st == ST_IO && errno == ENOENT))
        code = complain(EXIT_IO,
                        "hierarchy %s: %s: no such file: make one with orb hierarchy build, or name it with "
                        "--hierarchy",
                        what, path);
    else if (st != ST_OK)
        code = complain(EXIT_IO, "hierarchy %s: open %s: %s", what, path, strerror(errno));
    else if ((st = hierarchy_open(mapped_span(f.mapped), &f.h, &why)) != ST_OK)
        code = complain(exit_code_of(st), "hierarchy %s: open %s: %s", what, path, buf_cstr(&why));
    if (code == EXIT_DONE)
        *out = f;
    else
        mapped_free(f.mapped);
    buf_done(&why);
    return code;
}

void hierarchy_file_close(struct hierarchy_file *f)
{
    hierarchy_free(f->h);
    mapped_free(f->mapped);
    *f = (struct hierarchy_file){0};
}

/* The length of the prefix that is just this range, or -1. */
static int prefix_bits(const struct addr *first, const struct addr *last)
{
    int all = first->family == 4 ? 32 : 128, bits = 0;
    while (bits < all && ((first->b[bits / 8] ^ last->b[bits / 8]) >> (7 - bits % 8) & 1) == 0)
        bits++;
    for (int i = bits; i < all; i++)
        if ((first->b[i / 8] >> (7 - i % 8) & 1) != 0 || (last->b[i / 8] >> (7 - i % 8) & 1) != 1)
            return -1;
    return bits;
}

void put_range(struct buf *out, const struct hierarchy_node *n)
{
    char first[ADDR_TEXT_MAX], last[ADDR_TEXT_MAX];
    int bits = prefix_bits(&n->first, &n->last);
    if (bits >= 0)
        buf_printf(out, "%s/%d", addr_format(&n->first, first), bits);
    else
        buf_printf(out, "%s-%s", addr_format(&n->first, first), addr_format(&n->last, last));
}

void put_node_json(struct json *j, const struct hierarchy *h, const struct hierarchy_node *n)
{
    struct buf range = {0};
    char text[ADDR_TEXT_MAX];
    put_range(&range, n);
    json_key(j, "network");
    json_text(j, buf_span(&range));
    json_key(j, "first");
    json_str(j, addr_format(&n->first, text));
    json_key(j, "last");
    json_str(j, addr_format(&n->last, text));
    json_key(j, "holder");
    json_text_or_null(j, hierarchy_holder_name(h, n->holder));
    json_key(j, "country");
    json_text_or_null(j, span_str(n->country));
    json_key(j, "registry");
    json_text_or_null(j, span_str(registry_name_text(n->registry)));
    json_key(j, "status");
    json_text_or_null(j, span_str(registry_status_text(n->state)));
    buf_done(&range);
}

void show_progress(const char *fmt, ...)
{
    int saved = errno; /* of a failure that is still to be told */
    bool has_screen = isatty(STDERR_FILENO);
    errno = saved;
    if (!has_screen)
        return;
    fputs("\r\033[K", stderr);
    if (fmt) {
        va_list ap;
        va_start(ap, fmt);
        vfprintf(stderr, fmt, ap);
        va_end(ap);
    }
    fflush(stderr);
    errno = saved;
}

/* ---- lookup ---- */

static void put_node_line(struct buf *out, const struct hierarchy *h, const struct hierarchy_node *n)
{
    struct buf range = {0};
    put_range(&range, n);
    buf_printf(out, "    %-20s %-2s  %s%s%s  ", buf_cstr(&range), n->country[0] ? n->country : "--",
               registry_name_text(n->registry), n->registry && n->state ? " " : "", registry_status_text(n->state));
    put_safe(out, hierarchy_holder_name(h, n->holder));
    while (out->n && out->p[out->n - 1] == ' ')
        out->n--;
    buf_putc(out, '\n');
    buf_done(&range);
}

static void put_answer_json(const struct hierarchy *h, struct span ip, uint32_t node, const struct addr *a,
                            struct buf *out)
{
    struct json j = {.out = out};
    struct network cell = hierarchy_cell(h, a);
    char text[NETWORK_TEXT_MAX];
    struct hierarchy_node n;
    json_open(&j, '{');
    json_key(&j, "ip");
    json_text(&j, ip);
    json_key(&j, "found");
    json_bool(&j, node != HIERARCHY_NONE);
    json_key(&j, "cell");
    json_str(&j, network_format(&cell, text));
    json_key(&j, "path");
    json_open(&j, '[');
    for (uint32_t at = node; at != HIERARCHY_NONE; at = n.parent) {
        hierarchy_get(h, at, &n);
        json_open(&j, '{');
        put_node_json(&j, h, &n);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    buf_putc(out, '\n');
}

/* EXIT_DONE, EXIT_NO: nothing is registered there, EXIT_INPUT: no address. */
static int answer(const struct options *o, const struct hierarchy *h, struct span ip, struct buf *out)
{
    struct addr a;
    struct hierarchy_node n;
    if (addr_parse(ip, &a) != ST_OK)
        return complain(EXIT_INPUT, "hierarchy lookup: %.*s: no internet address", SPAN_ARG(ip));
    uint32_t node = hierarchy_lookup(h, &a);
    if (opt_flag(o, OPT_JSON))
        put_answer_json(h, ip, node, &a, out);
    else {
        put_safe(out, ip);
        buf_puts(out, node == HIERARCHY_NONE ? "  nothing registered\n" : "\n");
        for (uint32_t at = node; at != HIERARCHY_NONE; at = n.parent) {
            hierarchy_get(h, at, &n);
            put_node_line(out, h, &n);
        }
    }
    print_buf(out);
    return node == HIERARCHY_NONE ? EXIT_NO : EXIT_DONE;
}

static int answer_lines(const struct options *o, const struct hierarchy *h, struct buf *out)
{
    char *line = NULL;
    size_t cap = 0;
    int code = EXIT_DONE;
    for (ssize_t n; (n = getline(&line, &cap, stdin)) >= 0;) {
        struct span ip = span_trim(span_of(line, (size_t)n));
        int one = ip.n ? answer(o, h, ip, out) : EXIT_DONE;
        code = one > code ? one : code;
    }
    free(line);
    return code;
}

int hierarchy_cmd_lookup(const struct options *o)
{
    struct hierarchy_file f;
    struct buf path = {0}, out = {0};
    hierarchy_file_path(o, &path);
    int code = hierarchy_file_open("lookup", buf_cstr(&path), &f);
    if (code == EXIT_DONE) {
        bool is_stdin = o->arg_count == 1 || (o->arg_count == 2 && span_is(o->args[1], "-"));
        if (is_stdin)
            code = answer_lines(o, f.h, &out);
        for (size_t i = 1; !is_stdin && i < o->arg_count; i++) {
            int one = answer(o, f.h, o->args[i], &out);
            code = one > code ? one : code;
        }
        hierarchy_file_close(&f);
    }
    buf_done(&path);
    buf_done(&out);
    return code;
}

/* ---- verbs ---- */

int cmd_hierarchy(const struct options *o)
{
    static const struct {
        const char *name;
        int (*run)(const struct options *o);
        size_t args_min, args_max; /* the verb included */
        const char *usage;
    } verbs[] = {
        {"build", hierarchy_cmd_build, 1, SIZE_MAX, "build [--in FILE...] [-o FILE]"},
        {"lookup", hierarchy_cmd_lookup, 1, SIZE_MAX, "lookup IP..."},
        {"stats", hierarchy_cmd_stats, 1, 2, "stats [FILE]"},
        {"diff", hierarchy_cmd_diff, 3, 3, "diff OLD NEW"},
        {"fetch", hierarchy_cmd_fetch, 1, 1, "fetch [-o DIR]"},
    };
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
        if (!span_is(o->args[0], verbs[i].name))
            continue;
        if (o->arg_count < verbs[i].args_min || o->arg_count > verbs[i].args_max)
            return complain(EXIT_USAGE, "hierarchy %s: usage: orb hierarchy %s", verbs[i].name, verbs[i].usage);
        return verbs[i].run(o);
    }
    return complain(EXIT_USAGE,
                    "hierarchy: %s: no such verb: build, lookup, stats, diff or fetch: see orb help "
                    "hierarchy",
                    o->args[0].p);
}
