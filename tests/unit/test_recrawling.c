/* The coordinator keeps channels fresh: which visits it orders when, and what it makes of what agents say. A real
 * coordinator on a real folder; its clock is the test's, and so are the agents. Its threads run: from start() to stop()
 * the test has the lock, as whoever calls these functions must. */
#include "test.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coord/coord.h"
#include "coord/recrawling_internal.h"
#include "coord/reports.h"
#include "io/clock.h"
#include "test_folder.h"

#define HOUR (3600 * INT64_C(1000))
#define MINUTE (60 * INT64_C(1000))
#define TASKS 8

struct stage {
    struct coord *c;
    struct coord_opts opts;
    wall_ms now;
};

static void start(struct stage *s)
{
    struct buf why = {0};
    s->opts.data_dir = test_folder();
    s->opts.addr = s->opts.admin_addr = (struct addr){4, {127, 0, 0, 1}};
    s->opts.is_plain = s->opts.allow_private = true;
    s->opts.strategy = DELEGATE_HASH;
    s->opts.seed = 1;
    s->opts.version = SPAN("test");
    if (coord_new(&s->opts, &s->c, &why) != ST_OK)
        fail_msg("coordinator: %s", buf_cstr(&why));
    buf_done(&why);
    pthread_mutex_lock(&s->c->lock);
    if (!s->now)
        s->now = clock_wall();
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

static struct c_agent *agent(struct stage *s, const char *name)
{
    struct buf line = {0}, why = {0};
    struct c_agent *a = agent_by_name(s->c, span_str(name));
    if (!a)
        CHECK_STATUS(name,
                     agent_add(s->c, &(struct agent_form){.name = span_str(name), .is_trusted = true}, &a, &line, &why),
                     ST_OK);
    a->is_joined = true;
    a->heard_mono = clock_mono();
    s->c->o.move_after_ms = s->opts.move_after_ms;
    a->tasks_max = TASKS;
    a->activity = ACTIVITY_IDLE;
    save_agent(s->c, a);
    agent_tell_delegator(s->c, a);
    buf_done(&line);
    buf_done(&why);
    return a;
}

/* Unheard for longer than is waited for: a second, since the machine may have been started a minute ago, and its clock
 * with it. */
static void vanish(struct stage *s, struct c_agent *a)
{
    s->c->o.move_after_ms = 1000;
    a->heard_mono = clock_mono() - 1000;
}

static void settle(struct stage *s)
{
    for (int i = 0; i < 5; i++)
        assign_tick(s->c, clock_mono());
}

/* A channel of one site in a network of its own, with whoever is there. */
static struct c_channel *channel(struct stage *s, unsigned number, const struct recrawl_rule *rule)
{
    char url[96], host[64];
    snprintf(host, sizeof(host), "site%u.example", number);
    snprintf(url, sizeof(url), "http://%s/", host);
    struct span seed = span_str(url);
    struct channel_opts o = {.seeds = &seed, .seed_count = 1, .scope = SCOPE_SITE, .depth_max = 64};
    struct channel_form f = {.label = span_str(host)};
    struct c_channel *ch = NULL;
    struct buf why = {0};
    if (rule)
        f.rule = *rule;
    CHECK_STATUS(url, channel_new(&o, &f.channel, &why), ST_OK);
    CHECK_STATUS(url, channel_put(s->c, &f, &ch, &why), ST_OK);
    struct c_host *h = table_get(&s->c->hosts, siphash(&s->c->key, span_str(host)));
    struct addr addr = {4, {127, (unsigned char)(1 + number / 250), (unsigned char)(number % 250), 1}};
    assign_resolved(s->c, h, ST_OK, &addr);
    settle(s);
    assert_int_equal(ch->task_count, 1);
    buf_done(&why);
    return ch;
}

static struct c_channel *again(struct stage *s, uint64_t id)
{
    return channel_get(s->c, id);
}

/* Its agent has carried out its orders and says how far it is. */
static void report(struct stage *s, struct c_channel *ch, const struct visit_report *visit)
{
    struct c_task *t = ch->tasks[0];
    struct c_agent *a = agent_get(s->c, t->agent);
    a->orders_done = a->orders_given;
    t->progress.task = t->number;
    t->progress.state = TASK_DONE;
    t->progress.queued = 0;
    if (visit) {
        t->progress.has_visit = true;
        t->progress.visit = *visit;
    }
    recrawling_report(s->c, t, s->now);
}

static struct c_channel *crawled(struct stage *s, unsigned number, const struct recrawl_rule *rule)
{
    struct c_channel *ch = channel(s, number, rule);
    report(s, ch, NULL);
    recrawling_tick(s->c, s->now);
    return ch;
}

static void pass(struct stage *s, int64_t ms)
{
    s->now += ms;
    for (int i = 0; i < 4; i++)
        recrawling_tick(s->c, s->now);
}

static void visit_ends(struct stage *s, struct c_channel *ch, uint64_t looked, uint64_t changed)
{
    report(s, ch,
           &(struct visit_report){.number = ch->recrawl.visit, .looked = looked, .changed = changed, .took_ms = 60000});
    recrawling_tick(s->c, s->now);
}

static struct recrawling_view look(struct stage *s, const struct c_channel *ch)
{
    struct recrawling_view v;
    recrawling_look(s->c, ch, s->now, &v);
    return v;
}

struct found {
    uint64_t task;
    unsigned count;
    struct recheck_order last;
};

static status note_recheck(void *arg, uint64_t number, struct span packed)
{
    struct found *f = arg;
    struct order o;
    struct recheck_order r;
    CHECK_STATUS("order", order_unpack(packed, &o), ST_OK);
    if (o.kind != ORDER_RECHECK)
        return ST_OK;
    CHECK_STATUS("recheck", recheck_order_unpack(o.body, &r), ST_OK);
    if (r.task == f->task) {
        f->count++;
        f->last = r;
    }
    return ST_OK;
}

/* The visits that its agent was asked for, as they are on the disk. */
static struct found rechecks(struct stage *s, const struct c_channel *ch)
{
    struct found f = {.task = ch->tasks[0]->number};
    CHECK_STATUS("orders", fleet_order_each(s->c->fleet, ch->tasks[0]->agent, 0, note_recheck, &f), ST_OK);
    return f;
}

/* From here on fleet.db does not grow. */
static void fill_disk(bool is_full)
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

static bool is_under_way(const struct c_channel *ch)
{
    return ch->recrawl.asked != 0;
}

/* ---- tests ---- */

static void a_channel_is_visited_again_when_its_ceiling_lets_it(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *ch = channel(&s, 1, NULL);
    pass(&s, 48 * HOUR);
    assert_false(ch->recrawl.is_planned); /* its first crawl goes on */
    report(&s, ch, NULL);
    pass(&s, 0);
    assert_true(ch->recrawl.is_planned);
    assert_int_equal(rechecks(&s, ch).count, 0);
    /* A new channel is expected to change every four hours, and visited twice as often at most. */
    pass(&s, 2 * HOUR - MINUTE);
    assert_int_equal(rechecks(&s, ch).count, 0);
    CHECK("next", llabs(look(&s, ch).next - (s.now + MINUTE)) < MINUTE);
    pass(&s, 2 * MINUTE);
    struct found f = rechecks(&s, ch);
    assert_int_equal(f.count, 1);
    assert_int_equal(f.last.visit, 1);
    assert_int_equal(f.last.pages_max, COORD_RECRAWL_PAGES);
    assert_true(is_under_way(ch));
    pass(&s, 48 * HOUR); /* no other while this one goes on */
    assert_int_equal(rechecks(&s, ch).count, 1);
    stop(&s);
}

static void a_visit_that_cannot_be_written_down_is_ordered_later(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    uint64_t given = a->orders_given;
    fill_disk(true);
    pass(&s, 3 * HOUR);
    fill_disk(false);
    assert_int_equal(a->orders_given, given);
    assert_int_equal(rechecks(&s, ch).count, 0);
    assert_false(is_under_way(ch));
    assert_int_equal(a->visiting, 0);
    pass(&s, 3 * MINUTE);
    struct found f = rechecks(&s, ch);
    assert_int_equal(f.count, 1);
    assert_int_equal(f.last.visit, 1);
    assert_int_equal(a->orders_given, given + 1);
    assert_true(is_under_way(ch));
    stop(&s);
}

static void what_a_visit_found_is_learned_and_counted(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *quick = crawled(&s, 1, NULL), *slow = crawled(&s, 2, NULL);
    for (int i = 0; i < 40; i++) {
        pass(&s, 2 * HOUR);
        if (is_under_way(quick))
            visit_ends(&s, quick, 10, 10);
        if (is_under_way(slow))
            visit_ends(&s, slow, 10, 0);
    }
    struct recrawling_view q = look(&s, quick), l = look(&s, slow);
    CHECK("quick", q.successes >= 30 && q.updates == q.successes && q.submissions == q.successes);
    CHECK("slow", l.successes < 15 && l.successes > 3 && l.updates == 0);
    CHECK("rates", q.rate_a_day > 6 && l.rate_a_day < 1);
    CHECK("ranks", q.rank < l.rank);
    CHECK("surer", q.rate_factor < 2);
    assert_int_equal(q.looked, 10);
    assert_int_equal(q.changed, 10);
    assert_int_equal(q.took_ms, 60000);
    struct recrawling_figures f;
    recrawling_figures_get(s.c, s.now, &f);
    assert_int_equal(f.channels, 2);
    assert_int_equal(f.done, q.successes + l.successes);
    assert_int_equal(f.updated, q.updates);
    CHECK("freshness", f.freshness > 0 && f.freshness <= 1);
    CHECK("the mean", fabs(f.freshness - (q.freshness + l.freshness) / 2) < 1e-6);
    assert_int_equal(f.ranks[q.rank].channels, 1);
    assert_int_equal(f.stalest_count, 2);
    CHECK("the stalest first", f.stalest[0].loss >= f.stalest[1].loss);
    stop(&s);
}

/* One page of a hundred that is another each time does not make the whole of it new. */
static void a_change_counts_by_the_share_of_pages(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *all = crawled(&s, 1, NULL), *one = crawled(&s, 2, NULL);
    for (int i = 0; i < 40; i++) {
        pass(&s, 4 * HOUR);
        if (is_under_way(all))
            visit_ends(&s, all, 100, 100);
        if (is_under_way(one))
            visit_ends(&s, one, 100, 1);
    }
    struct recrawling_view a = look(&s, all), o = look(&s, one);
    CHECK("rate", o.rate_a_day * 8 < a.rate_a_day);
    CHECK("visits", o.successes < a.successes / 2);
    assert_int_equal(o.updates, o.successes); /* each brought something */
    stop(&s);
}

static void an_operators_word_is_kept(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct recrawl_rule never = {.is_never = true}, most = {.at_most_every = 24 * HOUR},
                        least = {.at_least_every = HOUR}, heavy = {.weight = 5};
    struct c_channel *n = crawled(&s, 1, &never), *m = crawled(&s, 2, &most), *l = crawled(&s, 3, &least),
                     *h = crawled(&s, 4, &heavy);
    for (int i = 0; i < 96; i++) {
        pass(&s, HOUR / 2 + 1000);
        struct c_channel *all[] = {n, m, l, h};
        for (int k = 0; k < 4; k++)
            if (is_under_way(all[k]))
                visit_ends(&s, all[k], 1, k == 1); /* whose changes cannot hurry it, and whose calm cannot slow it */
    }
    assert_int_equal(look(&s, n).submissions, 0);
    assert_int_equal(look(&s, n).next, 0);
    CHECK("at most", look(&s, m).submissions == 1 || look(&s, m).submissions == 2);
    CHECK("at least", look(&s, l).submissions >= 45);
    CHECK("weight", look(&s, h).weight > 4.99);
    struct recrawling_figures f;
    recrawling_figures_get(s.c, s.now, &f);
    CHECK("weights", f.weight > 7.9 && f.weight < 8.1);
    stop(&s);
}

static void links_from_other_sites_make_it_heavier(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    CHECK("alone", look(&s, ch).weight == 1);
    for (unsigned i = 2; i < 12; i++) {
        struct c_channel *from = channel(&s, i, NULL);
        recrawling_linked(s.c, ch, from);
        recrawling_linked(s.c, ch, from); /* once more is no more */
    }
    recrawling_linked(s.c, ch, ch);
    double weight = look(&s, ch).weight;
    CHECK("about eleven", weight > 8 && weight < 14);
    uint64_t id = ch->id;
    kill_and_start(&s);
    CHECK("written down", fabs(look(&s, again(&s, id)).weight - weight) < 1e-9);
    stop(&s);
}

static void new_channels_go_first_and_visits_keep_a_share(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    for (unsigned i = 0; i < TASKS; i++)
        crawled(&s, i + 1, NULL);
    a->tasks_busy = 3 * TASKS; /* as many that are new wait or run */
    pass(&s, 3 * HOUR);
    assert_int_equal(a->visiting, TASKS / 4);
    a->tasks_busy = TASKS / 2; /* most of them are done: the rest of its slots is free */
    for (int i = 0; i < 200; i++)
        pass(&s, 5000);
    assert_int_equal(a->visiting, TASKS / 2);
    a->tasks_busy = 0;
    for (int i = 0; i < 400; i++)
        pass(&s, 5000);
    assert_int_equal(a->visiting, TASKS);
    struct recrawling_figures f;
    recrawling_figures_get(s.c, s.now, &f);
    assert_int_equal(f.submitted, TASKS);
    stop(&s);
}

static void an_agent_that_is_away_is_not_asked(void **state)
{
    static const agent_activity held_up[] = {ACTIVITY_PAUSED, ACTIVITY_BUSY_MACHINE, ACTIVITY_SPOOL_FULL,
                                             ACTIVITY_DISK_FULL, ACTIVITY_QUOTA};
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    agent(&s, "berlin");
    struct c_channel *ch = crawled(&s, 1, NULL);
    struct c_agent *a = agent_get(s.c, ch->tasks[0]->agent);
    for (size_t i = 0; i < sizeof(held_up) / sizeof(*held_up); i++) {
        a->activity = held_up[i];
        pass(&s, 3 * HOUR);
        assert_int_equal(a->visiting, 0);
    }
    a->activity = ACTIVITY_WORKING;
    a->heard_mono = 0;
    pass(&s, HOUR);
    assert_int_equal(a->visiting, 0);
    struct recrawling_figures f;
    recrawling_figures_get(s.c, s.now, &f);
    CHECK("put off", f.declined > 0 && f.submitted == 0);
    agent(&s, a->name);
    for (int i = 0; i < 12; i++)
        pass(&s, MINUTE);
    assert_int_equal(a->visiting, 1);
    stop(&s);
}

static void a_lost_visit_is_made_up_for_after_a_pause(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    pass(&s, 3 * HOUR);
    assert_int_equal(rechecks(&s, ch).count, 1);
    vanish(&s, a);
    pass(&s, MINUTE);
    assert_false(is_under_way(ch));
    assert_int_equal(a->visiting, 0);
    assert_int_equal(ch->recrawl.losses, 1);
    agent(&s, "athens");
    pass(&s, 5 * MINUTE);
    assert_int_equal(rechecks(&s, ch).count, 1);
    for (int i = 0; i < 10; i++)
        pass(&s, MINUTE);
    assert_int_equal(rechecks(&s, ch).count, 2);
    /* A site that does not answer is left alone for longer each time. */
    int64_t before = 0;
    for (int round = 0; round < 4; round++) {
        report(&s, ch, &(struct visit_report){.number = ch->recrawl.visit, .looked = 3, .failed = 3, .took_ms = 1000});
        pass(&s, 1000);
        int64_t waited = 0;
        while (!is_under_way(ch) && waited < 48 * HOUR) {
            pass(&s, MINUTE);
            waited += MINUTE;
        }
        CHECK("longer", waited > before);
        before = waited;
    }
    assert_int_equal(look(&s, ch).successes, 0);
    visit_ends(&s, ch, 3, 0);
    assert_int_equal(ch->recrawl.losses, 0);
    assert_int_equal(look(&s, ch).successes, 1);
    stop(&s);
}

/* The site was asked, whatever we thought. */
static void a_visit_that_was_given_up_and_made_after_all_counts(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    pass(&s, 3 * HOUR);
    vanish(&s, a);
    pass(&s, MINUTE);
    assert_false(is_under_way(ch));
    agent(&s, "athens");
    visit_ends(&s, ch, 5, 0);
    assert_int_equal(look(&s, ch).successes, 1);
    for (int i = 0; i < 60; i++)
        pass(&s, MINUTE); /* it is closed again */
    assert_int_equal(rechecks(&s, ch).count, 1);
    stop(&s);
}

static void an_agent_that_does_not_begin_in_time_loses_the_visit(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    pass(&s, 3 * HOUR);
    pass(&s, 3 * HOUR);
    assert_true(is_under_way(ch)); /* a mean gap between changes is waited for */
    pass(&s, 2 * HOUR);
    assert_false(is_under_way(ch));
    stop(&s);
}

static void a_kill_loses_no_visit_and_makes_none_twice(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL), *other = crawled(&s, 2, NULL);
    uint64_t id = ch->id, other_id = other->id;
    pass(&s, 3 * HOUR);
    visit_ends(&s, other, 4, 4);
    struct recrawling_view before = look(&s, other);
    kill_and_start(&s);
    agent(&s, "athens");
    ch = again(&s, id);
    other = again(&s, other_id);
    assert_true(is_under_way(ch));
    assert_int_equal(ch->recrawl.awaited, 1);
    struct recrawling_view after = look(&s, other);
    CHECK("learned", fabs(after.rate_a_day - before.rate_a_day) < 1e-3 && after.successes == before.successes &&
                         after.updates == before.updates && after.visited / 1000 == before.visited / 1000);
    pass(&s, HOUR / 2);
    assert_int_equal(rechecks(&s, ch).count, 1);
    assert_int_equal(rechecks(&s, other).count, 1);
    visit_ends(&s, ch, 5, 1);
    assert_false(is_under_way(ch));
    assert_int_equal(look(&s, ch).successes, 1);
    kill_and_start(&s);
    agent(&s, "athens");
    ch = again(&s, id);
    assert_false(is_under_way(ch));
    report(&s, ch, &(struct visit_report){.number = ch->recrawl.visit, .looked = 5}); /* said again */
    pass(&s, 1000);
    assert_int_equal(look(&s, ch).successes, 1);
    stop(&s);
}

