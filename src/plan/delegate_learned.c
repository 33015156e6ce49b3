/* Strategy `learned`: probes where a probe is worth it.
 *
 * For each network a posterior over places (posterior.h) on top of what is known of round trips to places (field.h).
 * Before anything is measured it rests on the registered country, on where other networks of the holder and of the
 * same allocation turned out to be, and on where sites of the country were met so far; a little goes to everywhere
 * else, because registries are not always right.
 *
 * The likely owner comes first, on trial: its first request measures for nothing. Then the agent is probed whose answer
 * is expected to shorten the round trip most, until that is less than a probe is worth (cost_ms). What was measured is
 * taught to the field, so that the next site in the region needs less.
 *
 * Cost: at most LEARNED_AGENTS agents are weighed, those near the places that come into question, so a decision does
 * not grow with agents or sites. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "plan/delegate_internal.h"
#include "plan/field.h"
#include "plan/posterior.h"

#define COST_MS 0.5         /* of a probe, unless the operator says otherwise: docs/results.md has the curve */
#define COST_AGAIN 4.0      /* times that, when it is decided anew: a network moves for some gain only */
#define ELSEWHERE 0.04      /* chance that a network is not in its registered country */
#define ELSEWHERE_PLACES 60 /* that stand for all the others */
#define COUNTRY_PLACES 64   /* of a country, weighed at most */
#define COUNTRY_WEIGHT 4.0  /* the grid's word, in sites seen */
#define NEAREST 6           /* agents weighed for each place, where not all can be */
#define KIN_PLACES 4        /* remembered of a holder or an allocation */
#define KIN_AGREE 3.0       /* before any was seen: three of five are where their kin is */
#define KIN_DIFFER 2.0
#define SIBLING_BITS_V4 16 /* a parent network no larger than this says something about where its parts are */
#define SIBLING_BITS_V6 32
#define ODD 0.01      /* chance that it is in its country, but routes to it are odd */
#define ODD_WIDEN 4.0 /* then round trips are so much less certain */
#define ODD_PLACES 3
#define TLD_WEIGHT 0.7 /* without a hierarchy: how far the country of a top-level domain is believed */
#define LEARNED_AGENTS 24
#define HARDLY 0.001 /* where not all agents can be weighed, places less likely than this are not either */
#define TIE_MS 0.3   /* agents closer than this are equally good: the hash of the domain spreads sites over them */

/* Where networks of one kin were found. */
struct kin {
    uint32_t places[KIN_PLACES];
    float shares[KIN_PLACES];
    unsigned count;
};

typedef enum kin_kind { KIN_HOLDER, KIN_SIBLING, KIN_KINDS } kin_kind;

struct learned {
    struct field *field;
    struct posterior *posterior;
    struct table kin[KIN_KINDS]; /* hash -> struct kin, owned */
    struct {
        double agree, all;
    } trust[KIN_KINDS]; /* how often a network is where its kin is */
    /* of the question at hand */
    uint32_t slots[LEARNED_AGENTS];
    size_t count;
    uint32_t may, can_probe; /* bits over `slots` */
    struct {
        const struct kin *kin; /* borrowed; NULL: none */
        uint64_t key;          /* 0: none */
        float part;            /* of the prior */
    } of[KIN_KINDS];
};

/* ---- life ---- */

static void make(struct delegator *d)
{
    struct learned *l = mem_alloc(sizeof(*l));
    l->field = field_new(d->o.cities);
    l->posterior = posterior_new();
    for (int k = 0; k < KIN_KINDS; k++) {
        l->trust[k].agree = KIN_AGREE;
        l->trust[k].all = KIN_AGREE + KIN_DIFFER;
    }
    if (!(d->o.cost_ms > 0))
        d->o.cost_ms = COST_MS;
    d->own = l;
}

