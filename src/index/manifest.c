#include "index/manifest.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/pack.h"
#include "codec/digest.h"
#include "index/text/analyze.h"
#include "index/index_files.h"
#include "index/segment/rank.h"
#include "index/segment/segment.h"
#include "store/file.h"

static const struct span magic = SPAN_INIT("orbman1\n"); /* the digit: layout of the first 24 bytes */

void manifest_done(struct manifest *m)
{
    free(m->segments);
    *m = (struct manifest){0};
}

void manifest_pack(const struct manifest *m, struct buf *out)
{
    size_t start = out->n;
    buf_put(out, magic);
    pack_u32(out, MANIFEST_VERSION);
    pack_u32(out, SEGMENT_VERSION);
    pack_u32(out, ANALYZE_VERSION);
    pack_u32(out, RANK_VERSION);
    pack_u64(out, m->identity);
    pack_u64(out, m->generation);
    pack_u64(out, m->applied);
    pack_u32(out, m->next_segment);
    pack_u32(out, m->dictionary_bytes);
    pack_u32(out, m->dictionary_crc);
    pack_u32(out, (uint32_t)m->segment_count);
    for (size_t i = 0; i < m->segment_count; i++) {
        const struct manifest_segment *s = &m->segments[i];
        pack_u32(out, s->number);
        pack_u32(out, s->docs);
        pack_u32(out, s->dead);
        pack_u64(out, s->tombs);
        pack_u64(out, s->bytes);
    }
    pack_u32(out, digest_crc32c(span_from(buf_span(out), start)));
}

static status say(struct buf *why, status st, const char *what)
{
    if (why)
        buf_puts(why, what);
    return st;
}

static status check_versions(struct unpack *u, struct buf *why)
{
    uint32_t format = unpack_u32(u), segments = unpack_u32(u), analysis = unpack_u32(u), ranking = unpack_u32(u);
    if (u->bad)
        return say(why, ST_CORRUPT, "the manifest of the index is cut short");
    if (format > MANIFEST_VERSION || segments > SEGMENT_VERSION)
        return say(why, ST_NEWER, "the index was written by a newer version");
    if (format != MANIFEST_VERSION || segments != SEGMENT_VERSION || analysis != ANALYZE_VERSION ||
        ranking != RANK_VERSION)
        return say(why, ST_CORRUPT, "the index was made by the rules of another version");
    return ST_OK;
}

static bool segment_is_sound(const struct manifest *m, size_t i)
{
    const struct manifest_segment *s = &m->segments[i];
    for (size_t k = 0; k < i; k++)
        if (m->segments[k].number == s->number)
            return false;
    return s->number < m->next_segment && s->docs && s->docs <= SEGMENT_DOCS_MAX && s->dead < s->docs &&
           (s->tombs != 0) == (s->dead != 0) && s->tombs <= m->generation;
}

static bool unpack_segments(struct unpack *u, struct manifest *m)
{
    uint32_t n = unpack_u32(u);
    if (u->bad || n > MANIFEST_SEGMENTS_MAX)
        return false;
    m->segments = mem_alloc(n * sizeof(*m->segments));
    m->segment_count = n;
    for (uint32_t i = 0; i < n && !u->bad; i++) {
        struct manifest_segment *s = &m->segments[i];
        s->number = unpack_u32(u);
        s->docs = unpack_u32(u);
        s->dead = unpack_u32(u);
        s->tombs = unpack_u64(u);
        s->bytes = unpack_u64(u);
        if (!segment_is_sound(m, i))
            return false;
    }
    return !u->bad;
}

status manifest_unpack(struct span packed, struct manifest *out, struct buf *why)
{
    struct unpack u = unpack_of(packed);
    struct manifest m = {0};
    if (!span_eq(unpack_bytes(&u, magic.n), magic))
        return say(why, ST_CORRUPT, "the manifest of the index is none");
    status st = check_versions(&u, why);
    if (st == ST_NEWER)
        return st;
    /* A wrong version in a damaged file is damage. */
    if (packed.n < 4 || packed.n > MANIFEST_BYTES_MAX)
        return say(why, ST_CORRUPT, "the manifest of the index has a size that none has");
    struct unpack tail = unpack_of(span_from(packed, packed.n - 4));
    if (unpack_u32(&tail) != digest_crc32c(span_cut(packed, 0, packed.n - 4))) {
        if (why)
            buf_clear(why);
        return say(why, ST_CORRUPT, "the manifest of the index is damaged");
    }
    if (st != ST_OK)
        return st;
    u.end -= 4;
    m.identity = unpack_u64(&u);
    m.generation = unpack_u64(&u);
    m.applied = unpack_u64(&u);
    m.next_segment = unpack_u32(&u);
    m.dictionary_bytes = unpack_u32(&u);
    m.dictionary_crc = unpack_u32(&u);
    if (!unpack_segments(&u, &m) || !unpack_at_end(&u)) {
        manifest_done(&m);
        return say(why, ST_CORRUPT, "the manifest of the index makes no sense");
    }
    *out = m;
    return ST_OK;
}

status manifest_read(const char *dir, struct manifest *out, struct buf *why)
{
    struct buf path = {0}, packed = {0};
    index_file_manifest(&path, dir);
    status st = file_read(path.p, MANIFEST_BYTES_MAX, &packed);
    if (st == ST_OK)
        st = manifest_unpack(buf_span(&packed), out, why);
    else if (st == ST_LIMIT)
        st = say(why, ST_CORRUPT, "the manifest of the index is too long");
    else
        (void)say(why, st, st == ST_NOT_FOUND ? "there is no index" : "the manifest of the index cannot be read");
    buf_done(&packed);
    buf_done(&path);
    return st;
}

status manifest_write(const char *dir, const struct manifest *m)
{
    struct buf path = {0}, packed = {0};
    index_file_manifest(&path, dir);
    manifest_pack(m, &packed);
    status st = file_replace(path.p, buf_span(&packed));
    buf_done(&packed);
    buf_done(&path);
    return st;
}
