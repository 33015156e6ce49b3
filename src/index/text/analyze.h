/* analyze.h - text to terms: what a word is, and which words count as the same.
 *
 * Words are runs of letters, digits, marks and '_'; punctuation, symbols and emoji are none. Each is folded (utf8proc:
 * NFKC, case, accents off), stemmed by the language given (libstemmer), and kept to ANALYZE_TERM_MAX bytes; longer ones
 * of ASCII (base64, hashes) give no term but take a position, longer ones of other scripts are cut. Scripts written
 * without spaces (Han, kana, Hangul, Thai, Lao, Khmer, Burmese) give overlapping pairs of characters, and the last
 * character of a run alone, so that every character of a run begins some term.
 *
 * Code identifiers give their parts, one position each, and, at the position of the first part, the whole:
 *
 *     "pg_stat_activity"   0 pg_stat_activity (whole)  0 pg  1 stat  2 activity
 *     "getElementById"     0 getelementbyid (whole)    0 get 1 element 2 by 3 id
 *     "HTTPServer2"        0 httpserver2 (whole)       0 http 1 server 2 2
 *     "base64Decode"       0 base64decode (whole)      0 base64 1 decode
 *     "__init__"           0 __init__ (whole)          0 init
 *     "C++", "F#"          0 c++ (whole)               0 c    ("C++17" has 1 17 besides)
 *     "Gtk.Widget"         0 gtk 1 widget              ('.', ':', '-', '/' end a word)
 *
 * Wholes are folded and not stemmed, and only those of at most ANALYZE_TERM_MAX bytes exist; how names are cut is told
 * in index/identifier.h. A word that is one part has no whole. An apostrophe inside a word joins ("don't" is "dont"),
 * but
 * "'s" at the end is left out and the short words of "l'homme" and "dell'arte" stand alone.
 *
 * Where a text is cut depends on the text alone, never on the language: analysed by two languages it gives as many
 * tokens, at the same places and positions, and only the terms differ. Folding comes before stemming, so that a word
 * has one term in a language whether typed with accents or without ("Zürich", "zurich").
 *
 * An analyzer keeps a cache from word to term, because stemming costs and words repeat: one hash lookup a word. It is
 * bounded, and emptied between texts when full. One thread an analyzer; no locks. */
#pragma once

#include "base/span.h"
#include "base/status.h"

#define ANALYZE_TERM_MAX 64
#define ANALYZE_TEXT_MAX (8u << 20) /* bytes of a text that are looked at: more than a page may have */
#define ANALYZE_VERSION \
    4 /* of the rules, special terms included; indexes made with another are made anew from the stored pages */

/* A language as a number: up to three letters of its code ("en", "fil"), 5 bits each; 0: not known. */
typedef uint16_t lang_code;
lang_code lang_code_of(struct span name);             /* takes the primary subtag: "pt-BR" is "pt" */
const char *lang_code_name(lang_code c, char out[4]); /* "" for 0 */

/* A distinct term: while it lives, equal text is the same pointer. `slot` is room for the user of this analyzer to
 * remember its own number for the term: valid when slot_epoch is the epoch that it chose (never 0). */
struct term {
    struct span text; /* in the analyzer, until the next analyze_begin */
    uint64_t hash;    /* of text; not keyed by the outside: see analyzer_new */
    uint32_t slot, slot_epoch;
};

struct token {
    struct term *term;
    uint32_t at, bytes; /* where in the text */
    uint32_t position;
    bool is_whole; /* an identifier as a whole, besides its parts */
};

struct analyzer;

/* `seed` keys the hashes against texts made to collide. */
struct analyzer *analyzer_new(uint64_t seed);
void analyzer_free(struct analyzer *a); /* NULL is fine */

/* Starts a new document (or query): terms handed out before may go. */
void analyze_begin(struct analyzer *a);
/* Appends the tokens of `text` (UTF-8; broken bytes end words) to the analyzer's token array, positions from `position`
 * on, and returns the position after the last. Byte offsets are from the start of this text. */
uint32_t analyze_text(struct analyzer *a, struct span text, lang_code lang, uint32_t position);
/* All tokens since analyze_begin. */
struct token *analyze_tokens(struct analyzer *a, size_t *n);
/* Forgets the tokens from number `from` on, keeping their terms: for a caller that works field by field. */
void analyze_drop(struct analyzer *a, size_t from);

/* The languages that have a stemmer. */
const lang_code *analyze_languages(size_t *n);
