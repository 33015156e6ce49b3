/* watch.h - what a data folder's crawl and index are doing, now and in the last half hour.
 *
 * A thread of its own reads the crawl's progress text and the size of the index every WATCH_STEP_MS, which is one row
 * and one stat(2); what costs more (the list of hosts in back-off) is read only when asked for, and kept for a while.
 * The folder may be missing, and may be replaced by another one at any time. Any thread may ask. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "serve/corpus.h"

#define WATCH_STEP_MS 2000
#define WATCH_SAMPLES 900    /* half an hour */
#define WATCH_KINDS_MAX 24   /* kinds of errors */
#define WATCH_HOSTS_SHOWN 20 /* hosts in back-off */
#define WATCH_STALE_MS 20000 /* a running crawl writes each second; older than this it was killed */
#define WATCH_HOSTS_KEPT_MS 10000

struct watch;

/* One moment. Zero and empty where there is nothing to say. */
struct watch_now {
    wall_ms at;
    bool has_folder;  /* the store can be read */
    bool has_crawl;   /* a crawl has written its progress */
    bool is_running;  /* and goes on */
    bool was_killed;  /* and says that it goes on, but has said nothing for a while */
    wall_ms crawl_at; /* when it last wrote */
    uint64_t pass, pages, fetched, unchanged, errors, queued, known_urls, hosts, hosts_backoff, hosts_given_up, traps,
        bytes, seconds;
    double pages_per_s; /* over the last samples */
    unsigned kind_count;
    struct watch_kind {
        char name[24]; /* letters, digits, '_', '-', ' ' */
        uint64_t count;
    } kinds[WATCH_KINDS_MAX];
    bool has_index;
    status index_status; /* when there is none */
    struct index_stats index;
};

struct watch_sample {
    wall_ms at;
    float pages_per_s;
    uint64_t queued, errors, hosts_backoff, index_docs, index_bytes;
};

struct watch_host {
    struct span name;
    uint64_t queued;
    unsigned failures;
    int64_t wait_ms; /* until the next try; 0: due */
    bool is_given_up;
    struct span reason; /* "timeout", "HTTP 503" */
};

/* `corpus` is borrowed. */
struct watch *watch_new(const char *data_dir, struct corpus *corpus);
void watch_free(struct watch *w); /* NULL is fine */
void watch_get(struct watch *w, struct watch_now *out);
/* The samples, oldest first; returns how many. */
size_t watch_history(struct watch *w, struct watch_sample *out, size_t max);
/* Hosts in back-off, those with most waiting URLs first; text in the arena. *total counts all of them. */
size_t watch_hosts(struct watch *w, struct arena *a, struct watch_host *out, size_t max, uint64_t *total);
/* A setting of the folder ("contact", "user_agent"); empty when there is none. Appends. */
void watch_setting(struct watch *w, const char *name, struct buf *out);
