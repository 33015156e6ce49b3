/* One request from start to end:
 *
 *   fetcher_get     fills in a job from the pool; jobs past connections_max wait in a queue. Calls nobody back.
 *   job_start       tells curl the URL, the address and the conditions; all other options were set when the handle was
 * made. on_head/on_body collect the response and hold the ceilings; a job that passes one is stopped by refusing its
 * data. drain           takes finished handles from curl after each time curl was run, and calls back.
 *
 * Curl asks us to watch its sockets (on_socket) and for one timer (on_timeout). It lets go of a socket at the end of
 * each transfer and asks for the same one a moment later; a watch therefore outlives the transfer and is dropped only
 * with the socket (close_socket), or when the idle connection says something. That saves two epoll_ctl a request.
 *
 * Timeouts are ours, by one look at all jobs every so often: curl's would cost it a few tree operations a request. */
#include "io/fetcher.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <curl/curl.h>

#include "base/mem.h"
#include "io/clock.h"
#include "io/curl_watch.h"
#include "io/fetch_guard.h"
#include "io/fetch_header.h"
#include "io/sockaddr.h"

#define URL_BYTES_MAX (64u << 10)
#define CONDITION_BYTES_MAX (8u << 10) /* of a stored ETag or date that is sent back */
#define DROP_BYTES_MAX (64u << 10)     /* reading this much for nothing is cheaper than a new connection */
#define RATIO_FREE_BYTES (1u << 20)    /* decoded bytes that no ratio is asked of */
#define KEEP_BUF_BYTES (256u << 10)    /* a body buffer larger than this is not kept for the next response */
#define RECEIVE_BYTES (32u << 10)      /* no gain from more, and glibc tidies its heap at each free of 64 KiB */
#define SCAN_MS 500
#define IDLE_PER_ACTIVE 4 /* connections kept open, as a multiple of connections_max */

typedef enum job_verdict {
    JOB_GOES_ON,
    JOB_CUT,     /* enough of the body was read */
    JOB_DROPPED, /* the type is not wanted and the body too long to skip */
    JOB_HEAD_TOO_LONG,
    JOB_BOMB,    /* ratio */
    JOB_REFUSED, /* at socket time */
} job_verdict;

struct job {
    struct fetcher *owner; /* borrowed */
    struct job *next, *prev;
    CURL *easy; /* owned */
    fetch_fn *done;
    void *arg; /* borrowed */
    struct addr addr;
    struct buf url;
    bool any_type, is_head;
    bool is_https, is_head_set, is_https_set, has_conditions_set; /* ..._set: what the handle was told last */

    struct curl_slist connect_to; /* its text is rewritten for each address */
    char connect_text[ADDR_TEXT_MAX + 8];
    struct curl_slist conditions[2]; /* in front of the fetcher's own headers */
    struct buf condition_text[2];

    struct heads heads;
    struct buf body;
    uint64_t dropped_bytes; /* of a body that is not wanted */
    uint64_t declared_bytes;
    bool is_unwanted, is_paused;
    job_verdict verdict;
    status early; /* not ST_OK: decided before curl was asked */
    const char *early_why;
    curl_off_t counted; /* wire bytes that the rate limit knows of */
    mono_ms started;
    char error[CURL_ERROR_SIZE];
};

struct job_list {
    struct job *first, *last;
};

struct fetcher {
    struct loop *loop; /* borrowed */
    CURLM *multi;
    struct curl_watch *watch;                            /* owned */
    struct timer *scan_timer, *ready_timer, *rate_timer; /* owned */
    struct job *pool;                                    /* owned; linked by next, last used first */
    struct job_list waiting, active, ready;              /* owned */
    unsigned active_count, in_flight;                    /* in_flight: accepted and not called back */
    struct curl_slist *headers;                          /* owned */
    char *proxy, *ca_file;                               /* owned */
    bool insecure;
    int connect_ms, first_byte_ms, total_ms, scan_ms;
    size_t header_bytes_max, body_bytes_max;
    unsigned ratio_max, connections_max;
    uint64_t rate_bytes_per_s;
    int64_t rate_free_us; /* by the clock: when what was received has been paid for */
    struct fetch_guard guard;
    bool is_scanning;
    bool *freed; /* on the stack of whoever calls back, when somebody does */
};

