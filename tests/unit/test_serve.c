#include "test.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "test_folder.h"
#include "test_pages.h"

#include "io/clock.h"
#include "serve/filters.h"
#include "serve/html.h"
#include "serve/limit.h"
#include "serve/request.h"
#include "serve/serve.h"
#include "store/store.h"

/* ---- text into HTML ---- */

static void text_is_escaped_for_html(void **state)
{
    static const struct {
        const char *in, *want;
    } cases[] = {
        {"plain", "plain"},
        {"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
        {"\" onload='x' &amp;", "&quot; onload=&#39;x&#39; &amp;amp;"},
        {"a\x01\x1b[31mb\x7f", "a  [31mb "},
        {"\xc3\xa4\xe6\x9d\xb1", "\xc3\xa4\xe6\x9d\xb1"},
        {"a\xff\xfe<", "a\xef\xbf\xbd\xef\xbf\xbd&lt;"},
        {"cut \xe6\x9d", "cut \xef\xbf\xbd"},
        {"overlong \xc0\xbcscript", "overlong \xef\xbf\xbd\xef\xbf\xbdscript"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf out = {0};
        html_text(&out, span_str(cases[i].in));
        CHECK_SPAN(cases[i].in, buf_span(&out), span_str(cases[i].want));
        buf_done(&out);
    }
}

static void nothing_that_means_something_in_html_survives(void **state)
{
    struct rng r;
    rng_seed(&r, 11);
    for (int round = 0; round < 2000; round++) {
        char bytes[64];
        struct buf out = {0};
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = rng_below(&r, 3) ? "<>\"'&;=/ a\n"[rng_below(&r, 11)] : (char)rng_below(&r, 256);
        html_text(&out, span_of(bytes, sizeof(bytes)));
        for (size_t i = 0; i < out.n; i++)
            assert_true((unsigned char)out.p[i] >= 0x20 && !strchr("<>\"'\x7f", out.p[i]));
        buf_done(&out);
    }
}

static void marks_that_make_no_sense_are_left_out(void **state)
{
    static const struct {
        const char *label;
        struct mark marks[3];
        size_t n;
        const char *want;
    } cases[] = {
        {"none", {{0, 0}}, 0, "a&lt;bcdef"},
        {"two", {{0, 2}, {4, 2}}, 2, "<mark>a&lt;</mark>bc<mark>de</mark>f"},
        {"touching", {{0, 2}, {2, 1}}, 2, "<mark>a&lt;</mark><mark>b</mark>cdef"},
        {"overlapping", {{0, 3}, {2, 2}}, 2, "<mark>a&lt;b</mark>cdef"},
        {"backwards", {{4, 1}, {0, 1}}, 2, "a&lt;bc<mark>d</mark>ef"},
        {"past the end", {{5, 9}, {UINT32_MAX, 1}, {6, 1}}, 3, "a&lt;bcde<mark>f</mark>"},
        {"huge", {{3, UINT32_MAX}}, 1, "a&lt;bcdef"},
        {"empty", {{3, 0}}, 1, "a&lt;bcdef"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf out = {0};
        struct mark marks[3];
        memcpy(marks, cases[i].marks, sizeof(marks));
        html_marked(&out, &(struct marked){SPAN("a<bcdef"), marks, cases[i].n});
        CHECK_SPAN(cases[i].label, buf_span(&out), span_str(cases[i].want));
        buf_done(&out);
    }
}

static void only_http_becomes_a_link(void **state)
{
    static const struct {
        const char *url, *want; /* NULL: no link */
    } cases[] = {
        {"https://example.org/a?b&c", "https://example.org/a?b&amp;c"},
        {"http://example.org/\"onclick='x'", "http://example.org/%22onclick=&#39;x&#39;"},
        {"javascript:alert(1)", NULL},
        {" java\tscript:alert(1)", NULL},
        {"JAVASCRIPT://example.org/%0aalert(1)", NULL},
        {"data:text/html,<script>", NULL},
        {"vbscript:x", NULL},
        {"file:///etc/passwd", NULL},
        {"ftp://example.org/", NULL},
        {"//example.org/", NULL},
        {"", NULL},
        {"http://", NULL},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf out = {0};
        bool is_link = html_href(&out, &a, span_str(cases[i].url));
        CHECK(cases[i].url, is_link == (cases[i].want != NULL));
        CHECK_SPAN(cases[i].url, buf_span(&out), span_str(cases[i].want));
        buf_done(&out);
    }
    arena_done(&a);
}

/* The text of breadcrumbs, without the markup. */
static struct span crumbs(struct arena *a, const char *url)
{
    struct buf html = {0}, out = {0};
    html_breadcrumbs(&html, a, span_str(url));
    for (size_t i = 0; i < html.n; i++) {
        if (html.p[i] == '<')
            i = span_find(buf_span(&html), '>', i);
        else
            buf_putc(&out, html.p[i]);
    }
    struct span s = arena_copy(a, buf_span(&out));
    buf_done(&html);
    buf_done(&out);
    return s;
}

static void breadcrumbs_show_where_a_page_is(void **state)
{
#define SEP " \xe2\x80\xba "
    static const struct {
        const char *url, *want;
    } cases[] = {
        {"https://example.org/", "example.org"},
        {"http://example.org:8080/a/b.html", "example.org:8080" SEP "a" SEP "b.html"},
        {"https://example.org/a//b/", "example.org" SEP "a" SEP "b"},
        {"https://example.org/1/2/3/4/5/6", "example.org" SEP "1" SEP "2" SEP "\xe2\x80\xa6" SEP "5" SEP "6"},
        {"https://example.org/a%20b/%C3%A4", "example.org" SEP "a b" SEP "\xc3\xa4"},
        {"https://example.org/%3Cb%3E", "example.org" SEP "&lt;b&gt;"},
        /* Not decoded: a slash, broken UTF-8, what turns the direction around, what nobody sees. */
        {"https://example.org/a%2Fb", "example.org" SEP "a%2Fb"},
        {"https://example.org/%FF", "example.org" SEP "%FF"},
        {"https://example.org/%E2%80%AEgpj.exe", "example.org" SEP "%E2%80%AEgpj.exe"},
        {"https://example.org/%E2%80%8B", "example.org" SEP "%E2%80%8B"},
        {"https://example.org/x?q=1&r=2", "example.org" SEP "x" SEP "?q=1&amp;r=2"},
        {"https://b\xc3\xbc"
         "cher.example/",
         "xn--bcher-kva.example"},
        {"nonsense <b>", "nonsense &lt;b&gt;"},
    };
#undef SEP
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK_SPAN(cases[i].url, crumbs(&a, cases[i].url), span_str(cases[i].want));
    arena_done(&a);
}

static void numbers_and_dates_are_for_people(void **state)
{
    struct buf out = {0};
    html_count(&out, 1234567);
    buf_putc(&out, '|');
    html_count(&out, 7);
    buf_putc(&out, '|');
    html_bytes(&out, 999);
    buf_putc(&out, '|');
    html_bytes(&out, 41234567);
    buf_putc(&out, '|');
    html_date(&out, 1769860800000);
    buf_putc(&out, '|');
    html_date(&out, 0);
    buf_putc(&out, '|');
    html_language(&out, SPAN("de"));
    html_language(&out, SPAN("<x>"));
    CHECK_SPAN("texts", buf_span(&out),
               SPAN("1,234,567|7|999 bytes|41.2 MB|<time datetime=\"2026-01-31\">31 Jan 2026</time>||German&lt;x&gt;"));
    buf_done(&out);
}

static void templates_escape_what_they_are_given(void **state)
{
    static const struct html_fill fills[] = {{"a", SPAN_INIT("<1>"), false}, {"b", SPAN_INIT("<2>"), true}};
    struct buf out = {0};
    html_template(&out, SPAN("x{{a}}y{{b}}z{{none}}{{a}}{{cut"), fills, 2);
    CHECK_SPAN("template", buf_span(&out), SPAN("x&lt;1&gt;y<2>z&lt;1&gt;"));
    buf_done(&out);
}

/* ---- parts of requests ---- */

static void parameters_are_decoded(void **state)
{
    static const struct {
        const char *query, *name, *want;
    } cases[] = {
        {"q=a+b%20c&page=2", "q", "a b c"},
        {"q=a+b&page=2", "page", "2"},
        {"x=1&q=first&q=second", "q", "first"},
        {"q", "q", ""},
        {"", "q", ""},
        {"qq=1", "q", ""},
        {"q=%", "q", "%"},
        {"q=%4", "q", "%4"},
        {"q=%zz%41", "q", "%zzA"},
        {"q=a=b", "q", "a=b"},
        {"&&q=x", "q", "x"},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK_SPAN(cases[i].query, request_param(&a, span_str(cases[i].query), cases[i].name), span_str(cases[i].want));
    uint64_t n = 9;
    CHECK("missing", request_number(&a, SPAN("x=1"), "n", 5, 10, &n) && n == 5);
    CHECK("given", request_number(&a, SPAN("n=7"), "n", 5, 10, &n) && n == 7);
    CHECK("too large", !request_number(&a, SPAN("n=11"), "n", 5, 10, &n));
    CHECK("no number", !request_number(&a, SPAN("n=-1"), "n", 5, 10, &n));
    arena_done(&a);
}

static void what_a_link_encodes_a_request_decodes(void **state)
{
    struct rng r;
    struct arena a;
    rng_seed(&r, 5);
    arena_init(&a);
    for (int round = 0; round < 2000; round++) {
        char bytes[40];
        struct buf link = {0};
        size_t n = rng_below(&r, sizeof(bytes) + 1);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (char)rng_below(&r, 256);
        buf_puts(&link, "q=");
        html_query_value(&link, span_of(bytes, n));
        CHECK_SPAN("there and back", request_param(&a, buf_span(&link), "q"), span_of(bytes, n));
        buf_done(&link);
        arena_reset(&a);
    }
    arena_done(&a);
}

static void listen_addresses(void **state)
{
    static const struct {
        const char *text, *addr; /* NULL: not accepted */
        int port;
    } cases[] = {
        {"127.0.0.1:8080", "127.0.0.1", 8080},
        {"127.0.0.1", "127.0.0.1", 8080},
        {"8000", "127.0.0.1", 8000},
        {":8000", "127.0.0.1", 8000},
        {"localhost:1", "127.0.0.1", 1},
        {"[::1]:80", "::1", 80},
        {"*:8080", "::", 8080},
        {"0.0.0.0:0", "0.0.0.0", 0},
        {"", NULL, 0},
        {"127.0.0.1:", NULL, 0},
        {"127.0.0.1:65536", NULL, 0},
        {"127.0.0.1:x", NULL, 0},
        {"example.org:80", NULL, 0},
        {"::1:80", NULL, 0},
        {"1.2.3:80", NULL, 0},
        {"65536", NULL, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct addr a;
        int port = -1;
        char text[ADDR_TEXT_MAX];
        status st = request_listen_parse(span_str(cases[i].text), &a, &port);
        CHECK_STATUS(cases[i].text, st, cases[i].addr ? ST_OK : ST_INVALID);
        if (cases[i].addr) {
            CHECK_SPAN(cases[i].text, span_str(addr_format(&a, text)), span_str(cases[i].addr));
            CHECK(cases[i].text, port == cases[i].port);
        }
    }
}

static void hosts_that_are_this_machine(void **state)
{
    static const struct {
        const char *host;
        bool is_plain, is_loopback;
    } cases[] = {
        {"localhost", true, true},
        {"localhost:8080", true, true},
        {"LOCALHOST.", true, true},
        {"demo.localhost:1", true, true},
        {"127.0.0.1:8080", true, true},
        {"127.9.9.9", true, true},
        {"[::1]:8080", true, true},
        {"notlocalhost", true, false},
        {"localhost.example.org", true, false},
        {"127.0.0.1.example.org", true, false},
        {"example.org:8080", true, false},
        {"192.0.2.1", true, false},
        {"[2001:db8::1]", true, false},
        {"", false, false},
        {":80", false, false},
        {"localhost:99999", false, false},
        {"localhost:8080x", false, false},
        {"a b", false, false},
        {"a\"b", false, false},
        {"<x>", false, false},
        {"[::1", false, false},
        {"localhost/", false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK(cases[i].host, request_host_is_plain(span_str(cases[i].host)) == cases[i].is_plain);
        CHECK(cases[i].host, request_host_is_loopback(span_str(cases[i].host)) == cases[i].is_loopback);
    }
}

static void filters_are_put_in_and_taken_out(void **state)
{
    static const struct {
        const char *query, *with, *without; /* with site:x.example; without site: */
    } cases[] = {
        {"a b", "a b site:x.example", "a b"},
        {"  a   b ", "a b site:x.example", "a b"},
        {"site:y.example a", "a site:x.example", "a"},
        {"SITE:y a site:z", "a site:x.example", "a"},
        {"\"site:y a\" b", "\"site:y a\" b site:x.example", "\"site:y a\" b"},
        {"-site:y a", "-site:y a site:x.example", "-site:y a"},
        {"site: a", "site: a site:x.example", "site: a"},
        {"\"open quote site:y", "\"open quote site:y site:x.example", "\"open quote site:y"},
        {"lang:de site:y", "lang:de site:x.example", "lang:de"},
        {"", "site:x.example", ""},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct span q = span_str(cases[i].query);
        CHECK_SPAN(cases[i].query, filter_with(&a, q, FILTER_SITE, SPAN("x.example")), span_str(cases[i].with));
        CHECK_SPAN(cases[i].query, filter_without(&a, q, FILTER_SITE), span_str(cases[i].without));
    }
    arena_done(&a);
}

/* ---- rate ---- */

static struct addr addr_of(const char *text)
{
    struct addr a = {0};
    CHECK_STATUS(text, addr_parse(span_str(text), &a), ST_OK);
    return a;
}

static int taken(struct limiter *l, const char *from, mono_ms now, int tries)
{
    struct addr a = addr_of(from);
    int n = 0, retry_s = 0;
    for (int i = 0; i < tries; i++)
        n += limiter_take(l, &a, now, &retry_s);
    return n;
}

static void clients_are_held_to_their_rate(void **state)
{
    struct limiter *l =
        limiter_new(&(struct limiter_opts){.per_s = 2, .burst = 10, .loopback_factor = 3, .key = {1, 2}});
    assert_int_equal(taken(l, "192.0.2.1", 1000, 50), 10);
    assert_int_equal(taken(l, "192.0.2.2", 1000, 50), 10); /* another client */
    assert_int_equal(taken(l, "192.0.2.1", 1400, 5), 0);
    assert_int_equal(taken(l, "192.0.2.1", 1500, 5), 1); /* two a second */
    assert_int_equal(taken(l, "192.0.2.1", 1200, 5), 0); /* a clock that another thread read earlier */
    assert_int_equal(taken(l, "192.0.2.1", 3500, 50), 4);
    assert_int_equal(taken(l, "192.0.2.1", 1000000, 50), 10); /* never more than the burst */
    assert_int_equal(taken(l, "127.0.0.1", 1000, 100), 30);
    assert_int_equal(taken(l, "2001:db8:0:1::1", 1000, 50), 10);
    assert_int_equal(taken(l, "2001:db8:0:1:ffff::9", 1000, 50), 0); /* the same /64 */
    assert_int_equal(taken(l, "2001:db8:0:2::1", 1000, 50), 10);
    assert_int_equal(taken(l, "::ffff:192.0.2.2", 1000, 50), 0); /* the same client in other clothes */
    struct addr a = addr_of("192.0.2.2");
    int retry_s = 0;
    assert_false(limiter_take(l, &a, 1000, &retry_s));
    assert_int_equal(retry_s, 1);
    limiter_free(l);
    limiter_free(NULL);
    l = limiter_new(&(struct limiter_opts){.per_s = 0});
    assert_int_equal(taken(l, "192.0.2.1", 1000, 1000), 1000);
    limiter_free(l);
}

static void many_clients_do_not_lift_the_limit_of_a_busy_one(void **state)
{
    struct limiter *l =
        limiter_new(&(struct limiter_opts){.per_s = 1, .burst = 5, .loopback_factor = 1, .key = {3, 4}});
    struct addr busy = addr_of("198.51.100.7");
    int allowed = 0, retry_s;
    /* More strangers than there is room for, while the busy one goes on asking: what is used stays. */
    for (uint32_t i = 0; i < 4 * LIMIT_SLOTS; i++) {
        struct addr a = {4, {10, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i}};
        mono_ms now = 1000 + i / 40;
        (void)limiter_take(l, &a, now, &retry_s);
        allowed += limiter_take(l, &busy, now, &retry_s);
    }
    assert_in_range(allowed, 5, 6); /* burst, and less than a second of refill */
    limiter_free(l);
}

/* ---- the server ---- */

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

static struct serve *start(struct serve_opts o)
{
    struct serve *s = NULL;
    o.data_dir = test_folder();
    o.version = SPAN("9.9");
    CHECK_STATUS("serve", serve_new(&o, &s), ST_OK);
    return s;
}

/* Sends a request over a connection of its own and returns all that came; free it. */
static char *ask_raw(const struct serve *s, const char *request)
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

static char *ask(const struct serve *s, const char *method, const char *target, const char *head)
{
    struct buf request = {0};
    buf_printf(&request, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n", method, target, head);
    char *got = ask_raw(s, buf_cstr(&request));
    buf_done(&request);
    return got;
}

static int code_of(const char *answer)
{
    return strncmp(answer, "HTTP/1.1 ", 9) == 0 ? (int)strtol(answer + 9, NULL, 10) : 0;
}

struct ask_case {
    const char *method, *target, *head;
    int code;
    const char *has, *lacks; /* NULL: not looked for */
};

static void check_cases(const struct serve *s, const struct ask_case *cases, size_t n)
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
    for (mono_ms end = clock_mono() + 5000;;) {
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
        {"GET", "/search?q=x", "", 500, "The index is damaged", NULL},
        {"GET", "/api/v1/search?q=x", "", 500, "\"error\":{\"code\":\"", NULL},
        {"GET", "/status", "", 200, "The index cannot be read", NULL},
        {"GET", "/metrics", "", 200, "orb_index_up 0\n", NULL},
    };
    check_cases(s, cases, sizeof(cases) / sizeof(*cases));
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

/* ---- status ---- */

static void put_progress(const char *json)
{
    struct store *store = NULL;
    CHECK_STATUS("open", store_open(test_folder(), STORE_WRITE, &store, NULL), ST_OK);
    CHECK_STATUS("progress", store_setting_put(store, "progress", span_str(json)), ST_OK);
    CHECK_STATUS("contact", store_setting_put(store, "contact", SPAN("me@example.org")), ST_OK);
    CHECK_STATUS("agent", store_setting_put(store, "user_agent", SPAN("mybot/2 (<b>; me@example.org)")), ST_OK);
    store_free(store);
}

static void progress_of_a_crawl_is_shown(void **state)
{
    struct buf json = {0};
    buf_printf(&json,
               "{\"running\":true,\"at\":%lld,\"pass\":1,\"pages\":1234,\"fetched\":100,\"unchanged\":0,\"errors\":7,"
               "\"queued\":56,\"known_urls\":2000,\"hosts\":9,\"hosts_waiting\":2,\"hosts_given_up\":1,\"traps\":3,"
               "\"bytes\":4096,\"seconds\":10.0,\"errors_by_kind\":{\"timeout\":4,\"http 5xx\":3,\"<x>\":1}}",
               (long long)clock_wall());
    put_progress(buf_cstr(&json));
    struct serve *s = start((struct serve_opts){0});
    const struct ask_case cases[] = {
        {"GET", "/api/v1/status", "", 200, "\"running\":true", NULL},
        {"GET", "/api/v1/status", "", 200, "\"errors_by_kind\":{\"timeout\":4,\"http 5xx\":3}", NULL},
        {"GET", "/api/v1/status", "", 200, "\"pages_per_s\":10", NULL},
        {"GET", "/api/v1/status", "", 200, "\"hosts_backoff\":2,\"hosts_given_up\":1,\"parked\":3", NULL},
        {"GET", "/status", "", 200, "A crawl is running.", "<x>"},
        {"GET", "/status", "", 200, "<dd data-key=\"crawl.pages\">1,234</dd>", NULL},
        {"GET", "/metrics", "", 200, "orb_crawl_errors_total{kind=\"http 5xx\"} 3\n", NULL},
        {"GET", "/metrics", "", 200, "orb_crawl_running 1\n", NULL},
        {"GET", "/about-this-crawler", "", 200, "User-agent: mybot\n", "<b>;"},
        {"GET", "/about-this-crawler", "", 200, "href=\"mailto:me@example.org\"", NULL},
        {"GET", "/about-this-crawler", "", 200, "name the page, the folder, the host or the domain", "left no address"},
    };
    check_cases(s, cases, sizeof(cases) / sizeof(*cases));
    serve_free(s);
    buf_done(&json);
}

static void a_crawl_that_was_killed_is_told_from_one_that_runs(void **state)
{
    put_progress("{\"running\":true,\"at\":1700000000000,\"pass\":1,\"pages\":1,\"queued\":5,\"errors_by_kind\":{}}");
    struct serve *s = start((struct serve_opts){0});
    const struct ask_case cases[] = {
        {"GET", "/api/v1/status", "", 200, "\"running\":false,\"interrupted\":true", NULL},
        {"GET", "/status", "", 200, "The last crawl was interrupted", NULL},
        {"GET", "/metrics", "", 200, "orb_crawl_running 0\n", NULL},
    };
    check_cases(s, cases, sizeof(cases) / sizeof(*cases));
    serve_free(s);
}

static void odd_progress_texts_do_no_harm(void **state)
{
    static const char *const texts[] = {"",
                                        "{",
                                        "null",
                                        "{\"errors_by_kind\":{",
                                        "{\"errors_by_kind\":{\"a\"}}",
                                        "{\"errors_by_kind\":{\"\":1}}",
                                        "{\"errors_by_kind\":{\"a\":99999999999999999999999}}",
                                        "{\"at\":-5,\"running\":true}",
                                        "{\"pages\":\"<script>\"}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        put_progress(texts[i]);
        struct serve *s = start((struct serve_opts){0});
        const struct ask_case cases[] = {{"GET", "/status", "", 200, NULL, "<script>"},
                                         {"GET", "/api/v1/status", "", 200, "\"version\":1", "<script>"},
                                         {"GET", "/metrics", "", 200, NULL, NULL}};
        check_cases(s, cases, 3);
        serve_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_escaped_for_html),
        cmocka_unit_test(nothing_that_means_something_in_html_survives),
        cmocka_unit_test(marks_that_make_no_sense_are_left_out),
        cmocka_unit_test(only_http_becomes_a_link),
        cmocka_unit_test(breadcrumbs_show_where_a_page_is),
        cmocka_unit_test(numbers_and_dates_are_for_people),
        cmocka_unit_test(templates_escape_what_they_are_given),
        cmocka_unit_test(parameters_are_decoded),
        cmocka_unit_test(what_a_link_encodes_a_request_decodes),
        cmocka_unit_test(listen_addresses),
        cmocka_unit_test(hosts_that_are_this_machine),
        cmocka_unit_test(filters_are_put_in_and_taken_out),
        cmocka_unit_test(clients_are_held_to_their_rate),
        cmocka_unit_test(many_clients_do_not_lift_the_limit_of_a_busy_one),
        TEST_IN_FOLDER(pages_answer),
        TEST_IN_FOLDER(every_answer_says_what_browsers_may_do),
        TEST_IN_FOLDER(files_are_kept_for_ever_and_compressed),
        TEST_IN_FOLDER(known_results_are_not_sent_twice),
        TEST_IN_FOLDER(an_index_may_come_grow_go_and_come_again),
        TEST_IN_FOLDER(a_damaged_index_is_said_to_be),
        TEST_IN_FOLDER(other_names_are_refused_on_loopback),
        TEST_IN_FOLDER(who_asks_too_often_is_told_when_to_come_back),
        TEST_IN_FOLDER(long_addresses_are_refused),
        TEST_IN_FOLDER(taken_ports_are_told),
        TEST_IN_FOLDER(progress_of_a_crawl_is_shown),
        TEST_IN_FOLDER(a_crawl_that_was_killed_is_told_from_one_that_runs),
        TEST_IN_FOLDER(odd_progress_texts_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
