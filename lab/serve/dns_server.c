#include "lab/serve/dns_server.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/sockaddr.h"
#include "lab/serve/dns.h"

#define CLIENTS 64 /* TCP connections; a new one takes the place of the oldest */
#define BACKLOG 128
#define UDP_TURN 64 /* queries before others get their turn */

enum { UDP4, UDP6, TCP4, TCP6, SOCKETS };

struct client {
    int fd; /* -1: free */
    struct addr from;
    struct buf in;
    uint64_t since; /* number of the connection */
};

struct dns_server {
    const struct map *map; /* borrowed */
    struct names *names;
    int sockets[SOCKETS]; /* -1: none */
    int stop_fd;
    struct client clients[CLIENTS];
    uint64_t connections;
    atomic_uint_fast64_t queries;
    unsigned char answer[2 + DNS_TCP_MAX];
    pthread_t thread;
    bool has_thread;
};

/* ---- sockets ---- */

static status open_one(int kind, int port, int *out)
{
    bool is6 = kind == UDP6 || kind == TCP6, is_udp = kind == UDP4 || kind == UDP6;
    int on = 1;
    struct sockaddr_storage ss;
    struct addr any = {.family = is6 ? 6 : 4};
    socklen_t n = sockaddr_of_addr(&any, port, &ss);
    int fd = socket(ss.ss_family, (is_udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return is6 ? ST_OK : ST_IO; /* a kernel without IPv6 serves IPv4 */
    *out = fd;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (is6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on));
        setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof(on)); /* to answer from AnyIP addresses */
    } else {
        setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on));
    }
    if (bind(fd, (struct sockaddr *)&ss, n) != 0 || (!is_udp && listen(fd, BACKLOG) != 0))
        return errno == EADDRINUSE ? ST_BUSY : ST_IO;
    return ST_OK;
}

static int place_of(const struct dns_server *s, const struct addr *from)
{
    unsigned place;
    return map_at(s->map, from, &place) ? (int)place : -1;
}

/* ---- UDP ---- */

/* The control message that says to which address the query came says, sent back, from which the answer is to go. Only
 * the device has to be left open. */
static void point_back(struct msghdr *m)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo i;
            memcpy(&i, CMSG_DATA(c), sizeof(i));
            i.ipi_spec_dst = i.ipi_addr;
            i.ipi_ifindex = 0;
            memcpy(CMSG_DATA(c), &i, sizeof(i));
        } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo i;
            memcpy(&i, CMSG_DATA(c), sizeof(i));
            i.ipi6_ifindex = 0;
            memcpy(CMSG_DATA(c), &i, sizeof(i));
        }
    }
}

