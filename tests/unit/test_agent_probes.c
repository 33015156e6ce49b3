/* The agent's prober against sites on loopback, and the lanes that keep it polite against a clock of the test's. */
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "agent/lanes.h"
#include "agent/probes.h"
#include "base/rng.h"
#include "io/httpd.h"
#include "io/prober.h"

/* ---- lanes ---- */

struct walker {
    struct lane_job lane; /* first */
    uint64_t key;
    unsigned number;
};

static void one_at_a_time_goes_in_a_lane_and_it_rests_after(void **state)
{
    struct lanes l = {0};
    struct walker w[4] = {{.key = 1}, {.key = 1}, {.key = 2}, {.key = 1}};
    mono_ms wake = 0;
    for (size_t i = 0; i < 3; i++)
        lane_wait(&l, w[i].key, 100, &w[i].lane);
    CHECK("not wanted", lane_next(&l, 100, false, &wake) == NULL && wake == MONO_NEVER);
    CHECK("first", lane_next(&l, 100, true, &wake) == &w[0].lane);
    CHECK("another lane", lane_next(&l, 100, true, &wake) == &w[2].lane);
    CHECK("held", lane_next(&l, 100, true, &wake) == NULL && wake == MONO_NEVER);
    lane_release(&l, w[0].lane.slot, 1100);
    CHECK("it rests", lane_next(&l, 1099, true, &wake) == NULL && wake == 1100);
    CHECK("second", lane_next(&l, 1100, true, &wake) == &w[1].lane);
    lane_release(&l, w[1].lane.slot, 2000);
    lane_release(&l, w[2].lane.slot, 1500);
    lane_wait(&l, 1, 1600, &w[3].lane); /* nobody waited, but the lane still rests */
    CHECK("the rest is kept", lane_next(&l, 1999, true, &wake) == NULL && wake == 2000);
    CHECK("after it", lane_next(&l, 2000, true, &wake) == &w[3].lane);
    lane_release(&l, w[3].lane.slot, 2100);
    CHECK("none", lane_next(&l, 2100, true, &wake) == NULL && wake == MONO_NEVER);
    assert_int_equal(l.slots.n, 0); /* forgotten */
    lanes_done(&l);
}

/* Seeded walks: whatever the order, no lane has two, none goes before its rest is over, none is lost. */
static void lanes_are_kept_on_random_walks(void **state)
{
    enum { WALKERS = 500, LANES = 40 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct lanes l = {0};
        struct rng rng;
        struct walker w[WALKERS] = {0};
        struct lane_job *held[LANES] = {0};
        mono_ms free_at[LANES] = {0}, wake;
        unsigned next_number[LANES] = {0}, came[LANES] = {0}, waiting = 0, gone = 0, at = 0;
        rng_seed(&rng, seed);
        for (mono_ms now = 0; gone < WALKERS; now += (mono_ms)rng_below(&rng, 20)) {
            for (uint64_t n = rng_below(&rng, 5); n && at < WALKERS; n--, at++) {
                w[at].key = rng_below(&rng, LANES);
                w[at].number = came[w[at].key]++;
                lane_wait(&l, w[at].key, now, &w[at].lane);
                waiting++;
            }
            struct lane_job *j;
            while ((j = lane_next(&l, now, true, &wake))) {
                const struct walker *x = (struct walker *)j;
                CHECK("alone", !held[x->key]);
                CHECK("rested", free_at[x->key] <= now);
                CHECK("in order", x->number == next_number[x->key]);
                next_number[x->key]++;
                held[x->key] = j;
                waiting--;
            }
            CHECK("later", wake > now);
            for (size_t k = 0; k < LANES; k++)
                if (held[k] && rng_below(&rng, 3) == 0) {
                    free_at[k] = now + (mono_ms)rng_below(&rng, 100);
                    lane_release(&l, held[k]->slot, free_at[k]);
                    held[k] = NULL;
                    gone++;
                }
        }
        assert_int_equal(waiting, 0);
        assert_null(lanes_drain(&l));
        lanes_done(&l);
    }
}

