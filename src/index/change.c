#include "index/change.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "index/index_files.h"

void parts_add(struct parts *ps, struct part p)
{
    ps->p = mem_grow(ps->p, &ps->cap, ps->n + 1, sizeof(*ps->p));
    ps->p[ps->n++] = p;
}

static void part_unref(struct part *p)
{
    shared_segment_unref(p->shared);
    tombs_unref(p->tombs);
}

void part_list_done(struct parts *ps)
{
    for (size_t i = 0; i < ps->n; i++)
        part_unref(&ps->p[i]);
    free(ps->p);
    *ps = (struct parts){0};
}

void batch_move(struct batch *to, struct batch *from)
{
    for (size_t i = 0; i < from->parts.n; i++)
        parts_add(&to->parts, from->parts.p[i]);
    from->parts.n = 0;
    to->deletions =
        mem_grow(to->deletions, &to->deletion_cap, to->deletion_count + from->deletion_count, sizeof(*to->deletions));
    if (from->deletion_count)
        memcpy(to->deletions + to->deletion_count, from->deletions, from->deletion_count * sizeof(*to->deletions));
    to->deletion_count += from->deletion_count;
    batch_done(from);
}

void batch_done(struct batch *b)
{
    part_list_done(&b->parts);
    free(b->deletions);
    *b = (struct batch){0};
}

void change_init(struct change *c, struct index *ix)
{
    *c = (struct change){.applied = ix->applied};
    for (size_t i = 0; i < ix->parts.n; i++)
        parts_add(&c->parts, (struct part){shared_segment_ref(ix->parts.p[i].shared), tombs_ref(ix->parts.p[i].tombs)});
}

void change_done(struct change *c)
{
    part_list_done(&c->parts);
}

void change_kill(struct change *c, size_t part, uint32_t doc)
{
    struct part *p = &c->parts.p[part];
    if (!p->tombs)
        p->tombs = tombs_new(segment_docs(p->shared->segment));
    /* One that was written is the index's own. */
    if (p->tombs->generation) {
        struct tombs *own = tombs_copy(p->tombs);
        tombs_unref(p->tombs);
        p->tombs = own;
    }
    tombs_set(p->tombs, doc);
}

/* The living document of a key in a part, with what decides. ST_NOT_FOUND. */
static status find_living(const struct part *p, uint64_t key, uint32_t *doc, struct version *v)
{
    struct doc_row row;
    status st = segment_find_doc(p->shared->segment, key, doc);
    if (st == ST_OK && tombs_has(p->tombs, *doc))
        st = ST_NOT_FOUND;
    if (st == ST_OK)
        st = segment_doc(p->shared->segment, *doc, &row);
    if (st == ST_OK)
        *v = (struct version){row.fetch_number, row.anchors_digest, row.prior_code};
    return st;
}

/* A new document against the parts before its own: at most one of them has the key alive. */
static status join_doc(struct change *c, size_t part, uint32_t doc)
{
    struct doc_row row;
    status st = segment_doc(c->parts.p[part].shared->segment, doc, &row);
    if (st != ST_OK)
        return st;
    struct version now = {row.fetch_number, row.anchors_digest, row.prior_code}, before;
    for (size_t i = 0; i < part; i++) {
        uint32_t other;
        st = find_living(&c->parts.p[i], row.key, &other, &before);
        if (st == ST_NOT_FOUND)
            continue;
        if (st != ST_OK)
            return st;
        if (version_wins(&now, &before))
            change_kill(c, i, other);
        else
            change_kill(c, part, doc);
        break;
    }
    return ST_OK;
}

static status join_deletion(struct change *c, const struct deletion *d)
{
    for (size_t i = 0; i < c->parts.n; i++) {
        uint32_t doc;
        struct version v;
        status st = find_living(&c->parts.p[i], d->key, &doc, &v);
        if (st != ST_OK && st != ST_NOT_FOUND)
            return st;
        if (st == ST_OK && v.fetch_number <= d->fetch_number)
            change_kill(c, i, doc);
    }
    return ST_OK;
}

status change_join(struct change *c, const struct batch *b)
{
    status st = ST_OK;
    for (size_t i = 0; i < b->parts.n && st == ST_OK; i++) {
        size_t part = c->parts.n;
        uint32_t docs = segment_docs(b->parts.p[i].shared->segment);
        parts_add(&c->parts, (struct part){shared_segment_ref(b->parts.p[i].shared), tombs_ref(b->parts.p[i].tombs)});
        for (uint32_t doc = 0; doc < docs && st == ST_OK; doc++)
            st = join_doc(c, part, doc);
    }
    for (size_t i = 0; i < b->deletion_count && st == ST_OK; i++)
        st = join_deletion(c, &b->deletions[i]);
    return st;
}

/* ---- installing ---- */

static bool is_all_dead(const struct part *p)
{
    return p->tombs && p->tombs->dead == p->tombs->docs;
}

static void garbage_tombs(struct index *ix, uint32_t number, uint64_t generation)
{
    struct buf path = {0};
    index_file_tombs(&path, ix->dir, number, generation);
    buf_put(&ix->garbage, span_of(path.p, path.n + 1));
    buf_done(&path);
}

