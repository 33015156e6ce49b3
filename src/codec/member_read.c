#include "codec/member_read.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "codec/zip.h"

#define ROOM_BYTES (64u << 10)
#define KEPT_BYTES_MAX (256u << 10) /* of a member, to look through again when it turns out to be damaged */
#define AGAIN_BYTES_FREE \
    (1u << 20) /* looked through again, beside what was fed: hostile files shall not take for ever */
#define MAGIC_BYTES 4
#define SKIP_HEAD_BYTES 8
#define DICT_MAGIC 0x5d /* first byte of the frame that holds a dictionary */

typedef enum reader_kind { KIND_UNKNOWN, KIND_PLAIN, KIND_GZIP, KIND_ZSTD } reader_kind;
typedef enum reader_state { STATE_BETWEEN, STATE_INSIDE, STATE_SKIP_HEAD, STATE_SKIP } reader_state;

struct member_reader {
    struct member_events e;
    reader_kind kind;
    reader_state state;
    uint64_t at;        /* of the next byte */
    uint64_t member_at; /* of the member at hand */
    char magic[MAGIC_BYTES];
    size_t magic_n; /* bytes that may be the beginning of a member */
    uint64_t garbage_at, garbage;
    bool is_lost; /* a damaged member was told of: what follows it is no news */
    z_stream gzip;
    bool has_gzip;
    ZSTD_DCtx *zstd;
    char *room;      /* owned, ROOM_BYTES */
    struct buf kept; /* bytes of the member at hand, as long as they are few */
    bool is_kept;
    struct buf backlog, spare; /* bytes to look through again, then the rest of the piece */
    uint64_t fed, again;
    uint64_t skip_left;
    struct buf dict; /* until it is loaded */
    bool is_dict;
    uint64_t lead;
};

struct member_reader *member_reader_new(const struct member_events *e)
{
    struct member_reader *r = mem_alloc(sizeof(*r));
    r->e = *e;
    r->room = mem_alloc(ROOM_BYTES);
    return r;
}

void member_reader_free(struct member_reader *r)
{
    if (!r)
        return;
    if (r->has_gzip)
        inflateEnd(&r->gzip);
    ZSTD_freeDCtx(r->zstd);
    free(r->room);
    buf_done(&r->kept);
    buf_done(&r->backlog);
    buf_done(&r->spare);
    buf_done(&r->dict);
    free(r);
}

uint64_t member_reader_lead(const struct member_reader *r)
{
    return r->lead;
}

bool member_reader_is_plain(const struct member_reader *r)
{
    return r->kind == KIND_PLAIN;
}

/* ---- between members ---- */

typedef enum magic_kind { MAGIC_NO, MAGIC_MAYBE, MAGIC_MEMBER, MAGIC_SKIP } magic_kind;

static magic_kind magic_of(const struct member_reader *r)
{
    static const unsigned char gzip[] = {0x1f, 0x8b, 0x08}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd},
                               skip[] = {0x2a, 0x4d, 0x18};
    const char *m = r->magic;
    size_t n = r->magic_n;
    if (r->kind == KIND_GZIP) {
        size_t most = n < sizeof(gzip) ? n : sizeof(gzip);
        return memcmp(m, gzip, most) != 0 ? MAGIC_NO : n < sizeof(gzip) ? MAGIC_MAYBE : MAGIC_MEMBER;
    }
    if (memcmp(m, zstd, n) == 0)
        return n < MAGIC_BYTES ? MAGIC_MAYBE : MAGIC_MEMBER;
    if (n && ((unsigned char)m[0] & 0xf0) == 0x50 && memcmp(m + 1, skip, n - 1) == 0)
        return n < MAGIC_BYTES ? MAGIC_MAYBE : MAGIC_SKIP;
    return MAGIC_NO;
}

static void tell_garbage(struct member_reader *r)
{
    if (r->garbage && !r->is_lost)
        r->e.garbage(r->e.self, r->garbage_at, r->garbage);
    r->garbage = 0;
}

/* The first of the bytes that were looked at is of no member. */
static void give_up_byte(struct member_reader *r)
{
    if (r->magic[0] != '\0') {
        if (!r->garbage)
            r->garbage_at = r->at - r->magic_n;
        r->garbage++;
    }
    memmove(r->magic, r->magic + 1, --r->magic_n);
}

