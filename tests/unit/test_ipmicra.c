#include "test.h"

#include "base/mem.h"
#include "base/rng.h"
#include "delegate_world.h"

static struct delegator *ipmicra(const struct tree *t, delegate_same_holder same_holder)
{
    return delegator_new(&(struct delegator_opts){
        .strategy = DELEGATE_IPMICRA, .same_holder = same_holder, .hierarchy = t ? t->h : NULL});
}

/* ---- the worked example of 000, 4.3 ---- */

enum { X = 1, Y, Z }; /* migrating crawlers */

/* Figure 2, as far as the example names it; the papers give addresses of networks 2, 8 and 12 only. */
static const struct range figure_2[] = {
    {"12.0.0.1", "18.255.255.255", NULL},       /* 2 */
    {"14.0.0.1", "16.255.255.255", "a"},        /* 8 */
    {"14.1.0.0", "14.1.255.255", "company1"},   /* 11 */
    {"15.10.0.7", "15.10.0.7", NULL},           /* 12: unary */
    {"15.20.0.0", "15.20.255.255", "company2"}, /* 13 */
    {"16.3.0.0", "16.3.255.255", NULL},         /* 14 */
    {"17.0.0.0", "17.0.255.255", NULL},         /* where crawler z lives */
};

static struct delegator *example(const struct tree *t)
{
    struct delegator *d = ipmicra(t, SAME_HOLDER_001);
    put_agent(d, X, "14.1.0.9");
    put_agent(d, Y, "15.20.0.9");
    put_agent(d, Z, "17.0.0.9");
    return d;
}

static void worked_example_of_networks_8_11_12_13_14(void **state)
{
    struct tree t = tree_of(figure_2, sizeof(figure_2) / sizeof(*figure_2));
    struct delegator *d = example(&t);
    struct asked k;
    check_owner("11 is its crawler's", d, "14.1.0.1", X);
    check_owner("13 too", d, "15.20.0.1", Y);
    check_owner("8 is nobody's", d, "15.0.0.1", 0);

    /* 15.10.0.7 is in 12, which is unary: 8 it is. Not delegated, no other of that holder: its children 11 and 13. */
    asked_init(&k, "15.10.0.7", "example.org");
    check_wants("11's crawler first", d, &k, X);
    asked_probe(&k, X, 80);
    check_wants("over the threshold: 13's", d, &k, Y);
    asked_probe(&k, Y, 30);
    check_goes_to("under it", d, &k, Y);
    assert_false(k.a.is_known || k.a.is_provisional);
    assert_true(k.a.expected_ms == 30);
    delegator_assigned(d, &k.q, Y);

    check_owner("8 and 12 are delegated", d, "15.10.0.7", Y);
    check_owner("all of 8", d, "15.0.0.1", Y);
    check_owner("11 is not touched", d, "14.1.0.1", X);
    check_owner("nor 13", d, "15.20.0.1", Y);
    check_owner("14 stays open", d, "16.3.0.1", 0);
    check_owner("2 as well", d, "13.0.0.1", 0);

    asked_init(&k, "15.99.0.1", "example.net");
    check_goes_to("another site in 8", d, &k, Y);
    assert_true(k.a.is_known);
    asked_init(&k, "16.3.0.1", "example.com");
    check_wants("14: the agent of its parent 8 first", d, &k, Y);
    asked_probe(&k, Y, 60);
    check_wants("a delegated ancestor over the threshold does not end the walk", d, &k, X);
    asked_probe(&k, X, 49.9);
    check_goes_to("14", d, &k, X);
    delegator_free(d);
    tree_done(&t);
}

static void worked_example_goes_up_when_no_child_is_near(void **state)
{
    struct tree t = tree_of(figure_2, sizeof(figure_2) / sizeof(*figure_2));
    struct delegator *d = example(&t);
    struct asked k;
    asked_init(&k, "15.10.0.7", "example.org");
    asked_probe(&k, X, 80);
    asked_probe(&k, Y, 70);
    check_wants("network 2: all below it that was not asked yet", d, &k, Z);
    asked_probe(&k, Z, 75);
    check_goes_to("none: the fastest", d, &k, Y);
    k.probes[2].ms = 50;
    check_goes_to("the threshold itself is not under it, but faster", d, &k, Z);
    k.probes[0].ms = 12;
    check_goes_to("the walk stops at the first", d, &k, X);
    delegator_free(d);
    tree_done(&t);
}

