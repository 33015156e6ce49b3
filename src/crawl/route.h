/* route.h - which shard owns a host. Any thread: one lock.
 *
 * A new host lives with the shard its name hashes to until its address is known; then it moves to the shard that owns
 * its network. */
#pragma once

#include "base/siphash.h"
#include "place/addr.h"

struct route;

struct route *route_new(unsigned shards, const struct sip_key *key);
void route_free(struct route *r);
/* The host's shard; a host not seen before is given its first one. */
unsigned route_host(struct route *r, struct span host);
void route_move(struct route *r, struct span host, unsigned shard);
/* The shard that owns an address's network. Pure. */
unsigned route_addr(const struct route *r, const struct addr *addr);
