/* test_recrawling_visits.c - which visits are ordered when, and of whom: ceilings, what people say, slots of agents. */
#include "coord/agents.h"
#include "coord/channels.h"
#include "recrawling_stage.h"

static void a_channel_is_visited_again_when_its_ceiling_lets_it(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *ch = channel(&s, 1, NULL);
    pass(&s, 48 * HOUR);
    assert_false(ch->recrawl.is_planned); /* its first crawl goes on */
    report(&s, ch, NULL);
    pass(&s, 0);
    assert_true(ch->recrawl.is_planned);
    assert_int_equal(rechecks(&s, ch).count, 0);
    /* A new channel is expected to change every four hours, and visited twice as often at most. */
    pass(&s, 2 * HOUR - MINUTE);
    assert_int_equal(rechecks(&s, ch).count, 0);
    CHECK("next", llabs(look(&s, ch).next - (s.now + MINUTE)) < MINUTE);
    pass(&s, 2 * MINUTE);
    struct found f = rechecks(&s, ch);
    assert_int_equal(f.count, 1);
    assert_int_equal(f.last.visit, 1);
    assert_int_equal(f.last.pages_max, COORD_RECRAWL_PAGES);
    assert_true(is_under_way(ch));
    pass(&s, 48 * HOUR); /* no other while this one goes on */
    assert_int_equal(rechecks(&s, ch).count, 1);
    stop(&s);
}

static void an_operators_word_is_kept(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct recrawl_rule never = {.is_never = true}, most = {.at_most_every = 24 * HOUR},
                        least = {.at_least_every = HOUR}, heavy = {.weight = 5};
    struct c_channel *n = crawled(&s, 1, &never), *m = crawled(&s, 2, &most), *l = crawled(&s, 3, &least),
                     *h = crawled(&s, 4, &heavy);
    for (int i = 0; i < 96; i++) {
        pass(&s, HOUR / 2 + 1000);
        struct c_channel *all[] = {n, m, l, h};
        for (int k = 0; k < 4; k++)
            if (is_under_way(all[k]))
                visit_ends(&s, all[k], 1, k == 1); /* whose changes cannot hurry it, and whose calm cannot slow it */
    }
    assert_int_equal(look(&s, n).submissions, 0);
    assert_int_equal(look(&s, n).next, 0);
    CHECK("at most", look(&s, m).submissions == 1 || look(&s, m).submissions == 2);
    CHECK("at least", look(&s, l).submissions >= 45);
    CHECK("weight", look(&s, h).weight > 4.99);
    struct recrawling_figures f;
    recrawling_figures_get(s.c, s.now, &f);
    CHECK("weights", f.weight > 7.9 && f.weight < 8.1);
    stop(&s);
}

static void new_channels_go_first_and_visits_keep_a_share(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    for (unsigned i = 0; i < TASKS; i++)
        crawled(&s, i + 1, NULL);
    a->tasks_busy = 3 * TASKS; /* as many that are new wait or run */
    pass(&s, 3 * HOUR);
    assert_int_equal(a->visiting, TASKS / 4);
    a->tasks_busy = TASKS / 2; /* most of them are done: the rest of its slots is free */
    for (int i = 0; i < 200; i++)
        pass(&s, 5000);
    assert_int_equal(a->visiting, TASKS / 2);
    a->tasks_busy = 0;
    for (int i = 0; i < 400; i++)
        pass(&s, 5000);
    assert_int_equal(a->visiting, TASKS);
    struct recrawling_figures f;
    recrawling_figures_get(s.c, s.now, &f);
    assert_int_equal(f.submitted, TASKS);
    stop(&s);
}

static void an_agent_that_is_away_is_not_asked(void **state)
{
    static const agent_activity held_up[] = {ACTIVITY_PAUSED, ACTIVITY_BUSY_MACHINE, ACTIVITY_SPOOL_FULL,
                                             ACTIVITY_DISK_FULL, ACTIVITY_QUOTA};
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    agent(&s, "berlin");
    struct c_channel *ch = crawled(&s, 1, NULL);
    struct c_agent *a = agent_get(s.c, ch->tasks[0]->agent);
    for (size_t i = 0; i < sizeof(held_up) / sizeof(*held_up); i++) {
        a->activity = held_up[i];
        pass(&s, 3 * HOUR);
        assert_int_equal(a->visiting, 0);
    }
    a->activity = ACTIVITY_WORKING;
    a->heard_mono = 0;
    pass(&s, HOUR);
    assert_int_equal(a->visiting, 0);
    struct recrawling_figures f;
    recrawling_figures_get(s.c, s.now, &f);
    CHECK("put off", f.declined > 0 && f.submitted == 0);
    agent(&s, a->name);
    for (int i = 0; i < 12; i++)
        pass(&s, MINUTE);
    assert_int_equal(a->visiting, 1);
    stop(&s);
}

