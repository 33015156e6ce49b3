/* A site announces changes: a real coordinator on a real folder, asked over HTTP; its agent is the test's. */
#include "test.h"

#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/channels.h"
#include "coord/coord.h"
#include "coord/pings.h"
#include "coord/recrawling.h"
#include "io/clock.h"
#include "io/http_call.h"
#include "test_folder.h"

#define KEY "0123456789abcdef"
#define SITE "http://site.example/"

struct stage {
    struct coord *c;
    struct http_caller *caller;
    struct http_answer answer;
    struct c_agent *agent;
    struct c_channel *channel;
};

static void add_agent(struct stage *s)
{
    struct buf line = {0}, why = {0};
    CHECK_STATUS(
        "agent",
        agent_add(s->c, &(struct agent_form){.name = SPAN("athens"), .is_trusted = true}, &s->agent, &line, &why),
        ST_OK);
    s->agent->is_joined = true;
    s->agent->heard_mono = clock_mono();
    s->agent->tasks_max = 8;
    s->agent->activity = ACTIVITY_IDLE;
    agent_tell_delegator(s->c, s->agent);
    buf_done(&line);
    buf_done(&why);
}

/* Its agent has crawled it for the first time. */
static void add_channel(struct stage *s)
{
    static const struct span seed = SPAN_INIT(SITE);
    struct channel_opts o = {.seeds = &seed, .seed_count = 1, .scope = SCOPE_SITE, .depth_max = 64};
    struct channel_form f = {.label = SPAN("site")};
    struct buf why = {0};
    CHECK_STATUS("channel", channel_new(&o, &f.channel, &why), ST_OK);
    CHECK_STATUS("channel", channel_put(s->c, &f, &s->channel, &why), ST_OK);
    struct c_host *h = table_get(&s->c->hosts, siphash(&s->c->key, SPAN("site.example")));
    assign_resolved(s->c, h, ST_OK, &(struct addr){4, {127, 1, 1, 1}});
    for (int i = 0; i < 5; i++)
        assign_tick(s->c, clock_mono());
    assert_int_equal(s->channel->task_count, 1);
    struct c_task *t = s->channel->tasks[0];
    t->progress.task = t->number;
    t->progress.state = TASK_DONE;
    s->agent->orders_done = s->agent->orders_given;
    recrawling_report(s->c, t, clock_wall());
    recrawling_tick(s->c, clock_wall());
    buf_done(&why);
}

static void start(struct stage *s)
{
    struct buf why = {0}, base = {0};
    struct coord_opts o = {.data_dir = test_folder(),
                           .addr = {4, {127, 0, 0, 1}},
                           .admin_addr = {4, {127, 0, 0, 1}},
                           .is_plain = true,
                           .allow_private = true,
                           .strategy = DELEGATE_HASH,
                           .seed = 1,
                           .version = SPAN("test")};
    *s = (struct stage){0};
    if (coord_new(&o, &s->c, &why) != ST_OK)
        fail_msg("coordinator: %s", buf_cstr(&why));
    buf_printf(&base, "http://127.0.0.1:%d", coord_port(s->c));
    CHECK_STATUS("caller", http_caller_new(&(struct http_caller_opts){.base = buf_span(&base)}, &s->caller), ST_OK);
    pthread_mutex_lock(&s->c->lock);
    add_agent(s);
    add_channel(s);
    pthread_mutex_unlock(&s->c->lock);
    buf_done(&why);
    buf_done(&base);
}

static void stop(struct stage *s)
{
    http_answer_done(&s->answer);
    http_caller_free(s->caller);
    coord_free(s->c);
}

static int call(struct stage *s, const char *method, const char *target, const char *body)
{
    struct http_call k = {
        .method = method, .target = span_str(target), .body = span_str(body), .answer_max = 10000, .timeout_ms = 20000};
    CHECK_STATUS(target, http_call(s->caller, &k, &s->answer), ST_OK);
    return s->answer.status;
}

static int announce(struct stage *s, const char *path, const char *key)
{
    struct buf body = {0};
    buf_printf(&body, "{\"host\":\"site.example\",\"key\":\"%s\",\"urlList\":[\"http://site.example%s\"]}", key, path);
    int code = call(s, "POST", "/api/v1/ping", buf_cstr(&body));
    buf_done(&body);
    return code;
}

/* The newest order of a kind, as it is on the disk. */
struct newest {
    order_kind kind;
    uint64_t number;
    unsigned count;
    struct buf body;
};

static status note_order(void *arg, uint64_t number, struct span packed)
{
    struct newest *n = arg;
    struct order o;
    CHECK_STATUS("order", order_unpack(packed, &o), ST_OK);
    if (o.kind == n->kind) {
        n->number = o.number;
        n->count++;
        buf_clear(&n->body);
        buf_put(&n->body, o.body);
    }
    return ST_OK;
}

static struct newest newest(struct stage *s, order_kind kind)
{
    struct newest n = {.kind = kind};
    pthread_mutex_lock(&s->c->lock);
    CHECK_STATUS("orders", fleet_order_each(s->c->fleet, s->agent->number, 0, note_order, &n), ST_OK);
    pthread_mutex_unlock(&s->c->lock);
    return n;
}

