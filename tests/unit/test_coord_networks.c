/* test_coord_networks.c - which agent has a network: one at a time, while it is heard, where its owner lets it. */
#include "puppet_stage.h"

#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/networks.h"
#include "coord/pinning.h"
#include "place/hierarchy_build.h"
#include "store/file.h"

static void a_network_has_one_agent_and_moves_after_its_confirmation(void **state)
{
    struct stage s;
    struct puppet p[2];
    struct seen_orders seen[2] = {{0}, {0}};
    open_stage(&s);
    puppet_new(&p[0], &s, "athens", 1);
    puppet_new(&p[1], &s, "bergen", 2);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    for (int i = 0; i < 500 && !seen[0].tasks && !seen[1].tasks; i++) {
        (void)puppet_poll(&p[0], NULL, 0, note_order, &seen[0], NULL);
        (void)puppet_poll(&p[1], NULL, 0, note_order, &seen[1], NULL);
        usleep(10000);
    }
    assert_int_equal(seen[0].tasks + seen[1].tasks, 1);
    int old = seen[0].tasks ? 0 : 1, fresh = 1 - old;

    pthread_mutex_lock(&s.c->lock);
    size_t at = 0;
    struct c_network *n = table_next(&s.c->networks, &at);
    CHECK_STATUS("move", assign_move(s.c, n, p[fresh].number, MOVE_PERSON, "a test"), ST_OK);
    pthread_mutex_unlock(&s.c->lock);
    UNTIL(&p[old], seen[old], seen[old].ends == 1);
    for (int i = 0; i < 20; i++) {
        (void)puppet_poll(&p[fresh], NULL, 0, note_order, &seen[fresh], NULL);
        usleep(20000);
    }
    assert_int_equal(seen[fresh].tasks, 0); /* the old one has not said that it stopped */

    struct outcome done = {.number = seen[old].end_order, .st = ST_OK};
    p[old].orders_done = seen[old].end_order;
    (void)puppet_poll(&p[old], &done, 1, note_order, &seen[old], NULL);
    UNTIL(&p[fresh], seen[fresh], seen[fresh].tasks == 1);
    CHECK_SPAN("networks", buf_span(&seen[fresh].texts), SPAN("127.1.1.0/24 "));
    assert_true(seen[fresh].states > 0);
    for (int i = 0; i < 2; i++) {
        buf_done(&seen[i].texts);
        puppet_done(&p[i]);
    }
    close_stage(&s);
}

static void a_silent_agent_loses_its_networks_when_its_lease_is_over(void **state)
{
    static const char *const found[] = {"http://one.example/", "http://one.example/a", NULL};
    static const char *const later[] = {"http://one.example/b", NULL};
    struct put_answer put;
    struct buf one = {0}, two = {0};
    struct stage s = {.dir = test_folder(), .opts = {.lease_ms = 300, .move_after_ms = 600}};
    struct puppet p[2];
    struct seen_orders seen[2] = {{0}, {0}};
    start(&s);
    puppet_new(&p[0], &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p[0], seen[0], seen[0].tasks == 1);
    puppet_new(&p[1], &s, "bergen", 2);
    /* Silence begins: nothing may be given to the other before the time is over. */
    pthread_mutex_lock(&s.c->lock);
    struct c_agent *a = agent_get(s.c, 1);
    a->heard_mono -= 100000; /* as if it had been silent for long: being there is counted in tens of seconds */
    pthread_mutex_unlock(&s.c->lock);
    UNTIL(&p[1], seen[1], seen[1].tasks == 1);
    CHECK_SPAN("networks", buf_span(&seen[1].texts), SPAN("127.1.1.0/24 "));
    /* What it found before is taken, until it has said that it has stopped. */
    make_package(&p[0], 1, seen[0].task, found, "127.1.1.1", &one);
    make_package(&p[0], 2, seen[0].task, later, "127.1.1.1", &two);
    assert_int_equal(put_piece(&p[0], 1, 0, one.n, buf_span(&one), &put), 200);
    wait_docs(&s, 2);
    /* It comes back, and is told that it has lost it. */
    UNTIL(&p[0], seen[0], seen[0].ends == 1);
    p[0].orders_done = seen[0].end_order;
    (void)puppet_poll(&p[0], NULL, 0, note_order, &seen[0], NULL);
    assert_int_equal(put_piece(&p[0], 2, 0, two.n, buf_span(&two), &put), 200);
    wait_applied(&s, 1, 2);
    pthread_mutex_lock(&s.c->lock);
    assert_int_equal(agent_get(s.c, 1)->dropped, 1);
    pthread_mutex_unlock(&s.c->lock);
    buf_done(&one);
    buf_done(&two);
    for (int i = 0; i < 2; i++) {
        buf_done(&seen[i].texts);
        puppet_done(&p[i]);
    }
    close_stage(&s);
}

