/* snippet_find.h - where in a text the terms of a query are. For snippet.c. Pure. */
#pragma once

#include "index/search/snippet.h"

#define SNIPPET_TEXT_MAX (512u << 10) /* bytes of a text looked at */

struct hit {
    uint32_t at, bytes;
    uint32_t position; /* of the word; near enough to tell neighbours */
    uint32_t prose;    /* bytes of long lines before it */
    uint16_t term;
    bool in_prose; /* its own line is a long one */
};

/* Terms by first byte, so that most tokens cost one look. */
struct wanted {
    const struct snippet_term *terms;
    size_t n;
    uint16_t first[256], *next; /* number + 1 */
    uint64_t lengths[256];      /* bit n - 1: a term of n bytes begins with this byte */
};

struct finder {
    struct wanted wanted;
    struct span text;
    struct hit *hits; /* owned; in the order of the text */
    size_t hit_count, hit_cap;
    bool *seen;        /* by term */
    bool *seen_word;   /* by word, in a long line: a page mostly has one form of it */
    size_t words_left; /* not seen */
    size_t enough;     /* windows begin before this, once every word was seen: what is after it may not be known */
};

/* Looks through `text`; scratch memory is in the arena. */
void finder_init(struct finder *f, struct arena *a, struct analyzer *an, struct span text, lang_code lang,
                 const struct snippet_term *terms, size_t term_count);
void finder_done(struct finder *f);

/* What a term is worth, never nothing: a word in every page counts too. */
static inline double finder_weight(const struct finder *f, unsigned term)
{
    double v = f->wanted.terms[term].weight;
    return v > 0.01 ? v : 0.01;
}

static inline uint32_t hit_end(const struct hit *h)
{
    return h->at + h->bytes;
}

#define LINE_PROSE 60 /* bytes: a shorter line is no sentence, but a menu, a heading, a link */