/* A channel of two sites, with an agent each. */
static struct c_channel *two_agents(struct stage *s, struct c_agent *a, struct c_agent *b)
{
    struct span seeds[] = {SPAN("http://one.example/"), SPAN("http://two.example/")};
    struct channel_opts o = {.seeds = seeds, .seed_count = 2, .scope = SCOPE_SITE, .depth_max = 64};
    struct channel_form f = {.label = SPAN("two")};
    struct c_channel *ch = NULL;
    struct buf why = {0};
    CHECK_STATUS("new", channel_new(&o, &f.channel, &why), ST_OK);
    CHECK_STATUS("put", channel_put(s->c, &f, &ch, &why), ST_OK);
    for (size_t i = 0; i < 2; i++) {
        struct c_agent *other = i ? a : b;
        struct c_host *h = table_get(&s->c->hosts, siphash(&s->c->key, ch->hosts[i]));
        agent_set_state(s->c, other, AGENT_PAUSE);
        assign_resolved(s->c, h, ST_OK, &(struct addr){4, {127, 9, (unsigned char)i, 1}});
        settle(s);
        agent_set_state(s->c, other, AGENT_RUN);
    }
    assert_int_equal(ch->task_count, 2);
    assert_int_equal(ch->tasks[0]->agent, a->number);
    assert_int_equal(ch->tasks[1]->agent, b->number);
    for (size_t i = 0; i < 2; i++) {
        ch->tasks[i]->progress.task = ch->tasks[i]->number;
        ch->tasks[i]->progress.state = TASK_DONE;
    }
    a->orders_done = a->orders_given;
    b->orders_done = b->orders_given;
    recrawling_report(s->c, ch->tasks[0], s->now);
    recrawling_report(s->c, ch->tasks[1], s->now);
    recrawling_tick(s->c, s->now);
    buf_done(&why);
    return ch;
}

/* Until a visit is under way, for so many hours at most: how many. */
static int hours_until_visit(struct stage *s, const struct c_channel *ch, int most)
{
    for (int i = 0; i < most * 12; i++) {
        if (is_under_way(ch))
            return i / 12;
        pass(s, 5 * MINUTE);
    }
    return most;
}

static void task_ends(struct stage *s, struct c_channel *ch, size_t i)
{
    struct c_task *t = ch->tasks[i];
    struct c_agent *a = agent_get(s->c, t->agent);
    a->orders_done = a->orders_given;
    t->progress.state = TASK_DONE;
    t->progress.has_visit = true;
    t->progress.visit = (struct visit_report){.number = ch->recrawl.visit, .looked = 10, .took_ms = 60000};
    recrawling_report(s->c, t, s->now);
    recrawling_tick(s->c, s->now);
}

static void agents_that_never_work_at_the_same_time_have_their_turns(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens"), *b = agent(&s, "berlin");
    struct c_channel *ch = two_agents(&s, a, b);
    /* One of them is not there: the other one begins, once that has been waited for. */
    a->activity = ACTIVITY_PAUSED;
    CHECK("begins", hours_until_visit(&s, ch, 24) < 24);
    CHECK("with the one that is there", !ch->tasks[0]->visit && ch->tasks[1]->visit);
    task_ends(&s, ch, 1);
    CHECK("and that is all of it", !is_under_way(ch));
    /* Now that one sleeps, and the other is awake, which has its turn. */
    b->activity = ACTIVITY_PAUSED;
    a->activity = ACTIVITY_IDLE;
    CHECK("begins again", hours_until_visit(&s, ch, 48) < 48);
    CHECK("with the other", ch->tasks[0]->visit && !ch->tasks[1]->visit);
    task_ends(&s, ch, 0);
    /* The one that missed it is waited for, longer than before; not for ever. */
    int waited = hours_until_visit(&s, ch, 20);
    assert_int_equal(waited, 20);
    CHECK("without it", hours_until_visit(&s, ch, 48) < 48);
    CHECK("once more", ch->tasks[0]->visit && !ch->tasks[1]->visit);
    task_ends(&s, ch, 0);
    b->activity = ACTIVITY_IDLE;
    CHECK("both", hours_until_visit(&s, ch, 48) < 48);
    CHECK("at once", ch->tasks[0]->visit && ch->tasks[1]->visit);
    stop(&s);
}

