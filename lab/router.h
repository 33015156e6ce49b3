/* router.h - the world router: namespaces for the nodes of a map, wires to them, and packets delayed in between.
 *
 * The life of a packet: a process in athens sends it; the device there hands it to the router's link (net/link.h); its
 * addresses say from which place to which (map/map.h); it goes into the delay line (map/line.h), due half the round
 * trip of the two after the kernel had it; when it is due the link of the other node takes it, and the kernel there
 * does the rest. Where a link has a bandwidth (map/wire.h) it waits for its turn first: on the link that it leaves by
 * before the path, on the one that it comes by after it. What has no place is answered with "unreachable"; what comes
 * from an address that its node does not have is dropped. Nothing else leaves a namespace: no device of the machine is
 * in any of them.
 *
 * Lateness, the time that a packet leaves after it was due, is the measure of a run: a busy machine shows there.
 *
 * One thread, inside of a box (net/box.h). */
#pragma once

#include "lab/map/lab.h"
#include "lab/map/lateness.h"
#include "lab/net/link.h"

struct router;

struct router_opts {
    const struct map *map; /* borrowed; its paths may change between two turns */
    link_kind kind;
    uint64_t seed;         /* of jitter and loss */
    int64_t late_limit_ns; /* 0: ROUTER_LATE_LIMIT_NS */
};

/* 1 % of the packets may be later; a run with more says nothing about round trips. */
#define ROUTER_LATE_LIMIT_NS 1000000

struct router_figures {
    uint64_t packets, bytes; /* delivered */
    uint64_t unreachable;    /* no place has the address */
    uint64_t strays;         /* from addresses that are not the node's, or no IP */
    uint64_t cut;
    uint64_t dropped;    /* by the loss of a path */
    uint64_t queue_full; /* more than a link's bandwidth takes */
    uint64_t overflow;   /* too many on the way */
    struct link_counts links;
    struct lateness lateness;
    int64_t late_limit_ns;
};

/* What went over the link of a node: out of it, whatever became of it on the way, and into it. */
struct router_traffic {
    uint64_t packets_in, bytes_in, packets_out, bytes_out;
};

/* Everything is up when it returns. ST_IO; why says what was attempted. */
MUST_USE status router_new(const struct router_opts *opts, struct router **out, struct buf *why);
void router_free(struct router *r); /* NULL is fine. Namespaces go when nobody is in them */
link_kind router_kind(const struct router *r);
int router_node_fd(const struct router *r, unsigned node); /* borrowed */

/* Calls fn in router_run whenever the descriptor is readable, until it is forgotten. ST_LIMIT, ST_IO. */
typedef void router_fn(void *arg);
MUST_USE status router_watch(struct router *r, int fd, router_fn *fn, void *arg);
void router_forget(struct router *r, int fd); /* harmless when it is not watched */
/* Forwards until router_stop, which may be called from a watcher. */
void router_run(struct router *r);
void router_stop(struct router *r);

void router_figures(struct router *r, struct router_figures *out);
bool router_is_valid(const struct router_figures *f); /* p99 of the lateness is within the limit */
void router_late_limit(struct router *r, int64_t ns);
struct router_traffic router_traffic(const struct router *r, unsigned node);
void router_clear(struct router *r); /* figures and traffic begin anew; the limit stays */
