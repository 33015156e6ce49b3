/* recrawling_stage.h - a coordinator that keeps channels fresh, on a real folder; its clock is the test's, and so are
 * the agents. Its threads run: from start() to stop() the test has the lock, as whoever calls these functions must. */
#pragma once

#include "test.h"

#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/channels.h"
#include "coord/coord.h"
#include "coord/recrawling_internal.h"
#include "io/clock.h"
#include "test_folder.h"

#define HOUR (3600 * INT64_C(1000))
#define MINUTE (60 * INT64_C(1000))
#define TASKS 8

struct stage {
    struct coord *c;
    struct coord_opts opts;
    wall_ms now;
};

static inline void start(struct stage *s)
{
    struct buf why = {0};
    s->opts.data_dir = test_folder();
    s->opts.addr = s->opts.admin_addr = (struct addr){4, {127, 0, 0, 1}};
    s->opts.is_plain = s->opts.allow_private = true;
    s->opts.strategy = DELEGATE_HASH;
    s->opts.seed = 1;
    s->opts.version = SPAN("test");
    if (coord_new(&s->opts, &s->c, &why) != ST_OK)
        fail_msg("coordinator: %s", buf_cstr(&why));
    buf_done(&why);
    pthread_mutex_lock(&s->c->lock);
    if (!s->now)
        s->now = clock_wall();
}

static inline void stop(struct stage *s)
{
    pthread_mutex_unlock(&s->c->lock);
    coord_free(s->c);
    s->c = NULL;
}

/* As after a kill: what is not written down is gone. */
static inline void kill_and_start(struct stage *s)
{
    CHECK_STATUS("from here on nothing is", fleet_begin(s->c->fleet), ST_OK);
    stop(s);
    start(s);
}

static inline struct c_agent *agent(struct stage *s, const char *name)
{
    struct buf line = {0}, why = {0};
    struct c_agent *a = agent_by_name(s->c, span_str(name));
    if (!a)
        CHECK_STATUS(name,
                     agent_add(s->c, &(struct agent_form){.name = span_str(name), .is_trusted = true}, &a, &line, &why),
                     ST_OK);
    a->is_joined = true;
    a->heard_mono = clock_mono();
    s->c->o.move_after_ms = s->opts.move_after_ms;
    a->tasks_max = TASKS;
    a->activity = ACTIVITY_IDLE;
    save_agent(s->c, a);
    agent_tell_delegator(s->c, a);
    buf_done(&line);
    buf_done(&why);
    return a;
}

static inline void settle(struct stage *s)
{
    for (int i = 0; i < 5; i++)
        assign_tick(s->c, clock_mono());
}

/* A channel of one site in a network of its own, with whoever is there. */
static inline struct c_channel *channel(struct stage *s, unsigned number, const struct recrawl_rule *rule)
{
    char url[96], host[64];
    snprintf(host, sizeof(host), "site%u.example", number);
    snprintf(url, sizeof(url), "http://%s/", host);
    struct span seed = span_str(url);
    struct channel_opts o = {.seeds = &seed, .seed_count = 1, .scope = SCOPE_SITE, .depth_max = 64};
    struct channel_form f = {.label = span_str(host)};
    struct c_channel *ch = NULL;
    struct buf why = {0};
    if (rule)
        f.rule = *rule;
    CHECK_STATUS(url, channel_new(&o, &f.channel, &why), ST_OK);
    CHECK_STATUS(url, channel_put(s->c, &f, &ch, &why), ST_OK);
    struct c_host *h = table_get(&s->c->hosts, siphash(&s->c->key, span_str(host)));
    struct addr addr = {4, {127, (unsigned char)(1 + number / 250), (unsigned char)(number % 250), 1}};
    assign_resolved(s->c, h, ST_OK, &addr);
    settle(s);
    assert_int_equal(ch->task_count, 1);
    buf_done(&why);
    return ch;
}

static inline struct c_channel *again(struct stage *s, uint64_t id)
{
    return channel_get(s->c, id);
}

/* Its agent has carried out its orders and says how far it is. */
static inline void report(struct stage *s, struct c_channel *ch, const struct visit_report *visit)
{
    struct c_task *t = ch->tasks[0];
    struct c_agent *a = agent_get(s->c, t->agent);
    a->orders_done = a->orders_given;
    t->progress.task = t->number;
    t->progress.state = TASK_DONE;
    t->progress.queued = 0;
    if (visit) {
        t->progress.has_visit = true;
        t->progress.visit = *visit;
    }
    recrawling_report(s->c, t, s->now);
}

static inline struct c_channel *crawled(struct stage *s, unsigned number, const struct recrawl_rule *rule)
{
    struct c_channel *ch = channel(s, number, rule);
    report(s, ch, NULL);
    recrawling_tick(s->c, s->now);
    return ch;
}

static inline void pass(struct stage *s, int64_t ms)
{
    s->now += ms;
    for (int i = 0; i < 4; i++)
        recrawling_tick(s->c, s->now);
}

static inline void visit_ends(struct stage *s, struct c_channel *ch, uint64_t looked, uint64_t changed)
{
    report(s, ch,
           &(struct visit_report){.number = ch->recrawl.visit, .looked = looked, .changed = changed, .took_ms = 60000});
    recrawling_tick(s->c, s->now);
}

static inline struct recrawling_view look(struct stage *s, const struct c_channel *ch)
{
    struct recrawling_view v;
    recrawling_look(s->c, ch, s->now, &v);
    return v;
}

struct found {
    uint64_t task;
    unsigned count;
    struct recheck_order last;
};

static inline status note_recheck(void *arg, uint64_t number, struct span packed)
{
    struct found *f = arg;
    struct order o;
    struct recheck_order r;
    CHECK_STATUS("order", order_unpack(packed, &o), ST_OK);
    if (o.kind != ORDER_RECHECK)
        return ST_OK;
    CHECK_STATUS("recheck", recheck_order_unpack(o.body, &r), ST_OK);
    if (r.task == f->task) {
        f->count++;
        f->last = r;
    }
    return ST_OK;
}

/* The visits that its agent was asked for, as they are on the disk. */
static inline struct found rechecks(struct stage *s, const struct c_channel *ch)
{
    struct found f = {.task = ch->tasks[0]->number};
    CHECK_STATUS("orders", fleet_order_each(s->c->fleet, ch->tasks[0]->agent, 0, note_recheck, &f), ST_OK);
    return f;
}

static inline bool is_under_way(const struct c_channel *ch)
{
    return ch->recrawl.asked != 0;
}
