/* execute_words.c - one clause of single words, by windows of documents.
 *
 * In each window the words are put in order of what they could bring to a page of it. Those at the low end that even
 * together cannot bring a page in are only looked up; the postings of the others ("leading") are added up page by page:
 *
 *     window       [ base ............................ end )
 *     the   0.01   looked up for what is left             bound 0.01
 *     tree  3.1    .....2.9...........3.0.......          leading
 *     oak   5.2    ..........4.8......5.1.......          leading: pages 2.9, 4.8, 8.1 + what "the" can add */
#include "index/search/execute.h"
#include "index/search/window.h"

#define FEW 8 /* pages of a window are few when they are less than one in so many */

struct list {
    struct atom_cursor *atom;
    struct word_cursor *word;
    double bound;     /* in this window */
    window_bits bits; /* of the pages whose score is in `scores` */
    double scores[WINDOW_DOCS];
};

struct words {
    struct execution *x;
    struct matcher *m;
    struct list **lists; /* in the order of the query */
    struct list **order; /* by bound, the lowest first */
    unsigned n;
    struct window at;
    double sum[WINDOW_DOCS]; /* of the leading words, in any order */
};

static bool has_bit(const uint64_t *bits, uint32_t slot)
{
    return bits[slot >> 6] >> (slot & 63) & 1;
}

static uint32_t next_doc(const struct words *s)
{
    uint32_t least = POSTINGS_END;
    for (unsigned i = 0; i < s->n; i++)
        least = s->lists[i]->word->doc < least ? s->lists[i]->word->doc : least;
    return least;
}

