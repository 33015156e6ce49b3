#include "agent/supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/update.h"
#include "codec/armor.h"
#include "io/clock.h"

/* Set for whoever is started from here: it does not look for a newer one again. */
#define MARK "ORB_AGENT_STARTED_BY"
#define LOOK_MS 200
#define TERM_MS 30000 /* for a version that is given up to write down what it has */

static void nap(void)
{
    struct timespec t = {.tv_nsec = LOOK_MS * 1000000L};
    nanosleep(&t, NULL);
}

/* Signals that are for the agent go on to the one that does its work: kept pending, and asked for. */
static void forward_signals(pid_t child, const sigset_t *set)
{
    struct timespec none = {0};
    int sig;
    while ((sig = sigtimedwait(set, NULL, &none)) > 0)
        kill(child, sig);
}

static bool has_ended(pid_t child, int *code)
{
    int how;
    pid_t got = waitpid(child, &how, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR))
        return false;
    *code = got < 0 ? 5 : WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return true;
}

static void end_child(pid_t child)
{
    int code;
    mono_ms until = clock_mono() + TERM_MS;
    kill(child, SIGTERM);
    while (clock_mono() < until) {
        if (has_ended(child, &code))
            return;
        nap();
    }
    kill(child, SIGKILL);
    while (waitpid(child, &code, 0) < 0 && errno == EINTR)
        continue;
}

static pid_t start(const char *path, char *const *argv, const sigset_t *old)
{
    pid_t child = fork();
    if (child == 0) {
        sigprocmask(SIG_SETMASK, old, NULL);
        setenv(MARK, "trial", 1);
        execv(path, argv);
        _exit(127);
    }
    return child;
}

/* Until it has reported in, has ended, or the time is up. */
static bool reports_in(pid_t child, const char *data, struct span version, const sigset_t *set, bool *ended, int *code)
{
    mono_ms until = clock_mono() + UPDATE_TRIAL_MS;
    *ended = false;
    while (clock_mono() < until) {
        forward_signals(child, set);
        if (update_is_ok(data, version))
            return true;
        if (has_ended(child, code)) {
            *ended = true;
            return update_is_ok(data, version);
        }
        nap();
    }
    return false;
}

bool supervise_try(const char *data, const struct update_try *u, char *const *argv, const struct log *log, int *code)
{
    struct buf path = {0};
    struct span version = buf_span(&u->version);
    struct update_order o = {.version = version, .digest = buf_span(&u->digest), .sig = buf_span(&u->sig)};
    sigset_t set, old;
    bool ended = false;
    update_path(data, version, &path);
    update_clear_ok(data, version);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, &old);
    pid_t child = start(path.p, argv, &old);
    bool works = child > 0 && reports_in(child, data, version, &set, &ended, code);
    if (works) {
        log_write(log, LOG_INFO, "update", "the new version works version=%.*s", SPAN_ARG(version));
        if (update_set_current(data, &o) != ST_OK)
            log_write(log, LOG_WARN, "update", "cannot be written down: the next start tries it again");
        while (!ended) {
            forward_signals(child, &set);
            ended = has_ended(child, code);
            if (!ended)
                nap();
        }
    } else {
        if (child > 0 && !ended)
            end_child(child);
        log_write(log, LOG_ERROR, "update", "the new version did not report in, the old one goes on version=%.*s",
                  SPAN_ARG(version));
        if (update_mark_bad(data, version) != ST_OK)
            log_write(log, LOG_WARN, "update", "cannot be written down that it is bad");
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    buf_done(&path);
    return works;
}

void supervise_exec_current(const struct conf *c, struct span own_version, char *const *argv)
{
    struct sign_public key;
    struct buf path = {0};
    const char *data = conf_cstr(c, CONF_DATA);
    struct span text = conf_text(c, CONF_UPDATE_KEY);
    if (!data || getenv(MARK) || !conf_flag(c, CONF_UPDATE) || base64url_get(text, key.b, sizeof(key.b)) != ST_OK)
        return;
    if (update_current(data, &key, own_version, &path)) {
        setenv(MARK, "current", 1);
        execv(path.p, argv);
        unsetenv(MARK); /* it cannot be run: this one goes on */
    }
    buf_done(&path);
}

bool supervise_is_trial(void)
{
    const char *mark = getenv(MARK);
    return mark && span_is(span_str(mark), "trial");
}
