/* agent_world.h - the whole agent, but for its main(), and its world: a coordinator that gives orders by a script, and
 * a small site. */
#pragma once

#include "test.h"

#include "agent/agent.h"
#include "agent/update.h"
#include "crawl/channel.h"
#include "fake_coordinator.h"
#include "test_folder.h"

#define SITE_PAGES 12

/* ---- a site ---- */

struct site {
    struct httpd *httpd;
    atomic_uint requests;
    atomic_int edition; /* page 3 tells it */
};

static inline void site_page(void *self, const struct httpd_request *req, struct httpd_answer *ans)
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

static inline void site_start(struct site *s)
{
    struct httpd_opts o = {.fn = site_page, .self = s};
    CHECK_STATUS("loopback", addr_parse(SPAN("127.0.0.1"), &o.addr), ST_OK);
    CHECK_STATUS("the site starts", httpd_new(&o, &s->httpd), ST_OK);
}

/* ---- an agent ---- */

static inline void to_stderr(void *self, log_level level, struct span line)
{
    if (getenv("TEST_VERBOSE"))
        fprintf(stderr, "%.*s\n", SPAN_ARG(line));
}

static const struct log test_log = {.level = LOG_DEBUG, .sink = to_stderr};

static inline void conf_of(struct conf *c, const char *const *more)
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

static inline void run_agent(struct fake *f, const char *const *more, agent_end want)
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
    uint64_t done_on_full_disk, taken_on_full_disk;
};

static inline void world_start(struct world *w, fake_script *script)
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

static inline void world_stop(struct world *w)
{
    fake_stop(&w->fake);
    httpd_free(w->site.httpd);
    buf_done(&w->seed);
    buf_done(&w->channel);
}

static inline void order_settings(struct fake *f)
{
    struct buf body = {0};
    agent_settings_pack(&(struct agent_settings){.state = AGENT_RUN, .package_age_ms = 100, .poll_ms = 1000}, &body);
    fake_order(f, ORDER_SETTINGS, buf_span(&body));
    buf_done(&body);
}

static inline void order_task(struct world *w, const char *network)
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

static inline void order_end(struct fake *f)
{
    struct buf body = {0};
    end_order_pack(&(struct end_order){.task = 1}, &body);
    fake_order(f, ORDER_END_TASK, buf_span(&body));
    buf_done(&body);
}

static inline bool task_is(const struct report *r, task_state s)
{
    return r->task_count == 1 && r->tasks[0].state == s;
}

static inline bool all_done(const struct fake *f)
{
    return f->orders_done == f->forgotten + f->order_count;
}

static inline size_t visits_of(const struct fake *f, const char *end)
{
    size_t n = 0;
    for (size_t i = 0; i < f->visit_count; i++)
        n += span_ends(span_str(f->visits[i]), span_str(end));
    return n;
}

/* A script: fetch two pages, and one that is not of the web. */
static inline void script_fetch(struct fake *f, const struct report *r)
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