static void one_agent_in_every_network_gives_every_site_its_own_at_no_probe(void **state)
{
    struct hierarchy_builder *b = hierarchy_builder_new();
    struct rng r;
    rng_seed(&r, 4);
    for (unsigned i = 0; i < 500; i++) {
        struct addr first = {4, {60, (uint8_t)(i / 250), (uint8_t)(i % 250), 0}}, last = first;
        last.b[3] = 255;
        tree_add(b, first, last, SPAN("holder of all"));
    }
    struct tree t = tree_finish(b);
    struct delegator *d = ipmicra(&t, SAME_HOLDER_001);
    for (uint64_t i = 0; i < 500; i++) {
        struct delegator_agent a = {.number = i + 1, .is_open = true, .weight = 1};
        a.addr = (struct addr){4, {60, (uint8_t)(i / 250), (uint8_t)(i % 250), 77}};
        delegator_agent_put(d, &a);
    }
    for (unsigned i = 0; i < 5000; i++) {
        unsigned n = (unsigned)rng_below(&r, 500);
        struct delegate_question q = {
            .addr = {4, {60, (uint8_t)(n / 250), (uint8_t)(n % 250), (uint8_t)rng_below(&r, 256)}}};
        struct delegate_answer a;
        delegator_ask(d, &q, &a);
        assert_int_equal(a.verdict, DELEGATE_TO);
        assert_int_equal(a.agent, n + 1);
        buf_done(&a.why);
    }
    delegator_free(d);
    tree_done(&t);
}

/* ---- the same holder ---- */

static const struct range holders[] = {
    {"20.0.0.0", "20.255.255.255", NULL},       {"20.1.0.0", "20.1.255.255", "Telco Ltd"},
    {"20.2.0.0", "20.2.255.255", "Other"},      {"21.1.0.0", "21.1.255.255", "TELCO"},
    {"22.1.0.0", "22.1.255.255", "telco ltd."}, {"23.1.0.0", "23.1.255.255", "telco"},
    {"24.0.0.0", "24.0.255.255", NULL},
};

static void papers_differ_on_a_single_agent_of_the_same_holder(void **state)
{
    static const delegate_same_holder all[] = {SAME_HOLDER_001, SAME_HOLDER_000, SAME_HOLDER_000_CODE};
    struct tree t = tree_of(holders, sizeof(holders) / sizeof(*holders));
    for (size_t i = 0; i < 3; i++) {
        struct delegator *d = ipmicra(&t, all[i]);
        struct asked k;
        put_agent(d, 5, "21.1.0.1");
        put_agent(d, 6, "20.2.0.1");
        asked_init(&k, "20.1.0.1", "example.org");
        if (all[i] != SAME_HOLDER_001) {
            check_goes_to("without a probe", d, &k, 5);
            delegator_free(d);
            continue;
        }
        check_wants("001", d, &k, 5);
        asked_probe(&k, 5, 49);
        check_goes_to("under", d, &k, 5);
        k.probes[0].ms = 51;
        check_wants("over: the walk, where it is not asked again", d, &k, 6);
        asked_probe(&k, 6, 52);
        check_goes_to("the fastest of all", d, &k, 5);
        delegator_free(d);
    }
    tree_done(&t);
}

