/* suite_internal.h - an attempt that is under way, shared by suite.c and suite_attempt.c. */
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "io/clock.h"
#include "lab/busy.h"
#include "lab/play/suite.h"

struct suite_job {
    struct suite_run *run; /* borrowed; NULL: nothing is under way */
    pid_t pid;             /* 0: it could not be started */
    struct buf folder, what;
    mono_ms start;
    struct busy_mark mark;
};

void suite_clear_run(struct suite_run *r);
/* Starts a process for one more attempt, with the signals of `mask`. Always to be ended. */
void suite_begin(const struct suite *s, struct suite_run *r, const sigset_t *mask, struct suite_job *job);
/* After waitpid has told `how`. ST_REFUSED: no namespaces, so none of the others can be tried either; why. */
MUST_USE status suite_end(const struct suite *s, struct suite_job *job, int how, struct buf *why);
