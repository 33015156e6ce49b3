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
    CHECK_SPAN("the next", l.url, SPAN("http://a.example/2"));
    frontier_done(w.f, w.now, l.id, &good);
    assert_true(next_page(&w, "", &l));
    CHECK_SPAN("the first once more", l.url, SPAN("http://a.example/1"));
    assert_false(frontier_done(w.f, w.now, l.id, &r)); /* third try: now it is an error */
    world_done(&w);
}

/* A host on this machine, which with no delay is asked sixteen times at once. */
static void world_here(struct world *w, unsigned pages)
{
    const struct addr here = {.family = 4, .b = {127, 0, 0, 1}};
    struct span host;
    unsigned attempt;
    world_init(w, 0);
    for (unsigned k = 0; k < pages; k++) {
        char url[64];
        snprintf(url, sizeof(url), "http://a.example/%u", k);
        add(w, url);
    }
    assert_true(frontier_next_unresolved(w->f, w->now, &host, &attempt));
    frontier_resolved(w->f, w->now, host, ST_OK, &here, MONO_NEVER, 1);
}

/* A server that answers 100 requests a minute, and 429 to all others of that minute. */
static bool is_within_limit(mono_ms now, mono_ms *minute, unsigned *answered)
{
    if (now / 60000 != *minute) {
        *minute = now / 60000;
        *answered = 0;
    }
    return (*answered)++ < 100;
}

