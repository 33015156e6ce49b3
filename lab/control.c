#include "lab/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"

#define CLIENTS 32
#define LISTENER CLIENTS /* its event */

struct client {
    int fd; /* -1: free */
    struct buf in, out;
    size_t sent;
    int pass; /* a descriptor to go with the first byte; owned, -1: none */
};

struct control {
    int fd, poll_fd;
    char *path; /* owned */
    control_fn *fn;
    void *self; /* borrowed */
    struct client clients[CLIENTS];
};

static socklen_t address(const char *path, struct sockaddr_un *out)
{
    size_t n = strlen(path);
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (n >= sizeof(out->sun_path))
        return 0;
    memcpy(out->sun_path, path, n + 1);
    return sizeof(*out);
}

/* ---- our side ---- */

static status listen_at(struct control *c)
{
    struct sockaddr_un a;
    socklen_t n = address(c->path, &a);
    if (n == 0)
        return ST_LIMIT;
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    c->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (c->fd < 0 || c->poll_fd < 0)
        return ST_IO;
    if (bind(c->fd, (struct sockaddr *)&a, n) != 0)
        return errno == EADDRINUSE ? ST_BUSY : ST_IO;
    struct epoll_event e = {.events = EPOLLIN, .data.u32 = LISTENER};
    return listen(c->fd, CLIENTS) == 0 && epoll_ctl(c->poll_fd, EPOLL_CTL_ADD, c->fd, &e) == 0 ? ST_OK : ST_IO;
}

status control_new(const char *path, control_fn *fn, void *self, struct control **out)
{
    struct control *c = mem_alloc(sizeof(*c));
    c->path = mem_str(span_str(path));
    c->fn = fn;
    c->self = self;
    c->fd = c->poll_fd = -1;
    for (size_t i = 0; i < CLIENTS; i++)
        c->clients[i].fd = c->clients[i].pass = -1;
    status st = listen_at(c);
    if (st == ST_OK) {
        *out = c;
        return st;
    }
    int err = errno;
    if (st == ST_BUSY) { /* the file is another's */
        free(c->path);
        c->path = NULL;
    }
    control_free(c);
    errno = err;
    return st;
}

static void hang_up(struct client *k)
{
    if (k->fd >= 0)
        close(k->fd);
    if (k->pass >= 0)
        close(k->pass);
    k->fd = k->pass = -1;
    k->sent = 0;
    buf_done(&k->in);
    buf_done(&k->out);
}

void control_free(struct control *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < CLIENTS; i++)
        hang_up(&c->clients[i]);
    if (c->path && c->fd >= 0)
        unlink(c->path);
    if (c->fd >= 0)
        close(c->fd);
    if (c->poll_fd >= 0)
        close(c->poll_fd);
    free(c->path);
    free(c);
}

int control_fd(const struct control *c)
{
    return c->poll_fd;
}

/* All are taken: the new one is turned away, as there is nobody to wait for. */
static void take_client(struct control *c)
{
    int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};
        if (c->clients[i].fd >= 0 || epoll_ctl(c->poll_fd, EPOLL_CTL_ADD, fd, &e) != 0)
            continue;
        c->clients[i].fd = fd;
        return;
    }
    close(fd);
}

static void send_some(struct client *k)
{
    alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec v = {k->out.p + k->sent, k->out.n - k->sent};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    if (k->pass >= 0) {
        m.msg_control = space;
        m.msg_controllen = sizeof(space);
        struct cmsghdr *h = CMSG_FIRSTHDR(&m);
        h->cmsg_level = SOL_SOCKET;
        h->cmsg_type = SCM_RIGHTS;
        h->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(h), &k->pass, sizeof(int));
    }
    ssize_t n = sendmsg(k->fd, &m, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n >= 0) {
        k->sent += (size_t)n;
        if (k->pass >= 0)
            close(k->pass);
        k->pass = -1;
    }
    if (n < 0 || k->sent == k->out.n)
        hang_up(k);
}

static void answer(struct control *c, struct client *k, struct span line)
{
    int fd = -1;
    c->fn(c->self, line, &k->out, &fd);
    if (k->out.n == 0)
        buf_puts(&k->out, "error no answer\n");
    k->pass = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    struct epoll_event e = {.events = EPOLLOUT, .data.u32 = (uint32_t)(k - c->clients)};
    if (epoll_ctl(c->poll_fd, EPOLL_CTL_MOD, k->fd, &e) != 0)
        hang_up(k);
    else
        send_some(k);
}

static void read_some(struct control *c, struct client *k)
{
    ssize_t n = recv(k->fd, buf_room(&k->in, CONTROL_LINE_MAX), CONTROL_LINE_MAX, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        k->in.n += (size_t)n;
    size_t end = span_find(buf_span(&k->in), '\n', 0);
    if (end < k->in.n)
        answer(c, k, span_cut(buf_span(&k->in), 0, end));
    else if (n <= 0 || k->in.n > CONTROL_LINE_MAX)
        hang_up(k);
}

void control_turn(struct control *c)
{
    struct epoll_event events[CLIENTS];
    int n = epoll_wait(c->poll_fd, events, CLIENTS, 0);
    for (int i = 0; i < n; i++) {
        if (events[i].data.u32 == LISTENER) {
            take_client(c);
            continue;
        }
        struct client *k = &c->clients[events[i].data.u32];
        if (k->fd >= 0 && k->out.n)
            send_some(k);
        else if (k->fd >= 0)
            read_some(c, k);
    }
}

/* ---- the other side ---- */

static ssize_t take(int fd, struct buf *answer, int *passed)
{
    alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof(int))];
    struct iovec v = {buf_room(answer, 65536), 65536};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
    ssize_t n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
    if (n < 0)
        return n;
    answer->n += (size_t)n;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
        if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS && h->cmsg_len >= CMSG_LEN(sizeof(int))) {
            if (*passed >= 0)
                close(*passed);
            memcpy(passed, CMSG_DATA(h), sizeof(int));
        }
    }
    return n;
}

static status exchange(int fd, struct span line, struct buf *answer, int *passed)
{
    struct buf out = {0};
    buf_put(&out, line);
    buf_putc(&out, '\n');
    ssize_t n = send(fd, out.p, out.n, MSG_NOSIGNAL);
    bool is_sent = n == (ssize_t)out.n;
    buf_done(&out);
    if (!is_sent)
        return ST_IO;
    while ((n = take(fd, answer, passed)) != 0) {
        if (n < 0 && errno != EINTR)
            return ST_IO;
        if (answer->n > CONTROL_ANSWER_MAX)
            return ST_LIMIT;
    }
    if (span_starts(buf_span(answer), SPAN("error")))
        return ST_REFUSED;
    return span_starts(buf_span(answer), SPAN("ok")) ? ST_OK : ST_PROTOCOL;
}

status control_ask(const char *path, struct span line, struct buf *answer, int *fd)
{
    struct sockaddr_un a;
    socklen_t n = address(path, &a);
    int passed = -1;
    if (n == 0 || line.n > CONTROL_LINE_MAX)
        return ST_LIMIT;
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0)
        return ST_IO;
    status st = ST_NOT_FOUND;
    if (connect(s, (struct sockaddr *)&a, n) == 0)
        st = exchange(s, line, answer, &passed);
    close(s);
    if (fd && st == ST_OK)
        *fd = passed;
    else if (passed >= 0)
        close(passed);
    return st;
}
