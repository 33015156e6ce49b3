#include "test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "io/clock.h"
#include "io/fetch_header.h"
#include "io/fetcher.h"
#include "io/loop_uv.h"
#include "io/httpd.h"

#define LOOPBACK ((struct addr){4, {127, 0, 0, 1}})

/* A fetcher with one server, and what came back last. */
struct bed {
    struct loop *loop;
    struct fetcher *fetcher;
    struct httpd *server;
    int port;
    const char *scheme;
    atomic_int handled; /* requests that reached the server */
    int want, done;

    struct fetch_result last; /* spans point into `text` */
    struct arena_like {
        char bytes[1 << 16];
        size_t n;
    } text;
    struct buf body, request, head, raw;
    char seen[4096]; /* request headers of the last request, as the handler saw them */
};

static void gzip_zeros(struct buf *to, size_t n)
{
    z_stream z = {0};
    static const unsigned char zeros[1 << 16];
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
    for (size_t done = 0; done <= n; done += sizeof(zeros)) {
        z.next_in = (unsigned char *)zeros;
        z.avail_in = (unsigned)(n - done < sizeof(zeros) ? n - done : sizeof(zeros));
        do {
            z.next_out = (unsigned char *)buf_room(to, 4096);
            z.avail_out = 4096;
            deflate(&z, done + sizeof(zeros) > n ? Z_FINISH : Z_NO_FLUSH);
            to->n += 4096 - z.avail_out;
        } while (z.avail_out == 0);
    }
    deflateEnd(&z);
}

static void fill(struct buf *b, size_t n)
{
    memset(buf_room(b, n), 'x', n);
    b->n += n;
}

static void site(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct bed *bed = self;
    struct span t = req->target, tag = httpd_header(req, "If-None-Match");
    struct span since = httpd_header(req, "If-Modified-Since"), accept = httpd_header(req, "Accept-Encoding");
    struct span agent = httpd_header(req, "User-Agent"), extra = httpd_header(req, "X-Extra");
    struct span wants = httpd_header(req, "Accept");
    snprintf(bed->seen, sizeof(bed->seen), "%s|%.*s|%.*s|%.*s|%.*s|%.*s|%.*s|%.*s", req->method, SPAN_ARG(req->host),
             SPAN_ARG(agent), SPAN_ARG(tag), SPAN_ARG(since), SPAN_ARG(accept), SPAN_ARG(extra), SPAN_ARG(wants));
    bed->handled++;
    if (span_is(t, "/page")) {
        buf_puts(&ans->head, "Content-Type: text/html; charset=utf-8\nETag: \"e1\"\n"
                             "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\nX-Robots-Tag: noindex\n"
                             "Link: </style.css>; rel=preload, <https://c.example/p>; rel=\"canonical\"\n"
                             "x-robots-tag: bot: nofollow\n");
        if (span_is(tag, "\"e1\""))
            ans->status = 304;
        else
            buf_puts(&ans->body, "<p>hello");
    } else if (span_is(t, "/redirect")) {
        ans->status = 302;
        buf_puts(&ans->head, "Location: /page\n");
    } else if (span_is(t, "/last")) {
        buf_puts(&ans->head, "Content-Type: text/html\nConnection: close\n");
        buf_puts(&ans->body, "<p>bye");
    } else if (span_is(t, "/busy")) {
        ans->status = 503;
        buf_puts(&ans->head, "Retry-After: 120\n");
    } else if (span_is(t, "/gzip") || span_is(t, "/bomb")) {
        buf_puts(&ans->head, "Content-Type: text/html\nContent-Encoding: gzip\n");
        gzip_zeros(&ans->body, span_is(t, "/gzip") ? 900000 : 12000000);
    } else if (span_is(t, "/bad-gzip")) {
        buf_puts(&ans->head, "Content-Type: text/html\nContent-Encoding: gzip\n");
        buf_puts(&ans->body, "this is not gzip at all");
    } else if (span_is(t, "/big")) {
        buf_puts(&ans->head, "Content-Type: text/html\n");
        fill(&ans->body, 300000);
    } else if (span_is(t, "/small.png") || span_is(t, "/big.png")) {
        buf_puts(&ans->head, "Content-Type: image/png\nContent-Disposition: inline; filename=a.png\n");
        fill(&ans->body, span_is(t, "/big.png") ? 3000000 : 50000);
    } else if (span_is(t, "/headers")) {
        for (int i = 0; i < 100; i++)
            buf_printf(&ans->head, "X-Filler-%d: 0123456789012345678901234567890123456789\n", i);
    } else if (span_is(t, "/slow")) {
        ans->delay_ms = 3000;
    } else if (span_is(t, "/drop")) {
        ans->drop = true;
    } else {
        ans->status = 404;
    }
}

