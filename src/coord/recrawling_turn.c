/* recrawling_turn.c - a turn of the plan: it is told what happened, chooses who is next, and is looked at. */
#include "base/mem.h"
#include "coord/channels.h"
#include "coord/recrawling_internal.h"
#include "io/workers.h"

#define CHOSEN_MAX 1024       /* in one turn: the rest in the next */
#define SLICES_MAX (1u << 17) /* of one search: RECRAWL_CHANNELS_MAX need half as many */

void news_add(struct coord *c, const struct news *n)
{
    struct news_list *l = &c->recrawling->news;
    l->items = mem_grow(l->items, &l->cap, l->count + 1, sizeof(*l->items));
    l->items[l->count++] = *n;
}

/* ---- with the plan, without the lock ---- */

static void put(struct recrawling *p, const struct news *n)
{
    uint32_t number;
    if (recrawl_put(p->plan, n->at, &n->u.put.rule, &n->u.put.history, &number) != ST_OK)
        return;                     /* RECRAWL_CHANNELS_MAX is above COORD_CHANNELS_MAX */
    if (number >= p->channel_cap) { /* as the plan grows */
        p->channel_cap = number + number / 32 + 64;
        p->channels = mem_realloc(p->channels, p->channel_cap * sizeof(struct c_channel *));
    }
    p->channels[number] = n->channel;
    n->channel->recrawl.slot = number + 1;
}

static void tell(struct recrawling *p, const struct news *n)
{
    if (n->kind == NEWS_SWITCH) {
        recrawl_switch(p->plan, n->at, n->u.strategy);
        return;
    }
    uint32_t slot = n->channel->recrawl.slot;
    if (n->kind == NEWS_PUT && !slot)
        put(p, n);
    if (!slot--)
        return;
    switch (n->kind) {
    case NEWS_EDIT:
        recrawl_edit(p->plan, n->at, slot, &n->u.put.rule);
        break;
    case NEWS_REMOVE:
        recrawl_remove(p->plan, slot);
        n->channel->recrawl.slot = 0;
        break;
    case NEWS_SUBMITTED:
        recrawl_submitted(p->plan, n->at, slot);
        break;
    case NEWS_DECLINED:
        recrawl_decline(p->plan, n->at, slot, n->u.again);
        break;
    case NEWS_DONE:
        recrawl_done(p->plan, n->at, slot, &n->u.result);
        break;
    case NEWS_LOST:
        recrawl_lost(p->plan, n->at, slot, n->u.again);
        break;
    case NEWS_TOLD:
        recrawl_told(p->plan, n->at, slot);
        break;
    default:
        break;
    }
}

static void look(struct recrawling *p, struct c_channel *ch, bool is_saved)
{
    if (!ch || !ch->recrawl.slot)
        return;
    p->views = mem_grow(p->views, &p->view_cap, p->view_count + 1, sizeof(*p->views));
    struct turn_view *v = &p->views[p->view_count++];
    *v = (struct turn_view){.channel = ch, .is_saved = is_saved};
    recrawl_look(p->plan, p->now, ch->recrawl.slot - 1, &v->view);
    v->timeout_ms = recrawl_timeout_ms(p->plan, ch->recrawl.slot - 1);
}

/* A search over many channels takes several calls, each of a bounded time; here nobody waits between them. */
static status next(struct recrawling *p, uint32_t *number)
{
    status st = ST_AGAIN;
    p->wake = p->now;
    for (unsigned i = 0; i < SLICES_MAX && st == ST_AGAIN && p->wake <= p->now; i++)
        st = recrawl_next(p->plan, p->now, true, number, &p->wake);
    return st;
}

static void choose(struct recrawling *p)
{
    size_t most = p->slots < CHOSEN_MAX ? p->slots : CHOSEN_MAX;
    p->chosen = mem_grow(p->chosen, &p->chosen_cap, most + 1, sizeof(*p->chosen));
    for (p->chosen_count = 0; p->chosen_count < most; p->chosen_count++) {
        uint32_t number;
        if (next(p, &number) != ST_OK)
            return;
        p->chosen[p->chosen_count] = p->channels[number]->id;
        look(p, p->channels[number], false);
    }
    p->wake = p->now; /* there may be more */
}

void turn_make(struct recrawling *p)
{
    p->view_count = 0;
    for (size_t i = 0; i < p->told.count; i++)
        tell(p, &p->told.items[i]);
    for (size_t i = 0; i < p->told.count; i++) {
        news_kind k = p->told.items[i].kind;
        look(p, p->told.items[i].channel, k == NEWS_DONE || k == NEWS_LOST);
    }
    p->told.count = 0;
    choose(p);
}

/* ---- with the lock ---- */

static void publish(struct coord *c, wall_ms now)
{
    struct recrawling *p = c->recrawling;
    for (size_t i = 0; i < p->view_count; i++) {
        struct c_recrawl *r = &p->views[i].channel->recrawl;
        if (!r->is_planned)
            continue; /* paused meanwhile: what it leaves with was noted then */
        r->plan = p->views[i].view;
        r->timeout_ms = p->views[i].timeout_ms;
        if (p->views[i].is_saved)
            save_recrawl(c, p->views[i].channel);
    }
    p->view_count = 0;
    p->state.prior = *recrawl_prior(p->plan);
    p->state.count = recrawl_count(p->plan);
    recrawl_intervals(p->plan, p->state.intervals);
    p->is_turning = false;
    for (size_t i = 0; i < p->chosen_count; i++) {
        struct c_channel *ch = channel_get(c, p->chosen[i]);
        if (!ch || !ch->recrawl.is_planned)
            continue;
        if (ch->recrawl.asked) /* a person asked while the plan was made: one visit is enough */
            news_add(c, &(struct news){.kind = NEWS_DECLINED, .channel = ch, .at = p->now, .u.again = p->now});
        else
            visits_begin(c, ch, now);
    }
    p->chosen_count = 0;
}

static void on_thread(void *arg, unsigned worker, bool is_cancelled)
{
    struct coord *c = arg;
    if (!is_cancelled)
        turn_make(c->recrawling);
    pthread_mutex_lock(&c->lock);
    if (is_cancelled)
        c->recrawling->is_turning = false;
    else
        publish(c, plan_wall(c->recrawling, c->recrawling->now));
    pthread_mutex_unlock(&c->lock);
}

static void take_news(struct recrawling *p, wall_ms at, size_t slots)
{
    struct news_list empty = p->told;
    p->told = p->news;
    p->news = empty;
    p->now = at;
    p->slots = slots;
    p->is_turning = true;
}

void turn_at_once(struct coord *c, wall_ms now)
{
    take_news(c->recrawling, plan_time(c->recrawling, now), 0);
    turn_make(c->recrawling);
    publish(c, now);
}

void turn_look(struct coord *c, wall_ms now, size_t slots)
{
    struct recrawling *p = c->recrawling;
    wall_ms at = plan_time(p, now);
    if (p->is_off)
        slots = 0;
    if (p->is_turning)
        return;
    bool is_early = at < p->wake && at >= p->now; /* a clock that was set back does not stop everything */
    if (!p->news.count && (!slots || is_early))
        return;
    take_news(p, at, slots);
    if (p->state.count > p->at_once_max && workers_add(c->workers, on_thread, c) == ST_OK)
        return;
    turn_make(p);
    publish(c, now);
}
