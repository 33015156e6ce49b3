#include "lab/serve/prose.h"

#define WORDS_A_SENTENCE 12
#define OCTAVES 12 /* of ranks: 1, 2-3, 4-7, ... */
_Static_assert(1 << OCTAVES == PROSE_WORDS, "an octave has as many ranks as all before it");
#define OCTAVE_BITS 10
#define RANK_BITS 11 /* within the last octave */
#define BITS_A_WORD (OCTAVE_BITS + RANK_BITS)
#define WORD_MAX 8 /* letters */

/* The most frequent ones, in that order. The others are made of three syllables. */
static const char *const common[] = {
    "the",     "a",       "and",     "is",     "with",     "this",   "for",    "was",    "has",   "new",     "or",
    "some",    "every",   "over",    "under",  "near",     "people", "house",  "water",  "old",   "small",   "long",
    "road",    "light",   "never",   "often",  "again",    "far",    "behind", "street", "book",  "school",  "river",
    "market",  "bridge",  "window",  "garden", "winter",   "summer", "letter", "forest", "finds", "village", "morning",
    "evening", "paper",   "station", "island", "mountain", "boat",   "bread",  "music",  "stone", "field",   "harbour",
    "tower",   "kitchen", "song",    "sees",   "holds",    "keeps",  "gives",  "quiet",  "bright"};
#define COMMON (sizeof(common) / sizeof(*common))
static const char syllables[16][2] = {{'b', 'a'}, {'d', 'e'}, {'f', 'i'}, {'g', 'o'}, {'h', 'u'}, {'k', 'a'},
                                      {'l', 'e'}, {'m', 'i'}, {'n', 'o'}, {'p', 'u'}, {'r', 'a'}, {'s', 'e'},
                                      {'t', 'i'}, {'v', 'o'}, {'w', 'u'}, {'z', 'a'}};

static char *put_word(char *at, unsigned rank)
{
    if (rank < COMMON) {
        for (const char *w = common[rank]; *w;)
            *at++ = *w++;
        return at;
    }
    for (int shift = 8; shift >= 0; shift -= 4) {
        *at++ = syllables[rank >> shift & 15][0];
        *at++ = syllables[rank >> shift & 15][1];
    }
    return at;
}

/* Every octave of ranks is as likely as any other: without logarithms that is 1/rank, in steps. */
static unsigned rank_of(unsigned bits)
{
    unsigned octave = (bits >> RANK_BITS) * OCTAVES >> OCTAVE_BITS;
    return (1u << octave) - 1 + (bits & ((1u << octave) - 1));
}

/* Most of a server's work is here: one draw is good for three words. */
void prose_sentence(struct rng *r, struct buf *out)
{
    char *start = buf_room(out, WORDS_A_SENTENCE * (WORD_MAX + 2)), *at = start;
    uint64_t bits = 0;
    for (int i = 0; i < WORDS_A_SENTENCE; i++) {
        if (i % (64 / BITS_A_WORD) == 0)
            bits = rng_u64(r);
        at = put_word(at, rank_of(bits & ((1u << BITS_A_WORD) - 1)));
        bits >>= BITS_A_WORD;
        *at++ = i + 1 < WORDS_A_SENTENCE ? ' ' : '.';
    }
    *at++ = ' ';
    *start = (char)(*start - 'a' + 'A');
    out->n += (size_t)(at - start);
}
