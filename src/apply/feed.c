#include "apply/feed.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "apply/anchors.h"
#include "base/mem.h"
#include "base/pack.h"
#include "index/index.h"
#include "web/domain.h"
#include "web/media.h"
#include "web/url.h"

/* Pages that wait, packed and compressed together. Enough for some thousands, about what a fast crawl gets in a second:
 * by then most of the links to a page were seen. */
#define WAITING_BYTES_MAX (4u << 20)
#define WAITING_STEP \
    (128u << 10) /* handed over at a time: the builders get a steady stream, and little is left for the end */
#define ANCHORS_MEMORY_MAX (48u << 20)

struct feed {
    struct apply_opts opts;
    struct store *store;
    struct contents *contents;
    const struct zip_dict *dict;
    struct index *index;  /* this thread's own, but for its figures */
    pthread_mutex_t lock; /* `index`, where it changes, against feed_get_stats */
    struct anchors *anchors;
    const struct log *log;
    struct arena arena;
    struct unzipper *unzipper;
    struct buf raw;
    struct anchors_view view;
    struct buf names; /* of the file being indexed */
    char *index_dir;
    /* Waiting pages, oldest first: u64 key, u64 fetch number, packed, zipped. */
    struct buf waiting;
    size_t waiting_from;
    uint64_t anchors_applied; /* contents whose links are in the store's anchors */
    bool is_broken;           /* the index turned out to be damaged: nothing more goes in until it is made anew */
};

/* Damage that the index finds while it works must not end a crawl: the contents have everything. */
static status survive(struct feed *f, status st)
{
    if (st != ST_CORRUPT)
        return st;
    if (!f->is_broken)
        log_write(f->log, LOG_ERROR, "index", "it is damaged: it is made anew from the stored pages");
    f->is_broken = true;
    return ST_OK;
}

/* ---- one page into the index ---- */

static struct span site_of(const struct url *u)
{
    /* host, and ":port" behind it where there is one: neighbours in the URL */
    const char *end = u->path.p;
    return u->has_explicit_port ? span_of(u->host.p, (size_t)(end - u->host.p)) : u->host;
}

/* What nobody has read is found by what it is called, like by the text of a link: a page that says something about the
 * same comes first. */
static void take_name(struct feed *f, struct span name, struct index_doc *d)
{
    buf_clear(&f->names);
    buf_put(&f->names, name);
    buf_putc(&f->names, '\n');
    buf_put(&f->names, d->anchors);
    d->title = (struct span){0};
    d->anchors = buf_span(&f->names);
}

static void take_type(struct span type, struct span url, struct index_doc *d)
{
    const struct media *m = media_find(type, url);
    d->type = m ? m->name : "";
    d->type_group = m ? m->group : "";
}

static status index_page(struct feed *f, uint64_t key, uint64_t fetch_number, struct span packed, struct span zipped)
{
    struct content c;
    struct url u;
    arena_reset(&f->arena);
    status st = content_unpack(&f->arena, packed, &c);
    if (st == ST_OK)
        st = url_parse(&f->arena, c.url, NULL, &u);
    anchors_view_clear(&f->view);
    if (st == ST_OK)
        st = anchors_look(f->anchors, f->store, key, &f->view);
    if (st != ST_OK)
        return st;
    struct index_doc d = {.key = key,
                          .fetch_number = fetch_number,
                          .url = c.url,
                          .site = site_of(&u),
                          .lang = c.lang,
                          .title = c.title,
                          .text = c.text,
                          .headings = c.headings,
                          .heading_count = c.heading_count,
                          .anchors = buf_span(&f->view.text),
                          .votes = f->view.votes,
                          .foreign_votes = f->view.foreign_votes,
                          .fetched = c.fetched,
                          .changed = c.changed,
                          .digest = c.digest,
                          /* pages that name the same canonical page are one in the results */
                          .group = c.canonical.n ? siphash(store_key(f->store), c.canonical) : key,
                          .flags = (uint8_t)c.page_flags,
                          .is_keywords = c.is_keywords,
                          .fields = c.fields,
                          .field_count = c.field_count,
                          .content = zipped};
    take_type(c.type, c.url, &d);
    if (c.is_named)
        take_name(f, c.title, &d);
    anchors_indexed(f->anchors, key);
    return f->is_broken ? ST_OK : survive(f, index_add(f->index, &d));
}

