/* test_frontier_retry.c - hosts that are slow, broken or silent: what is tried again, when, and who is given up. */
#include "frontier_world.h"

static void honours_retry_after_and_backs_off_doubling(void **state)
{
    struct world w;
    struct lease l;
    mono_ms wake;
    world_init(&w, 1000);
    add(&w, "http://a.example/1");
    add(&w, "http://a.example/2");
    assert_true(next_page(&w, "", &l));
    struct frontier_result r = {.st = ST_OK, .http_status = 429, .retry_after_ms = 30000};
    assert_true(frontier_would_retry(w.f, l.id, &r));
    assert_true(frontier_done(w.f, w.now, l.id, &r));
    CHECK_STATUS("429", frontier_take(w.f, w.now, &l, &wake), ST_AGAIN);
    assert_int_equal(wake - w.now, 30000);
    assert_true(next_page(&w, "", &l));
    CHECK_SPAN("the same again", l.url, SPAN("http://a.example/1"));
    r.http_status = 503;
    r.retry_after_ms = -1;
    frontier_done(w.f, w.now, l.id, &r);
    CHECK_STATUS("503", frontier_take(w.f, w.now, &l, &wake), ST_AGAIN);
    assert_in_range(wake - w.now, 120000, 150000); /* second in a row: 60 s doubled, up to a quarter of jitter */
    assert_true(next_page(&w, "", &l));
    assert_false(frontier_done(w.f, w.now, l.id, &r)); /* third try: now it is an error */
    assert_true(next_page(&w, "", &l));
    CHECK_SPAN("the next", l.url, SPAN("http://a.example/2"));
    frontier_done(w.f, w.now, l.id, &good);
    world_done(&w);
}

static void gives_a_hopeless_host_up_at_once_and_keeps_its_urls(void **state)
{
    struct world w;
    struct span host;
    unsigned attempt;
    struct lease l;
    mono_ms wake;
    world_init(&w, 1000);
    add(&w, "http://nosuch.example/1");
    add(&w, "http://nosuch.example/2");
    assert_true(frontier_next_unresolved(w.f, w.now, &host, &attempt));
    frontier_resolved(w.f, w.now, host, ST_DNS, NULL, 0, 0);
    CHECK_STATUS("take", frontier_take(w.f, w.now, &l, &wake), ST_AGAIN);
    assert_true(wake == MONO_NEVER);
    assert_true(frontier_is_idle(w.f));
    struct frontier_counts c;
    frontier_counts(w.f, w.now, &c);
    assert_int_equal(c.hosts_given_up, 1);
    assert_int_equal(c.urls_given_up, 2);
    frontier_revive(w.f, w.now);
    assert_true(next_page(&w, "", &l));
    frontier_done(w.f, w.now, l.id, &good);
    world_done(&w);
}

/* Each has answered once, if only with its robots.txt. */
static void answer_once(struct world *w, unsigned hosts, unsigned urls)
{
    struct lease l;
    char url[64];
    for (unsigned i = 0; i < hosts; i++)
        for (unsigned k = 0; k < urls; k++) {
            snprintf(url, sizeof(url), "http://host%u.example/%u", i, k);
            add(w, url);
        }
    for (unsigned i = 0; i < hosts; i++) {
        assert_true(next_page(w, "", &l));
        frontier_done(w->f, w->now, l.id, &good);
    }
}

static const struct frontier_result timeout = {.st = ST_TIMEOUT, .retry_after_ms = -1};

static void hosts_are_not_blamed_for_a_line_that_is_down(void **state)
{
    static const struct {
        const char *label;
        unsigned hosts;
        bool is_doubted;
    } cases[] = {{"many hosts", 5, false}, {"a host, and somebody else is away", 1, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct world w;
        struct lease l;
        unsigned done = 0;
        world_init(&w, 1000);
        answer_once(&w, cases[i].hosts, 4);
        frontier_doubt(w.f, cases[i].is_doubted);
        for (mono_ms down = w.now; w.now - down < 10 * 60 * 1000;) {
            assert_true(next_page(&w, "", &l));
            w.now += 1000;
            CHECK(cases[i].label, frontier_done(w.f, w.now, l.id, &timeout));
        }
        for (mono_ms up = w.now; next_page(&w, "", &l); done++) {
            struct frontier_result late = good;
            late.total_us = done ? 1000 : 30000000; /* it was under way when the line came back */
            frontier_done(w.f, w.now, l.id, &late);
            CHECK(cases[i].label, w.now - up < 25000);
        }
        assert_int_equal(done, 3 * cases[i].hosts);
        world_done(&w);
    }
}

static void hosts_that_stay_silent_are_given_up_all_the_same(void **state)
{
    struct world w;
    struct lease l;
    struct frontier_counts c;
    world_init(&w, 1000);
    answer_once(&w, 4, 20);
    mono_ms begun = w.now;
    while (next_page(&w, "", &l))
        frontier_done(w.f, w.now, l.id, &timeout);
    frontier_counts(w.f, w.now, &c);
    assert_int_equal(c.hosts_given_up, 4);
    CHECK("within two hours", w.now - begun < 2 * 3600 * 1000);
    world_done(&w);
}

static void tries_the_other_address_before_it_gives_up(void **state)
{
    struct world w;
    struct span host;
    unsigned attempt;
    struct lease l;
    mono_ms wake;
    struct addr a = {.family = 6, .b = {0x20, 1, 0xd}}, b = {.family = 4, .b = {93, 1, 1, 1}};
    world_init(&w, 1000);
    add(&w, "http://two.example/");
    assert_true(frontier_next_unresolved(w.f, w.now, &host, &attempt));
    assert_int_equal(attempt, 0);
    frontier_resolved(w.f, w.now, host, ST_OK, &a, w.now + 3600000, 2);
    CHECK_STATUS("robots", frontier_take(w.f, w.now, &l, &wake), ST_OK);
    struct frontier_result r = {.st = ST_CONNECT, .retry_after_ms = -1};
    frontier_robots(w.f, w.now, 0, l.id, NULL, 0, &r);
    CHECK_STATUS("pause", frontier_take(w.f, w.now, &l, &wake), ST_AGAIN);
    assert_int_equal(wake - w.now, 1000);
    w.now = wake;
    CHECK_STATUS("asks for an address", frontier_take(w.f, w.now, &l, &wake), ST_AGAIN);
    assert_true(frontier_next_unresolved(w.f, w.now, &host, &attempt));
    assert_int_equal(attempt, 1);
    frontier_resolved(w.f, w.now, host, ST_OK, &b, w.now + 3600000, 2);
    CHECK_STATUS("robots again", frontier_take(w.f, w.now, &l, &wake), ST_OK);
    assert_true(addr_eq(&l.addr, &b));
    frontier_robots(w.f, w.now, 0, l.id, NULL, 0, &r);
    assert_true(frontier_is_idle(w.f));
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honours_retry_after_and_backs_off_doubling),
        cmocka_unit_test(gives_a_hopeless_host_up_at_once_and_keeps_its_urls),
        cmocka_unit_test(hosts_are_not_blamed_for_a_line_that_is_down),
        cmocka_unit_test(hosts_that_stay_silent_are_given_up_all_the_same),
        cmocka_unit_test(tries_the_other_address_before_it_gives_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
