/* test_frontier_queue.c - what waits, in memory and in runs: its order, whose it is, what is parked or dropped. */
#include "frontier_world.h"

#include "base/rng.h"
#include "plan/trap.h"

static void parks_traps(void **state)
{
    struct world w;
    world_init(&w, 1000);
    assert_int_equal(add(&w, "http://a.example/x/y/x/y/x/y/x/y/"), FRONTIER_OK);
    assert_int_equal(add(&w, "http://a.example/x/y/x/y/x/y/x/y/x/y/"), FRONTIER_TRAP_REPEATS);
    unsigned refused = 0;
    for (int i = 0; i < 1500; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://a.example/calendar?day=%d", i);
        refused += add(&w, url) == FRONTIER_TRAP_VARIANTS;
    }
    assert_int_equal(refused, 500);
    assert_int_equal(add(&w, "http://a.example/other?day=1"), FRONTIER_OK);
    struct frontier_counts c;
    frontier_counts(w.f, w.now, &c);
    assert_int_equal(c.traps, 501);
    world_done(&w);
}

static void long_queues_are_put_away_and_come_back_in_order(void **state)
{
    struct world w;
    struct lease l;
    world_init(&w, 1000);
    for (int i = 0; i < 20000; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        add(&w, url);
        if (i == 9000)
            w.is_full = true; /* a full disk for a while: nothing is lost */
        if (i == 12000)
            w.is_full = false;
    }
    struct frontier_counts c;
    frontier_counts(w.f, w.now, &c);
    assert_int_equal(c.urls, 20000);
    assert_true(w.runs_live >= 10);
    for (int i = 0; i < 20000; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        assert_true(next_page(&w, "", &l));
        CHECK_SPAN("order", l.url, span_str(url));
        frontier_done(w.f, w.now, l.id, &good);
    }
    assert_int_equal(w.runs_live, 0);
    world_done(&w);
}

static void skipped_urls_are_not_lent(void **state)
{
    struct world w;
    struct lease l;
    world_init(&w, 1000);
    for (int i = 0; i < 3000; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        add(&w, url);
        if (i < 1700)
            frontier_skip(w.f, siphash(&w.key, span_str(url)));
    }
    frontier_purge(w.f);
    struct frontier_counts c;
    frontier_counts(w.f, w.now, &c);
    assert_int_equal(c.urls, 1300);
    assert_true(next_page(&w, "", &l));
    CHECK_SPAN("first", l.url, SPAN("http://own.example/1700"));
    frontier_done(w.f, w.now, l.id, &good);
    world_done(&w);
}

static void skipped_urls_are_swept_out_wherever_they_stand(void **state)
{
    struct world w;
    struct lease l;
    struct frontier_counts c;
    struct buf packed = {0};
    char url[64];
    world_init(&w, 1000);
    for (int i = 0; i < 3000; i++) { /* in the head, in runs and in the tail */
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        add(&w, url);
        if (i % 3 == 1 || (i >= 1200 && i < 2000)) /* some runs go altogether */
            frontier_skip(w.f, siphash(&w.key, span_str(url)));
    }
    frontier_skip(w.f, 12345); /* of nobody */
    CHECK_STATUS("sweep", frontier_sweep(w.f), ST_OK);
    frontier_counts(w.f, w.now, &c);
    unsigned want = 0;
    for (int i = 0; i < 3000; i++)
        want += !(i % 3 == 1 || (i >= 1200 && i < 2000));
    assert_int_equal(c.urls, want);
    /* What is packed has them no more, and the rest comes in order. */
    CHECK_STATUS("take", frontier_take_host(w.f, w.now, 0, SPAN("own.example"), &packed), ST_OK);
    CHECK_STATUS("put", frontier_put_host(w.f, w.now, 0, buf_span(&packed), NULL), ST_OK);
    for (int i = 0; i < 3000; i++) {
        if (i % 3 == 1 || (i >= 1200 && i < 2000))
            continue;
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        assert_true(next_page(&w, "", &l));
        CHECK_SPAN("order", l.url, span_str(url));
        frontier_done(w.f, w.now, l.id, &good);
    }
    frontier_counts(w.f, w.now, &c);
    assert_int_equal(c.urls, 0);
    buf_done(&packed);
    world_done(&w);
}

static void count_key(void *arg, uint64_t key)
{
    (*(uint64_t *)arg)++;
}

