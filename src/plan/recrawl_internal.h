/* recrawl_internal.h - what the strategies share. Times are whole seconds since 1970 inside: four bytes each. */
#pragma once

#include "plan/recrawl.h"

#define NONE UINT32_MAX
#define LEVELS 2048u /* of value; the last is for what goes before everything else */
#define LEVEL_FIRST (LEVELS - 1)
#define LEVELS_AN_OCTAVE 16

struct channel {
    uint32_t visited;      /* completion of the last update; 0: none */
    uint32_t asked;        /* last submission that was not lost, by which greedy counts; 0: none */
    uint32_t asked_before; /* as it was before the last submission, should that be declined */
    uint32_t submitted;    /* last submission, whatever became of it: intervals and the ceiling count from here */
    uint32_t not_before;   /* declined until then */
    struct change_rate rate;
    float weight, cost_s;        /* cost 0: not known */
    float at_most_s, at_least_s; /* 0: not said */
    float gap_s;                 /* mean between the last five updates; 0: not known */
    uint32_t before;             /* last update before the window of iir and icr */
    uint32_t submissions, updates;
    uint32_t heap_at;                /* place in the heap + 1; 0: not in it */
    uint32_t next, prev;             /* of its level's list */
    uint16_t level;                  /* + 1; 0: in no list */
    uint16_t owed;                   /* of a turn that a lost task gave back, in parts of TURN */
    uint8_t rank, under_way, window; /* updates in the window, up to UINT8_MAX */
    bool is_used : 1, is_never : 1, is_told : 1, was_told : 1; /* was: before the last submission */
};

#define TURN 1024u /* of the ceiling: from one visit to the next */

struct heap_entry {
    uint32_t key, channel;
};

/* Counted since the last reassignment. */
struct rank_window {
    uint64_t submissions, updates;
};

/* Everybody is looked at, some with every call: for the best, then to be placed above the floor that follows from it.
 */
typedef enum look_stage { LOOK_NONE, LOOK_BEST, LOOK_PLACE } look_stage;
struct greedy_look {
    look_stage stage;
    uint32_t at;
    unsigned best; /* level */
};

struct strategy_calls;

struct recrawl {
    struct recrawl_opts opts;
    const struct strategy_calls *calls;
    struct channel *channels;
    size_t count, used, cap; /* of the array, of it in use, allocated */
    uint32_t free_first;     /* list by `next` */
    struct heap_entry *heap;
    size_t heap_count, heap_cap;
    uint32_t first[LEVELS], last[LEVELS];
    uint64_t filled[LEVELS / 64]; /* levels that are not empty */
    struct change_prior prior;
    struct change_population sweep; /* over the channels, a few with every result */
    uint32_t sweep_at;
    bool is_behind; /* there is more to do than one call should: not every channel is where it belongs */
    double cost_s;  /* mean of a task; 0: not known */
    /* iir, icr */
    double interval_s[RECRAWL_RANKS];
    struct rank_window window[RECRAWL_RANKS];
    double last_success[RECRAWL_RANKS];
    size_t in_rank[RECRAWL_RANKS], full[RECRAWL_RANKS]; /* channels, and those with enough updates in the window */
    /* greedy */
    unsigned floor;       /* channels below this level wait in the heap until they reach it */
    unsigned whole;       /* from this level on lists are complete: the floor, but while everybody is looked at */
    unsigned least_taken; /* level, of the last `taken` */
    size_t taken, watch;  /* after so many the floor is looked at */
    struct greedy_look look;
    size_t placed_to, place_to; /* channels that are placed by other rates: so far, and how many */
    double *reach;              /* owned: log2 of x by log2 of the value that it has */
};

struct strategy_calls {
    /* Puts a channel that is in no list and not in the heap where it belongs; it may have a task. */
    void (*place)(struct recrawl *r, uint32_t id, uint32_t now);
    /* Its time in the heap has come; it is out of it. */
    void (*due)(struct recrawl *r, uint32_t id, uint32_t now);
    /* The channel to submit; NONE. */
    uint32_t (*take)(struct recrawl *r, uint32_t now, bool has_slot);
    void (*updated)(struct recrawl *r, uint32_t now); /* counters are up to date; NULL: nothing to do */
    void (*learned)(struct recrawl *r, uint32_t now); /* the prior, and so every rate, is another; NULL likewise */
};
extern const struct strategy_calls recrawl_fixed, recrawl_iir, recrawl_icr, recrawl_greedy;

/* recrawl_places.c */
void channel_wait(struct recrawl *r, uint32_t id, uint32_t until);  /* in the heap; moves it when it is there */
void channel_unwait(struct recrawl *r, uint32_t id);                /* harmless when it is not in the heap */
void channel_ready(struct recrawl *r, uint32_t id, unsigned level); /* at the end of that level's list */
void channel_leave(struct recrawl *r, uint32_t id);                 /* list and heap */
unsigned top_level(const struct recrawl *r);                        /* highest that is not empty; LEVELS: none */

/* recrawl.c */
double channel_rate(const struct recrawl *r, const struct channel *c); /* changes a second, as the ceiling has it */
double channel_cost(const struct recrawl *r, const struct channel *c); /* seconds */
/* The earliest second that ceiling, "at most every" and a refusal leave. */
uint32_t channel_open(const struct recrawl *r, const struct channel *c);
/* When "at least every" is over; NONE: nobody said so. Not before it is open by "at most every". */
uint32_t channel_deadline(const struct channel *c);
bool channel_may(const struct recrawl *r, const struct channel *c); /* neither never, nor too many under way */

/* recrawl_fixed.c: what all strategies with intervals do */
void interval_place(struct recrawl *r, uint32_t id, uint32_t now);
void interval_due(struct recrawl *r, uint32_t id, uint32_t now);
uint32_t interval_take(struct recrawl *r, uint32_t now, bool has_slot);
uint32_t interval_next(const struct recrawl *r, const struct channel *c); /* the second at which it is due */

/* recrawl_iir.c: reassignment */
#define WINDOW_UPDATES 5 /* more than so many updates in half of the fastest channels */
bool window_is_full(const struct recrawl *r);
/* Encourages, keeps the order, sets the intervals and begins a new window. */
void window_assign(struct recrawl *r, double interval_s[RECRAWL_RANKS]);

/* recrawl_greedy.c */
void greedy_init(struct recrawl *r);
double greedy_value(const struct recrawl *r, const struct channel *c, uint32_t now);
