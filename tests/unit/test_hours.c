#include "test.h"

#include <time.h>

#include "base/buf.h"
#include "base/rng.h"
#include "place/zone.h"
#include "plan/hours.h"

#define MINUTE INT64_C(60000)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define MONDAY (INT64_C(1704067200000)) /* 2024-01-01 00:00 UTC */

/* ---- zones ---- */

static void put_be(struct buf *b, uint64_t v, int bytes)
{
    while (bytes--)
        buf_putc(b, (char)(v >> (8 * bytes)));
}

static void put_head(struct buf *b, uint32_t times, uint32_t types)
{
    buf_puts(b, "TZif2");
    for (int i = 0; i < 15; i++)
        buf_putc(b, 0);
    for (int i = 0; i < 3; i++)
        put_be(b, 0, 4);
    put_be(b, times, 4);
    put_be(b, types, 4);
    put_be(b, 4, 4);
}

static void put_type(struct buf *b, int32_t offset)
{
    put_be(b, (uint32_t)offset, 4);
    put_be(b, 0, 2);
}

/* A file as zic writes them: an empty table of 32 bits, then 64-bit times that turn from type 0 to 1, 2, ... */
static void make_file(struct buf *b, const int64_t *times, uint32_t count, const int32_t *offsets, const char *rule)
{
    put_head(b, 0, 1);
    put_type(b, 0);
    buf_put(b, SPAN("ABC\0"));
    put_head(b, count, count + 1);
    for (uint32_t i = 0; i < count; i++)
        put_be(b, (uint64_t)times[i], 8);
    for (uint32_t i = 0; i < count; i++)
        buf_putc(b, (char)(i + 1));
    for (uint32_t i = 0; i <= count; i++)
        put_type(b, offsets[i]);
    buf_put(b, SPAN("ABC\0"));
    buf_printf(b, "\n%s\n", rule);
}

static struct zone *zone_by_rule(const char *rule)
{
    static const int32_t none[] = {0};
    struct buf b = {0};
    struct zone *z = NULL;
    make_file(&b, NULL, 0, none, rule);
    CHECK_STATUS(rule, zone_new(buf_span(&b), &z), ST_OK);
    buf_done(&b);
    return z;
}

static void rules_say_what_the_c_library_says(void **state)
{
    static const char *const rules[] = {
        "EET-2EEST,M3.5.0/3,M10.5.0/4",
        "EST5EDT,M3.2.0,M11.1.0",
        "AEST-10AEDT,M10.1.0,M4.1.0/3",
        "<+0330>-3:30<+0430>,J79/24,J263/24",
        "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
        "IST-1GMT0,M10.5.0,M3.5.0/1",
        "UTC0",
        "<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45",
        "AAA1BBB,59,300",
        "AAA1BBB,J60/2,J300",
    };
    struct rng r;
    rng_seed(&r, 9);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct zone *z = zone_by_rule(rules[i]);
        setenv("TZ", rules[i], 1);
        tzset();
        for (int k = 0; k < 3000; k++) {
            time_t at = (time_t)rng_below(&r, UINT64_C(4102444800)); /* to 2100 */
            struct tm tm;
            localtime_r(&at, &tm);
            int32_t got = zone_offset(z, (wall_ms)at * 1000 + (wall_ms)rng_below(&r, 1000));
            if (got != tm.tm_gmtoff)
                fail_msg("%s at %lld: %d, want %ld", rules[i], (long long)at, got, tm.tm_gmtoff);
        }
        zone_free(z);
    }
    unsetenv("TZ");
}

