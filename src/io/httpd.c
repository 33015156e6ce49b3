#include "io/httpd.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>
#include <microhttpd.h>

#include "base/heap.h"
#include "base/mem.h"
#include "io/clock.h"
#include "io/httpd_guard.h"
#include "io/sockaddr.h"
#include "io/tls_key.h"

#define CONNECTIONS_DEFAULT 4096
/* libmicrohttpd's own limit is higher by those that are leaving and by these: who gives way is ours to say. */
#define CONNECTIONS_SPARE 256
#define IDLE_TIMEOUT_DEFAULT_S 60
#define BODY_MEMORY_DEFAULT ((size_t)256 << 20)
#define BACKLOG 1024
#define THREADS_MAX 64
#define RETRY_AFTER_S 5

static const struct httpd_pace pace_default = {
    .head_ms = 10000, .body_grace_ms = 5000, .body_window_ms = 10000, .bytes_per_s = 1024, .answer_grace_ms = 30000};

/* Life of a request on one of the server's threads: on_uri makes it, on_request is called with the head, with pieces of
 * the body, and at the end, when the handler fills in the answer. An answer with a delay goes to the keeper's heap
 * while the connection is suspended, and on_request is called once more after it. A deferred one is suspended by
 * httpd_defer and resumed by httpd_answer_later in the same way. on_completed frees it.
 *
 * A request that is refused at its head has its answer at once; it is sent when the rest of a small body has come and
 * was thrown away, else at once, and the connection is closed after it. */
struct exchange {
    struct heap_node due;          /* while delayed */
    struct httpd *owner;           /* borrowed */
    struct lane *lane;             /* borrowed */
    struct MHD_Connection *conn;   /* borrowed */
    struct guard_visitor *visitor; /* borrowed; NULL: was not let in */
    char *target;                  /* owned */
    uint64_t declared;
    struct httpd_admission admission;
    struct buf body;
    size_t reserved;     /* of the memory for bodies */
    size_t discarded;    /* bytes of the body thrown away */
    size_t window_bytes; /* what the window brought so far */
    bool is_seen, is_answered, is_deferred, is_body_taken;
    struct httpd_answer answer;
};

/* One of the server's threads, with the connections that it took from the common socket. */
struct lane {
    struct httpd *owner; /* borrowed */
    struct MHD_Daemon *daemon;
    pthread_t thread;
    int epoll_fd; /* libmicrohttpd's */
    int wake_fd;  /* -1: none */
    bool has_thread;
};

typedef enum phase { PHASE_RUN, PHASE_QUIET, PHASE_END } phase; /* quiet: no new connections */

struct httpd {
    struct lane lanes[THREADS_MAX];
    unsigned lane_count;
    atomic_int phase;
    int listen_fd;
    httpd_fn *fn;
    httpd_admit_fn *admit;
    httpd_release_fn *release;
    void *self; /* borrowed */
    size_t request_body_max;
    struct httpd_pace pace; /* without zeros */
    int idle_ms;
    int port;
    char *tls_cert, *tls_key; /* owned; libmicrohttpd borrows them */
    struct guard *guard;

    pthread_t keeper;     /* ends delays, and looks for slow clients */
    pthread_mutex_t lock; /* the fields below */
    pthread_cond_t changed;
    struct heap delayed;
    size_t deferred; /* answers that are still to come */
    bool has_keeper, is_stopping;
};

/* ---- later ---- */

static int scan_period_ms(const struct httpd *h)
{
    int ms = h->pace.head_ms;
    ms = h->pace.body_window_ms < ms ? h->pace.body_window_ms : ms;
    ms = h->pace.answer_grace_ms < ms ? h->pace.answer_grace_ms : ms;
    ms /= 4;
    return ms > 1000 ? 1000 : ms < 5 ? 5 : ms;
}

static void wake(const struct lane *l)
{
    uint64_t one = 1;
    (void)!write(l->wake_fd, &one, sizeof(one));
}

/* Once resumed it belongs to its own thread again, and may be gone. libmicrohttpd wakes nobody up in this mode. */
static void resume(struct exchange *x)
{
    const struct lane *l = x->lane;
    MHD_resume_connection(x->conn);
    wake(l);
}

