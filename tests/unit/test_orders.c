/* What the coordinator tells its agents of tasks: networks that leave and come back, what is handed over with them, and
 * a disk that is full. A real coordinator on a real folder; the test plays the agents. Its threads run: from start() to
 * stop() the test has the lock, as whoever calls these functions must. */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/calls.h"
#include "coord/channels.h"
#include "coord/coord.h"
#include "coord/networks.h"
#include "coord/renumber.h"
#include "coord/reports.h"
#include "coord/state.h"
#include "io/clock.h"
#include "plan/frontier.h"
#include "plan/split.h"
#include "store/file.h"
#include "test_folder.h"

struct stage {
    struct coord *c;
    mono_ms now; /* of ticks */
};

static void start(struct stage *s)
{
    struct buf why = {0};
    const struct coord_opts o = {.data_dir = test_folder(),
                                 .addr = {4, {127, 0, 0, 1}},
                                 .admin_addr = {4, {127, 0, 0, 1}},
                                 .is_plain = true,
                                 .allow_private = true,
                                 .strategy = DELEGATE_HASH,
                                 .seed = 1,
                                 .version = SPAN("test")};
    if (coord_new(&o, &s->c, &why) != ST_OK)
        fail_msg("coordinator: %s", buf_cstr(&why));
    buf_done(&why);
    pthread_mutex_lock(&s->c->lock);
    s->now = clock_mono();
}

static void stop(struct stage *s)
{
    pthread_mutex_unlock(&s->c->lock);
    coord_free(s->c);
    s->c = NULL;
}

/* As after a kill: what is not written down is gone. */
static void kill_and_start(struct stage *s)
{
    CHECK_STATUS("from here on nothing is", fleet_begin(s->c->fleet), ST_OK);
    stop(s);
    start(s);
}

static void tick(struct stage *s)
{
    for (int i = 0; i < 5; i++)
        assign_tick(s->c, s->now += 1);
}

static struct c_agent *agent(struct stage *s, const char *name)
{
    struct buf line = {0}, why = {0};
    struct c_agent *a = agent_by_name(s->c, span_str(name));
    if (!a)
        CHECK_STATUS(name,
                     agent_add(s->c, &(struct agent_form){.name = span_str(name), .is_trusted = true}, &a, &line, &why),
                     ST_OK);
    a->is_joined = a->is_in_step = true;
    a->heard_mono = clock_mono();
    a->lease_until = s->now + 600000;
    a->activity = ACTIVITY_IDLE;
    save_agent(s->c, a);
    agent_tell_delegator(s->c, a);
    buf_done(&line);
    buf_done(&why);
    return a;
}

static struct c_host *host(struct stage *s, const char *name)
{
    return table_get(&s->c->hosts, siphash(&s->c->key, span_str(name)));
}

/* A channel of these sites, each in the network 127.1.N.0/24. */
struct site {
    const char *name;
    unsigned char network;
};

static struct c_channel *channel(struct stage *s, const struct site *sites, size_t n)
{
    char urls[8][64];
    struct span seeds[8];
    struct c_channel *ch = NULL;
    struct channel_form f = {.label = SPAN("a channel")};
    struct buf why = {0};
    for (size_t i = 0; i < n; i++) {
        snprintf(urls[i], sizeof(urls[i]), "http://%s/", sites[i].name);
        seeds[i] = span_str(urls[i]);
    }
    struct channel_opts o = {.seeds = seeds, .seed_count = n, .scope = SCOPE_SITE, .depth_max = 64};
    CHECK_STATUS("channel", channel_new(&o, &f.channel, &why), ST_OK);
    CHECK_STATUS("channel", channel_put(s->c, &f, &ch, &why), ST_OK);
    for (size_t i = 0; i < n; i++)
        assign_resolved(s->c, host(s, sites[i].name), ST_OK,
                        &(struct addr){4, {127, 1, sites[i].network, (unsigned char)(i + 1)}});
    tick(s);
    buf_done(&why);
    return ch;
}

/* A host as an agent packs it, with so many URLs of a kilobyte that wait. */
static void pack_host(const char *name, size_t urls, struct buf *out)
{
    struct sip_key key = {1, 2};
    struct frontier_opts o = {.pace = pace_default, .key = &key, .seed = 1};
    struct frontier *f = frontier_new(&o);
    struct arena a;
    char text[1100];
    arena_init(&a);
    for (size_t i = 0; i < urls; i++) {
        struct url u;
        int at = snprintf(text, sizeof(text), "http://%s/%zu/", name, i);
        memset(text + at, 'x', 1000);
        CHECK_STATUS("url", url_parse(&a, span_of(text, (size_t)at + 1000), NULL, &u), ST_OK);
        assert_int_equal(frontier_add(f, 1, &(struct frontier_url){.key = i + 1, .url = &u, .channel = 1}),
                         FRONTIER_OK);
    }
    CHECK_STATUS(name, frontier_take_host(f, 1, 1, span_str(name), out), ST_OK);
    frontier_free(f);
    arena_done(&a);
}

