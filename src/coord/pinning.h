/* pinning.h - who may have a network: lines of an operator, and countries that owners of agents refuse. Inside
 * src/coord only; lock held. */
#pragma once

#include "coord/state.h"

MUST_USE status pinning_load(struct coord *c, struct buf *why);
/* ST_INVALID, ST_LIMIT: `why` says where, also of a new line that names an agent which is not there. Networks that may
 * not stay where they are leave. */
MUST_USE status pinning_set(struct coord *c, struct span text, struct buf *why);
const struct pin *pinning_of(const struct coord *c, const struct c_network *n); /* the line that decides; NULL */
void pinning_ask(struct coord *c, const struct c_network *n, struct delegate_question *q);
bool pinning_allows(struct coord *c, const struct c_network *n, uint64_t agent);
void pinning_free(struct coord *c);
/* Countries that an agent's owner refuses, from its setup; pinning_refused(): networks of it that are there leave. */
void pinning_take_setup(struct coord *c, struct c_agent *a);
void pinning_refused(struct coord *c, const struct c_agent *a);
void agent_country(const struct coord *c, const struct c_agent *a, char out[3]); /* "" */
void network_country(const struct coord *c, const struct c_network *n, char out[3]);