static void a_paused_channel_leaves_and_comes_back_as_it_was(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    pass(&s, 3 * HOUR);
    assert_int_equal(a->visiting, 1);
    ch->is_paused = true;
    recrawling_changed(s.c, ch);
    pass(&s, 48 * HOUR);
    assert_int_equal(a->visiting, 0);
    assert_int_equal(rechecks(&s, ch).count, 1);
    ch->is_paused = false;
    recrawling_changed(s.c, ch);
    pass(&s, 1000);
    assert_int_equal(rechecks(&s, ch).count, 2); /* long open */
    uint64_t id = ch->id;
    channel_remove(s.c, ch);
    for (int i = 0; i < 5; i++) {
        pass(&s, 1000);
        channels_tick(s.c, s.now);
    }
    ch = again(&s, id);
    CHECK("its task goes on", ch && ch->is_removed && !ch->recrawl.is_planned);
    ch->tasks[0]->is_ended = true;
    channels_tick(s.c, s.now);
    assert_null(again(&s, id));
    struct buf packed = {0};
    struct fleet_number key = fleet_number(id);
    CHECK_STATUS("its record", fleet_get(s.c->fleet, FLEET_RECRAWL, fleet_number_span(&key), &packed), ST_NOT_FOUND);
    stop(&s);
}

