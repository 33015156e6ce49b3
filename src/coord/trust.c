#include "coord/trust.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "io/clock.h"
#include "web/sketch.h"

#define BATCH 20            /* pages in an order */
#define FAR_BITS 20         /* of 64: texts that differ by more are different pages */
#define CHECK_OLD_MS 600000 /* not answered for so long: forgotten, another will be asked of another page */
#define DAY_MS (24ll * 3600 * 1000)

struct check {
    uint64_t agent;          /* who said it */
    uint64_t witness, order; /* who was asked; 0: nobody yet */
    uint64_t digest, sketch;
    mono_ms made;
    char *url; /* owned */
};

struct trust {
    struct rng rng;
    struct check *checks; /* owned */
    size_t count, cap;
    mono_ms looked;
};

struct trust *trust_new(uint64_t seed)
{
    struct trust *t = mem_alloc(sizeof(*t));
    rng_seed(&t->rng, seed);
    return t;
}

void trust_free(struct trust *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->count; i++)
        free(t->checks[i].url);
    free(t->checks);
    free(t);
}

static void drop(struct trust *t, size_t at)
{
    free(t->checks[at].url);
    t->checks[at] = t->checks[--t->count];
}

void trust_page(struct coord *c, struct c_agent *a, const struct summary *s)
{
    struct trust *t = c->trust;
    a->visits++;
    if (!a->probation_left || s->http_status < 200 || s->http_status > 299)
        return;
    if (--a->probation_left == 0) {
        log_write(c->o.log, LOG_INFO, "trust", "probation is over agent=%s", a->name);
        agent_tell_delegator(c, a);
    }
    if (s->is_keywords || !s->digest || t->count >= TRUST_PENDING_MAX || rng_below(&t->rng, TRUST_SAMPLE) != 0)
        return;
    t->checks = mem_grow(t->checks, &t->cap, t->count + 1, sizeof(*t->checks));
    t->checks[t->count++] = (struct check){.agent = a->number,
                                           .digest = s->digest,
                                           .sketch = sketch_of(s->text),
                                           .made = clock_mono(),
                                           .url = mem_str(s->url)};
}

/* Somebody else who works and is trusted; NULL: there is nobody. */
static struct c_agent *find_witness(struct coord *c, uint64_t but)
{
    struct c_agent *best = NULL;
    for (size_t i = 0; i < c->agent_count; i++) {
        struct c_agent *a = c->agents[i];
        if (!a || a->number == but || !agent_may_work(c, a) || !agent_is_there(c, a))
            continue;
        if (!best || a->probation_left < best->probation_left)
            best = a;
    }
    return best;
}

static void ask(struct coord *c, struct trust *t, uint64_t agent)
{
    struct c_agent *witness = find_witness(c, agent);
    struct span urls[BATCH];
    size_t at[BATCH], n = 0;
    if (!witness)
        return;
    for (size_t i = 0; i < t->count && n < BATCH; i++)
        if (t->checks[i].agent == agent && !t->checks[i].order) {
            urls[n] = span_str(t->checks[i].url);
            at[n++] = i;
        }
    if (!n)
        return;
    struct buf body = {0};
    fetch_order_pack(&(struct fetch_order){.urls = urls, .url_count = n}, &body);
    for (size_t i = 0; i < n; i++) {
        t->checks[at[i]].witness = witness->number;
        t->checks[at[i]].order = witness->orders_given + 1;
        t->checks[at[i]].made = clock_mono();
    }
    agent_order(c, witness, ORDER_FETCH, buf_span(&body));
    buf_done(&body);
}

static void demote(struct coord *c, struct c_agent *a)
{
    if (a->is_demoted)
        return;
    a->is_demoted = true;
    log_write(c->o.log, LOG_ERROR, "trust", "demoted: its pages are not what others find agent=%s", a->name);
    save_agent(c, a);
    agent_tell_delegator(c, a);
    assign_leave_agent(c, a->number, "the agent was demoted");
}

static void compare(struct coord *c, struct trust *t, size_t at, const struct fetched_page *p)
{
    const struct check *k = &t->checks[at];
    struct c_agent *a = agent_get(c, k->agent);
    if (a && p->http_status >= 200 && p->http_status <= 299 && p->digest) {
        bool is_same = p->digest == k->digest || __builtin_popcountll(p->sketch ^ k->sketch) <= FAR_BITS;
        if (is_same) {
            a->checks_good++;
        } else {
            struct buf url = {0};
            a->checks_bad++;
            log_escape(&url, span_str(k->url), 500);
            log_write(c->o.log, LOG_WARN, "trust", "another agent finds another page agent=%s url=%s", a->name,
                      buf_cstr(&url));
            buf_done(&url);
            if (a->checks_bad >= TRUST_STRIKES)
                demote(c, a);
        }
        a->is_dirty = true;
    }
    drop(t, at);
}

void trust_outcome(struct coord *c, struct c_agent *a, const struct outcome *o)
{
    struct trust *t = c->trust;
    for (size_t k = 0; k < o->part_count; k++) {
        struct fetched_page p;
        if (fetched_page_unpack(o->parts[k], &p) != ST_OK)
            return;
        for (size_t i = 0; i < t->count; i++)
            if (t->checks[i].witness == a->number && t->checks[i].order == o->number &&
                span_is(p.url, t->checks[i].url)) {
                compare(c, t, i, &p);
                break;
            }
    }
}

void trust_tick(struct coord *c, mono_ms now)
{
    struct trust *t = c->trust;
    if (now - t->looked < 1000)
        return;
    t->looked = now;
    for (size_t i = t->count; i-- > 0;)
        if (now - t->checks[i].made > CHECK_OLD_MS)
            drop(t, i);
    for (size_t i = 0; i < c->agent_count; i++)
        if (c->agents[i])
            ask(c, t, c->agents[i]->number);
}

bool trust_new_site(struct coord *c, struct c_agent *a, unsigned *in_package)
{
    wall_ms now = clock_wall();
    if (now - a->new_sites_day > DAY_MS || now < a->new_sites_day) {
        a->new_sites_day = now;
        a->new_sites_today = 0;
    }
    if (*in_package >= TRUST_NEW_SITES_A_PACKAGE || a->new_sites_today >= TRUST_NEW_SITES_A_DAY)
        return false;
    ++*in_package;
    a->new_sites_today++;
    return true;
}
