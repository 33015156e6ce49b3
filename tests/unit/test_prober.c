/* Probes against real sockets on loopback. Times are only checked for what must be so on any machine. */
#include "test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/httpd.h"
#include "io/prober.h"
#include "io/sockaddr.h"
#include "io/tls_key.h"

#define LOOPBACK ((struct addr){4, {127, 0, 0, 1}})
#define LOOPBACK6 ((struct addr){6, {[15] = 1}})
#define RESULTS_MAX 128

struct bed {
    struct loop *loop;
    struct prober *prober;
    struct probe_result results[RESULTS_MAX];
    unsigned want, done;
};

static void open_bed(struct bed *b, const struct prober_opts *o)
{
    *b = (struct bed){.loop = loop_new()};
    CHECK_STATUS("prober", prober_new(b->loop, o, &b->prober), ST_OK);
}

static void close_bed(struct bed *b)
{
    prober_free(b->prober);
    loop_free(b->loop);
}

static void on_done(void *arg, const struct probe_result *r)
{
    struct bed *b = arg;
    assert_true(b->done < RESULTS_MAX);
    b->results[b->done++] = *r;
    if (b->done == b->want)
        loop_stop(b->loop);
}

static struct probe_result run(struct bed *b, struct probe_req req)
{
    req.done = on_done;
    req.arg = b;
    b->done = 0;
    b->want = 1;
    prober_start(b->prober, &req);
    assert_int_equal(b->done, 0); /* never from inside */
    loop_run(b->loop);
    assert_int_equal(b->done, 1);
    return b->results[0];
}

static struct probe_result run_once(const struct prober_opts *o, struct probe_req req)
{
    struct bed b;
    open_bed(&b, o);
    struct probe_result r = run(&b, req);
    close_bed(&b);
    return r;
}

static const struct prober_opts with_private = {.allow_private = true, .user_agent = SPAN_INIT("orbweaver/test")};

/* A socket that listens and accepts nobody: the kernel makes the connections. -1: there is no such address here. */
static int listener(const struct addr *a, int backlog, int *port)
{
    struct sockaddr_storage at;
    socklen_t n = sockaddr_of_addr(a, 0, &at);
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, n) != 0) {
        close(fd);
        return -1;
    }
    assert_int_equal(listen(fd, backlog), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    *port = port_of_sockaddr((struct sockaddr *)&at);
    return fd;
}

static void check_times(const char *label, const struct probe_result *r)
{
    uint32_t least = UINT32_MAX;
    for (unsigned i = 0; i < r->samples; i++)
        least = r->sample_us[i] < least ? r->sample_us[i] : least;
    CHECK(label, r->samples > 0);
    CHECK(label, r->min_us == least);
    CHECK(label, r->min_us <= r->median_us);
}

static void kinds_have_names(void **state)
{
    probe_kind k;
    for (int i = PROBE_TCP; i <= PROBE_ICMP; i++) {
        CHECK("parse", probe_kind_parse(span_str(probe_kind_name((probe_kind)i)), &k));
        assert_int_equal(k, i);
    }
    assert_false(probe_kind_parse(SPAN("all"), &k));
    assert_string_equal(probe_kind_name((probe_kind)0), "unknown");
}

/* ---- TCP ---- */

static void a_listening_server_is_measured(void **state)
{
    const struct addr addrs[] = {LOOPBACK, LOOPBACK6};
    for (size_t i = 0; i < 2; i++) {
        int port, fd = listener(&addrs[i], 16, &port);
        char label[ADDR_TEXT_MAX];
        addr_format(&addrs[i], label);
        if (fd < 0) {
            print_message("%s: not an address of this machine\n", label);
            continue;
        }
        struct probe_result r =
            run_once(&with_private,
                     (struct probe_req){.kind = PROBE_TCP, .addr = addrs[i], .port = port, .samples = 5, .gap_ms = -1});
        CHECK_STATUS(label, r.st, ST_OK);
        assert_int_equal(r.samples, 5);
        assert_int_equal(r.lost, 0);
        assert_int_equal(r.kind, PROBE_TCP);
        assert_int_equal(r.server_us, 0);
        CHECK(label, addr_eq(&r.addr, &addrs[i]));
        check_times(label, &r);
        close(fd);
    }
}

static void a_refused_connection_is_a_round_trip(void **state)
{
    struct addr a = LOOPBACK;
    int port, fd = listener(&a, 1, &port);
    close(fd); /* nobody is there any more */
    struct probe_result r = run_once(&with_private, (struct probe_req){.kind = PROBE_TCP, .addr = a, .port = port});
    CHECK_STATUS("refused", r.st, ST_OK);
    assert_int_equal(r.samples, 3);
    check_times("refused", &r);
}

