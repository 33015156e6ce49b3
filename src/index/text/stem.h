/* stem.h - the stemmers by language: a thin cover over libstemmer. One thread a struct stems. */
#pragma once

#include "base/span.h"
#include "index/text/analyze.h"

#define STEM_LANGUAGES_MAX 40

struct sb_stemmer;

struct stems {
    struct sb_stemmer *made[STEM_LANGUAGES_MAX]; /* owned; made when first needed */
};

void stems_done(struct stems *s);
/* The number of the stemmer of a language, from 1; 0: there is none. Languages that share one have the same number. */
unsigned stem_number(lang_code lang);
/* The stem of a folded word: in `word` itself or in the stemmer until its next use. Number 0, and where no more than a
 * letter would be left: the word. */
struct span stem_word(struct stems *s, unsigned number, struct span word);
