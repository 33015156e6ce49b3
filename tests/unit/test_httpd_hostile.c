#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/clock.h"
#include "io/httpd.h"
#include "io/httpd_guard.h"
#include "io/tls_key.h"
#include "test_client.h"

#define LOOPBACK ((struct addr){4, {127, 0, 0, 1}})
#define PATIENCE_MS 20000
#define KNOWN "Who: friend\r\n"

/* A server that takes bodies of friends alone: up to 80 bytes, /big up to 64 MiB. */
struct house {
    struct httpd *h;
    atomic_int admitted, refused, released, handled;
    pthread_mutex_t lock;
    struct httpd_later *later; /* of /later */
    struct buf taken;          /* of /take */
};

static bool admit(void *self, const struct httpd_request *req, struct httpd_admission *admission,
                  struct httpd_answer *ans)
{
    struct house *s = self;
    if (req->body.n != 0 || req->admitted)
        return false;
    bool is_friend = span_is(httpd_header(req, "who"), "friend");
    if (!is_friend && !span_is(req->target, "/open")) {
        atomic_fetch_add(&s->refused, 1);
        ans->status = 401;
        buf_printf(&ans->body, "who are you? %lld", (long long)req->declared);
        return false;
    }
    atomic_fetch_add(&s->admitted, 1);
    admission->body_max = span_is(req->target, "/big") ? 64u << 20 : is_friend ? 80 : 0;
    admission->is_known = is_friend;
    admission->admitted = s;
    return true;
}

static void release(void *self, void *admitted)
{
    struct house *s = self;
    if (admitted == s)
        atomic_fetch_add(&s->released, 1);
}

static void handle(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct house *s = self;
    static char large[32u << 20];
    atomic_fetch_add(&s->handled, 1);
    if (s->h && req->admitted != s)
        ans->status = 500;
    buf_printf(&ans->body, "%s %.*s %zu", req->method, SPAN_ARG(req->target), req->body.n);
    if (span_is(req->target, "/large"))
        ans->fixed_body = span_of(large, sizeof(large));
    if (span_is(req->target, "/later") || span_is(req->target, "/take")) {
        pthread_mutex_lock(&s->lock);
        if (span_is(req->target, "/take")) {
            buf_done(&s->taken);
            httpd_take_body(req, &s->taken);
        }
        s->later = httpd_defer(req);
        pthread_mutex_unlock(&s->lock);
    }
}

static void open_house(struct house *s, struct httpd_opts opts)
{
    *s = (struct house){.lock = PTHREAD_MUTEX_INITIALIZER};
    struct httpd *h = NULL;
    opts.addr = LOOPBACK;
    opts.admit = admit;
    opts.release = release;
    opts.fn = handle;
    opts.self = s;
    CHECK_STATUS("serve", httpd_new(&opts, &h), ST_OK);
    s->h = h;
}

static void close_house(struct house *s)
{
    httpd_free(s->h);
    assert_int_equal(atomic_load(&s->released), atomic_load(&s->admitted));
    buf_done(&s->taken);
}

static int visit(const struct house *s)
{
    return dial(httpd_port(s->h), "127.0.0.1");
}

static struct httpd_counts counts(const struct house *s)
{
    struct httpd_counts c;
    httpd_count(s->h, &c);
    return c;
}

/* Until `claim`, for so long that only a broken server misses it. */
#define WAIT_FOR(label, claim)                     \
    do {                                           \
        mono_ms end_ = clock_mono() + PATIENCE_MS; \
        while (!(claim) && clock_mono() < end_)    \
            usleep(1000);                          \
        CHECK(label, claim);                       \
    } while (0)

static bool has_later(struct house *s)
{
    pthread_mutex_lock(&s->lock);
    bool has = s->later != NULL;
    pthread_mutex_unlock(&s->lock);
    return has;
}

