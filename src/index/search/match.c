#include "index/search/match.h"

#include <stdlib.h>

#include "index/search/phrase.h"

/* Words of more terms than this (prefixes) are bounded by their whole lists: peeking into each costs more than it
 * saves. */
#define BOUND_ALTS_MAX 8
#define NO_DOC POSTINGS_END
#define LAST_DOC (POSTINGS_END - 1)

void matcher_init(struct matcher *m, const struct resolved *query, const struct rank *rank, wall_ms now)
{
    *m = (struct matcher){.query = query, .now_s = now / 1000};
    rank_tables_init(&m->rank, rank);
    for (unsigned i = 0; i < 256; i++)
        m->bound_tf[i] = rank_bound_of((uint8_t)i);
    for (int64_t i = 0; i < MATCH_AGES; i++)
        m->fresh_by_age[i] = rank_fresh(&m->rank, m->now_s, m->now_s - (i << MATCH_AGE_BITS));
    arena_init(&m->arena);
}

void matcher_done(struct matcher *m)
{
    arena_done(&m->arena);
    free(m->found.p);
    free(m->next.p);
    m->found = m->next = (struct positions){0};
}

/* ---- opening ---- */

bool word_has_language(const struct word_cursor *w, unsigned alt, uint32_t doc)
{
    struct tongues *t = w->tongues;
    lang_code lang = segment_doc_language(t->segment, doc);
    if (lang != t->last) {
        t->last = lang;
        t->last_bits = resolved_language_bits(t->query, lang);
    }
    return w->limits[alt] & t->last_bits;
}

void word_settle(struct word_cursor *w, unsigned alt)
{
    struct postings *p = &w->alts[alt];
    while (p->doc != POSTINGS_END && !word_counts_in(w, alt, p->doc))
        postings_next(p);
}

static void word_open(struct matcher *m, const struct res_word *word, bool is_special, struct word_cursor *w)
{
    const struct term_info *infos = resolved_infos(m->query, m->part, word);
    double tf = 0;
    *w = (struct word_cursor){.word = word, .doc = POSTINGS_END, .is_special = is_special};
    w->bound_from = NO_DOC;
    w->alts = arena_alloc(&m->arena, word->term_count * sizeof(*w->alts));
    w->tongues = &m->tongues;
    if (word->languages)
        w->limits = arena_alloc(&m->arena, word->term_count * sizeof(*w->limits));
    for (unsigned i = 0; i < word->term_count; i++) {
        if (!infos[i].df)
            continue;
        struct postings *p = &w->alts[w->alt_count];
        postings_open(p, m->at->segment, &infos[i]);
        if (w->limits)
            w->limits[w->alt_count] = word->languages[i];
        word_settle(w, w->alt_count++);
        if (p->st != ST_OK)
            m->st = p->st;
        w->doc = p->doc < w->doc ? p->doc : w->doc;
        w->df += infos[i].df;
        tf += m->bound_tf[infos[i].bound];
    }
    w->max = is_special ? 0 : rank_term(&m->rank, word->idf, tf);
}

/* Few items, and nearly in order. */
static void sort_words(struct word_cursor **order, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        struct word_cursor *w = order[i];
        unsigned at = i;
        for (; at && order[at - 1]->df > w->df; at--)
            order[at] = order[at - 1];
        order[at] = w;
    }
}

static bool part_has(const struct matcher *m, const struct res_word *word)
{
    const struct term_info *infos = resolved_infos(m->query, m->part, word);
    for (unsigned i = 0; i < word->term_count; i++)
        if (infos[i].df)
            return true;
    return false;
}

