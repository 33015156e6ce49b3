/* test_recrawling_turns.c - turns of the plan that are made without the lock, on another thread. */
#include "recrawling_stage.h"

#include <unistd.h>

/* With very many channels the plan's turns are made without the lock, on another thread. */
static void turns_without_the_lock_do_the_same(void **state)
{
    struct stage s = {0};
    start(&s);
    s.c->recrawling->at_once_max = 0;
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch[TASKS];
    for (unsigned i = 0; i < TASKS; i++)
        ch[i] = crawled(&s, i + 1, NULL);
    for (int i = 0; i < 2000 && a->visiting < TASKS; i++) {
        pass(&s, i ? 1000 : 3 * HOUR);
        pthread_mutex_unlock(&s.c->lock); /* somebody else's turn */
        usleep(1000);
        pthread_mutex_lock(&s.c->lock);
    }
    assert_int_equal(a->visiting, TASKS);
    for (unsigned i = 0; i < TASKS; i++)
        visit_ends(&s, ch[i], 3, 1);
    bool are_told = false;
    for (int i = 0; i < 2000 && !are_told; i++) {
        pass(&s, 1000);
        are_told = true;
        for (unsigned k = 0; k < TASKS; k++)
            are_told &= look(&s, ch[k]).successes == 1;
        pthread_mutex_unlock(&s.c->lock);
        usleep(1000);
        pthread_mutex_lock(&s.c->lock);
    }
    assert_true(are_told);
    stop(&s);
}

/* Until the turn that is made without the lock is over. */
static void let_turn(struct stage *s)
{
    for (int i = 0; i < 20000 && s->c->recrawling->is_turning; i++) {
        pthread_mutex_unlock(&s->c->lock);
        usleep(1000);
        pthread_mutex_lock(&s->c->lock);
    }
    assert_false(s->c->recrawling->is_turning);
}

static void a_visit_asked_for_while_the_plan_is_made_is_one(void **state)
{
    struct stage s = {0};
    start(&s);
    s.c->recrawling->at_once_max = 0;
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    let_turn(&s);
    s.now += 3 * HOUR;
    recrawling_tick(s.c, s.now); /* the plan chooses it, and waits for the lock */
    assert_true(s.c->recrawling->is_turning);
    assert_true(recrawling_visit(s.c, ch, s.now, true, false));
    let_turn(&s);
    assert_int_equal(rechecks(&s, ch).count, 1);
    assert_int_equal(ch->recrawl.awaited, 1);
    assert_int_equal(a->visiting, 1);
    for (int i = 0; i < 3; i++) {
        recrawling_tick(s.c, s.now += 1000);
        let_turn(&s);
    }
    assert_int_equal(rechecks(&s, ch).count, 1);
    visit_ends(&s, ch, 3, 1);
    let_turn(&s);
    assert_false(is_under_way(ch));
    assert_int_equal(a->visiting, 0);
    for (int i = 0; i < 100 && !is_under_way(ch); i++) {
        recrawling_tick(s.c, s.now += HOUR);
        let_turn(&s);
    }
    assert_int_equal(rechecks(&s, ch).count, 2);
    assert_int_equal(a->visiting, 1);
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(turns_without_the_lock_do_the_same),
        TEST_IN_FOLDER(a_visit_asked_for_while_the_plan_is_made_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
