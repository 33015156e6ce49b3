/* test_frontier_pace.c - robots.txt first, pauses that are kept, and a random crawl as an outsider would measure it. */
#include "frontier_world.h"

#include "base/rng.h"
#include "base/table.h"

static void asks_for_robots_first_and_lends_one_url_a_host(void **state)
{
    struct world w;
    struct lease l;
    mono_ms wake;
    world_init(&w, 1000);
    add(&w, "http://a.example/1");
    add(&w, "http://a.example/2");
    CHECK_STATUS("unresolved", frontier_take(w.f, w.now, &l, &wake), ST_AGAIN);
    resolve_all(&w);
    CHECK_STATUS("first", frontier_take(w.f, w.now, &l, &wake), ST_OK);
    assert_int_equal(l.kind, LEASE_ROBOTS);
    CHECK_SPAN("robots", l.url, SPAN("http://a.example/robots.txt"));
    struct lease other;
    CHECK_STATUS("nothing beside robots.txt", frontier_take(w.f, w.now, &other, &wake), ST_AGAIN);
    answer_robots(&w, &l, "");
    CHECK_STATUS("pause after robots.txt", frontier_take(w.f, w.now, &l, &wake), ST_AGAIN);
    assert_int_equal(wake - w.now, 1000);
    w.now = wake;
    CHECK_STATUS("page", frontier_take(w.f, w.now, &l, &wake), ST_OK);
    CHECK_SPAN("first in first out", l.url, SPAN("http://a.example/1"));
    assert_int_equal(l.depth, 3);
    assert_int_equal(l.channel, 9);
    w.now += 5000;
    CHECK_STATUS("one at a time", frontier_take(w.f, w.now, &other, &wake), ST_AGAIN);
    assert_false(frontier_done(w.f, w.now, l.id, &good));
    CHECK_STATUS("pause", frontier_take(w.f, w.now, &l, &wake), ST_AGAIN);
    assert_int_equal(wake - w.now, 1000);
    assert_true(next_page(&w, "", &l));
    CHECK_SPAN("second", l.url, SPAN("http://a.example/2"));
    frontier_done(w.f, w.now, l.id, &good);
    assert_true(frontier_is_idle(w.f));
    world_done(&w);
}

static void refuses_what_robots_forbids_without_a_request(void **state)
{
    struct world w;
    struct lease l;
    world_init(&w, 1000);
    add(&w, "http://a.example/private/x");
    add(&w, "http://a.example/open");
    assert_true(next_page(&w, "User-agent: *\nDisallow: /private", &l));
    assert_int_equal(l.kind, LEASE_REFUSED);
    CHECK_SPAN("rule", l.rule, SPAN("Disallow: /private"));
    frontier_done(w.f, w.now, l.id, &good);
    assert_true(next_page(&w, "", &l));
    assert_int_equal(l.kind, LEASE_PAGE);
    frontier_done(w.f, w.now, l.id, &good);
    world_done(&w);
}

