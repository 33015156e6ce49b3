/* The strategies that need to know nothing: random, hash, and the bounds of every experiment, probe-all and farthest.
 */
#include <math.h>

#include "plan/delegate_internal.h"

static void decide(const struct delegator *d, uint32_t slot, struct delegate_answer *out)
{
    out->verdict = DELEGATE_TO;
    out->agent = d->agents[slot].number;
}

static bool is_choice(const struct delegator *d, uint32_t slot)
{
    return owner_set_has(&d->may, slot) && d->agents[slot].weight > 0;
}

/* ---- random ---- */

static void ask_random(struct delegator *d, const struct delegate_question *q, const struct delegate_place *p,
                       struct delegate_answer *out)
{
    double sum = 0;
    uint32_t chosen = OWNERS_NOBODY;
    delegate_see(d, q);
    for (size_t i = 0; i < d->count; i++)
        sum += is_choice(d, d->by_number[i]) ? d->agents[d->by_number[i]].weight : 0;
    double at = rng_unit(&d->rng) * sum;
    for (size_t i = 0; i < d->count && at >= 0; i++) {
        if (!is_choice(d, d->by_number[i]))
            continue;
        chosen = d->by_number[i];
        at -= d->agents[chosen].weight;
    }
    if (chosen == OWNERS_NOBODY)
        return;
    decide(d, chosen, out);
    buf_puts(&out->why, "drawn at random");
}

const struct delegate_ops delegate_random = {.ask = ask_random};

/* ---- hash ---- */

static uint64_t hash_of_question(const struct delegator *d, const struct delegate_question *q,
                                 const struct delegate_place *p)
{
    struct addr ends[2] = {{0}};
    if (q->domain.n)
        return siphash(&d->key, q->domain);
    if (p->node) {
        struct hierarchy_node n;
        hierarchy_get(d->o.hierarchy, p->node, &n);
        ends[0] = n.first;
        ends[1] = n.last;
    } else
        ends[0] = p->network.first;
    return siphash(&d->key, span_of(ends, sizeof(ends)));
}

/* Rendezvous hashing: each agent draws a number for the domain from their common hash and the best one has it. When an
 * agent comes or goes only its own networks change hands. -w / ln(u) makes shares follow the weights. */
static void ask_hash(struct delegator *d, const struct delegate_question *q, const struct delegate_place *p,
                     struct delegate_answer *out)
{
    uint64_t drawn[2] = {hash_of_question(d, q, p), 0};
    uint32_t best = OWNERS_NOBODY;
    double best_score = -1;
    delegate_see(d, q);
    for (size_t i = 0; i < d->count; i++) {
        const struct delegator_agent *a = &d->agents[d->by_number[i]];
        if (!is_choice(d, d->by_number[i]))
            continue;
        drawn[1] = a->number;
        double u = ((double)(siphash(&d->key, span_of(drawn, sizeof(drawn))) >> 11) + 0.5) / 9007199254740992.0;
        double score = -a->weight / log(u);
        if (score > best_score) {
            best_score = score;
            best = d->by_number[i];
        }
    }
    if (best == OWNERS_NOBODY)
        return;
    decide(d, best, out);
    buf_puts(&out->why, q->domain.n ? "hash of the registered domain" : "hash of the network");
}

const struct delegate_ops delegate_hash = {.ask = ask_hash};

/* ---- probe-all, farthest ---- */

static uint32_t farthest(const struct delegator *d)
{
    uint32_t worst = OWNERS_NOBODY;
    for (size_t i = 0; i < d->seen_count; i++) {
        uint32_t slot = d->seen[i];
        if (d->ms[slot] >= 0 && (worst == OWNERS_NOBODY || d->ms[slot] > d->ms[worst]) && owner_set_has(&d->may, slot))
            worst = slot;
    }
    return worst;
}

/* Everybody that may have it and is awake is asked; the next lot of those that were not yet. */
static void ask_everybody(struct delegator *d, const struct delegate_question *q, bool wants_far,
                          struct delegate_answer *out)
{
    uint32_t any = OWNERS_NOBODY;
    size_t asked = 0;
    delegate_see(d, q);
    for (size_t i = 0; i < d->count; i++) {
        uint32_t slot = d->by_number[i];
        if (!owner_set_has(&d->may, slot))
            continue;
        any = any == OWNERS_NOBODY ? slot : any;
        if (owner_set_has(&d->probed, slot))
            asked++;
        else if (owner_set_has(&d->asleep, slot))
            out->is_provisional = true;
        else if (out->probe_count < DELEGATE_PROBES_MAX)
            out->probes[out->probe_count++] = d->agents[slot].number;
    }
    uint32_t best = wants_far ? farthest(d) : delegate_fastest(d);
    if (best != OWNERS_NOBODY) {
        out->agent = d->agents[best].number;
        out->expected_ms = d->ms[best];
    }
    if (out->probe_count) {
        out->verdict = DELEGATE_PROBE;
        buf_puts(&out->why, "everybody is asked");
    } else if (best != OWNERS_NOBODY) {
        decide(d, best, out);
        out->sure = out->is_provisional || wants_far ? -1 : 1;
        buf_printf(&out->why, "the %s of %zu, %.1f ms", wants_far ? "slowest" : "fastest", asked, d->ms[best]);
    } else if (any != OWNERS_NOBODY) {
        decide(d, any, out);
        buf_puts(&out->why, asked ? "nobody had an answer: the first of all" : "all are asleep: the first of all");
    }
}

static void ask_probe_all(struct delegator *d, const struct delegate_question *q, const struct delegate_place *p,
                          struct delegate_answer *out)
{
    ask_everybody(d, q, false, out);
}

static void ask_farthest(struct delegator *d, const struct delegate_question *q, const struct delegate_place *p,
                         struct delegate_answer *out)
{
    ask_everybody(d, q, true, out);
}

const struct delegate_ops delegate_probe_all = {.ask = ask_probe_all};
const struct delegate_ops delegate_farthest = {.ask = ask_farthest};