/* ---- a site ---- */

struct site {
    struct httpd *httpd;
    atomic_int under_way, most, heads, robots;
    const char *rules;
};

static void site_page(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct site *s = self;
    if (span_is(req->target, "/robots.txt")) {
        s->robots++;
        ans->status = s->rules ? 200 : 404;
        buf_puts(&ans->body, s->rules ? s->rules : "");
        return;
    }
    s->heads += strcmp(req->method, "HEAD") == 0;
    int now = ++s->under_way;
    if (now > s->most)
        s->most = now;
    struct timespec t = {.tv_nsec = 20000000};
    nanosleep(&t, NULL); /* the request takes its time, so that another would be seen */
    s->under_way--;
}

static void site_start(struct site *s, const char *rules)
{
    struct httpd_opts o = {.addr = {4, {127, 0, 0, 1}}, .threads = 4, .fn = site_page, .self = s};
    *s = (struct site){.rules = rules};
    CHECK_STATUS("site", httpd_new(&o, &s->httpd), ST_OK);
}

/* ---- an agent's part ---- */

struct bed {
    struct probes *probes;
    struct gate *gate;
    struct places *refused_sites;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned refused;
    char last_refused[256];
    struct arena arena;
    struct probe_report *results;
    size_t count;
};

static mono_ms no_time(void *arg)
{
    return 0;
}

static void note_refused(void *arg, struct span host, const struct addr *addr, struct span rule)
{
    struct bed *b = arg;
    pthread_mutex_lock(&b->lock);
    b->refused++;
    snprintf(b->last_refused, sizeof(b->last_refused), "%.*s: %.*s", SPAN_ARG(host), SPAN_ARG(rule));
    pthread_mutex_unlock(&b->lock);
}

static void on_ready(void *arg)
{
    struct bed *b = arg;
    pthread_mutex_lock(&b->lock);
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

static void open_bed(struct bed *b, bool allow_private)
{
    static const struct span refused[] = {SPAN_INIT("127.9.0.0/16")};
    *b = (struct bed){0};
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    arena_init(&b->arena);
    b->gate = gate_new(&(struct gate_opts){.refused = refused,
                                           .refused_count = 1,
                                           .allow_private = allow_private,
                                           .now = no_time,
                                           .note_refused = note_refused,
                                           .arg = b});
    b->refused_sites = places_new(&(struct sip_key){1, 2});
    CHECK_STATUS("site", places_add(b->refused_sites, SPAN(".refused.example"), NULL), ST_OK);
    b->probes = probes_new(&(struct probes_opts){
        .user_agent = SPAN("orbweaver/test"),
        .allow_private = allow_private,
        .dns = {.hosts = SPAN("127.0.0.1 one.example two.example a.refused.example\n127.9.9.9 no.example\n"),
                .server = SPAN("127.0.0.1:9"),
                .timeout_ms = 20},
        .gate = b->gate,
        .refused = b->refused_sites,
        .note_refused = note_refused,
        .ready = on_ready,
        .arg = b});
}

static void close_bed(struct bed *b)
{
    probes_free(b->probes);
    gate_free(b->gate);
    places_free(b->refused_sites);
    arena_done(&b->arena);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
}

/* Until so many results wait; they stay in b->results. */
static void wait_results(struct bed *b, size_t want)
{
    struct timespec until;
    struct probes_counts c;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    pthread_mutex_lock(&b->lock);
    for (int rc = 0;;) {
        probes_get_counts(b->probes, &c);
        if (c.results >= want || rc != 0)
            break;
        rc = pthread_cond_timedwait(&b->changed, &b->lock, &until);
    }
    pthread_mutex_unlock(&b->lock);
    b->results = probes_results(b->probes, &b->arena, &b->count);
    assert_int_equal(b->count, want);
}

static void add(struct bed *b, const struct probe_ask *asks, size_t n)
{
    struct buf why = {0};
    CHECK_STATUS("add", probes_add(b->probes, &(struct probe_order){asks, n}, &why), ST_OK);
    assert_int_equal(why.n, 0);
}

static const struct probe_report *result_of(const struct bed *b, uint64_t id)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->results[i].id == id)
            return &b->results[i];
    fail_msg("no result of probe %llu", (unsigned long long)id);
    return NULL;
}

