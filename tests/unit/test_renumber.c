/* test_renumber.c - an agent knows orders that the coordinator does not: after its folder was restored from a backup.
 */
#include "orders_stage.h"

#include <errno.h>

#include "coord/renumber.h"
#include "coord/reports.h"
#include "store/file.h"

static void orders_have_other_numbers_when_that_is_written_down(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = channel(&s, two_networks, 2);
    struct c_task *t = ch->tasks[0];
    agent_set_state(s.c, a, AGENT_DRAIN);
    tick(&s);
    uint64_t given = a->orders_given, done = a->orders_done, end = t->end_order, last = t->last_order;
    struct told before = told(&s, a);
    CHECK("some are open", given > done && end && last);
    /* It says that it has done more than we ever gave. */
    struct report r = {.orders_done = given + 5};
    a->is_in_step = false;
    a->given_before = given;
    (void)renumber_look(s.c, a, &r);
    a->ahead_since -= 10000;
    fill_disk(&s, true);
    (void)renumber_look(s.c, a, &r);
    fill_disk(&s, false);
    CHECK("as they were", a->orders_given == given && a->orders_done == done);
    CHECK("what tasks remember", t->end_order == end && t->last_order == last);
    assert_int_equal(told(&s, a).ends, before.ends);
    CHECK("it gets none", !renumber_agrees(a));
    /* Once more, in a while; and once more, when it is not known whether that is on the disk. */
    for (int turn = 0; turn < 2; turn++) {
        (void)renumber_look(s.c, a, &r);
        a->ahead_since -= 10000;
        if (turn == 0)
            file_inject_sync_fault(1, EIO);
        (void)renumber_look(s.c, a, &r);
        file_inject_sync_fault(0, 0);
        CHECK("in step", renumber_agrees(a) == (turn == 1));
    }
    uint64_t by = given + 5 - done, id = ch->id;
    for (int turn = 0; turn < 2; turn++) { /* as it is, and after a kill */
        CHECK("other numbers", a->orders_given == given + by && a->orders_done == given + 5);
        assert_int_equal(t->end_order, end + by);
        CHECK("after a start it is not known", t->last_order == (turn ? 0 : last + by));
        struct told now = told(&s, a);
        CHECK("the same orders", now.ends == before.ends && now.tasks == before.tasks);
        if (turn == 0)
            kill_and_start(&s);
        a = agent(&s, "athens");
        t = channel_get(s.c, id)->tasks[0];
    }
    stop(&s);
}

/* ---- an end whose outcome was heard by somebody who is no more ---- */

static void report_done(struct stage *s, struct c_agent *a, uint64_t done, uint64_t taken, const struct outcome *o)
{
    struct report r = {.boot = a->boot,
                       .orders_done = done,
                       .orders_taken = taken,
                       .activity = ACTIVITY_IDLE,
                       .outcomes = o,
                       .outcome_count = o != NULL};
    report_note(s->c, a, &r, SPAN(""));
    tick(s);
}

static void an_end_that_is_done_without_a_word_is_one(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *from = agent(&s, "athens");
    struct c_channel *ch = channel(&s, one_network, 1);
    struct c_agent *to = agent(&s, "bergen");
    struct c_network *n = host(&s, "a.example")->network;
    CHECK_STATUS("move", assign_move(s.c, n, to->number, MOVE_PERSON, "a test"), ST_OK);
    tick(&s);
    uint64_t end = ch->tasks[0]->end_order;
    CHECK("it is to end", end && end == from->orders_given);
    report_done(&s, from, end - 1, end, NULL);
    assert_int_equal(n->state, NETWORK_LEAVING);
    report_done(&s, from, end, end, NULL);
    CHECK("it is another's, and read anew", n->state == NETWORK_OWNED && n->agent == to->number && n->was_lost);
    assert_int_equal(told(&s, to).networks, 1);
    stop(&s);
}