static void end_delays(struct httpd *h, mono_ms now)
{
    for (struct heap_node *top; (top = heap_top(&h->delayed)) && (h->is_stopping || top->key <= now);) {
        struct exchange *x = CONTAINER_OF(top, struct exchange, due);
        heap_remove(&h->delayed, top);
        resume(x);
    }
}

static void *run_keeper(void *arg)
{
    struct httpd *h = arg;
    int period = scan_period_ms(h);
    mono_ms next_scan = clock_mono() + period;
    pthread_mutex_lock(&h->lock);
    while (!h->is_stopping) {
        mono_ms now = clock_mono();
        end_delays(h, now);
        if (now >= next_scan) {
            guard_scan(h->guard, now);
            next_scan = now + period;
        }
        struct heap_node *top = heap_top(&h->delayed);
        mono_ms wake = top && top->key < next_scan ? top->key : next_scan;
        struct timespec ts = {wake / 1000, wake % 1000 * 1000000};
        pthread_cond_timedwait(&h->changed, &h->lock, &ts);
    }
    end_delays(h, 0);
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
    buf_done(&x->answer.head); /* what the handler may have begun */
    buf_done(&x->answer.body);
    x->answer = *ans;
    *ans = (struct httpd_answer){0};
    /* With the lock held, so that httpd_free cannot go on between the two steps. */
    pthread_mutex_lock(&h->lock);
    resume(x);
    h->deferred--;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

/* False: no delaying any more, the server is being stopped. */
static bool delay(struct httpd *h, struct exchange *x)
{
    pthread_mutex_lock(&h->lock);
    bool can = !h->is_stopping;
    if (can) {
        MHD_suspend_connection(x->conn);
        heap_set(&h->delayed, &x->due, clock_mono() + x->answer.delay_ms);
        pthread_cond_signal(&h->changed);
    }
    pthread_mutex_unlock(&h->lock);
    return can;
}

/* ---- connections ---- */

static struct guard_visitor *visitor_of(struct MHD_Connection *conn)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static enum MHD_Result on_accept(void *cls, const struct sockaddr *from, socklen_t n)
{
    struct httpd *h = cls;
    struct addr peer = addr_of_sockaddr(from);
    return guard_may_enter(h->guard, &peer) ? MHD_YES : MHD_NO;
}

static void on_connection(void *cls, struct MHD_Connection *conn, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct httpd *h = cls;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        guard_leave(h->guard, *socket_context);
        *socket_context = NULL;
        return;
    }
    struct addr peer = {0}, local = {0};
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (info && info->client_addr)
        peer = addr_of_sockaddr(info->client_addr);
    info = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!info)
        return;
    int fd = info->connect_fd;
    struct sockaddr_storage ss;
    socklen_t n = sizeof(ss);
    if (getsockname(fd, (struct sockaddr *)&ss, &n) == 0)
        local = addr_of_sockaddr((const struct sockaddr *)&ss);
    *socket_context = guard_enter(h->guard, fd, &peer, &local, clock_mono() + h->pace.head_ms);
    if (!*socket_context)
        (void)shutdown(fd, SHUT_RDWR); /* it came with others in the moment after on_accept */
}

static void *on_uri(void *cls, const char *uri, struct MHD_Connection *conn)
{
    struct lane *l = cls;
    struct httpd *h = l->owner;
    struct exchange *x = mem_alloc(sizeof(*x));
    x->owner = h;
    x->lane = l;
    x->conn = conn;
    x->visitor = visitor_of(conn);
    x->target = mem_str(span_str(uri));
    x->answer.status = MHD_HTTP_OK;
    if (x->visitor) {
        mono_ms by = clock_mono() + h->pace.head_ms;
        guard_talks(x->visitor);
        if (by < guard_deadline_of(x->visitor))
            guard_deadline(x->visitor, by);
    }
    return x;
}

static void drop_body(struct exchange *x)
{
    buf_done(&x->body);
    guard_release(x->owner->guard, x->reserved);
    x->reserved = 0;
}