static status delete_page(struct feed *f, uint64_t key, uint64_t fetch_number)
{
    return f->is_broken ? ST_OK : survive(f, index_delete(f->index, key, fetch_number));
}

static status unzip(struct feed *f, struct span zipped)
{
    buf_clear(&f->raw);
    return unzipper_run(f->unzipper, f->dict, zipped, CONTENT_BYTES_MAX, &f->raw);
}

/* ---- waiting ---- */

static status hand_over(struct feed *f, size_t until_bytes)
{
    status st = ST_OK;
    while (st == ST_OK && f->waiting.n - f->waiting_from > until_bytes) {
        struct span rest = span_from(buf_span(&f->waiting), f->waiting_from);
        struct unpack u = unpack_of(rest);
        uint64_t key = unpack_u64(&u), fetch_number = unpack_u64(&u);
        struct span packed = unpack_text(&u, CONTENT_BYTES_MAX);
        struct span zipped = unpack_text(&u, CONTENTS_RECORD_MAX);
        if (u.bad)
            return ST_CORRUPT;
        st = packed.n ? index_page(f, key, fetch_number, packed, zipped) : delete_page(f, key, fetch_number);
        if (st == ST_OK)
            f->waiting_from = f->waiting.n - (size_t)(u.end - u.at);
    }
    if (f->waiting_from == f->waiting.n) {
        buf_clear(&f->waiting);
        f->waiting_from = 0;
    } else if (f->waiting_from > WAITING_BYTES_MAX) {
        memmove(f->waiting.p, f->waiting.p + f->waiting_from, f->waiting.n - f->waiting_from);
        f->waiting.n -= f->waiting_from;
        f->waiting_from = 0;
    }
    return st;
}

static status wait_in_line(struct feed *f, uint64_t key, uint64_t fetch_number, struct span packed, struct span zipped)
{
    pack_u64(&f->waiting, key);
    pack_u64(&f->waiting, fetch_number);
    pack_text(&f->waiting, packed);
    pack_text(&f->waiting, zipped);
    size_t bytes = f->waiting.n - f->waiting_from;
    return bytes > WAITING_BYTES_MAX ? hand_over(f, WAITING_BYTES_MAX - WAITING_STEP) : ST_OK;
}

/* 0: both are of one site. A number that two sites share costs the second its vote, once in four thousand million. */
static uint32_t voter(const struct feed *f, const struct url *page, const struct url *target)
{
    if (span_eq(page->host, target->host))
        return 0;
    struct span site = domain_registered(page->host);
    if (span_eq(site, domain_registered(target->host)))
        return 0;
    uint32_t number = (uint32_t)siphash(store_key(f->store), site);
    return number ? number : 1;
}

/* Of all targets, or of `only` those. */
static void note_anchors(struct feed *f, struct span packed, const struct table *only)
{
    struct content c;
    struct url page, target;
    arena_reset(&f->arena);
    if (content_unpack(&f->arena, packed, &c) != ST_OK || url_parse(&f->arena, c.url, NULL, &page) != ST_OK)
        return; /* found again, and complained about, when the page itself is indexed */
    for (size_t i = 0; i < c.anchor_count; i++) {
        const struct content_anchor *x = &c.anchors[i];
        uint64_t key = siphash(store_key(f->store), x->url);
        if ((!only || table_get(only, key)) && url_parse(&f->arena, x->url, NULL, &target) == ST_OK)
            anchors_add(f->anchors, key, x->text, voter(f, &page, &target));
    }
}

status feed_page(struct feed *f, uint64_t key, uint64_t fetch_number, struct span packed, struct span zipped)
{
    note_anchors(f, packed, NULL);
    return wait_in_line(f, key, fetch_number, packed, zipped);
}

status feed_gone(struct feed *f, uint64_t key, uint64_t fetch_number)
{
    return wait_in_line(f, key, fetch_number, (struct span){0}, (struct span){0});
}

/* ---- anchors ---- */

struct gather {
    struct feed *f;
    struct index_snapshot *snapshot;
    uint64_t again;
};

