/* supervise.h - tries a new version: starts it as a child, and keeps it when it reports in. */
#pragma once

#include "agent/agent.h"

/* Runs the new version with the same arguments. Returns true when it worked: then it has run to its end, and *code is
 * its exit code. False: it did not report in within UPDATE_TRIAL_MS, or ended before; it is gone and marked as bad. */
bool supervise_try(const char *data, const struct update_try *u, char *const *argv, const struct log *log, int *code);
/* Goes on as the version that DATA/bin/current names, when that is newer than this one. Returns when there is none. */
void supervise_exec_current(const struct conf *c, struct span own_version, char *const *argv);
bool supervise_is_trial(void); /* this process is being tried */
