/* test_fetcher_connections.c - connections: kept, lost, slow, through a proxy or TLS, and those that are never made. */
#include "fetch_bed.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/clock.h"
#include "io/loop_uv.h"

static void tells_the_path_of_a_connection_that_is_closed(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    for (int i = 0; i < 2; i++) {
        const struct fetch_result *r = get(&b, "/last", (struct fetch_req){0});
        CHECK_STATUS("last", r->st, ST_OK);
        assert_false(r->reused);
        assert_true(r->timing.path_us > 0);
    }
    bed_close(&b);
}

static void keeps_the_connection_alive(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    assert_false(get(&b, "/page", (struct fetch_req){0})->reused);
    for (int i = 0; i < 5; i++) {
        const struct fetch_result *r = get(&b, i % 2 ? "/redirect" : "/small.png", (struct fetch_req){0});
        CHECK_STATUS("again", r->st, ST_OK);
        assert_true(r->reused);
        assert_true(r->timing.connect_us == 0 && r->timing.tls_us == 0 && r->timing.first_byte_us > 0);
    }
    /* Another address is another connection, though the name is the same. */
    struct fetch_req other = {.addr = {4, {127, 0, 0, 2}}};
    CHECK_STATUS("not listened to", get(&b, "/page", other)->st, ST_CONNECT);
    assert_true(get(&b, "/page", (struct fetch_req){0})->reused);
    bed_close(&b);
}

static void gives_up_on_slow_servers(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .first_byte_ms = 200});
    mono_ms from = clock_mono();
    CHECK_STATUS("first byte", get(&b, "/slow", (struct fetch_req){0})->st, ST_TIMEOUT);
    mono_ms took = clock_mono() - from;
    assert_true(took >= 190);
    assert_true(b.last.timing.first_byte_us == -1 && b.last.why[0]);
    for (int i = 0; i < 20 && get(&b, "/page", (struct fetch_req){0})->st == ST_TIMEOUT; i++)
        continue; /* on a machine that is as slow as that */
    CHECK_STATUS("next", b.last.st, ST_OK);
    bed_close(&b);
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .total_ms = 200});
    CHECK_STATUS("total", get(&b, "/slow", (struct fetch_req){0})->st, ST_TIMEOUT);
    bed_close(&b);
}

/* A socket that listens, with a full queue: connections to it hang. */
static void gives_up_on_connections_that_hang(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .connect_ms = 200});
    int fd = socket(AF_INET, SOCK_STREAM, 0), fillers[4];
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(in);
    assert_int_equal(bind(fd, (struct sockaddr *)&in, n), 0);
    assert_int_equal(listen(fd, 0), 0);
    getsockname(fd, (struct sockaddr *)&in, &n);
    for (int i = 0; i < 4; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(fillers[i], (struct sockaddr *)&in, n);
    }
    int port = b.port;
    b.port = ntohs(in.sin_port);
    CHECK_STATUS("connect", get(&b, "/", (struct fetch_req){0})->st, ST_TIMEOUT);
    assert_int_equal(b.last.timing.connect_us, -1);
    int next = socket(AF_INET, SOCK_STREAM, 0); /* it has the same number, and somebody else may watch it */
    uv_poll_t watch;
    assert_int_equal(uv_poll_init(loop_uv(b.loop), &watch, next), 0);
    uv_close((uv_handle_t *)&watch, NULL);
    close(next);
    b.port = port;
    CHECK_STATUS("next", get(&b, "/page", (struct fetch_req){0})->st, ST_OK);
    for (int i = 0; i < 4; i++)
        close(fillers[i]);
    close(fd);
    bed_close(&b);
}

static void reports_lost_connections(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    CHECK_STATUS("drop", get(&b, "/drop", (struct fetch_req){0})->st, ST_CONNECT);
    assert_int_equal(b.handled, 1); /* a new connection is not tried twice */
    CHECK_STATUS("page", get(&b, "/page", (struct fetch_req){0})->st, ST_OK);
    CHECK_STATUS("drop, kept alive", get(&b, "/drop", (struct fetch_req){0})->st, ST_CONNECT);
    assert_int_equal(b.handled, 4); /* a kept-alive one is: it could have been closed just then */
    int port = b.port;
    CHECK_STATUS("page", get(&b, "/page", (struct fetch_req){0})->st, ST_OK);
    httpd_free(b.server); /* closes the idle connection */
    b.server = NULL;
    struct httpd_opts serve = {.addr = LOOPBACK, .port = port, .fn = site, .self = &b};
    CHECK_STATUS("again", httpd_new(&serve, &b.server), ST_OK);
    const struct fetch_result *r = get(&b, "/page", (struct fetch_req){0});
    CHECK_STATUS("after restart", r->st, ST_OK);
    assert_false(r->reused);
    httpd_free(b.server);
    b.server = NULL;
    CHECK_STATUS("gone", get(&b, "/page", (struct fetch_req){0})->st, ST_CONNECT);
    bed_close(&b);
}

