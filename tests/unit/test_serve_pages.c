/* test_serve_pages.c - what the server answers: pages of results, files, an index that comes and goes, refusals. */
#include "serve_ask.h"

#include <sys/stat.h>

#include "index/segment/segment.h"
#include "io/clock.h"
#include "store/file.h"
#include "test_pages.h"

#define MANY 30

static void put_page(struct index *ix, uint64_t key, const char *url, const char *lang, const char *title,
                     const char *text)
{
    struct test_page p = {.key = key,
                          .fetch_number = key,
                          .url = span_str(url),
                          .site = SPAN("garden.example"),
                          .lang = span_str(lang),
                          .title = span_str(title),
                          .text = span_str(text),
                          .changed = TEST_NOW};
    test_page_add(ix, &p);
}

static void make_index(const char *text)
{
    char dir[TEST_PATH], url[64];
    test_path(dir, "index");
    struct index *ix = test_index_open(dir);
    uint64_t first = index_applied(ix);
    for (uint64_t i = 1; i <= MANY; i++) {
        snprintf(url, sizeof(url), "https://garden.example/%llu", (unsigned long long)(first + i));
        put_page(ix, first + i, url, i % 3 ? "en" : "de", "A spider", text);
    }
    put_page(ix, first + MANY + 1, "https://evil.example/\"><script>", "en", "</a><script>alert('harm')</script> \"x\"",
             "harm <img src=x onerror=alert(1)>");
    put_page(ix, first + MANY + 2, "javascript:alert(1)", "en", "a javascript link", "harm without a link");
    CHECK_STATUS("commit", index_commit(ix, first + MANY + 2), ST_OK);
    index_close(ix);
}

