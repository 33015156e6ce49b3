/* suggest_near.c - two ways to a near term, because the index holds stems and people mistype words.
 *
 *     "runnign"   edits of the word, stemmed:   running -> run, which the index has
 *     "databsae"  terms that begin alike:       databas, two letters swapped away from the stem of what was typed
 *
 * The first finds one edit anywhere in the word; the second also two, behind the first two letters. */
#include "index/search/suggest_near.h"

#include <math.h>

#include "base/buf.h"
#include "base/siphash.h"
#include "base/utf8.h"

#define STEPS_MAX 20000  /* dictionary entries looked at for a query */
#define TWO_EDITS_FROM 8 /* letters */
#define PREFIX_LETTERS 2

static int decode(struct span s, uint32_t out[NEAR_WORD_MAX])
{
    int n = 0;
    for (size_t at = 0; at < s.n;) {
        if (n == NEAR_WORD_MAX)
            return -1;
        out[n++] = utf8_next(s, &at, NULL);
    }
    return n;
}

/* Leaving out letter `i` of `x`. */
static int drop_cost(const uint32_t *x, int i)
{
    return i > 0 && x[i] == x[i - 1] ? NEAR_DOUBLE : NEAR_DROP;
}

int near_cost(struct span a, struct span b, int max)
{
    uint32_t x[NEAR_WORD_MAX], y[NEAR_WORD_MAX];
    int rows[3][NEAR_WORD_MAX + 1]; /* before the last, last, this */
    int n = decode(a, x), m = decode(b, y);
    if (n < 0 || m < 0 || (n > m ? n - m : m - n) * NEAR_DOUBLE > max)
        return NEAR_NEVER;
    int *before = rows[0], *last = rows[1], *row = rows[2];
    int last_least = 0, band = max / NEAR_DOUBLE; /* further off the diagonal everything costs too much */
    for (int j = 0; j <= m; j++)
        before[j] = row[j] = NEAR_NEVER;
    last[0] = 0;
    for (int j = 1; j <= m; j++)
        last[j] = last[j - 1] + drop_cost(y, j - 1);
    for (int i = 1; i <= n; i++) {
        int from = i > band ? i - band : 1, to = i + band < m ? i + band : m;
        row[0] = last[0] + drop_cost(x, i - 1);
        if (from > 1)
            row[from - 1] = NEAR_NEVER;
        int least = row[from - 1];
        for (int j = from; j <= to; j++) {
            int v = last[j - 1] + (x[i - 1] == y[j - 1] ? 0 : NEAR_CHANGE);
            int drop = last[j] + drop_cost(x, i - 1), add = row[j - 1] + drop_cost(y, j - 1);
            v = drop < v ? drop : v;
            v = add < v ? add : v;
            if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1] && before[j - 2] + NEAR_SWAP < v)
                v = before[j - 2] + NEAR_SWAP;
            row[j] = v;
            least = v < least ? v : least;
        }
        if (to < m)
            row[to + 1] = NEAR_NEVER;
        if (least > max && last_least + NEAR_SWAP > max) /* a swap reaches over this row */
            return NEAR_NEVER;
        last_least = least;
        int *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[m] <= max ? last[m] : NEAR_NEVER;
}

/* ---- looking up ---- */

void near_init(struct near *n, const struct index_snapshot *s, struct arena *a, struct analyzer *an)
{
    *n = (struct near){.snapshot = s, .arena = a, .an = an, .lookups = SUGGEST_LOOKUPS_MAX, .steps = STEPS_MAX};
    n->language_count = snapshot_languages(s, n->languages, NEAR_LANGUAGES_MAX - 1);
    bool has_none = false;
    for (unsigned i = 0; i < n->language_count; i++)
        has_none |= n->languages[i] == 0;
    if (!has_none)
        n->languages[n->language_count++] = 0;
}

void near_done(struct near *n)
{
    table_done(&n->looked_up);
}

status near_df(struct near *n, struct span term, uint64_t *df)
{
    uint64_t sum = 0;
    if (n->lookups == 0)
        return ST_LIMIT;
    n->lookups--;
    for (unsigned i = 0; i < n->snapshot->part_count; i++) {
        struct term_info info;
        status st = segment_find_term(n->snapshot->parts[i].segment, term, &info);
        if (st == ST_OK)
            sum += info.df;
        else if (st != ST_NOT_FOUND)
            return st;
    }
    *df = sum;
    return ST_OK;
}

