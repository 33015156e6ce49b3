/* opt_out.h - the list of those who want to be left alone, as an operator keeps it, into what a folder remembers as
 * forgotten.
 *
 * What the list names is forgotten with a reason that begins with "opt-out"; what it no longer names, and was forgotten
 * for that reason, may be crawled again. Places that were forgotten otherwise are not touched. */
#pragma once

#include "store/store.h"
#include "web/places.h"

#define OPT_OUT_REASON "opt-out"

struct opt_out_change {
    size_t added, removed;
};

/* In one transaction of its own, with the mark that makes apply_open take out what is there. ST_INVALID, ST_LIMIT: a
 * line of the list is bad, `why` says which; nothing was changed. */
MUST_USE status opt_out_apply(struct store *s, struct span list, wall_ms now, struct opt_out_change *out,
                              struct buf *why);
/* The places that would be forgotten then, for whoever must not wait for it. */
MUST_USE status opt_out_places(struct store *s, struct span list, struct places **out, struct buf *why);

/* What a person forgets by themselves, instead of store_forgotten_put: it stays so when a list no longer names it, also
 * when it was of the list before, and whatever the words of its reason. */
MUST_USE status opt_out_forget_anyway(struct store *s, const struct forgotten *f);
