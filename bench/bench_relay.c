/* bench_relay.c - a TCP relay that counts: bench_relay HOST PORT
 *
 * Listens on a free port of 127.0.0.1, which it prints ("port N"), and hands every connection on to HOST:PORT. A line
 * on standard input is answered with "CONNECTIONS BYTES-TO-HOST BYTES-FROM-HOST" since the start; the end of standard
 * input ends it. What agents and coordinator say of their traffic is held against this. One thread, poll(2). */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAIRS_MAX 500
#define ROOM (64u << 10)

/* One direction of a connection: what was read and not written yet. */
struct way {
    int from, to;
    char bytes[ROOM];
    size_t begin, end;
    bool is_at_end; /* `from` has no more */
    bool is_closed; /* `to` was told so */
    uint64_t *count;
};

struct pair {
    struct way up, down;
};

struct relay {
    int listener;
    struct sockaddr_in target;
    struct pair *pairs[PAIRS_MAX];
    size_t count;
    uint64_t connections, sent, received;
};

static void die(const char *what)
{
    fprintf(stderr, "bench_relay: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void prepare(int fd)
{
    int on = 1;
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
        die("socket");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static void accept_one(struct relay *r)
{
    int in = accept(r->listener, NULL, NULL);
    if (in < 0)
        return;
    int out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (out < 0 || r->count == PAIRS_MAX || connect(out, (struct sockaddr *)&r->target, sizeof(r->target)) != 0) {
        close(in);
        if (out >= 0)
            close(out);
        return;
    }
    prepare(in);
    prepare(out);
    struct pair *p = calloc(1, sizeof(*p));
    if (!p)
        die("memory");
    p->up = (struct way){.from = in, .to = out, .count = &r->sent};
    p->down = (struct way){.from = out, .to = in, .count = &r->received};
    r->pairs[r->count++] = p;
    r->connections++;
}

/* False: the connection is broken. */
static bool move(struct way *w, short from_events, short to_events)
{
    if (from_events & (POLLIN | POLLHUP | POLLERR) && w->begin == w->end && !w->is_at_end) {
        ssize_t n = read(w->from, w->bytes, ROOM);
        if (n < 0 && errno != EAGAIN)
            return false;
        w->is_at_end = n == 0;
        w->begin = 0;
        w->end = n > 0 ? (size_t)n : 0;
        *w->count += w->end;
        to_events |= POLLOUT;
    }
    if (to_events & POLLOUT && w->begin < w->end) {
        ssize_t n = send(w->to, w->bytes + w->begin, w->end - w->begin, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN)
            return false;
        w->begin += n > 0 ? (size_t)n : 0;
    }
    if (w->is_at_end && w->begin == w->end && !w->is_closed) {
        w->is_closed = true;
        shutdown(w->to, SHUT_WR);
    }
    return true;
}

static short wanted(const struct way *in, const struct way *out)
{
    return (short)((in->begin == in->end && !in->is_at_end ? POLLIN : 0) | (out->begin < out->end ? POLLOUT : 0));
}

static void drop(struct relay *r, size_t i)
{
    close(r->pairs[i]->up.from);
    close(r->pairs[i]->up.to);
    free(r->pairs[i]);
    r->pairs[i] = r->pairs[--r->count];
}

static void step(struct relay *r, const struct pollfd *fds, size_t known)
{
    for (size_t i = known; i-- > 0;) {
        struct pair *p = r->pairs[i];
        short in = fds[2 * i].revents, out = fds[2 * i + 1].revents;
        bool is_good = move(&p->up, in, out) && move(&p->down, out, in);
        if (!is_good || (p->up.is_closed && p->down.is_closed))
            drop(r, i);
    }
}

static void tell(const struct relay *r)
{
    printf("%llu %llu %llu\n", (unsigned long long)r->connections, (unsigned long long)r->sent,
           (unsigned long long)r->received);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static struct relay r;
    static struct pollfd fds[2 * PAIRS_MAX + 2];
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(here);
    if (argc != 3 || inet_pton(AF_INET, argv[1], &r.target.sin_addr) != 1) {
        fprintf(stderr, "usage: bench_relay HOST PORT\n");
        return 2;
    }
    r.target.sin_family = AF_INET;
    r.target.sin_port = htons((uint16_t)atoi(argv[2]));
    r.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (r.listener < 0 || bind(r.listener, (struct sockaddr *)&here, sizeof(here)) != 0 ||
        listen(r.listener, 64) != 0 || getsockname(r.listener, (struct sockaddr *)&here, &n) != 0)
        die("listen");
    printf("port %d\n", ntohs(here.sin_port));
    fflush(stdout);
    for (;;) {
        char line[64];
        size_t known = r.count;
        for (size_t i = 0; i < known; i++) {
            const struct pair *p = r.pairs[i];
            fds[2 * i] = (struct pollfd){.fd = p->up.from, .events = wanted(&p->up, &p->down)};
            fds[2 * i + 1] = (struct pollfd){.fd = p->up.to, .events = wanted(&p->down, &p->up)};
        }
        fds[2 * known] = (struct pollfd){.fd = r.listener, .events = POLLIN};
        fds[2 * known + 1] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
        if (poll(fds, 2 * known + 2, -1) < 0 && errno != EINTR)
            die("poll");
        if (fds[2 * known + 1].revents) {
            if (read(STDIN_FILENO, line, sizeof(line)) <= 0)
                return 0;
            tell(&r);
        }
        step(&r, fds, known);
        if (fds[2 * known].revents & POLLIN)
            accept_one(&r);
    }
}
