/* crawl.h - the crawl engine: channels in, pages in the data folder out.
 *
 * A crawl is a data folder and some shards (threads), each with a loop, a frontier and a fetcher. It may be killed at
 * any instant; opening the same folder again goes on from there. One crawl a folder at a time.
 *
 *     crawl_open -> crawl_add (each channel) -> crawl_run -> crawl_stats / crawl_close */
#pragma once

#include "base/log.h"
#include "crawl/channel.h"
#include "io/fetcher.h"
#include "io/resolver.h"
#include "mobile/program.h"
#include "plan/frontier.h"
#include "store/sink.h"

struct crawl;

struct crawl_opts {
    const char *data_dir;
    struct fetcher_opts fetch; /* user_agent is the whole header value; its product token is used for robots.txt */
    struct resolver_opts dns;
    int64_t delay_ms;  /* between two requests to a host; -1 = 1,000 */
    unsigned per_host; /* in flight to a host; 0 = 1, or 16 with delay_ms 0 on loopback and private addresses */
    unsigned jobs;     /* in flight in all; 0 = 64 a shard */
    unsigned shards;   /* 0 = one a core */
    const struct span *own_sites; /* hosts whose owner we are: public addresses may be asked faster */
    size_t own_site_count;
    uint64_t pages_max;          /* good pages in the folder, all runs together; 0 = no limit */
    int64_t time_max_ms;         /* of this run; 0 = no limit */
    size_t frontier_bytes;       /* 0 = 64 MiB */
    const struct url_norm *norm; /* NULL = url_norm_default */
    sink_open_fn *open_sink;     /* where visits go */
    void *sink_arg;              /* borrowed */
    bool stays;                  /* does not end when nothing is left: more channels may come */
    /* May this host be fetched from that address? Asked when an address is known, on the shards' threads. False: the
     * host and all that waits on it are dropped; whoever answers has taken note. NULL: yes. */
    bool (*may_use)(void *self, struct span host, const struct addr *addr, uint64_t channel);
    void *self;              /* borrowed: of may_use */
    const char *worker_path; /* borrowed: orb-worker, for programs; NULL: looked for */
    const struct log *log;
};

/* What happened so far. Counters are of this run unless they say folder. */
struct crawl_stats {
    uint64_t pages;     /* folder: good pages known (2xx) */
    uint64_t fetched;   /* pages got with 2xx */
    uint64_t unchanged; /* 304, or same digest as before */
    uint64_t redirects, gone, errors, refused_robots;
    uint64_t not_html, thin; /* documents that are not HTML; HTML with under 200 bytes of text */
    uint64_t robots_fetched;
    uint64_t requests, retries;
    uint64_t bytes_wire, bytes_body;
    uint64_t known_urls;                           /* folder */
    uint64_t queued;                               /* folder: known and not yet visited */
    uint64_t parked_traps;                         /* folder */
    uint64_t hosts, hosts_waiting, hosts_given_up; /* known; in back-off now; not answering, left for the next run */
    uint64_t queued_given_up;                      /* of queued: on hosts given up */
    uint64_t in_flight;
    uint64_t frontier_memory, hosts_memory, seen_memory,
        disk_bytes;                                   /* hosts_memory: the part of frontier_memory that is not URLs */
    uint64_t index_docs, index_bytes, index_segments; /* folder: pages that can be searched */
    uint64_t errors_by_kind[ST_MAX];                  /* by status; HTTP errors are in http_4xx/http_5xx */
    uint64_t http_4xx, http_5xx;
    uint64_t resumed;      /* pages that earlier runs had got already */
    uint64_t seconds_ms;   /* of this run */
    int pass;              /* 1: first visit; 2...: rechecking a finished crawl */
    bool disk_trouble;     /* waiting for space: nothing is fetched meanwhile */
    uint64_t slowed_hosts; /* Crawl-delay above the ceiling: 120 s used instead */
};

typedef enum crawl_end { CRAWL_COMPLETE, CRAWL_LIMIT_PAGES, CRAWL_LIMIT_TIME, CRAWL_STOPPED, CRAWL_FAILED } crawl_end;

/* Locks and loads the folder, replays what a killed run left. `why` gets one phrase for people on failure. */
MUST_USE status crawl_open(const struct crawl_opts *opts, struct crawl **out, struct buf *why);
/* Adds a channel, or goes on with it when the folder has it. Takes ownership of `c`. */
MUST_USE status crawl_add(struct crawl *cr, struct channel *c);

typedef void crawl_progress_fn(void *arg, const struct crawl_stats *s);

/* Runs on the calling thread until done, a limit, SIGINT/SIGTERM or crawl_stop; calls `progress` some five times a
 * second. On return everything is on disk. */
MUST_USE status crawl_run(struct crawl *cr, crawl_progress_fn *progress, void *arg, crawl_end *end);
void crawl_stop(struct crawl *cr); /* any thread */
/* After crawl_run failed: what was attempted and why it went wrong, in one phrase. */
struct span crawl_failure(struct crawl *cr);
void crawl_get_stats(struct crawl *cr, struct crawl_stats *out); /* any thread */
/* When a host failed and nothing was crawled: the first failure, for the message. False when there is none. */
bool crawl_first_failure(struct crawl *cr, struct buf *host, status *st, struct buf *why);
void crawl_close(struct crawl *cr); /* NULL is fine */

