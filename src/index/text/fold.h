/* fold.h - characters as the analyzer sees them: what kind they are, and the form in which spellings are equal.
 *
 * Pure; any thread. */
#pragma once

#include "base/buf.h"

typedef enum char_class {
    CHAR_END,        /* no part of a word: blanks, punctuation, symbols, emoji, broken bytes */
    CHAR_WORD,       /* letters, digits and '_' of scripts with spaces between words */
    CHAR_MARK,       /* goes on with whatever it follows; begins nothing */
    CHAR_IGNORED,    /* soft hyphens, joiners and the like: as CHAR_MARK, and folded away */
    CHAR_APOSTROPHE, /* may join two halves of a word */
    CHAR_DENSE,      /* letters of scripts without spaces: Han, kana, Hangul, Thai, Lao, Khmer, Burmese */
    CHAR_TAIL,       /* as CHAR_MARK, but only after those: vowels of jamo, half-width voice marks */
} char_class;

char_class fold_class(uint32_t cp);
/* Khmer coeng and Burmese virama: the letter after it belongs to the same stack. */
bool fold_is_stacker(uint32_t cp);

/* Is there nothing to see in it but blanks and characters that only steer others? */
bool fold_is_blank(struct span text);

#define FOLD_RAW_MAX 256 /* bytes of a word looked at; cut before the character that passes it */

/* Folds a word of valid UTF-8, at most FOLD_RAW_MAX bytes: compatibility forms (NFKC), case, accents. Writes at most
 * `max` bytes, cut at a character, and returns how many. What is no part of a word is left out.
 *
 * Accents go where readers leave them out when they type (Latin, Greek, Hebrew and Arabic points, stress in Cyrillic);
 * the marks of other scripts are vowels and stay, as do the Cyrillic letters that only look like accented ones. Letters
 * with a stroke and ligatures become what a keyboard without them has: "Łódź" is "lodz", "Ærø" is "aero". */
size_t fold_word(struct span raw, char *out, size_t max);
/* The compatibility form alone (NFKC), for characters of CHAR_DENSE: half-width kana and single jamo become the common
 * ones. */
size_t fold_dense(struct span raw, char *out, size_t max);
/* A whole text as words are folded, but with its punctuation: for values that are compared as they are. Blanks and
 * control characters become one blank, none at the ends; a stretch that is not UTF-8 becomes U+FFFD. Appended. */
void fold_value(struct span raw, struct buf *out);
