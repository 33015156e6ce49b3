/* Globs against a naive twin, regexes with their limits, zstd and gzip with their ceilings, digests against published
 * values. */
#include "test.h"

#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/rng.h"
#include "codec/digest.h"
#include "codec/glob.h"
#include "codec/regex.h"
#include "codec/zip.h"

static void globs_match_as_in_the_table(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool plain, nocase;
    } cases[] = {
        {"", "", true, true},
        {"", "a", false, false},
        {"*", "", true, true},
        {"***", "abc", true, true},
        {"?", "", false, false},
        {"?", "x", true, true},
        {"a*c", "abbbc", true, true},
        {"a*c", "abbbd", false, false},
        {"*.example.org", "www.example.org", true, true},
        {"*.example.org", "WWW.Example.ORG", false, true},
        {"*.example.org", "example.org", false, false},
        {"*a*b*c", "xxaxxbxxcxxc", true, true},
        {"a?c*", "abcdef", true, true},
        {"\\*", "*", true, true},
        {"\\*", "a", false, false},
        {"\\?x", "?x", true, true},
        {"\\\\", "\\", true, true},
        {"a\\", "a\\", true, true},
        {"*\\", "abc\\", true, true},
        {"\\A", "a", false, true},
        {"[ab]", "a", false, false},
        {"[ab]", "[ab]", true, true},
        {"/a/*/z?", "/a/b/c/z/z1", true, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK(cases[i].pattern, glob_match(span_str(cases[i].pattern), span_str(cases[i].text)) == cases[i].plain);
        CHECK(cases[i].pattern,
              glob_match_nocase(span_str(cases[i].pattern), span_str(cases[i].text)) == cases[i].nocase);
    }
}

/* The definition, spelled out: exponential and obviously right. */
static bool naive_glob(struct span p, struct span t)
{
    if (p.n == 0)
        return t.n == 0;
    if (p.p[0] == '*')
        return naive_glob(span_from(p, 1), t) || (t.n && naive_glob(p, span_from(t, 1)));
    if (t.n == 0)
        return false;
    if (p.p[0] == '?')
        return naive_glob(span_from(p, 1), span_from(t, 1));
    if (p.p[0] == '\\' && p.n > 1)
        p = span_from(p, 1);
    return p.p[0] == t.p[0] && naive_glob(span_from(p, 1), span_from(t, 1));
}

static void globs_agree_with_the_naive_twin(void **state)
{
    struct rng rng;
    rng_seed(&rng, 42);
    unsigned matched = 0;
    for (int i = 0; i < 200000; i++) {
        char p[9], t[11];
        size_t pn = rng_below(&rng, 9), tn = rng_below(&rng, 11);
        for (size_t k = 0; k < pn; k++)
            p[k] = "aabb**?\\"[rng_below(&rng, 8)];
        for (size_t k = 0; k < tn; k++)
            t[k] = "aaabbb*\\"[rng_below(&rng, 8)];
        struct span ps = span_of(p, pn), ts = span_of(t, tn);
        bool want = naive_glob(ps, ts);
        matched += want;
        if (glob_match(ps, ts) != want || glob_match_nocase(ps, ts) != want)
            fail_msg("case %d: \"%.*s\" on \"%.*s\": want %d", i, SPAN_ARG(ps), SPAN_ARG(ts), want);
    }
    assert_in_range(matched, 10000, 190000);
}

static void many_stars_on_a_long_text_end_quickly(void **state)
{
    static char text[100000], pattern[4001];
    memset(text, 'a', sizeof(text));
    for (size_t i = 0; i < 4000; i += 2)
        memcpy(pattern + i, "*a", 2);
    pattern[4000] = 'b';
    assert_false(glob_match(span_of(pattern, sizeof(pattern)), span_of(text, sizeof(text))));
}