/* ---- facts ---- */

static void probes_are_carried_out_and_told_until_they_are_heard(void **state)
{
    struct bed b;
    struct site s;
    char url[64];
    site_start(&s, NULL);
    open_bed(&b, true);
    snprintf(url, sizeof(url), "http://one.example:%d/", httpd_port(s.httpd));
    const struct probe_ask asks[] = {
        {.id = 7, .url = span_str(url), .samples = 2},
        {.id = 8, .url = span_str(url), .kind = PROBE_HEAD, .samples = 1},
        {.id = 9, .address = SPAN("127.0.0.1"), .port = (uint16_t)httpd_port(s.httpd), .kind = 77},
        {.id = 10, .url = span_str(url), .address = SPAN("127.0.0.2"), .samples = 1},
    };
    assert_false(probes_are_under_way(b.probes));
    add(&b, asks, 4);
    assert_false(probes_are_under_way(b.probes)); /* it begins paused */
    probes_pause(b.probes, false);
    wait_results(&b, 4);
    for (uint64_t id = 7; id <= 10; id++) {
        const struct probe_report *r = result_of(&b, id);
        CHECK_STATUS("probe", r->st, ST_OK);
        CHECK("times", r->min_us <= r->median_us);
        assert_int_equal(r->kind, id == 8 ? PROBE_HEAD : PROBE_TCP); /* a kind that nobody knows: we choose */
        CHECK_SPAN("address", r->address, id == 10 ? SPAN("127.0.0.2") : SPAN("127.0.0.1"));
    }
    assert_int_equal(result_of(&b, 7)->samples, 2);
    assert_int_equal(result_of(&b, 9)->samples, 3);
    CHECK("the server took its time", result_of(&b, 8)->server_us >= 18000);
    assert_int_equal(s.heads, 1);
    assert_int_equal(s.robots, 1);
    assert_false(probes_are_under_way(b.probes));
    wait_results(&b, 4); /* nobody has heard them */
    probes_told(b.probes, 1);
    wait_results(&b, 3);
    probes_told(b.probes, 100);
    wait_results(&b, 0);
    close_bed(&b);
    httpd_free(s.httpd);
}

/* A probe is a request, and the owner's line pays for it. */
static void what_probes_cost_is_counted(void **state)
{
    struct bed b;
    struct site s;
    struct probes_counts before, after;
    char url[64];
    site_start(&s, "User-agent: *\n");
    open_bed(&b, true);
    snprintf(url, sizeof(url), "http://one.example:%d/", httpd_port(s.httpd));
    const struct probe_ask tcp = {.id = 1, .url = span_str(url), .samples = 2},
                           head = {.id = 2, .url = span_str(url), .kind = PROBE_HEAD, .samples = 1},
                           bad = {.id = 3, .url = SPAN("ftp://one.example/")};
    probes_get_counts(b.probes, &before);
    assert_int_equal(before.requests + before.bytes, 0);
    probes_pause(b.probes, false);
    add(&b, &tcp, 1);
    wait_results(&b, 1);
    probes_get_counts(b.probes, &before);
    assert_int_equal(before.requests, 2);
    assert_int_equal(before.bytes, 2 * PROBES_TCP_BYTES);
    add(&b, &head, 1);
    wait_results(&b, 2);
    probes_get_counts(b.probes, &after);
    assert_int_equal(after.requests - before.requests, 2); /* robots.txt, and the HEAD */
    uint64_t said = after.bytes - before.bytes - 2 * PROBES_TCP_BYTES;
    CHECK("more than robots.txt and a request line", said > strlen("User-agent: *\n") + strlen("HEAD / HTTP/1.1\r\n"));
    CHECK("and not much more", said < 2000);
    add(&b, &bad, 1);
    wait_results(&b, 3);
    probes_get_counts(b.probes, &before);
    assert_int_equal(before.requests, after.requests); /* nothing was asked */
    assert_int_equal(before.bytes, after.bytes);
    close_bed(&b);
    httpd_free(s.httpd);
}

