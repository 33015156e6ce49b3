#include "house.h"

#include "coord/admin_near.h"
#include "coord/admin_tree.h"
#include "coord/agents.h"
#include "coord/diary.h"
#include "coord/networks.h"
#include "coord/placing.h"
#include "io/clock.h"
#include "place/hierarchy_build.h"
#include "store/file.h"

#define EVIL "<img src=x onerror=alert(1)>\"'"

/* ---- a coordinator with a hierarchy ---- */

static struct addr parse(const char *text)
{
    struct addr a = {0};
    CHECK_STATUS(text, addr_parse(span_str(text), &a), ST_OK);
    return a;
}

static void add_range(struct hierarchy_builder *b, const char *first, const char *last, const char *country,
                      const char *holder)
{
    struct registry_record r = {.first = parse(first), .last = parse(last), .holder = span_str(holder)};
    memcpy(r.country, country, strlen(country));
    CHECK_STATUS(first, hierarchy_builder_add(b, &r), ST_OK);
}

/*  1  20.0.0.0/8          Wide       NO
 *  2    20.1.0.0/16       Evil       -
 *  3      20.1.2.0/24     Small      NO
 *  4    20.2.0.0/16       Small      DE
 *  5  30.0.0.0-30.0.2.255 Odd        JP
 *  6..65  40.N.0.0/16     Many       US   (60 of them) */
static void write_hierarchy(const char *path)
{
    struct hierarchy_builder *b = hierarchy_builder_new();
    struct hierarchy_figures figures;
    struct buf bytes = {0};
    add_range(b, "20.0.0.0", "20.255.255.255", "NO", "Wide");
    add_range(b, "20.1.0.0", "20.1.255.255", "", "Evil " EVIL);
    add_range(b, "20.1.2.0", "20.1.2.255", "NO", "Small");
    add_range(b, "20.2.0.0", "20.2.255.255", "DE", "Small");
    add_range(b, "30.0.0.0", "30.0.2.255", "JP", "Odd");
    for (int i = 0; i < 60; i++) {
        char first[32], last[32];
        snprintf(first, sizeof(first), "40.%d.0.0", i);
        snprintf(last, sizeof(last), "40.%d.255.255", i);
        add_range(b, first, last, "US", "Many");
    }
    CHECK_STATUS("finish", hierarchy_builder_finish(b, SPAN("from=test\n"), &bytes, &figures), ST_OK);
    CHECK_STATUS("write", file_replace(path, buf_span(&bytes)), ST_OK);
    hierarchy_builder_free(b);
    buf_done(&bytes);
}

static void open_with_tree(struct house *h)
{
    char path[TEST_PATH];
    test_path(path, "tree");
    write_hierarchy(path);
    open_house(h, path);
}

/* It says what to do, and nothing is freed twice. */
static void a_damaged_hierarchy_is_refused(void **state)
{
    char path[TEST_PATH];
    struct buf why = {0}, bytes = {0};
    struct coord *c = NULL;
    test_path(path, "tree");
    write_hierarchy(path);
    CHECK_STATUS("read", file_read(path, 1u << 20, &bytes), ST_OK);
    for (int i = 0; i < 2; i++) {
        struct coord_opts o = {.data_dir = test_folder(),
                               .addr = {4, {127, 0, 0, 1}},
                               .admin_addr = {4, {127, 0, 0, 1}},
                               .is_plain = true,
                               .allow_private = true,
                               .hierarchy_file = path,
                               .seed = 1,
                               .version = SPAN("9.9")};
        struct buf broken = {0};
        buf_put(&broken, span_cut(buf_span(&bytes), 0, i ? bytes.n * 2 / 3 : bytes.n));
        if (i == 0)
            broken.p[0] ^= 1;
        CHECK_STATUS("write", file_replace(path, buf_span(&broken)), ST_OK);
        buf_clear(&why);
        CHECK("refused", coord_new(&o, &c, &why) != ST_OK);
        CHECK(buf_cstr(&why), span_search(buf_span(&why), SPAN("orb hierarchy build"), false) < why.n);
        buf_done(&broken);
    }
    buf_done(&bytes);
    buf_done(&why);
}

static uint64_t add_agent(struct house *h, const char *name, const char *place, double latitude, double longitude)
{
    struct agent_form f = {.name = span_str(name),
                           .place = span_str(place),
                           .settings = {.state = AGENT_RUN},
                           .latitude = latitude,
                           .longitude = longitude,
                           .has_place = latitude != 0};
    struct buf line = {0}, why = {0};
    struct c_agent *a;
    pthread_mutex_lock(&h->c->lock);
    CHECK_STATUS(name, agent_add(h->c, &f, &a, &line, &why), ST_OK);
    pthread_mutex_unlock(&h->c->lock);
    buf_done(&line);
    buf_done(&why);
    return a->number;
}

