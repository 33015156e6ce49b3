/* theme.h - what a part of a site writes about: subjects with facts, and templates that make articles of them.
 *
 * A theme is the folder /FOLDER/ of a site: a list page, and for every subject a page /FOLDER/SUBJECT/ and one
 * /FOLDER/SUBJECT/ASPECT for each further aspect. All text is in the theme's language and our own.
 *
 * A template is text, a block a line:
 *   # heading        - list item        four spaces: a line of code        anything else: a paragraph
 * and within a line
 *   {3}      field 3 of the subject          {a}      one of pool a, drawn anew       {A}   the page's own one of pool
 * a
 *   {#3-9}   a number from 3 to 9            {%}      the page's date                 {~}   a link to another subject
 *   [x|y|z]  one of these, nested as needed  `text`   code
 * In lines of code only {3} counts. Titles and descriptions are templates too, without links and code marks.
 *
 * What is drawn depends on the writer's seed alone: the same seed writes the same bytes. */
#pragma once

#include <time.h>

#include "base/buf.h"
#include "base/rng.h"

#define THEME_FIELDS 10
#define THEME_POOLS 6

struct subject {
    const char *f[THEME_FIELDS]; /* 0 = name in the path, 1 = name in the text, the rest as the theme likes */
};

struct aspect {
    const char *file;  /* "recipe.html"; "" for the subject's own page, which comes first */
    const char *title; /* templates */
    const char *about;
    const char *body;
};

struct theme {
    const char *lang, *folder;
    const char *name, *about; /* of the list page; about is a template without subject */
    const struct subject *subjects;
    unsigned subject_count;
    const struct aspect *aspects;
    unsigned aspect_count;
    const char *pools[THEME_POOLS]; /* alternatives with '|' between */
};

/* Who writes one page. */
struct writer {
    const struct theme *theme;
    unsigned subject;
    const char *const *fields; /* of the subject; NULL: none */
    time_t date;
    bool no_links; /* a copy of the page elsewhere: its links would lead nowhere */
    struct rng rng;
    uint64_t own[THEME_POOLS]; /* what {A} stands for */
    struct buf *out;           /* borrowed */
};

/* `fields` may be NULL or not those of a theme's subject; `theme` NULL: no pools, no other subjects. */
void writer_init(struct writer *w, const struct theme *theme, const char *const *fields, uint64_t seed, time_t date,
                 struct buf *out);
/* One line as text for an element or a quoted attribute: no markup, escaped. */
void writer_plain(struct writer *w, const char *line);
/* Blocks of HTML. */
void writer_blocks(struct writer *w, const char *text);

void put_escaped(struct buf *out, struct span text);
