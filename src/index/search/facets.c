#include "index/search/facets.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "base/table.h"

void facets_done(struct facets *f)
{
    free(f->docs);
    *f = (struct facets){0};
}

/* By the top bits of a product with the golden section: neighbours fall far apart. */
static bool is_kept(struct facets_doc d, unsigned halvings)
{
    return (d.doc + d.part * 0x85ebca6bu) * 0x9e3779b1u >> (32 - halvings) == 0;
}

static void halve(struct facets *f)
{
    size_t kept = 0;
    f->halvings++;
    for (size_t i = 0; i < f->n; i++)
        if (is_kept(f->docs[i], f->halvings))
            f->docs[kept++] = f->docs[i];
    f->n = kept;
}

void facets_add(struct facets *f, uint32_t part, uint32_t doc)
{
    struct facets_doc d = {part, doc};
    if (f->halvings && !is_kept(d, f->halvings))
        return;
    if (f->n == f->cap)
        f->docs = mem_grow(f->docs, &f->cap, f->n + 1, sizeof(*f->docs));
    f->docs[f->n++] = d;
    if (f->n > FACETS_SAMPLE && f->halvings < 31)
        halve(f);
}

/* ---- counting ---- */

struct tally {
    struct span name;
    uint64_t count;
    uint32_t part, number; /* where the name is: of the first site, or of the language, that has it */
};

struct tallies {
    struct table table; /* key -> place in the list + 1 */
    struct tally *list; /* owned */
    size_t n, cap;
};

static void tallies_done(struct tallies *t)
{
    table_done(&t->table);
    free(t->list);
}

static struct tally *tally_of(struct tallies *t, uint64_t key)
{
    uintptr_t at = (uintptr_t)table_get(&t->table, key);
    if (!at) {
        t->list = mem_grow(t->list, &t->cap, t->n + 1, sizeof(*t->list));
        t->list[t->n++] = (struct tally){0};
        at = t->n;
        table_put(&t->table, key, (void *)at); /* a number, never followed */
    }
    return &t->list[at - 1];
}

static int by_name(const void *a, const void *b)
{
    return span_cmp(((const struct tally *)a)->name, ((const struct tally *)b)->name);
}

static int by_count(const void *a, const void *b)
{
    const struct tally *x = a, *y = b;
    return x->count != y->count ? (x->count > y->count ? -1 : 1) : by_name(a, b);
}

static status count_rows(const struct facets *f, const struct index_snapshot *s, struct tallies *sites,
                         struct tallies *langs)
{
    for (size_t i = 0; i < f->n; i++) {
        struct facets_doc d = f->docs[i];
        struct doc_row row;
        status st = segment_doc(s->parts[d.part].segment, d.doc, &row);
        if (st != ST_OK)
            return st;
        struct tally *t = tally_of(sites, (uint64_t)d.part << 32 | row.site);
        t->part = d.part;
        t->number = row.site;
        t->count++;
        t = tally_of(langs, row.lang);
        t->number = row.lang;
        t->count++;
    }
    return ST_OK;
}

static status name_sites(struct tallies *t, const struct index_snapshot *s)
{
    for (size_t i = 0; i < t->n; i++) {
        status st = segment_site(s->parts[t->list[i].part].segment, t->list[i].number, &t->list[i].name);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

static void name_langs(struct tallies *t, struct arena *a)
{
    for (size_t i = 0; i < t->n; i++) {
        char name[4];
        t->list[i].name = arena_copy(a, span_str(lang_code_name((lang_code)t->list[i].number, name)));
    }
}

/* Joins what several parts have under one name; what has no name (a language not known) is left out. */
static void join(struct tallies *from, struct tallies *to)
{
    static const struct sip_key key = {0x666163657473, 1};
    for (size_t i = 0; i < from->n; i++) {
        const struct tally *t = &from->list[i];
        if (!t->name.n)
            continue;
        struct tally *all = tally_of(to, siphash(&key, t->name));
        all->name = t->name;
        all->count += t->count;
    }
}

static unsigned pick(struct tallies *t, double scale, struct arena *a, struct search_facet *out)
{
    struct tallies all = {0};
    unsigned picked = 0;
    join(t, &all);
    if (all.n)
        qsort(all.list, all.n, sizeof(*all.list), by_count);
    for (; picked < all.n && picked < SEARCH_FACETS_MAX; picked++)
        out[picked] = (struct search_facet){arena_copy(a, all.list[picked].name),
                                            (uint64_t)llround((double)all.list[picked].count * scale)};
    tallies_done(&all);
    return picked;
}

status facets_count(const struct facets *f, const struct index_snapshot *s, double scale, struct arena *a,
                    struct search_result *out)
{
    struct tallies sites = {0}, langs = {0};
    status st = count_rows(f, s, &sites, &langs);
    if (st == ST_OK)
        st = name_sites(&sites, s);
    if (st == ST_OK) {
        scale = ldexp(scale, (int)f->halvings);
        name_langs(&langs, a);
        out->site_count = pick(&sites, scale, a, out->sites);
        out->lang_count = pick(&langs, scale, a, out->langs);
    }
    tallies_done(&sites);
    tallies_done(&langs);
    return st;
}
