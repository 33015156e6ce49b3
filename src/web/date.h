/* date.h - dates as sitemaps and feeds write them: W3C's profile of ISO 8601 in all its precisions, and RFC 822 with
 * what RFC 2822 and practice added. Pure; any thread. */
#pragma once

#include "base/buf.h"

#define DATE_TEXT_MAX 64 /* longer ones are none */

/* Either form; false when it is neither, or a day that is in no calendar. Less than a day told means its beginning; no
 * zone told means UTC. */
bool date_read(struct span text, wall_ms *out);
/* "2026-11-16T21:05:00Z", of the years 0 to 9999; before and after, nothing. */
void date_put(struct buf *out, wall_ms at);
