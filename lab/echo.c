#include "lab/echo.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "lab/net/netns.h"

#define EVENTS 256
#define BACKLOG 4096
#define LISTENING ((uint64_t)1 << 32) /* with an event's descriptor */

struct echo {
    pthread_t thread;
    int poll_fd, stop_fd;
    int *fds; /* listening, by node */
    size_t count;
    bool has_thread;
};

static const char page[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 120\r\n\r\n"
                           "The quick brown fox jumps over the lazy dog. The quick brown fox jumps over the lazy dog. "
                           "The quick brown fox jumps over";

static int listen_here(void)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, off = 0;
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(ECHO_PORT)};
    struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons(ECHO_PORT)};
    bool is6 = fd >= 0;
    if (!is6)
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (is6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    const struct sockaddr *a = is6 ? (const struct sockaddr *)&any : (const struct sockaddr *)&any4;
    if (bind(fd, a, is6 ? sizeof(any) : sizeof(any4)) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int err = errno;
    close(fd);
    errno = err;
    return -1;
}

static void take(const struct echo *e, int listening)
{
    for (int fd; (fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        struct epoll_event ev = {.events = EPOLLIN, .data.u64 = (uint64_t)fd};
        if (epoll_ctl(e->poll_fd, EPOLL_CTL_ADD, fd, &ev) != 0)
            close(fd);
    }
}

/* A request fits into one segment here; what does not is answered by its end. */
static void answer(int fd)
{
    char in[2048];
    ssize_t n = recv(fd, in, sizeof(in), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        close(fd);
        return;
    }
    if (n >= 4 && memcmp(in + n - 4, "\r\n\r\n", 4) == 0 &&
        send(fd, page, sizeof(page) - 1, MSG_NOSIGNAL) != (ssize_t)sizeof(page) - 1)
        close(fd);
}

static void *run(void *arg)
{
    struct echo *e = arg;
    struct epoll_event events[EVENTS];
    for (;;) {
        int n = epoll_wait(e->poll_fd, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            uint64_t data = events[i].data.u64;
            if ((int)(data & 0xffffffff) == e->stop_fd)
                return NULL;
            if (data & LISTENING)
                take(e, (int)(data & 0xffffffff));
            else
                answer((int)data);
        }
    }
}

static status watch(struct echo *e, int fd, uint64_t flag)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.u64 = (uint64_t)fd | flag};
    return fd >= 0 && epoll_ctl(e->poll_fd, EPOLL_CTL_ADD, fd, &ev) == 0 ? ST_OK : ST_IO;
}

status echo_new(const struct router *r, size_t nodes, struct echo **out)
{
    struct echo *e = mem_alloc(sizeof(*e));
    int home;
    e->fds = mem_alloc((nodes + 1) * sizeof(*e->fds));
    e->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    e->stop_fd = eventfd(0, EFD_CLOEXEC);
    status st = netns_here(&home);
    if (st == ST_OK)
        st = watch(e, e->stop_fd, 0);
    for (size_t i = 0; st == ST_OK && i < nodes; i++) {
        st = netns_enter(router_node_fd(r, (unsigned)i));
        if (st == ST_OK) {
            e->fds[e->count++] = listen_here();
            st = watch(e, e->fds[i], LISTENING);
        }
    }
    if (st == ST_OK)
        st = netns_enter(home);
    if (st == ST_OK && pthread_create(&e->thread, NULL, run, e) != 0)
        st = ST_IO;
    e->has_thread = st == ST_OK;
    close(home);
    if (st == ST_OK)
        *out = e;
    else
        echo_free(e);
    return st;
}

/* Connections that are open still go with the process. */
void echo_free(struct echo *e)
{
    if (!e)
        return;
    uint64_t one = 1;
    if (e->has_thread && write(e->stop_fd, &one, sizeof(one)) == (ssize_t)sizeof(one))
        pthread_join(e->thread, NULL);
    for (size_t i = 0; i < e->count; i++) {
        if (e->fds[i] >= 0)
            close(e->fds[i]);
    }
    if (e->poll_fd >= 0)
        close(e->poll_fd);
    if (e->stop_fd >= 0)
        close(e->stop_fd);
    free(e->fds);
    free(e);
}
