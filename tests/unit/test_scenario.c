/* Scenario files: words, variables, runs, steps, and what is said of bad ones. */
#include "test.h"

#include "base/rng.h"
#include "lab/play/scenario.h"

static struct scenario load_with(const char *text, const struct scenario_opts *opts)
{
    struct scenario s;
    struct buf why = {0};
    status st = scenario_parse(span_str(text), "some/two.scenario", opts, &s, &why);
    if (st != ST_OK)
        fail_msg("%s: %s", status_name(st), buf_cstr(&why));
    buf_done(&why);
    return s;
}

static struct scenario load(const char *text)
{
    return load_with(text, NULL);
}

/* Words with a bar between. */
static void check_words(const char *label, struct words w, const char *want)
{
    struct buf got = {0};
    for (size_t i = 0; i < w.n; i++)
        buf_printf(&got, "%s%.*s", i ? "|" : "", SPAN_ARG(w.w[i]));
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    buf_done(&got);
}

/* ---- a whole file ---- */

static const char whole[] = "# a scenario\n"
                            "title  Two agents are killed and come back   # not this\n"
                            "about  One line,\n"
                            "about  and another one.\r\n"
                            "set    sites 60\n"
                            "short  sites=24 repeat=1\n"
                            "each   strategy learned random\n"
                            "repeat 3\n"
                            "world  make agents=6 sites=$sites seed=$repeat\n"
                            "lab    rtt hq agent1 20\n"
                            "serve  --pages 5\n"
                            "serve  --close\n"
                            "coordinator --strategy $strategy\n"
                            "agents --delay 200\n"
                            "agent  agent2 --delay 900\n"
                            "disk   agent2 8M\n"
                            "late   agent3\n"
                            "crawler central\n"
                            "late-limit 2.5\n"
                            "attempts 2\n"
                            "wait   settled\n"
                            "at 5s  kill agent2\n"
                            "at 250ms cut agent1 hq\n"
                            "wait   crawled 95.5% within 2m as recovery_s\n"
                            "wait   idle agent1 1.5\n"
                            "when strategy=random wait 3s\n"
                            "unless strategy=random start agent2\n"
                            "clock  agent1 -1h\n"
                            "servers slow * 50\n"
                            "orb    agent list \"--json\"\n"
                            "shell  echo \"figure a $sites\" | awk '{ print $1 }' # $$x\n"
                            "clear\n"
                            "figure slower = crawl_s / sim_s\n"
                            "figure sum = crawl_s\n"
                            "expect lost = 0\n"
                            "expect slower <= 120%\n"
                            "expect -1.5 != sum\n"
                            "order  rtt_ms sim_rtt_ms 5%\n"
                            "jobs   4\n"
                            "beside yes\n"
                            "channels --kind keywords\n";

static void reads_a_whole_file(void **state)
{
    struct scenario s = load(whole);
    CHECK_SPAN("name", s.name, SPAN("two"));
    CHECK_SPAN("title", s.title, SPAN("Two agents are killed and come back"));
    CHECK_SPAN("about", s.about, SPAN("One line, and another one."));
    assert_int_equal(s.run_count, 6);
    const struct scenario_run *r = &s.runs[1];
    CHECK_SPAN("name of a run", r->name, SPAN("strategy=learned,repeat=2"));
    check_words("world", r->world, "make|agents=6|sites=60|seed=2");
    assert_int_equal(r->lab_count, 1);
    check_words("lab", r->lab[0], "rtt|hq|agent1|20");
    check_words("serve", r->serve, "--pages|5|--close");
    check_words("coordinator", r->coordinator, "--strategy|learned");
    check_words("agents", r->agents, "--delay|200");
    check_words("channels", r->channels, "--kind|keywords");
    assert_int_equal(r->agent_count, 2);
    check_words("agent", r->agent[0].options, "--delay|900");
    assert_true(r->agent[0].disk_max == 8u << 20 && !r->agent[0].is_late);
    assert_true(r->agent[1].is_late);
    assert_int_equal(r->crawler, CRAWLER_CENTRAL);
    assert_true(r->late_max_ms == 2.5 && r->attempts == 2);
    assert_true(s.jobs == 4 && s.is_beside);
    assert_int_equal(r->variable_count, 3);
    assert_int_equal(r->varied_count, 2);
    scenario_done(&s);
}

