/* fetch_job.h - what the parts of the fetcher share: a job, which is one request, and the fetcher itself.
 *
 *     fetcher.c       jobs that wait, are under way and have ended; timeouts; results
 *     fetch_take.c    what comes of an answer, its ceilings, the rate
 *     fetch_plain.c   jobs by plain.h
 *     fetch_curl.c    jobs by libcurl */
#pragma once

#include <curl/curl.h>

#include "base/buf.h"
#include "codec/coding.h"
#include "io/curl_watch.h"
#include "io/fetch_guard.h"
#include "io/fetch_header.h"
#include "io/fetch_raw.h"
#include "io/fetcher.h"
#include "io/plain.h"

typedef enum job_verdict {
    JOB_GOES_ON,
    JOB_CUT,     /* enough of the body was read */
    JOB_DROPPED, /* the type is not wanted and the body too long to skip */
    JOB_HEAD_TOO_LONG,
    JOB_BOMB,    /* ratio */
    JOB_REFUSED, /* at socket time */
    JOB_BAD_CODING,
} job_verdict;

struct job {
    struct fetcher *owner; /* borrowed */
    struct job *next, *prev;
    CURL *easy; /* owned; NULL until it is needed */
    fetch_fn *done;
    void *arg; /* borrowed */
    struct addr addr;
    struct buf url;
    bool any_type, is_head;
    fetch_wants_fn *wants; /* NULL: type_is_page */
    bool is_https, is_plain;
    struct buf condition_text[2]; /* header lines; empty: unconditional */

    struct plain_call call;
    struct buf request;    /* of a plain one */
    struct coding *coding; /* owned: undoes the coding of its body; NULL: none */
    bool has_coding;       /* known */

    bool is_head_set, is_https_set, has_conditions_set, is_raw_set, is_fresh_set; /* what the handle was told last */
    struct curl_slist connect_to; /* its text is rewritten for each address */
    struct addr connect_addr;     /* what it says */
    char connect_text[ADDR_TEXT_MAX + 8];
    struct curl_slist conditions[2]; /* in front of the fetcher's own headers */

    struct heads heads;
    struct buf body;
    struct fetch_raw raw;
    uint64_t dropped_bytes; /* of a body that is not wanted */
    uint64_t declared_bytes;
    bool is_unwanted, is_paused;
    job_verdict verdict;
    status early; /* not ST_OK: decided before curl was asked */
    const char *early_why;
    uint64_t counted; /* wire bytes that the rate limit knows of */
    mono_ms started;
    char error[CURL_ERROR_SIZE];
};

struct job_list {
    struct job *first, *last;
};

/* Lines of every request, both ways they are sent. */
struct fetch_headers {
    struct curl_slist *list; /* owned */
    struct buf text;
};

struct fetcher {
    struct loop *loop;   /* borrowed */
    struct plain *plain; /* owned */
    CURLM *multi;
    struct curl_watch *watch;                            /* owned */
    struct timer *scan_timer, *ready_timer, *rate_timer; /* owned */
    struct job *pool;                                    /* owned; linked by next, last used first */
    struct job_list waiting, active, ready;              /* owned */
    unsigned active_count, in_flight;                    /* in_flight: accepted and not called back */
    struct fetch_headers all, open;                      /* `open`: without secrets; empty when there are none */
    struct span *secret_sites;                           /* owned, with what they point to; in order */
    size_t secret_site_count;
    char *proxy, *ca_file; /* owned */
    bool insecure;
    int connect_ms, first_byte_ms, total_ms, scan_ms;
    size_t header_bytes_max, body_bytes_max;
    unsigned ratio_max, connections_max, idle_max;
    uint64_t rate_bytes_per_s;
    int64_t rate_free_us; /* by the clock: when what was received has been paid for */
    struct fetch_guard guard;
    bool is_scanning;
    bool *freed; /* on the stack of whoever calls back, when somebody does */
};

/* ---- fetcher.c ---- */

/* Takes the job from whoever had it and calls back. `st`: how it ended, ST_TIMEOUT when we stopped it. False: the
 * fetcher was freed by the callback. */
bool job_finish(struct fetcher *f, struct job *j, status st, const char *why);
void fetch_start_waiting(struct fetcher *f); /* as many as there is room for */

const struct fetch_headers *job_headers(const struct fetcher *f, const struct job *j); /* that its site may have */

/* ---- fetch_take.c ---- */

/* The parts of an answer as they come; `arg` is the job. False: it goes no further, and j->verdict says why. */
bool job_take_line(void *arg, struct span line);
bool job_take_piece(struct job *j, struct span piece); /* of a body, as it came */
/* More decoded bytes than `wire` bytes can honestly become. */
bool job_is_bomb(const struct job *j, uint64_t wire);
uint64_t job_wire_bytes(const struct job *j); /* of the body, as received */

/* The rate: what was received is a debt that time pays off; while there is one, nobody reads and nobody starts. */
bool fetch_rate_is_spent(const struct fetcher *f);
void fetch_rate_count(struct fetcher *f, struct job *j); /* what came since the last time */
void fetch_rate_wait(struct fetcher *f);

/* ---- fetch_plain.c ---- */

void plain_job_start(struct fetcher *f, struct job *j);
void plain_job_timing(const struct job *j, struct fetch_result *r);

/* ---- fetch_curl.c ---- */

MUST_USE status fetch_curl_open(struct fetcher *f); /* after its options were set */
void fetch_curl_close(struct fetcher *f);           /* after all handles were taken from it */
void curl_job_start(struct fetcher *f, struct job *j);
void curl_job_stop(struct fetcher *f, struct job *j);
void curl_job_go_on(struct job *j);
void curl_job_timing(struct job *j, struct fetch_result *r);
bool curl_job_is_connected(const struct job *j);
uint64_t curl_job_wire_bytes(const struct job *j);
struct addr curl_job_addr(const struct job *j); /* that it is connected to */
