#include "apply/alike_pages.h"

#include <stdlib.h>

#include "apply/apply.h"
#include "base/mem.h"
#include "codec/zip.h"
#include "store/contents.h"
#include "store/sorter.h"
#include "web/boilerplate.h"
#include "web/content.h"

#define SORT_MEMORY (16u << 20)

enum { FLAG_HASH = 1, FLAG_GONE = 2 };

struct update {
    const struct alike_opts *o;
    struct alike_report *report;
    struct buf dir, contents_dir;
    struct rows old; /* as they were */
    struct boilerplate *boilerplate;
    struct sorter *changes; /* rows that are new or other */
    struct zip_dict *dict;
    struct unzipper *unzipper;
    struct buf raw, blocks;
    struct arena arena;
    uint64_t counted; /* number of the last record that the boilerplate knows */
    uint64_t last;    /* of the newest one */
    uint64_t unreadable;
};

/* ---- rows ---- */

static void pack_page(const struct alike_page *p, uint64_t row[ALIKE_PAGES_WIDTH])
{
    row[0] = p->key;
    row[1] = p->fetch_number;
    row[2] = p->site;
    row[3] = p->canonical;
    row[4] = p->first_fetch;
    row[5] = p->epoch | (uint64_t)((p->has_hash ? FLAG_HASH : 0) | (p->is_gone ? FLAG_GONE : 0)) << 8 |
             (uint64_t)p->lang << 32;
    title_pack(&p->title, row + 6);
    simhash_pack(&p->hash, row + 6 + TITLE_NUMBERS);
}

static void unpack_page(const uint64_t row[ALIKE_PAGES_WIDTH], struct alike_page *out)
{
    *out = (struct alike_page){.key = row[0],
                               .fetch_number = row[1],
                               .site = row[2],
                               .canonical = row[3],
                               .first_fetch = row[4],
                               .epoch = (uint8_t)row[5],
                               .has_hash = row[5] >> 8 & FLAG_HASH,
                               .is_gone = row[5] >> 8 & FLAG_GONE,
                               .lang = (uint32_t)(row[5] >> 32)};
    title_unpack(row + 6, &out->title);
    simhash_unpack(row + 6 + TITLE_NUMBERS, &out->hash);
}

void alike_page_get(const struct rows *pages, size_t at, struct alike_page *out)
{
    uint64_t row[ALIKE_PAGES_WIDTH];
    for (unsigned i = 0; i < ALIKE_PAGES_WIDTH; i++)
        row[i] = rows_number(pages, at, i);
    unpack_page(row, out);
}

/* ---- one page ---- */

static bool is_cancelled(const struct alike_opts *o)
{
    return o->is_cancelled && atomic_load(o->is_cancelled);
}

/* The log is read for the boilerplate and then, in most of the time, for the fingerprints; a tenth is left for the
 * rest. */
#define COUNTING_PERCENT 25
#define READING_PERCENT 65

static void tell_progress(const struct update *u, const struct contents_record *r, unsigned from, unsigned percent)
{
    uint64_t all = u->o->last > u->old.stamp ? u->o->last - u->old.stamp : 0;
    uint64_t done = r->number > u->old.stamp ? r->number - u->old.stamp : 0;
    if (u->o->percent && all)
        atomic_store(u->o->percent, from + (unsigned)(done < all ? done * percent / all : percent));
}

/* False: it cannot be read, which orb check tells of and puts right. */
static bool read_content(struct update *u, struct span zipped, struct content *c)
{
    buf_clear(&u->raw);
    arena_reset(&u->arena);
    bool is_good = unzipper_run(u->unzipper, u->dict, zipped, CONTENT_BYTES_MAX, &u->raw) == ST_OK &&
                   content_unpack(&u->arena, buf_span(&u->raw), c) == ST_OK;
    u->unreadable += !is_good;
    return is_good;
}

