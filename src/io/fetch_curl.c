/* fetch_curl.c - jobs by libcurl: TLS, HTTP/2, proxies.
 *
 * Curl asks us to watch its sockets and for one timer (curl_watch.h); drain() takes finished handles from it after each
 * time it was run. What is the same for every request is set when a handle is made. */
#include <assert.h>
#include <stdio.h>

#include "io/curl_status.h"
#include "io/fetch_job.h"
#include "io/sockaddr.h"

#define RECEIVE_BYTES (32u << 10) /* no gain from more, and glibc tidies its heap at each free of 64 KiB */

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

static size_t on_head(char *p, size_t size, size_t n, void *arg)
{
    return job_take_line(arg, span_of(p, n * size)) ? n * size : 0;
}

static int on_debug(CURL *e, curl_infotype type, char *p, size_t n, void *arg)
{
    struct job *j = arg;
    if (type == CURLINFO_HEADER_OUT)
        fetch_raw_sent(&j->raw, span_of(p, n));
    return 0;
}

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
    struct job *j = arg;
    struct fetcher *f = j->owner;
    n *= size;
    if (f->rate_bytes_per_s) {
        if (fetch_rate_is_spent(f)) {
            j->is_paused = true;
            fetch_rate_wait(f);
            return CURL_WRITEFUNC_PAUSE;
        }
        fetch_rate_count(f, j);
    }
    return job_take_piece(j, span_of(p, n)) ? n : 0;
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
    curl_easy_setopt(e, CURLOPT_HTTP_CONTENT_DECODING, 0L); /* by coding.h, which forgives more */
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, f->all.list);
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
    curl_easy_setopt(e, CURLOPT_DEBUGFUNCTION, on_debug); /* called for raw answers only */
    curl_easy_setopt(e, CURLOPT_DEBUGDATA, j);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, j->error);
    if (!f->proxy) {
        j->connect_to.data = j->connect_text;
        curl_easy_setopt(e, CURLOPT_CONNECT_TO, &j->connect_to);
    }
}

static void set_conditions(struct fetcher *f, struct job *j)
{
    struct curl_slist *first = job_headers(f, j)->list;
    for (int i = 0; i < 2; i++)
        if (j->condition_text[i].n) {
            j->conditions[i] = (struct curl_slist){(char *)buf_cstr(&j->condition_text[i]), first};
            first = &j->conditions[i];
        }
    bool has = first != f->all.list;
    if (has || j->has_conditions_set)
        curl_easy_setopt(j->easy, CURLOPT_HTTPHEADER, first);
    j->has_conditions_set = has;
}

static void set_address(struct job *j)
{
    char text[ADDR_TEXT_MAX];
    if (j->connect_text[0] && addr_eq(&j->addr, &j->connect_addr))
        return;
    addr_format(&j->addr, text);
    snprintf(j->connect_text, sizeof(j->connect_text), j->addr.family == 6 ? "::[%s]:" : "::%s:", text);
    j->connect_addr = j->addr;
}

void curl_job_start(struct fetcher *f, struct job *j)
{
    if (!j->easy) {
        j->easy = curl_easy_init();
        assert(j->easy);
        set_constants(f, j);
    }
    CURL *e = j->easy;
    set_conditions(f, j);
    if (!f->proxy)
        set_address(j);
    curl_easy_setopt(e, CURLOPT_URL, buf_cstr(&j->url));
    if (j->is_head != j->is_head_set)
        curl_easy_setopt(e, j->is_head ? CURLOPT_NOBODY : CURLOPT_HTTPGET, 1L);
    j->is_head_set = j->is_head;
    if (j->raw.is_on != j->is_raw_set)
        curl_easy_setopt(e, CURLOPT_VERBOSE, j->raw.is_on ? 1L : 0L); /* for the request as it is sent */
    j->is_raw_set = j->raw.is_on;
    /* Over TLS the first connection tells whether a second is needed; without, waiting for it would gain nothing. */
    if (j->is_https != j->is_https_set)
        curl_easy_setopt(e, CURLOPT_PIPEWAIT, j->is_https ? 1L : 0L);
    j->is_https_set = j->is_https;
    if (j->is_fresh_set)
        curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, 0L);
    j->is_fresh_set = false;
    CURLMcode rc = curl_multi_add_handle(f->multi, e);
    assert(rc == CURLM_OK);
}

void curl_job_stop(struct fetcher *f, struct job *j)
{
    curl_multi_remove_handle(f->multi, j->easy);
}

void curl_job_go_on(struct job *j)
{
    curl_easy_pause(j->easy, CURLPAUSE_CONT);
}

uint64_t curl_job_wire_bytes(const struct job *j)
{
    curl_off_t wire = 0;
    curl_easy_getinfo(j->easy, CURLINFO_SIZE_DOWNLOAD_T, &wire);
    return (uint64_t)wire;
}