static void reads_steps_in_their_order(void **state)
{
    struct scenario s = load(whole);
    const struct scenario_run *r = &s.runs[0];
    const struct step *t = r->steps;
    assert_int_equal(r->step_count, 11);
    assert_true(t[0].kind == STEP_WAIT && t[0].wait == WAIT_SETTLED && t[0].at_ms == -1 && t[0].within_ms == 60000);
    assert_int_equal(t[0].line, 21);
    assert_true(t[1].kind == STEP_KILL && t[1].at_ms == 5000);
    CHECK_SPAN("killed", t[1].name, SPAN("agent2"));
    assert_true(t[2].kind == STEP_ROUTER && t[2].at_ms == 250);
    check_words("order", t[2].words, "cut|agent1|hq");
    assert_true(t[3].wait == WAIT_CRAWLED && t[3].share == 0.955 && t[3].within_ms == 120000);
    CHECK_SPAN("as", t[3].as, SPAN("recovery_s"));
    assert_true(t[4].wait == WAIT_IDLE && t[4].idle_ms == 1500);
    assert_true(t[5].kind == STEP_START);
    assert_true(t[6].kind == STEP_CLOCK && t[6].clock_ms == -3600000);
    check_words("servers", t[7].words, "slow|*|50");
    check_words("orb", t[8].words, "agent|list|--json");
    check_words("shell", t[9].words, "echo \"figure a 60\" | awk '{ print $1 }' # $x");
    assert_int_equal(t[10].kind, STEP_CLEAR);
    const struct scenario_run *random = &s.runs[3];
    assert_int_equal(random->step_count, 11);
    assert_true(random->steps[5].wait == WAIT_TIME && random->steps[5].within_ms == 3000);
    scenario_done(&s);
}

static void reads_figures_and_what_must_hold(void **state)
{
    struct scenario s = load(whole);
    const struct scenario_run *r = &s.runs[0];
    assert_int_equal(r->figure_count, 2);
    assert_true(r->figures[0].has_b && r->figures[0].op == OP_OVER && !r->figures[1].has_b);
    CHECK_SPAN("b", r->figures[0].b.name, SPAN("sim_s"));
    assert_int_equal(r->expect_count, 3);
    CHECK_SPAN("text", r->expects[1].text, SPAN("slower <= 120%"));
    assert_true(r->expects[0].op == OP_EQUAL && r->expects[0].b.value == 0 && r->expects[0].b.name.n == 0);
    assert_true(r->expects[1].op == OP_AT_MOST && r->expects[1].b.value == 1.2);
    assert_true(r->expects[2].a.value == -1.5 && r->expects[2].op == OP_NOT);
    assert_int_equal(s.order_count, 1);
    assert_true(s.orders[0].tie == 0.05);
    CHECK_SPAN("order", s.orders[0].b, SPAN("sim_rtt_ms"));
    scenario_done(&s);
}

/* ---- words and variables ---- */

static void fills_variables_in(void **state)
{
    static const struct {
        const char *sets, *line, *want;
    } cases[] = {
        {"", "plain words", "plain|words"},
        {"set a 1", "$a ${a}b x$a", "1|1b|x1"},
        {"set a 1 2", "$a", "1|2"},
        {"set a 1 2", "\"$a\"", "1 2"},
        {"set a 1 2", "x${a}y", "x1|2y"},
        {"set a", "x $a y", "x|y"},
        {"set a", "x \"$a\" y", "x||y"},
        {"set a 1\nset b $a$a\nset a 2", "$b $a", "11|2"},
        {"", "$$ $$a cost$ $1", "$|$a|cost$|$1"},
        {"", "\"a \\\" \\\\ b\" c", "a \" \\ b|c"},
        {"", "a#b #c", "a#b"},
        {"", "\"a #b\" c", "a #b|c"},
        {"", "pre\"a b\"post", "prea bpost"},
        {"", "$repeat", "1"},
        {"each v x\nwhen v=x set a 1\nunless v=x set a 2", "$a", "1"},
        {"each v x\nset a 1\nwhen v=x when a=1 set a 3", "$a", "3"},
        {"", "$SCENARIO_TEST", "from|outside"},
    };
    setenv("SCENARIO_TEST", "from outside", 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf text = {0};
        buf_printf(&text, "%s\nworld w\nagents %s\n", cases[i].sets, cases[i].line);
        struct scenario s = load(buf_cstr(&text));
        check_words(cases[i].line, s.runs[0].agents, cases[i].want);
        scenario_done(&s);
        buf_done(&text);
    }
}

