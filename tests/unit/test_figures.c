/* Figures of a run, from a small folder whose answers are worked out by hand. */
#include "test.h"
#include "test_folder.h"

#include <math.h>

#include "lab/play/figures.h"

/*          round trip, ms   athens  bergen   the nearest
 *     a.example                10      40    athens
 *     b.example                50      20    bergen
 *     c.example                33      30    bergen; athens is within 5 ms
 *
 * Three sites with 2, 2 and 9 pages, of which the servers give 3: 7 are wanted. */
static const char lab[] = "place hq 20.0.0.1\n"
                          "place athens 20.1.0.1\n"
                          "place bergen 20.2.0.1\n"
                          "place a.example@servers 30.0.0.1\n"
                          "place b.example@servers 30.0.0.2\n"
                          "place c.example@servers 30.0.0.3\n"
                          "rtt * * 5\n"
                          "rtt athens a.example 10\n"
                          "rtt athens b.example 50\n"
                          "rtt athens c.example 33\n"
                          "rtt bergen a.example 40\n"
                          "rtt bergen b.example 20\n"
                          "rtt bergen c.example 30\n"
                          "site a.example 30.0.0.1 pages=2\n"
                          "site b.example 30.0.0.2 pages=2\n"
                          "site c.example 30.0.0.3 pages=9\n";

/* a: robots, two pages by athens. b: a page by athens, then by bergen: it moved; its second page twice. c: a page of
 * three, and one that is forbidden, 100 ms after it. All bodies of pages are 1,000 bytes. */
static const char ledger[] = "100.000000\t20.1.0.1\t30.0.0.1\ta.example\tGET\t/robots.txt\t200\t100\n"
                             "101.000000\t20.1.0.1\t30.0.0.1\ta.example\tGET\t/\t200\t1000\n"
                             "101.500000\t20.1.0.1\t30.0.0.2\tb.example\tGET\t/\t200\t1000\n"
                             "102.000000\t20.1.0.1\t30.0.0.1\ta.example\tGET\t/p/1.html\t200\t1000\n"
                             "103.500000\t20.2.0.1\t30.0.0.2\tb.example\tGET\t/p/1.html\t200\t1000\n"
                             "104.000000\t20.1.0.1\t30.0.0.3\tc.example\tGET\t/\t200\t1000\n"
                             "104.100000\t20.1.0.1\t30.0.0.3\tc.example\tGET\t/private/never.html\t200\t1000\n"
                             "109.500000\t20.2.0.1\t30.0.0.2\tb.example\tGET\t/p/1.html\t200\t1000\n";

/* b came first, then c, then a, though they were decided in another order. */
static const char networks[] =
    "{\"networks\":["
    "{\"network\":\"30.0.0.1/"
    "32\",\"state\":\"owned\",\"agent\":\"athens\",\"met\":3000,\"decided\":3100,\"asked\":0,\"probes\":[{\"agent\":"
    "\"athens\",\"ms\":10}],\"hosts\":1,\"names\":[\"a.example\"]},"
    "{\"network\":\"30.0.0.2/"
    "32\",\"state\":\"owned\",\"agent\":\"bergen\",\"met\":1000,\"decided\":5000,\"asked\":2,\"probes\":[{\"agent\":"
    "\"athens\",\"ms\":50},{\"agent\":\"bergen\",\"ms\":20},{\"agent\":\"hq\",\"ms\":-1}],\"hosts\":1,\"names\":["
    "\"b.example\"]},"
    "{\"network\":\"30.0.0.3/"
    "32\",\"state\":\"owned\",\"agent\":\"athens\",\"met\":2000,\"decided\":2100,\"asked\":1,\"probes\":[{\"agent\":"
    "\"bergen\",\"ms\":30}],\"hosts\":1,\"names\":[\"c.example\"]}],\"total\":3}";

