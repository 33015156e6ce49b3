#include "plan/delegate.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "plan/delegate_internal.h"
#include "plan/sanity.h"

/* ---- names ---- */

static const struct {
    const char *name;
    delegate_strategy strategy;
    const struct delegate_ops *ops;
} strategies[] = {
    {"random", DELEGATE_RANDOM, &delegate_random},          {"hash", DELEGATE_HASH, &delegate_hash},
    {"ipmicra", DELEGATE_IPMICRA, &delegate_ipmicra},       {"learned", DELEGATE_LEARNED, &delegate_learned},
    {"probe-all", DELEGATE_PROBE_ALL, &delegate_probe_all}, {"farthest", DELEGATE_FARTHEST, &delegate_farthest},
};
#define STRATEGIES (sizeof(strategies) / sizeof(*strategies))

static const char same_holder_names[][9] = {
    [SAME_HOLDER_001] = "001", [SAME_HOLDER_000] = "000", [SAME_HOLDER_000_CODE] = "000-code"};

bool delegate_strategy_parse(struct span name, delegate_strategy *out)
{
    for (size_t i = 0; i < STRATEGIES; i++)
        if (span_is(name, strategies[i].name)) {
            *out = strategies[i].strategy;
            return true;
        }
    return false;
}

const char *delegate_strategy_name(delegate_strategy s)
{
    for (size_t i = 0; i < STRATEGIES; i++)
        if (strategies[i].strategy == s)
            return strategies[i].name;
    return "unknown";
}

bool delegate_same_holder_parse(struct span name, delegate_same_holder *out)
{
    for (size_t i = 0; i < sizeof(same_holder_names) / sizeof(*same_holder_names); i++)
        if (span_is(name, same_holder_names[i])) {
            *out = (delegate_same_holder)i;
            return true;
        }
    return false;
}

/* ---- life ---- */

static const struct delegate_ops *ops_of(delegate_strategy s)
{
    for (size_t i = 0; i < STRATEGIES; i++)
        if (strategies[i].strategy == s)
            return strategies[i].ops;
    assert(!"a strategy that there is");
    return NULL;
}

struct delegator *delegator_new(const struct delegator_opts *o)
{
    struct delegator *d = mem_alloc(sizeof(*d));
    d->o = *o;
    if (!(d->o.threshold_ms > 0))
        d->o.threshold_ms = DELEGATE_THRESHOLD_MS;
    d->ops = ops_of(o->strategy);
    rng_seed(&d->rng, o->seed);
    d->key = (struct sip_key){0x6f7262, 0x64656c6567617465};
    delegations_init(d);
    if (d->ops->make)
        d->ops->make(d);
    return d;
}

void delegator_free(struct delegator *d)
{
    if (!d)
        return;
    if (d->ops->unmake)
        d->ops->unmake(d);
    delegations_done(d);
    owner_set_done(&d->open);
    owner_set_done(&d->asleep);
    owner_set_done(&d->may);
    owner_set_done(&d->probed);
    owner_set_done(&d->under);
    table_done(&d->slot_of);
    free(d->ms);
    free(d->seen);
    free(d->kept);
    free(d->by_number);
    free(d->agents);
    free(d);
}

/* ---- agents ---- */

uint32_t delegate_slot(const struct delegator *d, uint64_t number)
{
    uintptr_t at = (uintptr_t)table_get(&d->slot_of, number);
    return at ? (uint32_t)(at - 1) : OWNERS_NOBODY;
}

