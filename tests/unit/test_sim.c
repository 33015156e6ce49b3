#include "test.h"

#include <math.h>
#include <sys/stat.h>

#include "test_folder.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "sim/chart.h"
#include "sim/delegate_print.h"
#include "sim/delegate_run.h"
#include "sim/optimum.h"
#include "sim/place_run.h"
#include "sim/report.h"
#include "sim/world.h"
#include "sim/world_make.h"
#include "store/file.h"

static struct cities cities;

/* ---- the exact optimum ---- */

/* Every unit on its own, to every bin: what the solver must find. */
static double cheapest(const struct optimum_problem *p, int64_t *room, size_t source, int64_t unit)
{
    if (source == p->sources)
        return 0;
    if (unit == p->amount[source])
        return cheapest(p, room, source + 1, 0);
    double best = INFINITY;
    for (size_t b = 0; b < p->bins; b++) {
        if (!room[b])
            continue;
        room[b]--;
        best = fmin(best, p->cost[source * p->bins + b] + cheapest(p, room, source, unit + 1));
        room[b]++;
    }
    return best;
}

static void finds_what_trying_everything_finds(void **state)
{
    struct rng r;
    rng_seed(&r, 5);
    size_t full = 0;
    for (int round = 0; round < 400; round++) {
        int64_t amount[5], room[3], flow[15], left[3];
        double cost[15], got = -1;
        struct optimum_problem p = {1 + rng_below(&r, 5), 1 + rng_below(&r, 3), amount, room, cost};
        for (size_t i = 0; i < p.sources; i++)
            amount[i] = (int64_t)rng_below(&r, 3);
        for (size_t b = 0; b < p.bins; b++)
            left[b] = room[b] = (int64_t)rng_below(&r, 6);
        for (size_t i = 0; i < p.sources * p.bins; i++)
            cost[i] = (double)rng_below(&r, 20) - (round % 3 ? 0 : 5);
        double want = cheapest(&p, left, 0, 0);
        status st = optimum_solve(&p, &got, flow);
        if (isinf(want)) {
            CHECK_STATUS("does not fit", st, ST_FULL);
            full++;
            continue;
        }
        CHECK_STATUS("fits", st, ST_OK);
        if (fabs(got - want) > 1e-9)
            fail_msg("round %d: %.3f, want %.3f", round, got, want);
        for (size_t i = 0; i < p.sources; i++) {
            int64_t sum = 0;
            for (size_t b = 0; b < p.bins; b++)
                sum += flow[i * p.bins + b];
            CHECK("all of a source goes somewhere", sum == amount[i]);
        }
        for (size_t b = 0; b < p.bins; b++) {
            int64_t sum = 0;
            for (size_t i = 0; i < p.sources; i++)
                sum += flow[i * p.bins + b];
            CHECK("no bin holds more than it can", sum <= room[b]);
        }
    }
    CHECK("some did not fit", full > 10 && full < 390);
}

/* Whatever is exchanged between two sources in two bins must not make it cheaper. */
static void no_exchange_makes_a_large_one_cheaper(void **state)
{
    enum { SOURCES = 120, BINS = 12 };
    struct rng r;
    rng_seed(&r, 6);
    int64_t amount[SOURCES], room[BINS], total = 0;
    int64_t *flow = mem_alloc(sizeof(*flow) * SOURCES * BINS);
    double *cost = mem_alloc(sizeof(*cost) * SOURCES * BINS), got;
    for (size_t i = 0; i < SOURCES; i++)
        total += amount[i] = 1 + (int64_t)rng_below(&r, 1000000);
    for (size_t b = 0; b < BINS; b++)
        room[b] = total / BINS + 1;
    for (size_t i = 0; i < SOURCES * BINS; i++)
        cost[i] = rng_unit(&r) * 300;
    struct optimum_problem p = {SOURCES, BINS, amount, room, cost};
    CHECK_STATUS("solve", optimum_solve(&p, &got, flow), ST_OK);
    for (size_t i = 0; i < SOURCES; i++)
        for (size_t j = 0; j < SOURCES; j++)
            for (size_t a = 0; a < BINS; a++)
                for (size_t b = 0; b < BINS; b++)
                    if (flow[i * BINS + a] > 0 && flow[j * BINS + b] > 0) {
                        double now = cost[i * BINS + a] + cost[j * BINS + b];
                        double then = cost[i * BINS + b] + cost[j * BINS + a];
                        CHECK("an exchange gains nothing", then >= now - 1e-6);
                    }
    free(flow);
    free(cost);
}

