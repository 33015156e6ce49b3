/* fuzz_unzip.c - any bytes as zstd or gzip: files of registries that come piece by piece, packages, records, archives
 * (the first byte says how long pieces are). In pieces and at once the plain bytes are the same, and never more than
 * the ceiling. */
#include <assert.h>
#include <stdint.h>

#include "codec/member.h"
#include "codec/unzip.h"
#include "codec/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PLAIN_MAX (1u << 20)

static void take(void *self, struct span piece)
{
    buf_put(self, piece);
    assert(((struct buf *)self)->n <= PLAIN_MAX);
}

/* The whole of it, fed in pieces of `step` bytes. */
static status feed(struct span in, size_t step, struct buf *out)
{
    struct unzip *u = unzip_new(PLAIN_MAX, take, out);
    status st = ST_OK;
    for (size_t at = 0; st == ST_OK && at < in.n; at += step)
        st = unzip_feed(u, span_cut(in, at, step));
    status end = unzip_end(u);
    if (st == ST_OK)
        st = end;
    else
        assert(end == st);
    unzip_free(u);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole = {0}, pieces = {0}, other = {0};
    if (size == 0)
        return 0;
    struct span in = span_of(data + 1, size - 1);
    status a = feed(in, in.n ? in.n : 1, &whole), b = feed(in, data[0] + 1u, &pieces);
    assert((a == ST_OK) == (b == ST_OK));
    assert(a != ST_OK || span_eq(buf_span(&whole), buf_span(&pieces)));
    if (unzip_zstd(in, PLAIN_MAX, &other) == ST_OK)
        assert(other.n <= PLAIN_MAX);
    buf_clear(&other);
    if (unzip_gzip(in, PLAIN_MAX, &other) == ST_OK)
        assert(other.n <= PLAIN_MAX);
    buf_clear(&other);
    static struct unzipper *u; /* one for all inputs, as its owners have it */
    if (!u)
        u = unzipper_new();
    uint64_t said = 0;
    status known = unzip_size(in, &said);
    if (unzipper_run(u, NULL, in, PLAIN_MAX, &other) == ST_OK)
        assert(known == ST_OK && other.n == said);
    for (member_kind k = MEMBER_GZIP; k <= MEMBER_ZSTD; k++)
        assert(member_whole_bytes(k, in) <= in.n);
    buf_done(&whole);
    buf_done(&pieces);
    buf_done(&other);
    return 0;
}
