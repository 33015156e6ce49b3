#include "cli/local_agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/agent_process.h"
#include "cli/command.h"
#include "coord/agents.h"
#include "io/clock.h"
#include "store/file.h"

#define NAME "here"
#define LOOK_MS 200
#define AGAIN_MS 1000             /* one that ended by itself is started again, later each time, */
#define AGAIN_MAX_MS (300 * 1000) /* unless it has worked for longer than that */

struct local_agent {
    const struct options *o; /* borrowed, as the two below */
    const char *contact;     /* NULL: none */
    const struct log *log;
    struct buf data, join; /* owned; join: empty when it is enrolled already */
    pid_t pid;             /* 0: has ended */
    pthread_t watch;
    bool is_watched;
    pthread_mutex_t lock; /* of is_stopping */
    pthread_cond_t changed;
    bool is_stopping;
};

/* A coordinator that listens everywhere is reached here at loopback, whatever name others know it by. Who it is, the
 * fingerprint says. */
static void put_line(const struct coord_opts *opts, int port, struct span line, struct buf *out)
{
    static const struct addr any4 = {.family = 4}, any6 = {.family = 6};
    char text[ADDR_TEXT_MAX];
    size_t from = span_search(line, SPAN("://"), false) + 3, to = span_find(line, '/', from);
    buf_put(out, span_cut(line, 0, from));
    if (addr_eq(&opts->addr, &any4))
        buf_printf(out, "127.0.0.1:%d", port);
    else if (addr_eq(&opts->addr, &any6))
        buf_printf(out, "[::1]:%d", port);
    else
        buf_printf(out, opts->addr.family == 6 ? "[%s]:%d" : "%s:%d", addr_format(&opts->addr, text), port);
    buf_put(out, span_from(line, to));
    buf_putc(out, '\n');
}

/* A line to join with in a file that only we can read; it is good for one use. */
static status invite(struct coord *c, const struct coord_opts *opts, const char *path, struct buf *why)
{
    struct buf line = {0}, text = {0};
    struct agent_form f = {.name = SPAN(NAME), .place = SPAN("beside the coordinator")};
    pthread_mutex_lock(&c->lock);
    struct c_agent *a = agent_by_name(c, SPAN(NAME));
    status st = a ? agent_invite(c, a, &line) : agent_add(c, &f, &a, &line, why);
    pthread_mutex_unlock(&c->lock);
    if (st == ST_OK) {
        put_line(opts, coord_port(c), buf_span(&line), &text);
        st = file_replace_secret(path, buf_span(&text));
    }
    buf_done(&line);
    buf_done(&text);
    return st;
}

static bool is_enrolled(struct coord *c, const char *data)
{
    struct buf path = {0};
    buf_printf(&path, "%s/agent.state", data);
    bool is_there = access(buf_cstr(&path), F_OK) == 0;
    buf_done(&path);
    pthread_mutex_lock(&c->lock);
    const struct c_agent *a = agent_by_name(c, SPAN(NAME));
    is_there &= a && a->is_joined;
    pthread_mutex_unlock(&c->lock);
    return is_there;
}

static void put_arg(const char **argv, size_t *n, const char *name, const char *value)
{
    if (!value)
        return;
    argv[(*n)++] = name;
    argv[(*n)++] = value;
}

static int start(struct local_agent *a)
{
    const struct options *o = a->o;
    const char *data = buf_cstr(&a->data), *join = a->join.n ? buf_cstr(&a->join) : NULL;
    struct buf program = {0}, log = {0}, at = {0};
    const char *argv[24] = {"orb-agent", "--data", data, "--quiet"};
    size_t n = 4;
    int code = EXIT_DONE;
    buf_printf(&log, "%s.log", data);
    buf_printf(&at, "@%s", join ? join : "");
    if (opt_flag(o, OPT_ALLOW_PRIVATE))
        argv[n++] = "--allow-private";
    put_arg(argv, &n, "--join", join ? buf_cstr(&at) : NULL);
    put_arg(argv, &n, "--hosts", opt_cstr(o, OPT_HOSTS));
    put_arg(argv, &n, "--resolver", opt_cstr(o, OPT_RESOLVER));
    put_arg(argv, &n, "--ca-file", opt_cstr(o, OPT_CA_FILE));
    put_arg(argv, &n, "--contact", a->contact);
    put_arg(argv, &n, "--purpose-url", opt_cstr(o, OPT_PURPOSE_URL));
    if (!agent_process_find("orb-agent", &program))
        code = complain(EXIT_IO, "coordinator: --with-agent: orb-agent is not beside orb: build or install it");
    else if (agent_process_start(buf_cstr(&program), (char *const *)argv, NULL, buf_cstr(&log), &a->pid) != ST_OK)
        code = complain(EXIT_IO, "coordinator: start %s: %s", buf_cstr(&program), strerror(errno));
    buf_done(&program);
    buf_done(&log);
    buf_done(&at);
    return code;
}

