#include "apply/anchors.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/pack.h"
#include "base/table.h"
#include "web/facts.h"

/* Links that may count, as far as memory knows: of the own site one for each text, of every other site one. */
struct entry {
    uint64_t target;
    uint32_t own, foreign; /* links below */
    uint32_t indexed;      /* links that there were when it was indexed; 0: it was not */
    bool has_news;         /* a text that the index does not have */
    struct buf links;      /* owned: u32 site, text with its length, each */
};

struct anchors {
    struct table entries; /* target -> struct entry, owned */
    size_t memory;
};

struct anchors *anchors_new(void)
{
    return mem_alloc(sizeof(struct anchors));
}

static void entry_free(struct entry *e)
{
    buf_done(&e->links);
    free(e);
}

static void drop_all(struct anchors *t)
{
    size_t at = 0;
    for (struct entry *e; (e = table_next(&t->entries, &at));)
        entry_free(e);
    table_done(&t->entries);
    t->memory = 0;
}

void anchors_free(struct anchors *t)
{
    if (!t)
        return;
    drop_all(t);
    free(t);
}

size_t anchors_memory(const struct anchors *t)
{
    return t->memory;
}

/* ---- texts and sites of a page ---- */

static unsigned count_texts(struct span texts)
{
    unsigned n = texts.n != 0;
    for (size_t i = 0; i < texts.n; i++)
        n += texts.p[i] == '\n';
    return n;
}

static bool has_text(struct span texts, struct span text)
{
    struct span one;
    while (texts.n && span_split(&texts, '\n', &one))
        if (span_eq_nocase(one, text))
            return true;
    return false;
}

/* False: it is there already, or there is no room. */
static bool put_text(struct buf *texts, struct span text)
{
    if (texts->n + text.n + 1 > ANCHORS_BYTES || count_texts(buf_span(texts)) >= ANCHORS_A_PAGE ||
        has_text(buf_span(texts), text))
        return false;
    if (texts->n)
        buf_putc(texts, '\n');
    buf_put(texts, text);
    return true;
}

/* False: it is there already, or there are enough. */
static bool put_site(struct buf *sites, uint32_t site)
{
    struct unpack u = unpack_of(buf_span(sites));
    while (!unpack_at_end(&u))
        if (unpack_u32(&u) == site)
            return false;
    if (sites->n / sizeof(site) >= ANCHORS_SITES)
        return false;
    pack_u32(sites, site);
    return true;
}

/* ---- links in memory ---- */

static bool next_link(struct unpack *u, uint32_t *site, struct span *text)
{
    if (unpack_at_end(u))
        return false;
    *site = unpack_u32(u);
    *text = unpack_text(u, FACTS_ANCHOR_MAX);
    return true;
}

static struct entry *entry_of(struct anchors *t, uint64_t target)
{
    struct entry *e = table_get(&t->entries, target);
    if (e)
        return e;
    e = mem_alloc(sizeof(*e));
    e->target = target;
    table_put(&t->entries, target, e);
    t->memory += sizeof(*e) + 4 * sizeof(void *);
    return e;
}

void anchors_add(struct anchors *t, uint64_t target, struct span text, uint32_t site)
{
    text = span_trim(text);
    if (!text.n || text.n > FACTS_ANCHOR_MAX)
        return;
    struct entry *e = entry_of(t, target);
    if (site ? e->foreign >= ANCHORS_SITES : e->own >= ANCHORS_A_PAGE)
        return;
    struct unpack u = unpack_of(buf_span(&e->links));
    uint32_t other;
    bool is_said = false;
    for (struct span said; next_link(&u, &other, &said);) {
        bool is_same = span_eq_nocase(said, text);
        if (other == site && (site || is_same))
            return;
        is_said |= is_same;
    }
    size_t cap = e->links.cap;
    pack_u32(&e->links, site);
    pack_text(&e->links, text);
    for (size_t i = e->links.n - text.n; i < e->links.n; i++) /* a line break would be a separator */
        if (e->links.p[i] == '\n')
            e->links.p[i] = ' ';
    *(site ? &e->foreign : &e->own) += 1;
    e->has_news |= !is_said;
    t->memory += e->links.cap - cap;
}

