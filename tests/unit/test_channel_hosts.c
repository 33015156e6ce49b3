/* The hosts that a channel is known to reach, through kills and in folders of before. */
#include "orders_stage.h"

#include "coord/placing.h"

static struct c_channel *the_channel(struct stage *s)
{
    size_t at = 0;
    return table_next(&s->c->channels, &at);
}

static void reach(struct stage *s, struct c_channel *ch, unsigned from, unsigned to)
{
    char name[32];
    for (unsigned i = from; i < to; i++) {
        snprintf(name, sizeof(name), "h%u.a.example", i);
        assert_non_null(assign_host(s->c, ch, span_str(name)));
    }
}

/* The seed's host, then h0 to h(N-1), in this order, each knowing its channel. */
static void check_hosts(struct stage *s, const char *label, unsigned n)
{
    char name[32];
    struct c_channel *ch = the_channel(s);
    CHECK(label, ch && ch->host_count == n + 1);
    for (unsigned i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "h%u.a.example", i);
        CHECK(name, span_is(ch->hosts[i + 1], name));
        const struct c_host *h = host(s, name);
        CHECK(name, h && h->channel_count == 1 && h->channels[0] == ch);
    }
}

static void many_hosts_are_known_after_a_kill(void **state)
{
    static const unsigned counts[] = {1, 62, 63, 64, 65, 127, 128, 300};
    struct stage s = {0};
    unsigned known = 0;
    start(&s);
    (void)channel(&s, one_network, 1);
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        reach(&s, the_channel(&s), known, counts[i]);
        known = counts[i];
        kill_and_start(&s);
        check_hosts(&s, "after a kill", known);
        if (i % 2) /* what is in the record and what stands beside it is one list */
            save_channel(s.c, the_channel(&s));
    }
    stop(&s);
}

struct sizes {
    uint64_t bytes;
    size_t records;
};

static status add_size(void *arg, struct span key, struct span packed)
{
    struct sizes *t = arg;
    t->bytes += packed.n;
    t->records++;
    return ST_OK;
}

static void a_host_more_writes_little(void **state)
{
    struct stage s = {0};
    struct sizes t = {0};
    start(&s);
    struct c_channel *ch = channel(&s, one_network, 1);
    reach(&s, ch, 0, 5000);
    CHECK_STATUS("channels", fleet_each(s.c->fleet, FLEET_CHANNEL, add_size, &t), ST_OK);
    /* One record, and pieces that are written anew at most 64 times each. */
    assert_int_equal(t.records, 1 + 5001 / 64 + 1);
    CHECK("of a piece", t.bytes / (t.records - 1) < 64 * 32);
    stop(&s);
}

static void a_channel_that_is_removed_leaves_no_hosts(void **state)
{
    struct stage s = {0};
    struct sizes t = {0};
    start(&s);
    struct c_channel *ch = channel(&s, one_network, 1);
    reach(&s, ch, 0, 200);
    channel_remove(s.c, ch);
    for (int i = 0; i < 5 && s.c->channels.n; i++) {
        tick(&s);
        channels_tick(s.c, clock_wall());
    }
    assert_int_equal(s.c->channels.n, 0);
    CHECK_STATUS("channels", fleet_each(s.c->fleet, FLEET_CHANNEL, add_size, &t), ST_OK);
    assert_int_equal(t.records, 0);
    ch = channel(&s, one_network, 1);
    kill_and_start(&s);
    check_hosts(&s, "added again", 0);
    stop(&s);
}

static void a_full_channel_takes_links_to_hosts_that_it_has(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_channel *ch = channel(&s, one_network, 1);
    reach(&s, ch, 0, 1);
    size_t count = ch->host_count;
    ch->host_count = COORD_HOSTS_A_CHANNEL;
    assert_non_null(assign_host(s.c, ch, SPAN("h0.a.example")));
    assert_null(assign_host(s.c, ch, SPAN("h1.a.example")));
    assert_null(host(&s, "h1.a.example"));
    ch->host_count = count;
    stop(&s);
}

/* How long after a failed lookup the host is looked up again. */
static int64_t fails(struct stage *s, struct c_host *h)
{
    mono_ms before = clock_mono();
    h->state = HOST_ASKED;
    assign_resolved(s->c, h, ST_DNS, NULL);
    CHECK("failed", h->state == HOST_FAILED);
    return h->retry_at - before;
}

/* Looks through all hosts, at a time when each of them may be due. */
static bool is_asked_again(struct stage *s, const struct c_host *h)
{
    s->now += 7 * 86400000ll;
    assign_tick(s->c, s->now);
    return h->state != HOST_FAILED;
}

