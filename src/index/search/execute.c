#include "index/search/execute.h"

#include <time.h>

#define STEPS_A_LOOK 512 /* at the clock, which costs as much as ten */

int64_t cpu_clock_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

bool execute_is_out_of_time(struct execution *x, unsigned steps)
{
    x->steps += steps;
    if (x->steps < STEPS_A_LOOK)
        return false;
    x->steps = 0;
    if (cpu_clock_us() > x->cpu_until_us)
        x->is_partial = x->was_skipped = true;
    return x->is_partial;
}

unsigned execute_least_prior(const struct execution *x, double bound)
{
    const struct matcher *m = x->matcher;
    unsigned lo = 0, hi = 256;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if ((bound + m->rank.prior[mid] + m->fresh_max) * MATCH_SLACK < x->top->threshold)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool execute_is_page_too_old(struct execution *x, double bound, uint32_t doc)
{
    struct matcher *m = x->matcher;
    struct doc_row row;
    status st = segment_doc(m->at->segment, doc, &row);
    if (st != ST_OK) {
        m->st = st;
        return true;
    }
    double most = bound + m->rank.prior[row.prior_code] + match_fresh_bound(m, row.changed);
    return most * MATCH_SLACK < x->top->threshold;
}

void execute_enter(struct execution *x, uint32_t doc, double score)
{
    struct matcher *m = x->matcher;
    struct doc_row row;
    score += m->rank.prior[m->codes[2 * (size_t)doc + 1]];
    x->matches++;
    if (x->can_skip && score + m->fresh_max < x->top->threshold)
        return;
    status st = segment_doc(m->at->segment, doc, &row);
    if (st != ST_OK) {
        m->st = st;
        return;
    }
    if (x->can_skip && score + match_fresh_bound(m, row.changed) < x->top->threshold)
        return;
    score += rank_fresh(&m->rank, m->now_s, row.changed);
    if (x->group_of && score >= x->top->threshold)
        row.group = x->group_of(x->group_arg, row.key, row.group);
    topk_push(x->top, &(struct topk_item){score, row.key, row.group, m->part, doc});
}

/* A candidate that could enter: all atoms that have it are at it. */
static void consider(struct execution *x, uint32_t doc)
{
    bool dropped;
    if (!match_is_dead(x->matcher, doc) && match_verify(x->matcher, doc, &dropped))
        execute_enter(x, doc, match_score(x->matcher, doc));
}

static void run_all(struct execution *x)
{
    struct matcher *m = x->matcher;
    uint32_t doc = match_seek(m, 0);
    for (; doc != POSTINGS_END && !execute_is_out_of_time(x, 1); doc = match_seek(m, doc + 1))
        consider(x, doc);
}

/* ---- all clauses ---- */

/* What must be in a page: a word of a clause that is one atom, or a whole clause of several. */
struct unit {
    struct word_cursor *word;     /* NULL: the clause */
    struct clause_cursor *clause; /* that it is, or belongs to */
    uint64_t df;
    double rest; /* the bounds of the units after it, in this stretch of documents */
};

struct conjunction {
    struct execution *x;
    struct matcher *m;
    struct unit *units; /* the rarest first */
    unsigned n;
    bool has_term_lead; /* the first is a word of one term */
    /* The stretch of documents up to `last`, in which each unit has one bound; `bound` is their sum. */
    bool has_stretch;
    uint32_t last;
    double bound;
    /* least_prior of this bound and threshold */
    double least_bound, least_threshold;
    unsigned least;
};

static void add_unit(struct conjunction *j, struct word_cursor *word, struct clause_cursor *clause)
{
    uint64_t df = word ? word->df : clause->df;
    unsigned at = j->n++;
    for (; at && j->units[at - 1].df > df; at--)
        j->units[at] = j->units[at - 1];
    j->units[at] = (struct unit){.word = word, .clause = clause, .df = df};
}

static void conjunction_init(struct conjunction *j, struct execution *x)
{
    struct matcher *m = x->matcher;
    size_t n = 0;
    for (unsigned i = 0; i < m->clause_count; i++)
        n += m->clauses[i].atom_count == 1 ? m->clauses[i].atoms[0].word_count : 1;
    *j = (struct conjunction){.x = x, .m = m, .units = arena_alloc(&m->arena, n * sizeof(struct unit))};
    j->least_threshold = -INFINITY;
    for (unsigned i = 0; i < m->clause_count; i++) {
        struct clause_cursor *c = &m->clauses[i];
        if (c->atom_count > 1)
            add_unit(j, NULL, c);
        for (unsigned k = 0; c->atom_count == 1 && k < c->atoms[0].word_count; k++)
            add_unit(j, &c->atoms[0].words[k], c);
    }
    j->has_term_lead = j->units[0].word && j->units[0].word->alt_count == 1 && !j->units[0].word->limits;
}

static inline uint32_t unit_seek(struct unit *u, uint32_t doc)
{
    return u->word ? word_seek(u->word, doc) : clause_seek(u->clause, doc);
}

static inline double unit_score(struct matcher *m, struct unit *u, uint32_t doc, double before)
{
    if (!u->word)
        return clause_score(m, u->clause, doc, before);
    return u->word->is_special ? before : before + word_score(m, u->word, doc);
}

/* False: a unit has no more documents. */
static bool find_stretch(struct conjunction *j, uint32_t doc)
{
    double sum = 0, bound;
    uint32_t end;
    j->last = POSTINGS_END - 1;
    for (unsigned i = j->n; i-- > 0;) {
        struct unit *u = &j->units[i];
        if (u->word ? !word_bound(j->m, u->word, doc, &end, &bound) : !clause_bound(j->m, u->clause, doc, &end, &bound))
            return false;
        u->rest = sum;
        sum += bound;
        j->last = end < j->last ? end : j->last;
    }
    j->bound = sum;
    j->has_stretch = true;
    return true;
}

/* Of the stretch. */
static unsigned least_prior(struct conjunction *j)
{
    double threshold = j->x->top->threshold;
    if (j->least_bound != j->bound || j->least_threshold != threshold) {
        j->least_bound = j->bound;
        j->least_threshold = threshold;
        j->least = execute_least_prior(j->x, j->bound);
    }
    return j->least;
}

/* Moves the leading term to the next document from `doc` on whose prior suffices, or out of the stretch. */
static uint32_t seek_good_prior(struct conjunction *j, uint32_t doc)
{
    struct word_cursor *w = j->units[0].word;
    struct postings *p = w->alts;
    const uint8_t *codes = j->m->codes;
    unsigned least = least_prior(j);
    word_seek(w, doc);
    if (least && p->doc <= j->last && codes[2 * (size_t)p->doc + 1] < least) {
        j->x->was_skipped = true;
        do
            postings_next(p);
        while (p->doc <= j->last && codes[2 * (size_t)p->doc + 1] < least);
    }
    return w->doc = p->doc;
}

/* Is a page with this score of some units too low, whatever it has of the others (`rest`)? Its age, which costs a look
 * at its row, is asked for once, when the others weigh less than it. */
static bool is_too_low(struct conjunction *j, uint32_t doc, double score, double rest, bool *knows_age)
{
    bool is_low = execute_is_page_too_low(j->x, score + rest, doc);
    if (!is_low && !*knows_age && rest < j->m->fresh_max) {
        *knows_age = true;
        is_low = execute_is_page_too_old(j->x, score + rest, doc);
    }
    j->x->was_skipped |= is_low;
    return is_low;
}

/* The first unit is at `doc`. Seeks the others as long as it can still enter; sets *next to where to go on. True: all
 * have it. */
static bool have_all(struct conjunction *j, uint32_t doc, uint32_t *next)
{
    bool is_full = topk_is_full(j->x->top), knows_age = false;
    unsigned checks =
        j->m->is_plain ? j->n - 1 : j->n; /* the last is for execute_enter, unless positions come before */
    double score = 0;
    *next = doc + 1;
    if (is_full && j->bound < j->m->fresh_max && is_too_low(j, doc, 0, j->bound, &knows_age))
        return false;
    for (unsigned i = 0; i < j->n; i++) {
        struct unit *u = &j->units[i];
        if (i) {
            uint32_t at = unit_seek(u, doc);
            if (at != doc) {
                *next = at;
                return false;
            }
        }
        if (!is_full || i >= checks)
            continue;
        score = unit_score(j->m, u, doc, score);
        if (is_too_low(j, doc, score, u->rest, &knows_age))
            return false;
    }
    return true;
}

/* All units have the document: so have the atoms and clauses that they belong to. */
static void consider_all(struct conjunction *j, uint32_t doc)
{
    for (unsigned i = 0; i < j->m->clause_count; i++) {
        struct clause_cursor *c = &j->m->clauses[i];
        c->doc = doc;
        if (c->atom_count == 1)
            c->atoms[0].doc = doc;
    }
    consider(j->x, doc);
}

static void run_and(struct execution *x)
{
    struct conjunction j;
    uint32_t doc = 0;
    conjunction_init(&j, x);
    while (doc != POSTINGS_END && !execute_is_out_of_time(x, 1)) {
        bool is_full = topk_is_full(x->top);
        if (is_full && (!j.has_stretch || doc > j.last) && !find_stretch(&j, doc))
            return;
        if (is_full && execute_is_too_low(x, j.bound)) {
            x->was_skipped = true;
            doc = j.last + 1;
            continue;
        }
        uint32_t at = is_full && j.has_term_lead ? seek_good_prior(&j, doc) : unit_seek(&j.units[0], doc);
        if (at == POSTINGS_END)
            return;
        if (is_full && at > j.last)
            doc = at;
        else if (have_all(&j, at, &doc))
            consider_all(&j, at);
    }
}

/* ---- one of many atoms ---- */

static void sort_atoms(struct atom_cursor **atoms, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        struct atom_cursor *a = atoms[i];
        unsigned at = i;
        for (; at && atoms[at - 1]->doc > a->doc; at--)
            atoms[at] = atoms[at - 1];
        atoms[at] = a;
    }
}

