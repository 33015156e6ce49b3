/* recrawl.h - when is which channel crawled again: strategies behind one header.
 *
 * Knows channels by small numbers that it hands out. The caller asks for the next channel to crawl (recrawl_next),
 * gives the task to an agent, and says what became of it: a result, or that it was lost. Never waits, reads no clock,
 * draws nothing: the coordinator and the simulator run it unchanged, and the same calls give the same answers. One
 * thread.
 *
 *     put(channel)            -> 7        never visited: 7 goes first
 *     next(now)               -> 7        a task for it is submitted
 *     done(7, changed, 40 s)              or lost(7): timed out, or its agent vanished
 *     next(now)               -> ST_AGAIN, nothing before `wake`
 *
 * Strategies. `fixed`, `iir` and `icr` (paper 003) have an interval a rank and submit when it is over, whether or not
 * anybody is free; the latter two fit the intervals to what was achieved. `greedy`, the default, submits only when a
 * slot is free, and then the channel that gains most by it:
 *
 *     weight x (1 - (1 + x) e^-x) / (rate x cost)      x = change rate x time since it was last visited
 *
 * which is what one more visit a day would add to the time that its copy is current, by slot time. So it needs no
 * intervals and no idea of the capacity. The factor 1 + (x / RECRAWL_PATIENCE)^2 beside it lets every channel have its
 * turn at last, however dear it is. The best is found among levels of value, each a sixteenth of an octave wide: what
 * is taken is within 4.5 % of the best.
 *
 * The ceiling protects sites: a channel is open again 1 / (ceiling x change rate) after its last submission; all
 * strategies keep to it. The rate is a cautious one (change_rate_cautious), so that who seems to change faster than he
 * does is spared too. A visit that failed does not count: it gives its turn back, and what is left of that is made
 * up for by later ones that come a little closer. So up to any time no more visits succeed than one, and one for each
 * such gap. An operator's "at most every" is kept likewise, and "at least every" goes before everything but that. */
#pragma once

#include "base/span.h"
#include "base/status.h"
#include "plan/change_rate.h"

#define RECRAWL_RANKS 5
#define RECRAWL_CEILING 2.0
#define RECRAWL_ENCOURAGEMENT 0.6
#define RECRAWL_GROWTH_LEAST 1.1 /* a slower rank's interval by the faster one's, where it would be below it */
#define RECRAWL_GROWTH_MOST 4.0
#define RECRAWL_PATIENCE 32.0
#define RECRAWL_CHANNELS_MAX ((size_t)1 << 24)
#define RECRAWL_TASKS_MAX 250 /* of one channel under way at a time */

typedef enum recrawl_strategy {
    RECRAWL_FIXED = 1, /* the rank's interval as it was at first */
    RECRAWL_IIR,       /* iterated interval reassignment: as long as updates took */
    RECRAWL_ICR,       /* iterated capacity reassignment: intervals in fixed ratios that fill what was achieved */
    RECRAWL_GREEDY,
} recrawl_strategy;
bool recrawl_strategy_parse(struct span name, recrawl_strategy *out); /* "fixed", "greedy" */
const char *recrawl_strategy_name(recrawl_strategy s);

struct recrawl_opts {
    recrawl_strategy strategy;       /* 0: RECRAWL_GREEDY */
    double ceiling;                  /* visits a change; 0: RECRAWL_CEILING */
    double encouragement;            /* iir, icr; 0: RECRAWL_ENCOURAGEMENT */
    double growth_most;              /* iir, icr; 0: RECRAWL_GROWTH_MOST */
    int64_t interval[RECRAWL_RANKS]; /* ms, the fastest rank first; 0: an hour, and twice as much a rank */
    unsigned tasks_max;              /* of a channel under way at a time; 0: 1 */
    bool has_given_ranks;            /* ranks, and with them change rates, are the caller's and stay: fixed, iir, icr */
    struct change_prior prior;       /* in seconds; changes 0: one in the interval of the middle rank */
};

struct recrawl;
struct recrawl *recrawl_new(const struct recrawl_opts *o);
void recrawl_free(struct recrawl *r); /* NULL is fine */
/* Goes on with another strategy; everything that was learned stays, and so do tasks under way. */
void recrawl_switch(struct recrawl *r, wall_ms now, recrawl_strategy s);
recrawl_strategy recrawl_strategy_of(const struct recrawl *r);

