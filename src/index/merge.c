#include "index/merge.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "index/segment/segment_write.h"

#define GONE UINT32_MAX
#define STOP_EVERY 4096 /* documents or terms between two looks at *stop */

struct source {
    const struct segment *segment;
    const struct tombs *tombs;
    uint32_t *numbers; /* owned: new number of each document, or GONE; NULL when none is dead: old + base */
    uint32_t base;
    struct dict_cursor cursor;
    bool is_through;
};

struct merge {
    struct source *sources;
    size_t count;
    struct segment_writer *writer;
    struct postings postings; /* scratch */
    const atomic_bool *stop;
    size_t *bad;
    unsigned ticks;
};

static bool is_stopped(struct merge *m)
{
    return ++m->ticks % STOP_EVERY == 0 && atomic_load_explicit(m->stop, memory_order_relaxed);
}

/* Reading failures name their source, failures of the writer do not. */
static status blame(struct merge *m, const struct source *s, status st)
{
    if (st == ST_CORRUPT)
        *m->bad = (size_t)(s - m->sources);
    return st;
}

/* ---- documents ---- */

static uint32_t number_docs(struct merge *m)
{
    uint32_t next = 0;
    for (size_t i = 0; i < m->count; i++) {
        struct source *s = &m->sources[i];
        uint32_t docs = segment_docs(s->segment);
        s->base = next;
        if (!s->tombs) {
            next += docs;
            continue;
        }
        s->numbers = mem_alloc(docs * sizeof(*s->numbers));
        for (uint32_t d = 0; d < docs; d++)
            s->numbers[d] = tombs_has(s->tombs, d) ? GONE : next++;
    }
    return next;
}

static inline uint32_t new_number(const struct source *s, uint32_t doc)
{
    return s->numbers ? s->numbers[doc] : s->base + doc;
}

static status copy_doc(struct merge *m, struct source *s, uint32_t doc)
{
    struct doc_row row;
    struct span site, url, content;
    status st = segment_doc(s->segment, doc, &row);
    if (st == ST_OK)
        st = segment_site(s->segment, row.site, &site);
    if (st == ST_OK)
        st = segment_stored(s->segment, doc, &url, &content);
    if (st != ST_OK)
        return blame(m, s, st);
    return segment_writer_doc(m->writer, &row, site, url, content);
}

static status copy_docs(struct merge *m)
{
    status st = ST_OK;
    for (size_t i = 0; i < m->count; i++) {
        struct source *s = &m->sources[i];
        uint32_t docs = segment_docs(s->segment);
        for (uint32_t d = 0; d < docs && st == ST_OK; d++) {
            if (new_number(s, d) != GONE)
                st = copy_doc(m, s, d);
            if (st == ST_OK && is_stopped(m))
                st = ST_CANCELLED;
        }
    }
    return st;
}

/* ---- terms ---- */

static status step(struct merge *m, struct source *s, bool is_first)
{
    status st = is_first ? dict_seek(&s->cursor, s->segment, SPAN("")) : dict_next(&s->cursor);
    s->is_through = st != ST_OK;
    return st == ST_END ? ST_OK : blame(m, s, st);
}

static struct source *least(struct merge *m)
{
    struct source *best = NULL;
    for (size_t i = 0; i < m->count; i++) {
        struct source *s = &m->sources[i];
        if (!s->is_through && (!best || span_cmp(s->cursor.term, best->cursor.term) < 0))
            best = s;
    }
    return best;
}

static status copy_postings(struct merge *m, struct source *s)
{
    struct postings *p = &m->postings;
    postings_open(p, s->segment, &s->cursor.info);
    status st = segment_writer_copy(m->writer, p, s->base, s->numbers);
    return p->st == ST_OK ? st : blame(m, s, p->st);
}

/* The term of `first` from every source that has it: sources are in the order of their new numbers. */
static status merge_term(struct merge *m, const struct source *first)
{
    char name[SEGMENT_TERM_MAX];
    struct span term = span_of(name, first->cursor.term.n);
    assert(term.n <= sizeof(name));
    memcpy(name, first->cursor.term.p, term.n);
    status st = segment_writer_term(m->writer, term); /* leaves no trace when all its documents are gone */
    for (size_t i = (size_t)(first - m->sources); i < m->count && st == ST_OK; i++) {
        struct source *s = &m->sources[i];
        if (s->is_through || !span_eq(s->cursor.term, term))
            continue;
        st = copy_postings(m, s);
        if (st == ST_OK)
            st = step(m, s, false);
    }
    return st;
}

static status merge_terms(struct merge *m)
{
    status st = ST_OK;
    struct source *s;
    for (size_t i = 0; i < m->count && st == ST_OK; i++)
        st = step(m, &m->sources[i], true);
    while (st == ST_OK && (s = least(m))) {
        st = merge_term(m, s);
        if (st == ST_OK && is_stopped(m))
            st = ST_CANCELLED;
    }
    return st;
}

status merge_segments(const char *dir, uint32_t number, const struct merge_input *in, size_t count,
                      const atomic_bool *stop, uint32_t *docs, size_t *bad)
{
    struct merge *m = mem_alloc(sizeof(*m));
    assert(count <= MERGE_INPUTS_MAX);
    m->sources = mem_alloc(count * sizeof(*m->sources));
    m->count = count;
    m->stop = stop;
    m->bad = bad;
    for (size_t i = 0; i < count; i++)
        m->sources[i] = (struct source){.segment = in[i].segment, .tombs = in[i].tombs};
    uint32_t living = number_docs(m);
    status st = living ? segment_writer_new(dir, number, &m->writer) : ST_END;
    if (st == ST_OK)
        st = copy_docs(m);
    if (st == ST_OK)
        st = merge_terms(m);
    if (st == ST_OK)
        st = segment_writer_finish(m->writer);
    if (st == ST_OK)
        *docs = living;
    segment_writer_free(m->writer);
    for (size_t i = 0; i < count; i++)
        free(m->sources[i].numbers);
    free(m->sources);
    free(m);
    return st;
}
