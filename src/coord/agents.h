/* agents.h - the agents of a coordinator: registering them, what they are told, whether they are there. Inside
 * src/coord only; lock held. */
#pragma once

#include "coord/state.h"

struct c_agent *agent_get(struct coord *c, uint64_t number);      /* NULL */
struct c_agent *agent_by_name(struct coord *c, struct span name); /* NULL */
/* Registers one and draws its token: `line` gets what it joins with. ST_EXISTS, ST_INVALID, ST_LIMIT. */
struct agent_form {
    struct span name, place, hours;
    struct agent_settings settings;
    double latitude, longitude;
    bool has_place;
    bool is_trusted; /* a machine of the operator's own: no probation; only when it is added */
};
MUST_USE status agent_add(struct coord *c, const struct agent_form *f, struct c_agent **out, struct buf *line,
                          struct buf *why);
/* A new token for one that never joined, or lost its key. */
MUST_USE status agent_invite(struct coord *c, struct c_agent *a, struct buf *line);
MUST_USE status agent_change(struct coord *c, struct c_agent *a, const struct agent_form *f, struct buf *why);
void agent_set_state(struct coord *c, struct c_agent *a, agent_state s);
/* What an agent has to know before anything else: its settings, and what nobody may ask for. */
void agent_greet(struct coord *c, struct c_agent *a);
void agent_remove(struct coord *c, struct c_agent *a); /* revokes its key, moves its networks */
/* Numbers it, keeps it, wakes its poll. In a transaction the caller does that, when it is committed: what an agent has
 * seen must not be given to another order. If it cannot be, the caller takes orders_given back. */
void agent_order(struct coord *c, struct c_agent *a, order_kind kind, struct span body);
/* The coordinator's newest key, signed by the one before; is that open? */
void agent_tell_identity(struct coord *c, struct c_agent *a);
bool agent_has_identity_order(struct coord *c, const struct c_agent *a);
/* False: so many orders wait to be done that one that is no matter of its tasks should not be added. An answer has some
 * hundred, the first ones: what comes after is not heard before. */
bool agent_takes_more(const struct c_agent *a);
/* True: one more line about it may go into the log. What an agent can make happen as often as it likes must not fill
 * our disk. */
bool agent_may_be_logged(struct c_agent *a);
bool allowance_take(struct allowance *p, double per_s, double burst, mono_ms now);
/* It should be there and is not. After a start of ours agents have the time of a silence to call again. */
bool agent_is_missed(const struct coord *c, const struct c_agent *a);
bool agent_is_there(const struct coord *c, const struct c_agent *a); /* heard within two polls, or its hours are over */
bool agent_may_work(const struct coord *c, const struct c_agent *a); /* takes networks: joined, running, trusted */
bool agent_is_in_hours(const struct c_agent *a, wall_ms at);
/* Where it is on the internet; false: behind NAT, or not known yet. */
bool agent_addr(const struct c_agent *a, struct addr *out);
void agents_tick(struct coord *c, mono_ms now);
/* What the delegator should think of it. */
void agent_tell_delegator(struct coord *c, struct c_agent *a);
void agent_token_line(struct coord *c, const unsigned char token[JOIN_TOKEN_BYTES], struct buf *line);
