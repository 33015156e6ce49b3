/* suite.h - all runs of a scenario, some at a time, and what came out.
 *
 *     DIR/NAME/worlds/1, 2, ...    worlds that were made, one for all runs that want the same
 *     DIR/NAME/RUN/                lab, world (a link), and what the player leaves (figures.h)
 *     DIR/NAME/results.json        written again after every run
 *
 * Every run has a process of its own, and inside of it a lab (runner.h): a process can have one lab. One thread. */
#pragma once

#include "lab/net/link.h"
#include "lab/play/figures.h"
#include "lab/play/programs.h"
#include "lab/play/scenario.h"

#define SUITE_JOBS_MAX 64

struct suite;

struct suite_expected {
    const struct expectation *expect; /* borrowed */
    double value;                     /* NAN: no such figure */
    bool is_passed;
};

struct suite_run {
    const struct scenario_run *run; /* borrowed */
    bool is_done;                   /* it was tried */
    bool is_under_way;              /* an attempt is */
    bool is_over;                   /* no attempt will follow */
    bool is_whole;                  /* every step was carried out */
    bool is_valid;                  /* the router was in time */
    bool is_passed;
    unsigned attempts;
    double seconds, late_ms; /* of the last attempt; late_ms: NAN when nobody knows */
    double busy, load;       /* of the machine meanwhile, and when it began (as below); NAN: nobody knows */
    struct figures figures;
    struct suite_expected *expected; /* owned: run->expect_count */
    struct buf problem;              /* empty: none */
    struct buf events;               /* as in events.tsv */
};

struct suite_machine {
    unsigned cores;
    double load, busy; /* of the last minute, when it began; share of the processors in use meanwhile */
};

struct suite_opts {
    const struct scenario *scenario; /* borrowed */
    const struct programs *programs; /* borrowed */
    const char *dir;
    const char *only; /* NULL, or a part of the names of runs */
    bool is_short, is_kept;
    unsigned jobs; /* runs at a time; 0: as the scenario says */
    link_kind kind;
    void (*begins)(void *self, const struct suite_run *r); /* an attempt; may be NULL */
    void (*ended)(void *self, const struct suite_run *r);  /* the last attempt; may be NULL */
    void (*again)(void *self, const struct suite_run *r);  /* not valid: one more; may be NULL */
    void (*said)(void *self, const char *line);            /* progress, in another process than the rest; may be NULL */
    void *self;
};

struct suite {
    struct suite_opts opts;
    char *folder; /* owned: DIR/NAME */
    struct suite_run *runs;
    size_t run_count;
    unsigned jobs;
    int64_t begun; /* seconds since 1970 */
    double seconds;
    struct suite_machine machine;
    bool is_stopped; /* by a signal */
};

/* ST_OK: all were tried, whatever came of them, or a signal came. ST_REFUSED: no namespaces for us; ST_NOT_FOUND:
 * `only` leaves nothing; ST_IO, ST_INVALID. Either way what there is stands in *out. */
MUST_USE status suite_play(const struct suite_opts *opts, struct suite *out, struct buf *why);
void suite_done(struct suite *s); /* zeros are fine */
bool suite_is_passed(const struct suite *s);
/* The run of which an attempt can be begun while so many are under way, in the planned order; NULL: none, yet or at
 * all. Where several go at a time the last attempt at a run that was not valid waits until nothing is beside it. */
struct suite_run *suite_next(const struct suite *s, size_t under_way);

/* ---- suite_folder.c: what a run begins with ---- */

/* DIR/NAME/RUN, new, with `lab` and `world`. ST_IO, ST_REFUSED (something else is there), ST_INVALID; why. */
MUST_USE status suite_folder_make(const struct suite *s, const struct scenario_run *run, struct buf *folder,
                                  struct buf *why);
/* Leaves files only: what processes worked in goes. */
void suite_folder_thin(const char *folder);

/* ---- suite_results.c: what came out, over several runs; pure ---- */

/* Of one order rule; "values" of the first `each` in their order. */
struct suite_rank {
    struct span value;
    double a, b; /* means; NAN: none */
};
#define SUITE_RANKS_MAX 64
bool suite_order(const struct suite *s, const struct order_rule *rule, struct suite_rank *ranks, size_t *n);

struct suite_mean {
    double mean, least, most;
    size_t n;
};
/* The first run of every group of runs that differ by $repeat alone. */
bool suite_begins_group(const struct suite *s, size_t i);
/* Over the group of run `i`, of runs that are valid and whole; false: none has it. */
bool suite_group_mean(const struct suite *s, size_t i, struct span figure, struct suite_mean *out);
void suite_json(const struct suite *s, struct buf *out); /* docs/formats/scenario.md */

/* ---- suite_show.c: for people ---- */

void suite_show_run(const struct suite *s, const struct suite_run *r, struct buf *out); /* a line, or a few */
void suite_show(const struct suite *s, struct buf *out);                                /* a table */
