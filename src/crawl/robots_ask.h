/* robots_ask.h - a site's robots.txt for somebody who asks something of it outside of a crawl: a probe, for one.
 *
 * Redirects are followed, and answers understood, as by the crawl (RFC 9309 2.3.1): what is not there allows
 * everything, a server in trouble (5xx, 429) nothing, and what cannot be reached at all is the caller's to decide. One
 * loop, one thread. */
#pragma once

#include "base/status.h"
#include "io/fetcher.h"
#include "io/resolver.h"
#include "web/robots.h"

/* ST_OK: `rules` are the caller's to free. Else NULL, and `why` says it in words (never NULL); ST_CANCELLED: fetcher or
 * resolver were freed. The ask is gone afterwards. */
typedef void robots_ask_fn(void *arg, status st, struct robots *rules, const char *why);

struct robots_ask_opts {
    struct loop *loop;
    struct resolver *resolver;
    struct fetcher *fetcher;                                /* all borrowed, and the texts: until it is over */
    struct span user_agent;                                 /* the product token is its first word */
    int64_t pause_ms;                                       /* before each hop of a redirect */
    bool (*may_use)(void *arg, const struct addr *address); /* of a hop to another host; NULL: any may be */
    uint64_t *requests, *bytes; /* what it took is added: requests, and bytes of answers' bodies; NULL: nobody counts */
    robots_ask_fn *done;        /* never called from inside robots_ask_start() */
    void *arg;                  /* borrowed */
};

struct robots_ask;
/* `url` is any normalised http(s) URL of the site; copied. */
struct robots_ask *robots_ask_start(const struct robots_ask_opts *o, struct span url, const struct addr *addr);
/* Without calling back; only after fetcher and resolver were freed, of one that still pauses. NULL is fine. */
void robots_ask_free(struct robots_ask *r);
