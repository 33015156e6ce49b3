#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "io/download.h"
#include "io/registry_fetch.h"
#include "test_folder.h"

#define ANSWERS_MAX 8

/* A server that answers each connection with the next of a list of texts, hangs up, and remembers what it was asked. */
struct server {
    int fd, port;
    pthread_t thread;
    const char *answers[ANSWERS_MAX];
    struct buf asked[ANSWERS_MAX];
    size_t count, served;
};

static void read_head(int fd, struct buf *out)
{
    while (span_search(buf_span(out), SPAN("\r\n\r\n"), false) == out->n && out->n < 65536) {
        ssize_t n = recv(fd, buf_room(out, 4096), 4096, 0);
        if (n <= 0)
            return;
        out->n += (size_t)n;
    }
}

static void *serve(void *arg)
{
    struct server *s = arg;
    while (s->served < s->count) {
        int fd = accept(s->fd, NULL, NULL);
        if (fd < 0)
            break;
        read_head(fd, &s->asked[s->served]);
        const char *text = s->answers[s->served];
        ssize_t sent = send(fd, text, strlen(text), MSG_NOSIGNAL);
        (void)sent;
        s->served++;
        shutdown(fd, SHUT_WR);
        char rest[256];
        while (recv(fd, rest, sizeof(rest), 0) > 0)
            ;
        close(fd);
    }
    return NULL;
}

static void start(struct server *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(at);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(s->fd, 8), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&at, &n), 0);
    s->port = ntohs(at.sin_port);
    while (s->count < ANSWERS_MAX && s->answers[s->count])
        s->count++;
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void stop(struct server *s)
{
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
    for (size_t i = 0; i < ANSWERS_MAX; i++)
        buf_done(&s->asked[i]);
}

static void check_asked(struct server *s, size_t i, const char *line, bool is_there)
{
    bool has = span_search(buf_span(&s->asked[i]), span_str(line), true) < s->asked[i].n;
    if (has != is_there)
        fail_msg("request %zu %s \"%s\":\n%s", i, has ? "has" : "lacks", line, buf_cstr(&s->asked[i]));
}

