/* suggest.c - which words of a query to put right, and how pages write the right ones. */
#include "index/search/suggest.h"

#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "index/text/fold.h"
#include "index/search/suggest_near.h"

#define LETTERS_MIN 3 /* of a word, to be put right */
#define WORDS_MAX 3   /* of a query, that are put right */
#define FAR_MORE 30   /* times as frequent as a word that does occur */
#define SPLIT_COST 6  /* of a blank, in the costs of suggest_near.h */
#define PAGES_MAX 3   /* that are read for how a word is written */
#define PAGE_BYTES_MAX (32u << 10)
#define FORMS_MAX 32 /* spellings of a word told apart */

/* A part of the query to be replaced. */
struct fix {
    struct span source; /* in the query's text */
    struct span with;
};

/* A word of the query, as far as it stands in its text. */
struct typed {
    const struct query_word *word;
    struct span folded;
    uint64_t df;
    bool is_alone; /* not part of a phrase, in no field */
};

struct suggester {
    struct near near;
    struct arena *a;
    struct analyzer *an;
    struct span text;
    struct typed typed[SUGGEST_TYPED_MAX];
    unsigned typed_count;
    struct fix fixes[WORDS_MAX];
    unsigned fix_count;
};

/* ---- gathering ---- */

static bool is_inside(struct span text, struct span part)
{
    uintptr_t p = (uintptr_t)part.p, from = (uintptr_t)text.p;
    return part.n && p >= from && p + part.n <= from + text.n;
}

/* Letters of a script with spaces, few digits: something that can be misspelled. */
static bool is_wordlike(struct span s)
{
    unsigned letters = 0, digits = 0;
    for (size_t at = 0; at < s.n;) {
        uint32_t c = utf8_next(s, &at, NULL);
        if (fold_class(c) == CHAR_DENSE)
            return false;
        digits += c >= '0' && c <= '9';
        letters++;
    }
    return letters >= LETTERS_MIN && letters <= NEAR_WORD_MAX - 1 && digits * 3 <= letters;
}

static status add_typed(struct suggester *su, const struct query_word *w, bool is_alone)
{
    size_t n;
    if (!is_inside(su->text, w->source) || w->is_prefix || su->typed_count == SUGGEST_TYPED_MAX)
        return ST_OK;
    analyze_begin(su->an);
    analyze_text(su->an, w->source, 0, 0);
    const struct token *t = analyze_tokens(su->an, &n);
    if (n != 1)
        return ST_OK;
    struct typed *out = &su->typed[su->typed_count];
    *out = (struct typed){.word = w, .folded = arena_copy(su->a, t[0].term->text), .is_alone = is_alone};
    status st = ST_OK;
    for (unsigned i = 0; i < w->term_count && st == ST_OK; i++) {
        uint64_t df = 0;
        st = near_df(&su->near, w->terms[i], &df);
        out->df += df;
    }
    su->typed_count += st == ST_OK;
    return st;
}

static status add_atom(struct suggester *su, const struct query_atom *at)
{
    uint64_t whole = 0;
    status st = ST_OK;
    if (at->kind != ATOM_WORDS)
        return ST_OK;
    if (at->whole)
        st = near_df(&su->near, at->whole->terms[0], &whole);
    bool is_alone = at->word_count == 1 && at->field == ATOM_ANYWHERE;
    for (unsigned i = 0; i < at->word_count && st == ST_OK && whole == 0; i++)
        st = add_typed(su, &at->words[i], is_alone);
    return st;
}

/* ---- how pages write it ---- */

struct form {
    struct span text;
    unsigned count;
};

struct forms {
    struct form form[FORMS_MAX];
    unsigned n;
};

static void count_forms(struct suggester *su, struct forms *f, struct span text, lang_code lang, struct span term)
{
    size_t n;
    text = utf8_cut(text, PAGE_BYTES_MAX);
    analyze_begin(su->an);
    analyze_text(su->an, text, lang, 0);
    const struct token *t = analyze_tokens(su->an, &n);
    for (size_t i = 0; i < n; i++) {
        unsigned k = 0;
        if (!span_eq(t[i].term->text, term))
            continue;
        struct span form = span_cut(text, t[i].at, t[i].bytes);
        while (k < f->n && !span_eq_nocase(f->form[k].text, form))
            k++;
        if (k == FORMS_MAX)
            continue;
        if (k == f->n)
            f->form[f->n++] = (struct form){.text = arena_copy(su->a, form)};
        f->form[k].count++;
    }
}

