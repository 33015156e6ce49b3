/* change.h - when the pages of the lab change: a Poisson process for each, drawn by its seed. Pure; any thread.
 *
 * Nothing is remembered and nothing is counted from the beginning. Time is cut into spans in which four changes are
 * expected; the changes of one follow from the seed and its number alone:
 *
 *     |  x   x  x |x      x    |  x x  x  x|      now      |
 *                                         ^ the last change is looked for from here backwards
 *
 * A span is empty one time in 55, so that the search is short however long the lab has run. */
#pragma once

#include <stdint.h>

#define CHANGE_DAY_S 86400.0

/* Seconds of the lab's time, from 0, at which the page changed last; 0: not since the beginning. */
double change_last(uint64_t seed, double per_day, double now_s);
/* What a site's pages do where nobody says: a rate a day between 0.02 and 2, all magnitudes alike. */
double change_site_rate(uint64_t seed);
/* A page's own rate: its site's times a draw of mean 1 (exponential), as a few pages of a site change far more often
 * than the rest. */
double change_page_rate(uint64_t seed, double site_per_day);
