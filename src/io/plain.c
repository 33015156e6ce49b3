/* plain.c - a connection from its making to its end:
 *
 *   open_one    connect(), and wait until it can be written to
 *   on_poll     made: the request is sent; then the answer is read as it comes
 *   settle      the answer is whole: the connection is idle, in front of others to the same host
 *   on_poll     an idle connection can be read from: it was closed, or says what nobody asked for. It goes */
#include "io/plain.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/clock.h"
#include "io/loop_uv.h"
#include "io/sockaddr.h"

#define RECEIVE_BYTES (64u << 10)
#define BUCKETS 256
#define IDLE_MS_MAX 60000          /* servers close them about then, and one that is just being closed costs a try */
#define PATH_EVERY_US 1000000      /* the kernel's least of five minutes: no need to ask at every answer */
#define HASH_STEP 0x100000001B3ull /* FNV-1a; a collision costs a comparison */

struct plain_connection {
    uv_poll_t poll;
    struct plain *owner; /* borrowed */
    int fd, port, events;
    struct addr addr;
    struct buf host;
    uint64_t hash;
    struct plain_call *call;                /* NULL: idle */
    struct plain_connection *next;          /* of its bucket, while idle */
    struct plain_connection *older, *newer; /* of all idle ones */
    struct http_read read;
    size_t sent;
    bool is_connecting;
    mono_ms idle_since;
    uint32_t path_us;
    int64_t path_asked_us;
};

struct plain {
    struct loop *loop; /* borrowed */
    struct plain_connection *idle[BUCKETS];
    struct plain_connection *oldest, *newest; /* idle ones */
    unsigned idle_count, idle_max;
    struct plain_call *failed, **failed_end; /* before they began: told in the next turn */
    struct timer *timer;
    char bytes[RECEIVE_BYTES];
};

static uint64_t hash_of(const struct plain_call *c)
{
    uint64_t h = 0xCBF29CE484222325ull ^ (uint64_t)c->port;
    for (size_t i = 0; i < sizeof(c->addr.b); i++)
        h = (h ^ c->addr.b[i]) * HASH_STEP;
    for (size_t i = 0; i < c->host.n; i++)
        h = (h ^ (unsigned char)c->host.p[i]) * HASH_STEP;
    return h ^ h >> 32;
}

/* ---- connections ---- */

static void free_connection(uv_handle_t *h)
{
    struct plain_connection *k = h->data;
    buf_done(&k->host);
    http_read_done(&k->read);
    free(k);
}

static void close_connection(struct plain_connection *k)
{
    uv_close((uv_handle_t *)&k->poll, free_connection);
    close(k->fd);
}

static void leave_idle(struct plain *p, struct plain_connection *k)
{
    struct plain_connection **at = &p->idle[k->hash % BUCKETS];
    while (*at != k)
        at = &(*at)->next;
    *at = k->next;
    *(k->older ? &k->older->newer : &p->oldest) = k->newer;
    *(k->newer ? &k->newer->older : &p->newest) = k->older;
    p->idle_count--;
}

static void enter_idle(struct plain *p, struct plain_connection *k)
{
    k->idle_since = loop_now(p->loop);
    k->next = p->idle[k->hash % BUCKETS];
    p->idle[k->hash % BUCKETS] = k;
    k->older = p->newest;
    k->newer = NULL;
    *(p->newest ? &p->newest->newer : &p->oldest) = k;
    p->newest = k;
    if (++p->idle_count <= p->idle_max)
        return;
    k = p->oldest;
    leave_idle(p, k);
    close_connection(k);
}

/* An idle connection for the call, taken out; NULL: none. */
static struct plain_connection *take_idle(struct plain *p, const struct plain_call *c, uint64_t hash)
{
    struct plain_connection *k = p->idle[hash % BUCKETS];
    while (k && !(k->hash == hash && k->port == c->port && addr_eq(&k->addr, &c->addr) &&
                  span_eq(buf_span(&k->host), c->host)))
        k = k->next;
    if (!k)
        return NULL;
    leave_idle(p, k);
    if (loop_now(p->loop) - k->idle_since <= IDLE_MS_MAX)
        return k;
    close_connection(k);
    return NULL;
}

