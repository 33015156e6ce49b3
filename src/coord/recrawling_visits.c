/* recrawling_visits.c - visits of channels: ordered from the agents that have their networks, heard of, given up. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/balancing.h"
#include "coord/pinning.h"
#include "coord/placing.h"
#include "coord/polls.h"
#include "coord/recrawling_internal.h"
#include "io/clock.h"

#define SECOND_MS 1000ll
#define MINUTE_MS (60 * SECOND_MS)
#define TASKS_DEFAULT 64                  /* of an agent that does not say: as its program has it */
#define VISITS_SHARE 4                    /* one slot in so many is for visits even while new channels wait */
#define DECLINED_MIN_MS (5 * SECOND_MS)   /* an agent without a slot is asked again after so long, */
#define DECLINED_MAX_MS (10 * MINUTE_MS)  /* or when those before have had their turn */
#define ABSENT_MS MINUTE_MS               /* nobody has its networks, or whoever has them is away */
#define ABSENT_A_CHANNEL_MS 60            /* and longer the more wait for it: others have their turn meanwhile */
#define PARTLY_MS (60 * MINUTE_MS)        /* then the others begin without them; */
#define MISSED_MS (24 * 60 * MINUTE_MS)   /* later where they had no part in the visit before, either */
#define DECLINED_FADE 10                  /* a tenth of those that were declined is forgotten each second */
#define GRACE_MS (2 * MINUTE_MS)          /* after our start, until agents have called */
#define LOST_MIN_MS (10 * MINUTE_MS)      /* after a visit that came to nothing, twice as long each time, */
#define LOST_MAX_MS (24 * 60 * MINUTE_MS) /* up to a day */
#define FORWARD_MS (10 * SECOND_MS)       /* between two networks that move because their agent has no slot */

/* ---- slots ---- */

static unsigned slots_of(const struct c_agent *a)
{
    unsigned most = a->tasks_max ? a->tasks_max : a->settings.tasks_max ? a->settings.tasks_max : TASKS_DEFAULT;
    unsigned kept = (most + VISITS_SHARE - 1) / VISITS_SHARE;
    unsigned left = most > a->tasks_busy ? most - a->tasks_busy : 0; /* channels that are new go first */
    unsigned visits = left > kept ? left : kept;
    return visits > a->visiting ? visits - a->visiting : 0;
}

static bool is_working(const struct coord *c, const struct c_agent *a, wall_ms now)
{
    bool is_held_up = a->activity > ACTIVITY_IDLE && a->activity != ACTIVITY_DRAINED;
    return agent_may_work(c, a) && !is_held_up && agent_is_there(c, a) && agent_is_in_hours(a, now);
}

size_t visits_slots(struct coord *c, wall_ms now)
{
    size_t n = 0;
    for (size_t i = 0; i < c->agent_count; i++) {
        const struct c_agent *a = c->agents[i];
        if (a && a->name[0] && is_working(c, a, now))
            n += slots_of(a);
    }
    return n;
}

/* ---- under way ---- */

static void enlist(struct recrawling *p, struct c_channel *ch)
{
    p->under_way = mem_grow(p->under_way, &p->under_way_cap, p->under_way_count + 1, sizeof(struct c_channel *));
    p->under_way[p->under_way_count++] = ch;
    ch->recrawl.place = (uint32_t)p->under_way_count;
}

static void delist(struct recrawling *p, struct c_channel *ch)
{
    uint32_t place = ch->recrawl.place;
    if (!place)
        return;
    struct c_channel *last = p->under_way[--p->under_way_count];
    p->under_way[place - 1] = last;
    last->recrawl.place = place;
    ch->recrawl.place = 0;
}

/* Nothing is waited for from this task any more. */
static void task_leaves(struct coord *c, struct c_task *t)
{
    struct c_agent *a = agent_get(c, t->agent);
    if (!t->visit)
        return;
    t->visit = 0;
    t->channel->recrawl.awaited -= t->channel->recrawl.awaited > 0;
    if (a && a->visiting)
        a->visiting--;
}

static void task_joins(struct coord *c, struct c_task *t)
{
    struct c_agent *a = agent_get(c, t->agent);
    t->visit = t->channel->recrawl.visit;
    t->channel->recrawl.awaited++;
    if (a)
        a->visiting++;
}

