/* pace.h - how fast a host may be asked: the numbers of politeness, as pure functions.
 *
 * The frontier keeps the state; what the state means is decided here, so that simulator, daemons and tests agree. */
#pragma once

#include "base/rng.h"
#include "base/status.h"
#include "place/addr.h"

struct pace_opts {
    int64_t delay_ms;     /* pause between two requests to a host */
    unsigned per_host;    /* in flight to a host; 0 = choose (1, or 16 when delay_ms is 0 and the address is private) */
    unsigned addr_flight; /* in flight to an address */
    unsigned addr_per_s;  /* requests a second to an address */
    unsigned network_flight;
    unsigned network_per_s;
    unsigned shared_domains;   /* registered domains on an address from which on its limits grow */
    unsigned shared_factor;    /* and how far they may grow */
    int64_t delay_floor_ms;    /* on public addresses that are not our own */
    unsigned per_host_ceiling; /* likewise */
    unsigned server_factor;    /* adaptive delay = this times the smoothed server time */
    int64_t adaptive_max_ms;
    int64_t crawl_delay_max_ms;
    int64_t retry_after_max_ms;
    int64_t backoff_min_ms, backoff_max_ms;
};

/* DESIGN section 7. */
extern const struct pace_opts pace_default;

/* How one host may be asked, after its address, its owner and its robots.txt were looked at. */
struct pace {
    int64_t delay_ms;
    unsigned per_host;
    bool has_floors;      /* address and network limits apply; not when a proxy hides the address */
    bool crawl_delay_cut; /* Crawl-delay was above the ceiling */
};

/* `crawl_delay_ms` -1: none; `server_ms` is the smoothed server time (fetch minus path), so that a crawler that is near
 * does not hit harder. With delay_ms 0 on a private or own host the adaptive part is off: the operator asked for speed.
 */
struct pace pace_of(const struct pace_opts *o, const struct addr *addr, bool is_own, int64_t crawl_delay_ms,
                    double server_ms);

/* Limits of an address or network that serves `domains` registered domains: base * sqrt(domains / shared_domains),
 * capped. */
unsigned pace_shared(const struct pace_opts *o, unsigned base, unsigned domains);

/* Pause after the n-th failure in a row (n >= 1): doubling, with up to a quarter of jitter on top. */
int64_t pace_backoff(const struct pace_opts *o, unsigned n, struct rng *rng);
