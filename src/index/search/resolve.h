/* resolve.h - a query's words looked up in a snapshot: which terms exist, where their postings are, what they weigh.
 *
 * Document frequencies are summed over all segments, deleted documents included, and so is the number of documents, so
 * that a page's score does not depend on the segment it lies in. A word counts as often as its terms together, those
 * of one language no more often than there are pages in it. Words
 * and atoms that nothing can match are gone; when a clause has no atom left, nothing matches the query. */
#pragma once

#include "index/search/query.h"
#include "index/snapshot.h"

#define RESOLVE_PREFIX_MAX 64    /* terms that a prefix stands for: the most frequent */
#define RESOLVE_PREFIX_SCAN 8192 /* terms looked at for that, in each segment */
#define RESOLVE_TERMS_MAX 1024   /* of a query, all its words' together */

struct res_word {
    struct span *terms;
    uint32_t *languages; /* as in query_word */
    unsigned term_count;
    unsigned first; /* number of terms[0]; the others follow: see resolved_info */
    uint64_t df;
    double idf;
};

struct res_atom {
    struct res_word *words;
    unsigned word_count;
    uint8_t field;   /* ATOM_ANYWHERE... */
    bool is_special; /* scores nothing */
};

struct res_clause {
    struct res_atom *atoms;
    unsigned atom_count;
};

struct resolved {
    const struct index_snapshot *snapshot;
    const lang_code *languages; /* of the query: what the bits of res_word.languages stand for */
    unsigned language_count;
    struct res_clause *clauses;
    unsigned clause_count;
    struct res_clause excluded;
    int64_t after_s, before_s;
    bool is_empty;     /* nothing can match */
    bool is_cut;       /* a prefix stood for more terms than are looked for */
    bool has_unknown;  /* some word is in no page */
    uint64_t least_df; /* of the words */
    unsigned term_count;
    struct term_info *infos; /* by part, then by term; df 0: that part does not have it */
};

/* Everything is in the arena; `q` is borrowed. ST_CORRUPT, ST_IO: of a segment. */
MUST_USE status resolve(struct arena *a, const struct index_snapshot *s, const struct query *q, struct resolved *out);

/* Where the terms of a word are in a part: word->term_count of them. */
static inline const struct term_info *resolved_infos(const struct resolved *r, unsigned part,
                                                     const struct res_word *word)
{
    return r->infos + (size_t)part * r->term_count + word->first;
}

/* In pages of this language the terms count whose bits have one of these. A page in no known language, mostly a short
 * one, is taken to be in the one that most are. */
static inline uint32_t resolved_language_bits(const struct resolved *r, lang_code lang)
{
    uint32_t bits = lang ? 0 : 1;
    for (unsigned i = 0; lang && i < r->language_count; i++)
        bits |= r->languages[i] == lang ? UINT32_C(1) << i : 0;
    return bits;
}
