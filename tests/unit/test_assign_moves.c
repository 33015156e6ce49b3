/* test_assign_moves.c - networks that change hands: many at a time, and one that becomes parts. */
#include "orders_stage.h"

#include "coord/networks.h"
#include "plan/split.h"

static void a_removed_agent_keeps_its_lease_through_a_restart(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    (void)channel(&s, two_networks, 2);
    struct c_agent *to = agent(&s, "bergen");
    agent_remove(s.c, a);
    tick(&s);
    assert_int_equal(host(&s, "a.example")->network->state, NETWORK_LEAVING);
    kill_and_start(&s);
    to = agent(&s, "bergen");
    tick(&s);
    assert_int_equal(host(&s, "a.example")->network->state, NETWORK_LEAVING);
    s.now = s.c->started + COORD_LEASE_MS + COORD_LEASE_MS / 10;
    tick(&s);
    assert_int_equal(host(&s, "a.example")->network->agent, to->number);
    stop(&s);
}

static void a_link_is_told_once_to_the_next_owner(void **state)
{
    struct stage s = {0};
    struct arena a;
    struct url u;
    start(&s);
    struct c_agent *from = agent(&s, "athens");
    struct c_channel *ch = channel(&s, one_network, 4);
    arena_init(&a);
    for (int i = 0; i < 4; i++) {
        char text[64];
        snprintf(text, sizeof(text), "http://%s/found", names[i]);
        CHECK_STATUS("url", url_parse(&a, span_str(text), NULL, &u), ST_OK);
        channels_link(s.c, &u);
    }
    tick(&s);
    struct c_agent *to = agent(&s, "bergen");
    agent_set_state(s.c, from, AGENT_DRAIN);
    tick(&s);
    confirm(&s, from, ch->tasks[0], names, 4, 1);
    assert_int_equal(host(&s, "a.example")->network->agent, to->number);
    assert_int_equal(told(&s, to).seeds, 4);
    arena_done(&a);
    stop(&s);
}

/* ---- a name whose addresses are another's each time ---- */

/* One has it in every channel that reaches it, and the other knows that. */
static void check_many(struct stage *s, const char *label, const struct c_agent *has, const struct c_agent *has_not)
{
    uint64_t tasks[2] = {0, 0};
    for (size_t i = 0; i < s->c->task_count; i++)
        tasks[s->c->tasks[i]->agent == has->number] |= UINT64_C(1) << s->c->tasks[i]->number;
    struct told one = told(s, has), other = told(s, has_not);
    assert_int_equal(host(s, "many.example")->pinned_agent, has->number);
    CHECK(label, one.pinned == tasks[1] && one.others == 0);
    CHECK(label, other.pinned == 0 && other.others == tasks[0]);
}

static void move_to(struct stage *s, struct c_network *n, struct c_agent *from, const struct c_agent *to)
{
    static const char *const packed[] = {"b.example"};
    CHECK_STATUS("move", assign_move(s->c, n, to->number, MOVE_PERSON, "a test"), ST_OK);
    tick(s);
    for (size_t i = 0; i < s->c->task_count; i++)
        if (s->c->tasks[i]->end_order)
            confirm(s, from, s->c->tasks[i], packed, 1, 1);
    assert_int_equal(n->agent, to->number);
}

static void a_host_that_strays_has_one_agent_and_the_others_know(void **state)
{
    static const struct site sites[] = {{"a.example", 1}, {"b.example", 2}, {"c.example", 3}, {"many.example", 1}};
    static const struct addr at[] = {{4, {127, 1, 1, 9}}, {4, {127, 1, 2, 9}}};
    struct stage s = {0};
    start(&s);
    struct c_agent *athens = agent(&s, "athens");
    struct c_channel *ch = channel(&s, sites, 4);
    (void)channel(&s, sites, 4);
    struct c_agent *bergen = agent(&s, "bergen");
    struct c_network *n = host(&s, "b.example")->network;
    move_to(&s, n, athens, bergen);
    move_to(&s, host(&s, "c.example")->network, athens, bergen);
    for (int i = 0; i <= COORD_STRAYS_MAX; i++) {
        assign_stray(s.c, i % 2 ? bergen : athens, ch->tasks[i % 2], SPAN("many.example"), &at[1 - i % 2]);
        tick(&s);
    }
    check_many(&s, "it strayed too often", bergen, athens);
    /* It goes with its network: who had it hears that it is his no more. */
    move_to(&s, n, bergen, athens);
    check_many(&s, "its network moved", athens, bergen);
    stop(&s);
}

