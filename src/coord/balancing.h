/* balancing.h - capacity: loads, moves that even them out, and networks that are too much for one agent. Inside
 * src/coord only; lock held. */
#pragma once

#include "coord/state.h"

void balancing_agent(struct coord *c, const struct c_agent *a); /* new, or changed */
void balancing_network(struct coord *c, struct c_network *n);   /* its owner, load or probes changed */
void balancing_bytes(struct coord *c, struct c_network *n, uint64_t bytes);
/* The network should go to `agent`: who gets it, after what has to make room was told to move. */
uint64_t balancing_fit(struct coord *c, struct c_network *n, uint64_t agent, struct buf *why);
/* Who has least to do, of those that may have it; 0: nobody. */
uint64_t balancing_idlest(struct coord *c, const struct delegate_question *q);
double balancing_share(const struct coord *c, const struct c_agent *a); /* load by capacity */
double balancing_room(const struct coord *c, const struct c_agent *a);
void balancing_tick(struct coord *c, mono_ms now);

/* ---- splitting.c ---- */
bool splitting_try(struct coord *c, struct c_network *n); /* true: it leaves its agent for that */
/* It has left its agent: its parts are networks, and have its hosts. Not ST_OK: that could not be written down, and all
 * is as it was. */
MUST_USE status splitting_begin(struct coord *c, struct c_network *n);
void splitting_finish(struct coord *c, struct c_network *n); /* its parts go to their agents */
