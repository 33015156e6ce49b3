/* sketch.h - 64 bits by which two texts can be told to be nearly the same: SimHash over pairs of neighbouring words.
 * The number of differing bits grows with the share of words that differ. Pure; any thread. */
#pragma once

#include "base/span.h"

uint64_t sketch_of(struct span text); /* 0: no words */
/* The same of single words, each once, without their order and case: for texts that were taken apart. */
uint64_t sketch_of_words(struct span text);
