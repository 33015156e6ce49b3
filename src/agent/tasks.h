/* tasks.h - the tasks of an agent: from orders to calls of the crawl engine.
 *
 *     waiting --(there is room)--> running <--> done --(END)--> ending --(packages acknowledged)--> gone
 *
 * At most so many run at a time; the others wait in line. The crawl's calls are made from crawl_run's progress callback
 * (or before it): one thread. What an order asks is on the disk (tasks' files, parts, the crawl's checkpoint) before
 * the order counts as done; all of it may be done twice. */
#pragma once

#include "agent/gate.h"
#include "agent/spool.h"
#include "agent/task.h"
#include "base/log.h"
#include "crawl/crawl.h"

struct tasks;

struct tasks_opts {
    const char *data; /* borrowed */
    struct gate *gate;
    struct spool *spool;
    const struct log *log;
};

/* Reads what is there. ST_IO. A damaged file is put aside and said: the coordinator sees that the task is missing. */
MUST_USE status tasks_new(const struct tasks_opts *o, struct tasks **out);
void tasks_free(struct tasks *t); /* NULL is fine */

/* A crawl was opened: it gets the channels of started tasks. */
MUST_USE status tasks_attach(struct tasks *t, struct crawl *cr);
void tasks_detach(struct tasks *t); /* it is about to be closed */

/* ---- orders. `why` gets a phrase when the answer is not ST_OK ---- */
MUST_USE status tasks_order(struct tasks *t, const struct task_order *o, bool has_states, struct buf *why);
MUST_USE status tasks_recheck(struct tasks *t, const struct recheck_order *o, struct buf *why);
/* ST_AGAIN: no crawl is open to be told. */
MUST_USE status tasks_told(struct tasks *t, const struct told_order *o, struct buf *why);
/* Begins to end; tasks_end_step goes on. */
MUST_USE status tasks_end(struct tasks *t, uint64_t order, const struct end_order *o, struct buf *why);
/* ST_AGAIN: not yet; ST_OK: done, what is handed over is in parts (agent/parts.h) under the order's number when
 * *has_parts. */
MUST_USE status tasks_end_step(struct tasks *t, uint64_t order, bool *has_parts);

/* ---- now and then ---- */
void tasks_look(struct tasks *t); /* how far they are; the crawl need not run */
/* Looks, and starts waiting ones. */
MUST_USE status tasks_tick(struct tasks *t, unsigned running_max, bool may_start);
/* The crawl must settle (crawl_settle), then tasks_settled, before orders count as done. */
bool tasks_need_settling(const struct tasks *t);
MUST_USE status tasks_settled(struct tasks *t);
/* Hosts that were taken out of the crawl are on the disk before the next checkpoint forgets them. */
MUST_USE status tasks_keep_parts(struct tasks *t);
/* What orders have changed is kept in memory until here: before they count as done. */
MUST_USE status tasks_write_down(struct tasks *t);
MUST_USE status tasks_save_progress(struct tasks *t); /* counters, for after a restart */
/* Looks at the known pages of tasks that have one of these hosts again. */
void tasks_recheck_hosts(struct tasks *t, const struct span *hosts, size_t n);

size_t tasks_count(const struct tasks *t, task_state s);
size_t tasks_busy(const struct tasks *t); /* waiting or running, but for visits of known pages */
bool tasks_have_visits(const struct tasks *t);
/* Both in the arena; orders: how many each of them got in this run. */
struct task_report *tasks_report(const struct tasks *t, struct arena *a, size_t *count, unsigned **orders);
typedef void task_fn(void *arg, const struct task *t);
void tasks_each(const struct tasks *t, task_fn *fn, void *arg);

/* Where the states of a task's pages are put by whoever fetched them, packed as in wire/paths.h, each behind a varint
 * length. */
void tasks_states_path(const char *data, uint64_t task, struct buf *out);