static void a_paused_channel_leaves_and_comes_back_as_it_was(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    pass(&s, 3 * HOUR);
    assert_int_equal(a->visiting, 1);
    ch->is_paused = true;
    recrawling_changed(s.c, ch);
    pass(&s, 48 * HOUR);
    assert_int_equal(a->visiting, 0);
    assert_int_equal(rechecks(&s, ch).count, 1);
    ch->is_paused = false;
    recrawling_changed(s.c, ch);
    pass(&s, 1000);
    assert_int_equal(rechecks(&s, ch).count, 2); /* long open */
    uint64_t id = ch->id;
    channel_remove(s.c, ch);
    for (int i = 0; i < 5; i++) {
        pass(&s, 1000);
        channels_tick(s.c, s.now);
    }
    ch = again(&s, id);
    CHECK("its task goes on", ch && ch->is_removed && !ch->recrawl.is_planned);
    ch->tasks[0]->is_ended = true;
    channels_tick(s.c, s.now);
    assert_null(again(&s, id));
    struct buf packed = {0};
    struct fleet_number key = fleet_number(id);
    CHECK_STATUS("its record", fleet_get(s.c->fleet, FLEET_RECRAWL, fleet_number_span(&key), &packed), ST_NOT_FOUND);
    stop(&s);
}

static void a_person_is_obeyed_and_that_counts_as_a_visit(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    assert_true(recrawling_visit(s.c, ch, s.now, true, false));
    pass(&s, 1000);
    struct found f = rechecks(&s, ch);
    CHECK("whole", f.count == 1 && f.last.is_whole && f.last.pages_max == 0 && f.last.visit == 1);
    CHECK("busy", !recrawling_visit(s.c, ch, s.now, false, false));
    visit_ends(&s, ch, 7, 0);
    assert_int_equal(look(&s, ch).successes, 1);
    pass(&s, HOUR);
    assert_int_equal(rechecks(&s, ch).count, 1);
    stop(&s);
}

static void a_network_moves_when_its_agent_has_no_slot_for_too_long(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *first = crawled(&s, 1, NULL), *second = crawled(&s, 2, NULL);
    a->tasks_max = 1;
    agent(&s, "berlin");
    pass(&s, 3 * HOUR);
    assert_int_equal(a->visiting, 1);
    struct c_channel *waits = is_under_way(first) ? second : first;
    CHECK("one waits", !is_under_way(waits));
    report(&s, first, NULL); /* begun, and it goes on */
    struct recrawling_figures f;
    for (int i = 0; i < 300; i++)
        pass(&s, MINUTE);
    recrawling_figures_get(s.c, s.now, &f);
    assert_int_equal(f.forwarded, 1);
    struct c_host *h = table_get(&s.c->hosts, siphash(&s.c->key, waits->hosts[0]));
    CHECK("it leaves", h->network->state == NETWORK_LEAVING && h->network->next_agent != a->number);
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_channel_is_visited_again_when_its_ceiling_lets_it),
        TEST_IN_FOLDER(an_operators_word_is_kept),
        TEST_IN_FOLDER(new_channels_go_first_and_visits_keep_a_share),
        TEST_IN_FOLDER(an_agent_that_is_away_is_not_asked),
        TEST_IN_FOLDER(agents_that_never_work_at_the_same_time_have_their_turns),
        TEST_IN_FOLDER(a_paused_channel_leaves_and_comes_back_as_it_was),
        TEST_IN_FOLDER(a_person_is_obeyed_and_that_counts_as_a_visit),
        TEST_IN_FOLDER(a_network_moves_when_its_agent_has_no_slot_for_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