static void on_completed(void *cls, struct MHD_Connection *conn, void **con_cls, enum MHD_RequestTerminationCode why)
{
    struct httpd *h = cls;
    struct exchange *x = *con_cls;
    if (!x)
        return;
    *con_cls = NULL;
    if (x->visitor) {
        guard_deadline(x->visitor, clock_mono() + h->idle_ms);
        guard_idle(h->guard, x->visitor);
    }
    if (x->admission.admitted && h->release)
        h->release(h->self, x->admission.admitted);
    drop_body(x);
    free(x->target);
    buf_done(&x->answer.head);
    buf_done(&x->answer.body);
    free(x);
}

/* ---- answers ---- */

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
    size_t bytes = is_fixed ? a->fixed_body.n : a->body.n;
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
    if (x->visitor) {
        const struct httpd_pace *p = &x->owner->pace;
        guard_deadline(x->visitor, clock_mono() + p->answer_grace_ms + (mono_ms)(bytes / p->bytes_per_s * 1000));
    }
    enum MHD_Result ok = MHD_queue_response(x->conn, (unsigned)a->status, r);
    MHD_destroy_response(r);
    return ok;
}

/* ---- requests ---- */

static struct span header(const struct exchange *x, const char *name)
{
    return span_str(MHD_lookup_connection_value(x->conn, MHD_HEADER_KIND, name));
}

static struct httpd_request request_of(struct exchange *x, const char *method)
{
    struct httpd_request req = {.method = method,
                                .target = span_str(x->target),
                                .host = header(x, MHD_HTTP_HEADER_HOST),
                                .declared = x->declared,
                                .body = buf_span(&x->body),
                                .admitted = x->admission.admitted,
                                .conn = x};
    if (x->visitor) {
        req.peer = *guard_peer(x->visitor);
        req.local = *guard_local(x->visitor);
    }
    return req;
}

static void refuse(struct exchange *x, int http_status)
{
    x->is_answered = true;
    x->answer.status = http_status;
    if (http_status == MHD_HTTP_SERVICE_UNAVAILABLE)
        buf_printf(&x->answer.head, "Retry-After: %d\n", RETRY_AFTER_S);
}

/* Whether the body may come, and the memory for it. Afterwards the request has an answer if it may not. */
static void admit(struct httpd *h, struct exchange *x, const char *method)
{
    x->admission.body_max = h->request_body_max;
    if (h->admit) {
        struct httpd_request req = request_of(x, method);
        x->admission = (struct httpd_admission){0};
        if (!h->admit(h->self, &req, &x->admission, &x->answer)) {
            x->is_answered = true;
            return;
        }
        if (x->admission.is_known && x->visitor)
            guard_known(x->visitor);
    }
    size_t max = x->admission.body_max;
    if (x->declared != HTTPD_LENGTH_UNKNOWN && x->declared > max) {
        refuse(x, MHD_HTTP_CONTENT_TOO_LARGE);
        return;
    }
    size_t need = x->declared == HTTPD_LENGTH_UNKNOWN ? max : (size_t)x->declared;
    status st = guard_reserve(h->guard, need);
    if (st == ST_OK)
        x->reserved = need;
    else
        refuse(x, st == ST_LIMIT ? MHD_HTTP_CONTENT_TOO_LARGE : MHD_HTTP_SERVICE_UNAVAILABLE);
}

