#include "io/httpd.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <microhttpd.h>

#include "base/heap.h"
#include "base/mem.h"
#include "io/clock.h"
#include "io/sockaddr.h"

#define CONNECTIONS_DEFAULT 4096
#define IDLE_TIMEOUT_DEFAULT_S 60
#define BACKLOG 1024
#define THREADS_MAX 64

/* Life of a request on one of the server's threads: on_uri makes it, on_request is called with the head, with pieces of
 * the body, and at the end, when the handler fills in the answer. An answer with a delay goes to the delay thread's
 * heap while the connection is suspended, and on_request is called once more after it. A deferred one is suspended by
 * httpd_defer and resumed by httpd_answer_later in the same way. on_completed frees it. */
struct exchange {
    struct heap_node due;        /* while delayed */
    struct httpd *owner;         /* borrowed */
    struct MHD_Connection *conn; /* borrowed */
    char *target;                /* owned */
    struct buf body;
    bool is_seen, is_answered, is_deferred;
    struct httpd_answer answer;
};

struct endpoints {
    struct addr peer, local;
};

struct httpd {
    struct MHD_Daemon *daemon;
    httpd_fn *fn;
    void *self; /* borrowed */
    size_t request_body_max;
    int port;
    char *tls_cert, *tls_key; /* owned; libmicrohttpd borrows them */

    pthread_t delay_thread;
    pthread_mutex_t lock; /* the fields below */
    pthread_cond_t changed;
    struct heap delayed;
    size_t deferred; /* answers that are still to come */
    bool has_delay_thread, is_stopping;
};