static void pages_answer(void **state)
{
    make_index("A spider weaves a web in the garden.");
    struct serve *s = start((struct serve_opts){0});
    const struct ask_case cases[] = {
        {"GET", "/", "", 200, "Search 32 pages", NULL},
        {"HEAD", "/", "", 200, "Content-Length: ", "<html"},
        {"GET", "/search?q=spider", "", 200, "30 results", "rel=\"prev\""},
        {"HEAD", "/search?q=spider", "", 200, "ETag: W/\"", "<html"},
        {"GET", "/search?q=spider&page=2", "", 200, "<ol class=\"hits\" start=\"11\">", NULL},
        {"GET", "/search?q=spider&page=3", "", 200, "rel=\"prev\"", "rel=\"next\""},
        {"GET", "/search?q=spider&page=4", "", 200, "No more results", NULL},
        {"GET", "/search?q=spider&page=101", "", 400, NULL, NULL},
        {"GET", "/search?q=spider&page=0", "", 400, NULL, NULL},
        {"GET", "/search?q=spider&page=x", "", 400, NULL, NULL},
        {"GET", "/search?q=spider+lang:de", "", 200, "10 results", "lang=\"en\"><h2"},
        {"GET", "/search?q=zzzzzzzz", "", 200, "No page has all of these words", NULL},
        {"GET", "/search?q=-spider", "", 200, "There is nothing to look for", NULL},
        {"GET", "/search", "", 303, "Location: /\r\n", NULL},
        {"GET", "/search?q=+", "", 303, "Location: /\r\n", NULL},
        {"GET", "/search?q=harm", "", 200, "&lt;script&gt;alert(&#39;<mark>harm</mark>&#39;)", "<script>alert"},
        {"GET", "/search?q=harm", "", 200, "&lt;img src=x onerror=alert(1)&gt;", "<img src=x"},
        {"GET", "/search?q=harm", "", 200, "https://evil.example/%22%3E%3Cscript%3E", "href=\"javascript"},
        {"GET", "/search?q=%3Cscript%3Espider", "", 200, "value=\"&lt;script&gt;spider\"", "<script>spider"},
        {"GET", "/search?q=%22%3E%3Cb%3E%00%FF", "", 200, "&quot;&gt;&lt;b&gt; \xef\xbf\xbd", "<b>"},
        {"GET", "/api/v1/search?q=spider&limit=3", "", 200, "\"total\":30", "<html"},
        {"GET", "/api/v1/search?q=spider&limit=101", "", 400, "\"error\":{\"code\":\"too_much\"", NULL},
        {"GET", "/api/v1/search?q=spider&offset=1000", "", 400, "\"too_much\"", NULL},
        {"GET", "/api/v1/search?q=", "", 400, "\"nothing_to_look_for\"", NULL},
        {"GET", "/status", "", 200, "No crawl has run here yet", NULL},
        {"GET", "/api/v1/status", "", 200, "\"docs\":32", "history"},
        {"GET", "/api/v1/status?history=1", "", 200, "\"history\":{\"at\":[", NULL},
        {"GET", "/metrics", "", 200, "\norb_index_docs 32\n", NULL},
        {"GET", "/metrics", "", 200, "orb_serve_info{version=\"9.9\"} 1\n", NULL},
        {"GET", "/metrics", "", 200, "orb_serve_search_seconds_bucket{le=\"+Inf\"} ", NULL},
        {"GET", "/about-this-crawler", "", 200, "User-agent: orbweaver\nDisallow: /", "{{"},
        {"GET", "/about-this-crawler", "", 200, "How to be forgotten", "Write to"},
        {"GET", "/opensearch.xml", "", 200, "template=\"http://localhost/search?q={searchTerms}", NULL},
        {"GET", "/robots.txt", "", 200, "Disallow: /\n", NULL},
        {"GET", "/healthz", "", 200, "\r\n\r\nok\n", NULL},
        {"GET", "/favicon.ico", "", 200, "<svg", NULL},
        {"GET", "/nowhere", "", 404, "There is no such page", NULL},
        {"GET", "/static/style-0.css", "", 404, NULL, NULL},
        {"GET", "/api/v1/nowhere", "", 404, "{\"error\":{\"code\":\"not_found\"", NULL},
        {"GET", "/../etc/passwd", "", 404, NULL, "root:"},
        {"POST", "/search?q=x", "", 405, "Allow: GET, HEAD\r\n", NULL},
        {"DELETE", "/", "", 405, "Allow: GET, HEAD\r\n", NULL},
        {"POST", "/", "Content-Length: 9999999999\r\n", 413, NULL, NULL},
    };
    check_cases(s, cases, sizeof(cases) / sizeof(*cases));
    serve_free(s);
    serve_free(NULL);
}

/* 20 pages, and 6 that are like one of them: the second page of results is full, and the last. */
static void folded_results_end_where_they_end(void **state)
{
    char dir[TEST_PATH];
    test_path(dir, "index");
    struct index *ix = test_index_open(dir);
    for (uint64_t i = 1; i <= 26; i++) {
        struct test_page p = {.key = i, .fetch_number = i, .group = i >= 20 ? 1 : 0, .changed = TEST_NOW};
        p.url = SPAN("https://garden.example/");
        p.site = SPAN("garden.example");
        p.text = SPAN("A spider weaves a web");
        test_page_add(ix, &p);
    }
    CHECK_STATUS("commit", index_commit(ix, 26), ST_OK);
    index_close(ix);
    struct serve *s = start((struct serve_opts){0});
    const struct ask_case cases[] = {
        {"GET", "/search?q=spider", "", 200, "rel=\"next\"", NULL},
        {"GET", "/search?q=spider&page=2", "", 200, "rel=\"prev\"", "rel=\"next\""},
        {"GET", "/search?q=spider&page=2&similar=1", "", 200, "rel=\"next\"", NULL},
        {"GET", "/search?q=spider&page=3&similar=1", "", 200, "rel=\"prev\"", "rel=\"next\""},
        {"GET", "/search?q=spider&page=2", "", 200, "q=spider&amp;like=20\">6 similar</a>", NULL},
        {"GET", "/search?q=spider&like=20", "", 200, ">7 results", "rel=\"next\""},
        {"GET", "/search?q=spider&like=20", "", 200, "nearly the same as one of the results", "similar</a>"},
        {"GET", "/search?q=spider&like=3", "", 200, ">1 result ", NULL},
        {"GET", "/search?q=spider&like=99", "", 200, "No more results", "<article"},
        {"GET", "/search?q=spider&like=x", "", 400, NULL, NULL},
        {"GET", "/search?q=spider&like=3&page=2", "", 400, NULL, NULL},
    };
    check_cases(s, cases, sizeof(cases) / sizeof(*cases));
    serve_free(s);
}