static void slows_down_for_crawl_delay_and_slow_servers(void **state)
{
    const struct {
        const char *label, *robots;
        int32_t total_us, connect_us;
        int64_t want_ms;
    } cases[] = {
        {"plain", "", 1000, 0, 1000},
        {"crawl-delay", "User-agent: *\nCrawl-delay: 7", 1000, 0, 7000},
        {"crawl-delay above the ceiling", "User-agent: *\nCrawl-delay: 5000", 1000, 0, 120000},
        {"slow server", "", 600 * 1000, 0, 3000},
        {"long path, quick server", "", 600 * 1000, 290 * 1000, 1000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct world w;
        struct lease l;
        mono_ms wake;
        world_init(&w, 1000);
        for (int k = 0; k < 40; k++) {
            char url[64];
            snprintf(url, sizeof(url), "http://a.example/%d", k);
            add(&w, url);
        }
        struct frontier_result r = good;
        r.total_us = cases[i].total_us;
        r.connect_us = cases[i].connect_us;
        for (int k = 0; k < 39; k++) { /* long enough for the smoothed server time to settle */
            assert_true(next_page(&w, cases[i].robots, &l));
            frontier_done(w.f, w.now, l.id, &r);
        }
        CHECK_STATUS(cases[i].label, frontier_take(w.f, w.now, &l, &wake), ST_AGAIN);
        if (wake - w.now < cases[i].want_ms - 1 || wake - w.now > cases[i].want_ms * 1.01 + 1)
            fail_msg("%s: waits %lld ms, want %lld", cases[i].label, (long long)(wake - w.now),
                     (long long)cases[i].want_ms);
        world_done(&w);
    }
}

static void free_hosts_may_be_asked_fast_and_public_ones_not(void **state)
{
    const struct addr loop = {.family = 4, .b = {127, 0, 0, 1}}, open = {.family = 4, .b = {93, 184, 216, 34}};
    struct pace_opts o = pace_default;
    o.delay_ms = 0;
    struct pace p = pace_of(&o, &loop, false, -1, 500, 0);
    assert_true(p.delay_ms == 0 && p.per_host == 16 && !p.has_floors);
    p = pace_of(&o, &open, false, -1, 0, 0);
    assert_true(p.delay_ms == 250 && p.per_host == 1 && p.has_floors);
    p = pace_of(&o, &open, true, -1, 0, 0);
    assert_true(p.delay_ms == 0 && p.per_host == 1 && p.has_floors);
    o.per_host = 8;
    assert_int_equal(pace_of(&o, &open, false, -1, 0, 0).per_host, 2);
    assert_int_equal(pace_of(&o, &open, true, -1, 0, 0).per_host, 8);
    assert_int_equal(pace_shared(&o, 4, 20), 4);
    assert_int_equal(pace_shared(&o, 4, 80), 8);
    assert_int_equal(pace_shared(&o, 4, 1000000), 32);
}

/* How many requests a network gets at once that has 80 hosts, each on an address of its own. */
static unsigned most_in_flight(const char *names)
{
    struct world w;
    struct lease l;
    struct span host;
    unsigned attempt, lent = 0;
    mono_ms wake;
    world_init(&w, 1000);
    for (unsigned i = 0; i < 80; i++) {
        char name[64], url[80];
        snprintf(name, sizeof(name), names, i);
        snprintf(url, sizeof(url), "http://%s/", name);
        assert_int_equal(add(&w, url), FRONTIER_OK);
    }
    for (uint8_t i = 0; frontier_next_unresolved(w.f, w.now, &host, &attempt); i++) {
        struct addr a = {.family = 4, .b = {93, 184, 216, i}};
        frontier_resolved(w.f, w.now, host, ST_OK, &a, w.now + 3600 * 1000, 1);
    }
    for (;;) {
        status st = frontier_take(w.f, w.now, &l, &wake);
        if (st == ST_OK)
            lent++;
        else if (wake != MONO_NEVER)
            w.now = wake;
        else
            break;
    }
    world_done(&w);
    return lent;
}

static void a_network_is_asked_more_for_many_domains_and_not_for_many_addresses(void **state)
{
    assert_int_equal(most_in_flight("site%u.example"), 32);
    assert_int_equal(most_in_flight("www%u.site.example"), 16);
}

/* Politeness as an outsider would measure it, over a random crawl; and every URL exactly once. */
struct audit {
    mono_ms host_free[64];
    unsigned host_flight[64];
    struct {
        struct addr addr;
        mono_ms last;
        unsigned flight;
    } ips[64];
    size_t ip_count;
    unsigned net_flight[8];
    mono_ms net_last[8];
};

static size_t ip_at(struct audit *a, const struct addr *addr)
{
    for (size_t i = 0; i < a->ip_count; i++)
        if (addr_eq(&a->ips[i].addr, addr))
            return i;
    a->ips[a->ip_count].addr = *addr;
    a->ips[a->ip_count].last = -100000;
    return a->ip_count++;
}

static unsigned host_number(struct span host)
{
    unsigned n = 0;
    for (size_t i = 0; i < host.n; i++)
        if (ascii_is_digit(host.p[i]))
            n = n * 10 + (unsigned)(host.p[i] - '0');
    return n;
}

static void audit_lend(struct audit *a, const struct lease *l, mono_ms now)
{
    unsigned h = host_number(l->host), net = span_starts(l->host, SPAN("shared")) ? 7 : l->addr.b[2];
    size_t ip = ip_at(a, &l->addr);
    if (a->host_flight[h]++ != 0 || now < a->host_free[h])
        fail_msg("host %u asked too early: %lld < %lld", h, (long long)now, (long long)a->host_free[h]);
    if (++a->ips[ip].flight > 4 || now - a->ips[ip].last < 250)
        fail_msg("address of host %u asked too fast: %u in flight", h, a->ips[ip].flight);
    if (++a->net_flight[net] > 16 || now - a->net_last[net] < 62)
        fail_msg("network %u asked too fast: %u in flight", net, a->net_flight[net]);
    a->ips[ip].last = a->net_last[net] = now;
}

static void audit_back(struct audit *a, const struct lease *l, mono_ms now)
{
    unsigned h = host_number(l->host), net = span_starts(l->host, SPAN("shared")) ? 7 : l->addr.b[2];
    a->host_flight[h]--;
    a->host_free[h] = now + 1000;
    a->ips[ip_at(a, &l->addr)].flight--;
    a->net_flight[net]--;
}

struct under_way {
    struct lease lease;
    mono_ms until;
};

static void random_crawl(unsigned seed, bool with_restarts)
{
    struct world w;
    struct audit audit = {0};
    struct rng rng;
    struct table done = {0};
    static struct under_way jobs[64];
    size_t job_count = 0, added = 0, finished = 0;
    world_init(&w, 1000);
    rng_seed(&rng, seed);
    for (int i = 0; i < 8; i++)
        audit.net_last[i] = -100000;
    for (int i = 0; i < 3000; i++) {
        char url[128];
        unsigned h = (unsigned)rng_below(&rng, 40);
        snprintf(url, sizeof(url), "http%s://%s%u.example/p%d", rng_below(&rng, 4) ? "" : "s",
                 h % 4 ? "host" : "shared", h, i);
        assert_int_equal(add(&w, url), FRONTIER_OK);
        added++;
    }
    for (int step = 0; step < 2000000; step++) {
        struct lease l;
        mono_ms wake = MONO_NEVER;
        resolve_all(&w);
        status st = job_count < 64 ? frontier_take(w.f, w.now, &l, &wake) : ST_AGAIN;
        if (st == ST_OK) {
            assert_true(l.kind != LEASE_REFUSED);
            audit_lend(&audit, &l, w.now);
            jobs[job_count++] = (struct under_way){l, w.now + 1 + (mono_ms)rng_below(&rng, 180)};
            continue;
        }
        size_t first = 0;
        for (size_t i = 1; i < job_count; i++)
            if (jobs[i].until < jobs[first].until)
                first = i;
        if (!job_count && wake == MONO_NEVER)
            break;
        if (with_restarts && rng_below(&rng, 400) == 0) {
            /* A checkpoint and a kill: what was lent is lent again, the rest goes on; politeness holds across it. */
            struct buf all = {0};
            CHECK_STATUS("pack", frontier_each_host(w.f, w.now, 1700000000000 + w.now, true, keep_packed, &all), ST_OK);
            frontier_free(w.f);
            w.f = make(&w, 1000);
            for (size_t at = 0; at < all.n;) {
                uint32_t n;
                memcpy(&n, all.p + at, 4);
                CHECK_STATUS("put",
                             frontier_put_host(w.f, w.now, 1700000000000 + w.now, span_of(all.p + at + 4, n), NULL),
                             ST_OK);
                at += 4 + n;
            }
            frontier_rest(w.f, w.now);
            buf_done(&all);
            memset(audit.host_flight, 0, sizeof(audit.host_flight));
            memset(audit.net_flight, 0, sizeof(audit.net_flight));
            for (size_t i = 0; i < audit.ip_count; i++) {
                audit.ips[i].flight = 0;
                audit.ips[i].last = -100000;
            }
            for (int i = 0; i < 8; i++)
                audit.net_last[i] = -100000;
            job_count = 0;
            continue;
        }
        if (!job_count || jobs[first].until > wake) {
            w.now = wake;
            continue;
        }
        struct under_way j = jobs[first];
        jobs[first] = jobs[--job_count];
        w.now = j.until > w.now ? j.until : w.now;
        audit_back(&audit, &j.lease, w.now);
        if (j.lease.kind == LEASE_ROBOTS) {
            answer_robots(&w, &j.lease, "");
            continue;
        }
        if (table_get(&done, j.lease.key))
            fail_msg("lent again after it was done: %.*s", SPAN_ARG(j.lease.url));
        table_put(&done, j.lease.key, &w);
        assert_false(frontier_done(w.f, w.now, j.lease.id, &good));
        finished++;
    }
    assert_int_equal(finished, added);
    assert_true(frontier_is_idle(w.f));
    table_done(&done);
    world_done(&w);
}

static void a_random_crawl_is_polite_and_complete(void **state)
{
    for (unsigned seed = 1; seed <= 3; seed++)
        random_crawl(seed, false);
}

static void a_random_crawl_with_restarts_is_polite_and_complete(void **state)
{
    for (unsigned seed = 1; seed <= 3; seed++)
        random_crawl(seed, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_for_robots_first_and_lends_one_url_a_host),
        cmocka_unit_test(refuses_what_robots_forbids_without_a_request),
        cmocka_unit_test(slows_down_for_crawl_delay_and_slow_servers),
        cmocka_unit_test(a_random_crawl_is_polite_and_complete),
        cmocka_unit_test(a_random_crawl_with_restarts_is_polite_and_complete),
        cmocka_unit_test(free_hosts_may_be_asked_fast_and_public_ones_not),
        cmocka_unit_test(a_network_is_asked_more_for_many_domains_and_not_for_many_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
