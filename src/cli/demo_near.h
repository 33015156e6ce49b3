/* demo_near.h - the part of the demo about distances: every site goes to the agent that is nearest, and why.
 *
 * Where network namespaces are allowed a small world becomes real: orb-lab starts this program again inside of it
 * (demo_lab.c), with a coordinator, agents and web servers whose packets take as long as their way is. Elsewhere the
 * strategy of the coordinator decides on the same world, with round trips read from it. Either says which it is. */
#pragma once

#include <signal.h>

#include "place/hierarchy.h"
#include "sim/world.h"

/* Set: namespaces are not tried. */
#define DEMO_RECORDED_VARIABLE "ORB_DEMO_RECORDED"
/* Set by us for the process in the lab: the folder that demo_near works in. */
#define DEMO_INSIDE_VARIABLE "ORB_DEMO_INSIDE"

/* Prints what it finds; works in `dir`, which is made. A signal of `stop`, which is blocked, ends it: *is_stopped.
 * Returns an exit code: EXIT_NO when a site is far from its agent, or when it was stopped. */
int demo_near(const char *dir, unsigned agents, const sigset_t *stop, bool *is_stopped);
/* The process in the lab: writes the table to one of these files of the folder. EXIT_NO as above. */
#define DEMO_RESULT_NEAR "result"
#define DEMO_RESULT_FAR "result-far"
int demo_lab_inside(const char *dir);

/* What became of a site of the world. */
struct near_site {
    size_t agent;
    double ms;                       /* as its agent measured */
    unsigned probes;                 /* of others */
    struct buf why, probed;          /* owned: one sentence; "tokyo 20 ms, new-york 180 ms" */
    char network[ADDR_TEXT_MAX + 8]; /* and where it is registered: "192.0.2.0/24 US" */
};
/* Fills in `network`. */
void near_register(struct near_site *s, const struct hierarchy *h, const struct addr *addr);
/* What another agent's probe said. */
void near_add_probe(struct near_site *s, struct span agent, double ms);
/* The table, one entry for each site of the world; true: no agent is nearer by more than DELEGATE_NEAR_MS. */
bool near_table(const struct world *w, const struct near_site *sites, struct buf *out);
void near_site_done(struct near_site *s);
void near_sites_free(struct near_site *sites, size_t n); /* NULL is fine */