/* Adds the spellings of some pages of a part that have the term. */
static status read_pages(struct suggester *su, struct forms *f, unsigned part, struct span term, unsigned *pages)
{
    const struct index_snapshot *s = su->near.snapshot;
    struct term_info info;
    status st = segment_find_term(s->parts[part].segment, term, &info);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? ST_OK : st;
    struct postings *p = mem_alloc(sizeof(*p));
    postings_open(p, s->parts[part].segment, &info);
    for (; p->doc != POSTINGS_END && *pages < PAGES_MAX && st == ST_OK; postings_next(p)) {
        struct index_document d;
        if (part_is_dead(&s->parts[part], p->doc))
            continue;
        st = snapshot_document(s, part, p->doc, su->a, &d);
        if (st != ST_OK)
            break;
        lang_code lang = lang_code_of(span_str(d.lang));
        count_forms(su, f, d.title, lang, term);
        count_forms(su, f, d.text, lang, term);
        (*pages)++;
    }
    if (st == ST_OK)
        st = p->st;
    free(p);
    return st;
}

static bool has_upper(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] >= 'A' && s.p[i] <= 'Z')
            return true;
    return false;
}

/* Appends a word in the case that was typed. */
static void put_word(struct buf *out, struct span word, struct span typed)
{
    bool is_lower = !has_upper(typed);
    size_t at = out->n;
    for (size_t i = 0; i < word.n; i++)
        buf_putc(out, is_lower ? ascii_lower(word.p[i]) : word.p[i]);
    if (has_upper(span_cut(typed, 0, 1)) && word.n && ascii_is_alpha(out->p[at]))
        out->p[at] = (char)(out->p[at] & ~0x20);
}

static bool is_better_form(const struct form *x, const struct form *y)
{
    return x->count != y->count ? x->count > y->count : x->text.n < y->text.n;
}

/* Without case and accents. */
static struct span folded(struct suggester *su, struct span form)
{
    size_t n;
    analyze_begin(su->an);
    analyze_text(su->an, form, 0, 0);
    const struct token *t = analyze_tokens(su->an, &n);
    for (size_t i = 0; i < n; i++)
        if (t[i].bytes == form.n) /* the word, or the whole of an identifier */
            return t[i].term->text;
    return form;
}

/* The spelling of a term that is nearest to what was typed, of these the most frequent, then the shortest; empty when
 * no page that was looked at has one in its text that costs at most `max`: stems may be near and their words not, as
 * "gath" of "gather" is to "path". */
static status write_out(struct suggester *su, struct span term, struct span typed, int max, struct span *out)
{
    struct forms f = {0};
    unsigned pages = 0, best = FORMS_MAX;
    int best_cost = max + 1;
    status st = ST_OK;
    *out = SPAN("");
    for (unsigned i = 0; i < su->near.snapshot->part_count && st == ST_OK && pages < PAGES_MAX; i++)
        st = read_pages(su, &f, i, term, &pages);
    for (unsigned i = 0; i < f.n && st == ST_OK; i++) {
        int cost = near_cost(typed, folded(su, f.form[i].text), max);
        if (cost < best_cost || (cost == best_cost && best < FORMS_MAX && is_better_form(&f.form[i], &f.form[best]))) {
            best = i;
            best_cost = cost;
        }
    }
    if (st == ST_OK && best < FORMS_MAX)
        *out = f.form[best].text;
    return st;
}

/* ---- putting right ---- */

static void add_fix(struct suggester *su, struct span source, struct span with)
{
    if (su->fix_count < WORDS_MAX && with.n && !span_eq_nocase(source, with))
        su->fixes[su->fix_count++] = (struct fix){source, with};
}

/* Two words written as one. The better the rarer of the two. */
static status best_split(struct suggester *su, const struct typed *t, double *score, struct span *with)
{
    status st = ST_OK;
    for (size_t at = LETTERS_MIN; at + LETTERS_MIN <= t->folded.n && st == ST_OK; at++) {
        uint64_t x = 0, y = 0;
        struct span term, left = span_cut(t->folded, 0, at), right = span_from(t->folded, at);
        if (((unsigned char)*right.p & 0xc0) == 0x80)
            continue;
        st = near_word_df(&su->near, left, &term, &x);
        if (st == ST_OK && x > t->df * FAR_MORE)
            st = near_word_df(&su->near, right, &term, &y);
        uint64_t df = x < y ? x : y;
        double s = log2((double)df + 1) - 1.5 * SPLIT_COST;
        if (st == ST_OK && df > t->df * FAR_MORE && s > *score) {
            struct buf b = {0};
            buf_printf(&b, "%.*s %.*s", SPAN_ARG(left), SPAN_ARG(right));
            *with = arena_copy(su->a, buf_span(&b));
            *score = s;
            buf_done(&b);
        }
    }
    return st == ST_LIMIT ? ST_OK : st;
}