static status add_again(void *arg, uint64_t target, const struct anchors_view *view)
{
    struct gather *g = arg;
    struct feed *f = g->f;
    struct index_document d;
    arena_reset(&f->arena);
    status st = index_document(g->snapshot, target, &f->arena, &d);
    if (st == ST_NOT_FOUND)
        return ST_OK; /* not fetched, or not for the index: the texts wait in the store */
    if (st != ST_OK)
        return st;
    struct index_doc again = {.key = target,
                              .fetch_number = d.fetch_number,
                              .url = d.url,
                              .site = d.site,
                              .lang = span_str(d.lang),
                              .title = d.title,
                              .text = d.text,
                              .headings = d.headings,
                              .heading_count = d.heading_count,
                              .anchors = buf_span(&view->text),
                              .votes = view->votes,
                              .foreign_votes = view->foreign_votes,
                              .fetched = d.fetched,
                              .changed = d.changed,
                              .digest = d.digest,
                              .group = d.group,
                              .flags = d.flags,
                              .is_keywords = d.is_keywords,
                              .fields = d.fields,
                              .field_count = d.field_count,
                              .content = d.content};
    take_type(d.type, d.url, &again);
    if (d.is_named)
        take_name(f, d.title, &again);
    g->again++;
    return index_add(f->index, &again);
}

static status write_applied(struct feed *f, uint64_t last)
{
    struct buf b = {0};
    pack_u64(&b, last);
    status st = store_setting_put(f->store, APPLY_ANCHORS_SETTING, buf_span(&b));
    buf_done(&b);
    if (st == ST_OK)
        f->anchors_applied = last;
    return st;
}

/* Pages that lost texts, which anchors_flush does not tell of. Those that are in the index as they should be stay. */
static status add_targets(struct gather *g, const struct table *targets)
{
    status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < targets->cap; i++) {
        if (!targets->slots[i].value)
            continue;
        anchors_view_clear(&g->f->view);
        st = anchors_look(g->f->anchors, g->f->store, targets->slots[i].key, &g->f->view);
        if (st == ST_OK)
            st = add_again(g, targets->slots[i].key, &g->f->view);
    }
    return st;
}

/* Everything waiting is in the index and committed, so a snapshot has every page that may have to be indexed again. */
static status gather_anchors(struct feed *f, uint64_t last, const struct table *targets)
{
    struct gather g = {.f = f};
    struct index_reader *reader = NULL;
    status st = index_reader_open(f->index_dir, &reader, NULL);
    if (st == ST_OK)
        st = index_reader_snapshot(reader, &g.snapshot);
    bool is_open = false;
    if (st == ST_OK) {
        st = store_begin(f->store);
        is_open = st == ST_OK;
    }
    if (st == ST_OK)
        st = anchors_flush(f->anchors, f->store, add_again, &g);
    if (st == ST_OK && targets)
        st = add_targets(&g, targets);
    if (st == ST_OK)
        st = write_applied(f, last);
    if (st == ST_OK)
        st = store_commit(f->store);
    int saved = errno;
    if (st != ST_OK && is_open)
        store_rollback(f->store);
    if (st == ST_OK && g.again)
        log_write(f->log, LOG_DEBUG, "index", "links gave new texts pages=%llu", (unsigned long long)g.again);
    index_snapshot_free(g.snapshot);
    index_reader_free(reader);
    errno = saved;
    return st;
}

/* ---- publishing ---- */

static status make_anew(struct feed *f, uint64_t last, struct apply_start *start);

status feed_publish(struct feed *f, uint64_t last)
{
    status st = hand_over(f, 0);
    if (st == ST_OK && !f->is_broken && anchors_memory(f->anchors) > ANCHORS_MEMORY_MAX) {
        st = survive(f, index_commit(f->index, last));
        if (st == ST_OK && !f->is_broken)
            st = survive(f, gather_anchors(f, last, NULL));
    }
    return st == ST_OK && !f->is_broken ? survive(f, index_commit_soon(f->index, last)) : st;
}

status feed_finish(struct feed *f, uint64_t last)
{
    status st = hand_over(f, 0);
    if (st == ST_OK && !f->is_broken)
        st = survive(f, index_commit(f->index, last));
    if (st == ST_OK && !f->is_broken && f->anchors_applied < last)
        st = survive(f, gather_anchors(f, last, NULL));
    if (st == ST_OK && !f->is_broken)
        st = survive(f, index_commit(f->index, last));
    struct apply_start start;
    if (st == ST_OK && f->is_broken)
        st = make_anew(f, last, &start);
    return st;
}

