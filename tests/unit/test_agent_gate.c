/* Which hosts may be asked, whose visits they are, what strays; and the timings of networks. */
#include "test.h"

#include "agent/gate.h"
#include "plan/split.h"
#include "agent/timings.h"

static mono_ms now_ms;
static unsigned refusals;

static mono_ms test_now(void *arg)
{
    return now_ms;
}

static void note_refused(void *arg, struct span host, const struct addr *addr, struct span rule)
{
    refusals++;
}

static struct addr addr_of(const char *text)
{
    struct addr a;
    CHECK_STATUS(text, addr_parse(span_str(text), &a), ST_OK);
    return a;
}

static struct gate *a_gate(bool allow_private)
{
    static const struct span refused[] = {SPAN_INIT("203.0.113.0/24")};
    refusals = 0;
    now_ms = 1000;
    return gate_new(&(struct gate_opts){.refused = refused,
                                        .refused_count = 1,
                                        .allow_private = allow_private,
                                        .now = test_now,
                                        .note_refused = note_refused});
}

static void put_task(struct gate *g, uint64_t task, uint64_t channel, const char *network, const char *host)
{
    struct network n;
    struct span h = span_str(host);
    CHECK_STATUS(network, network_parse(span_str(network), &n), ST_OK);
    gate_put(g, &(struct gate_task){.task = task,
                                    .channel = channel,
                                    .kind = SUMMARY_TEXT,
                                    .networks = &n,
                                    .network_count = 1,
                                    .hosts = &h,
                                    .host_count = host ? 1 : 0});
}

static void only_tasks_networks_and_pinned_hosts_may_be_asked(void **state)
{
    static const struct {
        const char *label, *host, *addr;
        uint64_t channel;
        bool want;
    } cases[] = {
        {"in the network", "a.example", "5.5.5.9", 1, true},
        {"elsewhere", "a.example", "5.5.6.9", 1, false},
        {"another channel's network", "a.example", "6.6.6.9", 1, false},
        {"pinned", "own.example", "9.9.9.9", 2, true},
        {"pinned, another channel", "own.example", "9.9.9.9", 1, false},
        {"v4-mapped", "a.example", "::ffff:5.5.5.9", 1, true},
        {"no such channel", "a.example", "5.5.5.9", 3, false},
        {"the owner refuses it", "own.example", "203.0.113.5", 2, false},
        {"private", "own.example", "192.168.1.1", 2, false},
        {"loopback", "own.example", "127.0.0.1", 2, false},
    };
    struct gate *g = a_gate(false);
    put_task(g, 11, 1, "5.5.5.0/24", NULL);
    put_task(g, 12, 2, "6.6.6.0/24", "own.example");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct addr a = addr_of(cases[i].addr);
        CHECK(cases[i].label, gate_may_use(g, span_str(cases[i].host), &a, cases[i].channel) == cases[i].want);
        if (!cases[i].want)
            gate_turned_away(g, span_str(cases[i].host), &a, cases[i].channel);
    }
    assert_int_equal(refusals, 3);
    struct arena arena;
    size_t n;
    arena_init(&arena);
    struct network *pinned = gate_pinned_networks(g, 12, &arena, &n);
    assert_int_equal(n, 1);
    char text[NETWORK_TEXT_MAX];
    assert_string_equal(network_format(&pinned[0], text), "9.9.9.0/24");
    gate_remove(g, 11);
    struct addr a = addr_of("5.5.5.9");
    CHECK("its task is gone", !gate_may_use(g, SPAN("a.example"), &a, 1));
    arena_done(&arena);
    gate_free(g);
}

static void hosts_that_others_have_are_left_to_them(void **state)
{
    struct gate *g = a_gate(false);
    struct network n;
    struct addr a = addr_of("5.5.5.9");
    struct span other = SPAN("many.example");
    struct arena arena;
    size_t count;
    CHECK_STATUS("network", network_parse(SPAN("5.5.5.0/24"), &n), ST_OK);
    gate_put(g, &(struct gate_task){.task = 11,
                                    .channel = 1,
                                    .kind = SUMMARY_TEXT,
                                    .networks = &n,
                                    .network_count = 1,
                                    .others = &other,
                                    .other_count = 1});
    CHECK("ours", gate_may_use(g, SPAN("a.example"), &a, 1));
    CHECK("somebody else's", !gate_may_use(g, SPAN("Many.example"), &a, 1));
    /* The coordinator knows. */
    arena_init(&arena);
    gate_turned_away(g, other, &a, 1);
    a = addr_of("7.7.7.7");
    gate_turned_away(g, other, &a, 1);
    (void)gate_strays(g, &arena, &count);
    assert_int_equal(count, 0);
    arena_done(&arena);
    gate_free(g);
}

