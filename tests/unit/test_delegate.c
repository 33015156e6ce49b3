#include "test.h"

#include "base/rng.h"
#include "delegate_world.h"
#include "plan/owners.h"

static struct delegator *delegator_of(delegate_strategy s, const struct tree *t)
{
    return delegator_new(&(struct delegator_opts){.strategy = s, .seed = 7, .hierarchy = t ? t->h : NULL});
}

static const delegate_strategy all[] = {DELEGATE_RANDOM,  DELEGATE_HASH,      DELEGATE_IPMICRA,
                                        DELEGATE_LEARNED, DELEGATE_PROBE_ALL, DELEGATE_FARTHEST};
#define ALL (sizeof(all) / sizeof(*all))

static void names_are_read_and_written(void **state)
{
    delegate_strategy s;
    delegate_same_holder h;
    for (size_t i = 0; i < ALL; i++) {
        const char *name = delegate_strategy_name(all[i]);
        CHECK(name, delegate_strategy_parse(span_str(name), &s) && s == all[i]);
    }
    assert_string_equal(delegate_strategy_name(DELEGATE_PROBE_ALL), "probe-all");
    assert_false(delegate_strategy_parse(SPAN("nearest"), &s));
    assert_true(delegate_same_holder_parse(SPAN("000-code"), &h) && h == SAME_HOLDER_000_CODE);
    assert_true(delegate_same_holder_parse(SPAN("001"), &h) && h == SAME_HOLDER_001);
    assert_true(delegate_same_holder_parse(SPAN("000"), &h) && h == SAME_HOLDER_000);
    assert_false(delegate_same_holder_parse(SPAN("002"), &h));
}

/* ---- what holds for all strategies ---- */

static void whoever_has_a_network_keeps_it(void **state)
{
    for (size_t i = 0; i < ALL; i++) {
        const char *label = delegate_strategy_name(all[i]);
        struct delegator *d = delegator_of(all[i], NULL);
        struct asked k;
        for (uint64_t a = 1; a <= 5; a++)
            put_agent(d, a, NULL);
        assign(d, "192.0.2.1", "example.org", 4);
        asked_init(&k, "192.0.2.99", "example.net");
        check_goes_to(label, d, &k, 4);
        CHECK(label, k.a.is_known);
        k.q.not_agent = 4;
        buf_done(&k.a.why);
        delegator_ask(d, &k.q, &k.a);
        CHECK(label, !k.a.is_known && k.a.agent != 4);
        buf_done(&k.a.why);
        delegator_agent_remove(d, 4);
        delegator_agent_remove(d, 4);
        check_owner(label, d, "192.0.2.1", 0);
        assign(d, "192.0.2.1", "example.org", 4); /* it is not known any more */
        check_owner(label, d, "192.0.2.1", 0);
        delegator_free(d);
    }
    delegator_free(NULL);
}

static void nobody_is_open(void **state)
{
    for (size_t i = 0; i < ALL; i++) {
        const char *label = delegate_strategy_name(all[i]);
        struct delegator *d = delegator_of(all[i], NULL);
        struct asked k;
        asked_init(&k, "192.0.2.99", "example.net");
        check_verdict(label, d, &k, DELEGATE_NOBODY);
        delegator_agent_put(d, &(struct delegator_agent){.number = 3, .weight = 1});
        check_verdict(label, d, &k, DELEGATE_NOBODY);
        put_agent(d, 3, NULL);
        k.q.not_agent = 3;
        check_verdict(label, d, &k, DELEGATE_NOBODY);
        CHECK(label, k.a.why.n > 0);
        buf_done(&k.a.why);
        delegator_free(d);
    }
}

static void homes_are_known_to_ipmicra_and_learned_only(void **state)
{
    for (size_t i = 0; i < ALL; i++) {
        bool has_home = all[i] == DELEGATE_IPMICRA || all[i] == DELEGATE_LEARNED;
        struct delegator *d = delegator_of(all[i], NULL);
        put_agent(d, 1, "192.0.2.1");
        put_agent(d, 2, "192.0.2.2");
        check_owner(delegate_strategy_name(all[i]), d, "192.0.2.200", has_home ? 1 : 0);
        put_agent(d, 2, "198.51.100.1"); /* it has moved */
        check_owner(delegate_strategy_name(all[i]), d, "198.51.100.200", has_home ? 2 : 0);
        delegator_free(d);
    }
}

