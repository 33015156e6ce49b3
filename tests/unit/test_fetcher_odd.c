/* test_fetcher_odd.c - odd responses, sent by a socket that knows nothing of HTTP. */
#include "fetch_bed.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

struct raw {
    int fd, port;
    bool holds; /* the connection, until the other end closes it */
    struct span bytes;
    pthread_t thread;
};

static void *serve_raw(void *arg)
{
    struct raw *raw = arg;
    for (;;) {
        int fd = accept(raw->fd, NULL, NULL);
        char request[4096];
        size_t n = 0;
        if (fd < 0)
            return NULL;
        while (n < sizeof(request) - 1) {
            ssize_t got = read(fd, request + n, sizeof(request) - 1 - n);
            if (got <= 0)
                break;
            n += (size_t)got;
            request[n] = '\0';
            if (strstr(request, "\r\n\r\n"))
                break;
        }
        (void)!write(fd, raw->bytes.p, raw->bytes.n);
        while (raw->holds && read(fd, request, sizeof(request)) > 0)
            ;
        close(fd);
    }
}

static const struct fetch_result *get_from(struct bed *b, struct span bytes, bool holds, bool keep_raw)
{
    struct raw raw = {.bytes = bytes, .holds = holds, .fd = socket(AF_INET, SOCK_STREAM, 0)};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(in);
    assert_int_equal(bind(raw.fd, (struct sockaddr *)&in, n), 0);
    assert_int_equal(listen(raw.fd, 8), 0);
    getsockname(raw.fd, (struct sockaddr *)&in, &n);
    assert_int_equal(pthread_create(&raw.thread, NULL, serve_raw, &raw), 0);
    int port = b->port;
    b->port = ntohs(in.sin_port);
    const struct fetch_result *r = get(b, "/", (struct fetch_req){.any_type = true, .keep_raw = keep_raw});
    b->port = port;
    shutdown(raw.fd, SHUT_RDWR);
    pthread_join(raw.thread, NULL);
    close(raw.fd);
    return r;
}

static const struct fetch_result *get_raw(struct bed *b, struct span bytes)
{
    return get_from(b, bytes, false, false);
}

static void raw_bodies_that_end_early_are_known_as_such(void **state)
{
    static const struct {
        const char *label;
        struct span bytes;
        bool holds;
        status want;
        bool is_broken;
    } cases[] = {
        {"whole", SPAN("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"), false, ST_OK, false},
        {"no length", SPAN("HTTP/1.0 200 OK\r\n\r\nhi"), false, ST_OK, false},
        {"whole chunks", SPAN("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"), false,
         ST_OK, false},
        {"no gzip", SPAN("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi"), false,
         ST_PROTOCOL, false},
        {"short", SPAN("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"), false, ST_PROTOCOL, true},
        {"cut in a chunk", SPAN("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhi"), false, ST_PROTOCOL,
         true},
        {"cut after a chunk", SPAN("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"), false,
         ST_PROTOCOL, true},
        {"too slow", SPAN("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"), true, ST_TIMEOUT, true},
    };
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .first_byte_ms = 20000, .total_ms = 3000});
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct fetch_result *r = get_from(&b, cases[i].bytes, cases[i].holds, true);
        CHECK_STATUS(cases[i].label, r->st, cases[i].want);
        CHECK(cases[i].label, r->has_raw && r->raw_broken == cases[i].is_broken && !r->raw_cut);
        CHECK_SPAN(cases[i].label, r->raw, SPAN("hi"));
    }
    bed_close(&b);
}

