/* snippet.c - where in a text the words of a query are, and which part of it to show.
 *
 * snippet_find.c brings the hits: where terms are, in the order of the text. A window is a run of hits that fits into
 * the bytes asked for; two pointers go over all of them:
 *
 *     text   Home Docs Search ... The planner reads the index first. An index scan then ...
 *     hits          .                             i                     i     s
 *     window                      [ The planner reads the index first. An index scan ]
 *
 * It is worth the weights of the different terms in it, more when they stand close together, less in short lines (menus
 * and lists of links). Then its ends are moved to where a sentence or at least a word begins and ends. */
#include "index/search/snippet.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "index/text/fold.h"
#include "index/search/snippet_find.h"

#define START_BONUS 1.15  /* for windows that can begin with a sentence */
#define PROSE_WITHIN 8192 /* bytes in which the first long line is looked for */
#define TITLE_MORE 256    /* bytes of a title looked at past its cut */

static const struct span ellipsis = SPAN_INIT("\xe2\x80\xa6");
static const struct span between = SPAN_INIT(" \xe2\x80\xa6 ");

/* ---- sentences ---- */

static bool ends_sentence(struct span text, size_t at)
{
    char c = text.p[at];
    if (c == '.' || c == '!' || c == '?')
        return true;
    if (at < 2 || (unsigned char)c < 0x80)
        return false;
    static const char *const marks[] = {"\xe3\x80\x82", "\xef\xbc\x81", "\xef\xbc\x9f"}; /* of CJK */
    for (int i = 0; i < 3; i++)
        if (memcmp(text.p + at - 2, marks[i], 3) == 0)
            return true;
    return false;
}

