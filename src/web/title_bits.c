#include "web/title_bits.h"

#define MARK '\1' /* visible text has no control characters */
#define WORD_BYTES_MAX 64
#define WORDS_MAX 32

/* Unlike those of a text, words may have '_' in them: names of functions are one word each. */
static bool is_word_byte(char c)
{
    return ascii_is_alpha(c) || ascii_is_digit(c) || c == '_' || (unsigned char)c >= 0x80;
}

/* The next word as a line: MARK and the word, in lower case. Empty: there is none. */
static struct span next_line(struct span title, size_t *at, char line[1 + WORD_BYTES_MAX])
{
    size_t n = 1;
    line[0] = MARK;
    while (*at < title.n && !is_word_byte(title.p[*at]))
        ++*at;
    for (; *at < title.n && is_word_byte(title.p[*at]); ++*at)
        if (n <= WORD_BYTES_MAX)
            line[n++] = ascii_lower(title.p[*at]);
    return n > 1 ? span_of(line, n) : (struct span){0};
}

void title_put_blocks(struct span title, struct buf *out)
{
    char line[1 + WORD_BYTES_MAX];
    struct span word;
    size_t at = 0;
    for (int i = 0; i < WORDS_MAX && (word = next_line(title, &at, line)).n; i++) {
        buf_putc(out, '\n');
        buf_put(out, word);
    }
}

uint64_t title_bits(const struct sip_key *key, struct span title, simhash_skip_fn *skip, void *arg)
{
    char line[1 + WORD_BYTES_MAX];
    struct span word;
    size_t at = 0, n = 0;
    uint64_t bits = 0, blocks[WORDS_MAX], hashes[WORDS_MAX];
    bool is_left_out[WORDS_MAX];
    for (; n < WORDS_MAX && (word = next_line(title, &at, line)).n; n++) {
        blocks[n] = simhash_block(key, word);
        hashes[n] = siphash(key, word);
    }
    skip(arg, blocks, n, is_left_out);
    for (size_t i = 0; i < n; i++)
        if (!is_left_out[i])
            bits |= UINT64_C(1) << (hashes[i] & 63);
    return bits;
}

bool title_agrees(uint64_t a, uint64_t b)
{
    int x = __builtin_popcountll(a), y = __builtin_popcountll(b), both = __builtin_popcountll(a & b);
    return 3 * both >= 2 * (x < y ? x : y);
}
