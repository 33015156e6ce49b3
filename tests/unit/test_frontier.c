#include "test.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/table.h"
#include "plan/frontier.h"
#include "plan/trap.h"

/* A world for one frontier: a clock that only the test moves, and runs kept in memory. */
struct world {
    struct frontier *f;
    struct sip_key key;
    mono_ms now;
    struct buf runs[10000];
    size_t run_count, runs_live;
    bool is_full; /* putting away fails */
};

static status put_away(void *self, struct span data, struct frontier_run *run)
{
    struct world *w = self;
    if (w->is_full)
        return ST_FULL;
    assert_true(w->run_count < 10000);
    buf_put(&w->runs[w->run_count], data);
    *run = (struct frontier_run){w->run_count++, 7};
    w->runs_live++;
    return ST_OK;
}

static status bring_back(void *self, struct frontier_run run, struct buf *data)
{
    struct world *w = self;
    assert_int_equal(run.b, 7);
    buf_put(data, buf_span(&w->runs[run.a]));
    return ST_OK;
}

static void drop(void *self, struct frontier_run run)
{
    struct world *w = self;
    buf_done(&w->runs[run.a]);
    w->runs_live--;
}

static bool is_own(void *self, struct span host)
{
    return span_is(host, "own.example");
}

static struct frontier *make(struct world *w, int64_t delay_ms)
{
    struct frontier_opts o = {.pace = pace_default,
                              .key = &w->key,
                              .seed = 1,
                              .is_own = is_own,
                              .put_away = put_away,
                              .bring_back = bring_back,
                              .drop = drop,
                              .self = w};
    o.pace.delay_ms = delay_ms;
    return frontier_new(&o);
}

static void world_init(struct world *w, int64_t delay_ms)
{
    memset(w, 0, sizeof(*w));
    w->key = (struct sip_key){1, 2};
    w->now = 1000000;
    w->f = make(w, delay_ms);
}

static void world_done(struct world *w)
{
    frontier_free(w->f);
    for (size_t i = 0; i < w->run_count; i++)
        buf_done(&w->runs[i]);
}

static frontier_refusal add(struct world *w, const char *text)
{
    struct arena a;
    struct url u;
    arena_init(&a);
    CHECK_STATUS(text, url_parse(&a, span_str(text), NULL, &u), ST_OK);
    frontier_refusal r = frontier_add(
        w->f, w->now, &(struct frontier_url){.key = siphash(&w->key, u.href), .url = &u, .channel = 9, .depth = 3});
    arena_done(&a);
    return r;
}

/* 203.0.113.n for hostN..., all hosts whose names begin with "shared" on one address. */
static struct addr addr_of(struct span host)
{
    struct addr a = {.family = 4, .b = {93, 184, 216, 1}};
    if (!span_starts(host, SPAN("shared"))) {
        unsigned h = 0;
        for (size_t i = 0; i < host.n; i++)
            h = h * 31 + (unsigned char)host.p[i];
        a.b[2] = (uint8_t)(h % 7);
        a.b[3] = (uint8_t)(h >> 8);
    }
    return a;
}

static bool resolve_all(struct world *w)
{
    bool any = false;
    struct span host;
    unsigned attempt;
    while (frontier_next_unresolved(w->f, w->now, &host, &attempt)) {
        struct addr a = addr_of(host);
        frontier_resolved(w->f, w->now, host, ST_OK, &a, w->now + 3600 * 1000, 1);
        any = true;
    }
    return any;
}

static const struct frontier_result good = {.st = ST_OK, .http_status = 200, .retry_after_ms = -1, .total_us = 1000};

static void answer_robots(struct world *w, const struct lease *l, const char *text)
{
    frontier_robots(w->f, w->now, 0, l->id, robots_parse(span_str(text), SPAN("orbweaver")), 86400 * 1000, &good);
}