/* ---- opening ---- */

struct catch_up {
    struct feed *f;
    uint64_t indexed; /* contents up to here are in the index */
    uint64_t done, all;
    const struct apply_opts *o;
    uint64_t content;
};

static status note_content(void *arg, const struct page *p)
{
    ((struct catch_up *)arg)->content = p->content;
    return ST_OK;
}

static status add_record(void *arg, const struct contents_record *r)
{
    struct catch_up *c = arg;
    struct feed *f = c->f;
    c->done++;
    if (c->o->progress && c->done % 1024 == 0)
        c->o->progress(c->o->progress_arg, c->done, c->all);
    if (r->is_gone)
        return r->number > c->indexed ? delete_page(f, r->key, r->fetch_number) : ST_OK;
    /* A record counts while the page table names it; one that it does not name is of the past, or of a transaction that
     * never was: its page is fetched again. */
    c->content = 0;
    status st = store_page_get(f->store, r->key, note_content, c);
    if (st == ST_NOT_FOUND || (st == ST_OK && c->content != r->fetch_number))
        return ST_OK;
    if (st == ST_OK)
        st = unzip(f, r->content);
    if (st != ST_OK)
        return st;
    if (r->number > f->anchors_applied)
        note_anchors(f, buf_span(&f->raw), NULL);
    return r->number > c->indexed ? index_page(f, r->key, r->fetch_number, buf_span(&f->raw), r->content) : ST_OK;
}

struct regather {
    struct feed *f;
    const struct table *targets;
    struct catch_up page;
};

static status regather_record(void *arg, const struct contents_record *r)
{
    struct regather *g = arg;
    g->page.content = 0;
    status st = r->is_gone ? ST_NOT_FOUND : store_page_get(g->f->store, r->key, note_content, &g->page);
    if (st == ST_NOT_FOUND || (st == ST_OK && g->page.content != r->fetch_number))
        return ST_OK;
    if (st == ST_OK)
        st = unzip(g->f, r->content);
    if (st == ST_OK)
        note_anchors(g->f, buf_span(&g->f->raw), g->targets);
    return st;
}

status feed_regather(struct feed *f, const struct table *targets)
{
    struct regather g = {.f = f, .targets = targets};
    struct buf dir = {0};
    uint64_t last = contents_last(f->contents);
    if (f->is_broken || !targets->n)
        return ST_OK; /* when it is made anew it gets what the store has */
    apply_contents_dir(store_dir(f->store), &dir);
    status st = contents_each(dir.p, 0, regather_record, &g, NULL);
    buf_done(&dir);
    if (st == ST_OK)
        st = survive(f, gather_anchors(f, last, targets));
    return st == ST_OK && !f->is_broken ? survive(f, index_commit(f->index, last)) : st;
}

status feed_purge(struct feed *f)
{
    return f->is_broken ? ST_OK : survive(f, index_purge(f->index));
}

