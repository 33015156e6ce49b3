/* link.h - the wires between the router and the places: IP packets in and out, nothing of how they travel.
 *
 * Two kinds. LINK_VETH: a veth pair a place; the outer ends are in the router's namespace, and one AF_PACKET socket
 * with a ring in shared memory hears all of them. LINK_TUN: a tun device a place, read and written by its descriptor;
 * faster to make and to end, and possible only where /dev/net/tun may be opened. Packets that come have their
 * checksums, and none is longer than PACKET_MAX: offloading is turned off.
 *
 * One thread, which is in the router's namespace whenever it is not said to be elsewhere. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "lab/map/line.h"

#define LINKS_MAX 512

typedef enum link_kind { LINK_AUTO, LINK_VETH, LINK_TUN } link_kind;
const char *link_kind_name(link_kind k);

struct link_packet {
    unsigned link;
    struct span packet; /* borrowed until the next call */
    mono_ns at;         /* when the kernel had it; of tun: when we read it */
};

struct link_counts {
    uint64_t lost_in;  /* came faster than they were read */
    uint64_t lost_out; /* not taken by the kernel */
    uint64_t too_long; /* offloading was on after all */
};

struct links;
/* LINK_AUTO: tun where it can be, else veth. `why` says what was attempted. */
MUST_USE status links_new(link_kind kind, struct links **out, struct buf *why);
void links_free(struct links *l); /* NULL is fine; the devices go with their namespaces */
link_kind links_kind(const struct links *l);
/* Makes NETLINK_DEVICE in the namespace; links are numbered from 0. The device is down still. */
MUST_USE status links_add(struct links *l, int ns_fd, unsigned *link, struct buf *why);
/* After the last one, when the devices are to be used. */
MUST_USE status links_start(struct links *l, struct buf *why);
/* Readable when packets wait. Level-triggered. */
int links_fd(const struct links *l);
/* The next packet that came; false: no more now. */
bool links_next(struct links *l, mono_ns now, struct link_packet *out);
/* Sends some; what cannot be sent is counted and forgotten. Packets stay the caller's. */
void links_send(struct links *l, struct line_packet *const *packets, size_t n);
struct link_counts links_counts(struct links *l);
