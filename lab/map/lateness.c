#include "lab/map/lateness.h"

/* Values below 16 have a bin each; above, the bin is the place of the highest bit and the four bits below it. */
static size_t bin_of(uint64_t v)
{
    if (v < LATENESS_STEPS)
        return (size_t)v;
    unsigned top = 63 - (unsigned)__builtin_clzll(v);
    size_t bin = (top - 3) * (size_t)LATENESS_STEPS + (v >> (top - 4)) % LATENESS_STEPS;
    return bin < LATENESS_BINS ? bin : LATENESS_BINS - 1;
}

/* The largest value that falls into the bin. */
static uint64_t bin_end(size_t bin)
{
    if (bin < LATENESS_STEPS)
        return bin;
    unsigned top = (unsigned)(bin / LATENESS_STEPS) + 3;
    uint64_t step = (uint64_t)1 << (top - 4);
    return (LATENESS_STEPS + bin % LATENESS_STEPS + 1) * step - 1;
}

void lateness_add(struct lateness *l, int64_t ns)
{
    if (ns < 0)
        ns = 0;
    l->bins[bin_of((uint64_t)ns)]++;
    l->count++;
    if (ns > l->max_ns)
        l->max_ns = ns;
}

int64_t lateness_at(const struct lateness *l, double share)
{
    uint64_t want = (uint64_t)(share * (double)l->count), sum = 0;
    if (l->count == 0)
        return 0;
    if (want >= l->count)
        return l->max_ns;
    for (size_t i = 0; i < LATENESS_BINS; i++) {
        sum += l->bins[i];
        if (sum > want) {
            int64_t end = (int64_t)bin_end(i);
            return end < l->max_ns ? end : l->max_ns;
        }
    }
    return l->max_ns;
}
