/* snippet_find.c - most words of a page are none of the query's, and their first letters tell.
 *
 * A text is cut at blanks into chunks. A chunk of plain ASCII words, none of which begins as a term does, is passed
 * over with a few instructions a byte; the others go to the analyzer. What is not plain (other letters, capitals
 * inside, digits beside letters, '_') goes there always. Stemmers of most languages only change ends; for the others,
 * and for texts of other scripts, everything is analysed, in slices. */
#include "index/search/snippet_find.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"

#define TEXT_ENOUGH (16u << 10) /* windows begin in no more than this, once every word was seen there */
#define TEXT_AFTER (2u << 10)   /* and where the last was seen first, so much after it */
#define TEXT_MARKED (1u << 10)  /* after that, for what is in the last window besides */
#define SLICE (8u << 10)        /* analysed at a time */
#define SLICES_MAX (64u << 10)  /* bytes in all: it takes many times as long as passing over */
#define HITS_MAX 4096           /* kept of a text */
#define TERMS_MAX 1024          /* what resolve.h allows */

static void wanted_init(struct wanted *w, struct arena *a, const struct snippet_term *terms, size_t n)
{
    memset(w, 0, sizeof(*w));
    w->terms = terms;
    w->n = n < TERMS_MAX ? n : TERMS_MAX;
    w->next = arena_alloc(a, (w->n + 1) * sizeof(*w->next));
    for (size_t i = 0; i < w->n; i++) {
        struct span t = terms[i].text;
        if (t.n == 0 || t.n > ANALYZE_TERM_MAX)
            continue;
        unsigned char c = (unsigned char)t.p[0];
        w->next[i] = w->first[c];
        w->first[c] = (uint16_t)(i + 1);
        w->lengths[c] |= UINT64_C(1) << (t.n - 1);
    }
}

static int wanted_find(const struct wanted *w, struct span term)
{
    if (term.n == 0 || term.n > ANALYZE_TERM_MAX)
        return -1;
    unsigned char c = (unsigned char)term.p[0];
    if (!(w->lengths[c] >> (term.n - 1) & 1))
        return -1;
    for (unsigned i = w->first[c]; i; i = w->next[i - 1])
        if (span_eq(w->terms[i - 1].text, term))
            return (int)i - 1;
    return -1;
}

/* Is the line long? */
static bool is_in_prose(struct span text, size_t at)
{
    size_t from = at, to = at;
    while (from > 0 && at - from < LINE_PROSE && text.p[from - 1] != '\n')
        from--;
    while (to < text.n && to - from < LINE_PROSE && text.p[to] != '\n')
        to++;
    return to - from >= LINE_PROSE;
}

/* A menu may have all the words: where a sentence has them is worth looking for. */
static void note_word(struct finder *f, unsigned word, size_t at)
{
    if (f->seen_word[word])
        return;
    f->seen_word[word] = true;
    f->words_left--;
    if (f->enough < at + TEXT_AFTER)
        f->enough = at + TEXT_AFTER;
}

/* Analyses a piece of the text that begins at `base`; returns the position after it. */
static uint32_t add_piece(struct finder *f, struct analyzer *an, struct span piece, size_t base, lang_code lang,
                          uint32_t position)
{
    size_t n;
    position = analyze_text(an, piece, lang, position);
    const struct token *t = analyze_tokens(an, &n);
    for (size_t i = 0; i < n && f->hit_count < HITS_MAX; i++) {
        int term = wanted_find(&f->wanted, t[i].term->text);
        if (term < 0)
            continue;
        f->hits = mem_grow(f->hits, &f->hit_cap, f->hit_count + 1, sizeof(*f->hits));
        f->hits[f->hit_count++] = (struct hit){
            .at = (uint32_t)base + t[i].at, .bytes = t[i].bytes, .position = t[i].position, .term = (uint16_t)term};
        f->seen[term] = true;
        if (is_in_prose(f->text, base + t[i].at))
            note_word(f, f->wanted.terms[term].word, base + piece.n);
    }
    analyze_drop(an, 0);
    return position;
}

static bool has_enough(const struct finder *f, size_t at)
{
    return f->words_left == 0 && at >= f->enough + TEXT_MARKED;
}

/* ---- passing over ---- */

enum { SIDE = 38, OTHER = 37 }; /* letters, digits, '_', and all else */

/* The first two characters of words that may be one of the terms. */
struct gate {
    bool is_open[SIDE][SIDE];
    bool looks_at_second;
};

