/* main.c - finds the command, gathers its options, runs it. */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/command.h"

extern char **environ;

static int unknown_command(struct span name)
{
    const char *best = NULL;
    unsigned best_distance = UINT32_MAX;
    for (size_t i = 0; i < command_count; i++) {
        unsigned d = edit_distance(name, span_str(command_table[i].name));
        if (d < best_distance) {
            best = command_table[i].name;
            best_distance = d;
        }
    }
    if (best && is_near(name, span_str(best), best_distance))
        return complain(EXIT_USAGE, "%s: no such command: did you mean %s?", name.p, best);
    if (span_search(name, SPAN("://"), false) < name.n)
        return complain(EXIT_USAGE, "%s: no such command: did you mean orb crawl %s?", name.p, name.p);
    return complain(EXIT_USAGE, "%s: no such command: see orb help", name.p);
}

/* The config file's path; *is_asked: somebody named it, so that it has to exist. False: there is none to read. */
static bool config_path(const struct options *o, struct buf *path, bool *is_asked)
{
    const char *named = opt_cstr(o, OPT_CONFIG), *home = getenv("HOME"), *xdg = getenv("XDG_CONFIG_HOME");
    if (!named)
        named = getenv("ORB_CONFIG");
    *is_asked = named && *named;
    if (*is_asked)
        buf_puts(path, named);
    else if (xdg && *xdg)
        buf_printf(path, "%s/orb/orb.conf", xdg);
    else if (home && *home)
        buf_printf(path, "%s/.config/orb/orb.conf", home);
    else
        return false;
    return true;
}

static int read_config(struct options *o, struct buf *err)
{
    struct buf path = {0}, text = {0};
    bool is_asked;
    int code = EXIT_DONE;
    if (config_path(o, &path, &is_asked)) {
        FILE *f = fopen(buf_cstr(&path), "re");
        if (f) {
            size_t n = fread(buf_room(&text, OPTIONS_FILE_MAX + 1), 1, OPTIONS_FILE_MAX + 1, f);
            text.n += n;
            if (ferror(f)) {
                buf_printf(err, "read settings: %s: %s", buf_cstr(&path), strerror(errno));
                code = EXIT_IO;
            } else if (n > OPTIONS_FILE_MAX) {
                buf_printf(err, "read settings: %s: larger than 1 MiB: is it a config file?", buf_cstr(&path));
                code = EXIT_INPUT;
            } else
                code = options_from_text(o, buf_cstr(&path), buf_span(&text), err);
            fclose(f);
        } else if (is_asked) {
            buf_printf(err, "read settings: %s: %s: check --config and ORB_CONFIG", buf_cstr(&path), strerror(errno));
            code = EXIT_IO;
        }
    }
    buf_done(&path);
    buf_done(&text);
    return code;
}

static int check_args(const struct command *c, const struct options *o, struct buf *err)
{
    if (o->arg_count >= c->args_min && o->arg_count <= c->args_max)
        return EXIT_DONE;
    if (o->arg_count > c->args_max)
        buf_printf(err, "%s: one argument too many", o->args[c->args_max].p);
    else
        buf_puts(err, "something is missing");
    buf_printf(err, ": usage: orb %s [OPTION...]%s%s", c->name, c->args[0] ? " " : "", c->args);
    return EXIT_USAGE;
}

/* An option that was given, and that the verb does nothing with. */
static int check_verb(const struct command *c, const struct command_verb *v, const struct options *o, struct buf *err)
{
    for (opt_id id = 0; id < OPT_COUNT; id++) {
        if (o->v[id].source != FROM_FLAG || option_is_of_verb(id, c, v))
            continue;
        buf_printf(err, "%s: --%s is none of its options, but one of ", v->name, option_table[id].name);
        struct span verbs = option_verbs(id, c), name;
        for (const char *sep = ""; span_split(&verbs, ' ', &name);
             sep = span_find(verbs, ' ', 0) == verbs.n ? " and " : ", ")
            buf_printf(err, "%s%.*s", sep, SPAN_ARG(name));
        buf_printf(err, ": see orb %s %s --help", c->name, v->name);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

static int run(const struct command *c, int argc, char *const *argv)
{
    struct options o;
    struct buf err = {0};
    options_init(&o);
    int code = options_from_args(&o, c->bit, argc, argv, &err);
    const struct command_verb *verb = o.arg_count ? verb_find(c->name, o.args[0]) : NULL;
    bool wants_help = code == EXIT_DONE && opt_flag(&o, OPT_HELP);
    if (code == EXIT_DONE && verb && !wants_help)
        code = check_verb(c, verb, &o, &err);
    if (wants_help) {
        help_command(c, verb, &err);
        print_buf(&err);
    } else if (code == EXIT_DONE)
        code = options_from_env(&o, c->bit, environ, &err);
    if (code == EXIT_DONE && !wants_help && c->bit != CMD_HELP)
        code = read_config(&o, &err);
    if (code == EXIT_DONE && !wants_help && c->bit == CMD_CRAWL)
        code = options_check(&o, &err);
    if (code == EXIT_DONE && !wants_help)
        code = check_args(c, &o, &err);
    if (code != EXIT_DONE)
        (void)complain(code, "%s: %s", c->name, buf_cstr(&err));
    else if (!wants_help)
        code = c->run(&o);
    options_done(&o);
    buf_done(&err);
    return code;
}

int main(int argc, char **argv)
{
    mem_setup();
    setlocale(LC_CTYPE, "");
    signal(SIGPIPE, SIG_IGN);
    struct span name = span_str(argc > 1 ? argv[1] : "");
    if (argc < 2) {
        struct buf out = {0};
        help_overview(&out);
        fwrite(out.p, 1, out.n, stderr);
        buf_done(&out);
        return EXIT_USAGE;
    }
    if (span_is(name, "--version")) {
        printf("orb %s\n", ORB_VERSION);
        return finish_output(EXIT_DONE);
    }
    if (span_is(name, "--help") || span_is(name, "-h"))
        name = SPAN("help");
    if (name.n && name.p[0] == '-')
        return complain(EXIT_USAGE, "%s: a command comes first: orb COMMAND %s ...", name.p, name.p);
    const struct command *c = command_find(name);
    if (!c)
        return unknown_command(name);
    if (c->bit == CMD_LAB && argc > 2 && strcmp(argv[2], "--help") != 0 && strcmp(argv[2], "-h") != 0)
        return lab_become(argc - 2, argv + 2);
    return finish_output(run(c, argc - 2, argv + 2));
}
