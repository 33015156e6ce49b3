/* match.h - cursors over one segment for a resolved query: words, atoms, clauses, and what a page scores.
 *
 *     word     postings of its terms, united
 *     atom     words that must all be there: candidates by document first; whether they stand in a row, or in the
 *              field asked for, is looked at last, and only for pages that are good enough
 *     clause   atoms, united
 *     query    clauses, intersected
 *
 * Every cursor's `doc` is its current document, POSTINGS_END after the last; seeks never go back. Scores are added up
 * in the order of the query wherever they are made, so that a page scores the same to the last bit on every path.
 *
 * A matcher belongs to one thread and works on one part of a snapshot at a time; its memory is kept from part to part.
 * Damage in a segment ends its cursors early; matcher_status tells at the end. */
#pragma once

#include "index/segment/rank.h"
#include "index/search/resolve.h"

/* Bounds are sums of rounded numbers in another order than scores: this is more than they can be off. */
#define MATCH_SLACK (1 + 1e-9)

#define MATCH_AGES 128
#define MATCH_AGE_BITS 20 /* seconds in a step of the age: 12 days */

/* Languages of documents as bits of the query's. */
struct tongues {
    const struct resolved *query;
    const struct segment *segment;
    lang_code last; /* that was asked for, and its bits: pages of a site lie together */
    uint32_t last_bits;
};

struct word_cursor {
    const struct res_word *word;
    struct postings *alts; /* those that this part has; each is only ever at documents that it counts in */
    unsigned alt_count;
    uint32_t *limits; /* the languages that each of them counts in; NULL: all of them in all */
    struct tongues *tongues;
    uint32_t doc;
    bool is_special; /* scores nothing */
    double max;      /* no page of this part scores more for this word */
    uint64_t df;     /* in this part */
    /* What was found last about its blocks: valid for documents from bound_from to bound_last. */
    uint32_t bound_from, bound_last;
    double bound;
};

struct atom_cursor {
    const struct res_atom *atom;
    struct word_cursor *words;  /* in the order of the query */
    unsigned word_count;        /* 0: this part has no page for it */
    struct word_cursor **order; /* the rarest first */
    uint32_t doc;
    uint32_t failed; /* the document that was last found not to match after all */
    double max;
    uint64_t df;      /* of the rarest word */
    bool needs_check; /* words in a row, or a field */
};

struct clause_cursor {
    struct atom_cursor *atoms;
    unsigned atom_count;
    uint32_t doc;
    double max;
    uint64_t df; /* at most so many pages match */
};

struct positions {
    uint32_t *p; /* owned */
    size_t n, cap;
};

struct matcher {
    const struct resolved *query;
    struct rank_tables rank;
    double bound_tf[256];            /* by bound code */
    double fresh_by_age[MATCH_AGES]; /* what no older page gets: see match_fresh_bound */
    int64_t now_s;
    /* of the part being worked on */
    unsigned part;
    const struct snapshot_part *at;
    const uint8_t *codes; /* length and prior of each document */
    struct tongues tongues;
    struct clause_cursor *clauses;
    struct clause_cursor **order; /* the rarest first */
    unsigned clause_count;
    struct clause_cursor excluded;
    double fresh_max, extra_max; /* most that freshness, and prior and freshness, add in this part */
    bool is_empty;               /* nothing in this part matches */
    bool has_limits;             /* dates, or something is excluded */
    bool is_plain;    /* no limits, no phrase, no field: a page in all clauses' lists that is not dead matches */
    bool is_one_atom; /* and no limits */
    status st;        /* of rows read */
    /* memory */
    struct arena arena;
    struct positions found, next; /* of phrases */
};

void matcher_init(struct matcher *m, const struct resolved *query, const struct rank *rank, wall_ms now);
void matcher_done(struct matcher *m);
/* Cursors at the first candidate of each atom. The same part again: from the start. */
void matcher_open(struct matcher *m, unsigned part);
/* ST_CORRUPT when a cursor or a row met damage in this part. */
status matcher_status(const struct matcher *m);

