/* player_internal.h - what the parts of the player share.
 *
 *     player.c         a run from beginning to end; what happens while it waits
 *     player_start.c   the processes of a run
 *     player_ask.c     orders to router and servers, questions to the coordinator
 *     player_step.c    what steps do
 *     player_wait.c    conditions
 *     player_arrive.c  sites become known
 *     player_order.c   in which order sites were met
 *     player_end.c     what figures are made of
 *
 * All functions that return a status have said why in play.why unless it is ST_OK. One thread. */
#pragma once

#include <signal.h>

#include "codec/json_tree.h"
#include "io/http_call.h"
#include "lab/play/follow.h"
#include "lab/play/player.h"
#include "lab/play/process.h"
#include "place/geo.h"

#define PLAY_HQ "198.18.0.1" /* docs/formats/lab.md */
#define PLAY_RESOLVER "198.18.0.53"
#define PLAY_STEP_MS 200       /* between two looks at something cheap */
#define PLAY_UP_MS 30000       /* servers, coordinator, all agents: there by then */
#define PLAY_STOP_MS 30000     /* one that was asked to end has ended */
#define PLAY_COMMAND_MS 120000 /* a command of ours */
#define PLAY_SHELL_MS 600000   /* one of the scenario's */

/* Somebody who can be killed and started. */
struct actor {
    const char *name, *log; /* log: a file of the run's folder */
    struct process process;
    bool is_wanted; /* started, and nobody ended it */
    bool may_end;   /* with code 0 it was simply done */
};

struct play_agent {
    struct actor actor; /* its name is that of its place */
    unsigned place;
    bool has_spot, is_late;
    bool is_added, is_on_disk; /* the coordinator knows it; its disk is mounted */
    struct spot spot;
    uint64_t disk_max; /* bytes; 0: no disk of its own */
    int64_t clock_ms;
    const char *data; /* folder, from the run's */
};

struct play {
    const struct player_opts *o;
    const struct scenario_run *run;
    struct buf *why;
    struct arena arena;
    const char *folder, *orb, *orb_agent, *orb_lab; /* whole paths */
    const char *hierarchy;                          /* "" : none */
    bool is_hierarchy_of_run;                       /* to be removed at the end */
    const char *data;                               /* of coordinator or central crawler */
    const char *path;                               /* PATH of commands: our programs first */
    struct lab lab;
    struct pageset *wanted, *applied;
    struct follower *follower;
    struct http_caller *caller; /* NULL: no coordinator that we know of */
    struct buf token;
    struct arena answer; /* of the last question */
    struct actor servers, coordinator;
    struct play_agent *agents;
    size_t agent_count;
    const struct step *step; /* under way; NULL: none */
    mono_ms begin;           /* 0: not yet */
    double begin_wall;
    mono_ms next_progress;
    size_t settled, networks; /* as last seen */
    size_t arrived;           /* sites that the coordinator was told of */
    mono_ms next_arrival;
    bool is_arriving;
    sigset_t stop;
    sigset_t before; /* signals that were blocked when we came */
};

/* ---- player.c ---- */

/* Appends to why, with the line of the step when there is one; returns `st`. */
status play_fail(struct play *p, status st, const char *fmt, ...) PRINTF_LIKE(3, 4);
void play_say(struct play *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
const char *play_path(struct play *p, const char *name); /* in the run's folder; lives as long as the run */
double play_wall(void);                                  /* seconds since 1970 */
double play_since_begin(const struct play *p);           /* seconds */
/* Waits for at most `ms`, follows the ledger, and looks after everybody. ST_REFUSED: somebody ended who should not
 * have; ST_CANCELLED: a signal came. */
MUST_USE status play_pause(struct play *p, int64_t ms);
/* Appends a line to a table of the run: events.tsv, took.tsv. */
void play_note(struct play *p, const char *file, const char *fmt, ...) PRINTF_LIKE(3, 4);
void play_count(struct buf *out, uint64_t n); /* 12,345 */
/* The last lines of a log, for people. */
void play_tail(struct play *p, const char *log, struct buf *out);
/* A name of the scenario: that of a world's agent, or agent1, agent2, ...; NULL: there is none. */
struct play_agent *play_agent(struct play *p, struct span name);

struct actor *play_actor(struct play *p, struct span name); /* coordinator and servers too */

/* ---- player_start.c ---- */

MUST_USE status play_start_servers(struct play *p);
MUST_USE status play_start_coordinator(struct play *p); /* or the central crawler */
MUST_USE status play_start_agent(struct play *p, struct play_agent *a);
MUST_USE status play_hierarchy(struct play *p);
void play_add_words(struct args *to, const struct words *words);
bool play_has_option(const struct words *words, const char *option);
/* One of our programs, from start to end, at hq, in the run's folder. What it says is in `log`; err NULL: too. */
MUST_USE status play_command(struct play *p, struct args *args, const char *log, const char *err, int64_t limit_ms);

/* ---- player_ask.c ---- */

/* Over a control socket; "ok" is cut off the answer. ST_REFUSED, ST_NOT_FOUND, ...: nothing is said in why. */
MUST_USE status play_tell(const char *socket, struct span line, struct buf *answer);
const char *play_servers_socket(struct play *p);
/* GET of the coordinator's administration. The tree lives until the next question; raw may be NULL. Nothing is said in
 * why: it may be away. */
MUST_USE status play_ask(struct play *p, const char *target, struct buf *raw, const struct json_node **out);
void play_ask_done(struct play *p);
/* Looks at all networks: play.settled and play.networks; *hosts of settled ones. */
MUST_USE status play_look_at_networks(struct play *p, size_t *hosts);
/* How many networks an agent has. */
MUST_USE status play_count_networks(struct play *p, const struct play_agent *a, size_t *out);
/* Of one agent; the node is NODE_NOTHING where the coordinator does not know it. */
MUST_USE status play_look_at_agent(struct play *p, const struct play_agent *a, const struct json_node **out);
/* How many have been heard of. */
MUST_USE status play_heard(struct play *p, size_t *out);
/* Pages of ours in the data folder: play.applied. ST_IO, ... with nothing in why. */
MUST_USE status play_count_applied(struct play *p, size_t enough);

/* ---- player_step.c, player_wait.c ---- */

MUST_USE status play_step(struct play *p, const struct step *s);
/* *took_s: how long it was until the condition held. */
MUST_USE status play_wait(struct play *p, const struct step *s, double *took_s);

/* ---- player_arrive.c ---- */

/* The next n sites that nobody knows of, into the file `seeds`. */
MUST_USE status play_write_seeds(struct play *p, size_t n);
/* Tells the coordinator of the sites that are due; called again and again. */
MUST_USE status play_arrive(struct play *p);

/* ---- player_order.c ---- */
/* The file `order`, from networks.json. */
MUST_USE status play_write_order(struct play *p);

/* ---- player_end.c ---- */

/* What is there to be gathered while everybody runs, then all end. `is_good`: nobody is in a hurry. */
MUST_USE status play_end(struct play *p, bool is_good);
