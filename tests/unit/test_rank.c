#include "test.h"

#include <math.h>

#include "base/rng.h"
#include "index/segment/rank.h"

#define SEED 20240611

static void length_codes_are_exact_below_16_and_eight_a_doubling(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 16; n++) {
        assert_int_equal(rank_length_code(n), n);
        assert_int_equal(rank_length_of((uint8_t)n), n);
    }
    static const struct {
        uint32_t tokens;
        uint8_t code;
        uint32_t least;
    } cases[] = {
        {16, 16, 16},
        {17, 16, 16},
        {18, 17, 18},
        {31, 23, 30},
        {32, 24, 32},
        {400, 52, 384},
        {UINT32_MAX, 239, 4026531840u},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(rank_length_code(cases[i].tokens), cases[i].code);
        assert_int_equal(rank_length_of(cases[i].code), cases[i].least);
    }
}

static void length_codes_hold_the_length_between_neighbours(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, SEED);
    for (int i = 0; i < 100000; i++) {
        uint32_t n = (uint32_t)(rng_u64(&r) >> (32 + rng_below(&r, 32)));
        uint8_t code = rank_length_code(n);
        if (rank_length_of(code) > n || (code < 239 && rank_length_of((uint8_t)(code + 1)) <= n))
            fail_msg("length %u, code %u", n, code);
    }
    for (unsigned c = 1; c < 256; c++)
        assert_true(rank_length_of((uint8_t)c) >= rank_length_of((uint8_t)(c - 1)));
}

static void bounds_are_never_below_what_they_bound(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, SEED);
    assert_int_equal(rank_bound_code(0), 0);
    assert_int_equal(rank_bound_code(-1), 0);
    assert_int_equal(rank_bound_code(NAN), 0);
    assert_int_equal(rank_bound_code(INFINITY), 255);
    assert_true(rank_bound_of(0) == 0);
    for (int i = 0; i < 100000; i++) {
        double tf = exp2(-20 + 40 * rng_unit(&r));
        uint8_t code = rank_bound_code(tf);
        double bound = rank_bound_of(code);
        bool is_near = tf < 0.015625 || tf > 928 || bound <= tf * (1 + 1.0 / 16);
        if (bound < tf || !is_near || (code > 1 && rank_bound_of((uint8_t)(code - 1)) >= tf))
            fail_msg("tf %.17g, code %u, bound %.17g", tf, code, bound);
    }
    for (unsigned c = 0; c < 256; c++) {
        double v = rank_bound_of((uint8_t)c);
        assert_int_equal(rank_bound_code(v), c);
        assert_true(isfinite(v));
        assert_true(c == 0 || v > rank_bound_of((uint8_t)(c - 1)));
    }
}

static void a_score_is_as_the_formula_says(void **state)
{
    (void)state;
    struct rank_tables t;
    rank_tables_init(&t, &rank_default);
    uint8_t head = 0;
    head = head_add(head, HEAD_TITLE);
    head = head_add(head, HEAD_ANCHOR);
    head = head_add(head, HEAD_ANCHOR);
    head = head_add(head, HEAD_URL);
    head = head_add(head, HEAD_HEADING);
    const struct rank *r = &rank_default;
    double norm = 1 - r->b + r->b * 384 / RANK_PIVOT;
    double want = r->title + 2 * r->anchor + r->url + r->heading + 5 / norm;
    double tf = rank_tf(&t, 5, head, rank_length_code(400));
    assert_true(fabs(tf - want) < 1e-9);
    assert_true(fabs(rank_term(&t, 2, tf) - 2 * want * 2.2 / (want + 1.2)) < 1e-9);
    assert_true(fabs(t.prior[255] - r->prior) < 1e-12 && t.prior[0] == 0);
    rank_tables_init(&t, &rank_plain);
    assert_true(rank_tf(&t, 0, head, 0) == 1);
    assert_true(t.prior[255] == 0 && rank_fresh(&t, 100, 100) == 0);
}

static void counts_outside_the_body_stop_at_three(void **state)
{
    (void)state;
    static const int shifts[] = {HEAD_TITLE, HEAD_HEADING, HEAD_ANCHOR, HEAD_URL};
    for (size_t i = 0; i < 4; i++) {
        uint8_t head = 0;
        for (unsigned n = 1; n < 6; n++) {
            head = head_add(head, shifts[i]);
            assert_int_equal(head_count(head, shifts[i]), n < 3 ? n : 3);
        }
        assert_int_equal(head, 3u << shifts[i]);
    }
}

static void rare_words_weigh_more_and_none_weighs_nothing(void **state)
{
    (void)state;
    assert_true(rank_idf(1000, 1) > rank_idf(1000, 10));
    assert_true(rank_idf(1000, 10) > rank_idf(1000, 1000));
    assert_true(rank_idf(1000, 1000) > 0);
    assert_true(rank_idf(10, 20) > 0);
    assert_true(rank_idf(0, 0) > 0);
}

static void freshness_fades_and_never_passes_its_most(void **state)
{
    (void)state;
    struct rank_tables t;
    rank_tables_init(&t, &rank_default);
    int64_t now = 1700000000, year = (int64_t)365 * 86400;
    assert_true(rank_fresh(&t, now, now) == t.freshness);
    assert_true(rank_fresh(&t, now, now + year) == t.freshness);
    assert_true(fabs(rank_fresh(&t, now, now - year) - t.freshness * exp(-1)) < 1e-12);
    assert_true(rank_fresh(&t, now, 0) >= 0);
    assert_true(rank_fresh(&t, INT64_MAX, INT64_MIN) >= 0);
}

static void priors_grow_with_votes_and_shrink_with_depth(void **state)
{
    (void)state;
    assert_int_equal(rank_prior_code(UINT32_MAX, UINT32_MAX, 0), 255);
    assert_true(rank_prior_code(0, 0, 0) > rank_prior_code(0, 0, 3));
    assert_true(rank_prior_code(0, 0, UINT32_MAX) == 0);
    for (uint32_t v = 1; v < 5000; v *= 3) {
        assert_true(rank_prior_code(v, 0, 2) >= rank_prior_code(v / 3, 0, 2));
        assert_true(rank_prior_code(v, v, 2) > rank_prior_code(v, 0, 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(length_codes_are_exact_below_16_and_eight_a_doubling),
        cmocka_unit_test(length_codes_hold_the_length_between_neighbours),
        cmocka_unit_test(bounds_are_never_below_what_they_bound),
        cmocka_unit_test(a_score_is_as_the_formula_says),
        cmocka_unit_test(counts_outside_the_body_stop_at_three),
        cmocka_unit_test(rare_words_weigh_more_and_none_weighs_nothing),
        cmocka_unit_test(freshness_fades_and_never_passes_its_most),
        cmocka_unit_test(priors_grow_with_votes_and_shrink_with_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
