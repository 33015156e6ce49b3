/* httpd.h - a small HTTP server (libmicrohttpd inside) for the sample web, tests, and later the search page.
 *
 * The handler is called on the server's own threads with the whole request (bodies up to request_body_max) and fills in
 * an answer. */
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
    void *conn; /* for httpd_header() */
};

struct httpd_answer {
    int status;      /* set to 200 before the call */
    struct buf head; /* "Name: value\n" lines; freed by the server */
    struct buf body; /* freed by the server */
    int delay_ms;    /* wait before answering (the connection is suspended, no thread sleeps) */
    bool drop;       /* close the connection without an answer */
};

typedef void httpd_fn(void *self, const struct httpd_request *req, struct httpd_answer *ans);

struct httpd_opts {
    struct addr addr; /* listen here */
    int port;         /* 0 = any free one */
    unsigned threads; /* 0 = 1 */
    size_t request_body_max;
    struct span tls_cert, tls_key; /* PEM; empty = plain HTTP */
    httpd_fn *fn;
    void *self; /* borrowed */
};

/* ST_BUSY: the port is taken; ST_IO. */
MUST_USE status httpd_new(const struct httpd_opts *opts, struct httpd **out);
void httpd_free(struct httpd *h);
int httpd_port(const struct httpd *h);
/* A request header's value, or empty. Only inside the handler. */
struct span httpd_header(const struct httpd_request *req, const char *name);
