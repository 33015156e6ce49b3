#include "test.h"

#include <math.h>

#include "base/rng.h"
#include "plan/calibrate.h"

#define MINUTE 60000
#define HOUR (60 * MINUTE)
#define START INT64_C(1700000000000)

/* ---- noise, as ALGORITHMS 3 has it: lognormal 3 %, and one in fifty 30 ms more ---- */

static double noisy(struct rng *r, double ms)
{
    double gauss = 0;
    for (int i = 0; i < 12; i++)
        gauss += rng_unit(r) - 0.5;
    return ms * exp(0.03 * gauss) + (rng_below(r, 50) == 0 ? 30 : 0);
}

static double median3(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

static void names_are_read(void **state)
{
    calibrate_rule r;
    assert_true(calibrate_rule_parse(SPAN("path"), &r) && r == CALIBRATE_PATH);
    assert_true(calibrate_rule_parse(SPAN("papers"), &r) && r == CALIBRATE_PAPERS);
    assert_string_equal(calibrate_rule_name(r), "papers");
    assert_false(calibrate_rule_parse(SPAN("other"), &r));
}

static void four_in_a_row_that_are_too_high_ask_for_a_decision(void **state)
{
    static const struct {
        const char *label;
        double ms[10];
        int at; /* index that asks; -1: none */
    } cases[] = {
        {"one in between", {20, 21, 20, 50, 20, 50, 50, 20, 19, 50}, -1},
        {"three", {20, 21, 20, 58, 61, 57, 20, 58, 61, 57}, -1},
        {"four", {20, 21, 20, 58, 61, 57, 59}, 6},
        {"by the factor, not the floor", {10, 10, 10, 19, 19, 19, 19}, -1},
        {"by the floor, not the factor", {100, 100, 100, 140, 140, 140, 140}, -1},
        {"by both", {100, 100, 100, 151, 151, 151, 151}, 6},
        {"slowly", {20, 22, 24, 26, 29, 31, 33, 36, 39}, 8},
    };
    struct calibrate_opts o = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct calibration c = {0};
        int at = -1;
        for (int k = 0; k < 10 && cases[i].ms[k] != 0.0 && at < 0; k++)
            if (calibrate_note(&c, &o, cases[i].ms[k], -1, START + k))
                at = k;
        if (at != cases[i].at)
            fail_msg("%s: at %d", cases[i].label, at);
    }
}

static void what_is_no_measurement_is_passed_over(void **state)
{
    static const double none[] = {-1, 0, NAN, INFINITY, 1e9};
    struct calibrate_opts o = {0};
    struct calibration c = {0};
    assert_true(calibration_ms(&c) < 0);
    for (int i = 0; i < 5; i++)
        assert_false(calibrate_note(&c, &o, none[i], none[i], START));
    assert_true(calibration_ms(&c) < 0);
    assert_false(calibrate_note(&c, &o, 20, 200, START));
    assert_false(calibrate_note(&c, &o, 60, 200, START));
    for (int i = 0; i < 5; i++)
        assert_false(calibrate_note(&c, &o, none[i], 200, START));
    assert_false(calibrate_note(&c, &o, 55, 200, START));
    assert_false(calibrate_note(&c, &o, 56, 200, START));
    assert_true(calibrate_note(&c, &o, 58, 200, START));
    assert_true(calibration_ms(&c) == 55); /* the best of what it has been lately */
}

static void values_are_smoothed(void **state)
{
    struct calibrate_opts o = {0};
    struct calibration c = {0};
    for (int i = 0; i < 200; i++)
        (void)calibrate_note(&c, &o, i % 2 ? 20 : 22, i % 2 ? 300 : 340, START);
    assert_true(fabsf(c.path_ms - 21) < 0.2f && fabsf(c.path_dev_ms - 1) < 0.2f);
    assert_true(fabsf(c.total_ms - 320) < 4 && fabsf(c.total_dev_ms - 20) < 4);
    assert_int_equal(c.samples, 200);
    assert_true(c.base_ms <= 21.2f); /* goes down with the path */
}