/* The agent carries out its orders; a task that ends hands over these hosts, each in a report of its own. */
static void confirm(struct stage *s, struct c_agent *a, struct c_task *t, const char *const *names, size_t n,
                    size_t urls)
{
    assert_true(t->end_order != 0);
    for (size_t i = 0; i < n; i++) {
        struct buf packed = {0};
        pack_host(names[i], urls, &packed);
        struct span part = buf_span(&packed);
        assign_outcome(s->c, a,
                       &(struct outcome){.number = t->end_order, .st = ST_AGAIN, .parts = &part, .part_count = 1});
        buf_done(&packed);
    }
    assign_outcome(s->c, a, &(struct outcome){.number = t->end_order, .st = ST_OK});
    a->orders_done = a->orders_given;
    CHECK_STATUS("done", fleet_orders_done(s->c->fleet, a->number, a->orders_done), ST_OK);
    save_agent(s->c, a);
    tick(s);
}

/* What an agent was told, in all orders that it has not carried out, as they are on the disk. */
struct told {
    uint64_t next; /* without gaps */
    unsigned tasks, ends, channels, settings;
    uint64_t ended; /* the last task of which an end was ordered */
    size_t largest, networks, seeds, hosts;
};

static status note_order(void *arg, uint64_t number, struct span packed)
{
    struct told *t = arg;
    struct order o;
    struct task_order task;
    struct arena a;
    arena_init(&a);
    assert_int_equal(number, t->next++);
    CHECK_STATUS("order", order_unpack(packed, &o), ST_OK);
    t->ends += o.kind == ORDER_END_TASK;
    t->settings += o.kind == ORDER_SETTINGS;
    if (o.kind == ORDER_END_TASK) {
        struct end_order end;
        CHECK_STATUS("end", end_order_unpack(&a, o.body, &end), ST_OK);
        t->ended = end.task;
    }
    if (o.kind == ORDER_TASK) {
        CHECK_STATUS("task", task_order_unpack(&a, o.body, &task), ST_OK);
        t->tasks++;
        t->channels += task.channel.n > 0;
        t->networks += task.network_count;
        t->seeds += task.seed_count;
        t->hosts += task.hosts_state_count;
    }
    t->largest = packed.n > t->largest ? packed.n : t->largest;
    arena_done(&a);
    return ST_OK;
}

static struct told told(struct stage *s, const struct c_agent *a)
{
    struct told t = {.next = a->orders_done + 1};
    CHECK_STATUS("orders", fleet_order_each(s->c->fleet, a->number, a->orders_done, note_order, &t), ST_OK);
    assert_int_equal(t.next, a->orders_given + 1);
    return t;
}

/* From here on fleet.db does not grow. */
static void fill_disk(struct stage *s, bool is_full)
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

static const struct site one_network[] = {{"a.example", 1}, {"b.example", 1}, {"c.example", 1}, {"d.example", 1}};
static const struct site two_networks[] = {{"a.example", 1}, {"b.example", 2}};
static const char *const names[] = {"a.example", "b.example", "c.example", "d.example"};

/* ---- tests ---- */

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

static void set_paused(struct stage *s, struct c_channel *ch, bool is_paused)
{
    ch->is_paused = is_paused;
    save_channel(s->c, ch);
    assign_channel_changed(s->c, ch);
    tick(s);
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

/* ---- what is written down as a whole ---- */

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
        TEST_IN_FOLDER(what_is_handed_over_goes_in_orders_that_agents_take),
        TEST_IN_FOLDER(hosts_of_all_networks_that_one_order_ended_are_handed_over),
        TEST_IN_FOLDER(what_cannot_be_written_down_is_ordered_later),
        TEST_IN_FOLDER(no_agent_hears_of_an_order_before_it_is_committed),
        TEST_IN_FOLDER(a_channel_that_was_paused_gets_back_what_waited),
        TEST_IN_FOLDER(what_a_paused_channel_would_have_brought_goes_with_another),
        TEST_IN_FOLDER(a_network_is_ordered_again_when_its_end_is_confirmed),
        TEST_IN_FOLDER(a_removed_agent_keeps_its_lease_through_a_restart),
        TEST_IN_FOLDER(a_link_is_told_once_to_the_next_owner),
        TEST_IN_FOLDER(all_networks_of_an_agent_leave_together),
        TEST_IN_FOLDER(all_networks_of_an_agent_that_vanished_are_given_away_together),
        TEST_IN_FOLDER(a_network_is_split_when_that_is_written_down),
        TEST_IN_FOLDER(orders_have_other_numbers_when_that_is_written_down),
        TEST_IN_FOLDER(an_end_that_is_done_without_a_word_is_one),
        TEST_IN_FOLDER(what_was_handed_over_to_a_number_that_is_lost_is_read_anew),
        TEST_IN_FOLDER(an_agent_that_is_ahead_is_told_what_it_should_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
