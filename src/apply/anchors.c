#include "apply/anchors.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/pack.h"
#include "base/table.h"
#include "web/facts.h"

/* An entry and its texts are one piece of memory, grown as texts come. */
struct entry {
    uint64_t target;
    uint32_t votes, foreign_votes; /* new since the store was written */
    uint32_t indexed_votes;        /* all that there were when it was indexed; 0: it was not */
    bool has_news;                 /* a text that the index does not have */
    struct buf texts;              /* owned: '\n' between */
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
    buf_done(&e->texts);
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
    for (size_t i = 0; i < text.n; i++)
        buf_putc(texts, text.p[i] == '\n' ? ' ' : text.p[i]);
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

void anchors_add(struct anchors *t, uint64_t target, struct span text, bool is_foreign)
{
    text = span_trim(text);
    if (!text.n || text.n > FACTS_ANCHOR_MAX)
        return;
    struct entry *e = entry_of(t, target);
    if (is_foreign)
        e->foreign_votes++;
    else
        e->votes++;
    size_t cap = e->texts.cap;
    if (put_text(&e->texts, text))
        e->has_news = true;
    t->memory += e->texts.cap - cap;
}

static status unpack_view(struct span packed, struct anchors_view *out)
{
    struct unpack u = unpack_of(packed);
    out->votes = (uint32_t)unpack_var(&u);
    out->foreign_votes = (uint32_t)unpack_var(&u);
    struct span texts = unpack_text(&u, 4 * ANCHORS_BYTES);
    if (u.bad)
        return ST_CORRUPT;
    buf_clear(&out->text);
    buf_put(&out->text, texts);
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

static uint32_t sum(uint32_t a, uint32_t b)
{
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

/* Adds what memory has; true: a text was new. */
static bool join(struct anchors_view *view, const struct entry *e)
{
    struct span rest = buf_span(&e->texts), one;
    bool is_new = false;
    while (rest.n && span_split(&rest, '\n', &one))
        is_new |= put_text(&view->text, one);
    view->votes = sum(view->votes, e->votes);
    view->foreign_votes = sum(view->foreign_votes, e->foreign_votes);
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

void anchors_indexed(struct anchors *t, uint64_t target)
{
    struct entry *e = table_get(&t->entries, target);
    if (!e)
        return;
    e->has_news = false;
    e->indexed_votes = sum(e->votes, e->foreign_votes);
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
    if (st == ST_OK)
        st = store_anchors_put(s, e->target, buf_span(packed));
    /* What the store had was indexed when it came. */
    bool is_due =
        (e->has_news && is_new) || (e->indexed_votes && e->votes + e->foreign_votes >= 2 * e->indexed_votes + 4);
    if (st == ST_OK && is_due)
        st = fn(arg, e->target, &view);
    buf_done(&view.text);
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