static void end(struct coord *c, struct c_channel *ch)
{
    for (size_t i = 0; i < ch->task_count; i++)
        task_leaves(c, ch->tasks[i]);
    delist(c->recrawling, ch);
    ch->recrawl.asked = 0;
    ch->recrawl.awaited = 0;
}

void visits_restore(struct coord *c, struct c_channel *ch)
{
    struct c_recrawl *r = &ch->recrawl;
    r->awaited = 0;
    for (size_t i = 0; i < ch->task_count; i++)
        if (ch->tasks[i]->visit)
            task_joins(c, ch->tasks[i]);
    enlist(c->recrawling, ch);
}

void visits_forget(struct coord *c, struct c_channel *ch)
{
    if (ch->recrawl.asked)
        end(c, ch);
}

/* ---- ordering ---- */

/* A task whose agent can be asked now, as far as the channel goes. */
static bool is_ready(const struct c_task *t)
{
    return !t->is_ended && t->network_count && t->progress.state != TASK_WAITING;
}

static bool is_ready_and_there(const struct c_task *t)
{
    return is_ready(t) && !t->is_absent;
}

static void order_task(struct coord *c, struct c_task *t, bool is_whole)
{
    struct c_agent *a = agent_get(c, t->agent);
    struct buf b = {0};
    struct recheck_order o = {.task = t->number,
                              .pages_max = is_whole ? 0 : c->o.recrawl_pages,
                              .is_whole = is_whole,
                              .visit = t->channel->recrawl.visit};
    recheck_order_pack(&o, &b);
    agent_order(c, a, ORDER_RECHECK, buf_span(&b));
    t->last_order = a->orders_given;
    t->visit_from = t->progress;
    t->progress.state = TASK_RUNNING;
    buf_done(&b);
}

/* What a task and its agent were before a visit was ordered of them. */
struct asked {
    struct c_task *task;
    struct c_agent *agent;
    uint64_t given, last_order;
    struct task_report visit_from;
    task_state state;
};

static void take_back(const struct asked *a)
{
    a->agent->orders_given = a->given;
    a->task->last_order = a->last_order;
    a->task->visit_from = a->visit_from;
    a->task->progress.state = a->state;
}

/* The record and the orders are written together: after a kill either both are there or neither. The agents hear of
 * them after that. False: they cannot be written down, and there is no visit. */
static bool order(struct coord *c, struct c_channel *ch, wall_ms now, bool is_whole, bool (*may)(const struct c_task *))
{
    struct c_recrawl *r = &ch->recrawl;
    wall_ms checked = ch->checked, full_since = r->full_since, absent_since = r->absent_since,
            plan_asked = r->plan.history.asked;
    size_t n = 0;
    if (fleet_begin(c->fleet) != ST_OK)
        return false;
    struct asked *asked = mem_alloc((ch->task_count + 1) * sizeof(*asked));
    r->visit++;
    r->asked = ch->checked = now;
    r->full_since = r->absent_since = 0;
    r->plan.history.asked = plan_time(c->recrawling, now);
    r->now = (struct visit_report){.number = r->visit};
    for (size_t i = 0; i < ch->task_count; i++) {
        struct c_task *t = ch->tasks[i];
        struct c_agent *a = agent_get(c, t->agent);
        if (!may(t) || !a)
            continue;
        asked[n++] = (struct asked){t, a, a->orders_given, t->last_order, t->visit_from, t->progress.state};
        task_joins(c, t);
        order_task(c, t, is_whole);
    }
    enlist(c->recrawling, ch);
    save_recrawl(c, ch);
    status st = fleet_commit(c->fleet, false);
    if (st == ST_OK) {
        for (size_t i = 0; i < ch->task_count; i++)
            ch->tasks[i]->has_missed = !ch->tasks[i]->visit;
        ch->wants_links = false;
        c->recrawling->figures.submitted++;
    } else {
        note_trouble(c, st, "write down a visit");
        end(c, ch);
        r->visit--;
        r->full_since = full_since;
        r->absent_since = absent_since;
        r->plan.history.asked = plan_asked;
        ch->checked = checked;
    }
    while (n-- > 0) { /* the last first: an agent may have several of its tasks */
        if (st == ST_OK)
            polls_wake(c, asked[n].agent);
        else
            take_back(&asked[n]);
    }
    free(asked);
    return st == ST_OK;
}

/* ---- not now ---- */

