/* measure.h - what a process in a lab sees: how long connecting takes, how much goes through. For orb-lab check.
 *
 * One thread, which enters the namespaces that it measures from; an echo server (echo.h) is at the other ends. */
#pragma once

#include "base/status.h"
#include "lab/map/map.h"
#include "lab/router.h"

struct measure_pair {
    unsigned from, to; /* places */
    bool is6;          /* over IPv6; else only where one of them has nothing else */
    double rtt_ms;     /* by the map */
    double *error_ms;  /* owned by the caller: measured minus rtt_ms, one a sample */
    size_t samples, failed;
};

/* Connects `samples` times for each pair, one every gap_us, the pairs in turn; error_ms must have room. `self` gets how
 * late we woke up ourselves: what of an error is the want of a processor, not the lab. NULL: nobody asks. */
MUST_USE status measure_connects(const struct map *m, const struct router *r, struct measure_pair *pairs, size_t n,
                                 size_t samples, int gap_us, struct lateness *self);

struct measure_rate {
    double per_s;
    uint64_t done, failed;
};
/* New connections, each closed once it is there, or requests over connections that stay; `at_once` at a time. */
MUST_USE status measure_connection_rate(const struct map *m, const struct router *r, unsigned from, unsigned to,
                                        unsigned at_once, int ms, struct measure_rate *out);
MUST_USE status measure_request_rate(const struct map *m, const struct router *r, unsigned from, unsigned to,
                                     unsigned at_once, int ms, struct measure_rate *out);
