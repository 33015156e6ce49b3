/* resolver.h - names to addresses (c-ares inside), with a bounded cache that obeys the records' TTL.
 *
 * Runs on one loop. Asks for A and AAAA; order of answers: IPv4 first unless opts.prefer_ipv6. Literal addresses and
 * names of the hosts file answer without DNS. Looking a name up again while a query for it is under way joins that
 * query. */
#pragma once

#include "io/loop.h"
#include "place/addr.h"

#define RESOLVER_ADDRS_MAX 8

struct resolver;

struct resolver_opts {
    struct span server; /* "ADDR:PORT" or "[ADDR]:PORT" or "ADDR"; empty = the system's */
    struct span hosts;  /* text of a hosts file ("127.0.0.2 a.example b.example"); looked at before DNS; copied */
    size_t cache_names; /* 0 = 100,000 */
    int64_t ttl_min_ms, ttl_max_ms; /* 0 = 30 s, 1 day; failures are kept for 30 s */
    int64_t timeout_ms;             /* 0 = 5 s a try, 3 tries */
    bool prefer_ipv6;
};

struct resolved {
    status st; /* ST_OK; ST_DNS: no such name or no address; ST_TIMEOUT: no answer */
    struct addr addrs[RESOLVER_ADDRS_MAX];
    unsigned count;
    mono_ms expires; /* when to ask again */
    int64_t took_us; /* 0 from cache, hosts or literal */
};

typedef void resolver_fn(void *arg, const struct resolved *r);

/* ST_INVALID: opts.server is no address, or a line of opts.hosts is bad. */
MUST_USE status resolver_new(struct loop *l, const struct resolver_opts *opts, struct resolver **out);
void resolver_free(struct resolver *r); /* outstanding lookups are called back with ST_CANCELLED */

/* Calls fn later, never from inside this call... */
void resolver_lookup(struct resolver *r, struct span host, resolver_fn *fn, void *arg);
/* ...unless the answer is at hand: true, and *out is filled. */
bool resolver_peek(struct resolver *r, struct span host, struct resolved *out);
