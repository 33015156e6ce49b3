/* scenario_internal.h - shared by the parts of the parser: words and variables (scenario_words.c), statements
 * (scenario_lines.c), steps (scenario_steps.c), runs (scenario.c).
 *
 * The text is gone through once for every run, with the values that the run has of each `each`; so a line may depend on
 * any variable that stands above it. */
#pragma once

#include "lab/play/scenario.h"

#define SCENARIO_LINE_MAX (64u << 10)    /* bytes, with its variables filled in */
#define SCENARIO_MEMORY_MAX (256u << 20) /* of all runs */
#define SCENARIO_TIME_MAX_MS (24 * 3600 * 1000)
#define SCENARIO_WITHIN_MS 60000
#define SCENARIO_EACH_MAX 16

/* What one `each` of a run says. */
struct each {
    struct span name;
    size_t at, count; /* which value, of how many */
};

/* A name with a value that is not the file's own: --set, or short. */
struct override {
    struct span name, value;
    int line; /* 0: --set */
    bool is_known;
};

struct reader {
    struct scenario *out;
    struct scenario_run *run; /* that is being filled in */
    const char *label;        /* borrowed: of the file, for messages */
    struct span here;         /* $here: the folder of the file */
    int line;
    struct buf *why;
    struct buf text; /* scratch: the word that is being put together */
    struct override override[2 * SCENARIO_VARIABLES_MAX];
    size_t override_count;
    bool is_short;
    struct variable variables[SCENARIO_VARIABLES_MAX];
    size_t variable_count;
    struct each each[SCENARIO_EACH_MAX];
    size_t each_count, each_seen; /* of the run before, whose choices hold; of this one so far */
    size_t repeat_at, repeat_count;
    bool is_first;     /* run: what is said of all runs is taken from it */
    bool is_dependent; /* the statement follows a `when` */
};

/* `what` is wrong with this line; returns `st`. */
status reader_fail(struct reader *r, status st, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* An array of the arena with room for one more: `n` are there. */
void *reader_grow(struct reader *r, void *list, size_t n, size_t item);
void reader_add_word(struct reader *r, struct words *to, struct span word);

/* ---- scenario_words.c ---- */

bool scenario_is_name(struct span s); /* of a variable: letters, digits, _ */
const struct variable *reader_variable(const struct reader *r, struct span name);
status reader_set(struct reader *r, struct span name, struct span value);
/* Takes the next word off the line: with blanks and quotes gone, but not filled in; empty at its end. */
struct span words_take_raw(struct span *line);
/* Takes one word as it is written, and gives what it stands for: one word or, where a variable holds several, some. */
status words_take(struct reader *r, struct span *line, struct words *to);
status words_take_all(struct reader *r, struct span line, struct words *to);
/* The rest of a line as it is, with variables filled in. */
status words_text(struct reader *r, struct span line, struct span *out);
/* Without what follows a # that begins a word. */
struct span words_uncomment(struct span line);

/* ---- scenario_steps.c ---- */

/* False: no such step. `w` are the words after the verb. */
bool steps_is_verb(struct span verb);
status steps_read(struct reader *r, struct span verb, struct span rest, int64_t at_ms);
bool steps_share(struct span text, double max, double *out); /* "95%" -> 0.95 */

/* ---- scenario_lines.c ---- */

status lines_read(struct reader *r, struct span line);
status lines_repeat(struct reader *r, const struct words *w);
status lines_short(struct reader *r, struct span line); /* only looks at `short` */
