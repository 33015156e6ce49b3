/* foretell.h - how well chances of change are foretold on a history of pages that really changed. */
#pragma once

/* Visits every page about every 30, then about every 120 days, at uneven gaps. Before each visit the chance of a change
 * is foretold: by the page's own past frequency, and by plan/change_rate.h with the activity of its folder and of the
 * site. What there is to learn beforehand was learned on the older half; scores (Brier) are of the newer one. Prints
 * `name value unit` lines; the exit code. */
int foretell_history(const char *path);
