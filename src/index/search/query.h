/* query.h - the query language, parsed.
 *
 *     words             all of them
 *     "some words"      next to each other, in this order; '.', '-', '_' and the like inside a word do the same
 *     a OR b            either; binds tighter than the blank: a b OR c is a and (b or c). '|' is OR too
 *     -word -"..."      without (--word is a word)
 *     site:python.org   of this host or below it; site:a,b is either
 *     lang:de           in this language
 *     type:pdf          a file of this type, or of this kind (type:image); type:pdf,doc is either
 *     title:word  url:word  title:"some words"
 *     field:price  field:price=9.99  field:author="some name"    has that field (of a program), with that value
 *     before:2024-05  after:2023-12-31     changed before the start, or after the end, of that day, month or year (UTC)
 *
 * A query is a list of clauses, all of which must match; a clause is a list of atoms, one of which must. Unknown
 * "name:" is taken as words; a URL as site: with words of the URL. Two site:, lang: or type: are alternatives. Anything
 * parses: what makes no sense is ignored and noted. Pure. Everything is in the arena, but for `source`, which points
 * into the text that was given wherever it is part of it. */
#pragma once

#include "base/arena.h"
#include "index/text/analyze.h"

/* That words are stemmed in, none included: there are 28 stemmers, one of them for three codes. */
#define QUERY_LANGUAGES_MAX 32
#define QUERY_ANY UINT32_MAX

typedef enum atom_kind {
    ATOM_WORDS, /* one word, or several in a row (a phrase) */
    ATOM_TERM,  /* a special term: site, language or field; matches, and scores nothing */
} atom_kind;

enum { ATOM_ANYWHERE = 0, ATOM_TITLE = 1, ATOM_URL = 2 };

/* One place of a phrase: the terms that count there, one a stemming language and no two the same, the unstemmed word
 * last when it differs. */
struct query_word {
    struct span *terms;
    unsigned term_count;
    /* For each term in which pages it stands for the word: a bit for each of the query's languages, QUERY_ANY in all.
     * NULL: all of them in all pages. */
    uint32_t *languages;
    bool is_prefix; /* the one CJK character at the end of an atom: any term that begins with terms[0], the only one */
    struct span source; /* as typed */
};

struct query_atom {
    atom_kind kind;
    uint8_t field; /* ATOM_ANYWHERE... */
    struct query_word *words;
    unsigned word_count;
    /* An identifier: its whole, tried first; the words (its parts in a row) are what to look for when no page has the
     * whole. NULL: none. */
    struct query_word *whole;
    bool is_quoted; /* the row was asked for */
    struct span source;
};

struct query_clause {
    struct query_atom *atoms;
    unsigned atom_count;
};

struct query {
    struct query_clause *clauses;
    unsigned clause_count;
    struct query_clause excluded; /* none of its atoms may match */
    int64_t after_s, before_s;    /* changed > after_s, changed < before_s; INT64_MIN, INT64_MAX: any */
    lang_code lang;               /* of lang: when there is just one, else 0 */
    /* What the bits of query_word.languages stand for. */
    lang_code languages[QUERY_LANGUAGES_MAX];
    unsigned language_count;
    struct span note;    /* what was ignored, for people; or empty */
    unsigned term_count; /* places, wholes and special terms; a place counts once whatever its languages */
};

struct query_opts {
    const lang_code *languages; /* stem for these: those of the collection */
    unsigned language_count;
    unsigned terms_max; /* of term_count, the rest is cut; 0 = SEARCH_TERMS_MAX */
};

/* ST_INVALID: nothing to look for; *out is set all the same, and its note says why. ST_LIMIT: more than
 * SEARCH_QUERY_MAX bytes. `an` is only worked with. Words of a phrase are next to each other: place i is at position p
 * + i. */
MUST_USE status query_parse(struct arena *a, struct analyzer *an, struct span text, const struct query_opts *o,
                            struct query *out);
