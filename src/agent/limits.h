/* limits.h - what holds: of each limit the lower one, the owner's or the coordinator's. Pure. */
#pragma once

#include "agent/conf.h"
#include "plan/hours.h"
#include "wire/control.h"

#define LIMITS_POLL_MS 15000 /* between two reports, when the coordinator does not say */

struct limits {
    agent_state state;
    struct hours own_hours, their_hours; /* both must be open */
    uint64_t bytes_per_s, bytes_a_day;   /* 0: no limit */
    uint64_t memory_bytes, disk_bytes;
    bool idle_only;
    unsigned tasks_max;
    uint64_t package_bytes; /* 0: the default */
    int64_t package_age_ms;
    int64_t poll_ms;
};

/* `theirs` may be NULL. Hours that cannot be read count as closed: better idle than unwanted; *why gets a phrase. */
void limits_make(const struct conf *own, const struct agent_settings *theirs, struct limits *out, struct buf *why);
/* The crawl must be opened anew for these. */
bool limits_need_restart(const struct limits *a, const struct limits *b);
