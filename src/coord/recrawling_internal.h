/* recrawling_internal.h - what recrawling*.c share.
 *
 * The plan may take long over a decision, when there are very many channels and it looks at all of them. So it is never
 * called under coord.lock when there are many: what happens is noted (struct news), and now and then somebody makes a
 * turn with all of it, on a thread of its own, while nobody else touches the plan:
 *
 *     lock held     news --.                              .--> views into c_channel, visits ordered
 *     no lock              `--> turn: tell, ask, look ----'
 *
 * With few channels the turn is made at once, with the lock held. Times of the plan are those of the wall, but in tests
 * that make them run faster. */
#pragma once

#include "coord/recrawling.h"

#define TURN_AT_ONCE 50000 /* channels: with more of them a turn may take longer than the lock should be held */

typedef enum news_kind {
    NEWS_PUT = 1,
    NEWS_EDIT,
    NEWS_REMOVE,
    NEWS_SUBMITTED,
    NEWS_DECLINED,
    NEWS_DONE,
    NEWS_LOST,
    NEWS_TOLD,
    NEWS_SWITCH,
} news_kind;

struct news {
    news_kind kind;
    struct c_channel *channel; /* borrowed: it is not freed while something is noted of it */
    wall_ms at;                /* all times are the plan's */
    union {
        struct {
            struct recrawl_rule rule;
            struct recrawl_history history;
        } put; /* NEWS_PUT, NEWS_EDIT */
        wall_ms again;
        struct recrawl_result result;
        recrawl_strategy strategy;
    } u;
};

struct news_list {
    struct news *items; /* owned */
    size_t count, cap;
};

/* What one turn found out of a channel. */
struct turn_view {
    struct c_channel *channel;
    struct recrawl_view view;
    int64_t timeout_ms;
    bool is_saved; /* to be written down: something was learned */
};

struct recrawling {
    /* whoever makes a turn has these */
    struct recrawl *plan;
    struct c_channel **channels; /* owned array: by number in the plan */
    size_t channel_cap;
    struct news_list told; /* what the turn begins with */
    wall_ms now;
    size_t slots;     /* how many channels it may choose */
    uint64_t *chosen; /* owned: ids */
    size_t chosen_count, chosen_cap;
    struct turn_view *views; /* owned */
    size_t view_count, view_cap;
    wall_ms wake; /* nothing is due before */
    /* coord.lock */
    struct plan_state {
        struct change_prior prior;
        double intervals[RECRAWL_RANKS];
        size_t count;
    } state;               /* of the plan, as of the last turn */
    size_t at_once_max;    /* channels: turns are made without the lock when there are more */
    struct news_list news; /* since the turn began */
    bool is_turning;
    recrawl_strategy strategy;
    bool is_off;
    wall_ms epoch; /* of scaled time; 0: the wall's */
    double scale;
    struct c_channel **under_way; /* owned array of borrowed */
    size_t under_way_count, under_way_cap;
    wall_ms forwarded_at, saved_at, ticked_at;
    struct recrawling_figures figures, round; /* of all channels; being made */
    size_t round_at;
};

/* ---- recrawling.c ---- */
wall_ms plan_time(const struct recrawling *p, wall_ms wall);
wall_ms plan_wall(const struct recrawling *p, wall_ms at); /* 0: never, or not known */
double inlink_factor(const struct c_channel *ch);

/* ---- recrawling_turn.c ---- */
void news_add(struct coord *c, const struct news *n); /* lock held */
/* Makes a turn when there is one to make: `slots` visits may begin. */
void turn_look(struct coord *c, wall_ms now, size_t slots);
void turn_at_once(struct coord *c, wall_ms now); /* of what was noted; nothing is chosen */
void turn_make(struct recrawling *p);            /* no lock needed; is_turning */

/* ---- recrawling_visits.c; lock held ---- */
size_t visits_slots(struct coord *c, wall_ms now);                     /* of all agents, free */
void visits_begin(struct coord *c, struct c_channel *ch, wall_ms now); /* the plan has chosen it */
void visits_tick(struct coord *c, wall_ms now);                        /* time-outs, agents that are gone */
void visits_restore(struct coord *c, struct c_channel *ch);            /* one that was under way before a restart */
void visits_forget(struct coord *c, struct c_channel *ch);             /* it is none of the plan's any more */
void visits_report(struct coord *c, struct c_task *t, wall_ms now);    /* a task says how far it is */

/* ---- recrawling_figures.c; lock held ---- */
void freshness_tick(struct coord *c, wall_ms now);

/* ---- records_recrawl.c; lock held ---- */
void save_recrawl(struct coord *c, const struct c_channel *ch);
void save_recrawling(struct coord *c); /* strategy, prior */
/* What is remembered of them: strategy, prior, epoch. */
void load_recrawling(struct coord *c, struct change_prior *prior);
MUST_USE status load_recrawls(struct coord *c);
void forget_recrawl(struct coord *c, const struct c_channel *ch);
