/* prose.h - text for the lab's pages, with words as uneven as those of languages. Pure; any thread.
 *
 * A few words are most of what is said, most words are rare: the word of rank r comes about 1/r as often as the first
 * (Zipf), over PROSE_WORDS words. That is 9 bits a word; how well a page's text can be packed follows from it. */
#pragma once

#include "base/buf.h"
#include "base/rng.h"

#define PROSE_WORDS 4096

/* Appends "Abc de fgh. ". */
void prose_sentence(struct rng *r, struct buf *out);