/* The first atom with which those before it could bring a page in; n: none. */
static unsigned find_pivot(const struct execution *x, struct atom_cursor **atoms, unsigned n)
{
    double sum = 0;
    for (unsigned i = 0; i < n; i++) {
        if (atoms[i]->doc == POSTINGS_END)
            return n;
        sum += atoms[i]->max;
        if (!execute_is_too_low(x, sum))
            return i;
    }
    return n;
}

static struct atom_cursor *strongest(struct atom_cursor **atoms, unsigned n)
{
    struct atom_cursor *best = atoms[0];
    for (unsigned i = 1; i < n; i++)
        if (atoms[i]->max > best->max)
            best = atoms[i];
    return best;
}

/* The bound of the first n atoms' blocks at `doc`; *next: the first document that it says nothing about. */
static double blocks_bound(struct matcher *m, struct atom_cursor **atoms, unsigned n, uint32_t doc, uint32_t *next)
{
    double sum = 0;
    for (unsigned i = 0; i < n; i++) {
        uint32_t last;
        double bound;
        if (!atom_bound(m, atoms[i], doc, &last, &bound))
            continue;
        sum += bound;
        *next = last + 1 < *next ? last + 1 : *next;
    }
    return sum;
}

static void run_or(struct execution *x)
{
    struct matcher *m = x->matcher;
    struct clause_cursor *c = &m->clauses[0];
    unsigned n = c->atom_count;
    struct atom_cursor **atoms = arena_alloc(&m->arena, n * sizeof(struct atom_cursor *));
    for (unsigned i = 0; i < n; i++)
        atoms[i] = &c->atoms[i];
    while (!execute_is_out_of_time(x, 1)) {
        sort_atoms(atoms, n);
        unsigned pivot = find_pivot(x, atoms, n);
        if (pivot == n) {
            x->was_skipped |= atoms[0]->doc != POSTINGS_END;
            return;
        }
        uint32_t doc = atoms[pivot]->doc;
        while (pivot + 1 < n && atoms[pivot + 1]->doc == doc)
            pivot++;
        uint32_t next = pivot + 1 < n ? atoms[pivot + 1]->doc : POSTINGS_END;
        if (topk_is_full(x->top)) {
            double bound = blocks_bound(m, atoms, pivot + 1, doc, &next);
            bool is_low = execute_is_too_low(x, bound);
            if (is_low || execute_is_page_too_low(x, bound, doc)) {
                x->was_skipped = true;
                atom_seek(strongest(atoms, pivot + 1), is_low ? next : doc + 1);
                continue;
            }
        }
        if (atoms[0]->doc == doc) {
            if (!topk_is_full(x->top) || !execute_is_page_too_low(x, match_score(m, doc), doc))
                consider(x, doc);
            else
                x->was_skipped = true;
            for (unsigned i = 0; i <= pivot; i++)
                atom_seek(atoms[i], doc + 1);
        } else {
            unsigned behind = 0;
            while (atoms[behind]->doc < doc)
                behind++;
            x->was_skipped = true;
            atom_seek(strongest(atoms, behind), doc);
        }
    }
}

static bool is_all_words(const struct clause_cursor *c)
{
    for (unsigned i = 0; i < c->atom_count; i++)
        if (c->atoms[i].word_count > 1 || c->atoms[i].needs_check || c->atoms[i].atom->is_special)
            return false;
    return true;
}

status execute_part(struct execution *x, unsigned part)
{
    struct matcher *m = x->matcher;
    double bound = 0;
    if (x->is_partial)
        return ST_OK;
    matcher_open(m, part);
    for (unsigned i = 0; i < m->clause_count; i++)
        bound += m->clauses[i].max;
    if (m->is_empty)
        return matcher_status(m);
    if (!x->can_skip)
        run_all(x);
    else if (execute_is_too_low(x, bound))
        x->was_skipped = true;
    else if (m->clause_count > 1 || m->clauses[0].atom_count == 1)
        run_and(x);
    else if (is_all_words(&m->clauses[0]))
        execute_words(x);
    else
        run_or(x);
    return matcher_status(m);
}