static uint64_t declared_length(const struct exchange *x)
{
    uint64_t n;
    if (header(x, MHD_HTTP_HEADER_TRANSFER_ENCODING).n > 0)
        return HTTPD_LENGTH_UNKNOWN;
    struct span text = header(x, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (text.n == 0)
        return 0;
    /* libmicrohttpd has refused what is no number; one past ours is too large for anybody. */
    return span_u64(text, HTTPD_LENGTH_UNKNOWN - 1, &n) ? n : HTTPD_LENGTH_UNKNOWN - 1;
}

/* A refusal goes out before the body when that is large, or is held back until we say "go on": nobody can make us read
 * gigabytes. The connection is closed after it, because what follows is not a request. */
static bool must_answer_early(const struct exchange *x)
{
    return x->declared > 0 && (header(x, MHD_HTTP_HEADER_EXPECT).n > 0 ||
                               (x->declared != HTTPD_LENGTH_UNKNOWN && x->declared > HTTPD_DISCARD_MAX));
}

static enum MHD_Result take_head(struct httpd *h, struct exchange *x, const char *method)
{
    if (!x->visitor)
        return MHD_NO;
    x->is_seen = true;
    x->declared = declared_length(x);
    admit(h, x, method);
    if (x->admission.is_known) /* a stranger is busy when all of its request is there */
        guard_busy(h->guard, x->visitor);
    if (x->declared > 0)
        guard_deadline(x->visitor, clock_mono() + h->pace.body_grace_ms + h->pace.body_window_ms);
    if (!x->is_answered || !must_answer_early(x))
        return MHD_YES;
    buf_puts(&x->answer.head, x->answer.head.n > 0 && x->answer.head.p[x->answer.head.n - 1] != '\n'
                                  ? "\nConnection: close\n"
                                  : "Connection: close\n");
    return send_answer(x);
}

/* Each window has to bring its bytes; one that did is followed by the next at once, so a fast sender is never late. */
static void measure(struct httpd *h, struct exchange *x, size_t bytes)
{
    size_t due = (size_t)((uint64_t)h->pace.bytes_per_s * (uint64_t)h->pace.body_window_ms / 1000);
    x->window_bytes += bytes;
    if (x->window_bytes < due)
        return;
    x->window_bytes = 0;
    guard_deadline(x->visitor, clock_mono() + h->pace.body_window_ms);
}

static enum MHD_Result take_body(struct httpd *h, struct exchange *x, struct span part)
{
    measure(h, x, part.n);
    if (!x->is_answered && part.n > x->admission.body_max - x->body.n) {
        drop_body(x);
        refuse(x, MHD_HTTP_CONTENT_TOO_LARGE); /* its length was not announced */
        buf_puts(&x->answer.head, "Connection: close\n");
    }
    if (x->is_answered) {
        x->discarded += part.n;
        /* No answer is possible before all of it came: hang up. */
        return x->discarded <= HTTPD_DISCARD_MAX ? MHD_YES : MHD_NO;
    }
    if (x->body.n == 0 && x->declared != HTTPD_LENGTH_UNKNOWN)
        (void)buf_room(&x->body, (size_t)x->declared); /* all at once: no growing, no copies */
    buf_put(&x->body, part);
    return MHD_YES;
}

/* Once the handler has deferred its answer, x->answer belongs to whoever brings it. */
static void call_handler(struct httpd *h, struct exchange *x, const char *method)
{
    struct httpd_request req = request_of(x, method);
    h->fn(h->self, &req, &x->answer);
    if (!x->is_body_taken)
        drop_body(x); /* else its memory counts until the end */
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *conn, const char *url, const char *method,
                                  const char *version, const char *upload, size_t *upload_bytes, void **con_cls)
{
    struct httpd *h = cls;
    struct exchange *x = *con_cls;
    if (!x->is_seen)
        return take_head(h, x, method);
    if (*upload_bytes > 0) {
        struct span part = span_of(upload, *upload_bytes);
        *upload_bytes = 0;
        return take_body(h, x, part);
    }
    if (!x->is_answered) {
        x->is_answered = true;
        guard_busy(h->guard, x->visitor);
        guard_deadline(x->visitor, MONO_NEVER);
        call_handler(h, x, method);
        if (x->is_deferred)
            return MHD_YES;
        if (x->answer.delay_ms > 0 && delay(h, x))
            return MHD_YES;
    }
    return send_answer(x);
}

/* ---- the server ---- */

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

/* A process that runs out of file numbers accepts nobody and writes nothing. */
static unsigned connections_of(const struct httpd_opts *o)
{
    unsigned n = o->connections_max ? o->connections_max : CONNECTIONS_DEFAULT;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY && n > files.rlim_cur / 4 * 3)
        n = (unsigned)(files.rlim_cur / 4 * 3);
    return n > 0 ? n : 1;
}

