/* prober_tcp.c - a sample is one connection: made, timed, closed. */
#include <errno.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "io/clock.h"
#include "io/prober_internal.h"
#include "io/sockaddr.h"

uint32_t probe_socket_rtt(int fd, bool *resent)
{
    struct tcp_info i = {0};
    socklen_t n = sizeof(i);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &n) != 0 || n < sizeof(i))
        return 0;
    if (resent)
        *resent = i.tcpi_total_retrans > 0;
    return i.tcpi_rtt;
}

static void conclude(struct probe *q, int error)
{
    int64_t took_us = clock_mono_us() - q->began_us;
    status st = ST_CONNECT;
    if (error == 0) {
        bool resent = false;
        uint32_t rtt = probe_socket_rtt(q->fd, &resent);
        /* Neither can be shorter than the path is, so the shorter of the two is nearer to it. */
        if (rtt && rtt < took_us)
            took_us = rtt;
        st = resent && !rtt ? ST_TIMEOUT : ST_OK;
    } else if (error == ECONNREFUSED) {
        st = ST_OK;
    } else if (error == ETIMEDOUT) {
        st = ST_TIMEOUT;
    }
    probe_close(q);
    probe_sample(q, st, took_us, 0);
}

static void on_writable(struct probe *q)
{
    int error = 0;
    socklen_t n = sizeof(error);
    if (getsockopt(q->fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0)
        error = errno;
    conclude(q, error);
}

static void begin(struct probe *q)
{
    struct sockaddr_storage to;
    socklen_t n = sockaddr_of_addr(&q->req.addr, q->req.port, &to);
    q->fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (q->fd < 0) {
        probe_sample(q, errno == EAFNOSUPPORT ? ST_CONNECT : ST_IO, 0, 0);
        return;
    }
    q->began_us = clock_mono_us();
    if (connect(q->fd, (struct sockaddr *)&to, n) == 0) {
        conclude(q, 0);
    } else if (errno != EINPROGRESS) {
        conclude(q, errno);
    } else if (!probe_watch(q, q->fd, true, on_writable)) {
        probe_close(q);
        probe_sample(q, ST_IO, 0, 0);
    }
}

const struct probe_ops probe_tcp = {.begin = begin, .stop = probe_close, .done = probe_close};
