#include "coord/reports.h"

#include <string.h>

#include "base/utf8.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/balancing.h"
#include "coord/channels.h"
#include "coord/late.h"
#include "coord/pings.h"
#include "coord/pinning.h"
#include "coord/placing.h"
#include "coord/recrawling.h"
#include "coord/renumber.h"
#include "coord/trust.h"
#include "io/clock.h"

#define SETUP_BYTES_MAX (64u << 10)
#define SETUP_MS 10000    /* no more often, unless we asked */
#define OWN_SITES_MAX 100 /* of an agent */

/* Somebody crawls the site already: that is not changed by what an agent says. */
static bool is_taken(struct coord *c, const struct c_agent *a, struct span site)
{
    struct arena arena;
    struct url u;
    bool is = false;
    arena_init(&arena);
    const struct c_host *h =
        url_parse(&arena, site, NULL, &u) == ST_OK ? table_get(&c->hosts, siphash(&c->key, u.host)) : NULL;
    for (size_t i = 0; h && i < h->channel_count; i++)
        is |= !h->channels[i]->is_own || h->channels[i]->pinned_agent != a->number;
    arena_done(&arena);
    return is;
}

/* Sites of the agent's owner: each is a channel that stays with this agent, where nobody else has its network. */
static void take_own_sites(struct coord *c, struct c_agent *a, const struct agent_setup *s)
{
    for (size_t i = 0; i < s->own_site_count && a->own_sites < OWN_SITES_MAX && i < OWN_SITES_MAX; i++) {
        struct channel_opts o = {.seeds = &s->own_sites[i], .seed_count = 1, .scope = SCOPE_SITE, .depth_max = 64};
        struct channel_form f = {.label = s->own_sites[i], .agent = span_str(a->name), .is_own = true};
        f.rule.is_never = true; /* its agent looks at its pages again, at the owner's rate */
        struct c_channel *ch;
        struct buf why = {0};
        status st = channel_new(&o, &f.channel, &why);
        if (st == ST_OK && is_taken(c, a, s->own_sites[i])) {
            st = ST_EXISTS;
            buf_puts(&why, "it is crawled already; pin its channel to the agent if that is right");
        }
        if (st == ST_OK && !channel_get(c, channel_id(f.channel))) {
            st = channel_put(c, &f, &ch, &why);
            a->own_sites += st == ST_OK;
        }
        if (st != ST_OK && agent_may_be_logged(a))
            log_write(c->o.log, LOG_WARN, "agents", "an own site is not taken agent=%s why=\"%s\"", a->name,
                      buf_cstr(&why));
        channel_free(f.channel);
        buf_done(&why);
    }
}

static void take_setup(struct coord *c, struct c_agent *a, const struct report *r, struct span packed)
{
    mono_ms now = clock_mono();
    if (packed.n > SETUP_BYTES_MAX || (!a->wants_setup && now - a->setup_at < SETUP_MS))
        return;
    a->wants_setup = false;
    a->setup_at = now;
    buf_clear(&a->setup);
    buf_put(&a->setup, packed);
    pinning_take_setup(c, a);
    pinning_refused(c, a);
    take_own_sites(c, a, &r->setup);
    save_agent(c, a);
}

static void take_outcome(struct coord *c, struct c_agent *a, const struct outcome *o)
{
    if (o->st != ST_OK && agent_may_be_logged(a)) {
        struct buf why = {0};
        log_escape(&why, o->why, 200);
        log_write(c->o.log, LOG_WARN, "agents",
                  "an order was not carried out agent=%s number=%llu what=\"%s\" why=\"%s\"", a->name,
                  (unsigned long long)o->number, status_name(o->st), buf_cstr(&why));
        buf_done(&why);
    }
    assign_outcome(c, a, o);
    trust_outcome(c, a, o);
    pings_outcome(c, a, o);
}

static void take_task(struct coord *c, const struct c_agent *a, const struct report *all, const struct task_report *r)
{
    struct c_task *t = task_get(c, r->task);
    if (!t || t->agent != a->number)
        return;
    t->progress = *r;
    if (r->state == TASK_DONE && all->orders_done < t->last_order)
        t->progress.state = TASK_RUNNING; /* it does not know yet that there is more to do */
    recrawling_report(c, t, clock_wall());
}

static void take_stray(struct coord *c, struct c_agent *a, const struct stray_host *s)
{
    struct c_task *t = task_get(c, s->task);
    struct addr addr;
    if (t && t->agent == a->number && addr_parse(s->address, &addr) == ST_OK)
        assign_stray(c, a, t, s->host, &addr);
}

