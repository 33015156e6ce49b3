/* player.h - plays one run of a scenario with real processes in the lab's router: servers, coordinator, agents; then
 * the steps; then gathers what figures.h needs. Inside of a lab: the child of runner_run calls it, at hq.
 *
 * Every process is one of our own children; whatever happens, they are ended before it returns. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "lab/play/scenario.h"

struct player_opts {
    const struct scenario_run *run;            /* borrowed */
    const char *folder;                        /* of the run; has `lab` and `world` (or a link) already */
    const char *orb, *orb_agent, *orb_lab;     /* programs */
    void (*say)(void *self, const char *line); /* progress, a line now and then; may be NULL */
    void *self;
};

/* ST_OK: every step was carried out, whatever the figures are; ST_REFUSED: a step failed or a condition did not come
 * true, and why says which; ST_CANCELLED: a signal told us to end; ST_IO. */
MUST_USE status player_run(const struct player_opts *opts, struct buf *why);
