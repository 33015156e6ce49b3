/* test_fetcher_answers.c - what is said of an answer: its headers, its body whole, decoded, cut or left out, its bytes.
 */
#include "fetch_bed.h"

static void fetches_a_page_with_its_headers(void **state)
{
    struct bed b;
    struct span extra[] = {SPAN("X-Extra: yes")};
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .headers = extra, .header_count = 1});
    const struct fetch_result *r = get(&b, "/page", (struct fetch_req){0});
    CHECK_STATUS("page", r->st, ST_OK);
    assert_int_equal(r->http_status, 200);
    assert_int_equal(r->http_version, 11);
    CHECK_SPAN("body", r->body, SPAN("<p>hello"));
    CHECK_SPAN("type", r->content_type, SPAN("text/html; charset=utf-8"));
    CHECK_SPAN("etag", r->etag, SPAN("\"e1\""));
    CHECK_SPAN("modified", r->last_modified, SPAN("Sun, 06 Nov 1994 08:49:37 GMT"));
    CHECK_SPAN("robots", r->robots_tags, SPAN("noindex\nbot: nofollow"));
    CHECK_SPAN("canonical", r->link_canonical, SPAN("https://c.example/p"));
    CHECK_SPAN("location", r->location, SPAN(""));
    assert_true(r->date.n > 10);
    assert_true(r->declared_bytes == 8 && r->wire_bytes == 8);
    assert_false(r->reused || r->body_cut || r->body_unwanted);
    assert_true(addr_eq(&r->addr, &LOOPBACK));
    assert_true(r->timing.connect_us > 0 && r->timing.tls_us == 0);
    assert_true(r->timing.first_byte_us >= r->timing.connect_us && r->timing.total_us >= r->timing.first_byte_us);
    char want[512];
    snprintf(want, sizeof(want), "GET|site.test:%d|tester/1|||gzip, deflate, br, zstd|yes|text/html", b.port);
    CHECK_SPAN("request", span_cut(span_str(b.seen), 0, strlen(want)), span_str(want));
    bed_close(&b);
}

