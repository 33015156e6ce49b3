/* plain.h - HTTP/1.1 without TLS: connections that stay open, one request at a time on each.
 *
 * The fetcher's own way for http: URLs without a proxy; libcurl has the others. Of a crawl over plain HTTP libcurl took
 * a quarter of the processor (7.88: some 12 of 46 us a page, two calls of poll among them); this takes a tenth of that.
 *
 * A request on a connection that was kept open, and that ends before a byte of the answer came, is made once more on a
 * new one: the server may just have closed it. Timeouts are the caller's. One loop, one thread. */
#pragma once

#include "base/span.h"
#include "base/status.h"
#include "codec/http_read.h"
#include "io/loop.h"
#include "place/addr.h"

struct plain;
struct plain_connection;

struct plain_call {
    /* What is asked; all borrowed until the end. */
    struct addr addr;
    int port;
    struct span host;    /* a connection serves one host, whatever else is at its address */
    struct span request; /* whole, with its empty line */
    bool is_head;
    size_t line_max; /* of a head */
    struct http_take take;
    bool (*may_read)(void *arg); /* false: not before plain_go_on() */
    /* Last of all; not from inside plain_start(). The call is the caller's again, who may free everything. */
    void (*ended)(void *arg, status st, const char *why);
    void *arg; /* of all four */

    /* What is known of it; in microseconds by the clock, 0: not yet. */
    int64_t started_us, connecting_us, connected_us, first_us, ended_us;
    uint32_t path_us;    /* one round trip, without the server; 0: not known */
    uint64_t body_bytes; /* as received, without chunks */
    bool reused;         /* an older connection served it */

    /* plain.c's own. */
    struct plain_connection *connection;
    struct plain_call *next;
    bool is_again, is_failed;
    const char *why;
};

/* Up to idle_max connections stay open without a request. */
struct plain *plain_new(struct loop *l, unsigned idle_max);
/* After all calls have ended or were stopped; NULL is fine. */
void plain_free(struct plain *p);
void plain_start(struct plain *p, struct plain_call *c);
/* Ends it without calling back; nothing happens to one that has ended. */
void plain_stop(struct plain *p, struct plain_call *c);
void plain_go_on(struct plain *p, struct plain_call *c);
