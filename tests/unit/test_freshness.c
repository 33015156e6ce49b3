#include "test.h"

#include "test_folder.h"

#include "coord/admin_fresh.h"
#include "io/clock.h"
#include "plan/change_words.h"
#include "wire/fields.h"

#define HOUR_MS (3600ll * 1000)
#define DAY_MS (24 * HOUR_MS)
#define NOON (20000 * DAY_MS + 12 * HOUR_MS)

/* ---- the record ---- */

/* As much of a coordinator as the record needs. */
static struct coord *open_desk(void)
{
    struct coord *c = calloc(1, sizeof(*c));
    struct buf why = {0};
    CHECK_STATUS("fleet", fleet_open(test_folder(), &c->fleet, &why), ST_OK);
    freshness_open(c);
    buf_done(&why);
    return c;
}

static void close_desk(struct coord *c)
{
    freshness_save(c);
    freshness_free(c);
    fleet_close(c->fleet);
    free(c);
}

static struct recrawling_figures figures(double freshness, size_t due, uint64_t done)
{
    return (struct recrawling_figures){.channels = 4,
                                       .freshness = freshness,
                                       .due = due,
                                       .queued = 2,
                                       .running = 1,
                                       .submitted = done + 3,
                                       .done = done,
                                       .updated = done / 2,
                                       .lost = done / 10};
}

static void a_look_counts_for_its_hour_and_its_day(void **state)
{
    struct freshness *f = calloc(1, sizeof(*f));
    struct recrawling_figures a = figures(0.5, 10, 20), b = figures(1, 30, 40), c = figures(0, 5, 41);
    freshness_note(f, NOON, &a);
    freshness_note(f, NOON + 20000, &b);
    freshness_note(f, NOON + HOUR_MS, &c);
    const struct freshness_count *hour = freshness_hour(f, NOON / HOUR_MS), *day = freshness_day(f, NOON / DAY_MS);
    CHECK("there", hour && day && hour->looks == 2 && day->looks == 3);
    CHECK("mean", freshness_mean(hour, hour->fresh) == 0.75 * FRESHNESS_WHOLE);
    CHECK("of the day", freshness_mean(day, day->fresh) == 0.5 * FRESHNESS_WHOLE);
    CHECK("due", freshness_mean(hour, hour->due) == 20 && freshness_mean(hour, hour->queued) == 2);
    CHECK("the hour before is empty", freshness_hour(f, NOON / HOUR_MS - 1) == NULL);
    CHECK("so is the one that has the same place", freshness_hour(f, NOON / HOUR_MS - FRESHNESS_HOURS) == NULL);
    free(f);
}

static void visits_are_counted_once(void **state)
{
    struct freshness *f = calloc(1, sizeof(*f));
    struct recrawling_figures a = figures(0.5, 0, 20), b = figures(0.5, 0, 50);
    freshness_note(f, NOON, &a);
    freshness_note(f, NOON + 1000, &a);
    freshness_note(f, NOON + HOUR_MS, &b);
    const struct freshness_count *first = freshness_hour(f, NOON / HOUR_MS),
                                 *next = freshness_hour(f, NOON / HOUR_MS + 1), *day = freshness_day(f, NOON / DAY_MS);
    CHECK("first", first->updated == 10 && first->unchanged == 10 && first->lost == 2 && first->submitted == 23);
    CHECK("next", next->updated == 15 && next->unchanged == 15 && next->lost == 3 && next->submitted == 30);
    CHECK("day", day->updated == 25 && day->unchanged == 25 && day->lost == 5 && day->submitted == 53);
    free(f);
}

static void without_channels_nothing_is_fresh_nor_stale(void **state)
{
    struct freshness *f = calloc(1, sizeof(*f));
    freshness_note(f, NOON, &(struct recrawling_figures){0});
    const struct freshness_count *k = freshness_hour(f, NOON / HOUR_MS);
    CHECK("no look", k && k->looks == 0 && freshness_mean(k, k->fresh) < 0);
    free(f);
}