static void regexes_find_and_refuse(void **state)
{
    static const struct {
        const char *pattern, *text;
        status made, found;
    } cases[] = {
        {"^/a/\\d+$", "/a/42", ST_OK, ST_OK},
        {"^/a/\\d+$", "/a/x", ST_OK, ST_NOT_FOUND},
        {"", "", ST_OK, ST_OK},
        {"(?i)PDF$", "x.pdf", ST_OK, ST_OK},
        {"^.$", "\xC3", ST_OK, ST_OK}, /* bytes */
        {"^.$", "\xC3\xA4", ST_OK, ST_NOT_FOUND},
        {"(", "", ST_INVALID, ST_OK},
        {"(*UTF)a", "a", ST_INVALID, ST_OK},
        {"(*UCP)a", "a", ST_INVALID, ST_OK},
        {"a{2", "a{2", ST_OK, ST_OK},
        {"(?<=a+)b", "", ST_INVALID, ST_OK},
        {"((a{999}){999}){999}", "", ST_INVALID, ST_OK}, /* compiled size has PCRE2's own ceiling */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct regex *r = NULL;
        struct buf why = {0};
        CHECK_STATUS(cases[i].pattern, regex_new(span_str(cases[i].pattern), &r, &why), cases[i].made);
        if (cases[i].made == ST_OK)
            CHECK_STATUS(cases[i].pattern, regex_find(r, span_str(cases[i].text)), cases[i].found);
        CHECK(cases[i].pattern, (why.n > 0) == (cases[i].made != ST_OK));
        regex_free(r);
        buf_done(&why);
    }
    static char huge[REGEX_PATTERN_MAX + 1];
    memset(huge, 'a', sizeof(huge));
    struct regex *r = NULL;
    /* What stands behind a pattern is not part of it. */
    for (size_t n = 14; n < 16; n++) {
        struct buf why = {0};
        CHECK_STATUS("no number", regex_new(span_cut(SPAN("(*LIMIT_MATCH=5)x"), 0, n), &r, &why), ST_INVALID);
        CHECK("no number", span_search(buf_span(&why), SPAN("malformed"), false) < why.n);
        buf_done(&why);
    }
    CHECK_STATUS("long pattern", regex_new(span_of(huge, sizeof(huge)), &r, NULL), ST_LIMIT);
    CHECK_STATUS("longest pattern", regex_new(span_of(huge, REGEX_PATTERN_MAX), &r, NULL), ST_OK);
    regex_free(r);
    regex_free(NULL);
}

static void costly_regexes_hit_the_limit(void **state)
{
    static char text[REGEX_TEXT_MAX + 1];
    memset(text, 'a', sizeof(text));
    static const struct {
        const char *pattern;
        size_t n;
        status want;
    } cases[] = {
        {"(a+)+$", 40, ST_LIMIT},
        {"(?:a|aa)+$", 2000, ST_LIMIT},
        {"(a*)*$", 2000, ST_LIMIT},
        {"(*LIMIT_MATCH=4000000000)(a|a)*$", 2000, ST_LIMIT}, /* a pattern cannot raise it */
        {"(a|(?R))*$", 2000, ST_LIMIT},
        {"(?:x|a)*?[bd]", REGEX_TEXT_MAX, ST_LIMIT},
        {"^(?:x|a)*?[bd]", REGEX_TEXT_MAX, ST_NOT_FOUND}, /* anchored: one start has it all */
        {"(?:(?=[^x]*+)a){1,300}?[xyz]", 1000, ST_NOT_FOUND},
        {"(?:(?=[^x]*+)a){1,1100}?[xyz]", 2000, ST_LIMIT},
        {"b", REGEX_TEXT_MAX, ST_NOT_FOUND},
        {"a", REGEX_TEXT_MAX, ST_OK},
        {"a", REGEX_TEXT_MAX + 1, ST_LIMIT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct regex *r = NULL;
        CHECK_STATUS(cases[i].pattern, regex_new(span_str(cases[i].pattern), &r, NULL), ST_OK);
        text[cases[i].n - 1] = 'c'; /* the end is never what they look for */
        CHECK_STATUS(cases[i].pattern, regex_find(r, span_of(text, cases[i].n)), cases[i].want);
        text[cases[i].n - 1] = 'a';
        regex_free(r);
    }
}

static void gzip_put(struct span in, struct buf *out)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t bound = deflateBound(&z, in.n);
    z.next_in = (unsigned char *)(uintptr_t)in.p;
    z.avail_in = (unsigned)in.n;
    z.next_out = (unsigned char *)buf_room(out, bound);
    z.avail_out = (unsigned)bound;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->n += z.total_out;
    deflateEnd(&z);
}

