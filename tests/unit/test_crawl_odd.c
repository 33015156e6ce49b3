/* test_crawl_odd.c - a crawl of servers that answer oddly: what is read, what is asked again, what is left alone. The
 * server is a socket that knows nothing of HTTP. */
#include "test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apply/apply_sink.h"
#include "crawl/crawl.h"
#include "store/store.h"
#include "test_folder.h"
#include "web/facts.h"

#define ANSWERS_MAX 24
#define HTML "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

/* What a path is answered with, the first time, later, and when it is asked for changes. */
struct answer {
    const char *path, *first;
    const char *later, *conditional; /* NULL: as the first time */
    unsigned asked;
};

struct server {
    int fd, port;
    const char *folder; /* that it is crawled into */
    pthread_t thread;
    struct answer answers[ANSWERS_MAX];
};

static void answer(struct server *s, int fd, const char *request)
{
    for (size_t i = 0; i < ANSWERS_MAX && s->answers[i].path; i++) {
        struct answer *a = &s->answers[i];
        size_t n = strlen(a->path);
        if (strncmp(request, "GET ", 4) != 0 || strncmp(request + 4, a->path, n) != 0 || request[4 + n] != ' ')
            continue;
        const char *text = a->asked++ && a->later ? a->later : a->first;
        if (a->conditional && strstr(request, "If-None-Match: "))
            text = a->conditional;
        (void)!write(fd, text, strlen(text));
        return;
    }
    static const char none[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    (void)!write(fd, none, sizeof(none) - 1);
}

static void *serve(void *arg)
{
    struct server *s = arg;
    for (int fd; (fd = accept(s->fd, NULL, NULL)) >= 0; close(fd)) {
        char request[4096] = "";
        size_t n = 0;
        for (ssize_t got; n < sizeof(request) - 1 && !strstr(request, "\r\n\r\n"); n += (size_t)got) {
            got = read(fd, request + n, sizeof(request) - 1 - n);
            if (got <= 0)
                break;
            request[n + (size_t)got] = '\0';
        }
        answer(s, fd, request);
    }
    return NULL;
}

static void server_init(struct server *s, const char *folder, const struct answer *answers, size_t n)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(in);
    *s = (struct server){.folder = folder, .fd = socket(AF_INET, SOCK_STREAM, 0)};
    assert_true(n < ANSWERS_MAX);
    memcpy(s->answers, answers, n * sizeof(*answers));
    assert_int_equal(bind(s->fd, (struct sockaddr *)&in, len), 0);
    assert_int_equal(listen(s->fd, 64), 0);
    getsockname(s->fd, (struct sockaddr *)&in, &len);
    s->port = ntohs(in.sin_port);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void server_done(struct server *s)
{
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
}

/* How often a path was asked for. Only when no crawl runs. */
static unsigned asked(const struct server *s, const char *path)
{
    for (size_t i = 0; i < ANSWERS_MAX && s->answers[i].path; i++)
        if (strcmp(s->answers[i].path, path) == 0)
            return s->answers[i].asked;
    fail_msg("no answer for %s", path);
    return 0;
}

/* ---- a crawl of it ---- */

/* A host that rests does so for a minute: the test has seen enough. */
static void on_progress(void *arg, const struct crawl_stats *stats)
{
    if (stats->hosts_waiting)
        crawl_stop(*(struct crawl **)arg);
}

static crawl_end crawl_it(const struct server *s, struct crawl_stats *stats)
{
    char dir[TEST_PATH], seed[64];
    struct apply_sink_opts sink = {0};
    struct channel *c = NULL;
    struct crawl *cr = NULL;
    struct buf why = {0};
    crawl_end end = CRAWL_FAILED;
    test_path(dir, s->folder);
    const struct crawl_opts o = {.data_dir = dir,
                                 .fetch = {.user_agent = SPAN("orbweaver/0.1 (test)"), .allow_private = true},
                                 .dns = {.server = SPAN("127.0.0.1:9"), .timeout_ms = 20}, /* nobody */
                                 .shards = 1,
                                 .delay_ms = 0,
                                 .open_sink = apply_sink_open,
                                 .sink_arg = &sink};
    snprintf(seed, sizeof(seed), "http://127.0.0.1:%d/", s->port);
    const struct span seeds[] = {span_str(seed)};
    const struct channel_opts co = {.seeds = seeds, .seed_count = 1, .scope = SCOPE_SITE, .depth_max = 9};
    CHECK_STATUS("open", crawl_open(&o, &cr, &why), ST_OK);
    CHECK_STATUS("channel", channel_new(&co, &c, NULL), ST_OK);
    CHECK_STATUS("add", crawl_add(cr, c), ST_OK);
    CHECK_STATUS("run", crawl_run(cr, on_progress, &cr, &end), ST_OK);
    crawl_get_stats(cr, stats);
    crawl_close(cr);
    buf_done(&why);
    return end;
}

/* What the page table has of a page, as "status title reason", or "not for search". */
static status note_page(void *arg, const struct page *p)
{
    if (p->page_flags & PAGE_NOINDEX)
        buf_puts(arg, "not for search");
    else
        buf_printf(arg, "%u %.*s %.*s", p->http_status, SPAN_ARG(p->title), SPAN_ARG(p->reason));
    return ST_OK;
}

static status note_canonical(void *arg, const struct page *p)
{
    buf_put(arg, p->canonical);
    return ST_OK;
}

static void look_at(const struct server *s, const char *path, status (*note)(void *, const struct page *),
                    struct buf *got)
{
    char dir[TEST_PATH], url[128];
    struct store *store = NULL;
    struct buf why = {0};
    test_path(dir, s->folder);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", s->port, path);
    CHECK_STATUS("store", store_open(dir, STORE_READ, &store, &why), ST_OK);
    CHECK_STATUS(path, store_page_get(store, siphash(store_key(store), span_str(url)), note, got), ST_OK);
    store_free(store);
    buf_done(&why);
}

static void check_page(const struct server *s, const char *path, const char *want)
{
    struct buf got = {0};
    look_at(s, path, note_page, &got);
    CHECK_SPAN(path, buf_span(&got), span_str(want));
    buf_done(&got);
}

static void check_canonical(const struct server *s, const char *path, const char *want)
{
    char url[128];
    struct buf got = {0};
    snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", s->port, want);
    look_at(s, path, note_canonical, &got);
    CHECK_SPAN(path, buf_span(&got), span_str(url));
    buf_done(&got);
}

#define CUT HTML "Content-Length: 5000\r\n\r\n<title>Cut</title>"

static void answers_that_are_cut_off_are_asked_for_again(void **state)
{
    static const struct answer site[] = {
        {"/", CUT, HTML "\r\n<title>Start</title><a href=once>1</a><a href=always>2</a><a href=moved>3</a>", NULL, 0},
        {"/once", CUT, HTML "\r\n<title>Once</title>", NULL, 0},
        {"/always", CUT, NULL, NULL, 0},
        /* That it moved, and where to, was said. */
        {"/moved", "HTTP/1.1 301 Moved\r\nLocation: /there\r\nContent-Length: 500\r\n\r\nhalf", NULL, NULL, 0},
        {"/there", HTML "\r\n<title>There</title>", NULL, NULL, 0},
    };
    struct server s;
    struct crawl_stats n;
    server_init(&s, "crawl", site, sizeof(site) / sizeof(*site));
    CHECK("end", crawl_it(&s, &n) == CRAWL_COMPLETE);
    server_done(&s);
    check_page(&s, "/", "200 Start ");
    check_page(&s, "/once", "200 Once ");
    check_page(&s, "/always", "200 Cut only its beginning was read: it was cut off each time");
    check_page(&s, "/there", "200 There ");
    assert_int_equal(asked(&s, "/once"), 2);
    assert_int_equal(asked(&s, "/always"), 3);
    assert_int_equal(asked(&s, "/moved"), 1);
    assert_int_equal(n.pages, 4);
    assert_int_equal(n.errors, 0);
}

/* What it would have forbidden is not known. */
static void a_robots_txt_that_cannot_be_had_forbids_everything(void **state)
{
    static const struct {
        const char *label, *robots;
        bool is_asked;
    } cases[] = {
        {"cut", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nUser-agent: *\nDisallow: /pri", false},
        {"cut in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n99\r\nUser-agent", false},
        {"garbled", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nUser-agent: *\nDisallow: /", false},
        {"elsewhere, where nobody is", "HTTP/1.1 301 Moved\r\nLocation: http://nowhere.invalid/\r\n\r\n", false},
        {"none, cut", "HTTP/1.1 404 None\r\nContent-Length: 500\r\n\r\nno", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct answer site[] = {{"/robots.txt", cases[i].robots, NULL, NULL, 0},
                                      {"/", HTML "\r\n<title>Start</title>", NULL, NULL, 0}};
        struct server s;
        struct crawl_stats n;
        server_init(&s, cases[i].label, site, 2);
        crawl_end end = crawl_it(&s, &n);
        server_done(&s);
        CHECK(cases[i].label, asked(&s, "/robots.txt") == 1 && asked(&s, "/") == cases[i].is_asked);
        CHECK(cases[i].label, end == (cases[i].is_asked ? CRAWL_COMPLETE : CRAWL_STOPPED));
    }
}

static void what_is_no_web_server_is_given_up_at_once(void **state)
{
    static const struct answer site[] = {{"/robots.txt", "SSH-2.0-other\r\n", NULL, NULL, 0},
                                         {"/", "SSH-2.0-x\r\n", NULL, NULL, 0}};
    struct server s;
    struct crawl_stats n;
    server_init(&s, "crawl", site, 2);
    CHECK("end", crawl_it(&s, &n) == CRAWL_COMPLETE);
    server_done(&s);
    assert_int_equal(n.hosts_given_up, 1);
    assert_int_equal(asked(&s, "/"), 0);
}

#define TAGGED HTML "ETag: \"1\"\r\n"
#define UNCHANGED "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n"
#define WISH "X-Robots-Tag: noindex\r\n"
#define PLAN "\r\n<title>Plan</title><p>of the harbour"

/* The site's owner puts it into the settings of the server: no file changes, and every answer is a 304. */
static void a_wish_that_comes_with_a_304_is_obeyed(void **state)
{
    static const struct answer site[] = {{"/", TAGGED PLAN, NULL, UNCHANGED "\r\n", 0}};
    struct server s;
    struct crawl_stats n;
    server_init(&s, "crawl", site, 1);
    (void)crawl_it(&s, &n);
    check_page(&s, "/", "200 Plan ");
    (void)crawl_it(&s, &n);
    check_page(&s, "/", "304 Plan ");
    s.answers[0] = (struct answer){"/", TAGGED WISH PLAN, NULL, UNCHANGED WISH "\r\n", 0};
    (void)crawl_it(&s, &n);
    check_page(&s, "/", "not for search");
    assert_int_equal(asked(&s, "/"), 2); /* the second time without conditions */
    (void)crawl_it(&s, &n);
    check_page(&s, "/", "not for search");
    assert_int_equal(asked(&s, "/"), 3);
    s.answers[0] = (struct answer){"/", TAGGED PLAN, NULL, UNCHANGED "\r\n", 0}; /* and out again */
    (void)crawl_it(&s, &n);
    server_done(&s);
    check_page(&s, "/", "200 Plan ");
}

static void not_modified_makes_no_page_where_none_was(void **state)
{
    static const struct answer site[] = {{"/", "HTTP/1.1 304 Not Modified\r\n\r\n", NULL, NULL, 0}};
    struct server s;
    struct crawl_stats n;
    server_init(&s, "crawl", site, 1);
    CHECK("end", crawl_it(&s, &n) == CRAWL_COMPLETE);
    server_done(&s);
    assert_int_equal(n.pages, 0);
    assert_int_equal(n.errors, 1);
}

static void types_that_are_said_oddly_are_understood(void **state)
{
    static const struct answer site[] = {
        {"/",
         "HTTP/1.1 200 OK\r\nContent-Type: text/html, text/html\r\n\r\n<title>Start</title><a href=any>1</a><a "
         "href=png>2</a>",
         NULL, NULL, 0},
        {"/any", "HTTP/1.1 200 OK\r\nContent-Type: */*\r\n\r\n<title>Any</title>", NULL, NULL, 0},
        {"/png", "HTTP/1.1 200 OK\r\n\r\n\x89PNG\r\n\x1a\n <title>Picture</title>", NULL, NULL, 0},
    };
    struct server s;
    struct crawl_stats n;
    server_init(&s, "crawl", site, sizeof(site) / sizeof(*site));
    CHECK("end", crawl_it(&s, &n) == CRAWL_COMPLETE);
    server_done(&s);
    check_page(&s, "/", "200 Start ");
    check_page(&s, "/any", "200 Any ");
    check_page(&s, "/png", "200  ");
    assert_int_equal(n.not_html, 1);
    assert_int_equal(n.not_read, 1);
}

static void redirects_in_other_words_are_followed(void **state)
{
    static const struct answer site[] = {
        {"/", HTML "Refresh: 0; url=/head\r\n\r\n<title>Start</title>", NULL, NULL, 0},
        {"/head", "HTTP/1.1 301 Moved\r\nLocation: /caf\xe9\r\n\r\n", NULL, NULL, 0}, /* no UTF-8 */
        {"/caf%E9", HTML "\r\n<title>Coffee</title><meta http-equiv=refresh content='7; url=text'>", NULL, NULL, 0},
        {"/text", HTML "X-Robots-Tag: nofollow\r\nRefresh: 0; url=/never\r\n\r\n<title>Text</title>", NULL, NULL, 0},
        {"/never", HTML "\r\n<title>Never</title>", NULL, NULL, 0},
    };
    struct server s;
    struct crawl_stats n;
    server_init(&s, "crawl", site, sizeof(site) / sizeof(*site));
    CHECK("end", crawl_it(&s, &n) == CRAWL_COMPLETE);
    server_done(&s);
    check_page(&s, "/caf%E9", "200 Coffee ");
    check_page(&s, "/text", "200 Text ");
    assert_int_equal(asked(&s, "/never"), 0);
}

/* A start page that leads elsewhere at once: that is what was meant, as with a redirect. One that waits does not. */
static void the_scope_follows_a_refresh_at_once(void **state)
{
    static const struct {
        const char *label, *start;
        bool is_followed;
    } cases[] = {
        {"in the head", HTML "Refresh: 0; url=http://127.0.0.1:%d/\r\n\r\nGo on", true},
        {"in the text", HTML "\r\n<meta http-equiv=refresh content='0;url=http://127.0.0.1:%d/'>", true},
        {"later", HTML "\r\n<meta http-equiv=refresh content='9;url=http://127.0.0.1:%d/'>", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct server s, other;
        struct crawl_stats n;
        char start[256];
        const struct answer there[] = {{"/", HTML "\r\n<title>There</title><a href=more>m</a>", NULL, NULL, 0},
                                       {"/more", HTML "\r\n<title>More</title>", NULL, NULL, 0}};
        server_init(&other, cases[i].label, there, 2);
        snprintf(start, sizeof(start), cases[i].start, other.port);
        const struct answer here[] = {{"/", start, NULL, NULL, 0}};
        server_init(&s, cases[i].label, here, 1);
        CHECK(cases[i].label, crawl_it(&s, &n) == CRAWL_COMPLETE);
        server_done(&s);
        server_done(&other);
        CHECK(cases[i].label,
              asked(&other, "/") == cases[i].is_followed && asked(&other, "/more") == cases[i].is_followed);
    }
}

/* RFC 8288, 3.1: a base in the content is not applied to what stands in the head of the answer. */
static void a_canonical_in_the_head_is_relative_to_the_page(void **state)
{
    static const struct answer site[] = {
        {"/", HTML "\r\n<a href=/d/head>1</a><a href=/d/text>2</a><a href=/d/both>3</a>", NULL, NULL, 0},
        {"/d/head", HTML "Link: <c>; rel=canonical\r\n\r\n<base href=/other/>Head", NULL, NULL, 0},
        {"/d/text", HTML "\r\n<base href=/other/><link rel=canonical href=c>Text", NULL, NULL, 0},
        {"/d/both", HTML "Link: <h>; rel=canonical\r\n\r\n<base href=/other/><link rel=canonical href=t>", NULL, NULL,
         0},
    };
    struct server s;
    struct crawl_stats n;
    server_init(&s, "crawl", site, sizeof(site) / sizeof(*site));
    CHECK("end", crawl_it(&s, &n) == CRAWL_COMPLETE);
    server_done(&s);
    check_canonical(&s, "/d/head", "/d/c");
    check_canonical(&s, "/d/text", "/other/c");
    check_canonical(&s, "/d/both", "/other/t");
}

/* Nor does a 304 say that it is one. */
static void a_list_that_is_unchanged_is_no_page_that_is(void **state)
{
    static const struct answer site[] = {
        {"/", TAGGED "\r\n<link rel=sitemap href=map>Start", NULL, UNCHANGED "\r\n", 0},
        {"/map", "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nETag: \"1\"\r\n\r\n<urlset/>", NULL, UNCHANGED "\r\n",
         0},
    };
    struct server s;
    struct crawl_stats n;
    server_init(&s, "crawl", site, sizeof(site) / sizeof(*site));
    CHECK("end", crawl_it(&s, &n) == CRAWL_COMPLETE);
    assert_int_equal(n.lists, 1);
    CHECK("end", crawl_it(&s, &n) == CRAWL_COMPLETE);
    server_done(&s);
    assert_int_equal(asked(&s, "/map"), 2);
    assert_int_equal(n.unchanged, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(answers_that_are_cut_off_are_asked_for_again),
        TEST_IN_FOLDER(a_robots_txt_that_cannot_be_had_forbids_everything),
        TEST_IN_FOLDER(what_is_no_web_server_is_given_up_at_once),
        TEST_IN_FOLDER(a_wish_that_comes_with_a_304_is_obeyed),
        TEST_IN_FOLDER(not_modified_makes_no_page_where_none_was),
        TEST_IN_FOLDER(types_that_are_said_oddly_are_understood),
        TEST_IN_FOLDER(redirects_in_other_words_are_followed),
        TEST_IN_FOLDER(the_scope_follows_a_refresh_at_once),
        TEST_IN_FOLDER(a_canonical_in_the_head_is_relative_to_the_page),
        TEST_IN_FOLDER(a_list_that_is_unchanged_is_no_page_that_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