static void move_all(struct world *w)
{
    struct buf all = {0};
    CHECK_STATUS("pack", frontier_each_host(w->f, w->now, 1700000000000, true, keep_packed, &all), ST_OK);
    frontier_free(w->f);
    w->f = make(w, 1000);
    for (size_t at = 0; at < all.n;) {
        uint32_t n;
        memcpy(&n, all.p + at, 4);
        CHECK_STATUS("put", frontier_put_host(w->f, w->now, 1700000000000, span_of(all.p + at + 4, n), NULL), ST_OK);
        at += 4 + n;
    }
    buf_done(&all);
}

/* Against a twin that only counts. */
static void counts_what_each_channel_has_through_everything(void **state)
{
    struct world w;
    struct rng rng;
    uint64_t twin[4] = {0};
    struct lease lent[16];
    size_t lent_count = 0;
    world_init(&w, 1000);
    rng_seed(&rng, 11);
    for (int step = 0; step < 12000; step++) {
        char url[64];
        uint64_t what = rng_below(&rng, 100), channel = 1 + rng_below(&rng, 3);
        mono_ms wake;
        if (what < 70) {
            snprintf(url, sizeof(url), "http://%s.example/%d", rng_below(&rng, 3) ? "own" : "other", step);
            assert_int_equal(add_of(&w, url, channel), FRONTIER_OK);
            twin[channel]++;
        } else if (what < 85 && lent_count < 16) {
            resolve_all(&w);
            struct lease l;
            if (frontier_take(w.f, w.now, &l, &wake) != ST_OK)
                w.now += 1000;
            else if (l.kind == LEASE_ROBOTS)
                answer_robots(&w, &l, "");
            else
                lent[lent_count++] = l;
        } else if (what < 99 && lent_count) {
            struct lease l = lent[--lent_count];
            twin[l.channel]--;
            frontier_done(w.f, w.now, l.id, &good);
        } else if (what == 99 && rng_below(&rng, 10) == 0) {
            move_all(&w); /* what was lent waits again */
            lent_count = 0;
        }
        for (uint64_t c = 1; c <= 3; c++)
            if (urls_of(&w, c) != twin[c])
                fail_msg("step %d: channel %llu has %llu, want %llu", step, (unsigned long long)c,
                         (unsigned long long)urls_of(&w, c), (unsigned long long)twin[c]);
    }
    assert_true(w.runs_live > 4);
    struct frontier_counts all;
    frontier_counts(w.f, w.now, &all);
    assert_int_equal(all.urls, twin[1] + twin[2] + twin[3]);
    world_done(&w);
}

static void a_channel_is_dropped_from_memory_and_runs(void **state)
{
    struct world w;
    struct lease l;
    uint64_t dropped = 0, waiting = 0;
    world_init(&w, 1000);
    for (int i = 0; i < 5000; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        add_of(&w, url, i >= 2000 && i < 3200 ? 7 : i % 2 ? 8 : 7); /* whole runs of it, and parts of others */
    }
    assert_true(next_page(&w, "", &l));
    assert_int_equal(l.channel, 7);
    CHECK_STATUS("each", frontier_each_waiting(w.f, 7, count_key, &waiting), ST_OK);
    assert_int_equal(waiting, 3100);
    CHECK_STATUS("drop", frontier_drop_channel(w.f, 7, count_key, &dropped), ST_OK);
    assert_int_equal(dropped, 3099);
    assert_int_equal(urls_of(&w, 7), 1);
    struct frontier_result bad = {.st = ST_TIMEOUT, .retry_after_ms = -1};
    assert_false(frontier_would_retry(w.f, l.id, &bad));
    assert_false(frontier_done(w.f, w.now, l.id, &bad));
    assert_int_equal(urls_of(&w, 7), 0);
    assert_int_equal(urls_of(&w, 8), 1900);
    for (int i = 0; i < 5000; i++) {
        char url[64];
        if (i % 2 == 0 || (i >= 2000 && i < 3200))
            continue;
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        assert_true(next_page(&w, "", &l));
        CHECK_SPAN("the rest in order", l.url, span_str(url));
        frontier_done(w.f, w.now, l.id, &good);
    }
    assert_false(next_page(&w, "", &l));
    assert_int_equal(w.runs_live, 0);
    world_done(&w);
}