static struct span keep_span(struct bed *b, struct span s)
{
    assert_true(s.n <= sizeof(b->text.bytes) - b->text.n);
    char *to = b->text.bytes + b->text.n;
    if (s.n)
        memcpy(to, s.p, s.n);
    b->text.n += s.n;
    return span_of(to, s.n);
}

static void on_done(void *arg, const struct fetch_result *r)
{
    struct bed *b = arg;
    b->last = *r;
    b->text.n = 0;
    struct span *const all[] = {
        &b->last.disposition,    &b->last.content_type,    &b->last.etag, &b->last.last_modified,
        &b->last.location,       &b->last.retry_after,     &b->last.date, &b->last.robots_tags,
        &b->last.link_canonical, &b->last.content_encoding};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        *all[i] = keep_span(b, *all[i]);
    buf_clear(&b->body);
    buf_put(&b->body, r->body);
    b->last.body = buf_span(&b->body);
    struct span *const raws[] = {&b->last.request, &b->last.head, &b->last.raw};
    struct buf *const kept[] = {&b->request, &b->head, &b->raw};
    for (size_t i = 0; i < 3; i++) {
        buf_clear(kept[i]);
        buf_put(kept[i], *raws[i]);
        *raws[i] = buf_span(kept[i]);
    }
    b->last.why = keep_span(b, span_of(r->why, strlen(r->why) + 1)).p;
    if (++b->done >= b->want)
        loop_stop(b->loop);
}

static void bed_open(struct bed *b, struct fetcher_opts opts)
{
    memset(b, 0, sizeof(*b));
    struct httpd_opts serve = {.addr = LOOPBACK, .fn = site, .self = b};
    b->loop = loop_new();
    b->scheme = "http";
    CHECK_STATUS("server", httpd_new(&serve, &b->server), ST_OK);
    b->port = httpd_port(b->server);
    if (!opts.user_agent.n)
        opts.user_agent = SPAN("tester/1");
    CHECK_STATUS("fetcher", fetcher_new(b->loop, &opts, &b->fetcher), ST_OK);
}

static void bed_close(struct bed *b)
{
    fetcher_free(b->fetcher);
    httpd_free(b->server);
    loop_free(b->loop);
    buf_done(&b->body);
    buf_done(&b->request);
    buf_done(&b->head);
    buf_done(&b->raw);
}

static void start(struct bed *b, const char *path, struct fetch_req req)
{
    char url[512];
    snprintf(url, sizeof(url), "%s://site.test:%d%s", b->scheme, b->port, path);
    req.url = span_str(url);
    if (!req.addr.family)
        req.addr = LOOPBACK;
    req.done = on_done;
    req.arg = b;
    int done = b->done;
    fetcher_get(b->fetcher, &req);
    memset(url, 'z', sizeof(url)); /* it was copied */
    CHECK(path, b->done == done);  /* never from inside */
}

static const struct fetch_result *get(struct bed *b, const char *path, struct fetch_req req)
{
    b->want = b->done + 1;
    start(b, path, req);
    loop_run(b->loop);
    assert_int_equal(b->done, b->want);
    assert_int_equal(fetcher_active(b->fetcher), 0);
    return &b->last;
}

