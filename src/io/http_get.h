/* http_get.h - one GET, and wait for it: how a program looks at a page that it serves itself.
 *
 * Plain HTTP over a new connection, no redirects, no names, nothing of the fetcher's care for the outside world. Blocks
 * the calling thread; any thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "place/addr.h"

#define HTTP_GET_BYTES_MAX (16u << 20)

struct http_got {
    int status;
    struct buf head; /* header lines as received, status line included */
    struct buf body;
};

/* `target` is path and query. Within timeout_ms as a whole. ST_CONNECT, ST_TIMEOUT, ST_PROTOCOL: not an HTTP answer;
 * ST_LIMIT: too long; ST_IO. *out is untouched then. */
MUST_USE status http_get(const struct addr *addr, int port, const char *target, int timeout_ms, struct http_got *out);
void http_got_done(struct http_got *g); /* may be used again */