/* Scheme, host and port: what comes before the path. */
static uint64_t site_of(const struct update *u, struct span url)
{
    size_t host = span_search(url, SPAN("://"), false) + 3;
    uint64_t site = siphash(&u->o->key, span_cut(url, 0, span_find(url, '/', host)));
    return site ? site : 1;
}

static uint32_t lang_of(struct span lang)
{
    uint32_t code = 0;
    for (size_t i = 0; i < lang.n && i < 3 && ascii_is_alpha(lang.p[i]); i++)
        code |= (uint32_t)(unsigned char)ascii_lower(lang.p[i]) << 8 * i;
    return code;
}

struct skip {
    const struct boilerplate *b;
    uint64_t site;
};

static void find_boilerplate(void *arg, const uint64_t *blocks, size_t n, bool *is_left_out)
{
    const struct skip *s = arg;
    boilerplate_which(s->b, s->site, blocks, n, is_left_out);
}

static struct alike_page page_of(struct update *u, const struct contents_record *r, const struct content *c)
{
    struct alike_page p = {.key = r->key,
                           .fetch_number = r->fetch_number,
                           .first_fetch = r->fetch_number,
                           .site = site_of(u, c->url),
                           .lang = lang_of(c->lang)};
    uint64_t canonical = c->canonical.n ? siphash(&u->o->key, c->canonical) : 0;
    struct skip skip = {u->boilerplate, p.site};
    p.canonical = canonical == p.key ? 0 : canonical;
    p.epoch = (uint8_t)boilerplate_epoch(u->boilerplate, p.site);
    p.title = title_words(&u->o->key, c->title, find_boilerplate, &skip);
    /* Words without their order say too little of a text. */
    p.has_hash = !c->is_keywords && simhash_of(&u->arena, &u->o->key, c->text, find_boilerplate, &skip, &p.hash);
    u->report->read++;
    return p;
}

/* ---- first the boilerplate ---- */

/* Whether the old rows have the page as the record has it: then a compaction has copied it. */
static bool is_known(const struct update *u, const struct contents_record *r, struct alike_page *out)
{
    size_t at;
    if (!rows_has(&u->old, r->key, &at))
        return false;
    alike_page_get(&u->old, at, out);
    return out->fetch_number == r->fetch_number;
}

static status count_record(void *arg, const struct contents_record *r)
{
    struct update *u = arg;
    struct alike_page old;
    struct content c;
    u->last = r->number > u->last ? r->number : u->last;
    tell_progress(u, r, 0, COUNTING_PERCENT);
    if (is_cancelled(u->o))
        return ST_CANCELLED;
    if (r->is_gone || is_known(u, r, &old) || !read_content(u, r->content, &c) || c.is_keywords)
        return ST_OK;
    buf_clear(&u->blocks);
    buf_put(&u->blocks, c.text);
    title_put_blocks(c.title, &u->blocks);
    boilerplate_count(u->boilerplate, &u->arena, &u->o->key, site_of(u, c.url), buf_span(&u->blocks));
    return ST_OK;
}

static void path_of(const struct update *u, const char *name, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "%s/%s", u->dir.p, name);
    (void)buf_cstr(out);
}

/* Without it, or when it is damaged, the pages are read anew as well: their fingerprints were made with it. */
static status load_boilerplate(struct update *u)
{
    struct rows rows = {0};
    struct buf path = {0};
    path_of(u, "boilerplate", &path);
    status st = rows_open(path.p, ALIKE_BOILERPLATE_KIND, BOILERPLATE_ROW, &rows);
    for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
        uint64_t row[BOILERPLATE_ROW];
        for (unsigned k = 0; k < BOILERPLATE_ROW; k++)
            row[k] = rows_number(&rows, i, k);
        boilerplate_load(u->boilerplate, row);
    }
    u->counted = rows.stamp; /* of its own: it is saved before the pages, which may be lost, or of an older form */
    rows_close(&rows);
    if (st == ST_OK) {
        path_of(u, "pages", &path);
        st = rows_open(path.p, ALIKE_PAGES_KIND, ALIKE_PAGES_WIDTH, &u->old);
    }
    buf_done(&path);
    return st == ST_IO ? st : ST_OK;
}

