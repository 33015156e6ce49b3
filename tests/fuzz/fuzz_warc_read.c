/* fuzz_warc_read.c - any bytes as a file of records (the first byte says how long pieces are). What comes out stays
 * under its ceilings and inside the file, and is the same in pieces and at once. */
#include <assert.h>

#include "codec/warc_read.h"

#define BLOCK_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    struct buf text;
    size_t size;
};

static status on_record(void *self, const struct warc_record *r)
{
    struct seen *s = self;
    assert(r->block.n <= BLOCK_MAX && r->block.n <= r->block_bytes && r->at <= s->size);
    assert(r->is_short || r->is_cut || r->block.n == r->block_bytes);
    buf_printf(&s->text, "%s at %llu %llu date %lld url %.*s %d%d%d %d %d block ", warc_type_name(r->type),
               (unsigned long long)r->at, (unsigned long long)r->inside, (long long)r->date, SPAN_ARG(r->url),
               r->is_cut, r->is_short, r->is_damaged, r->block_digest, r->payload_digest);
    buf_put(&s->text, r->block);
    return ST_OK;
}

static void on_problem(void *self, uint64_t at, const char *what)
{
    struct seen *s = self;
    assert(at <= s->size);
    buf_printf(&s->text, "%s at %llu\n", what, (unsigned long long)at);
}

static status run(struct span in, size_t piece, struct seen *out)
{
    const struct warc_reader_opts o = {.block_max = BLOCK_MAX};
    struct warc_reader *r = warc_reader_new(&o, &(struct warc_events){on_record, on_problem, out});
    status st = ST_OK;
    out->size = in.n;
    for (size_t at = 0; st == ST_OK && at < in.n; at += piece)
        st = warc_reader_feed(r, span_cut(in, at, piece));
    if (st == ST_OK)
        st = warc_reader_end(r);
    warc_reader_free(r);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen pieces = {0}, whole = {0};
    if (size < 1)
        return 0;
    struct span in = span_of(data + 1, size - 1);
    status a = run(in, (size_t)data[0] + 1, &pieces), b = run(in, SIZE_MAX / 2, &whole);
    /* Of a damaged zstd frame more comes out the smaller its pieces are. */
    bool is_zstd = in.n >= 4 && ((unsigned char)in.p[0] == 0x28 || ((unsigned char)in.p[0] & 0xf0) == 0x50);
    assert(is_zstd || (a == b && span_eq(buf_span(&pieces.text), buf_span(&whole.text))));
    buf_done(&pieces.text);
    buf_done(&whole.text);
    return 0;
}
