/* compare.h - fetches a few pages that another agent has described, so that the coordinator can compare.
 *
 * Outside the crawl, and as polite: robots.txt first and the pause that it wants, the owner's rules, no redirects.
 * Takes a minute or two at most. Blocks its thread, which is its own. */
#pragma once

#include <stdatomic.h>

#include "agent/gate.h"
#include "agent/task.h"
#include "base/log.h"
#include "io/fetcher.h"
#include "io/resolver.h"
#include "web/places.h"

#define COMPARE_URLS_MAX 256 /* of one order */

struct compare_opts {
    struct fetcher_opts fetch;
    struct resolver_opts dns;
    int64_t delay_ms;
    struct gate *gate;            /* borrowed: the owner's refusals */
    const struct places *refused; /* borrowed: the owner's, of sites; NULL: none */
    atomic_bool *is_cancelled;
};

/* One packed fetched_page a URL, in their order, into *parts; one that could not be fetched, or must not be, has HTTP
 * status 0. ST_LIMIT, ST_CANCELLED; ST_INVALID: resolver options. */
MUST_USE status compare_run(const struct compare_opts *o, const struct span *urls, size_t n, struct texts *parts);
