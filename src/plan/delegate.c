#include "plan/delegate.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/pack.h"
#include "base/rng.h"

struct delegator {
    delegate_strategy strategy;
    struct rng rng;
    struct sip_key key;             /* fixed: every coordinator with the same agents hashes a network to the same one */
    struct delegator_agent *agents; /* owned, by number */
    size_t count, cap;
};

static const struct {
    const char *name;
    delegate_strategy strategy;
} names[] = {{"random", DELEGATE_RANDOM}, {"hash", DELEGATE_HASH}};

bool delegate_strategy_parse(struct span name, delegate_strategy *out)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (span_is(name, names[i].name)) {
            *out = names[i].strategy;
            return true;
        }
    return false;
}

const char *delegate_strategy_name(delegate_strategy s)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (names[i].strategy == s)
            return names[i].name;
    return "unknown";
}

struct delegator *delegator_new(const struct delegator_opts *o)
{
    struct delegator *d = mem_alloc(sizeof(*d));
    d->strategy = o->strategy;
    rng_seed(&d->rng, o->seed);
    d->key = (struct sip_key){0x6f7262, 0x64656c6567617465};
    return d;
}

void delegator_free(struct delegator *d)
{
    if (!d)
        return;
    free(d->agents);
    free(d);
}

/* Where `number` is, or should be. */
static size_t place_of(const struct delegator *d, uint64_t number)
{
    size_t at = 0;
    while (at < d->count && d->agents[at].number < number)
        at++;
    return at;
}

void delegator_agent_put(struct delegator *d, const struct delegator_agent *a)
{
    size_t at = place_of(d, a->number);
    if (at == d->count || d->agents[at].number != a->number) {
        d->agents = mem_grow(d->agents, &d->cap, d->count + 1, sizeof(*d->agents));
        memmove(&d->agents[at + 1], &d->agents[at], (d->count - at) * sizeof(*d->agents));
        d->count++;
    }
    d->agents[at] = *a;
}

void delegator_agent_remove(struct delegator *d, uint64_t number)
{
    size_t at = place_of(d, number);
    if (at == d->count || d->agents[at].number != number)
        return;
    d->count--;
    memmove(&d->agents[at], &d->agents[at + 1], (d->count - at) * sizeof(*d->agents));
}

static bool is_choice(const struct delegator_agent *a, const struct delegate_question *q)
{
    return a->is_open && a->number != q->not_agent && a->weight > 0;
}

static const struct delegator_agent *choose_random(struct delegator *d, const struct delegate_question *q)
{
    double sum = 0;
    for (size_t i = 0; i < d->count; i++)
        sum += is_choice(&d->agents[i], q) ? d->agents[i].weight : 0;
    double at = rng_unit(&d->rng) * sum;
    const struct delegator_agent *last = NULL;
    for (size_t i = 0; i < d->count; i++) {
        if (!is_choice(&d->agents[i], q))
            continue;
        last = &d->agents[i];
        at -= last->weight;
        if (at < 0)
            break;
    }
    return last;
}

/* Rendezvous hashing: each agent draws a number for the network from their common hash and the best one has it. When an
 * agent comes or goes only its own networks change hands. -w / ln(u) makes shares follow the weights. */
static const struct delegator_agent *choose_hash(const struct delegator *d, const struct delegate_question *q)
{
    const struct delegator_agent *best = NULL;
    double best_score = -1;
    for (size_t i = 0; i < d->count; i++) {
        const struct delegator_agent *a = &d->agents[i];
        if (!is_choice(a, q))
            continue;
        unsigned char text[sizeof(a->number) + 1 + sizeof(q->network.first.b)];
        memcpy(text, &a->number, sizeof(a->number));
        text[sizeof(a->number)] = q->network.bits;
        memcpy(text + sizeof(a->number) + 1, q->network.first.b, sizeof(q->network.first.b));
        double u = ((double)(siphash(&d->key, span_of(text, sizeof(text))) >> 11) + 0.5) / 9007199254740992.0;
        double score = -a->weight / log(u);
        if (score > best_score) {
            best_score = score;
            best = a;
        }
    }
    return best;
}

void delegator_ask(struct delegator *d, const struct delegate_question *q, struct delegate_answer *out)
{
    *out = (struct delegate_answer){0};
    const struct delegator_agent *a = d->strategy == DELEGATE_HASH ? choose_hash(d, q) : choose_random(d, q);
    if (!a) {
        out->verdict = DELEGATE_NOBODY;
        buf_puts(&out->why, "no agent takes networks at the moment");
        return;
    }
    out->verdict = DELEGATE_TO;
    out->agent = a->number;
    buf_printf(&out->why, "strategy %s", delegate_strategy_name(d->strategy));
}

void delegator_assigned(struct delegator *d, const struct network *n, uint64_t agent)
{
    /* Neither of these strategies learns. */
}