/* False: the part has no page for it. */
static bool atom_open(struct matcher *m, const struct res_atom *atom, struct atom_cursor *a)
{
    for (unsigned i = 0; i < atom->word_count; i++)
        if (!part_has(m, &atom->words[i]))
            return false;
    *a = (struct atom_cursor){.atom = atom, .word_count = atom->word_count, .failed = NO_DOC, .df = UINT64_MAX};
    a->words = arena_alloc(&m->arena, a->word_count * sizeof(*a->words));
    a->order = arena_alloc(&m->arena, a->word_count * sizeof(struct word_cursor *));
    for (unsigned i = 0; i < a->word_count; i++) {
        struct word_cursor *w = a->order[i] = &a->words[i];
        word_open(m, &atom->words[i], atom->is_special, w);
        a->max += w->max;
        a->df = w->df < a->df ? w->df : a->df;
    }
    sort_words(a->order, a->word_count);
    a->needs_check = !atom->is_special && (a->word_count > 1 || atom->field != ATOM_ANYWHERE);
    atom_seek(a, 0);
    return a->doc != POSTINGS_END;
}

static void clause_open(struct matcher *m, const struct res_clause *clause, struct clause_cursor *c)
{
    *c = (struct clause_cursor){.doc = POSTINGS_END};
    c->atoms = arena_alloc(&m->arena, (clause->atom_count + 1u) * sizeof(*c->atoms));
    for (unsigned i = 0; i < clause->atom_count; i++) {
        struct atom_cursor *a = &c->atoms[c->atom_count];
        if (!atom_open(m, &clause->atoms[i], a))
            continue;
        c->atom_count++;
        c->max += a->max;
        c->df += a->df;
        c->doc = a->doc < c->doc ? a->doc : c->doc;
    }
}

static void order_clauses(struct matcher *m)
{
    for (unsigned i = 0; i < m->clause_count; i++) {
        struct clause_cursor *c = &m->clauses[i];
        unsigned at = i;
        for (; at && m->order[at - 1]->df > c->df; at--)
            m->order[at] = m->order[at - 1];
        m->order[at] = c;
    }
}

void matcher_open(struct matcher *m, unsigned part)
{
    const struct resolved *q = m->query;
    arena_reset(&m->arena);
    m->part = part;
    m->at = &q->snapshot->parts[part];
    m->codes = segment_codes(m->at->segment);
    m->tongues = (struct tongues){q, m->at->segment, 0, resolved_language_bits(q, 0)};
    m->st = ST_OK;
    m->clause_count = q->clause_count;
    m->clauses = arena_alloc(&m->arena, (q->clause_count + 1u) * sizeof(*m->clauses));
    m->order = arena_alloc(&m->arena, (q->clause_count + 1u) * sizeof(struct clause_cursor *));
    m->is_empty = q->is_empty || q->after_s >= segment_newest(m->at->segment);
    m->has_limits = q->excluded.atom_count || q->after_s != INT64_MIN || q->before_s != INT64_MAX;
    m->is_plain = !m->has_limits;
    m->is_one_atom = !m->has_limits && q->clause_count == 1 && q->clauses[0].atom_count == 1;
    clause_open(m, &q->excluded, &m->excluded);
    for (unsigned i = 0; i < q->clause_count; i++) {
        struct clause_cursor *c = &m->clauses[i];
        clause_open(m, &q->clauses[i], c);
        m->is_empty |= c->doc == POSTINGS_END;
        for (unsigned k = 0; k < c->atom_count; k++)
            m->is_plain &= !c->atoms[k].needs_check;
    }
    order_clauses(m);
    m->fresh_max = rank_fresh(&m->rank, m->now_s, segment_newest(m->at->segment));
    m->extra_max = m->rank.prior[segment_prior_max(m->at->segment)] + m->fresh_max;
}

static status clause_status(const struct clause_cursor *c)
{
    for (unsigned i = 0; i < c->atom_count; i++)
        for (unsigned k = 0; k < c->atoms[i].word_count; k++)
            for (unsigned j = 0; j < c->atoms[i].words[k].alt_count; j++)
                if (c->atoms[i].words[k].alts[j].st != ST_OK)
                    return c->atoms[i].words[k].alts[j].st;
    return ST_OK;
}

status matcher_status(const struct matcher *m)
{
    status st = m->st != ST_OK ? m->st : clause_status(&m->excluded);
    for (unsigned i = 0; i < m->clause_count && st == ST_OK; i++)
        st = clause_status(&m->clauses[i]);
    return st;
}

/* ---- moving ---- */