/* Where in by_number `number` is, or should be. */
static size_t rank_of(const struct delegator *d, uint64_t number)
{
    size_t from = 0, to = d->count;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (d->agents[d->by_number[mid]].number < number)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

/* Slots have changed hands. */
static void unsee(struct delegator *d)
{
    d->seen_count = d->kept_count = 0;
    owner_set_clear(&d->probed);
    owner_set_clear(&d->under);
}

static uint32_t add_agent(struct delegator *d, uint64_t number)
{
    unsee(d);
    uint32_t slot = 0;
    while (slot < d->slots && d->agents[slot].number)
        slot++;
    if (slot == d->slots) {
        d->agents = mem_grow(d->agents, &d->slot_cap, d->slots + 1, sizeof(*d->agents));
        d->slots++;
        d->ms = mem_grow(d->ms, &d->ms_cap, d->slots, sizeof(*d->ms));
        size_t words = (d->slots + 63) / 64;
        owner_set_widen(&d->open, words);
        owner_set_widen(&d->asleep, words);
        owner_set_widen(&d->may, words);
        owner_set_widen(&d->probed, words);
        owner_set_widen(&d->under, words);
    }
    size_t at = rank_of(d, number);
    d->by_number = mem_grow(d->by_number, &d->by_number_cap, d->count + 1, sizeof(*d->by_number));
    memmove(&d->by_number[at + 1], &d->by_number[at], (d->count - at) * sizeof(*d->by_number));
    d->by_number[at] = slot;
    d->count++;
    table_put(&d->slot_of, number, (void *)((uintptr_t)slot + 1));
    return slot;
}

void delegator_agent_put(struct delegator *d, const struct delegator_agent *a)
{
    assert(a->number);
    uint32_t slot = delegate_slot(d, a->number);
    bool is_new = slot == OWNERS_NOBODY;
    if (is_new)
        slot = add_agent(d, a->number);
    bool has_moved = a->addr.family && (is_new || !addr_eq(&d->agents[slot].addr, &a->addr));
    d->agents[slot] = *a;
    owner_set_put(&d->open, slot, a->is_open);
    owner_set_put(&d->asleep, slot, a->is_asleep);
    if (d->ops->agent_put)
        d->ops->agent_put(d, slot);
    if (has_moved && d->ops->owns_home) {
        struct delegate_place home = delegate_place(d, &a->addr);
        if (delegate_owner(d, &home) == OWNERS_NOBODY)
            delegate_give(d, &home, (struct span){0}, slot);
    }
}

void delegator_agent_remove(struct delegator *d, uint64_t number)
{
    uint32_t slot = delegate_slot(d, number);
    if (slot == OWNERS_NOBODY)
        return;
    unsee(d);
    if (d->ops->agent_gone)
        d->ops->agent_gone(d, slot);
    delegate_give_up(d, slot);
    size_t at = rank_of(d, number);
    d->count--;
    memmove(&d->by_number[at], &d->by_number[at + 1], (d->count - at) * sizeof(*d->by_number));
    table_remove(&d->slot_of, number);
    d->agents[slot] = (struct delegator_agent){0};
    owner_set_put(&d->open, slot, false);
    owner_set_put(&d->asleep, slot, false);
}

void delegator_agent_rtt(struct delegator *d, uint64_t a, uint64_t b, double ms)
{
    uint32_t from = delegate_slot(d, a), to = delegate_slot(d, b);
    if (d->ops->agent_rtt && from != OWNERS_NOBODY && to != OWNERS_NOBODY)
        d->ops->agent_rtt(d, from, to, ms);
}

/* ---- questions ---- */

bool delegate_question_allows(const struct delegate_question *q, uint64_t number)
{
    if (number == q->not_agent)
        return false;
    for (size_t i = 0; q->among && i < q->among_count; i++)
        if (q->among[i] == number)
            return true;
    return !q->among;
}

static void see_who_may(struct delegator *d, const struct delegate_question *q)
{
    owner_set_clear(&d->may);
    for (size_t i = 0; q->among && i < q->among_count; i++) {
        uint32_t slot = delegate_slot(d, q->among[i]);
        if (slot != OWNERS_NOBODY)
            owner_set_put(&d->may, slot, true);
    }
    for (size_t i = 0; i < d->may.count; i++)
        d->may.words[i] = q->among ? d->may.words[i] & d->open.words[i] : d->open.words[i];
    uint32_t not_slot = q->not_agent ? delegate_slot(d, q->not_agent) : OWNERS_NOBODY;
    if (not_slot != OWNERS_NOBODY)
        owner_set_put(&d->may, not_slot, false);
}

/* Are the probes that were seen last still the first ones? */
static bool begins_as_before(const struct delegator *d, const struct delegate_question *q)
{
    if (q->probe_count < q->old_count + d->kept_count)
        return false;
    const struct delegate_probe *news = q->probes + q->old_count;
    for (size_t i = 0; i < d->kept_count; i++)
        if (d->kept[i].agent != news[i].agent || d->kept[i].ms != news[i].ms)
            return false;
    return true;
}

void delegate_see(struct delegator *d, const struct delegate_question *q)
{
    see_who_may(d, q);
    if (!begins_as_before(d, q))
        unsee(d);
    d->seen = mem_grow(d->seen, &d->seen_cap, q->probe_count, sizeof(*d->seen));
    d->kept = mem_grow(d->kept, &d->kept_cap, q->probe_count, sizeof(*d->kept));
    for (; q->old_count + d->kept_count < q->probe_count; d->kept_count++) {
        const struct delegate_probe *p = &q->probes[q->old_count + d->kept_count];
        uint32_t slot = delegate_slot(d, p->agent);
        d->kept[d->kept_count].agent = p->agent;
        d->kept[d->kept_count].ms = p->ms;
        if (slot == OWNERS_NOBODY)
            continue;
        owner_set_put(&d->probed, slot, true);
        owner_set_put(&d->under, slot, p->ms >= 0 && p->ms < d->o.threshold_ms);
        d->ms[slot] = p->ms;
        d->seen[d->seen_count++] = slot;
    }
}

uint32_t delegate_fastest(const struct delegator *d)
{
    uint32_t best = OWNERS_NOBODY;
    for (size_t i = 0; i < d->seen_count; i++) {
        uint32_t slot = d->seen[i];
        if (d->ms[slot] >= 0 && (best == OWNERS_NOBODY || d->ms[slot] < d->ms[best]) && owner_set_has(&d->may, slot))
            best = slot;
    }
    return best;
}

/* What is wrong with the probes: in several places, or some cannot be true (reports[i].is_refused). */
static struct sanity_finding judge(const struct delegator *d, const struct delegate_question *q,
                                   struct sanity_report *reports)
{
    for (size_t i = 0; i < q->probe_count; i++) {
        uint32_t slot = delegate_slot(d, q->probes[i].agent);
        const struct delegate_probe *p = &q->probes[i];
        reports[i] = (struct sanity_report){.agent = p->agent, .ms = p->ms, .reached = p->reached};
        if (!reports[i].reached.family)
            reports[i].reached = q->addr;
        if (slot == OWNERS_NOBODY)
            continue;
        reports[i].is_trusted = !d->agents[slot].is_new;
        reports[i].has_spot = d->agents[slot].has_spot;
        reports[i].spot = d->agents[slot].spot;
    }
    struct sanity_finding found;
    sanity_judge(d->o.hierarchy, reports, q->probe_count, &found);
    return found;
}

static bool is_replicated(const struct delegator *d, const struct delegate_question *q)
{
    struct sanity_report *reports = mem_alloc((q->probe_count + 1) * sizeof(*reports));
    struct sanity_finding found = judge(d, q, reports);
    free(reports);
    return found.kind != SANITY_ONE_PLACE;
}

/* The probes (`kept`: room for all of them), those that cannot be true as without an answer: nobody asks for them
 * again.
 */
static struct delegate_question without_refused(const struct delegate_question *q, const struct sanity_report *reports,
                                                struct delegate_probe *kept, uint64_t *refused)
{
    struct delegate_question rest = *q;
    rest.probes = kept;
    for (size_t i = 0; i < q->probe_count; i++) {
        kept[i] = q->probes[i];
        if (reports[i].is_refused) {
            *refused = kept[i].agent;
            kept[i].ms = -1;
        }
    }
    return rest;
}

/* Looked at when something was decided: a lie that gains nothing does no harm, and hundreds of probes take their time.
 */
static void ask_sanely(struct delegator *d, const struct delegate_question *q, const struct delegate_place *p,
                       struct delegate_answer *out)
{
    d->ops->ask(d, q, p, out);
    if (out->verdict != DELEGATE_TO || q->probe_count < 2)
        return;
    struct sanity_report *reports = mem_alloc(q->probe_count * sizeof(*reports));
    struct sanity_finding found = judge(d, q, reports);
    if (found.refused) {
        struct delegate_probe *kept = mem_alloc(q->probe_count * sizeof(*kept));
        uint64_t refused = 0;
        struct delegate_question rest = without_refused(q, reports, kept, &refused);
        buf_done(&out->why);
        *out = (struct delegate_answer){.verdict = DELEGATE_NOBODY, .expected_ms = -1, .sure = -1, .refused = refused};
        d->ops->ask(d, &rest, p, out);
        free(kept);
    }
    free(reports);
    out->is_replicated |= found.kind != SANITY_ONE_PLACE;
}

void delegator_ask(struct delegator *d, const struct delegate_question *q, struct delegate_answer *out)
{
    *out = (struct delegate_answer){.verdict = DELEGATE_NOBODY, .expected_ms = -1, .sure = -1};
    struct delegate_place p = delegate_place(d, &q->addr);
    uint32_t owner = delegate_owner(d, &p);
    if (owner != OWNERS_NOBODY && delegate_question_allows(q, d->agents[owner].number)) {
        out->verdict = DELEGATE_TO;
        out->agent = d->agents[owner].number;
        out->is_known = true;
        buf_puts(&out->why, "it has the network already");
        return;
    }
    ask_sanely(d, q, &p, out);
    if (out->verdict == DELEGATE_NOBODY)
        buf_puts(&out->why, q->among ? "no agent that may have it takes networks at the moment"
                                     : "no agent takes networks at the moment");
}

static int by_ms(const void *a, const void *b)
{
    const struct delegate_estimate *x = a, *y = b;
    if (x->ms != y->ms)
        return x->ms < y->ms ? -1 : 1;
    return x->agent < y->agent ? -1 : x->agent > y->agent;
}

static void expect_of_replicated(struct delegate_estimate *e, size_t measured, size_t count)
{
    double ms = 0;
    for (size_t i = 0; i < measured; i++)
        ms = e[i].ms > ms ? e[i].ms : ms;
    for (size_t i = measured; i < count; i++)
        e[i].ms = ms;
}

size_t delegator_estimates(struct delegator *d, const struct delegate_question *q, struct delegate_estimate *out,
                           size_t max)
{
    struct delegate_place p = delegate_place(d, &q->addr);
    size_t count = 0;
    delegate_see(d, q);
    for (size_t i = 0; i < d->seen_count && count < max; i++) {
        uint32_t slot = d->seen[i];
        bool is_again = false; /* measured twice: the newest is in d->ms */
        for (size_t k = 0; k < i; k++)
            is_again |= d->seen[k] == slot;
        if (d->ms[slot] >= 0 && !is_again)
            out[count++] = (struct delegate_estimate){d->agents[slot].number, d->ms[slot], true, 0};
    }
    size_t measured = count;
    if (d->ops->estimates)
        count += d->ops->estimates(d, q, &p, out + count, max - count);
    if (measured > 1 && is_replicated(d, q)) /* as near from everywhere as it was so far */
        expect_of_replicated(out, measured, count);
    qsort(out, count, sizeof(*out), by_ms);
    return count;
}

void delegator_assigned(struct delegator *d, const struct delegate_question *q, uint64_t agent)
{
    struct delegate_place p = delegate_place(d, &q->addr);
    uint32_t slot = agent ? delegate_slot(d, agent) : OWNERS_NOBODY;
    delegate_give(d, &p, q->domain, slot);
    if (d->ops->assigned)
        d->ops->assigned(d, q, &p, slot);
}

void delegator_learn(struct delegator *d, const struct delegate_question *q)
{
    if (!d->ops->learn)
        return;
    struct delegate_place p = delegate_place(d, &q->addr);
    struct sanity_report *reports = mem_alloc((q->probe_count + 1) * sizeof(*reports));
    struct delegate_probe *kept = mem_alloc((q->probe_count + 1) * sizeof(*kept));
    uint64_t refused = 0;
    (void)judge(d, q, reports);
    struct delegate_question rest = without_refused(q, reports, kept, &refused);
    d->ops->learn(d, &rest, &p);
    free(kept);
    free(reports);
}

uint64_t delegator_owner(const struct delegator *d, const struct addr *a)
{
    struct delegate_place p = delegate_place(d, a);
    uint32_t slot = delegate_owner(d, &p);
    return slot == OWNERS_NOBODY ? 0 : d->agents[slot].number;
}

void delegator_hierarchy(struct delegator *d, const struct hierarchy *h, delegator_carry_fn *fn, void *arg)
{
    const struct hierarchy *was = d->o.hierarchy;
    delegations_carry(d, h, fn, arg);
    if (d->ops->hierarchy)
        d->ops->hierarchy(d, was);
}
