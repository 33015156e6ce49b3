/* limit.h - how many requests a second a site takes from one client. Pure: the caller says what time it is. One thread,
 * or a lock of the caller's.
 *
 * What fits into a second may come at once, and two requests always may: somebody who keeps to the rate is not punished
 * for a packet that was late. Requests that are turned away do not count. The table has a fixed size; a client that is
 * pushed out of it begins anew. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "place/addr.h"

#define LIMIT_SLOTS 65536

struct limit;
struct limit *limit_new(void);
void limit_free(struct limit *l); /* NULL is fine */
/* False: over the limit, for *wait_s seconds to come. per_s > 0. */
bool limit_take(struct limit *l, size_t site, const struct addr *client, double per_s, double now_s, double *wait_s);
