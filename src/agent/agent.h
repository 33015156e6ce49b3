/* agent.h - the agent as a whole; inside src/agent only, but for agent_run and agent_join.
 *
 * Three threads. The main one runs the crawl; in its progress callback, some five times a second, orders are carried
 * out, the governor is asked, and a snapshot for the next report is made. The link talks to the coordinator: reports go
 * up, orders come down. The carrier uploads packages. They meet in struct agent, under its lock, which nobody holds
 * while calling the crawl or the network. Probes have a thread too, once there are any (probes.h).
 *
 *     coordinator <--report/orders-- link --orders--> main --calls--> crawl --visits--> package sink --> spool
 *     coordinator <------------------packages-------------------------------- carrier <-------------------/ */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "agent/conf.h"
#include "agent/gate.h"
#include "agent/gov.h"
#include "agent/key.h"
#include "agent/limits.h"
#include "agent/machine.h"
#include "agent/package_sink.h"
#include "agent/probes.h"
#include "agent/programs.h"
#include "agent/session.h"
#include "agent/spool.h"
#include "agent/state.h"
#include "agent/tasks.h"
#include "agent/timings.h"
#include "base/rng.h"

#define AGENT_REPORT_TASKS_MAX 5000 /* some 150 kB */
#define AGENT_REFUSED_A_REPORT 20

/* An order on its way from the link to the main thread. */
struct agent_order {
    struct agent_order *next;
    uint64_t number;
    order_kind kind;
    uint64_t task; /* that it is about; 0: none */
    struct buf body;
    bool has_states; /* ORDER_TASK: the states' file is there */
    status prepared; /* ORDER_UPDATE: what came of the download */
    struct buf why;  /* of that */
    bool is_begun, is_settled;
    mono_ms begun;
    unsigned step; /* of those that take several */
};

typedef enum agent_end {
    END_NONE,
    END_STOPPED, /* by a signal */
    END_QUIT,    /* by the coordinator */
    END_REOPEN,  /* the crawl is opened anew: other limits, or memory */
    END_UPDATE,  /* a new version waits to be tried */
} agent_end;

struct compare_job;

struct agent {
    const struct conf *conf;
    const char *data;
    const struct log *log;
    struct span version;
    struct buf user_agent, hosts_text;
    int64_t clock_offset;
    uint64_t boot;
    mono_ms started;
    struct session *session;
    struct spool *spool;
    struct gate *gate;
    struct places *own_refusals; /* refuse-site; NULL: none. Any thread reads it */
    struct timings *timings;
    struct probes *probes;
    struct package_sink *sink;
    struct tasks *tasks;       /* main thread */
    struct programs *programs; /* main thread */
    struct crawl *crawl;       /* main thread; NULL while closed */
    bool is_trial;
    void (*progress)(void *arg, const struct crawl_stats *s, const char *doing);
    void *progress_arg;

    pthread_mutex_t lock; /* everything below, down to the next line */
    pthread_cond_t changed;
    pthread_mutex_t save_lock; /* one writer of the state file at a time; taken before `lock` */
    struct state state;
    struct sign_key key;
    struct limits limits;
    struct gov gov;
    bool is_stopping, may_talk, is_state_dirty;
    wall_ms hours_change;                     /* when may_talk turns */
    bool was_opened;                          /* the crawl, or it failed: what can be known of the folder is */
    struct agent_order *orders, **orders_end; /* owned; carried out in this order */
    uint64_t orders_taken;                    /* highest number that is in line or done */
    uint64_t orders_saved;                    /* state.orders_done as it is on the disk: what is reported */
    size_t orders_open;                       /* in line or being carried out */
    bool has_all_orders;                      /* the last answer brought none that is new */
    bool wants_setup;
    uint64_t polls_good;    /* since the start */
    bool is_double;         /* another process has our key, and is heard in our place */
    uint64_t reported_done; /* orders_done as the coordinator has heard it */
    mono_ms heard_at;
    bool is_away;       /* the last call failed */
    struct buf trouble; /* with the coordinator, in words; empty: none */
    struct snapshot {
        struct arena arena;
        struct report r;
        unsigned *orders; /* of each task in r */
        bool has_visits;  /* known pages are being looked at again */
    } snapshot;
    struct {
        bool is_wanted, is_done;
        status st;
    } rekey;            /* by the main thread, done by the link */
    uint64_t bandwidth; /* measured by the carrier */
    bool wants_reopen;

    /* main thread */
    struct machine_load load;
    struct gov_verdict verdict;
    agent_end end;
    struct crawl_stats stats;
    struct state_totals totals_before;                  /* of earlier runs of the crawl */
    struct probes_counts probes_before, probes_counted; /* what of the probes is in them, and in the totals */
    uint64_t sent_before;                               /* bytes at the session's lines, counted in totals already */
    uint64_t crawled_at_start, traffic, rss, disk_free;
    mono_ms last_status, last_save;
    struct compare_job *compare; /* NULL: none runs */
    struct update_try {
        struct buf version, digest, sig; /* owned; of the version to try */
    } update;
    bool is_rekeying, has_settled; /* has_settled: orders that are done and not counted as such yet */
    bool is_quitting;              /* the coordinator said so; once it has heard that we have heard */
};

/* ---- agent.c ---- */
wall_ms agent_wall(void *agent); /* the wall clock, with the tests' offset */
mono_ms agent_mono(void *agent);
/* Writes the state down. Not with the lock held. */
status agent_save(struct agent *a);
void agent_refused(struct agent *a,
                   struct span text); /* the owner's rules did not allow it; any thread, no lock held */
void agent_wake(struct agent *a);
/* Waits until something changes or `ms` have passed; lock held. */
void agent_wait(struct agent *a, int64_t ms);

/* ---- running.c: main thread ---- */
void running_begin(struct agent *a); /* what may be done now is known, and there is something to report */
/* The crawl, opened anew as often as must be. Others than ST_OK: it cannot go on; `why` says why. */
MUST_USE status running_until_end(struct agent *a, struct buf *why);
bool running_may_go_on(status st);  /* disk trouble passes: what is known is worth to be written down */
void running_save(struct agent *a); /* all that a start needs, at the end */

/* ---- orders.c: main thread ---- */
void orders_step(struct agent *a);
void orders_stop(struct agent *a); /* threads that work for orders end; the orders come again */
void orders_free(struct agent *a);

/* ---- link.c and carrier.c: threads ---- */
void *link_thread(void *agent);
void *carrier_thread(void *agent);

/* ---- status.c ---- */
void status_write(struct agent *a); /* DATA/status.json */
int status_show(const char *data, bool is_json);

/* ---- the whole ---- */
struct agent_opts {
    const struct conf *conf;
    const struct log *log;
    struct span version;
    bool is_trial; /* a new version: it says so once the coordinator has heard it (update.h) */
    void (*progress)(void *arg, const struct crawl_stats *s, const char *doing); /* may be NULL; main thread */
    void *progress_arg;
};
/* Enrols with the line; the state file has it afterwards. ST_EXISTS: it is enrolled there already. */
MUST_USE status agent_join(const struct agent_opts *o, struct span line, struct buf *why);
/* Until a signal, or the coordinator, ends it. END_UPDATE: *update (owned by the caller) is what to try. */
MUST_USE status agent_run(const struct agent_opts *o, agent_end *end, struct update_try *update, struct buf *why);
void update_try_done(struct update_try *u);
