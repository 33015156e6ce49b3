#include "index/search/rerank.h"

#include <stdlib.h>

#include "base/mem.h"

#define POSITIONS_A_WORD 1024 /* looked at; a word that is there more often is near everything */

/* The words that a page has, with their positions in its body. */
struct places {
    struct {
        uint32_t *p; /* owned, POSITIONS_A_WORD each */
        size_t n, at;
    } words[64];
    unsigned count;
    double idf;   /* sum */
    bool has_gap; /* a word is not in the body */
};

#define WORDS_MAX (sizeof(((struct places *)0)->words) / sizeof(((struct places *)0)->words[0]))

static int by_position(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void drop_head(uint32_t *p, size_t *n)
{
    size_t from = 0;
    while (from < *n && p[from] < POSITION_BODY)
        from++;
    *n -= from;
    memmove(p, p + from, *n * sizeof(*p));
}

static void add_word(struct places *pl, struct word_cursor *w, uint32_t doc)
{
    if (pl->count == WORDS_MAX)
        return;
    unsigned at = pl->count++;
    unsigned lists = 0;
    if (!pl->words[at].p)
        pl->words[at].p = mem_alloc(POSITIONS_A_WORD * sizeof(uint32_t));
    uint32_t *p = pl->words[at].p;
    size_t n = 0;
    for (unsigned i = 0; i < w->alt_count; i++) {
        if (w->alts[i].doc != doc || n == POSITIONS_A_WORD)
            continue;
        n += postings_positions(&w->alts[i], p + n, POSITIONS_A_WORD - n);
        lists++;
    }
    if (lists > 1)
        qsort(p, n, sizeof(*p), by_position);
    drop_head(p, &n);
    pl->words[at].n = n;
    pl->words[at].at = 0;
    pl->idf += w->word->idf;
    pl->has_gap |= n == 0;
}

/* All clauses have the page; of those with a choice the atoms that have it. */
static void find_places(struct matcher *m, uint32_t doc, struct places *pl)
{
    pl->count = 0;
    pl->idf = 0;
    pl->has_gap = false;
    for (unsigned i = 0; i < m->clause_count; i++) {
        struct clause_cursor *c = &m->clauses[i];
        for (unsigned k = 0; k < c->atom_count; k++) {
            struct atom_cursor *a = &c->atoms[k];
            if (a->word_count == 0 || a->atom->is_special || atom_seek(a, doc) != doc || a->failed == doc)
                continue;
            for (unsigned w = 0; w < a->word_count; w++)
                add_word(pl, &a->words[w], doc);
        }
    }
}

/* The fewest places in a row that hold every word: the first of the earliest word moves on until one list is through.
 * 0: there are none. */
static uint32_t least_window(struct places *pl)
{
    uint32_t best = 0;
    if (pl->has_gap)
        return 0;
    for (;;) {
        unsigned first = 0;
        uint32_t last = 0;
        for (unsigned i = 0; i < pl->count; i++) {
            uint32_t p = pl->words[i].p[pl->words[i].at];
            if (p < pl->words[first].p[pl->words[first].at])
                first = i;
            last = p > last ? p : last;
        }
        uint32_t window = last - pl->words[first].p[pl->words[first].at] + 1;
        if (!best || window < best)
            best = window;
        if (++pl->words[first].at == pl->words[first].n)
            return best;
    }
}

/* Of two words or more. */
static double proximity(struct places *pl)
{
    uint32_t window = least_window(pl);
    double near = window ? (double)pl->count / window : 0;
    return near > 1 ? 1 : near; /* the same word twice needs one place */
}

/* The order of its words says nothing. */
static bool is_unordered(const struct segment *s, uint32_t doc)
{
    struct doc_row row;
    return segment_doc(s, doc, &row) != ST_OK || (row.flags & ROW_UNORDERED); /* damage is found when it is shown */
}

/* ---- names ---- */

struct named {
    struct postings lists[RERANK_NAMES_MAX];
    unsigned count;
};

static status open_names(const struct segment *s, const struct rerank_names *names, struct named *out)
{
    out->count = 0;
    for (unsigned i = 0; i < names->count; i++) {
        struct term_info info;
        status st = segment_find_term(s, names->names[i], &info);
        if (st == ST_OK)
            postings_open(&out->lists[out->count++], s, &info);
        else if (st != ST_NOT_FOUND)
            return st;
    }
    return ST_OK;
}

static bool is_named(struct named *n, uint32_t doc)
{
    bool is = false;
    for (unsigned i = 0; i < n->count; i++)
        is |= postings_seek(&n->lists[i], doc) == doc;
    return is;
}

static status names_status(const struct named *n)
{
    for (unsigned i = 0; i < n->count; i++)
        if (n->lists[i].st != ST_OK)
            return n->lists[i].st;
    return ST_OK;
}

/* ---- */

static int by_place(const void *a, const void *b)
{
    const struct topk_item *x = a, *y = b;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return x->doc < y->doc ? -1 : x->doc > y->doc;
}

static int by_score(const void *a, const void *b)
{
    const struct topk_item *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

status rerank(struct matcher *m, const struct rank *rank, const struct rerank_names *names, struct topk *top)
{
    size_t n = top->n < RERANK_DEPTH ? top->n : RERANK_DEPTH;
    struct places *pl = mem_alloc(sizeof(*pl));
    struct named *named = mem_alloc(sizeof(*named));
    status st = ST_OK;
    qsort(top->items, n, sizeof(*top->items), by_place);
    for (size_t i = 0; i < n && st == ST_OK; i++) {
        struct topk_item *item = &top->items[i];
        if (i == 0 || item->part != top->items[i - 1].part) {
            if (i)
                st = names_status(named);
            matcher_open(m, item->part);
            if (st == ST_OK)
                st = open_names(m->at->segment, names, named);
        }
        if (st != ST_OK)
            break;
        find_places(m, item->doc, pl);
        if (pl->count > 1 && !is_unordered(m->at->segment, item->doc))
            item->score += rank->proximity * pl->idf * proximity(pl);
        if (is_named(named, item->doc))
            item->score += rank->name * pl->idf;
        st = matcher_status(m);
    }
    if (st == ST_OK && n)
        st = names_status(named);
    qsort(top->items, n, sizeof(*top->items), by_score);
    for (unsigned i = 0; i < WORDS_MAX; i++)
        free(pl->words[i].p);
    free(pl);
    free(named);
    return st;
}