static void unmake(struct delegator *d)
{
    struct learned *l = d->own;
    for (int k = 0; k < KIN_KINDS; k++) {
        size_t at = 0;
        for (struct kin *kin; (kin = table_next(&l->kin[k], &at));)
            free(kin);
        table_done(&l->kin[k]);
    }
    field_free(l->field);
    posterior_free(l->posterior);
    free(l);
}

/* ---- what is known of a network before anything is measured ---- */

/* Of the node, or of what it is part of. */
static bool country_of(const struct delegator *d, uint32_t node, char country[3])
{
    struct hierarchy_node n;
    for (; node != HIERARCHY_NONE; node = n.parent) {
        hierarchy_get(d->o.hierarchy, node, &n);
        if (n.country[0]) {
            memcpy(country, n.country, sizeof(n.country));
            return true;
        }
    }
    return false;
}

static bool country_of_domain(struct span domain, char country[3])
{
    if (domain.n < 4 || domain.p[domain.n - 3] != '.')
        return false;
    for (int i = 0; i < 2; i++) {
        char c = ascii_lower(domain.p[domain.n - 2 + (size_t)i]);
        if (!ascii_is_alpha(c))
            return false;
        country[i] = (char)(c - 'a' + 'A');
    }
    country[2] = '\0';
    if (memcmp(country, "UK", 3) == 0)
        memcpy(country, "GB", 3);
    return true;
}

static struct spot spot_of(struct delegator *d, const struct learned *l, const struct delegator_agent *a)
{
    char country[3];
    size_t count;
    if (a->has_spot)
        return a->spot;
    uint32_t node = a->addr.family && d->o.hierarchy ? hierarchy_network(d->o.hierarchy, &a->addr) : HIERARCHY_NONE;
    if (d->o.cities && country_of(d, node, country)) {
        const struct city *c = cities_of(d->o.cities, country, &count);
        if (count)
            return c->spot;
    }
    return (struct spot){0, 0}; /* off Africa, far from everything: it is probed last */
}

static void agent_put(struct delegator *d, uint32_t slot)
{
    struct learned *l = d->own;
    const struct delegator_agent *a = &d->agents[slot];
    char country[3] = "";
    if (a->addr.family && d->o.hierarchy)
        (void)country_of(d, hierarchy_network(d->o.hierarchy, &a->addr), country);
    field_agent_put(l->field, slot, spot_of(d, l, a), country);
}

static void agent_gone(struct delegator *d, uint32_t slot)
{
    struct learned *l = d->own;
    field_agent_remove(l->field, slot);
}

static void agent_rtt(struct delegator *d, uint32_t a, uint32_t b, double ms)
{
    struct learned *l = d->own;
    field_agent_rtt(l->field, a, b, ms);
}

static uint64_t nonzero(uint64_t hash)
{
    return hash ? hash : 1;
}

/* Keys are of names and ranges, not of numbers in a hierarchy: they outlive it. */
static uint64_t kin_key(const struct delegator *d, const struct delegate_question *q, const struct delegate_place *p,
                        kin_kind kind)
{
    struct hierarchy_node n;
    if (p->node == HIERARCHY_NONE)
        return kind == KIN_HOLDER && q->domain.n ? nonzero(siphash(&d->key, q->domain)) : 0;
    hierarchy_get(d->o.hierarchy, p->node, &n);
    if (kind == KIN_HOLDER) {
        char country[3] = "";
        struct buf b = {0};
        if (!n.holder)
            return 0;
        country_of(d, p->node, country);
        buf_put(&b, hierarchy_holder_name(d->o.hierarchy, n.holder));
        buf_put(&b, span_of(country, sizeof(country)));
        uint64_t hash = nonzero(siphash(&d->key, buf_span(&b)));
        buf_done(&b);
        return hash;
    }
    if (n.parent == HIERARCHY_NONE)
        return 0;
    hierarchy_get(d->o.hierarchy, n.parent, &n);
    unsigned bytes = (n.first.family == 4 ? SIBLING_BITS_V4 : SIBLING_BITS_V6) / 8;
    if (memcmp(n.first.b, n.last.b, bytes) != 0)
        return 0;
    struct addr ends[2] = {n.first, n.last};
    return nonzero(siphash(&d->key, span_of(ends, sizeof(ends))));
}

