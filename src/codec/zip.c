#include "codec/zip.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <zdict.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/mem.h"

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

/* ---- many small records ---- */

struct zip_dict {
    ZSTD_CDict *c;
    ZSTD_DDict *d;
};

struct zipper {
    ZSTD_CCtx *ctx;
    int level;
};

struct unzipper {
    ZSTD_DCtx *ctx;
};

status zip_dict_train(struct span samples, const size_t *sizes, size_t count, struct buf *out)
{
    if (count > UINT_MAX)
        return ST_INVALID;
    char *to = buf_room(out, ZIP_DICT_BYTES);
    size_t n = ZDICT_trainFromBuffer(to, ZIP_DICT_BYTES, samples.p, sizes, (unsigned)count);
    if (ZDICT_isError(n))
        return ST_INVALID;
    out->n += n;
    return ST_OK;
}

status zip_dict_new(struct span dictionary, int level, struct zip_dict **out)
{
    /* Without an id it is no trained dictionary, and frames could not tell that they need it. */
    if (ZSTD_getDictID_fromDict(dictionary.p, dictionary.n) == 0)
        return ST_CORRUPT;
    struct zip_dict *d = mem_alloc(sizeof(*d));
    d->c = ZSTD_createCDict(dictionary.p, dictionary.n, level);
    d->d = ZSTD_createDDict(dictionary.p, dictionary.n);
    if (!d->c || !d->d) {
        zip_dict_free(d);
        return ST_CORRUPT;
    }
    *out = d;
    return ST_OK;
}

void zip_dict_free(struct zip_dict *d)
{
    if (!d)
        return;
    ZSTD_freeCDict(d->c);
    ZSTD_freeDDict(d->d);
    free(d);
}

struct zipper *zipper_new(int level)
{
    struct zipper *z = mem_alloc(sizeof(*z));
    z->ctx = ZSTD_createCCtx();
    assert(z->ctx);
    z->level = level;
    return z;
}

void zipper_free(struct zipper *z)
{
    if (!z)
        return;
    ZSTD_freeCCtx(z->ctx);
    free(z);
}

void zipper_run(struct zipper *z, const struct zip_dict *d, struct span in, struct buf *out)
{
    size_t bound = ZSTD_compressBound(in.n);
    char *to = buf_room(out, bound);
    size_t n = d ? ZSTD_compress_usingCDict(z->ctx, to, bound, in.p, in.n, d->c)
                 : ZSTD_compressCCtx(z->ctx, to, bound, in.p, in.n, z->level);
    assert(!ZSTD_isError(n));
    out->n += n;
}

struct unzipper *unzipper_new(void)
{
    struct unzipper *u = mem_alloc(sizeof(*u));
    u->ctx = ZSTD_createDCtx();
    assert(u->ctx);
    return u;
}

void unzipper_free(struct unzipper *u)
{
    if (!u)
        return;
    ZSTD_freeDCtx(u->ctx);
    free(u);
}

status unzip_size(struct span in, uint64_t *out)
{
    unsigned long long size = ZSTD_getFrameContentSize(in.p, in.n);
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR)
        return ST_CORRUPT;
    *out = size;
    return ST_OK;
}

status unzipper_run(struct unzipper *u, const struct zip_dict *d, struct span in, size_t max, struct buf *out)
{
    unsigned long long size = ZSTD_getFrameContentSize(in.p, in.n);
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
        return ST_CORRUPT; /* our own frames always say */
    if (size > max)
        return ST_LIMIT;
    bool needs_dict = ZSTD_getDictID_fromFrame(in.p, in.n) != 0;
    if (needs_dict && !d)
        return ST_CORRUPT;
    char *to = buf_room(out, (size_t)size + 1);
    size_t n = needs_dict ? ZSTD_decompress_usingDDict(u->ctx, to, (size_t)size, in.p, in.n, d->d)
                          : ZSTD_decompressDCtx(u->ctx, to, (size_t)size, in.p, in.n);
    if (ZSTD_isError(n) || n != size)
        return ST_CORRUPT;
    out->n += n;
    return ST_OK;
}
