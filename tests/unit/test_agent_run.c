/* The whole agent, but for its main(), against a coordinator and a site that live in this test. */
#include "test.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/parts.h"
#include "agent/update.h"
#include "codec/armor.h"
#include "crawl/channel.h"
#include "fake_coordinator.h"
#include "plan/frontier.h"
#include "store/file.h"
#include "test_folder.h"
#include "wire/release.h"

#define SITE_PAGES 12

/* ---- a site ---- */

struct site {
    struct httpd *httpd;
    atomic_uint requests;
    atomic_int edition; /* page 3 tells it */
};

static void site_page(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct site *s = self;
    struct span number = span_from(req->target, 2);
    uint64_t n = 0;
    atomic_fetch_add(&s->requests, 1);
    if (span_is(req->target, "/robots.txt")) {
        ans->status = 404;
        return;
    }
    if (req->target.n > 1 && (!span_u64(number, SITE_PAGES - 1, &n) || req->target.p[1] != 'p')) {
        ans->status = 404;
        return;
    }
    buf_puts(&ans->head, "Content-Type: text/html\n");
    buf_printf(&ans->body, "<title>Page %d</title><p>This is page number %d of a small site", (int)n, (int)n);
    if (n == 3)
        buf_printf(&ans->body, " in its edition %d", atomic_load(&s->edition));
    buf_printf(&ans->body, ".<a href=\"/p%d\">next</a> <a href=\"http://elsewhere.example/%d\">elsewhere</a>",
               (int)n + 1, (int)n);
}

static void site_start(struct site *s)
{
    struct httpd_opts o = {.fn = site_page, .self = s};
    CHECK_STATUS("loopback", addr_parse(SPAN("127.0.0.1"), &o.addr), ST_OK);
    CHECK_STATUS("the site starts", httpd_new(&o, &s->httpd), ST_OK);
}

/* ---- an agent ---- */

static void to_stderr(void *self, log_level level, struct span line)
{
    if (getenv("TEST_VERBOSE"))
        fprintf(stderr, "%.*s\n", SPAN_ARG(line));
}

static const struct log test_log = {.level = LOG_DEBUG, .sink = to_stderr};

static void conf_of(struct conf *c, const char *const *more)
{
    struct buf err = {0};
    const char *args[40] = {"--data", test_folder(), "--allow-private", "--delay", "0", "--shards", "1"};
    int n = 7;
    while (*more)
        args[n++] = *more++;
    conf_init(c);
    if (!conf_from_args(c, n, (char *const *)args, &err) || !conf_check(c, &err))
        fail_msg("%s", buf_cstr(&err));
    buf_done(&err);
}

static void run_agent(struct fake *f, const char *const *more, agent_end want)
{
    struct conf c;
    struct buf line = {0}, why = {0};
    struct update_try update = {0};
    agent_end end = END_NONE;
    conf_of(&c, more);
    struct agent_opts o = {.conf = &c, .log = &test_log, .version = SPAN("0.1.0")};
    fake_line(f, &line);
    status st = agent_join(&o, buf_span(&line), &why);
    if (st != ST_OK && st != ST_EXISTS)
        fail_msg("join: %s: %s", status_name(st), buf_cstr(&why));
    st = agent_run(&o, &end, &update, &why);
    if (st != ST_OK)
        fail_msg("run: %s: %s", status_name(st), buf_cstr(&why));
    pthread_mutex_lock(&f->lock); /* what it was told before is seen here now */
    pthread_mutex_unlock(&f->lock);
    assert_int_equal(end, want);
    update_try_done(&update);
    buf_done(&line);
    buf_done(&why);
    conf_done(&c);
}

/* ---- orders ---- */

struct world {
    struct fake fake; /* first: the scripts cast */
    struct site site;
    struct buf seed, channel;
    struct probe_report probes[8]; /* as they came, without their texts */
    size_t probe_count;
    struct visit_report visit;
    uint64_t done_on_full_disk;
};

static void world_start(struct world *w, fake_script *script)
{
    struct buf why = {0};
    struct channel *c = NULL;
    *w = (struct world){0};
    fake_start(&w->fake);
    w->fake.script = script;
    site_start(&w->site);
    buf_printf(&w->seed, "http://127.0.0.1:%d/", httpd_port(w->site.httpd));
    struct span seed = buf_span(&w->seed);
    CHECK_STATUS("a channel",
                 channel_new(&(struct channel_opts){.seeds = &seed, .seed_count = 1, .depth_max = 64}, &c, &why),
                 ST_OK);
    channel_pack(c, &w->channel);
    channel_free(c);
    buf_done(&why);
}

