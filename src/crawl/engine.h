/* engine.h - the crawl engine's inside, shared by the files of this folder only.
 *
 * Threads: the caller's (crawl_run: signals, progress, checkpoints), one a shard, and the writer. A shard owns its
 * frontier, fetcher, resolver and journal. What others want of it goes through its inbox. Everything that needs all
 * shards at once (checkpoint, end) parks them first: each waits in shard_park() while the caller's thread works on
 * their structures. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/table.h"
#include "crawl/archive.h"
#include "crawl/crawl.h"
#include "crawl/route.h"
#include "crawl/writer.h"
#include "mobile/master.h"
#include "mobile/reader.h"
#include "plan/frontier.h"
#include "store/records.h"
#include "store/runs.h"
#include "store/seen.h"
#include "web/summary.h"

#define CRAWL_URL_MAX 2048
#define CRAWL_SHARDS_MAX 64
#define CRAWL_REDIRECTS_MAX 10
#define CRAWL_ROBOTS_REDIRECTS_MAX 5
#define CRAWL_ROBOTS_TTL_MS (24ll * 3600 * 1000)
#define CRAWL_THIN_BYTES 200
#define CRAWL_AWAY_MAX (1u << 20) /* URLs that left, some 32 MiB; beyond it they stay known */
#define RECENT_LINKS 16384        /* a power of two */
#define RECENT_NAMES 65536

/* Record types of journal and checkpoint files: docs/formats/journal.md. */
enum { KIND_JOURNAL = 1, KIND_CHECKPOINT = 2 };
enum {
    REC_SUMMARY = 1,
    REC_HOST = 2,
    REC_WIDEN = 3,
    REC_FOUND = 4,
    REC_META = 16,
    REC_CHANNEL = 17,
    REC_SEEN = 18,
    REC_AWAY = 19
};

/* A channel of the crawl: lane.c. Lanes come and go with all shards parked, so shards look them up without a lock. */
struct lane {
    uint64_t id;
    struct channel *channel;                    /* owned: as it was given; see lane_channel */
    atomic_uint_fast64_t transit;               /* URLs between two shards */
    uint64_t stored, added, changed, unchanged; /* visits that the writer has done; under lane_lock, as those below */
    uint64_t lists;                             /* of stored: sitemaps and feeds that were there, in no other count */
    wall_ms newest;                             /* change that was found since the last recheck; 0: none, */
    uint64_t undated;                           /* and changes of which nobody says when */
};

/* What a shard has of it. */
struct shard_lane {
    uint64_t id;
    struct channel *channel;            /* owned */
    char program[PROGRAM_NAME_MAX + 1]; /* run on its pages; "": none */
    bool wants_capture;                 /* its answers go with the visits, as they came */
    struct channel_progress n;          /* counters; not what is queued */
    uint64_t arrived;                   /* URLs that came from other shards since the last publication */
    struct channel_progress published;  /* under lane_lock */
};

struct job {
    struct job *next; /* in shard.waiting */
    struct shard *shard;
    struct lease lease;
    int32_t dns_us;
    unsigned robots_hops;
    struct span robots_url;        /* owned: current hop of a robots.txt fetch; empty = the lease's url */
    struct timer *wait;            /* owned: between two hops */
    const struct reading *reading; /* borrowed during visit_page: what another program said of it; NULL: none did */
    wall_ms imported_at; /* when somebody else got the answer; the lease is none of the frontier's then. 0: we do */
    struct frontier_result result;
};

