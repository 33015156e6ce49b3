/* big.h - the generated site: page i of N is computed from the seed and never stored.
 *
 * Page i is on host i mod H at /p/i.html. It links to its eight children 8i+1...8i+8 (so that all N pages hang
 * together, log8 N deep), to page 0 and to eleven pages drawn at random. */
#pragma once

#include "base/buf.h"

struct big {
    uint64_t seed;
    unsigned pages, hosts;
    int port;
};

void big_host(unsigned host, struct buf *out); /* "big7.example" */
/* The host's number; false when the name is no host of `b`. */
bool big_find_host(const struct big *b, struct span name, unsigned *out);
/* Appends the page at `target` on `host`; false: there is none (404). */
bool big_page(const struct big *b, unsigned host, struct span target, struct buf *out);
void big_url(const struct big *b, unsigned page, struct buf *out);
