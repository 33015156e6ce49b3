/* networks.h - the networks that are known, and the registry hierarchy that they come from. Inside src/coord only; lock
 * held. */
#pragma once

#include "coord/state.h"

struct c_network *network_find(struct coord *c, const struct addr *addr); /* that it is in; NULL */
/* Of a host there; made when there is none. */
struct c_network *network_at(struct coord *c, const struct addr *addr, struct span host);
struct c_network *network_make(struct coord *c, const struct network *net); /* not among those that are found */
void network_part_add(struct c_network *n, struct c_network *part);
struct c_network *network_part(struct c_network *n, struct span host); /* itself when it is not split */
void networks_index(struct coord *c);                                  /* after records_load */
MUST_USE status networks_open_hierarchy(struct coord *c, struct buf *why);
void networks_tick(struct coord *c, mono_ms now); /* a newer file is taken up */
void networks_look(struct coord *c);              /* at the file, with the next tick */
void networks_free(struct coord *c);
