/* test_frontier_moves.c - hosts and networks that go elsewhere as bytes: what comes along, what is refused. */
#include "frontier_world.h"

#include "base/rng.h"
#include "plan/split.h"

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

static void what_a_host_bears_survives(void **state)
{
    struct world w, v;
    struct lease l;
    mono_ms wake;
    struct buf packed = {0};
    world_init(&w, 1000);
    world_init(&v, 1000);
    add(&w, "http://a.example/1");
    assert_true(next_page(&w, "", &l));
    struct frontier_result r = {.st = ST_OK, .http_status = 429, .retry_after_ms = 5000};
    frontier_done(w.f, w.now, l.id, &r);
    CHECK_STATUS("pack", frontier_host_state(w.f, w.now, 5000, SPAN("a.example"), &packed), ST_OK);
    add(&v, "http://a.example/1");
    add(&v, "http://a.example/2");
    CHECK_STATUS("set", frontier_set_state(v.f, v.now, 5000, buf_span(&packed)), ST_OK);
    assert_true(next_page(&v, "", &l));
    frontier_done(v.f, v.now, l.id, &good);
    CHECK_STATUS("keeps its pause", frontier_take(v.f, v.now, &l, &wake), ST_AGAIN);
    assert_in_range(wake - v.now, 1200, 1300);
    buf_done(&packed);
    world_done(&w);
    world_done(&v);
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

static void no_piece_is_longer_than_can_travel(void **state)
{
    struct world w;
    struct lease l;
    struct handover h = {0};
    struct buf rules = {0};
    const char *urls[] = {"http://shared1.example/a", "http://shared1.example:81/a", "http://shared1.example:82/a"};
    world_init(&w, 1000);
    buf_puts(&rules, "User-agent: *\n");
    for (int i = 0; rules.n < 400000; i++)
        buf_printf(&rules, "Disallow: /a-place-where-nobody-should-go/%d\n", i);
    for (int i = 0; i < 3; i++)
        add(&w, urls[i]);
    struct addr shared = addr_of(SPAN("shared1.example"));
    struct network net = addr_network(&shared);
    for (int i = 0; i < 3; i++) {
        assert_true(next_page(&w, buf_cstr(&rules), &l));
        frontier_done(w.f, w.now, l.id, &good);
    }
    add(&w, "http://shared1.example/b");
    assert_false(frontier_hold_network(w.f, &net));
    CHECK_STATUS("take", frontier_take_network(w.f, w.now, 5000, &net, keep_piece, keep_key, &h), ST_OK);
    assert_int_equal(h.piece_count, 1);
    CHECK("it can travel", h.pieces.n <= FRONTIER_PIECE_MAX);
    struct world v;
    world_init(&v, 1000);
    h.to = &v;
    struct span piece = span_from(buf_span(&h.pieces), 4);
    CHECK_STATUS("adopt", frontier_adopt_host(v.f, v.now, 5000, piece), ST_OK);
    CHECK_STATUS("urls", frontier_packed_urls(piece, put_piece_url, &h), ST_OK);
    assert_int_equal(urls_of(&v, 9), 1);
    buf_done(&rules);
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
    packed.p[0] = 4;
    CHECK_STATUS("newer", frontier_adopt_host(w.f, w.now, 5000, buf_span(&packed)), ST_NEWER);
    buf_done(&packed);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(state_of_a_host_survives_without_its_urls),
        cmocka_unit_test(what_a_host_bears_survives),
        cmocka_unit_test(a_network_moves_with_queue_rules_and_politeness),
        cmocka_unit_test(no_piece_is_longer_than_can_travel),
        cmocka_unit_test(a_part_of_a_network_moves_without_the_rest),
        cmocka_unit_test(a_part_of_a_network_has_its_share_of_the_limits),
        cmocka_unit_test(hosts_of_version_1_are_read),
        cmocka_unit_test(pieces_of_others_must_be_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