uint32_t word_seek_any(struct word_cursor *w, uint32_t doc)
{
    uint32_t least = POSTINGS_END;
    for (unsigned i = 0; i < w->alt_count; i++) {
        struct postings *p = &w->alts[i];
        if (p->doc < doc) {
            postings_seek(p, doc);
            word_settle(w, i);
        }
        least = p->doc < least ? p->doc : least;
    }
    return w->doc = least;
}

uint32_t atom_seek(struct atom_cursor *a, uint32_t doc)
{
    if (a->word_count == 1)
        return a->doc = word_seek(a->words, doc);
    for (;;) {
        doc = word_seek(a->order[0], doc);
        unsigned i = 1;
        for (; doc != POSTINGS_END && i < a->word_count; i++) {
            uint32_t at = word_seek(a->order[i], doc);
            if (at != doc) {
                doc = at;
                break;
            }
        }
        if (doc == POSTINGS_END || i == a->word_count)
            return a->doc = doc;
    }
}

uint32_t clause_seek(struct clause_cursor *c, uint32_t doc)
{
    if (c->doc >= doc)
        return c->doc;
    uint32_t least = POSTINGS_END;
    for (unsigned i = 0; i < c->atom_count; i++) {
        struct atom_cursor *a = &c->atoms[i];
        uint32_t at = a->doc < doc ? atom_seek(a, doc) : a->doc;
        least = at < least ? at : least;
    }
    return c->doc = least;
}

uint32_t match_seek(struct matcher *m, uint32_t doc)
{
    for (;;) {
        doc = clause_seek(m->order[0], doc);
        unsigned i = 1;
        for (; doc != POSTINGS_END && i < m->clause_count; i++) {
            uint32_t at = clause_seek(m->order[i], doc);
            if (at != doc) {
                doc = at;
                break;
            }
        }
        if (doc == POSTINGS_END || i >= m->clause_count)
            return doc;
    }
}

/* ---- bounds ---- */

bool word_bound(struct matcher *m, struct word_cursor *w, uint32_t doc, uint32_t *last, double *bound)
{
    if (w->doc == POSTINGS_END)
        return false;
    if (doc < w->bound_from || doc > w->bound_last || w->bound_from == NO_DOC) {
        double tf = 0;
        bool has_more = w->is_special || w->alt_count > BOUND_ALTS_MAX;
        w->bound_from = doc;
        w->bound_last = LAST_DOC;
        w->bound = w->max;
        if (!has_more) {
            for (unsigned i = 0; i < w->alt_count; i++) {
                uint32_t end;
                uint8_t code;
                if (!postings_peek(&w->alts[i], doc, &end, &code))
                    continue;
                has_more = true;
                tf += m->bound_tf[code];
                w->bound_last = end < w->bound_last ? end : w->bound_last;
            }
            w->bound = rank_term(&m->rank, w->word->idf, tf);
        }
        if (!has_more) {
            w->bound_from = NO_DOC;
            return false;
        }
    }
    *last = w->bound_last;
    *bound = w->bound;
    return true;
}

bool atom_bound(struct matcher *m, struct atom_cursor *a, uint32_t doc, uint32_t *last, double *bound)
{
    uint32_t least = LAST_DOC;
    double sum = 0;
    for (unsigned i = 0; i < a->word_count; i++) {
        uint32_t end;
        double part;
        if (!word_bound(m, &a->words[i], doc, &end, &part))
            return false;
        sum += part;
        least = end < least ? end : least;
    }
    *last = least;
    *bound = sum;
    return true;
}

bool clause_bound(struct matcher *m, struct clause_cursor *c, uint32_t doc, uint32_t *last, double *bound)
{
    uint32_t least = LAST_DOC;
    double sum = 0;
    bool has_more = false;
    for (unsigned i = 0; i < c->atom_count; i++) {
        uint32_t end;
        double part;
        if (!atom_bound(m, &c->atoms[i], doc, &end, &part))
            continue;
        has_more = true;
        sum += part;
        least = end < least ? end : least;
    }
    *last = least;
    *bound = sum;
    return has_more;
}

/* ---- scores ---- */

