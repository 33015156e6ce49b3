/* main.c - orb-agent: reads what its owner decided, then joins, shows its status, or runs. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/out.h"
#include "agent/supervise.h"
#include "base/mem.h"
#include "store/file.h"

extern char **environ;

enum { EXIT_DONE = 0, EXIT_NO = 1, EXIT_USAGE = 2, EXIT_INPUT = 3, EXIT_IO = 4, EXIT_INTERNAL = 5 };

static int complain(int code, const char *doing, struct span what)
{
    struct buf safe = {0};
    log_escape(&safe, what, 2000);
    fprintf(stderr, "orb-agent: %s%s\n", doing, buf_cstr(&safe));
    buf_done(&safe);
    return code;
}

static int code_of(status st)
{
    switch (st) {
    case ST_OK:
        return EXIT_DONE;
    case ST_REFUSED:
    case ST_NOT_FOUND:
    case ST_CANCELLED:
        return EXIT_NO;
    case ST_INVALID:
    case ST_LIMIT:
    case ST_UNSUPPORTED:
        return EXIT_INPUT;
    case ST_AGAIN:
    case ST_END:
    case ST_EXISTS:
    case ST_MAX:
        return EXIT_INTERNAL;
    default:
        return EXIT_IO;
    }
}

/* ---- settings ---- */

static int read_file(struct conf *c, struct buf *err)
{
    const char *given = conf_cstr(c, CONF_CONFIG), *path = given ? given : CONF_FILE_DEFAULT;
    struct buf text = {0};
    int code = EXIT_DONE;
    status st = file_read(path, CONF_FILE_MAX, &text);
    if (st == ST_OK)
        code = conf_from_text(c, path, buf_span(&text), err) ? EXIT_DONE : EXIT_INPUT;
    else if (given || st != ST_NOT_FOUND) {
        buf_printf(err, "read settings %s: %s", path, st == ST_IO ? strerror(errno) : status_name(st));
        code = EXIT_IO;
    }
    buf_done(&text);
    return code;
}

static int read_settings(struct conf *c, int argc, char **argv, struct buf *err)
{
    if (!conf_from_args(c, argc - 1, argv + 1, err) || !conf_from_env(c, environ, err))
        return EXIT_USAGE;
    if (conf_flag(c, CONF_HELP) || conf_flag(c, CONF_VERSION) || conf_flag(c, CONF_SAMPLE_CONFIG))
        return EXIT_DONE;
    int code = read_file(c, err);
    if (code == EXIT_DONE && !conf_check(c, err))
        code = EXIT_USAGE;
    return code;
}

/* ---- joining ---- */

/* LINE, @FILE or -: a line in the arguments can be seen by others on the machine, one in a file cannot. */
static int read_line(struct span given, struct buf *out)
{
    char line[JOIN_LINE_MAX + 2];
    if (span_is(given, "-")) {
        if (!fgets(line, sizeof(line), stdin))
            return complain(EXIT_INPUT, "join: ", SPAN("no line on standard input"));
        buf_puts(out, line);
    } else if (given.n && given.p[0] == '@') {
        if (file_read(given.p + 1, JOIN_LINE_MAX + 2, out) != ST_OK)
            return complain(EXIT_IO, "join: cannot read ", span_from(given, 1));
    } else {
        buf_put(out, given);
    }
    return EXIT_DONE;
}

/* The line in a file may be gone by the next start, when it is not needed any more. */
static bool is_enrolled(const struct conf *c)
{
    struct buf path = {0};
    buf_printf(&path, "%s/agent.state", conf_cstr(c, CONF_DATA));
    bool is = access(buf_cstr(&path), F_OK) == 0;
    buf_done(&path);
    return is;
}