static void too_large_problems_are_refused(void **state)
{
    double cost = 0, got;
    int64_t one = 1;
    struct optimum_problem none = {1, 0, &one, &one, &cost};
    CHECK_STATUS("no bins", optimum_solve(&none, &got, NULL), ST_FULL);
    struct optimum_problem wide = {1, OPTIMUM_BINS_MAX + 1, &one, &one, &cost};
    CHECK_STATUS("bins", optimum_solve(&wide, &got, NULL), ST_LIMIT);
    struct optimum_problem tall = {OPTIMUM_CELLS_MAX, 2, &one, &one, &cost};
    CHECK_STATUS("cells", optimum_solve(&tall, &got, NULL), ST_LIMIT);
}

/* ---- a small world, by hand ---- */

/* Three agents, five sites; c and d are in one /24. Nearest: Athens, Oslo, Tokyo, Tokyo, Athens. */
static struct world *small_world(void)
{
    static const struct {
        const char *name, *text;
    } files[] = {
        {"agents.tsv",
         "name\tip\tcountry\tlat\tlon\nAthens\t20.0.0.1\tGR\t37.98\t23.73\nOslo\t21.0.0.1\tNO\t59.9\t10.7\n"
         "Tokyo\t22.0.0.1\tJP\t35.7\t139.7\n"},
        {"sites.tsv",
         "host\tip\tcountry\tlat\tlon\tholder\tpages\tbytes_per_page\tchanges_per_day\timportance\tanycast\n"
         "a.gr.example\t30.0.1.1\tGR\t38\t23\tA\t25\t10000\t1\t1\t0\n"
         "b.no.example\t30.0.2.1\tNO\t60\t10\tB\t10\t10000\t1\t1\t0\n"
         "c.jp.example\t30.0.3.1\tJP\t35\t139\tC\t1\t10000\t1\t1\t0\n"
         "d.jp.example\t30.0.3.2\tJP\t35\t139\tC\t10\t10000\t1\t1\t0\n"
         "e.gr.example\t30.0.4.1\tGR\t38\t23\tA\t10\t10000\t1\t1\t0\n"},
        {"rtt.tsv", "host\tAthens\tOslo\tTokyo\na.gr.example\t10\t60\t250\nb.no.example\t58\t9\t260\n"
                    "c.jp.example\t240\t255\t12\nd.jp.example\t241\t256\t13\ne.gr.example\t11\t14\t251\n"},
        {"agent_rtt.tsv", "agent\tAthens\tOslo\tTokyo\nAthens\t0\t55\t240\nOslo\t55\t0\t250\nTokyo\t240\t250\t0\n"},
    };
    struct world *w = NULL;
    struct buf why = {0};
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        char path[TEST_PATH];
        test_path(path, files[i].name);
        CHECK_STATUS(files[i].name, file_replace(path, span_str(files[i].text)), ST_OK);
    }
    if (world_load(test_folder(), &w, &why) != ST_OK)
        fail_msg("%s", buf_cstr(&why));
    return w;
}

static struct delegate_run_opts opts_for(delegate_strategy s)
{
    return (struct delegate_run_opts){
        .delegator = {.strategy = s, .cities = &cities}, .ground = {.noise = 0}, .seed = 1};
}

static struct delegate_figures play(const struct world *w, struct delegate_run_opts o)
{
    struct delegate_result r;
    delegate_run(w, &o, &r);
    struct delegate_figures f = r.figures;
    delegate_result_done(&r);
    return f;
}

static void probe_all_is_the_optimum_and_farthest_the_worst(void **state)
{
    struct world *w = small_world();
    struct delegate_figures best = play(w, opts_for(DELEGATE_PROBE_ALL)), worst = play(w, opts_for(DELEGATE_FARTHEST));
    CHECK("all optimal", best.quality.optimal == 1 && best.quality.near == 1 && best.quality.rtt_ratio == 1);
    CHECK("mean", fabs(best.quality.rtt_ms - (10 + 9 + 12 + 13 + 11) / 5.0) < 1e-6);
    CHECK("no excess", best.quality.excess_ms == 0 && best.quality.excess_max_ms == 0);
    CHECK("none optimal", worst.quality.optimal == 0 && worst.quality.near == 0);
    CHECK("mean of the farthest", fabs(worst.quality.rtt_ms - (250 + 260 + 255 + 256 + 251) / 5.0) < 1e-6);
    CHECK("largest excess", worst.quality.excess_max_ms == 251);
    CHECK("bounds of both",
          worst.quality.download_s == best.baseline.farthest_s && best.quality.download_s == worst.baseline.best_s);
    world_free(w);
}

