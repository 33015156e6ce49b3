/* Pages that another agent has described are looked at as politely as a crawl would. */
#include "test.h"

#include "agent/compare.h"
#include "io/httpd.h"
#include "wire/control.h"

struct site {
    struct httpd *httpd;
    const char *robots;
    atomic_uint pages;
};

static void serve(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct site *s = self;
    if (span_is(req->target, "/robots.txt")) {
        buf_puts(&ans->head, "Content-Type: text/plain\n");
        buf_puts(&ans->body, s->robots);
        return;
    }
    atomic_fetch_add(&s->pages, 1);
    buf_puts(&ans->head, "Content-Type: text/html\n");
    buf_puts(&ans->body, "<title>A page</title><p>With some words on it.");
}

/* HTTP status of the last of `n` pages; 0: it was not looked at. */
static unsigned look(struct site *s, const char *robots, int64_t delay_ms, size_t n)
{
    char url[64];
    struct span urls[4];
    struct texts parts = {0};
    struct fetched_page p;
    atomic_bool is_cancelled = false;
    struct gate *gate = gate_new(&(struct gate_opts){.allow_private = true});
    s->robots = robots;
    atomic_store(&s->pages, 0);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/page", httpd_port(s->httpd));
    for (size_t i = 0; i < n; i++)
        urls[i] = span_str(url);
    CHECK_STATUS(robots,
                 compare_run(&(struct compare_opts){.fetch = {.user_agent = SPAN("orbweaver/1 (+http://a.example/)"),
                                                              .allow_private = true,
                                                              .connections_max = 1},
                                                    .delay_ms = delay_ms,
                                                    .gate = gate,
                                                    .is_cancelled = &is_cancelled},
                             urls, n, &parts),
                 ST_OK);
    assert_int_equal(parts.count, n);
    CHECK_STATUS(robots, fetched_page_unpack(parts.items[n - 1], &p), ST_OK);
    unsigned code = p.http_status;
    texts_done(&parts);
    gate_free(gate);
    return code;
}

static void a_page_is_looked_at_as_a_crawl_would(void **state)
{
    struct site s = {0};
    struct httpd_opts o = {.addr = {4, {127, 0, 0, 1}}, .fn = serve, .self = &s};
    CHECK_STATUS("site", httpd_new(&o, &s.httpd), ST_OK);
    assert_int_equal(look(&s, "", 0, 2), 200);
    assert_int_equal(atomic_load(&s.pages), 2);
    assert_int_equal(look(&s, "User-agent: orbweaver\nDisallow: /page\n", 0, 1), 0);
    assert_int_equal(atomic_load(&s.pages), 0);
    /* More patience than there is. */
    assert_int_equal(look(&s, "User-agent: *\nCrawl-delay: 3600\n", 1, 3), 0);
    assert_int_equal(atomic_load(&s.pages), 0);
    /* A site of one's own, by an operator who wants no pauses. */
    assert_int_equal(look(&s, "User-agent: *\nCrawl-delay: 3600\n", 0, 1), 200);
    httpd_free(s.httpd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_is_looked_at_as_a_crawl_would),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
