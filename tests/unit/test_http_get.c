#include "test.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/http_get.h"
#include "io/httpd.h"

#define LOOPBACK ((struct addr){4, {127, 0, 0, 1}})
#define TIMEOUT_MS 10000
#define LONG_BODY 300000

static void answer(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    if (span_is(req->target, "/long")) {
        memset(buf_room(&ans->body, LONG_BODY), 'x', LONG_BODY);
        ans->body.n = LONG_BODY;
    } else if (span_is(req->target, "/huge")) {
        memset(buf_room(&ans->body, HTTP_GET_BYTES_MAX + 1), 'x', HTTP_GET_BYTES_MAX + 1);
        ans->body.n = HTTP_GET_BYTES_MAX + 1;
    } else if (span_is(req->target, "/gone")) {
        ans->status = 410;
    } else {
        buf_printf(&ans->body, "%s %.*s %.*s", req->method, SPAN_ARG(req->target), SPAN_ARG(req->host));
        buf_puts(&ans->head, "X-Test: yes\n");
    }
    ans->drop = span_is(req->target, "/drop");
    if (span_is(req->target, "/never"))
        ans->delay_ms = 3600000;
}

static struct httpd *serve(void)
{
    struct httpd *h = NULL;
    struct httpd_opts opts = {.addr = LOOPBACK, .fn = answer};
    CHECK_STATUS("serve", httpd_new(&opts, &h), ST_OK);
    return h;
}

static void gets_head_and_body(void **state)
{
    struct httpd *h = serve();
    struct http_got got = {0};
    struct buf want = {0};
    CHECK_STATUS("plain", http_get(&LOOPBACK, httpd_port(h), "/a?b=1", TIMEOUT_MS, &got), ST_OK);
    buf_printf(&want, "GET /a?b=1 127.0.0.1:%d", httpd_port(h));
    assert_int_equal(got.status, 200);
    CHECK_SPAN("body", buf_span(&got.body), buf_span(&want));
    CHECK("head", span_search(buf_span(&got.head), SPAN("\r\nX-Test: yes\r\n"), false) < got.head.n);

    CHECK_STATUS("long", http_get(&LOOPBACK, httpd_port(h), "/long", TIMEOUT_MS, &got), ST_OK);
    assert_int_equal(got.body.n, LONG_BODY);
    CHECK_STATUS("gone", http_get(&LOOPBACK, httpd_port(h), "/gone", TIMEOUT_MS, &got), ST_OK);
    assert_int_equal(got.status, 410);
    assert_int_equal(got.body.n, 0);
    http_got_done(&got);
    buf_done(&want);
    httpd_free(h);
}

static void tells_failures_apart(void **state)
{
    struct httpd *h = serve();
    int port = httpd_port(h);
    struct http_got got = {.status = 7};
    CHECK_STATUS("dropped", http_get(&LOOPBACK, port, "/drop", TIMEOUT_MS, &got), ST_PROTOCOL);
    CHECK_STATUS("too long", http_get(&LOOPBACK, port, "/huge", TIMEOUT_MS, &got), ST_LIMIT);
    CHECK_STATUS("never", http_get(&LOOPBACK, port, "/never", 50, &got), ST_TIMEOUT);
    httpd_free(h);
    CHECK_STATUS("nobody listens", http_get(&LOOPBACK, port, "/", TIMEOUT_MS, &got), ST_CONNECT);
    assert_int_equal(got.status, 7); /* untouched */
    http_got_done(&got);
}

/* A server that sends `text` to whoever comes, whatever they say. */
static int listen_at(int *port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(in);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&in, n), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &n), 0);
    *port = ntohs(in.sin_port);
    return fd;
}

static void takes_only_http(void **state)
{
    static const struct {
        const char *label, *text;
        status want;
    } cases[] = {
        {"nothing", "", ST_PROTOCOL},
        {"no end of the head", "HTTP/1.1 200 OK\r\nA: b\r\n", ST_PROTOCOL},
        {"not a number", "HTTP/1.1 2x0 OK\r\n\r\n", ST_PROTOCOL},
        {"too large a number", "HTTP/1.1 999 OK\r\n\r\n", ST_PROTOCOL},
        {"another protocol", "SSH-2.0-x 200\r\n\r\n", ST_PROTOCOL},
        {"the least", "HTTP/1.0 204 \r\n\r\n", ST_OK},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int port, fd = listen_at(&port);
        struct http_got got = {0};
        pid_t child = fork();
        if (child == 0) {
            char sink[1024];
            int peer = accept(fd, NULL, NULL);
            /* The request is read first: closing with unread bytes would reset the connection. */
            bool ok = recv(peer, sink, sizeof(sink), 0) > 0 && send(peer, cases[i].text, strlen(cases[i].text), 0) >= 0;
            shutdown(peer, SHUT_WR);
            _exit(ok ? 0 : 1);
        }
        CHECK_STATUS(cases[i].label, http_get(&LOOPBACK, port, "/", TIMEOUT_MS, &got), cases[i].want);
        close(fd);
        assert_int_equal(waitpid(child, NULL, 0), child);
        http_got_done(&got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gets_head_and_body),
        cmocka_unit_test(tells_failures_apart),
        cmocka_unit_test(takes_only_http),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