static int32_t elapsed(CURL *e, CURLINFO info)
{
    curl_off_t us = 0;
    curl_easy_getinfo(e, info, &us);
    return us > INT32_MAX ? INT32_MAX : (int32_t)us;
}

void curl_job_timing(struct job *j, struct fetch_result *r)
{
    long connects = 0;
    curl_easy_getinfo(j->easy, CURLINFO_NUM_CONNECTS, &connects);
    int32_t first = elapsed(j->easy, CURLINFO_STARTTRANSFER_TIME_T);
    r->reused = connects == 0 && first > 0;
    r->timing.first_byte_us = first > 0 ? first : -1;
    r->timing.total_us = elapsed(j->easy, CURLINFO_TOTAL_TIME_T);
    curl_socket_t fd = CURL_SOCKET_BAD;
    uint32_t path = curl_easy_getinfo(j->easy, CURLINFO_ACTIVESOCKET, &fd) == CURLE_OK && fd != CURL_SOCKET_BAD
                        ? socket_path_us(fd)
                        : 0;
    r->timing.path_us = path && path <= INT32_MAX ? (int32_t)path : -1;
    if (r->reused)
        return;
    int32_t connect = elapsed(j->easy, CURLINFO_CONNECT_TIME_T);
    int32_t tls = elapsed(j->easy, CURLINFO_APPCONNECT_TIME_T);
    r->timing.connect_us = connect > 0 ? connect - elapsed(j->easy, CURLINFO_NAMELOOKUP_TIME_T) : -1;
    if (r->timing.path_us < 0 && r->timing.connect_us > 0)
        r->timing.path_us = r->timing.connect_us; /* the server has closed it: nobody can be asked any more */
    r->timing.tls_us = tls > 0 ? tls - connect : j->is_https ? -1 : 0;
}

struct addr curl_job_addr(const struct job *j)
{
    struct addr a = {0};
    const char *ip = NULL;
    curl_easy_getinfo(j->easy, CURLINFO_PRIMARY_IP, &ip);
    if (addr_parse(span_str(ip), &a) != ST_OK)
        a.family = 0;
    return a;
}

bool curl_job_is_connected(const struct job *j)
{
    return elapsed(j->easy, CURLINFO_PRETRANSFER_TIME_T) > 0; /* none while it connects */
}

/* A connection that was kept and that the server has closed meanwhile. Curl makes another one by itself, but counts
 * that over the whole life of a handle, and lets the sixth such request fail: at a server that keeps connections for
 * less than our pause that is every sixth page. True: the job goes on, on a new connection. */
static bool starts_afresh(struct fetcher *f, struct job *j, CURLcode rc)
{
    long connects = 0;
    bool is_lost = rc == CURLE_SEND_ERROR || rc == CURLE_RECV_ERROR || rc == CURLE_GOT_NOTHING;
    if (!is_lost || j->heads.bytes || j->verdict != JOB_GOES_ON || j->is_fresh_set)
        return false;
    if (curl_easy_getinfo(j->easy, CURLINFO_NUM_CONNECTS, &connects) != CURLE_OK || connects)
        return false; /* it was a new one: that is the server's answer */
    j->is_fresh_set = true;
    j->error[0] = '\0';
    curl_multi_remove_handle(f->multi, j->easy);
    curl_easy_setopt(j->easy, CURLOPT_FRESH_CONNECT, 1L);
    CURLMcode added = curl_multi_add_handle(f->multi, j->easy);
    assert(added == CURLM_OK);
    return true;
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
        if (starts_afresh(f, j, rc))
            continue;
        /* Curl says the same of a bad chunk as of a lost connection. */
        status st = rc == CURLE_RECV_ERROR && j->heads.bytes ? ST_PROTOCOL : curl_status(rc);
        const char *why = rc == CURLE_OK ? "" : j->error[0] ? j->error : curl_easy_strerror(rc);
        if (!job_finish(f, j, st, why))
            return;
    }
    fetch_start_waiting(f);
}

static void on_curl_ran(void *arg)
{
    drain(arg);
}

status fetch_curl_open(struct fetcher *f)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return ST_IO;
    f->multi = curl_multi_init();
    if (!f->multi) {
        curl_global_cleanup();
        return ST_IO;
    }
    f->watch = curl_watch_new(f->loop, f->multi, on_curl_ran, f);
    curl_multi_setopt(f->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    curl_multi_setopt(f->multi, CURLMOPT_MAXCONNECTS, (long)f->idle_max);
    return ST_OK;
}

void fetch_curl_close(struct fetcher *f)
{
    curl_multi_cleanup(f->multi); /* closes the connections, and so the watches */
    curl_watch_free(f->watch);
    curl_global_cleanup();
}
