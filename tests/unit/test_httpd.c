#include "test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/clock.h"
#include "io/httpd.h"

#define LOOPBACK ((struct addr){4, {127, 0, 0, 1}})

/* Says back what it was asked; /slow waits, /drop hangs up, /head adds headers. */
static void echo(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    char peer[ADDR_TEXT_MAX], local[ADDR_TEXT_MAX];
    struct span agent = httpd_header(req, "user-agent");
    buf_printf(&ans->body, "%s %.*s host=%.*s agent=%.*s peer=%s local=%s body=%.*s", req->method,
               SPAN_ARG(req->target), SPAN_ARG(req->host), SPAN_ARG(agent), addr_format(&req->peer, peer),
               addr_format(&req->local, local), SPAN_ARG(req->body));
    if (span_starts(req->target, SPAN("/slow")))
        ans->delay_ms = 200;
    if (span_starts(req->target, SPAN("/slowest")))
        ans->delay_ms = 3600000;
    ans->drop = span_ends(req->target, SPAN("drop"));
    if (span_is(req->target, "/head")) {
        ans->status = 404;
        buf_puts(&ans->head, "X-One: 1\nX-Robots-Tag: noindex\r\nX-Robots-Tag: a: b\nnot a header\nX-Last: end");
    }
}

static struct httpd *serve(struct httpd_opts opts)
{
    struct httpd *h = NULL;
    opts.fn = echo;
    opts.request_body_max = 10;
    if (!opts.addr.family)
        opts.addr = LOOPBACK;
    CHECK_STATUS("serve", httpd_new(&opts, &h), ST_OK);
    assert_true(httpd_port(h) > 0);
    return h;
}

static int dial(int port, const char *to)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, to, &in.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval patience = {10, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
    return fd;
}