static void what_makes_no_sense_is_answered_so(void **state)
{
    struct bed b;
    char longer[PROBES_URL_MAX + 50];
    memset(longer, 'a', sizeof(longer));
    memcpy(longer, "http://one.example/", 19);
    const struct {
        const char *label;
        struct probe_ask ask;
        status want;
    } cases[] = {
        {"nothing", {0}, ST_INVALID},
        {"no URL", {.url = SPAN("one.example")}, ST_INVALID},
        {"not of the web", {.url = SPAN("ftp://one.example/")}, ST_INVALID},
        {"a NUL", {.url = span_of("http://one.example/\0", 20)}, ST_INVALID},
        {"long", {.url = span_of(longer, sizeof(longer))}, ST_LIMIT},
        {"no address", {.address = SPAN("one.example")}, ST_INVALID},
        {"a HEAD of no URL", {.address = SPAN("127.0.0.1"), .kind = PROBE_HEAD}, ST_INVALID},
        {"no such name", {.url = SPAN("http://nowhere.invalid/")}, ST_TIMEOUT},
    };
    size_t n = sizeof(cases) / sizeof(*cases);
    open_bed(&b, true);
    probes_pause(b.probes, false);
    for (size_t i = 0; i < n; i++) {
        struct probe_ask ask = cases[i].ask;
        ask.id = i;
        add(&b, &ask, 1);
    }
    wait_results(&b, n);
    for (size_t i = 0; i < n; i++)
        CHECK_STATUS(cases[i].label, result_of(&b, i)->st, cases[i].want);
    assert_int_equal(b.refused, 0);
    close_bed(&b);
}

static void the_owners_rules_hold_and_refusals_are_noted(void **state)
{
    struct bed b;
    const struct probe_ask asks[] = {{.id = 1, .url = SPAN("http://no.example/")},
                                     {.id = 2, .address = SPAN("127.9.0.1"), .kind = PROBE_ICMP},
                                     {.id = 3, .url = SPAN("http://one.example:25/")},
                                     {.id = 4, .url = SPAN("http://A.refused.example/")}};
    open_bed(&b, true);
    probes_pause(b.probes, false);
    add(&b, asks, 4);
    wait_results(&b, 4);
    for (uint64_t id = 1; id <= 4; id++)
        CHECK_STATUS("refused", result_of(&b, id)->st, ST_REFUSED);
    CHECK_SPAN("the address is told", result_of(&b, 1)->address, SPAN("127.9.9.9"));
    assert_int_equal(b.refused, 4);
    close_bed(&b);
    open_bed(&b, false); /* and private addresses only where the owner allows them */
    probes_pause(b.probes, false);
    add(&b, &(struct probe_ask){.id = 1, .url = SPAN("http://one.example/")}, 1);
    wait_results(&b, 1);
    CHECK_STATUS("private", result_of(&b, 1)->st, ST_REFUSED);
    assert_string_equal(b.last_refused, "one.example: private address");
    close_bed(&b);
}