/* ---- while it runs ---- */

/* True: it is time to end. */
static bool nap(struct local_agent *a, int64_t ms)
{
    struct timespec until = clock_in(ms);
    pthread_mutex_lock(&a->lock);
    while (!a->is_stopping && pthread_cond_timedwait(&a->changed, &a->lock, &until) != ETIMEDOUT)
        continue;
    bool is_stopping = a->is_stopping;
    pthread_mutex_unlock(&a->lock);
    return is_stopping;
}

/* A crash, or whoever takes memory back, would else be the end of all crawling here, and nobody would say so. One that
 * was told to end (orb agent kill) stays ended. */
static void *watch(void *arg)
{
    struct local_agent *a = arg;
    mono_ms begun = clock_mono();
    int64_t pause = AGAIN_MS;
    int how = 0;
    while (!nap(a, LOOK_MS)) {
        if (a->pid && waitpid(a->pid, &how, WNOHANG) != a->pid)
            continue;
        if (a->pid && WIFEXITED(how) && WEXITSTATUS(how) == 0) {
            log_write(a->log, LOG_INFO, "agent", "the agent on this machine has ended");
            a->pid = 0;
            break;
        }
        if (a->pid)
            log_write(a->log, LOG_WARN, "agent", "the agent on this machine is started again ended_by=%s%d",
                      WIFSIGNALED(how) ? "signal-" : "exit-", WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
        a->pid = 0;
        pause = clock_mono() - begun > AGAIN_MAX_MS ? AGAIN_MS : pause;
        if (nap(a, pause))
            break;
        pause = pause < AGAIN_MAX_MS / 2 ? pause * 2 : AGAIN_MAX_MS;
        begun = clock_mono();
        if (start(a) != EXIT_DONE)
            a->pid = 0;
    }
    return NULL;
}

int local_agent_new(const struct options *o, struct coord *c, const struct coord_opts *opts, const char *contact,
                    struct local_agent **out)
{
    struct buf why = {0};
    struct local_agent *a = mem_alloc(sizeof(*a));
    pthread_condattr_t attr;
    int code = EXIT_DONE;
    a->o = o;
    a->contact = contact;
    a->log = opts->log;
    pthread_mutex_init(&a->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&a->changed, &attr);
    pthread_condattr_destroy(&attr);
    buf_printf(&a->data, "%s/agent", opts->data_dir);
    buf_printf(&a->join, "%s/coord/agent.join", opts->data_dir);
    bool is_new = !is_enrolled(c, buf_cstr(&a->data));
    status st = is_new ? invite(c, opts, buf_cstr(&a->join), &why) : ST_OK;
    if (!is_new)
        buf_clear(&a->join);
    if (st != ST_OK)
        code = complain(exit_code_of(st), "coordinator: --with-agent: %s", why.n ? buf_cstr(&why) : status_name(st));
    else
        code = start(a);
    if (code == EXIT_DONE) {
        a->is_watched = pthread_create(&a->watch, NULL, watch, a) == 0;
        *out = a;
    } else {
        local_agent_free(a);
    }
    buf_done(&why);
    return code;
}

void local_agent_free(struct local_agent *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->is_stopping = true;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
    if (a->is_watched)
        pthread_join(a->watch, NULL);
    agent_process_end(&a->pid, 1);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    buf_done(&a->data);
    buf_done(&a->join);
    free(a);
}
