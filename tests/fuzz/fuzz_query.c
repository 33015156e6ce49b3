/* fuzz_query.c - any bytes as a query: it parses within its limits, and parsing it again gives the same. The same bytes
 * are then the text of a page that the query is looked for in, now and then a long one: the snippet is UTF-8, its marks
 * lie inside, in order. */
#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "index/search/query.h"
#include "index/search/search.h"
#include "index/search/snippet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TERMS_MAX 12     /* so that the cut is reached by short inputs */
#define LONG (12u << 10) /* more than is analysed at a time */

static void check_word(const struct query_word *w)
{
    assert(w->term_count > 0 && (!w->is_prefix || w->term_count == 1));
    for (unsigned i = 0; i < w->term_count; i++) {
        assert(w->terms[i].n > 0);
        for (unsigned k = 0; k < i; k++)
            assert(!span_eq(w->terms[i], w->terms[k]));
    }
}

static unsigned check_clause(const struct query_clause *c)
{
    unsigned terms = 0;
    for (unsigned i = 0; i < c->atom_count; i++) {
        const struct query_atom *at = &c->atoms[i];
        assert(at->word_count > 0 && at->field <= ATOM_URL);
        assert(at->kind != ATOM_TERM || (at->word_count == 1 && at->words[0].terms[0].p[0] == '\1'));
        for (unsigned k = 0; k < at->word_count; k++) {
            check_word(&at->words[k]);
            assert(!at->words[k].is_prefix || k + 1 == at->word_count);
        }
        if (at->whole)
            check_word(at->whole);
        terms += at->word_count + (at->whole != NULL);
    }
    return terms;
}

static void check_query(const struct query *q, status st)
{
    unsigned terms = check_clause(&q->excluded);
    for (unsigned i = 0; i < q->clause_count; i++) {
        assert(q->clauses[i].atom_count > 0);
        terms += check_clause(&q->clauses[i]);
    }
    assert(terms <= q->term_count && q->term_count <= TERMS_MAX);
    assert((st == ST_OK) == (q->clause_count > 0) && (st == ST_OK || q->note.n > 0));
}

static void check_marked(const struct marked *m)
{
    size_t end = 0;
    assert(utf8_is_valid(m->text));
    for (size_t i = 0; i < m->mark_count; i++) {
        assert(m->marks[i].bytes > 0 && (i == 0 || m->marks[i].at > end));
        end = m->marks[i].at + m->marks[i].bytes;
        assert(end <= m->text.n);
    }
}

static void check_snippets(struct arena *a, struct analyzer *an, const struct query *q, struct span text,
                           lang_code lang)
{
    struct snippet_term terms[8 * TERMS_MAX];
    size_t n = 0;
    struct marked m;
    for (unsigned i = 0; i < q->clause_count; i++)
        for (unsigned k = 0; k < q->clauses[i].atoms[0].word_count; k++)
            if (n < 8 * TERMS_MAX) {
                uint16_t word = (uint16_t)(n / 2);
                terms[n++] = (struct snippet_term){q->clauses[i].atoms[0].words[k].terms[0], i, word, k % 2 == 1};
            }
    snippet_make(a, an, text, span_cut(text, 0, text.n / 4), lang, terms, n, 40 + text.n % 200, &m);
    check_marked(&m);
    snippet_mark(a, an, text, lang, terms, n, 20 + text.n % 50, &m);
    check_marked(&m);
}

static void check_long(struct arena *a, struct analyzer *an, const struct query *q, struct span text, lang_code lang)
{
    struct buf many = {0};
    while (many.n < LONG)
        buf_put(&many, text);
    check_snippets(a, an, q, buf_span(&many), lang);
    buf_done(&many);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct analyzer *an; /* one for all inputs: its cache is part of what is tried */
    lang_code langs[] = {lang_code_of(SPAN("en")), lang_code_of(SPAN("de")), lang_code_of(SPAN("id"))};
    struct query_opts o = {.languages = langs, .language_count = 3, .terms_max = TERMS_MAX};
    struct span text = span_of(data, size);
    struct arena a;
    struct query q, again;
    if (!an)
        an = analyzer_new(1);
    arena_init(&a);
    status st = query_parse(&a, an, text, &o, &q);
    assert(st == ST_OK || st == ST_INVALID || (st == ST_LIMIT && size > SEARCH_QUERY_MAX));
    if (st != ST_LIMIT) {
        check_query(&q, st);
        status st2 = query_parse(&a, an, text, &o, &again);
        assert(st2 == st && again.clause_count == q.clause_count && span_eq(again.note, q.note));
        check_snippets(&a, an, &q, text, langs[size % 3]);
        if (size && data[size - 1] % 64 == 0)
            check_long(&a, an, &q, text, langs[size % 3]);
    }
    arena_done(&a);
    return 0;
}
