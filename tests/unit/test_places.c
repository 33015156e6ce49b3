/* Places are written in one way, and have just the URLs that people mean by them. */
#include "test.h"

#include "web/places.h"

static const struct sip_key key = {7, 9};

static void are_written_in_one_way(void **state)
{
    (void)state;
    static const struct {
        const char *given, *text;
    } cases[] = {
        {"example.org", "example.org"},
        {" Example.ORG ", "example.org"},
        {"https://Example.org", "example.org"},
        {"http://example.org:8080", "example.org:8080"},
        {"example.org:80", "example.org:80"},
        {".example.org", ".example.org"},
        {"example.org.", "example.org"},
        {".example.org.", ".example.org"},
        {"*.Example.org", ".example.org"},
        {"https://example.org/", "https://example.org/"},
        {"https://example.org/a#b", "https://example.org/a"},
        {"https://example.org/%7ea?utm_source=x", "https://example.org/~a"},
        {"https://example.org/a/*", "https://example.org/a/*"},
        {"https://example.org/*", "https://example.org/*"},
        {"https://example.org/list?*", "https://example.org/list?*"},
        {"https://example.org/list?b=1&a=2&*", "https://example.org/list?b=1&a=2&*"},
        {"https://example.org/?*", "https://example.org/?*"},
        {"https://example.org?*", "https://example.org/?*"},
        {"https:////example.org/a*", "https://example.org/a*"},
        {"https://example.org/%2e*", "https://example.org/.*"},
        {"https://example.org/a/..*", "https://example.org/a/..*"},
        {"https://example.org/a/../*", "https://example.org/*"},
        {"b\xc3\xbc"
         "cher.example",
         "xn--bcher-kva.example"},
        {"[2001:DB8::1]", "[2001:db8::1]"},
        {"[2001:DB8::1]:80", "[2001:db8::1]:80"},
        {"example.org:080", "example.org:80"},
        {"example.org:", "example.org"},
        {"https://example.org:443", "example.org:443"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena a;
        struct places_item p;
        arena_init(&a);
        CHECK_STATUS(cases[i].given, places_parse(&a, span_str(cases[i].given), &p, NULL), ST_OK);
        CHECK_SPAN(cases[i].given, p.text, span_str(cases[i].text));
        struct places_item again;
        CHECK_STATUS(cases[i].given, places_parse(&a, p.text, &again, NULL), ST_OK);
        CHECK_SPAN(cases[i].given, again.text, p.text);
        arena_done(&a);
    }
}

static void what_names_no_place_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {"",
                                        " ",
                                        "example.org/a",
                                        "https://",
                                        "ftp://example.org/a",
                                        "a b",
                                        "https://a*b/",
                                        "https://example.org/*/b",
                                        "https://example.org*",
                                        "https:////example.org*",
                                        "https://\t/example.org*",
                                        "https://example.org/a#b*",
                                        ".",
                                        "*",
                                        ".1.2.3.4",
                                        "example.org:99999",
                                        "example.org:0",
                                        "https://example.org:0/a",
                                        "mailto:a@example.org",
                                        ".example.org:80",
                                        "\xef\xbc\x8e.example.org",
                                        "\xef\xbc\x8a.example.org",
                                        "https://\xef\xbc\x8a.example.org/a"};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena a;
        struct places_item p;
        struct buf why = {0};
        arena_init(&a);
        CHECK_STATUS(cases[i], places_parse(&a, span_str(cases[i]), &p, &why), ST_INVALID);
        if (!why.n)
            fail_msg("%s: no reason was given", cases[i]);
        buf_done(&why);
        arena_done(&a);
    }
}

static bool has(const struct places *ps, const char *url)
{
    struct arena a;
    struct url u;
    arena_init(&a);
    CHECK_STATUS(url, url_parse(&a, span_str(url), NULL, &u), ST_OK);
    bool is = places_find(ps, &u) != NULL;
    arena_done(&a);
    return is;
}

