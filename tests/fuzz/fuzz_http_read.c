/* fuzz_http_read.c - any bytes as an answer from a connection (the first byte says how long pieces are, its lowest bit
 * whether HEAD was asked). Pieces and the whole give the same, and no line passes its ceiling. */
#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "codec/http_read.h"

#define LINES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct got {
    struct buf lines, body;
};

static bool take_line(void *arg, struct span line)
{
    struct got *g = arg;
    assert(line.n && line.n <= LINES && line.p[line.n - 1] == '\n');
    buf_put(&g->lines, line);
    return true;
}

static bool take_body(void *arg, struct span piece)
{
    struct got *g = arg;
    buf_put(&g->body, piece);
    return true;
}

static status run(struct span in, bool is_head, size_t piece, struct got *g, size_t *used, bool *keeps)
{
    static const struct http_take take = {take_line, take_body};
    struct http_read r = {0};
    status st = ST_AGAIN;
    *used = 0;
    http_read_begin(&r, is_head, LINES);
    while (st == ST_AGAIN && *used < in.n) {
        size_t n;
        st = http_read_feed(&r, span_cut(in, *used, piece), &take, g, &n);
        *used += n;
    }
    if (st == ST_AGAIN)
        st = http_read_end(&r);
    *keeps = st == ST_OK && http_read_keeps(&r);
    http_read_done(&r);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct got pieces = {0}, whole = {0};
    size_t used, used_whole;
    bool keeps, keeps_whole;
    if (size < 1)
        return 0;
    struct span in = span_of(data + 1, size - 1);
    status a = run(in, data[0] & 1, (data[0] >> 1) + 1u, &pieces, &used, &keeps);
    status b = run(in, data[0] & 1, SIZE_MAX / 2, &whole, &used_whole, &keeps_whole);
    assert(a == b && keeps == keeps_whole);
    assert(a != ST_OK || used == used_whole);
    assert(span_eq(buf_span(&pieces.lines), buf_span(&whole.lines)));
    assert(span_eq(buf_span(&pieces.body), buf_span(&whole.body)));
    buf_done(&pieces.lines);
    buf_done(&pieces.body);
    buf_done(&whole.lines);
    buf_done(&whole.body);
    return 0;
}