static void list_push(struct job_list *l, struct job *j)
{
    j->next = NULL;
    j->prev = l->last;
    *(l->last ? &l->last->next : &l->first) = j;
    l->last = j;
}

static void list_remove(struct job_list *l, struct job *j)
{
    *(j->prev ? &j->prev->next : &l->first) = j->next;
    *(j->next ? &j->next->prev : &l->last) = j->prev;
}

static struct job *list_pop(struct job_list *l)
{
    struct job *j = l->first;
    if (j)
        list_remove(l, j);
    return j;
}

static void drain(struct fetcher *f);

static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct job *j = arg;
    struct fetcher *f = j->owner;
    struct addr a = addr_of_sockaddr(&address->addr);
    if (!f->proxy && !fetch_guard_allows(&f->guard, &a)) {
        j->verdict = JOB_REFUSED;
        return CURL_SOCKET_BAD;
    }
    return curl_watch_open(f->watch, address->family, address->socktype, address->protocol);
}

static int close_socket(void *arg, curl_socket_t fd)
{
    struct fetcher *f = arg;
    return curl_watch_close(f->watch, fd);
}

static void on_curl_ran(void *arg)
{
    drain(arg);
}

/* Rate limit: what was received is a debt that time pays off; while there is one, nobody reads and nobody starts. */

static bool rate_is_spent(const struct fetcher *f)
{
    return f->rate_bytes_per_s && f->rate_free_us > clock_mono_us();
}

static void rate_count(struct fetcher *f, struct job *j)
{
    curl_off_t wire = 0;
    curl_easy_getinfo(j->easy, CURLINFO_SIZE_DOWNLOAD_T, &wire);
    int64_t now = clock_mono_us();
    if (f->rate_free_us < now)
        f->rate_free_us = now;
    f->rate_free_us += (int64_t)((double)(wire - j->counted) * 1e6 / (double)f->rate_bytes_per_s);
    j->counted = wire;
}

static void rate_wait(struct fetcher *f)
{
    timer_set(f->rate_timer, (f->rate_free_us - clock_mono_us()) / 1000 + 1);
}

/* What curl delivers. */

/* The head is complete: is the body worth reading? */
static bool take_body(struct job *j)
{
    struct span length = heads_get(&j->heads, HEAD_CONTENT_LENGTH);
    if (!span_u64(length, INT64_MAX, &j->declared_bytes))
        j->declared_bytes = 0;
    int code = j->heads.http_status;
    if (j->is_head || code == 304 || code == 204)
        return true;
    j->is_unwanted = !j->any_type && !type_is_page(heads_get(&j->heads, HEAD_CONTENT_TYPE));
    return !j->is_unwanted || j->declared_bytes <= DROP_BYTES_MAX;
}

static size_t on_head(char *p, size_t size, size_t n, void *arg)
{
    struct job *j = arg;
    bool was_complete = j->heads.is_complete;
    n *= size;
    heads_line(&j->heads, span_of(p, n));
    if (j->heads.bytes > j->owner->header_bytes_max) {
        j->verdict = JOB_HEAD_TOO_LONG;
        return 0;
    }
    if (j->heads.is_complete && !was_complete && !take_body(j)) {
        j->verdict = JOB_DROPPED;
        return 0;
    }
    return n;
}

static uint64_t wire_bytes(const struct job *j)
{
    curl_off_t wire = 0;
    curl_easy_getinfo(j->easy, CURLINFO_SIZE_DOWNLOAD_T, &wire);
    return (uint64_t)wire;
}

