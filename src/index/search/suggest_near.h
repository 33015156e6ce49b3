/* suggest_near.h - terms of an index that are near to a word. For suggest.c. One thread; only reads. */
#pragma once

#include "base/table.h"
#include "index/snapshot.h"
#include "index/search/suggest.h"

#define NEAR_WORD_MAX 40     /* characters; longer words are nobody's misspelling */
#define NEAR_LANGUAGES_MAX 4 /* that tried words are stemmed in */
#define NEAR_FOUND_MAX 4     /* best ones kept */

/* What edits cost. One is at most NEAR_ONE, two are more. */
enum { NEAR_SWAP = 3, NEAR_DOUBLE = 3, NEAR_DROP = 4, NEAR_CHANGE = 5, NEAR_ONE = 5, NEAR_TWO = 10, NEAR_NEVER = 99 };

/* The least cost of turning `a` into `b`: swapping neighbours, doubling a letter or not, leaving one out or putting one
 * in, changing one. NEAR_NEVER when it is over `max` or one of them is too long. */
int near_cost(struct span a, struct span b, int max);

struct near_term {
    struct span term;
    uint64_t df;
    int cost;
    double score; /* the more frequent and the nearer the higher */
};

struct near {
    const struct index_snapshot *snapshot;
    struct arena *arena;
    struct analyzer *an;
    lang_code languages[NEAR_LANGUAGES_MAX];
    unsigned language_count;
    unsigned lookups, steps; /* still allowed */
    struct table looked_up;  /* owned: hashes of terms seen for this word */
    struct near_term found[NEAR_FOUND_MAX];
    unsigned found_count;
};

void near_init(struct near *n, const struct index_snapshot *s, struct arena *a, struct analyzer *an);
void near_done(struct near *n);

/* In how many pages a term is, deleted ones included; looked up in all parts. ST_LIMIT: no lookups left. */
MUST_USE status near_df(struct near *n, struct span term, uint64_t *df);
/* The most frequent of what the languages make of a word: its term and in how many pages. */
MUST_USE status near_word_df(struct near *n, struct span word, struct span *term, uint64_t *df);
/* Fills `found`, the best first, with terms near to `word` (folded) or to one of its stems. Runs out of lookups and
 * steps without a complaint. */
MUST_USE status near_find(struct near *n, struct span word, const struct query_word *stems);
