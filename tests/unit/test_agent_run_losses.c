/* test_agent_run_losses.c - a killed agent, and a coordinator set back: nothing is lost, and nothing comes twice. */
#include "agent_world.h"

#include <sys/wait.h>
#include <unistd.h>

/* Two runs of the agent: the second finds its task, and is asked again for packages that were lost. */
static void script_crawl(struct fake *f, const struct report *r)
{
    struct world *w = (struct world *)f;
    if (f->step == 0) {
        order_settings(f);
        order_task(w, "127.0.0.0/24");
        f->step = 1;
    } else if (f->step == 1 && task_is(r, TASK_DONE) && visits_of(f, "/p11")) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 2;
    } else if (f->step == 3 && visits_of(f, "/p11")) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 4;
    }
}

static void sends_again_what_a_restored_coordinator_lost(void **state)
{
    struct world w;
    static const char *const more[] = {NULL};
    world_start(&w, script_crawl);
    run_agent(&w.fake, more, END_QUIT);
    size_t before = w.fake.visit_count;
    unsigned requests = atomic_load(&w.site.requests);
    CHECK("all came", before >= SITE_PAGES);
    for (size_t i = 0; i < before; i++)
        free(w.fake.visits[i]);
    w.fake.visit_count = 0;
    w.fake.have = 0;
    w.fake.step = 3;
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.fake.step, 4);
    assert_int_equal(w.fake.visit_count, before);
    assert_int_equal(atomic_load(&w.site.requests), requests);
    world_stop(&w);
}

/* ---- killed ---- */

static void script_once(struct fake *f, const struct report *r)
{
    struct world *w = (struct world *)f;
    if (f->step == 0) {
        order_settings(f);
        order_task(w, "127.0.0.0/24");
        f->step = 1;
    } else if (f->step == 1 && all_done(f) && task_is(r, TASK_DONE) && visits_of(f, "/p12") && r->spool_packages == 0) {
        order_end(f);
        f->step = 2;
    } else if (f->step == 2 && all_done(f)) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 3;
    }
}

/* This program again, as an agent: a forked one would share locks with the threads of the test. */
static pid_t spawn_agent(const struct fake *f)
{
    struct buf line = {0};
    fake_line(f, &line);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "test_agent_run_losses", "--agent", test_folder(), buf_cstr(&line), (char *)NULL);
        _exit(127);
    }
    buf_done(&line);
    return child;
}

static int be_agent(const char *data, const char *line)
{
    static const char *const more[] = {NULL};
    struct conf c;
    struct buf why = {0};
    struct update_try update = {0};
    agent_end end = END_NONE;
    snprintf(test_folder_path, sizeof(test_folder_path), "%s", data);
    conf_of(&c, more);
    struct agent_opts o = {.conf = &c, .log = &test_log, .version = SPAN("0.1.0")};
    status st = agent_join(&o, span_str(line), &why);
    if (st == ST_OK || st == ST_EXISTS)
        st = agent_run(&o, &end, &update, &why);
    update_try_done(&update);
    buf_done(&why);
    conf_done(&c);
    return st == ST_OK && end == END_QUIT ? 0 : 1;
}

static unsigned events(struct world *w)
{
    pthread_mutex_lock(&w->fake.lock);
    unsigned n = w->fake.calls + atomic_load(&w->site.requests);
    pthread_mutex_unlock(&w->fake.lock);
    return n;
}

/* Ends with its exit code; or with -1, killed once the world has seen so many more requests. */
static int run_killed(struct world *w, unsigned more)
{
    pid_t child = spawn_agent(&w->fake);
    unsigned until = events(w) + more;
    mono_ms deadline = clock_mono() + 60000;
    int how = 0;
    assert_true(child > 0);
    while (waitpid(child, &how, WNOHANG) == 0) {
        if (events(w) >= until || clock_mono() > deadline) {
            kill(child, SIGKILL);
            assert_int_equal(waitpid(child, &how, 0), child);
            CHECK("in time", clock_mono() < deadline);
            return -1;
        }
        usleep(500);
    }
    return WIFEXITED(how) ? WEXITSTATUS(how) : 99;
}

static bool has_quit(struct world *w)
{
    pthread_mutex_lock(&w->fake.lock);
    bool has = w->fake.step == 3 && all_done(&w->fake);
    pthread_mutex_unlock(&w->fake.lock);
    return has;
}

static void a_killed_agent_loses_and_doubles_nothing(void **state)
{
    struct world w;
    int code = -1;
    world_start(&w, script_once);
    /* Later rounds find little to do: one of them ends, or is killed right after it has said that it will. */
    for (unsigned i = 0; code == -1 && !has_quit(&w) && i < 200; i++)
        code = run_killed(&w, i < 30 ? 3 + i * 5 % 17 : 1000000);
    CHECK("it has ended", code == 0 || has_quit(&w));
    for (int i = 1; i <= SITE_PAGES; i++) {
        char end[16];
        snprintf(end, sizeof(end), "/p%d", i);
        if (visits_of(&w.fake, end) != 1)
            fail_msg("%s came %zu times", end, visits_of(&w.fake, end));
    }
    assert_int_equal(w.fake.visit_count, SITE_PAGES + 1);
    assert_true(w.fake.part_count >= 1); /* a kill before the answer came: the outcome is said again */
    world_stop(&w);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--agent") == 0)
        return be_agent(argv[2], argv[3]);
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(sends_again_what_a_restored_coordinator_lost),
        TEST_IN_FOLDER(a_killed_agent_loses_and_doubles_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
