#include "test.h"

#include "base/buf.h"
#include "io/fetch_request.h"

static void urls_with_bytes_that_end_lines_are_not_clean(void **state)
{
    static const char *const dirty[] = {"http://a/ b", "http://a/\r\nX: y", "http://a/\x7f", "http://a\t/"};
    for (size_t i = 0; i < sizeof(dirty) / sizeof(*dirty); i++)
        CHECK(dirty[i], !fetch_url_is_clean(span_str(dirty[i])));
    CHECK("NUL", !fetch_url_is_clean(span_of("http://a/\0", 10)));
    CHECK("clean", fetch_url_is_clean(SPAN("http://a/%20?q=\xc3\xa9#x")));
}

static void the_host_stands_in_front_of_the_path(void **state)
{
    static const struct {
        const char *url, *host; /* NULL: none to be had */
    } cases[] = {
        {"http://a.test/x", "a.test"},
        {"http://a.test:81?q", "a.test:81"},
        {"http://[::1]:8/", "[::1]:8"},
        {"http://a.test#f", "a.test"},
        {"http:///x", NULL},
        {"http://me:pw@a.test/", NULL},
        {"http://a/@b", "a"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct span host;
        CHECK(cases[i].url, fetch_url_host(span_str(cases[i].url), &host) == (cases[i].host != NULL));
        if (cases[i].host)
            CHECK_SPAN(cases[i].url, host, span_str(cases[i].host));
    }
}

static void conditions_are_what_could_have_come_from_a_header(void **state)
{
    struct buf b = {0};
    fetch_condition(&b, SPAN("If-None-Match: "), SPAN("\"e\""));
    CHECK_SPAN("tag", buf_span(&b), SPAN("If-None-Match: \"e\""));
    fetch_condition(&b, SPAN("If-None-Match: "), SPAN("\"e\"\r\nX: y"));
    CHECK_SPAN("two lines", buf_span(&b), SPAN(""));
    fetch_condition(&b, SPAN("If-None-Match: "), SPAN(""));
    CHECK_SPAN("none", buf_span(&b), SPAN(""));
    buf_done(&b);
}

static void a_request_is_written(void **state)
{
    static const struct {
        struct fetch_request_parts parts;
        const char *want;
    } cases[] = {
        {{.url = SPAN_INIT("http://a.test")}, "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"},
        {{.url = SPAN_INIT("http://a.test:8/x?y#z"), .is_head = true}, "HEAD /x?y HTTP/1.1\r\nHost: a.test:8\r\n\r\n"},
        {{.url = SPAN_INIT("http://a.test?y")}, "GET /?y HTTP/1.1\r\nHost: a.test\r\n\r\n"},
        {{.url = SPAN_INIT("http://a/"), .conditions = {{0}, SPAN_INIT("B: 2")}, .headers = SPAN_INIT("C: 3\r\n")},
         "GET / HTTP/1.1\r\nHost: a\r\nB: 2\r\nC: 3\r\n\r\n"},
        {{.url = SPAN_INIT("http://a/"), .headers = SPAN_INIT("C: 3\r\nhost: b\r\n")},
         "GET / HTTP/1.1\r\nC: 3\r\nhost: b\r\n\r\n"},
    };
    struct buf b = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        fetch_request_write(&cases[i].parts, &b);
        CHECK_SPAN(cases[i].want, buf_span(&b), span_str(cases[i].want));
    }
    buf_done(&b);
}

static void header_lines_follow_curls_rules(void **state)
{
    struct buf b = {0};
    fetch_request_header(&b, SPAN("A: 1"));
    fetch_request_header(&b, SPAN("B:"));
    fetch_request_header(&b, SPAN("C;"));
    fetch_request_header(&b, SPAN("D:  x "));
    fetch_request_header(&b, SPAN("nonsense"));
    CHECK_SPAN("lines", buf_span(&b), SPAN("A: 1\r\nC:\r\nD: x\r\n"));
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_with_bytes_that_end_lines_are_not_clean),
        cmocka_unit_test(the_host_stands_in_front_of_the_path),
        cmocka_unit_test(conditions_are_what_could_have_come_from_a_header),
        cmocka_unit_test(a_request_is_written),
        cmocka_unit_test(header_lines_follow_curls_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