static const struct {
    const char *name, *text;
} files[] = {
    {"lab", lab},
    {"begin", "99.500000\n"},
    {"ledger", ledger},
    {"networks.json", networks},
    {"agents.json", "{\"agents\":[{\"name\":\"athens\",\"bytes_sent\":500,\"package_bytes\":300},{\"name\":\"bergen\","
                    "\"bytes_sent\":70,\"package_bytes\":55}]}"},
    {"pages.jsonl", "{\"url\":\"http://a.example/\",\"status\":200,\"state\":{\"total_us\":30000}}\n"
                    "{\"url\":\"http://a.example/p/1.html\",\"status\":200,\"state\":{\"total_us\":50000}}\n"
                    "{\"url\":\"http://b.example/\",\"status\":404,\"state\":{\"total_us\":-1}}\n"},
    {"sim.json", "{\"strategy\":\"learned\",\"near\":0.9,\"optimal\":0.8,\"rtt_ms\":20,\"rtt_best_ms\":19,\"probes\":2,"
                 "\"probes_last50\":1.5}"},
    {"router.json", "{\"link\":\"veth\",\"late_p50_us\":10,\"late_p99_us\":250,\"late_max_us\":4000,\"lost\":2,\"too_"
                    "long\":1}"},
    {"traffic.json",
     "{\"athens\":{\"bytes_in\":1,\"bytes_out\":2},\"hq\":{\"packets_in\":9,\"bytes_in\":3000,\"bytes_out\":1050}}"},
    {"took.tsv", "recovery_s\t12.5\nagain_s\t3\nrecovery_s\t11\n"},
};

static void write_file(const char *name, const char *text)
{
    char path[TEST_PATH];
    test_path(path, name);
    FILE *f = fopen(path, "wb");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        fail_msg("cannot write %s", path);
}

static void write_all(void)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        write_file(files[i].name, files[i].text);
}

static struct span serve_words[] = {SPAN_INIT("--pages"), SPAN_INIT("3")};
static struct span agent_words[] = {SPAN_INIT("--quiet"), SPAN_INIT("--delay"), SPAN_INIT("1000")};

static struct scenario_run run_of(void)
{
    return (struct scenario_run){.serve = {serve_words, 2}, .agents = {agent_words, 3}};
}

static struct figures collect(const struct scenario_run *run)
{
    struct figures f;
    struct buf why = {0};
    status st = figures_collect(test_folder(), run, &f, &why);
    if (st != ST_OK)
        fail_msg("%s: %s", status_name(st), buf_cstr(&why));
    buf_done(&why);
    return f;
}

static void check(const struct figures *f, const char *name, double want)
{
    double got;
    if (!figures_get(f, span_str(name), &got))
        fail_msg("%s is not there", name);
    if (!(fabs(got - want) < 1e-6))
        fail_msg("%s: %.9g, want %.9g", name, got, want);
}

static void figures_are_as_worked_out_by_hand(void **state)
{
    static const struct {
        const char *name;
        double want;
    } cases[] = {
        {"sites", 3},
        {"wanted", 2 + 2 + 3},
        {"requests", 8},
        {"pages", 6}, /* the forbidden one was fetched too */
        {"again", 1},
        {"again_killed", 0},
        {"handed_gap_ms", 2000},
        {"forbidden", 1},
        {"lost", 7 - 2},
        {"kept", 2},
        {"gap_ms", 100},
        {"impolite", 1},
        {"crawl_s", 104.1 - 99.5}, /* a page again is no new page */
        {"site_s", (2.5 + 4 + 4.6) / 3},
        {"site_p50_s", 4},
        {"site_p95_s", 4.6},
        {"request_ms", 40},
        {"in_flight", 8 * 0.040 / 4.6},
        /* a: 100 + 1000 + 1000 at 10; b: 1000 at 50, 2 x 1000 at 20; c: 2 x 1000 at 33 */
        {"carried", (2100 * 10 + 1000 * 50 + 2000 * 20 + 2000 * 33) / 1e6},
        {"moves", 1},
        {"agents_used", 2},
        {"load_most", 100.0 * 5 / 6},
        {"bytes_fetched", 7100},
        {"bytes_engine", 4050},
        {"bytes_engine_over_fetched", 4050.0 / 7100},
        {"bytes_sent", 570},
        {"bytes_packages", 355},
        {"bytes_packages_over_fetched", 355.0 / 7100},
        {"networks", 3},
        {"placed", 3},
        {"near", 100},
        {"nearest", 200.0 / 3},
        {"rtt_ms", (10 + 20 + 33) / 3.0},
        {"best_rtt_ms", (10 + 20 + 30) / 3.0},
        {"rtt_over_optimum", 63.0 / 60},
        {"probes", (2 + 1 + 0) / 3.0},
        {"probes_first50", 1},
        {"probes_last50", 1},
        {"probes_trend", -1000}, /* 2, 1, 0: one less a site */
        {"sim_near", 90},
        {"sim_nearest", 80},
        {"sim_rtt_ms", 20},
        {"sim_best_rtt_ms", 19},
        {"sim_probes", 2},
        {"sim_probes_last50", 1.5},
        {"probes_over_sim", 0.5},
        {"rtt_over_sim", 21.0 / 20},
        {"late_p99_ms", 0.25},
        {"late_max_ms", 4},
        {"dropped", 3},
        {"recovery_s", 11}, /* the later one holds */
        {"again_s", 3},
    };
    struct scenario_run run = run_of();
    write_all();
    struct figures f = collect(&run);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check(&f, cases[i].name, cases[i].want);
    figures_done(&f);
}

