#include "lab/measure.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/sockaddr.h"
#include "lab/echo.h"
#include "lab/net/netns.h"

#define EVENTS 256
#define PATIENCE_NS 5000000000 /* after the last connection was begun */

static const char request[] = "GET /page/17.html HTTP/1.1\r\nHost: site.example\r\nUser-Agent: orb-lab\r\n"
                              "Accept: text/html\r\n\r\n";

static mono_ns clock_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (mono_ns)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Begins a connection between two places; -1: it cannot be. The thread is in the namespace of `from`. */
static int begin(const struct map *m, unsigned from, unsigned to, bool is6)
{
    const struct map_place *a = map_place(m, from), *b = map_place(m, to);
    struct sockaddr_storage sa, sb;
    bool is4 = !is6 && a->addr4.family && b->addr4.family;
    int on = 1;
    socklen_t an = sockaddr_of_addr(is4 ? &a->addr4 : &a->addr6, 0, &sa);
    socklen_t bn = sockaddr_of_addr(is4 ? &b->addr4 : &b->addr6, ECHO_PORT, &sb);
    if (an == 0 || bn == 0)
        return -1;
    int fd = socket(is4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    /* A node has one address that it is seen as; a place of a shared one must say which it is. The port is chosen when
     * the other side is known: the same one serves many destinations. */
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&sa, an) != 0 ||
        (connect(fd, (struct sockaddr *)&sb, bn) != 0 && errno != EINPROGRESS)) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool is_connected(int fd)
{
    int err = 0;
    socklen_t n = sizeof(err);
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &n) == 0 && err == 0;
}

/* Without waiting for the other side: a connection of ours is over when we know how long it took. */
static void drop(int fd)
{
    struct linger now = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    close(fd);
}

/* ---- how long ---- */

struct attempt {
    int fd;
    unsigned pair;
    mono_ns began;
};

struct meter {
    const struct map *map;
    const struct router *router;
    struct measure_pair *pairs;
    struct attempt *attempts;
    size_t began, ended, total;
    int poll_fd;
    struct lateness *self; /* borrowed; may be NULL */
};

static void begin_next(struct meter *k, size_t pair_count)
{
    struct attempt *a = &k->attempts[k->began];
    unsigned pair = (unsigned)(k->began % pair_count);
    struct measure_pair *p = &k->pairs[pair];
    k->began++;
    *a = (struct attempt){.fd = -1, .pair = pair, .began = 0};
    if (netns_enter(router_node_fd(k->router, map_place(k->map, p->from)->node)) == ST_OK) {
        a->began = clock_ns();
        a->fd = begin(k->map, p->from, p->to, p->is6);
    }
    struct epoll_event e = {.events = EPOLLOUT, .data.u64 = k->began - 1};
    if (a->fd < 0 || epoll_ctl(k->poll_fd, EPOLL_CTL_ADD, a->fd, &e) != 0) {
        p->failed++;
        k->ended++;
        if (a->fd >= 0)
            close(a->fd);
        a->fd = -1;
    }
}

static void end_some(struct meter *k, mono_ns until)
{
    struct epoll_event events[EVENTS];
    mono_ns now = clock_ns(), wait = until > now ? until - now : 0;
    struct timespec ts = {wait / 1000000000, wait % 1000000000};
    int n = epoll_pwait2(k->poll_fd, events, EVENTS, &ts, NULL);
    now = clock_ns();
    if (n == 0 && k->self)
        lateness_add(k->self, now - until);
    for (int i = 0; i < n; i++) {
        struct attempt *a = &k->attempts[events[i].data.u64];
        struct measure_pair *p = &k->pairs[a->pair];
        if (is_connected(a->fd))
            p->error_ms[p->samples++] = (double)(now - a->began) / 1e6 - p->rtt_ms;
        else
            p->failed++;
        drop(a->fd);
        a->fd = -1;
        k->ended++;
    }
}

