/* care.h - a data folder in the hands of a command that changes what is in it: forget and prune. */
#pragma once

#include "apply/apply.h"
#include "cli/options.h"
#include "codec/json.h"

/* A line on standard error that says what is being done, where that is a terminal. */
struct meter {
    bool is_on;
    mono_ms shown;
};
bool wants_meter(const struct options *o);
void meter_show(struct meter *m, const char *what, uint64_t done, uint64_t all);
void meter_clear(struct meter *m);

struct care {
    const char *what, *dir; /* borrowed: the command's name, the folder */
    struct store *store;    /* owned, as all below */
    struct apply *apply;    /* NULL until care_apply */
    struct apply_start start;
    struct meter meter;
};

/* Opens the folder for writing; it must be there. Complains by itself; an exit code. */
int care_open(struct care *c, const char *what, const struct options *o);
/* Opens contents and index, which also takes out what is to be forgotten. */
int care_apply(struct care *c);
/* Near-duplicates, where they are not known any more: with pages that were taken out goes all that is known of them. */
void care_find_alike(struct care *c);
/* What waits and what is in journals is gone over too, by loading the crawl's state and writing it anew. Pages that
 * went are new to whoever opens that, so nothing is lost by a failure before. Closes store and apply. */
int care_settle(struct care *c);
void care_done(struct care *c);

/* What became of a status, for people. */
int care_complain(const struct care *c, status st, const char *doing);