static void the_table_counts_before_the_rule(void **state)
{
    static const int64_t times[] = {-1000, 0, 1000};
    static const int32_t offsets[] = {10, 20, -30, 40};
    static const struct {
        wall_ms at;
        int32_t want;
    } cases[] = {{-1000001, 10}, {INT64_MIN, 10}, {-1000000, 20}, {-1, 20},         {0, -30},
                 {999999, -30},  {1000000, 7200}, {DAY, 7200},    {INT64_MAX, 7200}};
    struct buf b = {0};
    struct zone *z = NULL;
    make_file(&b, times, 3, offsets, "EET-2");
    CHECK_STATUS("with a rule", zone_new(buf_span(&b), &z), ST_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (zone_offset(z, cases[i].at) != cases[i].want)
            fail_msg("at %lld: %d, want %d", (long long)cases[i].at, zone_offset(z, cases[i].at), cases[i].want);
    zone_free(z);
    buf_clear(&b);
    make_file(&b, times, 3, offsets, "");
    CHECK_STATUS("without", zone_new(buf_span(&b), &z), ST_OK);
    assert_int_equal(zone_offset(z, DAY), 40);
    zone_free(z);
    for (size_t n = 0; n < b.n; n++)
        CHECK_STATUS("cut", zone_new(span_cut(buf_span(&b), 0, n), &z), ST_CORRUPT);
    buf_done(&b);
}

static void broken_zones_are_refused(void **state)
{
    static const char *const rules[] = {"E-2",
                                        "EET",
                                        "EET-2EEST",
                                        "EET-2EEST,M3.5.0",
                                        "EET-2EEST,M13.5.0,M1.1.0",
                                        "EET-2EEST,M3.6.0,M1.1.0",
                                        "EET-2EEST,M3.5.7,M1.1.0",
                                        "EET-200",
                                        "EET-2x",
                                        "EET-2EEST,J0,J1",
                                        "<EET-2",
                                        "EET-2EEST,M3.5.0/168,M10.5.0"};
    static const int64_t back[] = {5, 4};
    static const int32_t offsets[] = {0, 1, 2}, wild[] = {200000, 1, 2};
    static const int64_t times[] = {4, 5};
    struct buf b = {0};
    struct zone *z = NULL;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        buf_clear(&b);
        make_file(&b, NULL, 0, offsets, rules[i]);
        CHECK_STATUS(rules[i], zone_new(buf_span(&b), &z), ST_CORRUPT);
    }
    buf_clear(&b);
    make_file(&b, back, 2, offsets, "");
    CHECK_STATUS("times go back", zone_new(buf_span(&b), &z), ST_CORRUPT);
    buf_clear(&b);
    make_file(&b, times, 2, wild, "");
    CHECK_STATUS("two days off", zone_new(buf_span(&b), &z), ST_CORRUPT);
    while (b.n <= ZONE_FILE_MAX)
        buf_putc(&b, 0);
    CHECK_STATUS("too long", zone_new(buf_span(&b), &z), ST_LIMIT);
    buf_done(&b);
    zone_free(NULL);
}

