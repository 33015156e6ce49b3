#include "apply/apply.h"

#include <errno.h>
#include <stdlib.h>

#include "apply/feed.h"
#include "base/mem.h"
#include "web/summary.h"

/* The dictionary is learnt from the first pages that have some text: more samples cost time (40 ms for these) and gain
 * 3 % of size. */
#define TRAIN_SAMPLES 300
#define TRAIN_SAMPLE_BYTES 1024
#define TRAIN_SAMPLE_MIN 200
/* Level 1 with the dictionary makes 94 % of what level 3 saves in four fifths of its time. */
#define ZIP_LEVEL 1

struct apply {
    struct apply_opts o;
    bool in_transaction;
    unsigned records;
    struct arena scratch;
    /* NULL without an index: */
    struct contents *contents;
    struct feed *feed;
    struct zipper *zipper;
    struct zip_dict *dict; /* NULL until there is one */
    struct buf packed, zipped;
    struct buf samples; /* of the dictionary to come */
    size_t sample_sizes[TRAIN_SAMPLES];
    size_t sample_count;
};

void apply_index_dir(const char *data_dir, struct buf *out)
{
    buf_printf(out, "%s/index", data_dir);
    (void)buf_cstr(out);
}

void apply_contents_dir(const char *data_dir, struct buf *out)
{
    buf_printf(out, "%s/contents", data_dir);
    (void)buf_cstr(out);
}

static void say(struct buf *why, const char *what)
{
    if (why && !why->n)
        buf_puts(why, what);
}

static status load_dictionary(struct apply *a)
{
    struct span d = contents_dictionary(a->contents);
    if (!d.n)
        return ST_OK;
    status st = zip_dict_new(d, ZIP_LEVEL, &a->dict);
    return st == ST_OK ? feed_set_dictionary(a->feed, d, a->dict) : st;
}

static status open_index(struct apply *a, struct apply_start *start, struct buf *why)
{
    struct buf dir = {0};
    apply_contents_dir(store_dir(a->o.store), &dir);
    status st = contents_open(dir.p, &a->contents);
    buf_done(&dir);
    if (st != ST_OK) {
        say(why, "the texts of its pages (contents) cannot be opened");
        return st;
    }
    a->zipper = zipper_new(ZIP_LEVEL);
    struct span d = contents_dictionary(a->contents);
    if (d.n && zip_dict_new(d, ZIP_LEVEL, &a->dict) != ST_OK) {
        say(why, "the dictionary of its contents is damaged");
        return ST_CORRUPT;
    }
    return feed_open(&a->o, a->contents, a->dict, &a->feed, start, why);
}

status apply_open(const struct apply_opts *o, struct apply **out, struct apply_start *start, struct buf *why)
{
    struct apply *a = mem_alloc(sizeof(*a));
    struct apply_start ignored;
    a->o = *o;
    arena_init(&a->scratch);
    if (!start)
        start = &ignored;
    *start = (struct apply_start){0};
    status st = o->no_index ? ST_OK : open_index(a, start, why);
    if (st == ST_OK) {
        *out = a;
        return ST_OK;
    }
    int saved = errno;
    apply_free(a);
    errno = saved;
    return st;
}

void apply_free(struct apply *a)
{
    if (!a)
        return;
    apply_rollback(a);
    feed_free(a->feed);
    contents_free(a->contents);
    zipper_free(a->zipper);
    zip_dict_free(a->dict);
    buf_done(&a->packed);
    buf_done(&a->zipped);
    buf_done(&a->samples);
    arena_done(&a->scratch);
    free(a);
}

/* ---- summaries ---- */

static bool is_searchable(const struct apply *a, const struct summary *s)
{
    return a->feed && s->failure == ST_OK && (s->is_html || s->digest) && !(s->page_flags & PAGE_NOINDEX);
}