static void decline(struct coord *c, struct c_channel *ch, wall_ms now, int64_t for_ms)
{
    wall_ms at = plan_time(c->recrawling, now);
    c->recrawling->figures.declined++;
    news_add(c, &(struct news){.kind = NEWS_DECLINED, .channel = ch, .at = at, .u.again = at + for_ms});
}

/* When those that wait for the agent already have had their turn. */
static int64_t turn_of(struct c_agent *a, const struct c_channel *ch)
{
    double cost = ch->recrawl.plan.history.cost_ms > 0 ? ch->recrawl.plan.history.cost_ms : (double)MINUTE_MS;
    unsigned most = a->tasks_max ? a->tasks_max : TASKS_DEFAULT;
    double wait = cost * (1 + a->declined) / most;
    a->declined++;
    return (int64_t)fmin(fmax(wait, DECLINED_MIN_MS), DECLINED_MAX_MS);
}

static bool may_forward(struct coord *c, const struct c_network *n, uint64_t from)
{
    return n->state == NETWORK_OWNED && n->agent == from && !n->is_fixed && !n->is_trial && !n->is_doubted &&
           !assign_pinned(c, n);
}

/* One network has one agent, because that one keeps the pauses that the site wants. So nobody helps out with a single
 * visit: a network whose agent has had no slot for longer than a visit is worth waiting for moves to one that has. */
static void forward(struct coord *c, struct c_channel *ch, const struct c_agent *full, wall_ms now)
{
    struct recrawling *p = c->recrawling;
    if (plan_time(p, now) - plan_time(p, ch->recrawl.full_since) < ch->recrawl.timeout_ms ||
        now - p->forwarded_at < FORWARD_MS)
        return;
    for (size_t i = 0; i < ch->host_count; i++) {
        const struct c_host *h = table_get(&c->hosts, siphash(&c->key, ch->hosts[i]));
        struct c_network *n = h ? h->network : NULL;
        if (!n || !may_forward(c, n, full->number))
            continue;
        struct delegate_question q = placing_question(c, n);
        uint64_t to = balancing_idlest(c, &q);
        const struct c_agent *a = agent_get(c, to);
        if (!a || to == full->number || !is_working(c, a, now) || !slots_of(a) || !pinning_allows(c, n, to))
            continue;
        if (assign_move(c, n, to, MOVE_BALANCED, "its agent had no time to keep it fresh") == ST_OK) {
            p->forwarded_at = now;
            p->figures.forwarded++;
            ch->recrawl.full_since = 0;
            return;
        }
    }
}

/* Some of its agents sleep, or are held up: they may never be there together. So the others begin, in a while; those
 * that had no part in a visit are waited for before the next. */
static bool begins_without(struct c_channel *ch, wall_ms now)
{
    struct c_recrawl *r = &ch->recrawl;
    bool has_missed = false;
    for (size_t i = 0; i < ch->task_count; i++)
        has_missed |= is_ready(ch->tasks[i]) && ch->tasks[i]->is_absent && ch->tasks[i]->has_missed;
    if (!r->absent_since || now < r->absent_since)
        r->absent_since = now;
    return now - r->absent_since >= (has_missed ? MISSED_MS : PARTLY_MS);
}

void visits_begin(struct coord *c, struct c_channel *ch, wall_ms now)
{
    struct c_agent *full = NULL, *away = NULL;
    size_t ready = 0, there = 0;
    for (size_t i = 0; i < ch->task_count; i++) {
        struct c_task *t = ch->tasks[i];
        struct c_agent *a = agent_get(c, t->agent);
        t->is_absent = !a || !is_working(c, a, now);
        if (!is_ready(t) || !a)
            continue;
        ready++;
        there += !t->is_absent;
        if (t->is_absent)
            away = a;
        else if (!slots_of(a))
            full = a;
    }
    if (!away)
        ch->recrawl.absent_since = 0;
    if (!ready) {
        decline(c, ch, now, ABSENT_MS);
    } else if (away && !(begins_without(ch, now) && there)) {
        int64_t wait = ABSENT_MS + (int64_t)away->declined++ * ABSENT_A_CHANNEL_MS;
        decline(c, ch, now, wait < DECLINED_MAX_MS ? wait : DECLINED_MAX_MS);
    } else if (full) {
        ch->recrawl.full_since = ch->recrawl.full_since ? ch->recrawl.full_since : now;
        decline(c, ch, now, turn_of(full, ch));
        forward(c, ch, full, now);
    } else if (!order(c, ch, now, false, is_ready_and_there)) {
        decline(c, ch, now, ABSENT_MS);
    }
}

