#include "codec/zip.h"

#include <assert.h>
#include <limits.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define CHUNK (64 * 1024)

void zip_zstd(struct span in, int level, struct buf *out)
{
    size_t bound = ZSTD_compressBound(in.n);
    char *to = buf_room(out, bound);
    size_t n = ZSTD_compress(to, bound, in.p, in.n, level);
    assert(!ZSTD_isError(n)); /* the room is enough and levels are clamped: only memory can be short */
    out->n += n;
}

/* Room for the next piece: one byte more than may come out, so that passing the ceiling shows. */
static char *piece_room(struct buf *out, size_t start, size_t max, size_t *n)
{
    size_t left = max - (out->n - start);
    *n = left < CHUNK ? left + 1 : CHUNK;
    return buf_room(out, *n);
}

static status zstd_frames(ZSTD_DCtx *ctx, struct span in, size_t max, struct buf *out)
{
    size_t start = out->n;
    ZSTD_inBuffer src = {in.p, in.n, 0};
    size_t left_in_frame = 1;
    bool is_flushed = true;
    while (src.pos < src.size || !is_flushed) {
        size_t n;
        char *to = piece_room(out, start, max, &n);
        ZSTD_outBuffer dst = {to, n, 0};
        left_in_frame = ZSTD_decompressStream(ctx, &dst, &src);
        if (ZSTD_isError(left_in_frame)) {
            ZSTD_ErrorCode code = ZSTD_getErrorCode(left_in_frame);
            return code == ZSTD_error_frameParameter_windowTooLarge ? ST_LIMIT : ST_CORRUPT;
        }
        out->n += dst.pos;
        if (out->n - start > max)
            return ST_LIMIT;
        is_flushed = left_in_frame == 0 || dst.pos < dst.size;
    }
    return left_in_frame == 0 ? ST_OK : ST_CORRUPT;
}

status unzip_zstd(struct span in, size_t max, struct buf *out)
{
    ZSTD_DCtx *ctx = ZSTD_createDCtx();
    assert(ctx);
    (void)ZSTD_DCtx_setParameter(ctx, ZSTD_d_windowLogMax, ZIP_WINDOW_LOG_MAX);
    size_t start = out->n;
    status st = zstd_frames(ctx, in, max, out);
    if (st != ST_OK)
        out->n = start;
    ZSTD_freeDCtx(ctx);
    return st;
}

static bool all_zero(const unsigned char *p, size_t n)
{
    while (n > 0 && p[n - 1] == 0)
        n--;
    return n == 0;
}

static status gzip_members(z_stream *z, struct span in, size_t max, struct buf *out)
{
    size_t start = out->n, fed = 0;
    z->next_in = (unsigned char *)(uintptr_t)in.p;
    for (;;) {
        if (z->avail_in == 0) {
            size_t left = in.n - fed;
            z->avail_in = left > INT_MAX ? INT_MAX : (unsigned)left;
            fed += z->avail_in;
        }
        size_t n;
        z->next_out = (unsigned char *)piece_room(out, start, max, &n);
        z->avail_out = (unsigned)n;
        int rc = inflate(z, Z_NO_FLUSH);
        out->n += n - z->avail_out;
        if (rc != Z_OK && rc != Z_STREAM_END)
            return ST_CORRUPT; /* Z_BUF_ERROR among them: the input ended too early */
        if (out->n - start > max)
            return ST_LIMIT;
        if (rc == Z_STREAM_END) {
            size_t left = in.n - fed + z->avail_in;
            if (all_zero(z->next_in, left))
                return ST_OK;
            if (inflateReset(z) != Z_OK)
                return ST_CORRUPT;
        }
    }
}

status unzip_gzip(struct span in, size_t max, struct buf *out)
{
    z_stream z = {0};
    int rc = inflateInit2(&z, 16 + MAX_WBITS); /* 16: gzip only */
    assert(rc == Z_OK);
    (void)rc;
    size_t start = out->n;
    status st = gzip_members(&z, in, max, out);
    if (st != ST_OK)
        out->n = start;
    inflateEnd(&z);
    return st;
}
