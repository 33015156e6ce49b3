#include "web/simhash.h"

#include "base/utf8.h"

#define WORD_BYTES_MAX 64   /* that count of a word */
#define BLOCK_BYTES_MAX 512 /* that count of a block */
#define BLOCKS 64           /* that are asked about at a time */
/* From here on scripts are written without blanks: CJK radicals and everything behind them. */
#define FIRST_IDEOGRAPH 0x2e80
#define BATCH 8
#define PLANES 20 /* bits of a count: of three shingles a word, each some times */
#define TIMES_BITS 15
#define TIMES_MAX ((UINT64_C(1) << TIMES_BITS) - 1) /* each word ends three shingles: more than all of a text */
_Static_assert(3 * SIMHASH_WORDS_MAX < TIMES_MAX, "they fit");

/* ---- counting bits ----
 *
 * How many hashes have each bit is counted in planes: plane k has bit k of all 64 counts of a lane. Hashes are added
 * eight at a time, by full adders as in hardware, so that a count costs a tenth of an operation and not one. */

struct votes {
    unsigned waiting;
    uint32_t count;
    uint64_t batch[BATCH][SIMHASH_LANES];
    uint64_t planes[PLANES][SIMHASH_LANES];
};

static void votes_begin(struct votes *v)
{
    v->waiting = 0;
    v->count = 0;
    memset(v->planes, 0, sizeof(v->planes));
}

/* a + b + c of each bit: *sum has the low bits, the result the carries. */
static inline uint64_t add3(uint64_t a, uint64_t b, uint64_t c, uint64_t *sum)
{
    uint64_t half = a ^ b;
    *sum = half ^ c;
    return (a & b) | (half & c);
}

