/* crowd.c - many connections at once to a server on 127.0.0.1, from many loopback addresses, that never ask anything
 * sensible: some say nothing, some send a head a byte a second, most the body of a request, which was refused or not.
 * Whoever is hung up on comes again.
 *
 *     crowd PORT COUNT SECONDS [tls]     tls: all begin a handshake that they never end
 *
 * Prints "opened N, most at once N, hung up on N, not let in N". */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/clock.h"

#define PER_ADDRESS 400 /* below the coordinator's own limit for an address: that one is easy */
#define ROUND_MS 50
#define CONNECTS_A_ROUND 200 /* 4,000 a second */
#define EVENTS 1024

struct one {
    int fd; /* -1: none */
    unsigned kind, sent;
    bool is_open;
};

struct crowd {
    struct one *all;
    unsigned count, next; /* next: who is looked at for connecting */
    bool is_tls;
    int epoll_fd;
    struct sockaddr_in there;
    unsigned open, most;
    uint64_t opened, hung_up, failed;
};

/* Those with a request under way are the most: such a connection is worth more than one that waits. */
#define KIND_OF(i) ((i) % 16 < 2 ? (i) % 16 : 2 + (i) % 2)

static const char *const heads[] = {
    "",
    "GET / HTTP/1.1\r\nHost: a\r\nX-Long: ",
    "POST /agent/1/poll HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n",
    "POST /agent/1/hello HTTP/1.1\r\nHost: a\r\nContent-Length: 32\r\n\r\n",
};
/* The head of a record that says that more is to come. */
static const char handshake[] = "\x16\x03\x01\x02";

static const char *head_of(const struct crowd *c, const struct one *o)
{
    return c->is_tls ? handshake : heads[o->kind];
}

static void leave(struct crowd *c, struct one *o)
{
    if (o->is_open) {
        c->open--;
        c->hung_up++;
    } else {
        c->failed++;
    }
    close(o->fd);
    *o = (struct one){.fd = -1, .kind = o->kind};
}

static void enter(struct crowd *c, unsigned i)
{
    struct one *o = &c->all[i];
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000101u + i / PER_ADDRESS)};
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.u32 = i};
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        c->failed++;
        return;
    }
    /* Ports are not bound before the target is known: an address has them for each target anew. */
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    *o = (struct one){.fd = fd, .kind = KIND_OF(i)};
    if (bind(fd, (struct sockaddr *)&here, sizeof(here)) != 0 ||
        (connect(fd, (struct sockaddr *)&c->there, sizeof(c->there)) != 0 && errno != EINPROGRESS) ||
        epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, fd, &e) != 0)
        leave(c, o);
}

static void on_event(struct crowd *c, unsigned i, uint32_t events)
{
    struct one *o = &c->all[i];
    char in[1024];
    if (o->fd < 0)
        return;
    if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) {
        leave(c, o);
        return;
    }
    if ((events & EPOLLOUT) && !o->is_open) {
        o->is_open = true;
        c->opened++;
        if (++c->open > c->most)
            c->most = c->open;
        const char *head = head_of(c, o);
        if (head[0] && send(o->fd, head, strlen(head), MSG_NOSIGNAL) <= 0)
            leave(c, o);
    }
    if (o->fd >= 0 && (events & EPOLLIN) && recv(o->fd, in, sizeof(in), 0) == 0)
        leave(c, o);
}

/* A byte from everybody who has begun to talk. */
static void trickle(struct crowd *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        struct one *o = &c->all[i];
        if (o->is_open && head_of(c, o)[0] && o->sent++ < 30 && send(o->fd, "x", 1, MSG_NOSIGNAL) <= 0 &&
            errno != EAGAIN)
            leave(c, o);
    }
}

static void stand(struct crowd *c, int seconds)
{
    static struct epoll_event events[EVENTS];
    mono_ms end = clock_mono() + seconds * 1000ll, next_byte = clock_mono() + 1000;
    while (clock_mono() < end) {
        unsigned tried = 0;
        for (unsigned looked = 0; looked < c->count && tried < CONNECTS_A_ROUND; looked++) {
            unsigned i = c->next++ % c->count;
            if (c->all[i].fd < 0) {
                enter(c, i);
                tried++;
            }
        }
        mono_ms round = clock_mono() + ROUND_MS;
        for (mono_ms now; (now = clock_mono()) < round;) {
            int n = epoll_wait(c->epoll_fd, events, EVENTS, (int)(round - now));
            for (int k = 0; k < n; k++)
                on_event(c, events[k].data.u32, events[k].events);
        }
        if (clock_mono() >= next_byte) {
            trickle(c);
            next_byte += 1000;
        }
    }
}

int main(int argc, char **argv)
{
    bool is_tls = argc == 5 && strcmp(argv[4], "tls") == 0;
    if (argc != 4 && !is_tls) {
        fprintf(stderr, "usage: crowd PORT COUNT SECONDS [tls]\n");
        return 2;
    }
    struct crowd c = {.count = (unsigned)strtoul(argv[2], NULL, 10), .epoll_fd = epoll_create1(EPOLL_CLOEXEC)};
    c.there = (struct sockaddr_in){.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    c.is_tls = is_tls;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
        if (files.rlim_cur < c.count + 64u)
            c.count = (unsigned)files.rlim_cur - 64;
    }
    c.all = mem_alloc((c.count + 1) * sizeof(*c.all));
    for (unsigned i = 0; i < c.count; i++)
        c.all[i].fd = -1;
    stand(&c, (int)strtol(argv[3], NULL, 10));
    printf("opened %llu, most at once %u, hung up on %llu, not let in %llu\n", (unsigned long long)c.opened, c.most,
           (unsigned long long)c.hung_up, (unsigned long long)c.failed);
    free(c.all);
    close(c.epoll_fd);
    return 0;
}