struct shard {
    struct crawl *crawl;
    unsigned index;
    pthread_t thread;
    bool has_thread;
    struct loop *loop;
    struct waker *waker;
    struct timer *due, *tick;
    struct frontier *frontier;
    struct fetcher *fetcher;
    struct resolver *resolver;
    struct records_writer *journal; /* swapped under crawl.journal_lock */
    struct table lanes;             /* id -> struct shard_lane, owned */
    struct arena arena;             /* of the pages of this turn: reset when they are written down */
    struct finished {
        struct job *job;               /* owned */
        struct summary sum;            /* numbers and links; its texts are in `packed` */
        const struct url *const *urls; /* in the arena, beside sum.links; NULL: there are none */
        size_t packed_at, packed_n;    /* the whole summary, in `packed` */
    } * finished;                      /* owned: visited in this turn, not yet in the journal */
    size_t finished_count, finished_cap;
    struct archive archive;         /* written before `framed` */
    bool has_captures;              /* some lane wants them */
    struct buf captured;            /* of the visit at hand */
    struct buf packed, framed;      /* of `finished` */
    struct buf batch;               /* summaries in the journal, for the writer */
    uint64_t recent[RECENT_LINKS];  /* marks of links known to be seen: visit.c */
    uint64_t named[RECENT_NAMES];   /* marks of link texts that were passed on for their targets */
    uint64_t foreign[RECENT_NAMES]; /* keys of links out of their channel that were passed on */
    struct table dns_took;          /* host key -> microseconds + 1, until its next request */
    unsigned in_flight, resolving;
    struct job *waiting;                     /* robots.txt fetches between two hops */
    struct master *master;                   /* owned; NULL until there is a program */
    struct reader *reader;                   /* owned; NULL until there is a PDF */
    struct asked *asked_first, **asked_last; /* owned: pages that no program's line has room for yet, oldest first */
    bool is_stalled;                         /* the disk is full: what is finished waits, nothing new is lent */
    mono_ms stalled_since;
    bool is_quitting;
    atomic_uint_fast64_t journal_bytes; /* since the last checkpoint */
    struct crawl_stats stats;
    /* shared */
    pthread_mutex_t lock; /* over those below but is_idle */
    struct buf inbox;
    struct crawl_stats published;
    struct frontier_counts counts;
    struct program_state *programs; /* owned: as published */
    size_t program_count;
    atomic_bool is_idle;
};

struct crawl {
    struct crawl_opts o;
    struct arena strings; /* of o */
    struct span agent;    /* product token */
    struct store *store;
    struct sink sink; /* the writer's while it runs */
    bool has_sink;
    struct sip_key key;
    struct seen *seen;
    struct runs *runs;
    struct writer *writer;
    struct route *route;
    struct shard *shards;
    struct import *import; /* owned; NULL: none is under way */
    unsigned shard_count;
    unsigned jobs_a_shard;
    status pdf_state; /* ST_OK: PDFs are read; ST_UNSUPPORTED: not wanted; ST_NOT_FOUND, ST_REFUSED: see reader_look */
    struct lane **lanes; /* owned, in the order they came */
    size_t lane_count;
    struct table lane_at; /* id -> lane */
    pthread_mutex_t lane_lock;
    struct places *refused; /* owned: what is never asked for; NULL: nothing is. Changed with all shards held */
    struct table away;      /* keys of URLs that left unvisited, or whose page was taken out */
    pthread_mutex_t away_lock;
    atomic_size_t away_count;
    uint64_t unseen; /* the last that unsee_load has read, until it is dropped; 0: none */
    pthread_mutex_t journal_lock;
    uint64_t generation;
    atomic_uint_fast64_t next_fetch, good_pages, lent_pages;
    /* parking */
    pthread_mutex_t park_lock;
    pthread_cond_t park_changed;
    unsigned parked;
    bool want_park;
    bool is_running, is_held; /* shards have threads; they are parked for the progress callback. The caller's thread */
    atomic_bool is_stopping, is_paused, is_doubted;
    /* caller's thread */
    struct loop *loop;
    struct timer *tick;
    struct waker *waker;
    struct signals *signals;
    crawl_progress_fn *progress;
    void *progress_arg;
    crawl_progress_fn *finishing; /* NULL: nobody watches */
    void *finishing_arg;
    crawl_end end;
    bool is_ended, was_complete, has_new_seeds;
    int pass;
    mono_ms started, last_checkpoint, last_progress_saved;
    uint64_t resumed, unchanged;
    atomic_bool is_checkpointing;
    /* failures */
    pthread_mutex_t failure_lock;
    status failure;
    struct buf failure_doing;
    bool has_host_failure;
    struct buf failed_host, failed_why;
    status failed_status;
};

