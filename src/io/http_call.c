#include "io/http_call.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <curl/curl.h>

#include "base/mem.h"
#include "io/curl_status.h"

#define CONNECT_TIMEOUT_DEFAULT_MS 10000
#define EXPECT_TIMEOUT_MS 5000 /* a server that never says "go on" gets the body after this */
#define WAIT_MS 60000          /* libcurl wakes up by its own timers before; a cancel wakes it at once */
#define SOCKETS_MAX 8          /* one a kept connection, and those that race while one is made */
/* The first two probes of a dead line; the third is its end, after some 90 seconds. A coordinator that answers late is
 * told from one that is gone. */
#define KEEPALIVE_IDLE_S 45
#define KEEPALIVE_EVERY_S 15

/* Where the kernel's struct tcp_info has its counters of stream bytes: an interface that only grows. (glibc's copy of
 * the struct ends before them.) */
#define TCP_INFO_OPTION 11
#define TCP_INFO_BYTES_RECEIVED 128
#define TCP_INFO_BYTES_SENT 200
#define TCP_INFO_BYTES 208

struct http_caller {
    CURLM *multi;
    CURL *easy;
    char *base, *pin, *user_agent; /* owned; pin NULL: none */
    int connect_timeout_ms;
    atomic_bool is_cancelled;
    int sockets[SOCKETS_MAX]; /* open ones; -1: free */
    uint64_t closed_sent, closed_received;

    /* of the call under way */
    struct http_answer *answer; /* borrowed */
    size_t answer_max;
    bool is_too_long;
};

/* ---- counting ---- */

static void add_counters(int fd, uint64_t *sent, uint64_t *received)
{
    char info[TCP_INFO_BYTES] = {0};
    socklen_t n = sizeof(info);
    uint64_t v;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO_OPTION, info, &n) != 0)
        return;
    memcpy(&v, info + TCP_INFO_BYTES_SENT, sizeof(v)); /* zero when the kernel is older than Linux 4.19 */
    *sent += v;
    memcpy(&v, info + TCP_INFO_BYTES_RECEIVED, sizeof(v));
    *received += v;
}

static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
    struct http_caller *c = arg;
    int fd = socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
    for (int i = 0; i < SOCKETS_MAX && fd >= 0; i++) {
        if (c->sockets[i] < 0) {
            c->sockets[i] = fd;
            break;
        }
    }
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

static int on_close(void *arg, curl_socket_t fd)
{
    struct http_caller *c = arg;
    for (int i = 0; i < SOCKETS_MAX; i++)
        if (c->sockets[i] == fd)
            c->sockets[i] = -1;
    add_counters(fd, &c->closed_sent, &c->closed_received);
    return close(fd);
}

static void count(const struct http_caller *c, uint64_t *sent, uint64_t *received)
{
    *sent = c->closed_sent;
    *received = c->closed_received;
    for (int i = 0; i < SOCKETS_MAX; i++)
        if (c->sockets[i] >= 0)
            add_counters(c->sockets[i], sent, received);
}

uint64_t http_caller_bytes_sent(const struct http_caller *c)
{
    uint64_t sent, received;
    count(c, &sent, &received);
    return sent;
}

uint64_t http_caller_bytes_received(const struct http_caller *c)
{
    uint64_t sent, received;
    count(c, &sent, &received);
    return received;
}

/* ---- what comes back ---- */

static size_t take_header(char *p, size_t size, size_t n, void *arg)
{
    struct http_caller *c = arg;
    struct span line = span_of(p, size * n);
    if (span_starts(line, SPAN("HTTP/")))
        buf_clear(&c->answer->head); /* the one before was "100 Continue" */
    if (c->answer->head.n + line.n > HTTP_CALL_HEAD_MAX) {
        c->is_too_long = true;
        return 0;
    }
    buf_put(&c->answer->head, line);
    return line.n;
}

static size_t take_body(char *p, size_t size, size_t n, void *arg)
{
    struct http_caller *c = arg;
    struct span part = span_of(p, size * n);
    if (part.n > c->answer_max - c->answer->body.n) {
        c->is_too_long = true;
        return 0;
    }
    buf_put(&c->answer->body, part);
    return part.n;
}

void http_answer_done(struct http_answer *a)
{
    buf_done(&a->head);
    buf_done(&a->body);
    *a = (struct http_answer){0};
}