static void secrets_go_to_their_sites_only(void **state)
{
    static const struct span lines[] = {SPAN_INIT("X-Extra: yes"), SPAN_INIT("Authorization: Bearer 1"),
                                        SPAN_INIT("cookie: c=2")};
    static const struct {
        const char *label, *site, *user; /* somebody in front of the host: by curl */
        const char *want;
    } cases[] = {
        {"its own", "http://site.test:%d", "", "Bearer 1|c=2"},
        {"another host", "http://other.test:%d", "", "|"},
        {"a longer host", "http://site.test.other:%d", "", "|"},
        {"another scheme", "https://site.test:%d", "", "|"},
        {"another port", "http://site.test", "", "|"},
        {"none", NULL, "", "|"},
        {"by curl", "http://u@site.test:%d", "u@", "Bearer 1|c=2"},
        {"by curl, another host", "http://site.test:%d", "u@", "Basic dTo=|"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bed b;
        char text[64] = "", url[64];
        bed_open(&b, (struct fetcher_opts){0});
        if (cases[i].site)
            snprintf(text, sizeof(text), cases[i].site, b.port);
        const struct span site = span_str(text);
        struct fetcher_opts o = {.user_agent = SPAN("tester/1"),
                                 .allow_private = true,
                                 .headers = lines,
                                 .header_count = 3,
                                 .secret_sites = &site,
                                 .secret_site_count = cases[i].site != NULL};
        fetcher_free(b.fetcher);
        CHECK_STATUS(cases[i].label, fetcher_new(b.loop, &o, &b.fetcher), ST_OK);
        snprintf(url, sizeof(url), "http://%ssite.test:%d/page", cases[i].user, b.port);
        b.want = 1;
        fetcher_get(
            b.fetcher,
            &(struct fetch_req){.url = span_str(url), .addr = LOOPBACK, .keep_raw = true, .done = on_done, .arg = &b});
        loop_run(b.loop);
        CHECK_STATUS(cases[i].label, b.last.st, ST_OK);
        CHECK_SPAN(cases[i].label, span_str(b.secrets), span_str(cases[i].want));
        /* And never to whoever gets the archive. */
        CHECK(cases[i].label, span_search(b.last.request, SPAN("X-Extra: yes\r\n"), false) < b.last.request.n);
        CHECK(cases[i].label, span_search(b.last.request, SPAN("authorization"), true) == b.last.request.n);
        CHECK(cases[i].label, span_search(b.last.request, SPAN("cookie"), true) == b.last.request.n);
        CHECK(cases[i].label, span_ends(b.last.request, SPAN("\r\n\r\n")));
        bed_close(&b);
    }
}

static void conditions_lead_to_304(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    struct fetch_req req = {.etag = SPAN("\"e1\""), .last_modified = SPAN("Sun, 06 Nov 1994 08:49:37 GMT")};
    const struct fetch_result *r = get(&b, "/page", req);
    CHECK_STATUS("304", r->st, ST_OK);
    assert_int_equal(r->http_status, 304);
    assert_true(r->body.n == 0);
    assert_non_null(strstr(b.seen, "|\"e1\"|Sun, 06 Nov 1994 08:49:37 GMT|"));
    assert_int_equal(get(&b, "/page", (struct fetch_req){0})->http_status, 200); /* no leftovers in the handle */
    assert_non_null(strstr(b.seen, "|tester/1|||"));
    req = (struct fetch_req){.etag = SPAN("\"e1\"\r\nX-Extra: smuggled")};
    assert_int_equal(get(&b, "/page", req)->http_status, 200);
    assert_null(strstr(b.seen, "smuggled"));
    bed_close(&b);
}

static void head_has_no_body(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    const struct fetch_result *r = get(&b, "/big.png", (struct fetch_req){.is_head = true});
    CHECK_STATUS("head", r->st, ST_OK);
    assert_true(r->body.n == 0 && r->declared_bytes == 3000000);
    assert_true(strncmp(b.seen, "HEAD|", 5) == 0);
    assert_int_equal(get(&b, "/page", (struct fetch_req){0})->body.n, 8); /* back to GET */
    bed_close(&b);
}

static void returns_redirects_and_errors_as_they_are(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    const struct fetch_result *r = get(&b, "/redirect", (struct fetch_req){0});
    assert_int_equal(r->http_status, 302);
    CHECK_SPAN("location", r->location, SPAN("/page"));
    assert_int_equal(b.handled, 1);
    r = get(&b, "/busy", (struct fetch_req){0});
    assert_int_equal(r->http_status, 503);
    CHECK_SPAN("retry", r->retry_after, SPAN("120"));
    assert_int_equal(get(&b, "/none", (struct fetch_req){0})->http_status, 404);
    bed_close(&b);
}

static void decodes_and_holds_the_ratio(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    const struct fetch_result *r = get(&b, "/gzip", (struct fetch_req){0});
    CHECK_STATUS("gzip", r->st, ST_OK); /* about 1000:1, but under a megabyte */
    assert_int_equal(r->body.n, 900000);
    assert_true(r->wire_bytes < 2000 && r->wire_bytes > 100);
    CHECK_SPAN("encoding", r->content_encoding, SPAN("gzip"));
    r = get(&b, "/bomb", (struct fetch_req){0});
    CHECK_STATUS("bomb", r->st, ST_LIMIT);
    assert_true(r->body.n == 0);
    CHECK_STATUS("bad gzip", get(&b, "/bad-gzip", (struct fetch_req){0})->st, ST_PROTOCOL);
    assert_int_equal(get(&b, "/gzip-and-more", (struct fetch_req){0})->body.n, 900);
    CHECK_SPAN("no coding", get(&b, "/utf-8", (struct fetch_req){0})->body, SPAN("<p>hello"));
    bed_close(&b);
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .ratio_max = 2000});
    r = get(&b, "/bomb", (struct fetch_req){0});
    CHECK_STATUS("allowed", r->st, ST_OK);
    assert_int_equal(r->body.n, 12000000);
    bed_close(&b);
}