static void lose(struct coord *c, struct c_channel *ch, wall_ms now, const char *why)
{
    struct c_recrawl *r = &ch->recrawl;
    wall_ms at = plan_time(c->recrawling, now);
    int64_t pause = LOST_MIN_MS;
    for (unsigned i = 0; i < r->losses && pause < LOST_MAX_MS; i++)
        pause *= 2;
    r->losses++;
    c->recrawling->figures.lost++;
    log_write(c->o.log, LOG_INFO, "recrawl", "a visit came to nothing channel=%016llx visit=%llu why=\"%s\"",
              (unsigned long long)ch->id, (unsigned long long)r->visit, why);
    end(c, ch);
    news_add(c, &(struct news){.kind = NEWS_LOST,
                               .channel = ch,
                               .at = at,
                               .u.again = at + (pause < LOST_MAX_MS ? pause : LOST_MAX_MS)});
}

/* ---- a person asks ---- */

static bool is_done(const struct c_task *t)
{
    return !t->is_ended && t->progress.state == TASK_DONE;
}

static bool is_done_or_running(const struct c_task *t)
{
    return !t->is_ended && (t->progress.state == TASK_DONE || t->progress.state == TASK_RUNNING);
}

bool recrawling_visit(struct coord *c, struct c_channel *ch, wall_ms now, bool is_whole, bool also_running)
{
    bool (*may)(const struct c_task *) = also_running ? is_done_or_running : is_done;
    bool any = false;
    for (size_t i = 0; i < ch->task_count; i++)
        any |= may(ch->tasks[i]) && agent_get(c, ch->tasks[i]->agent);
    if (!any)
        return ch->task_count == 0;
    bool was_under_way = ch->recrawl.asked != 0;
    if (was_under_way)
        end(c, ch); /* its pages are in this one */
    bool is_ordered = order(c, ch, now, is_whole, may);
    if (!is_ordered && was_under_way)
        lose(c, ch, now, "another one was asked for, and cannot be written down");
    if (!is_ordered)
        return false;
    if (!was_under_way)
        news_add(c, &(struct news){.kind = NEWS_SUBMITTED, .channel = ch, .at = plan_time(c->recrawling, now)});
    return true;
}

/* ---- what came of it ---- */

/* A channel of many pages has hardly ever changed as a whole. Its rate is that of its pages: visits count as changed by
 * the share of pages that were, with what is left over carried to the next. So the ceiling holds for pages, too. */
static bool count_change(struct c_recrawl *r, const struct visit_report *v)
{
    uint64_t gone = v->gone > r->last.gone ? v->gone - r->last.gone : 0; /* the others were gone before */
    uint64_t news = v->changed + v->added + gone;
    double share = v->looked ? fmin(1, (double)news / (double)v->looked) : 0;
    double sum = (double)r->carry + share;
    bool has_changed = sum >= 0.5;
    r->carry = (float)(sum - has_changed);
    r->updates += news > 0;
    return has_changed;
}

static void finish(struct coord *c, struct c_channel *ch, wall_ms now)
{
    struct recrawling *p = c->recrawling;
    struct c_recrawl *r = &ch->recrawl;
    struct visit_report v = r->now;
    if (v.looked && v.failed == v.looked) {
        r->last = v;
        lose(c, ch, now, "the site did not answer");
        return;
    }
    uint32_t before = r->updates;
    struct recrawl_result result = {.has_changed = count_change(r, &v),
                                    .changed = v.changed_at ? plan_time(p, v.changed_at) : 0,
                                    .took_ms = (int64_t)((double)v.took_ms * p->scale)};
    r->last = v;
    r->losses = 0;
    p->figures.done++;
    p->figures.updated += r->updates > before;
    end(c, ch);
    news_add(c, &(struct news){.kind = NEWS_DONE, .channel = ch, .at = plan_time(p, now), .u.result = result});
    if (v.told) /* there was no time for all that lists or the site say has changed */
        recrawling_told(c, ch, now);
}

static void add(struct visit_report *sum, const struct visit_report *v)
{
    sum->looked += v->looked;
    sum->changed += v->changed;
    sum->added += v->added;
    sum->gone += v->gone;
    sum->failed += v->failed;
    sum->took_ms = v->took_ms > sum->took_ms ? v->took_ms : sum->took_ms;
    sum->changed_at = v->changed_at > sum->changed_at ? v->changed_at : sum->changed_at;
    sum->told += v->told;
}