static void far_answers_that_are_fast_mark_a_replicated_site(void **state)
{
    for (int far = 0; far < 2; far++) {
        struct delegator *d = delegator_of(DELEGATE_PROBE_ALL, NULL);
        struct asked k;
        struct delegator_agent a = {.number = 1, .is_open = true, .weight = 1, .has_spot = true, .spot = {48.9f, 2.4f}};
        delegator_agent_put(d, &a); /* Paris */
        a.number = 2;
        a.spot = far ? (struct spot){35.7f, 139.7f} : (struct spot){52.5f, 13.4f}; /* Tokyo or Berlin */
        delegator_agent_put(d, &a);
        asked_init(&k, "192.0.2.99", "example.net");
        asked_probe(&k, 1, 5);
        asked_probe(&k, 2, 6);
        check_goes_to("two places", d, &k, 1);
        assert_int_equal(k.a.is_replicated, far);
        k.probes[1].reached = addr_of("198.51.100.7");
        check_goes_to("two networks", d, &k, 1);
        assert_true(k.a.is_replicated);
        delegator_free(d);
    }
}

/* Paris and Oslo agree where the site may be, and Tokyo says that it is next door. */
static void a_round_trip_that_cannot_be_is_not_used(void **state)
{
    static const struct spot spots[] = {{48.9f, 2.4f}, {59.9f, 10.8f}, {35.7f, 139.7f}};
    static const delegate_strategy strategies[] = {DELEGATE_PROBE_ALL, DELEGATE_LEARNED, DELEGATE_IPMICRA};
    for (size_t i = 0; i < 3; i++) {
        struct delegator *d = delegator_of(strategies[i], NULL);
        struct asked k;
        for (unsigned n = 0; n < 3; n++)
            delegator_agent_put(d, &(struct delegator_agent){.number = n + 1,
                                                             .is_open = true,
                                                             .is_new = n == 2,
                                                             .weight = 1,
                                                             .has_spot = true,
                                                             .spot = spots[n]});
        asked_init(&k, "192.0.2.99", "example.net");
        asked_probe(&k, 1, 6);
        asked_probe(&k, 2, 30);
        asked_probe(&k, 3, 1);
        check_goes_to(delegate_strategy_name(strategies[i]), d, &k, 1);
        assert_int_equal(k.a.refused, 3);
        assert_false(k.a.is_replicated);
        delegator_free(d);
    }
}

/* ---- random, hash ---- */

static uint64_t agent_for(struct delegator *d, const char *addr, const char *domain)
{
    struct asked k;
    asked_init(&k, addr, domain);
    check_verdict(domain, d, &k, DELEGATE_TO);
    buf_done(&k.a.why);
    return k.a.agent;
}

static void shares_follow_the_weights(void **state)
{
    static const delegate_strategy both[] = {DELEGATE_RANDOM, DELEGATE_HASH};
    for (size_t s = 0; s < 2; s++) {
        struct delegator *d = delegator_of(both[s], NULL);
        unsigned got[5] = {0};
        for (uint64_t a = 1; a <= 4; a++)
            delegator_agent_put(d, &(struct delegator_agent){.number = a,
                                                             .is_open = true,
                                                             .weight = a == 3   ? 2
                                                                       : a == 4 ? 0
                                                                                : 1});
        for (int i = 0; i < 4000; i++) {
            char domain[32];
            snprintf(domain, sizeof(domain), "d%d.example", i);
            got[agent_for(d, "192.0.2.1", domain)]++;
        }
        assert_in_range(got[1], 900, 1100);
        assert_in_range(got[2], 900, 1100);
        assert_in_range(got[3], 1850, 2150);
        assert_int_equal(got[4], 0);
        delegator_free(d);
    }
}