/* ---- many networks that leave ---- */

#define MANY 6

static size_t times_in(struct c_network *const *list, size_t count, const struct c_network *n)
{
    size_t times = 0;
    for (size_t i = 0; i < count; i++)
        times += list[i] == n;
    return times;
}

/* Counted anew, over all tasks: who has which network. */
static void check_fleet(struct stage *s, const char *label)
{
    size_t at = 0;
    for (struct c_network *n; (n = table_next(&s->c->networks, &at));) {
        size_t ending = 0;
        for (size_t i = 0; i < s->c->task_count; i++) {
            const struct c_task *t = s->c->tasks[i];
            size_t has = times_in(t->networks, t->network_count, n), ends = times_in(t->ending, t->ending_count, n);
            CHECK(label, has <= 1 && ends <= 1);
            CHECK(label, !has || (n->state == NETWORK_OWNED && n->agent == t->agent));
            CHECK(label, !ends || n->agent == t->agent);
            ending += ends;
        }
        assert_int_equal(n->leaving, ending);
        CHECK(label, !n->is_going);
    }
}

/* A channel over all networks, one in each, and one that is paused and has not ended yet. */
static void many_channels(struct stage *s, struct c_channel *ch[MANY + 2])
{
    char text[MANY][16];
    struct site sites[MANY];
    for (size_t i = 0; i < MANY; i++) {
        snprintf(text[i], sizeof(text[i]), "h%zu.example", i);
        sites[i] = (struct site){text[i], (unsigned char)(i + 1)};
    }
    ch[MANY] = channel(s, sites, MANY);
    for (size_t i = 0; i < MANY; i++) {
        snprintf(text[i], sizeof(text[i]), "g%zu.example", i);
        ch[i] = channel(s, &sites[i], 1);
    }
    snprintf(text[0], sizeof(text[0]), "p.example");
    ch[MANY + 1] = channel(s, sites, 1);
    set_paused(s, ch[MANY + 1], true);
}

static void all_networks_of_an_agent_leave_together(void **state)
{
    struct stage s = {0};
    struct c_channel *ch[MANY + 2];
    start(&s);
    struct c_agent *from = agent(&s, "athens");
    many_channels(&s, ch);
    check_fleet(&s, "before");
    struct c_agent *to = agent(&s, "bergen");
    struct c_network *stays = host(&s, "h5.example")->network;
    CHECK_STATUS("one goes before", assign_move(s.c, stays, to->number, MOVE_PERSON, "a test"), ST_OK);
    check_fleet(&s, "one");
    agent_set_state(s.c, from, AGENT_DRAIN);
    check_fleet(&s, "all");
    CHECK("its aim stays", stays->next_agent == to->number && stays->move == MOVE_PERSON);
    assert_int_equal(ch[MANY]->tasks[0]->ending_count, MANY);
    assert_int_equal(host(&s, "h0.example")->network->leaving, 3);
    assert_int_equal(host(&s, "h1.example")->network->leaving, 2);
    tick(&s);
    for (size_t i = 0; i < MANY + 2; i++) {
        struct c_task *t = ch[i]->tasks[0];
        if (t->end_order)
            confirm(&s, from, t, NULL, 0, 0);
        check_fleet(&s, "an end");
    }
    size_t at = 0;
    for (struct c_network *n; (n = table_next(&s.c->networks, &at));)
        CHECK(n->text, n->state == NETWORK_OWNED && n->agent == to->number && !n->was_lost);
    assert_int_equal(from->networks, 0);
    assert_int_equal(to->networks, MANY);
    stop(&s);
}

static void all_networks_of_an_agent_that_vanished_are_given_away_together(void **state)
{
    struct stage s = {0};
    struct c_channel *ch[MANY + 2];
    start(&s);
    struct c_agent *from = agent(&s, "athens");
    many_channels(&s, ch);
    from->orders_done = from->orders_given;
    struct c_agent *to = agent(&s, "bergen");
    assign_leave_agent(s.c, from->number, "it is not heard");
    check_fleet(&s, "leaving");
    from->lease_until = s.now;
    to->lease_until = s.now + 600000;
    s.c->orders_again = s.now + 1000000; /* so that it is told nothing of ends before */
    tick(&s);
    check_fleet(&s, "expired");
    size_t at = 0;
    for (struct c_network *n; (n = table_next(&s.c->networks, &at));)
        CHECK(n->text, n->state == NETWORK_OWNED && n->agent == to->number && n->was_lost);
    /* Each task of the old one: one order about all that it never was told of, and what it brings is taken till then.
     */
    assert_int_equal(told(&s, from).ends, MANY + 1);
    for (size_t i = 0; i <= MANY; i++) {
        const struct c_task *t = ch[i]->tasks[0];
        assert_int_equal(t->late_count, i == MANY ? MANY : 1);
        CHECK("listened to until", t->late_order > from->orders_done && t->late_order <= from->orders_given);
        CHECK("ended", t->is_ended && !t->end_order && !t->end_asked);
    }
    stop(&s);
}

