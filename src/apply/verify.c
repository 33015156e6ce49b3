#include "apply/verify.h"

#include <sys/stat.h>

#include "apply/alike.h"
#include "apply/apply.h"
#include "apply/erase.h"
#include "base/mem.h"
#include "base/pack.h"
#include "base/table.h"
#include "codec/zip.h"
#include "store/contents.h"
#include "store/fleet.h"
#include "store/groups.h"
#include "web/content.h"

struct verify {
    const struct verify_opts *o;
    struct verify_report *r;
    struct store *store;
    struct buf contents_dir, index_dir;
    struct table wanted; /* page key -> fetch number of its content, as a pointer */
    struct table found;  /* the same, of contents that can be read */
    struct table astray; /* keys of pages whose address has another key */
    struct buf right;    /* u64 key, text address: what such pages should have */
    uint64_t right_count;
    struct zip_dict *dict;
    struct unzipper *unzipper;
    struct buf raw;
    struct arena arena;
    uint64_t unreadable;
};

/* Fetch numbers start at 1, so that one is never NULL. */
static void *as_pointer(uint64_t number)
{
    return (void *)(uintptr_t)number;
}

static uint64_t as_number(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

static void problem(struct verify *v, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void problem(struct verify *v, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&v->r->problems, fmt, ap);
    va_end(ap);
    buf_putc(&v->r->problems, '\n');
}

static void progress(struct verify *v, const char *what, uint64_t done, uint64_t all)
{
    if (v->o->progress)
        v->o->progress(v->o->progress_arg, what, done, all);
}

/* ---- keys and addresses ----
 *
 * SQLite has no checksums: a letter of an address that was damaged makes another address, which a crawl would ask for.
 * But the key of a page is made from it. Where the two differ, the table of keys may still lead to the page by the
 * address that it has, or its text may tell the address of the key. */

static void note_right(struct verify *v, uint64_t row, uint64_t key, struct span url)
{
    (void)table_remove(&v->astray, row);
    pack_u64(&v->right, key);
    pack_text(&v->right, url);
    v->right_count++;
}

static status same_row(void *arg, const struct page *p)
{
    uint64_t *key = arg;
    *key = p->key;
    return ST_OK;
}

static status check_address(void *arg, const struct page *p)
{
    struct verify *v = arg;
    uint64_t key = siphash(store_key(v->store), p->url), found = key;
    if (key == p->key)
        return ST_OK;
    table_put(&v->astray, p->key, v);
    status st = store_page_get(v->store, key, same_row, &found);
    if (st == ST_OK && found == p->key)
        note_right(v, p->key, key, p->url);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static status put_right(struct verify *v)
{
    struct unpack u = unpack_of(buf_span(&v->right));
    unsigned long long n = v->right_count;
    if (!n)
        return ST_OK;
    problem(v, "orb.db: %llu page%s had another address or key than %s: %s", n, n == 1 ? "" : "s",
            n == 1 ? "its own" : "their own", v->o->repair ? "put right" : "orb check --repair puts that right");
    status st = v->o->repair ? store_begin(v->store) : ST_OK;
    while (v->o->repair && st == ST_OK && u.at < u.end) {
        uint64_t key = unpack_u64(&u);
        struct span url = unpack_text(&u, URL_INPUT_MAX);
        st = u.bad ? ST_CORRUPT : store_page_put_right(v->store, key, url);
    }
    if (v->o->repair && st == ST_OK)
        st = store_commit(v->store);
    else if (v->o->repair)
        store_rollback(v->store);
    buf_clear(&v->right);
    v->right_count = 0;
    return st;
}

static status check_keys(struct verify *v)
{
    uint64_t wrong = 0;
    status st = store_page_each(v->store, 0, check_address, v);
    if (st == ST_OK)
        st = put_right(v);
    if (st == ST_OK)
        st = store_check_keys(v->store, v->o->repair, &wrong);
    if (st == ST_OK && wrong)
        problem(v, "orb.db: the table of keys is damaged: %s",
                v->o->repair ? "it was made anew" : "orb check --repair makes it anew");
    return st;
}

/* After the texts were read: what nobody knows better is told. */
static status check_astray(struct verify *v)
{
    status st = put_right(v);
    unsigned long long n = v->astray.n;
    if (st == ST_OK && n)
        problem(v, "orb.db is damaged (%llu page%s %s another address than %s): restore a backup", n, n == 1 ? "" : "s",
                n == 1 ? "has" : "have", n == 1 ? "its own" : "their own");
    return st;
}

/* ---- pages and contents ---- */

static status want_page(void *arg, const struct page *p)
{
    struct verify *v = arg;
    if (p->content) {
        table_put(&v->wanted, p->key, as_pointer(p->content));
        v->r->pages++;
    }
    return ST_OK;
}

static bool is_readable(struct verify *v, const struct contents_record *r, struct content *c)
{
    buf_clear(&v->raw);
    arena_reset(&v->arena);
    return unzipper_run(v->unzipper, v->dict, r->content, CONTENT_BYTES_MAX, &v->raw) == ST_OK &&
           content_unpack(&v->arena, buf_span(&v->raw), c) == ST_OK;
}

static status read_content(void *arg, const struct contents_record *r)
{
    struct verify *v = arg;
    struct content c;
    v->r->records++;
    v->r->contents_bytes += r->content.n;
    if (v->r->records % 4096 == 0)
        progress(v, "contents", v->r->records, 0);
    if (r->is_gone || as_number(table_get(&v->wanted, r->key)) != r->fetch_number)
        return ST_OK;
    if (!is_readable(v, r, &c)) {
        v->unreadable++;
        return ST_OK;
    }
    table_put(&v->found, r->key, as_pointer(r->fetch_number));
    if (table_get(&v->astray, r->key) && siphash(store_key(v->store), c.url) == r->key)
        note_right(v, r->key, r->key, c.url);
    return ST_OK;
}

static status load_dictionary(struct verify *v)
{
    struct buf d = {0};
    status st = contents_read_dictionary(v->contents_dir.p, &d);
    if (st == ST_OK)
        st = zip_dict_new(buf_span(&d), 1, &v->dict);
    if (st != ST_OK && st != ST_NOT_FOUND)
        problem(v, "contents: the dictionary is damaged: pages compressed with it cannot be read");
    buf_done(&d);
    return st == ST_IO ? ST_IO : ST_OK;
}

/* False: without repair nothing more can be said of the texts. */
static bool mend_heads(struct verify *v, status *st)
{
    unsigned heads = 0;
    *st = contents_mend_heads(v->contents_dir.p, v->o->repair, &heads);
    if (*st == ST_NOT_FOUND)
        *st = ST_OK;
    if (*st == ST_OK && heads)
        problem(v, "contents: the head of %u file%s of the log is damaged: %s", heads, heads == 1 ? "" : "s",
                v->o->repair ? "it was written anew" : "orb check --repair writes it anew");
    return !heads || v->o->repair;
}

static status check_contents(struct verify *v)
{
    unsigned damaged = 0;
    status st = store_page_each(v->store, 0, want_page, v);
    if (st == ST_OK)
        st = load_dictionary(v);
    if (st == ST_OK)
        st = contents_each(v->contents_dir.p, 0, read_content, v, &damaged);
    if (st == ST_NOT_FOUND) /* a backup of before the first text has no such folder; texts that pages have are lost */
        st = ST_OK;
    if (st == ST_CORRUPT) {
        problem(v, "contents: a file of the log is damaged");
        st = ST_OK;
    }
    if (damaged > 1) /* the end of the newest may be cut by a kill */
        problem(v, "contents: %u files of the log end in the middle", damaged);
    return st;
}

struct drop {
    struct verify *v;
    bool repair;
};

static status drop_lost(void *arg, const struct page *p)
{
    struct drop *d = arg;
    if (!p->content || as_number(table_get(&d->v->found, p->key)) == p->content)
        return ST_OK;
    d->v->r->lost++;
    return d->repair ? store_page_drop_content(d->v->store, p->key) : ST_OK;
}

static status put_lost_right(struct verify *v)
{
    struct drop d = {v, v->o->repair};
    status st = store_begin(v->store);
    if (st == ST_OK)
        st = store_page_each(v->store, 0, drop_lost, &d);
    if (st == ST_OK)
        st = store_commit(v->store);
    else
        store_rollback(v->store);
    if (st == ST_OK && v->r->lost)
        problem(v, "contents: the text of %llu page%s is lost: %s", (unsigned long long)v->r->lost,
                v->r->lost == 1 ? "" : "s",
                v->o->repair ? "the next crawl fetches them again"
                             : "orb check --repair marks them to be fetched again");
    return st;
}

/* ---- the index ---- */

static void index_progress(void *arg, uint64_t done, uint64_t all)
{
    progress(arg, "index", done, all);
}

static status check_index(struct verify *v)
{
    status st = index_check(v->index_dir.p, index_progress, v, &v->r->index);
    if (st == ST_CORRUPT || st == ST_NOT_FOUND || v->r->index.problem.n) {
        struct span what = v->r->index.problem.n ? buf_span(&v->r->index.problem) : SPAN("it is missing");
        problem(v, "index: %.*s", SPAN_ARG(what));
        return ST_CORRUPT;
    }
    if (st == ST_OK && v->r->index.doubled) {
        problem(v, "index: %llu pages are in it twice", (unsigned long long)v->r->index.doubled);
        return ST_CORRUPT;
    }
    return st;
}

static status compare_doc(void *arg, uint64_t key, uint64_t fetch_number, struct span url)
{
    struct verify *v = arg;
    if (as_number(table_get(&v->found, key)) == fetch_number)
        (void)table_remove(&v->found, key);
    else
        v->r->strange++;
    return ST_OK;
}

/* After this, `found` holds what the index lacks. */
static status compare_index(struct verify *v)
{
    struct index_reader *reader = NULL;
    struct index_snapshot *snapshot = NULL;
    status st = index_reader_open(v->index_dir.p, &reader, NULL);
    if (st == ST_OK)
        st = index_reader_snapshot(reader, &snapshot);
    if (st == ST_OK)
        st = index_each(snapshot, compare_doc, v);
    index_snapshot_free(snapshot);
    index_reader_free(reader);
    if (st != ST_OK)
        return st;
    v->r->missing = v->found.n;
    if (v->r->missing)
        problem(v, "index: %llu pages are missing or of another visit", (unsigned long long)v->r->missing);
    if (v->r->strange)
        problem(v, "index: %llu documents belong to no page", (unsigned long long)v->r->strange);
    return v->r->missing || v->r->strange ? ST_CORRUPT : ST_OK;
}

static void rebuild_progress(void *arg, uint64_t done, uint64_t all)
{
    progress(arg, "making the index anew", done, all);
}

static status rebuild(struct verify *v, struct buf *why)
{
    struct apply_opts o = {.store = v->store,
                           .index_memory = v->o->index_memory,
                           .log = v->o->log,
                           .progress = rebuild_progress,
                           .progress_arg = v};
    struct apply *a = NULL;
    status st = index_erase(v->index_dir.p);
    if (st == ST_OK)
        st = apply_open(&o, &a, NULL, why);
    if (st == ST_OK)
        st = apply_finish(a);
    apply_free(a);
    v->r->was_rebuilt = st == ST_OK;
    return st;
}

/* Brings the index up to the contents first, as a crawl would: what a kill left undone is no damage. */
static status catch_up(struct verify *v, struct buf *why)
{
    struct apply_opts o = {.store = v->store, .index_memory = v->o->index_memory, .log = v->o->log};
    struct apply *a = NULL;
    struct apply_start start;
    status st = apply_open(&o, &a, &start, why);
    if (st == ST_OK)
        st = apply_finish(a);
    apply_free(a);
    return st;
}

/* ---- near-duplicates ---- */

/* Made again when damaged or not there; a folder of an older version has none, and nothing is wrong with that. */
static status check_groups(struct verify *v)
{
    struct buf path = {0};
    struct alike_report r;
    groups_path(v->o->data_dir, &path);
    struct groups *now = groups_open(path.p);
    status st = groups_status(now);
    if (st == ST_CORRUPT)
        problem(v, "near-duplicates: %s is damaged%s", path.p, v->o->repair ? ": it was made anew" : "");
    groups_release(now);
    buf_done(&path);
    if (!v->o->repair || (st != ST_CORRUPT && st != ST_NOT_FOUND))
        return st == ST_IO ? st : ST_OK;
    return alike_run(&(struct alike_opts){.data_dir = v->o->data_dir, .key = *store_key(v->store)}, &r);
}

/* ---- what is forgotten ---- */

struct search {
    struct verify *v;
    const struct places *places;
};

static status find_forgotten(void *arg, const struct page *p)
{
    struct search *s = arg;
    struct url u;
    arena_reset(&s->v->arena);
    s->v->r->forgotten += url_parse(&s->v->arena, p->url, NULL, &u) == ST_OK && places_find(s->places, &u);
    return ST_OK;
}

/* Before all else: what is taken out needs no checking. */
static status check_forgotten(struct verify *v, struct buf *why)
{
    struct places *places = NULL;
    status st = erase_load_places(v->store, &places);
    struct search s = {v, places};
    if (st == ST_OK && places)
        st = store_page_each(v->store, 0, find_forgotten, &s);
    places_free(places);
    bool is_due = v->r->forgotten || erase_is_due(v->store);
    if (st != ST_OK || !is_due)
        return st;
    problem(v, "pages: %llu that are forgotten are there still: %s", (unsigned long long)v->r->forgotten,
            v->o->repair ? "they were taken out" : "orb check --repair takes them out");
    if (!v->o->repair)
        return ST_OK;
    st = apply_forget_soon(v->store);
    return st == ST_OK ? catch_up(v, why) : st;
}

static status check_all(struct verify *v, struct buf *why)
{
    status st = ST_OK;
    if (!mend_heads(v, &st))
        return st;
    if (st == ST_OK)
        st = check_forgotten(v, why);
    if (st == ST_OK)
        st = check_contents(v);
    if (st == ST_OK)
        st = put_lost_right(v);
    status index = ST_OK;
    if (st == ST_OK)
        index = check_index(v);
    if (st == ST_OK && index == ST_OK && v->o->repair) {
        st = catch_up(v, why);
        if (st == ST_CORRUPT)
            index = st, st = ST_OK;
    }
    if (st == ST_OK && index == ST_OK)
        index = compare_index(v);
    if (st == ST_OK && index == ST_CORRUPT && v->o->repair) {
        buf_clear(why);
        st = rebuild(v, why);
    } else if (st == ST_OK && index != ST_CORRUPT) {
        st = index;
    }
    if (st == ST_OK)
        st = check_groups(v);
    return st;
}

/* Nothing can put right what the database has lost. */
static status check_database(struct verify *v)
{
    struct buf what = {0};
    struct fleet_store *fleet = NULL;
    const char *name = "orb.db";
    status st = store_check(v->store, &what);
    if (st == ST_OK && fleet_is_there(v->o->data_dir)) {
        name = "fleet.db";
        st = fleet_open(v->o->data_dir, &fleet, NULL);
        if (st == ST_OK)
            st = fleet_check(fleet, &what);
        fleet_close(fleet);
    }
    if (st == ST_CORRUPT) {
        problem(v, "%s is damaged (%s): restore a backup", name, what.n ? buf_cstr(&what) : "it cannot be read");
        v->r->is_past_repair = true;
        st = ST_OK;
    }
    buf_done(&what);
    return st;
}

static status check_folder(struct verify *v, struct buf *why)
{
    progress(v, "database", 0, 0);
    status st = check_database(v);
    if (v->r->is_past_repair)
        return st;
    if (st == ST_OK)
        st = check_keys(v);
    if (st == ST_OK && v->o->check_state)
        st = v->o->check_state(v->o->data_dir, v->o->repair, &v->r->problems);
    if (st == ST_OK && v->r->has_index)
        st = check_all(v, why);
    if (st == ST_OK)
        st = check_astray(v);
    v->r->is_well = st == ST_OK && (v->r->problems.n == 0 || v->o->repair) && !v->astray.n;
    return st;
}

static bool is_there(const char *path)
{
    struct stat sb;
    return stat(path, &sb) == 0;
}

status verify_run(const struct verify_opts *o, struct verify_report *out, struct buf *why)
{
    struct verify v = {.o = o, .r = out};
    *out = (struct verify_report){0};
    arena_init(&v.arena);
    v.unzipper = unzipper_new();
    apply_contents_dir(o->data_dir, &v.contents_dir);
    apply_index_dir(o->data_dir, &v.index_dir);
    /* Opening for reading first: a folder that is not there must not be made by looking at it. */
    status st = store_open(o->data_dir, STORE_READ, &v.store, why);
    store_free(v.store);
    v.store = NULL;
    if (st == ST_OK || st == ST_UNSUPPORTED) {
        buf_clear(why);
        st = store_open(o->data_dir, STORE_WRITE, &v.store, why);
    }
    out->has_index = is_there(v.contents_dir.p) || is_there(v.index_dir.p);
    if (st == ST_BUSY) {
        buf_clear(why);
        out->is_in_use = true;
        status index = out->has_index ? check_index(&v) : ST_OK;
        out->is_well = out->problems.n == 0;
        st = index == ST_CORRUPT ? ST_OK : index;
    } else if (st == ST_OK) {
        st = check_folder(&v, why);
    }
    store_free(v.store);
    table_done(&v.wanted);
    table_done(&v.found);
    table_done(&v.astray);
    buf_done(&v.right);
    zip_dict_free(v.dict);
    unzipper_free(v.unzipper);
    buf_done(&v.raw);
    buf_done(&v.contents_dir);
    buf_done(&v.index_dir);
    arena_done(&v.arena);
    return st;
}

void verify_report_done(struct verify_report *r)
{
    buf_done(&r->problems);
    buf_done(&r->index.problem);
}