/* ---- crawl.c ---- */
/* The crawl cannot go on: remembers the first reason and ends the run without a checkpoint. Any thread. */
void crawl_fail(struct crawl *cr, status st, const char *doing);
void crawl_note_host_failure(struct crawl *cr, struct span host, status st, const char *why);
/* The shards wait until the progress callback returns, their inboxes empty; harmless when they do already, or do not
 * run yet. The caller's thread. */
void crawl_hold(struct crawl *cr);
/* What was done to held shards shows in statistics and progress at once. */
void crawl_publish(struct crawl *cr);
/* All shards parked, or not started: the writer gets a checkpoint. ST_FULL: no space now; other failures end the run,
 * so that nobody needs to look. */
status crawl_checkpoint(struct crawl *cr);
/* The writer and the journals without threads of shards, and their end: a checkpoint, unless `st` is a failure. */
MUST_USE status crawl_begin_quiet(struct crawl *cr);
MUST_USE status crawl_end_quiet(struct crawl *cr, status st);

/* ---- lane.c ---- */
struct lane *crawl_lane(const struct crawl *cr, uint64_t id); /* NULL: no such channel */
const struct channel *lane_channel(const struct crawl *cr, const struct lane *l);
/* Shards held. lane_put takes `c`; a channel that is here takes its place over. */
struct lane *lane_put(struct crawl *cr, struct channel *c);
MUST_USE status lane_share(struct crawl *cr, const struct lane *l);
void lane_remove(struct crawl *cr, struct lane *l);
void crawl_lanes_done(struct crawl *cr);
struct shard_lane *shard_lane(const struct shard *s, uint64_t id); /* NULL: no such channel */
struct channel *shard_channel(const struct shard *s, uint64_t id);
void shard_lanes_done(struct shard *s);
/* URLs leave for another shard, from a shard's thread, before its next publication; and are there. */
void lane_sent(struct crawl *cr, uint64_t channel, uint64_t urls);
void lane_arrived(struct shard *s, uint64_t channel, uint64_t urls);
void lane_publish(struct shard *s);
void lane_rechecked(struct crawl *cr, uint64_t channel); /* what is found from now on belongs to another visit */
void lane_visited(struct crawl *cr, uint64_t channel, const struct visit_effect *e); /* any thread */
/* seen_add, but for URLs that left: those are new. Any thread. */
MUST_USE status crawl_note_urls(struct crawl *cr, const uint64_t *keys, size_t n, bool *is_new);
void crawl_note_away(struct crawl *cr, uint64_t key); /* any thread */

/* ---- refused.c ---- */
/* What the store remembers as forgotten is refused from the beginning. */
MUST_USE status refused_load(struct crawl *cr);
bool refused_has(const struct crawl *cr, const struct url *u);

/* ---- unsee.c ---- */
/* Pages that were taken out of the store are new from here on; the store keeps their keys until the next checkpoint is
 * durable. Before the shards run. */
MUST_USE status unsee_load(struct crawl *cr);
void unsee_settled(struct crawl *cr); /* it is; the store is the caller's */

/* ---- task.c ---- */
/* The URL in its one form, in the arena; false when it is no http(s) URL of ours. */
bool crawl_normal_url(struct crawl *cr, struct arena *a, struct span text, struct url *out);
/* To the shard that has its host. Shards held, or not started. */
void crawl_queue(struct crawl *cr, const struct frontier_url *u);
/* What was told straight to the sink, while no writer runs: kept, or undone when `st` says that it failed. */
MUST_USE status task_settle(struct crawl *cr, status st);

/* ---- recheck.c ---- */
/* Every page the folder knows is queued again. Before the shards run. */
MUST_USE status recheck_all(struct crawl *cr);

