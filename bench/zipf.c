#include "zipf.h"

#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"

#define FRACTIONS 4096 /* steps of the table of 2^x between 0 and 1 */
#define RANK_BITS_MAX 26
#define READY_WORDS 65536 /* kept as text: most of all words drawn */
#define TOPIC_WORDS 6
#define TOPIC_SHARE 23     /* of 256 words drawn are the document's own */
#define TOPIC_BITS_MIN 8.2 /* no own word among the 300 most frequent */
#define HEADINGS_MAX 128
#define SITES 2000

struct ready_word {
    char text[ZIPF_WORD_MAX - 1];
    uint8_t n;
};

struct zipf {
    uint64_t seed;
    double power[FRACTIONS + 1];
    struct ready_word *ready; /* owned */
    struct rng rng;           /* of the document under way */
    double rank_bits;         /* log2 of the vocabulary at the document under way */
    uint32_t topic[TOPIC_WORDS];
    struct buf text, title, anchors, url, site;
    struct fact_heading headings[HEADINGS_MAX];
    struct {
        uint32_t at, n;
    } heading_at[HEADINGS_MAX];
    size_t heading_count;
};

static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

/* Syllables of a consonant and a vowel spell a number in base 85. The ranks with words of k syllables are shuffled
 * among each other (the factor shares none with 85), so no two give one word, and neighbours look different. What
 * follows the syllables depends on the rank alone. */
static size_t spell(uint32_t rank, char *out)
{
    static const char consonants[] = "tsrnldmkpbgvfhzwc", vowels[] = "eaoiu", ends[] = "nrstlmkd";
    static const char *const tails[] = {"tion", "ment", "ness", "ing"};
    char *p = out;
    uint64_t h = mix(rank), count = 85, rest = rank;
    for (; rest >= count; count *= 85)
        rest -= count;
    for (rest = rest * 48271 % count; count > 1; count /= 85, rest /= 85) {
        *p++ = consonants[rest % 17];
        *p++ = vowels[rest / 17 % 5];
    }
    if ((h & 3) == 0)
        *p++ = ends[h >> 2 & 7];
    else if ((h & 31) == 1 && p - out >= 4)
        for (const char *t = tails[h >> 5 & 3]; *t; t++)
            *p++ = *t;
    return (size_t)(p - out);
}

struct zipf *zipf_new(uint64_t seed)
{
    struct zipf *z = mem_alloc(sizeof(*z));
    z->seed = seed;
    for (int i = 0; i <= FRACTIONS; i++)
        z->power[i] = exp2((double)i / FRACTIONS);
    z->ready = mem_alloc(READY_WORDS * sizeof(*z->ready));
    for (uint32_t i = 0; i < READY_WORDS; i++)
        z->ready[i].n = (uint8_t)spell(i, z->ready[i].text);
    return z;
}

void zipf_free(struct zipf *z)
{
    if (!z)
        return;
    buf_done(&z->text);
    buf_done(&z->title);
    buf_done(&z->anchors);
    buf_done(&z->url);
    buf_done(&z->site);
    free(z->ready);
    free(z);
}

size_t zipf_word(const struct zipf *z, uint32_t rank, char out[ZIPF_WORD_MAX])
{
    if (rank >= READY_WORDS)
        return spell(rank, out);
    memcpy(out, z->ready[rank].text, sizeof(z->ready[rank].text));
    return z->ready[rank].n;
}

/* A rank r has probability log(1 + 1/(r+1)) / log(vocabulary): 2 to a power drawn evenly. */
static uint32_t draw_rank(struct zipf *z, double bits_min)
{
    double x = bits_min + (z->rank_bits - bits_min) * ((double)(rng_u64(&z->rng) >> 32) * 0x1p-32);
    int whole = (int)x;
    double at = (x - whole) * FRACTIONS;
    int step = (int)at;
    double power = z->power[step] + (z->power[step + 1] - z->power[step]) * (at - step);
    return (uint32_t)(power * (double)(1u << whole)) - 1;
}

static void put_word(struct zipf *z, struct buf *b, bool is_capital)
{
    uint64_t r = rng_u64(&z->rng);
    uint32_t rank = (r & 255) < TOPIC_SHARE ? z->topic[(r >> 8) % TOPIC_WORDS] : draw_rank(z, 0);
    char *p = buf_room(b, ZIPF_WORD_MAX + 1);
    b->n += zipf_word(z, rank, p);
    if (is_capital)
        p[0] = (char)(p[0] & ~0x20);
}

static void put_topic_word(struct zipf *z, struct buf *b, unsigned i)
{
    b->n += zipf_word(z, z->topic[i % TOPIC_WORDS], buf_room(b, ZIPF_WORD_MAX));
}

static void make_title(struct zipf *z)
{
    size_t words = 3 + rng_below(&z->rng, 5);
    buf_clear(&z->title);
    for (size_t i = 0; i < words; i++) {
        if (i)
            buf_putc(&z->title, ' ');
        if (i == 1 || i == 2)
            put_topic_word(z, &z->title, (unsigned)i);
        else
            put_word(z, &z->title, i == 0);
    }
}

