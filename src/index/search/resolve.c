#include "index/search/resolve.h"

#include <stdlib.h>

#include "base/mem.h"
#include "index/segment/rank.h"

/* Terms are numbered in the order in which they are found; their infos are gathered in columns, one a term, and laid
 * out by part at the end. */
struct resolver {
    struct arena *a;
    const struct index_snapshot *s;
    struct term_info **columns; /* RESOLVE_TERMS_MAX of them */
    struct resolved *out;
    size_t prefix_room; /* terms that prefixes may still bring */
    /* Documents of each language of the query, and of none that is known. */
    uint64_t docs[QUERY_LANGUAGES_MAX], docs_unknown;
};

static void count_languages(struct resolver *r)
{
    lang_code lang;
    uint32_t docs;
    for (unsigned p = 0; p < r->s->part_count; p++)
        for (unsigned i = 0; segment_language(r->s->parts[p].segment, i, &lang, &docs) == ST_OK; i++) {
            r->docs_unknown += lang ? 0 : docs;
            for (unsigned k = 0; lang && k < r->out->language_count; k++)
                r->docs[k] += r->out->languages[k] == lang ? docs : 0;
        }
}

/* No more pages than there are in its languages have a term, however frequent it is in others. */
static uint64_t most_pages(const struct resolver *r, uint32_t languages)
{
    uint64_t most = languages & 1 ? r->docs_unknown : 0;
    if (languages == QUERY_ANY)
        return UINT64_MAX;
    for (unsigned k = 0; k < r->out->language_count; k++)
        most += languages >> k & 1 ? r->docs[k] : 0;
    return most;
}

/* Looks the term up everywhere; keeps it when some part has it. */
static status take_term(struct resolver *r, struct span text, uint32_t languages, struct res_word *w)
{
    unsigned parts = r->s->part_count;
    if (r->out->term_count == RESOLVE_TERMS_MAX) {
        r->out->is_cut = true;
        return ST_OK;
    }
    struct term_info *column = arena_alloc(r->a, (parts ? parts : 1) * sizeof(*column));
    uint64_t df = 0;
    for (unsigned i = 0; i < parts; i++) {
        column[i] = (struct term_info){0};
        status st = segment_find_term(r->s->parts[i].segment, text, &column[i]);
        if (st != ST_OK && st != ST_NOT_FOUND)
            return st;
        if (st == ST_NOT_FOUND)
            column[i].df = 0;
        df += column[i].df;
    }
    uint64_t most = most_pages(r, languages);
    if (!df)
        return ST_OK;
    r->columns[r->out->term_count++] = column;
    w->terms[w->term_count++] = text;
    w->df += df < most ? df : most;
    return ST_OK;
}

/* ---- prefixes ---- */

struct prefix_term {
    struct span text;
    uint64_t df;
};

struct prefix_list {
    struct prefix_term *terms; /* owned */
    size_t n, cap;
};

static int by_text(const void *a, const void *b)
{
    return span_cmp(((const struct prefix_term *)a)->text, ((const struct prefix_term *)b)->text);
}

static int by_df(const void *a, const void *b)
{
    const struct prefix_term *x = a, *y = b;
    return x->df != y->df ? (x->df > y->df ? -1 : 1) : by_text(a, b);
}

static status prefix_scan(struct resolver *r, const struct segment *segment, struct span prefix, struct prefix_list *l)
{
    struct dict_cursor c;
    size_t seen = 0;
    status st = dict_seek(&c, segment, prefix);
    for (; st == ST_OK && span_starts(c.term, prefix); st = dict_next(&c)) {
        if (++seen > RESOLVE_PREFIX_SCAN) {
            r->out->is_cut = true;
            return ST_OK;
        }
        l->terms = mem_grow(l->terms, &l->cap, l->n + 1, sizeof(*l->terms));
        l->terms[l->n++] = (struct prefix_term){arena_copy(r->a, c.term), c.info.df};
    }
    return st == ST_END ? ST_OK : st;
}

/* Sorts by text, joins what several parts have, then puts the most frequent first. */
static size_t prefix_order(struct prefix_list *l)
{
    size_t n = 0;
    if (l->n)
        qsort(l->terms, l->n, sizeof(*l->terms), by_text);
    for (size_t i = 0; i < l->n; i++) {
        if (n && span_eq(l->terms[n - 1].text, l->terms[i].text))
            l->terms[n - 1].df += l->terms[i].df;
        else
            l->terms[n++] = l->terms[i];
    }
    if (n)
        qsort(l->terms, n, sizeof(*l->terms), by_df);
    return n;
}

static status take_prefix(struct resolver *r, struct span prefix, struct res_word *w)
{
    struct prefix_list l = {0};
    status st = ST_OK;
    for (unsigned i = 0; i < r->s->part_count && st == ST_OK; i++)
        st = prefix_scan(r, r->s->parts[i].segment, prefix, &l);
    size_t n = prefix_order(&l), room = r->prefix_room < RESOLVE_PREFIX_MAX ? r->prefix_room : RESOLVE_PREFIX_MAX;
    if (n > room) {
        n = room;
        r->out->is_cut = true;
    }
    r->prefix_room -= n;
    w->terms = arena_alloc(r->a, (n ? n : 1) * sizeof(*w->terms));
    for (size_t i = 0; i < n && st == ST_OK; i++)
        st = take_term(r, l.terms[i].text, QUERY_ANY, w);
    free(l.terms);
    return st;
}