/* `now`: as its agent measures it; others: what else was measured. */
static struct c_network *add_network(struct house *h, const char *addr, uint64_t agent, double now, uint64_t other,
                                     double other_ms)
{
    struct addr a = parse(addr);
    pthread_mutex_lock(&h->c->lock);
    struct c_network *n = network_at(h->c, &a, SPAN(""));
    n->state = agent ? NETWORK_OWNED : NETWORK_FREE;
    n->agent = agent;
    if (now >= 0) {
        n->rtt_us = (uint32_t)(now * 1000);
        placing_probe_add(n, &(struct delegate_probe){.agent = agent, .ms = now});
    }
    if (other)
        placing_probe_add(n, &(struct delegate_probe){.agent = other, .ms = other_ms});
    pthread_mutex_unlock(&h->c->lock);
    return n;
}

static const struct near_flow *flow_of(const struct near_view *v, const char *agent, const char *country)
{
    for (size_t i = 0; i < v->flow_count; i++)
        if (strcmp(v->agents[v->flows[i].agent].name, agent) == 0 && strcmp(v->flows[i].country, country) == 0)
            return &v->flows[i];
    return NULL;
}

/* ---- sums ---- */

static void sums_now_against_the_best_known(void **state)
{
    struct house h;
    open_with_tree(&h);
    uint64_t oslo = add_agent(&h, "oslo", "", 59.9, 10.7), tokyo = add_agent(&h, "tokyo", "", 35.7, 139.7);
    add_network(&h, "20.1.2.3", oslo, 4, tokyo, 250);
    add_network(&h, "20.2.2.3", oslo, 30, tokyo, -1);  /* no answer counts for nothing */
    add_network(&h, "30.0.0.3", oslo, 260, tokyo, 20); /* would be better off */
    add_network(&h, "40.1.0.3", tokyo, -1, 0, 0);      /* not measured */
    add_network(&h, "40.2.0.3", 0, -1, 0, 0);          /* nobody's */
    struct c_network *n = add_network(&h, "40.3.0.3", tokyo, 120, oslo, 116);
    n->is_replicated = n->is_trial = true;
    n->rtt_us = 0; /* after a restart: its probe is remembered */
    const struct near_view *v = near_view_get(h.c->admin);
    assert_int_equal(v->all.networks, 5);
    assert_int_equal(v->all.measured, 4);
    assert_int_equal(v->free, 1);
    CHECK("now", near_mean_now(&v->all) == (4 + 30 + 260 + 120) / 4.0);
    CHECK("best", near_mean_best(&v->all) == (4 + 30 + 20 + 116) / 4.0);
    assert_int_equal(v->near, 3);
    assert_int_equal(v->trial, 1);
    assert_int_equal(v->replicated, 1);
    CHECK("most networks first", strcmp(v->agents[0].name, "oslo") == 0 && v->agents[0].sums.networks == 3);
    CHECK("colours", v->agents[0].colour == 1 && v->agents[1].colour == 2);
    CHECK("worst first", v->pair_count == 4 && v->pairs[0].now_ms == 260 && v->pairs[0].agent == 0 &&
                             v->pairs[0].best == 1 && v->pairs[0].best_ms == 20);
    CHECK("the same one, again", near_view_get(h.c->admin) == v);
    near_view_done(h.c->admin, v);
    near_view_done(h.c->admin, v);
    close_house(&h);
}

static void networks_are_put_where_light_allows(void **state)
{
    struct house h;
    open_with_tree(&h);
    uint64_t oslo = add_agent(&h, "oslo", "", 59.9, 10.7), tokyo = add_agent(&h, "tokyo", "", 35.7, 139.7);
    uint64_t lost = add_agent(&h, "lost", "", 0, 0);
    add_network(&h, "20.2.0.3", tokyo, 250, 0, 0); /* Germany */
    add_network(&h, "20.1.2.3", oslo, 3, 0, 0);    /* Norway */
    add_network(&h, "40.7.0.3", oslo, 5, 0, 0);    /* said to be in the US, and cannot be */
    add_network(&h, "99.0.0.3", tokyo, 2, 0, 0);   /* registered nowhere */
    add_network(&h, "99.0.1.3", lost, 2, 0, 0);
    add_network(&h, "99.0.2.3", tokyo, 200, 0, 0);
    const struct near_view *v = near_view_get(h.c->admin);
    CHECK("largest city", span_is(flow_of(v, "tokyo", "DE")->city, "Berlin"));
    CHECK("near", span_is(flow_of(v, "oslo", "NO")->city, "Oslo"));
    CHECK("not in the US", flow_of(v, "oslo", "US") == NULL);
    const struct near_flow *by_oslo = flow_of(v, "oslo", ""), *by_tokyo = flow_of(v, "tokyo", "");
    CHECK("by its agent", by_oslo && by_oslo->spot.latitude > 59 && by_tokyo && by_tokyo->spot.latitude < 36);
    assert_int_equal(v->unplaced, 2);
    near_view_done(h.c->admin, v);
    close_house(&h);
}

