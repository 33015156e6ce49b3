/* test_coord_numbers.c - orders by their numbers: given until confirmed, also when either side has forgotten some. */
#include "puppet_stage.h"

#include "coord/agents.h"
#include "store/file.h"

static void orders_are_given_until_they_are_confirmed(void **state)
{
    struct stage s;
    struct puppet p;
    struct seen_orders seen = {0}, again = {0};
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p, seen, seen.tasks == 1);
    assert_int_equal(seen.settings, 1);
    CHECK_SPAN("networks", buf_span(&seen.texts), SPAN("127.1.1.0/24 "));

    /* The last is not confirmed yet by a report: after a restart it comes again. */
    p.orders_done--;
    stop(&s);
    start(&s);
    puppet_line(&p);
    (void)puppet_poll(&p, NULL, 0, note_order, &again, NULL);
    assert_int_equal(again.tasks, 1);

    /* A second host of the same network makes no new network; another network does. */
    add_channel(&s, "http://two.example/", SCOPE_SITE);
    UNTIL(&p, again, again.tasks == 2);
    assert_int_equal(again.networks, 1);
    add_channel(&s, "http://three.example/", SCOPE_SITE);
    UNTIL(&p, again, again.tasks == 3);
    buf_done(&seen.texts);
    buf_done(&again.texts);
    puppet_done(&p);
    close_stage(&s);
}

/* ---- who has forgotten orders ---- */

static void an_agent_on_a_new_machine_is_told_all_of_it_anew(void **state)
{
    struct stage s;
    struct puppet p, q;
    struct seen_orders seen = {0}, anew = {0};
    struct join_line join;
    struct buf line = {0};
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p, seen, seen.tasks == 1);
    (void)puppet_poll(&p, NULL, 0, note_order, &seen, NULL); /* all is done */
    pthread_mutex_lock(&s.c->lock);
    struct c_agent *a = agent_get(s.c, 1);
    uint64_t done = a->orders_done;
    CHECK_STATUS("invite", agent_invite(s.c, a, &line), ST_OK);
    pthread_mutex_unlock(&s.c->lock);
    CHECK("some were done", done >= 2);
    CHECK_STATUS("line", join_line_parse(buf_span(&line), &join), ST_OK);
    puppet_key(&q, &s, 2);
    q.boot = 8;
    q.task = 99; /* of a folder that is older than it should be */
    assert_int_equal(puppet_join(&q, join.token), 200);
    UNTIL(&q, anew, anew.tasks == 1);
    CHECK("its settings, and the end of what is not its own", anew.settings == 1 && anew.ends == 1);
    assert_int_equal(anew.end_task, 99);
    CHECK("all of the task", anew.task == seen.task && anew.channels == 1 && anew.states == 1 && anew.networks == 1);
    UNTIL(&q, anew, anew.other == 1); /* known pages are read for their links */
    CHECK("numbers go on", q.orders_done > done);
    /* From here on it is like any other; another process of it too. */
    q.boot = 9;
    add_channel(&s, "http://three.example/", SCOPE_SITE);
    UNTIL(&q, anew, anew.tasks == 2);
    CHECK("nothing twice", anew.settings == 1 && anew.other == 1);
    buf_done(&line);
    buf_done(&seen.texts);
    buf_done(&anew.texts);
    puppet_done(&p);
    puppet_done(&q);
    close_stage(&s);
}

static void copy_file(const char *from, const char *to)
{
    char path[TEST_PATH], copy[TEST_PATH];
    struct buf bytes = {0};
    test_path(path, from);
    test_path(copy, to);
    CHECK_STATUS(from, file_read(path, 64u << 20, &bytes), ST_OK);
    CHECK_STATUS(to, file_replace(copy, buf_span(&bytes)), ST_OK);
    buf_done(&bytes);
}

static void set_state(struct stage *s, agent_state state)
{
    pthread_mutex_lock(&s->c->lock);
    agent_set_state(s->c, agent_get(s->c, 1), state);
    pthread_mutex_unlock(&s->c->lock);
}

static void orders_after_a_restore_are_not_those_that_were_forgotten(void **state)
{
    struct stage s;
    struct puppet p;
    struct seen_orders seen = {0}, after = {0};
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    UNTIL(&p, seen, seen.settings == 1);
    (void)puppet_poll(&p, NULL, 0, note_order, &seen, NULL);
    stop(&s);
    copy_file("fleet.db", "backup");
    start(&s);
    puppet_line(&p);
    for (int i = 0; i < 3; i++)
        set_state(&s, AGENT_PAUSE);
    UNTIL(&p, seen, seen.settings == 4);
    (void)puppet_poll(&p, NULL, 0, note_order, &seen, NULL);
    stop(&s);
    /* The folder as it was; as many orders as were forgotten are given before the agent calls. */
    copy_file("backup", "fleet.db");
    start(&s);
    puppet_line(&p);
    for (int i = 0; i < 3; i++)
        set_state(&s, AGENT_RUN);
    UNTIL(&p, after, after.settings == 3);
    assert_int_equal(p.orders_done, 7);
    (void)puppet_poll(&p, NULL, 0, note_order, &after, NULL);
    pthread_mutex_lock(&s.c->lock);
    assert_int_equal(agent_get(s.c, 1)->orders_done, 7);
    pthread_mutex_unlock(&s.c->lock);
    puppet_done(&p);
    close_stage(&s);
}

static void an_agent_that_works_on_a_forgotten_order_gets_all_new_ones(void **state)
{
    struct stage s;
    struct puppet p;
    struct seen_orders seen = {0}, after = {0};
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    UNTIL(&p, seen, seen.settings == 1);
    (void)puppet_poll(&p, NULL, 0, note_order, &seen, NULL);
    stop(&s);
    copy_file("fleet.db", "backup");
    start(&s);
    puppet_line(&p);
    for (int i = 0; i < 3; i++)
        set_state(&s, AGENT_PAUSE);
    UNTIL(&p, seen, seen.settings == 4);
    stop(&s);
    /* None of the three is done: the number that it says is one that the backup knows. */
    uint64_t taken = p.orders_taken = p.orders_done, done = p.orders_done = p.orders_done - 3;
    copy_file("backup", "fleet.db");
    start(&s);
    puppet_line(&p);
    for (int i = 0; i < 2; i++)
        set_state(&s, AGENT_RUN);
    UNTIL(&p, after, after.settings == 2);
    set_state(&s, AGENT_PAUSE);
    UNTIL(&p, after, after.settings == 3);
    assert_int_equal(p.orders_taken, taken + 3);
    /* It comes to an end with them, and with those of ours. */
    CHECK("it still works on the first", p.orders_done == done);
    p.orders_done = p.orders_taken;
    (void)puppet_poll(&p, NULL, 0, note_order, &after, NULL);
    pthread_mutex_lock(&s.c->lock);
    assert_int_equal(agent_get(s.c, 1)->orders_done, taken + 3);
    pthread_mutex_unlock(&s.c->lock);
    puppet_done(&p);
    close_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(orders_are_given_until_they_are_confirmed),
        TEST_IN_FOLDER(an_agent_on_a_new_machine_is_told_all_of_it_anew),
        TEST_IN_FOLDER(orders_after_a_restore_are_not_those_that_were_forgotten),
        TEST_IN_FOLDER(an_agent_that_works_on_a_forgotten_order_gets_all_new_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