static void several_agents_of_the_same_holder_are_probed_in_address_order(void **state)
{
    struct tree t = tree_of(holders, sizeof(holders) / sizeof(*holders));
    static const delegate_same_holder probing[] = {SAME_HOLDER_001, SAME_HOLDER_000};
    for (size_t i = 0; i < 2; i++) {
        struct delegator *d = ipmicra(&t, probing[i]);
        struct asked k;
        put_agent(d, 9, "21.1.0.1");
        put_agent(d, 3, "22.1.0.1");
        put_agent(d, 1, "20.2.0.1");
        asked_init(&k, "20.1.0.1", "example.org");
        check_wants("first", d, &k, 9);
        asked_probe(&k, 9, 90);
        check_wants("second", d, &k, 3);
        asked_probe(&k, 3, 80);
        check_goes_to("none under it: the fastest of them, and no walk", d, &k, 3);
        k.probes[1].ms = -1;
        check_goes_to("one had no answer", d, &k, 9);
        k.probes[0].ms = -1;
        check_wants("none had: the walk", d, &k, 1);
        delegator_free(d);
    }
    struct delegator *d = ipmicra(&t, SAME_HOLDER_000_CODE);
    struct asked k;
    put_agent(d, 9, "21.1.0.1");
    put_agent(d, 3, "22.1.0.1");
    asked_init(&k, "20.1.0.1", "example.org");
    check_goes_to("000-code: the first found", d, &k, 9);
    delegator_free(d);
    tree_done(&t);
}

static void without_a_hierarchy_a_holder_is_a_registered_domain(void **state)
{
    struct delegator *d = ipmicra(NULL, SAME_HOLDER_000);
    struct asked k;
    put_agent(d, 1, NULL);
    put_agent(d, 2, NULL);
    put_agent(d, 3, "30.0.3.1");
    check_owner("where it lives", d, "30.0.3.200", 3);
    assign(d, "30.0.2.1", "example.org", 2);
    assign(d, "2001:db8:5::1", "example.org", 2);
    asked_init(&k, "30.0.9.1", "example.org");
    check_goes_to("its only agent", d, &k, 2);
    assign(d, "30.0.1.1", "example.org", 3);
    check_wants("several, in address order", d, &k, 3);
    asked_probe(&k, 3, 70);
    check_wants("several", d, &k, 2);
    asked_probe(&k, 2, 60);
    check_goes_to("the fastest", d, &k, 2);
    assign(d, "30.0.1.1", "example.org", 0);
    assign(d, "30.0.2.1", "example.org", 0);
    delegator_agent_remove(d, 2);
    asked_init(&k, "30.0.9.1", "example.org");
    check_wants("nobody has it any more: all, by number", d, &k, 1);
    asked_probe(&k, 1, 51);
    check_wants("all", d, &k, 3);
    asked_probe(&k, 3, 49);
    check_goes_to("under", d, &k, 3);
    delegator_free(d);
}

/* ---- who cannot ---- */

static void full_and_absent_agents_are_passed_over(void **state)
{
    struct tree t = tree_of(figure_2, sizeof(figure_2) / sizeof(*figure_2));
    struct delegator *d = example(&t);
    struct asked k;
    struct delegator_agent x = {.number = X, .weight = 1, .addr = addr_of("14.1.0.9")};
    delegator_agent_put(d, &x);
    asked_init(&k, "15.10.0.7", "example.org");
    check_wants("x is closed", d, &k, Y);
    asked_probe(&k, X, 1);
    check_wants("even if it was fast", d, &k, Y);
    k.q.not_agent = Y;
    check_wants("not y either", d, &k, Z);
    asked_init(&k, "14.1.0.77", "example.org");
    check_goes_to("what it has it keeps", d, &k, X);
    assert_true(k.a.is_known);
    k.q.not_agent = X;
    check_wants("until it is to move", d, &k, Y);
    uint64_t among[] = {Z, 99};
    asked_init(&k, "15.10.0.7", "example.org");
    k.q.among = among;
    k.q.among_count = 2;
    check_wants("pinned to z", d, &k, Z);
    asked_probe(&k, Z, 500);
    check_goes_to("pinned to z", d, &k, Z);
    k.q.among_count = 0;
    check_verdict("to nobody", d, &k, DELEGATE_NOBODY);
    buf_done(&k.a.why);
    delegator_free(d);
    tree_done(&t);
}

static void put_sleeper(struct delegator *d, uint64_t number, const char *addr, bool is_asleep)
{
    struct delegator_agent a = {
        .number = number, .is_open = true, .is_asleep = is_asleep, .weight = 1, .addr = addr_of(addr)};
    delegator_agent_put(d, &a);
}