/* ---- with what the store has ---- */

static status unpack_view(struct span packed, struct anchors_view *out)
{
    struct unpack u = unpack_of(packed);
    out->votes = (uint32_t)unpack_var(&u);
    out->foreign_votes = (uint32_t)unpack_var(&u);
    struct span texts = unpack_text(&u, 4 * ANCHORS_BYTES);
    struct span sites = {0};
    if (!u.bad && !unpack_at_end(&u)) /* before there were any, votes were only counted */
        sites = unpack_text(&u, ANCHORS_SITES * sizeof(uint32_t));
    if (u.bad || sites.n % sizeof(uint32_t))
        return ST_CORRUPT;
    buf_clear(&out->text);
    buf_put(&out->text, texts);
    buf_clear(&out->sites);
    buf_put(&out->sites, sites);
    return ST_OK;
}

static status look_in_store(struct store *s, uint64_t target, struct anchors_view *out)
{
    struct buf packed = {0};
    status st = store_anchors_get(s, target, &packed);
    if (st == ST_OK)
        st = unpack_view(buf_span(&packed), out);
    else if (st == ST_NOT_FOUND)
        st = ST_OK;
    buf_done(&packed);
    return st;
}

static void count_one(uint32_t *n)
{
    *n += *n < UINT32_MAX;
}

/* Adds what memory has; true: a text was new. */
static bool join(struct anchors_view *view, const struct entry *e)
{
    struct unpack u = unpack_of(buf_span(&e->links));
    uint32_t site;
    bool is_new = false;
    for (struct span text; next_link(&u, &site, &text);) {
        if (site && !put_site(&view->sites, site))
            continue;
        bool is_put = put_text(&view->text, text);
        is_new |= is_put;
        if (site)
            count_one(&view->foreign_votes);
        else if (is_put)
            count_one(&view->votes);
    }
    return is_new;
}

status anchors_look(struct anchors *t, struct store *s, uint64_t target, struct anchors_view *out)
{
    status st = look_in_store(s, target, out);
    const struct entry *e = table_get(&t->entries, target);
    if (st == ST_OK && e)
        join(out, e);
    return st;
}

void anchors_view_clear(struct anchors_view *v)
{
    buf_clear(&v->text);
    buf_clear(&v->sites);
    v->votes = v->foreign_votes = 0;
}

void anchors_view_done(struct anchors_view *v)
{
    buf_done(&v->text);
    buf_done(&v->sites);
}

void anchors_indexed(struct anchors *t, uint64_t target)
{
    struct entry *e = table_get(&t->entries, target);
    if (!e)
        return;
    e->has_news = false;
    e->indexed = e->own + e->foreign;
}

static status flush_entry(struct store *s, const struct entry *e, anchors_fn *fn, void *arg, struct buf *packed)
{
    struct anchors_view view = {0};
    status st = look_in_store(s, e->target, &view);
    bool is_new = st == ST_OK && join(&view, e);
    buf_clear(packed);
    pack_var(packed, view.votes);
    pack_var(packed, view.foreign_votes);
    pack_text(packed, buf_span(&view.text));
    if (view.sites.n)
        pack_text(packed, buf_span(&view.sites));
    if (st == ST_OK)
        st = store_anchors_put(s, e->target, buf_span(packed));
    /* What the store had was indexed when it came. */
    bool is_due = (e->has_news && is_new) || (e->indexed && e->own + e->foreign >= 2 * e->indexed + 4);
    if (st == ST_OK && is_due)
        st = fn(arg, e->target, &view);
    anchors_view_done(&view);
    return st;
}

status anchors_flush(struct anchors *t, struct store *s, anchors_fn *fn, void *arg)
{
    struct buf packed = {0};
    size_t at = 0;
    status st = ST_OK;
    for (struct entry *e; st == ST_OK && (e = table_next(&t->entries, &at));)
        st = flush_entry(s, e, fn, arg, &packed);
    buf_done(&packed);
    if (st == ST_OK)
        drop_all(t);
    return st;
}