static bool is_sentence_start(struct span text, size_t at)
{
    if (at == 0 || text.p[at - 1] == '\n')
        return true;
    if (text.p[at - 1] == ' ')
        return at >= 2 && ends_sentence(text, at - 2);
    return (unsigned char)text.p[at - 1] >= 0x80 && ends_sentence(text, at - 1);
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* A sentence begins at most `within` bytes before `at`. */
static bool begins_well(struct span text, size_t at, size_t within)
{
    size_t least = at > within ? at - within : 0;
    for (size_t s = at + 1; s-- > least;)
        if (is_sentence_start(text, s))
            return true;
    return false;
}

/* ---- choosing ---- */

struct window {
    size_t first, last; /* hits */
    double score;
    double covered; /* weights of the different terms */
};

/* What two neighbouring hits add by being close: most when they are different words in a row. */
static double closeness(const struct finder *f, size_t i)
{
    const struct hit *x = &f->hits[i], *y = &f->hits[i + 1];
    uint32_t gap = y->position - x->position;
    if (x->term == y->term || gap == 0 || gap > 4)
        return 0;
    double u = finder_weight(f, x->term), v = finder_weight(f, y->term);
    return (u < v ? u : v) * (gap == 1 ? 0.5 : 0.2);
}

/* Of the bytes from the first hit of a window to its last, how many are in long lines: 0 to 1. */
static double prose_share(const struct finder *f, size_t first, size_t last)
{
    const struct hit *x = &f->hits[first], *y = &f->hits[last];
    if (x->at == y->at)
        return x->in_prose;
    return ((double)(y->prose - x->prose) / (y->at - x->at) + x->in_prose) / 2;
}

/* The best run of hits within `bytes`; terms in `had` count little. */
static struct window best_window(struct finder *f, struct arena *a, struct span text, size_t bytes, const bool *had)
{
    struct window best = {.score = -1};
    uint32_t *counts = arena_alloc(a, (f->wanted.n + 1) * sizeof(*counts));
    memset(counts, 0, (f->wanted.n + 1) * sizeof(*counts));
    double covered = 0, close = 0;
    bool is_all = f->words_left > 0;
    for (size_t i = 0, j = 0; i < f->hit_count && (is_all || f->hits[i].at < f->enough); i++) { /* i to j - 1 are in */
        for (; j < f->hit_count && (j == i || hit_end(&f->hits[j]) - f->hits[i].at <= bytes); j++) {
            unsigned t = f->hits[j].term;
            if (counts[t]++ == 0)
                covered += finder_weight(f, t) * (had && had[t] ? 0.1 : 1);
            close += j > i ? closeness(f, j - 1) : 0;
        }
        double score = covered + (close < covered ? close : covered);
        score += 0.02 * (double)(j - i < 5 ? j - i : 5); /* of equal ones that with more */
        score *= 0.6 + 0.4 * prose_share(f, i, j - 1);
        score *= f->hits[i].at < 1000 ? 1.02 : 1;
        size_t length = hit_end(&f->hits[j - 1]) - f->hits[i].at, room = length < bytes ? bytes - length : 0;
        if (score * START_BONUS > best.score && begins_well(text, f->hits[i].at, room * 2 / 3))
            score *= START_BONUS;
        if (score > best.score)
            best = (struct window){i, j - 1, score, covered};
        unsigned t = f->hits[i].term;
        if (--counts[t] == 0)
            covered -= finder_weight(f, t) * (had && had[t] ? 0.1 : 1);
        close -= j > i + 1 ? closeness(f, i) : 0;
    }
    return best;
}

/* Gives up hits at the end that show nothing new, for the sake of where the window begins. */
static void trim_window(const struct finder *f, struct window *w)
{
    while (w->last > w->first && closeness(f, w->last - 1) == 0) {
        size_t i = w->first;
        while (i < w->last && f->hits[i].term != f->hits[w->last].term)
            i++;
        if (i == w->last)
            return;
        w->last--;
    }
}

/* ---- placing ---- */

struct range {
    size_t from, to;
};

/* A place where a text may be cut: beside a blank, or between characters that are written without. */
static bool is_cut(struct span text, size_t at)
{
    if (at == 0 || at >= text.n)
        return true;
    if (is_continuation(text.p[at]))
        return false;
    if (ascii_is_space(text.p[at]) || ascii_is_space(text.p[at - 1]))
        return true;
    return (unsigned char)text.p[at] >= 0xe0 && fold_class(utf8_next(text, &at, NULL)) == CHAR_DENSE;
}

static size_t cut_forward(struct span text, size_t at, size_t end)
{
    while (at < end && !is_cut(text, at))
        at++;
    while (at < end && ascii_is_space(text.p[at]))
        at++;
    return at;
}

/* Where a window begins whose first hit is at `at`, with `room` bytes to give away before it. */
static size_t place_start(struct span text, size_t at, size_t room)
{
    size_t least = at > room ? at - room : 0;
    for (size_t s = at + 1; s-- > least;)
        if (is_sentence_start(text, s) && !is_continuation(text.p[s]))
            return s;
    size_t some = at > room / 2 ? at - room / 2 : 0;
    return cut_forward(text, some, at);
}

/* Where it ends: after a sentence when one ends in its second half, else after a word; never before `least`. */
static size_t place_end(struct span text, size_t from, size_t bytes, size_t least)
{
    if (text.n - from <= bytes)
        return text.n;
    size_t to = from + bytes;
    for (size_t e = to; e > least && e > from + bytes / 2; e--)
        if (text.p[e] == '\n' || (ends_sentence(text, e - 1) && (ascii_is_space(text.p[e]) || text.p[e - 1] != '.')))
            return e;
    while (to > least && to > from + bytes / 2 && !is_cut(text, to))
        to--;
    return is_cut(text, to) ? to : from + utf8_cut(span_from(text, from), bytes).n;
}

static struct range place(struct span text, const struct hit *first, const struct hit *last, size_t bytes)
{
    size_t needed = hit_end(last) - first->at;
    size_t room = bytes > needed ? bytes - needed : 0;
    struct range r = {.from = place_start(text, first->at, room * 2 / 3)};
    r.to = place_end(text, r.from, bytes, hit_end(last));
    if (r.to - r.from < bytes / 2 && r.from > 0) { /* near the end of the text: more of what comes before */
        size_t more = bytes - (r.to - r.from);
        r.from = cut_forward(text, r.from > more ? r.from - more : 0, r.from);
    }
    return r;
}

/* ---- writing ---- */

struct writer {
    struct buf *out;
    struct mark *marks;
    size_t mark_count, mark_cap;
};

static void add_mark(struct writer *w, size_t from, size_t to)
{
    struct mark *last = w->mark_count ? &w->marks[w->mark_count - 1] : NULL;
    if (from >= to)
        return;
    if (last && last->at + last->bytes >= from) { /* pairs of characters overlap */
        if (to > last->at + last->bytes)
            last->bytes = (uint32_t)(to - last->at);
    } else if (w->mark_count < w->mark_cap) {
        w->marks[w->mark_count++] = (struct mark){(uint32_t)from, (uint32_t)(to - from)};
    }
}

/* One character of the text, white space folded, what is not UTF-8 or not to be seen left out. */
static void put_char(struct writer *w, struct span text, size_t *at)
{
    size_t from = *at;
    bool is_valid = true;
    uint32_t c = utf8_next(text, at, &is_valid);
    if (c <= ' ' || c == 0xa0 || c == 0x3000 || c == 0x2028 || c == 0x2029) {
        if (w->out->n && w->out->p[w->out->n - 1] != ' ')
            buf_putc(w->out, ' ');
    } else if (is_valid && !(c >= 0x7f && c < 0xa0)) {
        buf_put(w->out, span_cut(text, from, *at - from));
    }
}

static void put_range(struct writer *w, struct span text, struct range r, const struct hit *hits, size_t n)
{
    struct span cut = span_cut(text, 0, r.to);
    size_t at = r.from;
    for (size_t i = 0; i < n; i++) {
        size_t to = hit_end(&hits[i]);
        if (hits[i].at < r.from || to > r.to || to <= at)
            continue;
        while (at < hits[i].at)
            put_char(w, cut, &at);
        size_t start = w->out->n; /* of what is not marked yet: hits may overlap */
        while (at < to)
            put_char(w, cut, &at);
        add_mark(w, start, w->out->n);
    }
    while (at < r.to)
        put_char(w, cut, &at);
    while (w->out->n && w->out->p[w->out->n - 1] == ' ')
        w->out->n--;
}

static void finish(struct writer *w, struct arena *a, struct marked *out)
{
    out->text = arena_copy(a, buf_span(w->out));
    out->marks = w->marks;
    out->mark_count = w->mark_count;
    /* White space at the end that went after its mark was made. */
    while (out->mark_count && out->marks[out->mark_count - 1].at >= out->text.n)
        out->mark_count--;
    buf_done(w->out);
}

static struct writer writer_new(struct arena *a, struct buf *out, size_t hits)
{
    return (struct writer){.out = out, .marks = arena_alloc(a, (hits + 1) * sizeof(struct mark)), .mark_cap = hits};
}

static bool ends_openly(struct span text, size_t to)
{
    return to < text.n && text.p[to] != '\n' && !ends_sentence(text, to - 1);
}

static void write_ranges(struct finder *f, struct arena *a, struct span text, const struct range *r, unsigned n,
                         struct marked *out)
{
    struct buf b = {0};
    struct writer w = writer_new(a, &b, f->hit_count);
    for (unsigned i = 0; i < n; i++) {
        if (i)
            buf_put(&b, between);
        else if (!is_sentence_start(text, r[0].from))
            buf_put(&b, ellipsis);
        put_range(&w, text, r[i], f->hits, f->hit_count);
    }
    if (ends_openly(text, r[n - 1].to))
        buf_put(&b, ellipsis);
    finish(&w, a, out);
}

/* ---- whole snippets ---- */

/* The first line that reads like prose, or the start. */
static size_t prose_start(struct span text)
{
    for (size_t line = 0; line < text.n && line < PROSE_WITHIN;) {
        size_t end = span_find(text, '\n', line);
        if (end - line >= LINE_PROSE)
            return line;
        line = end + 1;
    }
    return 0;
}

static void show_start(struct finder *f, struct arena *a, struct span text, size_t from, size_t bytes,
                       struct marked *out)
{
    f->hit_count = 0;
    struct range r = {from, place_end(text, from, bytes, from + 1)};
    write_ranges(f, a, text, &r, 1, out);
}

static void mark_terms(const struct finder *f, const struct window *w, bool *had)
{
    for (size_t i = w->first; i <= w->last; i++)
        had[f->hits[i].term] = true;
}

/* Two half windows where they show clearly more of the query than one; returns how many. */
static unsigned choose(struct finder *f, struct arena *a, struct span text, size_t bytes, struct range r[2])
{
    struct window one = best_window(f, a, text, bytes * 9 / 10, NULL);
    trim_window(f, &one);
    r[0] = place(text, &f->hits[one.first], &f->hits[one.last], bytes);
    double all = 0;
    for (size_t i = 0; i < f->wanted.n; i++)
        all += f->seen[i] ? finder_weight(f, (unsigned)i) : 0;
    if (one.covered > all * 0.85)
        return 1;
    bool *had = memset(arena_alloc(a, f->wanted.n + 1), 0, f->wanted.n + 1);
    size_t half = bytes / 2;
    struct window x = best_window(f, a, text, half * 9 / 10, NULL);
    mark_terms(f, &x, had);
    struct window y = best_window(f, a, text, half * 9 / 10, had);
    trim_window(f, &x);
    trim_window(f, &y);
    if (x.covered + y.covered < one.covered * 1.2)
        return 1;
    struct window *first = x.first < y.first ? &x : &y, *second = first == &x ? &y : &x;
    struct range p = place(text, &f->hits[first->first], &f->hits[first->last], half);
    struct range q = place(text, &f->hits[second->first], &f->hits[second->last], half);
    if (q.from <= p.to + 3) { /* they meet: one piece */
        if (q.to <= p.to || q.to - p.from > bytes + half)
            return 1;
        r[0] = (struct range){p.from, q.to};
        return 1;
    }
    r[0] = p;
    r[1] = q;
    return 2;
}

static struct span clean_text(struct span text, size_t max)
{
    return utf8_cut(span_trim(utf8_cut(text, max)), max);
}

void snippet_make(struct arena *a, struct analyzer *an, struct span text, struct span description, lang_code lang,
                  const struct snippet_term *terms, size_t term_count, size_t bytes, struct marked *out)
{
    struct finder f;
    struct range r[2];
    text = clean_text(text, SNIPPET_TEXT_MAX);
    description = clean_text(description, SNIPPET_TEXT_MAX);
    finder_init(&f, a, an, text, lang, terms, term_count);
    if (f.hit_count) {
        unsigned n = choose(&f, a, text, bytes, r);
        write_ranges(&f, a, text, r, n, out);
    } else if (description.n) {
        snippet_mark(a, an, description, lang, terms, term_count, bytes, out);
    } else if (text.n) {
        show_start(&f, a, text, prose_start(text), bytes, out);
    } else {
        *out = (struct marked){.text = SPAN("")};
    }
    finder_done(&f);
}

void snippet_mark(struct arena *a, struct analyzer *an, struct span text, lang_code lang,
                  const struct snippet_term *terms, size_t term_count, size_t bytes, struct marked *out)
{
    struct finder f;
    struct buf b = {0};
    text = clean_text(text, bytes + TITLE_MORE);
    finder_init(&f, a, an, text, lang, terms, term_count);
    struct writer w = writer_new(a, &b, f.hit_count);
    struct range r = {0, text.n <= bytes ? text.n : place_end(text, 0, bytes, 1)};
    put_range(&w, text, r, f.hits, f.hit_count);
    if (r.to < text.n)
        buf_put(&b, ellipsis);
    finish(&w, a, out);
    finder_done(&f);
}
