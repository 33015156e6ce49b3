/* admin_fresh.h - how fresh copies are, summed up by rank and by site, for a page and a call. Inside
 * src/coord/admin*.c only.
 *
 * Made anew at most every few seconds, however many look (admin_kept.h), and in slices, so that a million channels do
 * not hold the coordinator's lock for long: sums may be off by a visit that ended meanwhile. */
#pragma once

#include "coord/admin_kept.h"
#include "coord/freshness.h"

#define FRESH_STEP_MS 4000
#define FRESH_SITES_MAX 10000 /* told: those that miss most */
#define FRESH_DAYS_SHOWN 30

/* Of the channels in the plan that are in one rank or on one site. */
struct fresh_sums {
    uint32_t channels, visited; /* visited: at least once */
    uint64_t submissions, successes, updates;
    double weight, fresh; /* importance; of it, what is expected to be current */
    double rate;          /* changes a day */
    double age_ms;        /* since their last visits */
    wall_ms last;         /* the newest of those; 0: none */
};

struct fresh_site {
    struct fresh_sums sums;
    uint64_t key, channel; /* of its name; the first one */
    struct span name;      /* in the view's arena; "": its channel is gone meanwhile */
    size_t also;           /* hosts of its channels besides the one that it is called by, as far as they are known */
};

struct fresh_view {
    struct kept kept; /* first */
    struct fresh_sums ranks[RECRAWL_RANKS];
    struct fresh_site *sites; /* owned: those that miss most first */
    size_t site_count, site_all;
    struct arena arena;
};

/* Good until fresh_view_done. */
const struct fresh_view *fresh_view_get(struct admin *a);
void fresh_view_done(struct admin *a, const struct fresh_view *v);
void fresh_view_forget(struct admin *a); /* the kept one: when the administration ends */

/* Importance of what is expected not to be current. */
double fresh_loss(const struct fresh_sums *s);
/* Weighted share that is; < 0: there is nothing. */
double fresh_share(const struct fresh_sums *s);

/* ---- admin_fresh_charts.c: times, charts as SVG, and words for numbers ---- */

/* Copied under the lock: oldest first. */
struct fresh_times {
    bool is_hours;
    size_t n;
    struct freshness_count list[FRESHNESS_HOURS];
};
void fresh_times_get(const struct freshness *f, wall_ms now, bool is_hours, struct fresh_times *out);
void put_fresh_chart(struct buf *out, const struct fresh_times *t);
void put_visits_chart(struct buf *out, const struct fresh_times *t);
void put_waiting_chart(struct buf *out, const struct fresh_times *t);
/* "93 %", "99.8 %": 100 only when it is all; < 0: a dash. */
void put_fresh_share(struct buf *out, double share);
/* Importance: "1", "20.5", "1,234". */
void put_weight(struct buf *out, double weight);

/* ---- admin_pages_visits.c: what a channel's page says of its visits. coord.lock held ---- */
void put_channel_visits(struct ask *r, struct buf *out, const struct c_channel *ch);
/* When it is visited again, as its operator says: in words, and as fields of a form (NULL: of a new channel). */
void put_rule_words(struct ask *r, struct buf *out, const struct c_channel *ch);
void put_rule_fields(struct ask *r, struct buf *out, const struct c_channel *ch);