static void every_answer_says_what_browsers_may_do(void **state)
{
    struct serve *s = start((struct serve_opts){0});
    static const char *const targets[] = {"/", "/search?q=x", "/status", "/nowhere", "/api/v1/status", "/healthz"};
    static const char *const heads[] = {"\r\nContent-Security-Policy: default-src 'none'; script-src 'self';",
                                        "frame-ancestors 'none'", "\r\nX-Content-Type-Options: nosniff\r\n",
                                        "\r\nReferrer-Policy: no-referrer\r\n", "\r\nCache-Control: "};
    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
        char *got = ask(s, "GET", targets[i], "");
        for (size_t k = 0; k < sizeof(heads) / sizeof(*heads); k++)
            if (!strstr(got, heads[k]))
                fail_msg("%s: no \"%s\"", targets[i], heads[k]);
        CHECK(targets[i], !strstr(got, "unsafe-inline") && !strstr(got, " style=\"") && !strstr(got, "<style"));
        free(got);
    }
    serve_free(s);
}

/* The value of an attribute or header that follows `before`, up to `end`; free it. */
static char *after(const char *text, const char *before, char end)
{
    const char *at = strstr(text, before);
    if (!at)
        fail_msg("no \"%s\"", before);
    at += strlen(before);
    const char *stop = strchr(at, end);
    assert_non_null(stop);
    return strndup(at, (size_t)(stop - at));
}

static void files_are_kept_for_ever_and_compressed(void **state)
{
    struct serve *s = start((struct serve_opts){0});
    char *page = ask(s, "GET", "/status", "");
    char *css = after(page, "rel=\"stylesheet\" href=\"", '"');
    struct ask_case cases[] = {
        {"GET", css, "", 200, "Cache-Control: public, max-age=31536000, immutable\r\n", "Content-Encoding"},
        {"GET", css, "", 200, "prefers-color-scheme: dark", NULL},
        {"GET", css, "Accept-Encoding: br, gzip\r\n", 200, "Content-Encoding: gzip\r\n", "prefers-color-scheme"},
        {"HEAD", css, "", 200, "Content-Type: text/css", "prefers-color-scheme"},
    };
    check_cases(s, cases, sizeof(cases) / sizeof(*cases));
    /* Every file that a page names is there. */
    for (const char *at = page; (at = strstr(at, "\"/static/")); at++) {
        char *path = after(at, "\"", '"'), *got = ask(s, "GET", path, "");
        CHECK(path, code_of(got) == 200);
        free(path);
        free(got);
    }
    free(page);
    free(css);
    serve_free(s);
}

static void known_results_are_not_sent_twice(void **state)
{
    make_index("A spider weaves.");
    struct serve *s = start((struct serve_opts){0});
    char *first = ask(s, "GET", "/search?q=spider", ""), *tag = after(first, "ETag: ", '\r'), head[128];
    snprintf(head, sizeof(head), "If-None-Match: \"other\", %s\r\n", tag);
    char *second = ask(s, "GET", "/search?q=spider", head);
    assert_int_equal(code_of(second), 304);
    assert_null(strstr(second, "<html"));
    char *other = ask(s, "GET", "/search?q=garden", head);
    assert_int_equal(code_of(other), 200);
    make_index("A spider and another commit.");
    char *third = ask(s, "GET", "/search?q=spider", head);
    assert_int_equal(code_of(third), 200);
    assert_non_null(strstr(third, "60 results"));
    free(first);
    free(tag);
    free(second);
    free(other);
    free(third);
    serve_free(s);
}

