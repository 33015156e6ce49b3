#include "mobile/reader.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/pack.h"
#include "io/subprocess.h"
#include "mobile/caged.h"
#include "mobile/landlock.h"
#include "mobile/worker_path.h"

#define ARGS_MAX 16
#define OUTPUT_MAX (16u << 20)

/* A document: in line, or at a process. */
struct job {
    struct job *next; /* in reader.first */
    struct reader *reader;
    struct span document; /* borrowed */
    reader_done_fn *done;
    void *arg;                  /* borrowed */
    struct subprocess *process; /* owned; NULL: in line */
    struct timer *deadline;     /* owned */
    bool has_grace;             /* the deadline has passed, and the loop looks at the pipe once more */
    struct buf out;
};

struct reader {
    struct loop *loop; /* borrowed */
    struct reader_opts o;
    char *worker_path;         /* owned */
    char *args[ARGS_MAX + 5];  /* owned: of orb-worker */
    struct job *first, **last; /* owned: in line, oldest first */
    struct job *active[READER_AT_ONCE_MAX];
    unsigned active_count;
    size_t bytes;
    struct timer *kick; /* owned: advance() is due */
};

/* ---- is it there? ---- */

const char *reader_find_pdftotext(void)
{
    static const char *const places[] = {"/usr/bin/pdftotext", "/usr/local/bin/pdftotext", "/bin/pdftotext"};
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
        if (is_program(places[i]))
            return places[i];
    return NULL;
}

static status look(const char *worker, const char *program)
{
    if (!program || !is_program(program) || !is_program(worker))
        return ST_NOT_FOUND;
    return landlock_version() > 0 ? ST_OK : ST_REFUSED;
}

status reader_look(const char *worker_path, const char *program)
{
    char *found = worker_path ? NULL : worker_find();
    status st = look(worker_path ? worker_path : found, program);
    free(found);
    return st;
}

/* ---- one document ---- */

static void job_free(struct job *j)
{
    subprocess_free(j->process);
    timer_free(j->deadline);
    buf_done(&j->out);
    free(j);
}

/* Hands the reading out. The callback may do anything but reader_free. */
static void finish(struct job *j, const struct reading *said)
{
    struct reader *r = j->reader;
    unsigned i = 0;
    while (r->active[i] != j)
        i++;
    r->active[i] = r->active[--r->active_count];
    r->bytes -= j->document.n;
    timer_set(r->kick, 0);
    subprocess_free(j->process);
    j->process = NULL;
    j->done(j->arg, said);
    job_free(j);
}

static void fail(struct job *j, status st, int code, const char *why)
{
    const struct reading said = {.st = st, .code = code, .why = why};
    finish(j, &said);
}

static void on_read(void *arg, struct span data)
{
    struct job *j = arg;
    size_t room = j->reader->o.output_max - j->out.n;
    buf_put(&j->out, span_cut(data, 0, data.n < room ? data.n : room));
    if (data.n < room)
        return;
    const struct reading said = {.st = ST_OK, .text = buf_span(&j->out), .is_cut = true, .why = ""};
    finish(j, &said);
}

static void on_exited(void *arg, int code, int number)
{
    struct job *j = arg;
    const struct reading said = {.st = ST_OK, .text = buf_span(&j->out), .why = ""};
    if (number == SIGSYS)
        fail(j, ST_LIMIT, 0, "it was stopped at a system call that it may not make");
    else if (number == SIGXCPU || number == SIGKILL)
        fail(j, ST_LIMIT, 0, "it was killed: too much processor time or memory");
    else if (number != 0)
        fail(j, ST_LIMIT, 0, "it crashed, or wanted too much memory");
    else if (code == CAGED_INPUT || code == CAGED_USAGE)
        fail(j, ST_IO, 0, "the document could not be handed over");
    else if (code == CAGED_LOCK)
        fail(j, ST_IO, 0, "orb-worker cannot lock itself up");
    else if (code == CAGED_EXEC)
        fail(j, ST_IO, 0, "the program could not be run");
    else if (code != 0)
        fail(j, ST_INVALID, code, "the program gave up");
    else
        finish(j, &said);
}

