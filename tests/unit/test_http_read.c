#include "test.h"

#include "base/buf.h"
#include "codec/http_read.h"

#define LINE_MAX_BYTES 200

/* What came of an answer: lines with '|' after each, then the body. */
struct got {
    struct buf lines, body;
    size_t stop_after; /* lines; 0: never */
    size_t line_count;
};

static bool take_line(void *arg, struct span line)
{
    struct got *g = arg;
    buf_put(&g->lines, span_trim(line));
    buf_putc(&g->lines, '|');
    return ++g->line_count != g->stop_after;
}

static bool take_body(void *arg, struct span piece)
{
    struct got *g = arg;
    buf_put(&g->body, piece);
    return true;
}

static const struct http_take TAKE = {take_line, take_body};

/* Feeds `bytes` in pieces; *used is how many belong to the answer. */
static status feed(struct http_read *r, struct got *g, struct span bytes, size_t piece, size_t *used)
{
    status st = ST_AGAIN;
    *used = 0;
    while (st == ST_AGAIN && *used < bytes.n) {
        size_t n;
        st = http_read_feed(r, span_cut(bytes, *used, piece), &TAKE, g, &n);
        *used += n;
    }
    return st == ST_AGAIN ? http_read_end(r) : st;
}

static const struct {
    const char *label;
    struct span bytes;
    bool is_head;
    status want;
    const char *lines, *body;
    size_t left; /* with ST_OK: bytes that are not its own */
    bool keeps;
} CASES[] = {
    {"length", SPAN_INIT("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"), false, ST_OK,
     "HTTP/1.1 200 OK|Content-Length: 2||", "hi", 0, true},
    {"LF only, and the next one behind it", SPAN_INIT("HTTP/1.1 200 OK\nContent-Length: 2\n\nhiHTTP/1.1"), false, ST_OK,
     "HTTP/1.1 200 OK|Content-Length: 2||", "hi", 8, true},
    {"nothing to read", SPAN_INIT("HTTP/1.1 404\r\ncontent-length:0\r\n\r\n"), false, ST_OK,
     "HTTP/1.1 404|content-length:0||", "", 0, true},
    {"says close", SPAN_INIT("HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n\r\na"), false, ST_OK,
     "HTTP/1.1 200 OK|Connection: x, Close|Content-Length: 1||", "a", 0, false},
    {"old", SPAN_INIT("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na"), false, ST_OK,
     "HTTP/1.0 200 OK|Content-Length: 1||", "a", 0, false},
    {"old, kept", SPAN_INIT("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na"), false, ST_OK,
     "HTTP/1.0 200 OK|Connection: keep-alive|Content-Length: 1||", "a", 0, true},
    {"to the end", SPAN_INIT("HTTP/1.1 200 OK\r\n\r\nto the end"), false, ST_OK, "HTTP/1.1 200 OK||", "to the end", 0,
     false},
    {"HEAD", SPAN_INIT("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"), true, ST_OK,
     "HTTP/1.1 200 OK|Content-Length: 10||", "", 0, true},
    {"304", SPAN_INIT("HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n"), false, ST_OK,
     "HTTP/1.1 304 Not Modified|Content-Length: 10||", "", 0, true},
    {"chunks and a trailer",
     SPAN_INIT(
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nA;x=y\r\n0123456789\r\n0\r\nE: n\r\n\r\n"),
     false, ST_OK, "HTTP/1.1 200 OK|Transfer-Encoding: chunked||E: n|", "hi0123456789", 0, true},
    {"chunks go before a length",
     SPAN_INIT("HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: Chunked\r\n\r\n1 \r\nx\r\n0\r\n\r\n"),
     false, ST_OK, "HTTP/1.1 200 OK|Content-Length: 99|Transfer-Encoding: Chunked||", "x", 0, true},
    {"hints first", SPAN_INIT("HTTP/1.1 103 Hi\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"),
     false, ST_OK, "HTTP/1.1 103 Hi|Link: </a>||HTTP/1.1 200 OK|Content-Length: 1||", "a", 0, true},
    {"the same length twice", SPAN_INIT("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na"), false,
     ST_OK, "HTTP/1.1 200 OK|Content-Length: 1|Content-Length: 1||", "a", 0, true},
    {"nothing", SPAN_INIT(""), false, ST_CONNECT, "", "", 0, false},
    {"two lengths", SPAN_INIT("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na"), false, ST_PROTOCOL,
     "HTTP/1.1 200 OK|Content-Length: 1|", "", 0, false},
    {"a length that is none", SPAN_INIT("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n"), false, ST_PROTOCOL,
     "HTTP/1.1 200 OK|", "", 0, false},
    {"a coding that was not asked for", SPAN_INIT("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"), false,
     ST_PROTOCOL, "HTTP/1.1 200 OK|", "", 0, false},
    {"no chunk", SPAN_INIT("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n;\r\n"), false, ST_PROTOCOL,
     "HTTP/1.1 200 OK|Transfer-Encoding: chunked||", "hi", 0, false},
    {"a chunk longer than it said", SPAN_INIT("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi!\r\n"),
     false, ST_PROTOCOL, "HTTP/1.1 200 OK|Transfer-Encoding: chunked||", "hi", 0, false},
    {"a chunk too long", SPAN_INIT("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1234567890abcdef\r\n"), false,
     ST_PROTOCOL, "HTTP/1.1 200 OK|Transfer-Encoding: chunked||", "", 0, false},
    {"cut in a chunk", SPAN_INIT("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhi"), false, ST_PROTOCOL,
     "HTTP/1.1 200 OK|Transfer-Encoding: chunked||", "hi", 0, false},
    {"cut before the last line", SPAN_INIT("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"), false,
     ST_PROTOCOL, "HTTP/1.1 200 OK|Transfer-Encoding: chunked||", "", 0, false},
    {"cut in the head", SPAN_INIT("HTTP/1.1 200 OK\r\nContent-"), false, ST_PROTOCOL, "HTTP/1.1 200 OK|", "", 0, false},
    {"cut in the body", SPAN_INIT("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi"), false, ST_PROTOCOL,
     "HTTP/1.1 200 OK|Content-Length: 5||", "hi", 0, false},
    {"only hints", SPAN_INIT("HTTP/1.1 100 Continue\r\n\r\n"), false, ST_PROTOCOL, "HTTP/1.1 100 Continue||", "", 0,
     false},
    {"mail", SPAN_INIT("220 mail.example ESMTP\r\n"), false, ST_PROTOCOL, "", "", 0, false},
    {"HTTP/2", SPAN_INIT("HTTP/2 200 OK\r\n\r\n"), false, ST_PROTOCOL, "", "", 0, false},
    {"four digits", SPAN_INIT("HTTP/1.1 2000 OK\r\n\r\n"), false, ST_PROTOCOL, "", "", 0, false},
    {"NUL", {"HTTP/1.1 200 OK\r\nX: \0\r\n\r\n", 25}, false, ST_PROTOCOL, "HTTP/1.1 200 OK|", "", 0, false},
};

static void answers_are_read_the_same_in_pieces_of_any_size(void **state)
{
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        for (size_t piece = 1; piece <= CASES[i].bytes.n + 1; piece++) {
            struct http_read r = {0};
            struct got g = {0};
            size_t used;
            http_read_begin(&r, CASES[i].is_head, LINE_MAX_BYTES);
            CHECK_STATUS(CASES[i].label, feed(&r, &g, CASES[i].bytes, piece, &used), CASES[i].want);
            CHECK_SPAN(CASES[i].label, buf_span(&g.lines), span_str(CASES[i].lines));
            CHECK_SPAN(CASES[i].label, buf_span(&g.body), span_str(CASES[i].body));
            CHECK(CASES[i].label, (CASES[i].want == ST_OK) == (r.why[0] == '\0'));
            if (CASES[i].want == ST_OK) {
                CHECK(CASES[i].label, used == CASES[i].bytes.n - CASES[i].left);
                CHECK(CASES[i].label, http_read_keeps(&r) == CASES[i].keeps);
            }
            http_read_done(&r);
            buf_done(&g.lines);
            buf_done(&g.body);
        }
}

static void a_reader_forgets_the_answer_before(void **state)
{
    struct http_read r = {0};
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct got g = {0};
        size_t used;
        http_read_begin(&r, CASES[i].is_head, LINE_MAX_BYTES);
        CHECK_STATUS(CASES[i].label, feed(&r, &g, CASES[i].bytes, 3, &used), CASES[i].want);
        CHECK_SPAN(CASES[i].label, buf_span(&g.body), span_str(CASES[i].body));
        buf_done(&g.lines);
        buf_done(&g.body);
    }
    http_read_done(&r);
}