static void take_timing(struct coord *c, const struct c_agent *a, const struct network_timing *t)
{
    struct c_network *n = table_get(&c->networks, siphash(&c->key, t->network));
    if (!n || n->agent != a->number || !t->requests)
        return;
    if (t->rtt_min_us)
        n->rtt_us = t->rtt_min_us;
    n->server_us = t->server_median_us;
    n->requests += t->requests;
    balancing_bytes(c, n, t->bytes);
    if (t->rtt_min_us)
        placing_timing(c, n, t->rtt_min_us / 1000.0, t->total_median_us ? t->total_median_us / 1000.0 : -1);
}

/* A report has only those since the one before. What comes again moves to the end. */
static void take_refusal(struct c_agent *a, struct span text)
{
    size_t at = 0;
    text = utf8_cut(text, sizeof(a->refusals[0].text) - 1);
    while (at < a->refusal_count && !span_is(text, a->refusals[at].text))
        at++;
    if (at == a->refusal_count && at < COORD_REFUSALS)
        a->refusal_count++;
    else if (at == a->refusal_count)
        at = 0;
    memmove(&a->refusals[at], &a->refusals[at + 1], (a->refusal_count - at - 1) * sizeof(*a->refusals));
    struct c_refusal *new = &a->refusals[a->refusal_count - 1];
    new->at = clock_wall();
    set_text(new->text, sizeof(new->text), text);
}

bool report_is_of_another(struct coord *c, struct c_agent *a, const struct report *r)
{
    int64_t lease = c->o.lease_ms ? c->o.lease_ms : COORD_LEASE_MS;
    bool is_old = false;
    for (size_t i = 0; i < COORD_BOOTS; i++)
        is_old |= r->boot && r->boot != a->boot && r->boot == a->boots_before[i];
    if (!is_old || clock_mono() - a->boot_heard > lease)
        return false;
    if (agent_may_be_logged(a))
        log_write(c->o.log, LOG_WARN, "agents",
                  "two processes have the key of one agent: was its folder copied? the one that began last is heard "
                  "name=%s",
                  a->name);
    return true;
}

static void note_boot(struct c_agent *a, uint64_t boot)
{
    memmove(&a->boots_before[1], &a->boots_before[0], (COORD_BOOTS - 1) * sizeof(*a->boots_before));
    a->boots_before[0] = a->boot;
    a->boot = boot;
}

void report_note(struct coord *c, struct c_agent *a, const struct report *r, struct span packed)
{
    buf_clear(&a->report);
    buf_put(&a->report, packed);
    a->is_dirty = true;
    a->tasks_max = r->tasks_max;
    a->tasks_busy = r->tasks_busy;
    a->activity = r->activity;
    bool is_restarted = a->boot != r->boot;
    a->boot_heard = clock_mono();
    if (is_restarted) {
        note_boot(a, r->boot);
        a->wants_setup = true;
        if (a->is_in_step)
            a->given_before = a->orders_given;
        a->is_in_step = false;
    }
    /* Of open orders alone, and no more than there are. */
    uint64_t ours = renumber_look(c, a, r), open = a->orders_given - a->orders_done;
    for (size_t i = 0; i < r->outcome_count && open; i++)
        if (r->outcomes[i].number > a->orders_done && r->outcomes[i].number <= ours) {
            take_outcome(c, a, &r->outcomes[i]);
            open--;
        }
    if (r->orders_done > a->orders_done && r->orders_done <= ours) {
        a->orders_done = r->orders_done;
        note_trouble(c, fleet_orders_done(c->fleet, a->number, a->orders_done), "forget orders that are done");
        assign_orders_done(c, a);
        late_orders_done(c, a);
        save_agent(c, a);
    }
    for (size_t i = 0; i < r->task_count; i++)
        take_task(c, a, r, &r->tasks[i]);
    for (size_t i = 0; i < r->stray_count; i++)
        take_stray(c, a, &r->strays[i]);
    for (size_t i = 0; i < r->timing_count; i++)
        take_timing(c, a, &r->timings[i]);
    for (size_t i = 0; i < r->probe_count; i++)
        placing_result(c, a, &r->probes[i]);
    if (is_restarted)
        placing_restarted(c, a);
    for (size_t i = 0; i < r->refused_count; i++)
        take_refusal(a, r->refused[i]);
    if (r->has_setup)
        take_setup(c, a, r, packed);
}