static bool is_bomb(const struct job *j, uint64_t wire)
{
    return j->body.n > RATIO_FREE_BYTES && j->body.n / j->owner->ratio_max > wire;
}

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
    struct job *j = arg;
    struct fetcher *f = j->owner;
    n *= size;
    if (f->rate_bytes_per_s) {
        if (rate_is_spent(f)) {
            j->is_paused = true;
            rate_wait(f);
            return CURL_WRITEFUNC_PAUSE;
        }
        rate_count(f, j);
    }
    if (j->is_unwanted) {
        j->dropped_bytes += n;
        if (j->dropped_bytes <= DROP_BYTES_MAX)
            return n;
        j->verdict = JOB_DROPPED;
        return 0;
    }
    size_t room = f->body_bytes_max - j->body.n;
    buf_put(&j->body, span_of(p, n < room ? n : room));
    if (n > room) {
        j->verdict = JOB_CUT;
        return 0;
    }
    /* Curl counts a piece after it has been decoded and delivered, hence the allowance; the end is judged exactly. */
    if (j->body.n > RATIO_FREE_BYTES && is_bomb(j, wire_bytes(j) + RECEIVE_BYTES)) {
        j->verdict = JOB_BOMB;
        return 0;
    }
    return n;
}

/* Jobs. */

static void job_free(struct job *j)
{
    curl_easy_cleanup(j->easy);
    heads_done(&j->heads);
    buf_done(&j->url);
    buf_done(&j->body);
    buf_done(&j->condition_text[0]);
    buf_done(&j->condition_text[1]);
    free(j);
}

static void set_constants(struct fetcher *f, struct job *j)
{
    CURL *e = j->easy;
    curl_easy_setopt(e, CURLOPT_PRIVATE, j);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L); /* the URL is normalised */
    curl_easy_setopt(e, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(e, CURLOPT_BUFFERSIZE, (long)RECEIVE_BYTES);
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, ""); /* decode; what is sent stands in f->headers */
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, f->headers);
    curl_easy_setopt(e, CURLOPT_PROXY, f->proxy ? f->proxy : "");
    curl_easy_setopt(e, CURLOPT_NOPROXY, "");
    curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    if (f->ca_file)
        curl_easy_setopt(e, CURLOPT_CAINFO, f->ca_file);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, f->insecure ? 0L : 1L);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, f->insecure ? 0L : 2L);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, j);
    curl_easy_setopt(e, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(e, CURLOPT_CLOSESOCKETDATA, f);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_head);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, j);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, j);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, j->error);
    if (!f->proxy) {
        j->connect_to.data = j->connect_text;
        curl_easy_setopt(e, CURLOPT_CONNECT_TO, &j->connect_to);
    }
}

static struct job *job_new(struct fetcher *f)
{
    struct job *j = mem_alloc(sizeof(*j));
    j->owner = f;
    j->easy = curl_easy_init();
    assert(j->easy);
    set_constants(f, j);
    return j;
}

/* "If-None-Match: ..." unless the stored value could not have come from a header. */
static bool set_condition(struct buf *to, struct span name, struct span value)
{
    if (value.n == 0 || value.n > CONDITION_BYTES_MAX)
        return false;
    for (size_t i = 0; i < value.n; i++)
        if ((unsigned char)value.p[i] < ' ' && value.p[i] != '\t')
            return false;
    buf_clear(to);
    buf_put(to, name);
    buf_put(to, value);
    (void)buf_cstr(to);
    return true;
}

static void set_conditions(struct fetcher *f, struct job *j, const struct fetch_req *req)
{
    struct curl_slist *first = f->headers;
    const struct span names[2] = {SPAN("If-Modified-Since: "), SPAN("If-None-Match: ")};
    const struct span values[2] = {req->last_modified, req->etag};
    for (int i = 0; i < 2; i++)
        if (set_condition(&j->condition_text[i], names[i], values[i])) {
            j->conditions[i] = (struct curl_slist){j->condition_text[i].p, first};
            first = &j->conditions[i];
        }
    bool has = first != f->headers;
    if (has || j->has_conditions_set)
        curl_easy_setopt(j->easy, CURLOPT_HTTPHEADER, first);
    j->has_conditions_set = has;
}

/* Finds what no connection should be made for. */
static void judge(struct fetcher *f, struct job *j, struct span url)
{
    int port = fetch_url_port(url, &j->is_https);
    j->early = ST_OK;
    if (port < 0 || url.n > URL_BYTES_MAX || memchr(url.p, '\0', url.n)) {
        j->early = ST_INVALID;
        j->early_why = "not an http or https URL";
    } else if (port_is_bad(port)) {
        j->early = ST_REFUSED;
        j->early_why = "port not allowed";
    } else if (!f->proxy && !fetch_guard_allows(&f->guard, &j->addr)) {
        j->early = ST_REFUSED;
        j->early_why = "address not allowed";
    }
}

