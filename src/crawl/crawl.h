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
#include "store/warc_files.h"

struct crawl;

struct crawl_opts {
    const char *data_dir;
    struct fetcher_opts fetch; /* user_agent is the whole header value; its product token is used for robots.txt */
    struct resolver_opts dns;
    int64_t delay_ms;  /* between two requests to a host; -1 = 1,000 */
    bool in_lab;       /* io/in_lab.h: no least pause on public addresses */
    unsigned per_host; /* in flight to a host; 0 = 1, or 16 with delay_ms 0 on loopback and private addresses */
    unsigned jobs;     /* in flight in all; 0 = 64 a shard */
    unsigned shards;   /* 0 = one a core */
    const struct span *own_sites; /* hosts whose owner we are: public addresses may be asked faster */
    size_t own_site_count;
    uint64_t pages_max;          /* good pages in the folder, all runs together; 0 = no limit */
    int64_t time_max_ms;         /* of this run; 0 = no limit */
    size_t frontier_bytes;       /* 0 = 64 MiB */
    const struct url_norm *norm; /* NULL = url_norm_default */
    bool no_sitemaps;            /* neither sitemaps nor feeds are looked for, and what they list is not followed */
    sink_open_fn *open_sink;     /* where visits go */
    void *sink_arg;              /* borrowed */
    struct warc_files *archive;  /* borrowed, outlives the crawl: every answer goes there as it came; NULL: none */
    member_kind archive_kind;    /* as the files were opened with */
    bool stays;                  /* does not end when nothing is left: more channels may come */
    /* May this host be fetched from that address? Asked of each of its addresses when they are known, on the shards'
     * threads. NULL: yes. */
    bool (*may_use)(void *self, struct span host, const struct addr *addr, uint64_t channel);
    /* Is a host ours that was never met, and is at home there (addr_home)? Else it is turned away, although another of
     * its addresses may be one that may be used: somebody else has it. NULL: yes. */
    bool (*is_ours)(void *self, struct span host, const struct addr *home, uint64_t channel);
    /* None of its addresses may be used; this is the first. The host and all that waits on it are dropped. May be NULL.
     */
    void (*turned_away)(void *self, struct span host, const struct addr *addr, uint64_t channel);
    /* An address answered over a path of this round trip. Any shard's thread; NULL: nobody cares. */
    void (*note_path)(void *self, const struct addr *addr, uint32_t us);
    void *self;              /* borrowed: of these */
    const char *worker_path; /* borrowed: orb-worker, for programs and PDFs; NULL: looked for */
    const char *pdf_program; /* borrowed: pdftotext; NULL: looked for */
    bool no_pdf;             /* PDFs are left by name */
    const struct log *log;
};

#define CRAWL_LISTS_MAX 100 /* lists that a list leads to, one behind the other: archives of feeds have many parts */

/* What happened so far. Counters are of this run unless they say folder. */
struct crawl_stats {
    uint64_t pages;     /* folder: good pages known (2xx) */
    uint64_t fetched;   /* pages got with 2xx */
    uint64_t unchanged; /* 304, or same digest as before */
    uint64_t redirects, gone, errors, refused_robots;
    uint64_t not_html, thin;  /* documents that are not HTML; HTML with under 200 bytes of text */
    uint64_t not_read;        /* of not_html: nothing here reads them, or could; known by name, type and size */
    uint64_t pdf_failed;      /* of not_read: PDFs that say nothing, or are damaged, encrypted, too long */
    uint64_t pdf_left;        /* of not_read: PDFs that were not fetched, because of pdf_state */
    status pdf_state;         /* ST_NOT_FOUND: pdftotext is not installed; ST_REFUSED: the kernel has no Landlock */
    uint64_t lists;           /* sitemaps and feeds got with 2xx: they are no pages, and in none of the above */
    uint64_t lists_elsewhere; /* of lists: nothing that they list is in scope */
    uint64_t lists_left;      /* of lists: nothing that they list is followed, for other reasons too */
    unsigned lists_left_by;   /* those reasons: a bit for each channel_verdict */
    uint64_t lists_too_far;   /* of lists: they lead to more lists than CRAWL_LISTS_MAX, one behind the other */
    uint64_t robots_fetched;
    uint64_t requests, retries;
    uint64_t bytes_wire, bytes_body;
    uint64_t known_urls;                           /* folder */
    uint64_t queued;                               /* folder: known and not yet visited */
    uint64_t parked_traps;                         /* folder */
    uint64_t hosts, hosts_waiting, hosts_given_up; /* known; in back-off now; not answering, left for the next run */
    int64_t rests_ms;                              /* until the first of hosts_waiting is asked again; -1: none waits */
    uint64_t queued_given_up;                      /* of queued: on hosts given up */
    uint64_t in_flight;
    uint64_t frontier_memory, hosts_memory, seen_memory,
        disk_bytes;                                   /* hosts_memory: the part of frontier_memory that is not URLs */
    uint64_t index_docs, index_bytes, index_segments; /* folder: pages that can be searched */
    uint64_t errors_by_kind[ST_MAX];                  /* by status; HTTP errors are in http_4xx/http_5xx */
    uint64_t http_4xx, http_5xx;
    uint64_t resumed;    /* pages that earlier runs had got already */
    uint64_t seconds_ms; /* of this run */
    int pass;            /* 1: first visit; 2...: rechecking a finished crawl */
    bool is_finishing;   /* crawl_watch_finishing */
    bool is_comparing;   /* finishing: pages are compared for near-duplicates */
    unsigned compared_percent;
    bool disk_trouble;     /* waiting for space: nothing is fetched meanwhile */
    uint64_t slowed_hosts; /* Crawl-delay above the ceiling: 120 s used instead */
};

