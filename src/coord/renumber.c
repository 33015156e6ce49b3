/* renumber.c - a coordinator that was restored from a backup has forgotten orders that its agents carried out: their
 * numbers are ahead of its own, and what it orders now would look to them like something of the past.
 *
 * Its open orders get the numbers that follow those of the agent. An agent that still works on an order of the time
 * that is lost says a lower number than it has taken: so its number has to stand still for a while first. */
#include <stdlib.h>

#include "base/mem.h"
#include "coord/state.h"
#include "io/clock.h"

#define STILL_MS 5000

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

static void shift(uint64_t *number, uint64_t above, uint64_t by)
{
    if (*number > above)
        *number += by;
}

/* Tasks remember the orders that were about them. */
static void shift_tasks(struct coord *c, const struct c_agent *a, uint64_t by)
{
    for (size_t i = 0; i < c->task_count; i++) {
        struct c_task *t = c->tasks[i];
        if (!t || t->agent != a->number)
            continue;
        shift(&t->last_order, a->orders_done, by);
        shift(&t->end_order, a->orders_done, by);
        shift(&t->late_order, a->orders_done, by);
        save_task(c, t);
    }
}

static void renumber(struct coord *c, struct c_agent *a, uint64_t done)
{
    struct open_orders g = {0};
    arena_init(&g.arena);
    status st = fleet_order_each(c->fleet, a->number, a->orders_done, gather, &g);
    if (st == ST_OK)
        st = fleet_begin(c->fleet);
    if (st == ST_OK) {
        st = fleet_orders_done(c->fleet, a->number, a->orders_given);
        shift_tasks(c, a, done - a->orders_done);
        a->orders_given = a->orders_done = done;
        for (size_t i = 0; i < g.count; i++)
            agent_order(c, a, g.list[i].kind, g.list[i].body);
        save_agent(c, a);
        if (st == ST_OK)
            st = fleet_commit(c->fleet, true);
        else
            fleet_rollback(c->fleet);
        log_write(c->o.log, LOG_WARN, "orders",
                  "an agent has carried out orders that are not known here: was this folder restored from a backup? "
                  "agent=%llu done=%llu",
                  (unsigned long long)a->number, (unsigned long long)done);
    }
    note_trouble(c, st, "number orders anew");
    free(g.list);
    arena_done(&g.arena);
}

void renumber_look(struct coord *c, struct c_agent *a, uint64_t done)
{
    mono_ms now = clock_mono();
    if (done <= a->orders_given) {
        a->ahead = 0;
    } else if (a->ahead != done) {
        a->ahead = done;
        a->ahead_since = now;
    } else if (now - a->ahead_since >= STILL_MS) {
        renumber(c, a, done);
        a->ahead = 0;
    }
}
