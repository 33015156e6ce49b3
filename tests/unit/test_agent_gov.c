/* The governor and the limits it holds, with a clock that the test moves. */
#include "test.h"

#include "agent/gov.h"

#define HOUR_MS (3600ll * 1000)
#define DAY_MS (24 * HOUR_MS)
#define MONDAY (INT64_C(4) * DAY_MS) /* 5 January 1970, 00:00 UTC */

static void limits_of(const char *const *args, int n, const struct agent_settings *theirs, struct limits *out)
{
    struct conf c;
    struct buf err = {0};
    conf_init(&c);
    if (!conf_from_args(&c, n, (char *const *)args, &err) || !conf_check(&c, &err))
        fail_msg("%s", buf_cstr(&err));
    limits_make(&c, theirs, out, &err);
    buf_done(&err);
    conf_done(&c);
}

static struct gov_reading quiet(wall_ms wall, mono_ms mono)
{
    return (struct gov_reading){.wall = wall,
                                .mono = mono,
                                .others_share = 0,
                                .others_load = 0,
                                .rss_bytes = 10 << 20,
                                .disk_free_bytes = 10ull << 30};
}

static gov_reason look(struct gov *g, const struct limits *l, struct gov_reading r)
{
    struct gov_verdict v;
    gov_look(g, l, &r, &v);
    CHECK("may crawl exactly when nothing is against it", v.may_crawl == (v.reason == GOV_FINE));
    return v.reason;
}

/* ---- limits ---- */

static void of_two_limits_the_lower_holds(void **state)
{
    static const char *const own[] = {"--bandwidth", "1000", "--bytes-a-day", "0", "--tasks", "10", "--memory", "100M"};
    struct agent_settings theirs = {
        .state = AGENT_DRAIN, .bytes_per_s = 5000, .bytes_a_day = 7, .tasks_max = 3, .idle_only = true, .poll_ms = 1};
    struct limits l;
    limits_of(own, 8, &theirs, &l);
    assert_int_equal(l.bytes_per_s, 1000);
    assert_int_equal(l.bytes_a_day, 7);
    assert_int_equal(l.tasks_max, 3);
    assert_int_equal(l.memory_bytes, 100 << 20);
    assert_int_equal(l.state, AGENT_DRAIN);
    assert_true(l.idle_only);
    assert_true(l.poll_ms >= 1000);
    limits_of(own, 8, NULL, &l);
    assert_int_equal(l.bytes_a_day, 0);
    assert_int_equal(l.tasks_max, 10);
    assert_int_equal(l.state, AGENT_RUN);
}

/* ---- the lease ---- */

static void waits_until_heard_and_when_not_heard_for_too_long(void **state)
{
    struct limits l;
    struct gov g;
    limits_of(NULL, 0, NULL, &l);
    gov_init(&g, 0, 0);
    assert_int_equal(look(&g, &l, quiet(MONDAY, 1000)), GOV_LEASE);
    gov_heard(&g, 1001, 1000, 10 * 60000);
    gov_caught_up(&g);
    assert_int_equal(look(&g, &l, quiet(MONDAY, 1000 + 10 * 60000 - 1)), GOV_FINE);
    assert_int_equal(look(&g, &l, quiet(MONDAY, 1000 + 10 * 60000)), GOV_LEASE);
    gov_heard(&g, 2000001, 2000000, 60000);
    gov_caught_up(&g);
    assert_int_equal(look(&g, &l, quiet(MONDAY, 2000000)), GOV_FINE);
    gov_heard(&g, 2000002, 1500000, 60000); /* an older answer that came late does not shorten it */
    assert_int_equal(look(&g, &l, quiet(MONDAY, 2059999)), GOV_FINE);
    gov_heard(&g, 2059999, 2059999, 0);
    assert_int_equal(look(&g, &l, quiet(MONDAY, INT64_MAX - 1)), GOV_FINE);
}