static uint64_t since(uint64_t now, uint64_t then)
{
    return now > then ? now - then : 0;
}

/* Of an agent that does not tell visits apart: it is over when nothing waits. What it got and what was unchanged
 * overlap, so that only what is certain counts as changed. */
static struct visit_report guess(const struct c_task *t, wall_ms now)
{
    if (!t->visit_from.task) /* we were started anew meanwhile */
        return (struct visit_report){.number = t->visit};
    const struct task_report *a = &t->visit_from, *b = &t->progress;
    uint64_t fetched = since(b->fetched, a->fetched), unchanged = since(b->unchanged, a->unchanged);
    struct visit_report v = {.number = t->visit,
                             .changed = since(fetched, unchanged),
                             .gone = since(b->gone, a->gone),
                             .failed = since(b->errors, a->errors),
                             .took_ms = now - t->channel->recrawl.asked};
    v.looked = v.changed + unchanged + v.gone + v.failed;
    return v;
}

static bool has_ended(struct coord *c, const struct c_task *t, wall_ms now, struct visit_report *out)
{
    const struct c_agent *a = agent_get(c, t->agent);
    if (t->progress.has_visit && t->progress.visit.number == t->visit) {
        *out = t->progress.visit;
        return true;
    }
    if (!a || a->tasks_max || a->orders_done < t->last_order || t->progress.state != TASK_DONE)
        return false;
    *out = guess(t, now);
    return true;
}

/* It was given up, and its agent has carried it out after all: the site was asked, and that counts. */
static bool is_late(const struct c_recrawl *r, const struct c_task *t)
{
    return !r->asked && r->losses && r->visit != r->last.number && t->progress.has_visit &&
           t->progress.visit.number == r->visit;
}

void visits_report(struct coord *c, struct c_task *t, wall_ms now)
{
    struct c_channel *ch = t->channel;
    struct visit_report v;
    if (is_late(&ch->recrawl, t)) {
        ch->recrawl.now = t->progress.visit;
        news_add(c, &(struct news){.kind = NEWS_SUBMITTED, .channel = ch, .at = plan_time(c->recrawling, now)});
        finish(c, ch, now);
        return;
    }
    if (!t->visit || !ch->recrawl.asked || !has_ended(c, t, now, &v))
        return;
    add(&ch->recrawl.now, &v);
    task_leaves(c, t);
    if (!ch->recrawl.awaited)
        finish(c, ch, now);
}

/* ---- not heard of ---- */

static bool is_gone(const struct coord *c, const struct c_agent *a, wall_ms now)
{
    bool is_early = !a->heard_mono && clock_mono() - c->started < GRACE_MS;
    return !is_early && !agent_is_there(c, a) && agent_is_in_hours(a, now);
}

/* A task that ended, or whose agent is gone, is not waited for; nor is an agent that has not begun for so long that the
 * visit is not worth it any more. NULL: it goes on. */
static const char *why_lost(struct coord *c, struct c_channel *ch, wall_ms now)
{
    const struct c_recrawl *r = &ch->recrawl;
    bool is_overdue = plan_time(c->recrawling, now) - plan_time(c->recrawling, r->asked) > r->timeout_ms;
    for (size_t i = 0; i < ch->task_count; i++) {
        struct c_task *t = ch->tasks[i];
        const struct c_agent *a = agent_get(c, t->agent);
        if (!t->visit)
            continue;
        if (t->is_ended || !a || !a->is_joined) {
            task_leaves(c, t);
            continue;
        }
        if (is_gone(c, a, now))
            return "its agent is gone";
        if (is_overdue && a->orders_done < t->last_order)
            return "its agent has not begun";
    }
    return r->awaited || r->now.looked ? NULL : "its networks have left";
}

void visits_tick(struct coord *c, wall_ms now)
{
    struct recrawling *p = c->recrawling;
    for (size_t i = p->under_way_count; i-- > 0;) {
        struct c_channel *ch = p->under_way[i];
        const char *why = why_lost(c, ch, now);
        if (why)
            lose(c, ch, now, why);
        else if (!ch->recrawl.awaited)
            finish(c, ch, now);
    }
    for (size_t i = 0; i < c->agent_count; i++)
        if (c->agents[i])
            c->agents[i]->declined -= (c->agents[i]->declined + DECLINED_FADE - 1) / DECLINED_FADE;
}
