/* netlink.h - what we ask of the kernel's network configuration, without the ip program.
 *
 * A struct netlink talks to the namespace that its thread was in when it was opened. Requests are gathered and sent
 * many at a time; the first that the kernel refuses is reported by the flush. One thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "place/addr.h"

/* The device of every place, in its own namespace: one name and one link address for all, so that a packet can be
 * handed from one to another as it is. Its index, like that of the link's other end, is this plus the link's number. */
#define NETLINK_DEVICE "w0"
#define NETLINK_DEVICE_INDEX 1000
#define NETLINK_LOOPBACK_INDEX 1
#define NETLINK_MAC ((const unsigned char[6]){0x02, 'o', 'r', 'b', 'l', 'b'})

/* Requests before an answer is awaited: their acknowledgements must fit in the socket's buffer. */
#define NETLINK_BATCH 64

struct netlink {
    int fd; /* -1: closed */
    struct buf out;
    unsigned count; /* requests in `out` */
    uint32_t seq;
    status st;         /* of the first that failed */
    int err;           /* its errno */
    const char *doing; /* what it was for */
    const char *doings[NETLINK_BATCH];
    bool has_ipv6; /* the kernel does; else what is about IPv6 is left out */
};

MUST_USE status netlink_open(struct netlink *n);
void netlink_close(struct netlink *n); /* harmless when repeated */
/* Sends what was gathered and takes the answers. ST_IO: netlink.doing failed with netlink.err, set as errno too. */
MUST_USE status netlink_flush(struct netlink *n);

/* A veth pair, both ends with that index: the outer one here, the inner one NETLINK_DEVICE in the namespace. */
void netlink_veth(struct netlink *n, int index, int inner_ns_fd);
/* Up, without ARP and neighbour discovery, without link-local addresses of its own making. */
void netlink_up(struct netlink *n, int index);
void netlink_address(struct netlink *n, int index, const struct addr *a);
/* Every address of the prefix is this host (AnyIP). */
void netlink_local(struct netlink *n, const struct network *net);
/* Everything else goes out by the device, from the address `source`. */
void netlink_default(struct netlink *n, int index, const struct addr *source);