static void agents_asleep_make_the_answer_provisional(void **state)
{
    struct tree t = tree_of(figure_2, sizeof(figure_2) / sizeof(*figure_2));
    struct delegator *d = example(&t);
    struct asked k;
    put_sleeper(d, X, "14.1.0.9", true);
    asked_init(&k, "15.10.0.7", "example.org");
    check_wants("x cannot probe", d, &k, Y);
    asked_probe(&k, Y, 20);
    check_goes_to("the best awake", d, &k, Y);
    assert_true(k.a.is_provisional);
    put_sleeper(d, X, "14.1.0.9", false);
    check_wants("x woke up", d, &k, X);
    asked_probe(&k, X, 10);
    check_goes_to("x", d, &k, X);
    assert_false(k.a.is_provisional);
    put_sleeper(d, X, "14.1.0.9", true);
    check_goes_to("what it measured awake counts", d, &k, X);
    assert_false(k.a.is_provisional);

    asked_init(&k, "15.10.0.7", "example.org");
    put_sleeper(d, X, "14.1.0.9", false);
    put_sleeper(d, Z, "17.0.0.9", true);
    asked_probe(&k, X, 30);
    check_goes_to("z would not have been asked", d, &k, X);
    assert_false(k.a.is_provisional);
    k.probes[0].ms = 90;
    asked_probe(&k, Y, 95);
    check_goes_to("z would have been", d, &k, X);
    assert_true(k.a.is_provisional);
    put_sleeper(d, X, "14.1.0.9", true);
    put_sleeper(d, Y, "15.20.0.9", true);
    k.q.probe_count = 0;
    check_goes_to("all asleep", d, &k, X);
    assert_true(k.a.is_provisional && k.a.expected_ms < 0);
    delegator_free(d);
    tree_done(&t);
}

static void nobody_answers_and_somebody_gets_it(void **state)
{
    struct tree t = tree_of(figure_2, sizeof(figure_2) / sizeof(*figure_2));
    struct delegator *d = example(&t);
    struct asked k;
    asked_init(&k, "15.10.0.7", "example.org");
    for (uint64_t a = X; a <= Z; a++)
        asked_probe(&k, a, -1);
    check_goes_to("the first", d, &k, X);
    assert_true(k.a.expected_ms < 0);
    asked_probe(&k, Z, 300);
    check_goes_to("the newest of an agent counts", d, &k, Z);
    delegator_free(d);
    tree_done(&t);
}

static void the_address_may_be_in_no_range(void **state)
{
    struct tree t = tree_of(figure_2, sizeof(figure_2) / sizeof(*figure_2));
    struct delegator *d = example(&t);
    struct asked k;
    asked_init(&k, "99.0.0.1", "example.org");
    check_wants("everything is its parent", d, &k, X);
    asked_probe(&k, X, 10);
    check_goes_to("under", d, &k, X);
    delegator_assigned(d, &k.q, X);
    check_owner("a network of its own", d, "99.0.0.200", X);
    check_owner("no larger one", d, "99.0.1.1", 0);
    asked_init(&k, "::ffff:99.0.0.7", "example.org");
    check_goes_to("mapped", d, &k, X);
    assert_true(k.a.is_known);
    delegator_free(d);
    tree_done(&t);
}

/* ---- a naive twin ---- */

#define TWIN_AGENTS 12
#define TWIN_NETS 60

struct twin_net {
    uint32_t first, last;
    int holder; /* 0: not known */
    int owner;  /* 0: nobody's */
};

struct twin {
    struct twin_net nets[TWIN_NETS];
    int count;
    bool is_open[TWIN_AGENTS + 1], is_asleep[TWIN_AGENTS + 1], is_allowed[TWIN_AGENTS + 1];
    double ms[TWIN_AGENTS + 1], true_ms[TWIN_AGENTS + 1]; /* ms: as probed */
    bool is_probed[TWIN_AGENTS + 1];
    delegate_same_holder same_holder;
};

struct twin_answer {
    delegate_verdict verdict;
    int agent;
    bool is_known, is_provisional;
};

