/* title_bits.h - the words of a page's title as 64 bits, to tell pages that call themselves differently.
 *
 * Pages of one pattern (a reference manual, a catalogue) may have most of their text in common and are different pages
 * all the same: their titles say so. Words that many titles of a site have ("- Example Manual") do not count; they are
 * counted as blocks of the page (boilerplate.h). Pure; any thread. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/siphash.h"
#include "web/simhash.h"

/* Appends the words of a title as lines that no text has, to be counted with the lines of the page's text. */
void title_put_blocks(struct span title, struct buf *out);
/* A bit for each word but those that `skip` names (by simhash_block of its line). 0: there is none. */
uint64_t title_bits(const struct sip_key *key, struct span title, simhash_skip_fn *skip, void *arg);
/* Whether two of three words of the shorter title are in the other; a page without a title may be called anything. */
bool title_agrees(uint64_t a, uint64_t b);
