#include "coord/admin_kept.h"

#include "io/clock.h"

#define REST 20 /* times what making one took, before the next */

mono_ms kept_until(mono_ms began, int64_t step_ms)
{
    mono_ms now = clock_mono(), rest = (now - began) * REST;
    return now + (rest > step_ms ? rest : step_ms);
}

static void drop(struct kept *k, const struct kept_kind *kind)
{
    if (k && !--k->users)
        kind->dispose(k);
}

const struct kept *kept_get(struct admin *a, struct kept_slot *slot, const struct kept_kind *kind)
{
    mono_ms now = clock_mono();
    pthread_mutex_lock(&a->lock);
    struct kept *k = slot->newest;
    bool is_good = k && (now < k->good_until || slot->is_being_made);
    if (is_good)
        k->users++;
    else
        slot->is_being_made = true;
    pthread_mutex_unlock(&a->lock);
    if (is_good)
        return k;
    k = kind->make(a->c);
    pthread_mutex_lock(&a->lock);
    drop(slot->newest, kind);
    slot->newest = k;
    slot->is_being_made = false;
    k->users = 2; /* the slot, and whoever asked */
    pthread_mutex_unlock(&a->lock);
    return k;
}

void kept_done(struct admin *a, const struct kept *k, const struct kept_kind *kind)
{
    pthread_mutex_lock(&a->lock);
    drop((struct kept *)k, kind);
    pthread_mutex_unlock(&a->lock);
}

void kept_forget(struct kept_slot *slot, const struct kept_kind *kind)
{
    drop(slot->newest, kind);
    slot->newest = NULL;
}