/* Address order, the larger range first. */
static int twin_cmp(const void *a, const void *b)
{
    const struct twin_net *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->last > y->last ? -1 : x->last < y->last;
}

static bool holds(const struct twin_net *n, uint32_t first, uint32_t last)
{
    return n->first <= first && n->last >= last;
}

/* Random ranges, none of which cross. */
static void twin_make(struct rng *r, struct twin *w)
{
    memset(w, 0, sizeof(*w));
    while (w->count < TWIN_NETS / 2 + (int)rng_below(r, TWIN_NETS / 2)) {
        unsigned bits = (unsigned)rng_below(r, 15);
        uint32_t first = 0x0a000000u + ((uint32_t)rng_below(r, 1u << 14) >> bits << bits);
        struct twin_net n = {first, first + (1u << bits) - 1, (int)rng_below(r, 8), 0};
        bool is_there = false;
        for (int i = 0; i < w->count; i++)
            is_there |= w->nets[i].first == n.first && w->nets[i].last == n.last;
        if (!is_there)
            w->nets[w->count++] = n;
    }
    qsort(w->nets, (size_t)w->count, sizeof(*w->nets), twin_cmp);
}

static int twin_smallest(const struct twin *w, uint32_t ip)
{
    int best = -1;
    for (int i = 0; i < w->count; i++)
        if (w->nets[i].first < w->nets[i].last && holds(&w->nets[i], ip, ip) &&
            (best < 0 || w->nets[i].last - w->nets[i].first < w->nets[best].last - w->nets[best].first))
            best = i;
    return best;
}

static int twin_parent(const struct twin *w, int of)
{
    int best = -1;
    for (int i = 0; i < w->count; i++)
        if (i != of && holds(&w->nets[i], w->nets[of].first, w->nets[of].last) &&
            (best < 0 || w->nets[i].last - w->nets[i].first < w->nets[best].last - w->nets[best].first))
            best = i;
    return best;
}

static bool may(const struct twin *w, int a)
{
    return w->is_open[a] && w->is_allowed[a];
}

/* Goes through a list of agents in their order. True: that was the answer. */
static bool twin_try(const struct twin *w, const int *agents, int count, struct twin_answer *out)
{
    for (int i = 0; i < count; i++) {
        int a = agents[i];
        if (!may(w, a) || (w->is_probed[a] && !(w->ms[a] >= 0 && w->ms[a] < DELEGATE_THRESHOLD_MS)))
            continue;
        if (!w->is_probed[a] && w->is_asleep[a]) {
            out->is_provisional = true;
            continue;
        }
        out->verdict = w->is_probed[a] ? DELEGATE_TO : DELEGATE_PROBE;
        out->agent = a;
        return true;
    }
    return false;
}

static int twin_fastest(const struct twin *w, const int *agents, int count)
{
    int best = 0;
    for (int i = 0; i < count; i++) {
        int a = agents[i];
        if (may(w, a) && w->is_probed[a] && w->ms[a] >= 0 && (!best || w->ms[a] < w->ms[best]))
            best = a;
    }
    return best;
}

static int collect(const struct twin *w, int within, int holder, int *agents)
{
    int count = 0;
    for (int i = 0; i < w->count; i++) {
        const struct twin_net *n = &w->nets[i];
        bool is_new = n->owner != 0;
        if (within >= 0 && !holds(&w->nets[within], n->first, n->last))
            continue;
        if (holder && n->holder != holder)
            continue;
        for (int k = 0; k < count; k++)
            is_new &= agents[k] != n->owner;
        if (is_new)
            agents[count++] = n->owner;
    }
    return count;
}