static void waits_for_its_orders_after_a_lease_that_was_over(void **state)
{
    struct limits l;
    struct gov g;
    limits_of(NULL, 0, NULL, &l);
    gov_init(&g, 0, 0);
    gov_heard(&g, 1001, 1000, 60000); /* the first one */
    assert_int_equal(look(&g, &l, quiet(MONDAY, 1001)), GOV_LEASE);
    gov_caught_up(&g);
    assert_int_equal(look(&g, &l, quiet(MONDAY, 1002)), GOV_FINE);
    gov_heard(&g, 60999, 31000, 60000); /* in time */
    assert_int_equal(look(&g, &l, quiet(MONDAY, 61000)), GOV_FINE);
    gov_heard(&g, 91000, 90000, 60000); /* too late: others may have its networks */
    assert_int_equal(look(&g, &l, quiet(MONDAY, 91000)), GOV_LEASE);
    gov_heard(&g, 92000, 91500, 60000);
    assert_int_equal(look(&g, &l, quiet(MONDAY, 92000)), GOV_LEASE);
    gov_caught_up(&g);
    assert_int_equal(look(&g, &l, quiet(MONDAY, 92000)), GOV_FINE);
}

/* ---- hours ---- */

static void works_in_both_its_hours_only(void **state)
{
    static const char *const own[] = {"--hours", "mon-fri 20:00-06:00"};
    struct agent_settings theirs = {.state = AGENT_RUN, .hours = SPAN("mon-sun 22:00-24:00")};
    static const struct {
        int hour;
        bool want;
    } cases[] = {{0, false}, {12, false}, {20, false}, {21, false}, {22, true}, {23, true}, {24, false}, {46, true}};
    struct limits l;
    struct gov g;
    limits_of(own, 2, &theirs, &l);
    gov_init(&g, 0, 0);
    gov_heard(&g, 0, 0, 0);
    gov_caught_up(&g);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct gov_verdict v;
        struct gov_reading r = quiet(MONDAY + cases[i].hour * HOUR_MS, cases[i].hour * HOUR_MS);
        char label[32];
        snprintf(label, sizeof(label), "hour %d", cases[i].hour);
        gov_look(&g, &l, &r, &v);
        CHECK(label, v.may_talk == cases[i].want && v.may_crawl == cases[i].want);
        CHECK(label, v.may_talk || v.reason == GOV_HOURS);
        CHECK("a change comes", v.hours_change > r.wall && v.hours_change <= r.wall + 7 * DAY_MS);
    }
}

static void without_hours_it_always_works(void **state)
{
    struct limits l;
    struct gov g;
    struct gov_verdict v;
    struct gov_reading r = quiet(MONDAY, 5);
    limits_of(NULL, 0, NULL, &l);
    gov_init(&g, 0, 0);
    gov_heard(&g, 0, 0, 0);
    gov_caught_up(&g);
    gov_look(&g, &l, &r, &v);
    assert_true(v.may_talk && v.may_crawl);
    assert_true(v.hours_change == INT64_MAX);
}

/* ---- the day's bytes ---- */

static void the_bytes_of_a_day_are_used_once(void **state)
{
    static const char *const own[] = {"--bytes-a-day", "1000"};
    struct limits l;
    struct gov g;
    struct gov_reading r = quiet(MONDAY + 5000, 1000);
    limits_of(own, 2, NULL, &l);
    gov_init(&g, MONDAY / DAY_MS, 400); /* before a restart */
    gov_heard(&g, 0, 0, 0);
    gov_caught_up(&g);
    r.traffic_bytes = 599;
    assert_int_equal(look(&g, &l, r), GOV_FINE);
    r.traffic_bytes = 600;
    assert_int_equal(look(&g, &l, r), GOV_QUOTA);
    r.wall = MONDAY - 1; /* the clock was put back an hour, over midnight */
    assert_int_equal(look(&g, &l, r), GOV_QUOTA);
    r.wall = MONDAY + DAY_MS;
    assert_int_equal(look(&g, &l, r), GOV_FINE);
    assert_int_equal(g.quota_bytes, 0);
    r.traffic_bytes = 700;
    assert_int_equal(look(&g, &l, r), GOV_FINE);
    assert_int_equal(g.quota_bytes, 100);
    r.wall = MONDAY - 30 * DAY_MS; /* it was a month ahead */
    assert_int_equal(look(&g, &l, r), GOV_FINE);
    assert_int_equal(g.quota_bytes, 0);
}

/* ---- the machine ---- */

