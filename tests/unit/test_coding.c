#include "test.h"

#include <brotli/encode.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/rng.h"
#include "codec/coding.h"

#define NO_LIMIT ((size_t)64 << 20)

static void zip_zlib(struct span in, int bits, struct buf *out)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)in.p, .avail_in = (unsigned)in.n};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&z, in.n);
    z.next_out = (unsigned char *)buf_room(out, room);
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->n += z.total_out;
    deflateEnd(&z);
}

/* One coding by its name; "raw" is deflate without a head. */
static void code(const char *name, struct span in, struct buf *out)
{
    if (strcmp(name, "gzip") == 0 || strcmp(name, "x-gzip") == 0) {
        zip_zlib(in, 16 + MAX_WBITS, out);
    } else if (strcmp(name, "deflate") == 0) {
        zip_zlib(in, MAX_WBITS, out);
    } else if (strcmp(name, "raw") == 0) {
        zip_zlib(in, -MAX_WBITS, out);
    } else if (strcmp(name, "br") == 0) {
        size_t n = BrotliEncoderMaxCompressedSize(in.n) + 64;
        uint8_t *to = (uint8_t *)buf_room(out, n);
        assert_true(BrotliEncoderCompress(5, 22, BROTLI_MODE_GENERIC, in.n, (const uint8_t *)in.p, &n, to));
        out->n += n;
    } else {
        size_t room = ZSTD_compressBound(in.n);
        out->n += ZSTD_compress(buf_room(out, room), room, in.p, in.n, 3);
    }
}

static void make_text(struct buf *out, size_t n, uint64_t seed)
{
    struct rng r;
    rng_seed(&r, seed);
    while (out->n < n)
        buf_printf(out, "word%llu ", (unsigned long long)rng_below(&r, 5000));
    out->n = n;
}

static status feed_in_pieces(struct coding *c, struct span in, size_t piece, size_t max, struct buf *out)
{
    status st = ST_OK;
    for (size_t at = 0; st == ST_OK && at < in.n; at += piece)
        st = coding_feed(c, span_cut(in, at, piece), max, out);
    return st;
}

static const struct {
    const char *header;
    const char *layers[3]; /* in the order they are applied */
} cases[] = {
    {"gzip", {"gzip"}},
    {" X-GZIP ", {"gzip"}},
    {"deflate", {"deflate"}},
    {"deflate", {"raw"}},
    {"br", {"br"}},
    {"zstd", {"zstd"}},
    {"identity, gzip", {"gzip"}},
    {"gzip, br", {"gzip", "br"}},
    {"zstd,deflate , gzip,", {"zstd", "deflate", "gzip"}},
};

static void what_was_coded_comes_back(void **state)
{
    static const size_t sizes[] = {0, 1, 100, 70000, 700000}, pieces[] = {1, 7, 1000, 32768, 1u << 20};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++)
            for (size_t p = sizes[s] > 1000 ? 2 : 0; p < sizeof(pieces) / sizeof(*pieces); p++) {
                struct buf text = {0}, coded = {0}, out = {0};
                struct coding *c = NULL;
                make_text(&text, sizes[s], i);
                buf_put(&coded, buf_span(&text));
                for (size_t l = 0; l < 3 && cases[i].layers[l]; l++) {
                    struct buf next = {0};
                    code(cases[i].layers[l], buf_span(&coded), &next);
                    buf_done(&coded);
                    coded = next;
                }
                CHECK_STATUS(cases[i].header, coding_new(span_str(cases[i].header), &c), ST_OK);
                CHECK_STATUS(cases[i].header, feed_in_pieces(c, buf_span(&coded), pieces[p], sizes[s], &out), ST_OK);
                CHECK(cases[i].header, span_eq(buf_span(&out), buf_span(&text)));
                coding_free(c);
                buf_done(&text);
                buf_done(&coded);
                buf_done(&out);
            }
}

static void the_ceiling_holds_to_the_byte(void **state)
{
    static const size_t max[] = {0, 1, 4999, 69999};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (size_t m = 0; m < sizeof(max) / sizeof(*max); m++) {
            struct buf text = {0}, coded = {0}, out = {0};
            struct coding *c = NULL;
            if (cases[i].layers[1])
                continue;
            make_text(&text, 70000, 1);
            code(cases[i].layers[0], buf_span(&text), &coded);
            CHECK_STATUS("new", coding_new(span_str(cases[i].header), &c), ST_OK);
            CHECK_STATUS(cases[i].header, feed_in_pieces(c, buf_span(&coded), 500, max[m], &out), ST_LIMIT);
            CHECK(cases[i].header, out.n == max[m] && memcmp(out.p ? out.p : "", text.p, max[m]) == 0);
            coding_free(c);
            buf_done(&text);
            buf_done(&coded);
            buf_done(&out);
        }
}