static void after_a_decision_there_is_quiet_that_doubles(void **state)
{
    struct calibrate_opts o = {0};
    struct calibration c = {0};
    wall_ms now = START;
    calibrate_decided(&c, &o, 20, now); /* given away */
    for (int turn = 0; turn < 10; turn++) {
        unsigned hours = 0;
        double base = (double)c.base_ms;
        while (!calibrate_note(&c, &o, base * 2, -1, now)) {
            now += HOUR;
            hours++;
            assert_true(hours < 1000);
        }
        int doublings = turn - 1 < CALIBRATE_BACK_OFF_DOUBLINGS ? turn - 1 : CALIBRATE_BACK_OFF_DOUBLINGS;
        unsigned want = turn == 0 ? 3 : doublings < 2 ? 3 : 1u << doublings; /* three notes before the fourth */
        if (hours != want)
            fail_msg("turn %d: %u hours, want %u", turn, hours, want);
        calibrate_decided(&c, &o, base * 2, now);
        assert_int_equal(c.high, 0);
    }
    now += 20 * 24 * (wall_ms)HOUR;
    calibrate_decided(&c, &o, 20, now);
    assert_true(c.quiet_until == now + HOUR);
}

static void small_gains_are_not_worth_a_move(void **state)
{
    struct calibrate_opts o = {0}, papers = {.rule = CALIBRATE_PAPERS};
    assert_true(calibrate_is_worth(&o, 40, 30));
    assert_false(calibrate_is_worth(&o, 40, 30.5));
    assert_false(calibrate_is_worth(&o, 40, 50));
    assert_true(calibrate_is_worth(&papers, 40, 39));
    assert_false(calibrate_is_worth(&papers, 40, 40));
}

/* ---- a day ---- */

struct day {
    unsigned networks, decisions, moves, longest; /* longest: moves of one network */
};

/* A network has a round trip from its agent and from the next best; both change at noon. A report every ten minutes. */
static struct day live(const struct calibrate_opts *o, bool is_median, double path_factor, double server_factor)
{
    struct day d = {.networks = 1000};
    struct rng r;
    rng_seed(&r, 17);
    for (unsigned n = 0; n < d.networks; n++) {
        double rtt[2] = {5 + rng_unit(&r) * 80, 0}, server = 20 + rng_unit(&r) * 300;
        struct calibration c = {0};
        unsigned moves = 0;
        int owner = 0;
        rtt[1] = rtt[0] * (1.02 + rng_unit(&r));
        calibrate_decided(&c, o, noisy(&r, rtt[0]), START);
        for (wall_ms at = 0; at < 24 * (wall_ms)HOUR; at += 10 * MINUTE) {
            bool is_later = at >= 12 * (wall_ms)HOUR;
            double path[2] = {rtt[0] * (is_later ? path_factor : 1), rtt[1]};
            double now_ms = noisy(&r, path[owner]);
            if (is_median)
                now_ms = median3(now_ms, noisy(&r, path[owner]), noisy(&r, path[owner]));
            double total = now_ms * 2 + server * (is_later ? server_factor : 1) * exp(0.2 * (rng_unit(&r) - 0.5));
            if (!calibrate_note(&c, o, now_ms, total, START + at))
                continue;
            d.decisions++;
            double mine = calibration_ms(&c), others = noisy(&r, path[!owner]);
            bool is_worth = calibrate_is_worth(o, mine, others);
            if (is_worth) {
                owner = !owner;
                moves++;
            }
            calibrate_decided(&c, o, is_worth ? others : mine, START + at);
        }
        d.moves += moves;
        d.longest = moves > d.longest ? moves : d.longest;
    }
    return d;
}

static void noise_of_a_day_moves_nothing(void **state)
{
    struct calibrate_opts o = {0};
    struct day d = live(&o, true, 1, 1);
    assert_int_equal(d.decisions, 0);
    assert_int_equal(d.moves, 0);
    d = live(&o, false, 1, 1); /* single samples */
    assert_in_range(d.decisions, 0, 1);
    assert_int_equal(d.moves, 0);
}