static struct MHD_Daemon *start(struct lane *l, const struct httpd_opts *o)
{
    struct httpd *h = l->owner;
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, h->tls_cert},
                                   {MHD_OPTION_HTTPS_MEM_KEY, 0, h->tls_key},
                                   {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem head[] = {{MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)o->request_head_max, NULL},
                                    {MHD_OPTION_END, 0, NULL}};
    static struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    unsigned connections = connections_of(o);
    connections += guard_leaving_max(connections) + CONNECTIONS_SPARE;
    /* epoll, because poll looks at every idle connection for every event: 1,000 of them at 200 requests a second cost a
     * quarter of a core. The threads are ours: when libmicrohttpd 0.9.75 gets exactly 128 events from epoll_wait it
     * calls it again with the same time-out before it serves any of them, and in its own threads sleeps for ever if
     * those were all the clients there are; MHD_run never sleeps. Time-outs are the guard's. */
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (h->tls_cert ? MHD_USE_TLS : 0);
    return MHD_start_daemon(flags, 0, on_accept, h, on_request, h, MHD_OPTION_LISTEN_SOCKET, h->listen_fd,
                            MHD_OPTION_URI_LOG_CALLBACK, on_uri, l, MHD_OPTION_NOTIFY_COMPLETED, on_completed, h,
                            MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_CONNECTION_LIMIT, connections,
                            MHD_OPTION_ARRAY, o->request_head_max ? head : none, MHD_OPTION_ARRAY,
                            h->tls_cert ? tls : none, MHD_OPTION_END);
}

/* Works until libmicrohttpd has nothing at hand, then waits for the next event or wake(). */
static void *run_lane(void *arg)
{
    struct lane *l = arg;
    bool is_quiet = false;
    for (;;) {
        int now = atomic_load(&l->owner->phase);
        if (now != PHASE_RUN && !is_quiet) {
            is_quiet = true;
            (void)MHD_quiesce_daemon(l->daemon); /* the socket is closed by httpd_free */
        }
        if (now == PHASE_END)
            return NULL;
        (void)MHD_run(l->daemon);
        MHD_UNSIGNED_LONG_LONG left;
        int wait_ms = MHD_get_timeout(l->daemon, &left) != MHD_YES ? -1 : left < INT_MAX ? (int)left : INT_MAX;
        struct pollfd fds[] = {{.fd = l->epoll_fd, .events = POLLIN}, {.fd = l->wake_fd, .events = POLLIN}};
        uint64_t wakes;
        if (wait_ms != 0 && poll(fds, 2, wait_ms) > 0 && fds[1].revents)
            (void)!read(l->wake_fd, &wakes, sizeof(wakes));
    }
}

static bool start_lane(struct httpd *h, const struct httpd_opts *o)
{
    struct lane *l = &h->lanes[h->lane_count++];
    l->owner = h;
    l->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->daemon = l->wake_fd >= 0 ? start(l, o) : NULL;
    const union MHD_DaemonInfo *info = l->daemon ? MHD_get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!info)
        return false;
    l->epoll_fd = info->epoll_fd;
    l->has_thread = pthread_create(&l->thread, NULL, run_lane, l) == 0;
    return l->has_thread;
}

static void set_phase(struct httpd *h, phase now)
{
    atomic_store(&h->phase, now);
    for (unsigned i = 0; i < h->lane_count; i++)
        wake(&h->lanes[i]);
}

/* Connections that are left are closed; nothing is suspended any more. */
static void end_lane(struct lane *l)
{
    if (l->has_thread)
        pthread_join(l->thread, NULL);
    else if (l->daemon)
        (void)MHD_quiesce_daemon(l->daemon);
    if (l->daemon)
        MHD_stop_daemon(l->daemon);
    if (l->wake_fd >= 0)
        close(l->wake_fd);
}

