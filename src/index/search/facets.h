/* facets.h - how the pages that match spread over sites and languages.
 *
 * Keeps a sample of the matches: all of them up to FACETS_SAMPLE, then every second by a hash of their number, then
 * every fourth, and so on, so that early and late pages have the same chance. Rows are read at the end. One thread. */
#pragma once

#include "base/arena.h"
#include "index/search/search.h"
#include "index/snapshot.h"

#define FACETS_SAMPLE 8192

struct facets {
    struct facets_doc {
        uint32_t part, doc;
    } * docs; /* owned */
    size_t n, cap;
    unsigned halvings; /* each kept page stands for 2^halvings */
};

void facets_done(struct facets *f); /* all zeros is an empty one */
void facets_add(struct facets *f, uint32_t part, uint32_t doc);
/* The most frequent sites and languages into `out`, counts times `scale`; names in the arena. ST_CORRUPT. */
MUST_USE status facets_count(const struct facets *f, const struct index_snapshot *s, double scale, struct arena *a,
                             struct search_result *out);