static void long_lines_are_refused(void **state)
{
    struct http_read r = {0};
    struct got g = {0};
    char line[2 * LINE_MAX_BYTES];
    size_t used;
    memset(line, 'x', sizeof(line));
    http_read_begin(&r, false, LINE_MAX_BYTES);
    CHECK_STATUS("status line", feed(&r, &g, span_of(line, sizeof(line)), 7, &used), ST_LIMIT);
    http_read_begin(&r, false, LINE_MAX_BYTES);
    CHECK_STATUS("begun", http_read_feed(&r, SPAN("HTTP/1.1 200 OK\r\n"), &TAKE, &g, &used), ST_AGAIN);
    CHECK_STATUS("at once", http_read_feed(&r, span_of(line, sizeof(line)), &TAKE, &g, &used), ST_LIMIT);
    http_read_done(&r);
    buf_done(&g.lines);
    buf_done(&g.body);
}

static void whoever_takes_the_parts_may_stop(void **state)
{
    struct http_read r = {0};
    struct got g = {.stop_after = 2};
    size_t used;
    http_read_begin(&r, false, LINE_MAX_BYTES);
    CHECK_STATUS("stopped", feed(&r, &g, SPAN("HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\n\r\n"), 100, &used), ST_CANCELLED);
    CHECK_SPAN("lines", buf_span(&g.lines), SPAN("HTTP/1.1 200 OK|A: 1|"));
    http_read_done(&r);
    buf_done(&g.lines);
    buf_done(&g.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_read_the_same_in_pieces_of_any_size),
        cmocka_unit_test(a_reader_forgets_the_answer_before),
        cmocka_unit_test(long_lines_are_refused),
        cmocka_unit_test(whoever_takes_the_parts_may_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
