/* master.h - runs programs on pages, each in a locked-down process of its own (orb-worker), from an event loop.
 *
 *     master_new -> master_set (a program) -> master_run (a page) ... -> master_free
 *
 * A worker is started by exec with two pipes and nothing else, locks itself up, reads the script, and then answers one
 * page after the other. One that dies, hangs or eats too much is killed and started anew; a version that fails on
 * MASTER_STRIKES pages in a row, or does not start, is left and the last good one goes on. A version is good once it
 * has answered a page. A new version takes over between two pages: the one under way is finished by the old one, and
 * those in line go to the new one. What comes back from a worker is believed no more than what comes from a network.
 *
 * One loop, one thread. All of these may be called from inside a program_done_fn, but master_free. */
#pragma once

#include "base/log.h"
#include "io/loop.h"
#include "mobile/page.h"
#include "mobile/program.h"

#define MASTER_STRIKES 5
#define MASTER_PROGRAMS_MAX 64
#define MASTER_START_MS 10000 /* a worker that is not ready by then did not start */
#define MASTER_STARTS 3       /* tries to start one before its version is given up */
#define MASTER_IDLE_MS 60000  /* without a page for so long it is let go */
/* Pages after which a worker is replaced: what a script heaps up in its variables ends there. */
#define MASTER_WORKER_PAGES 1000

struct master;

struct master_opts {
    const char *worker_path; /* orb-worker; NULL: beside this program, then in libexec */
    uint64_t memory_bytes;   /* of a worker; 0: 64 MiB */
    uint64_t steps_max;      /* Lua instructions a page; 0: 50 million */
    int wall_ms;             /* a page; 0: 2,000 */
    int cpu_ms;              /* a page; 0: 1,000 */
    unsigned waiting_max;    /* pages in line for one program; 0: 64 */
    const struct log *log;
};

/* The result is valid during the callback. */
typedef void program_done_fn(void *arg, const struct program_result *r);

/* ST_NOT_FOUND: there is no orb-worker where it should be. */
MUST_USE status master_new(struct loop *l, const struct master_opts *o, struct master **out);
void master_free(struct master *m); /* pages in line get ST_CANCELLED; NULL is fine */
/* `last` (NULL: none): an earlier version that was good, to fall back to when no other is at hand. ST_EXISTS: this
 * serial or a higher one is there already; ST_INVALID: its name is none; ST_LIMIT: too long a script, or too many
 * programs. Copied. Signatures are the caller's to check. */
MUST_USE status master_set(struct master *m, const struct program *p, const struct program *last);
/* This version is not used for any further page: the last good one goes on. Without one the program is removed.
 * Harmless when that version is not there. */
void master_drop(struct master *m, struct span name, uint64_t serial);
void master_remove(struct master *m, struct span name); /* its pages get ST_CANCELLED; its serial is forgotten */
bool master_has(const struct master *m, struct span name);
/* ST_NOT_FOUND: no such program, or it is broken and there is nothing to fall back to; ST_BUSY: too many are in line.
 * Then `done` is not called. Otherwise it is, once, never from inside this call. The page is copied. */
MUST_USE status master_run(struct master *m, struct span name, const struct program_page *page, program_done_fn *done,
                           void *arg);

struct program_status {
    struct span name;
    uint64_t serial;        /* in use; 0 when broken */
    uint64_t newest_serial; /* given; higher than serial: it failed or was dropped, and the one before is back */
    uint64_t failed_serial; /* the newest that failed; 0: none */
    uint64_t pages, errors; /* answered, and those of them that went wrong; all versions */
    struct span last_error; /* "" when there was none; text from the script */
    bool is_running;        /* it has a worker now */
    bool is_broken;         /* failed, and there was nothing to fall back to */
};
typedef void program_status_fn(void *arg, const struct program_status *s);
void master_each(const struct master *m, program_status_fn *fn, void *arg);