static void slow_servers_move_nothing_but_by_the_papers_rule(void **state)
{
    struct calibrate_opts o = {0}, papers = {.rule = CALIBRATE_PAPERS};
    struct day d = live(&o, true, 1, 5);
    assert_int_equal(d.moves, 0);
    assert_int_equal(d.decisions, 0);
    d = live(&papers, true, 1, 5);
    assert_true(d.decisions > 500);
}

static void a_path_that_got_worse_moves_its_network_once(void **state)
{
    struct calibrate_opts o = {0};
    struct day d = live(&o, true, 6, 1);
    assert_int_equal(d.longest, 1);
    assert_true(d.moves > d.networks * 9 / 10); /* the rest gains less than the floor */
    assert_true(d.decisions < d.networks * 11 / 10);
}

/* ---- bytes ---- */

static void packed_bytes_read_back(void **state)
{
    struct calibration c = {.path_ms = 20.5f,
                            .path_dev_ms = 1,
                            .total_ms = 300,
                            .total_dev_ms = 7,
                            .base_ms = 19,
                            .high_ms = 55,
                            .samples = 1234,
                            .high = 2,
                            .decisions = 3,
                            .quiet_until = START};
    struct calibration again = {0};
    struct buf b = {0};
    calibration_pack(&c, &b);
    assert_int_equal(b.n, CALIBRATION_PACKED_BYTES);
    CHECK_STATUS("whole", calibration_unpack(buf_span(&b), &again), ST_OK);
    assert_true(again.path_ms == c.path_ms && again.path_dev_ms == c.path_dev_ms && again.total_ms == c.total_ms &&
                again.total_dev_ms == c.total_dev_ms && again.base_ms == c.base_ms && again.high_ms == c.high_ms &&
                again.samples == c.samples && again.high == c.high && again.decisions == c.decisions &&
                again.quiet_until == c.quiet_until);
    for (size_t n = 0; n < b.n; n++)
        CHECK_STATUS("cut", calibration_unpack(span_cut(buf_span(&b), 0, n), &again), ST_CORRUPT);
    b.p[0] = 2;
    CHECK_STATUS("newer", calibration_unpack(buf_span(&b), &again), ST_NEWER);
    b.p[0] = 1;
    memset(b.p + 1, 0xff, 4);
    CHECK_STATUS("not a number", calibration_unpack(buf_span(&b), &again), ST_CORRUPT);
    buf_done(&b);
}

static void any_bytes_that_read_can_be_used(void **state)
{
    struct rng r;
    struct calibrate_opts o = {0};
    rng_seed(&r, 2);
    for (int turn = 0; turn < 100000; turn++) {
        char bytes[CALIBRATION_PACKED_BYTES];
        struct calibration c;
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (char)(rng_below(&r, 2) ? rng_u64(&r) : 0);
        bytes[0] = 1;
        if (calibration_unpack(span_of(bytes, sizeof(bytes)), &c) != ST_OK)
            continue;
        (void)calibrate_note(&c, &o, 20, 30, START);
        (void)calibrate_note(&c, &o, 1e5, 30, START);
        calibrate_decided(&c, &o, 10, START);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read),
        cmocka_unit_test(four_in_a_row_that_are_too_high_ask_for_a_decision),
        cmocka_unit_test(what_is_no_measurement_is_passed_over),
        cmocka_unit_test(values_are_smoothed),
        cmocka_unit_test(after_a_decision_there_is_quiet_that_doubles),
        cmocka_unit_test(small_gains_are_not_worth_a_move),
        cmocka_unit_test(noise_of_a_day_moves_nothing),
        cmocka_unit_test(slow_servers_move_nothing_but_by_the_papers_rule),
        cmocka_unit_test(a_path_that_got_worse_moves_its_network_once),
        cmocka_unit_test(packed_bytes_read_back),
        cmocka_unit_test(any_bytes_that_read_can_be_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