static void switching_keeps_what_was_learned(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    uint64_t id = ch->id;
    for (int i = 0; i < 20; i++) {
        pass(&s, 2 * HOUR);
        if (is_under_way(ch))
            visit_ends(&s, ch, 1, 1);
    }
    struct recrawling_view before = look(&s, ch);
    static const recrawl_strategy all[] = {RECRAWL_FIXED, RECRAWL_IIR, RECRAWL_ICR, RECRAWL_GREEDY};
    for (int i = 0; i < 4; i++) {
        recrawling_switch(s.c, all[i], false);
        pass(&s, 1000);
        recrawling_changed(s.c, ch); /* looked at anew */
        pass(&s, 1000);
        struct recrawling_view v = look(&s, ch);
        struct recrawling_figures f;
        recrawling_figures_get(s.c, s.now, &f);
        assert_int_equal(f.strategy, all[i]);
        CHECK(recrawl_strategy_name(all[i]), fabs(v.rate_a_day - before.rate_a_day) < 1e-3);
        for (int k = 0; k < 100 && !is_under_way(ch); k++)
            pass(&s, 15 * MINUTE);
        CHECK(recrawl_strategy_name(all[i]), is_under_way(ch));
        visit_ends(&s, ch, 2, 1);
        before = look(&s, ch);
    }
    recrawling_switch(s.c, RECRAWL_IIR, true);
    pass(&s, 96 * HOUR);
    assert_false(is_under_way(ch));
    assert_int_equal(look(&s, ch).next, 0);
    kill_and_start(&s);
    agent(&s, "athens");
    struct recrawling_figures f;
    recrawling_figures_get(s.c, s.now, &f);
    CHECK("as it was left", f.is_off && f.strategy == RECRAWL_IIR);
    assert_int_equal(look(&s, again(&s, id)).successes, before.successes);
    stop(&s);
    s.opts.recrawl = RECRAWL_FIXED; /* who starts it has the last word */
    start(&s);
    recrawling_figures_get(s.c, s.now, &f);
    CHECK("as it was started", !f.is_off && f.strategy == RECRAWL_FIXED);
    stop(&s);
}

