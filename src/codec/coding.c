#include "codec/coding.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "codec/zip.h"

#define PIECE (32u << 10)
#define SLACK (64u << 10)

typedef enum layer_kind { LAYER_GZIP, LAYER_DEFLATE, LAYER_BR, LAYER_ZSTD } layer_kind;

struct layer {
    layer_kind kind;
    z_stream z;
    BrotliDecoderState *br;
    ZSTD_DCtx *zstd;
    unsigned char first[2]; /* LAYER_DEFLATE: until two bytes tell which it is */
    unsigned first_count;
    bool is_begun, is_ended;
    bool is_over;  /* LAYER_GZIP: what follows is no member */
    bool is_doubt; /* LAYER_GZIP: this is not the first member, and nothing has come out of it */
};

struct coding {
    struct layer layers[CODING_LAYERS_MAX]; /* outermost first */
    size_t count;
    struct buf between[CODING_LAYERS_MAX]; /* what came out of each but the last, for the next */
};

static bool kind_of(struct span name, layer_kind *out)
{
    static const struct {
        const char *name;
        layer_kind kind;
    } known[] = {{"gzip", LAYER_GZIP},
                 {"x-gzip", LAYER_GZIP},
                 {"deflate", LAYER_DEFLATE},
                 {"br", LAYER_BR},
                 {"zstd", LAYER_ZSTD}};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (span_is_nocase(name, known[i].name)) {
            *out = known[i].kind;
            return true;
        }
    return false;
}

/* Others than ours that there are. Every other word is a server's mistake, as browsers see it: the body is as it is. */
static bool is_foreign(struct span name)
{
    static const char *const others[] = {"compress", "x-compress", "bzip2", "x-bzip2",      "lzma",      "xz",
                                         "sdch",     "dcb",        "dcz",   "pack200-gzip", "aes128gcm", "exi"};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (span_is_nocase(name, others[i]))
            return true;
    return false;
}

static void layer_begin(struct layer *l)
{
    int rc = Z_OK;
    if (l->kind == LAYER_GZIP) {
        rc = inflateInit2(&l->z, 16 + MAX_WBITS);
    } else if (l->kind == LAYER_DEFLATE) {
        /* Meant to have zlib's head (RFC 9110 8.4.1.2); some servers leave it away. */
        bool has_head = (l->first[0] & 0x0f) == 8 && (l->first[0] << 8 | l->first[1]) % 31 == 0;
        rc = inflateInit2(&l->z, has_head ? MAX_WBITS : -MAX_WBITS);
    } else if (l->kind == LAYER_BR) {
        l->br = BrotliDecoderCreateInstance(NULL, NULL, NULL);
        assert(l->br);
    } else {
        l->zstd = ZSTD_createDCtx();
        assert(l->zstd);
        (void)ZSTD_DCtx_setParameter(l->zstd, ZSTD_d_windowLogMax, ZIP_WINDOW_LOG_MAX);
    }
    assert(rc == Z_OK); /* only memory can be short */
    (void)rc;
    l->is_begun = true;
}

static void layer_end(struct layer *l)
{
    if (!l->is_begun)
        return;
    if (l->kind == LAYER_GZIP || l->kind == LAYER_DEFLATE)
        inflateEnd(&l->z);
    else if (l->kind == LAYER_BR)
        BrotliDecoderDestroyInstance(l->br);
    else
        ZSTD_freeDCtx(l->zstd);
}

status coding_new(struct span header, struct coding **out)
{
    layer_kind kinds[CODING_LAYERS_MAX];
    size_t n = 0;
    struct span rest = header, name;
    while (rest.p && span_split(&rest, ',', &name)) {
        layer_kind kind;
        name = span_trim(name);
        if (is_foreign(name))
            return ST_INVALID;
        if (!kind_of(name, &kind))
            continue;
        if (n == CODING_LAYERS_MAX)
            return ST_INVALID;
        kinds[n++] = kind;
    }
    *out = NULL;
    if (!n)
        return ST_OK;
    struct coding *c = mem_alloc(sizeof(*c));
    c->count = n;
    for (size_t i = 0; i < n; i++) /* named in the order they were applied */
        c->layers[i].kind = kinds[n - 1 - i];
    *out = c;
    return ST_OK;
}

void coding_free(struct coding *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->count; i++) {
        layer_end(&c->layers[i]);
        buf_done(&c->between[i]);
    }
    free(c);
}

/* ---- one layer ---- */

