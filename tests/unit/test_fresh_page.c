#include "house.h"

#include "coord/admin_fresh.h"
#include "coord/channels.h"
#include "io/clock.h"

#define EVIL "<img src=x onerror=alert(1)>\"'"
#define DAY_MS (24ll * 3600 * 1000)

/* ---- a coordinator with channels ---- */

struct planned {
    const char *url, *label;
    unsigned rank;
    double weight, rate_a_day, days_ago;
    uint32_t submissions, successes, updates;
};

/* A channel as the plan has it after visits. */
static uint64_t add_channel(struct house *h, const struct planned *p)
{
    struct span seed = span_str(p->url);
    struct channel_opts o = {.seeds = &seed, .seed_count = 1, .scope = SCOPE_PREFIX, .depth_max = 64};
    struct channel_form f = {.label = span_str(p->label), .rule.weight = p->weight};
    struct c_channel *ch = NULL;
    struct buf why = {0};
    CHECK_STATUS(p->url, channel_new(&o, &f.channel, &why), ST_OK);
    pthread_mutex_lock(&h->c->lock);
    CHECK_STATUS(p->url, channel_put(h->c, &f, &ch, &why), ST_OK);
    ch->recrawl.is_planned = true;
    ch->recrawl.updates = p->updates;
    ch->recrawl.plan.rate_a_day = p->rate_a_day;
    ch->recrawl.plan.rate_deviation = 0.5;
    ch->recrawl.plan.history.rank = p->rank;
    ch->recrawl.plan.history.visited = clock_wall() - (wall_ms)(p->days_ago * DAY_MS);
    ch->recrawl.plan.history.submissions = p->submissions;
    ch->recrawl.plan.history.updates = p->successes;
    uint64_t id = ch->id;
    pthread_mutex_unlock(&h->c->lock);
    buf_done(&why);
    return id;
}

static bool is_near(double a, double b)
{
    return a > b - 0.02 && a < b + 0.02;
}

/* ---- sums ---- */

static void sums_by_rank_and_by_site(void **state)
{
    struct house h;
    open_house(&h, NULL);
    const struct planned list[] = {
        {"http://a.example/x/", "first", 0, 1, 2, 0.25, 10, 8, 5},
        {"http://a.example/y/", "second", 0, 3, 2, 0.25, 4, 4, 1},
        {"http://b.example/", EVIL, 4, 1, 0.01, 0, 2, 2, 0},
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++)
        add_channel(&h, &list[i]);
    const struct fresh_view *v = fresh_view_get(h.c->admin);
    const struct fresh_sums *fast = &v->ranks[0], *slow = &v->ranks[RECRAWL_RANKS - 1];
    CHECK("ranks", fast->channels == 2 && slow->channels == 1 && v->ranks[1].channels == 0);
    CHECK("counts", fast->submissions == 14 && fast->successes == 12 && fast->updates == 6);
    CHECK("weighted", is_near(fast->weight, 4) && fresh_share(slow) > 0.97 && fresh_share(fast) < 0.75);
    CHECK("mean rate", is_near(fast->rate / fast->channels, 2));
    CHECK("age", is_near(fast->age_ms / fast->visited / DAY_MS, 0.25));
    CHECK("nothing in a rank", fresh_share(&v->ranks[1]) < 0);
    CHECK("sites", v->site_count == 2 && v->site_all == 2);
    CHECK_SPAN("what misses most is first", v->sites[0].name, SPAN("a.example"));
    CHECK("both channels", v->sites[0].sums.channels == 2 && v->sites[0].sums.submissions == 14);
    CHECK("loss", fresh_loss(&v->sites[0].sums) > fresh_loss(&v->sites[1].sums));
    fresh_view_done(h.c->admin, v);
    close_house(&h);
}

static void the_page_tells_of_it(void **state)
{
    struct house h;
    open_house(&h, NULL);
    assert_int_equal(get(&h, "/freshness"), 200);
    SAYS(&h, "nothing yet", "no channel is in the plan yet");
    close_house(&h);
    open_house(&h, NULL);
    uint64_t id = add_channel(&h, &(struct planned){"http://a.example/", EVIL, 1, 5, 1 / 3.0, 3, 7, 6, 2});
    char target[64];
    assert_int_equal(get(&h, "/freshness"), 200);
    SAYS(&h, "strategy", "<strong id=\"strategy\">greedy</strong>");
    SAYS(&h, "harmless", "&lt;img src=x onerror=alert(1)&gt;");
    CHECK("harmless", !said(&h, "<img src=x onerror"));
    CHECK("policy", span_search(buf_span(&h.ans.head), SPAN("default-src 'none'"), false) < h.ans.head.n);
    assert_int_equal(get(&h, "/freshness/sites?sort=visits&q=a.ex"), 200);
    SAYS(&h, "a site", "<bdi>a.example</bdi>");
    assert_int_equal(get(&h, "/freshness/sites?q=nowhere"), 200);
    SAYS(&h, "none is like that", "No site is like that.");
    assert_int_equal(get(&h, "/api/v1/freshness"), 200);
    SAYS(&h, "json", "\"site\":\"a.example\"");
    SAYS(&h, "json", "\"visits\":7,\"done\":6,\"updated\":2");
    snprintf(target, sizeof(target), "/channels/%016llx", (unsigned long long)id);
    assert_int_equal(get(&h, target), 200);
    SAYS(&h, "rank", "<dt>Rank</dt><dd>1<");
    SAYS(&h, "how often", "about every 3 days, between 2 and 5");
    SAYS(&h, "counts", "7 ordered, 6 came to an end, 2 brought something new");
    assert_int_equal(get(&h, "/metrics"), 200);
    SAYS(&h, "metrics", "\norb_recrawl_freshness ");
    SAYS(&h, "metrics", "\norb_recrawl_visits_total 0\n");
    close_house(&h);
}

static void many_sites_are_cut_to_what_a_page_can_hold(void **state)
{
    struct house h;
    open_house(&h, NULL);
    for (unsigned i = 0; i < FRESH_SITES_MAX + 7; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://s%05u.example/", i);
        add_channel(&h, &(struct planned){url, "", 2, 1 + i / 100.0, 1, 1, 1, 1, 0});
    }
    const struct fresh_view *v = fresh_view_get(h.c->admin);
    CHECK("cut", v->site_count == FRESH_SITES_MAX && v->site_all == FRESH_SITES_MAX + 7);
    CHECK_SPAN("those that miss most stay", v->sites[0].name, SPAN("s10006.example"));
    const struct fresh_view *same = fresh_view_get(h.c->admin);
    CHECK("it is shared", same == v);
    fresh_view_done(h.c->admin, v);
    fresh_view_done(h.c->admin, same);
    assert_int_equal(get(&h, "/freshness/sites?page=200"), 200);
    SAYS(&h, "the last page", "Page 200 of 200");
    SAYS(&h, "what is left out", "These are the 10000 that miss most, of 10,007.");
    close_house(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_IN_FOLDER(sums_by_rank_and_by_site), TEST_IN_FOLDER(the_page_tells_of_it),
                                       TEST_IN_FOLDER(many_sites_are_cut_to_what_a_page_can_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
