/* orb-lab - an internet on one machine: places with real round-trip times between them, for real processes. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/command.h"

static const struct command {
    const char *name;
    int (*fn)(int argc, char **argv);
    const char *args, *what;
} commands[] = {
    /* for whoever wants to see something */
    {"run", command_run, "FILE|NAME... [OPTION...]", "play scenarios: worlds, processes, faults, what must hold"},
    {"list", command_list, "[DIR] [--json]", "scenarios that there are"},
    {"report", command_report, "DIR [-o FILE]", "one page with charts, of all results.json in DIR"},
    {"results", command_results, "DIR", "the same as Markdown tables"},
    {"shell", command_shell, "PLACE [COMMAND...]", "from outside: a look into a lab that runs; --list: which do"},
    /* by hand */
    {"up", command_up, "[OPTION...] FILE [--] COMMAND...", "bring a lab up, and run a command in it"},
    {"in", command_in, "PLACE COMMAND...", "inside: in another place"},
    {"tell", command_tell, "[--serve] WORD...", "inside: rtt A B MS, cut A [B], heal A [B], stats, ..."},
    {"serve", command_serve, "[OPTION...] FILE", "inside: name server and web servers of all sites"},
    {"show", command_show, "places|sites|seeds|hosts|nearest FILE", "what a lab file or a world says"},
    {"check", command_check, "[OPTION...] [FILE]", "how well this machine keeps to the round trips"},
    {"audit", command_audit, "[--gap MS] [--json] LEDGER", "what was asked of the servers, and how politely"},
    {"get", command_get, "[OPTION...] FILE", "inside: how long the pages of all sites take from here"},
};
#define BY_HAND "up" /* the first of those */

static int usage(FILE *to)
{
    fputs("usage: orb-lab COMMAND ..., or orb lab COMMAND ...\n\n", to);
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        const struct command *c = &commands[i];
        if (strcmp(c->name, BY_HAND) == 0)
            fputs("\nby hand:\n", to);
        int n = fprintf(to, "  %s %s", c->name, c->args);
        fprintf(to, "%*s  %s\n", n < 44 ? 44 - n : 0, "", c->what);
    }
    fputs("\nFILE is a lab file (docs/formats/lab.md) or the folder of a world; for run a scenario "
          "(docs/formats/scenario.md).\n",
          to);
    return to == stdout ? EXIT_DONE : EXIT_USAGE;
}

int command_fail(int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("orb-lab: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    return code;
}

status command_load(const char *path, struct lab *out)
{
    struct buf why = {0};
    status st = lab_load(path, out, &why);
    if (st != ST_OK)
        (void)command_fail(0, "read the lab: %s", buf_cstr(&why));
    buf_done(&why);
    return st;
}

bool command_link_kind(const char *name, link_kind *out)
{
    for (link_kind k = LINK_AUTO; k <= LINK_TUN; k++) {
        if (strcmp(name, link_kind_name(k)) == 0) {
            *out = k;
            return true;
        }
    }
    return false;
}

bool command_number(const char *text, uint64_t max, uint64_t *out)
{
    return span_u64(span_str(text), max, out);
}

int command_end(status st, int code, struct buf *why)
{
    if (st == ST_REFUSED)
        code = command_fail(EXIT_IO,
                            "%s: the lab needs network namespaces: run it as root, or allow user namespaces to "
                            "ordinary users (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
                            "kernel.apparmor_restrict_unprivileged_userns)",
                            buf_cstr(why));
    else if (st != ST_OK)
        code = command_fail(EXIT_IO, "%s", buf_cstr(why));
    buf_done(why);
    return code;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return usage(stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)
        return usage(stdout);
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].fn(argc - 1, argv + 1);
    }
    return usage(stderr);
}
