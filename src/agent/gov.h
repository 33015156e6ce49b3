/* gov.h - the governor: may the agent work now, and if not, why?
 *
 * Reads nothing itself: clock, load and sizes are passed in, so that a test can move them. Keeps what must be
 * remembered between two looks: the lease, the bytes of the day, how long the machine has been quiet. One thread. */
#pragma once

#include "agent/limits.h"
#include "base/status.h"
#include "wire/control.h"

#define GOV_BUSY_SHARE 0.25 /* of the machine's CPU time, used by others: somebody works here */
#define GOV_QUIET_MS 60000  /* without that for so long: nobody does */
#define GOV_DISK_FREE_MIN (32ull << 20)
#define GOV_MEMORY_MS 60000 /* above the ceiling for so long although nothing is lent: the crawl is opened anew */

struct gov_reading {
    wall_ms wall;
    mono_ms mono;        /* of a clock that goes on while the machine sleeps */
    double others_share; /* 0..1 of all CPU time; negative: not known */
    double others_load;  /* runnable processes that are not ours, for each core; negative: not known */
    uint64_t rss_bytes;
    uint64_t disk_free_bytes, disk_used_bytes; /* used: by the agent's folder */
    uint64_t spool_bytes;                      /* of that, waiting to be sent */
    uint64_t traffic_bytes;                    /* since the start: fetched and sent; only grows */
};

typedef enum gov_reason {
    GOV_FINE,
    GOV_HOURS,
    GOV_PAUSED,
    GOV_LEASE, /* nothing heard from the coordinator for too long, or not yet; or not all of it */
    GOV_QUOTA,
    GOV_DISK,
    GOV_SPOOL,
    GOV_BUSY,
    GOV_MEMORY,
} gov_reason;

struct gov_verdict {
    bool may_talk; /* within the hours */
    bool may_crawl;
    gov_reason reason;       /* when it may not */
    agent_activity activity; /* when it may not; else ACTIVITY_WORKING */
    wall_ms hours_change;    /* when may_talk turns; INT64_MAX: never */
    bool must_reopen;        /* memory does not come back by itself */
};

struct gov {
    bool has_lease;
    mono_ms lease_until; /* MONO_NEVER: no end */
    bool is_behind;      /* the lease was over before: what it held may be somebody else's by now */
    int64_t quota_day;
    uint64_t quota_bytes, traffic_seen;
    bool is_busy, is_disk_full;
    mono_ms busy_at;
    mono_ms over_memory_since; /* 0: not over */
};

/* As the state file has it. */
void gov_init(struct gov *g, int64_t quota_day, uint64_t quota_bytes);
/* An answer came, at `now`, to a report that was sent at `sent`: good for lease_ms from then; 0: for ever. After a
 * lease that was over, or none, nothing may be crawled yet: orders that wait may take networks away. */
void gov_heard(struct gov *g, mono_ms now, mono_ms sent, int64_t lease_ms);
/* All orders that waited have come, and have begun. */
void gov_caught_up(struct gov *g);
void gov_look(struct gov *g, const struct limits *l, const struct gov_reading *r, struct gov_verdict *out);
/* In words, for people. */
const char *gov_reason_text(gov_reason r);
