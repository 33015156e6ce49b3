/* hours.h - when an agent may work: days and times of a week in a time zone.
 *
 *     mon-fri 20:00-06:00; sat,sun 00:00-24:00 Europe/Athens
 *
 * Rules are separated by ';', the zone comes last (UTC when there is none). A span that passes midnight belongs to the
 * day it begins on. Nothing given: always. Pure: the zone's offset is asked for through a callback (place/zone.h). */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define HOURS_TEXT_MAX 512
#define HOURS_RULES_MAX 64
#define HOURS_ZONE_MAX 64

struct hours {
    struct hours_span {
        uint16_t from, to; /* minutes from Monday 00:00 local; to > from, up to 2 days later than a week's end */
    } spans[HOURS_RULES_MAX * 7];
    unsigned count;            /* 0: always open */
    char zone[HOURS_ZONE_MAX]; /* "" = UTC */
};

/* ST_INVALID: *why says which word. ST_LIMIT: too many, or too long; *why says so. */
MUST_USE status hours_parse(struct span text, struct hours *out, struct buf *why);
void hours_format(const struct hours *h, struct buf *out); /* in one normal form */

/* Seconds east of UTC at a moment. */
typedef int32_t hours_offset_fn(void *arg, wall_ms at);
bool hours_is_open(const struct hours *h, wall_ms at, hours_offset_fn *offset, void *arg);
/* The next moment after `at` when open turns to closed or back; INT64_MAX: never. To the minute. */
wall_ms hours_next_change(const struct hours *h, wall_ms at, hours_offset_fn *offset, void *arg);