/* Where the site may be. */
struct prior {
    uint32_t places[COUNTRY_PLACES + ELSEWHERE_PLACES + KIN_KINDS * KIN_PLACES];
    float weights[COUNTRY_PLACES + ELSEWHERE_PLACES + KIN_KINDS * KIN_PLACES];
    size_t count;
    uint32_t odd[ODD_PLACES]; /* the likeliest of its country, for routes that no distance explains */
    size_t odd_count;
    double odd_weight; /* of each */
};

static void prior_add(struct prior *p, uint32_t place, double weight)
{
    p->places[p->count] = place;
    p->weights[p->count++] = (float)weight;
}

static void prior_of_country(const struct learned *l, struct prior *p, const char country[3], double share)
{
    uint32_t places[COUNTRY_PLACES];
    size_t count = field_places_of(l->field, country, places, COUNTRY_PLACES);
    double grid = 0, sum = 0, weights[COUNTRY_PLACES];
    for (size_t i = 0; i < count; i++)
        grid += field_place(l->field, places[i])->weight + 1;
    for (size_t i = 0; i < count; i++) {
        const struct field_place *at = field_place(l->field, places[i]);
        weights[i] = COUNTRY_WEIGHT * (at->weight + 1) / grid + at->sites;
        sum += weights[i];
    }
    for (size_t i = 0; i < count; i++)
        prior_add(p, places[i], share * weights[i] / sum);
    for (size_t n = 0; n < ODD_PLACES && n < count; n++) {
        size_t best = 0;
        for (size_t i = 1; i < count; i++)
            best = weights[i] > weights[best] ? i : best;
        p->odd[p->odd_count++] = places[best];
        weights[best] = -1;
    }
    p->odd_weight = p->odd_count ? share * ODD / (double)p->odd_count : 0;
}

static void make_prior(struct delegator *d, const struct delegate_question *q, const struct delegate_place *at,
                       struct prior *p)
{
    struct learned *l = d->own;
    uint32_t anywhere[ELSEWHERE_PLACES];
    size_t count = field_places_anywhere(l->field, anywhere, ELSEWHERE_PLACES);
    char country[3];
    double known = 0, rest = 1;
    p->count = p->odd_count = 0;
    if (country_of(d, at->node, country))
        known = 1 - ELSEWHERE;
    else if (country_of_domain(q->domain, country))
        known = TLD_WEIGHT;
    for (int k = KIN_KINDS - 1; k >= 0; k--) {
        l->of[k].key = kin_key(d, q, at, (kin_kind)k);
        l->of[k].kin = l->of[k].key ? table_get(&l->kin[k], l->of[k].key) : NULL;
        l->of[k].part = l->of[k].kin ? (float)(rest * l->trust[k].agree / l->trust[k].all) : 0;
        rest -= l->of[k].part;
        for (unsigned i = 0; l->of[k].kin && i < l->of[k].kin->count; i++)
            prior_add(p, l->of[k].kin->places[i], l->of[k].part * l->of[k].kin->shares[i]);
    }
    size_t before = p->count;
    if (known > 0)
        prior_of_country(l, p, country, rest * known);
    if (p->count == before)
        known = 0;
    for (size_t i = 0; i < count; i++)
        prior_add(p, anywhere[i], rest * (1 - known) / (double)count);
}

/* ---- who is weighed ---- */

static void weigh(struct learned *l, uint32_t slot)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->slots[i] == slot)
            return;
    if (l->count < LEARNED_AGENTS)
        l->slots[l->count++] = slot;
}

