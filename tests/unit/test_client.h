/* test_client.h - HTTP by hand: connections from a chosen address, requests byte by byte. */
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

/* From one of the addresses of the loopback network; NULL: any. -1: no connection. */
static inline int dial_from(int port, const char *from, const char *to)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)}, own = {.sin_family = AF_INET};
    inet_pton(AF_INET, to, &in.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    struct timeval patience = {10, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (from) {
        inet_pton(AF_INET, from, &own.sin_addr);
        assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof(own)), 0);
    }
    if (connect(fd, (struct sockaddr *)&in, sizeof(in)) == 0)
        return fd;
    close(fd);
    return -1;
}

static inline int dial(int port, const char *to)
{
    int fd = dial_from(port, NULL, to);
    assert_true(fd >= 0);
    return fd;
}

static inline bool send_text(int fd, const char *text)
{
    return send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text);
}

/* Reads one response: up to its declared length, or the end. */
static inline char *hear(int fd, char *to, size_t cap)
{
    size_t n = 0;
    for (;;) {
        ssize_t got = read(fd, to + n, cap - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
        to[n] = '\0';
        char *end = strstr(to, "\r\n\r\n"), *length = strcasestr(to, "content-length: ");
        if (end && length && strlen(end + 4) >= strtoul(length + 16, NULL, 10))
            break;
    }
    to[n] = '\0';
    return to;
}

static inline char *ask(int fd, const char *text, char *to, size_t cap)
{
    assert_true(send_text(fd, text));
    return hear(fd, to, cap);
}

/* The server has closed it: an end, or a reset. */
static inline bool is_hung_up(int fd)
{
    char rest[4096];
    ssize_t n;
    while ((n = read(fd, rest, sizeof(rest))) > 0)
        continue;
    return n == 0 || errno == ECONNRESET;
}
