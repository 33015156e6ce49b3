/* renumber.h - do coordinator and agent agree which orders were carried out? Inside src/coord only; lock held. */
#pragma once

#include "coord/state.h"

/* An agent says that it has carried out all orders up to r->orders_done, and taken those up to r->orders_taken. What it
 * says of those up to the number that is returned is about ours; of others, about orders that we do not know. */
uint64_t renumber_look(struct coord *c, struct c_agent *a, const struct report *r);
bool renumber_agrees(const struct c_agent *a); /* else it gets no orders */
