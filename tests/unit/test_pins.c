#include "test.h"

#include "plan/pins.h"

static struct pins *pins_of(const char *text)
{
    struct pins *p = NULL;
    struct buf why = {0};
    status st = pins_read(span_str(text), &p, &why);
    if (st != ST_OK)
        fail_msg("%s: %s", status_name(st), buf_cstr(&why));
    buf_done(&why);
    return p;
}

static const char all_kinds[] = "# who crawls what\n"
                                "group alps = geneva, milan, country:CH\r\n"
                                "\n"
                                "site www.example.org -> agent paris\n"
                                "site example.org -> agent paris, group alps   # two of them\n"
                                "  site \"b\xc3\xbc"
                                "cher.example\" -> agent lab\n"
                                "site 192.0.2.7->agent seven\n"
                                "network 192.0.2.0/24 -> agent lab\n"
                                "network 192.0.0.0/16 -> agent hall\n"
                                "network 2001:db8::/32 -> agent six\n"
                                "holder \"Deutsche Telekom AG\" -> group country:DE\n"
                                "holder example -> agent oslo\n"
                                "country de -> group eu\n"
                                "country US -> group north-america\n"
                                "all -> group europe\n";

static struct pin_site site(const char *host, const char *addr, const char *holder, const char *country)
{
    struct pin_site s = {.host = span_str(host), .holder = span_str(holder)};
    if (*addr)
        CHECK_STATUS(addr, addr_parse(span_str(addr), &s.addr), ST_OK);
    memcpy(s.country, country, strlen(country) + 1);
    return s;
}

static void the_most_precise_line_decides(void **state)
{
    static const struct {
        const char *label, *host, *addr, *holder, *country;
        unsigned line;
    } cases[] = {
        {"the host", "www.example.org", "192.0.2.1", "Example", "DE", 4},
        {"below the host", "a.www.example.org", "", "", "", 4},
        {"its domain", "ftp.example.org", "", "", "", 5},
        {"the domain itself", "example.org", "", "", "", 5},
        {"with a dot at its end", "example.org.", "", "", "", 5},
        {"not a part of a label", "notexample.org", "", "", "", 15},
        {"not above it", "org", "", "", "", 15},
        {"another alphabet", "xn--bcher-kva.example", "", "", "", 6},
        {"an address as a host", "192.0.2.7", "192.0.2.7", "", "", 7},
        {"small network", "x.example", "192.0.2.7", "Example", "DE", 8},
        {"large network", "x.example", "192.0.3.7", "Example", "DE", 9},
        {"mapped", "x.example", "::ffff:192.0.2.7", "", "", 8},
        {"IPv6", "x.example", "2001:db8:1::1", "", "", 10},
        {"holder", "x.example", "198.51.100.1", "DEUTSCHE  TELEKOM", "US", 11},
        {"holder in a country with a line", "x.example", "", "Example Ltd", "DE", 12},
        {"country", "x.example", "198.51.100.1", "Somebody", "DE", 13},
        {"country in small letters", "x.example", "", "", "us", 14},
        {"all", "x.example", "198.51.100.1", "Somebody", "FR", 15},
        {"nothing is known", "", "", "", "", 15},
    };
    struct pins *p = pins_of(all_kinds);
    assert_int_equal(pins_count(p), 12);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct pin_site s = site(cases[i].host, cases[i].addr, cases[i].holder, cases[i].country);
        const struct pin *pin = pins_find(p, &s);
        if (!pin || pin_line(pin) != cases[i].line)
            fail_msg("%s: line %u, want %u", cases[i].label, pin ? pin_line(pin) : 0, cases[i].line);
    }
    struct pin_site s = site("ftp.example.org", "", "", "");
    CHECK_SPAN("text", pin_text(pins_find(p, &s)), SPAN("site example.org -> agent paris, group alps"));
    pins_free(p);
    pins_free(NULL);
}

static void nothing_is_pinned_where_nothing_is_said(void **state)
{
    struct pins *p = pins_of("country DE -> agent a\n");
    struct pin_site s = site("x.example", "192.0.2.1", "Example", "FR");
    assert_null(pins_find(p, &s));
    pins_free(p);
    p = pins_of("");
    assert_null(pins_find(p, &s));
    assert_int_equal(pins_count(p), 0);
    pins_free(p);
}