static void begin_decoder(struct member_reader *r)
{
    if (r->kind == KIND_GZIP) {
        int rc = r->has_gzip ? inflateReset(&r->gzip) : inflateInit2(&r->gzip, 16 + MAX_WBITS);
        assert(rc == Z_OK); /* only memory can be short */
        (void)rc;
        r->has_gzip = true;
        return;
    }
    if (!r->zstd) {
        r->zstd = ZSTD_createDCtx();
        assert(r->zstd);
        (void)ZSTD_DCtx_setParameter(r->zstd, ZSTD_d_windowLogMax, ZIP_WINDOW_LOG_MAX);
    }
    (void)ZSTD_DCtx_reset(r->zstd, ZSTD_reset_session_only);
}

static void member_begin(struct member_reader *r)
{
    tell_garbage(r);
    begin_decoder(r);
    r->member_at = r->at - r->magic_n;
    r->state = STATE_INSIDE;
    r->is_kept = true;
    buf_clear(&r->kept);
    r->e.begin(r->e.self, r->member_at);
}

static void look_on(struct member_reader *r)
{
    while (r->magic_n) {
        magic_kind m = magic_of(r);
        if (m == MAGIC_MAYBE)
            return;
        if (m == MAGIC_MEMBER) {
            member_begin(r);
            return;
        }
        if (m == MAGIC_SKIP) {
            tell_garbage(r);
            r->is_dict = r->at == MAGIC_BYTES && (unsigned char)r->magic[0] == DICT_MAGIC;
            r->state = STATE_SKIP_HEAD;
            r->skip_left = SKIP_HEAD_BYTES - MAGIC_BYTES;
            r->magic_n = 0;
            buf_clear(&r->dict);
            return;
        }
        give_up_byte(r);
    }
}

static void look(struct member_reader *r, char c)
{
    r->magic[r->magic_n++] = c;
    r->at++;
    look_on(r);
}

/* ---- inside ---- */

/* Decodes some of *in. ST_END: the member is over; ST_CORRUPT. */
static status inflate_some(struct member_reader *r, struct span *in)
{
    r->gzip.next_in = (unsigned char *)(uintptr_t)in->p;
    r->gzip.avail_in = in->n > INT_MAX ? INT_MAX : (unsigned)in->n;
    unsigned given = r->gzip.avail_in;
    int rc;
    do {
        r->gzip.next_out = (unsigned char *)r->room;
        r->gzip.avail_out = ROOM_BYTES;
        rc = inflate(&r->gzip, Z_NO_FLUSH);
        struct span made = span_of(r->room, ROOM_BYTES - r->gzip.avail_out);
        if (made.n)
            r->e.bytes(r->e.self, made);
    } while (rc == Z_OK && r->gzip.avail_out == 0);
    *in = span_from(*in, given - r->gzip.avail_in);
    if (rc == Z_STREAM_END)
        return ST_END;
    return rc == Z_OK || rc == Z_BUF_ERROR ? ST_OK : ST_CORRUPT;
}

static status unzstd_some(struct member_reader *r, struct span *in)
{
    ZSTD_inBuffer src = {in->p, in->n, 0};
    size_t left = 1;
    bool is_full = true;
    while (left != 0 && !ZSTD_isError(left) && (src.pos < src.size || is_full)) {
        ZSTD_outBuffer dst = {r->room, ROOM_BYTES, 0};
        left = ZSTD_decompressStream(r->zstd, &dst, &src);
        is_full = dst.pos == dst.size;
        if (dst.pos && !ZSTD_isError(left))
            r->e.bytes(r->e.self, span_of(r->room, dst.pos));
    }
    *in = span_from(*in, src.pos);
    if (ZSTD_isError(left))
        return ST_CORRUPT;
    return left == 0 ? ST_END : ST_OK;
}

static void keep(struct member_reader *r, struct span used)
{
    r->is_kept = r->is_kept && r->kept.n + used.n <= KEPT_BYTES_MAX;
    if (r->is_kept)
        buf_put(&r->kept, used);
}

/* The member was damaged: goes back behind its first byte, where its bytes are still there. */
static void go_back(struct member_reader *r, struct span *in)
{
    r->is_lost = true;
    r->state = STATE_BETWEEN;
    r->magic_n = 0;
    if (!r->is_kept || r->again > r->fed + AGAIN_BYTES_FREE)
        return;
    r->again += r->kept.n + in->n;
    buf_clear(&r->spare);
    buf_put(&r->spare, span_from(buf_span(&r->kept), 1));
    buf_put(&r->spare, *in);
    struct buf swap = r->backlog;
    r->backlog = r->spare;
    r->spare = swap;
    *in = buf_span(&r->backlog);
    r->at = r->member_at + 1;
}