static void job_prepare(struct fetcher *f, struct job *j, const struct fetch_req *req)
{
    j->done = req->done;
    j->arg = req->arg;
    j->any_type = req->any_type;
    j->is_head = req->is_head;
    j->dropped_bytes = j->declared_bytes = 0;
    j->is_unwanted = j->is_paused = false;
    j->verdict = JOB_GOES_ON;
    j->counted = 0;
    j->error[0] = '\0';
    heads_clear(&j->heads);
    j->heads.keeps_lines = req->keep_headers;
    buf_clear(&j->body);
    bool has_new_addr = !addr_eq(&j->addr, &req->addr) || !j->connect_text[0];
    j->addr = req->addr;
    judge(f, j, req->url);
    if (j->early != ST_OK)
        return;
    buf_clear(&j->url);
    buf_put(&j->url, req->url);
    set_conditions(f, j, req);
    if (!f->proxy && has_new_addr) {
        char text[ADDR_TEXT_MAX];
        addr_format(&j->addr, text);
        snprintf(j->connect_text, sizeof(j->connect_text), j->addr.family == 6 ? "::[%s]:" : "::%s:", text);
    }
}

static void scan_later(struct fetcher *f)
{
    if (!f->is_scanning)
        timer_set(f->scan_timer, f->scan_ms);
    f->is_scanning = true;
}

static void job_start(struct fetcher *f, struct job *j)
{
    CURL *e = j->easy;
    curl_easy_setopt(e, CURLOPT_URL, buf_cstr(&j->url));
    if (j->is_head != j->is_head_set)
        curl_easy_setopt(e, j->is_head ? CURLOPT_NOBODY : CURLOPT_HTTPGET, 1L);
    j->is_head_set = j->is_head;
    /* Over TLS the first connection tells whether a second is needed; without, waiting for it would gain nothing. */
    if (j->is_https != j->is_https_set)
        curl_easy_setopt(e, CURLOPT_PIPEWAIT, j->is_https ? 1L : 0L);
    j->is_https_set = j->is_https;
    j->started = loop_now(f->loop);
    list_push(&f->active, j);
    f->active_count++;
    scan_later(f);
    CURLMcode rc = curl_multi_add_handle(f->multi, e);
    assert(rc == CURLM_OK);
}

static void start_waiting(struct fetcher *f)
{
    if (f->waiting.first && rate_is_spent(f)) {
        rate_wait(f);
        return;
    }
    while (f->waiting.first && f->active_count < f->connections_max)
        job_start(f, list_pop(&f->waiting));
}

/* Hands the job back to the pool after its caller was told. False: the fetcher was freed by the caller. */
static bool job_report(struct fetcher *f, struct job *j, const struct fetch_result *r)
{
    bool freed = false, *outer = f->freed;
    f->freed = &freed;
    f->in_flight--;
    j->done(j->arg, r);
    if (j->body.cap > KEEP_BUF_BYTES)
        buf_done(&j->body);
    if (freed) {
        job_free(j);
        if (outer)
            *outer = true;
        return false;
    }
    f->freed = outer;
    j->next = f->pool;
    f->pool = j;
    return true;
}

static status status_of_curl(CURLcode rc)
{
    switch (rc) {
    case CURLE_OK:
        return ST_OK;
    case CURLE_OPERATION_TIMEDOUT:
        return ST_TIMEOUT;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY: /* only a proxy's name is curl's to resolve */
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_NO_CONNECTION_AVAILABLE:
        return ST_CONNECT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_SSL_ENGINE_SETFAILED:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_SHUTDOWN_FAILED:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_CLIENTCERT:
        return ST_TLS;
    case CURLE_URL_MALFORMAT:
        return ST_INVALID;
    default:
        return ST_PROTOCOL; /* weird reply, bad chunk, short body, HTTP/0.9, HTTP/2 framing, bad encoding */
    }
}