static void outlives_a_restart(void **state)
{
    struct coord *c = open_desk();
    struct recrawling_figures a = figures(0.8, 7, 20);
    for (int i = 0; i < 100; i++) /* hours: the oldest give their places away */
        freshness_note(c->freshness, NOON + i * HOUR_MS, &a);
    close_desk(c);
    c = open_desk();
    const struct freshness_count *k = freshness_hour(c->freshness, NOON / HOUR_MS + 99);
    CHECK("hour", k && k->looks == 1 && k->due == 7 && k->fresh == 0.8 * FRESHNESS_WHOLE);
    CHECK("an old one", freshness_hour(c->freshness, NOON / HOUR_MS + 51) == NULL &&
                            freshness_hour(c->freshness, NOON / HOUR_MS + 52) != NULL);
    k = freshness_day(c->freshness, NOON / DAY_MS);
    CHECK("day", k && k->looks == 12 && k->updated == 10 && k->channels == 48);
    struct recrawling_figures again = figures(0.8, 7, 2); /* counters begin again */
    freshness_note(c->freshness, NOON, &again);
    CHECK("counted from the start", freshness_day(c->freshness, NOON / DAY_MS)->updated == 11);
    close_desk(c);
}

static void a_record_that_is_none_begins_anew(void **state)
{
    struct buf zero = {0}, bad_day = {0}, full = {0}, bad_hour = {0}, long_one = {0};
    field_i64(&zero, 1, 0);
    field_text(&bad_day, 2, buf_span(&zero)); /* of a day: number 0 */
    field_i64(&full, 1, 480000);
    field_u64(&full, 2, 1);
    field_u64(&full, 3, FRESHNESS_WHOLE + 1); /* fresher than fresh */
    field_text(&bad_hour, 1, buf_span(&full));
    while (long_one.n <= 1u << 20)
        field_text(&long_one, 99, SPAN("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
    const struct {
        const char *name;
        struct span packed;
    } cases[] = {{"no fields", SPAN("\xff\xff\xff")},
                 {"cut short", SPAN("\x01\x20zz")},
                 {"a day without a number", buf_span(&bad_day)},
                 {"more than all", buf_span(&bad_hour)},
                 {"too long", buf_span(&long_one)}};
    struct recrawling_figures a = figures(0.8, 7, 20);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct coord *c = open_desk();
        CHECK_STATUS("put", fleet_put(c->fleet, FLEET_SETTING, SPAN("freshness"), cases[i].packed), ST_OK);
        c->freshness->is_dirty = false;
        close_desk(c);
        c = open_desk();
        CHECK(cases[i].name, freshness_day(c->freshness, NOON / DAY_MS) == NULL);
        freshness_note(c->freshness, NOON, &a);
        close_desk(c);
        c = open_desk();
        CHECK(cases[i].name, freshness_day(c->freshness, NOON / DAY_MS)->looks == 1);
        close_desk(c);
    }
    buf_done(&zero);
    buf_done(&bad_day);
    buf_done(&full);
    buf_done(&bad_hour);
    buf_done(&long_one);
}

/* ---- words ---- */

static void gaps_between_changes_in_words(void **state)
{
    static const struct {
        double rate_a_day, factor;
        const char *want;
    } cases[] = {{1 / 3.0, 2.83, "about every 3 days, between 1 and 8"},
                 {1 / 3.0, 8, "about every 3 days, between 9 h and 24 days"},
                 {1 / 3.0, 1, "about every 3 days"},
                 {4, 1.5, "about every 6 h, between 4 and 9"},
                 {4, 10, "about every 6 h, between 36 min and 2 days"},
                 {24, 1.2, "about every 60 min, between 50 and 72"},
                 {86400, 3, "about every 1 s, between 1 s and 3 s"},
                 {1 / 3000.0, 4, "about every 3000 days, between 750 days and 10 years or more"},
                 {1 / 3.0, 1000, "not known yet, perhaps every 3 days"},
                 {1e-9, 2, "hardly ever"},
                 {0, 2, "hardly ever"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf b = {0};
        change_words_range(&b, cases[i].rate_a_day, cases[i].factor);
        CHECK_SPAN(cases[i].want, buf_span(&b), span_str(cases[i].want));
        buf_done(&b);
    }
}

static void all_is_said_only_of_all(void **state)
{
    static const struct {
        double share;
        const char *want;
    } cases[] = {{-1, "\xe2\x80\x93"}, {0, "0 %"},         {0.001, "&lt; 1 %"}, {0.123, "12 %"},
                 {0.994, "99 %"},      {0.9999, "99.9 %"}, {1, "100 %"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf b = {0};
        put_fresh_share(&b, cases[i].share);
        CHECK_SPAN(cases[i].want, buf_span(&b), span_str(cases[i].want));
        buf_done(&b);
    }
}

static void importance_is_never_in_powers_of_ten(void **state)
{
    static const struct {
        double weight;
        const char *want;
    } cases[] = {{1, "1"}, {20.519, "20.5"}, {0.0843, "0.0843"}, {1e-9, "0"}, {99.96, "100"}, {260000, "260,000"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf b = {0};
        put_weight(&b, cases[i].weight);
        CHECK_SPAN(cases[i].want, buf_span(&b), span_str(cases[i].want));
        buf_done(&b);
    }
}

/* ---- charts ---- */

static size_t count_of(const struct buf *b, const char *what)
{
    size_t n = 0;
    struct span s = buf_span(b);
    for (size_t at = 0; (at = span_search(s, span_str(what), false)) < s.n; n++)
        s = span_from(s, at + 1);
    return n;
}

static void a_line_is_broken_where_nobody_looked(void **state)
{
    struct freshness *f = calloc(1, sizeof(*f));
    struct fresh_times *t = calloc(1, sizeof(*t));
    struct recrawling_figures a = figures(0.8, 7, 20);
    struct buf b = {0};
    for (int i = 0; i < 10; i++)
        if (i != 4)
            freshness_note(f, NOON + i * HOUR_MS, &a);
    fresh_times_get(f, NOON + 9 * HOUR_MS, true, t);
    CHECK("48 hours, the last is now", t->n == 48 && t->list[47].at == NOON / HOUR_MS + 9 && t->list[47].looks == 1);
    put_fresh_chart(&b, t);
    CHECK("a dot an hour", count_of(&b, "<circle") == 9 && count_of(&b, ": 80 % fresh</title>") == 9);
    struct span line = span_from(buf_span(&b), span_search(buf_span(&b), SPAN("class=\"line"), false));
    struct span drawn = span_cut(line, 0, span_search(line, SPAN("/>"), false));
    size_t moves = 0;
    for (size_t i = 0; i < drawn.n; i++)
        moves += drawn.p[i] == 'M';
    CHECK("two runs", moves == 2);
    buf_clear(&b);
    fresh_times_get(f, NOON, false, t);
    put_fresh_chart(&b, t);
    CHECK("30 days, one of them seen", t->n == 30 && count_of(&b, "<circle") == 1);
    buf_clear(&b);
    put_visits_chart(&b, t);
    CHECK("bars by outcome", count_of(&b, "<rect") == 3 && count_of(&b, ": 2 visits, in vain</title>") == 1);
    buf_done(&b);
    free(f);
    free(t);
}

static void charts_of_nothing_say_so(void **state)
{
    struct freshness *f = calloc(1, sizeof(*f));
    struct fresh_times *t = calloc(1, sizeof(*t));
    struct buf b = {0};
    fresh_times_get(f, NOON, true, t);
    put_fresh_chart(&b, t);
    put_waiting_chart(&b, t);
    put_visits_chart(&b, t);
    CHECK("said", count_of(&b, "Nothing to look at yet") == 2 && count_of(&b, "None in this time") == 1);
    CHECK("nothing drawn", count_of(&b, "<circle") == 0 && count_of(&b, "<rect") == 0 && count_of(&b, "legend") == 0);
    CHECK("no number that is none", count_of(&b, "nan") == 0 && count_of(&b, "inf") == 0);
    buf_done(&b);
    free(f);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_look_counts_for_its_hour_and_its_day),
                                       cmocka_unit_test(visits_are_counted_once),
                                       cmocka_unit_test(without_channels_nothing_is_fresh_nor_stale),
                                       TEST_IN_FOLDER(outlives_a_restart),
                                       TEST_IN_FOLDER(a_record_that_is_none_begins_anew),
                                       cmocka_unit_test(gaps_between_changes_in_words),
                                       cmocka_unit_test(all_is_said_only_of_all),
                                       cmocka_unit_test(importance_is_never_in_powers_of_ten),
                                       cmocka_unit_test(a_line_is_broken_where_nobody_looked),
                                       cmocka_unit_test(charts_of_nothing_say_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
