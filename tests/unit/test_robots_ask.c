/* robots.txt outside of a crawl: what each answer means, and where redirects lead. */
#include "test.h"

#include <stdatomic.h>

#include "crawl/robots_ask.h"
#include "io/httpd.h"

#define LOOPBACK ((struct addr){4, {127, 0, 0, 1}})

struct bed {
    struct loop *loop;
    struct resolver *resolver;
    struct fetcher *fetcher;
    struct httpd *server;
    int port;
    atomic_uint asked; /* requests that reached the server */
    status st;
    int verdict; /* on "/x": 1 allowed, 0 not, -1 no rules */
    bool is_over;
    bool refuses; /* the addresses of hops */
};

/* The first label of the host says what its robots.txt is. */
static void site(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct bed *b = self;
    struct span host = span_cut(req->host, 0, span_find(req->host, '.', 0));
    b->asked++;
    if (span_is(host, "rules"))
        buf_puts(&ans->body, "User-agent: *\nDisallow: /x\n");
    else if (span_is(host, "open"))
        buf_puts(&ans->body, "User-agent: *\nDisallow: /y\n");
    else if (span_is(host, "gone"))
        ans->status = 410;
    else if (span_is(host, "broken"))
        ans->status = 500;
    else if (span_is(host, "busy"))
        ans->status = 429;
    else if (span_is(host, "garbled"))
        buf_puts(&ans->head, "Content-Encoding: gzip\n");
    else
        ans->status = 302;
    if (span_is(host, "garbled"))
        buf_puts(&ans->body, "no gzip");
    if (span_is(host, "far")) /* another host, where the rules are */
        buf_printf(&ans->head, "Location: http://rules.example:%d/r\n", b->port);
    else if (span_is(host, "round"))
        buf_puts(&ans->head, "Location: /robots.txt\n");
    else if (span_is(host, "lost"))
        buf_puts(&ans->head, "Location: http://nowhere.invalid/\n");
    else if (span_is(host, "mail"))
        buf_puts(&ans->head, "Location: mailto:a@b\n");
}

static void on_done(void *arg, status st, struct robots *rules, const char *why)
{
    struct bed *b = arg;
    assert_false(b->is_over);
    assert_non_null(why);
    b->is_over = true;
    b->st = st;
    b->verdict = rules ? robots_check(rules, SPAN("/x")).allowed : -1;
    robots_free(rules);
    loop_stop(b->loop);
}

static bool may_use(void *arg, const struct addr *a)
{
    const struct bed *b = arg;
    return !b->refuses;
}

static void open_bed(struct bed *b)
{
    struct httpd_opts o = {.addr = LOOPBACK, .fn = site, .self = b};
    const struct resolver_opts dns = {
        .hosts = SPAN("127.0.0.1 rules.example\n"), .server = SPAN("127.0.0.1:9"), .timeout_ms = 20};
    const struct fetcher_opts fetch = {.allow_private = true, .user_agent = SPAN("orbweaver/1")};
    *b = (struct bed){.loop = loop_new()};
    CHECK_STATUS("server", httpd_new(&o, &b->server), ST_OK);
    b->port = httpd_port(b->server);
    CHECK_STATUS("resolver", resolver_new(b->loop, &dns, &b->resolver), ST_OK);
    CHECK_STATUS("fetcher", fetcher_new(b->loop, &fetch, &b->fetcher), ST_OK);
}

static void close_bed(struct bed *b)
{
    fetcher_free(b->fetcher);
    resolver_free(b->resolver);
    loop_free(b->loop);
    httpd_free(b->server);
}

static struct robots_ask *start(struct bed *b, const char *name, int64_t pause_ms)
{
    char url[64];
    struct addr a = LOOPBACK;
    snprintf(url, sizeof(url), "http://%s.example:%d/x", name, b->port);
    b->is_over = false;
    b->asked = 0;
    return robots_ask_start(&(struct robots_ask_opts){.loop = b->loop,
                                                      .resolver = b->resolver,
                                                      .fetcher = b->fetcher,
                                                      .user_agent = SPAN("orbweaver/1"),
                                                      .pause_ms = pause_ms,
                                                      .may_use = may_use,
                                                      .done = on_done,
                                                      .arg = b},
                            span_str(url), &a);
}

static void each_answer_means_what_rfc_9309_says(void **state)
{
    static const struct {
        const char *host;
        int verdict;
        unsigned asked;
        bool refuses; /* the owner does, the address that it leads to */
    } cases[] = {
        {"rules", 0, 1, false},   {"open", 1, 1, false}, {"gone", 1, 1, false},  {"broken", 0, 1, false},
        {"busy", 0, 1, false},    {"far", 0, 2, false},  {"round", 1, 6, false}, {"mail", 1, 1, false},
        {"nothing", 1, 1, false}, {"far", 1, 1, true},
    };
    struct bed b;
    open_bed(&b);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        b.refuses = cases[i].refuses;
        (void)start(&b, cases[i].host, 0);
        assert_false(b.is_over);
        loop_run(b.loop);
        CHECK_STATUS(cases[i].host, b.st, ST_OK);
        if (b.verdict != cases[i].verdict || b.asked != cases[i].asked)
            fail_msg("%s: verdict %d after %u requests", cases[i].host, b.verdict, b.asked);
    }
    close_bed(&b);
}

static void what_cannot_be_reached_is_said(void **state)
{
    struct bed b;
    open_bed(&b);
    (void)start(&b, "garbled", 0);
    loop_run(b.loop);
    CHECK_STATUS("garbled", b.st, ST_PROTOCOL);
    assert_int_equal(b.verdict, -1);
    (void)start(&b, "lost", 0); /* to a name that nobody knows */
    loop_run(b.loop);
    CHECK_STATUS("lost", b.st, ST_TIMEOUT);
    assert_int_equal(b.verdict, -1);
    httpd_free(b.server);
    b.server = NULL;
    (void)start(&b, "rules", 0);
    loop_run(b.loop);
    CHECK_STATUS("nobody there", b.st, ST_CONNECT);
    assert_int_equal(b.verdict, -1);
    close_bed(&b);
}

static void on_look(void *arg)
{
    loop_stop(((struct bed *)arg)->loop);
}

static void ending_is_safe_at_any_time(void **state)
{
    struct bed b;
    open_bed(&b);
    (void)start(&b, "rules", 0);
    close_bed(&b); /* the fetcher calls back */
    assert_true(b.is_over);
    CHECK_STATUS("cancelled", b.st, ST_CANCELLED);
    open_bed(&b);
    struct robots_ask *ask = start(&b, "round", 600000);
    struct timer *look = timer_new(b.loop, on_look, &b);
    while (b.asked == 0 || fetcher_active(b.fetcher)) { /* until it pauses before the hop */
        timer_set(look, 5);
        loop_run(b.loop);
    }
    timer_free(look);
    fetcher_free(b.fetcher);
    resolver_free(b.resolver);
    b.fetcher = NULL;
    b.resolver = NULL;
    assert_false(b.is_over);
    robots_ask_free(ask);
    close_bed(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_answer_means_what_rfc_9309_says),
        cmocka_unit_test(what_cannot_be_reached_is_said),
        cmocka_unit_test(ending_is_safe_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
