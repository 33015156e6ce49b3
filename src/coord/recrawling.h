/* recrawling.h - what was crawled is kept fresh: which channel is visited again, when, and what came of it.
 *
 *     first crawl done --> in the plan --(its turn, a slot is free)--> visit ordered --(all its tasks say so)--> done
 *                             ^   ^                    |                    |
 *                             |   `--(owner is full)---'                    |
 *                             `------(timed out, agent gone)----------------'
 *
 * Decides nothing itself: plan/recrawl.h does. A visit is one ORDER_RECHECK with the same number to every agent that
 * has a task of the channel. It is written down before the orders go out, so that a kill never lets a site be asked
 * more often than its ceiling. All of it is called with coord.lock held. */
#pragma once

#include "coord/state.h"

#define RECRAWLING_STALEST 10

/* After records_load: channels that were visited before enter the plan with what was learned of them. */
MUST_USE status recrawling_open(struct coord *c, struct buf *why);
void recrawling_tick(struct coord *c, wall_ms now);
void recrawling_free(struct coord *c);

/* The channel is new, or what its operator says of it is another: paused, removed, its rule. */
void recrawling_changed(struct coord *c, struct c_channel *ch);
/* Before a removed channel is freed. False: the plan has it still; again later. */
MUST_USE bool recrawling_let_go(struct coord *c, struct c_channel *ch);
/* A page of `from` links into it. */
void recrawling_linked(struct coord *c, struct c_channel *ch, const struct c_channel *from);
/* A task of it said how far it is (task.progress). */
void recrawling_report(struct coord *c, struct c_task *t, wall_ms now);
/* A person wants its pages looked at again, now: every agent that is done with its task of it is asked, and those that
 * still run theirs with `also_running`. False: nobody could be asked. */
bool recrawling_visit(struct coord *c, struct c_channel *ch, wall_ms now, bool is_whole, bool also_running);
/* Somebody says that it has changed since it was visited: it moves forward, and is visited no more often than else. */
void recrawling_told(struct coord *c, struct c_channel *ch, wall_ms now);
/* Goes on with another strategy, now and after a restart; what was learned stays. `is_off`: nothing is visited again
 * unless a person asks. */
void recrawling_switch(struct coord *c, recrawl_strategy s, bool is_off);

/* ---- looking ---- */

/* Of one channel. Times are of the wall; 0: never, or not known. */
struct recrawling_view {
    bool is_planned;    /* it was crawled, and is neither paused nor never visited again */
    bool is_under_way;  /* a visit is */
    unsigned rank;      /* 0: changes most often */
    double weight;      /* operator's x inlinks */
    double inlinks;     /* the factor that sites that link to it make: 1 without any */
    double rate_a_day;  /* of changes */
    double rate_factor; /* it is between rate / factor and rate x factor, as likely as not (one deviation) */
    double freshness;   /* chance that nothing has changed since the last visit; 0: never visited */
    wall_ms visited;
    wall_ms next;         /* not before; interval strategies: then. 0: never */
    uint32_t submissions; /* visits ordered */
    uint32_t successes;   /* of them, those that came to an end */
    uint32_t updates;     /* of those, the ones that brought something new, changed or gone */
    /* of the last one that ended */
    uint64_t looked, changed, added, gone, failed;
    int64_t took_ms;
};
void recrawling_look(const struct coord *c, const struct c_channel *ch, wall_ms now, struct recrawling_view *out);

struct recrawling_rank {
    size_t channels;
    double interval_ms;       /* as the strategy has it; greedy: as it would be at first */
    double weight, freshness; /* sum of weights; weighted mean */
};

struct recrawling_stale {
    uint64_t id;
    char label[COORD_LABEL_MAX];
    double weight, freshness;
    double loss; /* weight x (1 - freshness) */
    double rate_a_day;
    wall_ms visited;
};

/* Of all. With more than RECRAWLING_AT_ONCE channels they are as of the last round over them, some seconds old. */
#define RECRAWLING_AT_ONCE 20000
struct recrawling_figures {
    wall_ms at;
    recrawl_strategy strategy;
    bool is_off;
    double ceiling;           /* visits a change */
    double prior_a_day;       /* changes of a channel that nothing is known of */
    size_t channels;          /* in the plan */
    size_t fresh;             /* not crawled for the first time yet: they go before all visits */
    size_t due;               /* may be visited now, and wait for a slot */
    size_t queued;            /* ordered, and not begun */
    size_t running;           /* begun */
    uint64_t submitted;       /* since the coordinator started; so are the rest */
    uint64_t done, updated;   /* came to an end; and brought something new */
    uint64_t lost;            /* timed out, or their agent vanished */
    uint64_t declined;        /* put off: the owner had no slot */
    uint64_t forwarded;       /* networks that moved because their owner had none for too long */
    double weight, freshness; /* sum; weighted mean, expected now */
    struct recrawling_rank ranks[RECRAWL_RANKS];
    struct recrawling_stale stalest[RECRAWLING_STALEST]; /* the largest loss first */
    size_t stalest_count;
};
void recrawling_figures_get(struct coord *c, wall_ms now, struct recrawling_figures *out);