static status read_applied(struct feed *f)
{
    struct buf b = {0};
    status st = store_setting_get(f->store, APPLY_ANCHORS_SETTING, &b);
    struct unpack u = unpack_of(buf_span(&b));
    if (st == ST_OK)
        f->anchors_applied = unpack_u64(&u);
    buf_done(&b);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static status catch_up(struct feed *f, const struct apply_opts *o, struct apply_start *start)
{
    struct buf dir = {0};
    uint64_t last = contents_last(f->contents);
    struct catch_up c = {.f = f, .indexed = index_applied(f->index), .o = o};
    uint64_t from = c.indexed < f->anchors_applied ? c.indexed : f->anchors_applied;
    if (from >= last)
        return ST_OK;
    c.all = last - from;
    apply_contents_dir(store_dir(f->store), &dir);
    status st = contents_each(dir.p, from, add_record, &c, NULL);
    buf_done(&dir);
    if (st == ST_OK && c.indexed < last) {
        st = f->is_broken ? ST_OK : survive(f, index_commit(f->index, last));
        start->caught_up = c.done;
    }
    return st;
}

static void set_index(struct feed *f, struct index *index)
{
    pthread_mutex_lock(&f->lock);
    struct index *old = f->index;
    f->index = index;
    pthread_mutex_unlock(&f->lock);
    index_close(old);
}

static status open_index(struct feed *f, const struct apply_opts *o, struct apply_start *start, struct buf *why)
{
    struct index_opts io = {.dir = f->index_dir,
                            .memory = o->index_memory,
                            .builders = o->builders,
                            .seed = store_key(f->store)->k0,
                            .log = o->log};
    struct index *index = NULL;
    status st = index_open(&io, &index, why);
    if (st == ST_CORRUPT) {
        struct span reason = why && why->n ? buf_span(why) : SPAN("it is damaged");
        log_write(f->log, LOG_WARN, "index", "%.*s: it is made anew from the stored pages", SPAN_ARG(reason));
        if (why)
            buf_clear(why);
        st = index_erase(f->index_dir);
        if (st == ST_OK)
            st = index_open(&io, &index, why);
    }
    if (st == ST_OK) {
        set_index(f, index);
        start->was_rebuilt = index_applied(index) == 0 && contents_last(f->contents) > 0;
    }
    return st;
}

/* Damage was found after the index was opened. */
static status make_anew(struct feed *f, uint64_t last, struct apply_start *start)
{
    set_index(f, NULL);
    status st = index_erase(f->index_dir);
    if (st == ST_OK)
        st = open_index(f, &f->opts, start, NULL);
    f->is_broken = st != ST_OK; /* then feed_finish tries it again */
    struct span dictionary = contents_dictionary(f->contents);
    if (st == ST_OK && dictionary.n)
        st = index_put_dictionary(f->index, dictionary);
    if (st == ST_OK)
        st = catch_up(f, &f->opts, start);
    if (st == ST_OK && f->anchors_applied < last)
        st = gather_anchors(f, last, NULL);
    if (st == ST_OK)
        st = index_commit(f->index, last);
    return st == ST_OK && f->is_broken ? ST_CORRUPT : st;
}

status feed_open(const struct apply_opts *o, struct contents *contents, const struct zip_dict *dict, struct feed **out,
                 struct apply_start *start, struct buf *why)
{
    struct feed *f = mem_alloc(sizeof(*f));
    struct buf dir = {0};
    pthread_mutex_init(&f->lock, NULL);
    f->opts = *o;
    f->store = o->store;
    f->contents = contents;
    f->dict = dict;
    f->log = o->log;
    f->anchors = anchors_new();
    f->unzipper = unzipper_new();
    arena_init(&f->arena);
    apply_index_dir(store_dir(o->store), &dir);
    f->index_dir = mem_str(buf_span(&dir));
    buf_done(&dir);
    status st = open_index(f, o, start, why);
    struct span dictionary = contents_dictionary(contents);
    if (st == ST_OK && dictionary.n)
        st = index_put_dictionary(f->index, dictionary);
    if (st == ST_OK)
        st = read_applied(f);
    if (st == ST_OK)
        st = catch_up(f, o, start);
    if (st == ST_OK && f->is_broken)
        st = make_anew(f, contents_last(contents), start);
    if (st == ST_OK) {
        *out = f;
        return ST_OK;
    }
    int saved = errno;
    if (why && !why->n)
        buf_printf(why, "the index cannot be brought up to date: %s", status_name(st));
    feed_free(f);
    errno = saved;
    return st;
}

void feed_free(struct feed *f)
{
    if (!f)
        return;
    set_index(f, NULL);
    pthread_mutex_destroy(&f->lock);
    anchors_free(f->anchors);
    unzipper_free(f->unzipper);
    buf_done(&f->raw);
    buf_done(&f->names);
    buf_done(&f->waiting);
    anchors_view_done(&f->view);
    arena_done(&f->arena);
    free(f->index_dir);
    free(f);
}

status feed_set_dictionary(struct feed *f, struct span dictionary, const struct zip_dict *dict)
{
    f->dict = dict;
    return f->index ? index_put_dictionary(f->index, dictionary) : ST_OK; /* else make_anew does */
}

void feed_get_stats(struct feed *f, struct apply_stats *out)
{
    struct index_stats n = {0};
    pthread_mutex_lock(&f->lock);
    if (f->index)
        index_get_stats(f->index, &n);
    pthread_mutex_unlock(&f->lock);
    *out = (struct apply_stats){.index_applied = n.applied,
                                .index_docs = n.docs,
                                .index_segments = n.segments,
                                .index_bytes = n.bytes,
                                .index_queued_bytes = n.queued_bytes};
}
