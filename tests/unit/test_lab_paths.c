/* What paths and links of the lab do to packets besides delay, and what a router is told of them. */
#include "test.h"

#include "base/rng.h"
#include "lab/busy.h"
#include "lab/map/lab.h"
#include "lab/map/wire.h"
#include "lab/orders.h"

#define PLACES                           \
    "place hq 20.0.0.1\n"                \
    "place athens 20.1.0.0/24\n"         \
    "place a.example@servers 30.0.0.1\n" \
    "place b.example@servers 30.0.0.2\n" \
    "place c.example@more 30.0.0.3\n"

static struct lab load(const char *text)
{
    struct lab l;
    struct buf why = {0};
    status st = lab_parse(span_str(text), ".", &l, &why);
    if (st != ST_OK)
        fail_msg("%s: %s", status_name(st), buf_cstr(&why));
    buf_done(&why);
    return l;
}

static struct map_path path(const struct lab *l, const char *a, const char *b)
{
    unsigned i = 0, j = 0;
    assert_true(map_find(l->map, span_str(a), &i) && map_find(l->map, span_str(b), &j));
    return map_path(l->map, i, j);
}

static uint64_t bandwidth(const struct lab *l, const char *node)
{
    unsigned i = 0;
    assert_true(map_find_node(l->map, span_str(node), &i));
    return map_node(l->map, i)->bandwidth;
}

/* ---- files ---- */

static void a_path_loses_packets_both_ways(void **state)
{
    struct lab l = load(PLACES "loss * * 0.5\nloss hq athens 12.25\nrtt hq athens 40\nloss a.example hq 100\n");
    assert_int_equal(path(&l, "hq", "athens").loss, 1225);
    assert_int_equal(path(&l, "athens", "hq").loss, 1225);
    CHECK("a round trip does not change it", path(&l, "hq", "athens").rtt_ms == 40);
    assert_int_equal(path(&l, "hq", "a.example").loss, MAP_LOSS_ALL);
    assert_int_equal(path(&l, "hq", "b.example").loss, 50);
    assert_int_equal(path(&l, "a.example", "c.example").loss, 50); /* far: both share namespaces */
    lab_done(&l);
}

static void a_path_is_small(void **state)
{
    assert_int_equal(sizeof(struct map_path), 12); /* there are up to 20,000 x 500 of them */
}

static void a_link_has_a_bandwidth(void **state)
{
    struct lab l = load(PLACES "bandwidth * 8k\nbandwidth athens 1.5M\nbandwidth b.example 2500\nbandwidth more 0\n");
    assert_int_equal(bandwidth(&l, "hq"), 8000);
    assert_int_equal(bandwidth(&l, "athens"), 1500000);
    assert_int_equal(bandwidth(&l, "servers"), 2500); /* a place of it means the link of all of them */
    assert_int_equal(bandwidth(&l, "more"), 0);
    lab_done(&l);
}

