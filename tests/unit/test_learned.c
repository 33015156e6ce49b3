/* Strategy `learned` (plan/delegate.h) in a small made-up world: round trips are distance, a detour that depends on the
 * pair of places, and some last metres. */
#include <math.h>

#include "base/rng.h"
#include "plan/delegate.h"
#include "test.h"

enum { AGENTS = 6, SITES = 400 };

static const struct {
    const char *name;
    struct spot spot;
} PLACES[AGENTS] = {{"Frankfurt", {50.12f, 8.68f}}, {"London", {51.51f, -0.13f}},      {"New York", {40.71f, -74.01f}},
                    {"Tokyo", {35.69f, 139.69f}},   {"Sao Paulo", {-23.55f, -46.64f}}, {"Sydney", {-33.87f, 151.21f}}};

static struct cities cities;

static int read_cities(void **state)
{
    return cities_read(cities_text(), &cities) == ST_OK ? 0 : -1;
}

static int drop_cities(void **state)
{
    cities_done(&cities);
    return 0;
}

static double rtt(struct spot site, unsigned agent, double last)
{
    double km = geo_km(site, PLACES[agent].spot);
    double detour = 1.3 + 0.4 * (0.5 + 0.5 * sin(7 * (double)agent + site.latitude / 9 + site.longitude / 17));
    return 2 + km / GEO_KM_PER_MS * detour + last;
}

static void put(struct delegator *d, unsigned i, bool is_open, bool is_asleep)
{
    delegator_agent_put(d, &(struct delegator_agent){.number = i + 1,
                                                     .is_open = is_open,
                                                     .is_asleep = is_asleep,
                                                     .weight = 1,
                                                     .has_spot = true,
                                                     .spot = PLACES[i].spot});
}

static struct delegator *a_delegator(void)
{
    struct delegator *d =
        delegator_new(&(struct delegator_opts){.strategy = DELEGATE_LEARNED, .seed = 1, .cities = &cities});
    for (unsigned i = 0; i < AGENTS; i++)
        put(d, i, true, false);
    for (unsigned i = 0; i < AGENTS; i++)
        for (unsigned k = i + 1; k < AGENTS; k++)
            delegator_agent_rtt(d, i + 1, k + 1, rtt(PLACES[k].spot, i, 0));
    return d;
}

/* A site in a city, in a network of its own; its country is told by its domain. */
struct a_site {
    struct spot spot;
    double last;
    char domain[32];
    struct addr addr;
};

static struct a_site draw(struct rng *r, unsigned number)
{
    const struct city *c = &cities.list[rng_below(r, cities.count)];
    struct a_site s = {.spot = c->spot, .last = 4 * rng_unit(r), .addr = {.family = 4, .b = {11, 0, 0, 1}}};
    s.addr.b[1] = (uint8_t)(number >> 8);
    s.addr.b[2] = (uint8_t)number;
    snprintf(s.domain, sizeof(s.domain), "site%u.%c%c", number, ascii_lower(c->country[0]), ascii_lower(c->country[1]));
    return s;
}

struct game {
    struct delegate_probe probes[2 * AGENTS];
    struct delegate_question q;
    unsigned asked;
};

static uint64_t play(struct delegator *d, const struct a_site *s, struct game *g)
{
    *g = (struct game){.q = {.addr = s->addr, .domain = span_str(s->domain), .probes = g->probes}};
    for (;;) {
        struct delegate_answer a;
        delegator_ask(d, &g->q, &a);
        buf_done(&a.why);
        if (a.verdict == DELEGATE_TO && !a.is_trial)
            return a.agent;
        uint64_t who = a.verdict == DELEGATE_TO ? a.agent : a.probes[0];
        CHECK("an agent that was not asked yet", g->q.probe_count < AGENTS);
        g->probes[g->q.probe_count++] =
            (struct delegate_probe){.agent = who, .ms = rtt(s->spot, (unsigned)who - 1, s->last)};
        g->asked++;
    }
}