static void fetches_a_page_with_its_headers(void **state)
{
    struct bed b;
    struct span extra[] = {SPAN("X-Extra: yes")};
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .headers = extra, .header_count = 1});
    const struct fetch_result *r = get(&b, "/page", (struct fetch_req){0});
    CHECK_STATUS("page", r->st, ST_OK);
    assert_int_equal(r->http_status, 200);
    assert_int_equal(r->http_version, 11);
    CHECK_SPAN("body", r->body, SPAN("<p>hello"));
    CHECK_SPAN("type", r->content_type, SPAN("text/html; charset=utf-8"));
    CHECK_SPAN("etag", r->etag, SPAN("\"e1\""));
    CHECK_SPAN("modified", r->last_modified, SPAN("Sun, 06 Nov 1994 08:49:37 GMT"));
    CHECK_SPAN("robots", r->robots_tags, SPAN("noindex\nbot: nofollow"));
    CHECK_SPAN("canonical", r->link_canonical, SPAN("https://c.example/p"));
    CHECK_SPAN("location", r->location, SPAN(""));
    assert_true(r->date.n > 10);
    assert_true(r->declared_bytes == 8 && r->wire_bytes == 8);
    assert_false(r->reused || r->body_cut || r->body_unwanted);
    assert_true(addr_eq(&r->addr, &LOOPBACK));
    assert_true(r->timing.connect_us > 0 && r->timing.tls_us == 0);
    assert_true(r->timing.first_byte_us >= r->timing.connect_us && r->timing.total_us >= r->timing.first_byte_us);
    char want[512];
    snprintf(want, sizeof(want), "GET|site.test:%d|tester/1|||gzip, deflate, br, zstd|yes|text/html", b.port);
    CHECK_SPAN("request", span_cut(span_str(b.seen), 0, strlen(want)), span_str(want));
    bed_close(&b);
}

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

static void conditions_lead_to_304(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    struct fetch_req req = {.etag = SPAN("\"e1\""), .last_modified = SPAN("Sun, 06 Nov 1994 08:49:37 GMT")};
    const struct fetch_result *r = get(&b, "/page", req);
    CHECK_STATUS("304", r->st, ST_OK);
    assert_int_equal(r->http_status, 304);
    assert_true(r->body.n == 0);
    assert_non_null(strstr(b.seen, "|\"e1\"|Sun, 06 Nov 1994 08:49:37 GMT|"));
    assert_int_equal(get(&b, "/page", (struct fetch_req){0})->http_status, 200); /* no leftovers in the handle */
    assert_non_null(strstr(b.seen, "|tester/1|||"));
    req = (struct fetch_req){.etag = SPAN("\"e1\"\r\nX-Extra: smuggled")};
    assert_int_equal(get(&b, "/page", req)->http_status, 200);
    assert_null(strstr(b.seen, "smuggled"));
    bed_close(&b);
}

static void head_has_no_body(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    const struct fetch_result *r = get(&b, "/big.png", (struct fetch_req){.is_head = true});
    CHECK_STATUS("head", r->st, ST_OK);
    assert_true(r->body.n == 0 && r->declared_bytes == 3000000);
    assert_true(strncmp(b.seen, "HEAD|", 5) == 0);
    assert_int_equal(get(&b, "/page", (struct fetch_req){0})->body.n, 8); /* back to GET */
    bed_close(&b);
}

static void returns_redirects_and_errors_as_they_are(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    const struct fetch_result *r = get(&b, "/redirect", (struct fetch_req){0});
    assert_int_equal(r->http_status, 302);
    CHECK_SPAN("location", r->location, SPAN("/page"));
    assert_int_equal(b.handled, 1);
    r = get(&b, "/busy", (struct fetch_req){0});
    assert_int_equal(r->http_status, 503);
    CHECK_SPAN("retry", r->retry_after, SPAN("120"));
    assert_int_equal(get(&b, "/none", (struct fetch_req){0})->http_status, 404);
    bed_close(&b);
}

