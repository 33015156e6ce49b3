#include "cli/local_agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/agent_process.h"
#include "cli/command.h"
#include "coord/agents.h"
#include "store/file.h"

#define NAME "here"

struct local_agent {
    pid_t pid;
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

static int start(const struct options *o, const char *data, const char *join, struct local_agent *a)
{
    struct buf program = {0}, log = {0}, at = {0};
    const char *argv[16] = {"orb-agent", "--data", data, "--quiet"};
    size_t n = 4;
    int code = EXIT_DONE;
    buf_printf(&log, "%s.log", data);
    buf_printf(&at, "@%s", join ? join : "");
    if (join) {
        argv[n++] = "--join";
        argv[n++] = buf_cstr(&at);
    }
    if (opt_flag(o, OPT_ALLOW_PRIVATE))
        argv[n++] = "--allow-private";
    if (opt_cstr(o, OPT_HOSTS)) {
        argv[n++] = "--hosts";
        argv[n++] = opt_cstr(o, OPT_HOSTS);
    }
    if (opt_text(o, OPT_RESOLVER).n) {
        argv[n++] = "--resolver";
        argv[n++] = opt_cstr(o, OPT_RESOLVER);
    }
    if (!agent_process_find("orb-agent", &program))
        code = complain(EXIT_IO, "coordinator: --with-agent: orb-agent is not beside orb: build or install it");
    else if (agent_process_start(buf_cstr(&program), (char *const *)argv, NULL, buf_cstr(&log), &a->pid) != ST_OK)
        code = complain(EXIT_IO, "coordinator: start %s: %s", buf_cstr(&program), strerror(errno));
    buf_done(&program);
    buf_done(&log);
    buf_done(&at);
    return code;
}

int local_agent_new(const struct options *o, struct coord *c, const struct coord_opts *opts, struct local_agent **out)
{
    struct buf data = {0}, join = {0}, why = {0};
    struct local_agent *a = mem_alloc(sizeof(*a));
    int code = EXIT_DONE;
    buf_printf(&data, "%s/agent", opts->data_dir);
    buf_printf(&join, "%s/coord/agent.join", opts->data_dir);
    bool is_new = !is_enrolled(c, buf_cstr(&data));
    status st = is_new ? invite(c, opts, buf_cstr(&join), &why) : ST_OK;
    if (st != ST_OK)
        code = complain(exit_code_of(st), "coordinator: --with-agent: %s", why.n ? buf_cstr(&why) : status_name(st));
    else
        code = start(o, buf_cstr(&data), is_new ? buf_cstr(&join) : NULL, a);
    if (code == EXIT_DONE) {
        *out = a;
    } else {
        local_agent_free(a);
    }
    buf_done(&data);
    buf_done(&join);
    buf_done(&why);
    return code;
}

void local_agent_free(struct local_agent *a)
{
    if (a)
        agent_process_end(&a->pid, 1);
    free(a);
}
