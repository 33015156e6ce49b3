/* judged.h - queries with the pages that answer them, from the indexes that the authors of two manuals made.
 *
 * PostgreSQL's bookindex.html and Python's genindex-*.html: each entry is a query, the pages that it links to are
 * relevant, all others are not. These pages, and Python's module index, are not part of the collection.
 *
 * From entry to query:
 *   - a nested entry is its parent's words and its own: "generator" > "expression" is "generator expression";
 *   - what stands in brackets after a name of Python's index is left out: "gamma() (in module math)" is "gamma", and so
 *     is a nested "(in module cmath)" below it, which is one more relevant page;
 *   - characters other than letters, digits, '_' and, inside a word, '.' and '-' become spaces, and "OR" is written
 *     small, so that no entry means something in the query language; entries of signs alone ("!=") are left out;
 *   - entries that differ only in case are one query, whose relevant pages are those of all; "see" entries, which link
 *     to other entries, are none.
 * An entry may have any number of relevant pages. One half of the queries, by a hash of their text, is for tuning; the
 * other half is what is reported. */
#pragma once

#include "collection.h"

struct judgement {
    struct span query;
    uint64_t *relevant; /* keys of pages */
    size_t relevant_count;
    bool is_reported; /* else for tuning */
};

struct judged {
    struct judgement *queries;
    size_t count, cap;
    struct table by_query; /* hash of the query to its place + 1 */
    struct arena arena;
};

/* Folders below `sites` that have such an index. */
extern const char *const judged_sites[2];

/* For collection_read. */
bool judged_is_index(struct span site, struct span path);

/* Only pages of the collection count as relevant; a query without any is left out. ST_NOT_FOUND: no index pages. */
MUST_USE status judged_read(const char *sites, const struct collection *c, struct judged **out);
void judged_free(struct judged *j); /* NULL is fine */

/* Quality of a ranking, `hits` being keys, best first. */
double judged_ndcg(const struct judgement *q, const uint64_t *hits, size_t n); /* over the first ten */
double judged_reciprocal_rank(const struct judgement *q, const uint64_t *hits, size_t n);
