/* survey.h - how many pages match, without scoring them, at a bounded price.
 *
 * All of them are visited when the lists are short enough for that; else the matches in windows of documents, spread
 * evenly over all segments, are counted and the rest is estimated from them. What is called exact is. */
#pragma once

#include "index/search/facets.h"
#include "index/search/match.h"

/* Steps are seeks; a look at positions is taken for SURVEY_POSITIONS_STEPS of them. About 2 ms. */
#define SURVEY_STEPS 400000
#define SURVEY_POSITIONS_STEPS 12

struct survey {
    uint64_t total;
    bool is_exact;
    double scale; /* each page visited stands for so many */
};

/* `m` is worked with: its cursors are somewhere afterwards. Matches visited go to `f` unless it is NULL. */
MUST_USE status survey_run(struct matcher *m, uint64_t steps, struct facets *f, struct survey *out);
