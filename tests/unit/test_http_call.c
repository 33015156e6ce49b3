#include "test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/http_call.h"
#include "io/httpd.h"
#include "io/tls_key.h"

#define LOOPBACK ((struct addr){4, {127, 0, 0, 1}})
#define PATIENCE_MS 20000

/* ---- a server that says back what it was asked ---- */

static void echo(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    uint64_t n;
    if (span_starts(req->target, SPAN("/big/")) && span_u64(span_from(req->target, 5), 10000000, &n)) {
        memset(buf_room(&ans->body, n + 1), 'x', n);
        ans->body.n = n;
        return;
    }
    if (span_is(req->target, "/never"))
        ans->delay_ms = 3600000;
    if (span_is(req->target, "/drop"))
        ans->drop = true;
    ans->status = span_is(req->target, "/404") ? 404 : 200;
    buf_puts(&ans->head, "X-One: first\nX-Empty:\nX-One: second\n");
    struct span a = httpd_header(req, "x-a"), type = httpd_header(req, "content-type"),
                agent = httpd_header(req, "user-agent"), accept = httpd_header(req, "expect");
    buf_printf(&ans->body, "%s %.*s a=%.*s type=%.*s agent=%.*s expect=%.*s body=%zu:%.*s", req->method,
               SPAN_ARG(req->target), SPAN_ARG(a), SPAN_ARG(type), SPAN_ARG(agent), SPAN_ARG(accept), req->body.n,
               SPAN_ARG(span_cut(req->body, 0, 20)));
}

struct server {
    struct httpd *h;
    struct buf cert, key, pin, base;
};

static void serve(struct server *s, bool is_tls)
{
    *s = (struct server){0};
    if (is_tls) {
        CHECK_STATUS("key", tls_key_make(SPAN("127.0.0.1"), &s->cert, &s->key), ST_OK);
        CHECK_STATUS("pin", tls_key_pin(buf_span(&s->cert), &s->pin), ST_OK);
    }
    struct httpd_opts opts = {.addr = LOOPBACK,
                              .request_body_max = 1u << 20,
                              .fn = echo,
                              .tls_cert = buf_span(&s->cert),
                              .tls_key = buf_span(&s->key)};
    CHECK_STATUS("serve", httpd_new(&opts, &s->h), ST_OK);
    buf_printf(&s->base, "%s://127.0.0.1:%d", is_tls ? "https" : "http", httpd_port(s->h));
}

static void stop(struct server *s)
{
    httpd_free(s->h);
    buf_done(&s->cert);
    buf_done(&s->key);
    buf_done(&s->pin);
    buf_done(&s->base);
}

static struct http_caller *caller(struct span base, struct span pin)
{
    struct http_caller *c = NULL;
    struct http_caller_opts o = {.base = base, .pin = pin, .user_agent = SPAN("orb-test/1")};
    CHECK_STATUS("caller", http_caller_new(&o, &c), ST_OK);
    return c;
}

static status get(struct http_caller *c, const char *target, struct http_answer *a)
{
    struct http_call call = {
        .method = "GET", .target = span_str(target), .answer_max = 100000, .timeout_ms = PATIENCE_MS};
    return http_call(c, &call, a);
}

/* One call with a caller of its own. */
static status get_once(const char *base, const char *pin, struct http_answer *a)
{
    struct http_caller *c = caller(span_str(base), span_str(pin));
    status st = get(c, "/", a);
    http_caller_free(c);
    return st;
}

/* ---- requests and answers ---- */