static void decode(struct member_reader *r, struct span *in)
{
    struct span before = *in;
    status st = r->kind == KIND_GZIP ? inflate_some(r, in) : unzstd_some(r, in);
    struct span used = span_of(before.p, before.n - in->n);
    r->at += used.n;
    keep(r, used);
    if (st == ST_OK)
        return;
    r->e.end(r->e.self, st == ST_END);
    if (st == ST_END) {
        r->state = STATE_BETWEEN;
        r->is_lost = false;
    } else {
        go_back(r, in);
    }
}

/* The bytes that were taken for a beginning are part of it. */
static void decode_magic(struct member_reader *r)
{
    char copy[MAGIC_BYTES];
    struct span in = span_of(copy, r->magic_n);
    memcpy(copy, r->magic, r->magic_n);
    r->at -= r->magic_n;
    r->magic_n = 0;
    decode(r, &in); /* too short to be wrong */
}

/* ---- frames that hold something else ---- */

static void load_dict(struct member_reader *r)
{
    struct buf plain = {0};
    struct span d = buf_span(&r->dict);
    begin_decoder(r);
    /* The dictionary may be compressed itself. One that cannot be used shows in the first member. */
    if (unzip_zstd(d, MEMBER_DICT_MAX, &plain) == ST_OK)
        d = buf_span(&plain);
    (void)ZSTD_DCtx_loadDictionary(r->zstd, d.p, d.n);
    r->lead = r->at;
    buf_done(&plain);
    buf_done(&r->dict);
}

static void skip(struct member_reader *r, struct span *in)
{
    struct span part = span_cut(*in, 0, r->skip_left < SIZE_MAX ? (size_t)r->skip_left : SIZE_MAX);
    *in = span_from(*in, part.n);
    r->at += part.n;
    r->skip_left -= part.n;
    if (r->state == STATE_SKIP_HEAD || r->is_dict)
        buf_put(&r->dict, part);
    if (r->skip_left)
        return;
    if (r->state == STATE_SKIP) {
        r->state = STATE_BETWEEN;
        if (r->is_dict)
            load_dict(r);
        return;
    }
    const unsigned char *b = (const unsigned char *)r->dict.p;
    r->skip_left = b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24;
    r->is_dict = r->is_dict && r->skip_left <= MEMBER_DICT_MAX;
    buf_clear(&r->dict);
    r->state = r->skip_left ? STATE_SKIP : STATE_BETWEEN;
}

/* ---- the file ---- */

static void run(struct member_reader *r, struct span in)
{
    while (in.n) {
        if (r->state == STATE_BETWEEN) {
            look(r, in.p[0]);
            in = span_from(in, 1);
            if (r->state == STATE_INSIDE)
                decode_magic(r);
        } else if (r->state == STATE_INSIDE) {
            decode(r, &in);
        } else {
            skip(r, &in);
        }
    }
}

static void decide(struct member_reader *r)
{
    r->kind = KIND_GZIP;
    if (r->magic_n >= 2 && magic_of(r) != MAGIC_NO)
        return;
    r->kind = KIND_ZSTD;
    if (r->magic_n == MAGIC_BYTES && magic_of(r) != MAGIC_NO)
        return;
    r->kind = KIND_PLAIN;
    r->e.begin(r->e.self, 0);
}

/* The first bytes have told what it is, or there are no more. */
static void start(struct member_reader *r)
{
    char copy[MAGIC_BYTES];
    size_t n = r->magic_n;
    memcpy(copy, r->magic, n);
    decide(r);
    r->magic_n = 0;
    if (r->kind == KIND_PLAIN)
        r->e.bytes(r->e.self, span_of(copy, n));
    else
        run(r, span_of(copy, n));
}

void member_reader_feed(struct member_reader *r, struct span piece)
{
    r->fed += piece.n;
    while (r->kind == KIND_UNKNOWN && piece.n) {
        r->magic[r->magic_n++] = piece.p[0];
        piece = span_from(piece, 1);
        if (r->magic_n == MAGIC_BYTES)
            start(r);
    }
    if (r->kind == KIND_PLAIN && piece.n)
        r->e.bytes(r->e.self, piece);
    else
        run(r, piece);
}

void member_reader_end(struct member_reader *r)
{
    if (r->kind == KIND_UNKNOWN && r->magic_n)
        start(r);
    /* A member that is cut short may only look so: the damage may be in its length. */
    while (r->state == STATE_INSIDE && r->kind != KIND_PLAIN) {
        struct span rest = {0};
        r->e.end(r->e.self, false);
        go_back(r, &rest);
        run(r, rest);
    }
    if (r->kind == KIND_PLAIN)
        r->e.end(r->e.self, true);
    while (r->magic_n)
        give_up_byte(r);
    if (r->state == STATE_SKIP_HEAD || r->state == STATE_SKIP)
        r->e.end(r->e.self, false);
    tell_garbage(r);
}