static void world_stop(struct world *w)
{
    fake_stop(&w->fake);
    httpd_free(w->site.httpd);
    buf_done(&w->seed);
    buf_done(&w->channel);
}

static void order_settings(struct fake *f)
{
    struct buf body = {0};
    agent_settings_pack(&(struct agent_settings){.state = AGENT_RUN, .package_age_ms = 100, .poll_ms = 1000}, &body);
    fake_order(f, ORDER_SETTINGS, buf_span(&body));
    buf_done(&body);
}

static void order_task(struct world *w, const char *network)
{
    struct buf body = {0};
    struct span networks[] = {span_str(network)};
    struct buf country = {0};
    buf_printf(&country, "DE %s", network);
    struct span countries[] = {buf_span(&country)};
    task_order_pack(&(struct task_order){.task = 1,
                                         .channel = buf_span(&w->channel),
                                         .kind = SUMMARY_TEXT,
                                         .networks = networks,
                                         .network_count = 1,
                                         .countries = countries,
                                         .country_count = 1},
                    &body);
    fake_order(&w->fake, ORDER_TASK, buf_span(&body));
    buf_done(&country);
    buf_done(&body);
}

static void order_end(struct fake *f)
{
    struct buf body = {0};
    end_order_pack(&(struct end_order){.task = 1}, &body);
    fake_order(f, ORDER_END_TASK, buf_span(&body));
    buf_done(&body);
}

static bool task_is(const struct report *r, task_state s)
{
    return r->task_count == 1 && r->tasks[0].state == s;
}

static bool all_done(const struct fake *f)
{
    return f->orders_done == f->forgotten + f->order_count;
}

static size_t visits_of(const struct fake *f, const char *end)
{
    size_t n = 0;
    for (size_t i = 0; i < f->visit_count; i++)
        n += span_ends(span_str(f->visits[i]), span_str(end));
    return n;
}

/* ---- scripts ---- */

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

/* An agent of the same name carried out orders before: this folder knows nothing of them. */
static void script_forgotten(struct fake *f, const struct report *r)
{
    struct world *w = (struct world *)f;
    if (f->step == 0) {
        f->forgotten = 57;
        order_settings(f);
        order_task(w, "127.0.0.0/24");
        f->step = 1;
    } else if (f->step == 1 && all_done(f) && f->visit_count >= SITE_PAGES) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 2;
    }
}

static void goes_on_with_orders_after_those_that_it_does_not_know(void **state)
{
    struct world w;
    static const char *const more[] = {NULL};
    world_start(&w, script_forgotten);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.fake.orders_done, 60);
    world_stop(&w);
}

/* The disk is full for a while: an order that is not written down is not done. */
static void script_full(struct fake *f, const struct report *r)
{
    struct world *w = (struct world *)f;
    if (f->step == 0) {
        order_settings(f);
        file_inject_fault(0, ENOSPC);
        f->polls = 0;
        f->step = 1;
    } else if (f->step == 1 && f->polls == 5) {
        w->done_on_full_disk = r->orders_done;
        file_inject_fault(0, 0);
        f->step = 2;
    } else if (f->step == 2 && all_done(f)) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 3;
    }
}

static void an_order_is_done_when_it_is_on_the_disk(void **state)
{
    struct world w;
    static const char *const more[] = {NULL};
    world_start(&w, script_full);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.fake.step, 3);
    assert_int_equal(w.done_on_full_disk, 0);
    world_stop(&w);
}

/* A coordinator that is busy now and then, draws a new nonce, and wants a new key. */
static void script_rekey(struct fake *f, const struct report *r)
{
    struct world *w = (struct world *)f;
    if (f->step == 0) {
        order_settings(f);
        order_task(w, "127.0.0.0/24");
        f->busy = 2;
        f->step = 1;
    } else if (f->step == 1 && task_is(r, TASK_DONE) && f->visit_count >= SITE_PAGES) {
        memset(f->nonce, 77, sizeof(f->nonce)); /* as after a restart */
        f->window = (struct auth_window){0};
        fake_order(f, ORDER_REKEY, (struct span){0});
        f->step = 2;
    } else if (f->step == 2 && all_done(f)) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 3;
    }
}

