/* status.c - DATA/status.json: what the agent was asked, did and refused, for `orb-agent status`. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/agent.h"
#include "codec/json.h"
#include "codec/json_read.h"
#include "io/clock.h"
#include "store/file.h"

#define TASKS_SHOWN 100

static const char *const task_words[] = {"?", "waiting", "running", "done", "ending", "ended"};

struct lister {
    struct json *j;
    size_t n;
};

static void put_task(void *arg, const struct task *t)
{
    struct lister *l = arg;
    struct buf line = {0};
    if (l->n++ >= TASKS_SHOWN)
        return;
    buf_printf(&line, "%llu %s: %llu pages, %llu unchanged, %llu errors, %llu waiting, %zu networks",
               (unsigned long long)t->number, task_words[t->state], (unsigned long long)t->now.fetched,
               (unsigned long long)t->now.unchanged, (unsigned long long)t->now.errors, (unsigned long long)t->queued,
               t->networks.count + t->hosts.count);
    json_text(l->j, buf_span(&line));
    buf_done(&line);
}

static void put_u64(struct json *j, const char *name, uint64_t v)
{
    json_key(j, name);
    json_u64(j, v);
}

/* Lock held. */
static void put_refusals(struct json *j, const struct state *s)
{
    json_key(j, "refused");
    json_open(j, '[');
    for (size_t i = s->refusal_count; i-- > 0;)
        json_text(j, buf_span(&s->refusals[i].text));
    json_close(j, ']');
}

/* Lock held. */
static void put_all(struct agent *a, struct json *j)
{
    const struct state *s = &a->state;
    struct spool_counts spool;
    struct probes_counts probes;
    spool_get_counts(a->spool, &spool);
    probes_get_counts(a->probes, &probes);
    json_open(j, '{');
    json_key(j, "name");
    json_str(j, s->name);
    put_u64(j, "number", s->agent);
    json_key(j, "coordinator");
    json_text(j, buf_span(&s->base));
    json_key(j, "version");
    json_text(j, a->version);
    put_u64(j, "pid", (uint64_t)getpid());
    json_key(j, "at");
    json_i64(j, agent_wall(a));
    json_key(j, "doing");
    json_str(j, gov_reason_text(a->verdict.reason));
    json_key(j, "may_work");
    json_bool(j, a->verdict.may_crawl);
    json_key(j, "trouble");
    json_text(j, buf_span(&a->trouble));
    json_key(j, "heard_ms_ago");
    json_i64(j, a->heard_at ? clock_mono() - a->heard_at : -1);
    put_u64(j, "orders_done", s->orders_done);
    put_u64(j, "orders_open", a->orders_open);
    put_u64(j, "tasks_running", tasks_count(a->tasks, TASK_RUNNING));
    put_u64(j, "tasks_waiting", tasks_count(a->tasks, TASK_WAITING));
    put_u64(j, "tasks_done", tasks_count(a->tasks, TASK_DONE));
    put_u64(j, "tasks_ending", tasks_count(a->tasks, TASK_ENDING));
    put_u64(j, "queue", a->stats.queued);
    put_u64(j, "requests", s->totals.requests);
    put_u64(j, "pages", s->totals.pages);
    put_u64(j, "errors", s->totals.errors);
    put_u64(j, "bytes_crawled", s->totals.bytes_crawled);
    put_u64(j, "bytes_sent", s->totals.bytes_sent);
    put_u64(j, "bytes_today", a->gov.quota_bytes);
    put_u64(j, "package", spool_newest(a->spool));
    put_u64(j, "package_acknowledged", spool_acknowledged(a->spool));
    put_u64(j, "spool_packages", spool.packages);
    put_u64(j, "spool_bytes", spool.bytes);
    put_u64(j, "probes", probes.done);
    put_u64(j, "probes_waiting", probes.waiting + probes.under_way);
    put_u64(j, "memory_bytes", a->rss);
    put_u64(j, "refused_total", s->refused_total);
    json_key(j, "tasks");
    json_open(j, '[');
    tasks_each(a->tasks, put_task, &(struct lister){.j = j});
    json_close(j, ']');
    put_refusals(j, s);
    json_close(j, '}');
}

