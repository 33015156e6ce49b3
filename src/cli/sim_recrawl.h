/* sim_recrawl.h - `orb sim recrawl`: plays recrawling, one strategy or all of them. */
#pragma once

#include "cli/sim_setup.h"
#include "sim/recrawl_run.h"

/* The world may be missing: then round trips are those of the model. */
int sim_recrawl(const struct options *o, struct sim_setup *s);
/* The options of a run, but for its strategy. Complains by itself. */
int sim_recrawl_run(const struct options *o, const char *what, const struct sim_setup *s, struct recrawl_run_opts *out);