static void judge_end(const struct job *j, CURLcode rc, struct fetch_result *r)
{
    static const struct {
        status st;
        const char *why;
    } ends[] = {
        [JOB_CUT] = {ST_OK, ""},
        [JOB_DROPPED] = {ST_OK, ""},
        [JOB_HEAD_TOO_LONG] = {ST_LIMIT, "headers too long"},
        [JOB_BOMB] = {ST_LIMIT, "decompresses to too much"},
        [JOB_REFUSED] = {ST_REFUSED, "address not allowed"},
    };
    if (j->verdict != JOB_GOES_ON) {
        r->st = ends[j->verdict].st;
        r->why = ends[j->verdict].why;
    } else if (rc == CURLE_OK && is_bomb(j, r->wire_bytes)) {
        r->st = ST_LIMIT;
        r->why = ends[JOB_BOMB].why;
    } else if (rc == CURLE_OK && !j->heads.is_complete) { /* curl takes a head that was cut for a short one */
        r->st = ST_PROTOCOL;
        r->why = "response head was cut off";
    } else {
        /* Curl says the same of a bad chunk as of a lost connection. */
        r->st = rc == CURLE_RECV_ERROR && j->heads.bytes ? ST_PROTOCOL : status_of_curl(rc);
        r->why = rc == CURLE_OK ? "" : j->error[0] ? j->error : curl_easy_strerror(rc);
    }
    r->body_cut = j->verdict == JOB_CUT;
}

static int32_t elapsed(CURL *e, CURLINFO info)
{
    curl_off_t us = 0;
    curl_easy_getinfo(e, info, &us);
    return us > INT32_MAX ? INT32_MAX : (int32_t)us;
}

static void fill_timing(struct job *j, struct fetch_result *r)
{
    long connects = 0;
    curl_easy_getinfo(j->easy, CURLINFO_NUM_CONNECTS, &connects);
    int32_t first = elapsed(j->easy, CURLINFO_STARTTRANSFER_TIME_T);
    r->reused = connects == 0 && first > 0;
    r->timing.first_byte_us = first > 0 ? first : -1;
    r->timing.total_us = elapsed(j->easy, CURLINFO_TOTAL_TIME_T);
    if (r->reused)
        return;
    int32_t connect = elapsed(j->easy, CURLINFO_CONNECT_TIME_T);
    int32_t tls = elapsed(j->easy, CURLINFO_APPCONNECT_TIME_T);
    r->timing.connect_us = connect > 0 ? connect - elapsed(j->easy, CURLINFO_NAMELOOKUP_TIME_T) : -1;
    r->timing.tls_us = tls > 0 ? tls - connect : j->is_https ? -1 : 0;
}

static void fill_heads(const struct job *j, struct fetch_result *r)
{
    const struct heads *h = &j->heads;
    r->http_status = h->http_status;
    r->http_version = h->http_version;
    r->content_type = heads_get(h, HEAD_CONTENT_TYPE);
    r->etag = heads_get(h, HEAD_ETAG);
    r->last_modified = heads_get(h, HEAD_LAST_MODIFIED);
    r->location = heads_get(h, HEAD_LOCATION);
    r->retry_after = heads_get(h, HEAD_RETRY_AFTER);
    r->date = heads_get(h, HEAD_DATE);
    r->content_encoding = heads_get(h, HEAD_CONTENT_ENCODING);
    r->robots_tags = heads_get(h, HEAD_ROBOTS_TAGS);
    r->link_canonical = heads_get(h, HEAD_LINK_CANONICAL);
    r->headers = buf_span(&h->lines);
    r->body_unwanted = j->is_unwanted;
    r->declared_bytes = j->declared_bytes;
}

static struct addr proxy_addr(struct job *j)
{
    struct addr a = {0};
    const char *ip = NULL;
    curl_easy_getinfo(j->easy, CURLINFO_PRIMARY_IP, &ip);
    if (addr_parse(span_str(ip), &a) != ST_OK)
        a.family = 0;
    return a;
}

