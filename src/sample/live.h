/* live.h - sites whose pages change at known rates: for tests of what keeps copies fresh.
 *
 * Host h has `pages` pages, the first at /, which link to each other. Each page changes as a Poisson process of its
 * own, with a mean gap of gap_ms << h mod LIVE_SPEEDS: hosts of five speeds, as in paper 003. When it changes is a
 * function of the seed: the same seed has the same changes at the same times after the start. */
#pragma once

#include "base/buf.h"

#define LIVE_SPEEDS 5
#define LIVE_HOSTS_MAX 4096
#define LIVE_PAGES_MAX 100
#define LIVE_CHANGES_MAX 100000 /* of a page; it stays as it is afterwards */

struct live {
    uint64_t seed;
    unsigned hosts, pages;
    int gap_ms, port;
    int64_t start_us; /* when nothing had changed yet */
};

void live_host(unsigned host, struct buf *out); /* "live7.example" */
/* The host's number; false when the name is no host of `l`. */
bool live_find_host(const struct live *l, struct span name, unsigned *out);
/* The page's number; false: there is none (404). */
bool live_find(const struct live *l, struct span target, unsigned *out);
void live_path(unsigned page, struct buf *out);
/* How often the page has changed by `at_us`. Its changes' times go to `times`, a line of numbers, unless that is NULL.
 */
unsigned live_edition(const struct live *l, unsigned host, unsigned page, int64_t at_us, struct buf *times);
void live_page(const struct live *l, unsigned host, unsigned page, unsigned edition, struct buf *out);
