/* assign_moves.c - networks that change hands.
 *
 *     OWNED    its agent crawls it
 *     LEAVING  its tasks give it up: an order to end goes to its agent (orders.c), which confirms it with the hosts
 * that it packed, and whose packages up to then are applied; or its lease runs out, and what it had is lost FREE
 * settled: it goes to the next one, or becomes parts (splitting.c)
 *
 * Those that leave together are marked, and taken out of all tasks in one walk. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/assign_internal.h"
#include "coord/balancing.h"
#include "coord/late.h"
#include "coord/placing.h"
#include "io/clock.h"
#include "plan/frontier.h"

/* ---- leaving ---- */

/* False: that could not be written down. It is as it was, and looked at again in a while. */
static bool settle_split(struct coord *c, struct c_network *n)
{
    /* Whoever goes through all networks may miss some, since there are others now. */
    c->has_free = c->has_leaving = true;
    if (splitting_begin(c, n) == ST_OK)
        return true;
    c->orders_again = clock_mono() + ORDERS_AGAIN_MS;
    return false;
}

static void settle(struct coord *c, struct c_network *n)
{
    uint64_t old = n->agent, to = n->next_agent;
    struct c_agent *a = agent_get(c, old);
    bool is_split = n->split != NULL;
    struct delegate_question q = placing_question(c, n); /* before its hosts are in parts of it */
    if (is_split && !settle_split(c, n))
        return;
    if (a && a->networks)
        a->networks--;
    if (!is_split)
        n->state = NETWORK_FREE;
    n->agent = n->next_agent = 0;
    n->was_agent = old;
    if (!n->network.parts)
        delegator_assigned(c->delegator, &q, 0);
    n->spread_to = 0;
    balancing_network(c, n);
    if (is_split) {
        splitting_finish(c, n);
        return;
    }
    save_network(c, n);
    assign_place(c, n, to, old);
}

/* True: a network of those that leave, and the task is its agent's. */
static bool is_leaving(const struct c_task *t, const struct c_network *n)
{
    return n->is_going && n->agent == t->agent;
}

/* Those of the task that leave are to end, each once. */
static void give_up(struct coord *c, struct c_task *t)
{
    size_t kept = 0, handed = 0;
    bool has_some = false;
    for (size_t i = 0; i < t->ending_count; i++)
        if (is_leaving(t, t->ending[i])) {
            t->ending[i]->ending_of = t->number;
            t->ending[i]->leaving++;
            has_some = true;
        }
    for (size_t i = 0; i < t->network_count; i++) {
        struct c_network *n = t->networks[i];
        if (!is_leaving(t, n)) {
            t->networks[kept++] = n;
            continue;
        }
        has_some = true;
        if (n->ending_of == t->number)
            continue;
        assign_list_add(&t->ending, &t->ending_count, &t->ending_cap, n);
        n->leaving++;
    }
    t->network_count = kept;
    for (size_t i = 0; i < t->handed_count; i++) /* they never got there: the next owner has them */
        if (!is_leaving(t, t->handed[i]))
            t->handed[handed++] = t->handed[i];
    t->handed_count = handed;
    if (has_some)
        assign_dirty(c, t);
}

/* What is saved in between is one transaction; unless it is a part of one. */
static bool begin_saving(struct coord *c)
{
    return !fleet_is_begun(c->fleet) && fleet_begin(c->fleet) == ST_OK;
}

static void end_saving(struct coord *c, bool is_begun)
{
    if (is_begun)
        note_trouble(c, fleet_commit(c->fleet, false), "write down networks that leave");
}

/* They have an agent each, and it is said where they go and why. One walk through all tasks, however many they are. */
static void leave(struct coord *c, struct c_network *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        list[i]->state = NETWORK_LEAVING;
        list[i]->leaving = 0;
        list[i]->is_going = true;
        list[i]->ending_of = 0;
    }
    bool is_begun = begin_saving(c);
    for (size_t i = 0; count && i < c->task_count; i++)
        if (c->tasks[i])
            give_up(c, c->tasks[i]);
    for (size_t i = 0; i < count; i++)
        save_network(c, list[i]);
    end_saving(c, is_begun);
    c->has_leaving |= count > 0;
    for (size_t i = 0; i < count; i++)
        list[i]->is_going = false;
    for (size_t i = 0; i < count; i++) {
        balancing_network(c, list[i]);
        if (list[i]->state == NETWORK_LEAVING && !list[i]->leaving)
            settle(c, list[i]);
    }
}