static void most_sites_go_to_an_agent_that_is_near_and_probes_become_fewer(void **state)
{
    struct delegator *d = a_delegator();
    struct rng r;
    unsigned near = 0, first = 0, last = 0;
    rng_seed(&r, 42);
    for (unsigned i = 0; i < SITES; i++) {
        struct a_site s = draw(&r, i);
        struct game g;
        uint64_t owner = play(d, &s, &g);
        double best = INFINITY;
        for (unsigned k = 0; k < AGENTS; k++)
            best = fmin(best, rtt(s.spot, k, s.last));
        near += rtt(s.spot, (unsigned)owner - 1, s.last) <= best + DELEGATE_NEAR_MS;
        first += i < SITES / 4 ? g.asked : 0;
        last += i >= SITES * 3 / 4 ? g.asked : 0;
        delegator_assigned(d, &g.q, owner);
        delegator_learn(d, &g.q);
    }
    print_message("near %u of %u, asked %u in the first quarter, %u in the last\n", near, SITES, first, last);
    CHECK("near", near >= SITES * 95 / 100);
    CHECK("fewer", last < first);
    CHECK("few", last < 2 * SITES / 4);
    delegator_free(d);
}

static void the_likely_owner_comes_on_trial_and_is_asked_for_once(void **state)
{
    struct delegator *d = a_delegator();
    struct a_site s = {.spot = {51.0f, 9.0f}, .domain = "example.de", .addr = {.family = 4, .b = {11, 0, 0, 1}}};
    struct delegate_answer a;
    struct delegate_question q = {.addr = s.addr, .domain = span_str(s.domain)};
    delegator_ask(d, &q, &a);
    assert_int_equal(a.verdict, DELEGATE_TO);
    CHECK("on trial", a.is_trial && !a.is_known);
    assert_int_equal(a.agent, 1);
    CHECK("says why", a.why.n > 10);
    buf_done(&a.why);
    struct game g;
    assert_int_equal(play(d, &s, &g), 1);
    delegator_assigned(d, &g.q, 1);
    delegator_ask(d, &q, &a);
    CHECK("known from then on", a.verdict == DELEGATE_TO && a.agent == 1 && a.is_known && !a.is_trial);
    buf_done(&a.why);
    delegator_free(d);
}

static void pins_closed_and_excluded_agents_are_respected(void **state)
{
    struct delegator *d = a_delegator();
    struct delegate_answer a;
    const uint64_t among[] = {4, 6};
    struct delegate_question q = {.addr = {.family = 4, .b = {11, 0, 0, 1}}, .domain = SPAN("example.de")};
    q.among = among;
    q.among_count = 2;
    delegator_ask(d, &q, &a);
    CHECK("pinned", a.agent == 4 || a.agent == 6);
    buf_done(&a.why);
    q.among = NULL;
    q.not_agent = 1;
    delegator_ask(d, &q, &a);
    assert_int_equal(a.agent, 2);
    buf_done(&a.why);
    q.not_agent = 0;
    put(d, 0, false, false);
    delegator_ask(d, &q, &a);
    assert_int_equal(a.agent, 2);
    buf_done(&a.why);
    for (unsigned i = 0; i < AGENTS; i++)
        put(d, i, false, false);
    delegator_ask(d, &q, &a);
    assert_int_equal(a.verdict, DELEGATE_NOBODY);
    buf_done(&a.why);
    delegator_free(d);
}

static void an_agent_that_sleeps_is_waited_for(void **state)
{
    struct delegator *d = a_delegator();
    struct delegate_answer a;
    struct delegate_question q = {.addr = {.family = 4, .b = {11, 0, 0, 1}}, .domain = SPAN("example.jp")};
    put(d, 3, true, true);
    delegator_ask(d, &q, &a);
    CHECK("for the time being", a.verdict == DELEGATE_TO && a.agent != 4 && a.is_provisional);
    buf_done(&a.why);
    delegator_free(d);
}