/* The queue of a server is full: its kernel says nothing. */
static void silence_is_a_loss_and_two_are_enough(void **state)
{
    struct addr a = LOOPBACK;
    struct sockaddr_storage to;
    int port, fd = listener(&a, 0, &port), full[4];
    socklen_t n = sockaddr_of_addr(&a, port, &to);
    for (size_t i = 0; i < 4; i++) {
        full[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(full[i], (struct sockaddr *)&to, n);
    }
    struct probe_result r = run_once(
        &with_private,
        (struct probe_req){.kind = PROBE_TCP, .addr = a, .port = port, .samples = 9, .gap_ms = -1, .timeout_ms = 50});
    CHECK_STATUS("silence", r.st, ST_TIMEOUT);
    assert_int_equal(r.samples, 0);
    assert_int_equal(r.lost, 2);
    assert_int_equal(r.median_us, 0);
    for (size_t i = 0; i < 4; i++)
        close(full[i]);
    close(fd);
}

static void what_must_not_be_asked_is_not(void **state)
{
    static const struct {
        const char *label, *address, *url;
        probe_kind kind;
        int port;
        bool is_allowed;
        status want;
    } cases[] = {
        {"loopback", "127.0.0.1", "", PROBE_TCP, 80, false, ST_REFUSED},
        {"private", "10.0.0.1", "", PROBE_TCP, 443, false, ST_REFUSED},
        {"private by ICMP", "10.0.0.1", "", PROBE_ICMP, 0, false, ST_REFUSED},
        {"private by HEAD", "::1", "http://h/", PROBE_HEAD, 0, false, ST_REFUSED},
        {"mapped", "::ffff:127.0.0.1", "", PROBE_TCP, 80, false, ST_REFUSED},
        {"reserved", "240.0.0.1", "", PROBE_TCP, 80, true, ST_REFUSED},
        {"multicast", "224.0.0.1", "", PROBE_ICMP, 0, true, ST_REFUSED},
        {"mail", "127.0.0.1", "", PROBE_TCP, 25, true, ST_REFUSED},
        {"mail by HEAD", "127.0.0.1", "http://h:25/", PROBE_HEAD, 0, true, ST_REFUSED},
        {"no port", "127.0.0.1", "", PROBE_TCP, 0, true, ST_INVALID},
        {"a port too high", "127.0.0.1", "", PROBE_TCP, 65536, true, ST_INVALID},
        {"no URL", "127.0.0.1", "ftp://h/", PROBE_HEAD, 0, true, ST_INVALID},
        {"an empty URL", "127.0.0.1", "", PROBE_HEAD, 0, true, ST_INVALID},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct probe_req req = {.kind = cases[i].kind, .port = cases[i].port, .url = span_str(cases[i].url)};
        CHECK_STATUS(cases[i].label, addr_parse(span_str(cases[i].address), &req.addr), ST_OK);
        struct probe_result r = run_once(&(struct prober_opts){.allow_private = cases[i].is_allowed}, req);
        CHECK_STATUS(cases[i].label, r.st, cases[i].want);
        assert_int_equal(r.samples + r.lost, 0);
    }
}

/* ---- HEAD ---- */

#define SLOW_MS 50

static void site(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    unsigned *heads = self;
    if (strcmp(req->method, "HEAD") == 0)
        (*heads)++;
    if (span_is(req->target, "/slow"))
        ans->delay_ms = SLOW_MS;
    else if (span_is(req->target, "/busy"))
        ans->status = 503;
    else if (span_is(req->target, "/drop"))
        ans->drop = true;
}

static struct probe_result run_head(const char *path, unsigned *heads)
{
    struct httpd *h;
    struct httpd_opts o = {.addr = LOOPBACK, .fn = site, .self = heads};
    char url[64];
    *heads = 0;
    CHECK_STATUS("server", httpd_new(&o, &h), ST_OK);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", httpd_port(h), path);
    struct probe_result r = run_once(
        &with_private,
        (struct probe_req){.kind = PROBE_HEAD, .addr = LOOPBACK, .url = span_str(url), .samples = 3, .gap_ms = -1});
    httpd_free(h);
    return r;
}

static void head_tells_the_path_from_the_server(void **state)
{
    unsigned heads;
    struct probe_result r = run_head("/slow", &heads);
    CHECK_STATUS("slow", r.st, ST_OK);
    assert_int_equal(r.samples, 3);
    assert_int_equal(heads, 3);
    assert_int_equal(r.http_status, 200);
    check_times("slow", &r);
    /* One round trip is taken off, and it may have been a little shorter than the one that was measured. */
    CHECK("the server's part", r.server_us >= SLOW_MS * 900);
    CHECK("the path is loopback's", r.min_us < SLOW_MS * 1000);
}

static void head_over_tls_checks_the_certificate(void **state)
{
    unsigned heads = 0;
    struct buf cert = {0}, key = {0};
    struct httpd *h;
    char url[64];
    CHECK_STATUS("key", tls_key_make(SPAN("127.0.0.1"), &cert, &key), ST_OK);
    struct httpd_opts o = {
        .addr = LOOPBACK, .fn = site, .self = &heads, .tls_cert = buf_span(&cert), .tls_key = buf_span(&key)};
    CHECK_STATUS("server", httpd_new(&o, &h), ST_OK);
    snprintf(url, sizeof(url), "https://127.0.0.1:%d/slow", httpd_port(h));
    struct probe_req req = {.kind = PROBE_HEAD, .addr = LOOPBACK, .url = span_str(url), .samples = 2, .gap_ms = -1};
    struct probe_result r = run_once(&with_private, req);
    CHECK_STATUS("signed by nobody", r.st, ST_TLS);
    r = run_once(&(struct prober_opts){.allow_private = true, .insecure = true}, req);
    CHECK_STATUS("not checked", r.st, ST_OK);
    assert_int_equal(heads, 2);
    check_times("not checked", &r);
    CHECK("the handshake is nobody's", r.server_us >= SLOW_MS * 900 && r.min_us < SLOW_MS * 1000);
    httpd_free(h);
    buf_done(&cert);
    buf_done(&key);
}

static void a_server_in_trouble_is_asked_once(void **state)
{
    unsigned heads;
    struct probe_result r = run_head("/busy", &heads);
    CHECK_STATUS("busy", r.st, ST_OK);
    assert_int_equal(r.http_status, 503);
    assert_int_equal(r.samples, 1);
    assert_int_equal(heads, 1);
}

/* A server whose head has no end; it hangs up on nobody, and ends when it is hung up on. */
static void *endless_head(void *arg)
{
    char line[128];
    for (int i = 0; i < 2; i++) {
        int fd = accept(*(int *)arg, NULL, NULL);
        (void)!recv(fd, line, sizeof(line), 0);
        ssize_t n = send(fd, "HTTP/1.1 200 OK\r\n", 17, MSG_NOSIGNAL);
        for (int k = 0; n > 0 && k < 100000; k++) {
            int len = snprintf(line, sizeof(line), "X-Filler-%d: 0123456789012345678901234567890123456789\r\n", k);
            n = send(fd, line, (size_t)len, MSG_NOSIGNAL);
        }
        close(fd);
    }
    return NULL;
}

static void a_head_has_a_ceiling(void **state)
{
    struct addr a = LOOPBACK;
    int port, fd = listener(&a, 8, &port);
    char url[64];
    pthread_t server;
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", port);
    assert_int_equal(pthread_create(&server, NULL, endless_head, &fd), 0);
    struct probe_result r =
        run_once(&with_private, (struct probe_req){.kind = PROBE_HEAD, .addr = a, .url = span_str(url), .gap_ms = -1});
    CHECK_STATUS("a long head", r.st, ST_LIMIT);
    assert_int_equal(r.lost, 2);
    pthread_join(server, NULL);
    close(fd);
}

static void what_is_no_answer_to_a_head_is_a_loss(void **state)
{
    unsigned heads;
    struct addr a = LOOPBACK;
    int port, fd = listener(&a, 1, &port);
    char url[64];
    struct probe_result r = run_head("/drop", &heads);
    CHECK_STATUS("dropped", r.st, ST_CONNECT);
    assert_int_equal(r.lost, 2);
    close(fd);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", port);
    r = run_once(&with_private, (struct probe_req){.kind = PROBE_HEAD, .addr = a, .url = span_str(url), .gap_ms = -1});
    CHECK_STATUS("nobody there", r.st, ST_CONNECT);
    fd = listener(&a, 8, &port); /* takes connections and says nothing */
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", port);
    r = run_once(
        &with_private,
        (struct probe_req){.kind = PROBE_HEAD, .addr = a, .url = span_str(url), .gap_ms = -1, .timeout_ms = 50});
    CHECK_STATUS("silence", r.st, ST_TIMEOUT);
    assert_int_equal(r.lost, 2);
    close(fd);
}

/* ---- ICMP ---- */

static void an_echo_comes_back(void **state)
{
    const struct addr addrs[] = {LOOPBACK, LOOPBACK6};
    for (size_t i = 0; i < 2; i++) {
        char label[ADDR_TEXT_MAX];
        addr_format(&addrs[i], label);
        struct probe_result r = run_once(
            &with_private,
            (struct probe_req){.kind = PROBE_ICMP, .addr = addrs[i], .samples = 4, .gap_ms = -1, .timeout_ms = 2000});
        if (r.st == ST_UNSUPPORTED || r.st == ST_CONNECT) {
            print_message("%s: no ICMP here (%s): see net.ipv4.ping_group_range\n", label, status_name(r.st));
            continue;
        }
        CHECK_STATUS(label, r.st, ST_OK);
        assert_int_equal(r.samples, 4);
        check_times(label, &r);
    }
}

/* ---- many ---- */

static void all_come_back_once_however_many_there_are(void **state)
{
    struct addr a = LOOPBACK;
    struct bed b;
    int port, fd = listener(&a, 4096, &port);
    open_bed(&b, &(struct prober_opts){.allow_private = true, .at_once = 3});
    b.want = RESULTS_MAX;
    for (unsigned i = 0; i < RESULTS_MAX; i++)
        prober_start(b.prober, &(struct probe_req){.kind = PROBE_TCP,
                                                   .addr = a,
                                                   .port = port,
                                                   .samples = 1 + i % 3,
                                                   .gap_ms = -1,
                                                   .done = on_done,
                                                   .arg = &b});
    loop_run(b.loop);
    assert_int_equal(b.done, RESULTS_MAX);
    for (unsigned i = 0; i < RESULTS_MAX; i++)
        CHECK_STATUS("of many", b.results[i].st, ST_OK);
    close_bed(&b);
    close(fd);
}

static void on_done_free(void *arg, const struct probe_result *r)
{
    struct bed *b = arg;
    b->results[b->done++] = *r;
    if (b->done > 1)
        return;
    struct prober *p = b->prober;
    b->prober = NULL;
    prober_free(p);
    loop_stop(b->loop);
}

static void freeing_cancels_those_under_way(void **state)
{
    struct addr a = LOOPBACK;
    struct bed b;
    int port, fd = listener(&a, 64, &port);
    char url[64];
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", port);
    open_bed(&b, &with_private);
    for (int k = PROBE_TCP; k <= PROBE_ICMP; k++)
        prober_start(b.prober, &(struct probe_req){.kind = (probe_kind)k,
                                                   .addr = a,
                                                   .port = port,
                                                   .url = span_str(url),
                                                   .samples = k == PROBE_TCP ? 1 : 0,
                                                   .gap_ms = 60000,
                                                   .done = on_done_free,
                                                   .arg = &b});
    loop_run(b.loop); /* until the first is there */
    assert_int_equal(b.done, 3);
    CHECK_STATUS("the HEAD that nobody answered", b.results[1].st == ST_CANCELLED ? b.results[1].st : b.results[2].st,
                 ST_CANCELLED);
    close_bed(&b);
    open_bed(&b, &with_private);
    prober_start(b.prober, &(struct probe_req){.kind = PROBE_TCP, .addr = a, .port = port, .done = on_done, .arg = &b});
    close_bed(&b); /* before the loop ran */
    assert_int_equal(b.done, 1);
    CHECK_STATUS("waiting", b.results[0].st, ST_CANCELLED);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_have_names),
        cmocka_unit_test(a_listening_server_is_measured),
        cmocka_unit_test(a_refused_connection_is_a_round_trip),
        cmocka_unit_test(silence_is_a_loss_and_two_are_enough),
        cmocka_unit_test(what_must_not_be_asked_is_not),
        cmocka_unit_test(head_tells_the_path_from_the_server),
        cmocka_unit_test(head_over_tls_checks_the_certificate),
        cmocka_unit_test(a_server_in_trouble_is_asked_once),
        cmocka_unit_test(a_head_has_a_ceiling),
        cmocka_unit_test(what_is_no_answer_to_a_head_is_a_loss),
        cmocka_unit_test(an_echo_comes_back),
        cmocka_unit_test(all_come_back_once_however_many_there_are),
        cmocka_unit_test(freeing_cancels_those_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
