/* zipf.h - documents made up by the benchmark: as many as asked for, the same every time.
 *
 * Words by Zipf: rank r comes with a probability of about 1/r, as in natural text, over a vocabulary that grows with
 * the number of words written so far (Heaps: ZIPF_HEAPS_K * words^ZIPF_HEAPS_BETA), so that later documents bring words
 * that earlier ones do not have. Frequent words are short. Each document has a few words of its own that it repeats
 * (without that, all counts of rare words would be 1 and ranking would have nothing to do). About 4.8 kB of text in the
 * mean, lengths spread log-normally; sentences, paragraphs, headings, a title, and for half of them texts of links.
 *
 * A document follows from seed and number alone, so that any of them can be made again: to update it, or to take a
 * query from it. One thread a generator. */
#pragma once

#include "base/rng.h"
#include "web/facts.h"

#define ZIPF_MEAN_WORDS 800.0
#define ZIPF_WORDS_MAX 20000
#define ZIPF_HEAPS_K 30.0
#define ZIPF_HEAPS_BETA 0.58
#define ZIPF_WORD_MAX 16 /* bytes */

struct zipf_doc {
    struct span url, site, lang, title, text, anchors;
    struct fact_heading *headings;
    size_t heading_count;
    uint32_t votes;
};

struct zipf;
struct zipf *zipf_new(uint64_t seed);
void zipf_free(struct zipf *z); /* NULL is fine */

/* Document `number`, in its `version` (another version has another text and the same URL). Borrowed until the next
 * call. */
void zipf_make(struct zipf *z, uint64_t number, unsigned version, struct zipf_doc *out);

/* The word of rank `rank` (0 is the most frequent); returns its length. */
size_t zipf_word(const struct zipf *z, uint32_t rank, char out[ZIPF_WORD_MAX]);