/* Takes the next lease, moving the clock to it; answers robots.txt with `robots` on the way. */
static bool next_page(struct world *w, const char *robots, struct lease *out)
{
    for (int i = 0; i < 10000; i++) {
        mono_ms wake;
        resolve_all(w);
        status st = frontier_take(w->f, w->now, out, &wake);
        if (st == ST_AGAIN) {
            if (wake != MONO_NEVER)
                w->now = wake;
            else if (!resolve_all(w))
                return false;
        } else if (out->kind == LEASE_ROBOTS) {
            answer_robots(w, out, robots);
        } else {
            CHECK_STATUS("take", st, ST_OK);
            return true;
        }
    }
    fail_msg("no page in 10,000 steps");
    return false;
}

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

static void honours_retry_after_and_backs_off_doubling(void **state)
{
    struct world w;
    struct lease l;
    mono_ms wake;
    world_init(&w, 1000);
    add(&w, "http://a.example/1");
    add(&w, "http://a.example/2");
    assert_true(next_page(&w, "", &l));
    struct frontier_result r = {.st = ST_OK, .http_status = 429, .retry_after_ms = 30000};
    assert_true(frontier_would_retry(w.f, l.id, &r));
    assert_true(frontier_done(w.f, w.now, l.id, &r));
    CHECK_STATUS("429", frontier_take(w.f, w.now, &l, &wake), ST_AGAIN);
    assert_int_equal(wake - w.now, 30000);
    assert_true(next_page(&w, "", &l));
    CHECK_SPAN("the same again", l.url, SPAN("http://a.example/1"));
    r.http_status = 503;
    r.retry_after_ms = -1;
    frontier_done(w.f, w.now, l.id, &r);
    CHECK_STATUS("503", frontier_take(w.f, w.now, &l, &wake), ST_AGAIN);
    assert_in_range(wake - w.now, 120000, 150000); /* second in a row: 60 s doubled, up to a quarter of jitter */
    assert_true(next_page(&w, "", &l));
    assert_false(frontier_done(w.f, w.now, l.id, &r)); /* third try: now it is an error */
    assert_true(next_page(&w, "", &l));
    CHECK_SPAN("the next", l.url, SPAN("http://a.example/2"));
    frontier_done(w.f, w.now, l.id, &good);
    world_done(&w);
}

static void gives_a_hopeless_host_up_at_once_and_keeps_its_urls(void **state)
{
    struct world w;
    struct span host;
    unsigned attempt;
    struct lease l;
    mono_ms wake;
    world_init(&w, 1000);
    add(&w, "http://nosuch.example/1");
    add(&w, "http://nosuch.example/2");
    assert_true(frontier_next_unresolved(w.f, w.now, &host, &attempt));
    frontier_resolved(w.f, w.now, host, ST_DNS, NULL, 0, 0);
    CHECK_STATUS("take", frontier_take(w.f, w.now, &l, &wake), ST_AGAIN);
    assert_true(wake == MONO_NEVER);
    assert_true(frontier_is_idle(w.f));
    struct frontier_counts c;
    frontier_counts(w.f, w.now, &c);
    assert_int_equal(c.hosts_given_up, 1);
    assert_int_equal(c.urls_given_up, 2);
    frontier_revive(w.f, w.now);
    assert_true(next_page(&w, "", &l));
    frontier_done(w.f, w.now, l.id, &good);
    world_done(&w);
}

static void tries_the_other_address_before_it_gives_up(void **state)
{
    struct world w;
    struct span host;
    unsigned attempt;
    struct lease l;
    mono_ms wake;
    struct addr a = {.family = 6, .b = {0x20, 1, 0xd}}, b = {.family = 4, .b = {93, 1, 1, 1}};
    world_init(&w, 1000);
    add(&w, "http://two.example/");
    assert_true(frontier_next_unresolved(w.f, w.now, &host, &attempt));
    assert_int_equal(attempt, 0);
    frontier_resolved(w.f, w.now, host, ST_OK, &a, w.now + 3600000, 2);
    CHECK_STATUS("robots", frontier_take(w.f, w.now, &l, &wake), ST_OK);
    struct frontier_result r = {.st = ST_CONNECT, .retry_after_ms = -1};
    frontier_robots(w.f, w.now, 0, l.id, NULL, 0, &r);
    CHECK_STATUS("pause", frontier_take(w.f, w.now, &l, &wake), ST_AGAIN);
    assert_int_equal(wake - w.now, 1000);
    w.now = wake;
    CHECK_STATUS("asks for an address", frontier_take(w.f, w.now, &l, &wake), ST_AGAIN);
    assert_true(frontier_next_unresolved(w.f, w.now, &host, &attempt));
    assert_int_equal(attempt, 1);
    frontier_resolved(w.f, w.now, host, ST_OK, &b, w.now + 3600000, 2);
    CHECK_STATUS("robots again", frontier_take(w.f, w.now, &l, &wake), ST_OK);
    assert_true(addr_eq(&l.addr, &b));
    frontier_robots(w.f, w.now, 0, l.id, NULL, 0, &r);
    assert_true(frontier_is_idle(w.f));
    world_done(&w);
}

