/* What comes out of several runs: groups, orders, results.json. */
#include "test.h"

#include <math.h>

#include "codec/json_tree.h"
#include "lab/play/suite.h"

/* A suite whose runs were not played: figures a and b are put into them. */
struct stage {
    struct scenario scenario;
    struct suite suite;
};

static void stage(struct stage *t, const char *text, const double (*values)[2])
{
    *t = (struct stage){0};
    struct buf why = {0};
    if (scenario_parse(span_str(text), "some.scenario", NULL, &t->scenario, &why) != ST_OK)
        fail_msg("%s", buf_cstr(&why));
    size_t n = t->scenario.run_count;
    t->suite = (struct suite){.opts = {.scenario = &t->scenario}, .run_count = n, .seconds = 12.5};
    t->suite.runs = calloc(n, sizeof(*t->suite.runs));
    for (size_t i = 0; i < n; i++) {
        struct suite_run *r = &t->suite.runs[i];
        r->run = &t->scenario.runs[i];
        r->is_done = r->is_whole = r->is_valid = r->is_passed = true;
        r->attempts = 1;
        r->expected = calloc(r->run->expect_count + 1, sizeof(*r->expected));
        for (size_t k = 0; k < r->run->expect_count; k++)
            r->expected[k] = (struct suite_expected){&r->run->expects[k], 1, true};
        figures_put(&r->figures, SPAN("a"), values[i][0]);
        if (!isnan(values[i][1]))
            figures_put(&r->figures, SPAN("b"), values[i][1]);
    }
}

static void unstage(struct stage *t)
{
    suite_done(&t->suite);
    scenario_done(&t->scenario);
}

static void orders_compare_the_values_of_the_first_each(void **state)
{
    static const struct {
        const char *label, *tie;
        double values[3][2];
        bool is_passed;
    } cases[] = {
        {"same order", "", {{1, 10}, {2, 20}, {3, 30}}, true},
        {"other order", "", {{1, 10}, {2, 40}, {3, 30}}, false},
        {"close enough", "10%", {{1, 10}, {2, 31}, {3, 30}}, true},
        {"close enough in the other figure", "10%", {{1, 10}, {3.01, 40}, {3, 30}}, true},
        {"not close enough", "1%", {{1, 10}, {2, 31}, {3, 30}}, false},
        {"equal", "", {{2, 10}, {2, 20}, {2, 5}}, true},
        {"missing", "", {{1, 10}, {2, NAN}, {3, 30}}, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf text = {0};
        struct suite_rank ranks[SUITE_RANKS_MAX];
        size_t n;
        buf_printf(&text, "each s x y z\nworld make\norder a b %s\n", cases[i].tie);
        struct stage t;
        stage(&t, buf_cstr(&text), cases[i].values);
        CHECK(cases[i].label, suite_order(&t.suite, &t.scenario.orders[0], ranks, &n) == cases[i].is_passed);
        CHECK(cases[i].label, suite_is_passed(&t.suite) == cases[i].is_passed);
        CHECK(cases[i].label, n == 3 && span_is(ranks[2].value, "z"));
        unstage(&t);
        buf_done(&text);
    }
}

static void orders_are_of_means(void **state)
{
    static const double values[][2] = {{1, 30}, {3, 10}, {2, 25}, {6, 35}};
    struct suite_rank ranks[SUITE_RANKS_MAX];
    size_t n;
    struct stage t;
    stage(&t, "each s x y\nrepeat 2\nworld make\norder a b\n", values);
    assert_true(suite_order(&t.suite, &t.scenario.orders[0], ranks, &n));
    assert_int_equal(n, 2);
    assert_true(ranks[0].a == 2 && ranks[0].b == 20 && ranks[1].a == 4 && ranks[1].b == 30);
    unstage(&t);
}

static void groups_differ_by_more_than_the_count(void **state)
{
    static const double values[][2] = {{1, 1}, {3, 1}, {8, 1}, {5, 1}, {6, 1}, {7, NAN}};
    struct suite_mean m;
    struct stage t;
    stage(&t, "each s x y\nrepeat 3\nworld make\n", values);
    t.suite.runs[2].is_valid = false; /* does not count */
    static const bool begins[] = {true, false, false, true, false, false};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(suite_begins_group(&t.suite, i), begins[i]);
    assert_true(suite_group_mean(&t.suite, 0, SPAN("a"), &m));
    assert_true(m.n == 2 && m.mean == 2 && m.least == 1 && m.most == 3);
    assert_true(suite_group_mean(&t.suite, 4, SPAN("a"), &m) && m.n == 3 && m.mean == 6);
    assert_true(suite_group_mean(&t.suite, 4, SPAN("b"), &m) && m.n == 2);
    assert_false(suite_group_mean(&t.suite, 4, SPAN("c"), &m));
    unstage(&t);
}

static void results_are_json(void **state)
{
    static const double values[][2] = {{1, 10}, {2, 20}};
    struct stage t;
    stage(&t, "title \"T\\\nset k v\neach s x y\nworld make\nexpect a > 0\norder a b\n", values);
    struct buf out = {0};
    struct arena arena;
    const struct json_node *root;
    arena_init(&arena);
    buf_puts(&t.suite.runs[1].problem, "it \"failed\"");
    buf_puts(&t.suite.runs[1].events, "0.5\tkill agent1\nbad\n7\tstart agent1\n");
    t.suite.runs[1].is_passed = false;
    suite_json(&t.suite, &out);
    CHECK_STATUS("read", json_tree(&arena, buf_span(&out), &root), ST_OK);
    CHECK_SPAN("scenario", json_member_text(root, "scenario"), SPAN("some"));
    CHECK_SPAN("variables", json_member_text(json_member(root, "variables"), "k"), SPAN("v"));
    assert_true(json_member(json_member(root, "variables"), "s")->kind == NODE_NOTHING);
    const struct json_node *first = json_member(root, "runs")->children, *second = first->next;
    CHECK_SPAN("name", json_member_text(second, "name"), SPAN("s=y"));
    assert_true(json_member_number(json_member(second, "figures"), "b") == 20);
    assert_true(json_member(first, "problem")->kind == NODE_NOTHING);
    CHECK_SPAN("problem", json_member_text(second, "problem"), SPAN("it \"failed\""));
    CHECK_SPAN("expected", json_member_text(json_member(first, "expected")->children, "text"), SPAN("a > 0"));
    const struct json_node *event = json_member(second, "events")->children;
    assert_true(json_member_number(event, "t") == 0.5 && event->next && !event->next->next);
    const struct json_node *group = json_member(root, "groups")->children;
    assert_true(json_member_number(json_member(json_member(group, "figures"), "a"), "mean") == 1);
    assert_true(json_member_number(json_member(root, "orders")->children, "passed") == 1);
    assert_true(json_member_number(root, "passed") == 0);
    arena_done(&arena);
    buf_done(&out);
    unstage(&t);
}

static void runs_are_begun_in_their_order_and_the_last_attempt_alone(void **state)
{
    static const double values[][2] = {{1, 1}, {1, 1}, {1, 1}};
    /* o: over, w: under way, -: untouched; a number: so many attempts were not valid, of three */
    static const struct {
        const char *label, *runs;
        unsigned jobs;
        size_t under_way;
        int next;
    } cases[] = {
        {"the first", "---", 1, 0, 0},
        {"the next one waits", "w--", 1, 1, -1},
        {"beside it", "w--", 2, 1, 1},
        {"no more than that", "ww-", 2, 2, -1},
        {"in their order", "wow", 3, 2, -1},
        {"again at once", "1--", 1, 0, 0},
        {"the last time too, one at a time", "2--", 1, 0, 0},
        {"again beside others", "1w-", 2, 1, 0},
        {"the last time after all others", "2--", 2, 0, 1},
        {"and not beside them", "2wo", 2, 1, -1},
        {"but alone", "2oo", 2, 0, 0},
        {"one after the other", "w2o", 2, 1, -1},
        {"none is left", "ooo", 2, 0, -1},
    };
    struct stage t;
    stage(&t, "repeat 3\nworld make\n", values);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        for (size_t k = 0; k < 3; k++) {
            char c = cases[i].runs[k];
            t.suite.runs[k].is_over = c == 'o';
            t.suite.runs[k].is_under_way = c == 'w';
            t.suite.runs[k].attempts = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c != '-';
        }
        t.suite.jobs = cases[i].jobs;
        struct suite_run *next = suite_next(&t.suite, cases[i].under_way);
        CHECK(cases[i].label, next == (cases[i].next < 0 ? NULL : &t.suite.runs[cases[i].next]));
    }
    unstage(&t);
}

