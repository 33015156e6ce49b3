/* local_agent.h - the agent that a coordinator has on its own machine (`orb coordinator --with-agent`): one command,
 * and channels are crawled. It is an agent like any other, called "here", in the folder DIR/agent. */
#pragma once

#include <sys/types.h>

#include "cli/options.h"
#include "coord/coord.h"

struct local_agent;

/* Enrols it the first time, and starts it; again when it ends by itself. Complains by itself and returns an exit code.
 * `contact` is for its User-Agent line; NULL: none. `o`, `contact` and the log of `opts` are borrowed. */
int local_agent_new(const struct options *o, struct coord *c, const struct coord_opts *opts, const char *contact,
                    struct local_agent **out);
void local_agent_free(struct local_agent *a); /* ends it; NULL is fine */
