#include "coord/trust.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "io/clock.h"
#include "web/document.h"
#include "web/sketch.h"

#define BATCH 20    /* pages in an order */
#define FAR_BITS 20 /* of 64: texts that differ by more are different pages */
/* Two looks that are not the same show how much the page changes by itself: what was said must be farther off by so
 * much. */
#define FAR_MORE_BITS 12
#define DENSER 10           /* times the checks, after a strike */
#define CHECK_OLD_MS 600000 /* not answered for so long: forgotten, another will be asked of another page */
#define DAY_MS (24ll * 3600 * 1000)

/* What somebody found at an address. */
struct look {
    uint64_t agent;
    bool is_gone; /* there is no such page: 404 or 410 */
    uint64_t digest, sketch;
};

struct check {
    struct look said, first; /* first.agent 0: nobody looked yet */
    uint64_t witness, order; /* who was asked; 0: nobody at the moment */
    bool is_keywords;        /* the sketch is of words without their order */
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

/* ---- which pages ---- */

static bool is_page(unsigned http_status)
{
    return http_status >= 200 && http_status <= 299;
}

static bool is_gone(unsigned http_status)
{
    return http_status == 404 || http_status == 410;
}

/* One in each block, anywhere in it: so many pages have so many checks, and none can be foretold. */
static bool is_drawn(struct coord *c, struct c_agent *a)
{
    if (!a->check_left) {
        unsigned every = c->o.check_every ? c->o.check_every : TRUST_SAMPLE;
        a->check_left = a->checks_bad ? (every + DENSER - 1) / DENSER : every;
        a->check_at = (unsigned)rng_below(&c->trust->rng, a->check_left);
    }
    return --a->check_left == a->check_at;
}

static void count_probation(struct coord *c, struct c_agent *a)
{
    if (--a->probation_left)
        return;
    log_write(c->o.log, LOG_INFO, "trust", "probation is over agent=%s", a->name);
    agent_tell_delegator(c, a);
}

void trust_page(struct coord *c, struct c_agent *a, const struct c_channel *ch, const struct summary *s)
{
    struct trust *t = c->trust;
    a->visits++;
    if (!a->probation_left || s->failure != ST_OK || (!is_page(s->http_status) && !is_gone(s->http_status)))
        return;
    bool drawn = is_drawn(c, a);
    if (is_page(s->http_status))
        count_probation(c, a);
    /* A sitemap or a feed has no text to compare, and is not searched in. */
    if (!drawn || ch->program[0] || s->page_flags & PAGE_LIST || t->count >= TRUST_PENDING_MAX)
        return;
    /* What pdftotext makes of a PDF depends on its version, and witnesses do not run it: that it is one is compared. */
    bool is_pdf = document_kind_of(s->content_type, s->url) == DOCUMENT_PDF;
    struct span text = {0};
    if (!is_pdf)
        text = s->text;
    t->checks = mem_grow(t->checks, &t->cap, t->count + 1, sizeof(*t->checks));
    t->checks[t->count++] = (struct check){
        .said = {.agent = a->number,
                 .is_gone = is_gone(s->http_status),
                 .digest = s->is_keywords || is_pdf ? 0 : s->digest, /* of words the digest cannot be told */
                 .sketch = s->is_keywords ? sketch_of_words(text) : sketch_of(text)},
        .is_keywords = s->is_keywords,
        .made = clock_mono(),
        .url = mem_str(s->url)};
}

/* ---- witnesses ---- */

/* Somebody else who works, the most trusted one first, rather not `rather_not`; NULL: there is nobody. */
static struct c_agent *find_witness(struct coord *c, uint64_t but, uint64_t rather_not)
{
    struct c_agent *best = NULL;
    wall_ms now = clock_wall();
    for (size_t i = 0; i < c->agent_count; i++) {
        struct c_agent *a = c->agents[i];
        if (!a || a->number == but || !agent_may_work(c, a) || !agent_is_there(c, a) || !agent_is_in_hours(a, now) ||
            !agent_takes_more(a))
            continue;
        if (!best || (best->number == rather_not) > (a->number == rather_not) ||
            ((best->number == rather_not) == (a->number == rather_not) && a->probation_left < best->probation_left))
            best = a;
    }
    return best;
}

/* Pages of one agent that nobody looks at now, with the same first look: one order. */
static void ask(struct coord *c, struct trust *t, size_t from)
{
    uint64_t agent = t->checks[from].said.agent, first = t->checks[from].first.agent;
    struct c_agent *witness = find_witness(c, agent, first);
    struct span urls[BATCH];
    size_t at[BATCH], n = 0;
    if (!witness)
        return;
    for (size_t i = from; i < t->count && n < BATCH; i++) {
        const struct check *k = &t->checks[i];
        if (k->said.agent == agent && k->first.agent == first && !k->order) {
            urls[n] = span_str(k->url);
            at[n++] = i;
        }
    }
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

/* ---- verdicts ---- */

static unsigned distance(const struct look *a, const struct look *b)
{
    if (a->is_gone != b->is_gone)
        return 64;
    if (a->is_gone || (a->digest && a->digest == b->digest))
        return 0;
    return (unsigned)__builtin_popcountll(a->sketch ^ b->sketch);
}

static bool is_near(const struct look *a, const struct look *b)
{
    return distance(a, b) <= FAR_BITS;
}

static void write_down(struct coord *c, log_level level, const char *what, const struct c_agent *a,
                       const struct check *k)
{
    struct buf url = {0};
    log_escape(&url, span_str(k->url), 500);
    log_write(c->o.log, level, "trust", "%s agent=%s url=%s", what, a->name, buf_cstr(&url));
    buf_done(&url);
}

/* What it found is not believed any more, nor what it hands over. */
void trust_demote(struct coord *c, struct c_agent *a, const char *why)
{
    if (a->is_demoted)
        return;
    a->is_demoted = true;
    log_write(c->o.log, LOG_ERROR, "trust", "demoted: %s agent=%s", why, a->name);
    save_agent(c, a);
    agent_tell_delegator(c, a);
    assign_distrust(c, a->number);
    assign_leave_agent(c, a->number, "the agent was demoted");
}

static void strike(struct coord *c, struct c_agent *a, const struct check *k)
{
    a->checks_bad++;
    write_down(c, LOG_WARN, "another agent finds another page", a, k);
    a->probation_left = COORD_PROBATION_PAGES;
    a->check_left = 0;
    agent_tell_delegator(c, a);
    if (a->checks_bad >= TRUST_STRIKES)
        trust_demote(c, a, "its pages are not what others find");
}

/* The two looks say the same, and it is not what the agent said. */
static void judge(struct coord *c, struct c_agent *a, const struct check *k, const struct look *second)
{
    const struct c_agent *witness = agent_get(c, second->agent);
    unsigned apart = distance(&k->first, second), to_first = distance(&k->said, &k->first),
             to_second = distance(&k->said, second), off = to_first < to_second ? to_first : to_second;
    if (apart && off < apart + FAR_MORE_BITS)
        return; /* a short text, most of which changes */
    if (k->first.agent == second->agent && (!witness || witness->probation_left))
        write_down(c, LOG_WARN, "two agents on probation find different pages", a, k);
    else
        strike(c, a, k);
}

/* True: the check is over. */
static bool compare(struct coord *c, struct check *k, const struct look *now)
{
    struct c_agent *a = agent_get(c, k->said.agent);
    if (!a)
        return true;
    if (is_near(&k->said, now)) {
        a->checks_good++;
        a->is_dirty = true;
        return true;
    }
    if (!k->first.agent) {
        k->first = *now;
        k->witness = k->order = 0;
        k->made = clock_mono();
        return false;
    }
    if (is_near(&k->first, now))
        judge(c, a, k, now);
    a->is_dirty = true;
    return true;
}

/* True: somebody saw a page, or that there is none. Whoever was turned away or got no answer has seen nothing. */
static bool look_of(const struct check *k, uint64_t agent, const struct fetched_page *p, struct look *out)
{
    *out = (struct look){.agent = agent,
                         .is_gone = is_gone(p->http_status),
                         .digest = p->digest,
                         .sketch = k->is_keywords ? p->words_sketch : p->sketch};
    if (out->is_gone)
        return true;
    /* An agent of before this field has no sketch of words. */
    return is_page(p->http_status) && (!k->is_keywords || !p->digest || p->words_sketch);
}

static void take_part(struct coord *c, const struct c_agent *a, uint64_t order, const struct fetched_page *p)
{
    struct trust *t = c->trust;
    struct look now;
    for (size_t i = 0; i < t->count; i++) {
        struct check *k = &t->checks[i];
        if (k->witness != a->number || k->order != order || !span_is(p->url, k->url))
            continue;
        if (!look_of(k, a->number, p, &now) || compare(c, k, &now))
            drop(t, i);
        return;
    }
}

void trust_outcome(struct coord *c, struct c_agent *a, const struct outcome *o)
{
    for (size_t i = 0; i < o->part_count && i < BATCH; i++) {
        struct fetched_page p;
        if (fetched_page_unpack(o->parts[i], &p) == ST_OK)
            take_part(c, a, o->number, &p);
    }
}

/* ---- now and then ---- */

void trust_tick(struct coord *c, mono_ms now)
{
    struct trust *t = c->trust;
    if (now - t->looked < 1000)
        return;
    t->looked = now;
    for (size_t i = t->count; i-- > 0;) {
        const struct c_agent *a = agent_get(c, t->checks[i].said.agent);
        if (!a || a->is_demoted || now - t->checks[i].made > CHECK_OLD_MS)
            drop(t, i);
    }
    for (size_t i = 0; i < t->count; i++)
        if (!t->checks[i].order)
            ask(c, t, i);
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