static void *run_delays(void *arg)
{
    struct httpd *h = arg;
    pthread_mutex_lock(&h->lock);
    for (;;) {
        struct heap_node *top = heap_top(&h->delayed);
        if (!top) {
            if (h->is_stopping)
                break;
            pthread_cond_wait(&h->changed, &h->lock);
        } else if (h->is_stopping || top->key <= clock_mono()) {
            /* Once resumed it belongs to the server's thread again; that it waits is all this thread knew. */
            struct exchange *x = CONTAINER_OF(top, struct exchange, due);
            heap_remove(&h->delayed, top);
            MHD_resume_connection(x->conn);
        } else {
            struct timespec ts = {top->key / 1000, top->key % 1000 * 1000000};
            pthread_cond_timedwait(&h->changed, &h->lock, &ts);
        }
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

struct httpd_later *httpd_defer(const struct httpd_request *req)
{
    struct exchange *x = req->conn;
    struct httpd *h = x->owner;
    pthread_mutex_lock(&h->lock);
    bool can = !h->is_stopping;
    if (can) {
        assert(!x->is_deferred);
        x->is_deferred = true;
        h->deferred++;
        MHD_suspend_connection(x->conn);
    }
    pthread_mutex_unlock(&h->lock);
    return can ? (struct httpd_later *)x : NULL;
}

void httpd_answer_later(struct httpd_later *later, struct httpd_answer *ans)
{
    struct exchange *x = (struct exchange *)later;
    struct httpd *h = x->owner;
    x->answer = *ans;
    *ans = (struct httpd_answer){0};
    /* With the lock held, so that httpd_free cannot go on between the two steps: once resumed, x belongs to the
     * server's thread and may be gone. */
    pthread_mutex_lock(&h->lock);
    MHD_resume_connection(x->conn);
    h->deferred--;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

/* False: no delaying any more (the server is being stopped, or has no thread for it). */
static bool delay(struct httpd *h, struct exchange *x)
{
    pthread_mutex_lock(&h->lock);
    if (!h->has_delay_thread && !h->is_stopping)
        h->has_delay_thread = pthread_create(&h->delay_thread, NULL, run_delays, h) == 0;
    bool can = h->has_delay_thread && !h->is_stopping;
    if (can) {
        MHD_suspend_connection(x->conn);
        heap_set(&h->delayed, &x->due, clock_mono() + x->answer.delay_ms);
        pthread_cond_signal(&h->changed);
    }
    pthread_mutex_unlock(&h->lock);
    return can;
}

static void *on_uri(void *cls, const char *uri, struct MHD_Connection *conn)
{
    struct exchange *x = mem_alloc(sizeof(*x));
    x->owner = cls;
    x->conn = conn;
    x->target = mem_str(span_str(uri));
    x->answer.status = MHD_HTTP_OK;
    return x;
}

static void on_completed(void *cls, struct MHD_Connection *conn, void **con_cls, enum MHD_RequestTerminationCode why)
{
    struct exchange *x = *con_cls;
    if (!x)
        return;
    *con_cls = NULL;
    free(x->target);
    buf_done(&x->body);
    buf_done(&x->answer.head);
    buf_done(&x->answer.body);
    free(x);
}

static void on_connection(void *cls, struct MHD_Connection *conn, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        free(*socket_context);
        *socket_context = NULL;
        return;
    }
    struct endpoints *e = mem_alloc(sizeof(*e));
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (info && info->client_addr)
        e->peer = addr_of_sockaddr(info->client_addr);
    info = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct sockaddr_storage ss;
    socklen_t n = sizeof(ss);
    if (info && getsockname(info->connect_fd, (struct sockaddr *)&ss, &n) == 0)
        e->local = addr_of_sockaddr((const struct sockaddr *)&ss);
    *socket_context = e;
}

/* Once the handler has deferred its answer, x->answer belongs to whoever brings it. */
static void call_handler(struct httpd *h, struct exchange *x, const char *method)
{
    struct httpd_request req = {.method = method, .target = span_str(x->target), .conn = x};
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(x->conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    const struct endpoints *e = info ? info->socket_context : NULL;
    if (e) {
        req.peer = e->peer;
        req.local = e->local;
    }
    req.host = httpd_header(&req, MHD_HTTP_HEADER_HOST);
    req.body = buf_span(&x->body);
    h->fn(h->self, &req, &x->answer);
}

static void add_headers(struct MHD_Response *r, struct buf *head)
{
    /* Lines are cut in place: libmicrohttpd wants NUL-terminated names and values. */
    char *at = head->p, *end = head->p ? head->p + head->n : NULL;
    while (at < end) {
        char *eol = memchr(at, '\n', (size_t)(end - at));
        if (!eol)
            break;
        *eol = '\0';
        if (eol > at && eol[-1] == '\r')
            eol[-1] = '\0';
        char *colon = strchr(at, ':');
        if (colon) {
            *colon++ = '\0';
            while (*colon == ' ')
                colon++;
            (void)MHD_add_response_header(r, at, colon); /* refuses what is no header; so be it */
        }
        at = eol + 1;
    }
}

static enum MHD_Result send_answer(struct exchange *x)
{
    struct httpd_answer *a = &x->answer;
    if (a->drop)
        return MHD_NO;
    bool is_fixed = a->fixed_body.n > 0;
    struct MHD_Response *r = is_fixed ? MHD_create_response_from_buffer(
                                            a->fixed_body.n, (void *)(uintptr_t)a->fixed_body.p, MHD_RESPMEM_PERSISTENT)
                                      : MHD_create_response_from_buffer(a->body.n, a->body.p, MHD_RESPMEM_MUST_FREE);
    if (!r)
        return MHD_NO;
    if (!is_fixed)
        a->body = (struct buf){0}; /* the response owns it now */
    if (a->head.n > 0 && a->head.p[a->head.n - 1] != '\n')
        buf_putc(&a->head, '\n');
    add_headers(r, &a->head);
    enum MHD_Result ok = MHD_queue_response(x->conn, (unsigned)a->status, r);
    MHD_destroy_response(r);
    return ok;
}

static bool is_announced_too_big(const struct httpd *h, const struct exchange *x)
{
    struct span text = span_str(MHD_lookup_connection_value(x->conn, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH));
    uint64_t n;
    return text.n > 0 && !span_u64(text, h->request_body_max, &n);
}

/* Answered before the body is read, so that nobody can make us read gigabytes; the connection is closed after it. */
static enum MHD_Result refuse_body(struct exchange *x)
{
    x->is_answered = true;
    x->answer.status = MHD_HTTP_CONTENT_TOO_LARGE;
    return send_answer(x);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *conn, const char *url, const char *method,
                                  const char *version, const char *upload, size_t *upload_bytes, void **con_cls)
{
    struct httpd *h = cls;
    struct exchange *x = *con_cls;
    if (!x->is_seen) {
        x->is_seen = true;
        return is_announced_too_big(h, x) ? refuse_body(x) : MHD_YES;
    }
    if (*upload_bytes > 0) {
        if (*upload_bytes > h->request_body_max - x->body.n)
            return MHD_NO; /* its length was not announced; no answer is possible before all of it came: hang up */
        buf_put(&x->body, span_of(upload, *upload_bytes));
        *upload_bytes = 0;
        return MHD_YES;
    }
    if (!x->is_answered) {
        x->is_answered = true;
        call_handler(h, x, method);
        if (x->is_deferred)
            return MHD_YES;
        if (x->answer.delay_ms > 0 && delay(h, x))
            return MHD_YES;
    }
    return send_answer(x);
}

/* The socket is ours to make, so that a taken port is told from other trouble. */
static status listen_on(const struct httpd_opts *opts, int *out, int *port)
{
    struct sockaddr_storage ss;
    socklen_t n = sockaddr_of_addr(&opts->addr, opts->port, &ss);
    if (n == 0)
        return ST_INVALID;
    int fd = socket(ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return ST_IO;
    int on = 1, off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (ss.ss_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(fd, (struct sockaddr *)&ss, n) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&ss, (n = sizeof(ss), &n)) != 0) {
        int err = errno;
        close(fd);
        errno = err;
        return err == EADDRINUSE ? ST_BUSY : ST_IO;
    }
    *out = fd;
    *port = port_of_sockaddr((const struct sockaddr *)&ss);
    return ST_OK;
}

static struct MHD_Daemon *start(struct httpd *h, int fd, const struct httpd_opts *o)
{
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, h->tls_cert},
                                   {MHD_OPTION_HTTPS_MEM_KEY, 0, h->tls_key},
                                   {MHD_OPTION_END, 0, NULL}};
    unsigned threads = o->threads > THREADS_MAX ? THREADS_MAX : o->threads;
    unsigned connections = o->connections_max ? o->connections_max : CONNECTIONS_DEFAULT;
    unsigned timeout_s = o->idle_timeout_s ? o->idle_timeout_s : IDLE_TIMEOUT_DEFAULT_S;
    struct MHD_OptionItem head[] = {{MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)o->request_head_max, NULL},
                                    {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem pool[] = {{MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)threads, NULL}, {MHD_OPTION_END, 0, NULL}};
    static struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    /* poll, not epoll: when libmicrohttpd 0.9.75 gets exactly 128 events from epoll_wait it calls it again with the
     * same time-out before it serves any of them, and sleeps for ever if those were all the clients there are. */
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | (h->tls_cert ? MHD_USE_TLS : 0);
    return MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_URI_LOG_CALLBACK, on_uri, h,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
        MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, o->connections_per_address,
        MHD_OPTION_CONNECTION_TIMEOUT, timeout_s, MHD_OPTION_ARRAY, o->request_head_max ? head : none, MHD_OPTION_ARRAY,
        h->tls_cert ? tls : none, MHD_OPTION_ARRAY, threads > 1 ? pool : none, MHD_OPTION_END);
}