static void a_network_is_decided_once_and_its_sites_go_with_it(void **state)
{
    struct world *w = small_world();
    struct delegate_result r;
    struct delegate_run_opts o = opts_for(DELEGATE_PROBE_ALL);
    delegate_run(w, &o, &r);
    assert_int_equal(r.figures.networks, 4);
    assert_int_equal(r.figures.decisions, 4);
    CHECK("three measurements each", r.figures.measurements == 4 * 3 / 5.0);
    size_t free_sites = 0;
    for (size_t i = 0; i < 5; i++)
        free_sites += r.probes_of[i] == 0;
    assert_int_equal(free_sites, 1);
    assert_int_equal(r.agent_of[2], r.agent_of[3]);
    delegate_result_done(&r);
    world_free(w);
}

static void who_measures_nothing_has_no_probes(void **state)
{
    static const delegate_strategy strategies[] = {DELEGATE_RANDOM, DELEGATE_HASH};
    struct world *w = small_world();
    for (size_t i = 0; i < 2; i++) {
        struct delegate_figures f = play(w, opts_for(strategies[i]));
        CHECK("nothing", f.probes == 0 && f.measurements == 0 && f.probes_first == 0 && f.probes_last == 0);
    }
    world_free(w);
}

/* The owner's first fetch is no probe; the first fetch of one that was only on trial is. */
static void trials_count_unless_they_stay(void **state)
{
    struct world *w = small_world();
    struct delegate_figures f = play(w, opts_for(DELEGATE_LEARNED));
    CHECK("not more probes than measurements", f.probes <= f.measurements);
    CHECK("at most one a decision less", f.measurements - f.probes <= (double)f.decisions / (double)f.sites + 1e-9);
    world_free(w);
}

static void the_same_seed_gives_the_same_figures(void **state)
{
    struct world *w = small_world();
    static const delegate_strategy all[] = {DELEGATE_RANDOM,  DELEGATE_HASH,      DELEGATE_IPMICRA,
                                            DELEGATE_LEARNED, DELEGATE_PROBE_ALL, DELEGATE_FARTHEST};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        struct delegate_run_opts o = opts_for(all[i]);
        o.ground = (struct ground_opts){.noise = -1, .spike_every = 5, .spike_ms = 30};
        struct delegate_figures a = play(w, o), b = play(w, o);
        const char *label = delegate_strategy_name(all[i]);
        CHECK(label, a.quality.rtt_ms == b.quality.rtt_ms && a.probes == b.probes && a.measurements == b.measurements);
    }
    world_free(w);
}

/* ---- what a measurement says ---- */

static void a_measurement_is_the_median_of_noisy_samples(void **state)
{
    struct world *w = small_world();
    struct ground g;
    ground_init(&g, w, &(struct ground_opts){.seed = 3});
    CHECK("no noise", ground_probe(&g, 0, 0, 0) == 10 && ground_probe(&g, 2, 1, 9) == 255);
    ground_init(&g, w, &(struct ground_opts){.seed = 3, .noise = -1, .spike_every = 50, .spike_ms = 30});
    CHECK("the same again", ground_probe(&g, 0, 1, 4) == ground_probe(&g, 0, 1, 4));
    CHECK("another time another", ground_probe(&g, 0, 1, 4) != ground_probe(&g, 0, 1, 5));
    double sum = 0, squares = 0, far = 0;
    for (unsigned i = 0; i < 4000; i++) {
        double ms = ground_probe(&g, 0, 1, i);
        sum += ms;
        squares += (ms - 60) * (ms - 60);
        far += ms > 75;
    }
    CHECK("right in the mean", fabs(sum / 4000 - 60) < 0.5);
    CHECK("a median of three wobbles less than one", sqrt(squares / 4000) > 0.8 && sqrt(squares / 4000) < 2.2);
    CHECK("two outliers of three are rare", far / 4000 < 0.004);
    ground_init(&g, w, &(struct ground_opts){.seed = 3, .noise = 0, .spike_every = 50, .spike_ms = 30, .samples = 1});
    size_t spikes = 0;
    for (unsigned i = 0; i < 10000; i++) {
        double ms = ground_probe(&g, 0, 1, i);
        CHECK("as it is, or later by the outlier", ms == 60 || ms == 90);
        spikes += ms == 90;
    }
    CHECK("one in fifty", spikes > 150 && spikes < 250);
    world_free(w);
}