static struct twin_answer twin_ask(const struct twin *w, uint32_t ip)
{
    struct twin_answer out = {.verdict = DELEGATE_NOBODY};
    int agents[TWIN_AGENTS + 1], everybody[TWIN_AGENTS], count, s = twin_smallest(w, ip);
    for (int a = 1; a <= TWIN_AGENTS; a++)
        everybody[a - 1] = a;
    if (s >= 0 && w->nets[s].owner && w->is_allowed[w->nets[s].owner])
        return (struct twin_answer){DELEGATE_TO, w->nets[s].owner, true, false};
    if (s >= 0 && w->nets[s].holder) {
        int n = collect(w, -1, w->nets[s].holder, agents), k = 0;
        for (int i = 0; i < n; i++)
            if (may(w, agents[i]))
                agents[k++] = agents[i];
        if (k && (w->same_holder == SAME_HOLDER_000_CODE || (w->same_holder == SAME_HOLDER_000 && k == 1)))
            return (struct twin_answer){DELEGATE_TO, agents[0], false, false};
        if (twin_try(w, agents, k, &out))
            return out;
        if (k > 1 && twin_fastest(w, agents, k)) {
            out.verdict = DELEGATE_TO;
            out.agent = twin_fastest(w, agents, k);
            return out;
        }
    }
    for (int at = s; at >= 0; at = twin_parent(w, at)) {
        count = collect(w, at, 0, agents);
        if (twin_try(w, agents, count, &out))
            return out;
    }
    count = collect(w, -1, 0, agents);
    if (twin_try(w, agents, count, &out) || twin_try(w, everybody, TWIN_AGENTS, &out))
        return out;
    out.agent = twin_fastest(w, everybody, TWIN_AGENTS);
    for (int a = 1; a <= TWIN_AGENTS && !out.agent; a++)
        out.agent = may(w, a) ? a : 0;
    if (out.agent)
        out.verdict = DELEGATE_TO;
    else
        out.is_provisional = false;
    return out;
}

static struct addr ip_addr(uint32_t ip)
{
    return (struct addr){4, {(uint8_t)(ip >> 24), (uint8_t)(ip >> 16), (uint8_t)(ip >> 8), (uint8_t)ip}};
}

static void twin_agent(struct delegator *d, struct twin *w, struct rng *r, int a)
{
    struct delegator_agent agent = {.number = (uint64_t)a, .weight = 1};
    agent.is_open = w->is_open[a] = rng_below(r, 6) != 0;
    agent.is_asleep = w->is_asleep[a] = rng_below(r, 4) == 0;
    delegator_agent_put(d, &agent);
}

static void check_same(const char *label, const struct twin_answer *want, const struct delegate_answer *got)
{
    uint64_t agent = got->verdict == DELEGATE_PROBE ? got->probes[0] : got->agent;
    bool is_provisional = want->verdict == DELEGATE_TO && want->is_provisional;
    if (want->verdict != got->verdict || (uint64_t)want->agent != agent || want->is_known != got->is_known ||
        is_provisional != got->is_provisional || (got->verdict == DELEGATE_PROBE && got->probe_count != 1))
        fail_msg("%s: %d %llu known %d provisional %d; the twin: %d %d known %d provisional %d", label, got->verdict,
                 (unsigned long long)agent, got->is_known, got->is_provisional, want->verdict, want->agent,
                 want->is_known, is_provisional);
}