static void agents_without_a_place_are_put_by_their_address(void **state)
{
    struct house h;
    open_with_tree(&h);
    static const struct {
        const char *name, *place, *peer;
        double latitude;
        near_source want;
    } cases[] = {{"told", "", "30.0.0.1", 10, NEAR_REGISTERED},
                 {"named", "Oslo", "30.0.0.1", 0, NEAR_REGISTERED},
                 {"called", "", "30.0.0.1", 0, NEAR_BY_ADDRESS},
                 {"nowhere", "", "99.0.0.1", 0, NEAR_NOWHERE},
                 {"silent", "", NULL, 0, NEAR_NOWHERE}};
    size_t n = sizeof(cases) / sizeof(*cases);
    for (size_t i = 0; i < n; i++) {
        uint64_t number = add_agent(&h, cases[i].name, cases[i].place, cases[i].latitude, 10);
        if (cases[i].peer)
            h.c->agents[number - 1]->peer = parse(cases[i].peer);
    }
    const struct near_view *v = near_view_get(h.c->admin);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < v->agent_count; k++)
            if (strcmp(v->agents[k].name, cases[i].name) == 0)
                CHECK(cases[i].name, v->agents[k].source == cases[i].want);
    near_view_done(h.c->admin, v);
    assert_int_equal(get(&h, "/near"), 200);
    SAYS(&h, "left out",
         "Not on the map: <a href=\"/agents/nowhere\"><bdi>nowhere</bdi></a>, <a href=\"/agents/silent\">");
    SAYS(&h, "guessed", ", by its address");
    close_house(&h);
}

static void many_are_cut_to_what_a_page_can_hold(void **state)
{
    struct house h;
    open_with_tree(&h);
    uint64_t agents[300];
    for (int i = 0; i < 300; i++) {
        char name[32];
        snprintf(name, sizeof(name), "agent-%d", i);
        agents[i] = add_agent(&h, name, "", 1 + i % 60, i - 150);
    }
    for (int i = 0; i < 6000; i++) {
        char addr[32];
        snprintf(addr, sizeof(addr), "%d.%d.%d.3", 40 + i % 3 * 10, i % 60, i / 60 % 250);
        add_network(&h, addr, agents[i % 300], 150 + i % 100, agents[(i + 7) % 300], 120);
    }
    const struct near_view *v = near_view_get(h.c->admin);
    CHECK("flows", v->flow_count <= NEAR_FLOWS_MAX && v->flow_all >= v->flow_count && v->flow_count > 0);
    assert_int_equal(v->pair_count, NEAR_PAIRS_MAX);
    for (size_t i = 1; i < v->pair_count; i++)
        CHECK("those that lose most first",
              v->pairs[i - 1].now_ms - v->pairs[i - 1].best_ms >= v->pairs[i].now_ms - v->pairs[i].best_ms);
    for (size_t i = 1; i < v->agent_count; i++)
        CHECK("in order", v->agents[i - 1].sums.networks >= v->agents[i].sums.networks);
    near_view_done(h.c->admin, v);
    assert_int_equal(get(&h, "/near"), 200);
    CHECK("a page of bounded size", h.ans.body.n < 400000);
    SAYS(&h, "more", "All 300 agents");
    assert_int_equal(get(&h, "/api/v1/near"), 200);
    close_house(&h);
}

/* ---- pages ---- */

