/* One request from start to end:
 *
 *   fetcher_get        fills in a job from the pool; jobs past connections_max wait in a queue. Calls nobody back.
 *   job_start          http: without a proxy goes by plain.h, all else by curl
 *   job_take_line, _piece  collect the response and hold the ceilings; a job that passes one is stopped by refusing its
 *                      data
 *   job_finish         it has ended one way or the other: the result is put together, and the caller told
 *
 * Timeouts are ours, by one look at all jobs every so often: curl's would cost it a few tree operations a request. */
#include "io/fetcher.h"

#include <stdlib.h>

#include "base/mem.h"
#include "io/clock.h"
#include "io/fetch_job.h"
#include "io/fetch_request.h"

#define URL_BYTES_MAX (64u << 10)
#define KEEP_BUF_BYTES (256u << 10) /* a body buffer larger than this is not kept for the next response */
#define SCAN_MS 500
#define IDLE_PER_ACTIVE 4 /* connections kept open, as a multiple of connections_max */

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

/* Jobs. */

static void job_free(struct job *j)
{
    curl_easy_cleanup(j->easy);
    coding_free(j->coding);
    buf_done(&j->request);
    heads_done(&j->heads);
    buf_done(&j->url);
    buf_done(&j->body);
    fetch_raw_done(&j->raw);
    buf_done(&j->condition_text[0]);
    buf_done(&j->condition_text[1]);
    free(j);
}

static struct job *job_new(struct fetcher *f)
{
    struct job *j = mem_alloc(sizeof(*j));
    j->owner = f;
    return j;
}