/* ---- words, atoms, clauses ---- */

static status take_word(struct resolver *r, const struct query_word *q, struct res_word *w)
{
    *w = (struct res_word){.first = r->out->term_count};
    status st = ST_OK;
    if (q->is_prefix && q->term_count) {
        st = take_prefix(r, q->terms[0], w);
    } else {
        w->terms = arena_alloc(r->a, (q->term_count ? q->term_count : 1) * sizeof(*w->terms));
        if (q->languages)
            w->languages = arena_alloc(r->a, q->term_count * sizeof(*w->languages));
        for (unsigned i = 0; i < q->term_count && st == ST_OK; i++) {
            if (q->languages)
                w->languages[w->term_count] = q->languages[i];
            st = take_term(r, q->terms[i], q->languages ? q->languages[i] : QUERY_ANY, w);
        }
    }
    if (st == ST_OK && w->term_count)
        w->idf = rank_idf(r->s->all_docs, w->df < r->s->all_docs ? w->df : r->s->all_docs);
    return st;
}

static status take_words(struct resolver *r, const struct query_word *words, unsigned n, struct res_atom *atom)
{
    atom->words = arena_alloc(r->a, (n ? n : 1) * sizeof(*atom->words));
    atom->word_count = 0;
    for (unsigned i = 0; i < n; i++) {
        status st = take_word(r, &words[i], &atom->words[i]);
        if (st != ST_OK)
            return st;
        if (!atom->words[i].term_count) {
            atom->word_count = 0;
            return ST_OK;
        }
        atom->word_count++;
    }
    return ST_OK;
}

static status take_clause(struct resolver *r, const struct query_clause *q, struct res_clause *clause)
{
    *clause = (struct res_clause){0};
    clause->atoms = arena_alloc(r->a, (q->atom_count + 1u) * sizeof(*clause->atoms));
    for (unsigned i = 0; i < q->atom_count; i++) {
        const struct query_atom *from = &q->atoms[i];
        struct res_atom *atom = &clause->atoms[clause->atom_count];
        *atom = (struct res_atom){.field = from->field, .is_special = from->kind == ATOM_TERM};
        status st = ST_OK;
        if (from->whole)
            st = take_words(r, from->whole, 1, atom);
        if (st == ST_OK && !atom->word_count)
            st = take_words(r, from->words, from->word_count, atom);
        if (st != ST_OK)
            return st;
        clause->atom_count += atom->word_count > 0;
    }
    return ST_OK;
}

static void lay_out_infos(struct resolver *r)
{
    struct resolved *out = r->out;
    size_t parts = r->s->part_count, terms = out->term_count;
    out->infos = arena_alloc(r->a, (parts * terms + 1) * sizeof(*out->infos));
    for (size_t p = 0; p < parts; p++)
        for (size_t t = 0; t < terms; t++)
            out->infos[p * terms + t] = r->columns[t][p];
}

static void note_rare_words(struct resolved *out)
{
    out->least_df = UINT64_MAX;
    for (unsigned c = 0; c < out->clause_count; c++) {
        for (unsigned i = 0; i < out->clauses[c].atom_count; i++) {
            const struct res_atom *atom = &out->clauses[c].atoms[i];
            for (unsigned w = 0; w < atom->word_count && !atom->is_special; w++)
                if (atom->words[w].df < out->least_df)
                    out->least_df = atom->words[w].df;
        }
    }
}

status resolve(struct arena *a, const struct index_snapshot *s, const struct query *q, struct resolved *out)
{
    struct resolved res = {.snapshot = s, .after_s = q->after_s, .before_s = q->before_s};
    struct resolver r = {.a = a, .s = s, .out = &res, .prefix_room = RESOLVE_TERMS_MAX / 2};
    res.languages = memcpy(arena_alloc(a, sizeof(q->languages)), q->languages, sizeof(q->languages));
    res.language_count = q->language_count;
    count_languages(&r);
    r.columns = arena_alloc(a, RESOLVE_TERMS_MAX * sizeof(struct term_info *));
    res.clauses = arena_alloc(a, (q->clause_count + 1u) * sizeof(*res.clauses));
    for (unsigned i = 0; i < q->clause_count; i++) {
        status st = take_clause(&r, &q->clauses[i], &res.clauses[res.clause_count++]);
        if (st != ST_OK)
            return st;
        res.has_unknown |= res.clauses[i].atom_count < q->clauses[i].atom_count;
        res.is_empty |= res.clauses[i].atom_count == 0;
    }
    status st = take_clause(&r, &q->excluded, &res.excluded);
    if (st != ST_OK)
        return st;
    res.is_empty |= res.clause_count == 0;
    lay_out_infos(&r);
    note_rare_words(&res);
    *out = res;
    return ST_OK;
}