static void decodes_and_holds_the_ratio(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    const struct fetch_result *r = get(&b, "/gzip", (struct fetch_req){0});
    CHECK_STATUS("gzip", r->st, ST_OK); /* about 1000:1, but under a megabyte */
    assert_int_equal(r->body.n, 900000);
    assert_true(r->wire_bytes < 2000 && r->wire_bytes > 100);
    CHECK_SPAN("encoding", r->content_encoding, SPAN("gzip"));
    r = get(&b, "/bomb", (struct fetch_req){0});
    CHECK_STATUS("bomb", r->st, ST_LIMIT);
    assert_true(r->body.n == 0);
    CHECK_STATUS("bad gzip", get(&b, "/bad-gzip", (struct fetch_req){0})->st, ST_PROTOCOL);
    bed_close(&b);
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .ratio_max = 2000});
    r = get(&b, "/bomb", (struct fetch_req){0});
    CHECK_STATUS("allowed", r->st, ST_OK);
    assert_int_equal(r->body.n, 12000000);
    bed_close(&b);
}

static void raw_answers_say_the_same_and_keep_what_came(void **state)
{
    static const char *const paths[] = {"/page",     "/redirect", "/busy",      "/gzip",    "/bomb",
                                        "/bad-gzip", "/big",      "/small.png", "/big.png", "/nowhere",
                                        "/redirect", "/gzip",     "/headers"};
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        struct buf body = {0};
        struct fetch_result plain = *get(&b, paths[i], (struct fetch_req){0});
        buf_put(&body, plain.body);
        CHECK(paths[i], !plain.has_raw && !plain.raw.n && !plain.head.n && !plain.request.n);
        const struct fetch_result *r = get(&b, paths[i], (struct fetch_req){.keep_raw = true});
        CHECK_STATUS(paths[i], r->st, plain.st);
        CHECK(paths[i], r->http_status == plain.http_status && r->body_cut == plain.body_cut &&
                            r->body_unwanted == plain.body_unwanted);
        /* Of what cannot be decoded curl keeps nothing. */
        CHECK(paths[i], span_eq(r->body, buf_span(&body)));
        CHECK(paths[i], r->has_raw == (plain.st != ST_LIMIT));
        if (r->has_raw) {
            CHECK(paths[i], span_starts(r->head, SPAN("HTTP/1.1 ")) && span_ends(r->head, SPAN("\r\n\r\n")));
            CHECK(paths[i], span_starts(r->request, SPAN("GET /")) && span_ends(r->request, SPAN("\r\n\r\n")));
            CHECK(paths[i], span_search(r->request, span_str(paths[i]), false) == 4);
            CHECK(paths[i], r->raw.n == r->wire_bytes && !r->raw_cut);
        }
        buf_done(&body);
    }
    const struct fetch_result *r = get(&b, "/page", (struct fetch_req){.keep_raw = true, .etag = SPAN("\"e1\"")});
    CHECK("304", r->http_status == 304 && r->has_raw && !r->raw.n);
    CHECK("condition", span_search(r->request, SPAN("\r\nIf-None-Match: \"e1\"\r\n"), false) < r->request.n);
    bed_close(&b);
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .body_bytes_max = 100000});
    static const char *const cut[] = {"/big", "/big.png", "/gzip"};
    for (size_t i = 0; i < 3; i++) {
        r = get(&b, cut[i], (struct fetch_req){.keep_raw = true});
        CHECK_STATUS(cut[i], r->st, ST_OK);
        CHECK(cut[i], r->raw_cut && r->raw.n <= 100000 && r->body.n == (i == 1 ? 0 : 100000));
    }
    bed_close(&b);
}

static void cuts_long_bodies(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .body_bytes_max = 100000});
    const struct fetch_result *r = get(&b, "/big", (struct fetch_req){0});
    CHECK_STATUS("cut", r->st, ST_OK);
    assert_true(r->body_cut && r->body.n == 100000 && r->declared_bytes == 300000);
    assert_false(get(&b, "/page", (struct fetch_req){0})->body_cut);
    bed_close(&b);
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .body_bytes_max = 300000});
    assert_false(get(&b, "/big", (struct fetch_req){0})->body_cut); /* exactly full is not cut */
    assert_int_equal(b.last.body.n, 300000);
    bed_close(&b);
}

