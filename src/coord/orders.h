/* orders.h - what an agent has to be told of a task. Inside src/coord only; lock held. */
#pragma once

#include "coord/state.h"

/* What a task has to be told becomes orders of its agent, all of it or nothing: other statuses than ST_OK, and it stays
 * as it was. */
MUST_USE status orders_of_task(struct coord *c, struct c_task *t);
