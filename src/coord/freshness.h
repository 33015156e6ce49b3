/* freshness.h - how fresh copies were, and what was visited, by the hour and by the day: for charts.
 *
 * Looks at recrawling's figures a few times a minute and adds them to the hour and the day. One record of the fleet
 * store, written at most once a minute: a kill costs a minute of it; a record that cannot be read costs all of it, and
 * nothing else. coord.lock held. */
#pragma once

#include "coord/recrawling.h"

#define FRESHNESS_HOURS 48
#define FRESHNESS_DAYS 400
#define FRESHNESS_WHOLE 1000000 /* all of it is fresh */

struct freshness_count {
    int64_t at;     /* hours or days since 1970; 0: nothing yet */
    uint64_t looks; /* the next five are sums over so many looks */
    uint64_t fresh; /* parts of FRESHNESS_WHOLE, weighted by importance */
    uint64_t channels, due, queued, running;
    uint64_t submitted, updated, unchanged, lost; /* visits: ordered; ended with something new, or nothing; in vain */
};

struct freshness {
    struct freshness_count hours[FRESHNESS_HOURS], days[FRESHNESS_DAYS]; /* one has its place by its number */
    uint64_t submitted, done, updated, lost;                             /* as recrawling counted at the last look */
    bool is_dirty;
    mono_ms looked, saved;
};

void freshness_open(struct coord *c);                /* after records_load */
void freshness_sample(struct coord *c, mono_ms now); /* now and then */
void freshness_look(struct coord *c);                /* now */
void freshness_save(struct coord *c);
void freshness_free(struct coord *c);
/* What one look saw: `now` says which hour and day it belongs to. */
void freshness_note(struct freshness *f, wall_ms now, const struct recrawling_figures *g);

/* The record, there and back; false: it is none, and *to is to be begun anew. */
void freshness_pack(struct freshness *f, struct buf *to);
MUST_USE bool freshness_unpack(struct freshness *to, struct span packed);

/* Those of an hour or a day; NULL: nobody looked. */
const struct freshness_count *freshness_hour(const struct freshness *f, int64_t hour);
const struct freshness_count *freshness_day(const struct freshness *f, int64_t day);
/* The mean of one of the sums; < 0: nobody looked. */
double freshness_mean(const struct freshness_count *k, uint64_t sum);
