/* page.h - inside the server: what pages are made from. One file a kind of page; serve.c calls them.
 *
 * A page function runs on a worker (or, where the route says so, on the server's thread), fills in the answer and never
 * fails: what goes wrong becomes a page that says so. */
#pragma once

#include <stdatomic.h>

#include "base/arena.h"
#include "base/siphash.h"
#include "index/search/search.h"
#include "io/httpd.h"
#include "io/workers.h"
#include "serve/asset.h"
#include "serve/corpus.h"
#include "serve/limit.h"
#include "serve/serve.h"
#include "serve/watch.h"
#include "store/groups.h"

#define PAGE_HITS 10
#define PAGE_HITS_MAX 100 /* of the API */

/* Searches by how long they took, upper bounds in seconds; the last is without bound. */
#define TIMING_BUCKETS 10
extern const double timing_bounds[TIMING_BUCKETS - 1];

/* Counted since the start; any thread. */
struct serve_counters {
    atomic_ullong by_code[6]; /* answers of 1xx .. 5xx */
    atomic_ullong searches, searches_partial, searches_failed, not_modified;
    atomic_ullong limited, overfull, wrong_host;
    atomic_ullong timing[TIMING_BUCKETS], timing_us;
};

struct serve {
    char *data_dir, *public_url, *version; /* owned */
    struct span public_host;               /* in public_url */
    bool is_loopback;                      /* listens on a loopback address alone */
    bool is_tls;                           /* people reach it by https */
    mono_ms started;
    struct sip_key key; /* of ETags and the limiter; drawn at start */
    struct assets *assets;
    struct corpus *corpus;
    struct groups_reader *groups; /* near-duplicates */
    struct watch *watch;
    struct limiter *limiter;
    struct workers *workers;
    struct analyzer
        *analyzers[WORKERS_MAX]; /* owned; each worker keeps one, with the words it has met; NULL: not yet */
    struct httpd *httpd;
    struct serve_counters counters;
};

struct page_request {
    struct serve *s;
    struct arena *arena;
    struct analyzer *analyzer;       /* borrowed; NULL on the server's thread */
    struct span target, path, query; /* query without '?' */
    struct span base;                /* "http://host:port" as the client sees it, safe to show */
    struct span if_none_match;
    bool is_local; /* the client is on this machine: may be told paths */
};

typedef void page_fn(const struct page_request *r, struct httpd_answer *ans);

page_fn page_start, page_search, page_search_json, page_status, page_status_json, page_metrics, page_about,
    page_opensearch;

/* ---- what pages share (page.c) ---- */

typedef enum page_place { AT_NOWHERE, AT_START, AT_RESULTS, AT_STATUS, AT_ABOUT } page_place;

/* Opens an HTML page up to and including the start of <main>. `title` is escaped here. `query` fills the search box of
 * the header; pages other than the start page have one. */
void page_begin(const struct page_request *r, struct buf *out, page_place place, struct span title, struct span query);
/* The scripts are names of assets, NULL-terminated. */
void page_end(const struct page_request *r, struct buf *out, page_place place, const char *const *scripts);
/* The search form; `id_suffix` makes its ids unique. */
void page_form(struct buf *out, struct span query, bool is_large);

/* Security headers and the type. `cache` is the value of Cache-Control. */
void page_headers(struct httpd_answer *ans, const char *type, const char *cache);
#define PAGE_HTML "text/html; charset=utf-8"
#define PAGE_JSON "application/json; charset=utf-8"

/* A whole page with a message, for people. `advice` may be empty. */
void page_message(const struct page_request *r, struct httpd_answer *ans, int code, const char *heading,
                  struct span text);
/* {"error": {"code": ..., "message": ...}} */
void page_error_json(struct httpd_answer *ans, int code, const char *name, const char *message);

/* True: the client has this very page; the answer is a 304 then. Adds the ETag either way. */
bool page_is_known(const struct page_request *r, struct httpd_answer *ans, uint64_t generation);
