/* figures.h - what a run measured: named numbers, from the files that it left in its folder, and whether they are as
 * expected.
 *
 * The folder of a run:
 *     lab               the lab file
 *     world/            agents.tsv, sites.tsv, rtt.tsv, ... (a link where the world is somebody else's)
 *     begin             seconds since 1970 when the crawl was ordered
 *     ledger            of the servers (docs/formats/lab.md)
 *     networks.json     `orb network list --json`, at the end
 *     agents.json       `orb agent list --json`, at the end
 *     pages.jsonl       `orb export --states` of the coordinator (or of the central crawler), at the end
 *     sim.json          `orb sim delegate --json` on the same world with the same strategy
 *     router.json       `stats` of the router, at the end
 *     events.tsv        seconds since begin, what was done
 *     took.tsv          figure, value: of steps ("as NAME"; lines of shell steps)
 *     *.out, *.log      what the processes said
 * A file that is not there leaves its figures out. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "lab/play/scenario.h"

#define FIGURES_MAX 256

struct figure {
    struct span name;
    double value;
};

struct figures {
    struct arena arena;
    struct figure list[FIGURES_MAX];
    size_t n;
};

void figures_put(struct figures *f, struct span name, double value); /* again: the later one holds */
bool figures_get(const struct figures *f, struct span name, double *out);
void figures_done(struct figures *f); /* zeros are fine */

/* All that the folder tells, then those of `rules`. ST_IO, ST_INVALID: a file that is there cannot be read; why. */
MUST_USE status figures_collect(const char *folder, const struct scenario_run *run, struct figures *out,
                                struct buf *why);
/* False also when a figure is not there; *value (of a) is NAN then. */
bool figures_expected(const struct figures *f, const struct expectation *e, double *value);