/* Sends `text` and reads one response: up to its declared length, or the end. */
static char *ask(int fd, const char *text, char *to, size_t cap)
{
    size_t n = 0;
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    for (;;) {
        ssize_t got = read(fd, to + n, cap - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
        to[n] = '\0';
        char *end = strstr(to, "\r\n\r\n"), *length = strcasestr(to, "content-length: ");
        if (end && length && strlen(end + 4) >= strtoul(length + 16, NULL, 10))
            break;
    }
    to[n] = '\0';
    return to;
}

static void answers_with_what_the_handler_says(void **state)
{
    struct httpd *h = serve((struct httpd_opts){0});
    int fd = dial(httpd_port(h), "127.0.0.1");
    char got[4096];
    static const struct {
        const char *request, *want;
    } cases[] = {
        {"GET /a%20b?x=1&y HTTP/1.1\r\nHost: h.example:81\r\nUser-Agent: me\r\n\r\n",
         "GET /a%20b?x=1&y host=h.example:81 agent=me peer=127.0.0.1 local=127.0.0.1 body="},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n0123456789", "body=0123456789"},
        {"GET /head HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 404"},
        {"GET /head HTTP/1.1\r\nHost: h\r\n\r\n", "X-One: 1\r\n"},
        {"GET /head HTTP/1.1\r\nHost: h\r\n\r\n", "X-Robots-Tag: noindex\r\n"},
        {"GET /head HTTP/1.1\r\nHost: h\r\n\r\n", "X-Robots-Tag: a: b\r\n"},
        {"GET /head HTTP/1.1\r\nHost: h\r\n\r\n", "X-Last: end\r\n"},
        {"GET /slow HTTP/1.1\r\nHost: h\r\n\r\n", "GET /slow"},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n0123456789a", "HTTP/1.1 413"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) /* all over one connection */
        if (!strstr(ask(fd, cases[i].request, got, sizeof(got)), cases[i].want))
            fail_msg("%s: got \"%s\", want \"%s\"", cases[i].request, got, cases[i].want);
    close(fd);
    httpd_free(h);
    httpd_free(NULL);
}

static void drop_hangs_up_without_a_byte(void **state)
{
    struct httpd *h = serve((struct httpd_opts){0});
    char got[4096];
    static const char *const targets[] = {"/drop", "/slow-drop"};
    for (size_t i = 0; i < 2; i++) {
        int fd = dial(httpd_port(h), "127.0.0.1");
        char request[100];
        snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", targets[i]);
        CHECK_SPAN(targets[i], span_str(ask(fd, request, got, sizeof(got))), SPAN(""));
        close(fd);
    }
    httpd_free(h);
}

static void taken_port_is_busy(void **state)
{
    struct httpd *h = serve((struct httpd_opts){0}), *second = NULL;
    struct httpd_opts opts = {.addr = LOOPBACK, .port = httpd_port(h), .fn = echo};
    CHECK_STATUS("same port", httpd_new(&opts, &second), ST_BUSY);
    opts.addr = (struct addr){4, {192, 0, 2, 1}};
    CHECK_STATUS("not our address", httpd_new(&opts, &second), ST_IO);
    assert_null(second);
    int port = httpd_port(h);
    httpd_free(h);
    h = serve((struct httpd_opts){.port = port}); /* free again at once */
    assert_int_equal(httpd_port(h), port);
    httpd_free(h);
}

static void tells_which_address_was_connected_to(void **state)
{
    struct httpd *h = serve((struct httpd_opts){.addr = {4, {0}}, .threads = 2});
    char got[4096];
    static const char *const addrs[] = {"127.0.0.2", "127.0.0.77"};
    for (size_t i = 0; i < 2; i++) {
        char want[64];
        int fd = dial(httpd_port(h), addrs[i]);
        snprintf(want, sizeof(want), "local=%s ", addrs[i]);
        CHECK(addrs[i], strstr(ask(fd, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", got, sizeof(got)), want));
        close(fd);
    }
    httpd_free(h);
}

static void delays_do_not_hold_up_others(void **state)
{
    struct httpd *h = serve((struct httpd_opts){0}); /* one thread */
    enum { N = 20 };
    int fds[N];
    char got[4096];
    mono_ms start = clock_mono();
    for (int i = 0; i < N; i++) {
        fds[i] = dial(httpd_port(h), "127.0.0.1");
        assert_true(write(fds[i], "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n", 32) == 32);
    }
    int quick = dial(httpd_port(h), "127.0.0.1");
    assert_non_null(strstr(ask(quick, "GET /quick HTTP/1.1\r\nHost: h\r\n\r\n", got, sizeof(got)), "GET /quick"));
    assert_true(clock_mono() - start < 190);
    for (int i = 0; i < N; i++) {
        assert_non_null(strstr(ask(fds[i], "", got, sizeof(got)), "GET /slow"));
        close(fds[i]);
    }
    mono_ms took = clock_mono() - start;
    assert_true(took >= 195 && took < 2000); /* one after the other it would be four seconds */
    close(quick);
    httpd_free(h);
}

static void stops_while_an_answer_is_delayed(void **state)
{
    struct httpd *h = serve((struct httpd_opts){.threads = 2});
    int fd = dial(httpd_port(h), "127.0.0.1");
    char got[4096];
    assert_true(write(fd, "GET /slowest HTTP/1.1\r\nHost: h\r\n\r\n", 35) == 35);
    usleep(50000);
    mono_ms start = clock_mono();
    httpd_free(h);
    assert_true(clock_mono() - start < 5000);
    (void)ask(fd, "", got, sizeof(got)); /* answered early or hung up; not left waiting */
    close(fd);
}

struct load {
    int port;
    int answered;
};

static void *ask_often(void *arg)
{
    struct load *l = arg;
    char got[4096];
    int fd = dial(l->port, "127.0.0.1");
    for (int i = 0; i < 500; i++)
        l->answered += strstr(ask(fd, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n", got, sizeof(got)), "GET /x") != NULL;
    close(fd);
    return NULL;
}

static void several_threads_serve_several_clients(void **state)
{
    struct httpd *h = serve((struct httpd_opts){.threads = 4});
    enum { N = 4 };
    pthread_t threads[N];
    struct load loads[N];
    for (int i = 0; i < N; i++) {
        loads[i] = (struct load){.port = httpd_port(h)};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &loads[i]), 0);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(loads[i].answered, 500);
    }
    httpd_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_with_what_the_handler_says),
        cmocka_unit_test(drop_hangs_up_without_a_byte),
        cmocka_unit_test(taken_port_is_busy),
        cmocka_unit_test(tells_which_address_was_connected_to),
        cmocka_unit_test(delays_do_not_hold_up_others),
        cmocka_unit_test(stops_while_an_answer_is_delayed),
        cmocka_unit_test(several_threads_serve_several_clients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
