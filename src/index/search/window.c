#include "index/search/window.h"

#include <endian.h>

static inline void set_bit(uint64_t *bits, uint32_t at)
{
    bits[at >> 6] |= 1ull << (at & 63);
}

/* How many of the documents from the current one on lie in the window: the block's rest, mostly. */
static uint32_t run_in(const struct postings *p, uint32_t end)
{
    uint32_t n = p->count;
    if (p->docs[n - 1] >= end)
        for (n = p->at; p->docs[n] < end;)
            n++;
    return n;
}

/* Steps a cursor through the window, a block's share at a time. */
static bool next_run(struct postings *p, uint32_t from, uint32_t end, uint32_t *to)
{
    if (p->doc < from)
        postings_seek(p, from);
    if (p->doc >= end)
        return false;
    *to = run_in(p, end);
    return true;
}

static void fill_term(struct window at, struct word_cursor *w, unsigned alt, uint64_t *bits)
{
    struct postings *p = &w->alts[alt];
    uint32_t to, from = at.base;
    while (next_run(p, from, at.end, &to)) {
        for (uint32_t i = p->at; i < to; i++)
            if (word_counts_in(w, alt, p->docs[i]))
                set_bit(bits, p->docs[i] - at.base);
        from = p->docs[to - 1] + 1;
    }
}

static void settle(struct word_cursor *w)
{
    uint32_t least = POSTINGS_END;
    for (unsigned i = 0; i < w->alt_count; i++) {
        word_settle(w, i);
        least = w->alts[i].doc < least ? w->alts[i].doc : least;
    }
    w->doc = least;
}

void window_fill(struct window at, struct word_cursor *w, window_bits bits)
{
    for (unsigned i = 0; i < w->alt_count; i++)
        fill_term(at, w, i, bits);
    settle(w);
}

static bool score_term(struct matcher *m, struct window at, struct word_cursor *w, double need, uint64_t *bits,
                       double *scores)
{
    struct postings *p = w->alts;
    const uint8_t *codes = m->codes;
    const struct rank_tables *rank = &m->rank;
    double idf = w->word->idf;
    uint32_t to, from = at.base;
    bool left_out = false;
    while (next_run(p, from, at.end, &to)) {
        uint32_t last = p->docs[to - 1];
        uint32_t peek_last;
        uint8_t code;
        from = last + 1;
        if (need > 0 && postings_peek(p, p->doc, &peek_last, &code) && rank_term(rank, idf, m->bound_tf[code]) < need) {
            left_out = true;
            continue;
        }
        if (!postings_counts(p))
            break;
        for (uint32_t i = p->at; i < to; i++) {
            uint32_t doc = p->docs[i];
            double tf = rank_tf(rank, p->body[i], p->heads[i], codes[2 * (size_t)doc]);
            set_bit(bits, doc - at.base);
            scores[doc - at.base] = rank_term(rank, idf, tf);
        }
    }
    return left_out;
}

/* Terms of one word: their counts are added up before they score. */
static void score_terms(struct matcher *m, struct window at, struct word_cursor *w, uint64_t *bits, double *scores)
{
    uint32_t body[WINDOW_DOCS];
    uint8_t heads[WINDOW_DOCS];
    uint32_t to;
    for (unsigned k = 0; k < w->alt_count; k++) {
        struct postings *p = &w->alts[k];
        for (uint32_t from = at.base; next_run(p, from, at.end, &to); from = p->docs[to - 1] + 1) {
            if (!postings_counts(p))
                break;
            for (uint32_t i = p->at; i < to; i++) {
                if (!word_counts_in(w, k, p->docs[i]))
                    continue;
                uint32_t slot = p->docs[i] - at.base;
                bool is_new = !(bits[slot >> 6] >> (slot & 63) & 1);
                body[slot] = is_new ? p->body[i] : body[slot] + p->body[i];
                heads[slot] = is_new ? p->heads[i] : match_heads_sum(heads[slot], p->heads[i]);
                set_bit(bits, slot);
            }
        }
    }
    for (unsigned word = 0; word < WINDOW_WORDS; word++) {
        for (uint64_t left = bits[word]; left; left &= left - 1) {
            uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(left);
            uint8_t length = m->codes[2 * (size_t)(at.base + slot)];
            scores[slot] = rank_term(&m->rank, w->word->idf, rank_tf(&m->rank, body[slot], heads[slot], length));
        }
    }
}

bool window_score(struct matcher *m, struct window at, struct word_cursor *w, double need, window_bits bits,
                  double scores[WINDOW_DOCS])
{
    bool is_one = w->alt_count == 1 && !w->limits;
    bool left_out = is_one && score_term(m, at, w, need, bits, scores);
    if (!is_one)
        score_terms(m, at, w, bits, scores);
    settle(w);
    return left_out;
}

double window_bound(struct matcher *m, struct window at, struct word_cursor *w)
{
    double most = 0;
    uint32_t last;
    double bound;
    for (uint32_t doc = w->doc > at.base ? w->doc : at.base; doc < at.end; doc = last + 1) {
        if (!word_bound(m, w, doc, &last, &bound))
            break;
        most = bound > most ? bound : most;
    }
    return most;
}

void window_live(const struct matcher *m, struct window at, window_bits bits)
{
    const uint8_t *dead = m->at->dead;
    memset(bits, 0, sizeof(window_bits));
    for (uint32_t from = at.base; from < at.end; from += 64) {
        uint32_t n = at.end - from < 64 ? at.end - from : 64;
        uint64_t word = 0;
        if (dead) {
            memcpy(&word, dead + from / 8, (n + 7) / 8);
            word = le64toh(word);
        }
        bits[(from - at.base) / 64] = ~word & (n < 64 ? (1ull << n) - 1 : UINT64_MAX);
    }
}

unsigned window_count(const window_bits bits)
{
    unsigned n = 0;
    for (unsigned i = 0; i < WINDOW_WORDS; i++)
        n += (unsigned)__builtin_popcountll(bits[i]);
    return n;
}

/* Which of four documents have a prior of at least this code, in four bits. Their codes are 16 bits each, the prior on
 * top; what is added to it carries into the next bit when it suffices, and the product moves the four carries together.
 */
static uint64_t four_good_priors(const uint8_t *codes, unsigned least)
{
    const uint64_t ones = 0x0001000100010001u;
    uint64_t v;
    memcpy(&v, codes, sizeof(v));
    v = le64toh(v) >> 8 & 0xff * ones;
    uint64_t carries = (v + (256 - least) * ones) >> 8 & ones;
    return carries * (1ull << 48 | 1ull << 33 | 1ull << 18 | 1ull << 3) >> 48 & 15;
}

unsigned window_good_prior(const struct matcher *m, struct window at, unsigned least, window_bits bits)
{
    uint32_t i = 0, n = at.end - at.base;
    memset(bits, 0, sizeof(window_bits));
    for (; i < n && !least; i += 64) /* none beyond the window's end: there is no page */
        bits[i / 64] = n - i < 64 ? (1ull << (n - i)) - 1 : UINT64_MAX;
    if (!least)
        return n;
    if (least > 255)
        return 0;
    const uint8_t *codes = m->codes + 2 * (size_t)at.base;
    for (; i + 4 <= n; i += 4)
        bits[i / 64] |= four_good_priors(codes + 2 * (size_t)i, least) << i % 64;
    for (; i < n; i++)
        bits[i / 64] |= (uint64_t)(codes[2 * (size_t)i + 1] >= least) << i % 64;
    return window_count(bits);
}