static void requests_arrive_as_given(void **state)
{
    static const struct {
        const char *method, *target, *header, *body, *want;
    } cases[] = {
        {"GET", "/a?b=c&d=%20e", "X-A: 1", "", "GET /a?b=c&d=%20e a=1 type= agent=orb-test/1 expect= body=0:"},
        {"GET", "/a/../b/./c", "X-A:", "", "GET /a/../b/./c a= type= agent=orb-test/1 expect= body=0:"},
        {"POST", "/p", "Content-Type: text/x", "hello", "POST /p a= type=text/x agent=orb-test/1 expect= body=5:hello"},
        {"POST", "/p", "X-A: b c", "", "POST /p a=b c type= agent=orb-test/1 expect= body=0:"},
        {"PUT", "/p", "X-A: 2", "x", "PUT /p a=2 type= agent=orb-test/1 expect= body=1:x"},
        {"DELETE", "/p", "X-A: 3", "", "DELETE /p a=3 type= agent=orb-test/1 expect= body=0:"},
        {"GET", "/after", "X-A: 4", "", "GET /after a=4 type= agent=orb-test/1 expect= body=0:"},
    };
    for (int tls = 0; tls < 2; tls++) {
        struct server s;
        serve(&s, tls);
        struct http_caller *c = caller(buf_span(&s.base), buf_span(&s.pin));
        struct http_answer a = {0};
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
            struct span header = span_str(cases[i].header);
            struct http_call call = {.method = cases[i].method,
                                     .target = span_str(cases[i].target),
                                     .headers = &header,
                                     .header_count = 1,
                                     .body = span_str(cases[i].body),
                                     .answer_max = 1000,
                                     .timeout_ms = PATIENCE_MS};
            CHECK_STATUS(cases[i].want, http_call(c, &call, &a), ST_OK);
            CHECK_SPAN(cases[i].want, buf_span(&a.body), span_str(cases[i].want));
            CHECK(cases[i].want, a.status == 200 && a.was_sent);
        }
        CHECK_STATUS("404", get(c, "/404", &a), ST_OK);
        assert_int_equal(a.status, 404);
        CHECK_SPAN("header", http_answer_header(&a, "x-one"), SPAN("first"));
        CHECK_SPAN("empty header", http_answer_header(&a, "X-Empty"), SPAN(""));
        CHECK_SPAN("no header", http_answer_header(&a, "X-O"), SPAN(""));
        CHECK("head", span_starts(buf_span(&a.head), SPAN("HTTP/1.1 404")));
        http_answer_done(&a);
        http_caller_free(c);
        stop(&s);
    }
    http_caller_free(NULL);
}

static void head_has_no_body(void **state)
{
    struct server s;
    serve(&s, false);
    struct http_caller *c = caller(buf_span(&s.base), SPAN(""));
    struct http_answer a = {0};
    struct http_call call = {.method = "HEAD", .target = SPAN("/big/5000"), .timeout_ms = PATIENCE_MS};
    CHECK_STATUS("head", http_call(c, &call, &a), ST_OK);
    CHECK_SPAN("length", http_answer_header(&a, "Content-Length"), SPAN("5000"));
    assert_int_equal(a.body.n, 0);
    CHECK_STATUS("get", get(c, "/big/5000", &a), ST_OK);
    assert_int_equal(a.body.n, 5000);
    http_answer_done(&a);
    http_caller_free(c);
    stop(&s);
}

static void large_bodies_wait_for_the_servers_word(void **state)
{
    struct server s;
    serve(&s, true);
    struct http_caller *c = caller(buf_span(&s.base), buf_span(&s.pin));
    struct http_answer a = {0};
    size_t n = 1u << 20;
    char *big = mem_alloc(n + 1), want[64];
    memset(big, 'b', n);
    struct http_call call = {
        .method = "POST", .target = SPAN("/p"), .body = span_of(big, n), .answer_max = 1000, .timeout_ms = PATIENCE_MS};
    CHECK_STATUS("fits", http_call(c, &call, &a), ST_OK);
    snprintf(want, sizeof(want), "expect=100-continue body=%zu:bbbb", n);
    CHECK("fits", strstr(buf_cstr(&a.body), want));
    CHECK("head of the last answer alone", span_starts(buf_span(&a.head), SPAN("HTTP/1.1 200")));
    uint64_t before = http_caller_bytes_sent(c);
    CHECK("counted", before > n && before < n + 100000);
    call.body.n++;
    CHECK_STATUS("too large", http_call(c, &call, &a), ST_OK);
    assert_int_equal(a.status, 413);
    CHECK("body not sent", http_caller_bytes_sent(c) - before < 10000);
    free(big);
    http_answer_done(&a);
    http_caller_free(c);
    stop(&s);
}

