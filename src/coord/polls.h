/* polls.h - agents that wait for orders. Inside src/coord only; lock held where it says so. */
#pragma once

#include "coord/state.h"

void polls_wake(struct coord *c, struct c_agent *a); /* lock held: it has orders */
void polls_tick(struct coord *c, mono_ms now);       /* lock held */
void polls_end(struct coord *c);