static void weigh_those_that_measured(struct delegator *d, const struct delegate_question *q)
{
    struct learned *l = d->own;
    l->count = 0;
    for (size_t i = 0; i < d->seen_count; i++)
        weigh(l, d->seen[i]);
    for (size_t i = 0; i < q->old_count; i++) {
        uint32_t slot = delegate_slot(d, q->probes[i].agent);
        if (slot != OWNERS_NOBODY)
            weigh(l, slot);
    }
}

/* `who` (NULL: anyone) may come into question. */
static void choose_agents(struct delegator *d, const struct delegate_question *q, const struct prior *p,
                          const struct owner_set *who)
{
    struct learned *l = d->own;
    weigh_those_that_measured(d, q);
    if (d->count <= LEARNED_AGENTS) {
        for (size_t i = 0; i < d->count; i++)
            weigh(l, d->by_number[i]);
    } else { /* the nearest of the likeliest places first */
        bool taken[sizeof(p->places) / sizeof(*p->places)] = {false};
        for (size_t n = 0; n < p->count && l->count < LEARNED_AGENTS; n++) {
            size_t best = SIZE_MAX;
            uint32_t near[NEAREST];
            for (size_t i = 0; i < p->count; i++)
                if (!taken[i] && (best == SIZE_MAX || p->weights[i] > p->weights[best]))
                    best = i;
            taken[best] = true;
            size_t found = field_nearest(l->field, p->places[best], who, near, NEAREST);
            for (size_t i = 0; i < found; i++)
                weigh(l, near[i]);
        }
    }
    l->may = l->can_probe = 0;
    for (size_t i = 0; i < l->count; i++) {
        uint32_t slot = l->slots[i];
        bool was_deaf = owner_set_has(&d->probed, slot) && d->ms[slot] < 0;
        if (!owner_set_has(&d->may, slot) || was_deaf)
            continue;
        l->may |= UINT32_C(1) << i;
        if (!owner_set_has(&d->asleep, slot) && !owner_set_has(&d->probed, slot))
            l->can_probe |= UINT32_C(1) << i;
    }
}

/* What an agent measured before something changed; < 0: nothing. */
static double old_ms(const struct delegator *d, const struct delegate_question *q, uint32_t slot)
{
    for (size_t i = q->old_count; i-- > 0;)
        if (q->probes[i].agent == d->agents[slot].number)
            return q->probes[i].ms;
    return -1;
}

/* The posterior over the agents that were chosen, with what was measured. Old measurements say where the site is; an
 * agent that measures something else today has another route. */
static void observe(struct delegator *d, const struct delegate_question *q, const struct prior *p)
{
    struct learned *l = d->own;
    posterior_begin(l->posterior, l->field, l->slots, l->count);
    for (size_t i = 0; i < p->count; i++)
        posterior_add(l->posterior, p->places[i], p->weights[i], 1);
    for (size_t i = 0; i < p->odd_count; i++)
        posterior_add(l->posterior, p->odd[i], p->odd_weight, ODD_WIDEN);
    double old[LEARNED_AGENTS];
    for (size_t i = 0; i < l->count; i++) {
        old[i] = q->old_count ? old_ms(d, q, l->slots[i]) : -1;
        if (old[i] >= 0)
            posterior_recall(l->posterior, i, old[i]);
    }
    for (size_t i = 0; i < l->count; i++) {
        if (!owner_set_has(&d->probed, l->slots[i]) || d->ms[l->slots[i]] < 0)
            continue;
        if (old[i] >= 0)
            posterior_reroute(l->posterior, i, d->ms[l->slots[i]]);
        else
            posterior_observe(l->posterior, i, d->ms[l->slots[i]]);
    }
}

/* Places that hardly come into question any more. */
static void leave_out(struct prior *p, const struct prior *left)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++)
        if (left->weights[i] >= HARDLY) {
            p->places[kept] = p->places[i];
            p->weights[kept++] = p->weights[i];
        }
    p->count = kept ? kept : p->count;
}

/* After delegate_see. Where not all agents can be weighed, those that measured say first which places are left: who is
 * near to them comes into question, wherever the registry thought that the network is. */