static void without_files_there_are_no_figures(void **state)
{
    struct scenario_run run = run_of();
    struct figures f = collect(&run);
    assert_int_equal(f.n, 0);
    figures_done(&f);
}

/* Of a central crawler there are no networks: whoever asked last has the site. Its pause is its own. */
static void without_a_fleet_the_ledger_says_who_has_what(void **state)
{
    struct span words[] = {SPAN("--delay"), SPAN("100")};
    struct scenario_run run = run_of();
    run.crawler = CRAWLER_CENTRAL;
    run.coordinator = (struct words){words, 2};
    write_file("lab", lab);
    write_file("ledger", ledger);
    struct figures f = collect(&run);
    double v;
    check(&f, "rtt_ms", (10 + 20 + 33) / 3.0);
    check(&f, "placed", 3);
    check(&f, "gap_ms", 100);
    check(&f, "impolite", 0);
    CHECK("no probes", !figures_get(&f, SPAN("probes"), &v));
    CHECK("no time without a beginning", !figures_get(&f, SPAN("crawl_s"), &v));
    figures_done(&f);
}

/* The world that holds in the end is the one that delegation is judged by. */
static void a_changed_path_counts_for_placing(void **state)
{
    struct span words[] = {SPAN("rtt"), SPAN("agent1"), SPAN("a.example"), SPAN("60")};
    struct step steps[] = {{.kind = STEP_ROUTER, .words = {words, 4}}};
    struct scenario_run run = run_of();
    run.steps = steps;
    run.step_count = 1;
    write_all();
    struct figures f = collect(&run);
    check(&f, "rtt_ms", (60 + 20 + 33) / 3.0);
    check(&f, "best_rtt_ms", (40 + 20 + 30) / 3.0);
    check(&f, "carried", (2100 * 10 + 1000 * 50 + 2000 * 20 + 2000 * 33) / 1e6);
    figures_done(&f);
}

/* Five requests from the second page of a on. */
static void figures_of_the_ledger_begin_anew_when_cleared(void **state)
{
    struct scenario_run run = run_of();
    write_all();
    write_file("events.tsv", "0.100\tkill agent1\n2.400\tclear\n2.500\twait settled\n");
    struct figures f = collect(&run);
    check(&f, "requests", 5);
    check(&f, "pages", 4);
    check(&f, "again", 1);
    check(&f, "crawl_s", 104.1 - 101.9);
    check(&f, "moves", 0);
    figures_done(&f);
}

static void what_a_kill_left_open_may_be_asked_again(void **state)
{
    static const struct {
        const char *kills;
        double want;
    } cases[] = {
        {"4.400\tbergen\n", 1},                /* 0.4 s after the page was asked for */
        {"4.400\tathens\n", 0},                /* somebody else */
        {"4.600\tbergen\n", 0},                /* two round trips of 20 ms and 0.5 s: it had it */
        {"3.900\tbergen\n", 0},                /* before it asked */
        {"4.100\tbergen\n4.200\tbergen\n", 1}, /* it was once */
        {"1.000\tcoordinator\nrubbish\n", 0},
    };
    struct scenario_run run = run_of();
    write_all();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        write_file("kills.tsv", cases[i].kills);
        struct figures f = collect(&run);
        check(&f, "again_killed", cases[i].want);
        figures_done(&f);
    }
}

static void what_cannot_be_read_is_an_error(void **state)
{
    static const struct {
        const char *file, *text;
    } cases[] = {
        {"begin", "yesterday\n"},
        {"ledger", "no ledger\n"},
        {"networks.json", "{\"networks\":["},
        {"agents.json", "{"},
        {"pages.jsonl", "{}\nnot JSON\n"},
        {"sim.json", "-"},
        {"router.json", "late"},
        {"traffic.json", ""},
        {"took.tsv", "recovery_s twelve\n"},
        {"took.tsv", "recovery_s\tnan"},
        {"lab", "place\n"},
    };
    struct scenario_run run = run_of();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct figures f;
        struct buf why = {0};
        write_all();
        write_file(cases[i].file, cases[i].text);
        CHECK_STATUS(cases[i].file, figures_collect(test_folder(), &run, &f, &why), ST_INVALID);
        CHECK(cases[i].file, why.n > 0);
        figures_done(&f);
        buf_done(&why);
    }
}

