/* trap.h - URLs that a server could make up for ever: repeated path segments, endless query variants of one path.
 *
 * The sketch counts query variants per path in 8 KiB, whatever the site does: a count-min sketch of two rows, so a
 * count is never too low; it is too high only for a site with very many paths that each have queries. Pure; one thread.
 */
#pragma once

#include "base/buf.h"
#include "base/siphash.h"
#include "base/status.h"

#define TRAP_SEGMENT_REPEATS_MAX 4
#define TRAP_VARIANTS_MAX 1000

/* True when some path segment occurs more than TRAP_SEGMENT_REPEATS_MAX times. */
bool trap_repeats(struct span path);

struct trap_sketch;
struct trap_sketch *trap_new(void);
void trap_free(struct trap_sketch *t);
/* Counts one more variant of `path`; how many there were before, at least. */
unsigned trap_count(struct trap_sketch *t, const struct sip_key *key, struct span path);
unsigned trap_peek(const struct trap_sketch *t, const struct sip_key *key, struct span path);
void trap_pack(const struct trap_sketch *t, struct buf *out);
MUST_USE status trap_unpack(struct span packed, struct trap_sketch **out);
