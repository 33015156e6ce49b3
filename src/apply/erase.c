#include "apply/erase.h"

#include <errno.h>
#include <stdlib.h>

#include "apply/alike.h"
#include "base/mem.h"
#include "base/pack.h"
#include "base/table.h"
#include "store/fleet.h"

#define PENDING_SETTING "erase_pending" /* the keys of the pages that go, then of those that they link to */
#define AT_ONCE (1u << 20)              /* pages: as many keys as a setting may well hold */
#define WINDOW 8                        /* bytes: about what it takes to tell a word */
#define TELL_EVERY 4096

struct erased {
    uint64_t key, fetch_number;
    bool has_content;
};

struct eraser {
    const struct erase_opts *o;
    erase_fn *fn;
    void *arg;
    struct erase_report *r;
    struct erased *list; /* owned */
    size_t count, cap;
    struct table keys;       /* of the list */
    struct table targets;    /* keys of pages that they link to */
    struct table windows;    /* the dictionary's bytes, WINDOW at a time */
    struct table suspicious; /* of those, which the erased pages have */
    struct unzipper *unzipper;
    struct buf raw;
    struct arena arena;
    uint64_t content; /* of the page asked about */
    uint64_t read;
    bool was_pending, is_more;
};

static void tell(struct eraser *e, const char *what, uint64_t done, uint64_t all)
{
    if (e->o->progress)
        e->o->progress(e->o->progress_arg, what, done, all);
}

/* ---- the mark ---- */

bool erase_is_due(struct store *s)
{
    struct buf b = {0};
    bool is =
        store_setting_get(s, PENDING_SETTING, &b) == ST_OK || store_setting_get(s, APPLY_FORGET_SETTING, &b) == ST_OK;
    buf_done(&b);
    return is;
}

status erase_settled(struct store *s)
{
    return store_setting_remove(s, PENDING_SETTING);
}

/* What an earlier run left to do is done with this one's. */
static status load_pending(struct eraser *e)
{
    struct buf b = {0};
    status st = store_setting_get(e->o->store, PENDING_SETTING, &b);
    struct unpack u = unpack_of(buf_span(&b));
    uint64_t pages = st == ST_OK && b.n ? unpack_u64(&u) : 0;
    while (st == ST_OK && !unpack_at_end(&u)) {
        uint64_t key = unpack_u64(&u);
        if (u.bad)
            st = ST_CORRUPT;
        else
            table_put(pages ? &e->keys : &e->targets, key, e);
        pages -= pages > 0;
    }
    buf_done(&b);
    e->was_pending = st != ST_NOT_FOUND;
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static void put_keys(struct buf *out, const struct table *t)
{
    for (size_t i = 0; i < t->cap; i++)
        if (t->slots[i].value)
            pack_u64(out, t->slots[i].key);
}

static status save_pending(struct eraser *e)
{
    struct buf b = {0};
    pack_u64(&b, e->keys.n);
    put_keys(&b, &e->keys);
    put_keys(&b, &e->targets);
    status st = store_setting_put(e->o->store, PENDING_SETTING, buf_span(&b));
    buf_done(&b);
    return st;
}

/* ---- which ---- */

static status choose(void *arg, const struct page *p)
{
    struct eraser *e = arg;
    if (++e->read % TELL_EVERY == 0)
        tell(e, "pages", e->read, 0);
    if (!table_get(&e->keys, p->key) && !e->fn(e->arg, p))
        return ST_OK;
    if (e->count == AT_ONCE)
        return ST_END;
    e->list = mem_grow(e->list, &e->cap, e->count + 1, sizeof(*e->list));
    e->list[e->count++] = (struct erased){p->key, p->fetch_number, p->content != 0};
    table_put(&e->keys, p->key, e);
    e->r->texts += p->content != 0;
    return ST_OK;
}

static status note_content(void *arg, const struct page *p)
{
    ((struct eraser *)arg)->content = p->content;
    return ST_OK;
}

/* The content that counts of the page that the record is of; 0: none, *is_known: the page is there. */
static uint64_t content_of(struct eraser *e, uint64_t key, bool *is_known)
{
    e->content = 0;
    *is_known = store_page_get(e->o->store, key, note_content, e) == ST_OK;
    return e->content;
}

/* ---- what they said ---- */

static uint64_t window_at(const char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof(w));
    return w * 0x9e3779b97f4a7c15u; /* text as it is would crowd a table */
}

static status load_windows(struct eraser *e)
{
    struct span d = contents_dictionary(e->o->contents);
    for (size_t i = 0; i + WINDOW <= d.n; i++)
        table_put(&e->windows, window_at(d.p + i), e);
    return ST_OK;
}