static void answers_have_a_ceiling(void **state)
{
    struct server s;
    serve(&s, false);
    struct http_caller *c = caller(buf_span(&s.base), SPAN(""));
    struct http_answer a = {0};
    static const struct {
        const char *target;
        size_t max;
        status want;
    } cases[] = {{"/big/100000", 100000, ST_OK},
                 {"/big/100001", 100000, ST_LIMIT},
                 {"/big/1", 0, ST_LIMIT},
                 {"/big/0", 0, ST_OK},
                 {"/big/7", 7, ST_OK}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct http_call call = {.method = "GET",
                                 .target = span_str(cases[i].target),
                                 .answer_max = cases[i].max,
                                 .timeout_ms = PATIENCE_MS};
        CHECK_STATUS(cases[i].target, http_call(c, &call, &a), cases[i].want);
        CHECK(cases[i].target, a.was_sent && a.body.n <= cases[i].max && a.head.n <= HTTP_CALL_HEAD_MAX);
    }
    http_answer_done(&a);
    http_caller_free(c);
    stop(&s);
}

static void a_connection_is_kept(void **state)
{
    struct server s;
    serve(&s, true);
    struct http_caller *c = caller(buf_span(&s.base), buf_span(&s.pin));
    struct http_answer a = {0};
    assert_int_equal(http_caller_bytes_sent(c), 0);
    CHECK_STATUS("first", get(c, "/", &a), ST_OK);
    uint64_t sent = http_caller_bytes_sent(c), received = http_caller_bytes_received(c);
    CHECK("handshake counted", sent > 400 && received > 600);
    CHECK_STATUS("second", get(c, "/", &a), ST_OK);
    CHECK("no handshake", http_caller_bytes_sent(c) - sent < 200 && http_caller_bytes_sent(c) > sent);
    CHECK("no handshake", http_caller_bytes_received(c) - received < 500);
    http_answer_done(&a);
    http_caller_free(c);
    stop(&s);
}

/* ---- who is there ---- */

static void only_the_pinned_key_is_spoken_to(void **state)
{
    struct server tls, other, plain;
    serve(&tls, true);
    serve(&other, true);
    serve(&plain, false);
    struct buf cross = {0}, down = {0};
    buf_printf(&cross, "https://127.0.0.1:%d", httpd_port(plain.h));
    buf_printf(&down, "http://127.0.0.1:%d", httpd_port(tls.h));
    const char *right = buf_cstr(&tls.pin), *wrong = buf_cstr(&other.pin), *base = buf_cstr(&tls.base);
    const struct {
        const char *label, *base, *pin;
        status want;
        bool was_sent;
    } cases[] = {
        {"right pin", base, right, ST_OK, true},
        {"wrong pin", base, wrong, ST_REFUSED, false},
        {"no pin", base, "", ST_OK, true},
        {"TLS to a plain server", buf_cstr(&cross), right, ST_TLS, false},
        {"plain to a TLS server", buf_cstr(&down), "", ST_PROTOCOL, true},
        {"plain to a plain server", buf_cstr(&plain.base), "", ST_OK, true},
    };
    struct http_answer a = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        status st = get_once(cases[i].base, cases[i].pin, &a);
        if (st == ST_CONNECT && cases[i].want == ST_PROTOCOL)
            st = ST_PROTOCOL; /* reset or closed, as it happens */
        CHECK_STATUS(cases[i].label, st, cases[i].want);
        CHECK(cases[i].label, a.was_sent == cases[i].was_sent);
        CHECK(cases[i].label, (a.status == 200) == (cases[i].want == ST_OK));
    }
    http_answer_done(&a);
    buf_done(&cross);
    buf_done(&down);
    stop(&tls);
    stop(&other);
    stop(&plain);
}

static void proxies_of_the_environment_are_not_used(void **state)
{
    struct server s;
    serve(&s, false);
    struct http_answer a = {0};
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    CHECK_STATUS("get", get_once(buf_cstr(&s.base), "", &a), ST_OK);
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
    http_answer_done(&a);
    stop(&s);
}

/* ---- servers that do not behave: each connection gets the next of some texts, then is closed ---- */

struct script {
    int fd, port;
    const char *const *texts;
    int count;
    bool keeps_open; /* the last one, until the client goes */
    pthread_t thread;
};

static void *run_script(void *arg)
{
    struct script *s = arg;
    char got[4096];
    for (int i = 0; i < s->count; i++) {
        int fd = accept(s->fd, NULL, NULL);
        if (fd < 0)
            break;
        (void)!read(fd, got, sizeof(got));
        (void)!write(fd, s->texts[i], strlen(s->texts[i]));
        if (s->keeps_open && i == s->count - 1)
            while (read(fd, got, sizeof(got)) > 0)
                continue;
        close(fd);
    }
    return NULL;
}