/* Finds what no connection should be made for. */
static void judge(struct fetcher *f, struct job *j, struct span url)
{
    int port = fetch_url_port(url, &j->is_https);
    j->early = ST_OK;
    j->call.port = port;
    if (port < 0 || url.n > URL_BYTES_MAX || !fetch_url_is_clean(url)) {
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
    j->wants = req->wants;
    j->is_head = req->is_head;
    j->dropped_bytes = j->declared_bytes = 0;
    j->is_unwanted = j->is_paused = false;
    j->verdict = JOB_GOES_ON;
    j->counted = 0;
    j->error[0] = '\0';
    heads_clear(&j->heads);
    j->heads.keeps_lines = req->keep_headers;
    buf_clear(&j->body);
    if (j->raw.is_on || req->keep_raw)
        fetch_raw_begin(&j->raw, req->keep_raw);
    coding_free(j->coding);
    j->coding = NULL;
    j->has_coding = false;
    j->addr = req->addr;
    judge(f, j, req->url);
    if (j->early != ST_OK)
        return;
    buf_clear(&j->url);
    buf_put(&j->url, req->url);
    fetch_condition(&j->condition_text[0], SPAN("If-Modified-Since: "), req->last_modified);
    fetch_condition(&j->condition_text[1], SPAN("If-None-Match: "), req->etag);
    j->is_plain = !f->proxy && !j->is_https && fetch_url_host(buf_span(&j->url), &j->call.host);
}

static void scan_later(struct fetcher *f)
{
    if (!f->is_scanning)
        timer_set(f->scan_timer, f->scan_ms);
    f->is_scanning = true;
}

static void job_start(struct fetcher *f, struct job *j)
{
    j->started = loop_now(f->loop);
    list_push(&f->active, j);
    f->active_count++;
    scan_later(f);
    if (j->is_plain)
        plain_job_start(f, j);
    else
        curl_job_start(f, j);
}

void fetch_start_waiting(struct fetcher *f)
{
    if (f->waiting.first && fetch_rate_is_spent(f)) {
        fetch_rate_wait(f);
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

/* `st`, `why`: how it ended but for what we found ourselves. */
static void judge_end(const struct job *j, status st, const char *why, struct fetch_result *r)
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
        [JOB_BAD_CODING] = {ST_PROTOCOL, "not coded as Content-Encoding says"},
    };
    if (j->verdict != JOB_GOES_ON) {
        r->st = ends[j->verdict].st;
        r->why = ends[j->verdict].why;
    } else if (st == ST_OK && job_is_bomb(j, r->wire_bytes)) {
        r->st = ST_LIMIT;
        r->why = ends[JOB_BOMB].why;
    } else if (st == ST_OK && j->raw.is_bad && !j->is_unwanted) {
        r->st = ends[JOB_BAD_CODING].st;
        r->why = ends[JOB_BAD_CODING].why;
    } else if (st == ST_OK && !j->heads.is_complete) { /* curl takes a head that was cut for a short one */
        r->st = ST_PROTOCOL;
        r->why = "response head was cut off";
    } else {
        r->st = st;
        r->why = why;
    }
    /* Of an answer that is no page the head says all: where a redirect leads, that something is gone. */
    if (r->st == ST_PROTOCOL && j->heads.is_complete && r->http_status / 100 != 2) {
        r->st = ST_OK;
        r->why = "";
    }
    r->body_cut = j->verdict == JOB_CUT && !j->is_unwanted;
    r->body_short = r->st == ST_PROTOCOL && st == r->st && j->verdict == JOB_GOES_ON && j->heads.is_complete;
}

static void fill_heads(const struct job *j, struct fetch_result *r)
{
    heads_fill(&j->heads, r);
    r->headers = buf_span(&j->heads.lines);
    r->body_unwanted = j->is_unwanted;
    r->declared_bytes = j->declared_bytes;
}

static void job_stop(struct fetcher *f, struct job *j)
{
    if (j->is_plain)
        plain_stop(f->plain, &j->call);
    else
        curl_job_stop(f, j);
}

bool job_finish(struct fetcher *f, struct job *j, status st, const char *why)
{
    struct fetch_result r = {.wire_bytes = job_wire_bytes(j)};
    if (j->is_plain)
        plain_job_timing(j, &r);
    else
        curl_job_timing(j, &r);
    fill_heads(j, &r);
    r.addr = f->proxy ? curl_job_addr(j) : j->addr;
    if (f->rate_bytes_per_s)
        fetch_rate_count(f, j);
    judge_end(j, st, why, &r);
    if (r.st == ST_OK || r.st == ST_PROTOCOL)
        r.body = buf_span(&j->body);
    r.has_raw = j->raw.is_on && j->heads.is_complete && r.st != ST_LIMIT && r.st != ST_CANCELLED;
    if (r.has_raw) {
        fetch_request_hide(&j->raw.request);
        r.request = buf_span(&j->raw.request);
        r.head = buf_span(&j->raw.head);
        r.raw = buf_span(&j->raw.body);
        r.raw_cut = j->raw.is_cut;
        r.raw_broken = st != ST_OK && j->verdict == JOB_GOES_ON;
    }
    job_stop(f, j);
    list_remove(&f->active, j);
    f->active_count--;
    return job_report(f, j, &r);
}

static bool report_early(struct fetcher *f, struct job *j)
{
    struct fetch_result r = {.st = j->early, .why = j->early_why, .addr = j->addr, .timing = {-1, -1, -1, 0, -1}};
    return job_report(f, j, &r);
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

static bool is_connected(const struct job *j)
{
    return j->is_plain ? j->call.reused || j->call.connected_us : curl_job_is_connected(j);
}

/* Too slow jobs. */
static const char *overdue(const struct fetcher *f, struct job *j, mono_ms now)
{
    int64_t age = now - j->started;
    if (age >= f->total_ms)
        return "took too long";
    if (age >= f->first_byte_ms && j->heads.bytes == 0)
        return "no answer in time";
    if (age >= f->connect_ms && j->heads.bytes == 0 && !is_connected(j))
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
        if (!job_finish(f, j, ST_TIMEOUT, why))
            return;
        j = f->active.first; /* the callback may have changed the list; what was passed over is looked at again */
    }
    fetch_start_waiting(f);
    if (f->active.first)
        scan_later(f);
}

static void on_rate(void *arg)
{
    struct fetcher *f = arg;
    if (fetch_rate_is_spent(f)) {
        fetch_rate_wait(f);
        return;
    }
    for (struct job *j = f->active.first; j && !fetch_rate_is_spent(f); j = j->next)
        if (j->is_paused) {
            j->is_paused = false;
            if (j->is_plain)
                plain_go_on(f->plain, &j->call);
            else
                curl_job_go_on(j);
        }
    for (struct job *j = f->active.first; j; j = j->next)
        if (j->is_paused) {
            fetch_rate_wait(f);
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
    fetch_start_waiting(f);
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

static void add_header(struct fetch_headers *h, const char *name, struct span value)
{
    struct buf line = {0};
    buf_puts(&line, name);
    buf_put(&line, value);
    h->list = curl_slist_append(h->list, buf_cstr(&line));
    fetch_request_header(&h->text, buf_span(&line));
    buf_done(&line);
}

/* Curl writes its own headers twice, a character at a time, and lines of ours once; that was a tenth of a request. */
static void set_headers(struct fetch_headers *h, const struct fetcher_opts *opts, bool with_secrets)
{
    add_header(h, "Accept: ", SPAN("text/html,application/xhtml+xml,*/*;q=0.8"));
    add_header(h, "Accept-Encoding: ", SPAN("gzip, deflate, br, zstd")); /* codec/coding.h */
    if (opts->user_agent.n)
        add_header(h, "User-Agent: ", opts->user_agent);
    for (size_t i = 0; i < opts->header_count; i++)
        if (with_secrets || !fetch_header_is_secret(opts->headers[i]))
            add_header(h, "", opts->headers[i]);
}

static int compare_sites(const void *a, const void *b)
{
    return span_cmp(*(const struct span *)a, *(const struct span *)b);
}

static void set_secrets(struct fetcher *f, const struct fetcher_opts *opts)
{
    bool has = false;
    for (size_t i = 0; i < opts->header_count; i++)
        has |= fetch_header_is_secret(opts->headers[i]);
    set_headers(&f->all, opts, true);
    if (!has)
        return;
    set_headers(&f->open, opts, false);
    f->secret_sites = mem_alloc((opts->secret_site_count + 1) * sizeof(*f->secret_sites));
    for (; f->secret_site_count < opts->secret_site_count; f->secret_site_count++) {
        struct span site = opts->secret_sites[f->secret_site_count];
        f->secret_sites[f->secret_site_count] = span_of(mem_str(site), site.n);
    }
    qsort(f->secret_sites, f->secret_site_count, sizeof(*f->secret_sites), compare_sites);
}

const struct fetch_headers *job_headers(const struct fetcher *f, const struct job *j)
{
    if (!f->secret_sites)
        return &f->all;
    struct span site = fetch_url_site(buf_span(&j->url));
    return bsearch(&site, f->secret_sites, f->secret_site_count, sizeof(site), compare_sites) ? &f->all : &f->open;
}

static void headers_done(struct fetch_headers *h)
{
    curl_slist_free_all(h->list);
    buf_done(&h->text);
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
    f->idle_max = f->connections_max * IDLE_PER_ACTIVE;
    int least = f->connect_ms < f->first_byte_ms ? f->connect_ms : f->first_byte_ms;
    least = f->total_ms < least ? f->total_ms : least;
    f->scan_ms = least / 4 < SCAN_MS ? least / 4 + 1 : SCAN_MS;
}

static void free_opts(struct fetcher *f)
{
    free(f->proxy);
    free(f->ca_file);
    free(f);
}

status fetcher_new(struct loop *l, const struct fetcher_opts *opts, struct fetcher **out)
{
    struct fetcher *f = mem_alloc(sizeof(*f));
    f->loop = l;
    set_opts(f, opts);
    status st = fetch_curl_open(f);
    if (st != ST_OK) {
        free_opts(f);
        return st;
    }
    set_secrets(f, opts);
    fetch_guard_init(&f->guard, opts->allow_private);
    f->plain = plain_new(l, f->idle_max);
    f->scan_timer = timer_new(l, on_scan, f);
    f->ready_timer = timer_new(l, on_ready, f);
    f->rate_timer = timer_new(l, on_rate, f);
    *out = f;
    return ST_OK;
}

static void cancel(struct job *j)
{
    struct fetch_result r = {.st = ST_CANCELLED, .why = "cancelled", .addr = j->addr, .timing = {-1, -1, -1, -1, -1}};
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
        job_stop(f, j);
        cancel(j);
    }
    while ((j = list_pop(&f->waiting)) || (j = list_pop(&f->ready)))
        cancel(j);
    while ((j = f->pool)) {
        f->pool = j->next;
        job_free(j);
    }
    timer_free(f->scan_timer);
    timer_free(f->ready_timer);
    timer_free(f->rate_timer);
    plain_free(f->plain);
    fetch_curl_close(f);
    headers_done(&f->all);
    headers_done(&f->open);
    for (size_t i = 0; i < f->secret_site_count; i++)
        free((char *)f->secret_sites[i].p);
    free(f->secret_sites);
    free_opts(f);
}
