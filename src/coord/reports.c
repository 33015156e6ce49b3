#include "coord/reports.h"

#include <string.h>

#include "coord/trust.h"
#include "io/clock.h"

#define SETUP_BYTES_MAX (64u << 10)

/* Sites of the agent's owner: each is a channel that stays with this agent. */
static void take_own_sites(struct coord *c, struct c_agent *a, const struct agent_setup *s)
{
    for (size_t i = 0; i < s->own_site_count && i < 100; i++) {
        struct channel_opts o = {.seeds = &s->own_sites[i], .seed_count = 1, .scope = SCOPE_SITE, .depth_max = 64};
        struct channel_form f = {.label = s->own_sites[i], .agent = span_str(a->name)};
        struct c_channel *ch;
        struct buf why = {0};
        status st = channel_new(&o, &f.channel, &why);
        if (st == ST_OK && !channel_get(c, channel_id(f.channel)))
            st = channel_put(c, &f, &ch, &why);
        if (st != ST_OK)
            log_write(c->o.log, LOG_WARN, "agents", "an own site is not taken agent=%s why=\"%s\"", a->name,
                      buf_cstr(&why));
        channel_free(f.channel);
        buf_done(&why);
    }
}

static void take_setup(struct coord *c, struct c_agent *a, const struct report *r, struct span packed)
{
    a->wants_setup = false;
    if (packed.n > SETUP_BYTES_MAX)
        return;
    buf_clear(&a->setup);
    buf_put(&a->setup, packed);
    take_own_sites(c, a, &r->setup);
    save_agent(c, a);
}

static void take_outcome(struct coord *c, struct c_agent *a, const struct outcome *o)
{
    if (o->st != ST_OK) {
        struct buf why = {0};
        log_escape(&why, o->why, 200);
        log_write(c->o.log, LOG_WARN, "agents",
                  "an order was not carried out agent=%s number=%llu what=\"%s\" why=\"%s\"", a->name,
                  (unsigned long long)o->number, status_name(o->st), buf_cstr(&why));
        buf_done(&why);
    }
    assign_outcome(c, a, o);
    trust_outcome(c, a, o);
}

static void take_task(struct coord *c, const struct c_agent *a, const struct task_report *r)
{
    struct c_task *t = task_get(c, r->task);
    if (t && t->agent == a->number)
        t->progress = *r;
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
}

void report_note(struct coord *c, struct c_agent *a, const struct report *r, struct span packed)
{
    buf_clear(&a->report);
    buf_put(&a->report, packed);
    a->is_dirty = true;
    if (a->boot != r->boot) {
        a->boot = r->boot;
        a->wants_setup = true;
    }
    for (size_t i = 0; i < r->outcome_count; i++)
        if (r->outcomes[i].number > a->orders_done)
            take_outcome(c, a, &r->outcomes[i]);
    if (r->orders_done > a->orders_done && r->orders_done <= a->orders_given) {
        a->orders_done = r->orders_done;
        note_trouble(c, fleet_orders_done(c->fleet, a->number, a->orders_done), "forget orders that are done");
        save_agent(c, a);
    }
    for (size_t i = 0; i < r->task_count; i++)
        take_task(c, a, &r->tasks[i]);
    for (size_t i = 0; i < r->stray_count; i++)
        take_stray(c, a, &r->strays[i]);
    for (size_t i = 0; i < r->timing_count; i++)
        take_timing(c, a, &r->timings[i]);
    if (r->has_setup)
        take_setup(c, a, r, packed);
}