/* Takes the job from curl and calls back. `st`: why we stopped it, or ST_OK when curl ended with `rc`. */
static bool job_finish(struct fetcher *f, struct job *j, CURLcode rc, status st, const char *why)
{
    struct fetch_result r = {.wire_bytes = wire_bytes(j)};
    fill_timing(j, &r);
    fill_heads(j, &r);
    r.addr = f->proxy ? proxy_addr(j) : j->addr;
    if (f->rate_bytes_per_s)
        rate_count(f, j);
    judge_end(j, rc, &r);
    if (st != ST_OK) {
        r.st = st;
        r.why = why;
    }
    if (r.st == ST_OK || r.st == ST_PROTOCOL)
        r.body = buf_span(&j->body);
    curl_multi_remove_handle(f->multi, j->easy);
    list_remove(&f->active, j);
    f->active_count--;
    return job_report(f, j, &r);
}

static bool report_early(struct fetcher *f, struct job *j)
{
    struct fetch_result r = {.st = j->early, .why = j->early_why, .addr = j->addr, .timing = {-1, -1, -1, 0}};
    return job_report(f, j, &r);
}

static void drain(struct fetcher *f)
{
    int left;
    CURLMsg *m;
    while ((m = curl_multi_info_read(f->multi, &left))) {
        struct job *j = NULL;
        if (m->msg != CURLMSG_DONE)
            continue;
        CURLcode rc = m->data.result;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &j);
        if (!job_finish(f, j, rc, ST_OK, ""))
            return;
    }
    start_waiting(f);
}

static void on_ready(void *arg)
{
    struct fetcher *f = arg;
    struct job *last = f->ready.last; /* what the callbacks add is for the next turn */
    for (bool more = last != NULL; more;) {
        struct job *j = list_pop(&f->ready);
        more = j != last;
        if (!report_early(f, j))
            return;
    }
    if (f->ready.first)
        timer_set(f->ready_timer, 0);
}

/* Too slow jobs. Those that are still connecting have no PRETRANSFER time yet. */
static const char *overdue(const struct fetcher *f, struct job *j, mono_ms now)
{
    int64_t age = now - j->started;
    if (age >= f->total_ms)
        return "took too long";
    if (age >= f->first_byte_ms && j->heads.bytes == 0)
        return "no answer in time";
    if (age >= f->connect_ms && j->heads.bytes == 0 && elapsed(j->easy, CURLINFO_PRETRANSFER_TIME_T) == 0)
        return "no connection in time";
    return NULL;
}

static void on_scan(void *arg)
{
    struct fetcher *f = arg;
    mono_ms now = loop_now(f->loop);
    f->is_scanning = false;
    struct job *j = f->active.first;
    while (j) {
        const char *why = overdue(f, j, now);
        if (!why) {
            j = j->next;
            continue;
        }
        if (!job_finish(f, j, CURLE_OK, ST_TIMEOUT, why))
            return;
        j = f->active.first; /* the callback may have changed the list; what was passed over is looked at again */
    }
    start_waiting(f);
    if (f->active.first)
        scan_later(f);
}

static void on_rate(void *arg)
{
    struct fetcher *f = arg;
    if (rate_is_spent(f)) {
        rate_wait(f);
        return;
    }
    for (struct job *j = f->active.first; j && !rate_is_spent(f); j = j->next)
        if (j->is_paused) {
            j->is_paused = false;
            curl_easy_pause(j->easy, CURLPAUSE_CONT);
        }
    for (struct job *j = f->active.first; j; j = j->next)
        if (j->is_paused) {
            rate_wait(f);
            break;
        }
    curl_watch_run(f->watch);
}

void fetcher_get(struct fetcher *f, const struct fetch_req *req)
{
    struct job *j = f->pool;
    if (j)
        f->pool = j->next;
    else
        j = job_new(f);
    f->in_flight++;
    job_prepare(f, j, req);
    if (j->early != ST_OK) {
        list_push(&f->ready, j);
        timer_set(f->ready_timer, 0);
        return;
    }
    list_push(&f->waiting, j);
    start_waiting(f);
}

unsigned fetcher_active(const struct fetcher *f)
{
    return f->in_flight;
}

/* The fetcher. */

static char *copy_or_null(struct span s)
{
    return s.n ? mem_str(s) : NULL;
}

static void add_header(struct fetcher *f, const char *name, struct span value)
{
    struct buf line = {0};
    buf_puts(&line, name);
    buf_put(&line, value);
    f->headers = curl_slist_append(f->headers, buf_cstr(&line));
    buf_done(&line);
}

