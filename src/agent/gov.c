#include "agent/gov.h"

#include "io/zones.h"

#define DAY_MS (86400ll * 1000)

void gov_init(struct gov *g, int64_t quota_day, uint64_t quota_bytes)
{
    *g = (struct gov){.quota_day = quota_day, .quota_bytes = quota_bytes};
}

void gov_heard(struct gov *g, mono_ms now, mono_ms sent, int64_t lease_ms)
{
    g->is_behind |= !g->has_lease || now >= g->lease_until;
    mono_ms until = lease_ms > 0 && sent < MONO_NEVER - lease_ms ? sent + lease_ms : MONO_NEVER;
    if (!g->has_lease || until > g->lease_until)
        g->lease_until = until;
    g->has_lease = true;
}

void gov_caught_up(struct gov *g)
{
    g->is_behind = false;
}

static int32_t offset_of(void *zone, wall_ms at)
{
    return zone_offset_of(zone, at);
}

static bool is_open(const struct hours *h, wall_ms at, wall_ms *change)
{
    char *zone = (char *)h->zone;
    wall_ms next = hours_next_change(h, at, offset_of, zone);
    if (next < *change)
        *change = next;
    return hours_is_open(h, at, offset_of, zone);
}

static void count_traffic(struct gov *g, const struct gov_reading *r)
{
    int64_t day = r->wall / DAY_MS;
    /* A clock that was wrong and is set right may go back over midnight: the day's bytes stay used. Only a clock that
     * was days ahead would make the day last too long. */
    if (day > g->quota_day || day < g->quota_day - 1) {
        g->quota_day = day;
        g->quota_bytes = 0;
    }
    if (r->traffic_bytes > g->traffic_seen)
        g->quota_bytes += r->traffic_bytes - g->traffic_seen;
    g->traffic_seen = r->traffic_bytes;
}

static bool is_busy(struct gov *g, const struct gov_reading *r)
{
    if (r->others_share >= GOV_BUSY_SHARE || r->others_load >= 1) {
        g->is_busy = true;
        g->busy_at = r->mono;
    } else if (r->mono - g->busy_at >= GOV_QUIET_MS) {
        g->is_busy = false;
    }
    return g->is_busy;
}

/* Full at the limit, open again a sixteenth below: not on and off with every package. */
static bool is_full(bool was_full, uint64_t used, uint64_t limit)
{
    return used >= (was_full ? limit - limit / 16 : limit);
}

static bool is_over_memory(struct gov *g, const struct limits *l, const struct gov_reading *r, bool *must_reopen)
{
    if (!l->memory_bytes || r->rss_bytes <= l->memory_bytes) {
        g->over_memory_since = 0;
        return false;
    }
    if (!g->over_memory_since)
        g->over_memory_since = r->mono ? r->mono : 1;
    if (r->mono - g->over_memory_since >= GOV_MEMORY_MS) {
        *must_reopen = true;
        g->over_memory_since = 0;
    }
    return true;
}

static gov_reason reason_now(struct gov *g, const struct limits *l, const struct gov_reading *r, bool *must_reopen)
{
    /* All are looked at each time: some remember. */
    g->is_disk_full = is_full(g->is_disk_full, r->disk_used_bytes, l->disk_bytes);
    bool is_device_full = r->disk_free_bytes < GOV_DISK_FREE_MIN;
    bool busy = is_busy(g, r), over_memory = is_over_memory(g, l, r, must_reopen);
    if (l->state == AGENT_PAUSE)
        return GOV_PAUSED;
    if (!g->has_lease || r->mono >= g->lease_until || g->is_behind)
        return GOV_LEASE;
    if (l->bytes_a_day && g->quota_bytes >= l->bytes_a_day)
        return GOV_QUOTA;
    if (is_device_full)
        return GOV_DISK;
    if (g->is_disk_full)
        return r->spool_bytes ? GOV_SPOOL : GOV_DISK;
    if (l->idle_only && busy)
        return GOV_BUSY;
    return over_memory ? GOV_MEMORY : GOV_FINE;
}

static agent_activity activity_of(gov_reason r)
{
    switch (r) {
    case GOV_QUOTA:
        return ACTIVITY_QUOTA;
    case GOV_DISK:
        return ACTIVITY_DISK_FULL;
    case GOV_SPOOL:
        return ACTIVITY_SPOOL_FULL;
    case GOV_BUSY:
        return ACTIVITY_BUSY_MACHINE;
    case GOV_HOURS:
    case GOV_PAUSED:
    case GOV_LEASE:
        return ACTIVITY_PAUSED;
    default:
        return ACTIVITY_WORKING;
    }
}

void gov_look(struct gov *g, const struct limits *l, const struct gov_reading *r, struct gov_verdict *out)
{
    *out = (struct gov_verdict){.hours_change = INT64_MAX};
    bool own = is_open(&l->own_hours, r->wall, &out->hours_change);
    bool theirs = is_open(&l->their_hours, r->wall, &out->hours_change);
    count_traffic(g, r);
    out->reason = reason_now(g, l, r, &out->must_reopen);
    out->may_talk = own && theirs;
    if (!out->may_talk)
        out->reason = GOV_HOURS;
    out->may_crawl = out->reason == GOV_FINE;
    out->activity = activity_of(out->reason);
}

const char *gov_reason_text(gov_reason r)
{
    static const char *const texts[] = {
        [GOV_FINE] = "working",
        [GOV_HOURS] = "outside its hours",
        [GOV_PAUSED] = "paused by the coordinator",
        [GOV_LEASE] = "waiting to hear from the coordinator",
        [GOV_QUOTA] = "the bytes of this day are used up",
        [GOV_DISK] = "the disk is full",
        [GOV_SPOOL] = "too much waits to be sent",
        [GOV_BUSY] = "somebody uses the machine",
        [GOV_MEMORY] = "at its memory ceiling",
    };
    return texts[r];
}