static bool is_new(struct near *n, struct span term)
{
    static const struct sip_key key = {1, 2}; /* a false match only costs a suggestion */
    uint64_t h = siphash(&key, term);
    if (table_get(&n->looked_up, h))
        return false;
    table_put(&n->looked_up, h, n);
    return true;
}

static void add_found(struct near *n, struct near_term t)
{
    unsigned at = n->found_count;
    t.score = log2((double)t.df + 1) - 1.5 * t.cost;
    while (at > 0 && n->found[at - 1].score < t.score)
        at--;
    if (at == NEAR_FOUND_MAX)
        return;
    n->found_count += n->found_count < NEAR_FOUND_MAX;
    for (unsigned i = n->found_count - 1; i > at; i--)
        n->found[i] = n->found[i - 1];
    t.term = arena_copy(n->arena, t.term);
    n->found[at] = t;
}

static status try_term(struct near *n, struct span term, int cost)
{
    uint64_t df;
    if (!is_new(n, term))
        return ST_OK;
    status st = near_df(n, term, &df);
    if (st == ST_OK && df)
        add_found(n, (struct near_term){.term = term, .df = df, .cost = cost});
    return st;
}

status near_word_df(struct near *n, struct span word, struct span *term, uint64_t *df)
{
    status st = ST_OK;
    *df = 0;
    for (unsigned i = 0; i < n->language_count && st == ST_OK; i++) {
        size_t count;
        uint64_t got = 0;
        analyze_begin(n->an);
        if (analyze_text(n->an, word, n->languages[i], 0) != 1)
            return ST_OK;
        const struct token *t = analyze_tokens(n->an, &count);
        if (count != 1)
            return ST_OK;
        struct span text = arena_copy(n->arena, t[0].term->text);
        st = near_df(n, text, &got);
        if (st == ST_OK && got > *df) {
            *df = got;
            *term = text;
        }
    }
    return st;
}

/* ---- edits of the word ---- */

struct edits {
    struct buf text; /* one a line */
    uint32_t x[NEAR_WORD_MAX];
    int n;
};

static void put_letters(struct edits *e, int from, int to)
{
    for (int i = from; i < to; i++)
        buf_put_utf8(&e->text, e->x[i]);
}

/* The word with letters `at` to `to` replaced by up to two others. */
static void put_edit(struct edits *e, int at, int to, uint32_t c, uint32_t d)
{
    put_letters(e, 0, at);
    if (c)
        buf_put_utf8(&e->text, c);
    if (d)
        buf_put_utf8(&e->text, d);
    put_letters(e, to, e->n);
    buf_putc(&e->text, '\n');
}

/* Letters to put in: those of the Latin keyboard, or those of the word when it is in another script. */
static unsigned letters_for(const struct edits *e, uint32_t out[NEAR_WORD_MAX])
{
    unsigned n = 0;
    bool is_latin = true;
    for (int i = 0; i < e->n; i++)
        is_latin &= e->x[i] < 0x80;
    for (uint32_t c = 'a'; is_latin && c <= 'z'; c++)
        out[n++] = c;
    for (int i = 0; !is_latin && i < e->n; i++) {
        bool is_known = false;
        for (unsigned k = 0; k < n; k++)
            is_known |= out[k] == e->x[i];
        if (!is_known)
            out[n++] = e->x[i];
    }
    return n;
}

/* The likely ones first, because lookups may run out. */
static void put_edits(struct edits *e)
{
    uint32_t letters[NEAR_WORD_MAX];
    unsigned n = letters_for(e, letters);
    for (int i = 0; i + 1 < e->n; i++)
        if (e->x[i] != e->x[i + 1])
            put_edit(e, i, i + 2, e->x[i + 1], e->x[i]);
    for (int i = 0; i < e->n; i++)
        put_edit(e, i, i + 1, 0, 0);
    for (int i = 0; i <= e->n; i++)
        for (unsigned k = 0; k < n; k++)
            put_edit(e, i, i, letters[k], 0);
    for (int i = 0; i < e->n; i++)
        for (unsigned k = 0; k < n; k++)
            if (letters[k] != e->x[i])
                put_edit(e, i, i + 1, letters[k], 0);
}

