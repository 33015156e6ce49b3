/* assign_internal.h - what assign.c and assign_moves.c share: lists of networks in tasks, and marking what has changed.
 * Lock held. */
#pragma once

#include "coord/state.h"

#define ORDERS_AGAIN_MS 1000 /* after orders, or a split, could not be written down */

/* Lists of borrowed networks, as tasks have them. */
void assign_list_add(struct c_network ***list, size_t *count, size_t *cap, struct c_network *n);
bool assign_list_has(struct c_network *const *list, size_t count, const struct c_network *n);

/* Its agent has to be told of the task: by the next tick. Saved. */
void assign_dirty(struct coord *c, struct c_task *t);
/* What the last owner of the network handed over goes with this task; nothing when there is none. */
void assign_hand(struct coord *c, struct c_task *t, struct c_network *n);
/* A free network: to `to`, if that one may have it; to whom a channel in it is pinned; else the strategy is asked,
 * which does not choose `not_agent`. */
void assign_place(struct coord *c, struct c_network *n, uint64_t to, uint64_t not_agent);

/* Ends that are confirmed, leases that are over, and free networks: if there may be some. */
void assign_look_at_networks(struct coord *c, mono_ms now);
