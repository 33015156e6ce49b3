/* test_serve_request.c - parts of requests: parameters, addresses to listen at, hosts, filters of a query. */
#include "test.h"

#include "base/rng.h"
#include "serve/filters.h"
#include "serve/html.h"
#include "serve/request.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_decoded),
        cmocka_unit_test(what_a_link_encodes_a_request_decodes),
        cmocka_unit_test(listen_addresses),
        cmocka_unit_test(hosts_that_are_this_machine),
        cmocka_unit_test(filters_are_put_in_and_taken_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