static status fix_word(struct suggester *su, const struct typed *t)
{
    struct span with = SPAN(""), split = SPAN("");
    double score = -INFINITY; /* of `with` */
    status st = near_find(&su->near, t->folded, t->word);
    unsigned best = 0;
    for (; st == ST_OK && best < su->near.found_count; best++) {
        const struct near_term *c = &su->near.found[best];
        uint64_t more = c->cost <= NEAR_ONE ? FAR_MORE : 3 * FAR_MORE;
        if (c->df <= t->df * more)
            continue;
        st = write_out(su, c->term, t->folded, NEAR_TWO, &with);
        if (with.n) {
            score = c->score;
            break;
        }
    }
    if (st == ST_OK && t->is_alone)
        st = best_split(su, t, &score, &split);
    if (st == ST_OK)
        add_fix(su, t->word->source, split.n ? split : with);
    return st;
}

static bool is_blank(const char *from, const char *to)
{
    return span_trim(span_of(from, (size_t)(to - from))).n == 0;
}

/* "post gresql": a word that is in few pages, and the next one, are one. */
static status join_words(struct suggester *su, const struct typed *t, const struct typed *next, bool *was_joined)
{
    struct span x = t->word->source, y = next->word->source;
    struct buf b = {0};
    struct span term, with = SPAN("");
    uint64_t df = 0, least = t->df < next->df ? t->df : next->df;
    if (!t->is_alone || !next->is_alone || y.p < x.p + x.n || !is_blank(x.p + x.n, y.p))
        return ST_OK;
    buf_put(&b, t->folded);
    buf_put(&b, next->folded);
    status st = near_word_df(&su->near, buf_span(&b), &term, &df);
    if (st == ST_OK && df > least * FAR_MORE)
        st = write_out(su, term, buf_span(&b), NEAR_TWO, &with);
    buf_done(&b);
    if (st == ST_OK && with.n) {
        add_fix(su, span_of(x.p, (size_t)(y.p + y.n - x.p)), with);
        *was_joined = true;
    }
    return st == ST_LIMIT ? ST_OK : st;
}

static status fix_all(struct suggester *su)
{
    status st = ST_OK;
    for (unsigned i = 0; i < su->typed_count && st == ST_OK && su->fix_count < WORDS_MAX; i++) {
        const struct typed *t = &su->typed[i];
        bool was_joined = false;
        if (i + 1 < su->typed_count)
            st = join_words(su, t, t + 1, &was_joined);
        if (was_joined)
            i++;
        else if (st == ST_OK && is_wordlike(t->folded) && t->df * FAR_MORE < su->near.snapshot->all_docs)
            st = fix_word(su, t);
    }
    return st;
}

static int by_place(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct fix *)a)->source.p, y = (uintptr_t)((const struct fix *)b)->source.p;
    return x < y ? -1 : x > y;
}

static struct span put_together(struct suggester *su)
{
    struct buf b = {0};
    size_t at = 0;
    qsort(su->fixes, su->fix_count, sizeof(*su->fixes), by_place);
    for (unsigned i = 0; i < su->fix_count; i++) {
        const struct fix *f = &su->fixes[i];
        size_t from = (size_t)(f->source.p - su->text.p);
        if (from < at)
            continue;
        buf_put(&b, span_cut(su->text, at, from - at));
        put_word(&b, f->with, f->source);
        at = from + f->source.n;
    }
    buf_put(&b, span_from(su->text, at));
    struct span s = arena_copy(su->a, buf_span(&b));
    buf_done(&b);
    return s;
}

status suggest(const struct index_snapshot *s, struct arena *a, struct analyzer *an, struct span text,
               const struct query *q, struct span *out)
{
    struct suggester *su = ARENA_NEW(a, struct suggester);
    status st = ST_OK;
    su->a = a;
    su->an = an;
    su->text = text;
    near_init(&su->near, s, a, an);
    for (unsigned c = 0; c < q->clause_count; c++)
        for (unsigned i = 0; i < q->clauses[c].atom_count && st == ST_OK; i++)
            st = add_atom(su, &q->clauses[c].atoms[i]);
    if (st == ST_OK || st == ST_LIMIT)
        st = fix_all(su);
    near_done(&su->near);
    if (st == ST_OK)
        *out = su->fix_count ? put_together(su) : SPAN("");
    return st;
}
