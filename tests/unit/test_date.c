/* test_date.c - dates of sitemaps and feeds, in both forms, against the calendar of the C library. */
#include "test.h"

#include <time.h>

#include "base/rng.h"
#include "web/date.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void check_reads(const char *text, const char *want)
{
    wall_ms at = 0;
    struct buf out = {0};
    bool is_date = date_read(span_str(text), &at);
    CHECK(text, is_date == (want != NULL));
    if (is_date)
        date_put(&out, at);
    CHECK_SPAN(text, buf_span(&out), span_str(want));
    buf_done(&out);
}

static void w3c_dates_are_read_in_every_precision(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"1997", "1997-01-01T00:00:00Z"},
        {"1997-07", "1997-07-01T00:00:00Z"},
        {"1997-07-16", "1997-07-16T00:00:00Z"},
        {"19970716", "1997-07-16T00:00:00Z"},
        {"1997-07-16T19:20+01:00", "1997-07-16T18:20:00Z"},
        {"1997-07-16T19:20:30+01:00", "1997-07-16T18:20:30Z"},
        {"1997-07-16T19:20:30.45+01:00", "1997-07-16T18:20:30Z"},
        {"1997-07-16T19:20:30.123456789Z", "1997-07-16T19:20:30Z"},
        {"1997-07-16T19:20:30-0530", "1997-07-17T00:50:30Z"},
        {"1997-07-16t19:20:30z", "1997-07-16T19:20:30Z"},
        {"1997-07-16 19:20:30", "1997-07-16T19:20:30Z"},
        {"1997-07-16T24:00:00Z", "1997-07-17T00:00:00Z"},
        {" \n2024-02-29\t", "2024-02-29T00:00:00Z"},
        {"2023-02-29", NULL},
        {"2024-13-01", NULL},
        {"2024-00-01", NULL},
        {"2024-01-00", NULL},
        {"2024-01-01T25:00Z", NULL},
        {"2024-01-01T10", NULL},
        {"2024-01-01T10:60Z", NULL},
        {"2024-01-01T10:00+15:00", NULL},
        {"0000-01-01", NULL},
        {"2024-01-01 was a Monday", NULL},
        {"24-01-01", NULL},
        {"", NULL},
        {"today", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_reads(cases[i].text, cases[i].want);
}

static void dates_of_feeds_are_read_as_people_write_them(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"Sat, 07 Sep 2002 00:00:01 GMT", "2002-09-07T00:00:01Z"},
        {"Sat, 07 Sep 2002 00:00:01 +0200", "2002-09-06T22:00:01Z"},
        {"7 Sep 2002 00:00 EST", "2002-09-07T05:00:00Z"},
        {"Sat, 7 Sep 02 00:00:01 PDT", "2002-09-07T07:00:01Z"},
        {"Sat, 7 Sep 99 00:00:01 UT", "1999-09-07T00:00:01Z"},
        {"Sat, 7 September 2002", "2002-09-07T00:00:00Z"},
        {"Saturday, 07-Sep-02 00:00:01 GMT", "2002-09-07T00:00:01Z"},
        {"Sat, 07 Sep 2002 00:00:01 XYZ", "2002-09-07T00:00:01Z"},
        {"Sat, 07 Sep 2002 00:00:01 +0200 (CEST)", "2002-09-06T22:00:01Z"},
        {"Sat,07 Sep 2002 0:00:01 Z", "2002-09-07T00:00:01Z"},
        {"Thu, 29 Feb 2024 12:00:00 GMT", "2024-02-29T12:00:00Z"},
        {"Wed, 29 Feb 2023 12:00:00 GMT", NULL},
        {"Sat, 07 Foo 2002 00:00:01 GMT", NULL},
        {"Sat, Sep 2002", NULL},
        {"Sat, 07 Sep 2002 at noon", NULL},
        {"Sat, 07 Sep", NULL},
        {"GMT", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_reads(cases[i].text, cases[i].want);
}

/* The twin is timegm and strftime. */
static void what_is_written_is_read_back_over_the_centuries(void **state)
{
    struct rng r;
    rng_seed(&r, 7);
    for (int i = 0; i < 20000; i++) {
        time_t s = (time_t)rng_below(&r, 4000000000ll * 4) - 4000000000ll;
        struct tm tm;
        char want[64], mail[64];
        struct buf out = {0};
        wall_ms back = -1;
        gmtime_r(&s, &tm);
        strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%SZ", &tm);
        strftime(mail, sizeof(mail), "%a, %d %b %Y %H:%M:%S +0000", &tm);
        date_put(&out, (wall_ms)s * 1000);
        CHECK_SPAN("written", buf_span(&out), span_str(want));
        CHECK(want, date_read(buf_span(&out), &back) && back == (wall_ms)s * 1000);
        CHECK(mail, date_read(span_str(mail), &back) && back == (wall_ms)s * 1000);
        buf_done(&out);
    }
}

static void years_of_more_than_four_digits_are_not_written(void **state)
{
    struct buf out = {0};
    date_put(&out, INT64_MAX);
    date_put(&out, INT64_MIN);
    assert_int_equal(out.n, 0);
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(w3c_dates_are_read_in_every_precision),
        cmocka_unit_test(dates_of_feeds_are_read_as_people_write_them),
        cmocka_unit_test(what_is_written_is_read_back_over_the_centuries),
        cmocka_unit_test(years_of_more_than_four_digits_are_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
