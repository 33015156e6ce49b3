#include "codec/unzip.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/mem.h"
#include "codec/zip.h"

#define CHUNK (64u << 10)
#define MAGIC_BYTES 4
#define HEAD_BYTES 18 /* ZSTD_FRAMEHEADERSIZE_MAX, which only a static library has */

typedef enum unzip_kind { KIND_UNKNOWN, KIND_PLAIN, KIND_GZIP, KIND_ZSTD } unzip_kind;

struct unzip {
    unzip_kind kind;
    uint64_t left; /* bytes that may still come out */
    void (*take)(void *self, struct span piece);
    void *self; /* borrowed */
    status failed;
    char head[HEAD_BYTES]; /* the first bytes of all, and of each zstd frame */
    size_t head_n;
    char *room; /* owned, CHUNK bytes */
    ZSTD_DCtx *zstd;
    bool is_inside; /* of a frame or member: more must come */
    z_stream gzip;
    bool has_gzip;
};

struct unzip *unzip_new(uint64_t max, void (*take)(void *self, struct span piece), void *self)
{
    struct unzip *u = mem_alloc(sizeof(*u));
    u->left = max;
    u->take = take;
    u->self = self;
    return u;
}

void unzip_free(struct unzip *u)
{
    if (!u)
        return;
    if (u->has_gzip)
        inflateEnd(&u->gzip);
    ZSTD_freeDCtx(u->zstd);
    free(u->room);
    free(u);
}

static status give(struct unzip *u, struct span piece)
{
    if (piece.n > u->left)
        return ST_LIMIT;
    u->left -= piece.n;
    if (piece.n)
        u->take(u->self, piece);
    return ST_OK;
}

/* Until the frame ends, or `in`, which has what is left then. */
static status run_frame(struct unzip *u, struct span *in)
{
    ZSTD_inBuffer src = {in->p, in->n, 0};
    bool has_more = false; /* the last piece filled the room: the decoder may hold some back */
    u->is_inside = true;
    while (u->is_inside && (src.pos < src.size || has_more)) {
        ZSTD_outBuffer dst = {u->room, CHUNK, 0};
        size_t left_in_frame = ZSTD_decompressStream(u->zstd, &dst, &src);
        if (ZSTD_isError(left_in_frame))
            return ZSTD_getErrorCode(left_in_frame) == ZSTD_error_frameParameter_windowTooLarge ? ST_LIMIT : ST_CORRUPT;
        u->is_inside = left_in_frame != 0;
        has_more = u->is_inside && dst.pos == dst.size;
        status st = give(u, span_of(u->room, dst.pos));
        if (st != ST_OK)
            return st;
    }
    *in = span_from(*in, src.pos);
    return ST_OK;
}

static status run_head(struct unzip *u)
{
    struct span in = span_of(u->head, u->head_n);
    status st = run_frame(u, &in);
    memmove(u->head, in.p, in.n); /* of a short frame: the next one's beginning */
    u->head_n = in.n;
    return st;
}

/* The decoder gets the header of a frame in one call. When it comes in two, and the frame tells a size that fits, it
 * takes the second piece for a whole frame if it looks like one (libzstd 1.5.4, its single-pass shortcut). */
static status feed_zstd(struct unzip *u, struct span in)
{
    status st = ST_OK;
    while (st == ST_OK && in.n) {
        if (u->is_inside) {
            st = run_frame(u, &in);
            continue;
        }
        struct span more = span_cut(in, 0, HEAD_BYTES - u->head_n);
        memcpy(u->head + u->head_n, more.p, more.n);
        u->head_n += more.n;
        in = span_from(in, more.n);
        if (u->head_n == HEAD_BYTES)
            st = run_head(u);
    }
    return st;
}

/* Members follow each other; zero bytes after one are padding. */
static status feed_gzip(struct unzip *u, struct span in)
{
    z_stream *z = &u->gzip;
    z->next_in = (unsigned char *)(uintptr_t)in.p;
    z->avail_in = (unsigned)in.n;
    while (z->avail_in > 0 || u->is_inside) {
        if (!u->is_inside) {
            if (*z->next_in == 0) {
                z->next_in++;
                z->avail_in--;
                continue;
            }
            if (inflateReset(z) != Z_OK)
                return ST_CORRUPT;
            u->is_inside = true;
        }
        z->next_out = (unsigned char *)u->room;
        z->avail_out = CHUNK;
        int rc = inflate(z, Z_NO_FLUSH);
        if (rc == Z_BUF_ERROR)
            return ST_OK; /* wants the next piece */
        if (rc != Z_OK && rc != Z_STREAM_END)
            return ST_CORRUPT;
        u->is_inside = rc != Z_STREAM_END;
        status st = give(u, span_of(u->room, CHUNK - z->avail_out));
        if (st != ST_OK)
            return st;
        if (u->is_inside && z->avail_in == 0 && z->avail_out > 0)
            return ST_OK;
    }
    return ST_OK;
}

static status feed_known(struct unzip *u, struct span piece)
{
    status st = ST_OK;
    if (u->kind == KIND_PLAIN)
        return give(u, piece);
    if (u->kind == KIND_ZSTD)
        return feed_zstd(u, piece);
    while (st == ST_OK && piece.n) { /* zlib counts in int */
        st = feed_gzip(u, span_cut(piece, 0, INT_MAX));
        piece = span_from(piece, INT_MAX);
    }
    return st;
}

static void decide(struct unzip *u)
{
    const unsigned char *m = (const unsigned char *)u->head;
    if (u->head_n >= 2 && m[0] == 0x1F && m[1] == 0x8B) {
        u->kind = KIND_GZIP;
        u->has_gzip = inflateInit2(&u->gzip, 16 + MAX_WBITS) == Z_OK; /* 16: gzip only */
        assert(u->has_gzip);
        u->is_inside = true;
    } else if (u->head_n == MAGIC_BYTES && m[0] == 0x28 && m[1] == 0xB5 && m[2] == 0x2F && m[3] == 0xFD) {
        u->kind = KIND_ZSTD;
        u->zstd = ZSTD_createDCtx();
        assert(u->zstd);
        (void)ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, ZIP_WINDOW_LOG_MAX);
    } else {
        u->kind = KIND_PLAIN;
        return;
    }
    u->room = mem_alloc(CHUNK);
}

/* What it is, is known from here on. */
static status begin(struct unzip *u)
{
    decide(u);
    if (u->kind == KIND_ZSTD)
        return ST_OK; /* they stay: more of the header comes */
    struct span first = span_of(u->head, u->head_n);
    u->head_n = 0;
    return feed_known(u, first);
}

status unzip_feed(struct unzip *u, struct span piece)
{
    if (u->failed != ST_OK)
        return u->failed;
    while (u->kind == KIND_UNKNOWN && piece.n && u->head_n < MAGIC_BYTES) {
        u->head[u->head_n++] = piece.p[0];
        piece = span_from(piece, 1);
    }
    if (u->kind == KIND_UNKNOWN && u->head_n == MAGIC_BYTES)
        u->failed = begin(u);
    if (u->kind != KIND_UNKNOWN && u->failed == ST_OK && piece.n)
        u->failed = feed_known(u, piece);
    return u->failed;
}

status unzip_end(struct unzip *u)
{
    if (u->failed == ST_OK && u->kind == KIND_UNKNOWN && u->head_n)
        u->failed = begin(u);
    while (u->failed == ST_OK && u->kind == KIND_ZSTD && u->head_n)
        u->failed = run_head(u);
    if (u->failed == ST_OK && u->is_inside)
        u->failed = ST_CORRUPT;
    return u->failed;
}