static void odd_responses_have_sensible_ends(void **state)
{
    static const struct {
        const char *label;
        struct span bytes;
        status want;
        int http_status;
        struct span body;
    } cases[] = {
        {"nothing", SPAN(""), ST_CONNECT, 0, SPAN("")},
        {"LF only", SPAN("HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 2\n\nhi"), ST_OK, 200, SPAN("hi")},
        {"no reason", SPAN("HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n"), ST_OK, 404, SPAN("")},
        {"no length", SPAN("HTTP/1.0 200 OK\r\n\r\nto the end"), ST_OK, 200, SPAN("to the end")},
        {"short body", SPAN("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), ST_PROTOCOL, 200, SPAN("half")},
        {"404, short body", SPAN("HTTP/1.1 404 No\r\nContent-Length: 10\r\n\r\nhalf"), ST_OK, 404, SPAN("half")},
        {"redirect, not coded as it says", SPAN("HTTP/1.1 302 Go\r\nContent-Encoding: gzip\r\n\r\nplain"), ST_OK, 302,
         SPAN("")},
        {"long body", SPAN("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi and more"), ST_OK, 200, SPAN("hi")},
        {"bad length", SPAN("HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\nhi"), ST_PROTOCOL, 200, SPAN("")},
        {"negative length", SPAN("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhi"), ST_PROTOCOL, 200, SPAN("")},
        {"chunked",
         SPAN("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n1;x=y\r\n!\r\n0\r\nETag: no\r\n\r\n"),
         ST_OK, 200, SPAN("hi!")},
        {"bad chunk", SPAN("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nzz\r\n"), ST_PROTOCOL, 200,
         SPAN("hi")},
        {"cut chunk", SPAN("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhi"), ST_PROTOCOL, 200,
         SPAN("hi")},
        {"early hints", SPAN("HTTP/1.1 103 Hi\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
         ST_OK, 200, SPAN("hi")},
        {"not HTTP", SPAN("220 mail.example ESMTP\r\n"), ST_PROTOCOL, 0, SPAN("")},
        {"head only, cut", SPAN("HTTP/1.1 200 OK\r\nContent-Ty"), ST_PROTOCOL, 200, SPAN("")},
        {"binary", {"\0\1\2\3\xff\xfe", 6}, ST_PROTOCOL, 0, SPAN("")},
        {"NUL in header", {"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", 28}, ST_PROTOCOL, 200, SPAN("")},
        {"HTTP/3.7", SPAN("HTTP/3.7 200 OK\r\n\r\n"), ST_PROTOCOL, 0, SPAN("")},
        {"status 99", SPAN("HTTP/1.1 99 No\r\n\r\n"), ST_PROTOCOL, 0, SPAN("")},
    };
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .first_byte_ms = 20000, .total_ms = 30000});
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct fetch_result *r = get_raw(&b, cases[i].bytes);
        CHECK_STATUS(cases[i].label, r->st, cases[i].want);
        if (r->http_status != cases[i].http_status)
            fail_msg("%s: HTTP status %d, want %d", cases[i].label, r->http_status, cases[i].http_status);
        CHECK_SPAN(cases[i].label, r->body, cases[i].body);
        CHECK(cases[i].label, (r->st == ST_OK) == (r->why[0] == '\0'));
    }
    bed_close(&b);
}

/* The next "```http" block of an llhttp sample file: line ends are CRLF, or nothing after a backslash; \n, \r and \t
 * stand for themselves. */
static bool next_sample(struct span *rest, struct buf *out)
{
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
    return true;
}

static void samples_of_llhttp_end_without_hanging(void **state)
{
    static const char *const files[] = {TEST_DATA "/http/llhttp-response-sample.md",
                                        TEST_DATA "/http/llhttp-response-content-length.md"};
    struct bed b;
    struct buf bytes = {0};
    int count = 0, ok = 0;
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .first_byte_ms = 20000, .total_ms = 30000});
    for (size_t i = 0; i < 2; i++) {
        struct span text = test_read_file(files[i]), rest = text;
        while (next_sample(&rest, &bytes)) {
            const struct fetch_result *r = get_raw(&b, buf_span(&bytes));
            char label[32];
            snprintf(label, sizeof(label), "sample %d", ++count);
            ok += r->st == ST_OK;
            if (r->st != ST_OK && r->st != ST_PROTOCOL)
                fail_msg("%s: %s: %s for\n%.*s", label, status_name(r->st), r->why, SPAN_ARG(buf_span(&bytes)));
            CHECK(label, r->st != ST_OK || (r->http_status >= 100 && r->http_status < 1000));
        }
        free((char *)text.p);
    }
    assert_int_equal(count, 24);
    print_message("%d of %d samples are taken\n", ok, count);
    buf_done(&bytes);
    bed_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_bodies_that_end_early_are_known_as_such),
        cmocka_unit_test(odd_responses_have_sensible_ends),
        cmocka_unit_test(samples_of_llhttp_end_without_hanging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