static void refuses_long_heads(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .header_bytes_max = 4000});
    CHECK_STATUS("long", get(&b, "/headers", (struct fetch_req){0})->st, ST_LIMIT);
    CHECK_STATUS("short", get(&b, "/page", (struct fetch_req){0})->st, ST_OK);
    bed_close(&b);
}

static bool wants_images(struct span type, struct span url, uint64_t bytes)
{
    return bytes == 50000 && span_starts(type, SPAN("image/")) && span_ends(url, SPAN("/small.png"));
}

static bool wants_text(struct span type, struct span url, uint64_t bytes)
{
    return span_starts(type, SPAN("text/"));
}

static void drops_bodies_of_other_types(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    const struct fetch_result *r = get(&b, "/small.png", (struct fetch_req){0});
    CHECK_STATUS("small", r->st, ST_OK);
    assert_true(r->body_unwanted && r->body.n == 0 && r->wire_bytes == 50000);
    r = get(&b, "/big.png", (struct fetch_req){0});
    CHECK_STATUS("big", r->st, ST_OK);
    assert_true(r->reused && r->body_unwanted && r->body.n == 0 && r->wire_bytes < 1000000);
    CHECK_SPAN("disposition", r->disposition, SPAN("inline; filename=a.png"));
    r = get(&b, "/small.png", (struct fetch_req){.wants = wants_images});
    assert_true(!r->body_unwanted && r->body.n == 50000);
    r = get(&b, "/big.png", (struct fetch_req){.wants = wants_text});
    assert_true(r->body_unwanted);
    r = get(&b, "/small.png", (struct fetch_req){.any_type = true});
    assert_true(!r->reused && !r->body_unwanted && r->body.n == 50000);
    bed_close(&b);
}

static void gives_up_on_slow_servers(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .first_byte_ms = 200});
    mono_ms from = clock_mono();
    CHECK_STATUS("first byte", get(&b, "/slow", (struct fetch_req){0})->st, ST_TIMEOUT);
    mono_ms took = clock_mono() - from;
    assert_true(took >= 190 && took < 2000);
    assert_true(b.last.timing.first_byte_us == -1 && b.last.why[0]);
    CHECK_STATUS("next", get(&b, "/page", (struct fetch_req){0})->st, ST_OK);
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
    mono_ms from = clock_mono();
    CHECK_STATUS("connect", get(&b, "/", (struct fetch_req){0})->st, ST_TIMEOUT);
    assert_true(clock_mono() - from < 2000);
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

static void many_at_once_all_come_back_once(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .connections_max = 8});
    static const char *const paths[] = {"/page", "/drop", "/small.png", "/none", "/redirect"};
    b.want = 500;
    for (int i = 0; i < b.want; i++)
        start(&b, paths[i % 5], (struct fetch_req){.is_head = i % 7 == 0});
    assert_int_equal(fetcher_active(b.fetcher), 500);
    loop_run(b.loop);
    assert_int_equal(b.done, 500);
    assert_int_equal(fetcher_active(b.fetcher), 0);
    bed_close(&b);
}

static void freeing_cancels_what_is_under_way(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .connections_max = 4});
    b.want = 100;
    for (int i = 0; i < 10; i++)
        start(&b, "/slow", (struct fetch_req){.addr = i == 9 ? (struct addr){4, {224}} : LOOPBACK});
    fetcher_free(b.fetcher);
    b.fetcher = NULL;
    assert_int_equal(b.done, 10);
    CHECK_STATUS("cancelled", b.last.st, ST_CANCELLED);
    bed_close(&b);
}

static void free_in_callback(void *arg, const struct fetch_result *r)
{
    struct bed *b = arg;
    b->done++;
    if (r->st == ST_CANCELLED)
        return;
    assert_true(r->st == ST_OK || r->st == ST_REFUSED || r->st == ST_TIMEOUT);
    fetcher_free(b->fetcher);
    b->fetcher = NULL;
    loop_stop(b->loop);
}

