#include "apply/apply.h"

#include <errno.h>
#include <stdlib.h>

#include "apply/alike.h"
#include "apply/erase.h"
#include "apply/feed.h"
#include "apply/learn.h"
#include "apply/remake.h"
#include "base/mem.h"
#include "store/fleet.h"
#include "store/snapshot.h"
#include "web/charset.h"
#include "web/document.h"
#include "web/media.h"
#include "web/sitemap.h"

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
    struct learner learner; /* of the dictionary to come */
    struct places *places;  /* owned: what is forgotten; NULL: nothing is */
    atomic_bool is_looking; /* for near-duplicates */
    atomic_uint looked_percent;
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
    status st = zip_dict_new(d, LEARN_ZIP_LEVEL, &a->dict);
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
    a->zipper = zipper_new(LEARN_ZIP_LEVEL);
    struct span d = contents_dictionary(a->contents);
    if (d.n && zip_dict_new(d, LEARN_ZIP_LEVEL, &a->dict) != ST_OK) {
        say(why, "the dictionary of its contents is damaged");
        return ST_CORRUPT;
    }
    return feed_open(&a->o, a->contents, a->dict, &a->feed, start, why);
}

static status open_all(struct apply *a, struct apply_start *start, struct buf *why)
{
    if (a->o.no_index)
        return ST_OK;
    status st = remake_finish(a->o.store);
    if (st != ST_OK)
        say(why, "the texts of its pages (contents) cannot be put in order");
    return st == ST_OK ? open_index(a, start, why) : st;
}

static void close_all(struct apply *a)
{
    feed_free(a->feed);
    contents_free(a->contents);
    zipper_free(a->zipper);
    zip_dict_free(a->dict);
    learner_done(&a->learner);
    a->feed = NULL;
    a->contents = NULL;
    a->zipper = NULL;
    a->dict = NULL;
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
    status st = open_all(a, start, why);
    if (st == ST_OK)
        st = erase_load_places(o->store, &a->places);
    if (st == ST_OK && erase_is_due(o->store)) {
        st = apply_forget(a, &start->erased);
        if (st != ST_OK)
            say(why, "what is to be forgotten cannot be taken out");
    }
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
    close_all(a);
    buf_done(&a->packed);
    buf_done(&a->zipped);
    places_free(a->places);
    arena_done(&a->scratch);
    free(a);
}

/* ---- summaries ---- */

static bool is_searchable(const struct apply *a, const struct summary *s)
{
    bool is_known = s->is_html || s->digest || (content_is_named(s) && !a->o.no_documents);
    return a->feed && s->failure == ST_OK && is_known && !(s->page_flags & PAGE_NOINDEX);
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
        .modified = summary_modified(s),
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

/* As it was read, where the server does not tell, or tells less. */
static struct span type_of(const struct summary *s)
{
    struct span type = content_type_media(s->content_type);
    if (s->is_html && !type.n)
        return SPAN("text/html");
    return document_kind_of(s->content_type, s->url) == DOCUMENT_MARKDOWN ? SPAN("text/markdown") : type;
}

static void name_content(struct apply *a, const struct summary *s, struct content *c)
{
    struct buf b = {0};
    media_describe(&b, s->content_type, s->url, s->body_bytes);
    c->text = arena_copy(&a->scratch, buf_span(&b));
    buf_done(&b);
    if (!c->title.n)
        c->title = media_file_name(&a->scratch, s->url);
}

static void put_alternates(struct arena *arena, const struct summary *s, struct content *c)
{
    struct content_alternate *alternates = arena_alloc(arena, CONTENT_ALTERNATES_MAX * sizeof(*alternates));
    size_t n = 0;
    for (size_t i = 0; i < s->link_count && n < CONTENT_ALTERNATES_MAX; i++) {
        const struct summary_link *l = &s->links[i];
        if (l->kind == LINK_ALTERNATE && l->text.n && l->text.n <= FACTS_HREFLANG_MAX)
            alternates[n++] = (struct content_alternate){l->text, l->url};
    }
    c->alternates = alternates;
    c->alternate_count = n;
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
                        .is_keywords = s->is_keywords,
                        .is_named = content_is_named(s),
                        .type = type_of(s),
                        .bytes = s->body_bytes};
    if (c.is_named)
        name_content(a, s, &c);
    content_take_fields(&a->scratch, s, &c);
    put_anchors(&a->scratch, s, &c);
    put_alternates(&a->scratch, s, &c);
    buf_clear(&a->packed);
    content_pack(&c, &a->packed);
}