/* Does the document count for alternative number `alt`? A stem that another language makes is another word there:
 * Spanish "deben" is "deb", and on an English page that is no form of it. */
bool word_has_language(const struct word_cursor *w, unsigned alt, uint32_t doc); /* only where it has limits */
/* In collections of one language no word has any: asked for every posting, so this much is not a call. */
static inline bool word_counts_in(const struct word_cursor *w, unsigned alt, uint32_t doc)
{
    return !w->limits || w->limits[alt] == QUERY_ANY || word_has_language(w, alt, doc);
}
/* Moves an alternative on until it is at a document that counts for it. */
void word_settle(struct word_cursor *w, unsigned alt);
/* The first candidate >= doc. */
uint32_t word_seek_any(struct word_cursor *w, uint32_t doc); /* of several terms, or with limits */
static inline uint32_t word_seek(struct word_cursor *w, uint32_t doc)
{
    struct postings *p = w->alts;
    if (w->doc >= doc)
        return w->doc;
    if (w->alt_count > 1 || w->limits)
        return word_seek_any(w, doc);
    bool is_next = p->at + 1 < p->count && p->docs[p->at + 1] >= doc; /* mostly, in lists that have most pages */
    return w->doc = is_next ? postings_next(p) : postings_seek(p, doc);
}
uint32_t atom_seek(struct atom_cursor *a, uint32_t doc);
uint32_t clause_seek(struct clause_cursor *c, uint32_t doc);
uint32_t match_seek(struct matcher *m, uint32_t doc); /* of all clauses */

/* The most that candidates from `doc` (not behind the cursor) to *last can score, which both are set. False: there are
 * no more. */
bool word_bound(struct matcher *m, struct word_cursor *w, uint32_t doc, uint32_t *last, double *bound);
bool atom_bound(struct matcher *m, struct atom_cursor *a, uint32_t doc, uint32_t *last, double *bound);
bool clause_bound(struct matcher *m, struct clause_cursor *c, uint32_t doc, uint32_t *last, double *bound);

/* What the word scores for `doc`, which it is at. */
double word_score_any(struct matcher *m, struct word_cursor *w, uint32_t doc); /* of several terms */
static inline double word_score(struct matcher *m, struct word_cursor *w, uint32_t doc)
{
    struct postings *p = w->alts;
    if (w->alt_count > 1)
        return word_score_any(m, w, doc);
    if (!p->has_counts && !postings_counts(p))
        return 0;
    return rank_term(&m->rank, w->word->idf,
                     rank_tf(&m->rank, p->body[p->at], p->heads[p->at], m->codes[2 * (size_t)doc]));
}
/* Adds to `before` what the atoms of the clause that are at `doc` score for it, those that failed there left out. */
double clause_score(struct matcher *m, struct clause_cursor *c, uint32_t doc, double before);
double match_score(struct matcher *m, uint32_t doc); /* of all clauses */
/* The heads of two terms of one word in one page, field by field. */
uint8_t match_heads_sum(uint8_t a, uint8_t b);

/* Not below rank_fresh, and cheaper: where words weigh nearly nothing, every page is asked for it. */
static inline double match_fresh_bound(const struct matcher *m, int64_t changed_s)
{
    int64_t age = m->now_s > changed_s ? (m->now_s - changed_s) >> MATCH_AGE_BITS : 0;
    return m->fresh_by_age[age < MATCH_AGES ? age : MATCH_AGES - 1];
}

static inline bool match_is_dead(const struct matcher *m, uint32_t doc)
{
    return part_is_dead(m->at, doc);
}
/* Does a candidate that is not dead match? Looks at dates, what is excluded, fields and the order of words, cheapest
 * first. *dropped: an atom was counted as a candidate's and failed, another one of its clause did not. */
bool match_verify(struct matcher *m, uint32_t doc, bool *dropped);
/* Of that, only dates and what is excluded. */
bool match_is_allowed(struct matcher *m, uint32_t doc);
