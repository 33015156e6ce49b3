/* placing.h - which agent a network belongs to: questions, probes, trials, and looks at what agents claim. Inside
 * src/coord only; lock held. */
#pragma once

#include "coord/state.h"

/* Points into the network, and to who may have it: good until the next call. */
struct delegate_question placing_question(struct coord *c, const struct c_network *n);
const struct delegate_probe *placing_probe_of(const struct c_network *n, uint64_t agent); /* NULL */
/* It has another agent: paths are compared with what was measured from there, not with those of the one before. */
void placing_given(struct coord *c, struct c_network *n);
void placing_look(struct coord *c, struct c_network *n, struct c_agent *a); /* a second look: looks_result() */
/* Another agent's round trip is wanted: the network is put to the balancer again when it is there. */
void placing_measure(struct coord *c, struct c_network *n, uint64_t agent);
/* Who should have a free network? Given, or probed first. */
void placing_ask(struct coord *c, struct c_network *n, uint64_t not_agent);
void placing_probe_add(struct c_network *n, const struct delegate_probe *p); /* instead of the agent's one before */
void placing_result(struct coord *c, struct c_agent *a, const struct probe_report *r);
/* Its agent's requests of late: the path's round trip, and the whole request (< 0: not known). */
void placing_timing(struct coord *c, struct c_network *n, double path_ms, double total_ms);
void placing_agent_awake(struct coord *c);
void placing_agent_away(struct coord *c, uint64_t agent);
void placing_restarted(struct coord *c, struct c_agent *a); /* its process is a new one */
/* Something changed that matters to it: decided anew, with what was measured; it may stay where it is. */
void placing_reconsider(struct coord *c, struct c_network *n);
void placing_meet(struct coord *c, struct c_agent *a); /* its round trips to other agents are measured */
void placing_tick(struct coord *c, mono_ms now);
void placing_begin(struct coord *c); /* after records_load */
void placing_free(struct coord *c);

/* ---- looks.c: round trips that agents claim, seen from elsewhere ---- */
void looks_won(struct coord *c, struct c_network *n); /* it was settled with its agent */
void looks_result(struct coord *c, struct c_network *n, const struct delegate_probe *p);
