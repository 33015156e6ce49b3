/* suite.c - the runs of a scenario, several at a time if that is wanted, each until the router was in time.
 *
 * This process starts an attempt (suite_attempt.c) when there is room, waits for a signal, takes what has ended, and
 * writes results.json. */
#include "lab/play/suite.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "lab/play/suite_internal.h"
#include "store/file.h"

/* ---- what comes next ---- */

/* With one at a time every attempt is alone anyway. */
static bool is_to_be_alone(const struct suite *s, const struct suite_run *r)
{
    return s->jobs > 1 && r->attempts > 0 && r->attempts + 1 >= r->run->attempts;
}

struct suite_run *suite_next(const struct suite *s, size_t under_way)
{
    struct suite_run *alone = NULL;
    for (size_t i = 0; i < s->run_count; i++) {
        struct suite_run *r = &s->runs[i];
        if (r->is_over || r->is_under_way)
            continue;
        if (!is_to_be_alone(s, r))
            return under_way < s->jobs ? r : NULL;
        if (!alone)
            alone = r;
    }
    return under_way == 0 ? alone : NULL;
}

/* ---- jobs ---- */

struct jobs {
    struct suite *suite; /* borrowed */
    struct suite_job *list;
    size_t n; /* under way */
    sigset_t mask;
    struct busy_mark mark;
    mono_ms start;
    bool is_ending; /* nothing is begun any more */
    struct buf *why;
};

static void tell_all(const struct jobs *j, int sig)
{
    for (size_t i = 0; i < j->suite->jobs; i++) {
        if (j->list[i].run && j->list[i].pid)
            kill(j->list[i].pid, sig);
    }
}

static status write_results(const struct suite *s, struct buf *why)
{
    struct buf path = {0}, text = {0};
    buf_printf(&path, "%s/results.json", s->folder);
    suite_json(s, &text);
    status st = file_replace(buf_cstr(&path), buf_span(&text));
    if (st != ST_OK)
        buf_printf(why, "write %s: %s", buf_cstr(&path), strerror(errno));
    buf_done(&path);
    buf_done(&text);
    return st;
}

/* A job has ended: that was it, or once more. */
static status take(struct jobs *j, struct suite_job *job, int how)
{
    struct suite *s = j->suite;
    struct suite_run *r = job->run;
    struct busy busy;
    status st = suite_end(s, job, how, j->why);
    j->n--;
    r->is_over = st != ST_OK || s->is_stopped || r->is_valid || r->attempts >= r->run->attempts;
    if (!r->is_over && s->opts.again)
        s->opts.again(s->opts.self, r);
    if (r->is_over && st == ST_OK && s->opts.ended)
        s->opts.ended(s->opts.self, r);
    busy_since(&j->mark, &busy);
    s->machine.cores = busy.cpus;
    s->machine.busy = busy.used;
    s->seconds = (double)(clock_mono() - j->start) / 1000;
    return st == ST_OK ? write_results(s, j->why) : st;
}

/* Everything that has ended by now. The first thing that goes wrong is what is told. */
static status take_ended(struct jobs *j)
{
    status st = ST_OK;
    for (size_t i = 0; i < j->suite->jobs; i++) {
        struct suite_job *job = &j->list[i];
        int how = 0;
        if (!job->run || (job->pid && waitpid(job->pid, &how, WNOHANG) == 0))
            continue;
        status one = take(j, job, how);
        st = st == ST_OK ? one : st;
    }
    return st;
}

static void begin_more(struct jobs *j)
{
    struct suite_run *r;
    while (!j->is_ending && (r = suite_next(j->suite, j->n))) {
        size_t i = 0;
        while (j->list[i].run)
            i++;
        suite_begin(j->suite, r, &j->mask, &j->list[i]);
        j->n++;
        if (!j->list[i].pid)
            return; /* to be taken before another one fails the same way */
    }
}

static void signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGCHLD);
}

/* Signals that are for us are passed on: the first one asks, the next one does not. */
static void wait_for_one(struct jobs *j)
{
    sigset_t set;
    signals(&set);
    int sig = sigwaitinfo(&set, NULL);
    if (sig <= 0 || sig == SIGCHLD)
        return;
    tell_all(j, j->suite->is_stopped ? SIGKILL : SIGTERM);
    j->suite->is_stopped = j->is_ending = true;
}

