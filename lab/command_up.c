#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/command.h"
#include "lab/net/box.h"
#include "lab/net/netns.h"
#include "lab/orders.h"
#include "lab/runner.h"

/* ---- up ---- */

struct wish {
    const struct lab *lab; /* borrowed */
    const char *place;     /* NULL: hq, else the first */
    char **command;
};

static bool find_place(const struct lab *l, const char *name, unsigned *out)
{
    if (name)
        return map_find(l->map, span_str(name), out);
    if (!map_find(l->map, SPAN("hq"), out))
        *out = 0;
    return true;
}

int command_become(char **command)
{
    execvp(command[0], command);
    int code = errno == ENOENT ? 127 : 126;
    return command_fail(code, "start %s: %s", command[0], strerror(errno));
}

static int run_command(void *arg, const struct router *r)
{
    const struct wish *w = arg;
    unsigned place;
    char name[MAP_NAME_MAX + 1];
    if (!find_place(w->lab, w->place, &place))
        return command_fail(EXIT_INPUT, "no place is called %s", w->place);
    const struct map_place *p = map_place(w->lab->map, place);
    snprintf(name, sizeof(name), "%.*s", SPAN_ARG(p->name));
    if (netns_enter(router_node_fd(r, p->node)) != ST_OK || setenv(RUNNER_PLACE_VARIABLE, name, 1) != 0)
        return command_fail(EXIT_IO, "enter %s: %s", name, strerror(errno));
    return command_become(w->command);
}

int command_up(int argc, char **argv)
{
    static const struct option options[] = {{"link", required_argument, NULL, 'l'},
                                            {"place", required_argument, NULL, 'p'},
                                            {"quiet", no_argument, NULL, 'q'},
                                            {"late-limit", required_argument, NULL, 't'},
                                            {NULL, 0, NULL, 0}};
    struct lab lab;
    struct wish w = {.lab = &lab};
    struct runner_opts opts = {.lab = &lab, .child = run_command, .arg = &w};
    unsigned place;
    for (int c; (c = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
        if (c == 'l' && command_link_kind(optarg, &opts.kind))
            continue;
        if (c == 't' && lab_number(span_str(optarg), MAP_RTT_MAX_MS, &opts.late_limit_ms))
            continue;
        if (c == 'p')
            w.place = optarg;
        else if (c == 'q')
            opts.is_quiet = true;
        else
            return command_fail(EXIT_USAGE,
                                "up [--link auto|veth|tun] [--late-limit MS] [--quiet] [--place NAME] FILE COMMAND...");
    }
    const char *file = optind < argc ? argv[optind++] : NULL;
    if (optind < argc && strcmp(argv[optind], "--") == 0)
        optind++;
    if (!file || optind >= argc)
        return command_fail(EXIT_USAGE, "up: give a file and a command");
    w.command = argv + optind;
    opts.title = file;
    if (command_load(file, &lab) != ST_OK)
        return EXIT_INPUT;
    struct buf why = {0};
    int code = EXIT_IO;
    if (!find_place(&lab, w.place, &place))
        code = command_fail(EXIT_INPUT, "no place is called %s", w.place);
    else {
        status st = runner_run(&opts, &code, &why);
        code = command_end(st, code, &why);
    }
    lab_done(&lab);
    return code;
}

/* ---- in, tell ---- */

static int ask(const char *folder, const char *socket, struct span line, struct buf *answer, int *fd)
{
    char path[128];
    if (!folder || snprintf(path, sizeof(path), "%s/%s", folder, socket) >= (int)sizeof(path))
        return command_fail(EXIT_USAGE, "this works inside of a lab only: orb-lab up FILE COMMAND...");
    status st = control_ask(path, line, answer, fd);
    if (st == ST_OK)
        return EXIT_DONE;
    struct span said = span_trim(buf_span(answer));
    if (st == ST_REFUSED)
        return command_fail(EXIT_NO, "%.*s", SPAN_ARG(span_trim(span_from(said, strlen("error")))));
    return command_fail(EXIT_IO, "ask %s: %s", path, st == ST_IO ? strerror(errno) : status_name(st));
}

int command_enter(const char *folder, const char *place)
{
    struct buf line = {0}, answer = {0};
    int fd = -1;
    buf_printf(&line, "enter %s", place);
    int code = ask(folder, ORDERS_SOCKET, buf_span(&line), &answer, &fd);
    buf_done(&line);
    buf_done(&answer);
    if (code != EXIT_DONE)
        return code;
    if (fd < 0 || netns_enter(fd) != ST_OK || setenv(RUNNER_PLACE_VARIABLE, place, 1) != 0)
        return command_fail(EXIT_IO, "enter %s: %s", place, strerror(errno));
    close(fd);
    return EXIT_DONE;
}

int command_in(int argc, char **argv)
{
    if (argc < 3)
        return command_fail(EXIT_USAGE, "in PLACE COMMAND...");
    int code = command_enter(getenv(BOX_FOLDER_VARIABLE), argv[1]);
    return code == EXIT_DONE ? command_become(argv + 2) : code;
}

int command_tell(int argc, char **argv)
{
    bool to_serve = argc > 1 && strcmp(argv[1], "--serve") == 0;
    struct buf line = {0}, answer = {0};
    for (int i = to_serve ? 2 : 1; i < argc; i++)
        buf_printf(&line, "%s%s", line.n ? " " : "", argv[i]);
    if (line.n == 0) {
        buf_done(&line);
        return command_fail(EXIT_USAGE, "tell [--serve] WORD...");
    }
    int code = ask(getenv(BOX_FOLDER_VARIABLE), to_serve ? "serve" : ORDERS_SOCKET, buf_span(&line), &answer, NULL);
    if (code == EXIT_DONE) {
        struct span said = span_from(buf_span(&answer), strlen("ok"));
        while (said.n && (said.p[0] == ' ' || said.p[0] == '\n'))
            said = span_from(said, 1);
        fwrite(said.p, 1, said.n, stdout);
    }
    buf_done(&line);
    buf_done(&answer);
    return code;
}
