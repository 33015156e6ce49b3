/* test_recrawling_learned.c - what is known of a channel: what visits found, links to it, what older versions tell. */
#include "recrawling_stage.h"

#include <math.h>

static void what_a_visit_found_is_learned_and_counted(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *quick = crawled(&s, 1, NULL), *slow = crawled(&s, 2, NULL);
    for (int i = 0; i < 40; i++) {
        pass(&s, 2 * HOUR);
        if (is_under_way(quick))
            visit_ends(&s, quick, 10, 10);
        if (is_under_way(slow))
            visit_ends(&s, slow, 10, 0);
    }
    struct recrawling_view q = look(&s, quick), l = look(&s, slow);
    CHECK("quick", q.successes >= 30 && q.updates == q.successes && q.submissions == q.successes);
    CHECK("slow", l.successes < 15 && l.successes > 3 && l.updates == 0);
    CHECK("rates", q.rate_a_day > 6 && l.rate_a_day < 1);
    CHECK("ranks", q.rank < l.rank);
    CHECK("surer", q.rate_factor < 2);
    assert_int_equal(q.looked, 10);
    assert_int_equal(q.changed, 10);
    assert_int_equal(q.took_ms, 60000);
    struct recrawling_figures f;
    recrawling_figures_get(s.c, s.now, &f);
    assert_int_equal(f.channels, 2);
    assert_int_equal(f.done, q.successes + l.successes);
    assert_int_equal(f.updated, q.updates);
    CHECK("freshness", f.freshness > 0 && f.freshness <= 1);
    CHECK("the mean", fabs(f.freshness - (q.freshness + l.freshness) / 2) < 1e-6);
    assert_int_equal(f.ranks[q.rank].channels, 1);
    assert_int_equal(f.stalest_count, 2);
    CHECK("the stalest first", f.stalest[0].loss >= f.stalest[1].loss);
    stop(&s);
}

/* One page of a hundred that is another each time does not make the whole of it new. */
static void a_change_counts_by_the_share_of_pages(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *all = crawled(&s, 1, NULL), *one = crawled(&s, 2, NULL);
    for (int i = 0; i < 40; i++) {
        pass(&s, 4 * HOUR);
        if (is_under_way(all))
            visit_ends(&s, all, 100, 100);
        if (is_under_way(one))
            visit_ends(&s, one, 100, 1);
    }
    struct recrawling_view a = look(&s, all), o = look(&s, one);
    CHECK("rate", o.rate_a_day * 8 < a.rate_a_day);
    CHECK("visits", o.successes < a.successes / 2);
    assert_int_equal(o.updates, o.successes); /* each brought something */
    stop(&s);
}

static void links_from_other_sites_make_it_heavier(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    CHECK("alone", look(&s, ch).weight == 1);
    for (unsigned i = 2; i < 12; i++) {
        struct c_channel *from = channel(&s, i, NULL);
        recrawling_linked(s.c, ch, from);
        recrawling_linked(s.c, ch, from); /* once more is no more */
    }
    recrawling_linked(s.c, ch, ch);
    double weight = look(&s, ch).weight;
    CHECK("about eleven", weight > 8 && weight < 14);
    uint64_t id = ch->id;
    kill_and_start(&s);
    CHECK("written down", fabs(look(&s, again(&s, id)).weight - weight) < 1e-9);
    stop(&s);
}

static void switching_keeps_what_was_learned(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    uint64_t id = ch->id;
    for (int i = 0; i < 20; i++) {
        pass(&s, 2 * HOUR);
        if (is_under_way(ch))
            visit_ends(&s, ch, 1, 1);
    }
    struct recrawling_view before = look(&s, ch);
    static const recrawl_strategy all[] = {RECRAWL_FIXED, RECRAWL_IIR, RECRAWL_ICR, RECRAWL_GREEDY};
    for (int i = 0; i < 4; i++) {
        recrawling_switch(s.c, all[i], false);
        pass(&s, 1000);
        recrawling_changed(s.c, ch); /* looked at anew */
        pass(&s, 1000);
        struct recrawling_view v = look(&s, ch);
        struct recrawling_figures f;
        recrawling_figures_get(s.c, s.now, &f);
        assert_int_equal(f.strategy, all[i]);
        CHECK(recrawl_strategy_name(all[i]), fabs(v.rate_a_day - before.rate_a_day) < 1e-3);
        for (int k = 0; k < 100 && !is_under_way(ch); k++)
            pass(&s, 15 * MINUTE);
        CHECK(recrawl_strategy_name(all[i]), is_under_way(ch));
        visit_ends(&s, ch, 2, 1);
        before = look(&s, ch);
    }
    recrawling_switch(s.c, RECRAWL_IIR, true);
    pass(&s, 96 * HOUR);
    assert_false(is_under_way(ch));
    assert_int_equal(look(&s, ch).next, 0);
    kill_and_start(&s);
    agent(&s, "athens");
    struct recrawling_figures f;
    recrawling_figures_get(s.c, s.now, &f);
    CHECK("as it was left", f.is_off && f.strategy == RECRAWL_IIR);
    assert_int_equal(look(&s, again(&s, id)).successes, before.successes);
    stop(&s);
    s.opts.recrawl = RECRAWL_FIXED; /* who starts it has the last word */
    start(&s);
    recrawling_figures_get(s.c, s.now, &f);
    CHECK("as it was started", !f.is_off && f.strategy == RECRAWL_FIXED);
    stop(&s);
}

static void agents_of_before_are_understood(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    a->tasks_max = 0; /* they do not say */
    struct c_channel *ch = crawled(&s, 1, NULL);
    struct c_task *t = ch->tasks[0];
    t->progress.fetched = 100;
    pass(&s, 3 * HOUR);
    assert_true(is_under_way(ch));
    recrawling_report(s.c, t, s.now); /* of before the order */
    assert_true(is_under_way(ch));
    t->progress.fetched += 10;
    t->progress.unchanged += 4;
    t->progress.errors += 1;
    report(&s, ch, NULL);
    pass(&s, 1000);
    assert_false(is_under_way(ch));
    struct recrawling_view v = look(&s, ch);
    CHECK("guessed", v.looked == 11 && v.changed == 6 && v.failed == 1 && v.updates == 1);
    stop(&s);
}

static void a_folder_of_before_goes_on(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    uint64_t id = ch->id;
    ch->added = s.now - 100 * HOUR; /* as that one wrote it: no record of visits, and when it was checked */
    ch->checked = s.now - 25 * HOUR;
    save_channel(s.c, ch);
    forget_recrawl(s.c, ch);
    kill_and_start(&s);
    agent(&s, "athens");
    ch = again(&s, id);
    assert_true(ch->recrawl.is_planned);
    CHECK("visited", look(&s, ch).visited / 1000 == (s.now - 25 * HOUR) / 1000);
    ch->tasks[0]->progress.state = TASK_DONE;
    pass(&s, 1000);
    assert_int_equal(rechecks(&s, ch).count, 1);
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(what_a_visit_found_is_learned_and_counted),
        TEST_IN_FOLDER(a_change_counts_by_the_share_of_pages),
        TEST_IN_FOLDER(links_from_other_sites_make_it_heavier),
        TEST_IN_FOLDER(switching_keeps_what_was_learned),
        TEST_IN_FOLDER(agents_of_before_are_understood),
        TEST_IN_FOLDER(a_folder_of_before_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
