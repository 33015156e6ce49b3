/* told.h - what the coordinator knows of the tasks, so that a report tells only of those that there is news of: an
 * agent with a thousand tasks that reports twice a second while orders come would say most of it for nothing. One
 * thread. */
#pragma once

#include "wire/control.h"

struct told_list {
    struct told_task {
        struct task_report report;
        unsigned orders;
    } * tasks; /* owned */
    size_t count, cap;
};

struct told {
    struct told_list known, next; /* to the coordinator, and once this report has come */
};

void told_done(struct told *t);

/* Copies those with news to `news`, which has room for all; returns how many. A task with another number of orders is
 * news whatever its counters say: the coordinator that gave the order believes that it runs again. is_all: of all of
 * them. Lists are in the order in which the tasks came. */
size_t told_news(struct told *t, const struct task_report *all, const unsigned *orders, size_t n, bool is_all,
                 struct task_report *news);
void told_arrived(struct told *t); /* that report has */