/* ---- shard.c ---- */
status shard_init(struct shard *s, struct crawl *cr, unsigned index);
void shard_done(struct shard *s);
void shard_start(struct shard *s);
void shard_pump(struct shard *s);
/* Puts runs away again that share a file with dropped ones, so that the next checkpoint is the end of those. */
MUST_USE status shard_rewrite_runs(struct shard *s);
struct run_ref run_ref_of(struct frontier_run run); /* where crawl.runs has it */
/* Messages. Any thread. */
void shard_send_url(struct shard *to, const struct frontier_url *u);
void shard_send_host(struct shard *to, struct span packed, const struct addr *addr, mono_ms expires, unsigned choices);
void shard_send_widen(struct shard *to, uint64_t channel, struct span url);
/* Works off the inbox. The shard's thread, or the caller's while it is parked; true when there was something. */
bool shard_drain(struct shard *s);
void shard_publish(struct shard *s);
/* Puts a new URL where it belongs: this shard's frontier or another's inbox. */
void shard_queue(struct shard *s, const struct frontier_url *u);
void job_free(struct job *j);
mono_ms shard_now(struct shard *s);
bool wants_capture(const struct shard *s, uint64_t channel);
void shard_fetch(struct shard *s, struct job *j, struct span url, const struct addr *addr);

/* ---- visit.c ---- */
/* `said`: what the channel's program said of the page; NULL: nothing. */
void visit_page(struct shard *s, struct job *j, const struct fetch_result *r, const struct program_result *said);
/* A page that is not asked for: robots.txt forbids it, or its site does not answer. */
void visit_without_request(struct shard *s, struct job *j);

/* ---- programs.c ---- */
/* True: a program is asked about the page, and visit_page follows with its answer. */
bool programs_ask(struct shard *s, struct job *j, const struct fetch_result *r);
bool programs_want_headers(const struct shard *s, uint64_t channel);
void programs_publish(struct shard *s);
void programs_done(struct shard *s); /* pages that wait are dropped, unvisited */
struct fetch_result fetch_result_copy(struct arena *a, const struct fetch_result *r);

/* ---- readings.c ---- */
/* Sets cr->pdf_state. Before there are shards. */
void readings_look(struct crawl *cr);
fetch_wants_fn *readings_wants(const struct crawl *cr);
bool readings_are_for(const struct crawl *cr, struct span url, const struct fetch_result *r);
/* What reads them, on a loop, so many at once; kept in *reader, which is NULL at first. As reader_new. */
MUST_USE status readings_reader(const struct crawl *cr, struct loop *l, unsigned at_once, struct reader **reader);
/* True: another program reads the page, and visit_page follows with what it said. */
bool readings_ask(struct shard *s, struct job *j, const struct fetch_result *r);
bool readings_are_behind(const struct shard *s); /* nothing should be lent now */
void readings_done(struct shard *s);             /* pages that wait are dropped, unvisited */

/* ---- finish.c ---- */
/* A page was visited: it is written down with the others of this turn. `sum` and its links live in the shard's arena;
 * texts only until the call ends. */
void finish_page(struct shard *s, struct job *j, struct summary *sum, const struct url *const *urls);
/* Writes the turn's pages to the journal, then queues their links and gives their hosts back. */
void finish_flush(struct shard *s);

/* ---- robots_fetch.c ---- */
void robots_fetch_start(struct shard *s, struct job *j);
void robots_fetch_done(struct shard *s, struct job *j, const struct fetch_result *r);

/* ---- import.c ---- */
void import_free(struct import *im); /* NULL is fine */

/* ---- lists.c ---- */
/* The Sitemap lines of a site's rules, found at `url`: those that are new are queued for a channel that asked, and
 * written down with the rules. Before the rules go to the frontier. */
void lists_of_robots(struct shard *s, const struct job *j, struct span url, const struct robots *rules);

/* ---- resume.c ---- */
/* Loads checkpoint and journals into shards that do not run yet. */
status resume_load(struct crawl *cr, struct buf *why);
/* All shards parked or not started: writes everything to a checkpoint file, starts new journals, hands the file to the
 * writer. */
status resume_checkpoint(struct crawl *cr);
void resume_settled(struct crawl *cr, uint64_t generation); /* the checkpoint is durable: old journals go */
/* Also tells whoever wants to know how long the path was. */
struct frontier_result frontier_result_of(struct crawl *cr, const struct fetch_result *r, wall_ms wall);