static void takes_a_new_key_when_told(void **state)
{
    struct world w;
    static const char *const more[] = {NULL};
    world_start(&w, script_rekey);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.fake.rekeys, 1);
    assert_int_equal(w.fake.outcome_count, 1);
    assert_int_equal(w.fake.outcomes[0].st, ST_OK);
    world_stop(&w);
}

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

static void script_fetch(struct fake *f, const struct report *r)
{
    struct world *w = (struct world *)f;
    struct buf body = {0};
    if (f->step == 0) {
        struct buf second = {0};
        buf_put(&second, buf_span(&w->seed));
        buf_puts(&second, "p5");
        struct span urls[] = {buf_span(&w->seed), buf_span(&second), SPAN("ftp://127.0.0.1/")};
        fetch_order_pack(&(struct fetch_order){.urls = urls, .url_count = 3}, &body);
        fake_order(f, ORDER_FETCH, buf_span(&body));
        buf_done(&second);
        f->step = 1;
    } else if (f->step == 1 && all_done(f)) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 2;
    }
    buf_done(&body);
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

static void fetches_pages_for_a_comparison(void **state)
{
    struct world w;
    struct fetched_page p[3];
    static const char *const more[] = {NULL};
    world_start(&w, script_fetch);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.fake.part_count, 3);
    for (size_t i = 0; i < 3; i++)
        CHECK_STATUS("a page", fetched_page_unpack(buf_span(&w.fake.parts[i]), &p[i]), ST_OK);
    assert_int_equal(p[0].http_status, 200);
    assert_int_equal(p[1].http_status, 200);
    assert_int_equal(p[2].http_status, 0);
    CHECK("digests differ", p[0].digest && p[1].digest && p[0].digest != p[1].digest);
    CHECK("sketches are near", __builtin_popcountll(p[0].sketch ^ p[1].sketch) < 32);
    world_stop(&w);
}

static void script_unknown(struct fake *f, const struct report *r)
{
    if (f->step == 0) {
        struct buf body = {0};
        fake_order(f, (order_kind)99, SPAN("whatever"));
        program_order_pack(
            &(struct program_order){.name = SPAN("prices"), .serial = 1, .bytes = SPAN("orb-program 1\n")}, &body);
        fake_order(f, ORDER_PROGRAM, buf_span(&body));
        buf_clear(&body);
        update_order_pack(&(struct update_order){.version = SPAN("9.9"),
                                                 .digest = SPAN("12345678901234567890123456789012"),
                                                 .bytes = 10,
                                                 .machine = SPAN("x")},
                          &body);
        fake_order(f, ORDER_UPDATE, buf_span(&body));
        buf_done(&body);
        f->step = 1;
    } else if (f->step == 1 && all_done(f)) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 2;
    }
}

static void answers_orders_that_it_does_not_carry_out(void **state)
{
    struct world w;
    static const char *const more[] = {NULL};
    world_start(&w, script_unknown);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.fake.outcome_count, 3);
    assert_int_equal(w.fake.outcomes[0].st, ST_UNSUPPORTED);
    assert_int_equal(w.fake.outcomes[1].st, ST_REFUSED);
    assert_int_equal(w.fake.outcomes[2].st, ST_REFUSED);
    world_stop(&w);
}

/* ---- probes ---- */

static void script_probes(struct fake *f, const struct report *r)
{
    struct world *w = (struct world *)f;
    for (size_t i = 0; i < r->probe_count && w->probe_count < 8; i++)
        w->probes[w->probe_count++] = r->probes[i];
    if (f->step == 0) {
        struct buf body = {0};
        const struct probe_ask asks[] = {{.id = 1, .url = buf_span(&w->seed), .samples = 2},
                                         {.id = 2, .url = buf_span(&w->seed), .kind = 2, .samples = 1},
                                         {.id = 3, .address = SPAN("127.9.0.1"), .kind = 1}};
        order_settings(f);
        probe_order_pack(&(struct probe_order){asks, 3}, &body);
        fake_order(f, ORDER_PROBE, buf_span(&body));
        buf_clear(&body);
        field_text(&body, 1, SPAN("no fields"));
        fake_order(f, ORDER_PROBE, buf_span(&body));
        buf_done(&body);
        f->step = 1;
    } else if (f->step == 1 && all_done(f) && w->probe_count >= 3) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 2;
    }
}