static void zstd_put(struct span in, struct buf *out)
{
    zip_zstd(in, 3, out);
}

static const struct {
    const char *name;
    void (*put)(struct span in, struct buf *out);
    status (*get)(struct span in, size_t max, struct buf *out);
} formats[] = {{"zstd", zstd_put, unzip_zstd}, {"gzip", gzip_put, unzip_gzip}};

static struct buf sample_text(size_t n)
{
    struct buf b = {0};
    struct rng rng;
    rng_seed(&rng, n);
    while (b.n < n)
        buf_putc(&b, (char)('a' + rng_below(&rng, 7)));
    return b;
}

static void zip_round_trips_at_many_sizes(void **state)
{
    static const size_t sizes[] = {0, 1, 100, 65535, 65536, 65537, 131072, 1000000};
    for (size_t f = 0; f < 2; f++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
            struct buf text = sample_text(sizes[i]), packed = {0}, back = {0};
            formats[f].put(buf_span(&text), &packed);
            buf_puts(&back, "kept");
            CHECK_STATUS(formats[f].name, formats[f].get(buf_span(&packed), sizes[i], &back), ST_OK);
            CHECK_SPAN(formats[f].name, span_from(buf_span(&back), 4), buf_span(&text));
            back.n = 4;
            if (sizes[i] > 0)
                CHECK_STATUS(formats[f].name, formats[f].get(buf_span(&packed), sizes[i] - 1, &back), ST_LIMIT);
            CHECK_SPAN(formats[f].name, buf_span(&back), SPAN("kept"));
            buf_done(&text);
            buf_done(&packed);
            buf_done(&back);
        }
    }
}

static void zip_reads_members_through_and_refuses_damage(void **state)
{
    for (size_t f = 0; f < 2; f++) {
        const char *name = formats[f].name;
        struct buf text = sample_text(70000), packed = {0}, back = {0};
        formats[f].put(buf_span(&text), &packed);
        size_t one = packed.n;
        for (size_t cut = 0; cut < one; cut += 1 + cut / 7)
            CHECK_STATUS(name, formats[f].get(span_of(packed.p, cut), 1 << 20, &back), ST_CORRUPT);
        packed.p[one / 2] ^= 1;
        status st = formats[f].get(buf_span(&packed), 1 << 20, &back);
        CHECK(name, st == ST_CORRUPT || f == 0); /* plain zstd frames carry no checksum */
        packed.p[one / 2] ^= 1;
        buf_clear(&back);
        formats[f].put(SPAN("tail"), &packed);
        CHECK_STATUS(name, formats[f].get(buf_span(&packed), 1 << 20, &back), ST_OK);
        CHECK(name, back.n == text.n + 4);
        CHECK_SPAN(name, span_from(buf_span(&back), text.n), SPAN("tail"));
        CHECK_STATUS(name, formats[f].get(buf_span(&packed), text.n + 3, &back), ST_LIMIT);
        buf_puts(&packed, "junk");
        CHECK_STATUS(name, formats[f].get(buf_span(&packed), 1 << 20, &back), ST_CORRUPT);
        packed.n -= 4;
        buf_put(&packed, SPAN("\0\0\0"));
        CHECK_STATUS(name, formats[f].get(buf_span(&packed), 1 << 20, &back), f == 0 ? ST_CORRUPT : ST_OK);
        buf_done(&text);
        buf_done(&packed);
        buf_done(&back);
    }
}