status assign_move(struct coord *c, struct c_network *n, uint64_t to, move_kind kind, const char *why)
{
    struct c_agent *a = to ? agent_get(c, to) : NULL;
    if (to && (!a || !agent_may_work(c, a)))
        return ST_REFUSED;
    if (n->state == NETWORK_SPLIT)
        return ST_REFUSED;
    if (n->state == NETWORK_FREE) {
        snprintf(n->why, sizeof(n->why), "%s", why);
        assign_place(c, n, to, 0);
        return ST_OK;
    }
    if (n->state == NETWORK_OWNED && n->agent == to)
        return ST_EXISTS;
    n->next_agent = to;
    n->move = kind;
    snprintf(n->why, sizeof(n->why), "%s", why);
    if (n->state == NETWORK_LEAVING) {
        free(n->split); /* whoever speaks last */
        n->split = NULL;
        save_network(c, n);
        return ST_OK;
    }
    leave(c, &n, 1);
    return ST_OK;
}

void leavers_add(struct leavers *l, struct c_network *n)
{
    l->list = mem_grow(l->list, &l->cap, l->count + 1, sizeof(struct c_network *));
    l->list[l->count++] = n;
}

void assign_leave(struct coord *c, struct leavers *l, move_kind kind, const char *why)
{
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++) {
        struct c_network *n = l->list[i];
        if (n->state != NETWORK_OWNED)
            continue;
        n->next_agent = 0;
        n->move = kind;
        if (why)
            snprintf(n->why, sizeof(n->why), "%s", why);
        l->list[count++] = n;
    }
    leave(c, l->list, count);
    free(l->list);
    *l = (struct leavers){0};
}

void assign_leave_agent(struct coord *c, uint64_t agent, const char *why)
{
    struct leavers l = {0};
    size_t at = 0;
    for (struct c_network *n; (n = table_next(&c->networks, &at));)
        if (n->agent == agent && n->state == NETWORK_OWNED)
            leavers_add(&l, n);
    assign_leave(c, &l, MOVE_AWAY, why);
}

/* ---- the end of tasks ---- */

/* Packed hosts from the old owner, kept until the new one is told. */
static void keep_hosts(struct coord *c, const struct outcome *o, struct c_network *const *asked, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct buf blob = {0};
        struct fleet_number old = fleet_number(asked[i]->handed_over);
        if (asked[i]->handed_over && o->part_count)
            note_trouble(c, fleet_get(c->fleet, FLEET_BLOB, span_of(old.b, sizeof(old.b)), &blob),
                         "read what was handed over");
        size_t before = blob.n;
        for (size_t k = 0; k < o->part_count; k++) {
            struct frontier_info info;
            if (frontier_info_read(o->parts[k], &info) != ST_OK)
                continue;
            struct c_host *h = table_get(&c->hosts, siphash(&c->key, info.name));
            if (h && h->network == asked[i])
                field_text(&blob, 1, o->parts[k]);
            frontier_info_done(&info);
        }
        if (blob.n > before) {
            struct fleet_number key = asked[i]->handed_over ? old : fleet_number(++c->blobs);
            save_number(c, "blobs", c->blobs);
            status st = fleet_put(c->fleet, FLEET_BLOB, span_of(key.b, sizeof(key.b)), buf_span(&blob));
            note_trouble(c, st, "keep what an agent handed over");
            if (st == ST_OK && !asked[i]->handed_over) {
                asked[i]->handed_over = c->blobs;
                save_network(c, asked[i]);
            }
        }
        buf_done(&blob);
    }
}