static void carries_out_probes_and_tells_what_came_of_them(void **state)
{
    struct world w;
    static const char *const more[] = {"--refuse-network", "127.9.0.0/16", NULL};
    static const status want[] = {ST_OK, ST_OK, ST_REFUSED};
    world_start(&w, script_probes);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.probe_count, 3); /* each once */
    for (uint64_t id = 1; id <= 3; id++) {
        const struct probe_report *p = NULL;
        for (size_t i = 0; i < 3; i++)
            if (w.probes[i].id == id)
                p = &w.probes[i];
        CHECK("a result", p != NULL);
        CHECK_STATUS("result", p->st, want[id - 1]);
        assert_int_equal(p->samples, id == 1 ? 2 : id == 2 ? 1 : 0);
        assert_int_equal(p->kind, id == 2 ? 2 : 1);
    }
    assert_int_equal(w.fake.refused_count, 1); /* and the owner is told */
    assert_int_equal(w.fake.outcome_count, 1);
    CHECK_STATUS("an order that cannot be read", w.fake.outcomes[0].st, ST_INVALID);
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

/* ---- a new version ---- */

static void script_update(struct fake *f, const struct report *r)
{
    struct buf machine = {0}, message = {0}, body = {0};
    struct signature sig;
    struct digest256 d;
    if (f->step++ != 0)
        return;
    buf_puts(&f->blob, "#!/bin/sh\n# in several pieces\nexit 0\n");
    d = digest_blake2b256(buf_span(&f->blob));
    machine_name(&machine);
    release_message(SPAN("9.9"), buf_span(&machine), span_of(d.b, sizeof(d.b)), &message);
    sign_make(&f->key, buf_span(&message), &sig); /* any key will do */
    update_order_pack(&(struct update_order){.version = SPAN("9.9"),
                                             .digest = span_of(d.b, sizeof(d.b)),
                                             .bytes = f->blob.n,
                                             .sig = span_of(sig.b, sizeof(sig.b)),
                                             .machine = buf_span(&machine)},
                      &body);
    fake_order(f, ORDER_UPDATE, buf_span(&body));
    buf_done(&machine);
    buf_done(&message);
    buf_done(&body);
}

static void fetches_a_signed_update_and_ends_to_try_it(void **state)
{
    struct world w;
    struct buf key = {0}, path = {0};
    world_start(&w, script_update);
    base64url_put(&key, span_of(w.fake.key.open.b, sizeof(w.fake.key.open.b)));
    const char *const more[] = {"--update-key", buf_cstr(&key), NULL};
    run_agent(&w.fake, more, END_UPDATE);
    update_path(test_folder(), SPAN("9.9"), &path);
    assert_int_equal(access(path.p, X_OK), 0);
    assert_int_equal(w.fake.orders_done, 0); /* the new version will say so */
    buf_done(&key);
    buf_done(&path);
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
        execl("/proc/self/exe", "test_agent_run", "--agent", test_folder(), buf_cstr(&line), (char *)NULL);
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
        TEST_IN_FOLDER(sends_what_is_new_and_hands_over_at_the_end),
        TEST_IN_FOLDER(a_network_that_comes_back_before_it_has_left_stays),
        TEST_IN_FOLDER(reports_hosts_outside_its_networks),
        TEST_IN_FOLDER(keeps_to_the_owners_refusals),
        TEST_IN_FOLDER(keeps_to_the_countries_that_the_owner_refuses),
        TEST_IN_FOLDER(goes_on_with_orders_after_those_that_it_does_not_know),
        TEST_IN_FOLDER(an_order_is_done_when_it_is_on_the_disk),
        TEST_IN_FOLDER(takes_a_new_key_when_told),
        TEST_IN_FOLDER(sends_again_what_a_restored_coordinator_lost),
        TEST_IN_FOLDER(fetches_pages_for_a_comparison),
        TEST_IN_FOLDER(fetches_nothing_of_a_site_that_the_owner_refuses),
        TEST_IN_FOLDER(answers_orders_that_it_does_not_carry_out),
        TEST_IN_FOLDER(carries_out_probes_and_tells_what_came_of_them),
        TEST_IN_FOLDER(hands_over_more_than_a_report_holds),
        TEST_IN_FOLDER(fetches_a_signed_update_and_ends_to_try_it),
        TEST_IN_FOLDER(a_killed_agent_loses_and_doubles_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
