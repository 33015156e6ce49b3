/* worker.c - orb-worker: reads a script and then pages from standard input, and answers on standard output.
 *
 *     orb-worker MEMORY-BYTES STEPS CPU-MS PAGES
 *     orb-worker --self-test
 *     orb-worker --cage ...        see caged.h
 *
 * Started by a master (master.h) or a reader (reader.h) only. It locks itself up before it reads the first byte. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "mobile/caged.h"
#include "mobile/message.h"
#include "mobile/sandbox.h"
#include "mobile/script.h"
#include "mobile/self_test.h"

#define READ_BYTES 65536
/* Address space besides Lua's: two messages while they grow, the page's arrays, the answer. */
#define OWN_BYTES (48u << 20)
#define CPU_MS_MAX 3600000
#define PAGES_MAX 1000000

enum { LEFT_DONE = 0, LEFT_USAGE = 2, LEFT_BAD_MESSAGE = 65, LEFT_SANDBOX = 71 };

struct worker {
    struct script_limits limits;
    unsigned cpu_ms;
    uint64_t pages_max;    /* the master asks no more: with cpu_ms they make the limit of the process */
    struct script *script; /* owned */
    struct arena arena;
    struct buf in, out;
};

static bool read_more(struct worker *w)
{
    ssize_t n = read(STDIN_FILENO, buf_room(&w->in, READ_BYTES), READ_BYTES);
    if (n > 0)
        w->in.n += (size_t)n;
    return n > 0 || (n < 0 && errno == EINTR);
}

static bool send_all(struct buf *b)
{
    for (size_t at = 0; at < b->n;) {
        ssize_t n = write(STDOUT_FILENO, b->p + at, b->n - at);
        if (n <= 0 && errno != EINTR)
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    buf_clear(b);
    return true;
}

/* True: go on. */
static bool take_script(struct worker *w, struct span payload)
{
    struct span name, source;
    struct buf why = {0};
    status st = w->script ? ST_CORRUPT : message_get_script(payload, &name, &source);
    if (st == ST_NEWER) {
        message_put_failed(&w->out, SPAN("orb-worker is of another version than what starts it: install both alike"));
        send_all(&w->out);
        return false;
    }
    if (st != ST_OK)
        _exit(LEFT_BAD_MESSAGE);
    sandbox_cpu_alarm(w->cpu_ms);
    st = script_new(&w->limits, name, source, &w->script, &why);
    sandbox_cpu_alarm(0);
    if (st == ST_OK)
        message_put_ready(&w->out);
    else
        message_put_failed(&w->out, buf_span(&why));
    buf_done(&why);
    return send_all(&w->out) && st == ST_OK;
}

static bool take_page(struct worker *w, struct span payload)
{
    struct program_page page;
    struct program_result r;
    arena_reset(&w->arena);
    if (!w->script || message_get_page(&w->arena, payload, &page) != ST_OK)
        _exit(LEFT_BAD_MESSAGE);
    sandbox_cpu_alarm(w->cpu_ms);
    script_page(w->script, &page, &r);
    sandbox_cpu_alarm(0);
    message_put_result(&w->out, &r);
    return send_all(&w->out) && r.st != ST_LIMIT;
}

static int serve(struct worker *w)
{
    for (;;) {
        uint8_t kind;
        struct span rest = buf_span(&w->in), payload;
        status st = message_next(&rest, MESSAGE_TO_WORKER_MAX, &kind, &payload);
        if (st == ST_AGAIN) {
            if (!read_more(w))
                return LEFT_DONE; /* the master has gone */
            continue;
        }
        if (st != ST_OK || (kind != MSG_SCRIPT && kind != MSG_PAGE))
            return LEFT_BAD_MESSAGE;
        if (!(kind == MSG_SCRIPT ? take_script(w, payload) : take_page(w, payload)))
            return LEFT_DONE;
        if (rest.n)
            memmove(w->in.p, rest.p, rest.n);
        w->in.n = rest.n;
    }
}

static bool read_numbers(struct worker *w, char **argv)
{
    uint64_t cpu_ms;
    bool ok = span_u64(span_str(argv[1]), UINT64_C(1) << 40, &w->limits.memory_bytes) &&
              span_u64(span_str(argv[2]), INT64_MAX, &w->limits.steps_max) &&
              span_u64(span_str(argv[3]), CPU_MS_MAX, &cpu_ms) && span_u64(span_str(argv[4]), PAGES_MAX, &w->pages_max);
    w->cpu_ms = ok ? (unsigned)cpu_ms : 0;
    return ok && cpu_ms > 0;
}

static int enter(struct worker *w)
{
    const struct sandbox_limits limits = {
        .memory_bytes = w->limits.memory_bytes + OWN_BYTES,
        .cpu_s = (w->pages_max + 2) * w->cpu_ms / 1000 + 10,
    };
    const char *what = "";
    signal(SIGPROF, SIG_DFL); /* the CPU alarm must end us, whatever our parent ignores */
    if (sandbox_enter(SANDBOX_ALL, &limits, &what) == ST_OK)
        return LEFT_DONE;
    struct buf why = {0};
    buf_printf(&why, "orb-worker cannot lock itself up: %s", what);
    message_put_failed(&w->out, buf_span(&why));
    buf_done(&why);
    (void)send_all(&w->out);
    return LEFT_SANDBOX;
}

int main(int argc, char **argv)
{
    struct worker w = {0};
    if (argc == 2 && strcmp(argv[1], "--self-test") == 0)
        return self_test_run();
    if (argc > 1 && strcmp(argv[1], "--cage") == 0)
        return caged_run(argc - 2, argv + 2);
    if (argc != 5 || !read_numbers(&w, argv)) {
        fputs("orb-worker is started by orb and orb-agent; by hand only as orb-worker --self-test\n", stderr);
        return LEFT_USAGE;
    }
    int code = enter(&w);
    arena_init(&w.arena);
    if (code == LEFT_DONE)
        code = serve(&w);
    _exit(code); /* nothing is freed or flushed: there may be no more system calls for it */
}