/* Asks until the answer has the text: the index is looked for twice a second. */
static void await(const struct serve *s, const char *target, const char *has)
{
    for (mono_ms end = clock_mono() + 30000;;) {
        char *got = ask(s, "GET", target, "");
        bool is_there = strstr(got, has) != NULL;
        free(got);
        if (is_there)
            return;
        if (clock_mono() > end)
            fail_msg("%s: no \"%s\" within 5 s", target, has);
        usleep(50000);
    }
}

static void an_index_may_come_grow_go_and_come_again(void **state)
{
    char dir[TEST_PATH];
    test_path(dir, "index");
    struct serve *s = start((struct serve_opts){0});
    await(s, "/search?q=spider", "Nothing to search yet");
    await(s, "/", "orb crawl --data ");
    char *api = ask(s, "GET", "/api/v1/search?q=spider", "");
    assert_int_equal(code_of(api), 503);
    assert_non_null(strstr(api, "\"no_index\""));
    free(api);
    make_index("the first commit");
    await(s, "/search?q=commit", "30 results");
    make_index("the second commit");
    await(s, "/search?q=commit", "60 results");
    CHECK_STATUS("erase", index_erase(dir), ST_OK);
    await(s, "/search?q=commit", "Nothing to search yet");
    make_index("another life");
    await(s, "/search?q=life", "30 results");
    serve_free(s);
}

static void a_damaged_index_is_said_to_be(void **state)
{
    char dir[TEST_PATH], path[TEST_PATH];
    test_path(dir, "index");
    mkdir(dir, 0777);
    test_path(path, "index/manifest");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("this is no manifest", f);
    fclose(f);
    struct serve *s = start((struct serve_opts){0});
    const struct ask_case cases[] = {
        {"GET", "/", "", 200, "No search at the moment", NULL},
        {"GET", "/search?q=x", "", 500, "The index cannot be read", NULL},
        {"GET", "/api/v1/search?q=x", "", 500, "\"error\":{\"code\":\"", NULL},
        {"GET", "/status", "", 200, "The index cannot be read", NULL},
        {"GET", "/metrics", "", 200, "orb_index_up 0\n", NULL},
    };
    check_cases(s, cases, sizeof(cases) / sizeof(*cases));
    serve_free(s);
}

/* As "cp" over a folder does: the files that are mapped are cut, and a moment later whole again. */
static void files_may_be_cut_under_the_server(void **state)
{
    static const char *const kinds[SEGMENT_FILES] = {"docs", "text", "keys", "dict", "post", "pos"};
    char path[TEST_PATH];
    make_index("A spider weaves a web in the garden.");
    struct serve *s = start((struct serve_opts){0});
    await(s, "/search?q=spider", "30 results");
    for (size_t i = 0; i < SEGMENT_FILES; i++) {
        struct buf kept = {0};
        char name[64];
        snprintf(name, sizeof(name), "index/00000001.%s", kinds[i]);
        test_path(path, name);
        CHECK_STATUS(name, file_read(path, 1u << 20, &kept), ST_OK);
        assert_int_equal(truncate(path, 0), 0);
        char *got = ask(s, "GET", "/search?q=spider+web", "");
        CHECK(name, strcmp(kinds[i], "keys") == 0 || code_of(got) == 500); /* no search needs the keys */
        free(got);
        FILE *f = fopen(path, "r+");
        assert_non_null(f);
        assert_int_equal(fwrite(kept.p, 1, kept.n, f), kept.n);
        fclose(f);
        await(s, "/search?q=spider+web", "30 results");
        buf_done(&kept);
    }
    serve_free(s);
}