static void refuses_addresses_and_ports_without_connecting(void **state)
{
    static const struct {
        const char *label;
        bool allow_private;
        struct addr addr;
        int port; /* 0 = the server's */
    } cases[] = {
        {"loopback", false, {4, {127, 0, 0, 1}}, 0},
        {"loopback by IPv6", false, {6, {[15] = 1}}, 0},
        {"mapped loopback", false, {6, {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}}, 0},
        {"private", false, {4, {10, 0, 0, 1}}, 0},
        {"metadata", false, {4, {169, 254, 169, 254}}, 0},
        {"this network", true, {4, {0, 0, 0, 0}}, 0},
        {"multicast", true, {4, {224, 0, 0, 1}}, 0},
        {"broadcast", true, {4, {255, 255, 255, 255}}, 0},
        {"unspecified", true, {6, {0}}, 0},
        {"none", true, {0, {0}}, 0},
        {"smtp", true, {4, {127, 0, 0, 1}}, 25},
        {"irc", true, {4, {127, 0, 0, 1}}, 6667},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bed b;
        bed_open(&b, (struct fetcher_opts){.allow_private = cases[i].allow_private});
        char url[100];
        snprintf(url, sizeof(url), "http://site.test:%d/page", cases[i].port ? cases[i].port : b.port);
        struct fetch_req req = {.url = span_str(url), .addr = cases[i].addr, .done = on_done, .arg = &b};
        b.want = 1;
        fetcher_get(b.fetcher, &req);
        CHECK(cases[i].label, b.done == 0 && fetcher_active(b.fetcher) == 1);
        loop_run(b.loop);
        CHECK_STATUS(cases[i].label, b.last.st, ST_REFUSED);
        CHECK(cases[i].label, b.last.why[0] && b.handled == 0);
        bed_close(&b);
    }
}

static void refuses_what_is_no_http_url(void **state)
{
    static const char *const urls[] = {"",      "ftp://a.test/",   "file:///etc/passwd", "http://",    "http:///x",
                                       "/page", "http://a:99999/", "gopher://a/",        "http://a:x/"};
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
        struct fetch_req req = {.url = span_str(urls[i]), .addr = LOOPBACK, .done = on_done, .arg = &b};
        b.want = b.done + 1;
        fetcher_get(b.fetcher, &req);
        loop_run(b.loop);
        CHECK_STATUS(urls[i], b.last.st, ST_INVALID);
    }
    bed_close(&b);
}

static void goes_through_a_proxy_when_told(void **state)
{
    struct bed b, proxy;
    char at[64];
    setenv("http_proxy", "http://127.0.0.1:1", 1); /* nobody listens there */
    bed_open(&proxy, (struct fetcher_opts){0});
    snprintf(at, sizeof(at), "http://127.0.0.1:%d", proxy.port);
    bed_open(&b, (struct fetcher_opts){.proxy = span_str(at)}); /* a proxy may be near, whatever the sites may be */
    struct fetch_req req = {.url = SPAN("http://far.test/page"), .done = on_done, .arg = &b};
    b.want = 1;
    fetcher_get(b.fetcher, &req);
    loop_run(b.loop);
    CHECK_STATUS("through the proxy", b.last.st, ST_OK);
    assert_int_equal(b.last.http_status, 404); /* it was asked for all of "http://far.test/page" */
    assert_true(addr_eq(&b.last.addr, &LOOPBACK));
    assert_int_equal(proxy.handled, 1);
    assert_non_null(strstr(proxy.seen, "GET|far.test|"));
    bed_close(&b);
    bed_close(&proxy);
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    CHECK_STATUS("the environment's is not used", get(&b, "/page", (struct fetch_req){0})->st, ST_OK);
    bed_close(&b);
    unsetenv("http_proxy");
}

static void fetches_over_ipv6(void **state)
{
    const struct addr six = {6, {[15] = 1}};
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    struct httpd *h = NULL;
    struct httpd_opts serve = {.addr = six, .fn = site, .self = &b};
    if (httpd_new(&serve, &h) != ST_OK) {
        bed_close(&b);
        skip(); /* a machine without IPv6 */
    }
    b.port = httpd_port(h);
    for (int i = 0; i < 2; i++) {
        const struct fetch_result *r = get(&b, "/page", (struct fetch_req){.addr = six});
        CHECK_STATUS("::1", r->st, ST_OK);
        assert_true(addr_eq(&r->addr, &six) && r->reused == i);
    }
    httpd_free(h);
    bed_close(&b);
}