static void a_place_has_what_people_mean_by_it(void **state)
{
    (void)state;
    static const struct {
        const char *place, *url;
        bool has;
    } cases[] = {
        {"example.org", "http://example.org/", true},
        {"example.org", "https://example.org:8443/a?b", true},
        {"example.org", "https://www.example.org/", false},
        {"example.org", "https://example.org.evil.example/", false},
        {"example.org:8080", "http://example.org:8080/a", true},
        {"example.org:8080", "http://example.org/a", false},
        {"example.org:443", "https://example.org/a", true},
        {"example.org", "http://example.org./a", true}, /* the same host, written to the root */
        {"example.org.", "http://example.org/a", true},
        {"example.org:8080", "http://example.org.:8080/a", true},
        {".example.org", "https://a.example.org./x", true},
        {"https://example.org/a", "https://example.org./a", true},
        {"https://example.org./a", "https://example.org/a", true},
        {"org", "http://example.org./", false},
        {"https://example.org/a%2Ab", "https://example.org/a*b", true}, /* a * that is meant as such */
        {"https://example.org/a%2ab", "https://example.org/a%2Ab", true},
        {"https://example.org/a%2A", "https://example.org/ab", false},
        {"https://example.org/a%2A*", "https://example.org/a*b", true},
        {"https://example.org/a%2A", "https://example.org/a*b", false},
        {".example.org", "https://example.org/", true},
        {".example.org", "https://a.b.example.org/x", true},
        {".example.org", "https://notexample.org/", false},
        {"https://example.org/a", "http://example.org/a", true},
        {"https://example.org/a", "https://example.org/a", true},
        {"https://example.org/a", "https://example.org/a/", false},
        {"https://example.org/a", "https://example.org/a?b", false},
        {"https://example.org/a", "https://example.org:8443/a", false},
        {"https://example.org/a*", "https://example.org/a?b", true},
        {"https://example.org/a*", "https://example.org/ab/c", true},
        {"https://example.org/a/*", "https://example.org/a", false},
        {"https://example.org/*", "https://example.org/x", true},
        {"https://example.org/*", "https://www.example.org/x", false},
        {"https://example.org/list?*", "https://example.org/list?a=1", true},
        {"https://example.org/list?*", "https://example.org/listing", false},
        {"https://example.org/list?*", "https://example.org/list", false},
        {"https://example.org/.*", "https://example.org/.hid", true},
        {"https://example.org/%2e*", "https://example.org/list", false},
        /* where parameters are kept that say nothing of the page */
        {"https://example.org/p", "https://example.org/p?utm_source=x", true},
        {"https://example.org/p?utm_source=x", "https://example.org/p?utm_source=x", true},
        {"https://example.org/p?utm_source=x*", "https://example.org/p?utm_source=xy", true},
        {"https://example.org/p?utm_source=x*", "https://example.org/p", false},
        {"https://example.org/p?a", "https://example.org/p?utm_source=x", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct places *ps = places_new(&key);
        CHECK_STATUS(cases[i].place, places_add(ps, span_str(cases[i].place), NULL), ST_OK);
        CHECK_STATUS("another beside it", places_add(ps, SPAN("other.example"), NULL), ST_OK);
        if (has(ps, cases[i].url) != cases[i].has)
            fail_msg("%s and %s: want %d", cases[i].place, cases[i].url, cases[i].has);
        places_free(ps);
    }
}

static void a_host_is_refused_as_a_whole_or_not(void **state)
{
    (void)state;
    struct places *ps = places_new(&key);
    CHECK_STATUS("host", places_add(ps, SPAN("a.example"), NULL), ST_OK);
    CHECK_STATUS("again", places_add(ps, SPAN("http://A.example"), NULL), ST_OK);
    CHECK_STATUS("port", places_add(ps, SPAN("b.example:8080"), NULL), ST_OK);
    CHECK_STATUS("page", places_add(ps, SPAN("https://c.example/x"), NULL), ST_OK);
    CHECK_STATUS("domain", places_add(ps, SPAN(".d.example"), NULL), ST_OK);
    assert_int_equal(places_count(ps), 4);
    assert_true(places_have_host(ps, SPAN("a.example")));
    assert_false(places_have_host(ps, SPAN("b.example")));
    assert_false(places_have_host(ps, SPAN("c.example")));
    assert_true(places_have_host(ps, SPAN("x.y.d.example")));
    assert_false(places_have_host(NULL, SPAN("a.example")));
    places_free(ps);
}

static void addresses_are_found_with_parameters_and_without(void **state)
{
    (void)state;
    struct places *ps = places_new(&key);
    CHECK_STATUS("page", places_add(ps, SPAN("https://a.example/p"), NULL), ST_OK);
    CHECK_STATUS("beginning", places_add(ps, SPAN("https://b.example/p?utm_source=x*"), NULL), ST_OK);
    assert_true(places_have_address(ps, SPAN("https://A.example:443/p?utm_source=x#y")));
    assert_true(places_have_address(ps, SPAN("https://b.example/p?utm_source=xy")));
    assert_false(places_have_address(ps, SPAN("https://b.example/p")));
    assert_false(places_have_address(ps, SPAN("mailto:p@a.example")));
    places_free(ps);
}

static void a_list_has_notes_and_comments(void **state)
{
    (void)state;
    struct span list =
        SPAN("# asked to be left out\n\n  a.example\t2026-11-02 mail of its owner\n.b.example # since May\r\n"
             "https://c.example/x/*");
    struct span rest = list, place, note;
    unsigned line = 0;
    assert_true(places_next_line(&rest, &line, &place, &note));
    assert_int_equal(line, 3);
    CHECK_SPAN("place", place, SPAN("a.example"));
    CHECK_SPAN("note", note, SPAN("2026-11-02 mail of its owner"));
    assert_true(places_next_line(&rest, &line, &place, &note));
    CHECK_SPAN("note", note, SPAN("since May"));
    assert_true(places_next_line(&rest, &line, &place, &note));
    assert_false(places_next_line(&rest, &line, &place, &note));
    struct places *ps = places_new(&key);
    CHECK_STATUS("list", places_add_list(ps, list, NULL), ST_OK);
    assert_int_equal(places_count(ps), 3);
    CHECK_STATUS("of an editor that marks its files",
                 places_add_list(ps, SPAN("\xef\xbb\xbf# list\ne.example\n"), NULL), ST_OK);
    assert_int_equal(places_count(ps), 4);
    struct buf why = {0};
    CHECK_STATUS("bad line", places_add_list(ps, SPAN("d.example\nhttps://*.example/\n"), &why), ST_INVALID);
    CHECK_SPAN("why", buf_span(&why), SPAN("line 2: https://*.example/: a * may only stand at its end"));
    buf_done(&why);
    places_free(ps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_written_in_one_way),
        cmocka_unit_test(what_names_no_place_is_refused),
        cmocka_unit_test(a_place_has_what_people_mean_by_it),
        cmocka_unit_test(a_host_is_refused_as_a_whole_or_not),
        cmocka_unit_test(addresses_are_found_with_parameters_and_without),
        cmocka_unit_test(a_list_has_notes_and_comments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