static void on_deadline(void *arg)
{
    struct job *j = arg;
    /* When this loop itself was held up the answer may lie in the pipe, and timers come before pipes. */
    if (!j->has_grace) {
        j->has_grace = true;
        timer_set(j->deadline, 1);
        return;
    }
    fail(j, ST_TIMEOUT, 0, "it took too long");
}

static void start(struct reader *r, struct job *j)
{
    const struct subprocess_opts o = {
        .path = r->worker_path, .args = (const char *const *)r->args, .read = on_read, .exited = on_exited, .arg = j};
    struct buf length = {0};
    r->active[r->active_count++] = j;
    if (subprocess_new(r->loop, &o, &j->process) != ST_OK) {
        fail(j, ST_IO, 0, "orb-worker could not be started");
        return;
    }
    j->deadline = timer_new(r->loop, on_deadline, j);
    timer_set(j->deadline, r->o.wall_ms);
    pack_u64(&length, j->document.n);
    subprocess_write(j->process, buf_span(&length));
    subprocess_write(j->process, j->document);
    buf_done(&length);
}

/* ---- the line ---- */

static struct job *pop(struct reader *r)
{
    struct job *j = r->first;
    r->first = j->next;
    if (!r->first)
        r->last = &r->first;
    return j;
}

static void advance(void *arg)
{
    struct reader *r = arg;
    while (r->first && r->active_count < r->o.at_once)
        start(r, pop(r));
}

void reader_read(struct reader *r, struct span document, reader_done_fn *done, void *arg)
{
    struct job *j = mem_alloc(sizeof(*j));
    j->reader = r;
    j->document = document;
    j->done = done;
    j->arg = arg;
    r->bytes += document.n;
    *r->last = j;
    r->last = &j->next;
    timer_set(r->kick, 0);
}

size_t reader_bytes(const struct reader *r)
{
    return r->bytes;
}

/* ---- the reader ---- */

static char *number_text(uint64_t n)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
    return mem_str(span_str(text));
}

static void set_args(struct reader *r, const char *const *args)
{
    size_t n = 0;
    r->args[n++] = mem_str(SPAN("orb-worker"));
    r->args[n++] = mem_str(SPAN("--cage"));
    r->args[n++] = number_text(r->o.memory_bytes);
    r->args[n++] = number_text(r->o.cpu_s);
    for (size_t i = 0; args[i]; i++) {
        assert(i < ARGS_MAX);
        r->args[n++] = mem_str(span_str(args[i]));
    }
}

status reader_new(struct loop *l, const struct reader_opts *o, struct reader **out)
{
    char *path = o->worker_path ? mem_str(span_str(o->worker_path)) : worker_find();
    status st = look(path, o->args[0]);
    if (st != ST_OK) {
        free(path);
        return st;
    }
    struct reader *r = mem_alloc(sizeof(*r));
    r->loop = l;
    r->o = *o;
    r->worker_path = path;
    r->last = &r->first;
    if (!r->o.at_once)
        r->o.at_once = 1;
    if (r->o.at_once > READER_AT_ONCE_MAX)
        r->o.at_once = READER_AT_ONCE_MAX;
    if (!r->o.memory_bytes)
        r->o.memory_bytes = READER_MEMORY_BYTES;
    if (!r->o.cpu_s)
        r->o.cpu_s = READER_CPU_S;
    if (r->o.wall_ms <= 0)
        r->o.wall_ms = READER_WALL_MS;
    if (!r->o.output_max || r->o.output_max > OUTPUT_MAX)
        r->o.output_max = OUTPUT_MAX;
    set_args(r, o->args);
    r->o.args = NULL;
    r->kick = timer_new(l, advance, r);
    *out = r;
    return ST_OK;
}

void reader_free(struct reader *r)
{
    const struct reading gone = {.st = ST_CANCELLED, .why = "cancelled"};
    if (!r)
        return;
    while (r->active_count)
        finish(r->active[0], &gone);
    while (r->first) {
        struct job *j = pop(r);
        j->done(j->arg, &gone);
        job_free(j);
    }
    timer_free(r->kick);
    for (size_t i = 0; r->args[i]; i++)
        free(r->args[i]);
    free(r->worker_path);
    free(r);
}
