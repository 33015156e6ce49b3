#include "index/search/survey.h"

#include <math.h>

#include "index/search/window.h"

#define WINDOWS_LEAST 24 /* for an estimate to mean something */

/* ---- what it would cost ---- */

static uint64_t atom_df(const struct resolved *q, unsigned part, const struct res_atom *atom)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < atom->word_count; i++) {
        const struct term_info *infos = resolved_infos(q, part, &atom->words[i]);
        uint64_t df = 0;
        for (unsigned k = 0; k < atom->words[i].term_count; k++)
            df += infos[k].df;
        least = df < least ? df : least;
    }
    return least;
}

struct price {
    uint64_t pages; /* at most so many match */
    uint64_t steps;
};

static struct price part_price(const struct resolved *q, unsigned part)
{
    uint64_t docs = segment_docs(q->snapshot->parts[part].segment), pages = docs, checks = 0, atoms = 0;
    for (unsigned i = 0; i < q->clause_count; i++) {
        uint64_t df = 0;
        for (unsigned k = 0; k < q->clauses[i].atom_count; k++) {
            const struct res_atom *atom = &q->clauses[i].atoms[k];
            df += atom_df(q, part, atom);
            checks += atom->word_count > 1;
            atoms += atom->word_count;
        }
        pages = df < pages ? df : pages;
    }
    for (unsigned i = 0; i < q->excluded.atom_count; i++) {
        checks += q->excluded.atoms[i].word_count > 1;
        atoms += q->excluded.atoms[i].word_count;
    }
    return (struct price){pages, pages * (atoms + checks * SURVEY_POSITIONS_STEPS)};
}

/* ---- one word alone ---- */

static bool is_one_term(const struct resolved *q)
{
    return q->clause_count == 1 && q->clauses[0].atom_count == 1 && q->clauses[0].atoms[0].word_count == 1 &&
           q->clauses[0].atoms[0].words[0].term_count == 1 && !q->clauses[0].atoms[0].words[0].languages &&
           q->clauses[0].atoms[0].field == ATOM_ANYWHERE && q->excluded.atom_count == 0 && q->after_s == INT64_MIN &&
           q->before_s == INT64_MAX;
}

/* Of a single term the frequency says it, but for the dead: these are looked up one by one. */
static status count_term(struct matcher *m, unsigned part, uint64_t *count)
{
    const struct snapshot_part *at = &m->query->snapshot->parts[part];
    const struct term_info *info = resolved_infos(m->query, part, &m->query->clauses[0].atoms[0].words[0]);
    struct postings p;
    *count += info->df;
    if (!at->dead || !at->dead_count || !info->df)
        return ST_OK;
    postings_open(&p, at->segment, info);
    uint32_t docs = segment_docs(at->segment);
    for (uint32_t byte = 0; byte < (docs + 7) / 8 && p.doc != POSTINGS_END; byte++) {
        for (uint32_t bit = 0; at->dead[byte] >> bit && p.doc != POSTINGS_END; bit++) {
            uint32_t doc = byte * 8 + bit;
            if (doc < docs && part_is_dead(at, doc) && postings_seek(&p, doc) == doc)
                --*count;
        }
    }
    return p.st;
}

static status count_one_term(struct matcher *m, uint64_t *total)
{
    status st = ST_OK;
    *total = 0;
    for (unsigned i = 0; i < m->query->snapshot->part_count && st == ST_OK; i++)
        st = count_term(m, i, total);
    return st;
}

/* ---- visiting ---- */

struct visit {
    struct matcher *m;
    struct facets *f;
    uint32_t share; /* of the windows, in 2^-32 */
    bool is_all;
    uint64_t matches, docs; /* seen */
};

static void visit_match(struct visit *v, uint32_t doc)
{
    v->matches++;
    if (v->f)
        facets_add(v->f, v->m->part, doc);
}

/* Page by page. */
static void visit_pages(struct visit *v, struct window at)
{
    struct matcher *m = v->m;
    for (uint32_t doc = match_seek(m, at.base); doc < at.end; doc = match_seek(m, doc + 1)) {
        bool dropped;
        if (!match_is_dead(m, doc) && match_verify(m, doc, &dropped))
            visit_match(v, doc);
    }
}

/* A clause is worth stepping through when the pages left are so much rarer. */
#define RARER 16

static void keep_by_seeking(struct clause_cursor *c, uint32_t base, window_bits kept)
{
    for (unsigned word = 0; word < WINDOW_WORDS; word++)
        for (uint64_t left = kept[word]; left; left &= left - 1) {
            unsigned bit = (unsigned)__builtin_ctzll(left);
            uint32_t doc = base + word * 64 + bit;
            if (clause_seek(c, doc) != doc)
                kept[word] &= ~(1ull << bit);
        }
}