static void a_gzip_file_may_have_several_members(void **state)
{
    static const struct {
        const char *behind;
        size_t n;
    } cases_behind[] = {{"", 0}, {"and then something", 18}, {"\x1f", 1}, {"\x1f\x8b\x08 no more", 11}, {"\0\0\0", 3}};
    static const size_t pieces[] = {1, 2, 7, 100, 100000};
    for (size_t i = 0; i < sizeof(cases_behind) / sizeof(*cases_behind); i++)
        for (size_t k = 0; k < sizeof(pieces) / sizeof(*pieces); k++) {
            struct buf text = {0}, coded = {0}, out = {0};
            struct coding *c = NULL;
            make_text(&text, 3000, 1);
            code("gzip", span_cut(buf_span(&text), 0, 1000), &coded);
            code("gzip", span_cut(buf_span(&text), 1000, 0), &coded);
            code("gzip", span_from(buf_span(&text), 1000), &coded);
            buf_put(&coded, span_of(cases_behind[i].behind, cases_behind[i].n));
            CHECK_STATUS("new", coding_new(SPAN("gzip"), &c), ST_OK);
            CHECK_STATUS("feed", feed_in_pieces(c, buf_span(&coded), pieces[k], NO_LIMIT, &out), ST_OK);
            CHECK_SPAN(cases_behind[i].behind, buf_span(&out), buf_span(&text));
            coding_free(c);
            buf_done(&text);
            buf_done(&coded);
            buf_done(&out);
        }
}

static void bytes_after_the_end_and_a_missing_end_are_forgiven(void **state)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf text = {0}, coded = {0}, out = {0};
        struct coding *c = NULL;
        bool is_zstd = strcmp(cases[i].layers[0], "zstd") == 0; /* frames may follow each other */
        if (cases[i].layers[1])
            continue;
        make_text(&text, 3000, 1);
        code(cases[i].layers[0], buf_span(&text), &coded);
        size_t whole = coded.n;
        buf_puts(&coded, is_zstd ? "" : "and then something");
        CHECK_STATUS("new", coding_new(span_str(cases[i].header), &c), ST_OK);
        CHECK_STATUS(cases[i].header, feed_in_pieces(c, buf_span(&coded), 100, NO_LIMIT, &out), ST_OK);
        CHECK(cases[i].header, span_eq(buf_span(&out), buf_span(&text)));
        coding_free(c);
        CHECK_STATUS("new", coding_new(span_str(cases[i].header), &c), ST_OK);
        buf_clear(&out);
        CHECK_STATUS(cases[i].header, feed_in_pieces(c, span_of(coded.p, whole / 2), 100, NO_LIMIT, &out), ST_OK);
        CHECK(cases[i].header, out.n < text.n && memcmp(out.p ? out.p : "", text.p, out.n) == 0);
        coding_free(c);
        buf_done(&text);
        buf_done(&coded);
        buf_done(&out);
    }
}

static void codings_are_known_or_refused(void **state)
{
    static const struct {
        const char *header;
        status want;
        bool is_plain;
    } headers[] = {
        {"", ST_OK, true},
        {"identity", ST_OK, true},
        {" , ,", ST_OK, true},
        {"gzip", ST_OK, false},
        {"compress", ST_INVALID, true},
        {"gzip, compress", ST_INVALID, true},
        {"UTF-8", ST_OK, true},
        {"text/html, 8bit", ST_OK, true},
        {"gzip, utf-8", ST_OK, false},
        {"br,br,br,br,br", ST_OK, false},
        {"br,br,br,br,br,br", ST_INVALID, true},
    };
    for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
        struct coding *c = NULL;
        CHECK_STATUS(headers[i].header, coding_new(span_str(headers[i].header), &c), headers[i].want);
        CHECK(headers[i].header, (c == NULL) == headers[i].is_plain);
        coding_free(c);
    }
}

static void damage_is_told_or_harmless(void **state)
{
    struct rng r;
    rng_seed(&r, 11);
    for (unsigned round = 0; round < 2000; round++) {
        size_t i = round % (sizeof(cases) / sizeof(*cases));
        struct buf text = {0}, coded = {0}, out = {0};
        struct coding *c = NULL;
        make_text(&text, 4000, round);
        code(cases[i].layers[0], buf_span(&text), &coded);
        for (unsigned k = 0; k < 3; k++)
            coded.p[rng_below(&r, coded.n)] ^= (char)(1 + rng_below(&r, 255));
        CHECK_STATUS("new", coding_new(span_str(cases[i].header), &c), ST_OK);
        status st = feed_in_pieces(c, buf_span(&coded), 1 + (size_t)rng_below(&r, 900), 100000, &out);
        CHECK("status", st == ST_OK || st == ST_CORRUPT || st == ST_LIMIT);
        CHECK("bounded", out.n <= 100000);
        coding_free(c);
        buf_done(&text);
        buf_done(&coded);
        buf_done(&out);
    }
    struct coding *c = NULL;
    struct buf out = {0};
    CHECK_STATUS("new", coding_new(SPAN("gzip"), &c), ST_OK);
    CHECK_STATUS("not gzip", coding_feed(c, SPAN("this is not gzip at all"), 100, &out), ST_CORRUPT);
    coding_free(c);
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_coded_comes_back),
        cmocka_unit_test(the_ceiling_holds_to_the_byte),
        cmocka_unit_test(a_gzip_file_may_have_several_members),
        cmocka_unit_test(bytes_after_the_end_and_a_missing_end_are_forgiven),
        cmocka_unit_test(codings_are_known_or_refused),
        cmocka_unit_test(damage_is_told_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