static void a_person_is_obeyed_and_that_counts_as_a_visit(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    assert_true(recrawling_visit(s.c, ch, s.now, true, false));
    pass(&s, 1000);
    struct found f = rechecks(&s, ch);
    CHECK("whole", f.count == 1 && f.last.is_whole && f.last.pages_max == 0 && f.last.visit == 1);
    CHECK("busy", !recrawling_visit(s.c, ch, s.now, false, false));
    visit_ends(&s, ch, 7, 0);
    assert_int_equal(look(&s, ch).successes, 1);
    pass(&s, HOUR);
    assert_int_equal(rechecks(&s, ch).count, 1);
    stop(&s);
}

static void agents_of_before_are_understood(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    a->tasks_max = 0; /* they do not say */
    struct c_channel *ch = crawled(&s, 1, NULL);
    struct c_task *t = ch->tasks[0];
    t->progress.fetched = 100;
    pass(&s, 3 * HOUR);
    assert_true(is_under_way(ch));
    recrawling_report(s.c, t, s.now); /* of before the order */
    assert_true(is_under_way(ch));
    t->progress.fetched += 10;
    t->progress.unchanged += 4;
    t->progress.errors += 1;
    report(&s, ch, NULL);
    pass(&s, 1000);
    assert_false(is_under_way(ch));
    struct recrawling_view v = look(&s, ch);
    CHECK("guessed", v.looked == 11 && v.changed == 6 && v.failed == 1 && v.updates == 1);
    stop(&s);
}

