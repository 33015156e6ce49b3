#include "lab/play/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io/clock.h"
#include "lab/net/box.h"
#include "lab/net/netns.h"
#include "lab/orders.h"
#include "lab/runner.h"

#define STEP_MS 10

void args_add(struct args *a, struct span word)
{
    if (a->n < ARGS_MAX)
        a->list[a->n] = (char *)(uintptr_t)arena_copy(&a->arena, word).p;
    a->n++;
}

void args_add_list(struct args *a, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        args_add(a, span_str(words[i]));
}

void args_done(struct args *a)
{
    arena_done(&a->arena);
    *a = (struct args){0};
}

/* ---- starting ---- */

/* -1, with why: no such place. */
static int namespace_of(const char *place, struct buf *why)
{
    const char *folder = getenv(BOX_FOLDER_VARIABLE);
    struct buf path = {0}, line = {0}, answer = {0};
    int fd = -1;
    buf_printf(&path, "%s/%s", folder ? folder : "", ORDERS_SOCKET);
    buf_printf(&line, "enter %s", place);
    status st = control_ask(buf_cstr(&path), buf_span(&line), &answer, &fd);
    if (st != ST_OK || fd < 0)
        buf_printf(why, "enter %s: %s", place, answer.n ? buf_cstr(&answer) : status_name(st));
    buf_done(&path);
    buf_done(&line);
    buf_done(&answer);
    return fd;
}

static bool open_as(const char *path, int flags, int fd)
{
    int f = open(path, flags | O_CLOEXEC, 0600);
    bool is_good = f >= 0 && dup2(f, fd) == fd;
    if (f >= 0)
        close(f);
    return is_good;
}

/* In the child; only returns when something failed. */
static void become(const struct process_opts *o, int ns, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0); /* Ctrl-C is for us, who end it */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1); /* it has ended already */
    const int to = O_WRONLY | O_CREAT | O_APPEND;
    if (ns >= 0 && netns_enter(ns) != ST_OK)
        return;
    if (o->dir && chdir(o->dir) != 0)
        return;
    if (!open_as("/dev/null", O_RDONLY, STDIN_FILENO) || !open_as(o->out ? o->out : "/dev/null", to, STDOUT_FILENO))
        return;
    if (o->err ? !open_as(o->err, to, STDERR_FILENO) : dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
        return;
    if (setenv("ORB_CONFIG", "/dev/null", 1) != 0 || setenv("ORB_AGENT_CONFIG", "/dev/null", 1) != 0)
        return;
    if (o->place && setenv(RUNNER_PLACE_VARIABLE, o->place, 1) != 0)
        return;
    if (o->path && setenv("PATH", o->path, 1) != 0)
        return;
    execvp(o->args->list[0], o->args->list);
}

/* The child tells over a pipe what went wrong; nothing comes once it has become the program. */
static status start_child(const struct process_opts *o, int ns, struct process *p)
{
    int pipe_fd[2], err = 0;
    pid_t parent = getpid();
    if (pipe2(pipe_fd, O_CLOEXEC) != 0)
        return ST_IO;
    pid_t pid = fork();
    if (pid == 0) {
        become(o, ns, parent);
        err = errno;
        ssize_t n = write(pipe_fd[1], &err, sizeof(err));
        _exit(n > 0 ? 127 : 126);
    }
    err = errno;
    close(pipe_fd[1]);
    if (pid > 0) {
        ssize_t n;
        while ((n = read(pipe_fd[0], &err, sizeof(err))) < 0 && errno == EINTR)
            ;
        if (n > 0)
            waitpid(pid, NULL, 0);
        else
            *p = (struct process){.pid = pid};
        if (n > 0)
            pid = -1;
    }
    close(pipe_fd[0]);
    errno = err;
    return pid > 0 ? ST_OK : ST_IO;
}

status process_start(const struct process_opts *o, struct process *p, struct buf *why)
{
    int ns = -1;
    if (o->args->n == 0 || o->args->n > ARGS_MAX) {
        buf_printf(why, "a command of %zu words", o->args->n);
        return ST_LIMIT;
    }
    if (o->place && (ns = namespace_of(o->place, why)) < 0)
        return ST_NOT_FOUND;
    status st = start_child(o, ns, p);
    if (st != ST_OK)
        buf_printf(why, "start %s: %s", o->args->list[0], strerror(errno));
    if (ns >= 0)
        close(ns);
    return st;
}

/* ---- ending ---- */

bool process_is_running(struct process *p)
{
    if (p->pid == 0)
        return false;
    pid_t got = waitpid(p->pid, &p->how, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR))
        return true;
    p->pid = 0;
    return false;
}

bool process_wait(struct process *p, int64_t limit_ms)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
    mono_ms deadline = clock_mono() + limit_ms;
    while (process_is_running(p)) {
        if (clock_mono() >= deadline)
            return false;
        nanosleep(&step, NULL);
    }
    return true;
}

void process_kill(struct process *p)
{
    if (!process_is_running(p))
        return;
    kill(-p->pid, SIGKILL); /* with what it started */
    while (waitpid(p->pid, &p->how, 0) < 0 && errno == EINTR)
        ;
    p->pid = 0;
}

size_t process_end(struct process *const *list, size_t n, int64_t grace_ms)
{
    mono_ms deadline = clock_mono() + grace_ms;
    size_t killed = 0;
    for (size_t i = 0; i < n; i++)
        if (process_is_running(list[i]))
            kill(list[i]->pid, SIGTERM);
    for (size_t i = 0; i < n; i++) {
        mono_ms now = clock_mono();
        if (process_wait(list[i], deadline > now ? deadline - now : 0))
            continue;
        process_kill(list[i]);
        killed++;
    }
    return killed;
}

void process_say(const struct process *p, struct buf *out)
{
    if (WIFSIGNALED(p->how))
        buf_printf(out, "killed by signal %d", WTERMSIG(p->how));
    else
        buf_printf(out, "exit code %d", WEXITSTATUS(p->how));
}

status process_run(const struct process_opts *o, int64_t limit_ms, struct buf *why)
{
    struct process p = {0};
    status st = process_start(o, &p, why);
    if (st != ST_OK)
        return st;
    if (!process_wait(&p, limit_ms)) {
        process_kill(&p);
        buf_printf(why, "%s has not ended after %lld s", o->args->list[0], (long long)limit_ms / 1000);
        return ST_TIMEOUT;
    }
    if (p.how == 0)
        return ST_OK;
    buf_printf(why, "%s: ", o->args->list[0]);
    process_say(&p, why);
    return ST_REFUSED;
}
