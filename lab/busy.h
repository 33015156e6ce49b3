/* busy.h - how busy the machine was over a while: what a measurement is worth depends on it. Reads /proc. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

struct busy_ticks {
    uint64_t total, idle, stolen; /* of all processors together */
};

struct busy_mark {
    struct busy_ticks ticks;
    double own_s, at_s; /* processor time of our children that have ended; the monotonic clock */
};

struct busy {
    double used;   /* share of all processors, 0 to 1 */
    double own;    /* of that, by processes of ours that have ended */
    double stolen; /* share that the machine below took */
    double load[3];
    unsigned cpus;
};

void busy_mark(struct busy_mark *out);
/* Since the mark. What cannot be read is 0. */
void busy_since(const struct busy_mark *from, struct busy *out);

/* The first line of /proc/stat; false: none. */
bool busy_parse(struct span text, struct busy_ticks *out);
