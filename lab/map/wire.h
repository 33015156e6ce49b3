/* wire.h - one direction of a link with a bandwidth: when a packet has been sent, given those before it. Pure: the time
 * is passed in.
 *
 *     at      a packet comes to the wire
 *     start   the ones before it have been sent
 *     out     it has been sent itself, length / rate later
 *
 * What waits is bounded, as in front of a real link: half a second of the rate, or WIRE_PACKETS packets where that is
 * less. Beyond that packets are dropped. A wire needs no queue for that, only the time at which the last one is out:
 * packets wait in the delay line (line.h), which knows when they leave. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lab/map/line.h"

#define WIRE_PACKETS 64
#define WIRE_WAIT_MS 500

struct wire {
    mono_ns free;  /* the last packet is out; zeros are a new wire */
    uint64_t rate; /* at which that was */
};

/* A packet of `bytes` comes at `at`, and is out at *out. A rate of 0 takes no time, but nothing overtakes what waits
 * from before. False: too many wait, it is dropped. */
bool wire_send(struct wire *w, uint64_t bytes_a_second, size_t bytes, mono_ns at, mono_ns *out);
