/* agent_process.h - orb-agent as a child of this process: for the demo, and for a coordinator with an agent of its own.
 * The demo starts orb-lab in the same way. */
#pragma once

#include <sys/types.h>

#include "base/buf.h"
#include "base/status.h"

/* The path of "orb-agent" or "orb-lab": beside this program, or where the build has it. False: it is not there. */
bool agent_process_find(const char *name, struct buf *out);
/* `argv` ends with NULL, and so does `env` (NULL: ours); what it says goes to the file `log`. ST_IO: errno says why. */
MUST_USE status agent_process_start(const char *program, char *const *argv, char *const *env, const char *log,
                                    pid_t *pid);
/* Asks them to end and waits; one that does not is killed. 0 in the list: has ended already. */
void agent_process_end(pid_t *pids, unsigned count);
