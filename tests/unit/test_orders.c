/* test_orders.c - what the coordinator tells its agents of tasks: networks that leave and come back, what is handed
 * over with them, and a disk that is full. */
#include "orders_stage.h"

#include "coord/forgetting.h"
#include "store/file.h"

static void what_is_handed_over_goes_in_orders_that_agents_take(void **state)
{
    struct stage s = {0};
    struct buf answer = {0};
    start(&s);
    struct c_agent *from = agent(&s, "athens");
    struct c_channel *ch = channel(&s, one_network, 4);
    struct c_agent *to = agent(&s, "bergen");
    struct c_network *n = host(&s, "a.example")->network;
    CHECK_STATUS("move", assign_move(s.c, n, to->number, MOVE_PERSON, "a test"), ST_OK);
    tick(&s);
    confirm(&s, from, ch->tasks[0], names, 4, 400); /* 1.6 MB */
    struct told t = told(&s, to);
    CHECK("each can be taken", t.largest <= CONTROL_BYTES_MAX);
    CHECK("several", t.tasks > 1);
    assert_int_equal(t.hosts, 4);
    assert_int_equal(t.networks, 1);
    assert_int_equal(t.channels, 1);
    assert_int_equal(n->handed_over, 0);
    while (to->orders_done < to->orders_given) {
        struct arena a;
        struct poll_answer p;
        arena_init(&a);
        buf_clear(&answer);
        polls_answer(s.c, to, &answer);
        CHECK("an answer can be taken", answer.n <= CONTROL_BYTES_MAX);
        CHECK_STATUS("answer", poll_answer_unpack(&a, buf_span(&answer), &p), ST_OK);
        assert_true(p.order_count > 0);
        to->orders_done += p.order_count;
        arena_done(&a);
    }
    buf_done(&answer);
    stop(&s);
}

