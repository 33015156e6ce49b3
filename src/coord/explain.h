/* explain.h - for `orb explain`: where a URL's site lies, who crawls it, why, and what would change that.
 *
 * As JSON (docs/formats/admin.md); the caller holds coord.lock. Inside src/coord only. */
#pragma once

#include "codec/json.h"
#include "coord/state.h"
#include "web/url.h"

#define EXPLAIN_URL_MAX 2048
#define EXPLAIN_OTHERS 3 /* agents shown besides the one that has it */
#define EXPLAIN_ESTIMATES 64
#define EXPLAIN_CHANNELS 16

/* A URL as the crawl would have it. ST_INVALID, ST_LIMIT. */
MUST_USE status explain_parse(struct arena *a, struct span text, struct url *out);
/* Where the host is as far as the coordinator knows; family 0: it does not. True: asking DNS now might tell. */
bool explain_address(struct coord *c, const struct url *u, struct addr *out);
/* One object. `addr`: what is known of the host's address; family 0: nothing. Without a delegator (the coordinator is
 * stopped) nobody's guesses are in it. */
void explain_put(struct coord *c, const struct url *u, const struct addr *addr, struct json *j);

/* ---- explain_changes.c ---- */
/* One sentence a line: what would make another agent have the network. `others`: estimates without its own agent's,
 * nearest first. */
void explain_changes(struct coord *c, const struct c_network *n, const struct delegate_estimate *others, size_t count,
                     struct buf *out);
