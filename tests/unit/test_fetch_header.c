/* test_fetch_header.c - values of headers: dates, Retry-After, canonical links, types of pages. */
#include "test.h"

#include <time.h>

#include "io/fetch_header.h"
#include "io/fetcher.h"

static void reads_dates_in_three_forms(void **state)
{
    const wall_ms now = 1793000000000; /* October 2026 */
    static const struct {
        const char *text;
        int64_t seconds; /* -1: no date */
    } cases[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
        {"Sun Nov  6 08:49:37 1994", 784111777},
        {" Sun, 06 Nov 1994 08:49:37 GMT\t", 784111777},
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"Fri, 31 Dec 1999 23:59:60 GMT", 946684800},
        {"Thu, 29 Feb 2024 12:00:00 GMT", 1709208000},
        {"Tue Feb 29 00:00:00 2000", 951782400},
        {"Wed, 29 Feb 2023 12:00:00 GMT", -1},
        {"Mon, 29 Feb 2100 12:00:00 GMT", -1},
        {"Sun, 31 Apr 1994 08:49:37 GMT", -1},
        {"Sun, 00 Nov 1994 08:49:37 GMT", -1},
        {"Thursday, 01-Jan-70 00:00:00 GMT", 3155760000},  /* 2070: less than fifty years ahead */
        {"Friday, 01-Jan-77 00:00:00 GMT", 220924800},     /* 1977: 2077 would be more */
        {"Wednesday, 01-Jan-76 00:00:00 GMT", 3345062400}, /* 2076 */
        {"Friday, 31-Dec-76 00:00:00 GMT", 220838400},     /* 1976 */
        {"Saturday, 01-Jan-00 00:00:00 GMT", 946684800},
        {"Sun, 06 Nov 94 08:49:37 GMT", -1},
        {"Sunday, 06-Nov-1994 08:49:37 GMT", -1},
        {"Sun, 6 Nov 1994 08:49:37 GMT", -1},
        {"Sun, 06 Nov 1994 08:49:37", -1},
        {"Sun, 06 Nov 1994 08:49:37 UTC", -1},
        {"Sun, 06 Nov 1994 24:00:00 GMT", -1},
        {"Sun, 06 Nov 1994 08:60:37 GMT", -1},
        {"Sun, 06 Nov 1994 08:49:61 GMT", -1},
        {"Sun, 06 Nov 1994 08:49:37 GMT x", -1},
        {"Sun, 06 Foo 1994 08:49:37 GMT", -1},
        {"Xyz, 06 Nov 1994 08:49:37 GMT", -1},
        {"0", -1},
        {"-1", -1},
        {"", -1},
        {"Sun", -1},
        {"Mon, 31 Dec 9999 23:59:59 GMT", 253402300799},
        {"Mon, 01 Jan 0001 00:00:00 GMT", -62135596800},
        {"Sat, 01 Jan 0000 00:00:00 GMT", -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        wall_ms got = -1000;
        bool ok = fetch_date(span_str(cases[i].text), now, &got);
        CHECK(cases[i].text, ok == (cases[i].seconds != -1));
        if (got != cases[i].seconds * 1000)
            fail_msg("%s: %lld, want %lld", cases[i].text, (long long)got / 1000, (long long)cases[i].seconds);
    }
}

static void dates_agree_with_the_c_library(void **state)
{
    for (int64_t s = -2000000000; s < 20000000000; s += 86400 * 37 + 12345) {
        time_t t = (time_t)s;
        struct tm tm;
        char imf[64], asc[64];
        wall_ms a = 0, b = 0;
        gmtime_r(&t, &tm);
        strftime(imf, sizeof(imf), "%a, %d %b %Y %H:%M:%S GMT", &tm);
        strftime(asc, sizeof(asc), "%a %b %e %H:%M:%S %Y", &tm);
        CHECK(imf, fetch_date(span_str(imf), 0, &a) && a == s * 1000);
        CHECK(asc, fetch_date(span_str(asc), 0, &b) && b == s * 1000);
    }
}

static void reads_retry_after(void **state)
{
    const wall_ms now = 784111777000;
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"0", 0},
        {"120", 120000},
        {" 5 ", 5000},
        {"99999999999999999999999", (int64_t)36500 * 86400 * 1000},
        {"Sun, 06 Nov 1994 08:50:37 GMT", 60000},
        {"Sun, 06 Nov 1994 08:48:37 GMT", 0},
        {"-5", -1},
        {"5s", -1},
        {"1.5", -1},
        {"", -1},
        {"soon", -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (fetch_retry_after_ms(span_str(cases[i].text), now) != cases[i].ms)
            fail_msg("%s: %lld", cases[i].text, (long long)fetch_retry_after_ms(span_str(cases[i].text), now));
}

static void finds_the_canonical_link(void **state)
{
    static const struct {
        const char *value, *want; /* NULL: none */
    } cases[] = {
        {"<https://a.example/>; rel=\"canonical\"", "https://a.example/"},
        {"<https://a.example/>; rel=canonical", "https://a.example/"},
        {"<https://a.example/>;rel=Canonical", "https://a.example/"},
        {"< /b >; title=\"x, y; rel=no\"; REL = \"next CANONICAL\"", "/b"},
        {"</a>; rel=next, </b>; rel=canonical", "/b"},
        {"</a,b>; rel=canonical", "/a,b"},
        {",, </b>; rel=canonical,", "/b"},
        {"</a>; rel=next; rel=canonical", NULL}, /* the first rel counts */
        {"</a>; rel=\"canonicals\"", NULL},
        {"</a>; rel=canonical; anchor=\"/other\"", NULL},
        {"</a>; rev=canonical", NULL},
        {"<>; rel=canonical", NULL},
        {"</a; rel=canonical", NULL},
        {"/a; rel=canonical", NULL},
        {"</a>; rel=\"canonical", "/a"},
        {"</a>; rel=\"x\\\"; rel=canonical", NULL},
        {"</a>; rel", NULL},
        {"</a>; rel=", NULL},
        {"", NULL},
        {"</a>; title=\"\\", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct span got = {0};
        CHECK(cases[i].value, link_canonical(span_str(cases[i].value), &got) == (cases[i].want != NULL));
        CHECK_SPAN(cases[i].value, got, span_str(cases[i].want));
    }
}

static void knows_the_types_of_pages(void **state)
{
    static const struct {
        const char *type;
        bool want;
    } cases[] = {
        {"text/html", true},
        {"TEXT/HTML ; charset=x", true},
        {"application/xhtml+xml", true},
        {"text/plain", true},
        {"", true},
        {"garbage", true},
        {"image/png", false},
        {"text/css", false},
        {"application/json", false},
        {"text/html5", false},
        {"application/xml", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK(cases[i].type, type_is_page(span_str(cases[i].type)) == cases[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_dates_in_three_forms), cmocka_unit_test(dates_agree_with_the_c_library),
        cmocka_unit_test(reads_retry_after),          cmocka_unit_test(finds_the_canonical_link),
        cmocka_unit_test(knows_the_types_of_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