static void parks_traps(void **state)
{
    struct world w;
    world_init(&w, 1000);
    assert_int_equal(add(&w, "http://a.example/x/y/x/y/x/y/x/y/"), FRONTIER_OK);
    assert_int_equal(add(&w, "http://a.example/x/y/x/y/x/y/x/y/x/y/"), FRONTIER_TRAP_REPEATS);
    unsigned refused = 0;
    for (int i = 0; i < 1500; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://a.example/calendar?day=%d", i);
        refused += add(&w, url) == FRONTIER_TRAP_VARIANTS;
    }
    assert_int_equal(refused, 500);
    assert_int_equal(add(&w, "http://a.example/other?day=1"), FRONTIER_OK);
    struct frontier_counts c;
    frontier_counts(w.f, w.now, &c);
    assert_int_equal(c.traps, 501);
    world_done(&w);
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

static status keep_packed(void *arg, struct span host, struct span packed)
{
    struct buf *all = arg;
    uint32_t n = (uint32_t)packed.n;
    buf_put(all, span_of(&n, 4));
    buf_put(all, packed);
    return ST_OK;
}

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

static void long_queues_are_put_away_and_come_back_in_order(void **state)
{
    struct world w;
    struct lease l;
    world_init(&w, 1000);
    for (int i = 0; i < 20000; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        add(&w, url);
        if (i == 9000)
            w.is_full = true; /* a full disk for a while: nothing is lost */
        if (i == 12000)
            w.is_full = false;
    }
    struct frontier_counts c;
    frontier_counts(w.f, w.now, &c);
    assert_int_equal(c.urls, 20000);
    assert_true(w.runs_live >= 10);
    for (int i = 0; i < 20000; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        assert_true(next_page(&w, "", &l));
        CHECK_SPAN("order", l.url, span_str(url));
        frontier_done(w.f, w.now, l.id, &good);
    }
    assert_int_equal(w.runs_live, 0);
    world_done(&w);
}

static void skipped_urls_are_not_lent(void **state)
{
    struct world w;
    struct lease l;
    world_init(&w, 1000);
    for (int i = 0; i < 3000; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        add(&w, url);
        if (i < 1700)
            frontier_skip(w.f, siphash(&w.key, span_str(url)));
    }
    frontier_purge(w.f);
    struct frontier_counts c;
    frontier_counts(w.f, w.now, &c);
    assert_int_equal(c.urls, 1300);
    assert_true(next_page(&w, "", &l));
    CHECK_SPAN("first", l.url, SPAN("http://own.example/1700"));
    frontier_done(w.f, w.now, l.id, &good);
    world_done(&w);
}

static void free_hosts_may_be_asked_fast_and_public_ones_not(void **state)
{
    const struct addr loop = {.family = 4, .b = {127, 0, 0, 1}}, open = {.family = 4, .b = {93, 184, 216, 34}};
    struct pace_opts o = pace_default;
    o.delay_ms = 0;
    struct pace p = pace_of(&o, &loop, false, -1, 500);
    assert_true(p.delay_ms == 0 && p.per_host == 16 && !p.has_floors);
    p = pace_of(&o, &open, false, -1, 0);
    assert_true(p.delay_ms == 250 && p.per_host == 1 && p.has_floors);
    p = pace_of(&o, &open, true, -1, 0);
    assert_true(p.delay_ms == 0 && p.per_host == 1 && p.has_floors);
    o.per_host = 8;
    assert_int_equal(pace_of(&o, &open, false, -1, 0).per_host, 2);
    assert_int_equal(pace_of(&o, &open, true, -1, 0).per_host, 8);
    assert_int_equal(pace_shared(&o, 4, 20), 4);
    assert_int_equal(pace_shared(&o, 4, 80), 8);
    assert_int_equal(pace_shared(&o, 4, 1000000), 32);
}

static void damaged_bytes_are_refused(void **state)
{
    struct world w;
    struct buf packed = {0};
    world_init(&w, 1000);
    add(&w, "http://a.example/1?x=1");
    add(&w, "http://a.example/2");
    CHECK_STATUS("take", frontier_take_host(w.f, w.now, 0, SPAN("a.example"), &packed), ST_OK);
    for (size_t n = 0; n < packed.n; n++)
        if (frontier_put_host(w.f, w.now, 0, span_of(packed.p, n), NULL) == ST_OK)
            fail_msg("cut at %zu of %zu was taken", n, packed.n);
    struct rng rng;
    rng_seed(&rng, 3);
    for (int i = 0; i < 2000; i++) {
        size_t at = (size_t)rng_below(&rng, packed.n);
        char was = packed.p[at];
        packed.p[at] = (char)rng_u64(&rng);
        struct world v;
        struct lease l;
        mono_ms wake;
        world_init(&v, 1000);
        if (frontier_put_host(v.f, v.now, 0, buf_span(&packed), NULL) == ST_OK) {
            resolve_all(&v);
            (void)!frontier_take(v.f, v.now, &l, &wake);
        }
        world_done(&v);
        packed.p[at] = was;
    }
    buf_done(&packed);
    world_done(&w);
}

static void state_of_a_host_survives_without_its_urls(void **state)
{
    struct world w, v;
    struct lease l;
    mono_ms wake;
    struct buf packed = {0};
    world_init(&w, 1000);
    world_init(&v, 1000);
    add(&w, "http://a.example/1");
    assert_true(next_page(&w, "User-agent: *\nDisallow: /no", &l));
    struct frontier_result r = {.st = ST_OK, .http_status = 503, .retry_after_ms = 600000};
    frontier_done(w.f, w.now, l.id, &r);
    CHECK_STATUS("pack", frontier_host_state(w.f, w.now, 5000, SPAN("a.example"), &packed), ST_OK);
    add(&v, "http://a.example/no");
    CHECK_STATUS("set", frontier_set_state(v.f, v.now, 5000, buf_span(&packed)), ST_OK);
    resolve_all(&v);
    CHECK_STATUS("waits on", frontier_take(v.f, v.now, &l, &wake), ST_AGAIN);
    assert_int_equal(wake - v.now, 600000);
    v.now = wake;
    CHECK_STATUS("knows the rules", frontier_take(v.f, v.now, &l, &wake), ST_OK);
    assert_int_equal(l.kind, LEASE_REFUSED);
    frontier_done(v.f, v.now, l.id, &good);
    buf_done(&packed);
    world_done(&w);
    world_done(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_for_robots_first_and_lends_one_url_a_host),
        cmocka_unit_test(refuses_what_robots_forbids_without_a_request),
        cmocka_unit_test(slows_down_for_crawl_delay_and_slow_servers),
        cmocka_unit_test(honours_retry_after_and_backs_off_doubling),
        cmocka_unit_test(gives_a_hopeless_host_up_at_once_and_keeps_its_urls),
        cmocka_unit_test(tries_the_other_address_before_it_gives_up),
        cmocka_unit_test(parks_traps),
        cmocka_unit_test(a_random_crawl_is_polite_and_complete),
        cmocka_unit_test(a_random_crawl_with_restarts_is_polite_and_complete),
        cmocka_unit_test(long_queues_are_put_away_and_come_back_in_order),
        cmocka_unit_test(skipped_urls_are_not_lent),
        cmocka_unit_test(free_hosts_may_be_asked_fast_and_public_ones_not),
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(state_of_a_host_survives_without_its_urls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
