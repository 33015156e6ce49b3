#include "index/search/relax.h"

static bool is_loose_row(const struct query_atom *a)
{
    return a->kind == ATOM_WORDS && !a->is_quoted && a->word_count > 1;
}

static unsigned count_atoms(const struct query *q)
{
    unsigned n = 0;
    for (unsigned i = 0; i < q->clause_count; i++)
        for (unsigned k = 0; k < q->clauses[i].atom_count; k++)
            n += q->clauses[i].atoms[k].word_count + 1;
    return n;
}

/* "os.path join" becomes os, path, join. A clause with a choice stays. */
static bool relax_rows(struct arena *a, const struct query *q, struct query *out)
{
    bool has_changed = false;
    unsigned n = 0;
    struct query_atom *atoms = arena_alloc(a, count_atoms(q) * sizeof(*atoms) + 1);
    out->clauses = arena_alloc(a, count_atoms(q) * sizeof(*out->clauses) + 1);
    out->clause_count = 0;
    for (unsigned i = 0; i < q->clause_count; i++) {
        const struct query_clause *c = &q->clauses[i];
        if (c->atom_count != 1 || !is_loose_row(&c->atoms[0])) {
            out->clauses[out->clause_count++] = *c;
            continue;
        }
        has_changed = true;
        for (unsigned w = 0; w < c->atoms[0].word_count; w++) {
            atoms[n] = c->atoms[0];
            atoms[n].words = &c->atoms[0].words[w];
            atoms[n].word_count = 1;
            atoms[n].whole = NULL;
            out->clauses[out->clause_count++] = (struct query_clause){&atoms[n++], 1};
        }
    }
    return has_changed;
}

static bool is_of_words(const struct query_clause *c)
{
    for (unsigned i = 0; i < c->atom_count; i++)
        if (c->atoms[i].kind != ATOM_WORDS)
            return false;
    return true;
}

static bool relax_all(struct arena *a, const struct query *q, struct query *out)
{
    unsigned n = 0, joined = 0;
    struct query_atom *atoms = arena_alloc(a, count_atoms(q) * sizeof(*atoms) + 1);
    out->clauses = arena_alloc(a, (q->clause_count + 1) * sizeof(*out->clauses));
    out->clause_count = 0;
    for (unsigned i = 0; i < q->clause_count; i++) {
        const struct query_clause *c = &q->clauses[i];
        if (!is_of_words(c)) {
            out->clauses[out->clause_count++] = *c;
            continue;
        }
        joined++;
        for (unsigned k = 0; k < c->atom_count; k++)
            atoms[n++] = c->atoms[k];
    }
    out->clauses[out->clause_count++] = (struct query_clause){atoms, n};
    return joined > 1;
}

bool query_relax(struct arena *a, const struct query *q, relaxation how, struct query *out)
{
    *out = *q;
    return how == RELAX_ROWS ? relax_rows(a, q, out) : relax_all(a, q, out);
}