static void a_head_asks_robots_txt_first(void **state)
{
    struct bed b;
    struct site s;
    char url[64], secret[64];
    site_start(&s, "User-agent: *\nDisallow: /secret\n");
    open_bed(&b, true);
    probes_pause(b.probes, false);
    snprintf(url, sizeof(url), "http://one.example:%d/", httpd_port(s.httpd));
    snprintf(secret, sizeof(secret), "http://one.example:%d/secret", httpd_port(s.httpd));
    const struct probe_ask asks[] = {{.id = 1, .url = span_str(secret), .kind = PROBE_HEAD},
                                     {.id = 2, .url = span_str(url), .kind = PROBE_HEAD, .samples = 1},
                                     {.id = 3, .url = span_str(secret), .kind = PROBE_HEAD}};
    add(&b, asks, 3);
    wait_results(&b, 3);
    CHECK_STATUS("disallowed", result_of(&b, 1)->st, ST_REFUSED);
    CHECK_STATUS("allowed", result_of(&b, 2)->st, ST_OK);
    CHECK_STATUS("still disallowed", result_of(&b, 3)->st, ST_REFUSED);
    assert_int_equal(s.heads, 1);
    assert_int_equal(s.robots, 2);  /* the verdict on a URL is kept */
    assert_int_equal(b.refused, 0); /* not the owner's rule */
    close_bed(&b);
    httpd_free(s.httpd);
}

static void a_host_is_asked_one_thing_at_a_time(void **state)
{
    struct bed b;
    struct site s;
    char urls[2][64];
    struct probe_ask asks[12];
    site_start(&s, NULL);
    open_bed(&b, true);
    probes_pause(b.probes, false);
    for (int i = 0; i < 2; i++) /* two names, one address */
        snprintf(urls[i], sizeof(urls[i]), "http://%s.example:%d/", i ? "two" : "one", httpd_port(s.httpd));
    for (size_t i = 0; i < 12; i++)
        asks[i] = (struct probe_ask){.id = i, .url = span_str(urls[i % 2]), .kind = PROBE_HEAD, .samples = 1};
    add(&b, asks, 12);
    wait_results(&b, 12);
    for (size_t i = 0; i < 12; i++)
        CHECK_STATUS("of many", result_of(&b, i)->st, ST_OK);
    assert_int_equal(s.heads, 12);
    assert_int_equal(s.most, 1);
    close_bed(&b);
    httpd_free(s.httpd);
}

static void what_waits_is_bounded_and_dies_with_the_agent(void **state)
{
    struct bed b;
    struct buf why = {0};
    struct probes_counts c;
    struct probe_ask *asks = calloc(PROBES_MAX + 5, sizeof(*asks));
    for (size_t i = 0; i < PROBES_MAX + 5; i++)
        asks[i] = (struct probe_ask){.id = i, .url = SPAN("http://one.example/")};
    open_bed(&b, true);
    CHECK_STATUS("too many", probes_add(b.probes, &(struct probe_order){asks, PROBES_MAX + 5}, &why), ST_LIMIT);
    CHECK("it says so", span_starts(buf_span(&why), SPAN("only 10000 of 10005")));
    buf_clear(&why);
    CHECK_STATUS("full", probes_add(b.probes, &(struct probe_order){asks, 1}, &why), ST_LIMIT);
    probes_get_counts(b.probes, &c);
    assert_int_equal(c.waiting, PROBES_MAX);
    assert_int_equal(c.under_way, 0);
    probes_pause(b.probes, false);
    close_bed(&b);
    buf_done(&why);
    free(asks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_at_a_time_goes_in_a_lane_and_it_rests_after),
        cmocka_unit_test(lanes_are_kept_on_random_walks),
        cmocka_unit_test(probes_are_carried_out_and_told_until_they_are_heard),
        cmocka_unit_test(what_probes_cost_is_counted),
        cmocka_unit_test(what_makes_no_sense_is_answered_so),
        cmocka_unit_test(the_owners_rules_hold_and_refusals_are_noted),
        cmocka_unit_test(a_head_asks_robots_txt_first),
        cmocka_unit_test(a_host_is_asked_one_thing_at_a_time),
        cmocka_unit_test(what_waits_is_bounded_and_dies_with_the_agent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
