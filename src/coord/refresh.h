/* refresh.h - keeps the registry hierarchy fresh: once a month, where the operator has switched it on, the registries'
 * public files are fetched into DATA/registry and built into DATA/hierarchy, which networks.c takes up by itself.
 *
 * A thread of its own does the work, for it takes minutes; the coordinator's tick starts it and hears what came of it.
 * When it is next due is in the fleet store. What fails is tried again a day later; files that came are kept, and not
 * fetched again unless they are newer. Inside src/coord only. */
#pragma once

#include "base/status.h"

#define REFRESH_EVERY_MS (30ll * 24 * 3600 * 1000)
#define REFRESH_RETRY_MS (24ll * 3600 * 1000)

struct coord;
struct refresh;

/* After records_load. NULL: not switched on. */
struct refresh *refresh_new(struct coord *c);
void refresh_tick(struct coord *c, struct refresh *r, wall_ms now); /* coord.lock held; r may be NULL */
void refresh_free(struct refresh *r);                               /* ends what is under way; NULL is fine */