struct saving {
    struct rows_writer *file;
    status st;
};

static bool save_row(void *arg, const uint64_t row[BOILERPLATE_ROW])
{
    struct saving *s = arg;
    s->st = rows_put(s->file, row);
    return s->st == ST_OK;
}

static status save_boilerplate(struct update *u)
{
    struct saving s = {0};
    struct buf path = {0};
    path_of(u, "boilerplate", &path);
    status st = rows_create(path.p, ALIKE_BOILERPLATE_KIND, BOILERPLATE_ROW, &s.file);
    buf_done(&path);
    if (st != ST_OK)
        return st;
    boilerplate_each(u->boilerplate, save_row, &s);
    if (s.st == ST_OK)
        return rows_commit(s.file, u->last);
    rows_abandon(s.file);
    return s.st;
}

/* ---- then the fingerprints ---- */

static status add_change(struct update *u, const struct alike_page *p)
{
    uint64_t row[ALIKE_PAGES_WIDTH];
    pack_page(p, row);
    return sorter_add(u->changes, row);
}

static status read_record(void *arg, const struct contents_record *r)
{
    struct update *u = arg;
    struct alike_page old, page;
    struct content c;
    tell_progress(u, r, COUNTING_PERCENT, READING_PERCENT);
    if (is_cancelled(u->o))
        return ST_CANCELLED;
    if (r->number > u->last)
        return ST_OK; /* came meanwhile: for the next run, with its boilerplate counted */
    bool is_it = is_known(u, r, &old);
    if (is_it && !r->is_gone && old.epoch == boilerplate_epoch(u->boilerplate, old.site))
        return ST_OK;
    if (r->number <= u->old.stamp && !is_it)
        return ST_OK; /* of the past */
    if (r->is_gone) {
        page = (struct alike_page){.key = r->key, .fetch_number = r->fetch_number, .is_gone = true};
        return add_change(u, &page);
    }
    if (!read_content(u, r->content, &c))
        return ST_OK;
    page = page_of(u, r, &c);
    return add_change(u, &page);
}

/* Whether an old page's site has another boilerplate by now: then the whole log is read. */
static bool is_any_outdated(const struct update *u)
{
    struct alike_page p;
    for (size_t i = 0; i < u->old.count; i++) {
        alike_page_get(&u->old, i, &p);
        if (p.epoch != boilerplate_epoch(u->boilerplate, p.site))
            return true;
    }
    return false;
}

/* The next change that counts: of several of one page the one with the highest fetch number, the later among equals. */
static status next_change(struct update *u, struct alike_page *ahead, bool *has_ahead, struct alike_page *out,
                          bool *has_out)
{
    uint64_t row[ALIKE_PAGES_WIDTH];
    status st = ST_OK;
    *has_out = *has_ahead;
    *out = *ahead;
    *has_ahead = false;
    while ((st = sorter_next(u->changes, row)) == ST_OK) {
        struct alike_page p;
        unpack_page(row, &p);
        if (*has_out && p.key != out->key) {
            *ahead = p;
            *has_ahead = true;
            return ST_OK;
        }
        if (!*has_out || p.fetch_number >= out->fetch_number)
            *out = p;
        *has_out = true;
    }
    return st == ST_END ? ST_OK : st;
}

static status put_page(struct rows_writer *w, const struct alike_page *p)
{
    uint64_t row[ALIKE_PAGES_WIDTH];
    pack_page(p, row);
    return p->is_gone ? ST_OK : rows_put(w, row);
}

