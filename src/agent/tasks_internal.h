/* tasks_internal.h - what tasks.c and tasks_end.c share. */
#pragma once

#include "agent/parts.h"
#include "agent/tasks.h"

/* An order to end that is being carried out. */
struct ending {
    uint64_t order, task;
    bool is_whole;
    struct texts networks; /* of the task, that go */
    struct texts to_take;  /* of those, the ones that no other task has */
    struct parts parts;
    bool has_new_parts; /* not on the disk yet */
    enum { ENDING_TAKES, ENDING_SETTLES, ENDING_WAITS } phase;
    uint64_t wait_for; /* package that must be acknowledged */
};

struct tasks {
    struct tasks_opts o;
    struct crawl *crawl; /* borrowed; NULL: none is open */
    struct task **items; /* owned; oldest first */
    size_t count, cap;
    struct ending *endings; /* owned */
    size_t ending_count, ending_cap;
    bool needs_settling;
    bool has_shared; /* some network has, or had, parts elsewhere */
};

/* A file of a task; in `path`, which is emptied first. */
const char *task_path(const char *data, uint64_t number, const char *suffix, struct buf *path);
struct task *tasks_find(const struct tasks *t, uint64_t number); /* NULL: there is none */
/* What the gate lets through: not what is about to leave. */
void task_tell_gate(struct tasks *t, const struct task *task);

/* ---- tasks_end.c ---- */
void ending_done(struct ending *e);