static void fill_clause(struct clause_cursor *c, struct window at, window_bits bits)
{
    memset(bits, 0, sizeof(window_bits));
    c->doc = POSTINGS_END;
    for (unsigned i = 0; i < c->atom_count; i++) {
        struct atom_cursor *a = &c->atoms[i];
        window_fill(at, a->words, bits);
        a->doc = a->words->doc;
        c->doc = a->doc < c->doc ? a->doc : c->doc;
    }
}

/* All pages of the window at once: every atom is one word. */
static void visit_bits(struct visit *v, struct window at)
{
    struct matcher *m = v->m;
    window_bits kept, bits;
    unsigned n = WINDOW_DOCS;
    double docs = segment_docs(m->at->segment);
    window_live(m, at, kept);
    for (unsigned i = 0; i < m->clause_count && n; i++) {
        struct clause_cursor *c = m->order[i];
        if ((double)n * RARER < (double)c->df / docs * WINDOW_DOCS) {
            keep_by_seeking(c, at.base, kept);
        } else {
            fill_clause(c, at, bits);
            for (unsigned k = 0; k < WINDOW_WORDS; k++)
                kept[k] &= bits[k];
        }
        n = window_count(kept);
    }
    if (!v->f && !m->has_limits) {
        v->matches += n;
        return;
    }
    for (unsigned word = 0; word < WINDOW_WORDS && n; word++)
        for (uint64_t left = kept[word]; left; left &= left - 1) {
            uint32_t doc = at.base + word * 64 + (uint32_t)__builtin_ctzll(left);
            if (!m->has_limits || match_is_allowed(m, doc))
                visit_match(v, doc);
        }
}

/* Multiples of the golden section fall evenly: whatever the share, the windows taken are spread over the part. */
static bool is_chosen(const struct visit *v, uint32_t window)
{
    return window * 0x9e3779b9u + v->m->part * 0x85ebca6bu <= v->share;
}

static bool is_all_words(const struct matcher *m)
{
    for (unsigned i = 0; i < m->clause_count; i++)
        for (unsigned k = 0; k < m->clauses[i].atom_count; k++)
            if (m->clauses[i].atoms[k].needs_check)
                return false;
    return true;
}

static status visit_part(struct visit *v, unsigned part)
{
    struct matcher *m = v->m;
    matcher_open(m, part);
    uint32_t docs = segment_docs(m->at->segment);
    bool by_bits = is_all_words(m);
    for (uint32_t base = 0; base < docs && !m->is_empty; base += WINDOW_DOCS) {
        struct window at = {base, docs - base < WINDOW_DOCS ? docs : base + WINDOW_DOCS};
        if (!v->is_all && !is_chosen(v, base / WINDOW_DOCS))
            continue;
        v->docs += at.end - base;
        if (by_bits)
            visit_bits(v, at);
        else
            visit_pages(v, at);
    }
    return matcher_status(m);
}

status survey_run(struct matcher *m, uint64_t steps, struct facets *f, struct survey *out)
{
    const struct resolved *q = m->query;
    struct survey s = {.is_exact = true, .scale = 1};
    uint64_t pages = 0, price = 0, docs = 0, dead = 0;
    for (unsigned i = 0; i < q->snapshot->part_count && !q->is_empty; i++) {
        struct price p = part_price(q, i);
        pages += p.pages;
        price += p.steps;
        docs += p.pages ? segment_docs(q->snapshot->parts[i].segment) : 0;
        dead += q->snapshot->parts[i].dead_count;
    }
    bool is_known = pages && is_one_term(q) && dead <= steps;
    status st = is_known ? count_one_term(m, &s.total) : ST_OK;
    if (st == ST_OK && pages && (!is_known || f)) {
        double share = (double)steps / (double)price, least = WINDOWS_LEAST * (double)WINDOW_DOCS / (double)docs;
        share = share > least ? share : least < 4 * share ? least : 4 * share;
        struct visit v = {.m = m, .f = f, .is_all = share >= 1};
        v.share = v.is_all ? UINT32_MAX : (uint32_t)(share * 4294967295.0);
        for (unsigned i = 0; i < q->snapshot->part_count && st == ST_OK; i++)
            if (part_price(q, i).pages)
                st = visit_part(&v, i);
        s.scale = v.is_all || !v.docs ? 1 : (double)docs / (double)v.docs;
        uint64_t about = (uint64_t)llround((double)v.matches * s.scale);
        if (!is_known) {
            s.is_exact = v.is_all;
            s.total = about < pages ? about : pages;
        }
    }
    if (st == ST_OK)
        *out = s;
    return st;
}
