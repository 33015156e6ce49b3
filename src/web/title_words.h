/* title_words.h - the words of a page's title as a few small numbers, to tell pages that call themselves differently.
 *
 * Pages of one pattern (a reference manual, a catalogue) may have most of their text in common and are different pages
 * all the same: their titles say so. Words that many titles of a site have ("- Example Manual") do not count; they are
 * counted as blocks of the page (boilerplate.h).
 *
 * A word is 16 bits of its hash. Of long titles the lowest are kept, which are the same ones in every title that has
 * them: a sample.
 *
 *     Dark rye for the home oven      0b31 2e80 51c4 7d02 9a6f e210    -    -
 *
 * Pure; any thread. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/siphash.h"
#include "web/simhash.h"

#define TITLE_WORDS 8
#define TITLE_NUMBERS (TITLE_WORDS / 4)

struct title_words {
    uint16_t word[TITLE_WORDS]; /* ascending, then zeros; all zeros: it has none that count */
};

/* Appends the words of a title as lines that no text has, to be counted with the lines of the page's text. */
void title_put_blocks(struct span title, struct buf *out);
/* Its words but those that `skip` names (by simhash_block of their lines). */
struct title_words title_words(const struct sip_key *key, struct span title, simhash_skip_fn *skip, void *arg);
/* Whether two of three words of the shorter title are in the other; a page without a title may be called anything. */
bool title_agrees(const struct title_words *a, const struct title_words *b);

void title_pack(const struct title_words *t, uint64_t out[TITLE_NUMBERS]);
void title_unpack(const uint64_t in[TITLE_NUMBERS], struct title_words *out);
