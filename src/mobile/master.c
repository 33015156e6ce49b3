#include "mobile/master.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/subprocess.h"
#include "mobile/message.h"
#include "mobile/worker_path.h"

#define MEMORY_BYTES (64u << 20)
#define STEPS_MAX 50000000u
#define WALL_MS 2000
#define CPU_MS 1000
#define WAITING_MAX 64
#define WAITING_BYTES_MAX (64u << 20) /* of all pages in line, of all programs */
#define RESTART_MS 100                /* before a start that failed is tried again */

struct version {
    uint64_t serial;
    struct buf script;
    bool is_good; /* has answered a page */
};

/* A page in line. */
struct job {
    struct job *next;
    struct buf message;
    program_done_fn *done;
    void *arg; /* borrowed */
};

typedef enum worker_state { WORKER_NONE, WORKER_STARTING, WORKER_IDLE, WORKER_BUSY } worker_state;

/* A program: its versions, its line of pages, and the worker of the version in use. Everything moves forward in
 * advance(), which is called from the loop only. */
struct entry {
    struct entry *next;
    struct master *master;                        /* borrowed */
    char *name;                                   /* owned */
    struct version *current, *pending, *fallback; /* owned; current NULL: broken */
    uint64_t newest_serial, failed_serial;
    bool is_dropped;           /* the current version is not to see another page */
    struct subprocess *worker; /* owned; NULL in WORKER_NONE */
    worker_state state;
    struct buf in;          /* from the worker, not yet whole messages */
    struct job *first;      /* owned; in WORKER_BUSY the first one is at the worker */
    struct job **last;      /* where the next one is hung */
    unsigned waiting;       /* how many there are */
    struct timer *kick;     /* advance() is due */
    struct timer *deadline; /* of a start, of a page, of idleness */
    bool has_grace;         /* the deadline has passed, and the loop looks at the pipe once more */
    bool is_removed;
    unsigned starts, strikes; /* failures in a row */
    unsigned worker_pages;
    uint64_t pages, errors;
    struct buf last_error;
};

struct master {
    struct loop *loop; /* borrowed */
    struct master_opts o;
    char *worker_path;     /* owned */
    char args[4][24];      /* of the worker: its limits */
    struct entry *entries; /* owned, removed ones included until their timer has fired */
    size_t count;          /* without the removed ones */
    size_t waiting_bytes;
    struct arena arena; /* of the result being handed out */
};

static void advance(struct entry *e);
static void entry_remove(struct entry *e);
static void on_kick(void *arg);
static void on_deadline(void *arg);

/* ---- versions ---- */

static struct version *version_new(const struct program *p)
{
    struct version *v = mem_alloc(sizeof(*v));
    v->serial = p->serial;
    buf_put(&v->script, p->script);
    return v;
}

static void version_free(struct version *v)
{
    if (v)
        buf_done(&v->script);
    free(v);
}

/* ---- the worker ---- */

static void let_worker_go(struct entry *e)
{
    subprocess_free(e->worker);
    e->worker = NULL;
    e->state = WORKER_NONE;
    buf_clear(&e->in);
    timer_stop(e->deadline);
}

static void set_deadline(struct entry *e, int64_t ms)
{
    e->has_grace = false;
    timer_set(e->deadline, ms);
}

/* Hands a result out and takes the page out of the line. The callback may do anything but master_free. */
static void finish_page(struct entry *e, const struct program_result *r)
{
    struct job *j = e->first;
    e->first = j->next;
    if (!e->first)
        e->last = &e->first;
    e->waiting--;
    e->master->waiting_bytes -= j->message.n;
    j->done(j->arg, r);
    buf_done(&j->message);
    free(j);
}

static void note_error(struct entry *e, struct span why)
{
    struct buf line = {0};
    buf_clear(&e->last_error);
    buf_put(&e->last_error, span_cut(why, 0, PROGRAM_WHY_MAX));
    log_escape(&line, why, PROGRAM_WHY_MAX);
    log_write(e->master->o.log, LOG_WARN, "program", "page failed program=%s serial=%llu error=%s", e->name,
              (unsigned long long)(e->current ? e->current->serial : 0), buf_cstr(&line));
    buf_done(&line);
}

static void fall_back(struct entry *e)
{
    let_worker_go(e);
    version_free(e->current);
    e->current = e->fallback;
    e->fallback = NULL;
    e->strikes = e->starts = 0;
    e->is_dropped = false;
    timer_set(e->kick, 0);
}