static void freeing_is_allowed_inside_the_callback(void **state)
{
    static const struct {
        const char *label, *path;
        struct addr addr;
    } cases[] = {{"done", "/page", LOOPBACK}, {"refused", "/page", {4, {224}}}, {"timeout", "/slow", LOOPBACK}};
    for (size_t c = 0; c < 3; c++) {
        struct bed b;
        bed_open(&b, (struct fetcher_opts){.allow_private = true, .connections_max = 4, .first_byte_ms = 100});
        char url[100];
        snprintf(url, sizeof(url), "http://site.test:%d%s", b.port, cases[c].path);
        for (int i = 0; i < 8; i++) {
            struct fetch_req req = {.url = span_str(url), .addr = cases[c].addr, .done = free_in_callback, .arg = &b};
            fetcher_get(b.fetcher, &req);
        }
        loop_run(b.loop);
        CHECK(cases[c].label, b.done == 8 && !b.fetcher);
        bed_close(&b);
    }
}

static void holds_the_rate(void **state)
{
    static const struct {
        const char *label, *path;
        int requests;
    } cases[] = {{"one large", "/big", 1}, {"small ones", "/small.png", 6}};
    for (size_t c = 0; c < 2; c++) {
        struct bed b;
        bed_open(&b, (struct fetcher_opts){.allow_private = true, .rate_bytes_per_s = 300000});
        mono_ms from = clock_mono();
        b.want = cases[c].requests + 1;
        for (int i = 0; i < cases[c].requests; i++)
            start(&b, cases[c].path, (struct fetch_req){.any_type = true});
        start(&b, "/page", (struct fetch_req){0});
        loop_run(b.loop);
        mono_ms took = clock_mono() - from;
        CHECK_STATUS(cases[c].label, b.last.st, ST_OK);
        if (took < 500 || took > 3000)
            fail_msg("%s: took %d ms, want about 1000", cases[c].label, (int)took);
        bed_close(&b);
    }
}

/* TLS. */

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
        httpd_free(tls);
        /* Plain HTTP where TLS is expected. */
        b.scheme = "https";
        CHECK_STATUS("no TLS there", get(&b, "/page", (struct fetch_req){0})->st, ST_TLS);
        bed_close(&b);
    }
    free((char *)cert_pem.p);
    free((char *)key_pem.p);
    snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
    assert_int_equal(system(cmd), 0);
}

/* Odd responses, sent by a socket that knows nothing of HTTP. */

struct raw {
    int fd, port;
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
        close(fd);
    }
}

static const struct fetch_result *get_raw(struct bed *b, struct span bytes)
{
    struct raw raw = {.bytes = bytes, .fd = socket(AF_INET, SOCK_STREAM, 0)};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(in);
    assert_int_equal(bind(raw.fd, (struct sockaddr *)&in, n), 0);
    assert_int_equal(listen(raw.fd, 8), 0);
    getsockname(raw.fd, (struct sockaddr *)&in, &n);
    assert_int_equal(pthread_create(&raw.thread, NULL, serve_raw, &raw), 0);
    int port = b->port;
    b->port = ntohs(in.sin_port);
    const struct fetch_result *r = get(b, "/", (struct fetch_req){.any_type = true});
    b->port = port;
    shutdown(raw.fd, SHUT_RDWR);
    pthread_join(raw.thread, NULL);
    close(raw.fd);
    return r;
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
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .first_byte_ms = 1000, .total_ms = 2000});
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
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .first_byte_ms = 1000, .total_ms = 2000});
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

/* Pure parts. */

