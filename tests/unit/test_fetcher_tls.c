/* test_fetcher_tls.c - TLS connections that end as they do in the world: by a server that hangs up between two requests
 * and says nothing of it in its answers. */
#include "fetch_bed.h"

#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/tls_key.h"

#define REQUESTS 40

struct server {
    int fd, port;
    unsigned answers_each; /* on a connection: then it is closed, when the next request comes or before */
    bool is_polite;        /* says goodbye, as TLS wants it */
    bool waits;            /* for the next request, and closes instead of an answer */
    unsigned connections, answers;
    gnutls_certificate_credentials_t keys;
    pthread_t thread;
};

/* True: a whole request came. */
static bool read_request(gnutls_session_t tls)
{
    char text[4096] = "";
    for (size_t n = 0; n < sizeof(text) - 1 && !strstr(text, "\r\n\r\n");) {
        ssize_t got = gnutls_record_recv(tls, text + n, sizeof(text) - 1 - n);
        if (got <= 0)
            return false;
        n += (size_t)got;
        text[n] = '\0';
    }
    return true;
}

static void talk(struct server *s, int fd)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello";
    gnutls_session_t tls;
    assert_int_equal(gnutls_init(&tls, GNUTLS_SERVER), 0);
    gnutls_set_default_priority(tls);
    gnutls_credentials_set(tls, GNUTLS_CRD_CERTIFICATE, s->keys);
    gnutls_transport_set_int(tls, fd);
    if (gnutls_handshake(tls) == 0) {
        for (unsigned i = 0; i < s->answers_each && read_request(tls); i++) {
            gnutls_record_send(tls, answer, sizeof(answer) - 1);
            s->answers++;
        }
        if (s->waits)
            (void)read_request(tls);
        if (s->is_polite)
            gnutls_bye(tls, GNUTLS_SHUT_WR);
    }
    gnutls_deinit(tls);
}

static void *serve(void *arg)
{
    struct server *s = arg;
    for (int fd; (fd = accept(s->fd, NULL, NULL)) >= 0; close(fd)) {
        s->connections++;
        talk(s, fd);
    }
    return NULL;
}

static void server_init(struct server *s)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(in);
    struct buf cert = {0}, key = {0};
    CHECK_STATUS("key", tls_key_make(SPAN("site.test"), &cert, &key), ST_OK);
    gnutls_datum_t cert_pem = {(unsigned char *)cert.p, (unsigned)cert.n},
                   key_pem = {(unsigned char *)key.p, (unsigned)key.n};
    assert_int_equal(gnutls_certificate_allocate_credentials(&s->keys), 0);
    assert_int_equal(gnutls_certificate_set_x509_key_mem(s->keys, &cert_pem, &key_pem, GNUTLS_X509_FMT_PEM), 0);
    buf_done(&cert);
    buf_done(&key);
    s->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&in, len), 0);
    assert_int_equal(listen(s->fd, 64), 0);
    getsockname(s->fd, (struct sockaddr *)&in, &len);
    s->port = ntohs(in.sin_port);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void server_done(struct server *s)
{
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
    gnutls_certificate_free_credentials(s->keys);
}

/* More often than libcurl is patient with. */
static void connections_that_the_server_has_closed_cost_nothing(void **state)
{
    static const struct {
        const char *label;
        unsigned answers_each;
        bool is_polite, waits;
    } cases[] = {
        {"after each answer", 1, true, false},
        {"without a word", 1, false, false},
        {"after three", 3, true, false},
        {"at the next request", 1, true, true},
        {"at the next request, without a word", 3, false, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bed b;
        struct server s = {
            .answers_each = cases[i].answers_each, .is_polite = cases[i].is_polite, .waits = cases[i].waits};
        server_init(&s);
        bed_open(&b, (struct fetcher_opts){.allow_private = true, .insecure = true});
        int port = b.port;
        b.scheme = "https";
        b.port = s.port;
        for (int k = 0; k < REQUESTS; k++) {
            const struct fetch_result *r = get(&b, "/", (struct fetch_req){0});
            if (r->st != ST_OK)
                fail_msg("%s: request %d: %s: %s", cases[i].label, k, status_name(r->st), r->why);
            CHECK_SPAN(cases[i].label, r->body, SPAN("hello"));
        }
        b.port = port;
        bed_close(&b);
        server_done(&s);
        assert_int_equal(s.answers, REQUESTS);
    }
}

/* One that has never answered is not asked over and over. */
static void a_server_that_never_answers_is_asked_once(void **state)
{
    struct bed b;
    struct server s = {.answers_each = 0, .is_polite = true, .waits = true};
    server_init(&s);
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .insecure = true});
    b.scheme = "https";
    b.port = s.port;
    CHECK_STATUS("never", get(&b, "/", (struct fetch_req){0})->st, ST_CONNECT);
    bed_close(&b);
    server_done(&s);
    assert_int_equal(s.connections, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_that_the_server_has_closed_cost_nothing),
        cmocka_unit_test(a_server_that_never_answers_is_asked_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
