/* snippet.h - the part of a text that shows why it was found, with the words to highlight. Pure. */
#pragma once

#include "base/arena.h"
#include "index/text/analyze.h"
#include "index/search/query.h"
#include "index/search/search.h"

/* A term to find in texts, with its weight (idf). */
struct snippet_term {
    struct span text;
    double weight;
    uint16_t word; /* of the query, that it is a form of: 0, 1, ... */
    bool is_pair;  /* two characters of a longer word: they are that word only next to another pair of it */
};

/* The best window or two (joined by an ellipsis) of about `bytes` bytes: many different terms, whole phrases, the start
 * of a sentence, not navigation. Without a match: the description when there is one, else the beginning of the text.
 * White space is folded; the result is valid UTF-8. */
void snippet_make(struct arena *a, struct analyzer *an, struct span text, struct span description, lang_code lang,
                  const struct snippet_term *terms, size_t term_count, size_t bytes, struct marked *out);
/* The whole of a short text (a title), marked; cut at `bytes` with an ellipsis. */
void snippet_mark(struct arena *a, struct analyzer *an, struct span text, lang_code lang,
                  const struct snippet_term *terms, size_t term_count, size_t bytes, struct marked *out);
