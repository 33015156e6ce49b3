/* check_report.h - what orb-lab check found, as a table for people or as JSON (docs/formats/lab.md), and whether it is
 * as good as a lab ought to be. Pure but for printing. */
#pragma once

#include "lab/busy.h"
#include "lab/measure.h"
#include "lab/net/link.h"

#define CHECK_PAIRS_MAX 64
#define CHECK_STATS_MAX 1024

/* One line of the table. */
struct check_row {
    char name[64];
    double rtt_ms, median_ms, mean_ms, p99_ms; /* all but the first: of the errors' sizes */
    double least_ms;                           /* with its sign: the error that a busy machine adds least to */
    size_t samples, failed;
};

/* Written by a child, in memory that it shares with whoever prints it. */
struct check_report {
    size_t places, namespaces;
    bool is_own; /* a lab of check's own, that the bars are for */
    bool has_rates;
    link_kind kind;                             /* that it came out to be */
    struct check_row rows[CHECK_PAIRS_MAX + 1]; /* the last one of all of them */
    size_t row_count;
    char stats[CHECK_STATS_MAX]; /* the router's figures during the connections, as JSON */
    struct measure_rate connections, requests;
    char rate_stats[CHECK_STATS_MAX];
    double up_s, down_s;
    unsigned attempts; /* this one included */
    struct busy busy;
    double self_late_ms; /* p99 of how late the measuring process woke up: part of the errors, and not the lab's */
};

bool check_report_is_valid(const struct check_report *r); /* packets were not too late, by the router */
double check_report_late_ms(const struct check_report *r);
void check_report_text(const struct check_report *r);
void check_report_json(const struct check_report *r);
