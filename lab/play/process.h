/* process.h - programs that a run starts, each in the namespace of its place. Inside of a lab only, unless no place is
 * given.
 *
 * Children of this process; the kernel kills them when it ends. Standard input is empty; what they say goes to a file.
 * Settings of the user (ORB_CONFIG) are hidden from them: a run must not depend on whose machine it is on. One thread.
 */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

#define ARGS_MAX 512

/* The words of a command, in the order of adding; NULL-terminated at any time. */
struct args {
    struct arena arena;
    char *list[ARGS_MAX + 1];
    size_t n; /* past ARGS_MAX nothing is added, and process_start refuses */
};
void args_add(struct args *a, struct span word);
/* Texts; the macro ends them with NULL. */
void args_add_list(struct args *a, const char *const *words);
#define args_adds(a, ...) args_add_list(a, (const char *const[]){__VA_ARGS__, NULL})
void args_done(struct args *a); /* zeros are fine; may be used again */

struct process {
    pid_t pid; /* 0: does not run */
    int how;   /* of the last one, as waitpid says */
};

struct process_opts {
    struct args *args;
    const char *place;     /* NULL: where we are */
    const char *dir;       /* its folder; NULL: ours */
    const char *out, *err; /* files (in `dir`), appended to; err NULL: as out */
    const char *path;      /* where it finds programs; NULL: where we do */
};

/* ST_IO, ST_LIMIT, ST_NOT_FOUND (no such place): why says what. */
MUST_USE status process_start(const struct process_opts *o, struct process *p, struct buf *why);
bool process_is_running(struct process *p);
/* False: it still runs after `limit_ms`. */
bool process_wait(struct process *p, int64_t limit_ms);
void process_kill(struct process *p); /* at once, with what it started; waits for it */
/* All of them are asked to end; those that have not after `grace_ms` are killed. How many were. */
size_t process_end(struct process *const *list, size_t n, int64_t grace_ms);
/* "exit code 3", "killed by signal 9": of one that has ended. */
void process_say(const struct process *p, struct buf *out);
/* From start to end. ST_REFUSED: it ended with another code than 0; ST_TIMEOUT: killed after `limit_ms`. */
MUST_USE status process_run(const struct process_opts *o, int64_t limit_ms, struct buf *why);