static void an_agent_without_an_answer_does_not_get_it(void **state)
{
    struct delegator *d = a_delegator();
    struct delegate_answer a;
    struct delegate_probe probe = {.agent = 1, .ms = -1};
    struct delegate_question q = {
        .addr = {.family = 4, .b = {11, 0, 0, 1}}, .domain = SPAN("example.de"), .probes = &probe, .probe_count = 1};
    delegator_ask(d, &q, &a);
    CHECK("another", a.verdict == DELEGATE_TO && a.agent == 2);
    buf_done(&a.why);
    delegator_free(d);
}

static void agents_nobody_can_tell_apart_share_the_sites(void **state)
{
    struct delegator *d = delegator_new(&(struct delegator_opts){.strategy = DELEGATE_LEARNED, .seed = 1});
    unsigned has[4] = {0};
    for (unsigned i = 0; i < 4; i++)
        delegator_agent_put(d, &(struct delegator_agent){.number = i + 1, .is_open = true, .weight = 1});
    for (unsigned i = 0; i < 200; i++) {
        char domain[32];
        struct delegate_answer a;
        snprintf(domain, sizeof(domain), "site%u.example", i);
        struct delegate_question q = {.addr = {.family = 4, .b = {11, 0, (uint8_t)i, 1}}, .domain = span_str(domain)};
        delegator_ask(d, &q, &a);
        assert_int_equal(a.verdict, DELEGATE_TO);
        has[a.agent - 1]++;
        buf_done(&a.why);
    }
    for (unsigned i = 0; i < 4; i++)
        CHECK("a share each", has[i] > 25);
    delegator_free(d);
}

static void estimates_name_every_agent_nearest_first_and_change_nothing(void **state)
{
    struct delegator *d = a_delegator(), *twin = a_delegator();
    struct delegate_probe probes[] = {{.agent = 2, .ms = 30}, {.agent = 2, .ms = 26}, {.agent = 5, .ms = -1}};
    struct delegate_question q = {
        .addr = {.family = 4, .b = {11, 0, 0, 1}}, .domain = SPAN("example.de"), .probes = probes, .probe_count = 3};
    struct delegate_estimate e[AGENTS + 2], again[AGENTS + 2];
    struct delegate_answer a, b;
    size_t count = delegator_estimates(d, &q, e, AGENTS + 2);
    assert_int_equal(count, AGENTS - 1); /* nobody knows how far the one without an answer is */
    for (size_t i = 0; i < count; i++) {
        CHECK("sorted", !i || e[i - 1].ms <= e[i].ms);
        CHECK("measured", e[i].is_measured == (e[i].agent == 2));
        CHECK("answered", e[i].agent != 5);
        CHECK("the newest", e[i].agent != 2 || e[i].ms == 26);
        for (size_t k = 0; k < i; k++)
            CHECK("once", e[i].agent != e[k].agent);
        CHECK("not faster than light",
              e[i].is_measured ||
                  e[i].ms > geo_km((struct spot){51, 9}, PLACES[e[i].agent - 1].spot) / GEO_KM_PER_MS / 2);
    }
    assert_int_equal(e[0].agent, 1);
    assert_int_equal(delegator_estimates(d, &q, again, AGENTS + 2), count);
    for (size_t i = 0; i < count; i++)
        CHECK("the same again", again[i].agent == e[i].agent && again[i].ms == e[i].ms);
    assert_int_equal(delegator_estimates(d, &q, e, 3), 3);
    delegator_ask(d, &q, &a);
    delegator_ask(twin, &q, &b);
    CHECK("as if nobody had asked", a.agent == b.agent && a.expected_ms == b.expected_ms && a.verdict == b.verdict);
    buf_done(&a.why);
    buf_done(&b.why);
    delegator_free(d);
    delegator_free(twin);
}

static void a_site_that_answers_from_everywhere_is_expected_to(void **state)
{
    struct delegator *d = a_delegator();
    struct delegate_probe probes[] = {{.agent = 1, .ms = 2}, {.agent = 4, .ms = 3}};
    struct delegate_question q = {
        .addr = {.family = 4, .b = {11, 0, 0, 1}}, .domain = SPAN("example.de"), .probes = probes, .probe_count = 2};
    struct delegate_estimate e[AGENTS];
    assert_int_equal(delegator_estimates(d, &q, e, AGENTS), AGENTS);
    for (size_t i = 0; i < AGENTS; i++)
        CHECK("near from there too", e[i].ms <= 3);
    delegator_free(d);
}

