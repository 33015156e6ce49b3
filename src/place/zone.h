/* zone.h - a time zone from its compiled file (RFC 8536, TZif), which somebody else read: the offset at a moment. Pure.
 */
#pragma once

#include "base/span.h"
#include "base/status.h"

#define ZONE_FILE_MAX (64u << 10)
#define ZONE_NAME_MAX 64

struct zone;
MUST_USE status zone_new(struct span tzif, struct zone **out); /* ST_CORRUPT; copies what it needs */
void zone_free(struct zone *z);                                /* NULL is fine */
/* Seconds east of UTC; the rule at the file's end is followed beyond its table. */
int32_t zone_offset(const struct zone *z, wall_ms at);
/* "Europe/Athens": letters, digits, '_', '-', '+', '/', no "..", no '/' in front; safe as part of a path. */
bool zone_name_is_good(struct span name);
