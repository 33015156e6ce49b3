/* timings.h - round trips and server times of the networks that were asked, summarised for the coordinator.
 *
 * A bounded table: TIMINGS_NETWORKS networks, of each a sample of TIMINGS_SAMPLE requests, chosen evenly from all. Fed
 * by the writer's thread, taken by the link's: any thread. */
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "place/addr.h"
#include "web/summary.h"
#include "wire/control.h"

#define TIMINGS_NETWORKS 1024
#define TIMINGS_SAMPLE 31

struct timings;
struct timings *timings_new(uint64_t seed);
void timings_free(struct timings *t); /* NULL is fine */
/* A request to an address in `network` was answered, over a path of this round trip. */
void timings_path(struct timings *t, const struct network *network, uint32_t us);
/* What came of it, when it was for a page. */
void timings_add(struct timings *t, const struct network *network, const struct summary *s);
/* All since the last call; texts and array live in the arena. */
struct network_timing *timings_take(struct timings *t, struct arena *a, size_t *count);