static void a_table_is_for_people(void **state)
{
    static const double values[][2] = {{1, 10}, {2.25, 20}, {30.125, 5}, {4, 6}};
    struct stage t;
    stage(&t, "title Two\neach s x y\nrepeat 2\nworld make\nexpect a > 0\norder a b\n", values);
    struct buf out = {0};
    t.suite.runs[3].is_passed = t.suite.runs[3].expected[0].is_passed = false;
    t.suite.machine = (struct suite_machine){2, 1, 0.5};
    suite_show(&t.suite, &out);
    assert_string_equal(buf_cstr(&out), "some: Two\n"
                                        "     a                 b\n"
                                        "s=x  1.62 (1 to 2.25)  15 (10 to 20)  passed\n"
                                        "s=y  17.1 (4 to 30.1)  5.50 (5 to 6)  1 of 2 passed\n"
                                        "order a b: FAILED\n"
                                        "    x: 1.62 and 15\n"
                                        "    y: 17.1 and 5.50\n"
                                        "12 s on 2 cores, 50 % of them in use\n");
    buf_clear(&out);
    suite_show_run(&t.suite, &t.suite.runs[3], &out);
    assert_string_equal(buf_cstr(&out), "some s=y,repeat=2: 0.0 s, a 4, b 6: FAILED\n    expected a > 0: it is 1\n");
    buf_done(&out);
    unstage(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_compare_the_values_of_the_first_each),
        cmocka_unit_test(orders_are_of_means),
        cmocka_unit_test(groups_differ_by_more_than_the_count),
        cmocka_unit_test(results_are_json),
        cmocka_unit_test(runs_are_begun_in_their_order_and_the_last_attempt_alone),
        cmocka_unit_test(a_table_is_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
