/* test_agent_run_tasks.c - a task from its order to its end: what is sent, what stays, what is handed over. */
#include "agent_world.h"

#include "agent/parts.h"
#include "plan/frontier.h"

/* Crawl, look again (one page has changed), end, quit. */
static void script_life(struct fake *f, const struct report *r)
{
    struct world *w = (struct world *)f;
    if (f->step == 0) {
        order_settings(f);
        order_task(w, "127.0.0.0/24");
        f->step = 1;
    } else if (f->step == 1 && all_done(f) && task_is(r, TASK_DONE) && visits_of(f, "/p11") && r->spool_packages == 0) {
        struct buf body = {0};
        atomic_store(&w->site.edition, 2);
        recheck_order_pack(&(struct recheck_order){.task = 1, .visit = 5}, &body);
        fake_order(f, ORDER_RECHECK, buf_span(&body));
        buf_done(&body);
        f->step = 2;
    } else if (f->step == 2 && all_done(f) && task_is(r, TASK_DONE) && visits_of(f, "/p3") == 2 &&
               r->tasks[0].has_visit) {
        w->visit = r->tasks[0].visit;
        CHECK("its slots", r->tasks_max == 64 && r->tasks_busy == 0);
        order_end(f);
        f->step = 3;
    } else if (f->step == 3 && all_done(f)) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 4;
    }
}

static void sends_what_is_new_and_hands_over_at_the_end(void **state)
{
    struct world w;
    static const char *const more[] = {"--place", "a desk", NULL};
    world_start(&w, script_life);
    run_agent(&w.fake, more, END_QUIT);
    struct fake *f = &w.fake;
    assert_int_equal(f->step, 4);
    CHECK("every page came", visits_of(f, "/p11") == 1 && visits_of(f, "/p1") == 1);
    CHECK("the changed page came twice", visits_of(f, "/p3") == 2);
    CHECK("the visit", w.visit.number == 5 && w.visit.looked == SITE_PAGES + 1 && w.visit.changed == 1 &&
                           w.visit.added == 0 && w.visit.gone == 1 && w.visit.failed == 0 && w.visit.took_ms >= 0);
    /* 12 pages, one 404 after the last, one change: nothing else travels */
    assert_int_equal(f->visit_count, SITE_PAGES + 2);
    CHECK("links that leave came", f->foreign_count >= SITE_PAGES);
    CHECK("setup came", f->had_setup);
    CHECK_SPAN("place", buf_span(&f->setup_place), SPAN("a desk"));
    CHECK("timings came", f->timing_count > 0);
    assert_int_equal(f->part_count, 1);
    struct frontier_info info;
    CHECK_STATUS("the part is a host", frontier_info_read(buf_span(&f->parts[0]), &info), ST_OK);
    CHECK_SPAN("which one", info.name, SPAN("127.0.0.1"));
    frontier_info_done(&info);
    world_stop(&w);
}

static void order_network(struct world *w, order_kind kind)
{
    struct buf body = {0};
    struct span network = SPAN("127.0.0.0/24");
    if (kind == ORDER_END_TASK)
        end_order_pack(&(struct end_order){.task = 1, .networks = &network, .network_count = 1}, &body);
    else
        task_order_pack(&(struct task_order){.task = 1, .kind = SUMMARY_TEXT, .networks = &network, .network_count = 1},
                        &body);
    fake_order(&w->fake, kind, buf_span(&body));
    buf_done(&body);
}

static void order_visit(struct fake *f, uint64_t number)
{
    struct buf body = {0};
    recheck_order_pack(&(struct recheck_order){.task = 1, .visit = number}, &body);
    fake_order(f, ORDER_RECHECK, buf_span(&body));
    buf_done(&body);
}

static bool has_visit(const struct report *r, uint64_t number)
{
    return r->task_count == 1 && r->tasks[0].has_visit && r->tasks[0].visit.number == number;
}

/* The network goes, and is given back before that is through; then its host, in an order that has nothing else. */
static void script_back(struct fake *f, const struct report *r)
{
    struct world *w = (struct world *)f;
    struct buf body = {0};
    if (f->step == 0) {
        order_settings(f);
        order_task(w, "127.0.0.0/24");
        f->step = 1;
    } else if (f->step == 1 && all_done(f) && task_is(r, TASK_DONE) && visits_of(f, "/p11")) {
        order_network(w, ORDER_END_TASK);
        order_network(w, ORDER_TASK);
        f->step = 2;
    } else if (f->step == 2 && all_done(f) && f->part_count == 1) {
        order_visit(f, 5);
        f->step = 3;
    } else if (f->step == 3 && (f->stray_count || has_visit(r, 5))) {
        struct span host = buf_span(&f->parts[0]);
        task_order_pack(
            &(struct task_order){.task = 1, .kind = SUMMARY_TEXT, .hosts_state = &host, .hosts_state_count = 1}, &body);
        fake_order(f, ORDER_TASK, buf_span(&body));
        order_visit(f, 6);
        f->step = 4;
    } else if (f->step == 4 && (f->stray_count || has_visit(r, 6))) {
        if (r->task_count == 1)
            w->visit = r->tasks[0].visit;
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 5;
    }
    buf_done(&body);
}

static void a_network_that_comes_back_before_it_has_left_stays(void **state)
{
    struct world w;
    static const char *const more[] = {NULL};
    world_start(&w, script_back);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.fake.stray_count, 0);
    assert_int_equal(w.visit.number, 6);
    assert_int_equal(w.visit.looked, SITE_PAGES + 1);
    for (size_t i = 0; i < w.fake.outcome_count; i++)
        CHECK_STATUS("outcome", w.fake.outcomes[i].st, ST_OK);
    world_stop(&w);
}

static void script_end_only(struct fake *f, const struct report *r)
{
    if (f->step == 0) {
        order_end(f);
        f->step = 1;
    } else if (f->step == 1 && all_done(f)) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 2;
    }
}

/* Hosts that are handed over may be more than a report holds: they come in several, and only then is the order done. */
static void hands_over_more_than_a_report_holds(void **state)
{
    struct world w;
    struct parts p = {0};
    struct buf big = {0};
    static const char *const more[] = {NULL};
    while (big.n < 300000)
        buf_puts(&big, "not really a packed host. ");
    for (int i = 0; i < 9; i++) {
        char name[32];
        snprintf(name, sizeof(name), "h%d.example", i);
        big.p[0] = (char)('a' + i);
        parts_put(&p, span_str(name), buf_span(&big));
    }
    CHECK_STATUS("as a killed run left them", parts_write(test_folder(), 1, &p), ST_OK);
    world_start(&w, script_end_only);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.fake.part_count, 9);
    for (int i = 0; i < 9; i++)
        CHECK("in order", w.fake.parts[i].n == big.n && w.fake.parts[i].p[0] == 'a' + i);
    assert_int_equal(w.fake.early_outcomes, 0);
    parts_done(&p);
    buf_done(&big);
    world_stop(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(sends_what_is_new_and_hands_over_at_the_end),
        TEST_IN_FOLDER(a_network_that_comes_back_before_it_has_left_stays),
        TEST_IN_FOLDER(hands_over_more_than_a_report_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