static void on_poll(uv_poll_t *h, int st, int events);

static void watch(struct plain_connection *k, int events)
{
    if (k->events == events)
        return;
    k->events = events;
    if (events)
        uv_poll_start(&k->poll, events, on_poll);
    else
        uv_poll_stop(&k->poll);
}

/* ---- ends ---- */

/* The last thing that a caller of this does: the callback may free everything. */
static void end_call(struct plain_call *c, status st, const char *why)
{
    c->connection = NULL;
    if (!c->ended_us)
        c->ended_us = clock_mono_us();
    c->ended(c->arg, st, why);
}

static void on_failed(void *arg)
{
    struct plain *p = arg;
    struct plain_call *c = p->failed;
    if (!c)
        return;
    p->failed = c->next;
    if (p->failed)
        timer_set(p->timer, 0);
    else
        p->failed_end = &p->failed;
    c->is_failed = false;
    end_call(c, ST_CONNECT, c->why);
}

static void fail_later(struct plain *p, struct plain_call *c, int error)
{
    c->why = strerror(error);
    c->is_failed = true;
    c->next = NULL;
    *p->failed_end = c;
    p->failed_end = &c->next;
    timer_set(p->timer, 0);
}

/* ---- making a connection ---- */

static void open_one(struct plain *p, struct plain_call *c, uint64_t hash)
{
    struct sockaddr_storage to;
    socklen_t n = sockaddr_of_addr(&c->addr, c->port, &to);
    int one = 1, fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    c->connecting_us = clock_mono_us();
    c->connected_us = 0;
    if (fd < 0 || (connect(fd, (struct sockaddr *)&to, n) != 0 && errno != EINPROGRESS)) {
        fail_later(p, c, errno);
        if (fd >= 0)
            close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)); /* a request is one piece: nothing to wait for */
    struct plain_connection *k = mem_alloc(sizeof(*k));
    k->poll.data = k;
    if (uv_poll_init(loop_uv(p->loop), &k->poll, fd) != 0) {
        free(k);
        close(fd);
        fail_later(p, c, EIO);
        return;
    }
    k->owner = p;
    k->fd = fd;
    k->port = c->port;
    k->addr = c->addr;
    buf_put(&k->host, c->host);
    k->hash = hash;
    k->call = c;
    k->is_connecting = true;
    c->connection = k;
    c->reused = false;
    watch(k, UV_WRITABLE);
}

/* Gives up the connection. The call goes on with a new one, or ends. */
static void lose(struct plain_connection *k, status st, const char *why)
{
    struct plain *p = k->owner;
    struct plain_call *c = k->call;
    uint64_t hash = k->hash;
    bool is_stale = c->reused && !k->read.has_begun && !c->is_again;
    close_connection(k);
    c->connection = NULL;
    if (is_stale) {
        c->is_again = true;
        open_one(p, c, hash);
    } else
        end_call(c, st, why);
}

/* ---- an exchange ---- */

static void send_more(struct plain_connection *k)
{
    struct span rest = span_from(k->call->request, k->sent);
    ssize_t n = send(k->fd, rest.p, rest.n, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        lose(k, ST_CONNECT, strerror(errno));
        return;
    }
    k->sent += n > 0 ? (size_t)n : 0;
    watch(k, k->sent < k->call->request.n ? UV_WRITABLE : UV_READABLE);
}

static void begin_exchange(struct plain_connection *k)
{
    http_read_begin(&k->read, k->call->is_head, k->call->line_max);
    k->sent = 0;
    send_more(k);
}

