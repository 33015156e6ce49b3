/* report.h - one page that compares all strategies on a world, with the charts of paper 000 (figures 3, 4 and 5), and
 * below them recrawling with those of paper 003.
 *
 * Runs every strategy, and ipmicra and learned at several thresholds and costs: some twenty runs. The page needs no
 * scripts and no other file. */
#pragma once

#include "sim/delegate_run.h"
#include "sim/recrawl_report.h"

struct report_opts {
    struct delegate_run_opts run;              /* strategy, threshold and cost are set here */
    const char *name;                          /* of the world */
    const char *command;                       /* that makes the page again; shown */
    void (*tell)(void *arg, const char *what); /* the run that begins; may be NULL */
    void *arg;
    const struct recrawl_report_opts *recrawl; /* borrowed; NULL: without */
};
void report_make(const struct world *w, const struct report_opts *o, struct buf *out);
