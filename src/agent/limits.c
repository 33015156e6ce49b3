#include "agent/limits.h"

#define POLL_MIN_MS 1000
#define POLL_MAX_MS (5 * 60 * 1000)
#define DISK_LEAST (64ull << 20)

static uint64_t lower(uint64_t a, uint64_t b)
{
    if (!a || !b)
        return a ? a : b;
    return a < b ? a : b;
}

/* Open for no minute: a span that ends where it begins. */
static void close_hours(struct hours *h)
{
    *h = (struct hours){.count = 1};
}

void limits_make(const struct conf *own, const struct agent_settings *theirs, struct limits *out, struct buf *why)
{
    static const struct agent_settings none = {.state = AGENT_RUN};
    const struct agent_settings *t = theirs ? theirs : &none;
    *out = (struct limits){
        .state = t->state == AGENT_PAUSE || t->state == AGENT_DRAIN ? t->state : AGENT_RUN,
        .bytes_per_s = lower((uint64_t)conf_number(own, CONF_BANDWIDTH), t->bytes_per_s),
        .bytes_a_day = lower((uint64_t)conf_number(own, CONF_BYTES_A_DAY), t->bytes_a_day),
        .memory_bytes = lower((uint64_t)conf_number(own, CONF_MEMORY), t->memory_bytes),
        .disk_bytes = lower((uint64_t)conf_number(own, CONF_DISK), t->disk_bytes),
        .idle_only = conf_flag(own, CONF_IDLE_ONLY) || t->idle_only,
        .tasks_max = (unsigned)lower((uint64_t)conf_number(own, CONF_TASKS), t->tasks_max),
        .package_bytes = t->package_bytes,
        .package_age_ms = t->package_age_ms,
        .poll_ms = t->poll_ms ? t->poll_ms : LIMITS_POLL_MS,
    };
    if (out->disk_bytes < DISK_LEAST)
        out->disk_bytes = DISK_LEAST;
    if (out->poll_ms < POLL_MIN_MS)
        out->poll_ms = POLL_MIN_MS;
    if (out->poll_ms > POLL_MAX_MS)
        out->poll_ms = POLL_MAX_MS;
    if (hours_parse(conf_text(own, CONF_HOURS), &out->own_hours, why) != ST_OK)
        close_hours(&out->own_hours);
    if (hours_parse(t->hours, &out->their_hours, why) != ST_OK)
        close_hours(&out->their_hours);
}

bool limits_need_restart(const struct limits *a, const struct limits *b)
{
    return a->bytes_per_s != b->bytes_per_s || a->memory_bytes != b->memory_bytes;
}