static status learn(struct apply *a)
{
    struct buf d = {0};
    status st = learner_train(&a->learner, &d);
    if (st == ST_INVALID) { /* nothing in common: tried again with the next pages */
        buf_done(&d);
        return ST_OK;
    }
    if (st == ST_OK)
        st = contents_put_dictionary(a->contents, buf_span(&d));
    buf_done(&d);
    return st == ST_OK ? load_dictionary(a) : st;
}

static status sample(struct apply *a)
{
    return !a->dict && learner_add(&a->learner, buf_span(&a->packed)) ? learn(a) : ST_OK;
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

/* Doing it twice changes nothing. */
static status put_listed(struct apply *a, const struct summary *s)
{
    status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < s->link_count; i++) {
        wall_ms changed;
        if (sitemap_listed(&s->links[i], s->at, &changed))
            st = store_listed_put(a->o.store, siphash(store_key(a->o.store), s->links[i].url), changed);
    }
    return st;
}

/* The last line: whoever brings it, it does not come back. */
static bool is_forgotten(struct apply *a, struct span url)
{
    struct url u;
    return a->places && url_parse(&a->scratch, url, NULL, &u) == ST_OK && places_find(a->places, &u);
}

status apply_summary(struct apply *a, struct span packed, struct visit_effect *effect)
{
    struct summary s;
    arena_reset(&a->scratch);
    status st = summary_unpack(&a->scratch, packed, &s);
    if (st == ST_OK && is_forgotten(a, s.url)) {
        if (effect)
            *effect = (struct visit_effect){.outcome = VISIT_REFUSED};
        return ST_OK;
    }
    if (st == ST_OK)
        st = apply_begin(a);
    if (st != ST_OK)
        return st;
    struct page p = page_of(a, &s);
    struct visit_effect e;
    st = store_page_visit(a->o.store, &p, &e);
    if (st == ST_OK && a->feed && e.content != e.content_before)
        st = put_content(a, p.key, &s, &e);
    if (st == ST_OK)
        st = put_listed(a, &s);
    if (st != ST_OK)
        return st;
    a->records++;
    if (effect)
        *effect = e;
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

void apply_find_alike(struct apply *a, uint64_t least_changes)
{
    struct alike_report r;
    if (!a->feed)
        return;
    atomic_store(&a->is_looking, true);
    status st = alike_run(&(struct alike_opts){.data_dir = store_dir(a->o.store),
                                               .key = *store_key(a->o.store),
                                               .last = contents_last(a->contents),
                                               .least_changes = least_changes,
                                               .percent = &a->looked_percent},
                          &r);
    atomic_store(&a->is_looking, false);
    if (st != ST_OK)
        log_write(a->o.log, LOG_WARN, "alike", "near-duplicates cannot be looked for what=\"%s\"", status_name(st));
    else if (r.was_due)
        log_write(a->o.log, LOG_DEBUG, "alike", "near-duplicates pages=%llu read=%llu groups=%llu folded=%llu",
                  (unsigned long long)r.pages, (unsigned long long)r.read, (unsigned long long)r.groups,
                  (unsigned long long)r.folded);
}

uint64_t apply_written(const struct apply *a)
{
    return contents_last(a->contents);
}

void apply_get_stats(struct apply *a, struct apply_stats *out)
{
    *out = (struct apply_stats){0};
    if (a->feed)
        feed_get_stats(a->feed, out);
    out->is_looking = atomic_load(&a->is_looking);
    out->looked_percent = atomic_load(&a->looked_percent);
}

/* ---- forgetting ---- */

static status erase(struct apply *a, erase_fn *fn, void *arg, struct apply_erased *out)
{
    struct erase_opts o = {.store = a->o.store,
                           .contents = a->contents,
                           .feed = a->feed,
                           .dict = a->dict,
                           .progress = a->o.erasing,
                           .progress_arg = a->o.progress_arg};
    struct erase_report r;
    status st = apply_commit(a);
    if (st == ST_OK && a->feed)
        st = feed_finish(a->feed, contents_last(a->contents));
    if (st == ST_OK)
        st = erase_run(&o, fn, arg, &r);
    if (st != ST_OK)
        return st;
    *out = (struct apply_erased){
        .pages = r.pages, .texts = r.texts, .was_remade = r.needs_remake, .is_log_in_use = r.is_log_in_use};
    if (r.needs_remake) {
        struct apply_start start = {0};
        st = remake_write(a->o.store, a->dict, a->o.erasing, a->o.progress_arg);
        if (st == ST_OK) {
            close_all(a);
            st = open_all(a, &start, NULL);
        }
        if (st == ST_OK)
            st = feed_finish(a->feed, contents_last(a->contents));
    }
    return st;
}

struct forgetting {
    const struct places *places;
    struct arena arena;
};

static bool has_page(void *arg, const struct page *p)
{
    struct forgetting *f = arg;
    struct url u;
    arena_reset(&f->arena);
    return f->places && url_parse(&f->arena, p->url, NULL, &u) == ST_OK && places_find(f->places, &u);
}

status apply_forget_soon(struct store *s)
{
    status st = store_setting_put(s, APPLY_FORGET_SETTING, SPAN("1"));
    if (st == ST_OK && fleet_is_there(store_dir(s)))
        st = store_setting_put(s, APPLY_FORGET_FILES_SETTING, SPAN("1"));
    return st;
}

status apply_forget(struct apply *a, struct apply_erased *out)
{
    struct forgetting f = {0};
    *out = (struct apply_erased){0};
    places_free(a->places);
    a->places = NULL;
    status st = erase_load_places(a->o.store, &a->places);
    f.places = a->places;
    arena_init(&f.arena);
    if (st == ST_OK)
        st = erase(a, has_page, &f, out);
    arena_done(&f.arena);
    if (st == ST_OK)
        st = erase_hosts(a->o.store, a->places);
    if (st == ST_OK)
        (void)snapshot_sweep(store_dir(a->o.store), false); /* copies that a killed backup left have all of it */
    return st == ST_OK ? store_setting_remove(a->o.store, APPLY_FORGET_SETTING) : st;
}

status apply_erase(struct apply *a, apply_erase_fn *fn, void *arg, struct apply_erased *out)
{
    *out = (struct apply_erased){0};
    return erase(a, fn, arg, out);
}

/* ---- pruning ---- */

static bool is_dead(void *arg, const struct contents_record *r)
{
    return !is_live(arg, r);
}

status apply_prune(struct apply *a, struct apply_pruned *out)
{
    *out = (struct apply_pruned){0};
    if (!a->feed)
        return ST_OK;
    struct live l = {.store = a->o.store};
    struct apply_stats before, after;
    uint64_t bytes = contents_bytes(a->contents);
    feed_get_stats(a->feed, &before);
    status st = apply_finish(a);
    if (st == ST_OK)
        st = contents_purge(a->contents, is_dead, is_live, &l);
    if (st == ST_OK)
        st = feed_finish(a->feed, contents_last(a->contents));
    if (st == ST_OK)
        st = feed_purge(a->feed);
    feed_get_stats(a->feed, &after);
    uint64_t now = contents_bytes(a->contents);
    out->contents_bytes = bytes > now ? bytes - now : 0;
    out->index_bytes = before.index_bytes > after.index_bytes ? before.index_bytes - after.index_bytes : 0;
    return st;
}
