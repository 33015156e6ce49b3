/* renumber.c - coordinator and agent do not agree which orders were carried out.
 *
 * A coordinator that was restored from a backup has forgotten orders that its agents carried out, or work on: their
 * numbers are ahead of its own, and what it orders now would look to them like something of the past. Its open orders
 * get the numbers that follow those that the agent has taken. One of before wire version 1.8 says only which are done,
 * a lower number: that has to stand still for a while first. It is told its settings and tasks as we know them; what it
 * has of others ends.
 *
 * An agent on a new machine, or whose folder is an older copy, has forgotten orders that it carried out, and they are
 * not kept here either: it is told anew what it should know. It goes on with the first order that it is given. */
#include <stdlib.h>

#include "base/mem.h"
#include "coord/admin.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/channels.h"
#include "coord/forgetting.h"
#include "coord/renumber.h"
#include "io/clock.h"

#define STILL_MS 5000
#define TOLD_ANEW_MS 10000 /* no more often: an agent can forget, or be ahead, as often as it likes */
#define STALE_TASKS_MAX 1000

struct open_orders {
    struct arena arena;
    struct order *list; /* owned; bodies in the arena */
    size_t count, cap;
};

static status gather(void *arg, uint64_t number, struct span packed)
{
    struct open_orders *g = arg;
    struct order o;
    if (order_unpack(arena_copy(&g->arena, packed), &o) != ST_OK)
        return ST_CORRUPT;
    g->list = mem_grow(g->list, &g->cap, g->count + 1, sizeof(*g->list));
    g->list[g->count++] = o;
    return ST_OK;
}

static void shift(uint64_t *number, uint64_t above, uint64_t by, bool is_back)
{
    if (!is_back && *number > above)
        *number += by;
    else if (is_back && *number > above + by)
        *number -= by;
}

/* Tasks remember the orders that were about them. */
static void shift_tasks(struct coord *c, const struct c_agent *a, uint64_t above, uint64_t by, bool is_back)
{
    for (size_t i = 0; i < c->task_count; i++) {
        struct c_task *t = c->tasks[i];
        if (!t || t->agent != a->number)
            continue;
        shift(&t->last_order, above, by, is_back);
        if (!is_back)
            t->is_end_again |= t->end_order > above; /* stays when it is taken back: more is read again than must be */
        shift(&t->end_order, above, by, is_back);
        shift(&t->late_order, above, by, is_back);
        if (!is_back)
            save_task(c, t);
    }
}

/* All of it or nothing: not ST_OK, and all is as it was. ST_LIMIT: no order can have such a number. */
static status write_down(struct coord *c, struct c_agent *a, const struct open_orders *g, uint64_t done)
{
    uint64_t was_given = a->orders_given, was_done = a->orders_done;
    status st = fleet_begin(c->fleet);
    if (st != ST_OK)
        return st;
    st = fleet_orders_done(c->fleet, a->number, was_given);
    shift_tasks(c, a, was_done, done - was_done, false);
    a->orders_given = a->orders_done = done;
    for (size_t i = 0; i < g->count; i++)
        agent_order(c, a, g->list[i].kind, g->list[i].body);
    save_agent(c, a);
    if (st == ST_OK && a->orders_given - done != g->count)
        st = ST_LIMIT;
    if (st == ST_OK)
        st = fleet_commit(c->fleet, false);
    else
        fleet_rollback(c->fleet);
    if (st != ST_OK) {
        shift_tasks(c, a, was_done, done - was_done, true);
        a->orders_given = was_given;
        a->orders_done = was_done;
    }
    return st;
}

/* Not ST_OK: it was not written down, or is perhaps not on the disk. To be tried again before it gets orders.
 * *has_settings: they are among the open orders. */
static status renumber(struct coord *c, struct c_agent *a, uint64_t done, bool *has_settings)
{
    struct open_orders g = {0};
    arena_init(&g.arena);
    status st = done <= FLEET_NUMBER_MAX ? fleet_order_each(c->fleet, a->number, a->orders_done, gather, &g) : ST_LIMIT;
    if (st == ST_OK)
        st = write_down(c, a, &g, done);
    if (st == ST_OK)
        st = fleet_sync(c->fleet);
    if (agent_may_be_logged(a)) {
        log_write(c->o.log, LOG_WARN, "orders",
                  "an agent has carried out orders that are not known here: was this folder restored from a backup? "
                  "agent=%llu done=%llu",
                  (unsigned long long)a->number, (unsigned long long)done);
        note_trouble(c, st, "number orders anew");
    }
    *has_settings = false;
    for (size_t i = 0; i < g.count; i++)
        *has_settings |= g.list[i].kind == ORDER_SETTINGS;
    free(g.list);
    arena_done(&g.arena);
    return st;
}

/* ---- what an agent should know ---- */

/* Networks of the channel that others have by now: the agent may think that they are its own. */
static void stale_networks(struct coord *c, const struct c_agent *a, const struct c_channel *ch, struct arena *arena,
                           struct end_order *out)
{
    struct span *list = arena_alloc(arena, (ch->host_count + 1) * sizeof(*list));
    struct table met = {0};
    out->networks = list;
    for (size_t i = 0; i < ch->host_count; i++) {
        const struct c_host *h = table_get(&c->hosts, siphash(&c->key, ch->hosts[i]));
        if (!h || !h->network || h->network->agent == a->number)
            continue;
        struct span text = span_str(h->network->text);
        uint64_t key = siphash(&c->key, text);
        if (!table_get(&met, key))
            list[out->network_count++] = text;
        table_put(&met, key, h->network);
    }
    table_done(&met);
}