static const struct pin_agent agents[] = {
    {1, SPAN_INIT("paris"), "FR"},  {2, SPAN_INIT("geneva"), "CH"}, {3, SPAN_INIT("zurich"), "CH"},
    {4, SPAN_INIT("boston"), "US"}, {5, SPAN_INIT("nowhere"), ""},  {6, SPAN_INIT("berlin"), "de"},
};
#define AGENTS (sizeof(agents) / sizeof(*agents))

static void a_pin_becomes_the_list_of_those_that_may(void **state)
{
    static const struct {
        const char *to, *want;
    } cases[] = {
        {"agent paris", "1 "},
        {"agent Paris", ""},
        {"agent boston, agent paris, agent paris", "1 4 "},
        {"group alps", "2 3 "},
        {"group eu", "1 6 "},
        {"group EU", "1 6 "},
        {"group europe", "1 2 3 6 "},
        {"group country:ch", "2 3 "},
        {"group north-america, agent nowhere", "4 5 "},
        {"group africa", ""},
        {"agent later", ""},
        {"group later", ""},
        {"group country:DE, agent later", "6 "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf text = {0}, got = {0};
        uint64_t numbers[AGENTS];
        struct pin_site s = {0};
        buf_printf(&text, "all -> %s\ngroup alps = geneva,milan,country:CH\ngroup later = later", cases[i].to);
        struct pins *p = pins_of(buf_cstr(&text));
        size_t n = pin_agents(p, pins_find(p, &s), agents, AGENTS, numbers);
        for (size_t k = 0; k < n; k++)
            buf_printf(&got, "%llu ", (unsigned long long)numbers[k]);
        CHECK_SPAN(cases[i].to, buf_span(&got), span_str(cases[i].want));
        pins_free(p);
        buf_done(&text);
        buf_done(&got);
    }
}

static void continents_hold_each_country_once(void **state)
{
    static const char *const continents[] = {"africa",        "antarctica", "asia",         "europe",
                                             "north-america", "oceania",    "south-america"};
    unsigned countries = 0, in_eu = 0;
    for (char a = 'A'; a <= 'Z'; a++)
        for (char b = 'A'; b <= 'Z'; b++) {
            char code[3] = {a, b, '\0'};
            unsigned n = 0;
            for (size_t i = 0; i < sizeof(continents) / sizeof(*continents); i++)
                n += pins_group_has(span_str(continents[i]), code);
            CHECK(code, n <= 1);
            CHECK(code, !pins_group_has(SPAN("eu"), code) || pins_group_has(SPAN("europe"), code));
            countries += n;
            in_eu += pins_group_has(SPAN("eu"), code);
        }
    assert_int_equal(countries, 250); /* ISO 3166-1 has 249; and Kosovo */
    assert_int_equal(in_eu, 27);
    assert_false(pins_group_has(SPAN("eu"), ""));
    assert_false(pins_group_has(SPAN("mars"), "DE"));
    assert_true(pins_group_has(SPAN("country:de"), "DE"));
}

static void bad_lines_are_refused_with_their_number(void **state)
{
    static const struct {
        const char *text, *phrase;
    } cases[] = {
        {"site example.org", "line 1: -> expected"},
        {"\nsite -> agent a", "line 2: name expected"},
        {"site \"\" -> agent a", "line 1: name expected"},
        {"site example.org -> paris", "neither agent nor group: \"paris\""},
        {"site example.org ->", "agent or group expected"},
        {"site example.org -> agent", "name expected"},
        {"site example.org -> agent a b", "comma or end of line expected: \"b\""},
        {"site example.org -> agent a,", "agent or group expected"},
        {"site exa mple.org -> agent a", "-> expected: \"mple.org\""},
        {"site http://example.org/ -> agent a", "not a host"},
        {"site example.org:80 -> agent a", "not a host"},
        {"site a@example.org -> agent a", "not a host"},
        {"site [::1]:80 -> agent a", "not a host"},
        {"site . -> agent a", "not a host"},
        {"network 192.0.2.1/24 -> agent a", "not a network"},
        {"network 192.0.2.0/33 -> agent a", "not a network"},
        {"country DEU -> agent a", "not a country"},
        {"country D1 -> agent a", "not a country"},
        {"holder \"...\" -> agent a", "not a name"},
        {"all of -> agent a", "-> expected: \"of\""},
        {"host example.org -> agent a", "none of site"},
        {"-> agent a", "expected"},
        {"site a.example -> group alps", "no such group: \"alps\""},
        {"group eu = paris", "always there: \"eu\""},
        {"group country:DE = paris", "always there"},
        {"group a = b\ngroup a = c", "line 2: that group was there before"},
        {"group a -> b", "= expected"},
        {"group a = ", "name expected"},
        {"site a.example -> agent a\n# x\nsite A.example. -> agent b", "line 3: said before"},
        {"holder Telco -> agent a\nholder \"telco, Ltd.\" -> agent a", "line 2: said before"},
        {"country DE -> agent a\ncountry de -> agent b", "line 2: said before"},
        {"all -> agent a\nall -> agent a", "line 2: said before"},
        {"site \xff.example -> agent a", "not UTF-8"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct pins *p = NULL;
        struct buf why = {0};
        CHECK_STATUS(cases[i].text, pins_read(span_str(cases[i].text), &p, &why), ST_INVALID);
        if (!strstr(buf_cstr(&why), cases[i].phrase))
            fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].text, why.p, cases[i].phrase);
        CHECK_STATUS(cases[i].text, pins_read(span_str(cases[i].text), &p, NULL), ST_INVALID);
        assert_null(p);
        buf_done(&why);
    }
}