static void the_page_tells_of_moves_and_probes(void **state)
{
    struct house h;
    open_with_tree(&h);
    uint64_t oslo = add_agent(&h, "oslo", EVIL, 59.9, 10.7), tokyo = add_agent(&h, "tokyo", "", 35.7, 139.7);
    struct c_network *n = add_network(&h, "20.1.2.3", oslo, 4, tokyo, 250);
    assert_int_equal(get(&h, "/near"), 200);
    SAYS(&h, "none yet", "No network has changed hands yet");
    pthread_mutex_lock(&h.c->lock);
    diary_note_given(h.c);
    diary_note_given(h.c);
    diary_note_probes(h.c, 3);
    set_text(n->why, sizeof(n->why), SPAN("measured " EVIL));
    diary_note_move(h.c, n, tokyo, oslo, MOVE_CALIBRATED);
    diary_note_move(h.c, n, 99, oslo, MOVE_BALANCED);
    pthread_mutex_unlock(&h.c->lock);
    assert_int_equal(get(&h, "/near"), 200);
    SAYS(&h, "probes a network", "<dd>1.50</dd>");
    SAYS(&h, "moves", "1 by calibration");
    SAYS(&h, "moves", "1 by balancing");
    SAYS(&h, "why", "measured &lt;img src=x onerror=alert(1)&gt;");
    SAYS(&h, "gone", "one that left");
    CHECK("harmless", !said(&h, "<img src=x"));
    SAYS(&h, "land", "<path class=\"land\" d=\"M");
    CHECK("policy", span_search(buf_span(&h.ans.head), SPAN("default-src 'none'"), false) < h.ans.head.n);
    size_t whole = h.ans.body.n;
    assert_int_equal(get(&h, "/near?live=1"), 200);
    CHECK("the land is not sent again", h.ans.body.n + 20000 < whole);
    assert_int_equal(get(&h, "/api/v1/near"), 200);
    SAYS(&h, "json", "\"from\":\"tokyo\",\"to\":\"oslo\",\"kind\":\"calibrated\"");
    SAYS(&h, "json", "\"from\":null,\"to\":\"oslo\",\"kind\":\"balanced\"");
    SAYS(&h, "json", "\"given\":2,\"probes\":3,\"moves\":{\"calibrated\":1,\"balanced\":1}");
    SAYS(&h, "json", "\"totals\":{\"networks\":1,\"measured\":1,\"now_ms\":4.0,\"best_ms\":4.0,\"near\":1,");
    assert_int_equal(get(&h, "/metrics"), 200);
    SAYS(&h, "metrics", "\norb_probes_total 3\n");
    SAYS(&h, "metrics", "\norb_network_moves_total{kind=\"balanced\"} 1\n");
    close_house(&h);
}

