/* sim_setup.h - what `orb sim` and `orb world` share: worlds and their networks opened, numbers of options, progress.
 */
#pragma once

#include "cli/options.h"
#include "sim/delegate_run.h"
#include "sim/tree.h"

/* A world with the hierarchy and the cities that strategies may know. */
struct sim_setup {
    struct world *world; /* NULL: none was named */
    struct tree *tree;   /* NULL: the world has no networks file */
    struct cities cities;
    uint32_t *order; /* owned: of --order */
    size_t order_count;
};
/* Complains by itself; `what` is the command's name; `dir` NULL: without a world. The networks are those of
 * --hierarchy, --networks, or the world's.
 */
int sim_setup_open(const struct options *o, const char *what, const char *dir, struct sim_setup *out);
void sim_setup_done(struct sim_setup *s); /* zeroed is fine */
/* The options of a run of delegation. Complains by itself. */
int sim_setup_run(const struct options *o, const char *what, struct sim_setup *s, struct delegate_run_opts *out);

/* A line on standard error when that is a terminal; `arg` is the text in front. */
void sim_progress(void *arg, size_t done, size_t of);
void sim_progress_end(void);
