#include "test.h"

#include <zlib.h>

#include "base/buf.h"
#include "base/rng.h"
#include "codec/unzip.h"
#include "codec/zip.h"

static void take(void *self, struct span piece)
{
    buf_put(self, piece);
}

static status run(struct span in, size_t piece, uint64_t max, struct buf *out)
{
    struct unzip *u = unzip_new(max, take, out);
    status st = ST_OK;
    for (size_t at = 0; at < in.n && st == ST_OK; at += piece)
        st = unzip_feed(u, span_cut(in, at, piece));
    status end = unzip_end(u);
    if (st != ST_OK)
        CHECK_STATUS("a failure stays", end, st);
    unzip_free(u);
    return st == ST_OK ? end : st;
}

static void gzip(struct span in, struct buf *out)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t bound = deflateBound(&z, in.n) + 64;
    z.next_in = (unsigned char *)(uintptr_t)in.p;
    z.avail_in = (unsigned)in.n;
    z.next_out = (unsigned char *)buf_room(out, bound);
    z.avail_out = (unsigned)bound;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->n += bound - z.avail_out;
    deflateEnd(&z);
}

static void make_text(struct buf *out, size_t lines)
{
    struct rng rng;
    rng_seed(&rng, 1);
    for (size_t i = 0; i < lines; i++)
        buf_printf(out, "line %zu %llx\n", i, (unsigned long long)rng_below(&rng, 1000));
}

static void unpacks_in_pieces_of_any_size(void **state)
{
    static const size_t pieces[] = {1, 3, 100, 65536, SIZE_MAX / 2};
    struct buf text = {0}, twice = {0}, packed[5] = {{0}};
    make_text(&text, 20000);
    buf_put(&twice, buf_span(&text));
    buf_put(&twice, buf_span(&text));
    gzip(buf_span(&text), &packed[0]);
    zip_zstd(buf_span(&text), 3, &packed[1]);
    buf_put(&packed[2], buf_span(&text));
    for (int i = 0; i < 2; i++) { /* members and frames one after the other; padding */
        gzip(buf_span(&text), &packed[3]);
        zip_zstd(buf_span(&text), 3, &packed[4]);
    }
    for (int i = 0; i < 700; i++)
        buf_putc(&packed[3], '\0');
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < sizeof(pieces) / sizeof(*pieces); k++) {
            struct buf out = {0};
            CHECK_STATUS("unzip", run(buf_span(&packed[i]), pieces[k], UINT64_MAX, &out), ST_OK);
            if (!span_eq(buf_span(&out), buf_span(i < 3 ? &text : &twice)))
                fail_msg("kind %zu, pieces of %zu: another text", i, pieces[k]);
            buf_done(&out);
        }
    for (size_t i = 0; i < 5; i++)
        buf_done(&packed[i]);
    buf_done(&text);
    buf_done(&twice);
}

static void short_inputs_are_plain(void **state)
{
    static const char *const cases[] = {"", "a", "abc", "abcd", "\x28\xB5", "\x28\xB5\x2F", "(\n"};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf out = {0};
        CHECK_STATUS(cases[i], run(span_str(cases[i]), 1, 100, &out), ST_OK);
        CHECK_SPAN(cases[i], buf_span(&out), span_str(cases[i]));
        buf_done(&out);
    }
}

static void tells_damage_and_ends_that_are_missing(void **state)
{
    struct buf text = {0}, packed[2] = {{0}}, out = {0};
    make_text(&text, 3000);
    gzip(buf_span(&text), &packed[0]);
    zip_zstd(buf_span(&text), 3, &packed[1]);
    for (int i = 0; i < 2; i++) {
        for (size_t cut = 4; cut < packed[i].n; cut += 97) {
            buf_clear(&out);
            CHECK_STATUS("cut", run(span_cut(buf_span(&packed[i]), 0, cut), 1000, UINT64_MAX, &out), ST_CORRUPT);
        }
        struct buf bad = {0};
        buf_put(&bad, buf_span(&packed[i]));
        memset(bad.p + bad.n / 2, 0x55, 40);
        CHECK_STATUS("damaged", run(buf_span(&bad), 777, UINT64_MAX, &out), ST_CORRUPT);
        buf_clear(&bad);
        buf_put(&bad, buf_span(&packed[i]));
        buf_puts(&bad, "what is this?");
        CHECK_STATUS("more behind it", run(buf_span(&bad), 777, UINT64_MAX, &out), ST_CORRUPT);
        buf_done(&bad);
        buf_done(&packed[i]);
    }
    CHECK_STATUS("two bytes of gzip", run(SPAN("\x1F\x8B"), 1, 100, &out), ST_CORRUPT);
    unzip_free(NULL);
    buf_done(&text);
    buf_done(&out);
}

static void stops_at_its_ceiling(void **state)
{
    struct buf text = {0}, packed[3] = {{0}};
    make_text(&text, 20000);
    gzip(buf_span(&text), &packed[0]);
    zip_zstd(buf_span(&text), 3, &packed[1]);
    buf_put(&packed[2], buf_span(&text));
    for (int i = 0; i < 3; i++) {
        struct buf out = {0};
        CHECK_STATUS("one too many", run(buf_span(&packed[i]), 500, text.n - 1, &out), ST_LIMIT);
        CHECK("no more came", out.n < text.n);
        buf_clear(&out);
        CHECK_STATUS("just enough", run(buf_span(&packed[i]), 500, text.n, &out), ST_OK);
        buf_done(&out);
        buf_done(&packed[i]);
    }
    buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unpacks_in_pieces_of_any_size),
        cmocka_unit_test(short_inputs_are_plain),
        cmocka_unit_test(tells_damage_and_ends_that_are_missing),
        cmocka_unit_test(stops_at_its_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