static unsigned gate_letter(char c)
{
    if (ascii_is_alpha(c)) {
        c = ascii_lower(c);
        return c == 'y' ? 'i' - 'a' : (unsigned)(c - 'a'); /* "dying" is stemmed to "die" */
    }
    return ascii_is_digit(c) ? 26u + (unsigned)(c - '0') : c == '_' ? 36 : OTHER;
}

/* False: there is no telling by first letters. */
static bool gate_init(struct gate *g, const struct wanted *w, lang_code lang)
{
    static const char suffixing[][3] = {"en", "de", "fr", "es", "pt", "it", "nl", "sv", "da",
                                        "no", "nn", "fi", "ro", "hu", "ca", "tr", "ru"};
    char name[4];
    bool is_known = lang == 0;
    lang_code_name(lang, name);
    for (size_t i = 0; i < sizeof(suffixing) / sizeof(*suffixing); i++)
        is_known |= strcmp(name, suffixing[i]) == 0;
    memset(g, 0, sizeof(*g));
    g->looks_at_second = lang == 0 || strcmp(name, "en") == 0;
    for (size_t i = 0; i < w->n; i++) {
        struct span t = w->terms[i].text;
        if (t.n == 0)
            continue;
        bool *row = g->is_open[gate_letter(t.p[0])];
        if (t.n == 1 || !g->looks_at_second)
            memset(row, true, SIDE);
        else
            row[gate_letter(t.p[1])] = true;
    }
    return is_known;
}

enum { KIND_BLANK, KIND_PUNCT, KIND_LOWER, KIND_UPPER, KIND_DIGIT, KIND_LINE, KIND_HIGH };

static const uint8_t *kinds(void)
{
#define K4(k) k, k, k, k
#define K8(k) K4(k), K4(k)
#define K16(k) K8(k), K8(k)
#define K26(k) K16(k), K8(k), k, k
    static const uint8_t table[256] = {
        K16(KIND_BLANK), K16(KIND_BLANK), KIND_BLANK,     K8(KIND_PUNCT),  K4(KIND_PUNCT), KIND_PUNCT,
        KIND_PUNCT,      KIND_PUNCT,      K8(KIND_DIGIT), KIND_DIGIT,      KIND_DIGIT,     K4(KIND_PUNCT),
        KIND_PUNCT,      KIND_PUNCT,      KIND_PUNCT,     K26(KIND_UPPER), K4(KIND_PUNCT), KIND_LINE,
        KIND_PUNCT,      K26(KIND_LOWER), K4(KIND_PUNCT), KIND_PUNCT,      K16(KIND_HIGH), K16(KIND_HIGH),
        K16(KIND_HIGH),  K16(KIND_HIGH),  K16(KIND_HIGH), K16(KIND_HIGH),  K16(KIND_HIGH), K16(KIND_HIGH)};
    return table;
}

struct chunk {
    size_t end;
    uint32_t words;
    bool is_open; /* to be analysed */
};

/* The chunk at `at`, which is no blank. */
static struct chunk next_chunk(const struct gate *g, struct span text, size_t at)
{
    const uint8_t *kind = kinds();
    struct chunk c = {0};
    unsigned before = KIND_PUNCT, last = KIND_PUNCT;
    for (; at < text.n; at++) {
        unsigned k = kind[(unsigned char)text.p[at]];
        if (k == KIND_BLANK)
            break;
        if (k >= KIND_LINE) { /* '_', or not ASCII */
            c.is_open = true;
        } else if (k != KIND_PUNCT && last == KIND_PUNCT) {
            c.words++;
            c.is_open |= g->is_open[gate_letter(text.p[at])][at + 1 < text.n ? gate_letter(text.p[at + 1]) : OTHER];
        } else if (k != last && k != KIND_PUNCT) { /* "Word" is plain; "aB", "ABc", "a1" and "1a" are not */
            c.is_open |= !(k == KIND_LOWER && last == KIND_UPPER && before == KIND_PUNCT);
        }
        before = last;
        last = k;
    }
    c.end = at;
    return c;
}

static void find_chunks(struct finder *f, struct analyzer *an, const struct gate *g, struct span text, lang_code lang)
{
    uint32_t position = 0;
    for (size_t at = 0; at < text.n;) {
        if ((unsigned char)text.p[at] <= ' ') {
            at++;
            continue;
        }
        struct chunk c = next_chunk(g, text, at);
        if (c.end - at > SLICE)
            c.end = at + utf8_cut(span_from(text, at), SLICE).n;
        if (c.is_open)
            position = add_piece(f, an, span_cut(text, at, c.end - at), at, lang, position);
        else
            position += c.words;
        at = c.end;
        if (has_enough(f, at))
            return;
    }
}

/* ---- all of it ---- */