/* Every third page, and a whole host. */
static bool is_third(void *self, struct span url, uint64_t channel, unsigned depth)
{
    uint64_t n = 0;
    struct span number = span_from(url, sizeof("http://own.example/") - 1);
    return span_starts(url, SPAN("http://own.example/")) && span_u64(number, UINT64_MAX, &n) && n % 3 == 0;
}

static bool is_other(void *self, struct span host)
{
    return span_is(host, "other.example");
}

static void urls_are_dropped_by_what_they_are(void **state)
{
    struct world w;
    struct lease l;
    uint64_t dropped = 0;
    const struct frontier_where where = {is_third, is_other, NULL};
    world_init(&w, 1000);
    for (int i = 0; i < 3000; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        add_of(&w, url, i % 2 ? 8 : 7);
    }
    add_of(&w, "http://other.example/a", 7);
    add_of(&w, "http://other.example/b", 8);
    CHECK_STATUS("drop", frontier_drop_where(w.f, &where, count_key, &dropped), ST_OK);
    assert_int_equal(dropped, 1002);
    assert_int_equal(urls_of(&w, 7), 1000);
    assert_int_equal(urls_of(&w, 8), 1000);
    assert_false(frontier_has_host(w.f, SPAN("other.example")));
    for (int i = 0; i < 3000; i++) {
        char url[64];
        if (i % 3 == 0)
            continue;
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        assert_true(next_page(&w, "", &l));
        CHECK_SPAN("the rest in order", l.url, span_str(url));
        frontier_done(w.f, w.now, l.id, &good);
    }
    assert_false(next_page(&w, "", &l));
    assert_int_equal(w.runs_live, 0);
    world_done(&w);
}

static bool is_early(void *arg, struct frontier_run run)
{
    return run.a < *(size_t *)arg;
}

static void runs_that_are_put_away_again_stay_in_order(void **state)
{
    struct world w;
    struct lease l;
    world_init(&w, 1000);
    for (int i = 0; i < 3000; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        add(&w, url);
    }
    size_t before = w.run_count, live = w.runs_live, early = 2;
    w.is_full = true;
    CHECK_STATUS("no room", frontier_rewrite(w.f, is_early, &early), ST_FULL);
    w.is_full = false;
    CHECK_STATUS("rewrite", frontier_rewrite(w.f, is_early, &early), ST_OK);
    assert_int_equal(w.run_count, before + 2);
    assert_int_equal(w.runs_live, live);
    for (int i = 0; i < 3000; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        assert_true(next_page(&w, "", &l));
        CHECK_SPAN("in order", l.url, span_str(url));
        frontier_done(w.f, w.now, l.id, &good);
    }
    assert_int_equal(w.runs_live, 0);
    world_done(&w);
}

static void a_host_is_dropped_with_all_it_has(void **state)
{
    struct world w;
    struct lease l;
    uint64_t dropped = 0, channel;
    world_init(&w, 1000);
    for (int i = 0; i < 3000; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        add(&w, url);
    }
    add(&w, "http://b.example/");
    CHECK_STATUS("none", frontier_drop_host(w.f, SPAN("no.example"), count_key, &dropped), ST_NOT_FOUND);
    assert_true(next_page(&w, "", &l));
    struct span busy = l.host;
    CHECK_STATUS("busy", frontier_drop_host(w.f, busy, count_key, &dropped), ST_BUSY);
    frontier_done(w.f, w.now, l.id, &good);
    CHECK_STATUS("own", frontier_drop_host(w.f, SPAN("own.example"), count_key, &dropped), ST_OK);
    assert_false(frontier_has_host(w.f, SPAN("own.example")));
    assert_true(dropped >= 2999 && dropped <= 3000);
    assert_int_equal(w.runs_live, 0);
    assert_int_equal(frontier_host_channels(w.f, SPAN("own.example"), &channel, 1), 0);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parks_traps),
        cmocka_unit_test(long_queues_are_put_away_and_come_back_in_order),
        cmocka_unit_test(skipped_urls_are_swept_out_wherever_they_stand),
        cmocka_unit_test(skipped_urls_are_not_lent),
        cmocka_unit_test(counts_what_each_channel_has_through_everything),
        cmocka_unit_test(a_channel_is_dropped_from_memory_and_runs),
        cmocka_unit_test(urls_are_dropped_by_what_they_are),
        cmocka_unit_test(runs_that_are_put_away_again_stay_in_order),
        cmocka_unit_test(a_host_is_dropped_with_all_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
