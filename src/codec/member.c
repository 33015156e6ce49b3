#include "codec/member.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "codec/zip.h"

#define PIECE (64u << 10)
/* Over the 9,115 pages of a documentation site: with 6 the files are a twentieth smaller (27.5 MB for 28.9 MB), and a
 * page's records take about twice the time. */
#define GZIP_LEVEL 3
#define ZSTD_LEVEL 3
#define GZIP_BITS (16 + MAX_WBITS) /* 16: gzip's head and end */

struct member_maker {
    member_kind kind;
    z_stream z;     /* MEMBER_GZIP */
    ZSTD_CCtx *ctx; /* MEMBER_ZSTD, owned */
};

struct member_maker *member_maker_new(member_kind kind)
{
    struct member_maker *m = mem_alloc(sizeof(*m));
    m->kind = kind;
    if (kind == MEMBER_GZIP) {
        int rc = deflateInit2(&m->z, GZIP_LEVEL, Z_DEFLATED, GZIP_BITS, 8, Z_DEFAULT_STRATEGY);
        assert(rc == Z_OK);
        (void)rc;
    } else {
        m->ctx = ZSTD_createCCtx();
        assert(m->ctx);
        (void)ZSTD_CCtx_setParameter(m->ctx, ZSTD_c_compressionLevel, ZSTD_LEVEL);
        (void)ZSTD_CCtx_setParameter(m->ctx, ZSTD_c_checksumFlag, 1);
    }
    return m;
}

void member_maker_free(struct member_maker *m)
{
    if (!m)
        return;
    if (m->kind == MEMBER_GZIP)
        deflateEnd(&m->z);
    else
        ZSTD_freeCCtx(m->ctx);
    free(m);
}

static void deflate_part(z_stream *z, struct span part, int flush, struct buf *out)
{
    int rc;
    assert(part.n <= UINT_MAX);
    z->next_in = (unsigned char *)(uintptr_t)part.p;
    z->avail_in = (unsigned)part.n;
    do {
        z->next_out = (unsigned char *)buf_room(out, PIECE);
        z->avail_out = PIECE;
        rc = deflate(z, flush);
        assert(rc != Z_STREAM_ERROR);
        out->n += PIECE - z->avail_out;
    } while (flush == Z_FINISH ? rc != Z_STREAM_END : z->avail_in > 0);
}

static void make_gzip(struct member_maker *m, const struct span *parts, size_t count, struct buf *out)
{
    for (size_t i = 0; i < count; i++)
        if (parts[i].n)
            deflate_part(&m->z, parts[i], Z_NO_FLUSH, out);
    deflate_part(&m->z, (struct span){0}, Z_FINISH, out);
    deflateReset(&m->z);
}

static void make_zstd(struct member_maker *m, const struct span *parts, size_t count, struct buf *out)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += parts[i].n;
    ZSTD_CCtx_reset(m->ctx, ZSTD_reset_session_only);
    (void)ZSTD_CCtx_setPledgedSrcSize(m->ctx, bytes); /* so the frame says what it becomes */
    size_t left = 1;
    for (size_t i = 0; i <= count; i++) {
        ZSTD_inBuffer in = {i < count ? parts[i].p : NULL, i < count ? parts[i].n : 0, 0};
        ZSTD_EndDirective end = i < count ? ZSTD_e_continue : ZSTD_e_end;
        do {
            ZSTD_outBuffer to = {buf_room(out, PIECE), PIECE, 0};
            left = ZSTD_compressStream2(m->ctx, &to, &in, end);
            assert(!ZSTD_isError(left));
            out->n += to.pos;
        } while (in.pos < in.size || (end == ZSTD_e_end && left));
    }
}

void member_make(struct member_maker *m, const struct span *parts, size_t count, struct buf *out)
{
    if (m->kind == MEMBER_GZIP)
        make_gzip(m, parts, count, out);
    else
        make_zstd(m, parts, count, out);
}

/* ---- where whole ones end ---- */