static void the_same_seed_draws_the_same(void **state)
{
    struct delegator *d[2];
    for (int i = 0; i < 2; i++) {
        d[i] = delegator_of(DELEGATE_RANDOM, NULL);
        for (uint64_t a = 1; a <= 9; a++)
            put_agent(d[i], a, NULL);
    }
    for (int i = 0; i < 100; i++)
        assert_int_equal(agent_for(d[0], "192.0.2.1", "x"), agent_for(d[1], "192.0.2.1", "x"));
    delegator_free(d[0]);
    delegator_free(d[1]);
}

static void hash_keeps_a_domain_together_and_moves_only_what_it_must(void **state)
{
    enum { DOMAINS = 1000 };
    struct delegator *d = delegator_of(DELEGATE_HASH, NULL);
    static uint64_t before[DOMAINS];
    unsigned moved = 0, of_5 = 0;
    for (uint64_t a = 10; a >= 1; a--)
        put_agent(d, a, NULL);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < DOMAINS; i++) {
            char domain[32];
            snprintf(domain, sizeof(domain), "d%d.example", i);
            uint64_t a = agent_for(d, "192.0.2.1", domain);
            assert_int_equal(a, agent_for(d, "203.0.113.1", domain));
            if (turn && a != before[i])
                moved++;
            if (turn && before[i] == 5)
                of_5++;
            before[i] = a;
        }
        delegator_agent_remove(d, 5);
    }
    assert_int_equal(moved, of_5);
    assert_true(of_5 > 50);
    delegator_free(d);
}

static void hash_without_a_domain_is_of_the_network(void **state)
{
    static const struct range ranges[] = {{"20.0.0.0", "20.0.255.255", NULL}, {"20.1.0.0", "20.1.0.255", NULL}};
    struct tree t = tree_of(ranges, 2);
    for (int i = 0; i < 2; i++) {
        struct delegator *d = delegator_of(DELEGATE_HASH, i ? &t : NULL);
        bool differs = false;
        for (uint64_t a = 1; a <= 50; a++)
            put_agent(d, a, NULL);
        assert_int_equal(agent_for(d, "20.0.7.1", ""), agent_for(d, "20.0.7.200", ""));
        for (int k = 0; k < 20; k++) {
            char addr[32];
            snprintf(addr, sizeof(addr), "20.0.%d.1", k);
            differs |= agent_for(d, addr, "") != agent_for(d, "20.0.7.1", "");
        }
        assert_int_equal(differs, i == 0); /* with the hierarchy it is one network */
        delegator_free(d);
    }
    tree_done(&t);
}

/* ---- probe-all, farthest ---- */

static void everybody_is_asked_before_the_bounds_answer(void **state)
{
    for (int far = 0; far < 2; far++) {
        struct delegator *d = delegator_of(far ? DELEGATE_FARTHEST : DELEGATE_PROBE_ALL, NULL);
        struct asked k;
        unsigned turns = 0;
        for (uint64_t a = 1; a <= 40; a++)
            put_agent(d, a, NULL);
        delegator_agent_put(d, &(struct delegator_agent){.number = 41, .is_open = true, .is_asleep = true});
        delegator_agent_put(d, &(struct delegator_agent){.number = 42});
        asked_init(&k, "192.0.2.1", "example.org");
        for (;; turns++) {
            delegator_ask(d, &k.q, &k.a);
            buf_done(&k.a.why);
            if (k.a.verdict == DELEGATE_TO)
                break;
            assert_true(k.a.probe_count > 0 && k.a.probe_count <= DELEGATE_PROBES_MAX);
            for (unsigned i = 0; i < k.a.probe_count; i++)
                asked_probe(&k, k.a.probes[i], k.a.probes[i] == 7 ? -1 : 100 - (double)k.a.probes[i]);
        }
        assert_int_equal(turns, 3); /* 16, 16, 8 */
        assert_int_equal(k.q.probe_count, 40);
        assert_int_equal(k.a.agent, far ? 1 : 40);
        assert_true(k.a.expected_ms == (far ? 99 : 60) && k.a.is_provisional);
        delegator_free(d);
    }
}

/* ---- another hierarchy ---- */

struct carries {
    struct buf text;
};

