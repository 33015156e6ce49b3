/* fuzz_coding.c - any bytes as a body that is said to be coded (the first byte says how, the second how long pieces
 * are). What comes out stays under its ceiling, and is the same in pieces and at once as long as nothing is wrong. */
#include <assert.h>

#include "codec/coding.h"

#define MAX (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static status run(struct span header, struct span in, size_t piece, struct buf *out)
{
    struct coding *c = NULL;
    status st = coding_new(header, &c);
    if (st == ST_OK && c)
        for (size_t at = 0; st == ST_OK && at < in.n; at += piece)
            st = coding_feed(c, span_cut(in, at, piece), MAX, out);
    coding_free(c);
    assert(out->n <= MAX);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct span headers[] = {SPAN_INIT("gzip"), SPAN_INIT("deflate"),  SPAN_INIT("br"),
                                          SPAN_INIT("zstd"), SPAN_INIT("gzip, br"), SPAN_INIT("zstd, gzip, deflate")};
    struct buf pieces = {0}, whole = {0};
    if (size < 2)
        return 0;
    struct span header = headers[data[0] % (sizeof(headers) / sizeof(*headers))], in = span_of(data + 2, size - 2);
    status a = run(header, in, (size_t)data[1] + 1, &pieces), b = run(header, in, SIZE_MAX / 2, &whole);
    if (a == ST_OK && b == ST_OK)
        assert(span_eq(buf_span(&pieces), buf_span(&whole)));
    buf_done(&pieces);
    buf_done(&whole);
    return 0;
}