static size_t make_heading(struct zipf *z)
{
    size_t words = 2 + rng_below(&z->rng, 4), at = z->text.n;
    put_word(z, &z->text, true);
    for (size_t i = 1; i < words; i++) {
        buf_putc(&z->text, ' ');
        if (i == 1)
            put_topic_word(z, &z->text, (unsigned)rng_below(&z->rng, TOPIC_WORDS));
        else
            put_word(z, &z->text, false);
    }
    z->heading_at[z->heading_count].at = (uint32_t)at;
    z->heading_at[z->heading_count++].n = (uint32_t)(z->text.n - at);
    buf_putc(&z->text, '\n');
    return words;
}

static size_t make_sentence(struct zipf *z)
{
    size_t words = 4 + rng_below(&z->rng, 20);
    for (size_t i = 0; i < words; i++) {
        uint64_t r = rng_u64(&z->rng);
        if (i)
            buf_puts(&z->text, (r & 31) == 0 ? ", " : " ");
        if ((r >> 5 & 127) == 0)
            buf_printf(&z->text, "%u", (unsigned)(r >> 12) % 2100);
        else
            put_word(z, &z->text, i == 0);
    }
    buf_puts(&z->text, ".");
    return words;
}

/* A normal number from twelve even ones: good enough for lengths. */
static double draw_normal(struct rng *r)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += rng_unit(r);
    return sum;
}

static void make_text(struct zipf *z)
{
    const double sigma = 0.8;
    double words = exp(log(ZIPF_MEAN_WORDS) - sigma * sigma / 2 + sigma * draw_normal(&z->rng));
    size_t want = words < 30 ? 30 : words > ZIPF_WORDS_MAX ? ZIPF_WORDS_MAX : (size_t)words;
    size_t to_heading = 0;
    buf_clear(&z->text);
    z->heading_count = 0;
    for (size_t have = 0; have < want;) {
        if (have >= to_heading && z->heading_count < HEADINGS_MAX) {
            have += make_heading(z);
            to_heading = have + 100 + rng_below(&z->rng, 300);
        }
        for (uint64_t sentences = 1 + rng_below(&z->rng, 6); sentences; sentences--) {
            have += make_sentence(z);
            buf_putc(&z->text, sentences > 1 ? ' ' : '\n');
        }
    }
    for (size_t i = 0; i < z->heading_count; i++)
        z->headings[i] = (struct fact_heading){(uint8_t)(i ? 2 : 1),
                                               span_cut(buf_span(&z->text), z->heading_at[i].at, z->heading_at[i].n)};
}

/* Half of the documents are linked to; few of them often. Returns the number of links. */
static uint32_t make_anchors(struct zipf *z)
{
    uint64_t r = rng_u64(&z->rng);
    uint32_t votes = 0;
    while (r & 1 && votes < 64) {
        votes = votes * 2 + 1;
        r >>= 1;
    }
    buf_clear(&z->anchors);
    for (uint32_t i = 0; i < votes && i < 8; i++) {
        if (i)
            buf_putc(&z->anchors, '\n');
        put_topic_word(z, &z->anchors, (unsigned)(r >> 8));
        for (uint64_t more = 1 + rng_below(&z->rng, 3); more; more--) {
            buf_putc(&z->anchors, ' ');
            put_word(z, &z->anchors, false);
        }
    }
    return votes;
}

static void make_url(struct zipf *z, uint64_t number)
{
    buf_clear(&z->site);
    buf_printf(&z->site, "site%u.example", (unsigned)(mix(z->seed ^ number) % SITES));
    buf_clear(&z->url);
    buf_puts(&z->url, "https://");
    buf_put(&z->url, buf_span(&z->site));
    buf_putc(&z->url, '/');
    put_topic_word(z, &z->url, 3);
    buf_putc(&z->url, '/');
    put_topic_word(z, &z->url, 1);
    buf_printf(&z->url, "-%llu.html", (unsigned long long)number);
}

void zipf_make(struct zipf *z, uint64_t number, unsigned version, struct zipf_doc *out)
{
    double words = ((double)number + 1) * ZIPF_MEAN_WORDS;
    z->rank_bits = fmin(log2(ZIPF_HEAPS_K * pow(words, ZIPF_HEAPS_BETA)), RANK_BITS_MAX);
    rng_seed(&z->rng, mix(z->seed + mix(number)));
    for (int i = 0; i < TOPIC_WORDS; i++)
        z->topic[i] = draw_rank(z, TOPIC_BITS_MIN);
    make_url(z, number);
    if (version)
        rng_seed(&z->rng, mix(z->seed + mix(number) + version));
    make_title(z);
    make_text(z);
    uint32_t votes = make_anchors(z);
    *out = (struct zipf_doc){buf_span(&z->url),   buf_span(&z->site), SPAN("en"),
                             buf_span(&z->title), buf_span(&z->text), buf_span(&z->anchors),
                             z->headings,         z->heading_count,   votes};
}
