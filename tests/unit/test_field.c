/* Round trips over places (plan/field.h) and where a site may be (plan/posterior.h). */
#include "plan/field.h"

#include <math.h>

#include "plan/posterior.h"
#include "test.h"

static const char cities_tsv[] = "country\tname\tlatitude\tlongitude\tpeople\n"
                                 "DE\tBerlin\t52.52\t13.41\t3426354\n"
                                 "DE\tHamburg\t53.55\t9.99\t1739117\n"
                                 "DE\tMunich\t48.14\t11.58\t1260391\n"
                                 "DE\tPotsdam\t52.40\t13.07\t145292\n"
                                 "FR\tParis\t48.85\t2.35\t2138551\n"
                                 "JP\tTokyo\t35.69\t139.69\t8336599\n"
                                 "US\tNew York\t40.71\t-74.01\t8175133\n"
                                 "US\tLos Angeles\t34.05\t-118.24\t3971883\n";

enum { BERLIN, PARIS, TOKYO, NEW_YORK, AGENTS };
static const struct spot SPOTS[AGENTS] = {{52.52f, 13.41f}, {48.85f, 2.35f}, {35.69f, 139.69f}, {40.71f, -74.01f}};

static const char NOWHERE[3] = "";
static struct cities cities;

static int read_cities(void **state)
{
    return cities_read(span_str(cities_tsv), &cities) == ST_OK ? 0 : -1;
}

static int drop_cities(void **state)
{
    cities_done(&cities);
    return 0;
}

static struct field *a_field(void)
{
    struct field *f = field_new(&cities);
    for (uint32_t i = 0; i < AGENTS; i++)
        field_agent_put(f, i, SPOTS[i], NOWHERE);
    return f;
}

static uint32_t place_named(const struct field *f, const char *name)
{
    for (uint32_t i = 0; i < field_count(f); i++)
        if (span_is(field_place(f, i)->name, name))
            return i;
    fail_msg("no place %s", name);
    return 0;
}

static float expect(struct field *f, const char *name, uint32_t slot, float *spread)
{
    float ms, s;
    field_predict(f, place_named(f, name), &slot, 1, &ms, &s);
    if (spread)
        *spread = s;
    return ms;
}

static void places_are_cities_and_none_is_next_to_a_larger_one(void **state)
{
    struct field *f = a_field();
    uint32_t places[16];
    assert_int_equal(field_count(f), 7); /* Potsdam is Berlin, and the agents' spots are cities */
    assert_int_equal(field_places_of(f, "DE", places, 16), 3);
    assert_int_equal(field_places_of(f, "DE", places, 2), 2);
    assert_int_equal(field_places_of(f, "AQ", places, 16), 0);
    assert_int_equal(field_place_near(f, (struct spot){48.0f, 12.0f}), place_named(f, "Munich"));
    field_agent_put(f, AGENTS, (struct spot){-77.85f, 166.67f}, NOWHERE);
    assert_int_equal(field_count(f), 8);
    field_free(f);
}

static void farther_is_longer_and_less_certain(void **state)
{
    struct field *f = a_field();
    float near_spread, far_spread;
    float near = expect(f, "Hamburg", BERLIN, &near_spread), far = expect(f, "Tokyo", BERLIN, &far_spread);
    CHECK("longer", far > near + 50);
    CHECK("less certain", far_spread > near_spread);
    CHECK("no faster than light", far >= field_light_ms(f, place_named(f, "Tokyo"), BERLIN));
    field_free(f);
}

static void a_measurement_teaches_its_neighbourhood(void **state)
{
    struct field *f = a_field();
    float before_spread, after_spread, tokyo_spread;
    float munich = expect(f, "Munich", PARIS, &before_spread), hamburg = expect(f, "Hamburg", PARIS, NULL);
    float tokyo = expect(f, "Tokyo", PARIS, NULL);
    for (int i = 0; i < 5; i++)
        field_learn(f, place_named(f, "Munich"), PARIS, munich + 40, 4, 1);
    CHECK("there", expect(f, "Munich", PARIS, &after_spread) > munich + 30);
    CHECK("more certain", after_spread < before_spread / 3);
    CHECK("next to it", expect(f, "Hamburg", PARIS, NULL) > hamburg + 3);
    CHECK("not far away", fabsf(expect(f, "Tokyo", PARIS, &tokyo_spread) - tokyo) < 0.5f);
    field_free(f);
}

static void agents_that_are_slow_to_each_other_are_slow_to_others(void **state)
{
    struct field *f = a_field();
    float before = expect(f, "Los Angeles", TOKYO, NULL);
    for (uint32_t i = 0; i < AGENTS; i++)
        if (i != TOKYO)
            field_agent_rtt(f, TOKYO, i, 400);
    CHECK("slower", expect(f, "Los Angeles", TOKYO, NULL) > before + 1);
    field_free(f);
}