static status try_edits(struct near *n, struct span word)
{
    struct edits e = {0};
    status st = ST_OK;
    e.n = decode(word, e.x);
    if (e.n > 0)
        put_edits(&e);
    struct span all = buf_span(&e.text);
    for (unsigned l = 0; l < n->language_count && st == ST_OK; l++) {
        size_t count;
        analyze_begin(n->an);
        analyze_text(n->an, all, n->languages[l], 0);
        const struct token *t = analyze_tokens(n->an, &count);
        for (size_t i = 0; i < count && st == ST_OK; i++) {
            bool is_line = t[i].at + t[i].bytes < all.n && all.p[t[i].at + t[i].bytes] == '\n' &&
                           (t[i].at == 0 || all.p[t[i].at - 1] == '\n');
            if (is_line && !t[i].is_whole)
                st = try_term(n, t[i].term->text, near_cost(word, span_cut(all, t[i].at, t[i].bytes), NEAR_ONE));
        }
    }
    buf_done(&e.text);
    return st;
}

/* ---- terms that begin alike ---- */

static struct span prefix_of(struct span s)
{
    size_t at = 0;
    for (int i = 0; i < PREFIX_LETTERS && at < s.n; i++)
        utf8_next(s, &at, NULL);
    return span_cut(s, 0, at);
}

/* Which bytes a word has, roughly. */
struct sketch {
    uint64_t bytes;
    int letter_bytes; /* at most */
};

static struct sketch sketch_of(struct span s)
{
    struct sketch k = {.letter_bytes = 1};
    for (size_t i = 0; i < s.n; i++) {
        k.bytes |= UINT64_C(1) << ((unsigned char)s.p[i] & 63);
        if ((unsigned char)s.p[i] >= 0x80)
            k.letter_bytes = 4;
    }
    return k;
}

/* An edit takes one letter away at most, and adds one at most. */
static bool may_be_near(struct span a, struct span b, int max)
{
    int edits = max > NEAR_ONE ? 2 : 1;
    if ((a.n > b.n ? a.n - b.n : b.n - a.n) > 4 * (size_t)edits)
        return false;
    struct sketch x = sketch_of(a), y = sketch_of(b);
    return __builtin_popcountll(x.bytes & ~y.bytes) <= edits * x.letter_bytes &&
           __builtin_popcountll(y.bytes & ~x.bytes) <= edits * y.letter_bytes;
}

static int stem_cost(const struct query_word *stems, struct span term, int max)
{
    int best = NEAR_NEVER;
    for (unsigned i = 0; i < stems->term_count; i++) {
        if (!may_be_near(stems->terms[i], term, max))
            continue;
        int cost = near_cost(stems->terms[i], term, max);
        best = cost < best ? cost : best;
    }
    return best;
}

static status scan(struct near *n, const struct segment *segment, struct span prefix, const struct query_word *stems,
                   int max)
{
    struct dict_cursor c;
    status st = dict_seek(&c, segment, prefix);
    for (; st == ST_OK && span_starts(c.term, prefix) && n->steps; st = dict_next(&c)) {
        n->steps--;
        int cost = c.term.n <= ANALYZE_TERM_MAX ? stem_cost(stems, c.term, max) : NEAR_NEVER;
        if (cost == NEAR_NEVER || cost == 0)
            continue;
        status tried = try_term(n, c.term, cost);
        if (tried != ST_OK)
            return tried;
    }
    return st == ST_END ? ST_OK : st;
}

static status scan_all(struct near *n, struct span word, const struct query_word *stems)
{
    uint32_t x[NEAR_WORD_MAX];
    int letters = decode(word, x);
    int max = letters >= TWO_EDITS_FROM ? NEAR_TWO : NEAR_ONE;
    struct span prefix = stems->term_count ? prefix_of(stems->terms[0]) : prefix_of(word);
    status st = ST_OK;
    for (unsigned i = 0; i < n->snapshot->part_count && st == ST_OK && letters > 0; i++)
        st = scan(n, n->snapshot->parts[i].segment, prefix, stems, max);
    return st;
}

status near_find(struct near *n, struct span word, const struct query_word *stems)
{
    n->found_count = 0;
    table_done(&n->looked_up);
    n->looked_up = (struct table){0};
    status st = try_edits(n, word);
    if (st == ST_OK)
        st = scan_all(n, word, stems);
    return st == ST_LIMIT ? ST_OK : st;
}