static void of_a_split_network_only_its_own_sites_may_be_asked(void **state)
{
    struct gate *g = a_gate(false);
    struct addr a = addr_of("5.5.5.9");
    struct network mine = {.first = addr_of("5.5.5.0"), .bits = 24}, whole = mine, got;
    char text[NETWORK_TEXT_MAX];
    mine.parts = (uint16_t)(1u << split_part(SPAN("a.example")));
    put_task(g, 11, 1, network_format(&mine, text), NULL);
    CHECK("ours", gate_may_use(g, SPAN("a.example"), &a, 1));
    CHECK("ours too", gate_may_use(g, SPAN("www.a.example"), &a, 1));
    unsigned may = 0;
    for (int i = 0; i < 160; i++) {
        char host[32];
        snprintf(host, sizeof(host), "d%d.example", i);
        may += gate_may_use(g, span_str(host), &a, 1);
    }
    assert_in_range(may, 1, 40);
    assert_int_equal(gate_parts_of(g, &whole), mine.parts);
    CHECK("its name", gate_network_of(g, &a, &got) && network_eq(&got, &mine));
    struct network rest = mine;
    rest.parts = (uint16_t)~mine.parts;
    put_task(g, 12, 2, network_format(&rest, text), NULL);
    assert_int_equal(gate_parts_of(g, &whole), 0); /* all of it */
    gate_remove(g, 11);
    assert_int_equal(gate_parts_of(g, &whole), rest.parts);
    gate_free(g);
}

static void private_addresses_are_the_owners_to_allow(void **state)
{
    struct gate *g = a_gate(true);
    struct addr a = addr_of("192.168.1.1");
    put_task(g, 1, 1, "192.168.1.0/24", NULL);
    CHECK("allowed", gate_may_use(g, SPAN("a.example"), &a, 1));
    gate_free(g);
}

static void a_stray_is_reported_once_an_hour(void **state)
{
    struct gate *g = a_gate(false);
    struct addr a = addr_of("7.7.7.7");
    struct arena arena;
    size_t n;
    arena_init(&arena);
    put_task(g, 11, 1, "5.5.5.0/24", NULL);
    for (int i = 0; i < 3; i++)
        gate_turned_away(g, SPAN("b.example"), &a, 1);
    struct stray_host *s = gate_strays(g, &arena, &n);
    assert_int_equal(n, 1);
    assert_int_equal(s[0].task, 11);
    CHECK_SPAN("host", s[0].host, SPAN("b.example"));
    CHECK_SPAN("address", s[0].address, SPAN("7.7.7.7"));
    gate_strays_told(g, n);
    gate_turned_away(g, SPAN("b.example"), &a, 1);
    gate_strays(g, &arena, &n);
    assert_int_equal(n, 0);
    now_ms += GATE_STRAY_MS;
    gate_turned_away(g, SPAN("b.example"), &a, 1);
    gate_strays(g, &arena, &n); /* an hour later */
    assert_int_equal(n, 1);
    for (int i = 0; i < 2 * GATE_STRAYS_MAX; i++) {
        char host[32];
        snprintf(host, sizeof(host), "h%d.example", i);
        gate_turned_away(g, span_str(host), &a, 1);
    }
    gate_strays(g, &arena, &n);
    CHECK("bounded", n == GATE_STRAYS_MAX);
    arena_done(&arena);
    gate_free(g);
}

static void networks_in_refused_countries_are_refused(void **state)
{
    static const struct span countries[] = {SPAN_INIT("DE"), SPAN_INIT("fr")};
    struct gate *g = gate_new(
        &(struct gate_opts){.countries = countries, .country_count = 2, .now = test_now, .note_refused = note_refused});
    static const struct {
        const char *country, *network, *addr;
        bool want;
    } cases[] = {{"DE", "5.5.5.0/24", "5.5.5.1", true},
                 {"DE", "5.5.5.0/24", "5.5.5.2", true},
                 {"SE", "6.6.6.0/24", "6.6.6.1", false},
                 {"FR", "2600:1::/48", "2600:1::1", true}};
    struct span rule;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct network n;
        struct addr a = addr_of(cases[i].addr);
        CHECK_STATUS(cases[i].network, network_parse(span_str(cases[i].network), &n), ST_OK);
        gate_country(g, &n, span_str(cases[i].country));
        CHECK(cases[i].addr, gate_is_refused(g, &a, &rule) == cases[i].want);
        CHECK(cases[i].addr, !cases[i].want || span_is(rule, "refuse-country"));
    }
    gate_free(g);
}

