#include "codec/zip_stream.h"

#include <assert.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/mem.h"

#define PIECE (64u << 10)

struct zip_stream {
    ZSTD_CCtx *ctx; /* owned */
};

struct zip_stream *zip_stream_new(int level)
{
    struct zip_stream *z = mem_alloc(sizeof(*z));
    z->ctx = ZSTD_createCCtx();
    assert(z->ctx);
    (void)ZSTD_CCtx_setParameter(z->ctx, ZSTD_c_compressionLevel, level);
    (void)ZSTD_CCtx_setParameter(z->ctx, ZSTD_c_checksumFlag, 1);
    return z;
}

void zip_stream_free(struct zip_stream *z)
{
    if (!z)
        return;
    ZSTD_freeCCtx(z->ctx);
    free(z);
}

static void run(struct zip_stream *z, struct span piece, ZSTD_EndDirective end, struct buf *out)
{
    ZSTD_inBuffer in = {piece.p, piece.n, 0};
    size_t left;
    do {
        ZSTD_outBuffer to = {buf_room(out, PIECE), PIECE, 0};
        left = ZSTD_compressStream2(z->ctx, &to, &in, end);
        assert(!ZSTD_isError(left));
        out->n += to.pos;
    } while (in.pos < in.size || (end == ZSTD_e_end && left));
}

void zip_stream_put(struct zip_stream *z, struct span piece, struct buf *out)
{
    run(z, piece, ZSTD_e_continue, out);
}

void zip_stream_end(struct zip_stream *z, struct buf *out)
{
    run(z, (struct span){0}, ZSTD_e_end, out);
}