/* The version in use is no good: the one that waits takes over, or the last good one, or nothing. */
static void leave_version(struct entry *e, struct span why)
{
    note_error(e, why);
    log_write(e->master->o.log, LOG_ERROR, "program", "version left program=%s serial=%llu back_to=%llu", e->name,
              (unsigned long long)e->current->serial, (unsigned long long)(e->fallback ? e->fallback->serial : 0));
    if (e->current->serial > e->failed_serial)
        e->failed_serial = e->current->serial;
    fall_back(e);
}

static void page_failed(struct entry *e, status st, struct span why)
{
    const struct program_result r = {.st = st, .why = span_cut(why, 0, PROGRAM_WHY_MAX)};
    e->pages++;
    e->errors++;
    if (++e->strikes == MASTER_STRIKES)
        leave_version(e, why);
    else
        note_error(e, why);
    timer_set(e->kick, 0);
    finish_page(e, &r);
}

/* The worker is of no more use. */
static void worker_failed(struct entry *e, status st, struct span why, bool is_final)
{
    worker_state was = e->state;
    bool is_start = was == WORKER_STARTING || (was == WORKER_IDLE && e->worker_pages == 0);
    let_worker_go(e);
    if (was == WORKER_BUSY)
        page_failed(e, st, why);
    else if (is_start && (is_final || ++e->starts == MASTER_STARTS))
        leave_version(e, why);
    else
        timer_set(e->kick, is_start ? RESTART_MS : 0);
}

static void on_exited(void *arg, int code, int number)
{
    struct entry *e = arg;
    char why[128];
    switch (number) {
    case SIGPROF:
        snprintf(why, sizeof(why), "%s: more than %d ms of processor time", e->name, e->master->o.cpu_ms);
        worker_failed(e, ST_TIMEOUT, span_str(why), true);
        return;
    case SIGSYS:
        snprintf(why, sizeof(why), "%s: the worker was stopped at a system call that it may not make", e->name);
        break;
    case 0:
        snprintf(why, sizeof(why), "%s: the worker ended with code %d", e->name, code);
        break;
    default:
        snprintf(why, sizeof(why), "%s: the worker ended by signal %d", e->name, number);
    }
    worker_failed(e, ST_INVALID, span_str(why), false);
}

static void on_deadline(void *arg)
{
    struct entry *e = arg;
    char why[128];
    if (e->state == WORKER_IDLE) {
        let_worker_go(e);
        return;
    }
    /* When this loop itself was held up the answer may lie in the pipe, and timers come before pipes. */
    if (!e->has_grace) {
        e->has_grace = true;
        timer_set(e->deadline, 1);
        return;
    }
    snprintf(why, sizeof(why), "%s: took longer than %d ms", e->name,
             e->state == WORKER_BUSY ? e->master->o.wall_ms : MASTER_START_MS);
    worker_failed(e, ST_TIMEOUT, span_str(why), true);
}

/* ---- what it says ---- */

static void on_result(struct entry *e, const struct program_result *r)
{
    timer_stop(e->deadline);
    if (r->st == ST_LIMIT) /* it ends by itself, but there may be a page for its successor now */
        let_worker_go(e);
    else
        e->state = WORKER_IDLE;
    if (r->st != ST_OK) {
        page_failed(e, r->st, r->why);
        return;
    }
    e->pages++;
    e->strikes = e->starts = 0;
    e->current->is_good = true;
    timer_set(e->kick, 0);
    finish_page(e, r);
}

/* False: it says what it may not say now. */
static bool on_message(struct entry *e, uint8_t kind, struct span payload)
{
    struct program_result r;
    struct span why;
    if (kind == MSG_RESULT && e->state == WORKER_BUSY) {
        arena_reset(&e->master->arena);
        if (message_get_result(&e->master->arena, payload, &r) != ST_OK)
            return false;
        on_result(e, &r);
        return true;
    }
    if (e->state != WORKER_STARTING)
        return false;
    if (kind == MSG_FAILED && message_get_failed(payload, &why) == ST_OK) {
        struct buf copy = {0}; /* the payload goes with the worker */
        buf_put(&copy, why);
        worker_failed(e, ST_INVALID, buf_span(&copy), true);
        buf_done(&copy);
        return true;
    }
    if (kind != MSG_READY || payload.n)
        return false;
    e->state = WORKER_IDLE;
    timer_stop(e->deadline);
    timer_set(e->kick, 0);
    return true;
}

static void on_read(void *arg, struct span data)
{
    struct entry *e = arg;
    const struct subprocess *worker = e->worker;
    struct buf in = e->in; /* taken out, so that it outlives the worker for the time of a callback */
    buf_put(&in, data);
    e->in = (struct buf){0};
    struct span rest = buf_span(&in), payload;
    uint8_t kind;
    status st = ST_OK;
    while (e->worker == worker && st == ST_OK) {
        st = message_next(&rest, MESSAGE_FROM_WORKER_MAX, &kind, &payload);
        if (st == ST_OK && !on_message(e, kind, payload))
            st = ST_INVALID;
    }
    if (e->worker == worker && st == ST_AGAIN) {
        memmove(in.p, rest.p, rest.n);
        in.n = rest.n;
        e->in = in;
        return;
    }
    if (e->worker == worker)
        worker_failed(e, ST_INVALID, SPAN("the worker said something that makes no sense"), false);
    buf_done(&in);
}