static void answer_later(struct house *s)
{
    WAIT_FOR("deferred", has_later(s));
    pthread_mutex_lock(&s->lock);
    struct httpd_answer ans = {.status = 200};
    buf_puts(&ans.body, "later");
    httpd_answer_later(s->later, &ans);
    s->later = NULL;
    pthread_mutex_unlock(&s->lock);
}

/* ---- bodies ---- */

static void strangers_are_answered_before_their_bodies(void **state)
{
    struct house s;
    char got[4096];
    open_house(&s, (struct httpd_opts){0});
    int fd = visit(&s);
    /* Small bodies are thrown away, and the connection goes on. */
    for (int i = 0; i < 3; i++) {
        const char *small = "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n01234";
        CHECK("small", strstr(ask(fd, small, got, sizeof(got)), "HTTP/1.1 401"));
        CHECK("small", strstr(got, "who are you? 5"));
        CHECK("no body", strstr(ask(fd, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", got, sizeof(got)), "who are you? 0"));
        const char *chunks = "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
        CHECK("chunks", strstr(ask(fd, chunks, got, sizeof(got)), "who are you? -1"));
    }
    close(fd);
    static const struct {
        const char *label, *head;
    } cases[] = {
        {"large", "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000000\r\n\r\n"},
        {"large put", "PUT /p HTTP/1.1\r\nHost: h\r\nContent-Length: 65537\r\n\r\n"},
        {"large get", "GET /p HTTP/1.1\r\nHost: h\r\nContent-Length: 65537\r\n\r\n"},
        {"expects", "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"},
        {"expects in chunks",
         "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        fd = visit(&s);
        CHECK(cases[i].label, strstr(ask(fd, cases[i].head, got, sizeof(got)), "HTTP/1.1 401"));
        CHECK(cases[i].label, strcasestr(got, "connection: close"));
        /* What comes now is no request, whatever it looks like. */
        int before = atomic_load(&s.admitted);
        (void)send_text(fd, "GET /evil HTTP/1.1\r\nHost: h\r\n" KNOWN "\r\n");
        CHECK(cases[i].label, is_hung_up(fd));
        assert_int_equal(atomic_load(&s.admitted), before);
        close(fd);
    }
    assert_int_equal(atomic_load(&s.handled), 0);
    assert_int_equal(counts(&s).body_memory, 0);
    close_house(&s);
}

static void endless_chunks_of_strangers_end_the_connection(void **state)
{
    struct house s;
    static char chunk[8192 + 16];
    open_house(&s, (struct httpd_opts){0});
    int fd = visit(&s);
    assert_true(send_text(fd, "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"));
    int n = snprintf(chunk, sizeof(chunk), "2000\r\n");
    memset(chunk + n, 'x', 0x2000);
    memcpy(chunk + n + 0x2000, "\r\n", 3);
    int sent = 0;
    while (sent < 10000 && send_text(fd, chunk))
        sent++;
    CHECK("hung up", sent < 10000 && is_hung_up(fd));
    assert_int_equal(atomic_load(&s.handled), 0);
    close(fd);
    close_house(&s);
}

static void admitted_bodies_have_the_ceiling_that_admit_named(void **state)
{
    static const struct {
        const char *label;
        size_t declared; /* 0: one chunk of `sent` */
        size_t sent;
        const char *want;
        bool is_kept;
    } cases[] = {
        {"fits", 80, 80, "POST /p 80", true},          {"empty", 0, 0, "POST /p 0", true},
        {"a byte more", 81, 81, "HTTP/1.1 413", true}, {"much more", 1000000, 0, "HTTP/1.1 413", false},
        {"chunks", 0, 80, "POST /p 80", true},         {"too many chunks", 0, 81, "HTTP/1.1 413", false},
    };
    struct house s;
    char got[4096], body[256], request[1024];
    memset(body, 'b', sizeof(body));
    open_house(&s, (struct httpd_opts){0});
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int fd = visit(&s);
        if (cases[i].declared)
            snprintf(request, sizeof(request),
                     "POST /p HTTP/1.1\r\nHost: h\r\n" KNOWN "Content-Length: %zu\r\n\r\n%.*s", cases[i].declared,
                     (int)cases[i].sent, body);
        else if (cases[i].sent)
            snprintf(request, sizeof(request),
                     "POST /p HTTP/1.1\r\nHost: h\r\n" KNOWN
                     "Transfer-Encoding: chunked\r\n\r\n%zx\r\n%.*s\r\n0\r\n\r\n",
                     cases[i].sent, (int)cases[i].sent, body);
        else
            snprintf(request, sizeof(request), "POST /p HTTP/1.1\r\nHost: h\r\n" KNOWN "\r\n");
        if (!strstr(ask(fd, request, got, sizeof(got)), cases[i].want))
            fail_msg("%s: got \"%s\", want \"%s\"", cases[i].label, got, cases[i].want);
        if (cases[i].is_kept)
            CHECK(cases[i].label,
                  strstr(ask(fd, "GET /b HTTP/1.1\r\nHost: h\r\n" KNOWN "\r\n", got, sizeof(got)), "GET /b 0"));
        else
            CHECK(cases[i].label, is_hung_up(fd));
        close(fd);
    }
    /* Strangers that are let in may be given no body at all. */
    int fd = visit(&s);
    CHECK("none", strstr(ask(fd, "POST /open HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx", got, sizeof(got)),
                         "HTTP/1.1 413"));
    CHECK("none", strstr(ask(fd, "GET /open HTTP/1.1\r\nHost: h\r\n\r\n", got, sizeof(got)), "GET /open 0"));
    close(fd);
    close_house(&s);
}

static void what_was_admitted_is_released_when_the_client_goes(void **state)
{
    struct house s;
    open_house(&s, (struct httpd_opts){0});
    int fd = visit(&s);
    assert_true(send_text(fd, "POST /p HTTP/1.1\r\nHost: h\r\n" KNOWN "Content-Length: 50\r\n\r\nhalf"));
    WAIT_FOR("admitted", atomic_load(&s.admitted) == 1);
    assert_int_equal(counts(&s).body_memory, 50);
    close(fd);
    WAIT_FOR("released", atomic_load(&s.released) == 1);
    WAIT_FOR("memory", counts(&s).body_memory == 0);
    assert_int_equal(atomic_load(&s.handled), 0);
    close_house(&s);
}

static void all_bodies_together_have_a_ceiling(void **state)
{
    struct house s;
    char got[4096], rest[80];
    memset(rest, 'r', sizeof(rest));
    open_house(&s, (struct httpd_opts){.body_memory_max = 100});
    int first = visit(&s), second = visit(&s);
    const char *head = "POST /take HTTP/1.1\r\nHost: h\r\n" KNOWN "Content-Length: 80\r\n\r\n";
    assert_true(send_text(first, head));
    WAIT_FOR("admitted", counts(&s).body_memory == 80);
    char whole[400];
    snprintf(whole, sizeof(whole), "%s%.80s", head, rest);
    CHECK("full", strstr(ask(second, whole, got, sizeof(got)), "HTTP/1.1 503"));
    CHECK("full", strstr(got, "Retry-After: 5\r\n"));
    const char *small = "POST /p HTTP/1.1\r\nHost: h\r\n" KNOWN "Content-Length: 20\r\n\r\n01234567890123456789";
    CHECK("small ones fit", strstr(ask(second, small, got, sizeof(got)), "POST /p 20"));
    const char *huge = "POST /big HTTP/1.1\r\nHost: h\r\n" KNOWN "Content-Length: 101\r\nExpect: 100-continue\r\n\r\n";
    int third = visit(&s);
    CHECK("never fits", strstr(ask(third, huge, got, sizeof(got)), "HTTP/1.1 413"));
    close(third);
    /* The handler has taken the body: it counts until the answer. */
    assert_int_equal(write(first, rest, 80), 80);
    WAIT_FOR("handled", atomic_load(&s.handled) == 2);
    assert_int_equal(counts(&s).body_memory, 80);
    answer_later(&s);
    CHECK("later", strstr(hear(first, got, sizeof(got)), "later"));
    WAIT_FOR("released", counts(&s).body_memory == 0);
    assert_int_equal(s.taken.n, 80);
    assert_true(send_text(second, whole)); /* there is room again */
    answer_later(&s);
    CHECK("room again", strstr(hear(second, got, sizeof(got)), "later"));
    close(first);
    close(second);
    close_house(&s);
}

/* ---- speed ---- */

#define FAST_PACE                                                                                                \
    (struct httpd_pace)                                                                                          \
    {                                                                                                            \
        .head_ms = 100, .body_grace_ms = 50, .body_window_ms = 100, .bytes_per_s = 10000, .answer_grace_ms = 200 \
    }

/* A byte now and then, until the server hangs up. */
static bool drips_in_vain(int fd, const char *text, int every_ms)
{
    size_t n = strlen(text);
    for (mono_ms end = clock_mono() + PATIENCE_MS; clock_mono() < end;) {
        char got[1];
        for (size_t i = 0; i < n && clock_mono() < end; i++) {
            if (send(fd, text + i, 1, MSG_NOSIGNAL) != 1)
                return true;
            usleep((useconds_t)every_ms * 1000);
            ssize_t r = recv(fd, got, 1, MSG_DONTWAIT);
            if (r == 0 || (r < 0 && errno != EAGAIN))
                return true;
        }
    }
    return false;
}

static void slow_senders_are_hung_up_on(void **state)
{
    static const struct {
        const char *label, *first, *drip;
    } cases[] = {
        {"silent", "", ""},
        {"head", "",
         "GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
        {"headers", "GET / HTTP/1.1\r\n",
         "X: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n"},
        {"body", "POST /p HTTP/1.1\r\nHost: h\r\n" KNOWN "Content-Length: 80\r\n\r\n", "a"},
        {"refused body", "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n", "a"},
    };
    struct house s;
    char got[4096];
    open_house(&s, (struct httpd_opts){.pace = FAST_PACE, .idle_timeout_s = 1});
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint64_t before = counts(&s).slow;
        int fd = visit(&s);
        (void)send_text(fd, cases[i].first);
        CHECK(cases[i].label, *cases[i].drip ? drips_in_vain(fd, cases[i].drip, 10) : is_hung_up(fd));
        CHECK(cases[i].label, counts(&s).slow == before + 1);
        close(fd);
    }
    /* A connection that was used before gets its idle time once, not anew with every byte. */
    int fd = -1;
    bool is_in = false;
    for (int i = 0; i < 50 && !is_in; i++) { /* a head has a tenth of a second, which a busy machine may need itself */
        if (fd >= 0)
            close(fd);
        fd = visit(&s);
        is_in = send_text(fd, "GET / HTTP/1.1\r\nHost: h\r\n" KNOWN "\r\n") &&
                strstr(hear(fd, got, sizeof(got)), "GET / 0");
    }
    CHECK("first", is_in);
    CHECK("drips later", drips_in_vain(fd, cases[1].drip, 50));
    close(fd);
    assert_int_equal(atomic_load(&s.handled), 1);
    close_house(&s);
}

static void a_body_at_the_least_speed_is_taken(void **state)
{
    struct house s;
    char got[4096];
    static char piece[4096];
    /* Many windows long, each well above what is asked. */
    open_house(&s, (struct httpd_opts){.pace = {.body_grace_ms = 2000, .body_window_ms = 2000, .bytes_per_s = 1024}});
    int fd = visit(&s);
    assert_true(send_text(fd, "POST /big HTTP/1.1\r\nHost: h\r\n" KNOWN "Content-Length: 4096000\r\n\r\n"));
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(send(fd, piece, sizeof(piece), MSG_NOSIGNAL), (ssize_t)sizeof(piece));
        if (i % 100 == 0)
            usleep(10000);
    }
    CHECK("whole", strstr(hear(fd, got, sizeof(got)), "POST /big 4096000"));
    assert_int_equal(counts(&s).slow, 0);
    close(fd);
    close_house(&s);
}

static void slow_readers_are_hung_up_on(void **state)
{
    struct house s;
    open_house(&s,
               (struct httpd_opts){
                   .pace = {.answer_grace_ms = 200, .bytes_per_s = 1u << 30, .head_ms = 5000, .body_window_ms = 5000}});
    int fd = visit(&s);
    assert_true(send_text(fd, "GET /large HTTP/1.1\r\nHost: h\r\n" KNOWN "\r\n"));
    WAIT_FOR("slow", counts(&s).slow == 1);
    WAIT_FOR("gone", counts(&s).connections == 0);
    close(fd);
    close_house(&s);
}

/* ---- connections ---- */

static int many(int want)
{
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    (void)getrlimit(RLIMIT_NOFILE, &files);
    rlim_t can = files.rlim_cur > 2000 ? files.rlim_cur - 1500 : 100;
    return (rlim_t)want < can ? want : (int)can;
}

static void flood(const struct httpd_opts *opts, unsigned addresses, const char *says, const char *label)
{
    struct house s;
    char got[4096];
    int n = many(3000), *fds = mem_alloc((size_t)n * sizeof(*fds));
    open_house(&s, *opts);
    int friend = visit(&s), waiter = visit(&s);
    CHECK(label, strstr(ask(friend, "GET /a HTTP/1.1\r\nHost: h\r\n" KNOWN "\r\n", got, sizeof(got)), "GET /a 0"));
    assert_true(send_text(waiter, "GET /later HTTP/1.1\r\nHost: h\r\n" KNOWN "\r\n"));
    WAIT_FOR(label, atomic_load(&s.handled) == 2);
    for (int i = 0; i < n; i++) {
        char from[32];
        snprintf(from, sizeof(from), "127.0.0.%u", 10 + (unsigned)i % addresses);
        fds[i] = dial_from(httpd_port(s.h), from, "127.0.0.1");
        if (fds[i] >= 0)
            (void)send_text(fds[i], says);
        if (i % 200 == 199) { /* somebody else, meanwhile */
            int fd = dial_from(httpd_port(s.h), "127.0.0.9", "127.0.0.1");
            CHECK(label, fd >= 0);
            CHECK(label, strstr(ask(fd, "GET /open HTTP/1.1\r\nHost: h\r\n\r\n", got, sizeof(got)), "GET /open 0"));
            close(fd);
        }
    }
    struct httpd_counts c = counts(&s);
    CHECK(label, c.refused + c.evicted > 0);
    /* Who was known or busy is still there. */
    CHECK(label, strstr(ask(friend, "GET /b HTTP/1.1\r\nHost: h\r\n" KNOWN "\r\n", got, sizeof(got)), "GET /b 0"));
    answer_later(&s);
    CHECK(label, strstr(hear(waiter, got, sizeof(got)), "later"));
    WAIT_FOR(label, counts(&s).connections <= opts->connections_max);
    for (int i = 0; i < n; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    close(friend);
    close(waiter);
    free(fds);
    close_house(&s);
}

static void a_crowd_keeps_nobody_else_out(void **state)
{
    static const char refused[] = "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n";
    flood(&(struct httpd_opts){.connections_max = 100}, 1, "", "one address");
    flood(&(struct httpd_opts){.connections_max = 100, .connections_per_address = 8}, 1, "", "one address, few each");
    flood(&(struct httpd_opts){.connections_max = 100}, 200, "", "many addresses");
    flood(&(struct httpd_opts){.connections_max = 100, .threads = 2}, 200, "", "many addresses, two threads");
    flood(&(struct httpd_opts){.connections_max = 100}, 200, refused, "with bodies that were refused");
}

static void a_client_that_went_while_deferred_is_cleared_when_answered(void **state)
{
    struct house s;
    open_house(&s, (struct httpd_opts){0});
    for (int i = 0; i < 5; i++) {
        int fd = visit(&s);
        assert_true(send_text(fd, "GET /later HTTP/1.1\r\nHost: h\r\n" KNOWN "\r\n"));
        WAIT_FOR("handled", atomic_load(&s.handled) == i + 1);
        struct linger hard = {1, 0}; /* a reset, then orderly ends */
        if (i % 2 == 0)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
        close(fd);
        answer_later(&s);
        WAIT_FOR("released", atomic_load(&s.released) == i + 1);
        WAIT_FOR("gone", counts(&s).connections == 0);
    }
    close_house(&s);
}

static void a_key_of_another_certificate_is_no_server(void **state)
{
    struct buf cert[2] = {0}, key[2] = {0};
    struct httpd *h = NULL;
    for (int i = 0; i < 2; i++)
        CHECK_STATUS("make", tls_key_make(SPAN("h.example"), &cert[i], &key[i]), ST_OK);
    struct httpd_opts opts = {
        .addr = LOOPBACK, .fn = handle, .tls_cert = buf_span(&cert[0]), .tls_key = buf_span(&key[1])};
    CHECK_STATUS("mixed", httpd_new(&opts, &h), ST_INVALID);
    assert_null(h);
    for (int i = 0; i < 2; i++) {
        buf_done(&cert[i]);
        buf_done(&key[i]);
    }
}

/* ---- the guard alone ---- */

struct pair {
    int in, out; /* the visitor's end, the server's */
    struct guard_visitor *v;
};

static struct pair knock(struct guard *g, const char *from, mono_ms deadline)
{
    int fds[2];
    struct addr a, none = {0};
    CHECK_STATUS(from, addr_parse(span_str(from), &a), ST_OK);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    return (struct pair){fds[0], fds[1], guard_enter(g, fds[1], &a, &none, deadline)};
}

static bool was_sent_away(const struct pair *p)
{
    char c;
    return recv(p->in, &c, 1, MSG_DONTWAIT) == 0;
}

static void part(struct guard *g, struct pair *p)
{
    guard_leave(g, p->v);
    close(p->in);
    close(p->out);
}

static void households_are_an_address_or_a_64(void **state)
{
    static const struct {
        const char *from;
        bool is_in;
    } cases[] = {{"192.0.2.1", true},       {"192.0.2.1", true},       {"192.0.2.1", false},
                 {"192.0.2.2", true},       {"2001:db8::1", true},     {"2001:db8::2", true},
                 {"2001:db8::3", false},    {"2001:db8:0:1::1", true}, {"2001:db8:0:1::1", true},
                 {"2001:db8:0:1::1", false}};
    enum { N = sizeof(cases) / sizeof(*cases) };
    struct guard_opts o = {.visitors_max = 100, .per_address = 2};
    struct guard *g = guard_new(&o);
    struct pair p[N];
    for (size_t i = 0; i < N; i++) {
        p[i] = knock(g, cases[i].from, MONO_NEVER);
        if ((p[i].v != NULL) != cases[i].is_in)
            fail_msg("%zu %s: %s", i, cases[i].from, p[i].v ? "in" : "refused");
    }
    struct addr a;
    CHECK_STATUS("parse", addr_parse(SPAN("192.0.2.1"), &a), ST_OK);
    CHECK("may not", !guard_may_enter(g, &a));
    part(g, &p[0]);
    CHECK("may again", guard_may_enter(g, &a));
    for (size_t i = 1; i < N; i++)
        part(g, &p[i]);
    struct guard_counts c;
    guard_count(g, &c);
    assert_int_equal(c.visitors, 0);
    assert_int_equal(c.refused, 4);
    guard_free(g);
    guard_free(NULL);
}

static void who_waited_longest_gives_way(void **state)
{
    struct guard_opts o = {.visitors_max = 4};
    struct guard *g = guard_new(&o);
    struct pair p[8];
    for (int i = 0; i < 4; i++)
        p[i] = knock(g, "192.0.2.1", MONO_NEVER);
    guard_busy(g, p[0].v); /* 0 is busy; 1 was, and goes to the end; 2 is known */
    guard_busy(g, p[1].v);
    guard_idle(g, p[1].v);
    guard_busy(g, p[2].v);
    guard_known(p[2].v);
    guard_idle(g, p[2].v);
    p[4] = knock(g, "192.0.2.2", MONO_NEVER);
    CHECK("3 waited longest", was_sent_away(&p[3]) && !was_sent_away(&p[1]));
    p[5] = knock(g, "192.0.2.2", MONO_NEVER);
    CHECK("then 1", was_sent_away(&p[1]));
    guard_busy(g, p[4].v);
    guard_busy(g, p[5].v);
    p[6] = knock(g, "192.0.2.3", MONO_NEVER);
    CHECK("nobody can", !p[6].v);
    CHECK("never these", !was_sent_away(&p[0]) && !was_sent_away(&p[2]));
    guard_idle(g, p[4].v);
    p[7] = knock(g, "192.0.2.3", MONO_NEVER);
    CHECK("now 4", p[7].v && was_sent_away(&p[4]));
    for (int i = 0; i < 8; i++)
        part(g, &p[i]);
    guard_free(g);
}

static void late_ones_are_sent_away_once(void **state)
{
    struct guard_opts o = {.visitors_max = 10};
    struct guard *g = guard_new(&o);
    struct guard_counts c;
    struct pair a = knock(g, "192.0.2.1", 1000), b = knock(g, "192.0.2.1", 2000), unread = knock(g, "192.0.2.1", 1000);
    assert_int_equal(write(unread.in, "x", 1), 1);
    guard_scan(g, 999);
    CHECK("in time", !was_sent_away(&a));
    guard_scan(g, 1000);
    guard_scan(g, 1001);
    CHECK("late", was_sent_away(&a) && !was_sent_away(&b));
    CHECK("we are late", !was_sent_away(&unread));
    guard_deadline(b.v, MONO_NEVER);
    guard_scan(g, 40000);
    CHECK("not for ever", was_sent_away(&unread));
    CHECK("takes its time", !was_sent_away(&b));
    guard_count(g, &c);
    assert_int_equal(c.slow, 2);
    part(g, &a);
    part(g, &b);
    part(g, &unread);
    guard_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strangers_are_answered_before_their_bodies),
        cmocka_unit_test(endless_chunks_of_strangers_end_the_connection),
        cmocka_unit_test(admitted_bodies_have_the_ceiling_that_admit_named),
        cmocka_unit_test(what_was_admitted_is_released_when_the_client_goes),
        cmocka_unit_test(all_bodies_together_have_a_ceiling),
        cmocka_unit_test(slow_senders_are_hung_up_on),
        cmocka_unit_test(a_body_at_the_least_speed_is_taken),
        cmocka_unit_test(slow_readers_are_hung_up_on),
        cmocka_unit_test(a_crowd_keeps_nobody_else_out),
        cmocka_unit_test(a_client_that_went_while_deferred_is_cleared_when_answered),
        cmocka_unit_test(a_key_of_another_certificate_is_no_server),
        cmocka_unit_test(households_are_an_address_or_a_64),
        cmocka_unit_test(who_waited_longest_gives_way),
        cmocka_unit_test(late_ones_are_sent_away_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
