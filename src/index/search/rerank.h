/* rerank.h - a closer look at the best pages: do the words of the query stand together, is the page called just that?
 *
 * What the formula of rank.h finds best is looked at once more, RERANK_DEPTH pages of it:
 *
 *     + proximity * sum of idf * words / (least number of places in the body that hold all words)
 *     + name * sum of idf     when the page's title, or a link to it, says the query and nothing else
 *
 * Both need what is too dear for every page that matches. The order of the pages after those does not change. */
#pragma once

#include "index/search/match.h"
#include "index/search/topk.h"

#define RERANK_DEPTH 100
#define RERANK_NAMES_MAX QUERY_LANGUAGES_MAX

/* The query's words as a name (see name.h), in each language. */
struct rerank_names {
    struct span names[RERANK_NAMES_MAX];
    unsigned count;
};

/* The items are sorted, and stay so. ST_CORRUPT. */
MUST_USE status rerank(struct matcher *m, const struct rank *rank, const struct rerank_names *names, struct topk *top);