/* Field by field, as if the terms were one. */
uint8_t match_heads_sum(uint8_t a, uint8_t b)
{
    unsigned sum = 0;
    for (int shift = 0; shift < 8; shift += 2) {
        unsigned n = head_count(a, shift) + head_count(b, shift);
        sum |= (n > 3 ? 3 : n) << shift;
    }
    return (uint8_t)sum;
}

static uint32_t word_counts(struct word_cursor *w, uint32_t doc, uint8_t *head)
{
    uint32_t body = 0;
    *head = 0;
    for (unsigned i = 0; i < w->alt_count; i++) {
        if (w->alts[i].doc != doc)
            continue;
        body += postings_body(&w->alts[i]);
        *head = match_heads_sum(*head, postings_head(&w->alts[i]));
    }
    return body;
}

double word_score_any(struct matcher *m, struct word_cursor *w, uint32_t doc)
{
    uint8_t head;
    uint32_t body = word_counts(w, doc, &head);
    return rank_term(&m->rank, w->word->idf, rank_tf(&m->rank, body, head, m->codes[2 * (size_t)doc]));
}

double clause_score(struct matcher *m, struct clause_cursor *c, uint32_t doc, double before)
{
    double score = before;
    for (unsigned k = 0; k < c->atom_count; k++) {
        struct atom_cursor *a = &c->atoms[k];
        if (a->doc != doc || a->failed == doc || a->atom->is_special)
            continue;
        for (unsigned j = 0; j < a->word_count; j++)
            score += word_score(m, &a->words[j], doc);
    }
    return score;
}

double match_score(struct matcher *m, uint32_t doc)
{
    double score = 0;
    for (unsigned i = 0; i < m->clause_count; i++)
        score = clause_score(m, &m->clauses[i], doc, score);
    return score;
}

/* ---- does it match? ---- */

static bool is_in_field(struct atom_cursor *a)
{
    uint8_t head;
    (void)word_counts(a->words, a->doc, &head);
    return head_count(head, a->atom->field == ATOM_TITLE ? HEAD_TITLE : HEAD_URL) > 0;
}

static bool atom_verify(struct matcher *m, struct atom_cursor *a)
{
    if (!a->needs_check)
        return true;
    return a->word_count == 1 ? is_in_field(a) : phrase_is_in_a_row(m, a);
}

static bool is_in_time(struct matcher *m, uint32_t doc)
{
    const struct resolved *q = m->query;
    struct doc_row row;
    if (q->after_s == INT64_MIN && q->before_s == INT64_MAX)
        return true;
    status st = segment_doc(m->at->segment, doc, &row);
    if (st != ST_OK)
        m->st = st;
    return st == ST_OK && row.changed > q->after_s && row.changed < q->before_s;
}

static bool is_excluded(struct matcher *m, uint32_t doc)
{
    struct clause_cursor *x = &m->excluded;
    for (unsigned i = 0; i < x->atom_count; i++) {
        struct atom_cursor *a = &x->atoms[i];
        uint32_t at = a->doc < doc ? atom_seek(a, doc) : a->doc;
        if (at == doc && atom_verify(m, a))
            return true;
    }
    return false;
}

static bool clause_verify(struct matcher *m, struct clause_cursor *c, uint32_t doc, bool *dropped)
{
    bool matches = false;
    for (unsigned i = 0; i < c->atom_count; i++) {
        struct atom_cursor *a = &c->atoms[i];
        if (a->doc != doc)
            continue;
        if (a->failed != doc && !atom_verify(m, a)) {
            a->failed = doc;
            *dropped = true;
        }
        matches |= a->failed != doc;
    }
    return matches;
}

bool match_is_allowed(struct matcher *m, uint32_t doc)
{
    return is_in_time(m, doc) && !is_excluded(m, doc);
}

bool match_verify(struct matcher *m, uint32_t doc, bool *dropped)
{
    *dropped = false;
    if (m->is_plain)
        return true;
    if (m->is_one_atom)
        return atom_verify(m, &m->clauses[0].atoms[0]);
    if (!match_is_allowed(m, doc))
        return false;
    for (unsigned i = 0; i < m->clause_count; i++)
        if (!clause_verify(m, &m->clauses[i], doc, dropped))
            return false;
    return true;
}
