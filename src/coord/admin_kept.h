/* admin_kept.h - a view of the fleet that takes a while to make: the newest is kept for a moment and lent to all who
 * ask meanwhile. Inside src/coord/admin*.c only.
 *
 * One is made at a time, by whoever finds the kept one too old; the others get that one once more. Only while there is
 * none does everybody make their own. A view begins with a struct kept and never changes once it is made. Under
 * admin.lock, which is not held while one is made. */
#pragma once

#include "coord/admin_internal.h"

struct kept {
    unsigned users;
    mono_ms good_until; /* the maker says so: kept_until */
};

/* What kind of view it is. */
struct kept_kind {
    struct kept *(*make)(struct coord *c);
    void (*dispose)(struct kept *k);
};

/* Good until kept_done. */
const struct kept *kept_get(struct admin *a, struct kept_slot *slot, const struct kept_kind *kind);
void kept_done(struct admin *a, const struct kept *k, const struct kept_kind *kind);
void kept_forget(struct kept_slot *slot, const struct kept_kind *kind); /* when the administration ends */

/* For the maker, at the end: at least `step_ms` from now, and long against the time that it took. */
mono_ms kept_until(mono_ms began, int64_t step_ms);