static void serve_udp(struct dns_server *s, int fd)
{
    for (int i = 0; i < UDP_TURN; i++) {
        char query[4096];
        alignas(struct cmsghdr) char control[256];
        struct sockaddr_storage from;
        struct iovec v = {query, sizeof(query)};
        struct msghdr m = {.msg_name = &from,
                           .msg_namelen = sizeof(from),
                           .msg_iov = &v,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof(control)};
        ssize_t n = recvmsg(fd, &m, 0);
        if (n < 0)
            return;
        struct addr a = addr_of_sockaddr((const struct sockaddr *)&from);
        atomic_fetch_add(&s->queries, 1);
        v.iov_len = dns_answer(s->names, place_of(s, &a), span_of(query, (size_t)n), true, DNS_UDP_MAX, s->answer);
        v.iov_base = s->answer;
        point_back(&m);
        m.msg_flags = 0;
        if (v.iov_len)
            (void)!sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

/* ---- TCP ---- */

static void hang_up(struct client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    buf_done(&c->in);
}

static void take_client(struct dns_server *s, int listening)
{
    struct sockaddr_storage from;
    socklen_t n = sizeof(from);
    int fd = accept4(listening, (struct sockaddr *)&from, &n, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    struct client *c = &s->clients[0];
    for (size_t i = 0; i < CLIENTS && c->fd >= 0; i++) {
        if (s->clients[i].fd < 0 || s->clients[i].since < c->since)
            c = &s->clients[i];
    }
    hang_up(c);
    *c = (struct client){.fd = fd, .from = addr_of_sockaddr((const struct sockaddr *)&from), .since = ++s->connections};
}

/* Queries with their length before them; answers are short enough to be taken at once. */
static void serve_client(struct dns_server *s, struct client *c)
{
    ssize_t n = recv(c->fd, buf_room(&c->in, 4096), 4096, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        hang_up(c);
        return;
    }
    c->in.n += (size_t)n;
    struct span rest = buf_span(&c->in);
    while (rest.n >= 2) {
        size_t len = (size_t)(unsigned char)rest.p[0] << 8 | (unsigned char)rest.p[1];
        if (rest.n < 2 + len)
            break;
        atomic_fetch_add(&s->queries, 1);
        size_t out =
            dns_answer(s->names, place_of(s, &c->from), span_cut(rest, 2, len), false, DNS_TCP_MAX, s->answer + 2);
        s->answer[0] = (unsigned char)(out >> 8);
        s->answer[1] = (unsigned char)out;
        if (out == 0 || send(c->fd, s->answer, out + 2, MSG_NOSIGNAL) != (ssize_t)out + 2) {
            hang_up(c);
            return;
        }
        rest = span_from(rest, 2 + len);
    }
    memmove(c->in.p, rest.p, rest.n);
    c->in.n = rest.n;
}

/* ---- the thread ---- */

static void *run(void *arg)
{
    struct dns_server *s = arg;
    struct pollfd fds[1 + SOCKETS + CLIENTS];
    for (;;) {
        fds[0] = (struct pollfd){.fd = s->stop_fd, .events = POLLIN};
        for (size_t i = 0; i < SOCKETS; i++)
            fds[1 + i] = (struct pollfd){.fd = s->sockets[i], .events = POLLIN};
        for (size_t i = 0; i < CLIENTS; i++)
            fds[1 + SOCKETS + i] = (struct pollfd){.fd = s->clients[i].fd, .events = POLLIN};
        if (poll(fds, 1 + SOCKETS + CLIENTS, -1) < 0)
            continue;
        if (fds[0].revents)
            return NULL;
        for (size_t i = 0; i < CLIENTS; i++) {
            if (fds[1 + SOCKETS + i].revents)
                serve_client(s, &s->clients[i]);
        }
        for (int i = UDP4; i <= UDP6; i++) {
            if (fds[1 + i].revents)
                serve_udp(s, s->sockets[i]);
        }
        for (int i = TCP4; i <= TCP6; i++) {
            if (fds[1 + i].revents)
                take_client(s, s->sockets[i]);
        }
    }
}

status dns_server_new(const struct lab *lab, int port, struct dns_server **out)
{
    struct dns_server *s = mem_alloc(sizeof(*s));
    s->map = lab->map;
    s->names = names_new(lab);
    for (size_t i = 0; i < CLIENTS; i++)
        s->clients[i].fd = -1;
    for (size_t i = 0; i < SOCKETS; i++)
        s->sockets[i] = -1;
    s->stop_fd = eventfd(0, EFD_CLOEXEC);
    status st = s->stop_fd >= 0 ? ST_OK : ST_IO;
    for (int i = 0; st == ST_OK && i < SOCKETS; i++)
        st = open_one(i, port, &s->sockets[i]);
    if (st == ST_OK && pthread_create(&s->thread, NULL, run, s) != 0)
        st = ST_IO;
    s->has_thread = st == ST_OK;
    if (st == ST_OK)
        *out = s;
    else
        dns_server_free(s);
    return st;
}

void dns_server_free(struct dns_server *s)
{
    if (!s)
        return;
    uint64_t one = 1;
    if (s->has_thread && write(s->stop_fd, &one, sizeof(one)) == (ssize_t)sizeof(one))
        pthread_join(s->thread, NULL);
    for (size_t i = 0; i < CLIENTS; i++)
        hang_up(&s->clients[i]);
    for (size_t i = 0; i < SOCKETS; i++) {
        if (s->sockets[i] >= 0)
            close(s->sockets[i]);
    }
    if (s->stop_fd >= 0)
        close(s->stop_fd);
    names_free(s->names);
    free(s);
}

uint64_t dns_server_count(const struct dns_server *s)
{
    return atomic_load(&s->queries);
}
