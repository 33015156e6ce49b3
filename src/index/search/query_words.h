/* query_words.h - text of a query to the terms that pages have for it. For query.c. Pure. */
#pragma once

#include "base/arena.h"
#include "index/search/query.h"

struct query_speech {
    struct arena *arena;
    struct analyzer *an;
    /* Stemmed in each of these. The last is 0: pages of no known language, and identifiers typed in lower case. */
    lang_code languages[QUERY_LANGUAGES_MAX];
    unsigned language_count;
};

/* The words of `text` in a row, and the whole when it is one identifier and nothing else; none at all when it has no
 * word. *has_gap: a word was too long to be a term, and what is left is the longest run of the others. */
void query_words(const struct query_speech *sp, struct span text, struct query_atom *out, bool *has_gap);
