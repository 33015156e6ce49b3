/* HTTP answers as archives keep them: heads, chunks, codings, and what is forgiven. */
#include "test.h"

#include <zlib.h>

#include "codec/http_text.h"
#include "codec/warc_value.h"
#include "io/fetch_archived.h"

static void chunks_are_put_together(void **state)
{
    (void)state;
    static const struct {
        const char *label, *body;
        http_chunks want;
        const char *out;
    } cases[] = {
        {"two", "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", CHUNKS_WHOLE, "hello world"},
        {"extension", "5;a=b\r\nhello\r\n0\r\n\r\n", CHUNKS_WHOLE, "hello"},
        {"zeros in front", "00005 \r\nhello\r\n000\r\n\r\n", CHUNKS_WHOLE, "hello"},
        {"line feeds alone", "5\nhello\n0\n\n", CHUNKS_WHOLE, "hello"},
        {"trailers", "5\r\nhello\r\n0\r\nX: y\r\n\r\n", CHUNKS_WHOLE, "hello"},
        {"none", "<html>", CHUNKS_NONE, ""},
        {"looks like one", "cafe is where", CHUNKS_NONE, ""},
        {"empty", "", CHUNKS_NONE, ""},
        {"a later one is none", "5\r\nhello\r\nzz\r\n", CHUNKS_WRONG, "hello"},
        {"longer than it says", "5\r\nhello!\r\n0\r\n\r\n", CHUNKS_WRONG, "hello"},
        {"ends inside", "5\r\nhel", CHUNKS_CUT, "hel"},
        {"ends before the last", "5\r\nhello\r\n", CHUNKS_CUT, "hello"},
        {"huge", "ffffffffffffffff\r\nhello", CHUNKS_CUT, "hello"},
        {"too many digits", "00000000000000005\r\nhello\r\n0\r\n\r\n", CHUNKS_NONE, ""},
        {"over the ceiling", "14\r\n01234567890123456789\r\n0\r\n\r\n", CHUNKS_LIMIT, "012345678901"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf out = {0};
        http_chunks got = http_dechunk(span_str(cases[i].body), 12, &out);
        if (got != cases[i].want)
            fail_msg("%s: %d, want %d", cases[i].label, got, cases[i].want);
        CHECK_SPAN(cases[i].label, buf_span(&out), span_str(cases[i].out));
        buf_done(&out);
    }
}

static void bodies_are_what_a_reader_would_see(void **state)
{
    (void)state;
    static const struct {
        const char *label, *block;
        int http;
        const char *body;
        archived_note note;
    } cases[] = {
        {"plain", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello", 200, "hello", ARCHIVED_FINE},
        {"line feeds", "HTTP/1.0 404 Not Found\nContent-Type: text/html\n\nhello", 404, "hello", ARCHIVED_FINE},
        {"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 200, "hello",
         ARCHIVED_FINE},
        {"says chunked", "HTTP/1.1 200 OK\r\ntransfer-encoding:Chunked\r\n\r\n<p>hello", 200, "<p>hello",
         ARCHIVED_NOT_CHUNKED},
        {"wrong chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n!\r\n", 200, "hello",
         ARCHIVED_WRONG_CHUNKS},
        {"says gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n<p>hello", 200, "<p>hello", ARCHIVED_NOT_CODED},
        {"after a continue", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhello", 200, "hello", ARCHIVED_FINE},
        {"longer than its length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello", 200, "hello", ARCHIVED_FINE},
        {"an image", "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 5\r\n\r\nhello", 200, "",
         ARCHIVED_FINE},
        {"no body", "HTTP/1.1 304 Not Modified\r\n\r\n", 304, "", ARCHIVED_FINE},
    };
    struct archived a = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct fetch_result r;
        archived_note note;
        CHECK_STATUS(cases[i].label, archived_answer(&a, span_str(cases[i].block), &r, &note), ST_OK);
        CHECK_STATUS(cases[i].label, r.st, ST_OK);
        CHECK_SPAN(cases[i].label, r.body, span_str(cases[i].body));
        CHECK(cases[i].label, r.http_status == cases[i].http && note == cases[i].note);
    }
    archived_done(&a);
}

static void what_is_no_answer_is_refused(void **state)
{
    (void)state;
    static const char *const blocks[] = {"",
                                         "hello",
                                         "HTTP/1.1 200 OK",
                                         "HTTP/1.1 200 OK\r\nA: b\r\n",
                                         "HTTP/1.1\r\n\r\n",
                                         "HTTP/1.1 abc\r\n\r\n",
                                         "GET / HTTP/1.1\r\n\r\n",
                                         "HTTP/1.1 100 Continue\r\n\r\n"};
    struct archived a = {0};
    for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
        struct fetch_result r;
        archived_note note;
        CHECK_STATUS(blocks[i], archived_answer(&a, span_str(blocks[i]), &r, &note), ST_INVALID);
    }
    archived_done(&a);
}

static void head_values_are_read_folded_too(void **state)
{
    (void)state;
    static const char block[] =
        "HTTP/1.1 301 Moved\r\nLocation: /there\r\nETag: \"x\"\r\nLast-Modified: Sun, 06 Nov\r\n"
        "  1994 08:49:37 GMT\r\nX-Robots-Tag: noindex\r\nX-Robots-Tag:\r\n\tnofollow\r\n"
        "Link: </c>; rel=canonical\r\nContent-Disposition: attachment; filename=a.pdf\r\n\r\n";
    struct archived a = {0};
    struct fetch_result r;
    archived_note note;
    CHECK_STATUS("answer", archived_answer(&a, span_str(block), &r, &note), ST_OK);
    CHECK_SPAN("location", r.location, SPAN("/there"));
    CHECK_SPAN("etag", r.etag, SPAN("\"x\""));
    CHECK_SPAN("modified", r.last_modified, SPAN("Sun, 06 Nov 1994 08:49:37 GMT"));
    CHECK_SPAN("robots", r.robots_tags, SPAN("noindex\nnofollow"));
    CHECK_SPAN("canonical", r.link_canonical, SPAN("/c"));
    CHECK_SPAN("name", r.disposition, SPAN("attachment; filename=a.pdf"));
    archived_done(&a);
}

/* A head with this coding, and n bytes of one letter coded so. */
static void put_gzip(struct buf *out, size_t n)
{
    char *plain = malloc(n);
    memset(plain, 'a', n);
    uLong room = compressBound(n) + 64;
    z_stream z = {.next_in = (unsigned char *)plain, .avail_in = (unsigned)n};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
    buf_puts(out, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n");
    z.next_out = (unsigned char *)buf_room(out, room);
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->n += room - z.avail_out;
    deflateEnd(&z);
    free(plain);
}

static void ceilings_are_the_fetchers(void **state)
{
    (void)state;
    struct archived a = {0};
    struct fetch_result r;
    struct buf block = {0};
    archived_note note;
    put_gzip(&block, 1000000);
    CHECK_STATUS("small", archived_answer(&a, buf_span(&block), &r, &note), ST_OK);
    CHECK("decoded", r.st == ST_OK && r.body.n == 1000000 && !r.body_cut);
    buf_clear(&block);
    put_gzip(&block, 15000000); /* 1,000 to one */
    CHECK_STATUS("bomb", archived_answer(&a, buf_span(&block), &r, &note), ST_OK);
    CHECK_STATUS("bomb", r.st, ST_LIMIT);
    assert_int_equal(r.body.n, 0);
    buf_clear(&block);
    buf_puts(&block, "HTTP/1.1 200 OK\r\n\r\n");
    memset(buf_room(&block, ARCHIVED_BODY_MAX + 5), 'b', ARCHIVED_BODY_MAX + 5);
    block.n += ARCHIVED_BODY_MAX + 5;
    CHECK_STATUS("long", archived_answer(&a, buf_span(&block), &r, &note), ST_OK);
    CHECK("cut", r.body_cut && r.body.n == ARCHIVED_BODY_MAX && r.wire_bytes == ARCHIVED_BODY_MAX + 5);
    /* Coded, and damaged behind its first piece: what a fetch of it would be. */
    buf_clear(&block);
    put_gzip(&block, 500000);
    block.p[block.n - 300] ^= 0x55;
    CHECK_STATUS("damaged", archived_answer(&a, buf_span(&block), &r, &note), ST_OK);
    CHECK("damaged", r.st == ST_PROTOCOL || r.body.n == 500000);
    buf_done(&block);
    archived_done(&a);
}

static void an_answer_tells_whether_it_is_whole(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool want;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", true},
        {"HTTP/1.1 200 OK\ncontent-length:5\n\nhello, and more", true},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", false},
        {"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello", false},
        {"HTTP/1.1 200 OK\r\n\r\nhello", false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello", false},
        {"hello", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK(cases[i].text, http_answer_is_whole(span_str(cases[i].text)) == cases[i].want);
}

static void a_revisit_has_its_own_head_and_the_other_body(void **state)
{
    (void)state;
    struct archived a = {0};
    struct fetch_result r;
    archived_note note;
    CHECK_STATUS(
        "original",
        archived_answer(&a, SPAN("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nETag: 1\r\n\r\nhello"), &r, &note),
        ST_OK);
    CHECK_STATUS("again", archived_again(&a, SPAN("HTTP/1.1 203 Other\r\nETag: 2\r\n\r\n"), &r), ST_OK);
    CHECK_SPAN("body", r.body, SPAN("hello"));
    CHECK_SPAN("type", r.content_type, SPAN("text/plain"));
    CHECK_SPAN("etag", r.etag, SPAN("2"));
    assert_int_equal(r.http_status, 203);
    CHECK_STATUS("no head", archived_again(&a, SPAN("nothing"), &r), ST_INVALID);
    assert_int_equal(r.http_status, 203);
    archived_done(&a);
}

/* ---- llhttp ---- */

/* The next "```http" block: line ends are CRLF, or nothing after a backslash; \n, \r and \t stand for themselves. And
 * the status that the log behind it has: 0 when the head did not come to its end. */
static bool next_sample(struct span *rest, struct buf *out, unsigned *http)
{
    static const struct span mark = SPAN_INIT("headers complete status=");
    size_t at = span_search(*rest, SPAN("```http\n"), false);
    if (at == rest->n)
        return false;
    *rest = span_from(*rest, at + 8);
    size_t end = span_search(*rest, SPAN("\n```"), false);
    struct span text = span_cut(*rest, 0, end);
    *rest = span_from(*rest, end + 4);
    buf_clear(out);
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i], e = c == '\\' && i + 1 < text.n ? text.p[i + 1] : '\0';
        if (e == 'n' || e == 'r' || e == 't')
            buf_putc(out, e == 'n' ? '\n' : e == 'r' ? '\r' : '\t');
        else if (c == '\n')
            buf_puts(out, "\r\n");
        else if (e != '\n')
            buf_putc(out, c);
        i += e == 'n' || e == 'r' || e == 't' || e == '\n';
    }
    struct span log = span_cut(*rest, 0, span_search(*rest, SPAN("```http\n"), false));
    size_t found = span_search(log, mark, false);
    uint64_t code = 0;
    (void)span_u64(span_cut(log, found + mark.n, 3), 999, &code);
    *http = (unsigned)code;
    return true;
}

static void samples_of_llhttp_have_the_status_it_says(void **state)
{
    (void)state;
    static const char *const files[] = {TEST_DATA "/http/llhttp-response-sample.md",
                                        TEST_DATA "/http/llhttp-response-content-length.md"};
    struct archived a = {0};
    struct buf bytes = {0};
    unsigned http, count = 0, checked = 0;
    for (size_t i = 0; i < 2; i++) {
        struct span text = test_read_file(files[i]), rest = text;
        while (next_sample(&rest, &bytes, &http)) {
            struct fetch_result r;
            archived_note note;
            count++;
            status st = archived_answer(&a, buf_span(&bytes), &r, &note);
            if (!span_starts(buf_span(&bytes), SPAN("HTTP/"))) { /* RTSP and the like, which it reads too */
                CHECK_STATUS("another protocol", st, ST_INVALID);
                continue;
            }
            if (!http)
                continue;
            checked++;
            if (st != ST_OK || (unsigned)r.http_status != http)
                fail_msg("sample %u: %s, status %d, want %u for\n%.*s", count, status_name(st),
                         st == ST_OK ? r.http_status : 0, http, SPAN_ARG(buf_span(&bytes)));
        }
        free((char *)text.p);
    }
    assert_int_equal(count, 24);
    CHECK("most have a status", checked >= 12);
    buf_done(&bytes);
    archived_done(&a);
}

/* ---- values of records ---- */

static void dates_of_archives_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        wall_ms want; /* -1: none */
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2017-03-06T04:03:53Z", 1488773033000},
        {"2017-03-06T04:03:53.123456789Z", 1488773033123},
        {"2017-03-06T04:03:53.5Z", 1488773033500},
        {"2017-03-06T04:03:53", 1488773033000},
        {"2017-03-06", 1488758400000},
        {"2017-03", 1488326400000},
        {"2017", 1483228800000},
        {" 2017-03-06 04:03:53 ", 1488773033000},
        {"20140216050221", 1392526941000},
        {"20140216050221123", 1392526941123},
        {"20140216", 1392508800000},
        {"2000-02-29T23:59:60Z", 951868800000},
        {"2100-02-29T00:00:00Z", -1},
        {"1969-12-31T23:59:59Z", -1},
        {"2017-13-01T00:00:00Z", -1},
        {"2017-03-06T24:00:00Z", -1},
        {"2017-03-06T04:03:53+01:00", -1},
        {"201404010000000000", -1},
        {"", -1},
        {"yesterday", -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        wall_ms got = -1;
        bool ok = warc_date_read(span_str(cases[i].text), &got);
        if (ok != (cases[i].want >= 0) || (ok && got != cases[i].want))
            fail_msg("%s: %lld, want %lld", cases[i].text, (long long)got, (long long)cases[i].want);
    }
}

static void digests_are_compared_in_any_spelling(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        warc_digest want;
    } cases[] = {
        {"sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5", WARC_DIGEST_RIGHT},
        {"SHA-1:vgmt4nsha2awvor6evyxqugcnsonbwe5", WARC_DIGEST_RIGHT},
        {"sha1:a9993e364706816aba3e25717850c26c9cd0d89d", WARC_DIGEST_RIGHT},
        {"sha1:A9993E364706816ABA3E25717850C26C9CD0D89D", WARC_DIGEST_RIGHT},
        {"sha1:qZk+NkcGgWq6PiVxeFDCbJzQ2J0=", WARC_DIGEST_RIGHT},
        {"sha1:qZk-NkcGgWq6PiVxeFDCbJzQ2J0", WARC_DIGEST_RIGHT},
        {"sha1:qzk+NkcGgWq6PiVxeFDCbJzQ2J0=", WARC_DIGEST_WRONG},
        {"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", WARC_DIGEST_WRONG},
        {"sha1:", WARC_DIGEST_WRONG},
        {"md5:900150983cd24fb0d6963f7d28e17f72", WARC_DIGEST_RIGHT},
        {"md5:SAAVBGB42JH3BVUWH56SRYL7OI======", WARC_DIGEST_RIGHT},
        {"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", WARC_DIGEST_RIGHT},
        {"sha-256:BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD", WARC_DIGEST_RIGHT},
        {"whirlpool:abc", WARC_DIGEST_UNKNOWN},
        {"nonsense", WARC_DIGEST_UNKNOWN},
        {"", WARC_DIGEST_NONE},
    };
    const struct span parts[] = {SPAN("a"), SPAN("bc")};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        warc_digest got = warc_digest_check(span_str(cases[i].text), parts, 2);
        if (got != cases[i].want)
            fail_msg("%s: %d, want %d", cases[i].text, got, cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_put_together),
        cmocka_unit_test(bodies_are_what_a_reader_would_see),
        cmocka_unit_test(what_is_no_answer_is_refused),
        cmocka_unit_test(head_values_are_read_folded_too),
        cmocka_unit_test(ceilings_are_the_fetchers),
        cmocka_unit_test(an_answer_tells_whether_it_is_whole),
        cmocka_unit_test(a_revisit_has_its_own_head_and_the_other_body),
        cmocka_unit_test(samples_of_llhttp_have_the_status_it_says),
        cmocka_unit_test(dates_of_archives_are_read),
        cmocka_unit_test(digests_are_compared_in_any_spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
