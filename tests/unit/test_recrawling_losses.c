/* test_recrawling_losses.c - visits that fail: a full disk, an agent that is gone or late, a kill; none is made twice.
 */
#include "recrawling_stage.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Unheard for longer than is waited for: a second, since the machine may have been started a minute ago, and its clock
 * with it. */
static void vanish(struct stage *s, struct c_agent *a)
{
    s->c->o.move_after_ms = 1000;
    a->heard_mono = clock_mono() - 1000;
}

/* From here on fleet.db does not grow. */
static void fill_disk(bool is_full)
{
    char path[TEST_PATH];
    struct stat sb;
    struct rlimit l;
    test_path(path, "fleet.db-wal");
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
    signal(SIGXFSZ, SIG_IGN);
    l.rlim_cur = is_full ? (rlim_t)sb.st_size : l.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static void a_visit_that_cannot_be_written_down_is_ordered_later(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    uint64_t given = a->orders_given;
    fill_disk(true);
    pass(&s, 3 * HOUR);
    fill_disk(false);
    assert_int_equal(a->orders_given, given);
    assert_int_equal(rechecks(&s, ch).count, 0);
    assert_false(is_under_way(ch));
    assert_int_equal(a->visiting, 0);
    pass(&s, 3 * MINUTE);
    struct found f = rechecks(&s, ch);
    assert_int_equal(f.count, 1);
    assert_int_equal(f.last.visit, 1);
    assert_int_equal(a->orders_given, given + 1);
    assert_true(is_under_way(ch));
    stop(&s);
}

static void a_lost_visit_is_made_up_for_after_a_pause(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    pass(&s, 3 * HOUR);
    assert_int_equal(rechecks(&s, ch).count, 1);
    vanish(&s, a);
    pass(&s, MINUTE);
    assert_false(is_under_way(ch));
    assert_int_equal(a->visiting, 0);
    assert_int_equal(ch->recrawl.losses, 1);
    agent(&s, "athens");
    pass(&s, 5 * MINUTE);
    assert_int_equal(rechecks(&s, ch).count, 1);
    for (int i = 0; i < 10; i++)
        pass(&s, MINUTE);
    assert_int_equal(rechecks(&s, ch).count, 2);
    /* A site that does not answer is left alone for longer each time. */
    int64_t before = 0;
    for (int round = 0; round < 4; round++) {
        report(&s, ch, &(struct visit_report){.number = ch->recrawl.visit, .looked = 3, .failed = 3, .took_ms = 1000});
        pass(&s, 1000);
        int64_t waited = 0;
        while (!is_under_way(ch) && waited < 48 * HOUR) {
            pass(&s, MINUTE);
            waited += MINUTE;
        }
        CHECK("longer", waited > before);
        before = waited;
    }
    assert_int_equal(look(&s, ch).successes, 0);
    visit_ends(&s, ch, 3, 0);
    assert_int_equal(ch->recrawl.losses, 0);
    assert_int_equal(look(&s, ch).successes, 1);
    stop(&s);
}

/* The site was asked, whatever we thought. */
static void a_visit_that_was_given_up_and_made_after_all_counts(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    pass(&s, 3 * HOUR);
    vanish(&s, a);
    pass(&s, MINUTE);
    assert_false(is_under_way(ch));
    agent(&s, "athens");
    visit_ends(&s, ch, 5, 0);
    assert_int_equal(look(&s, ch).successes, 1);
    for (int i = 0; i < 60; i++)
        pass(&s, MINUTE); /* it is closed again */
    assert_int_equal(rechecks(&s, ch).count, 1);
    stop(&s);
}

static void an_agent_that_does_not_begin_in_time_loses_the_visit(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    pass(&s, 3 * HOUR);
    pass(&s, 3 * HOUR);
    assert_true(is_under_way(ch)); /* a mean gap between changes is waited for */
    pass(&s, 2 * HOUR);
    assert_false(is_under_way(ch));
    stop(&s);
}

static void a_kill_loses_no_visit_and_makes_none_twice(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL), *other = crawled(&s, 2, NULL);
    uint64_t id = ch->id, other_id = other->id;
    pass(&s, 3 * HOUR);
    visit_ends(&s, other, 4, 4);
    struct recrawling_view before = look(&s, other);
    kill_and_start(&s);
    agent(&s, "athens");
    ch = again(&s, id);
    other = again(&s, other_id);
    assert_true(is_under_way(ch));
    assert_int_equal(ch->recrawl.awaited, 1);
    struct recrawling_view after = look(&s, other);
    CHECK("learned", fabs(after.rate_a_day - before.rate_a_day) < 1e-3 && after.successes == before.successes &&
                         after.updates == before.updates && after.visited / 1000 == before.visited / 1000);
    pass(&s, HOUR / 2);
    assert_int_equal(rechecks(&s, ch).count, 1);
    assert_int_equal(rechecks(&s, other).count, 1);
    visit_ends(&s, ch, 5, 1);
    assert_false(is_under_way(ch));
    assert_int_equal(look(&s, ch).successes, 1);
    kill_and_start(&s);
    agent(&s, "athens");
    ch = again(&s, id);
    assert_false(is_under_way(ch));
    report(&s, ch, &(struct visit_report){.number = ch->recrawl.visit, .looked = 5}); /* said again */
    pass(&s, 1000);
    assert_int_equal(look(&s, ch).successes, 1);
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_visit_that_cannot_be_written_down_is_ordered_later),
        TEST_IN_FOLDER(a_lost_visit_is_made_up_for_after_a_pause),
        TEST_IN_FOLDER(a_visit_that_was_given_up_and_made_after_all_counts),
        TEST_IN_FOLDER(an_agent_that_does_not_begin_in_time_loses_the_visit),
        TEST_IN_FOLDER(a_kill_loses_no_visit_and_makes_none_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
