/* link_kind.h - what a kind of link does; private to link*.c. */
#pragma once

#include "lab/net/link.h"

struct link_ops {
    void (*free)(void *self);
    status (*add)(void *self, int ns_fd, unsigned link, struct buf *why);
    status (*start)(void *self, struct buf *why);
    int (*fd)(void *self);
    bool (*next)(void *self, mono_ns now, struct link_packet *out);
    void (*send)(void *self, struct line_packet *const *packets, size_t n);
    struct link_counts (*counts)(void *self);
};

MUST_USE status link_veth_new(void **out, struct buf *why);
MUST_USE status link_tun_new(void **out, struct buf *why);
extern const struct link_ops link_veth_ops, link_tun_ops;

/* The device of the place hands over packets with checksums, none longer than the MTU. In its namespace. */
MUST_USE status link_plain(const char *device, struct buf *why);
/* ST_IO: `why` says what errno, which stays, is about. */
status link_fail(struct buf *why, const char *doing);