static void a_name_that_leads_nowhere_is_asked_for_less_and_less(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_channel *ch = channel(&s, one_network, 1);
    reach(&s, ch, 0, 1);
    struct c_host *h = host(&s, "h0.a.example");
    int64_t first = fails(&s, h), second = fails(&s, h), last = 0;
    CHECK("soon", first >= COORD_RETRY_HOST_MS && first < 2 * COORD_RETRY_HOST_MS);
    CHECK("less", second >= 2 * COORD_RETRY_HOST_MS);
    for (int i = 0; i < 100; i++)
        last = fails(&s, h);
    CHECK("once a day", last >= 86400000ll && last < 2 * 86400000ll);
    CHECK("again", is_asked_again(&s, h));
    /* Once it was found it begins anew. */
    assign_resolved(s.c, h, ST_OK, &(struct addr){4, {127, 1, 1, 7}});
    h->network = NULL;
    CHECK("soon again", fails(&s, h) < 2 * COORD_RETRY_HOST_MS);
    stop(&s);
}

static void an_operator_who_adds_it_again_need_not_wait(void **state)
{
    struct stage s = {0};
    static const struct site nowhere[] = {{"nowhere.example", 9}};
    start(&s);
    struct c_channel *ch = channel(&s, nowhere, 1);
    struct c_host *h = host(&s, "nowhere.example");
    h->network->host_count = 0;
    h->network = NULL;
    for (int i = 0; i < 20; i++)
        (void)fails(&s, h);
    struct span seed = SPAN("http://nowhere.example/");
    struct channel_opts o = {.seeds = &seed, .seed_count = 1, .scope = SCOPE_SITE, .depth_max = 64};
    struct channel_form f = {.label = SPAN("again")};
    struct buf why = {0};
    CHECK_STATUS("channel", channel_new(&o, &f.channel, &why), ST_OK);
    CHECK_STATUS("channel", channel_put(s.c, &f, &ch, &why), ST_OK);
    CHECK("due at once", h->retry_at <= clock_mono());
    CHECK("asked", is_asked_again(&s, h));
    buf_done(&why);
    stop(&s);
}

static void remove_it(struct stage *s, struct c_channel *ch)
{
    size_t left = s->c->channels.n - 1;
    channel_remove(s->c, ch);
    for (int i = 0; i < 5 && s->c->channels.n > left; i++) {
        tick(s);
        channels_tick(s->c, clock_wall());
    }
    assert_int_equal(s->c->channels.n, left);
}

/* Whether the agent is asked how far the network is. */
static bool is_probed(struct stage *s, struct c_network *n, struct c_agent *a)
{
    uint64_t given = a->orders_given;
    placing_look(s->c, n, a);
    return a->orders_given > given;
}

static void nobody_asks_a_site_whose_channel_was_removed(void **state)
{
    static const struct site other[] = {{"z.example", 1}};
    struct stage s = {0};
    struct sizes t = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = channel(&s, one_network, 4);
    struct c_network *n = host(&s, "a.example")->network;
    CHECK("while it is crawled", is_probed(&s, n, a));
    (void)channel(&s, other, 1);
    assert_int_equal(n->host_count, 5);
    for (size_t i = 0; i < ch->task_count; i++) /* it has stopped */
        ch->tasks[i]->is_ended = true;
    remove_it(&s, ch);
    CHECK("its hosts are gone", !host(&s, "a.example") && !host(&s, "d.example"));
    CHECK("that of another channel is not", n->host_count == 1 && host(&s, "z.example")->network == n);
    CHECK("which may be asked", is_probed(&s, n, a));
    CHECK_STATUS("hosts", fleet_each(s.c->fleet, FLEET_HOST, add_size, &t), ST_OK);
    assert_int_equal(t.records, 1);
    /* One that a kill left behind goes with the next start. */
    save_host(s.c, &(struct c_host){.name = "left.example", .state = HOST_FAILED});
    kill_and_start(&s);
    CHECK("left behind", !host(&s, "left.example") && host(&s, "z.example"));
    stop(&s);
}

static void nobody_asks_a_site_that_is_forgotten(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    (void)channel(&s, one_network, 2);
    struct c_network *n = host(&s, "a.example")->network;
    CHECK("before", is_probed(&s, n, a));
    CHECK_STATUS("forget", places_add(s.c->forgotten, SPAN("a.example"), NULL), ST_OK);
    CHECK("its neighbour may be asked", is_probed(&s, n, a));
    CHECK_STATUS("forget", places_add(s.c->forgotten, SPAN(".example"), NULL), ST_OK);
    CHECK("nobody may", !is_probed(&s, n, a));
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(many_hosts_are_known_after_a_kill),
        TEST_IN_FOLDER(a_host_more_writes_little),
        TEST_IN_FOLDER(a_channel_that_is_removed_leaves_no_hosts),
        TEST_IN_FOLDER(a_full_channel_takes_links_to_hosts_that_it_has),
        TEST_IN_FOLDER(a_name_that_leads_nowhere_is_asked_for_less_and_less),
        TEST_IN_FOLDER(an_operator_who_adds_it_again_need_not_wait),
        TEST_IN_FOLDER(nobody_asks_a_site_whose_channel_was_removed),
        TEST_IN_FOLDER(nobody_asks_a_site_that_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