static void knows_times(void **state)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: none */
    } cases[] = {{"1.5s", 1500}, {"250ms", 250},    {"2m", 120000}, {"1h", 3600000}, {"7", 7000},
                 {"0", 0},       {"24h", 86400000}, {"25h", -1},    {"", -1},        {"s", -1},
                 {"-1s", -1},    {"1d", -1},        {"1 s", -1},    {"inf", -1},     {"1.5.5", -1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int64_t ms = -1;
        bool is_time = scenario_time(span_str(cases[i].text), &ms);
        CHECK(cases[i].text, is_time == (cases[i].ms >= 0) && (!is_time || ms == cases[i].ms));
    }
}

/* ---- runs ---- */

static void the_first_each_varies_slowest_and_repeat_fastest(void **state)
{
    struct rng rng;
    rng_seed(&rng, 7);
    for (int turn = 0; turn < 50; turn++) {
        unsigned a = 1 + (unsigned)rng_below(&rng, 4), b = 1 + (unsigned)rng_below(&rng, 4);
        unsigned n = 1 + (unsigned)rng_below(&rng, 4);
        struct buf text = {0};
        buf_puts(&text, "each a");
        for (unsigned i = 0; i < a; i++)
            buf_printf(&text, " %u", i);
        buf_printf(&text, "\nrepeat %u\neach b", n);
        for (unsigned i = 0; i < b; i++)
            buf_printf(&text, " ${a}%u", i);
        buf_puts(&text, "\nworld w\nagents $a $b $repeat\n");
        struct scenario s = load(buf_cstr(&text));
        assert_int_equal(s.run_count, a * b * n);
        size_t at = 0;
        for (unsigned i = 0; i < a; i++)
            for (unsigned j = 0; j < b; j++)
                for (unsigned k = 1; k <= n; k++) {
                    char want[64];
                    snprintf(want, sizeof(want), "%u|%u%u|%u", i, i, j, k);
                    check_words(want, s.runs[at++].agents, want);
                }
        scenario_done(&s);
        buf_done(&text);
    }
}

static void how_often_may_hang_on_a_value(void **state)
{
    struct scenario s = load("each n 1 3\nrepeat $n\nworld w\n");
    static const char *const want[] = {"n=1,repeat=1", "n=3,repeat=1", "n=3,repeat=2", "n=3,repeat=3"};
    assert_int_equal(s.run_count, 4);
    for (size_t i = 0; i < 4; i++)
        CHECK_SPAN(want[i], s.runs[i].name, span_str(want[i]));
    scenario_done(&s);
}

