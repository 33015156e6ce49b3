/* fetch_bed.h - a fetcher with a server of its own on loopback: pages, redirects, bombs, silence. */
#pragma once

#include "test.h"

#include <stdatomic.h>
#include <zlib.h>

#include "base/buf.h"
#include "io/fetcher.h"
#include "io/httpd.h"
#include "io/loop.h"

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
    char seen[4096];   /* request headers of the last request, as the handler saw them */
    char secrets[256]; /* its Authorization and Cookie */
};

static inline void gzip_zeros(struct buf *to, size_t n)
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

static inline void fill(struct buf *b, size_t n)
{
    memset(buf_room(b, n), 'x', n);
    b->n += n;
}

static inline void site(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct bed *bed = self;
    struct span t = req->target, tag = httpd_header(req, "If-None-Match");
    struct span since = httpd_header(req, "If-Modified-Since"), accept = httpd_header(req, "Accept-Encoding");
    struct span agent = httpd_header(req, "User-Agent"), extra = httpd_header(req, "X-Extra");
    struct span wants = httpd_header(req, "Accept");
    snprintf(bed->seen, sizeof(bed->seen), "%s|%.*s|%.*s|%.*s|%.*s|%.*s|%.*s|%.*s", req->method, SPAN_ARG(req->host),
             SPAN_ARG(agent), SPAN_ARG(tag), SPAN_ARG(since), SPAN_ARG(accept), SPAN_ARG(extra), SPAN_ARG(wants));
    struct span auth = httpd_header(req, "Authorization"), cookie = httpd_header(req, "Cookie");
    snprintf(bed->secrets, sizeof(bed->secrets), "%.*s|%.*s", SPAN_ARG(auth), SPAN_ARG(cookie));
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
    } else if (span_is(t, "/gzip-and-more")) { /* in two members, and something behind them */
        buf_puts(&ans->head, "Content-Type: text/html\nContent-Encoding: gzip\n");
        gzip_zeros(&ans->body, 400);
        gzip_zeros(&ans->body, 500);
        buf_puts(&ans->body, "\n");
    } else if (span_is(t, "/utf-8")) {
        buf_puts(&ans->head, "Content-Type: text/html\nContent-Encoding: UTF-8\n");
        buf_puts(&ans->body, "<p>hello");
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

static inline struct span keep_span(struct bed *b, struct span s)
{
    assert_true(s.n <= sizeof(b->text.bytes) - b->text.n);
    char *to = b->text.bytes + b->text.n;
    if (s.n)
        memcpy(to, s.p, s.n);
    b->text.n += s.n;
    return span_of(to, s.n);
}

static inline void on_done(void *arg, const struct fetch_result *r)
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

static inline void bed_open(struct bed *b, struct fetcher_opts opts)
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

static inline void bed_close(struct bed *b)
{
    fetcher_free(b->fetcher);
    httpd_free(b->server);
    loop_free(b->loop);
    buf_done(&b->body);
    buf_done(&b->request);
    buf_done(&b->head);
    buf_done(&b->raw);
}

static inline void start(struct bed *b, const char *path, struct fetch_req req)
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

static inline const struct fetch_result *get(struct bed *b, const char *path, struct fetch_req req)
{
    b->want = b->done + 1;
    start(b, path, req);
    loop_run(b->loop);
    assert_int_equal(b->done, b->want);
    assert_int_equal(fetcher_active(b->fetcher), 0);
    return &b->last;
}
