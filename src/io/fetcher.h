/* fetcher.h - gets http(s) URLs (libcurl multi on the loop): one request is one hop, redirects are the caller's.
 *
 * Knows nothing of robots or politeness. Connects to the address it is told, over a kept-alive connection where there
 * is one; refuses the address at socket time unless allowed; holds every ceiling. Requests come back exactly once
 * through `done`, never from inside fetcher_get(). One loop, one thread. */
#pragma once

#include "base/log.h"
#include "io/loop.h"
#include "place/addr.h"

struct fetcher;

struct fetcher_opts {
    struct span user_agent;     /* the whole header value */
    const struct span *headers; /* borrowed during fetcher_new: extra "Name: value" lines */
    size_t header_count;
    /* Of those lines the ones with a secret in them (fetch_header_is_secret) go to these sites only, such as
     * "https://a.example:8443". Borrowed during fetcher_new. */
    const struct span *secret_sites;
    size_t secret_site_count;
    struct span proxy;                       /* empty = none, whatever the environment says */
    struct span ca_file;                     /* empty = the system's */
    bool insecure;                           /* no certificate checks */
    bool allow_private;                      /* loopback, private and the like may be connected to */
    int connect_ms, first_byte_ms, total_ms; /* 0 = 10, 30, 120 s */
    size_t header_bytes_max;                 /* 0 = 64 KiB, all header lines of a response together */
    size_t body_bytes_max;                   /* 0 = 16 MiB, after decoding */
    unsigned ratio_max;                      /* 0 = 200: decoded bytes over wire bytes, past the first 1 MiB decoded */
    uint64_t rate_bytes_per_s;               /* 0 = no limit; for all requests of this fetcher together */
    unsigned connections_max; /* 0 = 128 requests under way, more wait; up to 4 times as many connections stay open */
    const struct log *log;
};

/* All in microseconds; -1: did not happen. connect and tls are 0 on a kept-alive connection. */
struct fetch_timing {
    int32_t connect_us;
    int32_t tls_us;
    int32_t first_byte_us; /* from the request's start, DNS not included */
    int32_t total_us;
    int32_t path_us; /* one round trip, without the server: on a kept-alive connection too */
};

struct fetch_result {
    status st; /* ST_OK: an HTTP answer came, whatever its code. ST_REFUSED: address not allowed. ST_LIMIT: headers or
                  ratio. ST_CONNECT, ST_TLS, ST_TIMEOUT, ST_PROTOCOL, ST_CANCELLED */
    const char *why; /* curl's words when st != ST_OK, else "" */
    int http_status;
    int http_version; /* 10, 11, 20 */
    struct span content_type, etag, last_modified, location, retry_after, date,
        content_encoding;       /* raw values; empty = absent */
    struct span disposition;    /* Content-Disposition; empty = absent */
    struct span robots_tags;    /* all X-Robots-Tag values, one a line */
    struct span headers;        /* all lines, "Name: value\n", when they were asked for */
    struct span refresh;        /* as it came: "0; url=next.html" */
    struct span link_canonical; /* target of a Link: <...>; rel="canonical" header, or empty */
    struct span body;           /* decoded */
    bool body_cut;              /* stopped at body_bytes_max */
    bool body_short;            /* ST_PROTOCOL, and `body` is what came before it was cut off or garbled */
    bool body_unwanted;         /* the type was not wanted; body is empty */
    uint64_t declared_bytes;    /* Content-Length, or 0 */
    uint64_t wire_bytes;        /* body as received, before decoding */
    struct addr addr;           /* connected to */
    struct fetch_timing timing;
    bool reused;               /* the connection was kept alive from before */
    struct span request, head; /* with keep_raw: as sent, without secrets, and as received, each with its empty line */
    struct span raw;           /* the same: the body without chunks, before decoding, whatever its type */
    bool raw_cut;              /* `raw` stopped at body_bytes_max, or because what it decodes to did */
    bool raw_broken;           /* the rest of it did not come: `st` says why */
    bool has_raw;              /* a whole head came, and keep_raw was asked for */
};                             /* everything in it lives until the callback returns */

typedef void fetch_fn(void *arg, const struct fetch_result *r);
/* Is a body of this type (a Content-Type value, maybe empty), of this URL, wanted? declared_bytes is 0 when the server
 * does not tell. */
typedef bool fetch_wants_fn(struct span content_type, struct span url, uint64_t declared_bytes);

struct fetch_req {
    struct span url;                 /* normalised http(s) URL; copied */
    struct addr addr;                /* connect here; family 0 with a proxy */
    struct span etag, last_modified; /* for If-None-Match / If-Modified-Since; empty = unconditional; copied */
    bool any_type; /* take the body whatever its type; else only those that `wants` says are read, others are dropped
                      as early as is cheap */
    fetch_wants_fn *wants; /* NULL: HTML, XHTML, text/plain and untyped */
    bool is_head;
    bool keep_headers; /* all header lines in the result */
    bool keep_raw;     /* the answer as it came, too; costs a copy of the body, and types not wanted are read as well */
    fetch_fn *done;
    void *arg;
};

MUST_USE status fetcher_new(struct loop *l, const struct fetcher_opts *opts, struct fetcher **out);
/* Requests under way are called back with ST_CANCELLED and must not be made anew from there. Allowed inside a callback.
 */
void fetcher_free(struct fetcher *f);
void fetcher_get(struct fetcher *f, const struct fetch_req *req);
unsigned fetcher_active(const struct fetcher *f);

/* Milliseconds to wait by a Retry-After value (seconds, or an HTTP date against `now`); -1 when it is neither. Pure. */
int64_t fetch_retry_after_ms(struct span value, wall_ms now);
/* An HTTP date (RFC 9110, all three forms) as wall time; false when it is none. `now` tells the century of a two-digit
 * year. Pure. */
bool fetch_date(struct span value, wall_ms now, wall_ms *out);