static void ceilings_hold(void **state)
{
    struct buf text = {0}, why = {0};
    struct pins *p = NULL;
    for (unsigned i = 0; i < PINS_MAX; i++)
        buf_printf(&text, "site s%u.example -> agent a\n", i);
    CHECK_STATUS("as many as can be", pins_read(buf_span(&text), &p, NULL), ST_OK);
    struct pin_site s = site("x.s77777.example", "", "", "");
    assert_int_equal(pin_line(pins_find(p, &s)), 77778);
    pins_free(p);
    p = NULL;
    buf_puts(&text, "all -> agent a\n");
    CHECK_STATUS("one more", pins_read(buf_span(&text), &p, &why), ST_LIMIT);
    buf_clear(&text);
    for (unsigned i = 0; i <= PINS_GROUPS_MAX; i++)
        buf_printf(&text, "group g%u = a\n", i);
    CHECK_STATUS("groups", pins_read(buf_span(&text), &p, &why), ST_LIMIT);
    buf_clear(&text);
    buf_puts(&text, "group g = a");
    for (unsigned i = 0; i < PINS_NAMES_MAX; i++)
        buf_puts(&text, ",a");
    CHECK_STATUS("names", pins_read(buf_span(&text), &p, &why), ST_LIMIT);
    static char huge[PINS_TEXT_MAX + 1];
    memset(huge, '\n', sizeof(huge));
    CHECK_STATUS("text", pins_read(span_of(huge, sizeof(huge)), &p, &why), ST_LIMIT);
    memset(huge, 'x', 300);
    CHECK_STATUS("word", pins_read(span_of(huge, 300), &p, &why), ST_INVALID);
    assert_null(p);
    buf_done(&text);
    buf_done(&why);
}

static void of_lines_about_a_network_the_most_precise_is_first(void **state)
{
    struct pins *p = pins_of("all -> agent a\n"
                             "country DE -> agent a\n"
                             "holder example -> agent a\n"
                             "network 192.0.0.0/16 -> agent a\n"
                             "network 192.0.2.0/24 -> agent a\n"
                             "site b.org -> agent a\n"
                             "site a.org -> agent a\n"
                             "site www.b.org -> agent a\n");
    struct pin_site sites[] = {site("www.b.org", "", "", ""), site("b.org", "", "", ""),
                               site("a.org", "", "", ""),     site("", "192.0.2.1", "", ""),
                               site("", "192.0.3.1", "", ""), site("", "", "example", ""),
                               site("", "", "", "DE"),        site("", "", "", "")};
    for (size_t i = 0; i < 8; i++)
        for (size_t k = 0; k < 8; k++)
            if (pin_is_before(pins_find(p, &sites[i]), pins_find(p, &sites[k])) != (i < k))
                fail_msg("sites %zu and %zu", i, k);
    pins_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_precise_line_decides),
        cmocka_unit_test(nothing_is_pinned_where_nothing_is_said),
        cmocka_unit_test(a_pin_becomes_the_list_of_those_that_may),
        cmocka_unit_test(continents_hold_each_country_once),
        cmocka_unit_test(bad_lines_are_refused_with_their_number),
        cmocka_unit_test(of_lines_about_a_network_the_most_precise_is_first),
        cmocka_unit_test(ceilings_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
