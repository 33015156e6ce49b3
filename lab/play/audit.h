/* audit.h - the ledger of the lab's web servers (docs/formats/lab.md), read again: what was asked, how often, and how
 * politely. Nothing but reading the file does input or output; one thread.
 *
 * A ledger may be read while it is written, and after its server was killed: a last line without an end is left out. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "base/table.h"
#include "place/addr.h"

#define AUDIT_LINE_MAX 65536 /* a host and a target of 4,096 bytes each, every byte written as four */
#define AUDIT_ENTRIES_MAX 200000000
#define AUDIT_CLIENTS_MAX 65536

/* Texts are as in the ledger (control bytes as \xNN) and live until the callback returns. */
struct audit_entry {
    double at; /* seconds since 1970: when the request had come, before any think time */
    struct addr from, to;
    struct span host, method, target;
    int status;
    uint64_t bytes; /* of the body */
};

typedef void audit_fn(void *arg, const struct audit_entry *e);
/* Every entry, in the order of the file. ST_NOT_FOUND, ST_IO; ST_INVALID, ST_LIMIT: a line is none; why has FILE:LINE.
 */
MUST_USE status audit_read(const char *path, audit_fn *fn, void *arg, struct buf *why);
/* One line without its end. Columns after the eighth are for later versions. False: it is none. */
bool audit_entry_parse(struct span line, struct audit_entry *out);

/* From one request to the next, by the time at which they came. */
struct audit_gaps {
    uint64_t pairs, close; /* all; those under the pause */
    double least_ms;       /* INFINITY: no pairs */
};

struct audit_client {
    struct addr addr;
    uint64_t requests, pages; /* pages: those that nobody had before */
};

struct audit {
    double pause_ms;
    uint64_t requests;
    uint64_t pages;         /* different (host, target) answered with 200 to a GET; robots.txt and sitemaps are none */
    uint64_t again;         /* more such answers of the same (host, target) */
    uint64_t unchanged;     /* 304 */
    uint64_t forbidden;     /* requests under /private/, whatever the answer */
    uint64_t robots;        /* requests of /robots.txt */
    uint64_t limited;       /* 429: the server asked for less */
    uint64_t errors;        /* 5xx */
    uint64_t bytes;         /* of bodies */
    struct audit_gaps host; /* of one host, whoever asks */
    struct audit_gaps server; /* of one server address */
    struct audit_gaps handed; /* those of `host` whose two requests came from different addresses */
    double first, last;       /* seconds since 1970; 0: no requests */
    struct audit_client *clients;
    size_t client_count, client_cap;
    uint64_t other_clients; /* requests of those past AUDIT_CLIENTS_MAX */

    struct table hosts, servers, seen, by_addr; /* keyed by hash; ours */
};

/* `pause_ms`: two requests nearer than that are close. All requests count: pages, robots.txt, probes. */
void audit_init(struct audit *a, double pause_ms);
void audit_done(struct audit *a); /* zeros are fine */
void audit_add(struct audit *a, const struct audit_entry *e);
/* A whole file into an audit that was made ready. As audit_read. */
MUST_USE status audit_file(struct audit *a, const char *path, struct buf *why);
