/* serve_ask.h - a search server on the folder of the test, and requests byte by byte. */
#pragma once

#include "test.h"
#include "test_folder.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "serve/serve.h"

static inline struct serve *start(struct serve_opts o)
{
    struct serve *s = NULL;
    o.data_dir = test_folder();
    o.version = SPAN("9.9");
    CHECK_STATUS("serve", serve_new(&o, &s), ST_OK);
    return s;
}

/* Sends a request over a connection of its own and returns all that came; free it. */
static inline char *ask_raw(const struct serve *s, const char *request)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)serve_port(s))};
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval patience = {20, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
    assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), (ssize_t)strlen(request));
    struct buf got = {0};
    for (ssize_t n; (n = read(fd, buf_room(&got, 65536), 65536)) > 0;)
        got.n += (size_t)n;
    close(fd);
    (void)buf_cstr(&got);
    return got.p;
}

static inline char *ask(const struct serve *s, const char *method, const char *target, const char *head)
{
    struct buf request = {0};
    buf_printf(&request, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n", method, target, head);
    char *got = ask_raw(s, buf_cstr(&request));
    buf_done(&request);
    return got;
}

static inline int code_of(const char *answer)
{
    return strncmp(answer, "HTTP/1.1 ", 9) == 0 ? (int)strtol(answer + 9, NULL, 10) : 0;
}

struct ask_case {
    const char *method, *target, *head;
    int code;
    const char *has, *lacks; /* NULL: not looked for */
};

static inline void check_cases(const struct serve *s, const struct ask_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct ask_case *c = &cases[i];
        char *got = ask(s, c->method, c->target, c->head);
        if (code_of(got) != c->code)
            fail_msg("%s %s: %d, want %d", c->method, c->target, code_of(got), c->code);
        if (c->has && !strstr(got, c->has))
            fail_msg("%s %s: no \"%s\" in %s", c->method, c->target, c->has, got);
        if (c->lacks && strstr(got, c->lacks))
            fail_msg("%s %s: has \"%s\": %s", c->method, c->target, c->lacks, got);
        free(got);
    }
}