/* A task that it says it has: what is not its business any more ends. */
static void end_stale(struct coord *c, struct c_agent *a, uint64_t number)
{
    const struct c_task *t = task_get(c, number);
    bool is_its = t && t->agent == a->number && !t->is_ended;
    struct end_order o = {.task = number}; /* all of it */
    struct buf body = {0};
    struct arena arena;
    arena_init(&arena);
    if (is_its)
        stale_networks(c, a, t->channel, &arena, &o);
    if (!is_its || o.network_count) {
        end_order_pack(&o, &body);
        agent_order(c, a, ORDER_END_TASK, buf_span(&body));
    }
    buf_done(&body);
    arena_done(&arena);
}

/* The URLs that it had found are lost like those of an agent that vanished. */
static void tell_task(struct coord *c, struct c_task *t)
{
    for (size_t i = 0; i < t->network_count; i++) {
        t->networks[i]->was_lost = true;
        save_network(c, t->networks[i]);
    }
    channel_tell_links(c, t->channel, NULL, t->agent);
    t->has_channel = t->has_only_seeds = false;
    t->wants_states = t->wants_links = t->is_dirty = c->has_dirty = true;
    save_task(c, t);
}

/* It has the task still, and what it found in its networks; perhaps not all of these any more. */
static void tell_task_again(struct coord *c, struct c_task *t)
{
    t->has_channel = t->has_only_seeds = false;
    t->wants_states = t->is_dirty = c->has_dirty = true;
    save_task(c, t);
}

static void end_all_stale(struct coord *c, struct c_agent *a, const struct report *r)
{
    for (size_t i = 0; i < r->task_count && i < STALE_TASKS_MAX; i++)
        end_stale(c, a, r->tasks[i].task);
}

/* In the time that is lost here it was told other settings, and that networks come and go. */
static void tell_what_is(struct coord *c, struct c_agent *a, const struct report *r, bool has_settings)
{
    struct table met = {0};
    if (!has_settings)
        agent_greet(c, a);
    else if (c->forgotten_list.n)
        forgetting_greet(c, a);
    programs_greet(c, a);
    end_all_stale(c, a, r);
    for (size_t i = 0; i < r->task_count; i++)
        table_put(&met, r->tasks[i].task, (void *)&r->tasks[i]);
    for (size_t i = 0; i < c->task_count; i++) {
        struct c_task *t = c->tasks[i];
        if (!t || t->agent != a->number || !t->network_count)
            continue;
        if (table_get(&met, t->number))
            tell_task_again(c, t);
        else
            tell_task(c, t);
    }
    table_done(&met);
}

static void tell_anew(struct coord *c, struct c_agent *a, const struct report *r)
{
    log_write(c->o.log, LOG_WARN, "orders",
              "an agent has forgotten orders that it carried out: it is told anew agent=%llu done=%llu known=%llu",
              (unsigned long long)a->number, (unsigned long long)r->orders_done, (unsigned long long)a->orders_done);
    agent_greet(c, a);
    programs_greet(c, a);
    end_all_stale(c, a, r);
    for (size_t i = 0; i < c->task_count; i++)
        if (c->tasks[i] && c->tasks[i]->agent == a->number && c->tasks[i]->network_count)
            tell_task(c, c->tasks[i]);
}

/* Outcomes that wait to be heard may hold its number back: then it is not looked at yet. */
static void look_behind(struct coord *c, struct c_agent *a, const struct report *r, mono_ms now)
{
    bool is_behind = r->orders_done < a->orders_done;
    if (is_behind && (r->outcome_count || (a->told_anew && now - a->told_anew < TOLD_ANEW_MS)))
        return;
    a->is_in_step = true;
    if (!is_behind)
        return;
    a->told_anew = now;
    tell_anew(c, a, r);
}

bool renumber_agrees(const struct c_agent *a)
{
    return a->is_in_step && !a->ahead;
}

/* Not in step after that: the disk said no. Once more, in a while. */
static void catch_up(struct coord *c, struct c_agent *a, const struct report *r, uint64_t top, mono_ms now)
{
    bool has_settings;
    if (a->is_in_step)
        a->given_before = a->orders_given;
    a->is_in_step = renumber(c, a, top, &has_settings) == ST_OK;
    a->ahead = a->is_in_step ? 0 : top;
    a->ahead_since = now;
    if (!a->is_in_step)
        return;
    a->told_anew = now;
    tell_what_is(c, a, r, has_settings);
}

uint64_t renumber_look(struct coord *c, struct c_agent *a, const struct report *r)
{
    mono_ms now = clock_mono();
    /* Before it was heard for the first time, new orders may have the numbers of those that we have forgotten. */
    uint64_t ours = a->is_in_step ? a->orders_given : a->given_before;
    uint64_t top = r->orders_taken > r->orders_done ? r->orders_taken : r->orders_done;
    if (top <= ours) {
        a->ahead = 0;
        if (!a->is_in_step)
            look_behind(c, a, r, now);
    } else if (a->ahead == top ? now - a->ahead_since >= STILL_MS
                               : r->orders_taken && (!a->told_anew || now - a->told_anew >= TOLD_ANEW_MS)) {
        catch_up(c, a, r, top, now);
    } else if (a->ahead != top) {
        a->ahead = top;
        a->ahead_since = now;
    }
    return ours;
}