/* ---- moving on ---- */

static void start_worker(struct entry *e)
{
    struct master *m = e->master;
    const char *args[] = {"orb-worker", m->args[0], m->args[1], m->args[2], m->args[3], NULL};
    const struct subprocess_opts o = {
        .path = m->worker_path, .args = args, .read = on_read, .exited = on_exited, .arg = e};
    struct buf hello = {0};
    e->state = WORKER_STARTING;
    if (subprocess_new(m->loop, &o, &e->worker) != ST_OK) {
        worker_failed(e, ST_IO, SPAN("orb-worker could not be started"), false);
        return;
    }
    e->worker_pages = 0;
    message_put_script(&hello, span_str(e->name), buf_span(&e->current->script));
    subprocess_write(e->worker, buf_span(&hello));
    buf_done(&hello);
    set_deadline(e, MASTER_START_MS);
}

static void take_pending(struct entry *e)
{
    let_worker_go(e);
    if (e->current && e->current->is_good && !e->is_dropped) {
        version_free(e->fallback);
        e->fallback = e->current;
    } else {
        version_free(e->current);
    }
    e->current = e->pending;
    e->pending = NULL;
    e->strikes = e->starts = 0;
    e->is_dropped = false;
}

/* Takes the next step that can be taken; steps that wait for the worker come back here by the kick timer. */
static void advance(struct entry *e)
{
    if (e->state == WORKER_BUSY)
        return;
    if (e->pending)
        take_pending(e);
    if (e->is_dropped && !e->fallback) {
        entry_remove(e);
        return;
    }
    if (e->is_dropped)
        fall_back(e);
    if (!e->current) { /* broken: nobody will answer these */
        const struct program_result r = {.st = ST_INVALID, .why = buf_span(&e->last_error)};
        for (unsigned n = e->waiting; n > 0 && e->first && !e->is_removed && !e->pending; n--)
            finish_page(e, &r);
        return;
    }
    if (e->state == WORKER_IDLE && e->worker_pages >= MASTER_WORKER_PAGES)
        let_worker_go(e);
    if (!e->first) {
        if (e->state == WORKER_IDLE)
            set_deadline(e, MASTER_IDLE_MS);
    } else if (e->state == WORKER_NONE) {
        start_worker(e);
    } else if (e->state == WORKER_IDLE) {
        e->state = WORKER_BUSY;
        e->worker_pages++;
        set_deadline(e, e->master->o.wall_ms);
        subprocess_write(e->worker, buf_span(&e->first->message));
    }
}

static void entry_destroy(struct entry *e)
{
    struct entry **at = &e->master->entries;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    timer_free(e->kick);
    timer_free(e->deadline);
    buf_done(&e->in);
    buf_done(&e->last_error);
    free(e->name);
    free(e);
}

static void on_kick(void *arg)
{
    struct entry *e = arg;
    if (e->is_removed)
        entry_destroy(e);
    else
        advance(e);
}

/* ---- from outside ---- */

status master_new(struct loop *l, const struct master_opts *o, struct master **out)
{
    char *path = o->worker_path ? mem_str(span_str(o->worker_path)) : worker_find();
    if (!is_program(path)) {
        free(path);
        return ST_NOT_FOUND;
    }
    struct master *m = mem_alloc(sizeof(*m));
    m->loop = l;
    m->o = *o;
    m->worker_path = path;
    m->o.worker_path = NULL;
    if (!m->o.memory_bytes)
        m->o.memory_bytes = MEMORY_BYTES;
    if (!m->o.steps_max)
        m->o.steps_max = STEPS_MAX;
    if (m->o.wall_ms <= 0)
        m->o.wall_ms = WALL_MS;
    if (m->o.cpu_ms <= 0)
        m->o.cpu_ms = CPU_MS;
    if (!m->o.waiting_max)
        m->o.waiting_max = WAITING_MAX;
    const unsigned long long numbers[] = {m->o.memory_bytes, m->o.steps_max, (unsigned)m->o.cpu_ms,
                                          MASTER_WORKER_PAGES};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        snprintf(m->args[i], sizeof(m->args[i]), "%llu", numbers[i]);
    arena_init(&m->arena);
    *out = m;
    return ST_OK;
}