/* ---- what owners refuse ---- */

static void make_hierarchy(void)
{
    struct hierarchy_builder *b = hierarchy_builder_new();
    struct hierarchy_figures figures;
    struct buf bytes = {0};
    char path[TEST_PATH];
    const struct registry_record one = {.first = {4, {127, 1, 1, 0}},
                                        .last = {4, {127, 1, 1, 255}},
                                        .country = "DE",
                                        .registry = REGISTRY_RIPENCC,
                                        .state = REG_ASSIGNED};
    CHECK_STATUS("one", hierarchy_builder_add(b, &one), ST_OK);
    CHECK_STATUS("finish", hierarchy_builder_finish(b, SPAN("made=now\n"), &bytes, &figures), ST_OK);
    test_path(path, "hierarchy");
    CHECK_STATUS("write", file_replace(path, buf_span(&bytes)), ST_OK);
    hierarchy_builder_free(b);
    buf_done(&bytes);
}

static void an_agent_has_no_networks_in_countries_that_its_owner_refuses(void **state)
{
    struct stage s;
    struct puppet p, q;
    struct seen_orders seen = {0}, other = {0};
    make_hierarchy();
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p, seen, seen.tasks == 1);
    CHECK_SPAN("it hears where", buf_span(&seen.texts), SPAN("127.1.1.0/24 DE 127.1.1.0/24 "));
    /* Its owner changes their mind: it is taken away, and stays away after a restart of ours. */
    p.refuses = SPAN("de");
    p.boot = 8;
    UNTIL(&p, seen, seen.ends == 1);
    (void)puppet_poll(&p, &(struct outcome){.number = seen.end_order, .st = ST_OK}, 1, note_order, &seen, NULL);
    stop(&s);
    start(&s);
    puppet_line(&p);
    p.refuses = (struct span){0};
    for (int i = 0; i < 50; i++, usleep(20000))
        (void)puppet_poll(&p, NULL, 0, note_order, &seen, NULL);
    assert_int_equal(seen.tasks, 1);
    /* Another one gets it; of other countries the first has its share. */
    puppet_new(&q, &s, "bergen", 2);
    UNTIL(&q, other, other.tasks == 1);
    CHECK_SPAN("another", buf_span(&other.texts), SPAN("127.1.1.0/24 DE 127.1.1.0/24 "));
    pthread_mutex_lock(&s.c->lock);
    struct c_network *n = network_find(s.c, &(struct addr){4, {127, 1, 1, 1}});
    CHECK("who may have it", !pinning_allows(s.c, n, 1) && pinning_allows(s.c, n, 2));
    pthread_mutex_unlock(&s.c->lock);
    buf_done(&seen.texts);
    buf_done(&other.texts);
    puppet_done(&p);
    puppet_done(&q);
    close_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_network_has_one_agent_and_moves_after_its_confirmation),
        TEST_IN_FOLDER(a_silent_agent_loses_its_networks_when_its_lease_is_over),
        TEST_IN_FOLDER(an_agent_has_no_networks_in_countries_that_its_owner_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
