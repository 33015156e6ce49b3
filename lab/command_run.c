/* command_run.c - `orb-lab run`: scenarios (docs/formats/scenario.md). */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "lab/command.h"
#include "lab/play/suite.h"

#define DIR_DEFAULT "lab-results"

struct wish {
    struct variable sets[SCENARIO_VARIABLES_MAX];
    struct scenario_opts scenario;
    struct suite_opts suite;
    bool is_json, is_quiet;
    bool is_over; /* a signal came, or nothing can be played here: the scenarios that follow are left out */
};

/* What is said while it goes on, on the terminal alone; kept open while standard error is a file. */
struct talk {
    const struct suite *suite;
    struct span name; /* of the run that was begun last: in its own process, of that one */
    int screen;       /* -1: none */
    bool is_quiet;
};

#define WIPE "\r\033[K"

/* In one piece: other processes write to the terminal too. */
static void put_lines(const struct talk *t, struct span lines)
{
    struct buf all = {0};
    if (t->screen >= 0)
        buf_puts(&all, WIPE);
    buf_put(&all, lines);
    if (all.n)
        fwrite(all.p, 1, all.n, stderr);
    buf_done(&all);
}

static void on_begin(void *self, const struct suite_run *r)
{
    struct talk *t = self;
    t->name = r->run->name;
    if (t->screen >= 0)
        dprintf(t->screen, WIPE "%.*s ...", SPAN_ARG(r->run->name));
}

static void on_said(void *self, const char *line)
{
    const struct talk *t = self;
    if (t->screen >= 0)
        dprintf(t->screen, WIPE "  %.*s: %.50s", t->name.n < 24 ? (int)t->name.n : 24, t->name.p, line);
}

static void on_again(void *self, const struct suite_run *r)
{
    const struct talk *t = self;
    struct buf line = {0};
    buf_printf(&line, "%.*s: not valid: packets were %.1f ms late (99 %%), where %.1f may be: once more\n",
               SPAN_ARG(r->run->name), r->late_ms, r->run->late_max_ms);
    if (!t->is_quiet)
        put_lines(t, buf_span(&line));
    buf_done(&line);
}

static void on_end(void *self, const struct suite_run *r)
{
    const struct talk *t = self;
    struct buf line = {0};
    suite_show_run(t->suite, r, &line);
    if (!t->is_quiet || !r->is_passed)
        put_lines(t, buf_span(&line));
    buf_done(&line);
}

static int end_run(const struct wish *w, const struct suite *s, status st, struct buf *why)
{
    struct buf out = {0};
    bool has_some = false;
    for (size_t i = 0; st != ST_REFUSED && i < s->run_count; i++)
        has_some = has_some || s->runs[i].is_done;
    if (has_some && w->is_json)
        suite_json(s, &out);
    else if (has_some && !w->is_quiet)
        suite_show(s, &out);
    if (out.n)
        fwrite(out.p, 1, out.n, stdout);
    buf_done(&out);
    if (st == ST_NOT_FOUND)
        return command_fail(EXIT_USAGE, "run: %s", buf_cstr(why));
    if (st != ST_OK) {
        struct buf given = {0};
        buf_put(&given, buf_span(why));
        return command_end(st, EXIT_IO, &given);
    }
    if (!w->is_quiet && !w->is_json)
        printf("results: %s/results.json\n", s->folder);
    for (size_t i = 0; i < s->run_count; i++) {
        if (s->runs[i].is_done && s->runs[i].figures.n == 0 && !s->runs[i].is_whole && !s->is_stopped)
            return EXIT_IO; /* nothing came of it at all */
    }
    return suite_is_passed(s) ? EXIT_DONE : EXIT_NO;
}

static int load(const struct wish *w, const char *name, struct scenario *out)
{
    struct buf path = {0}, why = {0};
    int code = EXIT_DONE;
    status st = programs_scenario(name, &path, &why);
    if (st == ST_OK)
        st = scenario_load(buf_cstr(&path), &w->scenario, out, &why);
    if (st != ST_OK)
        code = command_fail(st == ST_IO ? EXIT_IO : EXIT_INPUT, "run: %s", buf_cstr(&why));
    buf_done(&path);
    buf_done(&why);
    return code;
}

