#include "coord/recrawling.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "coord/recrawling_internal.h"
#include "io/clock.h"

#define SLOW_TICK_MS 1000
#define SAVE_MS (10ll * 60 * 1000)
#define AT_OPENING 10000 /* channels told to the plan at a time */
#define INLINK_BITS 64

/* ---- time ---- */

wall_ms plan_time(const struct recrawling *p, wall_ms wall)
{
    return p->epoch ? p->epoch + (wall_ms)((double)(wall - p->epoch) * p->scale) : wall;
}

wall_ms plan_wall(const struct recrawling *p, wall_ms at)
{
    if (at <= 0 || at == MONO_NEVER)
        return 0;
    return p->epoch ? p->epoch + (wall_ms)((double)(at - p->epoch) / p->scale) : at;
}

/* ---- channels in and out of the plan ---- */

/* Each site that links to it has one of 64 bits by its hash; so many sites are likely behind so many bits. */
double inlink_factor(const struct c_channel *ch)
{
    double bits = __builtin_popcountll(ch->recrawl.inlinks);
    return 1 - INLINK_BITS * log1p(-fmin(bits, INLINK_BITS - 0.5) / INLINK_BITS);
}

static struct recrawl_rule rule_of(const struct coord *c, const struct c_channel *ch)
{
    struct recrawl_rule rule = ch->recrawl.rule;
    rule.at_most_every = (int64_t)((double)rule.at_most_every * c->recrawling->scale);
    rule.at_least_every = (int64_t)((double)rule.at_least_every * c->recrawling->scale);
    rule.weight = (rule.weight > 0 ? rule.weight : 1) * inlink_factor(ch);
    return rule;
}

static bool is_wanted(const struct c_channel *ch)
{
    return ch->recrawl.plan.history.visited && !ch->is_paused && !ch->is_removed;
}

static void put(struct coord *c, struct c_channel *ch, wall_ms now)
{
    struct c_recrawl *r = &ch->recrawl;
    r->is_planned = true;
    r->plan.history.under_way = r->asked != 0;
    news_add(c, &(struct news){.kind = NEWS_PUT,
                               .channel = ch,
                               .at = plan_time(c->recrawling, now),
                               .u.put = {rule_of(c, ch), r->plan.history}});
}

void recrawling_changed(struct coord *c, struct c_channel *ch)
{
    struct c_recrawl *r = &ch->recrawl;
    wall_ms now = clock_wall();
    if (!is_wanted(ch) && r->is_planned) {
        visits_forget(c, ch);
        r->is_planned = false;
        news_add(c, &(struct news){.kind = NEWS_REMOVE, .channel = ch});
        save_recrawl(c, ch);
    } else if (is_wanted(ch) && !r->is_planned) {
        put(c, ch, now);
    } else if (r->is_planned) {
        news_add(c, &(struct news){.kind = NEWS_EDIT,
                                   .channel = ch,
                                   .at = plan_time(c->recrawling, now),
                                   .u.put.rule = rule_of(c, ch)});
    }
}

bool recrawling_let_go(struct coord *c, struct c_channel *ch)
{
    const struct recrawling *p = c->recrawling;
    if (p->is_turning)
        return false;
    for (size_t i = 0; i < p->news.count; i++)
        if (p->news.items[i].channel == ch)
            return false;
    visits_forget(c, ch);
    forget_recrawl(c, ch);
    return true;
}

void recrawling_linked(struct coord *c, struct c_channel *ch, const struct c_channel *from)
{
    struct buf id = {0};
    if (ch == from)
        return;
    buf_put(&id, span_of((const char *)&from->id, sizeof(from->id)));
    uint64_t bit = UINT64_C(1) << siphash(&c->key, buf_span(&id)) % INLINK_BITS;
    buf_done(&id);
    if (ch->recrawl.inlinks & bit)
        return;
    ch->recrawl.inlinks |= bit;
    save_recrawl(c, ch);
    if (ch->recrawl.is_planned)
        recrawling_changed(c, ch);
}

void recrawling_told(struct coord *c, struct c_channel *ch, wall_ms now)
{
    if (ch->recrawl.is_planned)
        news_add(c, &(struct news){.kind = NEWS_TOLD, .channel = ch, .at = plan_time(c->recrawling, now)});
}

/* ---- reports ---- */