static void what_a_removed_agent_measured_is_forgotten(void **state)
{
    struct field *f = a_field();
    float before = expect(f, "Munich", PARIS, NULL);
    field_learn(f, place_named(f, "Munich"), PARIS, 200, 1, 1);
    field_agent_remove(f, PARIS);
    CHECK("gone", !field_agent_is_there(f, PARIS));
    field_agent_put(f, PARIS, SPOTS[PARIS], NOWHERE);
    CHECK("forgotten", fabsf(expect(f, "Munich", PARIS, NULL) - before) < 0.01f);
    field_free(f);
}

static void nearest_agents_come_in_order(void **state)
{
    struct field *f = a_field();
    uint32_t out[AGENTS];
    assert_int_equal(field_nearest(f, place_named(f, "Munich"), NULL, out, AGENTS), AGENTS);
    assert_int_equal(out[0], BERLIN);
    assert_int_equal(out[1], PARIS);
    assert_int_equal(out[3], TOKYO);
    assert_int_equal(field_nearest(f, place_named(f, "Los Angeles"), NULL, out, 1), 1);
    assert_int_equal(out[0], NEW_YORK);
    field_free(f);
}

/* ---- where a site may be ---- */

static const uint32_t ALL[AGENTS] = {BERLIN, PARIS, TOKYO, NEW_YORK};

static void observations_move_weight_to_places_that_fit(void **state)
{
    struct field *f = a_field();
    struct posterior *p = posterior_new();
    double share;
    posterior_begin(p, f, ALL, AGENTS);
    posterior_add(p, place_named(f, "Munich"), 0.9, 1);
    posterior_add(p, place_named(f, "Tokyo"), 0.1, 1);
    assert_int_equal(posterior_place(p, &share), place_named(f, "Munich"));
    CHECK("best before", posterior_mean(p, BERLIN) < posterior_mean(p, TOKYO));
    posterior_observe(p, TOKYO, 6); /* beats light to Munich */
    assert_int_equal(posterior_place(p, &share), place_named(f, "Tokyo"));
    CHECK("nearly sure", share > 0.99);
    CHECK("best after", posterior_mean(p, TOKYO) < posterior_mean(p, BERLIN));
    CHECK("sure", posterior_sure(p, TOKYO, 0xF, 5) > 0.99 && posterior_sure(p, PARIS, 0xF, 5) < 0.01);
    posterior_free(p);
    field_free(f);
}

static void a_probe_is_worth_what_it_may_change(void **state)
{
    struct field *f = a_field();
    struct posterior *p = posterior_new();
    posterior_begin(p, f, ALL, AGENTS);
    posterior_add(p, place_named(f, "Munich"), 0.5, 1);
    posterior_add(p, place_named(f, "Tokyo"), 0.5, 1);
    double open = posterior_gain(p, BERLIN, 0xF);
    CHECK("two places, far apart", open > 20);
    CHECK("no other choice", fabs(posterior_gain(p, BERLIN, 1u << TOKYO)) < 1);
    posterior_observe(p, TOKYO, 6);
    CHECK("it is known now", posterior_gain(p, BERLIN, 0xF) < 1);
    posterior_free(p);
    field_free(f);
}

static void an_empty_posterior_knows_nothing(void **state)
{
    struct field *f = a_field();
    struct posterior *p = posterior_new();
    double share;
    posterior_begin(p, f, ALL, AGENTS);
    CHECK("no mean", isinf(posterior_mean(p, 0)));
    assert_true(posterior_place(p, &share) == UINT32_MAX);
    CHECK("no gain", posterior_gain(p, 0, 0xF) == 0);
    posterior_observe(p, 0, 10);
    posterior_learn(p, f, true);
    posterior_free(p);
    field_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_cities_and_none_is_next_to_a_larger_one),
        cmocka_unit_test(farther_is_longer_and_less_certain),
        cmocka_unit_test(a_measurement_teaches_its_neighbourhood),
        cmocka_unit_test(agents_that_are_slow_to_each_other_are_slow_to_others),
        cmocka_unit_test(what_a_removed_agent_measured_is_forgotten),
        cmocka_unit_test(nearest_agents_come_in_order),
        cmocka_unit_test(observations_move_weight_to_places_that_fit),
        cmocka_unit_test(a_probe_is_worth_what_it_may_change),
        cmocka_unit_test(an_empty_posterior_knows_nothing),
    };
    return cmocka_run_group_tests(tests, read_cities, drop_cities);
}
