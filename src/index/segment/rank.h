/* rank.h - the score of a page for a term, and the small codes that it is made from.
 *
 *     tf     = title*T + heading*H + anchor*A + url*U + body / (1 - b + b * length / RANK_PIVOT)
 *     score  = idf * tf * (k1 + 1) / (tf + k1)                      summed over the words of a query
 *            + prior * (prior code) / 255 + freshness * recency     once a page
 *
 * BM25 over weighted fields. The length pivot is a constant, not the mean of the collection, so that a bound written
 * with a block of postings stays valid whatever is added later. Counts outside the body stop at 3. Pure; any thread. */
#pragma once

#include <math.h>

#include "base/status.h"

#define RANK_VERSION 2 /* of rank_default: block bounds are made with it */
#define RANK_PIVOT 400.0

/* Counts of a term in a page: body as it is, the other fields in two bits each. Headings are part of the body too. */
enum { HEAD_TITLE = 0, HEAD_HEADING = 2, HEAD_ANCHOR = 4, HEAD_URL = 6 }; /* shifts */

static inline unsigned head_count(uint8_t head, int shift)
{
    return head >> shift & 3u;
}

static inline uint8_t head_add(uint8_t head, int shift)
{
    return head_count(head, shift) == 3 ? head : (uint8_t)(head + (1u << shift));
}

struct rank {
    double k1, b;
    double title, heading, anchor, url, body; /* weights */
    double prior, freshness;                  /* most they add */
    double freshness_days;                    /* recency is exp(-age / this) */
    double proximity, name;                   /* of the closer look at the best pages: rerank.h */
};

extern const struct rank rank_default;
extern const struct rank rank_plain; /* BM25 over title and body as one field, nothing else */

/* Body lengths in one byte: eight steps a doubling, as in floating point; exact below 16. */
uint8_t rank_length_code(uint32_t tokens);
uint32_t rank_length_of(uint8_t code); /* the least length with that code */

/* Bounds on tf in one byte: the code's value is never below the tf it was made from. */
uint8_t rank_bound_code(double tf);
double rank_bound_of(uint8_t code);

/* Tables made once a query from a struct rank, for the inner loop. */
struct rank_tables {
    double k1;
    double head[256];      /* by head code */
    double body_norm[256]; /* by length code: body weight / norm */
    double prior[256];     /* by prior code */
    double freshness, freshness_days;
};
void rank_tables_init(struct rank_tables *t, const struct rank *r);

static inline double rank_tf(const struct rank_tables *t, uint32_t body, uint8_t head, uint8_t length_code)
{
    return t->head[head] + body * t->body_norm[length_code];
}

static inline double rank_term(const struct rank_tables *t, double idf, double tf)
{
    return idf * tf * (t->k1 + 1) / (tf + t->k1);
}

double rank_idf(uint64_t docs, uint64_t df);
/* Seconds since 1970. Never above t->freshness. */
double rank_fresh(const struct rank_tables *t, int64_t now_s, int64_t changed_s);
/* From what is known when a page is indexed: votes from the own site and from others, depth of the URL's path. */
uint8_t rank_prior_code(uint32_t votes, uint32_t foreign_votes, unsigned path_depth);