static void a_third_of_the_paths_change(void **state)
{
    struct world_make_figures made;
    struct world *w = NULL;
    struct buf why = {0};
    char dir[TEST_PATH];
    test_path(dir, "w");
    CHECK_STATUS("make",
                 world_make(&(struct world_make_opts){.agents = 10, .sites = 300, .seed = 2, .cities = &cities}, dir,
                            &made, &why),
                 ST_OK);
    CHECK_STATUS("load", world_load(dir, &w, &why), ST_OK);
    for (drift_kind k = DRIFT_NONE; k <= DRIFT_SERVERS; k++) {
        struct ground g;
        size_t longer = 0, shorter = 0;
        ground_init(&g, w, &(struct ground_opts){.seed = 3, .drift = k});
        for (size_t i = 0; i < 300; i++)
            for (size_t j = 0; j < 10; j++) {
                g.has_drifted = false;
                double before = ground_rtt(&g, i, j);
                g.has_drifted = true;
                double after = ground_rtt(&g, i, j);
                longer += after > before;
                shorter += after < before;
                CHECK("as drawn", after <= 3 * before && (after == before || after > 1.4 * before || after < before));
            }
        bool is_path = k == DRIFT_PATHS || k == DRIFT_BOTH;
        CHECK(drift_name(k), is_path ? longer + shorter > 800 && longer + shorter < 1200 : longer + shorter == 0);
        CHECK(drift_name(k), k == DRIFT_BOTH ? shorter > 300 : shorter == 0);
    }
    world_free(w);
    buf_done(&why);
}

/* ---- time, load, places ---- */

static void download_time_is_that_of_the_paper(void **state)
{
    struct world_site s = {.pages = 25, .bytes_per_page = 20000};
    /* ceil(25 / 10) rounds of 2 x 0.1 s + 10 x 10 kB / 16 kbit/s + 15 s */
    CHECK("paper", fabs(download_site_s(&download_paper, &s, 100) - 3 * (0.2 + 50 + 15)) < 1e-9);
    struct download_model own = {.pages_a_round = 5, .bits_per_second = 1e6, .server_s = 0.5, .connections = 1};
    CHECK("own sizes", fabs(download_site_s(&own, &s, 10) - 5 * (0.02 + 0.8 + 0.5)) < 1e-9);
    s.pages = 0;
    CHECK("no pages", download_site_s(&download_paper, &s, 100) == 0);
}

static struct world *made_world(size_t agents, size_t sites)
{
    struct world_make_figures made;
    struct world *w = NULL;
    struct buf why = {0};
    char dir[TEST_PATH];
    test_path(dir, "made");
    struct world_make_opts o = {.agents = agents, .sites = sites, .seed = 4, .cities = &cities};
    if (world_make(&o, dir, &made, &why) != ST_OK || world_load(dir, &w, &why) != ST_OK)
        fail_msg("%s", buf_cstr(&why));
    buf_done(&why);
    return w;
}

static void balancing_keeps_everybody_below_capacity(void **state)
{
    static const balance_rule rules[] = {BALANCE_GAIN, BALANCE_VARIANCE, BALANCE_NEXT_BEST};
    struct world *w = made_world(5, 200);
    for (size_t i = 0; i < 3; i++) {
        struct delegate_run_opts o = opts_for(DELEGATE_PROBE_ALL);
        const char *label = balance_rule_name(rules[i]);
        o.balance = rules[i];
        o.capacity_share = 1.3;
        struct delegate_figures f = play(w, o);
        CHECK(label, f.is_balanced && f.over == 0 && f.events > 0 && f.moves > 0);
        CHECK(label, f.balance_ratio >= 1 - 1e-9 && f.balance_ratio < 2);
        CHECK(label, f.balance_best >= f.balance_exact && f.balance_best <= 1);
        o.capacity_share = 1000;
        f = play(w, o);
        CHECK(label, f.events == 0 && f.moves == 0 && fabs(f.balance_ratio - 1) < 1e-6);
    }
    world_free(w);
}

