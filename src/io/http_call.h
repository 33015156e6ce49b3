/* http_call.h - one HTTP request at a time to one server that we know: the agent's line to its coordinator, and the
 * CLI's. libcurl inside; blocking; a connection is kept between calls. One thread a caller.
 *
 * The server is known by the pin of its TLS key, not by a certificate authority. Proxies of the environment are not
 * used, redirects not followed. When a kept connection turns out to be dead before a byte of the answer came, libcurl
 * makes the request once more over a new one: a request may so arrive twice, and what must not happen twice carries a
 * number (wire/auth.h). A body above HTTP_CALL_EXPECT_MIN is sent only after the server has seen the head and said "go
 * on" (Expect: 100-continue), so that a refusal is heard and costs little. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define HTTP_CALL_HEAD_MAX (64u << 10)
#define HTTP_CALL_BASE_MAX 512
#define HTTP_CALL_TARGET_MAX 8192
#define HTTP_CALL_EXPECT_MIN (64u << 10)

struct http_caller;

struct http_caller_opts {
    struct span base;       /* "https://host:port" or "http://127.0.0.1:port", no slash at the end; copied */
    struct span pin;        /* "sha256//..."; empty on https: any key is taken (only to ask who is there); copied */
    struct span user_agent; /* copied */
    int connect_timeout_ms; /* TLS included; 0: 10,000 */
};

struct http_call {
    const char *method;         /* "GET", "POST", "PUT", ... */
    struct span target;         /* path and query; sent as it is */
    const struct span *headers; /* "Name: value" */
    size_t header_count;
    struct span body;
    size_t answer_max; /* bytes of the answer's body; more is ST_LIMIT */
    int timeout_ms;    /* of the whole call; 0: none */
};

struct http_answer {
    int status;
    struct buf head; /* status line and header lines as received */
    struct buf body;
    bool was_sent; /* false: the request never left (no connection), so repeating it is harmless */
};

/* ST_INVALID: `base` or `pin` is none. ST_IO: no libcurl. */
MUST_USE status http_caller_new(const struct http_caller_opts *o, struct http_caller **out);
void http_caller_free(struct http_caller *c); /* NULL is fine */
/* ST_CONNECT (none, or it broke), ST_DNS, ST_TIMEOUT, ST_TLS (the handshake failed), ST_REFUSED (another key than the
 * pinned one), ST_LIMIT, ST_PROTOCOL, ST_CANCELLED, ST_INVALID (target or headers). `out` is emptied first and may be
 * used again; after a failure it has what came until then. */
MUST_USE status http_call(struct http_caller *c, const struct http_call *call, struct http_answer *out);
/* Any thread, any number of times: the call under way and all later ones end with ST_CANCELLED. */
void http_caller_cancel(struct http_caller *c);
/* The value of a header in an answer, or empty. The first of several. */
struct span http_answer_header(const struct http_answer *a, const char *name);
void http_answer_done(struct http_answer *a);
/* Bytes of TCP streams since http_caller_new, TLS and what was sent again included: what the line was loaded with but
 * for the headers of packets. From the caller's thread. */
uint64_t http_caller_bytes_sent(const struct http_caller *c);
uint64_t http_caller_bytes_received(const struct http_caller *c);