status httpd_new(const struct httpd_opts *opts, struct httpd **out)
{
    int fd = -1, port = 0;
    status st = listen_on(opts, &fd, &port);
    if (st != ST_OK)
        return st;
    struct httpd *h = mem_alloc(sizeof(*h));
    h->fn = opts->fn;
    h->self = opts->self;
    h->request_body_max = opts->request_body_max;
    h->port = port;
    if (opts->tls_cert.n) {
        h->tls_cert = mem_str(opts->tls_cert);
        h->tls_key = mem_str(opts->tls_key);
    }
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&h->changed, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&h->lock, NULL);
    h->daemon = start(h, fd, opts);
    if (!h->daemon) {
        close(fd);
        httpd_free(h);
        return ST_IO;
    }
    *out = h;
    return ST_OK;
}

void httpd_free(struct httpd *h)
{
    if (!h)
        return;
    /* No new connections; then what is delayed goes out at once, for a suspended connection cannot be closed. */
    MHD_socket fd = h->daemon ? MHD_quiesce_daemon(h->daemon) : MHD_INVALID_SOCKET;
    pthread_mutex_lock(&h->lock);
    h->is_stopping = true;
    pthread_cond_broadcast(&h->changed);
    while (h->deferred > 0)
        pthread_cond_wait(&h->changed, &h->lock);
    pthread_mutex_unlock(&h->lock);
    if (h->has_delay_thread)
        pthread_join(h->delay_thread, NULL);
    if (h->daemon)
        MHD_stop_daemon(h->daemon);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
    heap_done(&h->delayed);
    free(h->tls_cert);
    free(h->tls_key);
    free(h);
}

int httpd_port(const struct httpd *h)
{
    return h->port;
}

struct span httpd_header(const struct httpd_request *req, const char *name)
{
    return span_str(MHD_lookup_connection_value(((const struct exchange *)req->conn)->conn, MHD_HEADER_KIND, name));
}
