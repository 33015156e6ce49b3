#include "web/title_words.h"

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

/* Keeps them in order, each once, the highest out when there are too many. */
static void put_word(struct title_words *t, uint16_t word)
{
    size_t at = 0;
    while (at < TITLE_WORDS && t->word[at] && t->word[at] < word)
        at++;
    if (at == TITLE_WORDS || t->word[at] == word)
        return;
    for (size_t i = TITLE_WORDS - 1; i > at; i--)
        t->word[i] = t->word[i - 1];
    t->word[at] = word;
}

struct title_words title_words(const struct sip_key *key, struct span title, simhash_skip_fn *skip, void *arg)
{
    char line[1 + WORD_BYTES_MAX];
    struct span word;
    size_t at = 0, n = 0;
    uint64_t blocks[WORDS_MAX], hashes[WORDS_MAX];
    bool is_left_out[WORDS_MAX];
    struct title_words t = {{0}};
    for (; n < WORDS_MAX && (word = next_line(title, &at, line)).n; n++) {
        blocks[n] = simhash_block(key, word);
        hashes[n] = siphash(key, word);
    }
    skip(arg, blocks, n, is_left_out);
    for (size_t i = 0; i < n; i++)
        if (!is_left_out[i])
            put_word(&t, (uint16_t)(hashes[i] & 0xffff ? hashes[i] & 0xffff : 1));
    return t;
}

/* Up to which word all that a title has are known. */
static uint16_t known_to(const struct title_words *t)
{
    return t->word[TITLE_WORDS - 1] ? t->word[TITLE_WORDS - 1] : UINT16_MAX;
}

bool title_agrees(const struct title_words *a, const struct title_words *b)
{
    if (!a->word[0] || !b->word[0])
        return true;
    uint16_t to = known_to(a) < known_to(b) ? known_to(a) : known_to(b);
    unsigned x = 0, y = 0, both = 0;
    while (x < TITLE_WORDS && a->word[x] && a->word[x] <= to)
        x++;
    while (y < TITLE_WORDS && b->word[y] && b->word[y] <= to)
        y++;
    for (unsigned i = 0, k = 0; i < x && k < y;) {
        uint16_t u = a->word[i], v = b->word[k];
        both += u == v;
        i += u <= v;
        k += v <= u;
    }
    return both && 3 * both >= 2 * (x < y ? x : y);
}

void title_pack(const struct title_words *t, uint64_t out[TITLE_NUMBERS])
{
    for (size_t i = 0; i < TITLE_NUMBERS; i++) {
        out[i] = 0;
        for (size_t k = 0; k < 4; k++)
            out[i] |= (uint64_t)t->word[4 * i + k] << 16 * k;
    }
}

void title_unpack(const uint64_t in[TITLE_NUMBERS], struct title_words *out)
{
    for (size_t i = 0; i < TITLE_WORDS; i++)
        out->word[i] = (uint16_t)(in[i / 4] >> 16 * (i % 4));
}