static void finds_the_pace_that_a_host_bears(void **state)
{
    const struct {
        const char *label;
        bool says_when;
        unsigned pages;
        unsigned most; /* refusals: one a minute, thirty, when nothing is learned */
    } cases[] = {{"says when", true, 3000, 8}, {"does not", false, 3000, 8}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct world w;
        struct lease l;
        unsigned answered = 0, refused = 0, done = 0;
        mono_ms minute = 0;
        world_here(&w, cases[i].pages);
        mono_ms began = w.now;
        while (next_page(&w, "", &l)) {
            struct frontier_result r = {.st = ST_OK, .http_status = 429, .retry_after_ms = -1, .total_us = 5000};
            w.now += 5;
            if (is_within_limit(w.now, &minute, &answered)) {
                done++;
                r = good;
            } else {
                refused++;
                if (cases[i].says_when)
                    r.retry_after_ms = 60000 - w.now % 60000;
            }
            frontier_done(w.f, w.now, l.id, &r);
        }
        CHECK(cases[i].label, done == cases[i].pages);
        if (refused > cases[i].most)
            fail_msg("%s: %u refusals", cases[i].label, refused);
        /* Not slower than it must be: 30 minutes at the least. */
        if (w.now - began > 50 * 60000)
            fail_msg("%s: %lld minutes", cases[i].label, (long long)(w.now - began) / 60000);
        world_done(&w);
    }
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

static const struct frontier_result bad_certificate = {.st = ST_TLS, .retry_after_ms = -1};

/* Takes the next lease of any kind, moving the clock to it. */
static bool next_lease(struct world *w, struct lease *out)
{
    mono_ms wake = 0;
    resolve_all(w);
    while (frontier_take(w->f, w->now, out, &wake) == ST_AGAIN) {
        if (wake != MONO_NEVER)
            w->now = wake;
        else if (!resolve_all(w))
            return false;
    }
    return true;
}

/* Answers everything over HTTP; over HTTPS nothing. Counts what was lent by its kind. */
static void crawl_over_http_alone(struct world *w, unsigned counts[4])
{
    struct lease l;
    memset(counts, 0, 4 * sizeof(*counts));
    while (next_lease(w, &l)) {
        bool is_http = span_starts(l.url, SPAN("http://"));
        counts[l.kind]++;
        if (l.kind == LEASE_UNREACHABLE)
            CHECK("only of the site that is away", !is_http && l.failure == ST_TLS);
        if (l.kind == LEASE_ROBOTS && is_http)
            answer_robots(w, &l, "");
        else if (l.kind == LEASE_ROBOTS)
            frontier_robots(w->f, w->now, 0, l.id, NULL, 0, &bad_certificate);
        else
            assert_false(frontier_done(w->f, w->now, l.id, &good));
    }
}

static void a_host_is_not_blamed_for_a_site_where_nobody_is(void **state)
{
    static const struct {
        const char *label, *urls[5];
    } cases[] = {
        {"after a page",
         {"http://a.example/1", "https://a.example/2", "http://a.example/3", "https://a.example/4",
          "http://a.example/5"}},
        {"at first",
         {"https://a.example/2", "https://a.example/4", "http://a.example/1", "http://a.example/3",
          "http://a.example/5"}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct world w;
        unsigned counts[4];
        struct frontier_counts c;
        world_init(&w, 1000);
        mono_ms begun = w.now;
        for (unsigned k = 0; k < 5; k++)
            add(&w, cases[i].urls[k]);
        crawl_over_http_alone(&w, counts);
        CHECK(cases[i].label, counts[LEASE_PAGE] == 3 && counts[LEASE_UNREACHABLE] == 2 && counts[LEASE_ROBOTS] == 3);
        CHECK("without a back-off", w.now - begun < 10 * 1000);
        frontier_counts(w.f, w.now, &c);
        CHECK("nothing is left", c.urls == 0 && c.hosts_given_up == 0);

        /* It is left alone for a while, or until somebody wants to know again. */
        add(&w, "https://a.example/6");
        crawl_over_http_alone(&w, counts);
        CHECK("still away", counts[LEASE_UNREACHABLE] == 1 && counts[LEASE_ROBOTS] == 0);
        frontier_revive(w.f, w.now);
        add(&w, "https://a.example/7");
        crawl_over_http_alone(&w, counts);
        CHECK("asked again", counts[LEASE_UNREACHABLE] == 1 && counts[LEASE_ROBOTS] == 2);
        w.now += FRONTIER_SITE_AWAY_MS;
        add(&w, "https://a.example/8");
        crawl_over_http_alone(&w, counts);
        CHECK("an hour later", counts[LEASE_UNREACHABLE] == 1 && counts[LEASE_ROBOTS] == 2);
        world_done(&w);
    }
}

static void a_host_where_no_site_answers_is_given_up_with_all_its_urls(void **state)
{
    struct world w;
    struct lease l;
    struct frontier_counts c;
    unsigned asked = 0;
    world_init(&w, 1000);
    add(&w, "https://a.example/1");
    add(&w, "http://a.example/2");
    for (const struct frontier_result r = {.st = ST_CONNECT, .retry_after_ms = -1}; next_lease(&w, &l); asked++) {
        assert_int_equal(l.kind, LEASE_ROBOTS);
        frontier_robots(w.f, w.now, 0, l.id, NULL, 0, &r);
    }
    frontier_counts(w.f, w.now, &c);
    CHECK("both were asked", asked == FRONTIER_SITE_FAILURES_MAX + 1);
    CHECK("given up", c.hosts_given_up == 1 && c.urls_given_up == 2);
    world_done(&w);
}

/* A site that has answered does so no more: that is the host. */
static void a_site_that_answered_before_is_waited_for(void **state)
{
    struct world w;
    struct lease l;
    mono_ms wake;
    world_init(&w, 1000);
    add(&w, "http://a.example/1");
    add(&w, "https://a.example/2");
    add(&w, "https://a.example/3");
    for (int i = 0; i < 2; i++) {
        assert_true(next_page(&w, "", &l));
        frontier_done(w.f, w.now, l.id, &good);
    }
    assert_true(next_page(&w, "", &l));
    assert_true(frontier_done(w.f, w.now, l.id, &timeout));
    CHECK_STATUS("backs off", frontier_take(w.f, w.now, &l, &wake), ST_AGAIN);
    assert_in_range(wake - w.now, 60000, 75000);
    world_done(&w);
}

/* Of a host's pages every tenth never answers; the others do. */
static void pages_that_never_answer_do_not_stop_their_host(void **state)
{
    static const struct {
        const char *label;
        struct frontier_result r;
    } cases[] = {{"silence", {.st = ST_TIMEOUT, .retry_after_ms = -1}},
                 {"hangs up", {.st = ST_CONNECT, .retry_after_ms = -1}},
                 {"503", {.st = ST_OK, .http_status = 503, .retry_after_ms = -1}},
                 {"cut off", {.st = ST_PROTOCOL, .http_status = 200, .retry_after_ms = -1}}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct world w;
        struct lease l;
        struct frontier_counts c;
        unsigned answered = 0, failed = 0;
        world_init(&w, 1000);
        for (unsigned k = 0; k < 100; k++) {
            char url[64];
            snprintf(url, sizeof(url), "http://a.example/%u", k);
            add(&w, url);
        }
        mono_ms begun = w.now;
        while (next_page(&w, "", &l)) {
            bool is_bad = l.url.p[l.url.n - 1] == '0';
            bool again = frontier_done(w.f, w.now, l.id, is_bad ? &cases[i].r : &good);
            answered += !is_bad;
            failed += is_bad && !again;
        }
        frontier_counts(w.f, w.now, &c);
        CHECK(cases[i].label, answered == 90 && failed == 10 && c.hosts_given_up == 0);
        CHECK("a rest for each", w.now - begun < 100 * 1000 + 10 * 76 * 1000 + 30 * 1000);
        world_done(&w);
    }
}

/* Sixteen requests at once meet one restart, or one limit: that is no host that was tried sixteen times. */
static void what_fails_together_is_one_failure(void **state)
{
    static const struct {
        const char *label;
        struct frontier_result r;
        mono_ms least, most; /* that it rests */
    } cases[] = {{"hangs up", {.st = ST_CONNECT, .retry_after_ms = -1}, 60000, 75000},
                 {"too many", {.st = ST_OK, .http_status = 429, .retry_after_ms = -1}, 60000, 75000},
                 {"says how long", {.st = ST_OK, .http_status = 503, .retry_after_ms = 90000}, 90000, 90000}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct world w;
        struct lease l[16];
        struct frontier_counts c;
        mono_ms wake;
        unsigned n = 0;
        world_here(&w, 40);
        assert_true(next_page(&w, "", &l[0]));
        frontier_done(w.f, w.now, l[0].id, &good);
        while (n < 16 && frontier_take(w.f, w.now, &l[n], &wake) == ST_OK)
            n++;
        CHECK(cases[i].label, n == 16);
        for (unsigned k = 0; k < n - 1; k++)
            CHECK(cases[i].label, frontier_done(w.f, w.now, l[k].id, &cases[i].r));
        frontier_done(w.f, w.now, l[n - 1].id, &good); /* asked for with the others: no sign that it is well again */
        frontier_counts(w.f, w.now, &c);
        CHECK(cases[i].label, c.hosts_given_up == 0 && c.hosts_waiting == 1 && c.urls == 38);
        CHECK_STATUS(cases[i].label, frontier_take(w.f, w.now, &l[0], &wake), ST_AGAIN);
        assert_in_range(wake - w.now, cases[i].least, cases[i].most);
        world_done(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honours_retry_after_and_backs_off_doubling),
        cmocka_unit_test(finds_the_pace_that_a_host_bears),
        cmocka_unit_test(gives_a_hopeless_host_up_at_once_and_keeps_its_urls),
        cmocka_unit_test(hosts_are_not_blamed_for_a_line_that_is_down),
        cmocka_unit_test(hosts_that_stay_silent_are_given_up_all_the_same),
        cmocka_unit_test(tries_the_other_address_before_it_gives_up),
        cmocka_unit_test(a_host_is_not_blamed_for_a_site_where_nobody_is),
        cmocka_unit_test(a_host_where_no_site_answers_is_given_up_with_all_its_urls),
        cmocka_unit_test(a_site_that_answered_before_is_waited_for),
        cmocka_unit_test(pages_that_never_answer_do_not_stop_their_host),
        cmocka_unit_test(what_fails_together_is_one_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
