/* orders.h - what a running router is told over its control socket (docs/formats/lab.md):
 *
 *     enter PLACE              its namespace, as a descriptor
 *     rtt A B MS [JITTER]      "*" is every place
 *     matrix FILE              round trips by table
 *     loss A B PERCENT         of packets, one way
 *     bandwidth PLACE BYTES    a second, of its link, each way; 0: no limit
 *     cut A [B], heal A [B]    a place from everything, or from another
 *     stats, clear             figures as JSON; begin anew
 *     traffic [PLACE]          what went over each link, as JSON
 *     limit MS                 of the lateness, for "valid"
 *     places                   the map
 *
 * Changes hold for packets that come from now on; those on their way arrive when they were due. */
#pragma once

#include "lab/control.h"
#include "lab/map/map.h"
#include "lab/router.h"

#define ORDERS_SOCKET "router" /* in the box's folder */

struct orders {
    struct map *map;       /* borrowed */
    struct router *router; /* borrowed */
};

control_fn orders_answer; /* self is a struct orders */
/* Figures of a run, as one JSON object. */
void orders_figures(const struct router_figures *f, const char *kind, struct buf *out);