static void a_bomb_stops_at_its_ceiling(void **state)
{
    size_t n = 64 << 20;
    char *zeros = calloc(1, n);
    for (size_t f = 0; f < 2; f++) {
        struct buf packed = {0}, back = {0};
        formats[f].put(span_of(zeros, n), &packed);
        CHECK(formats[f].name, packed.n < 100000);
        CHECK_STATUS(formats[f].name, formats[f].get(buf_span(&packed), 1 << 20, &back), ST_LIMIT);
        CHECK(formats[f].name, back.n == 0 && back.cap <= 4 << 20);
        buf_done(&packed);
        buf_done(&back);
    }
    free(zeros);
}

static void a_frame_with_too_large_a_window_is_refused(void **state)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, ZIP_WINDOW_LOG_MAX + 1);
    ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 0);
    char packed[256];
    ZSTD_outBuffer dst = {packed, sizeof(packed), 0};
    ZSTD_inBuffer part = {"abc", 3, 0}, none = {"", 0, 0};
    assert_false(ZSTD_isError(ZSTD_compressStream2(c, &dst, &part, ZSTD_e_flush)));
    assert_int_equal(ZSTD_compressStream2(c, &dst, &none, ZSTD_e_end), 0);
    ZSTD_freeCCtx(c);
    struct buf back = {0};
    CHECK_STATUS("window", unzip_zstd(span_of(packed, dst.pos), 100, &back), ST_LIMIT);
    buf_done(&back);
}

static void crc32c_matches_published_values(void **state)
{
    char zeros[32] = {0}, ones[32], up[32];
    memset(ones, 0xFF, sizeof(ones));
    for (int i = 0; i < 32; i++)
        up[i] = (char)i;
    const struct { /* RFC 3720 B.4 */
        const char *label;
        struct span in;
        uint32_t want;
    } cases[] = {
        {"empty", SPAN(""), 0},
        {"check", SPAN("123456789"), 0xE3069283},
        {"zeros", span_of(zeros, 32), 0x8A9136AA},
        {"ones", span_of(ones, 32), 0x62A8AB43},
        {"rising", span_of(up, 32), 0x46DD794E},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK(cases[i].label, digest_crc32c(cases[i].in) == cases[i].want);
        CHECK(cases[i].label, digest_crc32c_by_table(cases[i].in) == cases[i].want);
    }
    struct buf text = sample_text(5000);
    for (size_t i = 0; i < 200; i++) { /* every length and alignment near a word */
        struct span s = span_cut(buf_span(&text), i % 9, i * 13);
        CHECK("both ways", digest_crc32c(s) == digest_crc32c_by_table(s));
    }
    buf_done(&text);
}

static void blake2b_matches_published_values(void **state)
{
    static const struct { /* the values of `b2sum -l 128` */
        const char *in, *hex;
    } cases[] = {
        {"", "cae66941d9efbd404e4d88758ea67670"},
        {"abc", "cf4ab791c62b8d2b2109c90275287816"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct digest128 d = digest_blake2b128(span_str(cases[i].in));
        char hex[33];
        for (int k = 0; k < 16; k++)
            snprintf(hex + 2 * k, 3, "%02x", d.b[k]);
        assert_string_equal(hex, cases[i].hex);
        uint64_t low = 0;
        for (int k = 7; k >= 0; k--)
            low = low << 8 | d.b[k];
        assert_true(digest_blake2b64(span_str(cases[i].in)) == low);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs_match_as_in_the_table),
        cmocka_unit_test(globs_agree_with_the_naive_twin),
        cmocka_unit_test(many_stars_on_a_long_text_end_quickly),
        cmocka_unit_test(regexes_find_and_refuse),
        cmocka_unit_test(costly_regexes_hit_the_limit),
        cmocka_unit_test(zip_round_trips_at_many_sizes),
        cmocka_unit_test(zip_reads_members_through_and_refuses_damage),
        cmocka_unit_test(a_bomb_stops_at_its_ceiling),
        cmocka_unit_test(a_frame_with_too_large_a_window_is_refused),
        cmocka_unit_test(crc32c_matches_published_values),
        cmocka_unit_test(blake2b_matches_published_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
