/* A real agent and coordinators of one minor version older or newer: orders as they were recorded, and the same with
 * fields that nobody knows yet, are carried out; an order of an unknown kind is answered and does no harm. See
 * test_compat.c. */
#include "test.h"

#include "agent/agent.h"
#include "exchange_kept.h"
#include "fake_coordinator.h"
#include "store/file.h"

#define UNKNOWN_KIND 77
#define ORDERS_MAX 16

static const char hosts[] = "127.1.1.1 one.example\n";

/* ---- a real agent ---- */

struct script {
    struct fake fake; /* first: the script casts */
    struct buf bodies[ORDERS_MAX];
    order_kind kinds[ORDERS_MAX];
    size_t count;
};

static void give_orders(struct fake *f, const struct report *r)
{
    struct script *s = (struct script *)f;
    for (; (size_t)f->step < s->count && f->orders_done == f->order_count; f->step++)
        fake_order(f, s->kinds[f->step], buf_span(&s->bodies[f->step]));
}

static void take_orders(struct script *s, struct span answer)
{
    struct arena a;
    struct poll_answer p;
    arena_init(&a);
    CHECK_STATUS("orders", poll_answer_unpack(&a, answer, &p), ST_OK);
    for (size_t i = 0; i < p.order_count; i++) {
        order_kind k = p.orders[i].kind;
        if (k == ORDER_FETCH || k == ORDER_IDENTITY || k == ORDER_REKEY)
            continue;          /* these need somebody on the other side; their decoding is tested above */
        if (k == ORDER_QUIT) { /* before the last: one that nobody knows */
            s->kinds[s->count] = (order_kind)UNKNOWN_KIND;
            buf_puts(&s->bodies[s->count++], "\xff not fields");
        }
        assert_true(s->count < ORDERS_MAX);
        s->kinds[s->count] = k;
        buf_put(&s->bodies[s->count++], p.orders[i].body);
    }
    arena_done(&a);
}

static void swallow(void *self, log_level level, struct span line)
{
    if (getenv("TEST_VERBOSE"))
        fprintf(stderr, "%.*s\n", SPAN_ARG(line));
}

static void run_agent(struct script *s)
{
    static const struct log quiet = {.level = LOG_DEBUG, .sink = swallow};
    struct conf c;
    struct buf line = {0}, why = {0};
    struct update_try update = {0};
    agent_end end = END_NONE;
    char names[TEST_PATH];
    test_path(names, "names");
    CHECK_STATUS("hosts", file_replace(names, span_str(hosts)), ST_OK);
    const char *args[] = {"--data",   test_folder(), "--allow-private", "--delay", "0",
                          "--shards", "1",           "--hosts",         names};
    conf_init(&c);
    if (!conf_from_args(&c, 9, (char *const *)args, &why) || !conf_check(&c, &why))
        fail_msg("%s", buf_cstr(&why));
    struct agent_opts o = {.conf = &c, .log = &quiet, .version = SPAN("0.1.0")};
    fake_line(&s->fake, &line);
    CHECK_STATUS("join", agent_join(&o, buf_span(&line), &why), ST_OK);
    CHECK_STATUS("run", agent_run(&o, &end, &update, &why), ST_OK);
    assert_int_equal(end, END_QUIT);
    update_try_done(&update);
    buf_done(&line);
    buf_done(&why);
    conf_done(&c);
}

static status outcome_of(const struct fake *f, uint64_t number)
{
    for (size_t i = 0; i < f->outcome_count; i++)
        if (f->outcomes[i].number == number)
            return f->outcomes[i].st;
    return ST_OK; /* nothing is said of what went well and has no result */
}

static void obey(struct exchanges *x)
{
    struct script s = {0};
    fake_start(&s.fake);
    s.fake.script = give_orders;
    buf_put(&s.fake.states, http_of(buf_span(&find(x, "states")->answer)).body);
    take_orders(&s, http_of(buf_span(&find(x, "poll-setup")->answer)).body);
    take_orders(&s, http_of(buf_span(&find(x, "poll-full")->answer)).body);
    /* The recorded hours close the door, and idle-only waits for the machine: neither is what is tested. */
    buf_clear(&s.bodies[0]);
    agent_settings_pack(&(struct agent_settings){.state = AGENT_RUN, .package_age_ms = 100, .poll_ms = 1000},
                        &s.bodies[0]);
    run_agent(&s);
    const struct fake *f = &s.fake;
    assert_int_equal(f->step, s.count);
    for (size_t i = 0; i < s.count; i++) {
        status want = s.kinds[i] == ORDER_PROGRAM || s.kinds[i] == ORDER_UPDATE ? ST_REFUSED /* no key for them here */
                      : (int)s.kinds[i] == UNKNOWN_KIND                         ? ST_UNSUPPORTED
                                                                                : ST_OK;
        status got = outcome_of(f, i + 1);
        bool is_removal = s.kinds[i] == ORDER_PROGRAM && got == ST_OK; /* of a program that is not there: fine */
        if (got != want && !is_removal)
            fail_msg("order %zu of kind %d: %s", i + 1, (int)s.kinds[i], status_name(got));
    }
    CHECK("the host came back with its pages", f->part_count > 0);
    fake_stop(&s.fake);
    for (size_t i = 0; i < s.count; i++)
        buf_done(&s.bodies[i]);
}

static void an_agent_obeys_older_coordinators(void **state)
{
    for (size_t i = 0; i < VERSIONS; i++) {
        struct exchanges x;
        struct buf meaning = {0};
        if (i > 0)
            assert_int_equal(test_folder_make(state), 0);
        load(versions[i], &x, &meaning);
        obey(&x);
        exchanges_done(&x);
        buf_done(&meaning);
        if (i + 1 < VERSIONS)
            test_folder_remove(state);
    }
}

static void an_agent_obeys_a_newer_coordinator(void **state)
{
    struct exchanges x, grown;
    struct buf meaning = {0};
    load(versions[VERSIONS - 1], &x, &meaning);
    grow_all(&x, &grown);
    obey(&grown);
    exchanges_done(&x);
    exchanges_done(&grown);
    buf_done(&meaning);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(an_agent_obeys_older_coordinators),
        TEST_IN_FOLDER(an_agent_obeys_a_newer_coordinator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