static void bad_lines_are_refused(void **state)
{
    static const struct {
        const char *text;
        status want;
    } cases[] = {
        {PLACES "loss hq athens\n", ST_INVALID},
        {PLACES "loss hq athens 100.5\n", ST_INVALID},
        {PLACES "loss hq athens -1\n", ST_INVALID},
        {PLACES "loss hq athens nan\n", ST_INVALID},
        {PLACES "loss hq athens 1 2\n", ST_INVALID},
        {PLACES "loss hq nowhere 1\n", ST_NOT_FOUND},
        {PLACES "loss a.example c.example 1\n", ST_UNSUPPORTED},
        {PLACES "bandwidth hq\n", ST_INVALID},
        {PLACES "bandwidth hq 999\n", ST_INVALID},
        {PLACES "bandwidth hq k\n", ST_INVALID},
        {PLACES "bandwidth hq 1G\n", ST_INVALID},
        {PLACES "bandwidth hq 10001M\n", ST_INVALID},
        {PLACES "bandwidth hq -5k\n", ST_INVALID},
        {PLACES "bandwidth nowhere 5k\n", ST_NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct lab l;
        struct buf why = {0};
        CHECK_STATUS(cases[i].text, lab_parse(span_str(cases[i].text), ".", &l, &why), cases[i].want);
        CHECK(cases[i].text, why.n > 0);
        buf_done(&why);
    }
}

/* ---- the wire ---- */

static void a_packet_waits_for_those_before_it(void **state)
{
    struct wire w = {0};
    mono_ns out = 0;
    assert_true(wire_send(&w, 1000000, 1000, 5000, &out)); /* a byte takes 1000 ns */
    assert_true(out == 1005000);
    assert_true(wire_send(&w, 1000000, 500, 6000, &out));
    assert_true(out == 1505000);
    assert_true(wire_send(&w, 1000000, 500, 2000000, &out)); /* nobody is before it any more */
    assert_true(out == 2500000);
}

static void a_wire_without_a_limit_takes_no_time(void **state)
{
    struct wire w = {0};
    mono_ns out = 0;
    for (mono_ns at = 0; at < 100; at++) {
        assert_true(wire_send(&w, 0, 1500, at, &out));
        assert_true(out == at);
    }
}

static void nothing_overtakes_when_the_limit_goes(void **state)
{
    struct wire w = {0};
    mono_ns before = 0, out = 0;
    for (int i = 0; i < 10; i++)
        assert_true(wire_send(&w, 1000000, 1500, 0, &before));
    assert_true(wire_send(&w, 0, 40, 1000, &out));
    assert_true(out >= before);
    assert_true(wire_send(&w, 0, 40, before + 1, &out));
    assert_true(out == before + 1);
}

static void a_faster_wire_does_not_drop_what_a_slow_one_left(void **state)
{
    struct wire w = {0};
    mono_ns out = 0;
    for (int i = 0; i < 60; i++)
        assert_true(wire_send(&w, 1000, 1500, 0, &out)); /* 90 seconds, 90,000 bytes */
    assert_true(wire_send(&w, 1000000000, 1500, 0, &out));
}

/* A naive twin: a queue of all packets, gone through byte by byte of time. Times and rates are such that they come out
 * even. */
static void a_wire_is_a_bounded_queue(void **state)
{
    enum { STEPS = 20000, NS_A_BYTE = 1000, RATE = 1000000 };
    struct rng r;
    struct wire w = {0};
    static mono_ns ends[STEPS]; /* of the packets that were taken */
    size_t taken = 0, dropped = 0;
    mono_ns now = 0;
    rng_seed(&r, 17);
    for (int i = 0; i < STEPS; i++) {
        bool is_burst = i / 5000 % 2 == 0;
        size_t bytes = 40 + rng_below(&r, PACKET_MAX - 39);
        now += (mono_ns)rng_below(&r, is_burst ? 700 : 3000) * NS_A_BYTE;
        mono_ns start = taken && ends[taken - 1] > now ? ends[taken - 1] : now, out = -1;
        bool fits = (start - now) / NS_A_BYTE + (mono_ns)bytes <= RATE / 2;
        CHECK("taken or dropped", wire_send(&w, RATE, bytes, now, &out) == fits);
        if (fits) {
            ends[taken] = start + (mono_ns)bytes * NS_A_BYTE;
            CHECK("when it is out", out == ends[taken]);
            taken++;
        } else {
            CHECK("untouched", out == -1);
            dropped++;
        }
    }
    assert_true(taken > STEPS / 2 && dropped > STEPS / 20);
}

static void slow_wires_hold_some_packets(void **state)
{
    struct wire w = {0};
    mono_ns out;
    for (int i = 0; i < WIRE_PACKETS; i++)
        assert_true(wire_send(&w, 1000, PACKET_MAX, 0, &out));
    assert_false(wire_send(&w, 1000, PACKET_MAX, 0, &out));
    assert_true(wire_send(&w, 1000, PACKET_MAX, (mono_ns)1500000000, &out)); /* one is out */
}

/* As the router does it: from the line to the wire of the receiver, and back into the line. */
static void packets_pass_the_line_twice_in_order(void **state)
{
    enum { N = 200 };
    struct rng r;
    struct line *l = line_new(0);
    struct wire w = {0};
    uint32_t got = 0;
    mono_ns due = 0, last = 0;
    rng_seed(&r, 23);
    for (uint32_t i = 0; i < N; i++)
        CHECK_STATUS("put", line_put(l, span_of(&i, sizeof(i)), 0, 1, (mono_ns)rng_below(&r, 1000), 0), ST_OK);
    while ((due = line_next(l)) != INT64_MAX) {
        struct line_packet *p = line_take(l, due);
        mono_ns out;
        if (!p->is_queued) {
            assert_true(wire_send(&w, 1000000, 100, p->due.key, &out));
            p->is_queued = true;
            line_again(l, p, out);
            continue;
        }
        uint32_t number;
        memcpy(&number, p->data, sizeof(number));
        assert_int_equal(number, got++);
        assert_true(p->due.key >= last + 100000);
        last = p->due.key;
        line_done(l, p);
    }
    assert_int_equal(got, N);
    line_free(l);
}

/* ---- orders ---- */

static void check_order(struct orders *o, const char *line, const char *want)
{
    struct buf answer = {0};
    int fd = -1;
    orders_answer(o, span_str(line), &answer, &fd);
    if (!span_starts(buf_span(&answer), span_str(want)))
        fail_msg("%s: %s", line, buf_cstr(&answer));
    buf_done(&answer);
}

static void orders_are_as_in_a_file(void **state)
{
    struct lab l = load(PLACES);
    struct orders o = {.map = l.map};
    check_order(&o, "rtt hq athens 33 4", "ok");
    check_order(&o, "loss hq athens 7.5", "ok");
    check_order(&o, "bandwidth servers 250k", "ok");
    check_order(&o, "rtt * * 9", "ok");
    check_order(&o, "rtt hq athens 44", "ok");
    CHECK("rtt", path(&l, "athens", "hq").rtt_ms == 44 && path(&l, "a.example", "c.example").rtt_ms == 9);
    assert_int_equal(path(&l, "athens", "hq").loss, 750);
    assert_int_equal(bandwidth(&l, "servers"), 250000);
    check_order(&o, "cut hq athens", "ok");
    assert_true(path(&l, "athens", "hq").is_cut);
    static const char *const bad[] = {"",        "rtt hq athens",     "rtt hq nowhere 5",     "loss hq athens 101",
                                      "loss hq", "bandwidth hq fast", "bandwidth nowhere 5k", "cut nowhere",
                                      "limit",   "limit soon",        "enter nowhere",        "traffic nowhere",
                                      "matrix",  "what is this"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        check_order(&o, bad[i], "error ");
    lab_done(&l);
}

static void late_runs_are_not_valid(void **state)
{
    static const struct {
        int64_t late_ns, limit_ns;
        bool is_valid;
    } cases[] = {{20000, 1000000, true}, {900000, 1000000, true}, {2000000, 1000000, false}, {2000000, 5000000, true}};
    static struct router_figures f;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf json = {0};
        f = (struct router_figures){.dropped = 3, .queue_full = 4, .late_limit_ns = cases[i].limit_ns};
        assert_true(router_is_valid(&f)); /* nothing was late */
        for (int k = 0; k < 100; k++)
            lateness_add(&f.lateness, cases[i].late_ns);
        assert_int_equal(router_is_valid(&f), cases[i].is_valid);
        orders_figures(&f, "tun", &json);
        struct span want = cases[i].is_valid ? SPAN("\"valid\":true}") : SPAN("\"valid\":false}");
        assert_true(span_ends(buf_span(&json), want));
        assert_true(span_search(buf_span(&json), SPAN("\"dropped\":3,\"queue_full\":4"), false) < json.n);
        buf_done(&json);
    }
}

/* ---- the machine ---- */

static void processor_time_is_read(void **state)
{
    static const struct {
        const char *text;
        bool is_good;
        uint64_t total, idle, stolen;
    } cases[] = {
        {"cpu  10 2 30 400 5 6 7 8 99 99\ncpu0 1 2 3 4\n", true, 468, 405, 8},
        {"cpu  10 2 30 400 5\n", true, 447, 405, 0}, /* old kernels */
        {"cpu0 10 2 30 400 5 6 7 8\n", false, 0, 0, 0},
        {"cpu  10 2 x 400 5 6 7 8\n", false, 0, 0, 0},
        {"cpu  10 2\n", false, 0, 0, 0},
        {"", false, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct busy_ticks t = {0};
        CHECK(cases[i].text, busy_parse(span_str(cases[i].text), &t) == cases[i].is_good);
        CHECK(cases[i].text, t.total == cases[i].total && t.idle == cases[i].idle && t.stolen == cases[i].stolen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_loses_packets_both_ways),
        cmocka_unit_test(a_path_is_small),
        cmocka_unit_test(a_link_has_a_bandwidth),
        cmocka_unit_test(bad_lines_are_refused),
        cmocka_unit_test(a_packet_waits_for_those_before_it),
        cmocka_unit_test(a_wire_without_a_limit_takes_no_time),
        cmocka_unit_test(nothing_overtakes_when_the_limit_goes),
        cmocka_unit_test(a_faster_wire_does_not_drop_what_a_slow_one_left),
        cmocka_unit_test(a_wire_is_a_bounded_queue),
        cmocka_unit_test(slow_wires_hold_some_packets),
        cmocka_unit_test(packets_pass_the_line_twice_in_order),
        cmocka_unit_test(orders_are_as_in_a_file),
        cmocka_unit_test(late_runs_are_not_valid),
        cmocka_unit_test(processor_time_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