static size_t gzip_whole_bytes(struct span in)
{
    unsigned char sink[PIECE];
    z_stream z = {0};
    size_t whole = 0, fed = 0;
    int rc = inflateInit2(&z, GZIP_BITS);
    assert(rc == Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)in.p;
    while (rc == Z_OK) {
        if (z.avail_in == 0) {
            size_t left = in.n - fed;
            z.avail_in = left > INT_MAX ? INT_MAX : (unsigned)left;
            fed += z.avail_in;
        }
        z.next_out = sink;
        z.avail_out = sizeof(sink);
        rc = inflate(&z, Z_NO_FLUSH); /* Z_BUF_ERROR at the end of the input */
        if (rc == Z_STREAM_END) {
            whole = fed - z.avail_in;
            rc = inflateReset(&z);
        }
    }
    inflateEnd(&z);
    return whole;
}

static size_t zstd_whole_bytes(struct span in)
{
    char sink[PIECE];
    ZSTD_DCtx *ctx = ZSTD_createDCtx();
    assert(ctx);
    (void)ZSTD_DCtx_setParameter(ctx, ZSTD_d_windowLogMax, ZIP_WINDOW_LOG_MAX);
    ZSTD_inBuffer src = {in.p, in.n, 0};
    size_t whole = 0;
    for (;;) {
        ZSTD_outBuffer dst = {sink, sizeof(sink), 0};
        size_t before = src.pos, left = ZSTD_decompressStream(ctx, &dst, &src);
        if (ZSTD_isError(left))
            break;
        if (left == 0)
            whole = src.pos;
        if (src.pos == src.size && (left == 0 || (dst.pos == 0 && src.pos == before)))
            break;
    }
    ZSTD_freeDCtx(ctx);
    return whole;
}

size_t member_whole_bytes(member_kind kind, struct span in)
{
    if (!in.n)
        return 0;
    return kind == MEMBER_GZIP ? gzip_whole_bytes(in) : zstd_whole_bytes(in);
}

/* ---- looking into one ---- */

static void keep(struct buf *out, const void *piece, size_t n, size_t *left)
{
    size_t taken = n < *left ? n : *left;
    buf_put(out, span_of(piece, taken));
    *left -= taken;
}

static status look_gzip(struct span in, size_t max, struct buf *out, size_t *bytes)
{
    unsigned char piece[PIECE];
    z_stream z = {0};
    size_t fed = 0, left = max;
    int rc = inflateInit2(&z, GZIP_BITS);
    assert(rc == Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)in.p;
    while (rc == Z_OK) {
        if (z.avail_in == 0) {
            size_t rest = in.n - fed;
            z.avail_in = rest > INT_MAX ? INT_MAX : (unsigned)rest;
            fed += z.avail_in;
        }
        z.next_out = piece;
        z.avail_out = sizeof(piece);
        rc = inflate(&z, Z_NO_FLUSH);
        if (rc == Z_OK || rc == Z_STREAM_END)
            keep(out, piece, sizeof(piece) - z.avail_out, &left);
    }
    *bytes = fed - z.avail_in;
    inflateEnd(&z);
    return rc == Z_STREAM_END ? ST_OK : ST_CORRUPT;
}

static status look_zstd(struct span in, size_t max, struct buf *out, size_t *bytes)
{
    char piece[PIECE];
    ZSTD_DCtx *ctx = ZSTD_createDCtx();
    assert(ctx);
    (void)ZSTD_DCtx_setParameter(ctx, ZSTD_d_windowLogMax, ZIP_WINDOW_LOG_MAX);
    ZSTD_inBuffer src = {in.p, in.n, 0};
    size_t left = max;
    status st = ST_AGAIN;
    while (st == ST_AGAIN) {
        ZSTD_outBuffer dst = {piece, sizeof(piece), 0};
        size_t rest = ZSTD_decompressStream(ctx, &dst, &src);
        if (ZSTD_isError(rest))
            st = ST_CORRUPT;
        else if (rest == 0)
            st = ST_OK;
        else if (src.pos == src.size && dst.pos < dst.size)
            st = ST_CORRUPT;
        if (st != ST_CORRUPT)
            keep(out, piece, dst.pos, &left);
    }
    *bytes = src.pos;
    ZSTD_freeDCtx(ctx);
    return st;
}

status member_look(member_kind kind, struct span in, size_t max, struct buf *out, size_t *bytes)
{
    if (!in.n)
        return ST_CORRUPT;
    return kind == MEMBER_GZIP ? look_gzip(in, max, out, bytes) : look_zstd(in, max, out, bytes);
}
