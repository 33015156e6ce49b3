/* httpd.h - a small HTTP server (libmicrohttpd inside) for the sample web, the search page, the coordinator and tests.
 *
 * The handler is called on the server's own threads with the whole request and fills in an answer, or defers it: then
 * another thread fills it in later, and meanwhile the connection costs no thread. A HEAD request gets the headers of
 * the answer alone, whatever its body.
 *
 * On a hostile network:
 * - `admit` is asked when the head of a request is there and nothing of its body was read: a stranger never makes us
 *   hold a body. All bodies together have a ceiling.
 * - heads, bodies and the reading of answers have a least speed; whoever is slower is hung up on.
 * - when all connections are taken, the one that has waited longest for a request gives way to the next that comes,
 *   unless it is known (httpd_admission). One whose request is whole never gives way; one that is still sending it
 *   does, or a crowd of slow senders would keep everybody else out. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "place/addr.h"

struct httpd;

#define HTTPD_LENGTH_UNKNOWN UINT64_MAX

struct httpd_request {
    const char *method;
    struct span target; /* path and query as sent */
    struct span host;   /* Host header, port included */
    struct addr peer;
    struct addr local; /* address the client connected to */
    uint64_t declared; /* bytes of body announced; HTTPD_LENGTH_UNKNOWN: some, in chunks */
    struct span body;  /* until the handler returns; see httpd_take_body */
    void *admitted;    /* what admit left */
    void *conn;        /* for httpd_header() and httpd_defer() */
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

struct httpd_admission {
    size_t body_max; /* take so much of a body; more is 413. 0: none */
    void *admitted;  /* for the handler */
    bool is_known;   /* whoever it is has shown it: its connection does not give way to strangers */
};

/* At the end of the head. False: *ans is the answer, and the handler is not called; what comes of the body, up to
 * HTTPD_DISCARD_MAX, is thrown away, so that the connection can go on. req->body is empty. Must not defer; the
 * answer is not delayed. */
typedef bool httpd_admit_fn(void *self, const struct httpd_request *req, struct httpd_admission *admission,
                            struct httpd_answer *ans);
/* Exactly once for each admission->admitted that is not NULL, when its request is over, however it ended, and whether
 * or not the handler was called. */
typedef void httpd_release_fn(void *self, void *admitted);

#define HTTPD_DISCARD_MAX (64u << 10)

/* 0: the default in brackets. */
struct httpd_pace {
    int head_ms;          /* from the connection, TLS handshake included, to the end of the first head; from the first
                             line of a later one to its end [10,000] */
    int body_grace_ms;    /* a body has so long before it is measured [5,000] */
    int body_window_ms;   /* each window_ms must bring bytes_per_s * window [10,000] */
    unsigned bytes_per_s; /* [1,024] */
    int answer_grace_ms;  /* an answer of n bytes may take this and n / bytes_per_s [30,000] */
};

struct httpd_opts {
    struct addr addr;                 /* listen here */
    int port;                         /* 0 = any free one */
    unsigned threads;                 /* 0 = 1 */
    unsigned connections_max;         /* 0 = 4,096; never more than 3/4 of the files the process may open */
    unsigned connections_per_address; /* of an IPv4 address or an IPv6 /64; 0 = as many as there may be in all */
    unsigned idle_timeout_s;          /* between two requests; 0 = 60 */
    size_t request_body_max;          /* without `admit` */
    size_t request_head_max;          /* request line and headers; 0 = libmicrohttpd's 32 KiB. More is 431 or 414 */
    size_t body_memory_max;           /* all bodies in memory; above it 503 with Retry-After; 0 = 256 MiB */
    struct httpd_pace pace;
    struct span tls_cert, tls_key; /* PEM; empty = plain HTTP */
    httpd_admit_fn *admit;         /* NULL: everybody, up to request_body_max */
    httpd_release_fn *release;     /* may be NULL */
    httpd_fn *fn;
    void *self; /* borrowed */
};

/* ST_BUSY: the port is taken; ST_INVALID: no address, or the TLS key is not the certificate's; ST_IO. */
MUST_USE status httpd_new(const struct httpd_opts *opts, struct httpd **out);
/* Takes no more connections, waits for every deferred answer, then closes. Requests on open connections may still reach
 * the handler meanwhile. */
void httpd_free(struct httpd *h);
int httpd_port(const struct httpd *h);
/* A request header's value, or empty. Only inside the handler and admit. */
struct span httpd_header(const struct httpd_request *req, const char *name);
/* Only inside the handler: the body becomes the caller's, without a copy. It counts as body memory until the request
 * has been answered. req->body still points to it. */
void httpd_take_body(const struct httpd_request *req, struct buf *out);

/* Only inside the handler: the answer comes later. The handler touches neither `req` nor its answer afterwards; what it
 * wants to keep of them it has copied before. That the client went away shows only when it is answered: then the
 * answer goes nowhere, and the connection is closed. */
struct httpd_later;
/* NULL: the server is being stopped; the handler answers at once. */
struct httpd_later *httpd_defer(const struct httpd_request *req);
/* Any thread, exactly once for each deferral: sends *ans and takes its buffers. `later` is gone afterwards. */
void httpd_answer_later(struct httpd_later *later, struct httpd_answer *ans);

struct httpd_counts {
    uint64_t connections; /* now */
    uint64_t refused;     /* connections never let in, since the start */
    uint64_t evicted;     /* gave way to a newer one */
    uint64_t slow;        /* hung up on for their slowness */
    uint64_t idle;        /* hung up on because they had nothing to ask for too long */
    size_t body_memory;   /* bytes set aside for bodies now */
};
/* Any thread. */
void httpd_count(const struct httpd *h, struct httpd_counts *out);