static int play(struct wish *w, const struct scenario *scenario, const struct programs *programs)
{
    struct suite suite = {0};
    struct talk talk = {.suite = &suite, .screen = -1, .is_quiet = w->is_quiet};
    struct buf why = {0};
    if (!w->is_quiet && isatty(STDERR_FILENO))
        talk.screen = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    w->suite.scenario = scenario;
    w->suite.programs = programs;
    w->suite.is_short = w->scenario.is_short;
    w->suite.begins = on_begin;
    w->suite.ended = on_end;
    w->suite.again = on_again;
    w->suite.said = on_said;
    w->suite.self = &talk;
    status st = suite_play(&w->suite, &suite, &why);
    put_lines(&talk, (struct span){0});
    int code = end_run(w, &suite, st, &why);
    w->is_over = suite.is_stopped || st == ST_REFUSED;
    if (talk.screen >= 0)
        close(talk.screen);
    suite_done(&suite);
    buf_done(&why);
    return code;
}

/* One after the other, once all of them can be read; the worst exit code. */
static int play_all(struct wish *w, char **names, size_t n)
{
    struct scenario *list = mem_alloc(n * sizeof(*list));
    struct programs programs = {0};
    struct buf why = {0};
    int worst = EXIT_DONE;
    for (size_t i = 0; i < n && worst == EXIT_DONE; i++)
        worst = load(w, names[i], &list[i]);
    if (worst == EXIT_DONE && programs_find(&programs, &why) != ST_OK)
        worst = command_fail(EXIT_IO, "run: %s", buf_cstr(&why));
    bool is_good = worst == EXIT_DONE;
    for (size_t i = 0; is_good && i < n && !w->is_over; i++) {
        int code = play(w, &list[i], &programs);
        worst = code > worst ? code : worst;
    }
    for (size_t i = 0; i < n; i++)
        scenario_done(&list[i]);
    free(list);
    programs_done(&programs);
    buf_done(&why);
    return worst;
}

static bool add_set(struct wish *w, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || w->scenario.set_count == SCENARIO_VARIABLES_MAX)
        return false;
    w->sets[w->scenario.set_count++] = (struct variable){span_of(text, (size_t)(equals - text)), span_str(equals + 1)};
    return true;
}

int command_run(int argc, char **argv)
{
    static const struct option options[] = {
        {"set", required_argument, NULL, 's'},  {"short", no_argument, NULL, 'S'},
        {"out", required_argument, NULL, 'o'},  {"only", required_argument, NULL, 'O'},
        {"keep", no_argument, NULL, 'k'},       {"json", no_argument, NULL, 'j'},
        {"quiet", no_argument, NULL, 'q'},      {"link", required_argument, NULL, 'l'},
        {"jobs", required_argument, NULL, 'J'}, {NULL, 0, NULL, 0}};
    static const char usage[] = "run FILE|NAME... [--set NAME=VALUE]... [--short] [--jobs N] [--out DIR] [--only TEXT] "
                                "[--link auto|veth|tun] [--keep] [--json] [--quiet]";
    struct wish w = {.suite = {.dir = DIR_DEFAULT}};
    bool is_bad = false;
    uint64_t jobs = 0;
    w.scenario.sets = w.sets;
    for (int c; (c = getopt_long(argc, argv, "o:", options, NULL)) != -1;) {
        switch (c) {
        case 's':
            is_bad = is_bad || !add_set(&w, optarg);
            break;
        case 'S':
            w.scenario.is_short = true;
            break;
        case 'o':
            w.suite.dir = optarg;
            break;
        case 'O':
            w.suite.only = optarg;
            break;
        case 'J':
            is_bad = is_bad || !command_number(optarg, SUITE_JOBS_MAX, &jobs) || jobs == 0;
            w.suite.jobs = (unsigned)jobs;
            break;
        case 'k':
            w.suite.is_kept = true;
            break;
        case 'j':
            w.is_json = true;
            break;
        case 'q':
            w.is_quiet = true;
            break;
        case 'l':
            is_bad = is_bad || !command_link_kind(optarg, &w.suite.kind);
            break;
        default:
            is_bad = true;
        }
    }
    if (is_bad || optind >= argc)
        return command_fail(EXIT_USAGE, "%s", usage);
    return play_all(&w, argv + optind, (size_t)(argc - optind));
}
