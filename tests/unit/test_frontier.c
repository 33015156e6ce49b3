#include "test.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/table.h"
#include "plan/frontier.h"
#include "plan/split.h"
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

static frontier_refusal add_of(struct world *w, const char *text, uint64_t channel)
{
    struct arena a;
    struct url u;
    arena_init(&a);
    CHECK_STATUS(text, url_parse(&a, span_str(text), NULL, &u), ST_OK);
    frontier_refusal r = frontier_add(
        w->f, w->now,
        &(struct frontier_url){.key = siphash(&w->key, u.href), .url = &u, .channel = channel, .depth = 3});
    arena_done(&a);
    return r;
}

static frontier_refusal add(struct world *w, const char *text)
{
    return add_of(w, text, 9);
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

/* Each has answered once, if only with its robots.txt. */
static void answer_once(struct world *w, unsigned hosts, unsigned urls)
{
    struct lease l;
    char url[64];
    for (unsigned i = 0; i < hosts; i++)
        for (unsigned k = 0; k < urls; k++) {
            snprintf(url, sizeof(url), "http://host%u.example/%u", i, k);
            add(w, url);
        }
    for (unsigned i = 0; i < hosts; i++) {
        assert_true(next_page(w, "", &l));
        frontier_done(w->f, w->now, l.id, &good);
    }
}

static const struct frontier_result timeout = {.st = ST_TIMEOUT, .retry_after_ms = -1};

static void hosts_are_not_blamed_for_a_line_that_is_down(void **state)
{
    static const struct {
        const char *label;
        unsigned hosts;
        bool is_doubted;
    } cases[] = {{"many hosts", 5, false}, {"a host, and somebody else is away", 1, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct world w;
        struct lease l;
        unsigned done = 0;
        world_init(&w, 1000);
        answer_once(&w, cases[i].hosts, 4);
        frontier_doubt(w.f, cases[i].is_doubted);
        for (mono_ms down = w.now; w.now - down < 10 * 60 * 1000;) {
            assert_true(next_page(&w, "", &l));
            w.now += 1000;
            CHECK(cases[i].label, frontier_done(w.f, w.now, l.id, &timeout));
        }
        for (mono_ms up = w.now; next_page(&w, "", &l); done++) {
            struct frontier_result late = good;
            late.total_us = done ? 1000 : 30000000; /* it was under way when the line came back */
            frontier_done(w.f, w.now, l.id, &late);
            CHECK(cases[i].label, w.now - up < 25000);
        }
        assert_int_equal(done, 3 * cases[i].hosts);
        world_done(&w);
    }
}

static void hosts_that_stay_silent_are_given_up_all_the_same(void **state)
{
    struct world w;
    struct lease l;
    struct frontier_counts c;
    world_init(&w, 1000);
    answer_once(&w, 4, 20);
    mono_ms begun = w.now;
    while (next_page(&w, "", &l))
        frontier_done(w.f, w.now, l.id, &timeout);
    frontier_counts(w.f, w.now, &c);
    assert_int_equal(c.hosts_given_up, 4);
    CHECK("within two hours", w.now - begun < 2 * 3600 * 1000);
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

static void skipped_urls_are_swept_out_wherever_they_stand(void **state)
{
    struct world w;
    struct lease l;
    struct frontier_counts c;
    struct buf packed = {0};
    char url[64];
    world_init(&w, 1000);
    for (int i = 0; i < 3000; i++) { /* in the head, in runs and in the tail */
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        add(&w, url);
        if (i % 3 == 1 || (i >= 1200 && i < 2000)) /* some runs go altogether */
            frontier_skip(w.f, siphash(&w.key, span_str(url)));
    }
    frontier_skip(w.f, 12345); /* of nobody */
    CHECK_STATUS("sweep", frontier_sweep(w.f), ST_OK);
    frontier_counts(w.f, w.now, &c);
    unsigned want = 0;
    for (int i = 0; i < 3000; i++)
        want += !(i % 3 == 1 || (i >= 1200 && i < 2000));
    assert_int_equal(c.urls, want);
    /* What is packed has them no more, and the rest comes in order. */
    CHECK_STATUS("take", frontier_take_host(w.f, w.now, 0, SPAN("own.example"), &packed), ST_OK);
    CHECK_STATUS("put", frontier_put_host(w.f, w.now, 0, buf_span(&packed), NULL), ST_OK);
    for (int i = 0; i < 3000; i++) {
        if (i % 3 == 1 || (i >= 1200 && i < 2000))
            continue;
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        assert_true(next_page(&w, "", &l));
        CHECK_SPAN("order", l.url, span_str(url));
        frontier_done(w.f, w.now, l.id, &good);
    }
    frontier_counts(w.f, w.now, &c);
    assert_int_equal(c.urls, 0);
    buf_done(&packed);
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

/* ---- by channel, host and network ---- */

static uint64_t urls_of(const struct world *w, uint64_t channel)
{
    struct frontier_channel c;
    frontier_channel_counts(w->f, channel, &c);
    return c.urls;
}

static void count_key(void *arg, uint64_t key)
{
    (*(uint64_t *)arg)++;
}

static void move_all(struct world *w)
{
    struct buf all = {0};
    CHECK_STATUS("pack", frontier_each_host(w->f, w->now, 1700000000000, true, keep_packed, &all), ST_OK);
    frontier_free(w->f);
    w->f = make(w, 1000);
    for (size_t at = 0; at < all.n;) {
        uint32_t n;
        memcpy(&n, all.p + at, 4);
        CHECK_STATUS("put", frontier_put_host(w->f, w->now, 1700000000000, span_of(all.p + at + 4, n), NULL), ST_OK);
        at += 4 + n;
    }
    buf_done(&all);
}

/* Against a twin that only counts. */
static void counts_what_each_channel_has_through_everything(void **state)
{
    struct world w;
    struct rng rng;
    uint64_t twin[4] = {0};
    struct lease lent[16];
    size_t lent_count = 0;
    world_init(&w, 1000);
    rng_seed(&rng, 11);
    for (int step = 0; step < 12000; step++) {
        char url[64];
        uint64_t what = rng_below(&rng, 100), channel = 1 + rng_below(&rng, 3);
        mono_ms wake;
        if (what < 70) {
            snprintf(url, sizeof(url), "http://%s.example/%d", rng_below(&rng, 3) ? "own" : "other", step);
            assert_int_equal(add_of(&w, url, channel), FRONTIER_OK);
            twin[channel]++;
        } else if (what < 85 && lent_count < 16) {
            resolve_all(&w);
            struct lease l;
            if (frontier_take(w.f, w.now, &l, &wake) != ST_OK)
                w.now += 1000;
            else if (l.kind == LEASE_ROBOTS)
                answer_robots(&w, &l, "");
            else
                lent[lent_count++] = l;
        } else if (what < 99 && lent_count) {
            struct lease l = lent[--lent_count];
            twin[l.channel]--;
            frontier_done(w.f, w.now, l.id, &good);
        } else if (what == 99 && rng_below(&rng, 10) == 0) {
            move_all(&w); /* what was lent waits again */
            lent_count = 0;
        }
        for (uint64_t c = 1; c <= 3; c++)
            if (urls_of(&w, c) != twin[c])
                fail_msg("step %d: channel %llu has %llu, want %llu", step, (unsigned long long)c,
                         (unsigned long long)urls_of(&w, c), (unsigned long long)twin[c]);
    }
    assert_true(w.runs_live > 4);
    struct frontier_counts all;
    frontier_counts(w.f, w.now, &all);
    assert_int_equal(all.urls, twin[1] + twin[2] + twin[3]);
    world_done(&w);
}

static void a_channel_is_dropped_from_memory_and_runs(void **state)
{
    struct world w;
    struct lease l;
    uint64_t dropped = 0, waiting = 0;
    world_init(&w, 1000);
    for (int i = 0; i < 5000; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        add_of(&w, url, i >= 2000 && i < 3200 ? 7 : i % 2 ? 8 : 7); /* whole runs of it, and parts of others */
    }
    assert_true(next_page(&w, "", &l));
    assert_int_equal(l.channel, 7);
    CHECK_STATUS("each", frontier_each_waiting(w.f, 7, count_key, &waiting), ST_OK);
    assert_int_equal(waiting, 3100);
    CHECK_STATUS("drop", frontier_drop_channel(w.f, 7, count_key, &dropped), ST_OK);
    assert_int_equal(dropped, 3099);
    assert_int_equal(urls_of(&w, 7), 1);
    struct frontier_result bad = {.st = ST_TIMEOUT, .retry_after_ms = -1};
    assert_false(frontier_would_retry(w.f, l.id, &bad));
    assert_false(frontier_done(w.f, w.now, l.id, &bad));
    assert_int_equal(urls_of(&w, 7), 0);
    assert_int_equal(urls_of(&w, 8), 1900);
    for (int i = 0; i < 5000; i++) {
        char url[64];
        if (i % 2 == 0 || (i >= 2000 && i < 3200))
            continue;
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        assert_true(next_page(&w, "", &l));
        CHECK_SPAN("the rest in order", l.url, span_str(url));
        frontier_done(w.f, w.now, l.id, &good);
    }
    assert_false(next_page(&w, "", &l));
    assert_int_equal(w.runs_live, 0);
    world_done(&w);
}

/* Every third page, and a whole host. */
static bool is_third(void *self, struct span url)
{
    uint64_t n = 0;
    struct span number = span_from(url, sizeof("http://own.example/") - 1);
    return span_starts(url, SPAN("http://own.example/")) && span_u64(number, UINT64_MAX, &n) && n % 3 == 0;
}

static bool is_other(void *self, struct span host)
{
    return span_is(host, "other.example");
}

static void urls_are_dropped_by_what_they_are(void **state)
{
    struct world w;
    struct lease l;
    uint64_t dropped = 0;
    const struct frontier_where where = {is_third, is_other, NULL};
    world_init(&w, 1000);
    for (int i = 0; i < 3000; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        add_of(&w, url, i % 2 ? 8 : 7);
    }
    add_of(&w, "http://other.example/a", 7);
    add_of(&w, "http://other.example/b", 8);
    CHECK_STATUS("drop", frontier_drop_where(w.f, &where, count_key, &dropped), ST_OK);
    assert_int_equal(dropped, 1002);
    assert_int_equal(urls_of(&w, 7), 1000);
    assert_int_equal(urls_of(&w, 8), 1000);
    assert_false(frontier_has_host(w.f, SPAN("other.example")));
    for (int i = 0; i < 3000; i++) {
        char url[64];
        if (i % 3 == 0)
            continue;
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        assert_true(next_page(&w, "", &l));
        CHECK_SPAN("the rest in order", l.url, span_str(url));
        frontier_done(w.f, w.now, l.id, &good);
    }
    assert_false(next_page(&w, "", &l));
    assert_int_equal(w.runs_live, 0);
    world_done(&w);
}

static void a_host_is_dropped_with_all_it_has(void **state)
{
    struct world w;
    struct lease l;
    uint64_t dropped = 0, channel;
    world_init(&w, 1000);
    for (int i = 0; i < 3000; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://own.example/%d", i);
        add(&w, url);
    }
    add(&w, "http://b.example/");
    CHECK_STATUS("none", frontier_drop_host(w.f, SPAN("no.example"), count_key, &dropped), ST_NOT_FOUND);
    assert_true(next_page(&w, "", &l));
    struct span busy = l.host;
    CHECK_STATUS("busy", frontier_drop_host(w.f, busy, count_key, &dropped), ST_BUSY);
    frontier_done(w.f, w.now, l.id, &good);
    CHECK_STATUS("own", frontier_drop_host(w.f, SPAN("own.example"), count_key, &dropped), ST_OK);
    assert_false(frontier_has_host(w.f, SPAN("own.example")));
    assert_true(dropped >= 2999 && dropped <= 3000);
    assert_int_equal(w.runs_live, 0);
    assert_int_equal(frontier_host_channels(w.f, SPAN("own.example"), &channel, 1), 0);
    world_done(&w);
}

struct handover {
    struct buf pieces; /* each behind its length */
    size_t piece_count;
    uint64_t keys;
    struct world *to;
    size_t urls;
};

static status keep_piece(void *arg, struct span host, struct span packed)
{
    struct handover *h = arg;
    h->piece_count++;
    return keep_packed(&h->pieces, host, packed);
}

static void keep_key(void *arg, uint64_t key)
{
    ((struct handover *)arg)->keys++;
}

static status put_piece_url(void *arg, const struct frontier_packed_url *u)
{
    struct handover *h = arg;
    char text[128];
    snprintf(text, sizeof(text), "%.*s", SPAN_ARG(u->url));
    assert_int_equal(u->depth, 3);
    assert_int_equal(add_of(h->to, text, u->channel), FRONTIER_OK);
    h->urls++;
    return ST_OK;
}

static void a_network_moves_with_queue_rules_and_politeness(void **state)
{
    struct world w, v;
    struct lease l, other;
    mono_ms wake;
    struct handover h = {.to = &v};
    world_init(&w, 1000);
    world_init(&v, 1000);
    v.key = (struct sip_key){77, 78}; /* another folder */
    for (int i = 0; i < 6000; i++) {
        char url[128];
        snprintf(url, sizeof(url), "http://shared1.example/a-rather-long-path-so-that-there-are-two-pieces-of-it/%d",
                 i);
        add(&w, url);
    }
    add(&w, "http://shared2.example/x");
    add(&w, "http://host3.example/");
    struct addr shared = addr_of(SPAN("shared1.example"));
    struct network net = addr_network(&shared);
    const char *rules = "User-agent: *\nDisallow: /no\nCrawl-delay: 7";
    do
        assert_true(next_page(&w, rules, &l));
    while (!span_is(l.host, "shared1.example") && !frontier_done(w.f, w.now, l.id, &good));
    assert_true(frontier_hold_network(w.f, &net));
    CHECK_STATUS("busy", frontier_take_network(w.f, w.now, 5000, &net, keep_piece, keep_key, &h), ST_BUSY);
    for (int i = 0; i < 20; i++) { /* nothing of it is lent meanwhile */
        w.now += 10000;
        if (frontier_take(w.f, w.now, &other, &wake) != ST_OK)
            continue;
        CHECK_SPAN("held", other.host, SPAN("host3.example"));
        if (other.kind == LEASE_ROBOTS)
            answer_robots(&w, &other, "");
        else
            frontier_done(w.f, w.now, other.id, &good);
    }
    frontier_done(w.f, w.now, l.id, &good);
    assert_false(frontier_hold_network(w.f, &net));
    uint64_t left = urls_of(&w, 9);
    CHECK_STATUS("take", frontier_take_network(w.f, w.now, 5000, &net, keep_piece, keep_key, &h), ST_OK);
    assert_int_equal(urls_of(&w, 9), 0);
    assert_int_equal(h.keys, left);
    assert_int_equal(w.runs_live, 0);
    assert_true(h.piece_count >= 3);
    for (size_t at = 0; at < h.pieces.n;) {
        uint32_t n;
        memcpy(&n, h.pieces.p + at, 4);
        struct span piece = span_of(h.pieces.p + at + 4, n);
        CHECK_STATUS("adopt", frontier_adopt_host(v.f, v.now, 5000, piece), ST_OK);
        CHECK_STATUS("urls", frontier_packed_urls(piece, put_piece_url, &h), ST_OK);
        at += 4 + n;
    }
    assert_int_equal(h.urls, left);
    assert_int_equal(urls_of(&v, 9), left);
    resolve_all(&v);
    CHECK_STATUS("waits its pause", frontier_take(v.f, v.now, &l, &wake), ST_AGAIN);
    assert_true(wake - v.now >= 7000);
    v.now = wake;
    CHECK_STATUS("knows the rules", frontier_take(v.f, v.now, &l, &wake), ST_OK);
    assert_int_equal(l.kind, LEASE_PAGE);
    frontier_done(v.f, v.now, l.id, &good);
    buf_done(&h.pieces);
    world_done(&w);
    world_done(&v);
}

/* Both are at one address; one of them goes. */
static void a_part_of_a_network_moves_without_the_rest(void **state)
{
    struct world w;
    struct lease l;
    struct handover h = {0};
    world_init(&w, 1000);
    add(&w, "http://shared1.example/x");
    add(&w, "http://shared2.example/x");
    add(&w, "http://shared2.example/y");
    resolve_all(&w);
    struct addr shared = addr_of(SPAN("shared1.example"));
    struct network net = addr_network(&shared);
    net.parts = (uint16_t)(1u << split_part(SPAN("shared2.example")));
    assert_int_not_equal(split_part(SPAN("shared1.example")), split_part(SPAN("shared2.example")));
    assert_false(frontier_hold_network(w.f, &net));
    CHECK_STATUS("take", frontier_take_network(w.f, w.now, 5000, &net, keep_piece, keep_key, &h), ST_OK);
    assert_int_equal(h.keys, 2);
    assert_int_equal(urls_of(&w, 9), 1);
    assert_true(next_page(&w, "", &l));
    CHECK_SPAN("the rest", l.host, SPAN("shared1.example"));
    frontier_done(w.f, w.now, l.id, &good);
    buf_done(&h.pieces);
    world_done(&w);
}

/* Many addresses of one network, all ready: as many are asked at a time as the network may. */
static unsigned asked_at_once(struct world *w)
{
    struct lease l;
    mono_ms wake;
    unsigned count = 0;
    for (mono_ms end = w->now + 60000; w->now < end; w->now += 50)
        while (frontier_take(w->f, w->now, &l, &wake) == ST_OK)
            count++;
    return count;
}

static void a_part_of_a_network_has_its_share_of_the_limits(void **state)
{
    static const struct {
        uint16_t parts;
        unsigned at_once;
    } cases[] = {{0, 16}, {0x00ff, 8}, {0x0007, 3}, {0x0001, 1}, {0xffff, 16}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct world w;
        world_init(&w, 1000);
        struct addr first = {4, {93, 184, 216, 0}};
        struct network net = addr_network(&first);
        net.parts = cases[i].parts;
        frontier_share_network(w.f, &net);
        for (int k = 1; k <= 20; k++) {
            char url[64];
            struct addr a = {4, {93, 184, 216, (uint8_t)k}};
            struct span name;
            unsigned attempt;
            snprintf(url, sizeof(url), "http://n%d.one.example/", k);
            add(&w, url);
            while (frontier_next_unresolved(w.f, w.now, &name, &attempt))
                frontier_resolved(w.f, w.now, name, ST_OK, &a, MONO_NEVER, 1);
        }
        unsigned got = asked_at_once(&w);
        if (got != cases[i].at_once)
            fail_msg("parts %04x: %u at once", cases[i].parts, got);
        world_done(&w);
    }
}

/* Version 1 had no word about whose URLs are in the runs. */
static void hosts_of_version_1_are_read(void **state)
{
    for (int with_runs = 0; with_runs < 2; with_runs++) {
        struct world w;
        struct buf packed = {0};
        struct span name;
        int n = with_runs ? 4000 : 10;
        world_init(&w, 1000);
        for (int i = 0; i < n; i++) {
            char url[64];
            snprintf(url, sizeof(url), "http://own.example/%d", i);
            add_of(&w, url, 9);
        }
        CHECK_STATUS("take", frontier_take_host(w.f, w.now, 5000, SPAN("own.example"), &packed), ST_OK);
        assert_int_equal(packed.p[0], 2);
        packed.p[0] = 1;
        const char one_share[9] = {1, 9}, no_runs[3] = {0};
        char *at = NULL;
        size_t cut = 1;
        if (with_runs) {
            for (char *p = packed.p; (p = memmem(p, (size_t)(packed.p + packed.n - p), one_share, 9)); p++)
                at = at ? at : p;
            cut = 9 + 2; /* 3,500 or so URLs: two bytes */
        } else {
            at = memmem(packed.p + 60, packed.n - 60, no_runs, 3);
        }
        assert_non_null(at);
        memmove(at, at + cut, (size_t)(packed.p + packed.n - at) - cut);
        packed.n -= cut;
        CHECK_STATUS("put", frontier_put_host(w.f, w.now, 5000, buf_span(&packed), &name), ST_OK);
        assert_int_equal(urls_of(&w, 9), n);
        struct lease l;
        for (int i = 0; i < n; i++) {
            assert_true(next_page(&w, "", &l));
            frontier_done(w.f, w.now, l.id, &good);
        }
        assert_int_equal(urls_of(&w, 9), 0);
        buf_done(&packed);
        world_done(&w);
    }
}

static void pieces_of_others_must_be_their_own(void **state)
{
    struct world w;
    struct buf packed = {0};
    world_init(&w, 1000);
    add(&w, "http://aaaa.example/1");
    CHECK_STATUS("take", frontier_take_host(w.f, w.now, 5000, SPAN("aaaa.example"), &packed), ST_OK);
    CHECK_STATUS("its own", frontier_adopt_host(w.f, w.now, 5000, buf_span(&packed)), ST_OK);
    packed.p[2] = 'b'; /* the name, not the site */
    CHECK_STATUS("another's", frontier_adopt_host(w.f, w.now, 5000, buf_span(&packed)), ST_CORRUPT);
    packed.p[0] = 3;
    CHECK_STATUS("newer", frontier_adopt_host(w.f, w.now, 5000, buf_span(&packed)), ST_NEWER);
    buf_done(&packed);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_for_robots_first_and_lends_one_url_a_host),
        cmocka_unit_test(refuses_what_robots_forbids_without_a_request),
        cmocka_unit_test(slows_down_for_crawl_delay_and_slow_servers),
        cmocka_unit_test(honours_retry_after_and_backs_off_doubling),
        cmocka_unit_test(gives_a_hopeless_host_up_at_once_and_keeps_its_urls),
        cmocka_unit_test(hosts_are_not_blamed_for_a_line_that_is_down),
        cmocka_unit_test(hosts_that_stay_silent_are_given_up_all_the_same),
        cmocka_unit_test(tries_the_other_address_before_it_gives_up),
        cmocka_unit_test(parks_traps),
        cmocka_unit_test(a_random_crawl_is_polite_and_complete),
        cmocka_unit_test(a_random_crawl_with_restarts_is_polite_and_complete),
        cmocka_unit_test(long_queues_are_put_away_and_come_back_in_order),
        cmocka_unit_test(skipped_urls_are_swept_out_wherever_they_stand),
        cmocka_unit_test(skipped_urls_are_not_lent),
        cmocka_unit_test(free_hosts_may_be_asked_fast_and_public_ones_not),
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(state_of_a_host_survives_without_its_urls),
        cmocka_unit_test(counts_what_each_channel_has_through_everything),
        cmocka_unit_test(a_channel_is_dropped_from_memory_and_runs),
        cmocka_unit_test(urls_are_dropped_by_what_they_are),
        cmocka_unit_test(a_host_is_dropped_with_all_it_has),
        cmocka_unit_test(a_network_moves_with_queue_rules_and_politeness),
        cmocka_unit_test(a_part_of_a_network_moves_without_the_rest),
        cmocka_unit_test(a_part_of_a_network_has_its_share_of_the_limits),
        cmocka_unit_test(hosts_of_version_1_are_read),
        cmocka_unit_test(pieces_of_others_must_be_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
