/* serve.h - the search page of a data folder, its JSON API, status page and metrics, over HTTP.
 *
 * Reads the folder and never writes to it; a crawl may write meanwhile, in this process or another. The server's own
 * threads take requests, look at address, Host and rate, and hand everything that reads the disk to worker threads;
 * nothing else runs on them. docs/formats/serve.md has the addresses and what they answer. */
#pragma once

#include "base/log.h"
#include "base/span.h"
#include "base/status.h"
#include "io/httpd.h"
#include "place/addr.h"

#define SERVE_WAITING_DEFAULT 128  /* requests that wait for a worker; the next gets 503 */
#define SERVE_QUERY_RATE_DEFAULT 5 /* requests a second and client, 20 times that from loopback */

struct serve;

struct serve_opts {
    const char *data_dir;
    struct addr addr;       /* family 0 = 127.0.0.1 */
    int port;               /* 0 = any free one */
    unsigned workers;       /* 0 = one a core, at least 2 */
    unsigned waiting_max;   /* 0 = SERVE_WAITING_DEFAULT */
    double query_rate;      /* requests a second and client address, bursts of six seconds' worth; 0 = no limit */
    struct span public_url; /* "https://search.example.org": how people reach it, where that is not the address listened
                               on; empty: as their Host header says */
    struct span version;    /* of the program, shown to people */
    bool is_tls;            /* embedded: the server it is part of speaks TLS */
};

/* Copies the options. A folder without index or crawl is fine: the pages say so. ST_BUSY: the port is taken;
 * ST_REFUSED: ports below 1024 need rights; ST_INVALID: not an address of this machine, or public_url is no http(s)
 * URL; ST_IO. */
MUST_USE status serve_new(const struct serve_opts *opts, struct serve **out);
int serve_port(const struct serve *s);

/* Without a server of its own: part of one that has more to do. The owner hands it requests (serve_request, on the
 * server's threads; their bodies are not looked at), and calls serve_stop before it ends the server, serve_free after.
 */
MUST_USE status serve_embed(const struct serve_opts *opts, struct serve **out);
void serve_request(struct serve *s, const struct httpd_request *req, struct httpd_answer *ans);
void serve_stop(struct serve *s);
/* Answers what is under way, refuses what waits, and ends. NULL is fine. */
void serve_free(struct serve *s);
