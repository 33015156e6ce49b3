/* workers.h - a few threads and a bounded line of jobs in front of them.
 *
 * For work that must not hold up a loop or a server's thread: the adder never waits, a full line is an answer. Jobs
 * start in the order in which they were added. */
#pragma once

#include "base/status.h"

#include <stdbool.h>

struct workers;

/* `worker` is the thread's number, 0 to count - 1: for what a thread keeps between jobs. `is_cancelled`: the pool is
 * being stopped and the job never started; it only has to let go of what it holds. */
typedef void workers_fn(void *arg, unsigned worker, bool is_cancelled);

#define WORKERS_MAX 64

/* `count` threads (1 to WORKERS_MAX); at most `waiting_max` jobs wait. ST_IO: no threads. */
MUST_USE status workers_new(unsigned count, size_t waiting_max, struct workers **out);
/* Stops taking jobs, waits for those that run, calls those that wait with is_cancelled on the calling thread. NULL is
 * fine. */
void workers_free(struct workers *w);
/* The first half of workers_free: afterwards workers_add answers ST_CANCELLED. For an owner whose adders still run. */
void workers_stop(struct workers *w);

/* Any thread; never waits. ST_FULL: the line is full; ST_CANCELLED: stopping. fn is not called then. */
MUST_USE status workers_add(struct workers *w, workers_fn *fn, void *arg);
size_t workers_waiting(struct workers *w); /* any thread */
size_t workers_running(struct workers *w); /* any thread */