static void end_task_networks(struct coord *c, struct c_task *t)
{
    size_t n = t->end_asked;
    struct c_network **asked = mem_alloc((n + 1) * sizeof(struct c_network *));
    for (size_t i = 0; i < n; i++)
        asked[i] = t->ending[i];
    for (size_t i = n; i < t->ending_count; i++)
        t->ending[i - n] = t->ending[i];
    t->ending_count -= n;
    t->end_asked = 0;
    t->end_order = t->end_sequence = 0;
    t->is_end_confirmed = t->is_end_again = false;
    t->is_ended = t->network_count == 0 && t->ending_count == 0;
    if (t->ending_count) {
        t->is_dirty = c->has_dirty = true;
        t->has_only_seeds = false;
    }
    save_task(c, t);
    for (size_t i = 0; i < n; i++) {
        asked[i]->leaving -= asked[i]->leaving > 0;
        if (asked[i]->state == NETWORK_LEAVING && asked[i]->leaving == 0)
            settle(c, asked[i]);
        else if (assign_list_has(t->networks, t->network_count,
                                 asked[i])) /* given back meanwhile: orders.c waited for this */
            assign_hand(c, t, asked[i]);
    }
    free(asked);
}

void assign_outcome(struct coord *c, struct c_agent *a, const struct outcome *o)
{
    for (size_t i = 0; i < c->task_count; i++) {
        struct c_task *t = c->tasks[i];
        if (!t || t->agent != a->number || t->end_order != o->number)
            continue;
        if (t->is_end_confirmed)
            return;         /* said again, because our answer was lost */
        if (!a->is_demoted) /* queues and politeness of one who lies are worth nothing */
            keep_hosts(c, o, t->ending, t->end_asked);
        if (o->st == ST_AGAIN)
            return; /* more of them come with its next report */
        for (size_t k = 0; k < t->end_asked; k++) {
            t->ending[k]->was_lost = a->is_demoted || t->is_end_again;
            if (t->is_end_again)
                save_network(c, t->ending[k]);
        }
        t->is_end_confirmed = true;
        t->end_sequence = a->sequence;
        c->has_leaving = true;
        save_task(c, t);
        return;
    }
}

/* An end that is done, and nothing was said of it: that was told to somebody who is no more, when this folder was
 * restored from a backup. Its agent has stopped; what it handed over is lost. */
void assign_orders_done(struct coord *c, const struct c_agent *a)
{
    for (size_t i = 0; i < c->task_count; i++) {
        struct c_task *t = c->tasks[i];
        if (!t || t->agent != a->number || !t->end_order || t->end_order > a->orders_done || t->is_end_confirmed)
            continue;
        for (size_t k = 0; k < t->end_asked; k++) {
            t->ending[k]->was_lost = true;
            save_network(c, t->ending[k]);
        }
        t->is_end_confirmed = true;
        t->end_sequence = a->sequence;
        c->has_leaving = true;
        save_task(c, t);
    }
}

/* They never were told of these: when they come back they should know. Returns the number of the last order; 0: there
 * is nobody to be told. */
static uint64_t order_end_of(struct coord *c, struct c_task *t, const struct span *names, size_t count)
{
    struct c_agent *a = agent_get(c, t->agent);
    struct buf body = {0};
    if (!a || !a->is_joined)
        return 0;
    for (size_t at = 0; at < count;) {
        struct end_order o = {.task = t->number, .networks = names + at};
        for (size_t bytes = 0; at < count && bytes < COORD_ORDER_BYTES; at++, o.network_count++)
            bytes += names[at].n + ORDER_ITEM_BYTES;
        buf_clear(&body);
        end_order_pack(&o, &body);
        agent_order(c, a, ORDER_END_TASK, buf_span(&body));
    }
    buf_done(&body);
    return a->orders_given;
}

