/* results.h - what `orb-lab run` wrote: all results.json of a folder (docs/formats/figures.md), and what pages and
 * tables want to know of them.
 *
 * Everything belongs to the struct and lives until results_done. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "codec/json_tree.h"
#include "lab/play/figure_kinds.h"

#define RESULTS_FILES_MAX 200
#define RESULTS_DEPTH 2 /* folders below the one that is named */
#define RESULTS_FILE_MAX (32u << 20)
#define RESULTS_GROUPS_MAX 200 /* of a scenario; more are left out */
#define RESULTS_RUNS_MAX 2000

/* Runs that differ by their number alone. */
struct result_group {
    struct span label; /* "learned, agents 6"; "all runs" when nothing varies */
    const struct json_node *variables, *figures;
    const struct json_node *run; /* the first that is valid, or the first; NULL: none */
};

struct result {
    const char *folder;           /* that its results.json is in */
    const struct json_node *root; /* an object */
    struct span scenario, title, about;
    bool is_passed, is_short;
    struct result_group *groups;
    size_t group_count, run_count;
};

struct results {
    struct arena arena;
    struct result *list; /* by path */
    size_t n;
};

/* ST_NOT_FOUND: there are none; ST_IO, ST_INVALID, ST_LIMIT: why says which file. */
MUST_USE status results_load(const char *dir, struct results *out, struct buf *why);
void results_done(struct results *r); /* zeros are fine */

struct result_value {
    double mean, least, most;
    size_t n;
};
/* False: the group has no such figure. */
bool result_figure(const struct result_group *g, struct span name, struct result_value *out);
bool result_has(const struct result *r, struct span name); /* some group has it, and not 0 */
/* The figures that are worth a column: those that the scenario makes itself, those that it expects something of, and
 * then as figure_kinds has them. At most `max`; none that is 0 everywhere. */
size_t result_columns(const struct result *r, struct span *out, size_t max);
/* The value of a variable of a group as text; empty: it does not vary. */
struct span result_variable(const struct result_group *g, const char *name);
bool result_varies(const struct result *r, const char *name); /* with more than one value */
/* Path of a file of the group's run; false: it has none. */
bool result_run_file(const struct result *r, const struct result_group *g, const char *name, struct buf *path);

/* What an order rule compared: "learned 76.2 and 75.9, random 137.0 and 139.1". Not escaped. */
void result_order_values(const struct json_node *order, struct buf *out);

/* One that was expected, over all runs that were valid. */
struct result_expected {
    struct span text;
    const struct figure_kind *kind; /* of what is measured; NULL: somebody's own */
    double least, most;             /* NAN: no value */
    size_t passed, n;
};
/* In the arena, in the order in which they are met. */
size_t result_expectations(const struct result *r, struct arena *a, struct result_expected **out);
