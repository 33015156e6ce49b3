/* test_crawl_gate.c - when a crawl may not ask: while it is paused, and hosts and addresses that are not for it. */
#include "crawl_steps.h"

/* ---- pause ---- */

static bool pause_and_go_on(struct run *r)
{
    size_t *pages = r->more;
    if (r->stage == 0) {
        if (progress_of(r, r->channel).fetched < 3)
            return false;
        crawl_pause(r->cr, true);
        r->stage = 1;
        return false;
    }
    if (r->stage == 1) {
        if (r->stats.in_flight || r->quiet++ < 2)
            return false;
        *pages = view_of(r->lab, NULL).pages;
        r->quiet = 0;
        r->stage = 2;
        return false;
    }
    if (r->stage == 2) {
        CHECK("nothing is asked for", view_of(r->lab, NULL).pages == *pages);
        if (r->quiet++ < 5)
            return false;
        crawl_pause(r->cr, false);
        r->stage = 3;
        return false;
    }
    return until_nothing_waits(r);
}

static void a_paused_crawl_asks_for_nothing(void **state)
{
    struct lab lab;
    size_t pages = 0;
    lab_init(&lab, 20, 2);
    struct run r = {.lab = &lab, .name = "a", .delay_ms = DELAY_MS, .more = &pages};
    run_open(&r);
    r.channel = run_add(&r, channel_of(&lab, 0, 2));
    run_go(&r, pause_and_go_on);
    assert_int_equal(view_of(&lab, NULL).pages, 20);
    assert_true(pages < 20);
    run_done(&r);
    lab_done(&lab);
}

/* ---- the gate ---- */

static void hosts_that_may_not_be_used_are_not_asked(void **state)
{
    struct lab lab;
    lab_init(&lab, 90, 3);
    struct run r = {.lab = &lab, .name = "a", .never = "big1.example"};
    run_open(&r);
    r.channel = run_add(&r, channel_of(&lab, 0, 3));
    run_go(&r, until_nothing_waits);
    assert_int_equal(view_of(&lab, "big1.example").pages, 0);
    assert_true(view_of(&lab, "big0.example").pages > 10);
    assert_true(atomic_load(&r.refused) > 0);
    assert_true(atomic_load(&r.turned_away) > 0);
    /* Its turn came: what was dropped is new again when it is told again. */
    r.never = NULL;
    char url[128];
    put_seed(&lab, 1, 1, url);
    struct span one = span_str(url);
    run_open(&r);
    CHECK_STATUS("seed", crawl_seed(r.cr, r.channel, &one, 1), ST_OK);
    assert_int_equal(progress_of(&r, r.channel).queued, 1);
    run_go(&r, until_nothing_waits);
    assert_true(view_of(&lab, "big1.example").pages > 5);
    run_done(&r);
    lab_done(&lab);
}

static void a_host_is_asked_at_the_address_that_may_be_used(void **state)
{
    struct lab lab;
    struct buf hosts = {0};
    lab_init(&lab, 30, 3);
    for (int i = 0; i < 3; i++) /* each has another address, which comes first */
        buf_printf(&hosts, "127.0.99.%d big%d.example\n", i + 1, i);
    buf_put(&hosts, buf_span(&lab.hosts));
    buf_done(&lab.hosts);
    lab.hosts = hosts;
    struct run r = {.lab = &lab, .name = "a", .never_net = 99};
    run_open(&r);
    r.channel = run_add(&r, channel_of(&lab, 0, 3));
    run_go(&r, until_nothing_waits);
    assert_true(atomic_load(&r.refused) > 0);
    assert_int_equal(atomic_load(&r.turned_away), 0);
    assert_int_equal(view_of(&lab, NULL).pages, 30);
    run_done(&r);
    lab_done(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_paused_crawl_asks_for_nothing),
        TEST_IN_FOLDER(hosts_that_may_not_be_used_are_not_asked),
        TEST_IN_FOLDER(a_host_is_asked_at_the_address_that_may_be_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
