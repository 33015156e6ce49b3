/* late.h - what an agent found in networks that were taken from it while nobody heard of it. Inside src/coord only;
 * lock held. */
#pragma once

#include "coord/state.h"

void late_add(struct c_task *t, struct c_network *n, const struct c_agent *a, uint64_t order); /* saved by the caller */
void late_remove(struct c_task *t, const struct c_network *n);
void late_orders_done(struct coord *c, const struct c_agent *a); /* its number has grown */
/* A visit of package `sequence` that is none of the agent's business any more. */
bool late_allows(const struct coord *c, const struct c_task *t, const struct url *u, struct span address,
                 uint64_t sequence);
