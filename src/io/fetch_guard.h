/* fetch_guard.h - which addresses and ports the fetcher may connect to. */
#pragma once

#include "place/addr.h"

#define FETCH_GUARD_OWN_MAX 256

struct fetch_guard {
    bool allow_private;
    struct addr own[FETCH_GUARD_OWN_MAX]; /* addresses of this machine */
    unsigned own_count;
};

/* Asks the system once for the machine's own addresses. */
void fetch_guard_init(struct fetch_guard *g, bool allow_private);
/* Reserved addresses never; all but public ones of other machines only with allow_private. */
bool fetch_guard_allows(const struct fetch_guard *g, const struct addr *a);
/* The port that a normalised http(s) URL leads to, or -1 when it is none. Pure. */
int fetch_url_port(struct span url, bool *is_https);