static bool is_any_to_take(const struct jobs *j)
{
    for (size_t i = 0; i < j->suite->jobs; i++) {
        if (j->list[i].run && !j->list[i].pid)
            return true;
    }
    return false;
}

static status play_all(struct jobs *j)
{
    status st = ST_OK;
    begin_more(j);
    while (j->n) {
        if (!is_any_to_take(j))
            wait_for_one(j);
        status one = take_ended(j);
        if (one != ST_OK && !j->is_ending) {
            tell_all(j, SIGTERM);
            j->is_ending = true;
        }
        st = st == ST_OK ? one : st;
        begin_more(j);
    }
    return st;
}

/* ---- all of it ---- */

static status set_up(const struct suite_opts *opts, struct suite *s, struct buf *why)
{
    const struct scenario *c = opts->scenario;
    struct buf path = {0};
    *s = (struct suite){.opts = *opts, .begun = clock_wall() / 1000};
    s->jobs = opts->jobs ? opts->jobs : c->jobs;
    if (s->jobs > SUITE_JOBS_MAX)
        s->jobs = SUITE_JOBS_MAX;
    s->runs = mem_alloc((c->run_count ? c->run_count : 1) * sizeof(*s->runs));
    for (size_t i = 0; i < c->run_count; i++) {
        const struct scenario_run *run = &c->runs[i];
        if (opts->only && span_search(run->name, span_str(opts->only), false) == run->name.n)
            continue;
        struct suite_run *r = &s->runs[s->run_count++];
        r->run = run;
        r->expected = mem_alloc((run->expect_count ? run->expect_count : 1) * sizeof(*r->expected));
        suite_clear_run(r);
    }
    if (s->run_count == 0) {
        buf_printf(why, "no run of %.*s has \"%s\" in its name", SPAN_ARG(c->name), opts->only ? opts->only : "");
        return ST_NOT_FOUND;
    }
    buf_printf(&path, "%s/%.*s", opts->dir, SPAN_ARG(c->name));
    status st = file_mkdir(buf_cstr(&path));
    s->folder = st == ST_OK ? realpath(buf_cstr(&path), NULL) : NULL;
    if (!s->folder) {
        buf_printf(why, "make %s: %s", buf_cstr(&path), strerror(errno));
        st = ST_IO;
    }
    buf_done(&path);
    return st;
}

status suite_play(const struct suite_opts *opts, struct suite *out, struct buf *why)
{
    sigset_t set;
    status st = set_up(opts, out, why);
    struct jobs j = {.suite = out, .start = clock_mono(), .why = why};
    signals(&set);
    sigprocmask(SIG_BLOCK, &set, &j.mask);
    busy_mark(&j.mark);
    if (getloadavg(&out->machine.load, 1) != 1)
        out->machine.load = NAN;
    if (st == ST_OK) {
        j.list = mem_alloc(out->jobs * sizeof(*j.list));
        st = play_all(&j);
        free(j.list);
    }
    sigprocmask(SIG_SETMASK, &j.mask, NULL);
    return st;
}

bool suite_is_passed(const struct suite *s)
{
    struct suite_rank ranks[SUITE_RANKS_MAX];
    size_t n;
    bool is_passed = s->run_count > 0 && !s->is_stopped;
    for (size_t i = 0; is_passed && i < s->run_count; i++)
        is_passed = s->runs[i].is_done && s->runs[i].is_passed;
    for (size_t i = 0; is_passed && i < s->opts.scenario->order_count; i++)
        is_passed = suite_order(s, &s->opts.scenario->orders[i], ranks, &n);
    return is_passed;
}

void suite_done(struct suite *s)
{
    for (size_t i = 0; i < s->run_count; i++) {
        figures_done(&s->runs[i].figures);
        free(s->runs[i].expected);
        buf_done(&s->runs[i].problem);
        buf_done(&s->runs[i].events);
    }
    free(s->runs);
    free(s->folder);
    *s = (struct suite){0};
}
