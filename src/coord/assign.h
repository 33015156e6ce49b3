/* assign.h - from channels to tasks: hosts are placed in networks, networks are given to agents and change hands.
 * Inside src/coord only; lock held. */
#pragma once

#include "coord/state.h"

/* The channel reaches a host: it is placed, and its network assigned, when that has not happened yet. */
struct c_host *assign_host(struct coord *c, struct c_channel *ch, struct span name);
void assign_seed(struct coord *c, struct c_channel *ch, struct c_host *h, struct span url);
void assign_resolved(struct coord *c, struct c_host *h, status st, const struct addr *addr);
/* All addresses that its name leads to. */
void assign_addresses(struct coord *c, struct c_host *h, const struct addr *addrs, size_t n);
/* No channel reaches it any more: it is no part of its network, and not looked up, probed or counted again. The second:
 * all of these. */
void assign_forget_host(struct coord *c, struct c_host *h);
void assign_forget_hosts(struct coord *c);
/* An agent found a host elsewhere. */
void assign_stray(struct coord *c, struct c_agent *a, struct c_task *t, struct span host, const struct addr *addr);
/* The agent that a channel in the network is pinned to; 0: none. */
uint64_t assign_pinned(struct coord *c, const struct c_network *n);
/* It is the agent's from now on. */
void assign_give(struct coord *c, struct c_network *n, uint64_t agent, const char *why);
/* The agent lied: what is known of its networks counts until somebody else says otherwise, and no longer. */
void assign_distrust(struct coord *c, uint64_t agent);
/* The fetch number below which nothing that was said about the page's host is believed; 0: all of it is. */
uint64_t assign_distrust_of(struct coord *c, const struct url *u);
void assign_channel_changed(struct coord *c, struct c_channel *ch);
void assign_channel_ends(struct coord *c, struct c_channel *ch);
void assign_drop_tasks(struct coord *c, struct c_channel *ch); /* all of them have ended */
void assign_tick(struct coord *c, mono_ms now);
void assign_free(struct coord *c);
struct c_task *task_get(struct coord *c, uint64_t number);
/* May this agent say something about that page? Lists may lie beside the scope of their channel. */
bool assign_allows(struct coord *c, uint64_t agent, const struct c_task *t, const struct url *u, struct span address,
                   bool is_list);

/* ---- assign_moves.c: networks that change hands ---- */
/* Moves a network to another agent (0: the strategy decides), with its pages and its politeness. */
MUST_USE status assign_move(struct coord *c, struct c_network *n, uint64_t to, move_kind kind, const char *why);
/* Networks that leave their agents together: all tasks are gone through once. */
struct leavers {
    struct c_network **list; /* owned array of borrowed */
    size_t count, cap;
};
void leavers_add(struct leavers *l, struct c_network *n);
/* Those that somebody has: the strategy decides who gets them. `why` NULL: as each of them says. Frees the list. */
void assign_leave(struct coord *c, struct leavers *l, move_kind kind, const char *why);
void assign_leave_agent(struct coord *c, uint64_t agent, const char *why); /* all its networks */
void assign_outcome(struct coord *c, struct c_agent *a, const struct outcome *o);
void assign_orders_done(struct coord *c, const struct c_agent *a); /* its number has grown; outcomes came before */