static struct page page_of(const struct apply *a, const struct summary *s)
{
    return (struct page){
        .key = siphash(store_key(a->o.store), s->url),
        .url = s->url,
        .channel = s->channel,
        .fetch_number = s->fetch_number,
        .at = s->at,
        .outcome = (uint8_t)visit_outcome_of(s->is_refused, (status)s->failure, s->http_status),
        .failure = s->failure,
        .http_status = s->http_status,
        .depth = s->depth,
        .page_flags = s->page_flags,
        /* of the fields too: a page whose fields alone change has another content */
        .digest = content_digest(s),
        .title = s->title,
        .lang = s->lang,
        .canonical = s->canonical,
        .etag = s->etag,
        .last_modified = s->last_modified,
        .content_type = s->content_type,
        .charset = s->charset,
        .redirect = s->redirect,
        .reason = s->reason,
        .address = s->address,
        .body_bytes = s->body_bytes,
        .wire_bytes = s->wire_bytes,
        .text_bytes = s->text_bytes,
        .dns_us = s->dns_us,
        .connect_us = s->connect_us,
        .tls_us = s->tls_us,
        .first_byte_us = s->first_byte_us,
        .total_us = s->total_us,
        .has_content = is_searchable(a, s),
    };
}

/* Links that name their target; nobody's vote when they say so themselves. */
static void put_anchors(struct arena *arena, const struct summary *s, struct content *c)
{
    struct content_anchor *anchors = arena_alloc(arena, s->link_count * sizeof(*anchors) + 1);
    size_t n = 0;
    for (size_t i = 0; i < s->link_count; i++) {
        const struct summary_link *l = &s->links[i];
        if (l->kind == LINK_A && l->text.n && !(l->rel & (REL_NOFOLLOW | REL_UGC | REL_SPONSORED)))
            anchors[n++] = (struct content_anchor){l->url, l->text};
    }
    c->anchors = anchors;
    c->anchor_count = n;
}

static void pack_content(struct apply *a, const struct summary *s, wall_ms changed_at)
{
    struct content c = {.url = s->url,
                        .title = s->title,
                        .description = s->description,
                        .canonical = s->canonical,
                        .lang = s->lang,
                        .digest = s->digest,
                        .fetched = s->at,
                        .changed = changed_at,
                        .page_flags = s->page_flags,
                        .headings = s->headings,
                        .heading_count = s->heading_count,
                        .text = s->text,
                        .is_keywords = s->is_keywords};
    content_take_fields(&a->scratch, s, &c);
    put_anchors(&a->scratch, s, &c);
    buf_clear(&a->packed);
    content_pack(&c, &a->packed);
}

static status learn(struct apply *a)
{
    struct buf d = {0};
    status st = zip_dict_train(buf_span(&a->samples), a->sample_sizes, a->sample_count, &d);
    a->sample_count = 0;
    buf_done(&a->samples);
    if (st == ST_INVALID) { /* nothing in common: tried again with the next pages */
        buf_done(&d);
        return ST_OK;
    }
    if (st == ST_OK)
        st = contents_put_dictionary(a->contents, buf_span(&d));
    buf_done(&d);
    return st == ST_OK ? load_dictionary(a) : st;
}

/* Samples are taken from different places of the texts: their beginnings are too much alike. */
static status sample(struct apply *a)
{
    size_t n = a->packed.n;
    if (a->dict || n < TRAIN_SAMPLE_MIN)
        return ST_OK;
    size_t bytes = n < TRAIN_SAMPLE_BYTES ? n : TRAIN_SAMPLE_BYTES;
    size_t from = n > bytes ? a->sample_count * 7919 % (n - bytes) : 0;
    buf_put(&a->samples, span_cut(buf_span(&a->packed), from, bytes));
    a->sample_sizes[a->sample_count++] = bytes;
    return a->sample_count == TRAIN_SAMPLES ? learn(a) : ST_OK;
}

