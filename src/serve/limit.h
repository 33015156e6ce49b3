/* limit.h - how often one client may ask: a token bucket for each address.
 *
 * IPv6 clients count by their /64, because a single one has all of it. The table has a fixed size: when it is full of
 * busy clients the one idle longest of eight is forgotten, which only gives it a full bucket again. Any thread. */
#pragma once

#include "base/siphash.h"
#include "base/status.h"
#include "place/addr.h"

#define LIMIT_SLOTS 8192

struct limiter;

struct limiter_opts {
    double per_s;           /* requests a second that a client may go on making; 0 = no limit */
    double burst;           /* and so many at once */
    double loopback_factor; /* both times this for loopback addresses */
    struct sip_key key;
};

struct limiter *limiter_new(const struct limiter_opts *opts);
void limiter_free(struct limiter *l); /* NULL is fine */
/* Takes one request from the client's bucket. False: it is empty, for *retry_s (1 or more) seconds. */
bool limiter_take(struct limiter *l, const struct addr *client, mono_ms now, int *retry_s);