static void names_of_runs_are_names_of_files(void **state)
{
    static const struct {
        const char *text, *first, *second;
    } cases[] = {
        {"world w", "run", NULL},
        {"each a x\nworld w", "run", NULL},
        {"each a x y\nset b 1\nworld w", "a=x", "a=y"},
        {"each a ../x \"p q\"\nworld w", "a=.._x", "a=p_q"},
        {"each a x/ x:\nworld w", "a=x_", "a=x_~2"},
        {"repeat 2\nworld w", "repeat=1", "repeat=2"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scenario s = load(cases[i].text);
        CHECK_SPAN(cases[i].text, s.runs[0].name, span_str(cases[i].first));
        CHECK(cases[i].text, s.run_count == (cases[i].second ? 2 : 1));
        if (cases[i].second)
            CHECK_SPAN(cases[i].text, s.runs[1].name, span_str(cases[i].second));
        scenario_done(&s);
    }
}

static void options_come_before_the_file(void **state)
{
    static const char text[] =
        "set a 1\nshort a=2 \"b=y z\" repeat=1\nset c $a\neach b x y z\nrepeat 2\nworld w\nagents $a $b $c\n";
    static const struct {
        const char *label;
        struct variable sets[2];
        size_t set_count;
        bool is_short;
        size_t runs;
        const char *last;
    } cases[] = {
        {"as it is", {{{0}, {0}}}, 0, false, 6, "1|z|1"},
        {"short", {{{0}, {0}}}, 0, true, 2, "2|z|2"},
        {"set", {{SPAN_INIT("a"), SPAN_INIT("3")}, {SPAN_INIT("b"), SPAN_INIT("q")}}, 2, false, 2, "3|q|3"},
        {"both", {{SPAN_INIT("a"), SPAN_INIT("3")}, {SPAN_INIT("repeat"), SPAN_INIT("5")}}, 2, true, 10, "3|z|3"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scenario_opts opts = {cases[i].sets, cases[i].set_count, cases[i].is_short};
        struct scenario s = load_with(text, &opts);
        CHECK(cases[i].label, s.run_count == cases[i].runs);
        check_words(cases[i].label, s.runs[s.run_count - 1].agents, cases[i].last);
        scenario_done(&s);
    }
    struct scenario_opts more = {&(struct variable){SPAN("repeat"), SPAN("4")}, 1, false};
    struct scenario s = load_with("world w", &more);
    assert_int_equal(s.run_count, 4);
    scenario_done(&s);
}

/* ---- bad ones ---- */

static void check_bad(const char *text, const struct scenario_opts *opts, status want, const char *part)
{
    struct scenario s;
    struct buf why = {0};
    CHECK_STATUS(text, scenario_parse(span_str(text), "bad.scenario", opts, &s, &why), want);
    if (span_search(buf_span(&why), span_str(part), false) == why.n)
        fail_msg("%s: says \"%s\", not \"%s\"", text, buf_cstr(&why), part);
    buf_done(&why);
}

static void says_what_is_wrong_and_where(void **state)
{
    static const struct {
        const char *text;
        status st;
        const char *part;
    } cases[] = {
        {"", ST_INVALID, "no world"},
        {"title x\nwrold w", ST_INVALID, "bad.scenario:2: \"wrold\" begins no statement"},
        {"world w\nagents $nil", ST_INVALID, "bad.scenario:2: $nil is not set"},
        {"world w\nagents ${a-b}", ST_INVALID, "is no name of a variable"},
        {"world w\nagents ${a", ST_INVALID, "is no name of a variable"},
        {"world $SCENARIO_TEST_NONE/w", ST_INVALID, "$SCENARIO_TEST_NONE is not set: give it in the environment"},
        {"world w\nagents \"a", ST_INVALID, "a quote has no end"},
        {"world w x", ST_INVALID, "NAME=VALUE"},
        {"world", ST_INVALID, "world make"},
        {"set 1a b", ST_INVALID, "is no name"},
        {"set repeat 3", ST_INVALID, "has its value already"},
        {"each a", ST_INVALID, "each NAME VALUE"},
        {"each a 1\neach a 2", ST_INVALID, "is set above"},
        {"each a 1\nset a 2", ST_INVALID, "from an each"},
        {"repeat 0", ST_INVALID, "repeat N"},
        {"repeat x", ST_INVALID, "repeat N"},
        {"short a", ST_INVALID, "short NAME=VALUE"},
        {"set b 1\nshort a=1\nworld w", ST_INVALID, "bad.scenario:2: short a: no such variable: there are repeat, b"},
        {"set a 1\nwhen a=1 each b 2", ST_INVALID, "holds for all runs"},
        {"set a 1\nwhen a=1", ST_INVALID, "a statement is missing"},
        {"when a=1 world w", ST_INVALID, "no variable a above"},
        {"when a world w", ST_INVALID, "when VARIABLE=VALUE"},
        {"world w\nat x kill a", ST_INVALID, "at TIME"},
        {"world w\nat 5s", ST_INVALID, "is no step"},
        {"world w\nat 5s world w", ST_INVALID, "is no step"},
        {"world w\nkill", ST_INVALID, "one name"},
        {"world w\ncut", ST_INVALID, "what is cut?"},
        {"world w\nwait", ST_INVALID, "wait TIME"},
        {"world w\nwait 5s within 6s", ST_INVALID, "wait TIME"},
        {"world w\nwait crawled 101%", ST_INVALID, "wait crawled [N%]"},
        {"world w\nwait idle a", ST_INVALID, "wait idle NAME TIME"},
        {"world w\nwait idle a b", ST_INVALID, "\"b\" is no time"},
        {"world w\nwait fetching", ST_INVALID, "wait fetching NAME"},
        {"world w\nwait settled within", ST_INVALID, "wait settled [within TIME]"},
        {"world w\nwait settled within 5x", ST_INVALID, "no time"},
        {"world w\nwait settled as 5x", ST_INVALID, "no name of a figure"},
        {"world w\nclock a", ST_INVALID, "clock NAME OFFSET"},
        {"world w\nclock a x", ST_INVALID, "no time"},
        {"world w\nclear x", ST_INVALID, "stands alone"},
        {"world w\nshell", ST_INVALID, "missing"},
        {"world w\nshell echo $home", ST_INVALID, "$$home for a dollar sign"},
        {"world w\nservers", ST_INVALID, "missing"},
        {"world w\ndisk a 0", ST_INVALID, "disk NAME BYTES"},
        {"world w\ndisk a 1T", ST_INVALID, "disk NAME BYTES"},
        {"world w\nfill a but 8M", ST_INVALID, "fill NAME [leaving BYTES]"},
        {"world w\nfill a leaving much", ST_INVALID, "fill NAME [leaving BYTES]"},
        {"world w\ncrawler two", ST_INVALID, "fleet, central or none"},
        {"world w\nattempts 0", ST_INVALID, "attempts N"},
        {"world w\njobs 0", ST_INVALID, "jobs N"},
        {"world w\njobs 65", ST_INVALID, "jobs N"},
        {"world w\nbeside me", ST_INVALID, "beside yes"},
        {"set a 1\nworld w\nwhen a=1 jobs 2", ST_INVALID, "holds for all runs"},
        {"world w\nlate-limit x", ST_INVALID, "late-limit"},
        {"world w\nfigure a 5", ST_INVALID, "figure NAME = A"},
        {"world w\nfigure a = b < c", ST_INVALID, "none of + - * /"},
        {"world w\nfigure a = b + 5x", ST_INVALID, "neither a figure nor a number"},
        {"world w\nexpect a", ST_INVALID, "expect A = B"},
        {"world w\nexpect a + b", ST_INVALID, "none of < <="},
        {"world w\norder a", ST_INVALID, "order FIGURE FIGURE"},
        {"world w\norder a b c", ST_INVALID, "order FIGURE FIGURE"},
        {"world w\nagent a", ST_INVALID, "agent NAME OPTION"},
        {"each a 1 2 3 4 5 6 7 8 9 10 11\nrepeat 100\nworld w", ST_LIMIT, "more than 1000 runs"},
    };
    unsetenv("SCENARIO_TEST_NONE");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_bad(cases[i].text, NULL, cases[i].st, cases[i].part);
}

static void a_value_of_nothing_is_an_error_that_lists_what_there_is(void **state)
{
    struct scenario_opts opts = {&(struct variable){SPAN("strateg"), SPAN("x")}, 1, false};
    check_bad("set sites 3\neach strategy a b\nworld w", &opts, ST_INVALID,
              "--set strateg: no such variable: there are repeat, sites, strategy");
}

static void sizes_have_ceilings(void **state)
{
    struct buf text = {0};
    buf_puts(&text, "world w\nset a 0123456789abcdef\n");
    for (int i = 0; i < 20; i++)
        buf_puts(&text, "set a $a$a\n");
    check_bad(buf_cstr(&text), NULL, ST_LIMIT, "longer than");
    buf_clear(&text);
    buf_puts(&text, "world w\nagents");
    for (int i = 0; i <= SCENARIO_WORDS_MAX; i++)
        buf_puts(&text, " x");
    check_bad(buf_cstr(&text), NULL, ST_LIMIT, "words");
    buf_clear(&text);
    for (int i = 0; i <= SCENARIO_LINES_MAX; i++)
        buf_putc(&text, '\n');
    check_bad(buf_cstr(&text), NULL, ST_LIMIT, "lines");
    buf_clear(&text);
    for (int i = 0; i < SCENARIO_VARIABLES_MAX; i++)
        buf_printf(&text, "set v%d 1\n", i);
    check_bad(buf_cstr(&text), NULL, ST_LIMIT, "variables");
    buf_done(&text);
}

static void a_file_that_is_not_there_is_told(void **state)
{
    struct scenario s;
    struct buf why = {0};
    CHECK_STATUS("load", scenario_load("/nonexistent/x.scenario", NULL, &s, &why), ST_NOT_FOUND);
    assert_true(why.n > 0);
    buf_done(&why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_whole_file),
        cmocka_unit_test(reads_steps_in_their_order),
        cmocka_unit_test(reads_figures_and_what_must_hold),
        cmocka_unit_test(fills_variables_in),
        cmocka_unit_test(knows_times),
        cmocka_unit_test(the_first_each_varies_slowest_and_repeat_fastest),
        cmocka_unit_test(how_often_may_hang_on_a_value),
        cmocka_unit_test(names_of_runs_are_names_of_files),
        cmocka_unit_test(options_come_before_the_file),
        cmocka_unit_test(says_what_is_wrong_and_where),
        cmocka_unit_test(a_value_of_nothing_is_an_error_that_lists_what_there_is),
        cmocka_unit_test(sizes_have_ceilings),
        cmocka_unit_test(a_file_that_is_not_there_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