static void on_connected(struct plain_connection *k)
{
    int error = 0;
    socklen_t n = sizeof(error);
    if (getsockopt(k->fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0)
        error = errno;
    if (error) {
        lose(k, ST_CONNECT, strerror(error));
        return;
    }
    k->is_connecting = false;
    k->call->connected_us = clock_mono_us();
    begin_exchange(k);
}

/* The answer is whole, or has come as far as it will. */
static void note_end(struct plain_connection *k, int64_t now_us)
{
    struct plain_call *c = k->call;
    c->ended_us = now_us;
    if (!k->path_us || now_us - k->path_asked_us >= PATH_EVERY_US) {
        k->path_us = socket_path_us(k->fd);
        k->path_asked_us = now_us;
    }
    c->path_us = k->path_us;
}

static void settle(struct plain_connection *k, bool keeps)
{
    struct plain_call *c = k->call;
    k->call = NULL;
    if (keeps)
        enter_idle(k->owner, k);
    else
        close_connection(k);
    end_call(c, ST_OK, "");
}

static void take_bytes(struct plain_connection *k, struct span bytes, int64_t now_us)
{
    struct plain_call *c = k->call;
    size_t used;
    status st = http_read_feed(&k->read, bytes, &c->take, c->arg, &used);
    if (st == ST_AGAIN)
        return;
    note_end(k, now_us);
    if (st == ST_OK)
        settle(k, used == bytes.n && http_read_keeps(&k->read));
    else
        lose(k, st, st == ST_LIMIT ? "headers too long" : k->read.why);
}

static void read_some(struct plain_connection *k)
{
    struct plain *p = k->owner;
    struct plain_call *c = k->call;
    if (c->may_read && !c->may_read(c->arg)) {
        watch(k, 0);
        return;
    }
    ssize_t n = recv(k->fd, p->bytes, sizeof(p->bytes), 0);
    int error = n < 0 ? errno : 0;
    if (error == EAGAIN || error == EINTR)
        return;
    int64_t now_us = clock_mono_us();
    if (n > 0) {
        if (!c->first_us)
            c->first_us = now_us;
        take_bytes(k, span_of(p->bytes, (size_t)n), now_us);
        return;
    }
    bool has_begun = k->read.has_begun;
    status st = http_read_end(&k->read);
    if (has_begun)
        note_end(k, now_us);
    if (error)
        lose(k, has_begun ? ST_PROTOCOL : ST_CONNECT, strerror(error));
    else if (st == ST_OK)
        settle(k, false);
    else
        lose(k, st, k->read.why);
}

static void on_poll(uv_poll_t *h, int st, int events)
{
    struct plain_connection *k = h->data;
    if (!k->call) {
        leave_idle(k->owner, k);
        close_connection(k);
    } else if (k->is_connecting)
        on_connected(k);
    else if (k->sent < k->call->request.n)
        send_more(k);
    else
        read_some(k);
}

/* ---- calls ---- */

void plain_start(struct plain *p, struct plain_call *c)
{
    uint64_t hash = hash_of(c);
    struct plain_connection *k = take_idle(p, c, hash);
    c->started_us = clock_mono_us();
    c->connecting_us = c->connected_us = c->first_us = c->ended_us = 0;
    c->path_us = 0;
    c->body_bytes = 0;
    c->is_again = c->is_failed = false;
    c->connection = k;
    c->reused = k != NULL;
    if (!k) {
        open_one(p, c, hash);
        return;
    }
    k->call = c;
    begin_exchange(k);
}

void plain_go_on(struct plain *p, struct plain_call *c)
{
    struct plain_connection *k = c->connection;
    if (k && !k->events)
        watch(k, UV_READABLE);
}

void plain_stop(struct plain *p, struct plain_call *c)
{
    if (c->connection) {
        close_connection(c->connection);
        c->connection = NULL;
    }
    if (!c->is_failed)
        return;
    c->is_failed = false;
    struct plain_call **at = &p->failed;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    if (!*at)
        p->failed_end = at;
}

struct plain *plain_new(struct loop *l, unsigned idle_max)
{
    struct plain *p = mem_alloc(sizeof(*p));
    p->loop = l;
    p->idle_max = idle_max;
    p->failed_end = &p->failed;
    p->timer = timer_new(l, on_failed, p);
    return p;
}

void plain_free(struct plain *p)
{
    if (!p)
        return;
    while (p->oldest) {
        struct plain_connection *k = p->oldest;
        leave_idle(p, k);
        close_connection(k);
    }
    timer_free(p->timer);
    free(p);
}
