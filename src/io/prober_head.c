/* prober_head.c - a sample is one HEAD request by libcurl over a connection of its own. */
#include <stdio.h>

#include "io/curl_watch.h"
#include "io/curl_status.h"
#include "io/prober_internal.h"
#include "io/sockaddr.h"

#define HEAD_BYTES_MAX (64u << 10) /* all header lines of an answer */

static status status_of(CURLcode rc)
{
    return rc == CURLE_WRITE_ERROR ? ST_LIMIT : curl_status(rc); /* a write error is ours */
}

static int64_t elapsed_us(CURL *e, CURLINFO what)
{
    curl_off_t us = 0;
    curl_easy_getinfo(e, what, &us);
    return us;
}

static void conclude(struct probe *q, CURLcode rc)
{
    long code = 0, sent = 0, received = 0;
    curl_easy_getinfo(q->easy, CURLINFO_RESPONSE_CODE, &code);
    curl_easy_getinfo(q->easy, CURLINFO_REQUEST_SIZE, &sent);
    curl_easy_getinfo(q->easy, CURLINFO_HEADER_SIZE, &received);
    q->r.head_bytes += (uint64_t)(sent > 0 ? sent : 0) + (uint64_t)(received > 0 ? received : 0);
    if (rc != CURLE_OK || code == 0) {
        probe_sample(q, rc == CURLE_OK ? ST_PROTOCOL : status_of(rc), 0, 0);
        return;
    }
    int64_t path = elapsed_us(q->easy, CURLINFO_CONNECT_TIME_T) - elapsed_us(q->easy, CURLINFO_NAMELOOKUP_TIME_T);
    int64_t answer =
        elapsed_us(q->easy, CURLINFO_STARTTRANSFER_TIME_T) - elapsed_us(q->easy, CURLINFO_PRETRANSFER_TIME_T);
    if (q->socket_rtt_us && q->socket_rtt_us < path) /* as of a TCP probe */
        path = q->socket_rtt_us;
    q->r.http_status = (int)code;
    if (code == 429 || code == 503)
        probe_enough(q);
    probe_sample(q, ST_OK, path, answer - path);
}

static void on_ran(void *arg)
{
    struct prober *p = arg;
    CURLMsg *m;
    int left;
    while ((m = curl_multi_info_read(p->multi, &left))) {
        struct probe *q = NULL;
        if (m->msg != CURLMSG_DONE)
            continue;
        CURLcode rc = m->data.result;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &q);
        curl_multi_remove_handle(p->multi, q->easy);
        q->is_added = false;
        conclude(q, rc);
    }
}

/* ---- what curl asks and tells ---- */

static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct probe *q = arg;
    struct addr a = addr_of_sockaddr(&address->addr);
    if (!fetch_guard_allows(&q->owner->guard, &a))
        return CURL_SOCKET_BAD;
    q->socket = curl_watch_open(q->owner->curl, address->family, address->socktype, address->protocol);
    return q->socket;
}

static int close_socket(void *arg, curl_socket_t fd)
{
    struct prober *p = arg;
    return curl_watch_close(p->curl, fd);
}

/* The connection is there and nothing was asked yet: the server's time is in none of what the kernel has measured. */
static int on_connected(void *arg, char *ip, char *local_ip, int port, int local_port)
{
    struct probe *q = arg;
    q->socket_rtt_us = q->socket >= 0 ? probe_socket_rtt(q->socket, NULL) : 0;
    return CURL_PREREQFUNC_OK;
}

static size_t on_head(char *p, size_t size, size_t n, void *arg)
{
    struct probe *q = arg;
    q->head_bytes += n * size;
    return q->head_bytes <= HEAD_BYTES_MAX ? n * size : 0;
}

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
    return n * size; /* there is none */
}

/* ---- samples ---- */

static bool open_curl(struct prober *p)
{
    if (p->multi)
        return true;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return false;
    p->multi = curl_multi_init();
    if (!p->multi) {
        curl_global_cleanup();
        return false;
    }
    p->curl = curl_watch_new(p->loop, p->multi, on_ran, p);
    return true;
}

static bool open_easy(struct probe *q)
{
    struct prober *p = q->owner;
    CURL *e = q->easy = curl_easy_init();
    char text[ADDR_TEXT_MAX];
    if (!e)
        return false;
    addr_format(&q->req.addr, text);
    snprintf(q->connect_text, sizeof(q->connect_text), q->req.addr.family == 6 ? "::[%s]:" : "::%s:", text);
    q->connect_to.data = q->connect_text;
    curl_easy_setopt(e, CURLOPT_PRIVATE, q);
    curl_easy_setopt(e, CURLOPT_URL, buf_cstr(&q->url));
    curl_easy_setopt(e, CURLOPT_CONNECT_TO, &q->connect_to);
    curl_easy_setopt(e, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L); /* the URL is normalised */
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(e, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(e, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(e, CURLOPT_PROXY, "");
    if (p->user_agent)
        curl_easy_setopt(e, CURLOPT_USERAGENT, p->user_agent);
    if (p->ca_file)
        curl_easy_setopt(e, CURLOPT_CAINFO, p->ca_file);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, p->insecure ? 0L : 1L);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, p->insecure ? 0L : 2L);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, q);
    curl_easy_setopt(e, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(e, CURLOPT_CLOSESOCKETDATA, p);
    curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, on_connected);
    curl_easy_setopt(e, CURLOPT_PREREQDATA, q);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_head);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, q);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    return true;
}

static void begin(struct probe *q)
{
    q->socket = -1;
    q->socket_rtt_us = 0;
    q->head_bytes = 0;
    if (!open_curl(q->owner) || (!q->easy && !open_easy(q)) ||
        curl_multi_add_handle(q->owner->multi, q->easy) != CURLM_OK) {
        probe_sample(q, ST_IO, 0, 0);
        return;
    }
    q->is_added = true;
}

static void stop(struct probe *q)
{
    if (q->is_added)
        curl_multi_remove_handle(q->owner->multi, q->easy);
    q->is_added = false;
}

static void done(struct probe *q)
{
    curl_easy_cleanup(q->easy); /* NULL is fine */
    q->easy = NULL;
}

const struct probe_ops probe_head = {.begin = begin, .stop = stop, .done = done};

void probe_head_close(struct prober *p)
{
    if (!p->multi)
        return;
    curl_multi_cleanup(p->multi);
    curl_watch_free(p->curl);
    curl_global_cleanup();
}