/* The agent says what it found where it was told to look. */
static void find_key(struct stage *s, int http_status, const char *text)
{
    struct newest n = newest(s, ORDER_FETCH);
    struct arena a;
    struct fetch_order f;
    struct buf page = {0};
    arena_init(&a);
    assert_int_equal(n.count, 1);
    CHECK_STATUS("fetch", fetch_order_unpack(&a, buf_span(&n.body), &f), ST_OK);
    assert_int_equal(f.url_count, 1);
    CHECK_SPAN("where", f.urls[0], SPAN(SITE KEY ".txt"));
    fetched_page_pack(
        &(struct fetched_page){.url = f.urls[0], .http_status = (uint16_t)http_status, .text = span_str(text)}, &page);
    struct span part = buf_span(&page);
    pthread_mutex_lock(&s->c->lock);
    pings_outcome(s->c, s->agent, &(struct outcome){.number = n.number, .st = ST_OK, .parts = &part, .part_count = 1});
    pthread_mutex_unlock(&s->c->lock);
    arena_done(&a);
    buf_done(&page);
    buf_done(&n.body);
}

static bool is_told(struct stage *s)
{
    pthread_mutex_lock(&s->c->lock);
    recrawling_tick(s->c, clock_wall());
    bool is = s->channel->recrawl.plan.is_told;
    pthread_mutex_unlock(&s->c->lock);
    return is;
}

static void a_site_that_shows_its_key_is_heard(void **state)
{
    struct stage s;
    struct told_order t;
    struct pings_counts counts;
    start(&s);
    assert_int_equal(announce(&s, "/a?utm_source=x#y", KEY), 202);
    struct newest told = newest(&s, ORDER_TOLD);
    assert_int_equal(told.count, 0);
    assert_false(is_told(&s));
    find_key(&s, 200, KEY "\n");
    told = newest(&s, ORDER_TOLD);
    assert_int_equal(told.count, 1);
    CHECK_STATUS("told", told_order_unpack(buf_span(&told.body), &t), ST_OK);
    CHECK_SPAN("its page, as we call it", t.urls, SPAN(SITE "a\n"));
    assert_int_equal(t.task, s.channel->tasks[0]->number);
    assert_true(is_told(&s));
    /* Nothing is asked for that would not have been. */
    struct newest recheck = newest(&s, ORDER_RECHECK);
    assert_int_equal(recheck.count, 0);
    assert_int_equal(announce(&s, "/b", KEY), 429);
    assert_true(http_answer_header(&s.answer, "Retry-After").n > 0);
    pings_count(s.c, &counts);
    assert_int_equal(counts.taken, 1);
    assert_int_equal(counts.held, 1);
    assert_int_equal(counts.pages, 1);
    assert_int_equal(counts.keys_waiting, 0);
    buf_done(&told.body);
    buf_done(&recheck.body);
    stop(&s);
}

static void a_key_that_is_not_there_is_worth_nothing(void **state)
{
    static const struct {
        const char *label;
        int http_status;
        const char *text;
    } cases[] = {{"another", 200, "fedcba9876543210"},
                 {"no file", 404, KEY},
                 {"not allowed, or no answer", 0, ""},
                 {"an agent of before, or a long file", 200, ""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct stage s;
        start(&s);
        CHECK(cases[i].label, announce(&s, "/a", KEY) == 202);
        find_key(&s, cases[i].http_status, cases[i].text);
        struct newest told = newest(&s, ORDER_TOLD);
        CHECK(cases[i].label, told.count == 0 && !is_told(&s));
        CHECK(cases[i].label, announce(&s, "/a", KEY) == 403);
        buf_done(&told.body);
        stop(&s);
        test_folder_remove(NULL);
        test_folder_make(NULL);
    }
}

static void strangers_are_told_what_is_wrong(void **state)
{
    static const struct {
        const char *method, *target, *body;
        int want;
        const char *phrase;
    } cases[] = {
        {"POST", "/api/v1/ping", "", 400, "not_understood"},
        {"POST", "/api/v1/ping", "[]", 400, "not_understood"},
        {"GET", "/api/v1/ping", "", 400, "url and key"},
        {"GET", "/api/v1/ping?url=http%3A%2F%2Fsite.example%2Fa&key=short", "", 422, "not_allowed"},
        {"GET", "/api/v1/ping?url=http%3A%2F%2Fother.example%2F&key=" KEY, "", 422, "unknown_site"},
        {"DELETE", "/api/v1/ping", "", 405, "method"},
        {"GET", "/api/v1/ping?url=http%3A%2F%2Fsite.example%2Fa&key=" KEY, "", 202, "held"},
    };
    struct stage s;
    start(&s);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int got = call(&s, cases[i].method, cases[i].target, cases[i].body);
        if (got != cases[i].want || !strstr(buf_cstr(&s.answer.body), cases[i].phrase))
            fail_msg("%s %s: %d %s", cases[i].method, cases[i].target, got, buf_cstr(&s.answer.body));
    }
    stop(&s);
}

static void a_client_has_so_many_calls(void **state)
{
    struct stage s;
    int code = 0, calls = 0;
    start(&s);
    for (; code != 429 && calls < 2000; calls++)
        code = call(&s, "POST", "/api/v1/ping", "{}");
    assert_in_range(calls, 500, 1500); /* of loopback: twenty times 30, and ten a second */
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_site_that_shows_its_key_is_heard),
        TEST_IN_FOLDER(a_key_that_is_not_there_is_worth_nothing),
        TEST_IN_FOLDER(strangers_are_told_what_is_wrong),
        TEST_IN_FOLDER(a_client_has_so_many_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