static void a_network_moves_when_its_agent_has_no_slot_for_too_long(void **state)
{
    struct stage s = {0};
    start(&s);
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *first = crawled(&s, 1, NULL), *second = crawled(&s, 2, NULL);
    a->tasks_max = 1;
    agent(&s, "berlin");
    pass(&s, 3 * HOUR);
    assert_int_equal(a->visiting, 1);
    struct c_channel *waits = is_under_way(first) ? second : first;
    CHECK("one waits", !is_under_way(waits));
    report(&s, first, NULL); /* begun, and it goes on */
    struct recrawling_figures f;
    for (int i = 0; i < 300; i++)
        pass(&s, MINUTE);
    recrawling_figures_get(s.c, s.now, &f);
    assert_int_equal(f.forwarded, 1);
    struct c_host *h = table_get(&s.c->hosts, siphash(&s.c->key, waits->hosts[0]));
    CHECK("it leaves", h->network->state == NETWORK_LEAVING && h->network->next_agent != a->number);
    stop(&s);
}

/* With very many channels the plan's turns are made without the lock, on another thread. */
static void turns_without_the_lock_do_the_same(void **state)
{
    struct stage s = {0};
    start(&s);
    s.c->recrawling->at_once_max = 0;
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch[TASKS];
    for (unsigned i = 0; i < TASKS; i++)
        ch[i] = crawled(&s, i + 1, NULL);
    for (int i = 0; i < 2000 && a->visiting < TASKS; i++) {
        pass(&s, i ? 1000 : 3 * HOUR);
        pthread_mutex_unlock(&s.c->lock); /* somebody else's turn */
        usleep(1000);
        pthread_mutex_lock(&s.c->lock);
    }
    assert_int_equal(a->visiting, TASKS);
    for (unsigned i = 0; i < TASKS; i++)
        visit_ends(&s, ch[i], 3, 1);
    bool are_told = false;
    for (int i = 0; i < 2000 && !are_told; i++) {
        pass(&s, 1000);
        are_told = true;
        for (unsigned k = 0; k < TASKS; k++)
            are_told &= look(&s, ch[k]).successes == 1;
        pthread_mutex_unlock(&s.c->lock);
        usleep(1000);
        pthread_mutex_lock(&s.c->lock);
    }
    assert_true(are_told);
    stop(&s);
}