/* Those that have expired are taken from the task without a word of its agent. */
static void take_away(struct coord *c, struct c_task *t)
{
    struct span *names = NULL;
    size_t unasked = 0, gone = 0, kept = 0, asked = 0, cap = 0;
    for (size_t i = 0; i < t->ending_count; i++) {
        if (!is_leaving(t, t->ending[i]))
            continue;
        gone++;
        if (i < t->end_asked)
            continue;
        names = mem_grow(names, &cap, unasked + 1, sizeof(*names));
        names[unasked++] = span_str(t->ending[i]->text);
    }
    if (!gone)
        return;
    uint64_t order = unasked ? order_end_of(c, t, names, unasked) : t->end_order;
    for (size_t i = 0; i < t->ending_count; i++) {
        struct c_network *n = t->ending[i];
        if (is_leaving(t, n)) {
            late_add(t, n, agent_get(c, t->agent), order);
            continue;
        }
        asked += i < t->end_asked;
        t->ending[kept++] = n;
    }
    t->ending_count = kept;
    t->end_asked = asked;
    if (!asked) {
        t->end_order = t->end_sequence = 0;
        t->is_end_confirmed = t->is_end_again = false;
    }
    t->is_ended = t->network_count == 0 && t->ending_count == 0;
    save_task(c, t);
    free(names);
}

/* Their old owners were not heard for so long that their leases are over: they have stopped by themselves. */
static void expire(struct coord *c, const struct leavers *l)
{
    /* Written down first: a kill in between, and they would be given away as if all was handed over. */
    bool is_begun = l->count && begin_saving(c);
    for (size_t i = 0; i < l->count; i++) {
        struct c_network *n = l->list[i];
        log_write(c->o.log, LOG_WARN, "assign", "a lease ran out network=%s agent=%llu", n->text,
                  (unsigned long long)n->agent);
        n->is_going = n->was_lost = true;
        save_network(c, n);
    }
    end_saving(c, is_begun);
    for (size_t i = 0; l->count && i < c->task_count; i++)
        if (c->tasks[i])
            take_away(c, c->tasks[i]);
    for (size_t i = 0; i < l->count; i++) {
        l->list[i]->is_going = false;
        l->list[i]->leaving = 0;
    }
    for (size_t i = 0; i < l->count; i++)
        if (l->list[i]->state == NETWORK_LEAVING && !l->list[i]->leaving) /* not twice */
            settle(c, l->list[i]);
}

/* ---- now and then ---- */

/* The store must have all that the old owner found before somebody else is told what is known. */
static void look_at_ends(struct coord *c)
{
    for (size_t i = 0; i < c->task_count; i++) {
        struct c_task *t = c->tasks[i];
        const struct c_agent *a = t && t->is_end_confirmed ? agent_get(c, t->agent) : NULL;
        if (!t || !t->is_end_confirmed)
            continue;
        if (!a || a->applied >= t->end_sequence)
            end_task_networks(c, t);
        else
            c->has_leaving = true;
    }
}

/* Until when the agent of a network may think that it has it. Of one that was removed before we were started nothing is
 * known any more: as for the others, counted from then. */
static mono_ms lease_end(struct coord *c, const struct c_network *n)
{
    const struct c_agent *a = agent_get(c, n->agent);
    int64_t lease = c->o.lease_ms ? c->o.lease_ms : COORD_LEASE_MS;
    return a ? a->lease_until : c->started + lease + lease / 10;
}

void assign_look_at_networks(struct coord *c, mono_ms now)
{
    bool was_free = c->has_free, was_leaving = c->has_leaving;
    struct leavers expired = {0};
    size_t at = 0;
    if (!was_free && !was_leaving)
        return;
    c->has_free = c->has_leaving = false;
    look_at_ends(c);
    for (struct c_network *n; (n = table_next(&c->networks, &at));) {
        if (n->state == NETWORK_FREE && n->host_count) {
            assign_place(c, n, n->next_agent, 0);
            c->has_free |= n->state == NETWORK_FREE;
        } else if (n->state == NETWORK_LEAVING) {
            if (!n->leaving && n->split && now < c->orders_again)
                c->has_leaving = true;
            else if (!n->leaving)
                settle(c, n);
            else if (now >= lease_end(c, n))
                leavers_add(&expired, n);
            else
                c->has_leaving = true;
        }
    }
    expire(c, &expired);
    free(expired.list);
}