static void a_route_that_has_changed_does_not_move_the_site(void **state)
{
    struct delegator *d = a_delegator();
    struct delegate_probe probes[] = {{.agent = 1, .ms = 12}, {.agent = 1, .ms = 60}, {.agent = 2, .ms = 80}};
    struct delegate_question q = {
        .addr = {.family = 4, .b = {11, 0, 0, 1}}, .domain = SPAN("example.de"), .probes = probes, .probe_count = 2};
    struct delegate_answer a;
    q.old_count = 1;
    delegator_ask(d, &q, &a);
    CHECK("still in Germany: London is next, and not measured", a.agent == 2 && a.is_trial && a.expected_ms < 40);
    buf_done(&a.why);
    q.probe_count = 3;
    delegator_ask(d, &q, &a);
    CHECK("no better: somebody else, or it stays", a.verdict == DELEGATE_PROBE || (a.agent == 1 && !a.is_trial));
    buf_done(&a.why);
    probes[1] = (struct delegate_probe){.agent = 2, .ms = 80}; /* both old, the first of them too */
    q.probe_count = q.old_count = 2;
    delegator_ask(d, &q, &a);
    CHECK("what is old is measured again", a.agent == 1 && a.is_trial);
    buf_done(&a.why);
    delegator_free(d);
}

static void of_many_agents_those_that_may_have_it_are_weighed(void **state)
{
    struct delegator *d =
        delegator_new(&(struct delegator_opts){.strategy = DELEGATE_LEARNED, .seed = 1, .cities = &cities});
    const uint64_t among[] = {77};
    struct delegate_question q = {.addr = {.family = 4, .b = {11, 0, 0, 1}}, .domain = SPAN("example.de")};
    struct delegate_estimate e[100];
    struct delegate_answer a;
    for (unsigned i = 0; i < 100; i++) { /* 76 in Germany, the others in Japan */
        struct spot at = {50 + (float)i / 100, 9 + (float)i / 50}, far = {35 + (float)i / 100, 138};
        delegator_agent_put(
            d, &(struct delegator_agent){
                   .number = i + 1, .is_open = i >= 76, .weight = 1, .has_spot = true, .spot = i < 76 ? at : far});
    }
    delegator_ask(d, &q, &a);
    CHECK("all that are near are full", a.verdict == DELEGATE_TO && a.agent > 76);
    buf_done(&a.why);
    q.among = among;
    q.among_count = 1;
    delegator_ask(d, &q, &a);
    CHECK("pinned", a.verdict == DELEGATE_TO && a.agent == 77);
    buf_done(&a.why);
    size_t count = delegator_estimates(d, &q, e, 100);
    CHECK("only plausible ones", count > 3 && count < 60);
    CHECK("full ones too", e[0].agent <= 76);
    delegator_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_sites_go_to_an_agent_that_is_near_and_probes_become_fewer),
        cmocka_unit_test(the_likely_owner_comes_on_trial_and_is_asked_for_once),
        cmocka_unit_test(pins_closed_and_excluded_agents_are_respected),
        cmocka_unit_test(an_agent_that_sleeps_is_waited_for),
        cmocka_unit_test(an_agent_without_an_answer_does_not_get_it),
        cmocka_unit_test(agents_nobody_can_tell_apart_share_the_sites),
        cmocka_unit_test(estimates_name_every_agent_nearest_first_and_change_nothing),
        cmocka_unit_test(a_site_that_answers_from_everywhere_is_expected_to),
        cmocka_unit_test(a_route_that_has_changed_does_not_move_the_site),
        cmocka_unit_test(of_many_agents_those_that_may_have_it_are_weighed),
    };
    return cmocka_run_group_tests(tests, read_cities, drop_cities);
}