/* Until the turn that is made without the lock is over. */
static void let_turn(struct stage *s)
{
    for (int i = 0; i < 20000 && s->c->recrawling->is_turning; i++) {
        pthread_mutex_unlock(&s->c->lock);
        usleep(1000);
        pthread_mutex_lock(&s->c->lock);
    }
    assert_false(s->c->recrawling->is_turning);
}

static void a_visit_asked_for_while_the_plan_is_made_is_one(void **state)
{
    struct stage s = {0};
    start(&s);
    s.c->recrawling->at_once_max = 0;
    struct c_agent *a = agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    let_turn(&s);
    s.now += 3 * HOUR;
    recrawling_tick(s.c, s.now); /* the plan chooses it, and waits for the lock */
    assert_true(s.c->recrawling->is_turning);
    assert_true(recrawling_visit(s.c, ch, s.now, true, false));
    let_turn(&s);
    assert_int_equal(rechecks(&s, ch).count, 1);
    assert_int_equal(ch->recrawl.awaited, 1);
    assert_int_equal(a->visiting, 1);
    for (int i = 0; i < 3; i++) {
        recrawling_tick(s.c, s.now += 1000);
        let_turn(&s);
    }
    assert_int_equal(rechecks(&s, ch).count, 1);
    visit_ends(&s, ch, 3, 1);
    let_turn(&s);
    assert_false(is_under_way(ch));
    assert_int_equal(a->visiting, 0);
    for (int i = 0; i < 100 && !is_under_way(ch); i++) {
        recrawling_tick(s.c, s.now += HOUR);
        let_turn(&s);
    }
    assert_int_equal(rechecks(&s, ch).count, 2);
    assert_int_equal(a->visiting, 1);
    stop(&s);
}

