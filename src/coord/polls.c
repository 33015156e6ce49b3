/* polls.c - agents that wait for orders. Each holds one deferred answer; it goes out when there is something to say or
 * its time is over. */
#include <stdlib.h>

#include "base/mem.h"
#include "coord/calls.h"
#include "coord/polls.h"
#include "coord/renumber.h"
#include "io/clock.h"

struct gathered {
    struct arena arena;
    struct order *orders;
    size_t count, cap, bytes;
};

static status gather(void *arg, uint64_t number, struct span packed)
{
    struct gathered *g = arg;
    if (g->count == CONTROL_ORDERS_MAX || (g->count && g->bytes + packed.n > COORD_ORDER_BYTES))
        return ST_END;
    struct order o;
    if (order_unpack(arena_copy(&g->arena, packed), &o) != ST_OK)
        return ST_CORRUPT;
    g->orders = mem_grow(g->orders, &g->cap, g->count + 1, sizeof(*g->orders));
    g->orders[g->count++] = o;
    g->bytes += packed.n;
    return ST_OK;
}

void polls_answer(struct coord *c, struct c_agent *a, struct buf *body)
{
    struct gathered g = {0};
    arena_init(&g.arena);
    /* The first order that it gets says which ones came before. */
    status st = renumber_agrees(a) ? fleet_order_each(c->fleet, a->number, a->orders_done, gather, &g) : ST_OK;
    if (st != ST_OK && st != ST_END)
        note_trouble(c, st, "read orders");
    int64_t lease = c->o.lease_ms ? c->o.lease_ms : COORD_LEASE_MS;
    mono_ms now = clock_mono(), until = now + lease + lease / 10;
    /* One who lied keeps nothing by coming again and again: others get its networks when the lease it has is over. */
    if (a->is_demoted) {
        until = a->lease_until < until ? a->lease_until : until;
        lease = until > now ? until - now : 1;
    }
    /* Counted from now, which is before the agent reads it: it stops no later than we think it does. */
    a->lease_until = until;
    a->answered_mono = now;
    struct poll_answer p = {.lease_ms = lease,
                            .have = a->sequence - a->is_unsafe,
                            .wants_setup = a->wants_setup,
                            .orders = g.orders,
                            .order_count = g.count};
    poll_answer_pack(&p, body);
    free(g.orders);
    arena_done(&g.arena);
}

static void send(struct coord *c, struct c_agent *a)
{
    struct c_poll *p = a->poll;
    struct httpd_answer ans = {.status = 200};
    a->poll = NULL;
    if (a->is_joined)
        polls_answer(c, a, &ans.body);
    else
        ans.status = 403;
    calls_sign(c, &p->caller, &ans);
    httpd_answer_later(p->later, &ans);
    free(p);
}

void polls_wake(struct coord *c, struct c_agent *a)
{
    if (a->poll)
        send(c, a);
}

void polls_tick(struct coord *c, mono_ms now)
{
    for (size_t i = 0; i < c->agent_count; i++) {
        struct c_agent *a = c->agents[i];
        if (a && a->poll && now >= a->poll->until)
            send(c, a);
    }
}

void polls_end(struct coord *c)
{
    polls_tick(c, MONO_NEVER);
}