static void other_names_are_refused_on_loopback(void **state)
{
    struct serve *s = start((struct serve_opts){.public_url = SPAN("https://search.example/")});
    static const struct {
        const char *host;
        int code;
    } cases[] = {{"localhost:1", 200},     {"127.0.0.1", 200}, {"search.example", 200}, {"SEARCH.example", 200},
                 {"rebound.example", 421}, {"", 421},          {"localhost\"x", 421}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char request[256];
        snprintf(request, sizeof(request), "GET /status HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
                 cases[i].host);
        char *got = ask_raw(s, request);
        if (code_of(got) != cases[i].code)
            fail_msg("%s: %d, want %d", cases[i].host, code_of(got), cases[i].code);
        free(got);
    }
    const struct ask_case xml = {"GET", "/opensearch.xml", "", 200, "template=\"https://search.example/search?", NULL};
    check_cases(s, &xml, 1);
    serve_free(s);
    struct serve *none = NULL;
    static const char *const bad[] = {"search.example", "ftp://x.example/", "https://x.example/path", "javascript:x"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        CHECK_STATUS(bad[i], serve_new(&(struct serve_opts){.data_dir = ".", .public_url = span_str(bad[i])}, &none),
                     ST_INVALID);
}

static void who_asks_too_often_is_told_when_to_come_back(void **state)
{
    struct serve *s =
        start((struct serve_opts){.query_rate = 0.05}); /* 20 times that, but one, from loopback: 20 at once */
    int good = 0, limited = 0;
    for (int i = 0; i < 40; i++) {
        char *got = ask(s, "GET", i % 2 ? "/api/v1/status" : "/", "");
        good += code_of(got) == 200;
        limited += code_of(got) == 429 && strstr(got, "\r\nRetry-After: 1\r\n");
        free(got);
    }
    assert_true(good >= 20 && good < 30 && good + limited == 40);
    const struct ask_case quick = {"GET", "/healthz", "", 200, "ok", NULL};
    check_cases(s, &quick, 1); /* what costs nothing is not counted */
    serve_free(s);
}

static void long_addresses_are_refused(void **state)
{
    make_index("A spider.");
    struct serve *s = start((struct serve_opts){0});
    static const struct {
        size_t bytes;
        int code;
    } cases[] = {{1500, 200}, {3000, 400}, {9000, 414}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf target = {0};
        buf_puts(&target, "/search?q=");
        for (size_t k = 0; k < cases[i].bytes; k++)
            buf_putc(&target, "spider+"[k % 7]);
        char *got = ask(s, "GET", buf_cstr(&target), "");
        if (code_of(got) != cases[i].code)
            fail_msg("%zu bytes: %d, want %d", cases[i].bytes, code_of(got), cases[i].code);
        free(got);
        buf_done(&target);
    }
    serve_free(s);
}

static void taken_ports_are_told(void **state)
{
    struct serve *s = start((struct serve_opts){0}), *second = NULL;
    struct serve_opts o = {.data_dir = test_folder(), .port = serve_port(s)};
    CHECK_STATUS("taken", serve_new(&o, &second), ST_BUSY);
    o.addr = (struct addr){4, {192, 0, 2, 1}};
    CHECK_STATUS("not ours", serve_new(&o, &second), ST_INVALID);
    serve_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(pages_answer),
        TEST_IN_FOLDER(folded_results_end_where_they_end),
        TEST_IN_FOLDER(every_answer_says_what_browsers_may_do),
        TEST_IN_FOLDER(files_are_kept_for_ever_and_compressed),
        TEST_IN_FOLDER(known_results_are_not_sent_twice),
        TEST_IN_FOLDER(an_index_may_come_grow_go_and_come_again),
        TEST_IN_FOLDER(a_damaged_index_is_said_to_be),
        TEST_IN_FOLDER(files_may_be_cut_under_the_server),
        TEST_IN_FOLDER(other_names_are_refused_on_loopback),
        TEST_IN_FOLDER(who_asks_too_often_is_told_when_to_come_back),
        TEST_IN_FOLDER(long_addresses_are_refused),
        TEST_IN_FOLDER(taken_ports_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