static void a_folder_of_before_goes_on(void **state)
{
    struct stage s = {0};
    start(&s);
    agent(&s, "athens");
    struct c_channel *ch = crawled(&s, 1, NULL);
    uint64_t id = ch->id;
    ch->added = s.now - 100 * HOUR; /* as that one wrote it: no record of visits, and when it was checked */
    ch->checked = s.now - 25 * HOUR;
    save_channel(s.c, ch);
    forget_recrawl(s.c, ch);
    kill_and_start(&s);
    agent(&s, "athens");
    ch = again(&s, id);
    assert_true(ch->recrawl.is_planned);
    CHECK("visited", look(&s, ch).visited / 1000 == (s.now - 25 * HOUR) / 1000);
    ch->tasks[0]->progress.state = TASK_DONE;
    pass(&s, 1000);
    assert_int_equal(rechecks(&s, ch).count, 1);
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_channel_is_visited_again_when_its_ceiling_lets_it),
        TEST_IN_FOLDER(a_visit_that_cannot_be_written_down_is_ordered_later),
        TEST_IN_FOLDER(what_a_visit_found_is_learned_and_counted),
        TEST_IN_FOLDER(a_change_counts_by_the_share_of_pages),
        TEST_IN_FOLDER(an_operators_word_is_kept),
        TEST_IN_FOLDER(links_from_other_sites_make_it_heavier),
        TEST_IN_FOLDER(new_channels_go_first_and_visits_keep_a_share),
        TEST_IN_FOLDER(an_agent_that_is_away_is_not_asked),
        TEST_IN_FOLDER(a_lost_visit_is_made_up_for_after_a_pause),
        TEST_IN_FOLDER(a_visit_that_was_given_up_and_made_after_all_counts),
        TEST_IN_FOLDER(an_agent_that_does_not_begin_in_time_loses_the_visit),
        TEST_IN_FOLDER(a_kill_loses_no_visit_and_makes_none_twice),
        TEST_IN_FOLDER(a_paused_channel_leaves_and_comes_back_as_it_was),
        TEST_IN_FOLDER(switching_keeps_what_was_learned),
        TEST_IN_FOLDER(a_person_is_obeyed_and_that_counts_as_a_visit),
        TEST_IN_FOLDER(agents_of_before_are_understood),
        TEST_IN_FOLDER(a_network_moves_when_its_agent_has_no_slot_for_too_long),
        TEST_IN_FOLDER(turns_without_the_lock_do_the_same),
        TEST_IN_FOLDER(a_visit_asked_for_while_the_plan_is_made_is_one),
        TEST_IN_FOLDER(a_folder_of_before_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