/* Some of *in, into `room` bytes at `to`. */
static status inflate_some(struct layer *l, struct span *in, char *to, size_t room, size_t *made)
{
    l->z.next_in = (unsigned char *)(uintptr_t)in->p;
    l->z.avail_in = in->n > INT_MAX ? INT_MAX : (unsigned)in->n;
    unsigned given = l->z.avail_in;
    l->z.next_out = (unsigned char *)to;
    l->z.avail_out = (unsigned)room;
    int rc = inflate(&l->z, Z_SYNC_FLUSH);
    *made = room - l->z.avail_out;
    *in = span_from(*in, given - l->z.avail_in);
    l->is_ended = rc == Z_STREAM_END;
    return rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR ? ST_OK : ST_CORRUPT;
}

static status unbrotli_some(struct layer *l, struct span *in, char *to, size_t room, size_t *made)
{
    size_t left_in = in->n, left_out = room;
    const uint8_t *from = (const uint8_t *)in->p;
    uint8_t *at = (uint8_t *)to;
    BrotliDecoderResult rc = BrotliDecoderDecompressStream(l->br, &left_in, &from, &left_out, &at, NULL);
    *made = room - left_out;
    *in = span_from(*in, in->n - left_in);
    l->is_ended = rc == BROTLI_DECODER_RESULT_SUCCESS;
    return rc == BROTLI_DECODER_RESULT_ERROR ? ST_CORRUPT : ST_OK;
}

static status unzstd_some(struct layer *l, struct span *in, char *to, size_t room, size_t *made)
{
    ZSTD_inBuffer src = {in->p, in->n, 0};
    ZSTD_outBuffer dst = {to, room, 0};
    size_t left = ZSTD_decompressStream(l->zstd, &dst, &src);
    *made = dst.pos;
    *in = span_from(*in, src.pos);
    return ZSTD_isError(left) ? ST_CORRUPT : ST_OK; /* more frames may follow */
}

/* Takes the bytes that tell what kind of deflate it is. False: not there yet. */
static bool layer_ready(struct layer *l, struct span *in)
{
    if (l->is_begun)
        return true;
    while (l->kind == LAYER_DEFLATE && l->first_count < 2 && in->n) {
        l->first[l->first_count++] = (unsigned char)in->p[0];
        *in = span_from(*in, 1);
    }
    if (l->kind == LAYER_DEFLATE && l->first_count < 2)
        return false;
    layer_begin(l);
    return true;
}

/* A gzip file may have several members (RFC 1952 2.2): some servers send one for each part of a page. What does not
 * begin like one is left alone, as in browsers. */
static bool next_member(struct layer *l, struct span in)
{
    if (l->kind != LAYER_GZIP || l->is_over || !in.n)
        return false;
    l->is_over = (unsigned char)in.p[0] != 0x1f || inflateReset(&l->z) != Z_OK;
    l->is_doubt = true;
    l->is_ended = l->is_over;
    return !l->is_over;
}

static status layer_feed(struct layer *l, struct span in, size_t max, struct buf *out)
{
    size_t made = 0, room = 0;
    struct span first = {0};
    bool was_begun = l->is_begun;
    if (!layer_ready(l, &in))
        return ST_OK;
    if (!was_begun && l->kind == LAYER_DEFLATE)
        first = span_of(l->first, 2);
    while ((!l->is_ended || next_member(l, in)) && (first.n || in.n || made == room)) {
        struct span *from = first.n ? &first : &in;
        /* One byte more than may come out, so that passing the ceiling shows. */
        room = max - out->n < PIECE ? max - out->n + 1 : PIECE;
        char *to = buf_room(out, room);
        status st = l->kind == LAYER_BR     ? unbrotli_some(l, from, to, room, &made)
                    : l->kind == LAYER_ZSTD ? unzstd_some(l, from, to, room, &made)
                                            : inflate_some(l, from, to, room, &made);
        out->n += made;
        if (st != ST_OK && l->is_doubt) {
            l->is_ended = l->is_over = true;
            return ST_OK;
        }
        l->is_doubt &= !made;
        if (out->n > max) {
            out->n = max;
            return ST_LIMIT;
        }
        if (st != ST_OK)
            return st;
        if (!made && !first.n && !in.n)
            break;
    }
    return ST_OK;
}

/* ---- all of them ---- */

status coding_feed(struct coding *c, struct span piece, size_t max, struct buf *out)
{
    bool is_cut = false;
    for (size_t i = 0; i < c->count; i++) {
        bool is_last = i + 1 == c->count;
        buf_clear(&c->between[i]);
        /* What is coded may be a little longer than what it becomes. */
        status st = is_last ? layer_feed(&c->layers[i], piece, max, out)
                            : layer_feed(&c->layers[i], piece, max + max / 8 + SLACK, &c->between[i]);
        if (st != ST_OK && st != ST_LIMIT)
            return st;
        is_cut |= st == ST_LIMIT;
        piece = buf_span(&c->between[i]);
    }
    return is_cut ? ST_LIMIT : ST_OK;
}
