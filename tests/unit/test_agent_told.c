/* Which tasks a report tells of. */
#include "test.h"

#include "agent/told.h"

static struct task_report task(uint64_t number, task_state state, uint64_t fetched)
{
    return (struct task_report){.task = number, .state = state, .fetched = fetched};
}

static void what_was_heard_is_not_told_again(void **state)
{
    (void)state;
    struct told t = {0};
    struct task_report all[] = {task(1, TASK_DONE, 5), task(2, TASK_RUNNING, 7), task(3, TASK_WAITING, 0)}, news[3];
    unsigned orders[] = {1, 1, 1};
    assert_int_equal(told_news(&t, all, orders, 3, false, news), 3);
    assert_int_equal(told_news(&t, all, orders, 3, false, news), 3); /* the first was lost */
    told_arrived(&t);
    assert_int_equal(told_news(&t, all, orders, 3, false, news), 0);
    told_arrived(&t);
    all[1] = task(2, TASK_DONE, 7);
    assert_int_equal(told_news(&t, all, orders, 3, false, news), 1);
    assert_int_equal(news[0].task, 2);
    told_arrived(&t);
    all[0].has_visit = true; /* known pages were looked at again, and nothing was new */
    all[0].visit.number = 4;
    assert_int_equal(told_news(&t, all, orders, 3, false, news), 1);
    assert_int_equal(news[0].visit.number, 4);
    told_arrived(&t);
    assert_int_equal(told_news(&t, all, orders, 3, true, news), 3);
    told_done(&t);
}

/* The coordinator that gave it believes that the task runs; it may have been done before the next report. */
static void an_order_that_changes_nothing_is_news(void **state)
{
    (void)state;
    struct told t = {0};
    struct task_report all[] = {task(1, TASK_DONE, 5), task(2, TASK_DONE, 7)}, news[2];
    unsigned orders[] = {1, 1};
    told_news(&t, all, orders, 2, false, news);
    told_arrived(&t);
    orders[1]++;
    assert_int_equal(told_news(&t, all, orders, 2, false, news), 1);
    assert_int_equal(news[0].task, 2);
    assert_int_equal(told_news(&t, all, orders, 2, false, news), 1); /* that report did not arrive */
    told_arrived(&t);
    assert_int_equal(told_news(&t, all, orders, 2, false, news), 0);
    told_done(&t);
}

static void tasks_come_and_go(void **state)
{
    (void)state;
    struct told t = {0};
    struct task_report before[] = {task(1, TASK_DONE, 5), task(2, TASK_DONE, 7), task(5, TASK_DONE, 1)}, news[3];
    struct task_report after[] = {task(1, TASK_DONE, 5), task(5, TASK_DONE, 1), task(8, TASK_WAITING, 0)};
    unsigned orders[] = {1, 1, 1};
    told_news(&t, before, orders, 3, false, news);
    told_arrived(&t);
    assert_int_equal(told_news(&t, after, orders, 3, false, news), 1);
    assert_int_equal(news[0].task, 8);
    told_arrived(&t);
    assert_int_equal(told_news(&t, after, orders, 3, false, news), 0);
    told_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_heard_is_not_told_again),
        cmocka_unit_test(an_order_that_changes_nothing_is_news),
        cmocka_unit_test(tasks_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
