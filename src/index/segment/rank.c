#include "index/segment/rank.h"

#include <string.h>

/* Found by search over the entries of two manuals' own indexes (bench_relevance, the half that is for tuning). Around
 * the best the figure is flat; where it is, the lower weight was taken: what names a page in a manual, its address
 * above all, says less elsewhere. */
const struct rank rank_default = {
    .k1 = 1.2,
    .b = 0.3,
    .title = 10,
    .heading = 1.5,
    .anchor = 6,
    .url = 4,
    .body = 1,
    .prior = 1.4,
    .freshness = 0.1,
    .freshness_days = 365,
    .proximity = 0.4,
    .name = 0.8,
};

const struct rank rank_plain = {
    .k1 = 1.2,
    .b = 0.75,
    .title = 1,
    .body = 1,
    .freshness_days = 365,
};

#define LENGTH_EXACT 16 /* codes below are the length itself */
#define LENGTH_STEPS 8  /* a doubling */
#define LENGTH_CODE_MAX (LENGTH_EXACT + 28 * LENGTH_STEPS - 1)

uint8_t rank_length_code(uint32_t tokens)
{
    if (tokens < LENGTH_EXACT)
        return (uint8_t)tokens;
    unsigned exponent = 31 - (unsigned)__builtin_clz(tokens); /* 4..31 */
    unsigned step = tokens >> (exponent - 3) & (LENGTH_STEPS - 1);
    return (uint8_t)(LENGTH_EXACT + (exponent - 4) * LENGTH_STEPS + step);
}

uint32_t rank_length_of(uint8_t code)
{
    if (code < LENGTH_EXACT)
        return code;
    if (code > LENGTH_CODE_MAX)
        return UINT32_MAX;
    unsigned exponent = 4 + (code - LENGTH_EXACT) / LENGTH_STEPS;
    unsigned step = (code - LENGTH_EXACT) % LENGTH_STEPS;
    return (uint32_t)(LENGTH_STEPS + step) << (exponent - 3);
}

/* A bound code is the exponent and the first four bits of the mantissa of a double, counted from 2^-6 on and rounded
 * up: sixteen steps a doubling, up to 1024, where a score has long come to its limit. 0 is 0; the last is for all
 * beyond. */
#define BOUND_SHIFT 48
#define BOUND_FIRST ((uint64_t)(1023 - 6) << 4) /* of code 1 */
#define BOUND_LAST 255
#define BOUND_HUGE 1e12 /* above any tf, and finite: the score of an infinite tf is not a number */

uint8_t rank_bound_code(double tf)
{
    uint64_t bits;
    if (!(tf > 0))
        return 0;
    memcpy(&bits, &tf, sizeof(bits));
    uint64_t up = (bits + ((1ull << BOUND_SHIFT) - 1)) >> BOUND_SHIFT;
    if (up < BOUND_FIRST)
        return 1;
    return (uint8_t)(up - BOUND_FIRST + 1 < BOUND_LAST ? up - BOUND_FIRST + 1 : BOUND_LAST);
}

double rank_bound_of(uint8_t code)
{
    if (code == 0)
        return 0;
    if (code == BOUND_LAST)
        return BOUND_HUGE;
    uint64_t bits = (BOUND_FIRST + code - 1) << BOUND_SHIFT;
    double tf;
    memcpy(&tf, &bits, sizeof(tf));
    return tf;
}

void rank_tables_init(struct rank_tables *t, const struct rank *r)
{
    t->k1 = r->k1;
    t->freshness = r->freshness;
    t->freshness_days = r->freshness_days;
    for (unsigned i = 0; i < 256; i++) {
        uint8_t code = (uint8_t)i;
        t->head[i] = r->title * head_count(code, HEAD_TITLE) + r->heading * head_count(code, HEAD_HEADING) +
                     r->anchor * head_count(code, HEAD_ANCHOR) + r->url * head_count(code, HEAD_URL);
        t->body_norm[i] = r->body / (1 - r->b + r->b * rank_length_of(code) / RANK_PIVOT);
        t->prior[i] = r->prior * i / 255;
    }
}

double rank_idf(uint64_t docs, uint64_t df)
{
    double without = docs > df ? (double)(docs - df) : 0;
    return log1p((without + 0.5) / ((double)df + 0.5));
}

double rank_fresh(const struct rank_tables *t, int64_t now_s, int64_t changed_s)
{
    double age_days = now_s > changed_s ? ((double)now_s - (double)changed_s) / 86400 : 0;
    return t->freshness * exp(-age_days / t->freshness_days);
}

/* Votes count by their logarithm, full marks at these many; a vote from another site is worth more, because a site's
 * own navigation votes for every page of it. */
#define VOTES_FULL 1000
#define FOREIGN_FULL 100
#define PRIOR_VOTES 0.4
#define PRIOR_FOREIGN 0.4
#define PRIOR_DEPTH 0.2

static double share(double votes, double full)
{
    double x = log1p(votes) / log1p(full);
    return x < 1 ? x : 1;
}

uint8_t rank_prior_code(uint32_t votes, uint32_t foreign_votes, unsigned path_depth)
{
    double p = PRIOR_VOTES * share(votes, VOTES_FULL) + PRIOR_FOREIGN * share(foreign_votes, FOREIGN_FULL) +
               PRIOR_DEPTH / (1.0 + path_depth);
    return (uint8_t)lround(255 * p);
}
