/* apply.h - summaries into the store, exactly once in effect.
 *
 * A summary may be applied any number of times, in any order: the store keeps, per page, the visit with the highest
 * fetch number. The caller brackets many of them in one transaction. */
#pragma once

#include "base/arena.h"
#include "store/store.h"

/* ST_CORRUPT/ST_NEWER: not a summary of ours; else what the store says. `scratch` is reset. *outcome (when given) is
 * what the store made of the visit. */
MUST_USE status apply_summary(struct store *s, struct arena *scratch, struct span packed, visit_outcome *outcome);