static void reads_dates_in_three_forms(void **state)
{
    const wall_ms now = 1793000000000; /* October 2026 */
    static const struct {
        const char *text;
        int64_t seconds; /* -1: no date */
    } cases[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
        {"Sun Nov  6 08:49:37 1994", 784111777},
        {" Sun, 06 Nov 1994 08:49:37 GMT\t", 784111777},
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"Fri, 31 Dec 1999 23:59:60 GMT", 946684800},
        {"Thu, 29 Feb 2024 12:00:00 GMT", 1709208000},
        {"Tue Feb 29 00:00:00 2000", 951782400},
        {"Wed, 29 Feb 2023 12:00:00 GMT", -1},
        {"Mon, 29 Feb 2100 12:00:00 GMT", -1},
        {"Sun, 31 Apr 1994 08:49:37 GMT", -1},
        {"Sun, 00 Nov 1994 08:49:37 GMT", -1},
        {"Thursday, 01-Jan-70 00:00:00 GMT", 3155760000},  /* 2070: less than fifty years ahead */
        {"Friday, 01-Jan-77 00:00:00 GMT", 220924800},     /* 1977: 2077 would be more */
        {"Wednesday, 01-Jan-76 00:00:00 GMT", 3345062400}, /* 2076 */
        {"Friday, 31-Dec-76 00:00:00 GMT", 220838400},     /* 1976 */
        {"Saturday, 01-Jan-00 00:00:00 GMT", 946684800},
        {"Sun, 06 Nov 94 08:49:37 GMT", -1},
        {"Sunday, 06-Nov-1994 08:49:37 GMT", -1},
        {"Sun, 6 Nov 1994 08:49:37 GMT", -1},
        {"Sun, 06 Nov 1994 08:49:37", -1},
        {"Sun, 06 Nov 1994 08:49:37 UTC", -1},
        {"Sun, 06 Nov 1994 24:00:00 GMT", -1},
        {"Sun, 06 Nov 1994 08:60:37 GMT", -1},
        {"Sun, 06 Nov 1994 08:49:61 GMT", -1},
        {"Sun, 06 Nov 1994 08:49:37 GMT x", -1},
        {"Sun, 06 Foo 1994 08:49:37 GMT", -1},
        {"Xyz, 06 Nov 1994 08:49:37 GMT", -1},
        {"0", -1},
        {"-1", -1},
        {"", -1},
        {"Sun", -1},
        {"Mon, 31 Dec 9999 23:59:59 GMT", 253402300799},
        {"Mon, 01 Jan 0001 00:00:00 GMT", -62135596800},
        {"Sat, 01 Jan 0000 00:00:00 GMT", -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        wall_ms got = -1000;
        bool ok = fetch_date(span_str(cases[i].text), now, &got);
        CHECK(cases[i].text, ok == (cases[i].seconds != -1));
        if (got != cases[i].seconds * 1000)
            fail_msg("%s: %lld, want %lld", cases[i].text, (long long)got / 1000, (long long)cases[i].seconds);
    }
}

static void dates_agree_with_the_c_library(void **state)
{
    for (int64_t s = -2000000000; s < 20000000000; s += 86400 * 37 + 12345) {
        time_t t = (time_t)s;
        struct tm tm;
        char imf[64], asc[64];
        wall_ms a = 0, b = 0;
        gmtime_r(&t, &tm);
        strftime(imf, sizeof(imf), "%a, %d %b %Y %H:%M:%S GMT", &tm);
        strftime(asc, sizeof(asc), "%a %b %e %H:%M:%S %Y", &tm);
        CHECK(imf, fetch_date(span_str(imf), 0, &a) && a == s * 1000);
        CHECK(asc, fetch_date(span_str(asc), 0, &b) && b == s * 1000);
    }
}

static void reads_retry_after(void **state)
{
    const wall_ms now = 784111777000;
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"0", 0},
        {"120", 120000},
        {" 5 ", 5000},
        {"99999999999999999999999", (int64_t)36500 * 86400 * 1000},
        {"Sun, 06 Nov 1994 08:50:37 GMT", 60000},
        {"Sun, 06 Nov 1994 08:48:37 GMT", 0},
        {"-5", -1},
        {"5s", -1},
        {"1.5", -1},
        {"", -1},
        {"soon", -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (fetch_retry_after_ms(span_str(cases[i].text), now) != cases[i].ms)
            fail_msg("%s: %lld", cases[i].text, (long long)fetch_retry_after_ms(span_str(cases[i].text), now));
}