static void idle_only_waits_for_a_quiet_minute(void **state)
{
    static const char *const own[] = {"--idle-only"};
    struct limits l, careless;
    struct gov g;
    struct gov_reading r = quiet(MONDAY, 1000000);
    limits_of(own, 1, NULL, &l);
    limits_of(NULL, 0, NULL, &careless);
    gov_init(&g, 0, 0);
    gov_heard(&g, 0, 0, 0);
    gov_caught_up(&g);
    assert_int_equal(look(&g, &l, r), GOV_FINE);
    r.others_share = 0.5;
    assert_int_equal(look(&g, &l, r), GOV_BUSY);
    assert_int_equal(look(&g, &careless, r), GOV_FINE);
    r.others_share = 0.05;
    r.mono += GOV_QUIET_MS - 1;
    assert_int_equal(look(&g, &l, r), GOV_BUSY);
    r.mono += 1;
    assert_int_equal(look(&g, &l, r), GOV_FINE);
    r.others_load = 1.5;
    assert_int_equal(look(&g, &l, r), GOV_BUSY);
    r.others_load = r.others_share = -1; /* not known: no reason to wait */
    r.mono += GOV_QUIET_MS;
    assert_int_equal(look(&g, &l, r), GOV_FINE);
}

static void stops_at_the_disk_limit_and_not_on_and_off(void **state)
{
    static const char *const own[] = {"--disk", "160M"};
    struct limits l;
    struct gov g;
    struct gov_reading r = quiet(MONDAY, 1000);
    limits_of(own, 2, NULL, &l);
    gov_init(&g, 0, 0);
    gov_heard(&g, 0, 0, 0);
    gov_caught_up(&g);
    r.spool_bytes = 1;
    r.disk_used_bytes = 159 << 20;
    assert_int_equal(look(&g, &l, r), GOV_FINE);
    r.disk_used_bytes = 160 << 20;
    assert_int_equal(look(&g, &l, r), GOV_SPOOL);
    r.disk_used_bytes = 151 << 20;
    assert_int_equal(look(&g, &l, r), GOV_SPOOL);
    r.disk_used_bytes = 149 << 20;
    assert_int_equal(look(&g, &l, r), GOV_FINE);
    r.disk_free_bytes = 1 << 20;
    assert_int_equal(look(&g, &l, r), GOV_DISK);
}

static void memory_that_does_not_come_back_opens_the_crawl_anew(void **state)
{
    static const char *const own[] = {"--memory", "100M"};
    struct limits l;
    struct gov g;
    struct gov_verdict v;
    struct gov_reading r = quiet(MONDAY, 1000);
    limits_of(own, 2, NULL, &l);
    gov_init(&g, 0, 0);
    gov_heard(&g, 0, 0, 0);
    gov_caught_up(&g);
    r.rss_bytes = 101 << 20;
    gov_look(&g, &l, &r, &v);
    assert_true(v.reason == GOV_MEMORY && !v.must_reopen);
    r.mono += GOV_MEMORY_MS;
    gov_look(&g, &l, &r, &v);
    assert_true(v.must_reopen);
    gov_look(&g, &l, &r, &v);
    assert_false(v.must_reopen); /* once */
    r.rss_bytes = 99 << 20;
    gov_look(&g, &l, &r, &v);
    assert_true(v.may_crawl);
}

static void a_pause_of_the_coordinator_holds(void **state)
{
    struct agent_settings theirs = {.state = AGENT_PAUSE};
    struct limits l;
    struct gov g;
    limits_of(NULL, 0, &theirs, &l);
    gov_init(&g, 0, 0);
    gov_heard(&g, 0, 0, 0);
    gov_caught_up(&g);
    assert_int_equal(look(&g, &l, quiet(MONDAY, 5)), GOV_PAUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_two_limits_the_lower_holds),
        cmocka_unit_test(waits_until_heard_and_when_not_heard_for_too_long),
        cmocka_unit_test(waits_for_its_orders_after_a_lease_that_was_over),
        cmocka_unit_test(works_in_both_its_hours_only),
        cmocka_unit_test(without_hours_it_always_works),
        cmocka_unit_test(the_bytes_of_a_day_are_used_once),
        cmocka_unit_test(idle_only_waits_for_a_quiet_minute),
        cmocka_unit_test(stops_at_the_disk_limit_and_not_on_and_off),
        cmocka_unit_test(memory_that_does_not_come_back_opens_the_crawl_anew),
        cmocka_unit_test(a_pause_of_the_coordinator_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