struct span http_answer_header(const struct http_answer *a, const char *name)
{
    struct span rest = buf_span(&a->head), line;
    while (span_split(&rest, '\n', &line)) {
        size_t colon = span_find(line, ':', 0);
        if (colon < line.n && span_is_nocase(span_cut(line, 0, colon), name))
            return span_trim(span_from(line, colon + 1));
    }
    return SPAN("");
}

/* ---- the call ---- */

static status status_of(const struct http_caller *c, CURLcode code)
{
    if (c->is_too_long)
        return ST_LIMIT;
    switch (code) {
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        return ST_REFUSED;
    case CURLE_PARTIAL_FILE:
        return ST_CONNECT;
    case CURLE_GOT_NOTHING: /* hung up without an answer */
        return ST_PROTOCOL;
    default:
        return curl_status(code);
    }
}

/* Runs until the transfer ends or is cancelled. */
static status run(struct http_caller *c)
{
    if (curl_multi_add_handle(c->multi, c->easy) != CURLM_OK)
        return ST_IO;
    status st = ST_AGAIN;
    while (st == ST_AGAIN) {
        int running = 0, left;
        if (atomic_load(&c->is_cancelled)) {
            st = ST_CANCELLED;
            break;
        }
        if (curl_multi_perform(c->multi, &running) != CURLM_OK) {
            st = ST_IO;
            break;
        }
        for (CURLMsg *m; (m = curl_multi_info_read(c->multi, &left));)
            if (m->msg == CURLMSG_DONE)
                st = status_of(c, m->data.result);
        if (st == ST_AGAIN && curl_multi_poll(c->multi, NULL, 0, WAIT_MS, NULL) != CURLM_OK)
            st = ST_IO;
    }
    long status_code = 0, request_bytes = 0;
    curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status_code);
    curl_easy_getinfo(c->easy, CURLINFO_REQUEST_SIZE, &request_bytes);
    c->answer->status = (int)status_code;
    c->answer->was_sent = request_bytes > 0;
    curl_multi_remove_handle(c->multi, c->easy);
    return st;
}

static bool is_printable(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || (unsigned char)s.p[i] >= 0x7f)
            return false;
    return true;
}

static bool add_header(struct curl_slist **list, struct span text)
{
    size_t colon = span_find(text, ':', 0);
    if (colon == 0 || colon == text.n || !is_printable(span_cut(text, 0, colon)) || memchr(text.p, '\0', text.n) ||
        memchr(text.p, '\r', text.n) || memchr(text.p, '\n', text.n))
        return false;
    struct buf line = {0};
    buf_put(&line, text);
    if (span_trim(span_from(text, colon + 1)).n == 0) {
        line.n = colon;
        buf_putc(&line, ';'); /* libcurl's way to write a header without a value */
    }
    struct curl_slist *longer = curl_slist_append(*list, buf_cstr(&line));
    buf_done(&line);
    if (longer)
        *list = longer;
    return longer != NULL;
}

static bool has_header(const struct http_call *call, struct span name)
{
    for (size_t i = 0; i < call->header_count; i++)
        if (span_starts_nocase(call->headers[i], name))
            return true;
    return false;
}

/* The caller's, and "go on" for large bodies alone; what libcurl would add on its own account is kept out. */
static bool make_headers(const struct http_call *call, struct curl_slist **list)
{
    bool ok = true;
    for (size_t i = 0; ok && i < call->header_count; i++)
        ok = add_header(list, call->headers[i]);
    struct curl_slist *longer =
        curl_slist_append(*list, call->body.n > HTTP_CALL_EXPECT_MIN ? "Expect: 100-continue" : "Expect:");
    if (longer)
        *list = longer;
    ok = ok && longer;
    if (ok && !has_header(call, SPAN("content-type:"))) {
        longer = curl_slist_append(*list, "Content-Type:");
        if (longer)
            *list = longer;
        ok = longer != NULL;
    }
    return ok;
}

static void set_server(struct http_caller *c)
{
    CURL *e = c->easy;
    curl_easy_setopt(e, CURLOPT_USERAGENT, c->user_agent);
    curl_easy_setopt(e, CURLOPT_PROXY, "");
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)c->connect_timeout_ms);
    curl_easy_setopt(e, CURLOPT_EXPECT_100_TIMEOUT_MS, (long)EXPECT_TIMEOUT_MS);
    curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(e, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_IDLE_S);
    curl_easy_setopt(e, CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_EVERY_S);
    /* The pin says whose key it is; who signed the certificate, for which name and until when says nothing to us. */
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (c->pin)
        curl_easy_setopt(e, CURLOPT_PINNEDPUBLICKEY, c->pin);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, c);
    curl_easy_setopt(e, CURLOPT_CLOSESOCKETFUNCTION, on_close);
    curl_easy_setopt(e, CURLOPT_CLOSESOCKETDATA, c);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, c);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, c);
}

