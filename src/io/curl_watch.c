#include "io/curl_watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/loop_uv.h"

struct sock {
    uv_poll_t poll;
    struct curl_watch *owner; /* borrowed */
    int fd;
    int wanted;    /* CURL_POLL_* of now, 0 when curl does not care */
    int events;    /* what libuv watches for */
    bool is_ours;  /* made by curl_watch_open, so that curl_watch_close tells when it goes */
    bool has_read; /* curl waited for something to read: the connection is made */
};

struct curl_watch {
    struct loop *loop; /* borrowed */
    CURLM *multi;      /* borrowed */
    struct timer *timer;
    struct sock **socks; /* by fd; owned */
    size_t cap;
    loop_fn *ran;
    void *arg; /* borrowed */
};

static void free_sock(uv_handle_t *h)
{
    free(h->data);
}

static struct sock *sock_find(const struct curl_watch *w, int fd)
{
    return (size_t)fd < w->cap ? w->socks[fd] : NULL;
}

static void sock_drop(struct curl_watch *w, int fd)
{
    struct sock *s = sock_find(w, fd);
    if (!s)
        return;
    w->socks[fd] = NULL;
    uv_close((uv_handle_t *)&s->poll, free_sock);
}

/* The watch of a socket, made if need be; NULL when libuv does not take it. */
static struct sock *sock_get(struct curl_watch *w, int fd)
{
    if (sock_find(w, fd))
        return w->socks[fd];
    if ((size_t)fd >= w->cap) {
        size_t old = w->cap;
        w->socks = mem_grow(w->socks, &w->cap, (size_t)fd + 1, sizeof(*w->socks));
        memset(w->socks + old, 0, (w->cap - old) * sizeof(*w->socks));
    }
    struct sock *s = mem_alloc(sizeof(*s));
    s->owner = w;
    s->fd = fd;
    s->poll.data = s;
    if (uv_poll_init(loop_uv(w->loop), &s->poll, fd) != 0) {
        free(s);
        return NULL;
    }
    w->socks[fd] = s;
    return s;
}

static void on_poll(uv_poll_t *h, int st, int events)
{
    struct sock *s = h->data;
    struct curl_watch *w = s->owner;
    if (s->wanted == 0) { /* an idle connection: curl finds out what happened when it wants to use it */
        uv_poll_stop(h);
        s->events = 0;
        return;
    }
    int flags = (events & UV_READABLE ? CURL_CSELECT_IN : 0) | (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0) |
                (st < 0 ? CURL_CSELECT_ERR : 0);
    int running;
    curl_multi_socket_action(w->multi, s->fd, flags, &running);
    w->ran(w->arg);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    struct curl_watch *w = arg;
    if (what == CURL_POLL_REMOVE) {
        struct sock *s = sock_find(w, fd);
        /* Of a connection that was never made curl does not say that it goes (7.88: cf-socket.c); the next socket of
         * that number would not be heard. */
        if (s && !(s->is_ours && s->has_read))
            sock_drop(w, fd);
        else if (s)
            s->wanted = 0;
        return 0;
    }
    struct sock *s = sock_get(w, fd);
    if (!s)
        return -1;
    s->wanted = what;
    s->has_read |= (what & CURL_POLL_IN) != 0;
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    if (events != s->events) {
        s->events = events;
        uv_poll_start(&s->poll, events, on_poll);
    }
    return 0;
}

static int on_timeout(CURLM *multi, long ms, void *arg)
{
    struct curl_watch *w = arg;
    if (ms < 0)
        timer_stop(w->timer);
    else
        timer_set(w->timer, ms);
    return 0;
}

void curl_watch_run(struct curl_watch *w)
{
    int running;
    curl_multi_socket_action(w->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    w->ran(w->arg);
}

static void on_timer(void *arg)
{
    curl_watch_run(arg);
}

struct curl_watch *curl_watch_new(struct loop *l, CURLM *multi, loop_fn *ran, void *arg)
{
    struct curl_watch *w = mem_alloc(sizeof(*w));
    w->loop = l;
    w->multi = multi;
    w->ran = ran;
    w->arg = arg;
    w->timer = timer_new(l, on_timer, w);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, w);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timeout);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, w);
    return w;
}

void curl_watch_free(struct curl_watch *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->cap; i++)
        sock_drop(w, (int)i);
    timer_free(w->timer);
    free(w->socks);
    free(w);
}

curl_socket_t curl_watch_open(struct curl_watch *w, int family, int type, int protocol)
{
    int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
    sock_drop(w, fd); /* of one that went unsaid */
    struct sock *s = sock_get(w, fd);
    if (!s) {
        close(fd);
        return CURL_SOCKET_BAD;
    }
    s->is_ours = true;
    return fd;
}

int curl_watch_close(struct curl_watch *w, curl_socket_t fd)
{
    sock_drop(w, fd);
    return close(fd);
}