typedef enum crawl_end { CRAWL_COMPLETE, CRAWL_LIMIT_PAGES, CRAWL_LIMIT_TIME, CRAWL_STOPPED, CRAWL_FAILED } crawl_end;

/* Locks and loads the folder, replays what a killed run left. `why` gets one phrase for people on failure. */
MUST_USE status crawl_open(const struct crawl_opts *opts, struct crawl **out, struct buf *why);
/* Adds a channel, or goes on with it when the folder has it. Takes ownership of `c`. */
MUST_USE status crawl_add(struct crawl *cr, struct channel *c);
/* The same in two steps: what is told in between is known before the seeds are looked at, so that they are not fetched
 * again. */
MUST_USE status crawl_add_unseeded(struct crawl *cr, struct channel *c);
MUST_USE status crawl_add_seeds(struct crawl *cr, uint64_t channel);

typedef void crawl_progress_fn(void *arg, const struct crawl_stats *s);

/* Runs on the calling thread until done, a limit, SIGINT/SIGTERM or crawl_stop; calls `progress` some five times a
 * second. On return everything is on disk. */
MUST_USE status crawl_run(struct crawl *cr, crawl_progress_fn *progress, void *arg, crawl_end *end);
void crawl_stop(struct crawl *cr); /* any thread */
/* At the end everything is made durable and searchable, which may take minutes: `fn` is called meanwhile. It only
 * looks: the crawl is over. Before crawl_run or crawl_import_end. */
void crawl_watch_finishing(struct crawl *cr, crawl_progress_fn *fn, void *arg);
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
/* Sitemaps or feeds of a channel, wherever they are: what they list and the channel takes becomes part of it, as far
 * away as a link of a seed; its scope gets no wider. Known ones are left out. */
MUST_USE status crawl_lists(struct crawl *cr, uint64_t channel, const struct span *urls, size_t n);
/* The channel ends: its waiting URLs are dropped and requests under way come to nothing. Its pages stay written down.
 * What was dropped is forgotten: whoever finds it again has found something new. Harmless when there is no such
 * channel.
 */
MUST_USE status crawl_drop(struct crawl *cr, uint64_t channel);
/* Queues known pages of a channel that were last visited before `older_than` (0: any), for a conditional request, or
 * for one without conditions when `is_whole`: first those that somebody says have changed since, then those that gain
 * most by it (plan/page_order.h), `pages_max` of them (0: all). Those that wait already are left out. Hosts that were
 * given up get another chance. */
MUST_USE status crawl_recheck(struct crawl *cr, uint64_t channel, uint64_t pages_max, wall_ms older_than, bool is_whole,
                              uint64_t *queued);
/* Somebody says that these pages of a channel changed at `at`: those that are known come first when it is rechecked.
 * Nothing is queued for it. */
MUST_USE status crawl_told(struct crawl *cr, uint64_t channel, const struct span *urls, size_t n, wall_ms at);
/* How many pages of a channel lists or others say have changed since they were visited. Waits until what was visited is
 * written down. */
MUST_USE status crawl_count_told(struct crawl *cr, uint64_t channel, uint64_t *count);
/* Nothing is lent while paused; what is under way ends. */
void crawl_pause(struct crawl *cr, bool is_paused);
/* Somebody who is no web server cannot be reached: hosts that fall silent are not blamed (frontier_doubt). */
void crawl_doubt(struct crawl *cr, bool is_doubted);
/* Takes every host of a network out of the crawl, each packed with its politeness and its queue in one or more pieces
 * that stand alone (frontier_take_network). From the first call on none of them is lent; ST_AGAIN: requests are still
 * under way, call again. Its unvisited URLs are forgotten here. The network is lent from again once it is taken: by
 * then may_use should say no to its addresses. */
MUST_USE status crawl_network_take(struct crawl *cr, const struct network *n, frontier_host_fn *fn, void *arg);
/* Others have the rest of the network (n->parts), and of its limits; without parts it is all ours. */
void crawl_network_share(struct crawl *cr, const struct network *n);
/* The counterpart, in another crawl: queue and politeness go on. URLs that are known here, or of a channel that is not
 * here, are left out: channels first. ST_CORRUPT, ST_NEWER, ST_INVALID: not a piece. */