static void rules_make_figures_of_figures(void **state)
{
    struct figure_rule rules[] = {
        {.name = SPAN("slower"),
         .a = {.name = SPAN("rtt_ms")},
         .b = {.name = SPAN("sim_rtt_ms")},
         .op = OP_OVER,
         .has_b = true},
        {.name = SPAN("twice"), .a = {.name = SPAN("slower")}, .b = {.value = 2}, .op = OP_TIMES, .has_b = true},
        {.name = SPAN("less"), .a = {.name = SPAN("sites")}, .b = {.value = 1}, .op = OP_MINUS, .has_b = true},
        {.name = SPAN("more"), .a = {.value = 1}, .b = {.name = SPAN("sites")}, .op = OP_PLUS, .has_b = true},
        {.name = SPAN("same"), .a = {.name = SPAN("sites")}},
        {.name = SPAN("nothing"), .a = {.name = SPAN("no_such")}},
        {.name = SPAN("endless"), .a = {.value = 1}, .b = {.value = 0}, .op = OP_OVER, .has_b = true},
    };
    struct scenario_run run = run_of();
    double v;
    run.figures = rules;
    run.figure_count = sizeof(rules) / sizeof(*rules);
    write_all();
    struct figures f = collect(&run);
    check(&f, "slower", 1.05);
    check(&f, "twice", 2.1);
    check(&f, "less", 2);
    check(&f, "more", 4);
    check(&f, "same", 3);
    CHECK("of one that is not there", !figures_get(&f, SPAN("nothing"), &v));
    CHECK("not finite", !figures_get(&f, SPAN("endless"), &v));
    figures_done(&f);
}

static void expectations_hold_or_do_not(void **state)
{
    static const struct {
        op op;
        double bar;
        bool want;
    } cases[] = {
        {OP_LESS, 3, false},    {OP_LESS, 3.1, true},    {OP_AT_MOST, 3, true}, {OP_AT_MOST, 2.9, false},
        {OP_EQUAL, 3, true},    {OP_EQUAL, 2, false},    {OP_NOT, 2, true},     {OP_NOT, 3, false},
        {OP_AT_LEAST, 3, true}, {OP_AT_LEAST, 4, false}, {OP_MORE, 3, false},   {OP_MORE, 2.9, true},
    };
    struct figures f = {0};
    double v;
    figures_put(&f, SPAN("lost"), 7);
    figures_put(&f, SPAN("lost"), 3);
    assert_int_equal(f.n, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct expectation e = {.a = {.name = SPAN("lost")}, .b = {.value = cases[i].bar}, .op = cases[i].op};
        if (figures_expected(&f, &e, &v) != cases[i].want || v != 3)
            fail_msg("case %zu", i);
    }
    struct expectation none = {.a = {.name = SPAN("no_such")}, .op = OP_EQUAL};
    CHECK("not there", !figures_expected(&f, &none, &v) && isnan(v));
    figures_done(&f);
}

static void there_is_room_for_so_many(void **state)
{
    struct figures f = {0};
    char name[32];
    double v;
    for (int i = 0; i < FIGURES_MAX + 10; i++) {
        snprintf(name, sizeof(name), "figure_%d", i);
        figures_put(&f, span_str(name), i);
    }
    assert_int_equal(f.n, FIGURES_MAX);
    CHECK("the first", figures_get(&f, SPAN("figure_0"), &v) && v == 0);
    figures_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(figures_are_as_worked_out_by_hand),
        TEST_IN_FOLDER(without_files_there_are_no_figures),
        TEST_IN_FOLDER(without_a_fleet_the_ledger_says_who_has_what),
        TEST_IN_FOLDER(a_changed_path_counts_for_placing),
        TEST_IN_FOLDER(figures_of_the_ledger_begin_anew_when_cleared),
        TEST_IN_FOLDER(what_a_kill_left_open_may_be_asked_again),
        TEST_IN_FOLDER(what_cannot_be_read_is_an_error),
        TEST_IN_FOLDER(rules_make_figures_of_figures),
        cmocka_unit_test(expectations_hold_or_do_not),
        cmocka_unit_test(there_is_room_for_so_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
