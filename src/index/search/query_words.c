#include "index/search/query_words.h"

#include "base/utf8.h"
#include "index/text/fold.h"

/* The terms of a text, as places in a row, while they are gathered. */
struct places {
    struct query_word *words;
    uint32_t *positions;
    unsigned n, cap;
    struct query_word *whole;
};

static void add_term(const struct query_speech *sp, struct query_word *w, struct span term, unsigned language)
{
    unsigned i = 0;
    while (i < w->term_count && !span_eq(w->terms[i], term))
        i++;
    if (i == w->term_count) {
        w->languages[i] = 0;
        w->terms[w->term_count++] = arena_copy(sp->arena, term);
    }
    w->languages[i] |= UINT32_C(1) << language;
}

static struct query_word word_new(const struct query_speech *sp, struct span source)
{
    return (struct query_word){.terms = arena_alloc(sp->arena, sp->language_count * sizeof(struct span)),
                               .languages = arena_alloc(sp->arena, sp->language_count * sizeof(uint32_t)),
                               .source = source};
}

/* The word as it was typed, and what all languages make of it, count everywhere. */
static void free_terms(const struct query_speech *sp, struct query_word *w)
{
    uint32_t typed = UINT32_C(1) << (sp->language_count - 1), all = typed - 1;
    bool is_limited = false;
    for (unsigned i = 0; i < w->term_count; i++) {
        if ((w->languages[i] & typed) || w->languages[i] == all)
            w->languages[i] = QUERY_ANY;
        is_limited |= w->languages[i] != QUERY_ANY;
    }
    if (!is_limited)
        w->languages = NULL;
}

/* Adds what one language makes of the text. The first language says which places there are; the others only stem
 * otherwise, and a term of theirs that lies elsewhere is left out rather than tear the phrase. */
static void add_language(const struct query_speech *sp, struct places *pl, struct span text, const struct token *t,
                         size_t n, unsigned language)
{
    bool is_first = pl->words == NULL;
    if (is_first) {
        pl->words = arena_alloc(sp->arena, (n + 1) * sizeof(*pl->words));
        pl->positions = arena_alloc(sp->arena, (n + 1) * sizeof(*pl->positions));
    }
    for (size_t i = 0, at = 0; i < n; i++) {
        struct span source = span_cut(text, t[i].at, t[i].bytes);
        if (t[i].is_whole)
            continue;
        if (is_first) {
            pl->positions[pl->n] = t[i].position;
            pl->words[pl->n++] = word_new(sp, source);
        }
        while (at < pl->n && pl->positions[at] < t[i].position)
            at++;
        if (at < pl->n && pl->positions[at] == t[i].position && pl->words[at].source.p == source.p)
            add_term(sp, &pl->words[at], t[i].term->text, language);
    }
}

/* An identifier as a whole, when the text is one and nothing else. */
static void find_whole(const struct query_speech *sp, struct places *pl, struct span text, const struct token *t,
                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!t[i].is_whole || pl->n == 0)
            continue;
        struct span source = span_cut(text, t[i].at, t[i].bytes);
        struct query_word *first = &pl->words[0], *last = &pl->words[pl->n - 1];
        if (source.p > first->source.p || source.p + source.n < last->source.p + last->source.n)
            continue;
        pl->whole = ARENA_NEW(sp->arena, struct query_word);
        *pl->whole = word_new(sp, source);
        add_term(sp, pl->whole, t[i].term->text, 0);
        pl->whole->languages = NULL;
        return;
    }
}

/* A run of characters ends in the last one alone, which in a page begins a pair wherever the run goes on: it is dropped
 * after its pair, and looked for as a beginning when it is all there is. */
static void fix_last_character(struct places *pl)
{
    if (pl->n == 0)
        return;
    struct query_word *last = &pl->words[pl->n - 1];
    size_t at = 0;
    if (last->source.n == 0 || fold_class(utf8_next(last->source, &at, NULL)) != CHAR_DENSE)
        return;
    if (pl->n > 1) {
        struct span pair = last[-1].source;
        if (pair.p < last->source.p && pair.p + pair.n == last->source.p + last->source.n) {
            pl->n--;
            return;
        }
    }
    last->is_prefix = true;
    last->term_count = 1;
    last->languages = NULL;
}

/* Keeps the longest run of places without a gap, which a word too long to be a term leaves. */
static bool keep_longest_run(struct places *pl)
{
    unsigned best = 0, best_n = 0;
    for (unsigned i = 0, from = 0; i < pl->n; i++) {
        if (i && pl->positions[i] != pl->positions[i - 1] + 1)
            from = i;
        if (i + 1 - from > best_n) {
            best = from;
            best_n = i + 1 - from;
        }
    }
    bool is_cut = best_n < pl->n;
    pl->words += best;
    pl->n = best_n;
    return is_cut;
}

void query_words(const struct query_speech *sp, struct span text, struct query_atom *out, bool *has_gap)
{
    struct places pl = {0};
    uint32_t end = 0;
    for (unsigned i = 0; i < sp->language_count; i++) {
        size_t n;
        analyze_begin(sp->an);
        end = analyze_text(sp->an, text, sp->languages[i], 0);
        struct token *t = analyze_tokens(sp->an, &n);
        add_language(sp, &pl, text, t, n, i);
        if (i + 1 == sp->language_count)
            find_whole(sp, &pl, text, t, n);
    }
    for (unsigned i = 0; i < pl.n; i++)
        free_terms(sp, &pl.words[i]);
    *has_gap = pl.n == 0 ? end > 0 : pl.positions[0] != 0 || pl.positions[pl.n - 1] + 1 != end;
    fix_last_character(&pl);
    *has_gap |= keep_longest_run(&pl);
    *out = (struct query_atom){.kind = ATOM_WORDS, .words = pl.words, .word_count = pl.n, .source = text};
    out->whole = *has_gap ? NULL : pl.whole;
}