/* Bounds of all lists in the window, the lists ordered by them; returns their sum. */
static double find_bounds(struct words *s)
{
    double all = 0;
    for (unsigned i = 0; i < s->n; i++) {
        struct list *l = s->lists[i];
        l->bound = window_bound(s->m, s->at, l->word);
        all += l->bound;
        unsigned at = i;
        for (; at && s->order[at - 1]->bound > l->bound; at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = l;
    }
    return all;
}

/* How many lists at the low end cannot bring a page in; *bound is what they have together. */
static unsigned count_low(const struct words *s, double *bound)
{
    unsigned n = 0;
    *bound = 0;
    if (!topk_is_full(s->x->top))
        return 0;
    while (n < s->n && execute_is_too_low(s->x, *bound + s->order[n]->bound))
        *bound += s->order[n++]->bound;
    return n;
}

static void add_up(struct words *s, const struct list *l, window_bits any)
{
    for (unsigned word = 0; word < WINDOW_WORDS; word++) {
        any[word] |= l->bits[word];
        for (uint64_t left = l->bits[word]; left; left &= left - 1) {
            uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(left);
            s->sum[slot] += l->scores[slot];
        }
    }
}

/* Looks up the low lists, the highest of them first. False: the page is too low. */
static bool look_up_low(struct words *s, unsigned low, double low_bound, uint32_t slot)
{
    uint32_t doc = s->at.base + slot;
    double sum = s->sum[slot];
    for (unsigned i = low; i-- > 0;) {
        struct list *l = s->order[i];
        low_bound -= l->bound;
        if (l->bound > 0 && atom_seek(l->atom, doc) == doc) {
            l->bits[slot >> 6] |= 1ull << (slot & 63);
            l->scores[slot] = word_score(s->m, l->word, doc);
            sum += l->scores[slot];
        }
        if (execute_is_page_too_low(s->x, sum + (low_bound > 0 ? low_bound : 0), doc))
            return false;
    }
    return true;
}

static bool has_any(const struct words *s, uint32_t slot)
{
    for (unsigned i = 0; i < s->n; i++)
        if (has_bit(s->lists[i]->bits, slot))
            return true;
    return false;
}

static double score_of(const struct words *s, uint32_t slot)
{
    double score = 0;
    for (unsigned i = 0; i < s->n; i++)
        if (has_bit(s->lists[i]->bits, slot))
            score += s->lists[i]->scores[slot];
    return score;
}

static void consider(struct words *s, unsigned low, double low_bound, uint32_t slot)
{
    struct execution *x = s->x;
    uint32_t doc = s->at.base + slot;
    if (match_is_dead(s->m, doc))
        return;
    if (execute_is_page_too_low(x, s->sum[slot] + low_bound, doc) || !look_up_low(s, low, low_bound, slot)) {
        x->was_skipped = true;
        return;
    }
    if (low == s->n && !has_any(s, slot))
        return;
    if (!s->m->has_limits || match_is_allowed(s->m, doc))
        execute_enter(x, doc, score_of(s, slot));
}

/* Adds up the leading lists; `any` gets the pages that they have. */
static void add_leading(struct words *s, unsigned low, double all, window_bits any)
{
    memset(s->sum, 0, sizeof(s->sum));
    for (unsigned i = low; i < s->n; i++) {
        struct list *l = s->order[i];
        if (!(l->bound > 0))
            continue;
        /* A block of this list lower than this cannot bring a page in whatever the other words have there. */
        double need = s->x->top->threshold * (2 - MATCH_SLACK) - s->m->extra_max - (all - l->bound);
        s->x->was_skipped |= window_score(s->m, s->at, l->word, need, l->bits, l->scores);
        l->atom->doc = l->word->doc;
        add_up(s, l, any);
    }
}

/* The pages that prior, and age, let enter if they have all the words at their best; returns how many. */
static unsigned find_able(struct words *s, double all, window_bits able)
{
    unsigned pages = window_good_prior(s->m, s->at, execute_least_prior(s->x, all), able);
    if (!execute_asks_for_age(s->x, all) || !pages)
        return pages;
    for (unsigned word = 0; word < WINDOW_WORDS; word++)
        for (uint64_t left = able[word]; left; left &= left - 1) {
            unsigned bit = (unsigned)__builtin_ctzll(left);
            uint32_t doc = s->at.base + word * 64 + bit;
            if (doc >= s->at.end || execute_is_page_too_old(s->x, all, doc))
                able[word] &= ~(1ull << bit);
        }
    return window_count(able);
}

static void run_window(struct words *s)
{
    window_bits able, any = {0};
    double low_bound, all = find_bounds(s);
    unsigned low = count_low(s, &low_bound);
    unsigned pages = find_able(s, all, able);
    s->x->was_skipped |= low > 0 || pages < s->at.end - s->at.base;
    if (!pages || low == s->n)
        return;
    for (unsigned i = 0; i < s->n; i++)
        memset(s->lists[i]->bits, 0, sizeof(window_bits));
    if (pages * FEW < WINDOW_DOCS) { /* then each list is looked up for them */
        memset(s->sum, 0, sizeof(s->sum));
        memcpy(any, able, sizeof(any));
        low = s->n;
        low_bound = all;
    } else {
        add_leading(s, low, all, any);
    }
    for (unsigned word = 0; word < WINDOW_WORDS; word++)
        for (uint64_t left = any[word] & able[word]; left; left &= left - 1)
            consider(s, low, low_bound, word * 64 + (uint32_t)__builtin_ctzll(left));
}

void execute_words(struct execution *x)
{
    struct matcher *m = x->matcher;
    struct clause_cursor *c = &m->clauses[0];
    struct words *s = arena_alloc(&m->arena, sizeof(*s));
    uint32_t docs = segment_docs(m->at->segment), base = 0;
    *s = (struct words){.x = x, .m = m, .n = c->atom_count};
    s->lists = arena_alloc(&m->arena, s->n * sizeof(struct list *));
    s->order = arena_alloc(&m->arena, s->n * sizeof(struct list *));
    for (unsigned i = 0; i < s->n; i++) {
        s->lists[i] = arena_alloc(&m->arena, sizeof(struct list));
        s->lists[i]->atom = &c->atoms[i];
        s->lists[i]->word = c->atoms[i].words;
    }
    while (base < docs && !execute_is_out_of_time(x, 64)) {
        uint32_t next = next_doc(s);
        if (next == POSTINGS_END)
            return;
        if (next > base)
            base = next / WINDOW_DOCS * WINDOW_DOCS;
        s->at = (struct window){base, docs - base < WINDOW_DOCS ? docs : base + WINDOW_DOCS};
        run_window(s);
        base = s->at.end;
    }
}
