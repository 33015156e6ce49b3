/* Strategy `ipmicra`: the papers' walk up the registry hierarchy (000 4.3, 001 III-E).
 *
 *     the network has an agent                    it stays there
 *     agents with networks of the same holder     probed in turn; the first under the threshold
 *     agents of the networks inside it            the same
 *     of its parent, of what is inside that, ...  the same, each agent once
 *     everybody else                              the same
 *     nobody is under the threshold               the fastest
 *
 * Nothing is remembered between two questions: each replays the walk with the probes it brings. Who was probed and is
 * over the threshold is struck out, so the walk is the search for the first agent in its order that is not. */
#include <stdlib.h>

#include "base/mem.h"
#include "plan/delegate_internal.h"

struct ipmicra {
    struct owner_set out;    /* may not have it, or was probed in vain */
    struct owner_set silent; /* `out`, and those that sleep and were not probed before */
    struct owner_set met;    /* of the same holder */
};

/* One question on its way. */
struct walk {
    struct delegator *d;
    const struct delegate_place *p;
    struct delegate_kin kin;
    struct delegate_answer *out;
    bool has_passed_sleeper; /* it would have been asked before the one that is chosen */
    unsigned levels;         /* up from the network */
};

static void make(struct delegator *d)
{
    d->own = mem_alloc(sizeof(struct ipmicra));
}

static void unmake(struct delegator *d)
{
    struct ipmicra *m = d->own;
    owner_set_done(&m->out);
    owner_set_done(&m->silent);
    owner_set_done(&m->met);
    free(m);
}

static bool is_sleeper(const struct delegator *d, uint32_t slot)
{
    return owner_set_has(&d->asleep, slot) && !owner_set_has(&d->probed, slot);
}

static void strike_out(struct delegator *d)
{
    struct ipmicra *m = d->own;
    owner_set_widen(&m->out, d->may.count);
    owner_set_widen(&m->silent, d->may.count);
    owner_set_widen(&m->met, d->may.count);
    for (size_t i = 0; i < d->may.count; i++) {
        m->out.words[i] = ~d->may.words[i] | (d->probed.words[i] & ~d->under.words[i]);
        m->silent.words[i] = m->out.words[i] | (d->asleep.words[i] & ~d->probed.words[i]);
    }
}

static void choose(struct walk *w, uint32_t slot)
{
    struct delegator *d = w->d;
    w->out->verdict = DELEGATE_TO;
    w->out->agent = d->agents[slot].number;
    w->out->is_provisional = w->has_passed_sleeper;
    w->out->expected_ms = owner_set_has(&d->probed, slot) ? d->ms[slot] : -1;
}

/* The next in the order of the walk: its own probe decides, or is wanted. */
static void meet(struct walk *w, uint32_t slot, const char *whence)
{
    struct delegator *d = w->d;
    if (owner_set_has(&d->under, slot)) {
        choose(w, slot);
        buf_printf(&w->out->why, "%.1f ms, under %g ms: %s", d->ms[slot], d->o.threshold_ms, whence);
    } else {
        uint32_t best = delegate_fastest(d);
        w->out->verdict = DELEGATE_PROBE;
        w->out->probes[w->out->probe_count++] = d->agents[slot].number;
        if (best != OWNERS_NOBODY) {
            w->out->agent = d->agents[best].number;
            w->out->expected_ms = d->ms[best];
        }
        buf_puts(&w->out->why, whence);
    }
    if (w->levels)
        buf_printf(&w->out->why, ", %u %s up", w->levels, w->levels == 1 ? "level" : "levels");
}

/* ---- the same holder ---- */

static uint32_t same_holder(const struct walk *w, const struct owner_set *skip)
{
    return delegate_kin_first(w->d, &w->kin, skip);
}

/* Several and none of them under the threshold. */
static uint32_t fastest_of_holder(struct walk *w)
{
    struct delegator *d = w->d;
    struct ipmicra *m = d->own;
    uint32_t best = OWNERS_NOBODY;
    for (size_t i = 0; i < d->may.count; i++)
        m->met.words[i] = ~d->may.words[i];
    for (uint32_t slot; (slot = same_holder(w, &m->met)) != OWNERS_NOBODY; owner_set_put(&m->met, slot, true))
        if (owner_set_has(&d->probed, slot) && d->ms[slot] >= 0 && (best == OWNERS_NOBODY || d->ms[slot] < d->ms[best]))
            best = slot;
    return best;
}