/* Where the next slice ends: at a line, else a blank, else a character. */
static size_t slice_end(struct span text, size_t at)
{
    if (text.n - at <= SLICE)
        return text.n;
    for (size_t end = at + SLICE; end > at + SLICE / 2; end--)
        if (text.p[end - 1] == '\n')
            return end;
    for (size_t end = at + SLICE; end > at + SLICE / 2; end--)
        if (text.p[end - 1] == ' ')
            return end;
    return at + utf8_cut(span_from(text, at), SLICE).n;
}

static void find_slices(struct finder *f, struct analyzer *an, struct span text, lang_code lang)
{
    uint32_t position = 0;
    for (size_t at = 0; at < text.n && at < SLICES_MAX;) {
        size_t end = slice_end(text, at);
        position = add_piece(f, an, span_cut(text, at, end - at), at, lang, position);
        at = end;
        if (has_enough(f, at))
            return;
    }
}

/* ---- afterwards ---- */

/* Wholes of identifiers come beside their parts, in whichever order. */
static void sort_hits(struct hit *h, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct hit x = h[i];
        size_t k = i;
        for (; k > 0 && h[k - 1].at > x.at; k--)
            h[k] = h[k - 1];
        h[k] = x;
    }
}

static bool is_pair(const struct finder *f, size_t i)
{
    return f->wanted.terms[f->hits[i].term].is_pair;
}

/* Pairs follow each other by one place, each with the second character of the one before. */
static bool is_alone(const struct finder *f, size_t i)
{
    const struct hit *h = &f->hits[i];
    bool before = i > 0 && is_pair(f, i - 1) && h[-1].position + 1 == h->position;
    bool after = i + 1 < f->hit_count && is_pair(f, i + 1) && h->position + 1 == h[1].position;
    return !before && !after;
}

/* Of "ファイル" the first pair is also in "バッファ", which is another word. Where all of them are alone they stay: the
 * word may stand where nobody looked. */
static void drop_lonely_pairs(struct finder *f)
{
    size_t kept = 0, lonely = 0, pairs = 0;
    bool *drop = mem_alloc(f->hit_count + 1);
    for (size_t i = 0; i < f->hit_count; i++) {
        pairs += is_pair(f, i);
        drop[i] = is_pair(f, i) && is_alone(f, i);
        lonely += drop[i];
    }
    for (size_t i = 0; i < f->hit_count && lonely < pairs; i++)
        if (!drop[i])
            f->hits[kept++] = f->hits[i];
    if (lonely < pairs)
        f->hit_count = kept;
    free(drop);
}

static void look_at_lines(struct finder *f, struct span text)
{
    uint32_t prose = 0;
    size_t line = 0, end = span_find(text, '\n', 0);
    for (size_t i = 0; i < f->hit_count; i++) {
        struct hit *h = &f->hits[i];
        while (h->at > end) {
            prose += end - line >= LINE_PROSE ? (uint32_t)(end - line) : 0;
            line = end + 1;
            end = span_find(text, '\n', line);
        }
        h->in_prose = end - line >= LINE_PROSE;
        h->prose = prose + (h->in_prose ? h->at - (uint32_t)line : 0);
    }
}

static void count_words(struct finder *f, struct arena *a)
{
    size_t most = 0;
    for (size_t i = 0; i < f->wanted.n; i++)
        most = f->wanted.terms[i].word > most ? f->wanted.terms[i].word : most;
    f->seen_word = memset(arena_alloc(a, most + 1), true, most + 1);
    for (size_t i = 0; i < f->wanted.n; i++) {
        f->words_left += f->seen_word[f->wanted.terms[i].word];
        f->seen_word[f->wanted.terms[i].word] = false;
    }
}

void finder_init(struct finder *f, struct arena *a, struct analyzer *an, struct span text, lang_code lang,
                 const struct snippet_term *terms, size_t term_count)
{
    struct gate gate;
    memset(f, 0, sizeof(*f));
    f->text = text;
    f->enough = TEXT_ENOUGH;
    wanted_init(&f->wanted, a, terms, term_count);
    f->seen = memset(arena_alloc(a, f->wanted.n + 1), 0, f->wanted.n + 1);
    count_words(f, a);
    analyze_begin(an);
    if (f->wanted.n == 0)
        return;
    if (gate_init(&gate, &f->wanted, lang))
        find_chunks(f, an, &gate, text, lang);
    else
        find_slices(f, an, text, lang);
    sort_hits(f->hits, f->hit_count);
    drop_lonely_pairs(f);
    look_at_lines(f, text);
}

void finder_done(struct finder *f)
{
    free(f->hits);
    *f = (struct finder){0};
}