/* ---- driven by tasks ----
 *
 * Before crawl_run, or from its progress callback: the shards are parked meanwhile, so collect what there is and call
 * these a few times a second at most. crawl_add belongs here too: seeds of a running crawl begin at once. What they do
 * survives a kill from the next checkpoint on; crawl_settle makes one and waits until it is durable. */

/* More URLs for a channel, at depth 0 and in its scope like any seed, its patterns allowing; known ones are left out.
 * ST_NOT_FOUND, here and below: no such channel. */
MUST_USE status crawl_seed(struct crawl *cr, uint64_t channel, const struct span *urls, size_t n);
/* The channel ends: its waiting URLs are dropped and requests under way come to nothing. Its pages stay written down.
 * What was dropped is forgotten: whoever finds it again has found something new. Harmless when there is no such
 * channel.
 */
MUST_USE status crawl_drop(struct crawl *cr, uint64_t channel);
/* Queues up to `pages_max` (0: all) known pages of a channel that were last visited before `older_than` (0: any),
 * oldest visit first, for a conditional request, or for one without conditions when `is_whole`. Those that wait already
 * are left out. Hosts that were given up get
 * another chance. */
MUST_USE status crawl_recheck(struct crawl *cr, uint64_t channel, uint64_t pages_max, wall_ms older_than, bool is_whole,
                              uint64_t *queued);
/* Nothing is lent while paused; what is under way ends. */
void crawl_pause(struct crawl *cr, bool is_paused);
/* Takes every host of a network out of the crawl, each packed with its politeness and its queue in one or more pieces
 * that stand alone (frontier_take_network). From the first call on none of them is lent; ST_AGAIN: requests are still
 * under way, call again. Its unvisited URLs are forgotten here. The network is lent from again once it is taken: by
 * then may_use should say no to its addresses. */
MUST_USE status crawl_network_take(struct crawl *cr, const struct network *n, frontier_host_fn *fn, void *arg);
/* The counterpart, in another crawl: queue and politeness go on. URLs that are known here, or of a channel that is not
 * here, are left out: channels first. ST_CORRUPT, ST_NEWER, ST_INVALID: not a piece. */
MUST_USE status crawl_hosts_put(struct crawl *cr, struct span packed);
/* What another crawl knew of a page: it is a known page of `channel` here from now on. Only the fields of a copy are
 * used: url, depth, at, http_status, digest, etag, last_modified, page_flags. */
MUST_USE status crawl_pages_put(struct crawl *cr, uint64_t channel, const struct page *pages, size_t n);
/* Everything told so far is durable. ST_FULL: no space now, try again; any other failure ends the run. */
MUST_USE status crawl_settle(struct crawl *cr);

struct channel_progress {
    uint64_t queued; /* waiting and under way; 0: nothing left to do */
    uint64_t queued_given_up;
    uint64_t fetched, unchanged, errors, gone, bytes; /* since the folder was opened */
};
/* False: no such channel. Any thread. */
bool crawl_channel_progress(struct crawl *cr, uint64_t channel, struct channel_progress *out);

/* ---- programs ----
 *
 * Run on the good pages of channels that name them, in processes of their own (mobile/master.h), one for each shard.
 * Called like those above. Nothing of this is kept in the folder: it is told anew after each crawl_open. A page whose
 * program fails, or is not here, goes on without it. */

/* This version is used from the next page on. `last` (NULL: none): an earlier one that was good, to fall back to.
 * ST_EXISTS: it is here already, or a newer one; ST_NOT_FOUND: there is no orb-worker; ST_INVALID, ST_LIMIT: as
 * master_set. Copied. */
MUST_USE status crawl_program_set(struct crawl *cr, const struct program *p, const struct program *last);
/* This version is used no more: the last good one goes on, or none. */
void crawl_program_drop(struct crawl *cr, struct span name, uint64_t serial);
/* The program of a channel; "": none. */
MUST_USE status crawl_program_bind(struct crawl *cr, uint64_t channel, struct span name);

struct program_state {
    char name[PROGRAM_NAME_MAX + 1];
    uint64_t serial;        /* the oldest that is in use; 0: none is */
    uint64_t failed_serial; /* the newest that failed; 0: none did */
    uint64_t pages, errors; /* since it was given */
    char last_error[256];   /* cut; text from the script */
};
/* All shards together, at most `max` of them; returns how many. Any thread. */
size_t crawl_programs(struct crawl *cr, struct program_state *out, size_t max);

/* For `orb explain`: what the folder knows and would do with a URL, as lines of text and as a JSON object. Reads only;
 * the folder may be in use. */
struct explain {
    struct span url; /* normalised */
    const char *
        state; /* "fetched", "waiting", "refused", "error", "redirect", "gone", "unknown", "out of scope", ... static */
    struct buf lines; /* for people, one fact a line */
    struct buf json;  /* one object, without newline */
};
MUST_USE status crawl_explain(const char *data_dir, struct span url, struct explain *out, struct buf *why);
void explain_done(struct explain *e);
