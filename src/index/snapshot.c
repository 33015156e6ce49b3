#include "index/snapshot.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "codec/digest.h"
#include "index/index_files.h"
#include "index/manifest.h"
#include "index/text/stem.h"
#include "index/tombs.h"
#include "store/file.h"
#include "web/content.h"

#define REOPEN_TRIES 100 /* as many commits would have to come, each while we open the files of the one before */
#define UNZIPPERS_KEPT 8
/* File times move in steps of some milliseconds: a manifest younger than this may be replaced by one that has the same
 * time, size and (because inodes are used again) inode. */
#define RACY_NS 50000000

/* ---- what snapshots share ---- */

status shared_segment_open(const char *dir, uint32_t number, struct shared_segment **out)
{
    struct segment *segment = NULL;
    status st = segment_open(dir, number, &segment);
    if (st != ST_OK)
        return st;
    struct shared_segment *s = mem_alloc(sizeof(*s));
    atomic_init(&s->refs, 1);
    s->segment = segment;
    *out = s;
    return ST_OK;
}

struct shared_segment *shared_segment_ref(struct shared_segment *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

void shared_segment_unref(struct shared_segment *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    segment_free(s->segment);
    free(s);
}

/* The dictionary, and contexts to use it with: making one costs more than unpacking a page. */
struct shared_dict {
    atomic_uint refs;
    uint32_t bytes, crc;
    struct zip_dict *dictionary; /* owned; NULL: none */
    pthread_mutex_t lock;
    struct unzipper *kept[UNZIPPERS_KEPT]; /* owned */
    unsigned kept_count;
};

static status dict_open(const char *dir, const struct manifest *m, struct shared_dict **out)
{
    struct buf path = {0}, bytes = {0};
    struct zip_dict *dictionary = NULL;
    status st = ST_OK;
    if (m->dictionary_bytes) {
        index_file_dictionary(&path, dir);
        st = file_read(path.p, m->dictionary_bytes, &bytes);
        if (st == ST_LIMIT)
            st = ST_CORRUPT;
        if (st == ST_OK && (bytes.n != m->dictionary_bytes || digest_crc32c(buf_span(&bytes)) != m->dictionary_crc))
            st = ST_CORRUPT;
        if (st == ST_OK)
            st = zip_dict_new(buf_span(&bytes), 1, &dictionary);
        buf_done(&path);
        buf_done(&bytes);
    }
    if (st != ST_OK)
        return st;
    struct shared_dict *d = mem_alloc(sizeof(*d));
    atomic_init(&d->refs, 1);
    d->bytes = m->dictionary_bytes;
    d->crc = m->dictionary_crc;
    d->dictionary = dictionary;
    pthread_mutex_init(&d->lock, NULL);
    *out = d;
    return ST_OK;
}

static struct shared_dict *dict_ref(struct shared_dict *d)
{
    atomic_fetch_add_explicit(&d->refs, 1, memory_order_relaxed);
    return d;
}

static void dict_unref(struct shared_dict *d)
{
    if (!d || atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) != 1)
        return;
    while (d->kept_count)
        unzipper_free(d->kept[--d->kept_count]);
    zip_dict_free(d->dictionary);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static struct unzipper *unzipper_take(struct shared_dict *d)
{
    pthread_mutex_lock(&d->lock);
    struct unzipper *u = d->kept_count ? d->kept[--d->kept_count] : NULL;
    pthread_mutex_unlock(&d->lock);
    return u ? u : unzipper_new();
}

static void unzipper_give(struct shared_dict *d, struct unzipper *u)
{
    pthread_mutex_lock(&d->lock);
    if (d->kept_count < UNZIPPERS_KEPT) {
        d->kept[d->kept_count++] = u;
        u = NULL;
    }
    pthread_mutex_unlock(&d->lock);
    unzipper_free(u);
}

/* ---- making one ---- */

static struct index_snapshot *snapshot_ref(struct index_snapshot *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

void index_snapshot_free(struct index_snapshot *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (unsigned i = 0; i < s->part_count; i++) {
        shared_segment_unref(s->parts[i].shared);
        tombs_unref(s->parts[i].tombs);
    }
    free(s->parts);
    dict_unref(s->shared_dict);
    free(s);
}

bool snapshot_is_lost(const struct index_snapshot *s)
{
    for (unsigned i = 0; i < s->part_count; i++)
        if (segment_is_lost(s->parts[i].segment))
            return true;
    return false;
}

static const struct snapshot_part *find_part(const struct index_snapshot *s, uint32_t number)
{
    for (unsigned i = 0; s && i < s->part_count; i++)
        if (segment_number(s->parts[i].segment) == number)
            return &s->parts[i];
    return NULL;
}

/* Segment and tombstones, from the snapshot before where it has them. */
static status open_part(const char *dir, const struct manifest_segment *ms, const struct index_snapshot *before,
                        struct snapshot_part *out)
{
    const struct snapshot_part *old = find_part(before, ms->number);
    struct snapshot_part p = {0};
    status st = ST_OK;
    if (old)
        p.shared = shared_segment_ref(old->shared);
    else
        st = shared_segment_open(dir, ms->number, &p.shared);
    if (st == ST_OK && !old)
        segment_guard(p.shared->segment);
    if (st == ST_OK && segment_docs(p.shared->segment) != ms->docs)
        st = ST_CORRUPT;
    if (st == ST_OK && ms->tombs && old && old->tombs && old->tombs->generation == ms->tombs)
        p.tombs = tombs_ref(old->tombs);
    else if (st == ST_OK && ms->tombs)
        st = tombs_read(dir, ms->number, ms->tombs, ms->docs, &p.tombs);
    if (st == ST_OK && p.tombs && p.tombs->dead != ms->dead)
        st = ST_CORRUPT;
    if (st != ST_OK) {
        shared_segment_unref(p.shared);
        tombs_unref(p.tombs);
        return st;
    }
    p.segment = p.shared->segment;
    p.dead = p.tombs ? p.tombs->bits : NULL;
    p.dead_count = ms->dead;
    *out = p;
    return ST_OK;
}

static int largest_first(const void *a, const void *b)
{
    const struct snapshot_part *x = a, *y = b;
    uint32_t m = segment_docs(x->segment), n = segment_docs(y->segment);
    if (m != n)
        return m > n ? -1 : 1;
    return segment_number(x->segment) < segment_number(y->segment) ? -1 : 1;
}

static status snapshot_make(const char *dir, const struct manifest *m, const struct index_snapshot *before,
                            struct index_snapshot **out)
{
    /* Another index in the same folder: numbers mean other files now. Or files were cut: they may be whole again. */
    if (before && (before->identity != m->identity || snapshot_is_lost(before)))
        before = NULL;
    struct index_snapshot *s = mem_alloc(sizeof(*s));
    status st = ST_OK;
    atomic_init(&s->refs, 1);
    s->identity = m->identity;
    s->generation = m->generation;
    s->applied = m->applied;
    s->parts = mem_alloc(m->segment_count * sizeof(*s->parts));
    for (size_t i = 0; i < m->segment_count && st == ST_OK; i++) {
        st = open_part(dir, &m->segments[i], before, &s->parts[s->part_count]);
        if (st != ST_OK)
            break;
        s->part_count++;
        s->all_docs += m->segments[i].docs;
        s->docs += m->segments[i].docs - m->segments[i].dead;
    }
    if (st == ST_OK && before && before->shared_dict->bytes == m->dictionary_bytes &&
        before->shared_dict->crc == m->dictionary_crc)
        s->shared_dict = dict_ref(before->shared_dict);
    else if (st == ST_OK)
        st = dict_open(dir, m, &s->shared_dict);
    if (st != ST_OK) {
        index_snapshot_free(s);
        return st;
    }
    s->dictionary = s->shared_dict->dictionary;
    qsort(s->parts, s->part_count, sizeof(*s->parts), largest_first);
    *out = s;
    return ST_OK;
}

/* ---- the reader ---- */

struct index_reader {
    char *dir;
    struct buf path;                /* of the manifest */
    pthread_mutex_t refresh;        /* held by the one who reads a new manifest; comes first */
    pthread_mutex_t lock;           /* guards the rest */
    struct index_snapshot *current; /* counted */
    struct timespec time;
    ino_t inode;
    off_t bytes;
    bool is_racy; /* the manifest was too young to tell by its time whether it is still the same */
};

static bool is_young(const struct stat *sb)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t age = (now.tv_sec - sb->st_mtim.tv_sec) * 1000000000 + (now.tv_nsec - sb->st_mtim.tv_nsec);
    return age < RACY_NS;
}

static bool is_same(const struct index_reader *r, const struct stat *sb)
{
    return r->current && !r->is_racy && !snapshot_is_lost(r->current) && sb->st_ino == r->inode &&
           sb->st_size == r->bytes && sb->st_mtim.tv_sec == r->time.tv_sec && sb->st_mtim.tv_nsec == r->time.tv_nsec;
}

/* The newest commit; r->current itself when that is it. A file that has gone means that there is a newer manifest. */
static status read_newest(struct index_reader *r, struct index_snapshot *current, struct index_snapshot **out,
                          struct buf *why)
{
    status st = ST_NOT_FOUND;
    uint64_t last = 0;
    for (int i = 0; i < REOPEN_TRIES; i++) {
        struct manifest m;
        st = manifest_read(r->dir, &m, why);
        if (st != ST_OK)
            return st;
        if (current && current->identity == m.identity && current->generation == m.generation &&
            !snapshot_is_lost(current))
            *out = snapshot_ref(current);
        else
            st = snapshot_make(r->dir, &m, current, out);
        bool is_known = m.generation == last;
        last = m.generation;
        manifest_done(&m);
        if (st != ST_NOT_FOUND || is_known)
            break;
    }
    if (st == ST_NOT_FOUND)
        st = ST_CORRUPT;
    if (st != ST_OK && why)
        buf_printf(why, "a segment of the index cannot be opened: %s", status_name(st));
    return st;
}

static status refresh(struct index_reader *r, struct buf *why)
{
    struct stat sb;
    struct index_snapshot *s = NULL;
    if (stat(r->path.p, &sb) != 0) {
        if (why)
            buf_puts(why, errno == ENOENT || errno == ENOTDIR ? "there is no index" : "the index cannot be read");
        return errno == ENOENT || errno == ENOTDIR ? ST_NOT_FOUND : ST_IO;
    }
    pthread_mutex_lock(&r->lock);
    bool is_known = is_same(r, &sb);
    struct index_snapshot *current = r->current; /* only who holds `refresh` lets go of it */
    pthread_mutex_unlock(&r->lock);
    if (is_known)
        return ST_OK;
    bool is_racy = is_young(&sb);
    status st = read_newest(r, current, &s, why);
    if (st != ST_OK)
        return st;
    pthread_mutex_lock(&r->lock);
    r->current = s;
    r->time = sb.st_mtim;
    r->inode = sb.st_ino;
    r->bytes = sb.st_size;
    r->is_racy = is_racy;
    pthread_mutex_unlock(&r->lock);
    index_snapshot_free(current);
    return ST_OK;
}

status index_reader_open(const char *dir, struct index_reader **out, struct buf *why)
{
    struct index_reader *r = mem_alloc(sizeof(*r));
    r->dir = mem_str(span_str(dir));
    index_file_manifest(&r->path, dir);
    pthread_mutex_init(&r->refresh, NULL);
    pthread_mutex_init(&r->lock, NULL);
    status st = refresh(r, why);
    if (st == ST_OK)
        *out = r;
    else
        index_reader_free(r);
    return st;
}

void index_reader_free(struct index_reader *r)
{
    if (!r)
        return;
    index_snapshot_free(r->current);
    pthread_mutex_destroy(&r->lock);
    pthread_mutex_destroy(&r->refresh);
    buf_done(&r->path);
    free(r->dir);
    free(r);
}

status index_reader_snapshot(struct index_reader *r, struct index_snapshot **out)
{
    status st = ST_OK;
    /* While somebody reads the new manifest the others go on with the commit before. */
    if (pthread_mutex_trylock(&r->refresh) == 0) {
        st = refresh(r, NULL);
        pthread_mutex_unlock(&r->refresh);
    }
    pthread_mutex_lock(&r->lock);
    *out = r->current ? snapshot_ref(r->current) : NULL;
    pthread_mutex_unlock(&r->lock);
    return st;
}

/* ---- what is in it ---- */

uint64_t index_snapshot_generation(const struct index_snapshot *s)
{
    return s->generation;
}

uint64_t index_snapshot_docs(const struct index_snapshot *s)
{
    return s->docs;
}

void index_snapshot_stats(const struct index_snapshot *s, struct index_stats *out)
{
    *out = (struct index_stats){.docs = s->docs,
                                .deleted = s->all_docs - s->docs,
                                .segments = s->part_count,
                                .generation = s->generation,
                                .applied = s->applied};
    for (unsigned i = 0; i < s->part_count; i++) {
        out->bytes += segment_bytes(s->parts[i].segment);
        out->terms += segment_terms(s->parts[i].segment);
    }
}

static status unpack_content(const struct index_snapshot *s, struct span zipped, struct arena *a, struct content *out)
{
    struct buf plain = {0};
    struct unzipper *u = unzipper_take(s->shared_dict);
    status st = unzipper_run(u, s->dictionary, zipped, CONTENT_BYTES_MAX, &plain);
    unzipper_give(s->shared_dict, u);
    if (st == ST_LIMIT)
        st = ST_CORRUPT;
    if (st == ST_OK)
        st = content_unpack(a, arena_copy(a, buf_span(&plain)), out);
    buf_done(&plain);
    return st;
}

status snapshot_document(const struct index_snapshot *s, unsigned part, uint32_t doc, struct arena *a,
                         struct index_document *out)
{
    const struct segment *seg = s->parts[part].segment;
    struct doc_row row;
    struct span url, site, zipped;
    struct content content = {0};
    status st = segment_doc(seg, doc, &row);
    if (st == ST_OK)
        st = segment_stored(seg, doc, &url, &zipped);
    if (st == ST_OK)
        st = segment_site(seg, row.site, &site);
    if (st == ST_OK && zipped.n)
        st = unpack_content(s, zipped, a, &content);
    if (st != ST_OK)
        return st;
    *out = (struct index_document){.key = row.key,
                                   .fetch_number = row.fetch_number,
                                   .digest = row.digest,
                                   .group = row.group,
                                   .url = arena_copy(a, url),
                                   .site = arena_copy(a, site),
                                   .title = content.title,
                                   .description = content.description,
                                   .text = content.text,
                                   .fetched = (wall_ms)row.fetched * 1000,
                                   .changed = (wall_ms)row.changed * 1000,
                                   .flags = row.flags & (uint8_t)~ROW_UNORDERED,
                                   .headings = content.headings,
                                   .heading_count = content.heading_count,
                                   .is_keywords = content.is_keywords,
                                   .fields = content.fields,
                                   .field_count = content.field_count,
                                   .is_named = content.is_named,
                                   .type = content.type,
                                   .bytes = content.bytes,
                                   .alternates = content.alternates,
                                   .alternate_count = content.alternate_count,
                                   .content = zipped};
    (void)lang_code_name(row.lang, out->lang);
    return ST_OK;
}

status index_document(const struct index_snapshot *s, uint64_t key, struct arena *a, struct index_document *out)
{
    for (unsigned i = 0; i < s->part_count; i++) {
        uint32_t doc;
        status st = segment_find_doc(s->parts[i].segment, key, &doc);
        if (st == ST_OK && !part_is_dead(&s->parts[i], doc))
            return snapshot_document(s, i, doc, a, out);
        if (st != ST_OK && st != ST_NOT_FOUND)
            return st;
    }
    return ST_NOT_FOUND;
}

status index_has_fields(const struct index_snapshot *s, bool *out)
{
    static const char first[] = {TERM_SPECIAL, 'f'};
    struct span prefix = {first, sizeof(first)};
    struct dict_cursor c;
    bool found = false;
    for (unsigned i = 0; i < s->part_count && !found; i++) {
        status st = dict_seek(&c, s->parts[i].segment, prefix);
        if (st != ST_OK && st != ST_END)
            return st;
        found = st == ST_OK && span_starts(c.term, prefix);
    }
    *out = found;
    return ST_OK;
}

status index_each(const struct index_snapshot *s, index_doc_fn *fn, void *arg)
{
    status st = ST_OK;
    for (unsigned i = 0; i < s->part_count; i++) {
        const struct segment *seg = s->parts[i].segment;
        for (uint32_t doc = 0; doc < segment_docs(seg) && st == ST_OK; doc++) {
            struct doc_row row;
            struct span url, content;
            if (part_is_dead(&s->parts[i], doc))
                continue;
            st = segment_doc(seg, doc, &row);
            if (st == ST_OK)
                st = segment_stored(seg, doc, &url, &content);
            if (st == ST_OK)
                st = fn(arg, row.key, row.fetch_number, url);
        }
    }
    return st;
}

struct language {
    lang_code code;
    uint64_t docs;
};

static int most_frequent_first(const void *a, const void *b)
{
    const struct language *x = a, *y = b;
    if (x->docs != y->docs)
        return x->docs > y->docs ? -1 : 1;
    return (x->code > y->code) - (x->code < y->code);
}

unsigned snapshot_languages(const struct index_snapshot *s, lang_code *out, unsigned max)
{
    enum { LANGUAGES_MAX = 256 };
    struct language all[LANGUAGES_MAX];
    unsigned n = 0;
    lang_code code;
    uint32_t docs;
    for (unsigned i = 0; i < s->part_count; i++)
        for (unsigned k = 0; segment_language(s->parts[i].segment, k, &code, &docs) == ST_OK; k++) {
            unsigned at = 0;
            if (!stem_number(code))
                continue;
            while (at < n && all[at].code != code)
                at++;
            if (at == LANGUAGES_MAX)
                continue;
            if (at == n)
                all[n++] = (struct language){code, 0};
            all[at].docs += docs;
        }
    qsort(all, n, sizeof(*all), most_frequent_first);
    if (n > max)
        n = max;
    for (unsigned i = 0; i < n; i++)
        out[i] = all[i].code;
    return n;
}