static void a_visit_belongs_to_the_task_of_its_network(void **state)
{
    struct gate *g = a_gate(false);
    struct addr five = addr_of("5.5.5.1"), six = addr_of("6.6.6.1"), none = {0};
    put_task(g, 11, 1, "5.5.5.0/24", NULL);
    put_task(g, 12, 1, "6.6.6.0/24", NULL);
    assert_int_equal(gate_task_of(g, 1, &five).task, 11);
    assert_int_equal(gate_task_of(g, 1, &six).task, 12);
    assert_int_equal(gate_task_of(g, 1, &none).task, 11);
    assert_int_equal(gate_task_of(g, 2, &five).task, 0);
    gate_free(g);
}

static void known_links_are_known(void **state)
{
    struct gate *g = a_gate(false);
    static const uint64_t links[] = {3, 5, 8, 13, UINT64_MAX};
    gate_put(g, &(struct gate_task){.task = 1, .channel = 1, .known_links = links, .known_link_count = 5});
    for (uint64_t i = 0; i < 20; i++)
        CHECK("as the list has it", gate_knows_link(g, 1, i) == (i == 3 || i == 5 || i == 8 || i == 13));
    CHECK("the last", gate_knows_link(g, 1, UINT64_MAX));
    CHECK("another task", !gate_knows_link(g, 2, 3));
    gate_free(g);
}

/* ---- timings ---- */

static struct summary a_visit(const char *addr, int connect_us, int first_byte_us, int total_us)
{
    return (struct summary){.address = span_str(addr),
                            .http_status = 200,
                            .connect_us = connect_us,
                            .tls_us = 0,
                            .first_byte_us = first_byte_us,
                            .total_us = total_us};
}

static void note(struct timings *t, const struct summary *s)
{
    struct addr addr;
    assert_int_equal(addr_parse(s->address, &addr), ST_OK);
    struct network n = addr_network(&addr);
    if (s->total_us >= 0)
        timings_path(t, &n, s->connect_us > 0 ? (uint32_t)s->connect_us : 11000);
    timings_add(t, &n, s);
}

static void timings_are_per_network_and_taken_once(void **state)
{
    struct timings *t = timings_new(5);
    struct arena arena;
    size_t n;
    arena_init(&arena);
    for (int i = 0; i < 9; i++) {
        struct summary s = a_visit("192.0.2.7",
                                   i == 0   ? 10000
                                   : i == 1 ? 12000
                                            : 0,
                                   i < 2 ? 10000 + 10000 + 5000 : 15000, 40000);
        note(t, &s);
    }
    struct summary other = a_visit("198.51.100.1", 20000, 50000, 60000), failed = a_visit("198.51.100.1", -1, -1, -1);
    note(t, &other);
    note(t, &failed);
    struct network_timing *got = timings_take(t, &arena, &n);
    assert_int_equal(n, 2);
    struct network_timing *a = span_is(got[0].network, "192.0.2.0/24") ? &got[0] : &got[1];
    CHECK_SPAN("network", a->network, SPAN("192.0.2.0/24"));
    assert_int_equal(a->requests, 9);
    assert_int_equal(a->rtt_min_us, 10000);
    assert_int_equal(a->rtt_median_us, 11000);
    assert_int_equal(a->server_median_us, 5000);
    assert_int_equal(a->total_median_us, 40000);
    timings_take(t, &arena, &n);
    assert_int_equal(n, 0);
    for (int i = 0; i < 5000; i++) {
        char text[32];
        snprintf(text, sizeof(text), "20.%d.%d.1", i / 256, i % 256);
        struct summary s = a_visit(text, 1000, 2000, 3000);
        note(t, &s);
    }
    timings_take(t, &arena, &n);
    CHECK("bounded", n > 100 && n <= TIMINGS_NETWORKS);
    arena_done(&arena);
    timings_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_tasks_networks_and_pinned_hosts_may_be_asked),
        cmocka_unit_test(hosts_that_others_have_are_left_to_them),
        cmocka_unit_test(of_a_split_network_only_its_own_sites_may_be_asked),
        cmocka_unit_test(private_addresses_are_the_owners_to_allow),
        cmocka_unit_test(a_stray_is_reported_once_an_hour),
        cmocka_unit_test(networks_in_refused_countries_are_refused),
        cmocka_unit_test(a_visit_belongs_to_the_task_of_its_network),
        cmocka_unit_test(known_links_are_known),
        cmocka_unit_test(timings_are_per_network_and_taken_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