static void tls_certificates_are_checked(void **state)
{
    char dir[] = "/tmp/test_fetcher.XXXXXX", cmd[512], cert[64], key[64], name[80];
    assert_non_null(mkdtemp(dir));
    snprintf(cert, sizeof(cert), "%s/cert.pem", dir);
    snprintf(key, sizeof(key), "%s/key.pem", dir);
    snprintf(cmd, sizeof(cmd),
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=site.test "
             "-addext subjectAltName=DNS:site.test -keyout %s -out %s 2>%s/log",
             key, cert, dir);
    assert_int_equal(system(cmd), 0);
    struct span cert_pem = test_read_file(cert), key_pem = test_read_file(key);
    struct bed b;
    static const struct {
        const char *label, *host;
        bool has_ca, insecure;
        status want;
    } cases[] = {
        {"unknown issuer", "site.test", false, false, ST_TLS},
        {"known issuer", "site.test", true, false, ST_OK},
        {"wrong name", "other.test", true, false, ST_TLS},
        {"insecure", "other.test", false, true, ST_OK},
    };
    static const struct { /* as without TLS */
        const char *path;
        status want;
        size_t bytes;
    } decoded[] = {{"/gzip", ST_OK, 900000},
                   {"/gzip-and-more", ST_OK, 900},
                   {"/utf-8", ST_OK, 8},
                   {"/bad-gzip", ST_PROTOCOL, 0},
                   {"/bomb", ST_LIMIT, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        bed_open(&b, (struct fetcher_opts){.allow_private = true,
                                           .ca_file = cases[i].has_ca ? span_str(cert) : SPAN(""),
                                           .insecure = cases[i].insecure});
        struct httpd *tls = NULL;
        struct httpd_opts serve = {.addr = LOOPBACK, .fn = site, .self = &b, .tls_cert = cert_pem, .tls_key = key_pem};
        CHECK_STATUS(cases[i].label, httpd_new(&serve, &tls), ST_OK);
        snprintf(name, sizeof(name), "https://%s:%d/page", cases[i].host, httpd_port(tls));
        struct fetch_req req = {.url = span_str(name), .addr = LOOPBACK, .done = on_done, .arg = &b};
        for (b.want = 1; b.want <= 2; b.want++) {
            fetcher_get(b.fetcher, &req);
            loop_run(b.loop);
            CHECK_STATUS(cases[i].label, b.last.st, cases[i].want);
            CHECK(cases[i].label, b.last.st == ST_OK ? b.last.body.n == 8 : b.last.why[0]);
            if (b.last.st == ST_OK && b.want == 1)
                CHECK(cases[i].label, b.last.timing.tls_us > 0);
        }
        if (b.last.st == ST_OK)
            CHECK(cases[i].label, b.last.reused);
        b.scheme = "https";
        int plain_port = b.port;
        b.port = httpd_port(tls);
        for (size_t k = 0; k < sizeof(decoded) / sizeof(*decoded) && cases[i].want == ST_OK && cases[i].has_ca; k++) {
            const struct fetch_result *r = get(&b, decoded[k].path, (struct fetch_req){0});
            CHECK_STATUS(decoded[k].path, r->st, decoded[k].want);
            CHECK(decoded[k].path, r->body.n == decoded[k].bytes);
        }
        b.port = plain_port;
        httpd_free(tls);
        /* Plain HTTP where TLS is expected. */
        CHECK_STATUS("no TLS there", get(&b, "/page", (struct fetch_req){0})->st, ST_TLS);
        bed_close(&b);
    }
    free((char *)cert_pem.p);
    free((char *)key_pem.p);
    snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
    assert_int_equal(system(cmd), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_the_path_of_a_connection_that_is_closed),
        cmocka_unit_test(keeps_the_connection_alive),
        cmocka_unit_test(gives_up_on_slow_servers),
        cmocka_unit_test(gives_up_on_connections_that_hang),
        cmocka_unit_test(reports_lost_connections),
        cmocka_unit_test(refuses_addresses_and_ports_without_connecting),
        cmocka_unit_test(refuses_what_is_no_http_url),
        cmocka_unit_test(goes_through_a_proxy_when_told),
        cmocka_unit_test(fetches_over_ipv6),
        cmocka_unit_test(tls_certificates_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
