/* suite_attempt.c - one attempt at a run: a process with a lab of its own, and what came of it.
 *
 *     suite_begin, suite_end                          the suite's process
 *       a process that brings a lab up                (in_process; it ends when we do)
 *         process 1 of the box: the router
 *           the player, at hq                         (at_hq)
 *
 * The player's reasons come back in the file `problem` of the run's folder. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codec/json.h"
#include "lab/net/netns.h"
#include "lab/play/player.h"
#include "lab/play/suite_internal.h"
#include "lab/runner.h"
#include "store/file.h"

#define SMALL_FILE_MAX (1u << 20)
#define EVENTS_MAX (256u << 10)
#define PROBLEM_FILE "problem"
#define LOG_FILE "lab.log"

/* Exit codes of an attempt. */
enum { PLAYED = 0, STEP_FAILED = 1, BAD_LAB = 3, NOT_UP = 4, NO_NAMESPACES = 5, STOPPED = 6 };

struct attempt {
    const struct suite *suite; /* borrowed, and so is the rest */
    const struct suite_run *run;
    const char *folder;
    struct lab lab;
};

/* ---- inside of the attempt's process ---- */

static int end_with(const char *folder, int code, struct buf *why)
{
    struct buf path = {0};
    buf_printf(&path, "%s/" PROBLEM_FILE, folder);
    FILE *f = fopen(buf_cstr(&path), "we");
    if (f) {
        fprintf(f, "%s\n", buf_cstr(why));
        fclose(f);
    }
    buf_done(&path);
    buf_done(why);
    return code;
}

static int at_hq(void *arg, const struct router *r)
{
    struct attempt *a = arg;
    const struct suite_opts *o = &a->suite->opts;
    struct buf why = {0};
    unsigned place;
    if (!map_find(a->lab.map, SPAN("hq"), &place))
        place = 0;
    const struct map_place *p = map_place(a->lab.map, place);
    char name[MAP_NAME_MAX + 1];
    snprintf(name, sizeof(name), "%.*s", SPAN_ARG(p->name));
    if (netns_enter(router_node_fd(r, p->node)) != ST_OK || setenv(RUNNER_PLACE_VARIABLE, name, 1) != 0) {
        buf_printf(&why, "enter %s: %s", name, strerror(errno));
        return end_with(a->folder, NOT_UP, &why);
    }
    struct player_opts opts = {.run = a->run->run,
                               .folder = a->folder,
                               .orb = o->programs->orb,
                               .orb_agent = o->programs->orb_agent,
                               .orb_lab = o->programs->orb_lab,
                               .say = o->said,
                               .self = o->self};
    status st = player_run(&opts, &why);
    if (st == ST_OK) {
        buf_done(&why);
        return PLAYED;
    }
    if (why.n == 0)
        buf_puts(&why, status_name(st));
    return end_with(a->folder, st == ST_CANCELLED ? STOPPED : st == ST_REFUSED ? STEP_FAILED : NOT_UP, &why);
}

/* What the router and others say goes to a file; progress is not theirs. */
static void redirect(const char *folder)
{
    struct buf path = {0};
    buf_printf(&path, "%s/" LOG_FILE, folder);
    int fd = open(buf_cstr(&path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666),
        nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        (void)dup2(fd, STDERR_FILENO);
    if (fd >= 0)
        (void)dup2(fd, STDOUT_FILENO);
    if (nothing >= 0)
        (void)dup2(nothing, STDIN_FILENO);
    buf_done(&path);
}

static int in_process(struct attempt *a)
{
    struct buf why = {0}, path = {0};
    int code = NOT_UP;
    redirect(a->folder);
    buf_printf(&path, "%s/lab", a->folder);
    status st = lab_load(buf_cstr(&path), &a->lab, &why);
    buf_done(&path);
    if (st != ST_OK)
        return end_with(a->folder, BAD_LAB, &why);
    struct runner_opts opts = {
        .lab = &a->lab, .title = a->folder, .kind = a->suite->opts.kind, .child = at_hq, .arg = a};
    st = runner_run(&opts, &code, &why);
    if (st != ST_OK)
        return end_with(a->folder, st == ST_REFUSED ? NO_NAMESPACES : NOT_UP, &why);
    return code;
}

/* ---- what it left ---- */

static void read_file(const char *folder, const char *name, struct buf *out)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", folder, name);
    buf_clear(out);
    if (file_read(buf_cstr(&path), SMALL_FILE_MAX, out) != ST_OK)
        buf_clear(out);
    buf_done(&path);
}

/* Why it did not get to the end: the reason that was given, else the last thing that was said. */
static void take_problem(struct suite_run *r, const char *folder, int code)
{
    struct buf text = {0};
    struct span rest, line, last = {0};
    read_file(folder, PROBLEM_FILE, &text);
    if (text.n) {
        buf_put(&r->problem, span_trim(buf_span(&text)));
    } else {
        read_file(folder, LOG_FILE, &text);
        rest = buf_span(&text);
        while (rest.n && span_split(&rest, '\n', &line))
            last = line.n ? line : last;
        if (last.n)
            buf_put(&r->problem, last);
        else
            buf_printf(&r->problem, "it ended with code %d", code);
    }
    buf_done(&text);
}