static void calibration_follows_paths_and_not_servers(void **state)
{
    struct world *w = made_world(6, 150);
    struct delegate_run_opts o = opts_for(DELEGATE_PROBE_ALL);
    o.has_drift = true;
    o.days = 1;
    o.ground.drift = DRIFT_PATHS;
    struct delegate_figures f = play(w, o);
    CHECK("it got worse", f.drift.ratio_before == 1 && f.drift.ratio_changed > 1.05);
    CHECK("and better again", f.drift.ratio_after < 1.05 && f.drift.moves > 0 && f.drift.probes_extra > 0);
    CHECK("told when", f.drift.back_after_requests >= 3 && f.drift.back_after_probes > 0);
    o.ground.drift = DRIFT_SERVERS;
    f = play(w, o);
    CHECK("nothing moves", f.drift.moves == 0 && f.drift.ratio_after == 1);
    o.calibration.rule = CALIBRATE_PAPERS;
    f = play(w, o);
    CHECK("the papers' rule is asked", f.drift.decisions > 0);
    world_free(w);
}

static void sites_are_met_by_ipv6_where_they_have_it(void **state)
{
    struct world *w = made_world(5, 200);
    struct delegate_run_opts o = opts_for(DELEGATE_LEARNED);
    size_t v6 = 0;
    for (size_t i = 0; i < world_site_count(w); i++)
        v6 += world_site(w, i)->addr6.family == 6;
    CHECK("about half", v6 > 60 && v6 < 140);
    o.family = SITES_V6;
    struct delegate_figures f = play(w, o);
    CHECK("those that have one", f.sites == v6 && f.nobody == 0 && f.quality.near > 0.9);
    o.family = SITES_ALL;
    f = play(w, o);
    CHECK("all", f.sites == world_site_count(w) && f.quality.near > 0.9);
    world_free(w);
}

static void one_more_agent_goes_where_the_sites_are(void **state)
{
    struct world *w = small_world();
    struct place_result r;
    place_run(w, &(struct place_opts){.cities = &cities, .more = 2}, &r);
    CHECK("its agents first", r.count >= 3 && r.own == 3);
    for (size_t i = 1; i < r.count; i++)
        CHECK("each one helps", r.steps[i].rtt_ms <= r.steps[i - 1].rtt_ms + 1e-9);
    CHECK("with all of them", fabs(r.steps[2].rtt_ms - 11) < 1e-6);
    CHECK("the first is everybody's", r.steps[0].nearest == 1);
    place_result_done(&r);
    world_free(w);
}

static void cities_are_found_where_nobody_is(void **state)
{
    struct world *w = made_world(1, 400);
    struct place_result r;
    place_run(w, &(struct place_opts){.cities = &cities, .more = 12}, &r);
    assert_int_equal(r.count, 13);
    CHECK("a line of round trips over distance", r.slope > 1.2 && r.slope < 2.6);
    CHECK("twelve well-placed agents halve the distance", r.steps[12].rtt_ms < r.steps[0].rtt_ms / 2);
    struct spot last = world_agent(w, 0)->spot;
    for (size_t i = 1; i < 4; i++) {
        struct spot s = cities.list[r.steps[i].at].spot;
        CHECK("far from the one before", r.steps[i].is_city && geo_km(s, last) > 500);
        last = s;
    }
    place_result_done(&r);
    world_free(w);
}

/* ---- for people ---- */