static void hosts_of_all_networks_that_one_order_ended_are_handed_over(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *from = agent(&s, "athens");
    struct c_channel *ch = channel(&s, two_networks, 2);
    struct c_agent *to = agent(&s, "bergen");
    agent_set_state(s.c, from, AGENT_DRAIN);
    tick(&s);
    confirm(&s, from, ch->tasks[0], names, 2, 3);
    struct told t = told(&s, to);
    assert_int_equal(t.hosts, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(host(&s, names[i])->network->handed_over, 0);
    stop(&s);
}

static void what_cannot_be_written_down_is_ordered_later(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *from = agent(&s, "athens");
    struct c_channel *ch = channel(&s, two_networks, 2);
    struct c_agent *to = agent(&s, "bergen");
    agent_set_state(s.c, from, AGENT_DRAIN);
    tick(&s);
    struct c_task *old = ch->tasks[0];
    s.c->orders_again = s.now + 1000000; /* so that all is there but the orders */
    confirm(&s, from, old, names, 2, 3);
    struct c_task *t = ch->tasks[1];
    assert_int_equal(t->handed_count, 2);
    assign_seed(s.c, ch, host(&s, "a.example"), SPAN("http://a.example/seed"));
    save_task(s.c, t);
    uint64_t given = to->orders_given;
    size_t seeds = t->seed_count;

    s.c->orders_again = 0;
    fill_disk(&s, true);
    tick(&s);
    fill_disk(&s, false);
    assert_int_equal(to->orders_given, given);
    assert_int_equal(told(&s, to).tasks, 0);
    assert_true(t->is_dirty);
    assert_int_equal(t->handed_count, 2);
    assert_int_equal(t->seed_count, seeds);
    assert_true(host(&s, "a.example")->network->handed_over && host(&s, "b.example")->network->handed_over);

    /* Not at once; and a kill in between changes nothing. */
    uint64_t id = ch->id;
    kill_and_start(&s);
    to = agent(&s, "bergen");
    assert_int_equal(channel_get(s.c, id)->tasks[1]->handed_count, 2);
    fill_disk(&s, true);
    tick(&s);
    fill_disk(&s, false);
    tick(&s);
    assert_int_equal(to->orders_given, given);
    s.now += 2000;
    tick(&s);
    struct told now = told(&s, to);
    assert_int_equal(now.hosts, 2);
    assert_true(now.seeds >= 1);
    stop(&s);
}

static void no_agent_hears_of_an_order_before_it_is_committed(void **state)
{
    struct stage s = {0};
    struct c_poll poll = {0}; /* answered, it would be freed */
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    uint64_t given = a->orders_given;
    a->poll = &poll;
    CHECK_STATUS("begin", fleet_begin(s.c->fleet), ST_OK);
    agent_order(s.c, a, ORDER_REKEY, SPAN(""));
    CHECK("it still waits", a->poll == &poll);
    fleet_rollback(s.c->fleet);
    a->poll = NULL;
    a->orders_given = given;
    agent_order(s.c, a, ORDER_REKEY, SPAN(""));
    assert_int_equal(told(&s, a).next, given + 2);
    fill_disk(&s, true);
    agent_order(s.c, a, ORDER_REKEY, SPAN(""));
    fill_disk(&s, false);
    assert_int_equal(a->orders_given, given + 1);
    agent_order(s.c, a, ORDER_REKEY, SPAN(""));
    assert_int_equal(told(&s, a).next, given + 3);
    stop(&s);
}

static void a_channel_that_was_paused_gets_back_what_waited(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = channel(&s, two_networks, 2);
    a->orders_done = a->orders_given;
    set_paused(&s, ch, true);
    assert_int_equal(told(&s, a).ends, 1);
    confirm(&s, a, ch->tasks[0], names, 2, 3);
    assert_true(host(&s, "a.example")->network->handed_over != 0);
    uint64_t id = ch->id;
    kill_and_start(&s);
    a = agent(&s, "athens");
    ch = channel_get(s.c, id);
    assert_int_equal(told(&s, a).tasks, 0);
    set_paused(&s, ch, false);
    struct told t = told(&s, a);
    assert_int_equal(t.networks, 2);
    assert_int_equal(t.hosts, 2);
    assert_int_equal(host(&s, "a.example")->network->handed_over, 0);
    stop(&s);
}

/* Whether the files of fleet.db have these bytes somewhere, also where nothing is any more. */
static bool is_on_disk(const char *text)
{
    static const char *const files[] = {"fleet.db", "fleet.db-wal"};
    bool is_there = false;
    for (size_t i = 0; i < 2; i++) {
        char path[TEST_PATH];
        struct buf bytes = {0};
        test_path(path, files[i]);
        CHECK_STATUS(path, file_read(path, 64u << 20, &bytes), ST_OK);
        is_there |= span_search(buf_span(&bytes), span_str(text), false) < bytes.n;
        buf_done(&bytes);
    }
    return is_there;
}

static void nothing_that_waits_is_left_of_a_forgotten_place(void **state)
{
    static const char *const left[] = {"/of-a-order", "/of-a-told", "/of-a-task", "/of-a-handed"};
    struct stage s = {0};
    struct buf told_urls = {0}, packed = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = channel(&s, two_networks, 2);
    a->orders_done = a->orders_given;
    /* In an order, and in what comes with the next. */
    assign_seed(s.c, ch, host(&s, "a.example"), SPAN("http://a.example/of-a-order"));
    tick(&s);
    told_order_pack(&(struct told_order){.task = ch->tasks[0]->number,
                                         .urls = SPAN("http://a.example/of-a-told\nhttp://b.example/of-b-told\n")},
                    &told_urls);
    agent_order(s.c, a, ORDER_TOLD, buf_span(&told_urls));
    assign_seed(s.c, ch, host(&s, "a.example"), SPAN("http://a.example/of-a-task"));
    assign_seed(s.c, ch, host(&s, "b.example"), SPAN("http://b.example/of-b-task"));
    save_task(s.c, ch->tasks[0]);
    /* In a queue that was handed over. */
    set_paused(&s, ch, true);
    struct frontier_opts fo = {.pace = pace_default, .key = &s.c->key, .seed = 1};
    for (size_t i = 0; i < 2; i++) {
        struct frontier *f = frontier_new(&fo);
        struct arena arena;
        struct url u;
        char text[64];
        arena_init(&arena);
        snprintf(text, sizeof(text), "http://%s/of-%c-handed", names[i], 'a' + (int)i);
        CHECK_STATUS(text, url_parse(&arena, span_str(text), NULL, &u), ST_OK);
        assert_int_equal(frontier_add(f, 1, &(struct frontier_url){.key = i + 1, .url = &u, .channel = ch->id}),
                         FRONTIER_OK);
        buf_clear(&packed);
        CHECK_STATUS(text, frontier_take_host(f, 1, 1, span_str(names[i]), &packed), ST_OK);
        struct span part = buf_span(&packed);
        assign_outcome(
            s.c, a,
            &(struct outcome){.number = ch->tasks[0]->end_order, .st = ST_AGAIN, .parts = &part, .part_count = 1});
        frontier_free(f);
        arena_done(&arena);
    }
    assert_true(host(&s, "a.example")->network->handed_over && host(&s, "b.example")->network->handed_over);
    for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
        CHECK(left[i], is_on_disk(left[i]));

    CHECK_STATUS("forget", places_add(s.c->forgotten, SPAN("a.example"), NULL), ST_OK);
    CHECK_STATUS("purge", forgetting_purge_fleet(s.c->fleet, s.c->forgotten), ST_OK);
    for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
        CHECK(left[i], !is_on_disk(left[i]));
    CHECK("of its neighbour", is_on_disk("/of-b-told") && is_on_disk("/of-b-task") && is_on_disk("/of-b-handed"));
    struct told t = told(&s, a);
    CHECK("orders have their numbers", t.next == a->orders_given + 1);
    buf_done(&told_urls);
    buf_done(&packed);
    stop(&s);
}

static void what_a_paused_channel_would_have_brought_goes_with_another(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *from = agent(&s, "athens");
    struct c_channel *ch[2];
    for (int i = 0; i < 2; i++)
        ch[i] = channel(&s, &one_network[i], 1);
    struct c_agent *to = agent(&s, "bergen");
    struct c_network *n = host(&s, "a.example")->network;
    CHECK_STATUS("move", assign_move(s.c, n, to->number, MOVE_PERSON, "a test"), ST_OK);
    tick(&s);
    s.c->orders_again = s.now + 1000000;
    confirm(&s, from, ch[0]->tasks[0], names, 0, 0);
    confirm(&s, from, ch[1]->tasks[0], names, 2, 3);
    s.c->orders_again = 0;
    int brings = ch[1]->tasks[1]->handed_count == 1;
    assert_int_equal(ch[brings]->tasks[1]->handed_count, 1);
    set_paused(&s, ch[brings], true);
    assert_int_equal(ch[brings]->tasks[1]->handed_count, 0);
    struct told t = told(&s, to);
    assert_int_equal(t.tasks, 1);
    assert_int_equal(t.hosts, 2);
    stop(&s);
}

static void a_network_is_ordered_again_when_its_end_is_confirmed(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = channel(&s, two_networks, 2);
    struct c_task *task = ch->tasks[0];
    a->orders_done = a->orders_given;
    set_paused(&s, ch, true);
    set_paused(&s, ch, false);
    set_paused(&s, ch, true); /* somebody plays with it */
    set_paused(&s, ch, false);
    struct told t = told(&s, a);
    assert_int_equal(t.ends, 1);
    assert_int_equal(t.tasks, 0);
    confirm(&s, a, task, names, 2, 3);
    t = told(&s, a);
    assert_int_equal(t.tasks, 1);
    assert_int_equal(t.networks, 2);
    assert_int_equal(t.hosts, 2);
    assert_int_equal(t.ends, 0);

    /* Within one tick; and then it has to leave altogether. */
    struct c_agent *to = agent(&s, "bergen");
    a->orders_done = a->orders_given;
    ch->is_paused = true;
    assign_channel_changed(s.c, ch);
    set_paused(&s, ch, false);
    assert_int_equal(told(&s, a).ends, 1);
    agent_set_state(s.c, a, AGENT_DRAIN);
    tick(&s);
    assert_int_equal(told(&s, to).tasks, 0);
    confirm(&s, a, task, names, 2, 3);
    assert_int_equal(told(&s, a).ends, 0);
    assert_int_equal(told(&s, to).hosts, 2);
    assert_true(task->is_ended);
    assert_int_equal(host(&s, "a.example")->network->leaving, 0);
    assert_int_equal(host(&s, "a.example")->network->agent, to->number);
    stop(&s);
}

static void what_a_full_disk_did_not_take_is_written_later(void **state)
{
    struct stage s = {0};
    start(&s);
    (void)agent(&s, "athens");
    struct c_agent *b = agent(&s, "bergen");
    fill_disk(&s, true);
    agent_remove(s.c, agent_by_name(s.c, SPAN("athens")));
    agent_set_state(s.c, b, AGENT_PAUSE);
    uint64_t id = channel(&s, two_networks, 2)->id;
    unsigned long long troubles = atomic_load(&s.c->troubles);
    records_save_again(s.c);
    CHECK("one line in the log, for the first of them", atomic_load(&s.c->troubles) == troubles + 1);
    fill_disk(&s, false);
    records_save_again(s.c);
    assert_int_equal(s.c->unsaved.n, 0);
    kill_and_start(&s);
    CHECK("it stays removed", !agent_by_name(s.c, SPAN("athens")));
    CHECK("and paused", agent_by_name(s.c, SPAN("bergen"))->settings.state == AGENT_PAUSE);
    const struct c_channel *ch = channel_get(s.c, id);
    CHECK("and added, with its hosts", ch && ch->host_count == 2 && host(&s, "a.example") && host(&s, "b.example"));
    CHECK("in their networks", host(&s, "a.example")->network && host(&s, "b.example")->network);
    stop(&s);
}

static void nobody_is_missed_before_there_was_time_to_call(void **state)
{
    struct stage s = {0};
    start(&s);
    (void)agent(&s, "athens");
    stop(&s);
    start(&s);
    struct c_agent *a = agent_by_name(s.c, SPAN("athens"));
    agents_tick(s.c, clock_mono());
    CHECK("just started", !a->was_away && !agent_is_there(s.c, a));
    s.c->started -= 2 * COORD_MOVE_AFTER_MS;
    agents_tick(s.c, clock_mono());
    CHECK("for too long", a->was_away);
    a->heard_mono = clock_mono();
    agents_tick(s.c, clock_mono());
    CHECK("back", !a->was_away);
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(what_is_handed_over_goes_in_orders_that_agents_take),
        TEST_IN_FOLDER(hosts_of_all_networks_that_one_order_ended_are_handed_over),
        TEST_IN_FOLDER(what_cannot_be_written_down_is_ordered_later),
        TEST_IN_FOLDER(no_agent_hears_of_an_order_before_it_is_committed),
        TEST_IN_FOLDER(a_channel_that_was_paused_gets_back_what_waited),
        TEST_IN_FOLDER(nothing_that_waits_is_left_of_a_forgotten_place),
        TEST_IN_FOLDER(what_a_paused_channel_would_have_brought_goes_with_another),
        TEST_IN_FOLDER(a_network_is_ordered_again_when_its_end_is_confirmed),
        TEST_IN_FOLDER(what_a_full_disk_did_not_take_is_written_later),
        TEST_IN_FOLDER(nobody_is_missed_before_there_was_time_to_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