static void conclude(struct delegator *d, const struct delegate_question *q, const struct delegate_place *at,
                     const struct owner_set *who)
{
    struct learned *l = d->own;
    struct prior p;
    make_prior(d, q, at, &p);
    if (d->count > LEARNED_AGENTS) {
        struct prior left = p;
        if (q->probe_count) {
            weigh_those_that_measured(d, q);
            observe(d, q, &p);
            for (size_t i = 0; i < p.count; i++)
                left.weights[i] = (float)posterior_share(l->posterior, p.places[i]);
        }
        choose_agents(d, q, &left, who);
        leave_out(&p, &left);
    } else
        choose_agents(d, q, &p, who);
    observe(d, q, &p);
}

/* ---- asking ---- */

/* The best of some; SIZE_MAX. */
static size_t best_of(const struct delegator *d, const struct delegate_question *q, uint32_t bits)
{
    const struct learned *l = d->own;
    size_t best = SIZE_MAX;
    double ms[LEARNED_AGENTS], least = INFINITY;
    uint64_t drawn[2] = {siphash(&d->key, q->domain), 0}, best_hash = 0;
    for (size_t i = 0; i < l->count; i++) {
        ms[i] = bits >> i & 1 ? posterior_mean(l->posterior, i) : INFINITY;
        least = fmin(least, ms[i]);
    }
    for (size_t i = 0; i < l->count; i++) {
        if (!(bits >> i & 1) || ms[i] > least + TIE_MS)
            continue;
        drawn[1] = d->agents[l->slots[i]].number;
        uint64_t hash = siphash(&d->key, span_of(drawn, sizeof(drawn)));
        if (best == SIZE_MAX || hash > best_hash) {
            best_hash = hash;
            best = i;
        }
    }
    return best;
}

static size_t most_telling(const struct learned *l, uint32_t awake, double *gain)
{
    size_t best = SIZE_MAX;
    *gain = 0;
    for (size_t i = 0; i < l->count; i++) {
        double g = l->can_probe >> i & 1 ? posterior_gain(l->posterior, i, awake) : 0;
        if (g > *gain) {
            *gain = g;
            best = i;
        }
    }
    return best;
}

static void say_where(const struct learned *l, struct buf *why)
{
    double share;
    uint32_t place = posterior_place(l->posterior, &share);
    if (place == UINT32_MAX)
        return;
    const struct field_place *p = field_place(l->field, place);
    if (p->name.n)
        buf_printf(why, "likely near %.*s, %s (%.0f %%)", SPAN_ARG(p->name), p->country, share * 100);
    else
        buf_printf(why, "likely in %s (%.0f %%)", p->country[0] ? p->country : "an agent's place", share * 100);
}

static void ask(struct delegator *d, const struct delegate_question *q, const struct delegate_place *at,
                struct delegate_answer *out)
{
    struct learned *l = d->own;
    uint32_t asleep = 0;
    double gain;
    delegate_see(d, q);
    conclude(d, q, at, &d->may);
    for (size_t i = 0; i < l->count; i++)
        if (owner_set_has(&d->asleep, l->slots[i]))
            asleep |= l->may & UINT32_C(1) << i;
    uint32_t awake = l->may & ~asleep;
    if (!awake) {
        awake = asleep;
        asleep = 0;
    }
    size_t best = best_of(d, q, awake);
    if (best == SIZE_MAX)
        return;
    uint32_t slot = l->slots[best];
    bool is_measured = owner_set_has(&d->probed, slot);
    out->verdict = DELEGATE_TO;
    out->agent = d->agents[slot].number;
    out->expected_ms = posterior_mean(l->posterior, best);
    out->sure = posterior_sure(l->posterior, best, awake, DELEGATE_NEAR_MS);
    out->is_provisional =
        asleep && posterior_mean(l->posterior, best_of(d, q, asleep)) + d->o.cost_ms < out->expected_ms;
    out->is_trial = !is_measured && !owner_set_has(&d->asleep, slot);
    say_where(l, &out->why);
    buf_printf(&out->why, "; %s %.1f ms", is_measured ? "measured" : "expected",
               is_measured ? d->ms[slot] : out->expected_ms);
    if (out->is_trial)
        return;
    double cost = d->o.cost_ms * (q->old_count ? COST_AGAIN : 1);
    size_t next = most_telling(l, awake, &gain);
    if (next != SIZE_MAX && gain >= cost) {
        out->verdict = DELEGATE_PROBE;
        out->probes[out->probe_count++] = d->agents[l->slots[next]].number;
        buf_printf(&out->why, "; one more probe may gain %.1f ms", gain);
    } else
        buf_printf(&out->why, "; another probe would gain %.1f ms at most", gain);
}