static void start_script(struct script *s, const char *const *texts, int count, struct buf *base)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(in);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&in, n), 0);
    assert_int_equal(listen(s->fd, 16), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&in, &n), 0);
    s->port = ntohs(in.sin_port);
    s->texts = texts;
    s->count = count;
    buf_clear(base);
    buf_printf(base, "http://127.0.0.1:%d", s->port);
    (void)buf_cstr(base);
    assert_int_equal(pthread_create(&s->thread, NULL, run_script, s), 0);
}

static void end_script(struct script *s)
{
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
}

static void odd_servers_are_told_apart(void **state)
{
    static const struct {
        const char *label, *text;
        status want;
    } cases[] = {
        {"good", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", ST_OK},
        {"says nothing", "", ST_PROTOCOL},
        {"not HTTP", "SSH-2.0-other\r\nhello\r\n", ST_PROTOCOL},
        {"HTTP/0.9", "<html>hello</html>", ST_PROTOCOL},
        {"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf", ST_CONNECT},
        {"half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", ST_CONNECT},
        {"redirect", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", ST_OK},
        {"100 first", "HTTP/1.1 100 Continue\r\nX: 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ST_OK},
        {"endless head", NULL, ST_LIMIT},
    };
    struct buf long_head = {0};
    buf_puts(&long_head, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 700; i++)
        buf_printf(&long_head, "Y-%d: %0100d\r\n", i, i);
    buf_puts(&long_head, "Content-Length: 0\r\n\r\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct script s = {0};
        struct buf base = {0};
        struct http_answer a = {0};
        const char *text = cases[i].text ? cases[i].text : buf_cstr(&long_head);
        start_script(&s, &text, 1, &base);
        CHECK_STATUS(cases[i].label, get_once(base.p, "", &a), cases[i].want);
        CHECK(cases[i].label, a.was_sent);
        CHECK_SPAN(cases[i].label, http_answer_header(&a, "x"), SPAN(""));
        end_script(&s);
        http_answer_done(&a);
        buf_done(&base);
    }
    buf_done(&long_head);
}

static void a_dead_kept_connection_is_made_anew(void **state)
{
    static const char *const texts[] = {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1",
                                        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2"};
    struct script s = {0};
    struct buf base = {0};
    struct http_answer a = {0};
    start_script(&s, texts, 2, &base);
    struct http_caller *c = caller(buf_span(&base), SPAN(""));
    CHECK_STATUS("first", get(c, "/", &a), ST_OK);
    CHECK_STATUS("second", get(c, "/", &a), ST_OK);
    CHECK_SPAN("second", buf_span(&a.body), SPAN("2"));
    end_script(&s);
    CHECK_STATUS("nobody left", get(c, "/", &a), ST_CONNECT);
    CHECK("nobody left", !a.was_sent);
    http_caller_free(c);
    http_answer_done(&a);
    buf_done(&base);
}

static void no_server_no_name_no_answer(void **state)
{
    struct http_answer a = {0};
    CHECK_STATUS("nobody listens", get_once("http://127.0.0.1:1", "", &a), ST_CONNECT);
    CHECK("nobody listens", !a.was_sent);
    /* A label of 64 letters is no name: no resolver is asked. */
    CHECK_STATUS("no name",
                 get_once("http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.invalid", "", &a),
                 ST_DNS);
    CHECK("no name", !a.was_sent);
    struct server s;
    serve(&s, false);
    struct http_caller *c = caller(buf_span(&s.base), SPAN(""));
    struct http_call call = {.method = "GET", .target = SPAN("/never"), .answer_max = 1, .timeout_ms = 100};
    CHECK_STATUS("late", http_call(c, &call, &a), ST_TIMEOUT);
    CHECK("late", a.was_sent);
    CHECK_STATUS("drop", get(c, "/drop", &a), ST_PROTOCOL);
    CHECK("drop", a.was_sent);
    CHECK_STATUS("good again", get(c, "/", &a), ST_OK);
    http_caller_free(c);
    stop(&s);
    http_answer_done(&a);
}

/* ---- cancelling ---- */

struct cancel {
    struct http_caller *c;
    status st;
    atomic_bool is_done;
};

static void *call_never(void *arg)
{
    struct cancel *x = arg;
    struct http_answer a = {0};
    x->st = get(x->c, "/", &a);
    atomic_store(&x->is_done, true);
    http_answer_done(&a);
    return NULL;
}

static void cancelling_ends_the_call_and_all_later_ones(void **state)
{
    static const char *const texts[] = {""};
    for (int round = 0; round < 20; round++) {
        struct script s = {.keeps_open = true};
        struct buf base = {0};
        start_script(&s, texts, 1, &base);
        struct cancel x = {.c = caller(buf_span(&base), SPAN(""))};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, call_never, &x), 0);
        usleep((useconds_t)(round * 500)); /* before it connects, while it waits: all must end */
        http_caller_cancel(x.c);
        http_caller_cancel(x.c);
        pthread_join(thread, NULL);
        CHECK_STATUS("under way", x.st, ST_CANCELLED);
        struct http_answer a = {0};
        CHECK_STATUS("later", get(x.c, "/", &a), ST_CANCELLED);
        CHECK("later", !a.was_sent);
        http_caller_free(x.c);
        end_script(&s);
        buf_done(&base);
        http_answer_done(&a);
    }
}

/* ---- what is not taken ---- */

static void bad_arguments_are_refused(void **state)
{
    static const struct {
        const char *base, *pin;
    } bases[] = {{"", ""},
                 {"127.0.0.1:80", ""},
                 {"ftp://h", ""},
                 {"https://", ""},
                 {"https://h/", ""},
                 {"https://h/path", ""},
                 {"https://user@h", ""},
                 {"https://h?q", ""},
                 {"https://h#f", ""},
                 {"https://h\r\nX: 1", ""},
                 {"https://h h", ""},
                 {"https://h", "md5//x"},
                 {"https://h", "/etc/key.pem"},
                 {"https://h", "sha256//a b"}};
    for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
        struct http_caller *c = NULL;
        struct http_caller_opts o = {.base = span_str(bases[i].base), .pin = span_str(bases[i].pin)};
        CHECK_STATUS(bases[i].base, http_caller_new(&o, &c), ST_INVALID);
        assert_null(c);
    }
    struct http_caller *c = caller(SPAN("http://127.0.0.1:1"), SPAN(""));
    struct http_answer a = {0};
    static char long_target[HTTP_CALL_TARGET_MAX + 2];
    memset(long_target, '/', HTTP_CALL_TARGET_MAX + 1);
    const char *const targets[] = {"", "a", "http://other/", "/a b", "/a\r\nX: 1", "/a#b", "/\xc3\xbc", long_target};
    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
        CHECK_STATUS(targets[i], get(c, targets[i], &a), ST_INVALID);
    static const struct span headers[] = {SPAN_INIT("no colon"), SPAN_INIT(": x"),      SPAN_INIT("X: a\r\nY: b"),
                                          SPAN_INIT("X: a\nY"),  SPAN_INIT("X Y: a"),   SPAN_INIT("X: a\0b"),
                                          SPAN_INIT(""),         SPAN_INIT("X\r\nY: a")};
    for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
        struct http_call call = {.method = "GET", .target = SPAN("/"), .headers = &headers[i], .header_count = 1};
        CHECK_STATUS(headers[i].p, http_call(c, &call, &a), ST_INVALID);
    }
    struct http_call call = {.method = "GET /x", .target = SPAN("/")};
    CHECK_STATUS("method", http_call(c, &call, &a), ST_INVALID);
    http_caller_free(c);
    http_answer_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_arrive_as_given),
        cmocka_unit_test(head_has_no_body),
        cmocka_unit_test(large_bodies_wait_for_the_servers_word),
        cmocka_unit_test(answers_have_a_ceiling),
        cmocka_unit_test(a_connection_is_kept),
        cmocka_unit_test(only_the_pinned_key_is_spoken_to),
        cmocka_unit_test(proxies_of_the_environment_are_not_used),
        cmocka_unit_test(odd_servers_are_told_apart),
        cmocka_unit_test(a_dead_kept_connection_is_made_anew),
        cmocka_unit_test(no_server_no_name_no_answer),
        cmocka_unit_test(cancelling_ends_the_call_and_all_later_ones),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
