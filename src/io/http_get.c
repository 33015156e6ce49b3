#include "io/http_get.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "io/clock.h"
#include "io/sockaddr.h"

#define CHUNK 65536

void http_got_done(struct http_got *g)
{
    buf_done(&g->head);
    buf_done(&g->body);
    *g = (struct http_got){0};
}

/* Until the socket is ready for `events`, or the time is over. */
static status wait_for(int fd, short events, mono_ms deadline)
{
    for (;;) {
        mono_ms left = deadline - clock_mono();
        struct pollfd p = {.fd = fd, .events = events};
        int n = left > 0 ? poll(&p, 1, (int)left) : 0;
        if (n > 0)
            return ST_OK;
        if (n == 0)
            return ST_TIMEOUT;
        if (errno != EINTR)
            return ST_IO;
    }
}

static status open_to(const struct addr *addr, int port, mono_ms deadline, int *out)
{
    struct sockaddr_storage to;
    socklen_t n = sockaddr_of_addr(addr, port, &to);
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error = 0;
    if (n == 0 || fd < 0) {
        if (fd >= 0)
            close(fd);
        return ST_IO;
    }
    status st = ST_OK;
    if (connect(fd, (struct sockaddr *)&to, n) != 0) {
        socklen_t size = sizeof(error);
        st = errno == EINPROGRESS ? wait_for(fd, POLLOUT, deadline) : ST_CONNECT;
        if (st == ST_OK && (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0))
            st = ST_CONNECT;
    }
    if (st == ST_OK)
        *out = fd;
    else
        close(fd);
    return st;
}

static status send_all(int fd, struct span text, mono_ms deadline)
{
    while (text.n > 0) {
        ssize_t n = send(fd, text.p, text.n, MSG_NOSIGNAL);
        if (n > 0)
            text = span_from(text, (size_t)n);
        else if (n < 0 && errno != EAGAIN && errno != EINTR)
            return ST_IO;
        else if (n < 0 && errno == EAGAIN) {
            status st = wait_for(fd, POLLOUT, deadline);
            if (st != ST_OK)
                return st;
        }
    }
    return ST_OK;
}

/* To the end of the connection. */
static status receive_all(int fd, mono_ms deadline, struct buf *out)
{
    for (;;) {
        ssize_t n = recv(fd, buf_room(out, CHUNK), CHUNK, 0);
        if (n == 0)
            return ST_OK;
        if (n > 0) {
            out->n += (size_t)n;
            if (out->n > HTTP_GET_BYTES_MAX)
                return ST_LIMIT;
        } else if (errno == EAGAIN) {
            status st = wait_for(fd, POLLIN, deadline);
            if (st != ST_OK)
                return st;
        } else if (errno != EINTR) {
            return ST_IO;
        }
    }
}

/* "HTTP/1.1 200 OK", lines, an empty line, the body. */
static status split_answer(struct span answer, struct http_got *out)
{
    size_t end = span_search(answer, SPAN("\r\n\r\n"), false);
    size_t blank = span_find(answer, ' ', 0);
    uint64_t code;
    if (end == answer.n || !span_starts(answer, SPAN("HTTP/1.")) ||
        !span_u64(span_cut(answer, blank + 1, 3), 599, &code) || code < 100)
        return ST_PROTOCOL;
    http_got_done(out);
    out->status = (int)code;
    buf_put(&out->head, span_cut(answer, 0, end + 2));
    buf_put(&out->body, span_from(answer, end + 4));
    return ST_OK;
}

status http_get(const struct addr *addr, int port, const char *target, int timeout_ms, struct http_got *out)
{
    mono_ms deadline = clock_mono() + timeout_ms;
    struct buf text = {0};
    char host[ADDR_TEXT_MAX];
    int fd = -1;
    addr_format(addr, host);
    /* 1.0: the answer ends with the connection and comes in one piece. */
    buf_printf(&text, "GET %s HTTP/1.0\r\nHost: %s%s%s:%d\r\n\r\n", target, addr->family == 6 ? "[" : "", host,
               addr->family == 6 ? "]" : "", port);
    status st = open_to(addr, port, deadline, &fd);
    if (st == ST_OK)
        st = send_all(fd, buf_span(&text), deadline);
    buf_clear(&text);
    if (st == ST_OK)
        st = receive_all(fd, deadline, &text);
    if (st == ST_OK)
        st = split_answer(buf_span(&text), out);
    if (fd >= 0)
        close(fd);
    buf_done(&text);
    return st;
}
