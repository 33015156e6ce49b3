#include "lab/runner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lab/net/box.h"
#include "lab/orders.h"
#include "lab/registry.h"

#define TIMER_SLACK_NS 50000UL /* the kernel's default */
#define GRACE_MS 1000          /* between asking and killing, at the end */

struct run {
    const struct runner_opts *opts; /* borrowed */
    struct router *router;
    struct control *control;
    int signal_fd;
    pid_t child;
    int code;
};

static void on_control(void *arg)
{
    control_turn(((struct run *)arg)->control);
}

/* Process 1 has every orphan of the box for a child. */
static void reap(struct run *r)
{
    pid_t pid;
    int how;
    while ((pid = waitpid(-1, &how, WNOHANG)) > 0) {
        if (pid != r->child)
            continue;
        r->code = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
        router_stop(r->router);
    }
}

static void on_signal(void *arg)
{
    struct run *r = arg;
    struct signalfd_siginfo s;
    while (read(r->signal_fd, &s, sizeof(s)) == (ssize_t)sizeof(s)) {
        if (s.ssi_signo == SIGCHLD)
            reap(r);
        else if (s.ssi_code != SI_KERNEL) /* the terminal's signals reach the child by themselves */
            kill(r->child, (int)s.ssi_signo);
    }
}

static status start_child(struct run *r)
{
    r->child = fork();
    if (r->child == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
        _exit(r->opts->child(r->opts->arg, r->router));
    }
    return r->child > 0 ? ST_OK : ST_IO;
}

static status start_all(struct run *r, const struct box_inside *box, struct orders *orders, struct buf *why)
{
    char path[128];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    struct lab *lab = r->opts->lab;
    if (lab->dns.family)
        box_names(box, &lab->dns);
    struct router_opts opts = {.map = lab->map,
                               .kind = r->opts->kind,
                               .seed = lab->seed,
                               .late_limit_ns = (int64_t)(r->opts->late_limit_ms * 1e6)};
    status st = router_new(&opts, &r->router, why);
    if (st != ST_OK)
        return st;
    *orders = (struct orders){lab->map, r->router};
    snprintf(path, sizeof(path), "%s/%s", box->folder, ORDERS_SOCKET);
    r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    st = control_new(path, orders_answer, orders, &r->control);
    if (st == ST_OK)
        st = router_watch(r->router, control_fd(r->control), on_control, r);
    if (st == ST_OK)
        st = router_watch(r->router, r->signal_fd, on_signal, r);
    if (st == ST_OK)
        st = start_child(r);
    if (st != ST_OK)
        buf_printf(why, "start the lab: %s", strerror(errno));
    return st;
}

/* Asks whoever is left in the box to end; the kernel kills the rest when we end. */
static void end_others(void)
{
    struct timespec step = {0, 10000000};
    if (getpid() != 1 || kill(-1, SIGTERM) != 0)
        return;
    for (int ms = 0; ms < GRACE_MS; ms += 10) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (kill(-1, 0) != 0)
            return;
        nanosleep(&step, NULL);
    }
}

static void say_figures(struct run *r)
{
    struct router_figures f;
    router_figures(r->router, &f);
    const struct lateness *l = &f.lateness;
    fprintf(stderr,
            "orb-lab: %s: %llu packets, %llu lost; late by %.3f ms (median), %.3f ms (99 %%), %.3f ms (at most)%s\n",
            link_kind_name(router_kind(r->router)), (unsigned long long)f.packets,
            (unsigned long long)(f.overflow + f.links.lost_in + f.links.lost_out + f.links.too_long),
            (double)lateness_at(l, 0.5) / 1e6, (double)lateness_at(l, 0.99) / 1e6, (double)l->max_ns / 1e6,
            router_is_valid(&f) ? "" : ": not valid, the machine is too busy");
}

struct whole {
    const struct runner_opts *opts; /* borrowed */
    struct registry *registry;
    char *title;
};

static int inside(void *arg, const struct box_inside *box)
{
    struct run r = {.opts = ((struct whole *)arg)->opts, .signal_fd = -1, .code = RUNNER_EXIT_FAILED};
    struct orders orders;
    struct buf why = {0};
    box_urgent();
    status st = start_all(&r, box, &orders, &why);
    if (st == ST_OK) {
        router_run(r.router);
        if (!r.opts->is_quiet)
            say_figures(&r);
    } else {
        fprintf(stderr, "orb-lab: bring the lab up: %s\n", buf_cstr(&why));
    }
    end_others();
    router_free(r.router);
    return r.code; /* the box goes, and everything else with it */
}

static void on_started(void *arg, pid_t first, const char *folder)
{
    const struct whole *w = arg;
    registry_add(w->registry, first, folder, w->title ? w->title : "-");
}

status runner_run(const struct runner_opts *opts, int *code, struct buf *why)
{
    struct whole w = {.opts = opts, .registry = registry_open()};
    if (opts->title)
        w.title = realpath(opts->title, NULL);
    status st = box_run(inside, on_started, &w, code, why);
    registry_close(w.registry);
    free(w.title);
    return st;
}
