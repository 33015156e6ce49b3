/* runner.h - a lab from start to end: the box, the router, its control socket, and one process inside.
 *
 *     runner_run (waits)
 *       process 1 of the box: router + control
 *         the child: a command in a place, or a function of ours
 *           whatever it starts
 *
 * When the child ends, the rest inside is asked to end, then killed. */
#pragma once

#include "lab/map/lab.h"
#include "lab/router.h"

#define RUNNER_PLACE_VARIABLE "ORB_LAB_PLACE"

struct runner_opts {
    struct lab *lab;   /* borrowed */
    const char *title; /* the lab file or the folder of the run, for orb-lab shell; NULL: neither */
    link_kind kind;
    bool is_quiet;        /* no figures at the end */
    double late_limit_ms; /* a run with a p99 beyond is not valid; 0: ROUTER_LATE_LIMIT_NS */
    /* In a process of its own, forked from the router's: its namespaces can be entered by router_node_fd. Returns the
     * exit code. The router's namespace is the one that it is in. */
    int (*child)(void *arg, const struct router *r);
    void *arg;
};

/* ST_REFUSED: no namespaces for us; ST_IO. *code is the child's exit code. */
MUST_USE status runner_run(const struct runner_opts *opts, int *code, struct buf *why);
/* Exit codes: of the whole when it could not be brought up. */
enum { RUNNER_EXIT_FAILED = 4 };