static void take_lateness(struct suite_run *r, const char *folder)
{
    struct buf text = {0};
    read_file(folder, "router.json", &text);
    r->late_ms = text.n ? (double)json_peek_u64(buf_span(&text), "late_p99_us") / 1000 : NAN;
    r->is_valid = !(r->late_ms > r->run->late_max_ms);
    buf_done(&text);
}

void suite_clear_run(struct suite_run *r)
{
    figures_done(&r->figures);
    buf_clear(&r->problem);
    buf_clear(&r->events);
    r->is_whole = r->is_passed = false;
    r->is_valid = true;
    r->busy = r->load = NAN;
    for (size_t i = 0; i < r->run->expect_count; i++)
        r->expected[i] = (struct suite_expected){&r->run->expects[i], NAN, false};
}

static void judge(struct suite_run *r, const char *folder)
{
    struct buf why = {0};
    status st = figures_collect(folder, r->run, &r->figures, &why);
    if (st != ST_OK) {
        buf_printf(&r->problem, "%smeasure: %s", r->problem.n ? "; " : "", buf_cstr(&why));
        r->is_whole = false;
    }
    r->is_passed = r->is_whole;
    for (size_t i = 0; i < r->run->expect_count; i++) {
        struct suite_expected *e = &r->expected[i];
        e->is_passed = figures_expected(&r->figures, e->expect, &e->value);
        r->is_passed = r->is_passed && e->is_passed;
    }
    read_file(folder, "events.tsv", &r->events);
    if (r->events.n > EVENTS_MAX)
        r->events.n = EVENTS_MAX;
    if (!r->is_valid) {
        r->is_passed = false;
        buf_printf(&r->problem, "%snot valid: 1 %% of the packets were more than %.1f ms late, where %.1f may be",
                   r->problem.n ? "; " : "", r->late_ms, r->run->late_max_ms);
    }
    buf_done(&why);
}

/* ---- from outside ---- */

static void fork_attempt(const struct suite *s, struct suite_job *job, const sigset_t *mask)
{
    struct attempt a = {.suite = s, .run = job->run, .folder = buf_cstr(&job->folder)};
    pid_t us = getpid();
    fflush(NULL);
    job->pid = fork();
    if (job->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        sigprocmask(SIG_SETMASK, mask, NULL);
        _exit(getppid() == us ? in_process(&a) : STOPPED);
    }
    if (job->pid < 0) {
        job->pid = 0;
        buf_printf(&job->what, "start a process: %s", strerror(errno));
    }
}

void suite_begin(const struct suite *s, struct suite_run *r, const sigset_t *mask, struct suite_job *job)
{
    *job = (struct suite_job){.run = r};
    suite_clear_run(r);
    r->attempts++;
    r->is_under_way = true;
    r->is_done = false;
    if (s->opts.begins)
        s->opts.begins(s->opts.self, r);
    status st = suite_folder_make(s, r->run, &job->folder, &job->what);
    if (getloadavg(&r->load, 1) != 1)
        r->load = NAN;
    job->start = clock_mono();
    busy_mark(&job->mark);
    if (st == ST_OK)
        fork_attempt(s, job, mask);
    else if (job->what.n == 0)
        buf_puts(&job->what, status_name(st));
}

static int take_results(const struct suite *s, struct suite_job *job, int how)
{
    struct suite_run *r = job->run;
    const char *folder = buf_cstr(&job->folder);
    int code = WIFEXITED(how) ? WEXITSTATUS(how) : STOPPED;
    r->is_whole = code == PLAYED;
    if (s->is_stopped)
        buf_puts(&r->problem, "stopped");
    else if (!r->is_whole)
        take_problem(r, folder, code);
    take_lateness(r, folder);
    if (code != NO_NAMESPACES && code != BAD_LAB)
        judge(r, folder);
    if (r->is_passed && !s->opts.is_kept)
        suite_folder_thin(folder);
    return code;
}

status suite_end(const struct suite *s, struct suite_job *job, int how, struct buf *why)
{
    struct suite_run *r = job->run;
    struct busy busy;
    int code = NOT_UP;
    r->seconds = (double)(clock_mono() - job->start) / 1000;
    busy_since(&job->mark, &busy);
    r->busy = busy.used;
    if (job->pid)
        code = take_results(s, job, how);
    else
        buf_put(&r->problem, buf_span(&job->what));
    r->is_done = true;
    r->is_under_way = false;
    if (code == NO_NAMESPACES && why->n == 0)
        buf_put(why, buf_span(&r->problem));
    buf_done(&job->folder);
    buf_done(&job->what);
    *job = (struct suite_job){0};
    return code == NO_NAMESPACES ? ST_REFUSED : ST_OK;
}
