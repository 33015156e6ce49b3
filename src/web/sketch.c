#include "web/sketch.h"

#include "base/siphash.h"

/* Fixed: sketches are compared across machines. */
static const struct sip_key key = {0x736b65746368, 0x6f7262};

static bool is_word_byte(unsigned char b)
{
    return ascii_is_alpha((char)b) || (b >= '0' && b <= '9') || b >= 0x80;
}

uint64_t sketch_of(struct span text)
{
    int votes[64] = {0};
    uint64_t before = 0, out = 0;
    bool any = false;
    for (size_t i = 0; i < text.n;) {
        size_t from = i;
        while (i < text.n && is_word_byte((unsigned char)text.p[i]))
            i++;
        if (i == from) {
            i++;
            continue;
        }
        uint64_t word = siphash(&key, span_cut(text, from, i - from)), both = (word ^ before * 0x9e3779b97f4a7c15u);
        both *= 0xff51afd7ed558ccdu; /* spreads what the two have in common over all bits */
        both ^= both >> 33;
        before = word;
        any = true;
        for (int b = 0; b < 64; b++)
            votes[b] += both >> b & 1 ? 1 : -1;
    }
    for (int b = 0; b < 64; b++)
        out |= (uint64_t)(votes[b] > 0) << b;
    return any ? (out ? out : 1) : 0;
}
