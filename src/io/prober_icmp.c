/* prober_icmp.c - echo requests over datagram sockets: the kernel fills in the identifier and the checksum, and hands
 * us the replies to our own requests alone. One socket a probe; samples are told apart by their number. */
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <time.h>

#include "io/clock.h"
#include "io/entropy.h"
#include "io/prober_internal.h"
#include "io/sockaddr.h"

/* ICMP and ICMPv6 begin alike: type, code, checksum, identifier, number. */
#define NUMBER_AT 6
#define TOKEN_AT 8
#define ECHO_BYTES 16
#define REPLIES_A_TURN 16 /* late ones are thrown away; a flood must not hold the loop */

static bool is_ipv6(const struct probe *q)
{
    return q->req.addr.family == 6;
}

static int64_t wall_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static status open_socket(struct probe *q)
{
    struct sockaddr_storage to;
    socklen_t n = sockaddr_of_addr(&q->req.addr, 0, &to);
    int on = 1;
    q->fd = socket(to.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, is_ipv6(q) ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
    if (q->fd < 0)
        return errno == EACCES || errno == EPERM || errno == EPROTONOSUPPORT ? ST_UNSUPPORTED
               : errno == EAFNOSUPPORT                                       ? ST_CONNECT
                                                                             : ST_IO;
    /* Connected, so that an error that comes back is told to us. */
    if (connect(q->fd, (struct sockaddr *)&to, n) != 0)
        return ST_CONNECT;
    (void)setsockopt(q->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)); /* without: by the clock */
    return entropy_draw(&q->token, sizeof(q->token));
}

/* When the kernel received it, or 0. */
static int64_t stamp_of(struct msghdr *m)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec t;
            memcpy(&t, CMSG_DATA(c), sizeof(t));
            return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
        }
    return 0;
}

static bool is_reply(const struct probe *q, const unsigned char *b, size_t n, const struct sockaddr_storage *from)
{
    struct addr a = addr_of_sockaddr((const struct sockaddr *)from);
    unsigned number = (unsigned)(b[NUMBER_AT] << 8 | b[NUMBER_AT + 1]);
    return n >= ECHO_BYTES && b[0] == (is_ipv6(q) ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY) && number == q->asked &&
           memcmp(b + TOKEN_AT, &q->token, sizeof(q->token)) == 0 && addr_eq(&a, &q->req.addr);
}

/* The wall clock may have been set meanwhile: a time that the other clock does not allow is none. */
static int64_t path_us(const struct probe *q, int64_t stamp_us)
{
    int64_t by_clock = clock_mono_us() - q->began_us, by_kernel = stamp_us - q->sent_us;
    return stamp_us && by_kernel > 0 && by_kernel < by_clock ? by_kernel : by_clock;
}

static void on_readable(struct probe *q)
{
    for (int i = 0; i < REPLIES_A_TURN; i++) {
        unsigned char bytes[128] = {0};
        union {
            struct cmsghdr align;
            char room[256];
        } control;
        struct sockaddr_storage from = {0};
        struct iovec part = {bytes, sizeof(bytes)};
        struct msghdr m = {.msg_name = &from,
                           .msg_namelen = sizeof(from),
                           .msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof(control)};
        ssize_t n = recvmsg(q->fd, &m, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n < 0) { /* a router says that there is no way to it */
            probe_unwatch(q);
            probe_sample(q, ST_CONNECT, 0, 0);
            return;
        }
        if (is_reply(q, bytes, (size_t)n, &from)) {
            probe_unwatch(q);
            probe_sample(q, ST_OK, path_us(q, stamp_of(&m)), 0);
            return;
        }
    }
}

static void begin(struct probe *q)
{
    unsigned char echo[ECHO_BYTES] = {is_ipv6(q) ? ICMP6_ECHO_REQUEST : ICMP_ECHO};
    status st = q->fd < 0 ? open_socket(q) : ST_OK;
    if (st != ST_OK) {
        probe_close(q);
        probe_sample(q, st, 0, 0);
        return;
    }
    echo[NUMBER_AT] = (unsigned char)(q->asked >> 8);
    echo[NUMBER_AT + 1] = (unsigned char)q->asked;
    memcpy(echo + TOKEN_AT, &q->token, sizeof(q->token));
    if (!probe_watch(q, q->fd, false, on_readable)) {
        probe_unwatch(q);
        probe_sample(q, ST_IO, 0, 0);
        return;
    }
    q->began_us = clock_mono_us();
    q->sent_us = wall_us();
    if (send(q->fd, echo, sizeof(echo), 0) < 0) {
        probe_unwatch(q);
        probe_sample(q, ST_CONNECT, 0, 0);
    }
}

const struct probe_ops probe_icmp = {.begin = begin, .stop = probe_unwatch, .done = probe_close};