static void add_batch(struct votes *v, unsigned lanes)
{
    for (unsigned i = v->waiting; i < BATCH; i++)
        memset(v->batch[i], 0, sizeof(v->batch[i]));
    for (unsigned l = 0; l < lanes; l++) {
        uint64_t one = v->planes[0][l], two = v->planes[1][l], four = v->planes[2][l], a, b, c, d, x, y;
        a = add3(one, v->batch[0][l], v->batch[1][l], &one);
        b = add3(one, v->batch[2][l], v->batch[3][l], &one);
        x = add3(two, a, b, &two);
        c = add3(one, v->batch[4][l], v->batch[5][l], &one);
        d = add3(one, v->batch[6][l], v->batch[7][l], &one);
        y = add3(two, c, d, &two);
        uint64_t carry = add3(four, x, y, &four);
        v->planes[0][l] = one;
        v->planes[1][l] = two;
        v->planes[2][l] = four;
        for (unsigned k = 3; carry && k < PLANES; k++) {
            uint64_t next = v->planes[k][l] & carry;
            v->planes[k][l] ^= carry;
            carry = next;
        }
    }
    v->waiting = 0;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

/* Inline, for `lanes` is a number wherever it is called: the multiplications of all lanes are under way at once. */
static inline void vote(struct votes *v, unsigned lanes, uint64_t shingle)
{
    uint64_t *hashes = v->batch[v->waiting++];
    for (unsigned l = 0; l < lanes; l++)
        hashes[l] = mix(shingle + l * 0x9e3779b97f4a7c15u);
    v->count++;
    if (v->waiting == BATCH)
        add_batch(v, lanes);
}

/* The bits that more than half of the hashes have: the counts against one number, plane by plane from the top. */
static void elect(struct votes *v, unsigned lanes, uint64_t *out)
{
    add_batch(v, lanes);
    for (unsigned l = 0; l < lanes; l++) {
        uint64_t above = 0, same = UINT64_MAX;
        for (unsigned k = PLANES; k-- > 0;) {
            uint64_t plane = v->planes[k][l], bit = v->count / 2 >> k & 1 ? UINT64_MAX : 0;
            above |= same & plane & ~bit;
            same &= ~(plane ^ bit);
        }
        out[l] = above;
    }
}

/* ---- words ---- */

/* The next word of a block, folded into `folded`; empty: there is none. */
static struct span next_word(struct span block, size_t *at, char folded[WORD_BYTES_MAX])
{
    size_t n = 0, from;
    while ((from = *at) < block.n) {
        unsigned char b = (unsigned char)block.p[from];
        if (b < 0x80) {
            ++*at;
            if (ascii_is_alpha((char)b) || ascii_is_digit((char)b)) {
                if (n < WORD_BYTES_MAX)
                    folded[n++] = ascii_lower((char)b);
            } else if (n) {
                break;
            }
            continue;
        }
        uint32_t c = utf8_next(block, at, NULL);
        bool is_whole = c >= FIRST_IDEOGRAPH;
        if (is_whole && n) {
            *at = from;
            break;
        }
        for (size_t i = from; i < *at && n < WORD_BYTES_MAX; i++)
            folded[n++] = block.p[i];
        if (is_whole)
            break;
    }
    return span_of(folded, n);
}

/* ---- shingles ---- */

struct shingles {
    uint64_t *words; /* their hashes, 0 at the end of a block */
    size_t count, word_count;
    uint64_t *slots; /* shingles that were there and, in the low TIMES_BITS, how often; 0: free */
    size_t mask;
    struct votes bands, bits;
};

/* The first, second, fourth, eighth ... time it is there it counts: what a page repeats is part of it, and does not
 * outvote all the rest. */
static inline bool is_counted(struct shingles *s, uint64_t shingle)
{
    uint64_t name = shingle & ~TIMES_MAX, times;
    size_t i = shingle & s->mask;
    while (s->slots[i] && (s->slots[i] & ~TIMES_MAX) != name)
        i = (i + 1) & s->mask;
    times = (s->slots[i] & TIMES_MAX) + 1;
    s->slots[i] = name | times;
    return !(times & (times - 1));
}

/* The words of one block; one that has fewer than SIMHASH_SHINGLE is one shingle. Returns where the next begins. */
static size_t add_block(struct shingles *s, size_t at)
{
    uint64_t before = 0, before_that = 0, whole = 0;
    size_t n = 0;
    for (; s->words[at]; at++, n++) {
        uint64_t hash = s->words[at], pair = mix(before * 3 + hash);
        whole = mix(before_that * 5 + pair);
        if (is_counted(s, hash))
            vote(&s->bands, SIMHASH_BAND_LANES, hash);
        if (n >= 1 && is_counted(s, pair))
            vote(&s->bands, SIMHASH_BAND_LANES, pair);
        if (n >= SIMHASH_SHINGLE - 1 && is_counted(s, whole))
            vote(&s->bits, SIMHASH_LANES, whole);
        before_that = before;
        before = hash;
    }
    if (n && n < SIMHASH_SHINGLE && is_counted(s, whole))
        vote(&s->bits, SIMHASH_LANES, whole);
    return at + 1;
}
_Static_assert(SIMHASH_SHINGLE == 3, "add_block remembers two words");

static void count_shingles(struct shingles *s, struct arena *work, struct simhash *out)
{
    size_t slots = 64;
    while (slots < 4 * s->word_count) /* each word ends three shingles at most */
        slots *= 2;
    s->slots = arena_alloc(work, slots * sizeof(*s->slots));
    s->mask = slots - 1;
    memset(s->slots, 0, slots * sizeof(*s->slots));
    votes_begin(&s->bands);
    votes_begin(&s->bits);
    for (size_t at = 0; at < s->count;)
        at = add_block(s, at);
    elect(&s->bands, SIMHASH_BAND_LANES, out->bands);
    elect(&s->bits, SIMHASH_LANES, out->bits);
}

/* ---- texts ---- */

/* Is one of these eight bytes a digit? Digits, and only they, are below ten once '0' is taken away bit by bit, and what
 * is below ten borrows its own high bit when ten is subtracted. */
static bool has_digit(uint64_t eight)
{
    uint64_t less = eight ^ 0x3030303030303030u;
    return (less - 0x0a0a0a0a0a0a0a0au) & ~less & 0x8080808080808080u;
}

uint64_t simhash_block(const struct sip_key *key, struct span block)
{
    char folded[BLOCK_BYTES_MAX];
    size_t n = 0, i = 0;
    uint64_t eight;
    block = span_trim(block);
    while (i < block.n && n < BLOCK_BYTES_MAX) {
        if (block.n - i >= 8 && n <= BLOCK_BYTES_MAX - 8) {
            memcpy(&eight, block.p + i, 8);
            if (!has_digit(eight)) {
                memcpy(folded + n, &eight, 8);
                i += 8;
                n += 8;
                continue;
            }
        }
        bool is_digit = ascii_is_digit(block.p[i]);
        if (!is_digit || !n || folded[n - 1] != '0')
            folded[n++] = is_digit ? '0' : block.p[i];
        i++;
    }
    return siphash(key, span_of(folded, n));
}

static void gather_block(struct shingles *s, const struct sip_key *key, struct span block)
{
    struct span word;
    char folded[WORD_BYTES_MAX];
    for (size_t at = 0; s->word_count < SIMHASH_WORDS_MAX; s->word_count++) {
        word = next_word(block, &at, folded);
        if (!word.n)
            break;
        uint64_t hash = siphash(key, word);
        s->words[s->count++] = hash ? hash : 1;
    }
    s->words[s->count++] = 0;
}

static size_t gather_words(struct shingles *s, const struct sip_key *key, struct span text, simhash_skip_fn *skip,
                           void *arg)
{
    struct span blocks[BLOCKS];
    uint64_t hashes[BLOCKS];
    bool is_left_out[BLOCKS] = {0};
    s->count = s->word_count = 0;
    for (size_t n = 1; n && s->word_count < SIMHASH_WORDS_MAX;) {
        for (n = 0; n < BLOCKS && span_split(&text, '\n', &blocks[n]); n++)
            hashes[n] = skip ? simhash_block(key, blocks[n]) : 0;
        if (skip)
            skip(arg, hashes, n, is_left_out);
        for (size_t i = 0; i < n && s->word_count < SIMHASH_WORDS_MAX; i++)
            if (!is_left_out[i])
                gather_block(s, key, blocks[i]);
    }
    return s->word_count;
}

bool simhash_of(struct arena *work, const struct sip_key *key, struct span text, simhash_skip_fn *skip, void *arg,
                struct simhash *out)
{
    struct shingles s;
    s.words =
        arena_alloc(work, (text.n + 2) * sizeof(*s.words)); /* a word, or the end of a block, has a byte at least */
    bool is_enough = gather_words(&s, key, text, skip, arg) >= SIMHASH_WORDS_MIN;
    if (!is_enough && skip)
        is_enough = gather_words(&s, key, text, NULL, NULL) >= SIMHASH_WHOLE_MIN;
    if (is_enough)
        count_shingles(&s, work, out);
    return is_enough;
}
