/* recrawl_report.h - recrawling in the page of `orb sim report`: tables 1 to 4 and figures 4 and 5 of paper 003, beside
 * the paper's own numbers, and freshness against the optimum. Runs all strategies with 1,400, 2,800 and 5,600 agents.
 */
#pragma once

#include "base/buf.h"
#include "sim/recrawl_run.h"

struct recrawl_report_opts {
    struct recrawl_run_opts run;               /* agents and strategy are set here */
    void (*tell)(void *arg, const char *what); /* before each run; may be NULL */
    void *arg;
};
/* Appends sections. */
void recrawl_report(const struct recrawl_report_opts *o, struct buf *out);
