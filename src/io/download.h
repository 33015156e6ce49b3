/* download.h - one large file over HTTP into a folder of ours: only when it is newer, and on from where it stopped.
 *
 * Beside PATH stand PATH.http (what the server said of it: ETag, Last-Modified) and, while a download is not whole,
 * PATH.part and PATH.part.http. PATH itself is only ever replaced by a whole file. libcurl inside; blocking; any
 * thread, but one at a time for a path. Certificates are checked; redirects are followed, never from https to http.
 * Proxies of the environment are not used. */
#pragma once

#include <stdatomic.h>

#include "base/buf.h"
#include "base/status.h"

struct download_opts {
    const char *url;
    const char *path;
    const char *user_agent; /* NULL: "orbweaver" */
    const char *ca_file;    /* PEM; NULL: the system's */
    const char *proxy;      /* NULL: none */
    uint64_t bytes_max;     /* of the file; 0: 8 GiB */
    int stall_ms;           /* give up when so long nothing comes; 0: 60,000 */
    unsigned tries;         /* a connection that breaks is made anew and goes on, as long as bytes come; 0: 5 */
    atomic_bool *cancel;    /* set from any thread: ST_CANCELLED; NULL: never */
    /* Now and then; total is 0 while not known. May be NULL. */
    void (*progress)(void *self, uint64_t done, uint64_t total);
    void *self; /* borrowed */
};

struct download_result {
    int http;            /* status of the last answer; 0: none */
    bool is_unchanged;   /* the file that is there is still the newest */
    bool was_resumed;    /* a part was there already */
    uint64_t received;   /* bytes of bodies */
    uint64_t file_bytes; /* of PATH now */
};

/* ST_OK: PATH is there and new, or unchanged. ST_NOT_FOUND (404, 410), ST_REFUSED (other 4xx), ST_PROTOCOL (any other
 * answer), ST_DNS, ST_CONNECT, ST_TLS, ST_TIMEOUT, ST_LIMIT, ST_CANCELLED, ST_IO and ST_FULL with errno. `why` (may be
 * NULL) gets a phrase. *out is filled in any case. */
MUST_USE status download(const struct download_opts *o, struct download_result *out, struct buf *why);
