/* scenario.h - what a scenario file says (docs/formats/scenario.md): a world, processes, what happens to them, and what
 * must hold at the end. Pure but for reading the file; everything belongs to the struct and lives until scenario_done.
 *
 *     title  Two agents are killed and come back
 *     set    sites 60
 *     short  sites=24                            what --short sets instead
 *     each   strategy learned random             a run for each value; several such lines: every combination
 *     repeat 3                                   each of them so often; $repeat counts from 1
 *     world  make agents=6 sites=$sites seed=$repeat
 *     serve  --pages 5
 *     coordinator --strategy $strategy
 *     agents --delay 200
 *     at 5s  kill agent2
 *     wait   crawled 100% within 60s as recovery_s
 *     figure slower = crawl_s / sim_s
 *     expect lost = 0
 *     order  rtt_ms sim_rtt_ms
 *
 * A variable is $name or ${name}. $here is the folder of the file. Steps are carried out in the order of the file. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

#define SCENARIO_FILE_MAX (1u << 20)
#define SCENARIO_WORDS_MAX 64 /* of a line */
#define SCENARIO_LINES_MAX 4096
#define SCENARIO_RUNS_MAX 1000
#define SCENARIO_VARIABLES_MAX 64

struct words {
    struct span *w;
    size_t n;
};

struct variable {
    struct span name, value;
};

typedef enum { CRAWLER_FLEET, CRAWLER_CENTRAL, CRAWLER_NONE } crawler_kind;

/* Options of one agent, or what else is said of it. Names are those of the world, or agent1, agent2, ... in its order.
 */
struct scenario_agent {
    struct span name;
    struct words options;
    bool is_late;      /* not started at the beginning */
    uint64_t disk_max; /* bytes of the disk that its data is on; 0: that of the machine */
};

typedef enum {
    STEP_WAIT,    /* until a condition holds, or only for a time */
    STEP_KILL,    /* kill -9 */
    STEP_STOP,    /* SIGTERM, and it has ended */
    STEP_START,   /* again, with the same folder */
    STEP_ROUTER,  /* an order to the router (cut, heal, rtt, matrix, loss, bandwidth) */
    STEP_SERVERS, /* an order to the servers */
    STEP_FILL,    /* the disk of an agent */
    STEP_EMPTY,
    STEP_CLOCK, /* started again with another clock */
    STEP_ORB,   /* a command of orb for the coordinator's folder */
    STEP_SHELL, /* a command; lines "figure NAME VALUE" of its output are figures */
    STEP_CLEAR  /* figures of router and ledger count from here */
} step_kind;

typedef enum {
    WAIT_TIME,     /* nothing but `within_ms` */
    WAIT_SETTLED,  /* every network has an owner that is not on trial */
    WAIT_CRAWLED,  /* `share` of all pages were fetched once, by the ledger */
    WAIT_APPLIED,  /* `share` of all pages are in the coordinator's folder */
    WAIT_FETCHING, /* `name` asks for a page, by the ledger, after the step began */
    WAIT_IDLE,     /* `name` has asked for nothing for `idle_ms` */
    WAIT_HEARD,    /* the coordinator has heard of `name` after the step began */
    WAIT_ABSENT,   /* the coordinator takes `name` for absent */
    WAIT_LEFT      /* `name` has no networks */
} wait_kind;

struct step {
    int line;
    int64_t at_ms; /* since the crawl was ordered; -1: as soon as the step before is done */
    step_kind kind;
    struct span name;    /* coordinator, servers or an agent */
    struct words words;  /* of an order (the router's with its verb) or a command; STEP_SHELL: one word */
    int64_t clock_ms;    /* STEP_CLOCK */
    uint64_t free_bytes; /* STEP_FILL: left over */
    wait_kind wait;
    double share;
    int64_t idle_ms, within_ms; /* a condition that does not hold within that time is a failure of the run */
    struct span as;             /* a figure: how long it took, in seconds; empty: none */
};

typedef enum { OP_LESS, OP_AT_MOST, OP_EQUAL, OP_NOT, OP_AT_LEAST, OP_MORE, OP_PLUS, OP_MINUS, OP_TIMES, OP_OVER } op;

/* A figure, or a number. */
struct operand {
    struct span name; /* empty: value */
    double value;
};

struct figure_rule { /* figure name = a [op b] */
    struct span name;
    struct operand a, b;
    op op;
    bool has_b;
};

struct expectation { /* expect a op b */
    struct span text;
    struct operand a, b;
    op op;
};

/* One run: everything with its variables filled in. */
struct scenario_run {
    struct span
        name; /* "strategy=learned,repeat=2": what differs between runs; "run" when nothing does. A file name. */
    struct variable *variables; /* all of them, with their values */
    size_t variable_count;
    struct variable *varied; /* those that differ between runs */
    size_t varied_count;
    struct words world; /* as in a lab file ("FOLDER", "agents=4"), or "make" and what to make */
    struct words *lab;  /* further lines of the lab file */
    size_t lab_count;
    struct words serve, coordinator, agents, channels; /* options */
    struct scenario_agent *agent;
    size_t agent_count;
    crawler_kind crawler;
    double
        arrive; /* so many sites at a time wait for their agents, as a share of those that have one; 0: all at once */
    double late_max_ms; /* a run in which 1 % of the packets were later is not valid, and is repeated */
    unsigned attempts;  /* so often in all */
    struct step *steps;
    size_t step_count;
    struct figure_rule *figures;
    size_t figure_count;
    struct expectation *expects;
    size_t expect_count;
};

/* Over all runs: figures a and b put the values of the first `each` in the same order. Means that differ by less than
 * `tie` (a share) may stand either way. */
struct order_rule {
    struct span text, a, b;
    double tie;
};

struct scenario {
    struct arena arena;
    struct span name, title, about; /* name: of the file */
    struct scenario_run *runs;
    size_t run_count;
    struct order_rule *orders;
    size_t order_count;
    unsigned jobs;  /* runs at a time that make sense */
    bool is_beside; /* it mostly waits: others may be played meanwhile */
};

struct scenario_opts {
    const struct variable *sets; /* --set NAME=VALUE; of an `each` it leaves that one value */
    size_t set_count;
    bool is_short;
};

/* `why` gets FILE:LINE and what is wrong. ST_NOT_FOUND, ST_IO, ST_INVALID, ST_LIMIT. */
MUST_USE status scenario_load(const char *path, const struct scenario_opts *opts, struct scenario *out,
                              struct buf *why);
MUST_USE status scenario_parse(struct span text, const char *name, const struct scenario_opts *opts,
                               struct scenario *out, struct buf *why);
void scenario_done(struct scenario *s); /* zeros are fine */

/* 1.5 -> "1.5s", "250ms", "2m", "1h"; a number alone is seconds. False: none. */
bool scenario_time(struct span text, int64_t *ms);
/* "64M"; K, M and G are powers of 1024. */
bool scenario_size(struct span text, uint64_t *out);