static struct httpd_pace pace_of(struct httpd_pace p)
{
    const struct httpd_pace *d = &pace_default;
    return (struct httpd_pace){
        .head_ms = p.head_ms > 0 ? p.head_ms : d->head_ms,
        .body_grace_ms = p.body_grace_ms > 0 ? p.body_grace_ms : d->body_grace_ms,
        .body_window_ms = p.body_window_ms > 0 ? p.body_window_ms : d->body_window_ms,
        .bytes_per_s = p.bytes_per_s ? p.bytes_per_s : d->bytes_per_s,
        .answer_grace_ms = p.answer_grace_ms > 0 ? p.answer_grace_ms : d->answer_grace_ms,
    };
}

static struct httpd *make(const struct httpd_opts *opts, int listen_fd, int port)
{
    struct httpd *h = mem_alloc(sizeof(*h));
    h->fn = opts->fn;
    h->admit = opts->admit;
    h->release = opts->release;
    h->self = opts->self;
    h->request_body_max = opts->request_body_max;
    h->pace = pace_of(opts->pace);
    h->idle_ms = (int)(opts->idle_timeout_s ? opts->idle_timeout_s : IDLE_TIMEOUT_DEFAULT_S) * 1000;
    h->listen_fd = listen_fd;
    h->port = port;
    if (opts->tls_cert.n) {
        h->tls_cert = mem_str(opts->tls_cert);
        h->tls_key = mem_str(opts->tls_key);
    }
    struct guard_opts g = {.visitors_max = connections_of(opts),
                           .per_address = opts->connections_per_address,
                           .memory_max = opts->body_memory_max ? opts->body_memory_max : BODY_MEMORY_DEFAULT};
    /* Without random bytes this early in the machine's life the key is known; it only spreads a table. */
    (void)!getrandom(&g.key, sizeof(g.key), GRND_NONBLOCK);
    h->guard = guard_new(&g);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&h->changed, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&h->lock, NULL);
    return h;
}

status httpd_new(const struct httpd_opts *opts, struct httpd **out)
{
    int fd = -1, port = 0;
    if (opts->tls_cert.n && tls_key_check(opts->tls_cert, opts->tls_key, NULL) != ST_OK)
        return ST_INVALID;
    status st = listen_on(opts, &fd, &port);
    if (st != ST_OK)
        return st;
    struct httpd *h = make(opts, fd, port);
    h->has_keeper = pthread_create(&h->keeper, NULL, run_keeper, h) == 0;
    unsigned threads = opts->threads > THREADS_MAX ? THREADS_MAX : opts->threads ? opts->threads : 1;
    bool ok = h->has_keeper;
    while (ok && h->lane_count < threads)
        ok = start_lane(h, opts);
    if (!ok) {
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
    set_phase(h, PHASE_QUIET);
    pthread_mutex_lock(&h->lock);
    h->is_stopping = true;
    pthread_cond_broadcast(&h->changed);
    while (h->deferred > 0)
        pthread_cond_wait(&h->changed, &h->lock);
    pthread_mutex_unlock(&h->lock);
    if (h->has_keeper)
        pthread_join(h->keeper, NULL);
    set_phase(h, PHASE_END);
    for (unsigned i = 0; i < h->lane_count; i++)
        end_lane(&h->lanes[i]);
    close(h->listen_fd);
    guard_free(h->guard);
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
    heap_done(&h->delayed);
    free(h->tls_cert);
    if (h->tls_key)
        explicit_bzero(h->tls_key, strlen(h->tls_key));
    free(h->tls_key);
    free(h);
}

int httpd_port(const struct httpd *h)
{
    return h->port;
}

struct span httpd_header(const struct httpd_request *req, const char *name)
{
    return header(req->conn, name);
}

void httpd_take_body(const struct httpd_request *req, struct buf *out)
{
    struct exchange *x = req->conn;
    *out = x->body;
    x->body = (struct buf){0};
    x->is_body_taken = true;
}

void httpd_count(const struct httpd *h, struct httpd_counts *out)
{
    struct guard_counts g;
    guard_count(h->guard, &g);
    *out = (struct httpd_counts){.connections = g.visitors,
                                 .refused = g.refused,
                                 .evicted = g.evicted,
                                 .slow = g.slow,
                                 .idle = g.idle,
                                 .body_memory = g.memory};
}
