/* report_internal.h - what the parts of the page share. */
#pragma once

#include "lab/play/report.h"
#include "sim/chart.h"

/* Charts of a scenario, chosen by what varies; each a card. */
void report_bars(const struct result *r, struct buf *out);       /* figures side by side, a bar a group */
void report_thresholds(const struct result *r, struct buf *out); /* 000, figure 4 */
void report_over_time(const struct result *r, struct buf *out);  /* pages, by the ledgers */
void report_decisions(const struct result *r, struct buf *out);  /* 000, figure 5 */

void report_open_card(struct buf *out, const char *title, const char *text, const char *class);
void report_close_card(struct buf *out);
/* NUL-terminated, and not longer than `max` letters. */
const char *report_label(struct arena *a, struct span s, size_t max);
/* Of a group, the same in all charts of a scenario. */
unsigned report_colour(const struct result *r, size_t group);
