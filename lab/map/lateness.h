/* lateness.h - how late packets left, as a histogram: 16 steps to each doubling, so that a figure is off by at most
 * 6 %. Pure; one thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define LATENESS_STEPS 16
#define LATENESS_BINS (LATENESS_STEPS * 38) /* up to 2^42 ns, over an hour */

struct lateness {
    uint64_t count;
    uint64_t bins[LATENESS_BINS];
    int64_t max_ns;
};

void lateness_add(struct lateness *l, int64_t ns); /* below 0 counts as 0 */
/* The value that a share (0 to 1) of all is not above; 0 when there are none. */
int64_t lateness_at(const struct lateness *l, double share);