static bool is_crawled(const struct c_channel *ch)
{
    size_t n = 0;
    for (size_t i = 0; i < ch->task_count; i++) {
        const struct c_task *t = ch->tasks[i];
        if (!t->is_ended && (t->progress.state != TASK_DONE || t->is_dirty))
            return false;
        n += !t->is_ended;
    }
    return n > 0;
}

void recrawling_report(struct coord *c, struct c_task *t, wall_ms now)
{
    struct c_channel *ch = t->channel;
    struct c_recrawl *r = &ch->recrawl;
    visits_report(c, t, now);
    if (r->plan.history.visited || r->asked || ch->is_removed || t->progress.state != TASK_DONE || !is_crawled(ch))
        return;
    r->plan.history = (struct recrawl_history){.visited = plan_time(c->recrawling, now), .rank = RECRAWL_RANKS / 2};
    save_recrawl(c, ch);
    recrawling_changed(c, ch);
}

/* ---- now and then ---- */

void recrawling_switch(struct coord *c, recrawl_strategy s, bool is_off)
{
    struct recrawling *p = c->recrawling;
    if (s != p->strategy)
        news_add(c, &(struct news){.kind = NEWS_SWITCH, .at = plan_time(p, clock_wall()), .u.strategy = s});
    p->strategy = s;
    p->is_off = is_off;
    save_recrawling(c);
}

void recrawling_tick(struct coord *c, wall_ms now)
{
    struct recrawling *p = c->recrawling;
    if (now - p->ticked_at >= SLOW_TICK_MS || now < p->ticked_at) {
        p->ticked_at = now;
        visits_tick(c, now);
        freshness_tick(c, now);
        if (now - p->saved_at >= SAVE_MS || now < p->saved_at) {
            p->saved_at = now;
            save_recrawling(c);
        }
    }
    turn_look(c, now, visits_slots(c, now));
}

/* ---- life ---- */

/* A folder of before this: when it was looked at last is all that is known. */
static void take_old(struct coord *c, struct c_channel *ch)
{
    if (!ch->recrawl.plan.history.visited && ch->checked > ch->added)
        ch->recrawl.plan.history =
            (struct recrawl_history){.visited = plan_time(c->recrawling, ch->checked), .rank = RECRAWL_RANKS / 2};
}

static void enter_all(struct coord *c, wall_ms now)
{
    size_t at = 0;
    for (struct c_channel *ch; (ch = table_next(&c->channels, &at));) {
        take_old(c, ch);
        if (ch->recrawl.asked)
            visits_restore(c, ch);
        if (is_wanted(ch))
            put(c, ch, now);
        if (c->recrawling->news.count >= AT_OPENING)
            turn_at_once(c, now);
    }
    turn_at_once(c, now);
}

status recrawling_open(struct coord *c, struct buf *why)
{
    struct recrawling *p = mem_alloc(sizeof(*p));
    struct recrawl_opts o = {.ceiling = c->o.recrawl_ceiling};
    wall_ms now = clock_wall();
    c->recrawling = p;
    p->scale = c->o.recrawl_scale > 0 ? c->o.recrawl_scale : 1;
    p->strategy = RECRAWL_GREEDY;
    p->at_once_max = TURN_AT_ONCE;
    if (!c->o.recrawl_pages)
        c->o.recrawl_pages = COORD_RECRAWL_PAGES;
    load_recrawling(c, &o.prior);
    if (c->o.recrawl || c->o.no_recrawl) { /* whoever starts it has the last word */
        p->strategy = c->o.recrawl ? c->o.recrawl : p->strategy;
        p->is_off = c->o.no_recrawl;
    }
    if (p->scale != 1 && !p->epoch)
        p->epoch = now;
    else if (p->scale == 1)
        p->epoch = 0;
    o.strategy = p->strategy;
    p->plan = recrawl_new(&o);
    p->saved_at = now;
    status st = load_recrawls(c);
    if (st != ST_OK) {
        buf_printf(why, "what was learned of channels in fleet.db: %s", status_name(st));
        return st;
    }
    enter_all(c, now);
    save_recrawling(c);
    return ST_OK;
}

void recrawling_free(struct coord *c)
{
    struct recrawling *p = c->recrawling;
    if (!p)
        return;
    if (c->fleet)
        save_recrawling(c);
    recrawl_free(p->plan);
    free(p->channels);
    free(p->told.items);
    free(p->news.items);
    free(p->chosen);
    free(p->views);
    free(p->under_way);
    free(p);
    c->recrawling = NULL;
}
