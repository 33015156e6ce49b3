/* simhash.h - a fingerprint of a page's main text by which near-duplicates are found: SimHash over shingles of words.
 *
 * The text is taken apart into blocks (its lines), a block into runs of words; a run that is there n times counts
 * 1 + log2(n) times. Blocks that the caller knows as boilerplate do not count. Each run has a hash; a bit of the
 * fingerprint is that which most of them have. Two texts that have most of their runs in common differ in few bits.
 *
 * A fingerprint has two parts. `bands` is of single words and pairs of them: it changes little when words here and
 * there do, so that candidates can be found by parts of it that are the same. `bits` is of runs of three words, and
 * twice as long: it decides, because pages of one subject or one pattern have words in common and few runs.
 *
 * Words are hashed with the key of the data folder, so that nobody outside can aim at somebody else's page:
 * fingerprints of two folders have nothing in common. (What two agents fetched is compared by sketch.h, which needs no
 * key.) Pure; any thread. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/siphash.h"

#define SIMHASH_BAND_LANES 2 /* of 64 bits */
#define SIMHASH_LANES 8
#define SIMHASH_NUMBERS (SIMHASH_BAND_LANES + SIMHASH_LANES)
#define SIMHASH_BITS (64 * SIMHASH_LANES)
#define SIMHASH_SHINGLE 3
#define SIMHASH_WORDS_MAX 8192 /* of a text that count: the first ones */
#define SIMHASH_WORDS_MIN 10   /* with fewer, nothing can be said */
#define SIMHASH_WHOLE_MIN 40   /* the same of a text with its boilerplate */

struct simhash {
    uint64_t bands[SIMHASH_BAND_LANES];
    uint64_t bits[SIMHASH_LANES];
};

/* What a block is known by: its hash, without white space at its ends and with every number as 0, so that dates and
 * counts make no difference. */
uint64_t simhash_block(const struct sip_key *key, struct span block);

/* Which of some blocks are boilerplate: is_left_out[i] of blocks[i]. Many at a time, since the answers come from a
 * large table. */
typedef void simhash_skip_fn(void *arg, const uint64_t *blocks, size_t n, bool *is_left_out);

/* The fingerprint of the visible text of a page. Without the blocks that `skip` (may be NULL) names; of all blocks when
 * fewer than SIMHASH_WORDS_MIN words would be left and there are SIMHASH_WHOLE_MIN in all: many copies of one page look
 * like boilerplate too. Words count without their ASCII case; of scripts without blanks every character is a word.
 * `work` is only worked with. False: there are too few words, and *out is untouched. */
bool simhash_of(struct arena *work, const struct sip_key *key, struct span text, simhash_skip_fn *skip, void *arg,
                struct simhash *out);

/* Bits that differ, of SIMHASH_BITS. */
static inline unsigned simhash_distance(const struct simhash *a, const struct simhash *b)
{
    unsigned n = 0;
    for (int i = 0; i < SIMHASH_LANES; i++)
        n += (unsigned)__builtin_popcountll(a->bits[i] ^ b->bits[i]);
    return n;
}

/* The same of the bands. */
static inline unsigned simhash_band_distance(const uint64_t *a, const uint64_t *b)
{
    unsigned n = 0;
    for (int i = 0; i < SIMHASH_BAND_LANES; i++)
        n += (unsigned)__builtin_popcountll(a[i] ^ b[i]);
    return n;
}

/* All of it as numbers, for rows. */
static inline void simhash_pack(const struct simhash *h, uint64_t out[SIMHASH_NUMBERS])
{
    memcpy(out, h->bands, sizeof(h->bands));
    memcpy(out + SIMHASH_BAND_LANES, h->bits, sizeof(h->bits));
}

static inline void simhash_unpack(const uint64_t in[SIMHASH_NUMBERS], struct simhash *out)
{
    memcpy(out->bands, in, sizeof(out->bands));
    memcpy(out->bits, in + SIMHASH_BAND_LANES, sizeof(out->bits));
}