static void the_report_has_every_figure_and_escapes_names(void **state)
{
    struct world *w = small_world();
    struct buf page = {0};
    struct report_opts o = {.run = opts_for(DELEGATE_LEARNED), .name = "dir/<world>&\"co\"", .command = "orb <x>"};
    report_make(w, &o, &page);
    static const char *const parts[] = {"<!doctype html>",
                                        "Who crawls what: &lt;world&gt;&amp;&quot;co&quot;",
                                        "Download time by strategy",
                                        "Accuracy by threshold",
                                        "Probes by threshold",
                                        "Accuracy against probes",
                                        "Probes over time",
                                        "Probes of the last 50 sites",
                                        "Who got what",
                                        "orb &lt;x&gt;",
                                        "ipmicra, 25 ms",
                                        "farthest",
                                        ">Athens</text>",
                                        "</html>"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        CHECK(parts[i], span_search(buf_span(&page), span_str(parts[i]), false) < page.n);
    CHECK("no name slips through", span_search(buf_span(&page), SPAN("<world>"), false) == page.n);
    CHECK("no scripts", span_search(buf_span(&page), SPAN("<script"), true) == page.n);
    CHECK("no nonsense numbers", span_search(buf_span(&page), SPAN("nan"), false) == page.n &&
                                     span_search(buf_span(&page), SPAN("inf,"), false) == page.n);
    buf_done(&page);
    world_free(w);
}

static void charts_of_nothing_are_charts(void **state)
{
    struct buf out = {0};
    const double x[1] = {5}, y[1] = {0};
    chart_bars(&out, "none", NULL, 0);
    chart_lines(&out, "none", &(struct chart_axis){.title = "x"}, &(struct chart_axis){.title = "y"}, NULL, 0);
    chart_lines(&out, "one", &(struct chart_axis){.title = "x"}, &(struct chart_axis){.title = "y"},
                (struct chart_series[]){{.label = "s", .x = x, .y = y, .n = 1, .colour = 1, .has_dots = true}}, 1);
    chart_map(&out, "none", NULL, 0);
    size_t open = 0, closed = 0;
    for (size_t i = 0; i + 5 < out.n; i++) {
        open += memcmp(out.p + i, "<svg ", 5) == 0;
        closed += memcmp(out.p + i, "</svg>", 6) == 0;
    }
    closed += span_ends(buf_span(&out), SPAN("</svg>"));
    CHECK("each is closed", open == 4 && closed >= 4);
    CHECK("no nonsense numbers", span_search(buf_span(&out), SPAN("nan"), false) == out.n);
    buf_done(&out);
}

static void figures_are_one_line_of_json(void **state)
{
    static const char *const keys[] = {"strategy", "sites",        "agents",      "optimal",      "near",
                                       "probes",   "rtt_ms",       "rtt_ratio",   "excess_ms",    "download_s",
                                       "moves",    "probes_first", "probes_last", "balance_best", "balance_ratio"};
    struct world *w = small_world();
    struct buf out = {0};
    struct delegate_run_opts o = opts_for(DELEGATE_PROBE_ALL);
    struct delegate_figures f = play(w, o);
    delegate_print_json(&o, &f, NULL, &out);
    CHECK("one line", span_find(buf_span(&out), '\n', 0) == out.n - 1);
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        struct buf key = {0};
        buf_printf(&key, "\"%s\":", keys[i]);
        CHECK(keys[i], span_search(buf_span(&out), buf_span(&key), false) < out.n);
        buf_done(&key);
    }
    buf_done(&out);
    world_free(w);
}

static int read_cities(void **state)
{
    return cities_read(cities_text(), &cities) == ST_OK ? 0 : -1;
}

static int drop_cities(void **state)
{
    cities_done(&cities);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_trying_everything_finds),
        cmocka_unit_test(no_exchange_makes_a_large_one_cheaper),
        cmocka_unit_test(too_large_problems_are_refused),
        TEST_IN_FOLDER(probe_all_is_the_optimum_and_farthest_the_worst),
        TEST_IN_FOLDER(a_network_is_decided_once_and_its_sites_go_with_it),
        TEST_IN_FOLDER(who_measures_nothing_has_no_probes),
        TEST_IN_FOLDER(trials_count_unless_they_stay),
        TEST_IN_FOLDER(the_same_seed_gives_the_same_figures),
        TEST_IN_FOLDER(a_measurement_is_the_median_of_noisy_samples),
        TEST_IN_FOLDER(a_third_of_the_paths_change),
        cmocka_unit_test(download_time_is_that_of_the_paper),
        TEST_IN_FOLDER(balancing_keeps_everybody_below_capacity),
        TEST_IN_FOLDER(calibration_follows_paths_and_not_servers),
        TEST_IN_FOLDER(sites_are_met_by_ipv6_where_they_have_it),
        TEST_IN_FOLDER(one_more_agent_goes_where_the_sites_are),
        TEST_IN_FOLDER(cities_are_found_where_nobody_is),
        TEST_IN_FOLDER(the_report_has_every_figure_and_escapes_names),
        cmocka_unit_test(charts_of_nothing_are_charts),
        TEST_IN_FOLDER(figures_are_one_line_of_json),
    };
    return cmocka_run_group_tests(tests, read_cities, drop_cities);
}