/* Replaced, not synced: it is for people, and written often. */
void status_write(struct agent *a)
{
    struct buf out = {0}, path = {0}, tmp = {0};
    struct json j = {.out = &out};
    pthread_mutex_lock(&a->lock);
    put_all(a, &j);
    pthread_mutex_unlock(&a->lock);
    buf_putc(&out, '\n');
    buf_printf(&path, "%s/status.json", a->data);
    buf_printf(&tmp, "%s/status.json.tmp", a->data);
    int fd = open(buf_cstr(&tmp), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool ok = fd >= 0 && file_write_all(fd, buf_span(&out)) == ST_OK;
    if (fd >= 0)
        close(fd);
    if (ok)
        (void)rename(tmp.p, buf_cstr(&path));
    buf_done(&out);
    buf_done(&path);
    buf_done(&tmp);
}

/* ---- showing it ---- */

static struct span value_of(const struct json_pair *pairs, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (span_is(pairs[i].name, name))
            return pairs[i].value;
    return (struct span){0};
}

static bool is_running(struct span pid)
{
    uint64_t n;
    return span_u64(pid, INT32_MAX, &n) && n > 1 && (kill((pid_t)n, 0) == 0 || errno == EPERM);
}

static void put_line(struct buf *out, const char *name, struct span value)
{
    buf_printf(out, "%-12s ", name);
    log_escape(out, value, 1000);
    buf_putc(out, '\n');
}

static void put_people(const struct json_pair *p, size_t n, struct buf *out)
{
    static const struct {
        const char *key, *label;
    } lines[] = {{"name", "agent"},
                 {"coordinator", "coordinator"},
                 {"version", "version"},
                 {"trouble", "trouble"},
                 {"orders_done", "orders"},
                 {"tasks_running", "running"},
                 {"tasks_waiting", "waiting"},
                 {"tasks_done", "done"},
                 {"queue", "queue"},
                 {"pages", "pages"},
                 {"errors", "errors"},
                 {"bytes_crawled", "bytes got"},
                 {"bytes_sent", "bytes sent"},
                 {"bytes_today", "today"},
                 {"spool_packages", "packages"},
                 {"spool_bytes", "spool"},
                 {"probes", "probes"},
                 {"refused_total", "refused"}};
    bool runs = is_running(value_of(p, n, "pid"));
    put_line(out, "state", runs ? value_of(p, n, "doing") : SPAN("not running; this is how it was"));
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct span v = value_of(p, n, lines[i].key);
        if (v.n)
            put_line(out, lines[i].label, v);
    }
    for (size_t i = 0; i < n; i++)
        if (span_is(p[i].name, "tasks"))
            put_line(out, "task", p[i].value);
    for (size_t i = 0; i < n; i++)
        if (span_is(p[i].name, "refused"))
            put_line(out, "refused", p[i].value);
}

int status_show(const char *data, bool is_json)
{
    struct buf path = {0}, text = {0}, out = {0};
    struct arena a;
    struct json_pair *pairs = NULL;
    size_t n = 0;
    const char *why = "";
    int code = 0;
    arena_init(&a);
    buf_printf(&path, "%s/status.json", data);
    status st = file_read(buf_cstr(&path), JSON_READ_BYTES_MAX, &text);
    if (st == ST_OK && !is_json)
        st = json_read(&a, buf_span(&text), &pairs, &n, &why);
    if (st != ST_OK) {
        fprintf(stderr, "orb-agent: status: read %s: %s: has it ever run? check --data\n", path.p, status_name(st));
        code = st == ST_NOT_FOUND ? 1 : 4;
    } else if (is_json) {
        buf_put(&out, buf_span(&text));
    } else {
        put_people(pairs, n, &out);
    }
    fwrite(out.n ? out.p : "", 1, out.n, stdout);
    arena_done(&a);
    buf_done(&path);
    buf_done(&text);
    buf_done(&out);
    return fflush(stdout) == 0 ? code : 4;
}