static void suspect(struct eraser *e, struct span packed)
{
    for (size_t i = 0; e->windows.n && i + WINDOW <= packed.n; i++)
        if (table_get(&e->windows, window_at(packed.p + i)))
            table_put(&e->suspicious, window_at(packed.p + i), e);
}

static void clear_of_suspicion(struct eraser *e, struct span packed)
{
    for (size_t i = 0; e->suspicious.n && i + WINDOW <= packed.n; i++)
        (void)table_remove(&e->suspicious, window_at(packed.p + i));
}

static status unzip(struct eraser *e, const struct contents_record *r)
{
    buf_clear(&e->raw);
    return unzipper_run(e->unzipper, e->o->dict, r->content, CONTENT_BYTES_MAX, &e->raw);
}

/* Records of the pages that go, and of pages that an earlier run has taken out of the page table already. */
static status read_erased(void *arg, const struct contents_record *r)
{
    struct eraser *e = arg;
    struct content c;
    bool is_known = true;
    if (++e->read % TELL_EVERY == 0)
        tell(e, "texts", e->read, 0);
    if (r->is_gone)
        return ST_OK;
    if (!table_get(&e->keys, r->key))
        (void)content_of(e, r->key, &is_known);
    else
        is_known = false;
    arena_reset(&e->arena);
    if (is_known || unzip(e, r) != ST_OK || content_unpack(&e->arena, buf_span(&e->raw), &c) != ST_OK)
        return ST_OK;
    suspect(e, buf_span(&e->raw));
    for (size_t i = 0; i < c.anchor_count; i++) {
        uint64_t target = siphash(store_key(e->o->store), c.anchors[i].url);
        if (!table_get(&e->keys, target))
            table_put(&e->targets, target, e);
    }
    return ST_OK;
}

static status read_others(void *arg, const struct contents_record *r)
{
    struct eraser *e = arg;
    bool is_known;
    if (!e->suspicious.n)
        return ST_END;
    if (r->is_gone || content_of(e, r->key, &is_known) != r->fetch_number)
        return ST_OK;
    if (unzip(e, r) == ST_OK)
        clear_of_suspicion(e, buf_span(&e->raw));
    return ST_OK;
}

static status each_content(struct eraser *e, contents_fn *fn)
{
    struct buf dir = {0};
    e->read = 0;
    apply_contents_dir(store_dir(e->o->store), &dir);
    status st = contents_each(dir.p, 0, fn, e, NULL);
    buf_done(&dir);
    return st;
}

/* ---- the steps ---- */

/* As if a visit had found them gone: readers no longer find them from here on. */
static status take_out_of_index(struct eraser *e)
{
    status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < e->count; i++) {
        struct contents_record gone = {.key = e->list[i].key, .fetch_number = e->list[i].fetch_number, .is_gone = true};
        if (!e->list[i].has_content)
            continue;
        st = contents_append(e->o->contents, &gone);
        if (st == ST_OK)
            st = feed_gone(e->o->feed, gone.key, gone.fetch_number);
    }
    if (st == ST_OK)
        st = contents_sync(e->o->contents);
    return st == ST_OK ? feed_finish(e->o->feed, contents_last(e->o->contents)) : st;
}

static status remove_rows(struct eraser *e)
{
    struct store *s = e->o->store;
    bool is_crawled = !fleet_is_there(store_dir(s)); /* a coordinator asks for nothing itself */
    status st = store_begin(s);
    for (size_t i = 0; st == ST_OK && i < e->count; i++) {
        st = store_page_remove(s, e->list[i].key);
        if (st == ST_OK && is_crawled)
            st = store_unsee_put(s, e->list[i].key);
        if (i % TELL_EVERY == 0)
            tell(e, "page table", i, e->count);
    }
    for (size_t i = 0; st == ST_OK && i < e->targets.cap; i++)
        if (e->targets.slots[i].value)
            st = store_anchors_remove(s, e->targets.slots[i].key);
    if (st == ST_OK)
        st = save_pending(e);
    if (st == ST_OK)
        st = store_commit(s);
    int saved = errno;
    if (st != ST_OK)
        store_rollback(s);
    errno = saved;
    return st == ST_OK ? store_sync(s) : st;
}

static bool must_go(void *arg, const struct contents_record *r)
{
    bool is_known;
    (void)content_of(arg, r->key, &is_known);
    return !r->is_gone && !is_known;
}

static bool is_live(void *arg, const struct contents_record *r)
{
    bool is_known;
    return !r->is_gone && content_of(arg, r->key, &is_known) == r->fetch_number;
}