/* ---- a network that is split ---- */

/* Hosts whose domains are in parts of both agents. */
static void plan_split(struct c_network *n, const struct c_agent *one, const struct c_agent *two)
{
    n->split = mem_alloc(sizeof(*n->split));
    for (unsigned i = 0; i < SPLIT_PARTS; i++)
        n->split->agent[i] = two->number;
    n->split->agent[split_part(SPAN("a.example"))] = one->number;
}

static void check_not_split(struct stage *s, const char *label)
{
    struct c_network *n = host(s, "a.example")->network;
    CHECK(label, n->state == NETWORK_LEAVING && n->split && !n->part_count && !n->network.parts);
    CHECK(label, n->host_count == 4 && n->handed_over && s->c->networks.n == 1);
    for (int i = 0; i < 4; i++)
        CHECK(names[i], host(s, names[i])->network == n);
    for (size_t i = 0; i < s->c->agent_count; i++)
        assert_int_equal(s->c->agents[i]->networks, i == 0);
}

static void a_network_is_split_when_that_is_written_down(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *from = agent(&s, "athens");
    struct c_channel *ch = channel(&s, one_network, 4);
    struct c_agent *to = agent(&s, "bergen");
    struct c_network *n = host(&s, "a.example")->network;
    plan_split(n, from, to);
    CHECK_STATUS("move", assign_move(s.c, n, 0, MOVE_BALANCED, "a test"), ST_OK);
    tick(&s);
    struct c_task *t = ch->tasks[0];
    for (int i = 0; i < 4; i++) {
        struct buf packed = {0};
        pack_host(names[i], 3, &packed);
        struct span part = buf_span(&packed);
        assign_outcome(s.c, from,
                       &(struct outcome){.number = t->end_order, .st = ST_AGAIN, .parts = &part, .part_count = 1});
        buf_done(&packed);
    }
    assign_outcome(s.c, from, &(struct outcome){.number = t->end_order, .st = ST_OK});
    from->orders_done = from->orders_given;
    CHECK_STATUS("done", fleet_orders_done(s.c->fleet, from->number, from->orders_done), ST_OK);
    save_agent(s.c, from);
    uint64_t blobs = s.c->blobs;

    fill_disk(&s, true);
    tick(&s);
    fill_disk(&s, false);
    check_not_split(&s, "the disk is full");
    assert_int_equal(s.c->blobs, blobs);
    tick(&s);
    check_not_split(&s, "not at once");
    kill_and_start(&s);
    from = agent(&s, "athens");
    to = agent(&s, "bergen");
    check_not_split(&s, "after a kill");

    fill_disk(&s, true);
    tick(&s);
    fill_disk(&s, false);
    check_not_split(&s, "full again");
    s.now += 2000;
    tick(&s);
    for (int turn = 0; turn < 2; turn++) { /* as it is, and after a kill */
        n = network_find(s.c, &(struct addr){4, {127, 1, 1, 1}});
        CHECK("split", n->state == NETWORK_SPLIT && n->part_count == 2 && !n->host_count && !n->agent);
        assert_int_equal(host(&s, "a.example")->network->agent, from->number);
        assert_int_equal(host(&s, "b.example")->network->agent, to->number);
        if (turn == 0)
            kill_and_start(&s);
        from = agent(&s, "athens");
        to = agent(&s, "bergen");
    }
    struct told told_from = told(&s, from), told_to = told(&s, to);
    assert_int_equal(told_from.hosts + told_to.hosts, 4);
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_removed_agent_keeps_its_lease_through_a_restart),
        TEST_IN_FOLDER(a_link_is_told_once_to_the_next_owner),
        TEST_IN_FOLDER(a_host_that_strays_has_one_agent_and_the_others_know),
        TEST_IN_FOLDER(all_networks_of_an_agent_leave_together),
        TEST_IN_FOLDER(all_networks_of_an_agent_that_vanished_are_given_away_together),
        TEST_IN_FOLDER(a_network_is_split_when_that_is_written_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