MUST_USE status crawl_hosts_put(struct crawl *cr, struct span packed);
/* What another crawl knew of a page: it is a known page of `channel` here from now on. Only the fields of a copy are
 * used: url, depth, at, http_status, digest, etag, last_modified, page_flags, rate. */
MUST_USE status crawl_pages_put(struct crawl *cr, uint64_t channel, const struct page *pages, size_t n);
/* Visits of the channel bring the answer as it came (summary.capture), for a sink that keeps such. Told anew after each
 * crawl_open. */
MUST_USE status crawl_capture(struct crawl *cr, uint64_t channel, bool is_wanted);
/* Nothing of these places is asked for from now on, and what waits of them is dropped; in place of those told before,
 * which at first are what the store remembers as forgotten. Takes the set, also when it fails: then some may wait
 * still, and the same may be told again. */
MUST_USE status crawl_refuse(struct crawl *cr, struct places *places);
/* Takes pages of those places out of the store, for a sink that keeps no contents. Before crawl_run. */
MUST_USE status crawl_erase_refused(struct crawl *cr);
/* Telling holds the shards until the progress callback returns, or until here: what comes takes long. */
void crawl_release(struct crawl *cr);
/* Everything told so far is durable. ST_FULL: no space now, try again; any other failure ends the run. */
MUST_USE status crawl_settle(struct crawl *cr);

/* What a crawl goes on from: checkpoint, the files of known URLs, journals. A line is added to *problems for each that
 * is damaged; with `repair` it is given up. The caller has the folder's store open, and no crawl. */
MUST_USE status crawl_check_state(const char *data_dir, bool repair, struct buf *problems);

/* ---- from archives ----
 *
 * Instead of crawl_run, after crawl_add_unseeded: crawl_import_begin, then for each answer that an archive has
 * crawl_import_check and, if it is wanted, crawl_import; crawl_import_end. Nothing is fetched. What was imported is
 * written down like any visit, with the archive's date; links that are new wait for a later crawl_run. A kill loses at
 * most the last answers, and the same ones again change nothing. One thread. */

typedef enum crawl_import_verdict {
    IMPORT_WANTED,
    IMPORT_OLDER, /* the folder has a visit of that moment, or a later one */
    IMPORT_OUT_OF_SCOPE,
    IMPORT_FORGOTTEN, /* its place is, or wants to be left alone */
    IMPORT_NO_URL,    /* no http(s) URL that would be crawled */
} crawl_import_verdict;

struct crawl_import_page {
    struct span url, host; /* normalised; until the next check */
    uint64_t key, channel;
    wall_ms at;
    unsigned depth, hops;          /* links from a seed, redirects: the caller's to set where it knows */
    bool is_known;                 /* visited before */
    bool has_copy;                 /* it was found, and has neither gone nor moved since: a 304 would say something */
    wall_ms copy_from, copy_until; /* the first and the last visit that found this copy */
    bool is_from_late;             /* the folder may know an earlier one: see crawl_import_is_copy_of */
    bool is_robots;                /* a robots.txt, which is no page */
};

MUST_USE status crawl_import_begin(struct crawl *cr);
/* Of which answers the body is needed. */
fetch_wants_fn *crawl_import_wants(const struct crawl *cr);
/* `http`: the answer's status. *out is filled for IMPORT_WANTED. */
MUST_USE status crawl_import_check(struct crawl *cr, uint64_t channel, struct span url, wall_ms at, unsigned http,
                                   struct crawl_import_page *out, crawl_import_verdict *verdict);
/* Whether the folder's copy is what a visit at `at` found, be that visit in the folder or not. */
MUST_USE status crawl_import_is_copy_of(struct crawl *cr, struct crawl_import_page *p, wall_ms at, bool *is_of);
MUST_USE status crawl_import(struct crawl *cr, const struct crawl_import_page *p, const struct fetch_result *r);
/* Everything is durable and searchable. crawl_failure tells what went wrong, here and in the others. */
MUST_USE status crawl_import_end(struct crawl *cr);

struct channel_progress {
    uint64_t queued; /* waiting and under way; 0: nothing left to do */
    uint64_t queued_given_up;
    uint64_t storing;                                 /* visited, and not in the store yet */
    uint64_t fetched, unchanged, errors, gone, bytes; /* since the folder was opened */
    uint64_t added, changed;                          /* as the store found them: for the first time, or other */
    uint64_t lists;     /* sitemaps and feeds that the store found there: in none of the above but bytes */
    wall_ms changed_at; /* the newest change found since the last recheck, where all of them say when; 0: not */
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
    struct span url; /* as it was asked about */
    const char *
        state; /* "fetched", "waiting", "refused", "error", "redirect", "gone", "unknown", "out of scope", ... static */
    struct buf lines; /* for people, one fact a line */
    struct buf json;  /* one object, without newline */
};
/* `url` is in the one form that the folder was crawled with, as the caller's options have it. */
MUST_USE status crawl_explain(const char *data_dir, struct span url, struct explain *out, struct buf *why);
void explain_done(struct explain *e);