status measure_connects(const struct map *m, const struct router *r, struct measure_pair *pairs, size_t n,
                        size_t samples, int gap_us, struct lateness *self)
{
    struct meter k = {.map = m, .router = r, .pairs = pairs, .total = n * samples, .self = self};
    mono_ns next = clock_ns();
    k.poll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (k.poll_fd < 0)
        return ST_IO;
    k.attempts = mem_alloc((k.total + 1) * sizeof(*k.attempts));
    while (k.began < k.total) {
        begin_next(&k, n);
        next += (mono_ns)gap_us * 1000;
        do
            end_some(&k, next);
        while (clock_ns() < next);
    }
    for (mono_ns end = clock_ns() + PATIENCE_NS; k.ended < k.total && clock_ns() < end;)
        end_some(&k, end);
    for (size_t i = 0; i < k.began; i++) {
        if (k.attempts[i].fd >= 0) {
            pairs[k.attempts[i].pair].failed++;
            close(k.attempts[i].fd);
        }
    }
    free(k.attempts);
    close(k.poll_fd);
    return ST_OK;
}

/* ---- how much ---- */

struct load {
    const struct map *map;
    unsigned from, to;
    int poll_fd;
    bool keeps; /* connections stay, and are asked again and again */
    unsigned open;
    struct measure_rate *out;
};

static void load_begin(struct load *l)
{
    int fd = begin(l->map, l->from, l->to, false);
    struct epoll_event e = {.events = EPOLLOUT, .data.fd = fd};
    if (fd >= 0 && epoll_ctl(l->poll_fd, EPOLL_CTL_ADD, fd, &e) == 0) {
        l->open++;
        return;
    }
    l->out->failed++;
    if (fd >= 0)
        close(fd);
}

static void load_ask(struct load *l, int fd)
{
    if (send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) != (ssize_t)sizeof(request) - 1)
        l->out->failed++;
}

static void load_event(struct load *l, const struct epoll_event *e)
{
    int fd = e->data.fd;
    if (e->events & EPOLLOUT) { /* a connection is there, or is not to be */
        bool is_good = is_connected(fd);
        if (is_good && l->keeps) {
            struct epoll_event in = {.events = EPOLLIN, .data.fd = fd};
            epoll_ctl(l->poll_fd, EPOLL_CTL_MOD, fd, &in);
            load_ask(l, fd);
            return;
        }
        l->out->done += is_good;
        l->out->failed += !is_good;
        drop(fd);
        l->open--;
        load_begin(l);
        return;
    }
    char in[4096];
    ssize_t n = recv(fd, in, sizeof(in), 0);
    if (n > 0) { /* an answer is one segment */
        l->out->done++;
        load_ask(l, fd);
    } else if (n == 0 || errno != EAGAIN) {
        l->out->failed++;
        close(fd);
        l->open--;
        load_begin(l);
    }
}

static status load_run(struct load *l, const struct router *r, unsigned at_once, int ms)
{
    struct epoll_event events[EVENTS];
    status st = netns_enter(router_node_fd(r, map_place(l->map, l->from)->node));
    l->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (st != ST_OK || l->poll_fd < 0)
        return ST_IO;
    *l->out = (struct measure_rate){0};
    mono_ns start = clock_ns(), end = start + (mono_ns)ms * 1000000, now = start;
    for (unsigned i = 0; i < at_once; i++)
        load_begin(l);
    while (l->open && now < end) {
        int n = epoll_wait(l->poll_fd, events, EVENTS, 100);
        for (int i = 0; i < n; i++)
            load_event(l, &events[i]);
        now = clock_ns();
    }
    l->out->per_s = (double)l->out->done / ((double)(now - start) / 1e9);
    close(l->poll_fd); /* what is open still goes with the process */
    return ST_OK;
}

status measure_connection_rate(const struct map *m, const struct router *r, unsigned from, unsigned to,
                               unsigned at_once, int ms, struct measure_rate *out)
{
    struct load l = {.map = m, .from = from, .to = to, .out = out};
    return load_run(&l, r, at_once, ms);
}

status measure_request_rate(const struct map *m, const struct router *r, unsigned from, unsigned to, unsigned at_once,
                            int ms, struct measure_rate *out)
{
    struct load l = {.map = m, .from = from, .to = to, .keeps = true, .out = out};
    return load_run(&l, r, at_once, ms);
}
