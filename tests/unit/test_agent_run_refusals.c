/* test_agent_run_refusals.c - what an agent does not ask: hosts outside its networks, and what its owner refuses. */
#include "agent_world.h"

/* The host is not in the task's network. */
static void script_stray(struct fake *f, const struct report *r)
{
    struct world *w = (struct world *)f;
    if (f->step == 0) {
        order_settings(f);
        order_task(w, "192.0.2.0/24");
        f->step = 1;
    } else if (f->step == 1 && f->stray_count) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 2;
    }
}

static void reports_hosts_outside_its_networks(void **state)
{
    struct world w;
    static const char *const more[] = {NULL};
    world_start(&w, script_stray);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.fake.stray_count, 1);
    assert_int_equal(atomic_load(&w.site.requests), 0);
    world_stop(&w);
}

static void script_refused(struct fake *f, const struct report *r)
{
    struct world *w = (struct world *)f;
    if (f->step == 0) {
        order_settings(f);
        order_task(w, "127.0.0.0/24");
        f->step = 1;
    } else if (f->step == 1 && f->refused_count) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 2;
    }
}

static void keeps_to_the_owners_refusals(void **state)
{
    struct world w;
    static const char *const more[] = {"--refuse-network", "127.0.0.0/8", NULL};
    world_start(&w, script_refused);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(atomic_load(&w.site.requests), 0);
    assert_int_equal(w.fake.stray_count, 0);
    world_stop(&w);
}

/* As the coordinator says where its networks are. */
static void keeps_to_the_countries_that_the_owner_refuses(void **state)
{
    struct world w;
    static const char *const more[] = {"--refuse-country", "FR", "--refuse-country", "de", NULL};
    world_start(&w, script_refused);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(atomic_load(&w.site.requests), 0);
    assert_int_equal(w.fake.stray_count, 0);
    assert_int_equal(w.fake.countries_refused, 2);
    world_stop(&w);
}

static void fetches_nothing_of_a_site_that_the_owner_refuses(void **state)
{
    struct world w;
    static const char *const more[] = {"--refuse-site", "127.0.0.1", NULL};
    world_start(&w, script_fetch);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.fake.part_count, 3);
    assert_int_equal(atomic_load(&w.site.requests), 0);
    world_stop(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(reports_hosts_outside_its_networks),
        TEST_IN_FOLDER(keeps_to_the_owners_refusals),
        TEST_IN_FOLDER(keeps_to_the_countries_that_the_owner_refuses),
        TEST_IN_FOLDER(fetches_nothing_of_a_site_that_the_owner_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