static void raw_answers_say_the_same_and_keep_what_came(void **state)
{
    static const char *const paths[] = {"/page",     "/redirect", "/busy",      "/gzip",    "/bomb",
                                        "/bad-gzip", "/big",      "/small.png", "/big.png", "/nowhere",
                                        "/redirect", "/gzip",     "/headers"};
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        struct buf body = {0};
        struct fetch_result plain = *get(&b, paths[i], (struct fetch_req){0});
        buf_put(&body, plain.body);
        CHECK(paths[i], !plain.has_raw && !plain.raw.n && !plain.head.n && !plain.request.n);
        const struct fetch_result *r = get(&b, paths[i], (struct fetch_req){.keep_raw = true});
        CHECK_STATUS(paths[i], r->st, plain.st);
        CHECK(paths[i], r->http_status == plain.http_status && r->body_cut == plain.body_cut &&
                            r->body_unwanted == plain.body_unwanted);
        CHECK(paths[i], span_eq(r->body, buf_span(&body)));
        CHECK(paths[i], r->has_raw == (plain.st != ST_LIMIT));
        if (r->has_raw) {
            CHECK(paths[i], span_starts(r->head, SPAN("HTTP/1.1 ")) && span_ends(r->head, SPAN("\r\n\r\n")));
            CHECK(paths[i], span_starts(r->request, SPAN("GET /")) && span_ends(r->request, SPAN("\r\n\r\n")));
            CHECK(paths[i], span_search(r->request, span_str(paths[i]), false) == 4);
            CHECK(paths[i], r->raw.n == r->wire_bytes && !r->raw_cut);
        }
        buf_done(&body);
    }
    const struct fetch_result *r = get(&b, "/page", (struct fetch_req){.keep_raw = true, .etag = SPAN("\"e1\"")});
    CHECK("304", r->http_status == 304 && r->has_raw && !r->raw.n);
    CHECK("condition", span_search(r->request, SPAN("\r\nIf-None-Match: \"e1\"\r\n"), false) < r->request.n);
    bed_close(&b);
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .body_bytes_max = 100000});
    static const char *const cut[] = {"/big", "/big.png", "/gzip"};
    for (size_t i = 0; i < 3; i++) {
        r = get(&b, cut[i], (struct fetch_req){.keep_raw = true});
        CHECK_STATUS(cut[i], r->st, ST_OK);
        CHECK(cut[i], r->raw_cut && r->raw.n <= 100000 && r->body.n == (i == 1 ? 0 : 100000));
    }
    bed_close(&b);
}

static void cuts_long_bodies(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .body_bytes_max = 100000});
    const struct fetch_result *r = get(&b, "/big", (struct fetch_req){0});
    CHECK_STATUS("cut", r->st, ST_OK);
    assert_true(r->body_cut && r->body.n == 100000 && r->declared_bytes == 300000);
    assert_false(get(&b, "/page", (struct fetch_req){0})->body_cut);
    bed_close(&b);
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .body_bytes_max = 300000});
    assert_false(get(&b, "/big", (struct fetch_req){0})->body_cut); /* exactly full is not cut */
    assert_int_equal(b.last.body.n, 300000);
    bed_close(&b);
}

static void refuses_long_heads(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .header_bytes_max = 4000});
    CHECK_STATUS("long", get(&b, "/headers", (struct fetch_req){0})->st, ST_LIMIT);
    CHECK_STATUS("short", get(&b, "/page", (struct fetch_req){0})->st, ST_OK);
    bed_close(&b);
}

static bool wants_images(struct span type, struct span url, uint64_t bytes)
{
    return bytes == 50000 && span_starts(type, SPAN("image/")) && span_ends(url, SPAN("/small.png"));
}

static bool wants_text(struct span type, struct span url, uint64_t bytes)
{
    return span_starts(type, SPAN("text/"));
}

static void drops_bodies_of_other_types(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true});
    const struct fetch_result *r = get(&b, "/small.png", (struct fetch_req){0});
    CHECK_STATUS("small", r->st, ST_OK);
    assert_true(r->body_unwanted && r->body.n == 0 && r->wire_bytes == 50000);
    r = get(&b, "/big.png", (struct fetch_req){0});
    CHECK_STATUS("big", r->st, ST_OK);
    assert_true(r->reused && r->body_unwanted && r->body.n == 0 && r->wire_bytes < 1000000);
    CHECK_SPAN("disposition", r->disposition, SPAN("inline; filename=a.png"));
    r = get(&b, "/small.png", (struct fetch_req){.wants = wants_images});
    assert_true(!r->body_unwanted && r->body.n == 50000);
    r = get(&b, "/big.png", (struct fetch_req){.wants = wants_text});
    assert_true(r->body_unwanted);
    r = get(&b, "/small.png", (struct fetch_req){.any_type = true});
    assert_true(!r->reused && !r->body_unwanted && r->body.n == 50000);
    bed_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fetches_a_page_with_its_headers),
        cmocka_unit_test(secrets_go_to_their_sites_only),
        cmocka_unit_test(conditions_lead_to_304),
        cmocka_unit_test(head_has_no_body),
        cmocka_unit_test(returns_redirects_and_errors_as_they_are),
        cmocka_unit_test(decodes_and_holds_the_ratio),
        cmocka_unit_test(raw_answers_say_the_same_and_keep_what_came),
        cmocka_unit_test(cuts_long_bodies),
        cmocka_unit_test(refuses_long_heads),
        cmocka_unit_test(drops_bodies_of_other_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
