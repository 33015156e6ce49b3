#include "web/sketch.h"

#include "base/siphash.h"

/* Fixed: sketches are compared across machines. */
static const struct sip_key key = {0x736b65746368, 0x6f7262};

#define WORD_MAX 32 /* bytes that count of a word: packages cut long ones */

static bool is_word_byte(unsigned char b)
{
    return ascii_is_alpha((char)b) || (b >= '0' && b <= '9') || b >= 0x80;
}

static bool next_word(struct span text, size_t *at, struct span *out)
{
    size_t from = *at;
    while (from < text.n && !is_word_byte((unsigned char)text.p[from]))
        from++;
    size_t end = from;
    while (end < text.n && is_word_byte((unsigned char)text.p[end]))
        end++;
    *at = end;
    *out = span_cut(text, from, end - from);
    return end > from;
}

static void vote(int votes[64], uint64_t hash)
{
    for (int b = 0; b < 64; b++)
        votes[b] += hash >> b & 1 ? 1 : -1;
}

static uint64_t count(const int votes[64])
{
    uint64_t out = 0;
    for (int b = 0; b < 64; b++)
        out |= (uint64_t)(votes[b] > 0) << b;
    return out ? out : 1;
}

uint64_t sketch_of(struct span text)
{
    int votes[64] = {0};
    uint64_t before = 0;
    bool any = false;
    struct span w;
    for (size_t at = 0; next_word(text, &at, &w);) {
        uint64_t word = siphash(&key, w), both = (word ^ before * 0x9e3779b97f4a7c15u);
        both *= 0xff51afd7ed558ccdu; /* spreads what the two have in common over all bits */
        both ^= both >> 33;
        before = word;
        any = true;
        vote(votes, both);
    }
    return any ? count(votes) : 0;
}

uint64_t sketch_of_words(struct span text)
{
    int votes[64] = {0};
    uint64_t seen[1024] = {0}; /* a bit for 16 bits of hash: two words that share one count as one */
    char folded[WORD_MAX];
    bool any = false;
    struct span w;
    for (size_t at = 0; next_word(text, &at, &w);) {
        size_t n = w.n < sizeof(folded) ? w.n : sizeof(folded);
        for (size_t i = 0; i < n; i++)
            folded[i] = ascii_lower(w.p[i]);
        uint64_t word = siphash(&key, span_of(folded, n));
        unsigned bit = (unsigned)(word >> 48);
        any = true;
        if (seen[bit >> 6] >> (bit & 63) & 1)
            continue;
        seen[bit >> 6] |= UINT64_C(1) << (bit & 63);
        vote(votes, word);
    }
    return any ? count(votes) : 0;
}