static void the_tree_can_be_walked(void **state)
{
    struct house h;
    open_with_tree(&h);
    uint64_t oslo = add_agent(&h, "oslo", "", 59.9, 10.7), tokyo = add_agent(&h, "tokyo", "", 35.7, 139.7);
    add_network(&h, "20.1.2.3", oslo, 4, 0, 0);
    add_network(&h, "20.1.9.3", oslo, 4, 0, 0);
    add_network(&h, "20.2.9.3", tokyo, 4, 0, 0);
    static const struct {
        const char *target;
        int code;
        const char *says[6], *not ;
    } cases[] = {
        {"/hierarchy",
         200,
         {"20.0.0.0/8", "1 range with known networks", "Show all 62", "oslo</bdi></a> (2)"},
         "30.0.0.0"},
        {"/hierarchy?node=0&all=1", 200, {"30.0.0.0 \xe2\x80\x93 30.0.2.255", "Page 1 of 2", "all=1&amp;page=2"}, NULL},
        {"/hierarchy?node=0&all=1&page=2", 200, {"40.59.0.0/16", "Page 2 of 2"}, "20.0.0.0/8"},
        {"/hierarchy?node=1",
         200,
         {"20.1.0.0/16", "20.2.0.0/16", "Wide", "3, 3 with an agent"},
         "20.1.2.0/24</a></th>\n"},
        {"/hierarchy?ip=20.1.2.77",
         200,
         {"20.1.2.0/24</h2>", "which is crawled by <a href=\"/agents/oslo\">",
          "<a href=\"/hierarchy?node=1\">20.0.0.0/8</a> <bdi>Wide</bdi>", "Evil &lt;img"},
         "<img src=x"},
        {"/hierarchy?ip=20.1.2.0/25", 200, {"20.1.2.0/24</h2>"}, NULL},
        {"/hierarchy?ip=small", 200, {"Ranges of <bdi>Small", "20.1.2.0/24", "20.2.0.0/16", "2 ranges"}, NULL},
        {"/hierarchy?ip=9.9.9.9", 200, {"No range holds that"}, NULL},
        {"/hierarchy?ip=%3Cimg+src=x%3E", 200, {"No range holds that"}, "<img src=x"},
        {"/hierarchy?node=999", 200, {"There is no such range"}, NULL},
        {"/api/v1/hierarchy?ip=20.1.2.77",
         200,
         {"{\"node\":{\"node\":3,\"first\":\"20.1.2.0\",\"last\":\"20.1.2.255\",\"holder\":\"Small\",\"country\":"
          "\"NO\"",
          "\"networks\":1,\"delegated\":1,\"agents\":[{\"agent\":\"oslo\",\"networks\":1}]", "\"path\":[{\"node\":1,"},
         NULL},
        {"/api/v1/hierarchy?held=1", 200, {"\"total\":62,\"held\":1", "\"children\":[{\"node\":1,"}, "\"node\":5,"},
        {"/api/v1/hierarchy?offset=60&limit=1", 200, {"40.58.0.0"}, "40.59.0.0"},
        {"/api/v1/hierarchy?ip=Many", 200, {"\"holder\":\"Many\"", "\"total\":60"}, NULL},
        {"/api/v1/hierarchy?ip=9.9.9.9", 404, {"not_found"}, NULL},
        {"/api/v1/hierarchy?node=999", 400, {"invalid"}, NULL},
        {"/api/v1/hierarchy?limit=1001", 400, {"invalid"}, NULL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int code = get(&h, cases[i].target);
        if (code != cases[i].code)
            fail_msg("%s: %d: %.500s", cases[i].target, code, buf_cstr(&h.ans.body));
        for (size_t k = 0; k < 6 && cases[i].says[k]; k++)
            SAYS(&h, cases[i].target, cases[i].says[k]);
        CHECK(cases[i].target, !cases[i].not || !said(&h, cases[i].not ));
    }
    close_house(&h);
}

static void without_a_hierarchy_it_says_how_to_get_one(void **state)
{
    struct house h;
    open_house(&h, NULL);
    uint64_t oslo = add_agent(&h, "oslo", "", 59.9, 10.7);
    add_network(&h, "20.1.2.3", oslo, 4, 0, 0);
    assert_int_equal(get(&h, "/hierarchy"), 200);
    SAYS(&h, "how", "orb hierarchy fetch --data ");
    SAYS(&h, "how", "orb hierarchy build --in ");
    assert_int_equal(get(&h, "/api/v1/hierarchy"), 404);
    SAYS(&h, "how", "orb hierarchy fetch");
    assert_int_equal(get(&h, "/near"), 200);
    SAYS(&h, "said on the map too", "<a href=\"/hierarchy\">registry hierarchy</a>");
    close_house(&h);
}

/* Counting by jumping from child to child gives what looking at each gives. */
static void ranges_with_networks_are_counted_as_by_looking_at_each(void **state)
{
    struct house h;
    struct arena a;
    open_with_tree(&h);
    uint64_t oslo = add_agent(&h, "oslo", "", 59.9, 10.7);
    uint32_t seed = 7;
    arena_init(&a);
    for (int i = 0; i < 200; i++) {
        char addr[32];
        seed = seed * 1664525 + 1013904223;
        snprintf(addr, sizeof(addr), "%u.%u.%u.3", 20 + (seed >> 28) % 3 * 10, (seed >> 16) % 64, (seed >> 8) % 4);
        add_network(&h, addr, oslo, 4, 0, 0);
        pthread_mutex_lock(&h.c->lock);
        struct tree_view all, held;
        tree_get(h.c, &a, &(struct tree_ask){.max = 1000}, &all);
        tree_get(h.c, &a, &(struct tree_ask){.max = 1000, .only_held = true}, &held);
        pthread_mutex_unlock(&h.c->lock);
        size_t want = 0;
        for (size_t k = 0; k < all.child_count; k++)
            if (all.children[k].held.networks) {
                CHECK(addr, want < held.child_count && held.children[want].number == all.children[k].number);
                CHECK(addr, held.children[want].held.networks == all.children[k].held.networks);
                want++;
            }
        CHECK(addr, want == held.child_count && want == held.child_held && all.child_held == want);
        arena_reset(&a);
    }
    arena_done(&a);
    close_house(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_IN_FOLDER(sums_now_against_the_best_known),
                                       TEST_IN_FOLDER(a_damaged_hierarchy_is_refused),
                                       TEST_IN_FOLDER(networks_are_put_where_light_allows),
                                       TEST_IN_FOLDER(agents_without_a_place_are_put_by_their_address),
                                       TEST_IN_FOLDER(many_are_cut_to_what_a_page_can_hold),
                                       TEST_IN_FOLDER(the_page_tells_of_moves_and_probes),
                                       TEST_IN_FOLDER(the_tree_can_be_walked),
                                       TEST_IN_FOLDER(without_a_hierarchy_it_says_how_to_get_one),
                                       TEST_IN_FOLDER(ranges_with_networks_are_counted_as_by_looking_at_each)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