static void names_of_zones_are_safe_in_a_path(void **state)
{
    static const char *const good[] = {"UTC", "Europe/Athens", "America/Argentina/Buenos_Aires", "Etc/GMT+1"};
    static const char *const bad[] = {"", "/etc/passwd", "../x", "a/../b", "a//b", "a/", "a b", "a.b"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        CHECK(good[i], zone_name_is_good(span_str(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(bad[i], !zone_name_is_good(span_str(bad[i])));
}

/* ---- hours ---- */

static void check_parse(const char *text, const char *want)
{
    struct hours h, again;
    struct buf why = {0}, b = {0};
    CHECK_STATUS(text, hours_parse(span_str(text), &h, &why), ST_OK);
    hours_format(&h, &b);
    CHECK_SPAN(text, buf_span(&b), span_str(want));
    CHECK_STATUS(want, hours_parse(buf_span(&b), &again, &why), ST_OK);
    CHECK(want, memcmp(&h, &again, sizeof(h)) == 0);
    buf_done(&why);
    buf_done(&b);
}

static void hours_have_one_normal_form(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", ""},
        {"  ", ""},
        {"Europe/Athens", "Europe/Athens"},
        {"UTC", ""},
        {"mon-fri 20:00-06:00; sat,sun 00:00-24:00 Europe/Athens",
         "mon-fri 20:00-06:00; sat,sun 00:00-24:00 Europe/Athens"},
        {"20:00-06:00", "20:00-06:00"},
        {"mon-sun 20:00-06:00 UTC", "20:00-06:00"},
        {"SAT-MON 01:30-02:00", "mon,sat,sun 01:30-02:00"},
        {"fri 10:00-11:00;mon 10:00-11:00;wed 10:00-11:00", "mon,wed,fri 10:00-11:00"},
        {"mon 13:00-14:00,08:00-09:00", "mon 08:00-09:00,13:00-14:00"},
        {"mon 08:00-09:00; mon 08:00-09:00", "mon 08:00-09:00"},
        {"mon,tue 08:00-09:00; tue 12:00-13:00", "mon,tue 08:00-09:00; tue 12:00-13:00"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_parse(cases[i].text, cases[i].want);
}

static void what_are_no_hours_is_refused_with_the_word(void **state)
{
    static const struct {
        const char *text, *phrase;
    } cases[] = {
        {"monday 08:00-09:00", "monday"},
        {"mon 8:00-9:00", "8:00-9:00"},
        {"mon 08:00-25:00", "08:00-25:00"},
        {"mon 08:60-09:00", "08:60"},
        {"mon 08:00-08:00", "08:00-08:00"},
        {"mon 24:00-25:00", "24:00"},
        {"mon", "mon"},
        {"mon 08:00-09:00 Europe/Athens x", "x"},
        {"mon 08:00-09:00 Europe/Athens; tue 08:00-09:00", "Europe/Athens"},
        {"mon 08:00-09:00;;", "missing"},
        {";", "missing"},
        {"mon-fri,xyz 08:00-09:00", "xyz"},
        {"mon 08:00-09:00 ../x", "../x"},
        {"08:00", "08:00"},
        {"mon 24:01-01:00", "24:01"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hours h;
        struct buf why = {0};
        CHECK_STATUS(cases[i].text, hours_parse(span_str(cases[i].text), &h, &why), ST_INVALID);
        if (!strstr(buf_cstr(&why), cases[i].phrase))
            fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].text, why.p, cases[i].phrase);
        CHECK_STATUS(cases[i].text, hours_parse(span_str(cases[i].text), &h, NULL), ST_INVALID);
        buf_done(&why);
    }
    char lots[HOURS_TEXT_MAX + 1];
    struct hours h;
    memset(lots, ' ', sizeof(lots));
    CHECK_STATUS("too long", hours_parse(span_of(lots, sizeof(lots)), &h, NULL), ST_LIMIT);
    struct buf why = {0};
    CHECK_STATUS("too long", hours_parse(span_of(lots, sizeof(lots)), &h, &why), ST_LIMIT);
    CHECK("and it says so", why.n > 0);
    buf_done(&why);
}

static void a_span_past_midnight_belongs_to_the_day_it_begins_on(void **state)
{
    static const struct {
        const char *label;
        wall_ms at;
        bool want;
    } cases[] = {
        {"monday at six", MONDAY + 6 * HOUR, false},
        {"monday before eight in the evening", MONDAY + 20 * HOUR - 1, false},
        {"monday at eight in the evening", MONDAY + 20 * HOUR, true},
        {"tuesday before six", MONDAY + 30 * HOUR - 1, true},
        {"tuesday at six", MONDAY + 30 * HOUR, false},
        {"friday night", MONDAY + 4 * DAY + 23 * HOUR, true},
        {"saturday before six", MONDAY + 5 * DAY + 5 * HOUR, true},
        {"saturday at noon", MONDAY + 5 * DAY + 12 * HOUR, false},
        {"sunday at 23", MONDAY + 6 * DAY + 23 * HOUR, true},
        {"next monday at 0:30", MONDAY + 7 * DAY + HOUR / 2, true},
        {"next monday at 1", MONDAY + 7 * DAY + HOUR, false},
        {"a week of before 1970", MONDAY - 5200 * 7 * DAY + 20 * HOUR, true},
    };
    struct hours h;
    CHECK_STATUS("parse", hours_parse(SPAN("mon-fri 20:00-06:00; sun 23:00-01:00"), &h, NULL), ST_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK(cases[i].label, hours_is_open(&h, cases[i].at, NULL, NULL) == cases[i].want);
}

static int32_t ask_zone(void *arg, wall_ms at)
{
    return zone_offset(arg, at);
}

/* The twin: looks at every minute. */
static wall_ms next_change_by_minutes(const struct hours *h, wall_ms at, struct zone *z)
{
    bool was = hours_is_open(h, at, ask_zone, z);
    wall_ms t = at - at % MINUTE;
    for (int i = 0; i < 15 * 1440; i++) {
        t += MINUTE;
        if (hours_is_open(h, t, ask_zone, z) != was)
            return t;
    }
    return INT64_MAX;
}

static void the_next_change_is_the_one_that_comes(void **state)
{
    static const char *const texts[] = {"mon-fri 20:00-06:00 Z/Z",
                                        "mon 00:00-24:00 Z/Z",
                                        "sun 02:30-03:30 Z/Z",
                                        "sun 03:00-04:00,23:00-00:30 Z/Z",
                                        "00:00-24:00 Z/Z",
                                        "sat-sun 00:00-23:59 Z/Z",
                                        "mon 10:00-12:00,11:00-13:00; thu 01:00-00:30 Z/Z"};
    struct zone *z = zone_by_rule("EET-2EEST,M3.5.0/3,M10.5.0/4");
    struct rng r;
    rng_seed(&r, 21);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct hours h;
        CHECK_STATUS(texts[i], hours_parse(span_str(texts[i]), &h, NULL), ST_OK);
        for (int k = 0; k < 60; k++) {
            /* Around the last Sundays of March and October 2024 half of the time. */
            wall_ms at = k % 4 == 0   ? MONDAY + 88 * DAY + (wall_ms)rng_below(&r, 4 * DAY)
                         : k % 4 == 1 ? MONDAY + 298 * DAY + (wall_ms)rng_below(&r, 4 * DAY)
                                      : MONDAY + (wall_ms)rng_below(&r, 366 * DAY);
            wall_ms got = hours_next_change(&h, at, ask_zone, z), want = next_change_by_minutes(&h, at, z);
            if (got != want)
                fail_msg("%s at %lld: %lld, want %lld", texts[i], (long long)at, (long long)got, (long long)want);
        }
    }
    struct hours always = {0};
    CHECK("always", hours_is_open(&always, 5, NULL, NULL) && hours_next_change(&always, 5, NULL, NULL) == INT64_MAX);
    zone_free(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_say_what_the_c_library_says),
        cmocka_unit_test(the_table_counts_before_the_rule),
        cmocka_unit_test(broken_zones_are_refused),
        cmocka_unit_test(names_of_zones_are_safe_in_a_path),
        cmocka_unit_test(hours_have_one_normal_form),
        cmocka_unit_test(what_are_no_hours_is_refused_with_the_word),
        cmocka_unit_test(a_span_past_midnight_belongs_to_the_day_it_begins_on),
        cmocka_unit_test(the_next_change_is_the_one_that_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