static int join(const struct agent_opts *o, struct span given, bool must)
{
    struct buf line = {0}, why = {0};
    int code = read_line(given, &line);
    if (code == EXIT_DONE) {
        status st = agent_join(o, buf_span(&line), &why);
        if (st == ST_EXISTS && must)
            fprintf(stderr, "orb-agent: this folder is enrolled with that coordinator already\n");
        else if (st != ST_OK && st != ST_EXISTS)
            code = complain(code_of(st), "join: ", buf_span(&why));
    }
    if (line.n)
        memset(line.p, 0, line.n);
    buf_done(&line);
    buf_done(&why);
    return code;
}

/* ---- running ---- */

static int run(const struct agent_opts *o, char **argv)
{
    for (;;) {
        struct buf why = {0};
        struct update_try update = {0};
        agent_end end = END_NONE;
        int code = EXIT_DONE;
        bool again = false;
        status st = agent_run(o, &end, &update, &why);
        if (st != ST_OK)
            code = complain(code_of(st), "", why.n ? buf_span(&why) : span_str(status_name(st)));
        else if (end == END_UPDATE)
            again = !supervise_try(conf_cstr(o->conf, CONF_DATA), &update, argv, o->log, &code);
        update_try_done(&update);
        buf_done(&why);
        if (!again)
            return code;
    }
}

static struct out *open_out(const struct conf *c)
{
    struct out_opts o = {.path = conf_cstr(c, CONF_LOG), .level = LOG_INFO};
    (void)log_level_parse(conf_text(c, CONF_LOG_LEVEL), &o.level);
    if (conf_flag(c, CONF_QUIET) && !o.path)
        o.level = LOG_ERROR;
    o.has_line = isatty(STDERR_FILENO) && !conf_flag(c, CONF_QUIET);
    return out_new(&o);
}

static int print(void make(struct buf *))
{
    struct buf out = {0};
    make(&out);
    fwrite(out.p, 1, out.n, stdout);
    buf_done(&out);
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_IO;
}

static int dispatch(const struct conf *c, char **argv)
{
    struct span command = c->arg_count ? c->args[0] : (struct span){0};
    bool is_join = span_is(command, "join");
    if (span_is(command, "status") && c->arg_count == 1)
        return status_show(conf_cstr(c, CONF_DATA), conf_flag(c, CONF_JSON));
    if (command.n && !(is_join && c->arg_count == 2))
        return complain(EXIT_USAGE, "",
                        is_join ? SPAN("join: give the line that the coordinator shows, @FILE or -")
                                : SPAN("no such command: see orb-agent --help"));
    struct out *out = open_out(c);
    if (!out)
        return complain(EXIT_IO, "open log: ", span_str(strerror(errno)));
    struct agent_opts o = {.conf = c,
                           .log = out_log(out),
                           .version = SPAN(ORB_VERSION),
                           .is_trial = supervise_is_trial(),
                           .progress = out_progress,
                           .progress_arg = out};
    int code = EXIT_DONE;
    if (is_join)
        code = join(&o, c->args[1], true);
    else if (conf_cstr(c, CONF_JOIN) && !(conf_cstr(c, CONF_JOIN)[0] != 'o' && is_enrolled(c)))
        code = join(&o, conf_text(c, CONF_JOIN), false);
    if (code == EXIT_DONE && !is_join) {
        supervise_exec_current(c, o.version, argv);
        code = run(&o, argv);
    }
    out_free(out);
    return code;
}

int main(int argc, char **argv)
{
    struct conf c;
    struct buf err = {0};
    mem_setup();
    signal(SIGPIPE, SIG_IGN); /* whoever hangs up is noticed where it is written to */
    conf_init(&c);
    int code = read_settings(&c, argc, argv, &err);
    if (code != EXIT_DONE)
        code = complain(code, "", buf_span(&err));
    else if (conf_flag(&c, CONF_HELP))
        code = print(conf_help);
    else if (conf_flag(&c, CONF_SAMPLE_CONFIG))
        code = print(conf_sample);
    else if (conf_flag(&c, CONF_VERSION))
        printf("orb-agent %s\n", ORB_VERSION);
    else
        code = dispatch(&c, argv);
    buf_done(&err);
    conf_done(&c);
    return code;
}