static void write_file(const char *name, const char *text)
{
    char path[TEST_PATH];
    test_path(path, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void check_file(const char *name, const char *want)
{
    char path[TEST_PATH];
    struct stat sb;
    test_path(path, name);
    if (!want) {
        if (stat(path, &sb) == 0)
            fail_msg("%s is there", name);
        return;
    }
    struct span got = test_read_file(path);
    CHECK_SPAN(name, got, span_str(want));
    free((char *)(uintptr_t)got.p);
}

static status get(struct server *s, struct download_opts o, struct download_result *r, struct buf *why)
{
    char url[64], path[TEST_PATH];
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/folder/file", s->port);
    test_path(path, "file");
    o.url = url;
    o.path = path;
    return download(&o, r, why);
}

static void gets_a_file_once_and_asks_whether_it_changed(void **state)
{
    struct server s = {.answers = {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"one\"\r\n"
                                   "Last-Modified: Sat, 14 Nov 2026 10:00:00 GMT\r\n\r\nhello",
                                   "HTTP/1.1 304 Not Modified\r\nETag: \"one\"\r\n\r\n",
                                   "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nETag: \"two\"\r\n\r\nnew"}};
    struct download_result r;
    start(&s);
    CHECK_STATUS("first", get(&s, (struct download_opts){0}, &r, NULL), ST_OK);
    CHECK("first", r.http == 200 && !r.is_unchanged && r.file_bytes == 5 && r.received == 5 && !r.was_resumed);
    check_asked(&s, 0, "GET /folder/file HTTP/1.1", true);
    check_asked(&s, 0, "If-None-Match", false);
    check_file("file", "hello");
    check_file("file.part", NULL);
    CHECK_STATUS("second", get(&s, (struct download_opts){0}, &r, NULL), ST_OK);
    CHECK("second", r.http == 304 && r.is_unchanged && r.file_bytes == 5 && r.received == 0);
    check_asked(&s, 1, "If-None-Match: \"one\"\r\n", true);
    check_asked(&s, 1, "If-Modified-Since: Sat, 14 Nov 2026 10:00:00 GMT\r\n", true);
    check_file("file", "hello");
    CHECK_STATUS("third", get(&s, (struct download_opts){0}, &r, NULL), ST_OK);
    CHECK("third", !r.is_unchanged && r.file_bytes == 3);
    check_file("file", "new");
    check_file("file.http", "ETag: \"two\"\n");
    stop(&s);
}

static void goes_on_where_it_stopped(void **state)
{
    struct server s = {.answers = {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v\"\r\n\r\nabcd",
                                   "HTTP/1.1 206 Partial Content\r\nContent-Length: 6\r\nETag: \"v\"\r\n"
                                   "Content-Range: bytes 4-9/10\r\n\r\nef",
                                   "HTTP/1.1 206 Partial Content\r\nContent-Length: 4\r\nETag: \"v\"\r\n"
                                   "Content-Range: bytes 6-9/10\r\n\r\nghij"}};
    struct download_result r;
    start(&s);
    CHECK_STATUS("broken", get(&s, (struct download_opts){.tries = 1}, &r, NULL), ST_CONNECT);
    check_file("file", NULL);
    check_file("file.part", "abcd");
    CHECK_STATUS("goes on", get(&s, (struct download_opts){.tries = 3}, &r, NULL), ST_OK);
    CHECK("resumed", r.was_resumed && r.received == 6 && r.file_bytes == 10);
    check_asked(&s, 1, "Range: bytes=4-\r\n", true);
    check_asked(&s, 1, "If-Range: \"v\"\r\n", true);
    check_asked(&s, 2, "Range: bytes=6-\r\n", true);
    check_file("file", "abcdefghij");
    check_file("file.part", NULL);
    check_file("file.part.http", NULL);
    stop(&s);
}

static void begins_again_when_the_file_changed_meanwhile(void **state)
{
    struct server s = {.answers = {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nETag: \"w\"\r\n\r\nxyz"}};
    struct download_result r;
    write_file("file.part", "abcd");
    write_file("file.part.http", "ETag: \"v\"\n");
    start(&s);
    CHECK_STATUS("changed", get(&s, (struct download_opts){0}, &r, NULL), ST_OK);
    CHECK("not resumed", !r.was_resumed);
    check_file("file", "xyz");
    stop(&s);
}

static void drops_a_part_that_does_not_fit(void **state)
{
    struct server s = {.answers = {"HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 2\r\n\r\nno",
                                   "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nxyz",
                                   "HTTP/1.1 206 Partial Content\r\nContent-Length: 3\r\n"
                                   "Content-Range: bytes 1-3/4\r\n\r\nxyz",
                                   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"}};
    struct download_result r;
    start(&s);
    write_file("file.part", "abcd");
    write_file("file.part.http", "Last-Modified: Sat, 14 Nov 2026 10:00:00 GMT\n");
    CHECK_STATUS("416", get(&s, (struct download_opts){0}, &r, NULL), ST_OK);
    check_asked(&s, 0, "If-Range: Sat, 14 Nov 2026 10:00:00 GMT\r\n", true);
    check_file("file", "xyz");
    write_file("file.part", "ab");
    write_file("file.part.http", "ETag: \"v\"\n");
    CHECK_STATUS("another range", get(&s, (struct download_opts){0}, &r, NULL), ST_OK);
    check_file("file", "ok");
    stop(&s);
}

static void a_part_without_a_strong_validator_is_not_gone_on_with(void **state)
{
    static const char *const notes[] = {"ETag: W/\"v\"\n", "", "rubbish\n"};
    for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
        struct server s = {.answers = {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nxyz"}};
        struct download_result r;
        write_file("file.part", "abcd");
        write_file("file.part.http", notes[i]);
        start(&s);
        CHECK_STATUS(notes[i], get(&s, (struct download_opts){0}, &r, NULL), ST_OK);
        check_asked(&s, 0, "Range", false);
        check_file("file", "xyz");
        stop(&s);
    }
}

static void tells_what_went_wrong(void **state)
{
    static const struct {
        const char *answer;
        uint64_t max;
        status want;
        const char *phrase;
    } cases[] = {
        {"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone", 0, ST_NOT_FOUND, "status 404"},
        {"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", 0, ST_REFUSED, "status 403"},
        {"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", 0, ST_PROTOCOL, "status 500"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0, ST_PROTOCOL, "status 200"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 4, ST_LIMIT, ""},
        {"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n", 0, ST_PROTOCOL, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct server s = {.answers = {cases[i].answer}};
        struct download_result r;
        struct buf why = {0};
        start(&s);
        CHECK_STATUS(cases[i].answer, get(&s, (struct download_opts){.bytes_max = cases[i].max}, &r, &why),
                     cases[i].want);
        if (!strstr(buf_cstr(&why), cases[i].phrase) || why.n == 0)
            fail_msg("%s: \"%s\"", cases[i].answer, why.p);
        check_file("file", NULL);
        stop(&s);
        buf_done(&why);
    }
    struct download_result r;
    char path[TEST_PATH];
    test_path(path, "no/such/folder");
    struct server s = {.answers = {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"}};
    char url[64];
    start(&s);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", s.port);
    CHECK_STATUS("no folder", download(&(struct download_opts){.url = url, .path = path}, &r, NULL), ST_IO);
    assert_int_equal(errno, ENOENT);
    stop(&s);
    CHECK_STATUS("nobody there", download(&(struct download_opts){.url = url, .path = path}, &r, NULL), ST_CONNECT);
}

static void can_be_cancelled(void **state)
{
    struct server s = {.answers = {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"}};
    struct download_result r;
    atomic_bool cancel = true;
    start(&s);
    CHECK_STATUS("cancelled", get(&s, (struct download_opts){.cancel = &cancel}, &r, NULL), ST_CANCELLED);
    stop(&s);
}

static void knows_where_the_registries_are(void **state)
{
    for (size_t i = 0; i < registry_source_count; i++) {
        const char *name = registry_source_name(&registry_sources[i]);
        CHECK(name, strncmp(registry_sources[i].url, "https://", 8) == 0 && name[0]);
        CHECK(name, registry_licence(registry_sources[i].registry)[0]);
        for (size_t k = 0; k < i; k++)
            CHECK(name, strcmp(name, registry_source_name(&registry_sources[k])) != 0);
    }
    struct server s = {.answers = {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"}};
    struct download_result r;
    char from[64];
    start(&s);
    snprintf(from, sizeof(from), "http://127.0.0.1:%d/mirror/", s.port);
    CHECK_STATUS("from a mirror",
                 registry_fetch(&registry_sources[0], test_folder(), from, &(struct download_opts){0}, &r, NULL),
                 ST_OK);
    check_asked(&s, 0, "GET /mirror/ipv4-address-space.csv HTTP/1.1", true);
    check_file("ipv4-address-space.csv", "hello");
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(gets_a_file_once_and_asks_whether_it_changed),
        TEST_IN_FOLDER(goes_on_where_it_stopped),
        TEST_IN_FOLDER(begins_again_when_the_file_changed_meanwhile),
        TEST_IN_FOLDER(drops_a_part_that_does_not_fit),
        TEST_IN_FOLDER(a_part_without_a_strong_validator_is_not_gone_on_with),
        TEST_IN_FOLDER(tells_what_went_wrong),
        TEST_IN_FOLDER(can_be_cancelled),
        TEST_IN_FOLDER(knows_where_the_registries_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
