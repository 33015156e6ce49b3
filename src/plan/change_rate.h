/* change_rate.h - how often a page or channel changes, and how sure that is, from visits at uneven gaps.
 *
 * Changes are a Poisson process whose rate is not known: a gamma distribution says what is believed of it. Its prior is
 * what the whole population is like; a page adds eight bytes of evidence, "so many changes in so much time":
 *
 *     nothing new in 3 h               time += 3                                            exact
 *     new, changed 1 h before          changes += 1, time += 1                              exact
 *     new, within the last 3 h         the gamma nearest to what is then believed; for gaps that are short that is
 *                                      about changes += 1, time += 1.5
 *
 * A visit never finds more than that something changed, so that counting changes by visits would see too few: here a
 * change in a long gap adds less than one. Few visits leave the estimate near the population's, never at 0 or infinity.
 * What is old counts less: evidence beyond CHANGE_MEMORY changes is thinned out.
 *
 * Real pages change in company: whoever edits one page of a folder edits its neighbours these days. That is not in the
 * rate of a page but in the activity of the folder and of the site (struct change_activity): how many of the changes
 * that rates let expect were found lately. Pure; times are in any unit that the caller keeps to. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CHANGE_MEMORY 256.0 /* changes; a sixteenth of uncertainty stays, and a page that slows down is noticed */

/* The population: `changes` in `time`. */
struct change_prior {
    double changes, time;
};

/* What is known of one page beyond that. Zeroed: nothing. */
struct change_rate {
    float changes, time;
};

/* A visit `gap` > 0 after the one before. `since`: how long before the visit the page changed last, where somebody says
 * so (Last-Modified, lastmod of a sitemap, a feed); < 0: nobody does. It is used only if it lies inside of the gap. */
void change_observe(struct change_rate *c, const struct change_prior *p, double gap, bool has_changed, double since);

/* Changes by time: the mean of what is believed. */
double change_rate_mean(const struct change_rate *c, const struct change_prior *p);
/* Not above the mean, and a little less than this page's own visits found, one change at least: what the population is
 * like says more than a slow page deserves, and a ceiling on visits must not be broken while that is being found out.
 */
double change_rate_cautious(const struct change_rate *c, const struct change_prior *p);
/* Natural logarithm of the rate: expected, and its standard deviation. */
double change_rate_log(const struct change_rate *c, const struct change_prior *p);
double change_rate_log_deviation(const struct change_rate *c, const struct change_prior *p);
/* Chance that a page changes within `gap`. */
double change_chance(const struct change_rate *c, const struct change_prior *p, double gap);

/* ---- activity ---- */

#define CHANGE_ACTIVITY_DAYS 15.0 /* what is remembered; found on the older half of a history of 20,998 pages */

/* Changes of many pages: found, and expected by their rates; both fade. Zeroed: nothing is known, all is as usual. */
struct change_activity {
    float found, expected;
    double at; /* time of the last visit */
};
/* A visit at `now` found a change or not, where `chance` was expected of it (change_chance, with the activity around
 * this one in it). `fade`: time after which a third of a visit's weight is left. */
void change_activity_note(struct change_activity *a, double now, double fade, double chance, bool has_changed);
/* How much more often than usual pages change now; 1 as usual. */
double change_activity_factor(const struct change_activity *a, double now, double fade);
/* A chance when rates are so many times as high as usual. */
double change_chance_times(double chance, double factor);

/* ---- the population ---- */

/* Sums over pages; zeroed to begin with. */
struct change_population {
    double count, rate, log;
};
void change_population_add(struct change_population *pop, const struct change_rate *c, const struct change_prior *p);
/* One step towards the prior under which these pages are most likely (expectation-maximization: exact where every
 * evidence is, repeat it with the new prior). With fewer than CHANGE_POPULATION_MIN pages nothing changes. */
#define CHANGE_POPULATION_MIN 8
void change_population_fit(const struct change_population *pop, struct change_prior *p);