static void what_was_handed_over_to_a_number_that_is_lost_is_read_anew(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *from = agent(&s, "athens");
    struct c_channel *ch = channel(&s, one_network, 1);
    struct c_agent *to = agent(&s, "bergen");
    struct c_network *n = host(&s, "a.example")->network;
    CHECK_STATUS("move", assign_move(s.c, n, to->number, MOVE_PERSON, "a test"), ST_OK);
    tick(&s);
    struct c_task *t = ch->tasks[0];
    uint64_t end = t->end_order, id = ch->id;
    /* It works on it, and has taken orders since that are forgotten here. */
    report_done(&s, from, end - 1, end, NULL);
    from->is_in_step = false;
    from->given_before = from->orders_given;
    report_done(&s, from, end - 1, end + 7, NULL);
    CHECK("asked again", t->end_order == end + 8 && renumber_agrees(from));
    report_done(&s, from, end - 1, end + 7, &(struct outcome){.number = end, .st = ST_OK});
    assert_int_equal(n->state, NETWORK_LEAVING);
    kill_and_start(&s);
    from = agent(&s, "athens");
    to = agent(&s, "bergen");
    t = channel_get(s.c, id)->tasks[0];
    n = host(&s, "a.example")->network;
    report_done(&s, from, end + 8, end + 8, &(struct outcome){.number = end + 8, .st = ST_OK});
    CHECK("it is another's, and read anew", n->state == NETWORK_OWNED && n->agent == to->number && n->was_lost);
    CHECK("no end", !t->end_order && !t->is_end_again);
    stop(&s);
}

/* In the time that is lost it was told other things than we know. */
static void an_agent_that_is_ahead_is_told_what_it_should_know(void **state)
{
    static const struct task_report has[] = {{.task = 1, .state = TASK_RUNNING}, {.task = 99, .state = TASK_RUNNING}};
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = channel(&s, two_networks, 2);
    assert_int_equal(ch->tasks[0]->number, 1);
    report_done(&s, a, a->orders_given, a->orders_given, NULL);
    assert_int_equal(a->orders_done, a->orders_given);
    uint64_t given = a->given_before = a->orders_given;
    a->is_in_step = false;
    struct report r = {.boot = a->boot,
                       .orders_done = given,
                       .orders_taken = given + 5,
                       .activity = ACTIVITY_IDLE,
                       .tasks = has,
                       .task_count = 2};
    report_note(s.c, a, &r, SPAN(""));
    tick(&s);
    struct told t = told(&s, a);
    assert_int_equal(a->orders_done, given + 5);
    CHECK("its settings", t.settings == 1);
    CHECK("the end of what is not its own", t.ends == 1 && t.ended == 99);
    CHECK("all of its task", t.tasks == 1 && t.channels == 1 && t.networks == 2);
    CHECK("it has what it found", !host(&s, "a.example")->network->was_lost);
    /* Once; and a task that it does not have any more is as one that was lost. */
    r.orders_taken = r.orders_done = a->orders_given;
    report_note(s.c, a, &r, SPAN(""));
    tick(&s);
    assert_int_equal(told(&s, a).tasks, 0);
    given = a->given_before = a->orders_given;
    a->is_in_step = false;
    a->told_anew = 0; /* a while later */
    r.orders_taken = given + 5;
    r.task_count = 0;
    report_note(s.c, a, &r, SPAN(""));
    tick(&s);
    CHECK("all of its task", told(&s, a).networks == 2);
    CHECK("its pages are read anew", host(&s, "a.example")->network->was_lost);
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(orders_have_other_numbers_when_that_is_written_down),
        TEST_IN_FOLDER(an_end_that_is_done_without_a_word_is_one),
        TEST_IN_FOLDER(what_was_handed_over_to_a_number_that_is_lost_is_read_anew),
        TEST_IN_FOLDER(an_agent_that_is_ahead_is_told_what_it_should_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