static status put_content(struct apply *a, uint64_t key, const struct summary *s, const struct visit_effect *e)
{
    struct contents_record r = {.key = key, .fetch_number = s->fetch_number, .is_gone = e->content == 0};
    if (r.is_gone) {
        status st = contents_append(a->contents, &r);
        return st == ST_OK ? feed_gone(a->feed, key, s->fetch_number) : st;
    }
    pack_content(a, s, e->changed_at);
    status st = sample(a);
    buf_clear(&a->zipped);
    zipper_run(a->zipper, a->dict, buf_span(&a->packed), &a->zipped);
    r.content = buf_span(&a->zipped);
    if (st == ST_OK)
        st = contents_append(a->contents, &r);
    if (st == ST_OK)
        st = feed_page(a->feed, key, s->fetch_number, buf_span(&a->packed), r.content);
    return st;
}

status apply_summary(struct apply *a, struct span packed, visit_outcome *outcome)
{
    struct summary s;
    arena_reset(&a->scratch);
    status st = summary_unpack(&a->scratch, packed, &s);
    if (st == ST_OK)
        st = apply_begin(a);
    if (st != ST_OK)
        return st;
    struct page p = page_of(a, &s);
    struct visit_effect e;
    st = store_page_visit(a->o.store, &p, &e);
    if (st == ST_OK && a->feed && e.content != e.content_before)
        st = put_content(a, p.key, &s, &e);
    if (st != ST_OK)
        return st;
    a->records++;
    if (outcome)
        *outcome = e.outcome;
    return ST_OK;
}

/* ---- transactions ---- */

status apply_begin(struct apply *a)
{
    if (a->in_transaction)
        return ST_OK;
    status st = store_begin(a->o.store);
    a->in_transaction = st == ST_OK;
    return st;
}

unsigned apply_pending(const struct apply *a)
{
    return a->records;
}

status apply_commit(struct apply *a)
{
    /* The page table must not name a content that a power cut could take. */
    status st = a->contents && a->in_transaction ? contents_sync(a->contents) : ST_OK;
    if (st == ST_OK && a->in_transaction)
        st = store_commit(a->o.store);
    if (st != ST_OK)
        apply_rollback(a);
    a->in_transaction = false;
    a->records = 0;
    return st;
}

void apply_rollback(struct apply *a)
{
    if (a->in_transaction)
        store_rollback(a->o.store);
    a->in_transaction = false;
    a->records = 0;
}

status apply_publish(struct apply *a)
{
    return a->feed ? feed_publish(a->feed, contents_last(a->contents)) : ST_OK;
}

struct live {
    struct store *store;
    uint64_t content;
};

static status note_content(void *arg, const struct page *p)
{
    ((struct live *)arg)->content = p->content;
    return ST_OK;
}

static bool is_live(void *arg, const struct contents_record *r)
{
    struct live *l = arg;
    l->content = 0;
    if (store_page_get(l->store, r->key, note_content, l) != ST_OK)
        return false;
    return !r->is_gone && l->content == r->fetch_number;
}

/* Half of the log is of the past: it is written anew. The pages that count are about as many as the index has. */
static status compact(struct apply *a)
{
    struct apply_stats n = {0};
    feed_get_stats(a->feed, &n);
    uint64_t records = contents_records(a->contents);
    if (records < 10000 || records < 2 * n.index_docs)
        return ST_OK;
    struct live l = {.store = a->o.store};
    status st = contents_compact(a->contents, n.index_docs + n.index_docs / 4, is_live, &l);
    /* The copies are in the index already: its mark moves past them. */
    return st == ST_OK ? feed_finish(a->feed, contents_last(a->contents)) : st;
}

status apply_finish(struct apply *a)
{
    status st = apply_commit(a);
    if (st != ST_OK || !a->feed)
        return st;
    st = feed_finish(a->feed, contents_last(a->contents));
    return st == ST_OK ? compact(a) : st;
}

void apply_get_stats(struct apply *a, struct apply_stats *out)
{
    *out = (struct apply_stats){0};
    if (a->feed)
        feed_get_stats(a->feed, out);
}