/* ---- channels ---- */

/* What the operator says of a channel. */
struct recrawl_rule {
    double weight;                         /* importance: operator's weight x inlinks; 0: 1 */
    int64_t at_most_every, at_least_every; /* ms; 0: not said */
    bool is_never;
};

/* What was learned of one, to be stored and put back after a restart. Zeroed: a new channel. */
struct recrawl_history {
    wall_ms visited; /* last visit that succeeded; 0: none */
    wall_ms asked;   /* last submission that was not lost; 0: as `visited` */
    struct change_rate rate;
    double cost_ms; /* expected time of a task; 0: not known */
    unsigned rank;
    unsigned under_way; /* tasks of it that go on */
    uint32_t submissions, updates;
};

/* Its number, which is free again after recrawl_remove(). ST_LIMIT: RECRAWL_CHANNELS_MAX. */
MUST_USE status recrawl_put(struct recrawl *r, wall_ms now, const struct recrawl_rule *rule,
                            const struct recrawl_history *h, uint32_t *out);
void recrawl_edit(struct recrawl *r, wall_ms now, uint32_t channel, const struct recrawl_rule *rule);
/* Results of its tasks must not be told any more. */
void recrawl_remove(struct recrawl *r, uint32_t channel);
size_t recrawl_count(const struct recrawl *r);

/* ---- tasks ---- */

/* The channel to submit a task for. `has_slot`: somebody is free; only greedy asks. ST_AGAIN: none now, ask at *wake
 * (MONO_NEVER: not before something is put or told) or, with greedy, when a slot is free. No call takes more than about
 * a millisecond: with hundreds of thousands of channels that can mean ST_AGAIN with a *wake that is not after `now`,
 * and the next call goes on from there. */
MUST_USE status recrawl_next(struct recrawl *r, wall_ms now, bool has_slot, uint32_t *channel, wall_ms *wake);
/* Instead of a task: nobody who should do it is free. Undoes recrawl_next(); it is asked for again at `again`. */
void recrawl_decline(struct recrawl *r, wall_ms now, uint32_t channel, wall_ms again);
/* A task that nobody asked for: a person wants it. Its result is told like that of any other. */
void recrawl_submitted(struct recrawl *r, wall_ms now, uint32_t channel);
/* A task that waits longer than so many ms for an agent is better given up. */
int64_t recrawl_timeout_ms(const struct recrawl *r, uint32_t channel);

struct recrawl_result {
    bool has_changed;
    wall_ms changed; /* when, if anybody says so; 0: not known */
    int64_t took_ms; /* of a slot's time */
};
/* A task stored a result: an update. */
void recrawl_done(struct recrawl *r, wall_ms now, uint32_t channel, const struct recrawl_result *result);
/* A task brought nothing: it timed out, whoever had it vanished, or the
 * site did not answer. Not again before `again`: how long to leave a site alone is the caller's (0: at once). */
void recrawl_lost(struct recrawl *r, wall_ms now, uint32_t channel, wall_ms again);
/* Somebody says that it has changed since it was visited: it moves forward, and is visited no more often than else. */
void recrawl_told(struct recrawl *r, wall_ms now, uint32_t channel);

/* ---- looking ---- */

struct recrawl_view {
    struct recrawl_history history;
    double rate_a_day;     /* of changes */
    double rate_deviation; /* of its logarithm */
    wall_ms asked;         /* last submission that was not lost; 0: none */
    wall_ms open;          /* the ceiling lets it be visited again */
    wall_ms due;           /* interval strategies; MONO_NEVER: greedy, or never */
    double value;          /* greedy: now */
    unsigned under_way;
    bool is_told;
};
void recrawl_look(const struct recrawl *r, wall_ms now, uint32_t channel, struct recrawl_view *out);
/* The intervals of ranks now, ms; as they were at first with fixed and greedy. */
void recrawl_intervals(const struct recrawl *r, double out[RECRAWL_RANKS]);
/* The rank of a change rate (a second), coming from `rank`: near the border of two ranks it stays. */
unsigned recrawl_rank_of(const struct recrawl *r, double rate, unsigned rank);
const struct change_prior *recrawl_prior(const struct recrawl *r);
size_t recrawl_bytes(const struct recrawl *r); /* of memory, all of it */
/* What a visit gains by slot time; the same for pages. x = rate x time since the last one. */
double recrawl_growth(double x);