static void garbage_segment(struct index *ix, uint32_t number)
{
    struct buf name = {0};
    for (unsigned i = 0; i < SEGMENT_FILES; i++) {
        buf_clear(&name);
        segment_file_name(&name, number, i);
        buf_printf(&ix->garbage, "%s/%.*s", ix->dir, SPAN_ARG(buf_span(&name)));
        buf_putc(&ix->garbage, '\0');
    }
    buf_done(&name);
}

static void remove_garbage(struct index *ix)
{
    for (size_t at = 0; at < ix->garbage.n; at += strlen(ix->garbage.p + at) + 1)
        unlink(ix->garbage.p + at);
    buf_done(&ix->garbage);
}

static const struct part *find_part(const struct parts *ps, const struct shared_segment *s)
{
    for (size_t i = 0; i < ps->n; i++)
        if (ps->p[i].shared == s)
            return &ps->p[i];
    return NULL;
}

/* Files of `old` that `now` does not have. */
static void collect_garbage(struct index *ix, const struct parts *old, const struct parts *now)
{
    for (size_t i = 0; i < old->n; i++) {
        const struct part *p = &old->p[i], *q = find_part(now, p->shared);
        if (!q)
            garbage_segment(ix, segment_number(p->shared->segment));
        if (p->tombs && p->tombs->generation && (!q || q->tombs != p->tombs))
            garbage_tombs(ix, segment_number(p->shared->segment), p->tombs->generation);
    }
}

static status write_tombs(struct change *c, struct index *ix, uint64_t generation)
{
    status st = ST_OK;
    for (size_t i = 0; i < c->parts.n && st == ST_OK; i++) {
        struct part *p = &c->parts.p[i];
        if (p->tombs && !p->tombs->generation)
            st = tombs_write(p->tombs, ix->dir, segment_number(p->shared->segment), generation);
    }
    return st;
}

static void remove_tombs(struct change *c, struct index *ix, uint64_t generation)
{
    struct buf path = {0};
    for (size_t i = 0; i < c->parts.n; i++) {
        struct part *p = &c->parts.p[i];
        if (!p->tombs || p->tombs->generation != generation)
            continue;
        index_file_tombs(&path, ix->dir, segment_number(p->shared->segment), generation);
        unlink(path.p);
        p->tombs->generation = 0;
    }
    buf_done(&path);
}

static void make_manifest(const struct change *c, struct index *ix, struct manifest *m)
{
    *m = (struct manifest){.identity = ix->identity,
                           .generation = ix->generation + 1,
                           .applied = c->applied,
                           .next_segment = atomic_load(&ix->next_segment),
                           .dictionary_bytes = ix->dictionary_bytes,
                           .dictionary_crc = ix->dictionary_crc,
                           .segments = mem_alloc(c->parts.n * sizeof(*m->segments)),
                           .segment_count = c->parts.n};
    for (size_t i = 0; i < c->parts.n; i++) {
        const struct part *p = &c->parts.p[i];
        m->segments[i] = (struct manifest_segment){.number = segment_number(p->shared->segment),
                                                   .docs = segment_docs(p->shared->segment),
                                                   .dead = p->tombs ? p->tombs->dead : 0,
                                                   .tombs = p->tombs ? p->tombs->generation : 0,
                                                   .bytes = segment_bytes(p->shared->segment)};
    }
}

/* After a failure to write: is the new manifest in place all the same? */
static bool is_in_place(const struct index *ix, uint64_t generation)
{
    struct manifest m;
    if (manifest_read(ix->dir, &m, NULL) != ST_OK)
        return false;
    bool is_new = m.identity == ix->identity && m.generation == generation;
    manifest_done(&m);
    return is_new;
}

static void adopt(struct change *c, struct index *ix, bool is_synced)
{
    pthread_mutex_lock(&ix->lock);
    struct parts old = ix->parts;
    ix->parts = c->parts;
    ix->applied = c->applied;
    ix->generation++;
    ix->is_unsynced = !is_synced;
    ix->is_merge_failing = false;
    pthread_cond_broadcast(&ix->merging);
    pthread_mutex_unlock(&ix->lock);
    c->parts = (struct parts){0};
    c->is_adopted = true;
    collect_garbage(ix, &old, &ix->parts);
    if (is_synced)
        remove_garbage(ix);
    part_list_done(&old);
}

status change_install(struct change *c, struct index *ix)
{
    struct manifest m;
    struct parts living = {0}, dead = {0};
    uint64_t generation = ix->generation + 1;
    if (c->parts.n > MANIFEST_SEGMENTS_MAX)
        return ST_LIMIT;
    for (size_t i = 0; i < c->parts.n; i++)
        parts_add(is_all_dead(&c->parts.p[i]) ? &dead : &living, c->parts.p[i]);
    free(c->parts.p);
    c->parts = living;
    status st = write_tombs(c, ix, generation);
    bool is_installed = false;
    if (st == ST_OK) {
        make_manifest(c, ix, &m);
        st = manifest_write(ix->dir, &m);
        is_installed = st == ST_OK || is_in_place(ix, generation);
        manifest_done(&m);
    }
    if (is_installed) {
        /* Those that the index did not have before are nobody's: not in collect_garbage's list. */
        for (size_t i = 0; i < dead.n; i++)
            if (!find_part(&ix->parts, dead.p[i].shared))
                garbage_segment(ix, segment_number(dead.p[i].shared->segment));
        adopt(c, ix, st == ST_OK);
    } else {
        remove_tombs(c, ix, generation);
    }
    part_list_done(&dead);
    return st;
}