static void finds_the_canonical_link(void **state)
{
    static const struct {
        const char *value, *want; /* NULL: none */
    } cases[] = {
        {"<https://a.example/>; rel=\"canonical\"", "https://a.example/"},
        {"<https://a.example/>; rel=canonical", "https://a.example/"},
        {"<https://a.example/>;rel=Canonical", "https://a.example/"},
        {"< /b >; title=\"x, y; rel=no\"; REL = \"next CANONICAL\"", "/b"},
        {"</a>; rel=next, </b>; rel=canonical", "/b"},
        {"</a,b>; rel=canonical", "/a,b"},
        {",, </b>; rel=canonical,", "/b"},
        {"</a>; rel=next; rel=canonical", NULL}, /* the first rel counts */
        {"</a>; rel=\"canonicals\"", NULL},
        {"</a>; rel=canonical; anchor=\"/other\"", NULL},
        {"</a>; rev=canonical", NULL},
        {"<>; rel=canonical", NULL},
        {"</a; rel=canonical", NULL},
        {"/a; rel=canonical", NULL},
        {"</a>; rel=\"canonical", "/a"},
        {"</a>; rel=\"x\\\"; rel=canonical", NULL},
        {"</a>; rel", NULL},
        {"</a>; rel=", NULL},
        {"", NULL},
        {"</a>; title=\"\\", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct span got = {0};
        CHECK(cases[i].value, link_canonical(span_str(cases[i].value), &got) == (cases[i].want != NULL));
        CHECK_SPAN(cases[i].value, got, span_str(cases[i].want));
    }
}

static void knows_the_types_of_pages(void **state)
{
    static const struct {
        const char *type;
        bool want;
    } cases[] = {
        {"text/html", true},
        {"TEXT/HTML ; charset=x", true},
        {"application/xhtml+xml", true},
        {"text/plain", true},
        {"", true},
        {"garbage", true},
        {"image/png", false},
        {"text/css", false},
        {"application/json", false},
        {"text/html5", false},
        {"application/xml", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK(cases[i].type, type_is_page(span_str(cases[i].type)) == cases[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fetches_a_page_with_its_headers),
        cmocka_unit_test(tells_the_path_of_a_connection_that_is_closed),
        cmocka_unit_test(keeps_the_connection_alive),
        cmocka_unit_test(conditions_lead_to_304),
        cmocka_unit_test(head_has_no_body),
        cmocka_unit_test(returns_redirects_and_errors_as_they_are),
        cmocka_unit_test(decodes_and_holds_the_ratio),
        cmocka_unit_test(raw_answers_say_the_same_and_keep_what_came),
        cmocka_unit_test(cuts_long_bodies),
        cmocka_unit_test(refuses_long_heads),
        cmocka_unit_test(drops_bodies_of_other_types),
        cmocka_unit_test(gives_up_on_slow_servers),
        cmocka_unit_test(gives_up_on_connections_that_hang),
        cmocka_unit_test(reports_lost_connections),
        cmocka_unit_test(refuses_addresses_and_ports_without_connecting),
        cmocka_unit_test(refuses_what_is_no_http_url),
        cmocka_unit_test(goes_through_a_proxy_when_told),
        cmocka_unit_test(fetches_over_ipv6),
        cmocka_unit_test(many_at_once_all_come_back_once),
        cmocka_unit_test(freeing_cancels_what_is_under_way),
        cmocka_unit_test(freeing_is_allowed_inside_the_callback),
        cmocka_unit_test(holds_the_rate),
        cmocka_unit_test(tls_certificates_are_checked),
        cmocka_unit_test(odd_responses_have_sensible_ends),
        cmocka_unit_test(samples_of_llhttp_end_without_hanging),
        cmocka_unit_test(reads_dates_in_three_forms),
        cmocka_unit_test(dates_agree_with_the_c_library),
        cmocka_unit_test(reads_retry_after),
        cmocka_unit_test(finds_the_canonical_link),
        cmocka_unit_test(knows_the_types_of_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