static void note_carry(void *arg, const struct delegator_carry *c)
{
    char first[ADDR_TEXT_MAX], last[ADDR_TEXT_MAX];
    struct carries *all_of_them = arg;
    buf_printf(&all_of_them->text, "%s-%s of %llu %s; ", addr_format(&c->first, first), addr_format(&c->last, last),
               (unsigned long long)c->agent,
               c->is_lost ? "lost"
               : c->node  ? "inside another"
                          : "alone");
}

static void check_carry(const char *label, struct delegator *d, const struct tree *t, const char *want)
{
    struct carries c = {{0}};
    delegator_hierarchy(d, t ? t->h : NULL, note_carry, &c);
    CHECK_SPAN(label, buf_span(&c.text), span_str(want));
    buf_done(&c.text);
}

static void delegations_go_to_the_same_range_or_the_one_around_it(void **state)
{
    static const struct range before[] = {{"20.0.0.0", "20.255.255.255", NULL}, {"20.1.0.0", "20.1.255.255", "a"},
                                          {"20.1.7.0", "20.1.7.255", "a"},      {"20.2.0.0", "20.2.0.127", "b"},
                                          {"20.2.1.0", "20.2.1.255", "b"},      {"21.0.0.0", "21.0.255.255", "c"}};
    static const struct range after[] = {{"20.0.0.0", "20.255.255.255", NULL},
                                         {"20.1.0.0", "20.1.255.255", "a"},
                                         {"20.2.0.0", "20.2.255.255", "b"},
                                         {"20.2.1.0", "20.2.1.255", "b"},
                                         {"33.0.0.0", "33.0.255.255", "d"}};
    struct tree old = tree_of(before, 6), new = tree_of(after, 5);
    struct delegator *d = delegator_of(DELEGATE_IPMICRA, &old);
    for (uint64_t a = 1; a <= 5; a++)
        put_agent(d, a, NULL);
    assign(d, "20.1.0.1", "x.example", 1);
    assign(d, "20.1.7.1", "x.example", 2); /* its range goes, the one around is 1's */
    assign(d, "20.2.0.1", "x.example", 3); /* goes into a new one */
    assign(d, "20.2.1.1", "x.example", 4); /* stays */
    assign(d, "21.0.0.1", "x.example", 5); /* goes, nothing is around */
    assign(d, "33.0.0.1", "x.example", 5); /* was in no range, is now */
    assign(d, "44.0.0.1", "x.example", 4); /* stays in none */
    check_carry("carry", d, &new,
                "20.1.7.0-20.1.7.255 of 2 lost; 20.2.0.0-20.2.0.127 of 3 inside another; "
                "21.0.0.0-21.0.255.255 of 5 lost; 33.0.0.0-33.0.0.255 of 5 inside another; ");
    check_owner("same", d, "20.1.9.1", 1);
    check_owner("lost", d, "20.1.7.1", 1);
    check_owner("around", d, "20.2.99.1", 3);
    check_owner("same", d, "20.2.1.1", 4);
    check_owner("nothing", d, "21.0.0.1", 0);
    check_owner("in a range now", d, "33.0.99.1", 5);
    check_owner("in none", d, "44.0.0.1", 4);
    check_carry("the same again", d, &new, "");

    struct asked k; /* holders go along */
    asked_init(&k, "20.2.55.1", "y.example");
    k.q.not_agent = 3;
    check_wants("of holder b: 3 and 4", d, &k, 4);

    check_carry("none", d, NULL,
                "20.1.0.0-20.1.255.255 of 1 lost; 20.2.0.0-20.2.255.255 of 3 lost; 20.2.1.0-20.2.1.255 of 4 alone; "
                "33.0.0.0-33.0.255.255 of 5 lost; ");
    check_owner("as large as a network of its own", d, "20.2.1.1", 4);
    check_owner("as before", d, "44.0.0.200", 4);
    asked_init(&k, "55.0.0.1", "x.example");
    check_wants("and so does its domain", d, &k, 4);
    check_carry("back", d, &old, "");
    check_owner("back", d, "20.2.1.1", 4);
    delegator_free(d);
    tree_done(&old);
    tree_done(&new);
}

