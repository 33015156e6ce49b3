#include <stdlib.h>

#include "base/mem.h"
#include "codec/digest.h"
#include "index/index.h"
#include "index/index_files.h"
#include "index/manifest.h"
#include "index/segment/segment_check.h"
#include "index/tombs.h"
#include "store/file.h"

#define CHECK_TRIES 100 /* merges may take files away before all are open: then the new manifest counts */

struct opened {
    struct segment *segment; /* owned */
    struct tombs *tombs;     /* counted */
};

struct keys {
    uint64_t *p; /* owned */
    size_t n, cap;
};
static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static status found(struct index_check *out, const char *what, uint32_t segment)
{
    if (!out->problem.n) {
        buf_printf(&out->problem, "segment %08x: ", segment);
        buf_puts(&out->problem, what);
    }
    return ST_CORRUPT;
}

static status collect_keys(const struct segment *s, const struct tombs *t, struct keys *keys)
{
    status st = ST_OK;
    for (uint32_t doc = 0; doc < segment_docs(s) && st == ST_OK; doc++) {
        struct doc_row row;
        if (tombs_has(t, doc))
            continue;
        st = segment_doc(s, doc, &row);
        if (st != ST_OK)
            break;
        keys->p = mem_grow(keys->p, &keys->cap, keys->n + 1, sizeof(*keys->p));
        keys->p[keys->n++] = row.key;
    }
    return st;
}

static status open_segment(const char *dir, const struct manifest_segment *ms, struct opened *o,
                           struct index_check *out)
{
    status st = segment_open(dir, ms->number, &o->segment);
    if (st == ST_CORRUPT)
        return found(out, "it cannot be opened", ms->number);
    if (st == ST_OK && (segment_docs(o->segment) != ms->docs || segment_bytes(o->segment) != ms->bytes))
        return found(out, "its size is not what the manifest says", ms->number);
    if (st == ST_OK && ms->tombs)
        st = tombs_read(dir, ms->number, ms->tombs, ms->docs, &o->tombs);
    if (st == ST_CORRUPT)
        return found(out, "its tombstones are damaged", ms->number);
    if (st == ST_OK && o->tombs && o->tombs->dead != ms->dead)
        return found(out, "its tombstones are not as many as the manifest says", ms->number);
    return st;
}
static status check_segment(const struct manifest_segment *ms, const struct opened *o, struct keys *keys,
                            struct index_check *out)
{
    struct segment_counts counts = {0};
    struct buf problem = {0};
    status st = segment_check(o->segment, &problem, &counts);
    if (st == ST_CORRUPT)
        st = found(out, buf_cstr(&problem), ms->number);
    if (st == ST_OK)
        st = collect_keys(o->segment, o->tombs, keys);
    if (st == ST_OK) {
        out->docs += ms->docs - ms->dead;
        out->deleted += ms->dead;
        out->terms += counts.terms;
        out->postings += counts.postings;
        out->positions += counts.positions;
        out->bytes += ms->bytes;
        out->segments++;
    }
    buf_done(&problem);
    return st;
}

static status check_dictionary(const char *dir, const struct manifest *m, struct index_check *out)
{
    struct buf path = {0}, bytes = {0};
    if (!m->dictionary_bytes)
        return ST_OK;
    index_file_dictionary(&path, dir);
    status st = file_read(path.p, m->dictionary_bytes, &bytes);
    if (st == ST_LIMIT ||
        (st == ST_OK && (bytes.n != m->dictionary_bytes || digest_crc32c(buf_span(&bytes)) != m->dictionary_crc))) {
        buf_puts(&out->problem, "the dictionary is damaged");
        st = ST_CORRUPT;
    }
    buf_done(&path);
    buf_done(&bytes);
    return st;
}

static status check_keys(struct keys *keys, struct index_check *out)
{
    if (keys->n)
        qsort(keys->p, keys->n, sizeof(*keys->p), by_value);
    for (size_t i = 1; i < keys->n; i++)
        out->doubled += keys->p[i] == keys->p[i - 1];
    if (!out->doubled)
        return ST_OK;
    buf_printf(&out->problem, "%llu pages are in the index twice", (unsigned long long)out->doubled);
    return ST_CORRUPT;
}

static status check_manifest(const char *dir, const struct manifest *m, index_progress_fn *progress, void *arg,
                             struct index_check *out)
{
    struct keys keys = {0};
    struct opened *opened = mem_alloc(m->segment_count * sizeof(*opened));
    uint64_t all = 0, done = 0;
    status st = check_dictionary(dir, m, out);
    for (size_t i = 0; i < m->segment_count && st == ST_OK; i++) {
        st = open_segment(dir, &m->segments[i], &opened[i], out);
        all += m->segments[i].bytes;
    }
    for (size_t i = 0; i < m->segment_count && st == ST_OK; i++) {
        st = check_segment(&m->segments[i], &opened[i], &keys, out);
        done += m->segments[i].bytes;
        if (st == ST_OK && progress)
            progress(arg, done, all);
    }
    if (st == ST_OK)
        st = check_keys(&keys, out);
    for (size_t i = 0; i < m->segment_count; i++) {
        segment_free(opened[i].segment);
        tombs_unref(opened[i].tombs);
    }
    free(opened);
    free(keys.p);
    return st;
}

status index_check(const char *dir, index_progress_fn *progress, void *arg, struct index_check *out)
{
    status st = ST_NOT_FOUND;
    uint64_t last = 0;
    *out = (struct index_check){0};
    for (int i = 0; i < CHECK_TRIES; i++) {
        struct manifest m;
        buf_done(&out->problem);
        *out = (struct index_check){0};
        st = manifest_read(dir, &m, &out->problem);
        if (st != ST_OK)
            return st;
        st = check_manifest(dir, &m, progress, arg, out);
        bool is_known = m.generation == last;
        last = m.generation;
        manifest_done(&m);
        if (st != ST_NOT_FOUND)
            return st;
        if (is_known)
            break;
    }
    buf_clear(&out->problem);
    buf_puts(&out->problem, "files that the manifest names are missing");
    return ST_CORRUPT;
}
