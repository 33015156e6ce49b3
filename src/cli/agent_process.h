/* agent_process.h - orb-agent as a child of this process: for the demo, and for a coordinator with an agent of its own.
 */
#pragma once

#include <sys/types.h>

#include "base/buf.h"
#include "base/status.h"

/* The program's path: beside this program, or where the build has it. False: it is not there. */
bool agent_process_find(struct buf *out);
/* `argv` ends with NULL; what it says goes to the file `log`. ST_IO: errno says why. */
MUST_USE status agent_process_start(const char *program, char *const *argv, const char *log, pid_t *pid);
/* Asks them to end and waits; one that does not is killed. 0 in the list: has ended already. */
void agent_process_end(pid_t *pids, unsigned count);