static void networks_of_many_domains_stay_bounded(void **state)
{
    struct delegator *d = delegator_of(DELEGATE_IPMICRA, NULL);
    struct asked k;
    put_agent(d, 1, NULL);
    put_agent(d, 2, NULL);
    for (int i = 0; i < 100; i++) {
        char domain[32];
        snprintf(domain, sizeof(domain), "d%d.example", i);
        assign(d, "20.0.0.1", domain, 2);
        assign(d, "20.0.0.1", domain, 2);
    }
    asked_init(&k, "20.0.1.1", "d0.example");
    check_wants("known", d, &k, 2);
    asked_init(&k, "20.0.1.1", "d99.example");
    check_wants("one too many", d, &k, 1);
    for (int i = 0; i < 3000; i++) {
        char addr[32];
        snprintf(addr, sizeof(addr), "30.%d.%d.1", i / 200, i % 200);
        assign(d, addr, "cdn.example", 1);
    }
    check_owner("owners are all known", d, "30.14.199.7", 1);
    asked_init(&k, "20.0.1.1", "cdn.example");
    check_wants("cdn", d, &k, 1);
    delegator_agent_remove(d, 1);
    check_owner("gone", d, "30.14.199.7", 0);
    delegator_free(d);
}

/* ---- owners: a naive twin ---- */

static void owners_equal_a_plain_list(void **state)
{
    static const uint32_t sizes[] = {0, 1, 255, 256, 257, 5000, 70000};
    struct rng r;
    rng_seed(&r, 11);
    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        uint32_t places = sizes[s];
        struct owners *o = owners_new(places);
        uint32_t *list = malloc((places + 1) * sizeof(*list));
        size_t owned = 0;
        struct owner_set skip = {0};
        for (uint32_t i = 0; i < places; i++)
            list[i] = OWNERS_NOBODY;
        owner_set_widen(&skip, 5);
        for (int turn = 0; turn < 20000 && places; turn++) {
            uint32_t at = (uint32_t)rng_below(&r, places), most = turn < 5000 ? 40 : 320;
            uint32_t owner = rng_below(&r, 3) ? (uint32_t)rng_below(&r, most) : OWNERS_NOBODY;
            owned += (owner != OWNERS_NOBODY) - (list[at] != OWNERS_NOBODY);
            list[at] = owner;
            owners_set(o, at, owner);
            if (turn % 16)
                continue;
            for (uint32_t k = 0; k < 320; k++)
                owner_set_put(&skip, k, rng_below(&r, 64) != 0);
            uint32_t from = (uint32_t)rng_below(&r, places + 2), to = (uint32_t)rng_below(&r, places + 2), want = from;
            while (want < to && (want >= places || list[want] == OWNERS_NOBODY || owner_set_has(&skip, list[want])))
                want++;
            if (from >= to)
                want = to;
            assert_int_equal(owners_first(o, from, to, &skip), want);
            assert_int_equal(owners_get(o, at), list[at]);
        }
        assert_int_equal(owners_count(o), owned);
        assert_int_equal(owners_get(o, places), OWNERS_NOBODY);
        assert_int_equal(owners_first(o, 0, 10, &(struct owner_set){0}), 10);
        owner_set_done(&skip);
        owners_free(o);
        free(list);
    }
    owners_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read_and_written),
        cmocka_unit_test(whoever_has_a_network_keeps_it),
        cmocka_unit_test(nobody_is_open),
        cmocka_unit_test(homes_are_known_to_ipmicra_and_learned_only),
        cmocka_unit_test(far_answers_that_are_fast_mark_a_replicated_site),
        cmocka_unit_test(a_round_trip_that_cannot_be_is_not_used),
        cmocka_unit_test(shares_follow_the_weights),
        cmocka_unit_test(the_same_seed_draws_the_same),
        cmocka_unit_test(hash_keeps_a_domain_together_and_moves_only_what_it_must),
        cmocka_unit_test(hash_without_a_domain_is_of_the_network),
        cmocka_unit_test(everybody_is_asked_before_the_bounds_answer),
        cmocka_unit_test(delegations_go_to_the_same_range_or_the_one_around_it),
        cmocka_unit_test(networks_of_many_domains_stay_bounded),
        cmocka_unit_test(owners_equal_a_plain_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