static void set_request(struct http_caller *c, const struct http_call *call, const char *url,
                        struct curl_slist *headers)
{
    CURL *e = c->easy;
    curl_easy_setopt(e, CURLOPT_URL, url);
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)call->timeout_ms);
    bool is_get = strcmp(call->method, "GET") == 0, is_head = strcmp(call->method, "HEAD") == 0;
    if (call->body.n == 0 && (is_get || is_head)) {
        curl_easy_setopt(e, CURLOPT_HTTPGET, 1L);
        curl_easy_setopt(e, CURLOPT_NOBODY, is_head ? 1L : 0L);
        return;
    }
    curl_easy_setopt(e, CURLOPT_POST, 1L);
    curl_easy_setopt(e, CURLOPT_POSTFIELDS, call->body.n ? call->body.p : "");
    curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.n);
    curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, call->method);
}

status http_call(struct http_caller *c, const struct http_call *call, struct http_answer *out)
{
    buf_clear(&out->head);
    buf_clear(&out->body);
    out->status = 0;
    out->was_sent = false;
    struct span method = span_str(call->method);
    if (call->target.n == 0 || call->target.p[0] != '/' || call->target.n > HTTP_CALL_TARGET_MAX ||
        !is_printable(call->target) || memchr(call->target.p, '#', call->target.n) || method.n == 0 ||
        !is_printable(method))
        return ST_INVALID;
    struct curl_slist *headers = NULL;
    struct buf url = {0};
    status st = ST_INVALID;
    if (make_headers(call, &headers)) {
        buf_puts(&url, c->base);
        buf_put(&url, call->target);
        c->answer = out;
        c->answer_max = call->answer_max;
        c->is_too_long = false;
        /* All options anew: nothing of the call before is left. The connections belong to the multi handle. */
        curl_easy_reset(c->easy);
        set_server(c);
        set_request(c, call, buf_cstr(&url), headers);
        st = run(c);
        c->answer = NULL;
    }
    curl_slist_free_all(headers);
    buf_done(&url);
    return st;
}

void http_caller_cancel(struct http_caller *c)
{
    atomic_store(&c->is_cancelled, true);
    curl_multi_wakeup(c->multi);
}

/* ---- life ---- */

static bool is_base(struct span base)
{
    struct span host = span_starts(base, SPAN("https://"))  ? span_from(base, 8)
                       : span_starts(base, SPAN("http://")) ? span_from(base, 7)
                                                            : SPAN("");
    return host.n > 0 && base.n <= HTTP_CALL_BASE_MAX && is_printable(host) && !memchr(host.p, '/', host.n) &&
           !memchr(host.p, '?', host.n) && !memchr(host.p, '#', host.n) && !memchr(host.p, '@', host.n);
}

status http_caller_new(const struct http_caller_opts *o, struct http_caller **out)
{
    if (!is_base(o->base) || (o->pin.n && (!span_starts(o->pin, SPAN("sha256//")) || !is_printable(o->pin))) ||
        o->connect_timeout_ms < 0)
        return ST_INVALID;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return ST_IO;
    struct http_caller *c = mem_alloc(sizeof(*c));
    memset(c->sockets, 0xff, sizeof(c->sockets));
    c->multi = curl_multi_init();
    c->easy = curl_easy_init();
    c->base = mem_str(o->base);
    c->pin = o->pin.n ? mem_str(o->pin) : NULL;
    c->user_agent = mem_str(o->user_agent);
    c->connect_timeout_ms = o->connect_timeout_ms ? o->connect_timeout_ms : CONNECT_TIMEOUT_DEFAULT_MS;
    if (!c->multi || !c->easy) {
        http_caller_free(c);
        return ST_IO;
    }
    curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, 1L);
    *out = c;
    return ST_OK;
}

void http_caller_free(struct http_caller *c)
{
    if (!c)
        return;
    assert(!c->answer); /* no call is under way */
    curl_easy_cleanup(c->easy);
    curl_multi_cleanup(c->multi);
    free(c->base);
    free(c->pin);
    free(c->user_agent);
    free(c);
    curl_global_cleanup();
}