static void entry_remove(struct entry *e)
{
    const struct program_result r = {.st = ST_CANCELLED, .why = SPAN("the program was taken away")};
    if (e->is_removed)
        return;
    e->is_removed = true; /* first: callbacks see it gone */
    e->master->count--;
    let_worker_go(e);
    version_free(e->current);
    version_free(e->pending);
    version_free(e->fallback);
    e->current = e->pending = e->fallback = NULL;
    while (e->first)
        finish_page(e, &r);
    timer_set(e->kick, 0);
}

void master_free(struct master *m)
{
    if (!m)
        return;
    for (struct entry *e = m->entries; e; e = e->next)
        entry_remove(e);
    while (m->entries)
        entry_destroy(m->entries);
    arena_done(&m->arena);
    free(m->worker_path);
    free(m);
}

static struct entry *find(const struct master *m, struct span name)
{
    for (struct entry *e = m->entries; e; e = e->next)
        if (!e->is_removed && span_is(name, e->name))
            return e;
    return NULL;
}

bool master_has(const struct master *m, struct span name)
{
    return find(m, name) != NULL;
}

static struct entry *entry_new(struct master *m, struct span name)
{
    struct entry *e = mem_alloc(sizeof(*e));
    e->master = m;
    e->name = mem_str(name);
    e->last = &e->first;
    e->kick = timer_new(m->loop, on_kick, e);
    e->deadline = timer_new(m->loop, on_deadline, e);
    e->next = m->entries;
    m->entries = e;
    m->count++;
    return e;
}

status master_set(struct master *m, const struct program *p, const struct program *last)
{
    if (!program_name_is_good(p->name))
        return ST_INVALID;
    if (p->script.n > PROGRAM_SCRIPT_MAX || (last && last->script.n > PROGRAM_SCRIPT_MAX))
        return ST_LIMIT;
    struct entry *e = find(m, p->name);
    if (e && p->serial <= e->newest_serial)
        return ST_EXISTS;
    if (!e && m->count >= MASTER_PROGRAMS_MAX)
        return ST_LIMIT;
    if (!e)
        e = entry_new(m, p->name);
    /* It was good elsewhere; a current one that has shown itself good takes its place when the new one comes. */
    if (last && !e->fallback) {
        e->fallback = version_new(last);
        e->fallback->is_good = true;
    }
    version_free(e->pending);
    e->pending = version_new(p);
    e->newest_serial = p->serial;
    timer_set(e->kick, 0);
    return ST_OK;
}

void master_drop(struct master *m, struct span name, uint64_t serial)
{
    struct entry *e = find(m, name);
    if (!e)
        return;
    if (e->pending && e->pending->serial == serial) {
        version_free(e->pending);
        e->pending = NULL;
        e->is_dropped |= !e->current && !e->fallback;
        if (!e->current) { /* it never ran */
            e->current = e->fallback;
            e->fallback = NULL;
        }
    } else if (e->fallback && e->fallback->serial == serial) {
        version_free(e->fallback);
        e->fallback = NULL;
    } else if (e->current && e->current->serial == serial) {
        e->is_dropped = true; /* a page under way is finished */
    }
    timer_set(e->kick, 0);
}

void master_remove(struct master *m, struct span name)
{
    struct entry *e = find(m, name);
    if (e)
        entry_remove(e);
}

status master_run(struct master *m, struct span name, const struct program_page *page, program_done_fn *done, void *arg)
{
    struct entry *e = find(m, name);
    if (!e || (!e->current && !e->pending))
        return ST_NOT_FOUND;
    if (e->waiting >= m->o.waiting_max || m->waiting_bytes >= WAITING_BYTES_MAX)
        return ST_BUSY;
    struct job *j = mem_alloc(sizeof(*j));
    message_put_page(&j->message, page);
    j->done = done;
    j->arg = arg;
    *e->last = j;
    e->last = &j->next;
    e->waiting++;
    m->waiting_bytes += j->message.n;
    if (e->state == WORKER_NONE || e->state == WORKER_IDLE)
        timer_set(e->kick, 0);
    return ST_OK;
}

void master_each(const struct master *m, program_status_fn *fn, void *arg)
{
    for (const struct entry *e = m->entries; e; e = e->next) {
        const struct version *v = e->current ? e->current : e->pending;
        const struct program_status s = {
            .name = span_str(e->name),
            .serial = v ? v->serial : 0,
            .newest_serial = e->newest_serial,
            .failed_serial = e->failed_serial,
            .pages = e->pages,
            .errors = e->errors,
            .last_error = buf_span(&e->last_error),
            .is_running = e->state != WORKER_NONE,
            .is_broken = !v,
        };
        if (!e->is_removed)
            fn(arg, &s);
    }
}
