/* demo_check.h - questions to the demo's search page whose right answers are known: the ones that it suggests to
 * people, and those that `orb demo --check` asks. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

/* Where the demo's sites are: browsers find names in it on this machine, without a resolver. */
#define DEMO_DOMAIN "localhost"

struct demo_query {
    const char *query;
    const char *best;       /* first result, as "host/path" without domain and port; "": none; NULL: any */
    const char *suggestion; /* what it must ask back; NULL: does not matter */
    const char *lang;       /* of all results; NULL: any */
    bool is_folded;         /* the first result has similar ones folded into it */
    const char *shows;      /* why people should try it; NULL: only for --check */
};

extern const struct demo_query demo_queries[];
extern const size_t demo_query_count;

/* PATH?q=... */
void demo_target(const char *path, const char *query, struct buf *out);

struct demo_page {
    int port, sample_port; /* of the search page, and of the pages that it finds */
    uint64_t docs;         /* that must be searchable */
};

/* Asks everything, and prints a line each: "ok WHAT", or "not ok WHAT: why". How many were not. */
unsigned demo_check(const struct demo_page *p);
