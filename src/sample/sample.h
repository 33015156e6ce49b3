/* sample.h - the sample web: made-up sites on loopback that demo, tests and benchmarks crawl.
 *
 * Everything is a function of the seed: the same seed serves the same bytes. Two parts:
 *
 *   the sites    twenty hosts *.example with about a thousand linked pages in fourteen languages (docs/sample.md), and
 *                everything that makes a crawler stumble: robots.txt of all kinds, redirect chains and loops, errors,
 *                traps, session ids, near-duplicates, changing pages, documents, odd encodings (site_table.c);
 *   big          N pages of ~3 kB over some hosts big0.example, big1.example, ..., each with ~20 links, computed when
 *                asked for and never stored;
 *   live         hosts live0.example, live1.example, ... whose pages change at known rates (live.h).
 *
 * Every request is noted in a ledger, which is what tests hold a crawler's manners against. The control host serves
 *   /__ledger           the ledger as text, one request a line: microseconds, status, host, target (tabs between)
 *   /__clear            forgets the ledger
 *   /__bump?host=H&path=P   the page changes from now on
 *   /__expected         sample_expected_text()
 *   /__live             the pages of live: host, path, microseconds of its changes until now (tabs between)
 *
 * Owns its server threads; the functions here may be called from any thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define SAMPLE_CONTROL_HOST "control.example"
#define SAMPLE_BIG_HOSTS_MAX 4096
#define SAMPLE_BIG_PAGES_MAX 100000000u
#define SAMPLE_LEDGER_MAX 50000000u /* requests noted; later ones are only counted */

struct sample;

struct sample_opts {
    uint64_t seed;
    int port;           /* 0 = any free one */
    const char *domain; /* borrowed; the sites are in it instead of in "example"; NULL = "example". Browsers find names
                           in "localhost" without a resolver */
    unsigned threads;   /* server threads; 0 = 1 */
    unsigned big_pages; /* pages of the generated site; 0 = none */
    unsigned big_hosts; /* hosts they are spread over; 0 = 1 */
    bool no_sites;      /* only the generated site */
    unsigned live_hosts, live_pages; /* whose pages change by themselves; 0 = none; pages of each, 0 = 4 */
    int live_gap_ms;                 /* mean between two changes of a page of the fastest ones; 0 = a minute */
    bool is_spread; /* each host has an address in a network of its own, 127.x.y.1; else all are at 127.0.0.1.
                       Listens on every address then, and drops whoever did not come over loopback */
    bool no_ledger; /* for benchmarks */
    int latency_ms; /* answers of big wait this long in the mean, each host its own time: servers far away */
};

/* ST_BUSY: the port is taken; ST_LIMIT: too many pages or hosts; ST_IO. */
MUST_USE status sample_new(const struct sample_opts *opts, struct sample **out);
void sample_free(struct sample *s); /* NULL is fine */

int sample_port(const struct sample *s);
/* Hosts-file text of every host, for resolver_opts.hosts and `orb crawl --hosts`. */
void sample_hosts_text(const struct sample *s, struct buf *out);

typedef enum sample_part {
    SAMPLE_CALM,  /* the sites that a crawl gets through without waiting */
    SAMPLE_SOON,  /* those, and the ones that make it wait for some seconds */
    SAMPLE_SITES, /* all sites: slow, busy, closed and trapping ones too */
    SAMPLE_BIG,
    SAMPLE_ALL, /* sites and big */
    SAMPLE_LIVE,
} sample_part;

/* Start URLs, one a line: every page of the part can be reached from them within their own sites. */
void sample_seeds(const struct sample *s, sample_part part, struct buf *out);

/* What a polite crawl with `--scope site` from those seeds must find, each counted in URLs after crawl normalisation.
 */
struct sample_expected {
    unsigned hosts;
    unsigned languages; /* of the sites */
    unsigned pages;     /* HTML and plain text answered 200, however often asked */
    unsigned documents; /* other types answered 200 */
    unsigned redirects; /* URLs that answer 301...308; those of the endless chain not included */
    unsigned gone;      /* 404 and 410 */
    unsigned errors;    /* 5xx for ever */
    unsigned refused;   /* linked, and disallowed by robots.txt: must not be asked for */
    unsigned hidden;    /* linked from pages that say nofollow only: must not be asked for */
    unsigned thin;      /* of pages: under 200 bytes of text */
    unsigned lists;     /* sitemaps and feeds */
    unsigned traps;     /* endless areas; a crawler may take at most SAMPLE_TRAP_PAGES_MAX pages of each */
};
#define SAMPLE_TRAP_PAGES_MAX 1100

void sample_get_expected(const struct sample *s, sample_part part, struct sample_expected *out);
/* The same, URL by URL: "KIND\tURL" lines, KIND one of page, document, redirect, gone, error, refused, hidden, list,
 * trap (a prefix). The pages of big are not listed. */
void sample_expected_text(const struct sample *s, sample_part part, struct buf *out);

struct sample_request {
    int64_t at_us;      /* clock_mono_us() at arrival */
    int status;         /* answered; 0 = connection dropped */
    struct span host;   /* without port */
    struct span target; /* path and query */
};

typedef void sample_ledger_fn(void *arg, const struct sample_request *r);

/* Calls fn for every request so far, oldest first; requests meanwhile wait. */
void sample_ledger(struct sample *s, sample_ledger_fn *fn, void *arg);
void sample_ledger_clear(struct sample *s);
uint64_t sample_request_count(struct sample *s); /* noted or not, since the last clear */

/* The page at host (without port) and path has new content, ETag and Last-Modified from now on. ST_NOT_FOUND. */
MUST_USE status sample_bump(struct sample *s, struct span host, struct span path);