/* Old rows and changes, both by key. */
static status merge(struct update *u, struct rows_writer *w)
{
    struct alike_page ahead = {0}, change = {0}, old;
    bool has_ahead = false, has_change = false;
    size_t at = 0;
    status st = sorter_sort(u->changes);
    if (st == ST_OK)
        st = next_change(u, &ahead, &has_ahead, &change, &has_change);
    while (st == ST_OK && (at < u->old.count || has_change)) {
        bool has_old = at < u->old.count;
        if (has_old)
            alike_page_get(&u->old, at, &old);
        bool takes_old = has_old && (!has_change || old.key <= change.key);
        bool takes_change = has_change && (!has_old || change.key <= old.key);
        bool is_newer = takes_old && takes_change && old.fetch_number > change.fetch_number;
        if (takes_old && takes_change && old.first_fetch < change.first_fetch)
            change.first_fetch = old.first_fetch;
        st = put_page(w, takes_change && !is_newer ? &change : &old);
        at += takes_old;
        if (st == ST_OK && takes_change)
            st = next_change(u, &ahead, &has_ahead, &change, &has_change);
    }
    return st;
}

static status write_pages(struct update *u, struct rows *out)
{
    struct rows_writer *w = NULL;
    struct buf path = {0};
    path_of(u, "pages", &path);
    status st = rows_create(path.p, ALIKE_PAGES_KIND, ALIKE_PAGES_WIDTH, &w);
    if (st == ST_OK) {
        st = merge(u, w);
        if (st == ST_OK)
            st = rows_commit(w, u->last);
        else
            rows_abandon(w);
    }
    if (st == ST_OK)
        st = rows_open(path.p, ALIKE_PAGES_KIND, ALIKE_PAGES_WIDTH, out);
    buf_done(&path);
    return st;
}

/* ---- all of it ---- */

static status load_dictionary(struct update *u)
{
    struct buf d = {0};
    status st = contents_read_dictionary(u->contents_dir.p, &d);
    if (st == ST_OK)
        st = zip_dict_new(buf_span(&d), 1, &u->dict);
    buf_done(&d);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static status update(struct update *u, struct rows *out)
{
    status st = load_dictionary(u);
    if (st == ST_OK)
        st = load_boilerplate(u);
    u->last = u->counted;
    if (st == ST_OK)
        st = contents_each(u->contents_dir.p, u->counted, count_record, u, NULL);
    if (st != ST_OK)
        return st;
    boilerplate_settle(u->boilerplate);
    if (u->last > u->counted) /* before the pages that are made with it */
        st = save_boilerplate(u);
    uint64_t after = is_any_outdated(u) ? 0 : u->old.stamp;
    if (st == ST_OK)
        st = contents_each(u->contents_dir.p, after, read_record, u, NULL);
    boilerplate_free(u->boilerplate); /* its memory is for what follows */
    u->boilerplate = NULL;
    return st == ST_OK ? write_pages(u, out) : st;
}

status alike_pages_update(const struct alike_opts *o, struct alike_report *report, struct rows *out)
{
    struct update u = {.o = o, .report = report};
    struct buf path = {0};
    alike_dir(o->data_dir, &u.dir);
    apply_contents_dir(o->data_dir, &u.contents_dir);
    path_of(&u, "changes", &path);
    u.boilerplate = boilerplate_new();
    u.unzipper = unzipper_new();
    u.changes = sorter_new(
        &(struct sorter_opts){.path = path.p, .width = ALIKE_PAGES_WIDTH, .key_bits = 64, .memory = SORT_MEMORY});
    arena_init(&u.arena);
    status st = update(&u, out);
    boilerplate_free(u.boilerplate);
    sorter_free(u.changes);
    unzipper_free(u.unzipper);
    zip_dict_free(u.dict);
    rows_close(&u.old);
    arena_done(&u.arena);
    buf_done(&u.raw);
    buf_done(&u.blocks);
    buf_done(&u.dir);
    buf_done(&u.contents_dir);
    buf_done(&path);
    return st;
}