/* Those that are weighed, full and sleeping ones as well: a balancer may make room. */
static size_t estimates(struct delegator *d, const struct delegate_question *q, const struct delegate_place *at,
                        struct delegate_estimate *out, size_t max)
{
    struct learned *l = d->own;
    size_t count = 0;
    conclude(d, q, at, NULL);
    for (size_t i = 0; i < l->count && count < max; i++) {
        if (owner_set_has(&d->probed, l->slots[i]))
            continue;
        double ms = posterior_mean(l->posterior, i);
        if (isfinite(ms))
            out[count++] = (struct delegate_estimate){.agent = d->agents[l->slots[i]].number,
                                                      .ms = fmax(ms, 0),
                                                      .spread_ms = posterior_spread(l->posterior, i)};
    }
    return count;
}

/* ---- learning ---- */

static void kin_note(void *arg, uint32_t place, double share)
{
    struct kin *kin = arg;
    unsigned at = 0;
    while (at < kin->count && kin->places[at] != place)
        at++;
    if (at == kin->count) {
        if (kin->count < KIN_PLACES)
            kin->count++;
        else { /* instead of the least likely one */
            at = 0;
            for (unsigned i = 1; i < kin->count; i++)
                at = kin->shares[i] < kin->shares[at] ? i : at;
            if (kin->shares[at] > share)
                return;
        }
        kin->places[at] = place;
        kin->shares[at] = 0;
    }
    kin->shares[at] += (float)share;
}

static void kin_learn(struct learned *l, kin_kind k)
{
    if (!l->of[k].key)
        return;
    struct kin *kin = table_get(&l->kin[k], l->of[k].key);
    if (!kin) {
        kin = mem_alloc(sizeof(*kin));
        table_put(&l->kin[k], l->of[k].key, kin);
    } else {
        double there = 0;
        for (unsigned i = 0; i < kin->count; i++)
            there += posterior_share(l->posterior, kin->places[i]);
        l->trust[k].agree += there;
        l->trust[k].all += 1;
    }
    posterior_each(l->posterior, 0.1, kin_note, kin);
    float sum = 0;
    for (unsigned i = 0; i < kin->count; i++)
        sum += kin->shares[i];
    for (unsigned i = 0; i < kin->count && sum > 0; i++)
        kin->shares[i] /= sum;
}

static void learn(struct delegator *d, const struct delegate_question *q, const struct delegate_place *at)
{
    struct learned *l = d->own;
    delegate_see(d, q);
    if (!d->seen_count)
        return;
    conclude(d, q, at, NULL);
    for (int k = 0; k < KIN_KINDS && !q->old_count; k++) /* where it is was learned when it was met */
        kin_learn(l, (kin_kind)k);
    posterior_learn(l->posterior, l->field, !q->old_count);
}

const struct delegate_ops delegate_learned = {.owns_home = true,
                                              .make = make,
                                              .unmake = unmake,
                                              .ask = ask,
                                              .estimates = estimates,
                                              .agent_put = agent_put,
                                              .agent_gone = agent_gone,
                                              .agent_rtt = agent_rtt,
                                              .learn = learn};
