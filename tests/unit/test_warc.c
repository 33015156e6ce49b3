#include "test.h"

#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/rng.h"
#include "codec/warc.h"
#include "codec/zip.h"

/* ---- values ---- */

static void digests_are_those_of_known_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"},
        {"abc", "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "sha1:QSMD4RA4HPJG5OVOJKQ7SUJJ4XSUM4HR"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct span text = span_str(cases[i].text);
        const struct span halves[2] = {span_cut(text, 0, text.n / 2), span_from(text, text.n / 2)};
        char out[WARC_DIGEST_MAX];
        struct digest160 whole = digest_sha1(&text, 1), parts = digest_sha1(halves, 2);
        CHECK_SPAN(cases[i].text, span_str(warc_digest_text(&whole, out)), span_str(cases[i].want));
        CHECK_SPAN(cases[i].text, span_str(warc_digest_text(&parts, out)), span_str(cases[i].want));
    }
}

static void dates_are_utc_with_milliseconds(void **state)
{
    (void)state;
    static const struct {
        wall_ms at;
        const char *want;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {1700000000123, "2023-11-14T22:13:20.123Z"},
        {951782400007, "2000-02-29T00:00:00.007Z"},
        {-5, "1970-01-01T00:00:00.000Z"},
        {INT64_MAX, "1970-01-01T00:00:00.807Z"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char out[WARC_DATE_MAX];
        CHECK_SPAN(cases[i].want, span_str(warc_date(cases[i].at, out)), span_str(cases[i].want));
    }
}

static void heads_are_written_so_that_readers_can_parse_them(void **state)
{
    (void)state;
    static const struct {
        const char *head, *want;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\nA: b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"},
        {"HTTP/1.0 200\r\n\r\n", "HTTP/1.0 200\r\n\r\n"},
        {"HTTP/2 404 \r\nserver: x\r\n\r\n", "HTTP/1.1 404 \r\nserver: x\r\n\r\n"},
        {"HTTP/3 200\r\n\r\n", "HTTP/1.1 200\r\n\r\n"},
        {"HTTP/1.1 200 OK\r\ntransfer-ENCODING: chunked\r\nX: y\r\n\r\n",
         "HTTP/1.1 200 OK\r\nX-Crawler-transfer-ENCODING: chunked\r\nX: y\r\n\r\n"},
        {"HTTP/1.1 200 OK\nA: b\n\n", "HTTP/1.1 200 OK\nA: b\n\n"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf out = {0};
        warc_head_text(span_str(cases[i].head), &out);
        CHECK_SPAN(cases[i].head, buf_span(&out), span_str(cases[i].want));
        buf_done(&out);
    }
}

static void heads_from_others_are_looked_at(void **state)
{
    (void)state;
    static const struct {
        struct span head;
        bool is_sound;
    } cases[] = {
        {SPAN_INIT("HTTP/1.1 200 OK\r\n\r\n"), true},
        {SPAN_INIT("HTTP/1.1 200 OK\nA: b\n\n"), true},
        {SPAN_INIT("HTTP/1.1 200 OK\r\nA: b\r\n"), false},
        {SPAN_INIT("HTTP/1.1 200 OK\r\n\r\nA: b\r\n\r\n"), false},
        {SPAN_INIT("HTTP/1.1 200 OK"), false},
        {SPAN_INIT("WARC/1.1\r\n\r\n"), false},
        {SPAN_INIT("HTTP/1.1 200\0OK\r\n\r\n"), false},
        {SPAN_INIT(""), false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK(cases[i].head.p, warc_head_is_sound(cases[i].head) == cases[i].is_sound);
}

/* ---- records ---- */

static void draw_counting(void *self, void *to, size_t n)
{
    unsigned *next = self;
    memset(to, (int)(*next)++, n);
}

#define ID(b, v6, v8) "<urn:uuid:" b b b b "-" b b "-" v6 b "-" v8 b "-" b b b b b b ">"

static const struct warc_capture page = {
    .url = SPAN_INIT("http://a.example/x\r\nWARC-Type: evil"),
    .address = SPAN_INIT("192.0.2.1"),
    .at = 1700000000123,
    .request = SPAN_INIT("GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n"),
    .head = SPAN_INIT("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"),
    .body = SPAN_INIT("abc"),
    .facts = SPAN_INIT("fetchTimeMs: 12\r\n"),
};

/* Written down by hand; the digests by sha1sum and base32. */
#define REQUEST_AND_FACTS                                                                                              \
    "WARC/1.1\r\nWARC-Type: request\r\nWARC-Record-ID: " ID(                                                           \
        "02", "42",                                                                                                    \
        "82") "\r\n"                                                                                                   \
              "WARC-Date: 2023-11-14T22:13:20.123Z\r\nWARC-Concurrent-To: " ID(                                        \
                  "01", "41",                                                                                          \
                  "81") "\r\n"                                                                                         \
                        "WARC-Target-URI: http://a.example/xWARC-Type: evil\r\nWARC-IP-Address: 192.0.2.1\r\n"         \
                        "WARC-Block-Digest: sha1:PMINSDUSI5RNUXVFMPAG2K3ZPTZFUVM7\r\n"                                 \
                        "Content-Type: application/http;msgtype=request\r\nContent-Length: 36\r\n\r\n"                 \
                        "GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n\r\n\r\n"                                           \
                        "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: " ID(                                      \
                            "03", "43", "83") "\r\n"                                                                   \
                                              "WARC-Date: 2023-11-14T22:13:20.123Z\r\nWARC-Concurrent-To: " ID(        \
                                                  "01", "41",                                                          \
                                                  "81") "\r\n"                                                         \
                                                        "WARC-Target-URI: http://a.example/xWARC-Type: evil\r\n"       \
                                                        "WARC-Block-Digest: sha1:NIB2BWQS3HN7KF3L6G2TWK32Q3RN52IO\r\n" \
                                                        "Content-Type: application/warc-fields\r\nContent-Length: "    \
                                                        "17\r\n\r\nfetchTimeMs: 12\r\n\r\n\r\n"

static void check_unzipped(const char *label, member_kind kind, const struct buf *got, const char *want)
{
    struct buf plain = {0};
    status st =
        kind == MEMBER_GZIP ? unzip_gzip(buf_span(got), 1u << 20, &plain) : unzip_zstd(buf_span(got), 1u << 20, &plain);
    CHECK_STATUS(label, st, ST_OK);
    CHECK_SPAN(label, buf_span(&plain), span_str(want));
    CHECK(label, member_whole_bytes(kind, buf_span(got)) == got->n);
    buf_done(&plain);
}

static void a_capture_is_response_request_and_metadata(void **state)
{
    (void)state;
    for (int kind = MEMBER_GZIP; kind <= MEMBER_ZSTD; kind++) {
        unsigned next = 1;
        struct warc_writer *w = warc_writer_new((member_kind)kind, draw_counting, &next);
        struct buf out = {0};
        struct digest160 payload = warc_payload_digest(&page);
        warc_put_capture(w, &page, &payload, NULL, &out);
        check_unzipped(
            "capture", (member_kind)kind, &out,
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: " ID(
                "01", "41", "81") "\r\n"
                                  "WARC-Date: 2023-11-14T22:13:20.123Z\r\n"
                                  "WARC-Target-URI: http://a.example/xWARC-Type: evil\r\nWARC-IP-Address: 192.0.2.1\r\n"
                                  "WARC-Payload-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\r\n"
                                  "WARC-Block-Digest: sha1:YS65BES4VUH7KGDBK5A36TTCGRSBY563\r\n"
                                  "Content-Type: application/http;msgtype=response\r\nContent-Length: 48\r\n\r\n"
                                  "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nabc\r\n\r\n" REQUEST_AND_FACTS);
        buf_done(&out);
        warc_writer_free(w);
    }
}

static void a_revisit_names_the_record_that_has_the_body(void **state)
{
    (void)state;
    static const struct {
        bool is_not_modified;
        const char *profile;
    } cases[] = {{false, "identical-payload-digest"}, {true, "server-not-modified"}};
    for (size_t i = 0; i < 2; i++) {
        unsigned next = 1;
        struct warc_writer *w = warc_writer_new(MEMBER_GZIP, draw_counting, &next);
        struct buf out = {0}, want = {0};
        struct digest160 payload = warc_payload_digest(&page);
        struct warc_original original = {.url = SPAN("http://b.example/"),
                                         .at = 1600000000000,
                                         .payload = payload,
                                         .is_not_modified = cases[i].is_not_modified};
        struct warc_capture c = page;
        c.is_http2 = i == 1;
        c.request = c.facts = (struct span){0};
        warc_put_capture(w, &c, &payload, &original, &out);
        buf_printf(&want,
                   "WARC/1.1\r\nWARC-Type: revisit\r\nWARC-Record-ID: " ID(
                       "01", "41",
                       "81") "\r\n"
                             "WARC-Date: 2023-11-14T22:13:20.123Z\r\n"
                             "WARC-Target-URI: http://a.example/xWARC-Type: evil\r\nWARC-IP-Address: 192.0.2.1\r\n%s"
                             "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/%s\r\n"
                             "WARC-Refers-To-Target-URI: http://b.example/\r\n"
                             "WARC-Refers-To-Date: 2020-09-13T12:26:40.000Z\r\n"
                             "WARC-Payload-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\r\n"
                             "WARC-Block-Digest: sha1:J27VOGMUA3L7BPIDPIHGVRAYHWOQB5AV\r\n"
                             "Content-Type: application/http;msgtype=response\r\nContent-Length: 45\r\n\r\n"
                             "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n\r\n\r\n",
                   i == 1 ? "WARC-Protocol: h2\r\n" : "", cases[i].profile);
        check_unzipped(cases[i].profile, MEMBER_GZIP, &out, buf_cstr(&want));
        buf_done(&out);
        buf_done(&want);
        warc_writer_free(w);
    }
}

static bool contains(const struct buf *b, const char *text)
{
    return span_search(buf_span(b), span_str(text), false) < b->n;
}

static void what_was_cut_says_so(void **state)
{
    (void)state;
    static const struct {
        warc_cut cut;
        const char *line;
    } cases[] = {{WARC_CUT_LENGTH, "WARC-Truncated: length\r\n"},
                 {WARC_CUT_TIME, "WARC-Truncated: time\r\n"},
                 {WARC_CUT_DISCONNECT, "WARC-Truncated: disconnect\r\n"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        unsigned next = 1;
        struct warc_writer *w = warc_writer_new(MEMBER_GZIP, draw_counting, &next);
        struct buf out = {0}, plain = {0};
        struct warc_capture c = page;
        struct digest160 payload = warc_payload_digest(&c);
        c.cut = cases[i].cut;
        warc_put_capture(w, &c, &payload, NULL, &out);
        CHECK_STATUS(cases[i].line, unzip_gzip(buf_span(&out), 1u << 20, &plain), ST_OK);
        CHECK(cases[i].line, contains(&plain, cases[i].line));
        buf_done(&out);
        buf_done(&plain);
        warc_writer_free(w);
    }
}

static void a_file_begins_with_who_made_it(void **state)
{
    (void)state;
    unsigned next = 1;
    struct warc_writer *w = warc_writer_new(MEMBER_GZIP, draw_counting, &next);
    struct buf out = {0}, plain = {0};
    warc_put_info(w,
                  &(struct warc_info){.filename = SPAN("f.warc.gz"),
                                      .software = SPAN("orb/1"),
                                      .operator_contact = SPAN("a@b.example"),
                                      .robots = SPAN("obey"),
                                      .at = 1},
                  &out);
    CHECK_STATUS("info", unzip_gzip(buf_span(&out), 1u << 20, &plain), ST_OK);
    static const char *const lines[] = {
        "WARC/1.1\r\nWARC-Type: warcinfo\r\n", "WARC-Filename: f.warc.gz\r\n", "software: orb/1\r\n",
        "format: WARC File Format 1.1\r\n",    "operator: a@b.example\r\n",    "robots: obey\r\n",
        "WARC-Date: 1970-01-01T00:00:00.001Z", "application/warc-fields\r\n",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        CHECK(lines[i], contains(&plain, lines[i]));
    CHECK("nothing empty", !contains(&plain, "hostname"));
    buf_done(&out);
    buf_done(&plain);
    warc_writer_free(w);
}

/* ---- members ---- */

/* Each record is a member by itself: zlib, asked for one member, gives one record. */
static void every_record_is_a_member(void **state)
{
    (void)state;
    unsigned next = 1;
    struct warc_writer *w = warc_writer_new(MEMBER_GZIP, draw_counting, &next);
    struct buf out = {0};
    struct digest160 payload = warc_payload_digest(&page);
    warc_put_capture(w, &page, &payload, NULL, &out);
    struct span rest = buf_span(&out);
    size_t members = 0;
    while (rest.n) {
        unsigned char text[4096];
        z_stream z = {.next_in = (unsigned char *)(uintptr_t)rest.p,
                      .avail_in = (unsigned)rest.n,
                      .next_out = text,
                      .avail_out = sizeof(text)};
        CHECK("init", inflateInit2(&z, 16 + MAX_WBITS) == Z_OK);
        CHECK("one member", inflate(&z, Z_FINISH) == Z_STREAM_END);
        CHECK("begins a record", z.total_out > 10 && memcmp(text, "WARC/1.1\r\n", 10) == 0);
        CHECK("ends one", memcmp(text + z.total_out - 4, "\r\n\r\n", 4) == 0);
        rest = span_from(rest, rest.n - z.avail_in);
        inflateEnd(&z);
        members++;
    }
    CHECK("three", members == 3);
    buf_done(&out);
    warc_writer_free(w);
}

static void cut_members_are_found_at_every_byte(void **state)
{
    (void)state;
    for (int kind = MEMBER_GZIP; kind <= MEMBER_ZSTD; kind++) {
        struct member_maker *m = member_maker_new((member_kind)kind);
        struct buf out = {0};
        size_t ends[4] = {0};
        struct rng r;
        char noise[300];
        rng_seed(&r, 7);
        for (size_t i = 0; i < sizeof(noise); i++)
            noise[i] = (char)rng_u64(&r);
        for (size_t i = 1; i < 4; i++) {
            const struct span parts[3] = {SPAN("head "), span_of(noise, i * 100), {0}};
            member_make(m, parts, 3, &out);
            ends[i] = out.n;
        }
        for (size_t n = 0; n <= out.n; n++) {
            size_t want = n >= ends[3] ? ends[3] : n >= ends[2] ? ends[2] : n >= ends[1] ? ends[1] : 0;
            CHECK("cut", member_whole_bytes((member_kind)kind, span_of(out.p, n)) == want);
        }
        /* What a power cut may leave: zeros; or bytes that are others. */
        for (size_t i = 0; i < 1000; i++)
            buf_putc(&out, 0);
        CHECK("zeros", member_whole_bytes((member_kind)kind, buf_span(&out)) == ends[3]);
        out.p[ends[2] + 60] ^= 1;
        CHECK("changed", member_whole_bytes((member_kind)kind, buf_span(&out)) == ends[2]);
        buf_done(&out);
        member_maker_free(m);
    }
}

static void parts_longer_than_a_piece_are_whole(void **state)
{
    (void)state;
    struct buf body = {0};
    for (unsigned i = 0; i < 400000; i++)
        buf_printf(&body, "%u ", i * 2654435761u);
    for (int kind = MEMBER_GZIP; kind <= MEMBER_ZSTD; kind++) {
        struct member_maker *m = member_maker_new((member_kind)kind);
        struct buf out = {0}, plain = {0};
        const struct span parts[3] = {SPAN("a"), buf_span(&body), SPAN("z")};
        member_make(m, parts, 3, &out);
        status st = kind == MEMBER_GZIP ? unzip_gzip(buf_span(&out), 64u << 20, &plain)
                                        : unzip_zstd(buf_span(&out), 64u << 20, &plain);
        CHECK_STATUS("unzip", st, ST_OK);
        CHECK("size", plain.n == body.n + 2);
        CHECK("bytes", memcmp(plain.p + 1, body.p, body.n) == 0);
        if (kind == MEMBER_ZSTD)
            CHECK("frame says its size", ZSTD_getFrameContentSize(out.p, out.n) == plain.n);
        buf_done(&out);
        buf_done(&plain);
        member_maker_free(m);
    }
    buf_done(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_known_vectors),
        cmocka_unit_test(dates_are_utc_with_milliseconds),
        cmocka_unit_test(heads_are_written_so_that_readers_can_parse_them),
        cmocka_unit_test(heads_from_others_are_looked_at),
        cmocka_unit_test(a_capture_is_response_request_and_metadata),
        cmocka_unit_test(a_revisit_names_the_record_that_has_the_body),
        cmocka_unit_test(what_was_cut_says_so),
        cmocka_unit_test(a_file_begins_with_who_made_it),
        cmocka_unit_test(every_record_is_a_member),
        cmocka_unit_test(cut_members_are_found_at_every_byte),
        cmocka_unit_test(parts_longer_than_a_piece_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