/* True: that was the answer. */
static bool try_holder(struct walk *w)
{
    struct delegator *d = w->d;
    struct ipmicra *m = d->own;
    for (size_t i = 0; i < d->may.count; i++)
        m->met.words[i] = ~d->may.words[i];
    uint32_t first = same_holder(w, &m->met);
    if (first == OWNERS_NOBODY)
        return false;
    owner_set_put(&m->met, first, true);
    bool is_single = same_holder(w, &m->met) == OWNERS_NOBODY;
    if (d->o.same_holder == SAME_HOLDER_000_CODE || (d->o.same_holder == SAME_HOLDER_000 && is_single)) {
        choose(w, first);
        buf_puts(&w->out->why, "it has a network of the same holder");
        return true;
    }
    uint32_t next = same_holder(w, &m->out), awake = next;
    if (next != OWNERS_NOBODY && is_sleeper(d, next)) {
        w->has_passed_sleeper = true;
        awake = same_holder(w, &m->silent);
    }
    if (awake != OWNERS_NOBODY) {
        meet(w, awake, "it has a network of the same holder");
        return true;
    }
    uint32_t best = is_single ? OWNERS_NOBODY : fastest_of_holder(w);
    if (best == OWNERS_NOBODY)
        return false;
    choose(w, best);
    buf_printf(&w->out->why, "%.1f ms, the fastest of those with networks of the same holder", d->ms[best]);
    return true;
}

/* ---- the walk ---- */

static uint32_t first_inside(const struct walk *w, uint32_t from, uint32_t to, const struct owner_set *skip)
{
    uint32_t node = owners_first(w->d->has.nodes, from, to, skip);
    return node < to ? owners_get(w->d->has.nodes, node) : OWNERS_NOBODY;
}

/* A range and what is inside it, which stand in this order: its own agent comes first. */
static uint32_t next_inside(struct walk *w, uint32_t from, uint32_t to)
{
    struct ipmicra *m = w->d->own;
    uint32_t next = first_inside(w, from, to, &m->out);
    if (next == OWNERS_NOBODY || !is_sleeper(w->d, next))
        return next;
    w->has_passed_sleeper = true;
    return first_inside(w, from, to, &m->silent);
}

static bool walk_up(struct walk *w)
{
    const struct hierarchy *h = w->d->o.hierarchy;
    for (uint32_t node = w->p->node;; w->levels++) {
        struct hierarchy_node n = {.parent = HIERARCHY_NONE, .end = hierarchy_count(h) + 1};
        if (node)
            hierarchy_get(h, node, &n);
        uint32_t slot = next_inside(w, node, n.end);
        if (slot != OWNERS_NOBODY) {
            meet(w, slot, w->levels ? "it has a network beside it" : "it has a network inside it");
            return true;
        }
        if (!node)
            return false;
        node = n.parent < node ? n.parent : HIERARCHY_NONE; /* a damaged file must not send us in circles */
    }
}

/* Those that have no network yet, and no others are left. */
static bool try_rest(struct walk *w)
{
    struct delegator *d = w->d;
    struct ipmicra *m = d->own;
    w->levels = 0;
    for (size_t i = 0; i < d->count; i++) {
        uint32_t slot = d->by_number[i];
        if (!owner_set_has(&m->silent, slot)) {
            meet(w, slot, "it was not asked yet");
            return true;
        }
        w->has_passed_sleeper |= !owner_set_has(&m->out, slot);
    }
    return false;
}

static void end_walk(struct walk *w)
{
    struct delegator *d = w->d;
    uint32_t best = delegate_fastest(d);
    if (best != OWNERS_NOBODY) {
        choose(w, best);
        buf_printf(&w->out->why, "%.1f ms, the fastest of all; none is under %g ms", d->ms[best], d->o.threshold_ms);
        return;
    }
    /* No answer at all, or all asleep: somebody has to have it. */
    for (size_t i = 0; i < d->count; i++)
        if (owner_set_has(&d->may, d->by_number[i])) {
            choose(w, d->by_number[i]);
            buf_puts(&w->out->why, w->has_passed_sleeper ? "all others sleep" : "nobody had an answer");
            return;
        }
}

static void ask(struct delegator *d, const struct delegate_question *q, const struct delegate_place *p,
                struct delegate_answer *out)
{
    struct walk w = {.d = d, .p = p, .kin = delegate_kin(d, p, q->domain), .out = out};
    delegate_see(d, q);
    strike_out(d);
    if (try_holder(&w) || (d->o.hierarchy && walk_up(&w)) || try_rest(&w))
        return;
    end_walk(&w);
}

const struct delegate_ops delegate_ipmicra = {.owns_home = true, .make = make, .unmake = unmake, .ask = ask};
