/* subprocess.h - another program at the far end of two pipes, on the loop.
 *
 * The child gets one pipe as standard input, one as standard output, /dev/null as standard error, no environment, "/"
 * as its folder, a session of its own (a Ctrl-C in the terminal is not for it) and default signals. Files that others
 * opened without close-on-exec reach it nevertheless: a child that must not have them closes them first. A
 * child that closes its output is killed, for nothing more can come from it. SIGPIPE is ignored in this process from
 * the first child on. One loop, one thread. */
#pragma once

#include "base/span.h"
#include "io/loop.h"

struct subprocess;

/* Called from the loop, never from inside subprocess_new or subprocess_write. subprocess_free is allowed in both. */
typedef void subprocess_read_fn(void *arg, struct span data); /* borrowed until it returns */
/* It has ended, and everything that it wrote has been read. Once. `signal` 0: it left by itself with `code`. */
typedef void subprocess_exit_fn(void *arg, int code, int signal);

struct subprocess_opts {
    const char *path;         /* with a slash in it */
    const char *const *args;  /* the first is its name; NULL at the end */
    subprocess_read_fn *read; /* standard output */
    subprocess_exit_fn *exited;
    void *arg; /* borrowed */
};

/* ST_NOT_FOUND: no such program, or it may not be run; ST_IO: no processes or files left. */
MUST_USE status subprocess_new(struct loop *l, const struct subprocess_opts *o, struct subprocess **out);
/* Kills it when it still runs, and waits the moment until it is gone. No calls back afterwards. NULL is fine. */
void subprocess_free(struct subprocess *p);
/* Copied; goes out as the child reads. To a child that has closed its end it goes nowhere: `exited` tells. */
void subprocess_write(struct subprocess *p, struct span data);
