/* packet.h - IP packets as the router sees them: who to whom, which flow; and the answer that there is no way. Pure. */
#pragma once

#include "base/span.h"
#include "place/addr.h"

#define PACKET_MAX 1500 /* the MTU of every link */

struct packet_facts {
    struct addr from, to;
    uint64_t flow; /* packets of one flow must stay in order: addresses, protocol, ports */
};

/* False: no whole IPv4 or IPv6 header. */
bool packet_facts(struct span packet, struct packet_facts *out);
/* Multicast, broadcast, link-local: nothing that crosses a router. */
bool packet_is_local(const struct packet_facts *f);

/* Writes "destination unreachable" for `packet` (RFC 792, RFC 4443), as if from the host that was asked: that address
 * is always one that the asker can take an answer from. Returns its length; 0: none is due, as for an ICMP error. */
size_t packet_unreachable(struct span packet, const struct packet_facts *f, unsigned char out[PACKET_MAX]);