/* One site: asked, probed and asked again until it has an agent. */
static void twin_site(struct delegator *d, struct twin *w, struct rng *r)
{
    uint32_t ip = 0x0a000000u + (uint32_t)rng_below(r, 1u << 14);
    struct delegate_probe probes[2 * TWIN_AGENTS];
    uint64_t among[TWIN_AGENTS];
    struct delegate_question q = {.addr = ip_addr(ip), .probes = probes};
    bool is_pinned = rng_below(r, 8) == 0;
    q.not_agent = rng_below(r, 8) == 0 ? 1 + rng_below(r, TWIN_AGENTS) : 0;
    q.among = is_pinned ? among : NULL;
    for (int a = 1; a <= TWIN_AGENTS; a++) {
        w->is_probed[a] = false;
        w->true_ms[a] = rng_below(r, 10) == 0 ? -1 : 20 + rng_unit(r) * 200;
        w->is_allowed[a] = (uint64_t)a != q.not_agent && (!is_pinned || rng_below(r, 2));
        if (w->is_allowed[a] && is_pinned)
            among[q.among_count++] = (uint64_t)a;
        if (rng_below(r, 20) == 0) { /* known from elsewhere */
            w->is_probed[a] = true;
            w->ms[a] = w->true_ms[a];
            probes[q.probe_count++] = (struct delegate_probe){.agent = (uint64_t)a, .ms = w->ms[a]};
        }
    }
    for (int turn = 0; turn <= TWIN_AGENTS; turn++) {
        struct twin_answer want = twin_ask(w, ip);
        struct delegate_answer got;
        delegator_ask(d, &q, &got);
        check_same("ask", &want, &got);
        buf_done(&got.why);
        if (got.verdict != DELEGATE_PROBE) {
            int s = twin_smallest(w, ip);
            if (got.verdict == DELEGATE_TO && s >= 0) {
                delegator_assigned(d, &q, got.agent);
                w->nets[s].owner = (int)got.agent;
            }
            return;
        }
        int a = (int)got.probes[0];
        w->is_probed[a] = true;
        w->ms[a] = w->true_ms[a];
        probes[q.probe_count++] = (struct delegate_probe){.agent = (uint64_t)a, .ms = w->ms[a]};
    }
    fail_msg("no end");
}

static void twin_world(uint64_t seed)
{
    struct rng r;
    struct twin w;
    rng_seed(&r, seed);
    twin_make(&r, &w);
    w.same_holder = (delegate_same_holder)rng_below(&r, 3);
    struct hierarchy_builder *b = hierarchy_builder_new();
    for (int i = 0; i < w.count; i++) {
        char name[16];
        snprintf(name, sizeof(name), "holder %d", w.nets[i].holder);
        tree_add(b, ip_addr(w.nets[i].first), ip_addr(w.nets[i].last),
                 w.nets[i].holder ? span_str(name) : (struct span){0});
    }
    struct tree t = tree_finish(b);
    struct delegator *d = ipmicra(&t, w.same_holder);
    for (int a = 1; a <= TWIN_AGENTS; a++)
        twin_agent(d, &w, &r, a);
    for (int i = 0; i < 60; i++) {
        int a = 1 + (int)rng_below(&r, TWIN_AGENTS), n = (int)rng_below(&r, (uint64_t)w.count);
        switch (rng_below(&r, 8)) {
        case 0:
            delegator_agent_remove(d, (uint64_t)a);
            for (int k = 0; k < w.count; k++)
                w.nets[k].owner = w.nets[k].owner == a ? 0 : w.nets[k].owner;
            twin_agent(d, &w, &r, a);
            break;
        case 1:
            twin_agent(d, &w, &r, a);
            break;
        case 2: {
            int s = twin_smallest(&w, w.nets[n].first);
            struct delegate_question q = {.addr = ip_addr(w.nets[n].first)};
            if (s < 0)
                break;
            w.nets[s].owner = rng_below(&r, 3) ? a : 0;
            delegator_assigned(d, &q, (uint64_t)w.nets[s].owner);
            break;
        }
        default:
            twin_site(d, &w, &r);
        }
    }
    delegator_free(d);
    tree_done(&t);
}

static void walks_equal_those_of_a_naive_twin_on_random_trees(void **state)
{
    for (uint64_t seed = 1; seed <= 400; seed++)
        twin_world(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example_of_networks_8_11_12_13_14),
        cmocka_unit_test(worked_example_goes_up_when_no_child_is_near),
        cmocka_unit_test(one_agent_in_every_network_gives_every_site_its_own_at_no_probe),
        cmocka_unit_test(papers_differ_on_a_single_agent_of_the_same_holder),
        cmocka_unit_test(several_agents_of_the_same_holder_are_probed_in_address_order),
        cmocka_unit_test(without_a_hierarchy_a_holder_is_a_registered_domain),
        cmocka_unit_test(full_and_absent_agents_are_passed_over),
        cmocka_unit_test(agents_asleep_make_the_answer_provisional),
        cmocka_unit_test(nobody_answers_and_somebody_gets_it),
        cmocka_unit_test(the_address_may_be_in_no_range),
        cmocka_unit_test(walks_equal_those_of_a_naive_twin_on_random_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