/* What curl can decode, by its own telling; the same list as it would send. */
static struct span encodings(void)
{
    int features = curl_version_info(CURLVERSION_NOW)->features;
    bool has_br = features & CURL_VERSION_BROTLI, has_zstd = features & CURL_VERSION_ZSTD;
    if (has_br && has_zstd)
        return SPAN("gzip, deflate, br, zstd");
    return has_br ? SPAN("gzip, deflate, br") : has_zstd ? SPAN("gzip, deflate, zstd") : SPAN("gzip, deflate");
}

/* Curl writes its own headers twice, a character at a time, and lines of ours once; that was a tenth of a request. */
static void set_headers(struct fetcher *f, const struct fetcher_opts *opts)
{
    add_header(f, "Accept: ", SPAN("text/html,application/xhtml+xml,*/*;q=0.8"));
    add_header(f, "Accept-Encoding: ", encodings());
    if (opts->user_agent.n)
        add_header(f, "User-Agent: ", opts->user_agent);
    for (size_t i = 0; i < opts->header_count; i++)
        add_header(f, "", opts->headers[i]);
}

static void set_opts(struct fetcher *f, const struct fetcher_opts *opts)
{
    f->proxy = copy_or_null(opts->proxy);
    f->ca_file = copy_or_null(opts->ca_file);
    f->insecure = opts->insecure;
    f->connect_ms = opts->connect_ms ? opts->connect_ms : 10000;
    f->first_byte_ms = opts->first_byte_ms ? opts->first_byte_ms : 30000;
    f->total_ms = opts->total_ms ? opts->total_ms : 120000;
    f->header_bytes_max = opts->header_bytes_max ? opts->header_bytes_max : 64u << 10;
    f->body_bytes_max = opts->body_bytes_max ? opts->body_bytes_max : 16u << 20;
    f->ratio_max = opts->ratio_max ? opts->ratio_max : 200;
    f->rate_bytes_per_s = opts->rate_bytes_per_s;
    f->connections_max = opts->connections_max ? opts->connections_max : 128;
    int least = f->connect_ms < f->first_byte_ms ? f->connect_ms : f->first_byte_ms;
    least = f->total_ms < least ? f->total_ms : least;
    f->scan_ms = least / 4 < SCAN_MS ? least / 4 + 1 : SCAN_MS;
}

status fetcher_new(struct loop *l, const struct fetcher_opts *opts, struct fetcher **out)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return ST_IO;
    CURLM *multi = curl_multi_init();
    if (!multi)
        return ST_IO;
    struct fetcher *f = mem_alloc(sizeof(*f));
    f->loop = l;
    f->multi = multi;
    set_opts(f, opts);
    set_headers(f, opts);
    fetch_guard_init(&f->guard, opts->allow_private);
    f->watch = curl_watch_new(l, multi, on_curl_ran, f);
    f->scan_timer = timer_new(l, on_scan, f);
    f->ready_timer = timer_new(l, on_ready, f);
    f->rate_timer = timer_new(l, on_rate, f);
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)f->connections_max * IDLE_PER_ACTIVE);
    *out = f;
    return ST_OK;
}

static void cancel(struct job *j)
{
    struct fetch_result r = {.st = ST_CANCELLED, .why = "cancelled", .addr = j->addr, .timing = {-1, -1, -1, -1}};
    j->done(j->arg, &r);
    job_free(j);
}

void fetcher_free(struct fetcher *f)
{
    if (!f)
        return;
    if (f->freed)
        *f->freed = true;
    struct job *j;
    while ((j = list_pop(&f->active))) {
        curl_multi_remove_handle(f->multi, j->easy);
        cancel(j);
    }
    while ((j = list_pop(&f->waiting)) || (j = list_pop(&f->ready)))
        cancel(j);
    while ((j = f->pool)) {
        f->pool = j->next;
        job_free(j);
    }
    curl_multi_cleanup(f->multi); /* closes the connections, and so the watches */
    curl_watch_free(f->watch);
    timer_free(f->scan_timer);
    timer_free(f->ready_timer);
    timer_free(f->rate_timer);
    curl_slist_free_all(f->headers);
    free(f->proxy);
    free(f->ca_file);
    free(f);
    curl_global_cleanup();
}
