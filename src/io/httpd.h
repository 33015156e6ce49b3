/* httpd.h - a small HTTP server (libmicrohttpd inside) for the sample web, the search page and tests.
 *
 * The handler is called on the server's own threads with the whole request (bodies up to request_body_max) and fills in
 * an answer, or defers it: then another thread fills it in later, and meanwhile the connection costs no thread. A HEAD
 * request gets the headers of the answer alone, whatever its body. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "place/addr.h"

struct httpd;

struct httpd_request {
    const char *method;
    struct span target; /* path and query as sent */
    struct span host;   /* Host header, port included */
    struct addr peer;
    struct addr local; /* address the client connected to */
    struct span body;
    void *conn; /* for httpd_header() and httpd_defer() */
};

struct httpd_answer {
    int status;             /* set to 200 before the call */
    struct buf head;        /* "Name: value\n" lines; freed by the server */
    struct buf body;        /* freed by the server */
    struct span fixed_body; /* borrowed, outlives the server; sent in place of `body` when not empty */
    int delay_ms;           /* wait before answering (the connection is suspended, no thread sleeps) */
    bool drop;              /* close the connection without an answer */
};

typedef void httpd_fn(void *self, const struct httpd_request *req, struct httpd_answer *ans);

struct httpd_opts {
    struct addr addr;                 /* listen here */
    int port;                         /* 0 = any free one */
    unsigned threads;                 /* 0 = 1 */
    unsigned connections_max;         /* 0 = 4,096 */
    unsigned connections_per_address; /* 0 = as many as there may be in all */
    unsigned idle_timeout_s;          /* 0 = 60 */
    size_t request_body_max;
    size_t request_head_max;       /* request line and headers; 0 = libmicrohttpd's 32 KiB. More is 431 or 414 */
    struct span tls_cert, tls_key; /* PEM; empty = plain HTTP */
    httpd_fn *fn;
    void *self; /* borrowed */
};

/* ST_BUSY: the port is taken; ST_IO. */
MUST_USE status httpd_new(const struct httpd_opts *opts, struct httpd **out);
/* Takes no more connections, waits for every deferred answer, then closes. Requests on open connections may still reach
 * the handler meanwhile. */
void httpd_free(struct httpd *h);
int httpd_port(const struct httpd *h);
/* A request header's value, or empty. Only inside the handler. */
struct span httpd_header(const struct httpd_request *req, const char *name);

/* Only inside the handler: the answer comes later. The handler touches neither `req` nor its answer afterwards; what it
 * wants to keep of them it has copied before. */
struct httpd_later;
/* NULL: the server is being stopped; the handler answers at once. */
struct httpd_later *httpd_defer(const struct httpd_request *req);
/* Any thread, exactly once for each deferral: sends *ans and takes its buffers. `later` is gone afterwards. */
void httpd_answer_later(struct httpd_later *later, struct httpd_answer *ans);
