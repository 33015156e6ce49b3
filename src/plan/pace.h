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
 * `borne_ms` is the pause of a struct pace_borne, 0: none; it holds for everybody. */
struct pace pace_of(const struct pace_opts *o, const struct addr *addr, bool is_own, int64_t crawl_delay_ms,
                    double server_ms, double borne_ms);

/* Limits of an address or network that serves `domains` registered domains: base * sqrt(domains / shared_domains),
 * capped. */
unsigned pace_shared(const struct pace_opts *o, unsigned base, unsigned domains);

/* Pause after the n-th failure in a row (n >= 1): doubling, with up to a quarter of jitter on top. */
int64_t pace_backoff(const struct pace_opts *o, unsigned n, struct rng *rng);

/* The pace that a host was seen to bear. One that answers 429 was asked too fast; what it answered between two of
 * those, over the time from one to the other with the rest in it, is a pace that it allows:
 *
 *     429    rest of 60 s    100 answers in 2 s    429        100 in 62 s, one every 0.62 s
 *
 * From the first 429 on it is asked one at a time, with a quarter more than that between two requests, but never four
 * times as slowly at once: a rest may be longer than it had to be. Each answer takes a little off, so that one
 * complaint is forgotten in the end, and a limit that stays is met once in a thousand pages or two. All zeros: it never
 * complained. */
struct pace_borne {
    double pause_ms;  /* 0: none */
    mono_ms last;     /* request; 0: none yet */
    double seen_ms;   /* since the last 429, without times when nothing was wanted of it */
    unsigned answers; /* in that time */
};

/* A request at `now`; it was allowed from `next_ok` on. */
void pace_asked(struct pace_borne *b, mono_ms now, mono_ms next_ok);
void pace_answered(struct pace_borne *b, const struct pace_opts *o);
/* 429. `delay_ms`: the pause that was kept. */
void pace_complained(struct pace_borne *b, const struct pace_opts *o, int64_t delay_ms);