static status clean_files(struct eraser *e)
{
    tell(e, "files of texts", 0, 0);
    status st = feed_regather(e->o->feed, &e->targets);
    if (st == ST_OK)
        st = contents_purge(e->o->contents, must_go, is_live, e);
    /* The copies are in the index already: its mark moves past them. */
    if (st == ST_OK)
        st = feed_finish(e->o->feed, contents_last(e->o->contents));
    if (st == ST_OK && (e->r->texts || e->was_pending))
        st = alike_erase(store_dir(e->o->store));
    tell(e, "files of the index", 0, 0);
    if (st == ST_OK)
        st = feed_purge(e->o->feed);
    if (st == ST_OK && e->suspicious.n) {
        st = each_content(e, read_others);
        st = st == ST_END ? ST_OK : st;
        e->r->needs_remake |= e->suspicious.n > 0;
    }
    /* An earlier run may have seen more than is left to see. */
    e->r->needs_remake |= e->was_pending && e->windows.n;
    return st;
}

static status run(struct eraser *e)
{
    struct store *s = e->o->store;
    status st = load_pending(e);
    if (st == ST_OK)
        st = store_page_each(s, 0, choose, e);
    e->is_more = st == ST_END;
    if (e->is_more)
        st = ST_OK;
    e->r->pages += e->count;
    if (st != ST_OK || (!e->count && !e->was_pending))
        return st;
    st = save_pending(e);
    if (st == ST_OK)
        st = store_sync(s);
    if (st == ST_OK && e->o->feed)
        st = load_windows(e);
    if (st == ST_OK && e->o->feed)
        st = each_content(e, read_erased);
    if (st == ST_OK && e->o->feed)
        st = take_out_of_index(e);
    if (st == ST_OK)
        st = store_erase_begin(s);
    if (st == ST_OK)
        st = remove_rows(e);
    if (st == ST_OK && e->o->feed)
        st = clean_files(e);
    if (st == ST_OK && !e->r->needs_remake) /* else remake_finish takes the mark away */
        st = erase_settled(s);
    if (st != ST_OK)
        return st;
    st = store_erase_end(s);
    e->r->is_log_in_use = st == ST_BUSY;
    return st == ST_BUSY ? ST_OK : st;
}

static status run_once(const struct erase_opts *o, erase_fn *fn, void *arg, struct erase_report *out, bool *is_more)
{
    struct eraser e = {.o = o, .fn = fn, .arg = arg, .r = out};
    arena_init(&e.arena);
    e.unzipper = unzipper_new();
    status st = run(&e);
    int saved = errno;
    *is_more = e.is_more;
    unzipper_free(e.unzipper);
    table_done(&e.keys);
    table_done(&e.targets);
    table_done(&e.windows);
    table_done(&e.suspicious);
    buf_done(&e.raw);
    arena_done(&e.arena);
    free(e.list);
    errno = saved;
    return st;
}

status erase_run(const struct erase_opts *o, erase_fn *fn, void *arg, struct erase_report *out)
{
    bool is_more = true;
    status st = ST_OK;
    *out = (struct erase_report){0};
    while (st == ST_OK && is_more)
        st = run_once(o, fn, arg, out, &is_more);
    return st;
}

/* ---- places ---- */

struct loading {
    struct places *places;
};

static status load_place(void *arg, const struct forgotten *f)
{
    return places_add(((struct loading *)arg)->places, f->place, NULL);
}

status erase_load_places(struct store *s, struct places **out)
{
    struct loading l = {.places = places_new(store_key(s))};
    status st = store_forgotten_each(s, load_place, &l);
    if (st == ST_OK && places_count(l.places)) {
        *out = l.places;
        return ST_OK;
    }
    places_free(l.places);
    if (st == ST_OK)
        *out = NULL;
    return st;
}

struct host_search {
    const struct places *places;
    struct buf names; /* NUL after each */
};

static status note_host(void *arg, struct span host, struct span packed)
{
    struct host_search *h = arg;
    if (places_have_host(h->places, host)) {
        buf_put(&h->names, host);
        buf_putc(&h->names, 0);
    }
    return ST_OK;
}

status erase_hosts(struct store *s, const struct places *places)
{
    struct host_search h = {.places = places};
    struct span name;
    status st = places ? store_host_each(s, note_host, &h) : ST_OK;
    struct span rest = buf_span(&h.names);
    while (st == ST_OK && rest.n && span_split(&rest, 0, &name))
        st = name.n ? store_host_remove(s, name) : ST_OK;
    buf_done(&h.names);
    return st;
}
