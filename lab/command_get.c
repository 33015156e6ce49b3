/* command_get.c - how long pages take from here: every site's first ones, one after the other over one connection, as a
 * crawler would get them, without robots.txt and without keeping anything. What probes are judged by. */
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "lab/command.h"
#include "lab/serve/pages.h"

#define JOBS_MAX 256
#define TIMEOUT_S 30
#define HEAD_MAX 8192

struct getting {
    const struct lab *lab;
    uint64_t pages, jobs, gap_ms, first, port;
    atomic_size_t next;
    atomic_size_t failed;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int connect_to(const struct lab_site *s, int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval limit = {.tv_sec = TIMEOUT_S};
    int one = 1, fd = s->addr4.family ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0)
        return -1;
    memcpy(&to.sin_addr, s->addr4.b, 4);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* What is to come after the first `n` bytes of an answer; -1: its head is not whole yet, -2: it is no page. */
static long long body_left(const char *head, size_t n)
{
    static const struct span end = SPAN_INIT("\r\n\r\n"), length = SPAN_INIT("content-length:");
    struct span text = span_of(head, n), value;
    size_t at = span_search(text, end, false), mark;
    uint64_t bytes;
    if (at == n)
        return n < HEAD_MAX ? -1 : -2;
    mark = span_search(span_cut(text, 0, at), length, true);
    if (n < 12 || memcmp(head + 9, "200", 3) != 0 || mark == at)
        return -2;
    value = span_from(text, mark + length.n);
    value = span_trim(span_cut(value, 0, span_find(value, '\r', 0)));
    if (!span_u64(value, LAB_PAGE_BYTES_MAX * 2ull, &bytes))
        return -2;
    return (long long)(at + end.n + bytes) - (long long)n;
}

static bool get_page(int fd, const struct lab_site *s, uint32_t page)
{
    struct buf ask = {0};
    char head[HEAD_MAX], rest[65536];
    size_t n = 0;
    long long left = -1;
    buf_puts(&ask, "GET ");
    pages_path(page, &ask);
    buf_printf(&ask, " HTTP/1.1\r\nHost: %.*s\r\nUser-Agent: orb-lab\r\n\r\n", SPAN_ARG(s->host));
    bool is_good = send(fd, ask.p, ask.n, MSG_NOSIGNAL) == (ssize_t)ask.n;
    buf_done(&ask);
    while (is_good && left == -1) {
        ssize_t got = recv(fd, head + n, sizeof(head) - n, 0);
        is_good = got > 0;
        n += got > 0 ? (size_t)got : 0;
        left = is_good ? body_left(head, n) : -2;
    }
    while (is_good && left > 0) {
        ssize_t got = recv(fd, rest, left < (long long)sizeof(rest) ? (size_t)left : sizeof(rest), 0);
        is_good = got > 0;
        left -= got;
    }
    return is_good && left == 0;
}

static void pause_ms(uint64_t ms)
{
    struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

/* Pauses do not count: they are the same from everywhere. */
static void get_site(struct getting *g, const struct lab_site *s)
{
    double start = now_ms(), first_ms = 0, all_ms = 0;
    uint32_t n = g->pages < s->pages ? (uint32_t)g->pages : s->pages;
    int fd = connect_to(s, (int)g->port);
    bool is_good = fd >= 0;
    for (uint32_t i = 0; is_good && i < n; i++) {
        if (i > 0) {
            pause_ms(g->gap_ms);
            start = now_ms();
        }
        is_good = get_page(fd, s, i);
        all_ms += now_ms() - start;
        if (i == 0)
            first_ms = all_ms;
    }
    if (fd >= 0)
        close(fd);
    if (is_good)
        printf("%.*s\t%u\t%.3f\t%.3f\n", SPAN_ARG(s->host), n, first_ms, all_ms);
    else
        g->failed++;
}

static void *work(void *arg)
{
    struct getting *g = arg;
    size_t i, all = g->lab->site_count;
    while ((i = g->next++) < all)
        get_site(g, &g->lab->sites[(g->first + i) % all]);
    return NULL;
}

static void get_all(struct getting *g)
{
    pthread_t threads[JOBS_MAX];
    size_t n = 0;
    while (n < g->jobs && pthread_create(&threads[n], NULL, work, g) == 0)
        n++;
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    if (n == 0)
        (void)work(g);
}

int command_get(int argc, char **argv)
{
    static const struct option longs[] = {
        {"pages", required_argument, NULL, 'p'}, {"jobs", required_argument, NULL, 'j'},
        {"gap", required_argument, NULL, 'g'},   {"first", required_argument, NULL, 'f'},
        {"port", required_argument, NULL, 'P'},  {0}};
    struct getting g = {.pages = 1, .jobs = 32, .gap_ms = 200, .port = 80};
    struct lab lab;
    bool is_good = true;
    int c;
    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (c) {
        case 'p':
            is_good &= command_number(optarg, LAB_PAGES_MAX, &g.pages) && g.pages > 0;
            break;
        case 'j':
            is_good &= command_number(optarg, JOBS_MAX, &g.jobs);
            break;
        case 'g':
            is_good &= command_number(optarg, 60000, &g.gap_ms);
            break;
        case 'f':
            is_good &= command_number(optarg, LAB_SITES_MAX, &g.first);
            break;
        case 'P':
            is_good &= command_number(optarg, 65535, &g.port);
            break;
        default:
            is_good = false;
        }
    }
    if (!is_good || optind + 1 != argc)
        return command_fail(EXIT_USAGE, "get [--pages N] [--jobs N] [--gap MS] [--first N] [--port N] FILE");
    if (command_load(argv[optind], &lab) != ST_OK)
        return EXIT_INPUT;
    g.lab = &lab;
    get_all(&g);
    size_t failed = g.failed;
    lab_done(&lab);
    return failed ? command_fail(EXIT_NO, "get: %zu sites could not be had", failed) : EXIT_DONE;
}
