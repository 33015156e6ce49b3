#include "test.h"

#include <math.h>

#include "base/rng.h"
#include "delegate_world.h"
#include "plan/sanity.h"

static const struct {
    const char *name;
    struct spot spot;
} cities[] = {{"Paris", {48.86f, 2.35f}},      {"Oslo", {59.91f, 10.75f}},    {"Tokyo", {35.68f, 139.69f}},
              {"Seoul", {37.57f, 126.98f}},    {"Boston", {42.36f, -71.06f}}, {"Sydney", {-33.87f, 151.21f}},
              {"Auckland", {-36.85f, 174.76f}}};

static struct sanity_report report(uint64_t agent, const char *city, double ms)
{
    struct sanity_report r = {.agent = agent, .ms = ms, .is_trusted = true};
    r.reached = addr_of("192.0.2.1");
    for (size_t i = 0; i < sizeof(cities) / sizeof(*cities); i++)
        if (strcmp(cities[i].name, city) == 0) {
            r.has_spot = true;
            r.spot = cities[i].spot;
        }
    return r;
}

struct said {
    const char *city;
    double ms;
};

static void light_tells_one_place_from_several_and_a_lie_from_both(void **state)
{
    static const struct {
        const char *label;
        struct said said[5];
        sanity_kind kind;
        int refused; /* -1: none */
    } cases[] = {
        {"all meet", {{"Paris", 4}, {"Oslo", 30}, {"Tokyo", 240}}, SANITY_ONE_PLACE, -1},
        {"two, far apart", {{"Paris", 4}, {"Tokyo", 5}}, SANITY_LIGHT, -1},
        {"one of three", {{"Paris", 4}, {"Oslo", 30}, {"Tokyo", 5}}, SANITY_ONE_PLACE, 2},
        {"wherever it stands", {{"Tokyo", 5}, {"Paris", 4}, {"Oslo", 30}}, SANITY_ONE_PLACE, 0},
        {"all of three", {{"Paris", 4}, {"Oslo", 5}, {"Tokyo", 5}}, SANITY_LIGHT, -1},
        {"two and two", {{"Paris", 4}, {"Oslo", 20}, {"Tokyo", 5}, {"Seoul", 15}}, SANITY_LIGHT, -1},
        {"any one of two could lie", {{"Paris", 120}, {"Oslo", 120}, {"Tokyo", 5}, {"Boston", 30}}, SANITY_LIGHT, -1},
        {"no answer is no bound", {{"Paris", 4}, {"Tokyo", -1}, {"Oslo", 30}}, SANITY_ONE_PLACE, -1},
        {"no place is no bound", {{"Paris", 4}, {"somewhere", 1}, {"Oslo", 30}}, SANITY_ONE_PLACE, -1},
        {"nothing at all", {{"Paris", 4}}, SANITY_ONE_PLACE, -1},
        {"farther than around the world", {{"Paris", 4}, {"Sydney", 900}}, SANITY_ONE_PLACE, -1},
        {"not a number", {{"Paris", 4}, {"Sydney", NAN}}, SANITY_ONE_PLACE, -1},
        {"zero", {{"Paris", 0}, {"Paris", 0}, {"Paris", 0}}, SANITY_ONE_PLACE, -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct sanity_report r[5];
        struct sanity_finding found;
        size_t n = 0;
        for (; n < 5 && cases[i].said[n].city; n++)
            r[n] = report(n + 1, cases[i].said[n].city, cases[i].said[n].ms);
        sanity_judge(NULL, r, n, &found);
        if (found.kind != cases[i].kind)
            fail_msg("%s: kind %d", cases[i].label, found.kind);
        for (size_t k = 0; k < n; k++)
            if (r[k].is_refused != ((int)k == cases[i].refused))
                fail_msg("%s: report %zu", cases[i].label, k);
        CHECK(cases[i].label, found.refused == (cases[i].refused >= 0));
    }
}

static void declared_places_may_be_a_hundred_kilometres_off(void **state)
{
    /* Paris and Oslo are 1343 km apart: 13.43 ms, of which 2 are forgiven. */
    struct sanity_report r[2] = {report(1, "Paris", 5), report(2, "Oslo", 6.5)};
    struct sanity_finding found;
    sanity_judge(NULL, r, 2, &found);
    assert_int_equal(found.kind, SANITY_ONE_PLACE);
    r[1].ms = 6.3;
    sanity_judge(NULL, r, 2, &found);
    assert_int_equal(found.kind, SANITY_LIGHT);
}

static void agents_on_probation_are_held_against_others_and_not_the_other_way(void **state)
{
    struct sanity_report r[4] = {report(1, "Tokyo", 5), report(2, "Paris", 4), report(3, "Oslo", 30),
                                 report(4, "Seoul", 5)};
    struct sanity_finding found;
    r[0].is_trusted = r[3].is_trusted = false;
    sanity_judge(NULL, r, 4, &found);
    assert_int_equal(found.kind, SANITY_ONE_PLACE);
    assert_true(r[0].is_refused && r[3].is_refused && !r[1].is_refused && !r[2].is_refused && found.refused == 2);
    r[2].is_trusted = false;
    sanity_judge(NULL, r, 4, &found);
    assert_int_equal(found.kind, SANITY_LIGHT); /* one witness is none: all count */
    assert_int_equal(found.refused, 0);
    r[3].reached = addr_of("198.51.100.1");
    r[2].is_trusted = true;
    sanity_judge(NULL, r, 4, &found);
    assert_int_equal(found.kind, SANITY_ONE_PLACE); /* nor does their word on networks */
}

static void the_last_report_of_an_agent_counts(void **state)
{
    struct sanity_report r[3] = {report(1, "Paris", 4), report(2, "Tokyo", 5), report(2, "Tokyo", 240)};
    struct sanity_finding found;
    sanity_judge(NULL, r, 3, &found);
    assert_int_equal(found.kind, SANITY_ONE_PLACE);
}

static void different_networks_at_different_agents_are_several_places(void **state)
{
    static const struct range ranges[] = {{"20.0.0.0", "20.0.255.255", NULL}, {"20.1.0.0", "20.1.255.255", NULL}};
    struct tree t = tree_of(ranges, 2);
    static const struct {
        const char *label, *a, *b;
        bool plain, by_tree; /* replicated without, with the hierarchy */
    } cases[] = {
        {"same address", "20.0.0.1", "20.0.0.1", false, false},
        {"same /24", "20.0.0.1", "20.0.0.9", false, false},
        {"same range", "20.0.0.1", "20.0.9.1", true, false},
        {"other range", "20.0.0.1", "20.1.0.1", true, true},
        {"one in no range", "20.0.0.1", "99.1.0.1", true, true},
        {"both in no range", "98.0.0.1", "99.1.0.1", true, true},
        {"families do not compare", "20.0.0.1", "2001:db8::1", false, false},
        {"mapped", "20.0.0.1", "::ffff:20.0.0.1", false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (int by_tree = 0; by_tree < 2; by_tree++) {
            struct sanity_report r[3] = {report(1, "Paris", 40), report(2, "Oslo", -1), report(3, "Oslo", 50)};
            struct sanity_finding found;
            r[0].reached = addr_of(cases[i].a);
            r[1].reached = addr_of("77.0.0.1"); /* it had no answer */
            r[2].reached = addr_of(cases[i].b);
            sanity_judge(by_tree ? t.h : NULL, r, 3, &found);
            CHECK(cases[i].label,
                  found.kind == ((by_tree ? cases[i].by_tree : cases[i].plain) ? SANITY_NETWORKS : SANITY_ONE_PLACE));
            CHECK(cases[i].label, found.kind == SANITY_ONE_PLACE || (found.a == 0 && found.b == 2));
        }
    tree_done(&t);
}

static struct spot random_spot(struct rng *r)
{
    return (struct spot){(float)(asin(rng_unit(r) * 2 - 1) * 180 / M_PI), (float)(rng_unit(r) * 360 - 180)};
}

/* Truth is never refused: whatever the places, reports that light allows from one place agree. */
static void honest_reports_of_one_place_always_agree(void **state)
{
    struct rng r;
    rng_seed(&r, 3);
    for (int turn = 0; turn < 3000; turn++) {
        struct spot site = random_spot(&r);
        struct sanity_report reports[40];
        struct sanity_finding found;
        size_t n = 2 + rng_below(&r, 38);
        for (size_t i = 0; i < n; i++) {
            reports[i] = report(i + 1, "", 0);
            reports[i].has_spot = true;
            reports[i].spot = random_spot(&r);
            reports[i].is_trusted = rng_below(&r, 3) != 0;
            reports[i].ms = geo_light_ms(geo_km(reports[i].spot, site)) * (1 + rng_unit(&r) * rng_unit(&r));
        }
        sanity_judge(NULL, reports, n, &found);
        assert_int_equal(found.kind, SANITY_ONE_PLACE);
        assert_int_equal(found.refused, 0);
    }
}

/* Against a naive twin: a fine grid of places. Where some point of it is in all circles, they meet. */
static void circles_meet_where_a_grid_says_so(void **state)
{
    struct rng r;
    unsigned apart = 0, together = 0;
    rng_seed(&r, 8);
    for (int turn = 0; turn < 150; turn++) {
        struct sanity_report reports[3];
        struct sanity_finding found;
        double best = 1e9; /* by how much the tightest circle is missed at the best point */
        for (size_t i = 0; i < 3; i++) {
            reports[i] = report(i + 1, "", 20 + rng_unit(&r) * 100);
            reports[i].has_spot = true;
            reports[i].spot = random_spot(&r);
        }
        for (float lat = -89; lat < 90; lat += 2)
            for (float lon = -179; lon < 180; lon += 2) {
                double miss = -1e9;
                for (size_t i = 0; i < 3; i++)
                    miss = fmax(miss, geo_km(reports[i].spot, (struct spot){lat, lon}) -
                                          (reports[i].ms * GEO_KM_PER_MS + SANITY_SPOT_KM));
                best = fmin(best, miss);
            }
        sanity_judge(NULL, reports, 3, &found);
        bool do_meet = found.kind == SANITY_ONE_PLACE && !found.refused;
        if (best <= 0)
            assert_true(do_meet);
        else if (best > 250) /* farther than the grid is fine */
            assert_false(do_meet);
        apart += !do_meet;
        together += do_meet;
    }
    assert_true(apart > 20 && together > 20);
}

static void second_looks_fall_on_one_in_twenty_and_cannot_be_foreseen(void **state)
{
    struct sip_key key = {1, 2}, other = {1, 3};
    unsigned looks = 0, same = 0, by[5] = {0};
    for (unsigned i = 0; i < 20000; i++) {
        struct network n = {.first = {4, {60, (uint8_t)(i >> 8), (uint8_t)i, 0}}, .bits = 24};
        bool wants = sanity_wants_look(&key, &n, 7);
        assert_int_equal(wants, sanity_wants_look(&key, &n, 7));
        looks += wants;
        same += wants && sanity_wants_look(&other, &n, 7);
        size_t who = sanity_looker(&key, &n, 7, 5);
        assert_true(who < 5);
        by[who]++;
    }
    assert_in_range(looks, 900, 1100);
    assert_in_range(same, 20, 90);
    for (int i = 0; i < 5; i++)
        assert_in_range(by[i], 3700, 4300);
}

static void second_looks_are_judged(void **state)
{
    static const struct {
        const char *label;
        struct said claim, look;
        double between;
        bool is_replicated;
        sanity_look want;
    } cases[] = {
        {"consistent", {"Paris", 5}, {"Oslo", 30}, 28, false, LOOK_GOOD},
        {"even with a detour", {"Paris", 5}, {"Oslo", 110}, 28, false, LOOK_GOOD},
        {"Sydney says it is here; Auckland sees Paris", {"Sydney", 3}, {"Auckland", 290}, 25, false, LOOK_BAD},
        {"Sydney says it is here; Paris sees it there", {"Sydney", 3}, {"Paris", 9}, 280, false, LOOK_BAD},
        {"round trip of the two not known", {"Sydney", 3}, {"Auckland", 340}, -1, false, LOOK_BAD},
        {"and less sure", {"Sydney", 3}, {"Auckland", 200}, -1, false, LOOK_GOOD},
        {"several places", {"Sydney", 3}, {"Paris", 9}, 280, true, LOOK_UNSURE},
        {"no answer", {"Sydney", 3}, {"Paris", -1}, 280, false, LOOK_UNSURE},
        {"no place", {"?", 3}, {"Paris", 9}, -1, false, LOOK_UNSURE},
        {"no place, but a round trip", {"?", 3}, {"Paris", 9}, 40, false, LOOK_GOOD},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct sanity_second s = {.claim = report(1, cases[i].claim.city, cases[i].claim.ms),
                                  .look = report(2, cases[i].look.city, cases[i].look.ms),
                                  .between_ms = cases[i].between,
                                  .is_replicated = cases[i].is_replicated};
        sanity_look got = sanity_judge_look(NULL, &s);
        if (got != cases[i].want)
            fail_msg("%s: %d", cases[i].label, got);
        s.look.reached = addr_of("198.51.100.1");
        CHECK(cases[i].label, sanity_judge_look(NULL, &s) == LOOK_UNSURE);
    }
    assert_false(sanity_is_liar(0, 2));
    assert_true(sanity_is_liar(0, 3));
    assert_true(sanity_is_liar(6, 3));
    assert_false(sanity_is_liar(7, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(light_tells_one_place_from_several_and_a_lie_from_both),
        cmocka_unit_test(declared_places_may_be_a_hundred_kilometres_off),
        cmocka_unit_test(agents_on_probation_are_held_against_others_and_not_the_other_way),
        cmocka_unit_test(the_last_report_of_an_agent_counts),
        cmocka_unit_test(different_networks_at_different_agents_are_several_places),
        cmocka_unit_test(honest_reports_of_one_place_always_agree),
        cmocka_unit_test(circles_meet_where_a_grid_says_so),
        cmocka_unit_test(second_looks_fall_on_one_in_twenty_and_cannot_be_foreseen),
        cmocka_unit_test(second_looks_are_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
