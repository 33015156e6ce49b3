#include "test.h"

#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "plan/page_order.h"
#include "plan/recrawl_pages.h"

#define HOUR (3600ll * 1000)
#define DAY (24 * HOUR)
#define NOW INT64_C(1700000000000)

/* ---- the rate of a page ---- */

static double a_day(uint64_t packed)
{
    return 1 / page_rate_days(packed, NULL);
}

static void a_rate_is_eight_bytes_that_come_back(void **state)
{
    struct change_rate c = {2.5f, 86400.0f}, back = page_rate_unpack(page_rate_pack(&c));
    assert_true(back.changes == c.changes && back.time == c.time);
    struct change_rate none = {0, 0};
    assert_int_equal(page_rate_pack(&none), 0);
    /* Of pages that nothing is known of. */
    double day = change_chance(&none, &page_prior, 86400), days = change_chance(&none, &page_prior, 50 * 86400.0);
    assert_true(day > 0.2 && day < 0.23 && days > 0.49 && days < 0.51);
    double unsure, sure;
    page_rate_days(0, &unsure);
    page_rate_days(page_rate_pack(&c), &sure);
    assert_true(sure > 1 && sure < unsure);
}

/* They may come from another machine. */
static void whatever_the_bytes_are_they_are_a_rate(void **state)
{
    static const uint64_t odd[] = {UINT64_MAX,           UINT64_C(0x7f800000) << 32,
                                   0x7f800000,                                       /* infinite */
                                   UINT64_C(0x7fc00000), UINT64_C(0xbf800000) << 32, /* no number; -1 */
                                   0xff7fffff,           UINT64_C(0x7f7fffff) << 32 | 0x7f7fffff};
    struct rng rng;
    rng_seed(&rng, 5);
    for (int i = 0; i < 100000; i++) {
        uint64_t packed = (size_t)i < sizeof(odd) / sizeof(*odd) ? odd[i] : rng_u64(&rng);
        double rate = a_day(packed);
        if (!(rate > 0) || !isfinite(rate))
            fail_msg("%llx: %g", (unsigned long long)packed, rate);
        rate = a_day(page_rate_visit(packed, (int64_t)(rng_u64(&rng) >> 30), rng_below(&rng, 2), -1));
        if (!(rate > 0) || !isfinite(rate))
            fail_msg("%llx after a visit: %g", (unsigned long long)packed, rate);
    }
}

static void visits_teach_how_often_a_page_changes(void **state)
{
    uint64_t quiet = 0, busy = 0;
    for (int i = 0; i < 60; i++) {
        quiet = page_rate_visit(quiet, DAY, false, -1);
        busy = page_rate_visit(busy, HOUR, true, -1);
        assert_true(quiet && busy);
    }
    assert_true(a_day(quiet) < 1.0 / 60 && a_day(busy) > 24);
    /* Every second day, seen daily, with the hour told. */
    uint64_t told = 0;
    for (int i = 0; i < 200; i++)
        told = page_rate_visit(told, DAY, i % 2, 12 * HOUR);
    assert_true(a_day(told) > 0.45 && a_day(told) < 0.75);
}

static void a_server_that_says_just_now_is_not_believed(void **state)
{
    uint64_t now = 0, silent = 0;
    for (int i = 0; i < 30; i++) {
        now = page_rate_visit(now, DAY, true, 1000);
        silent = page_rate_visit(silent, DAY, true, -1);
    }
    assert_int_equal(now, silent);
}

/* ---- the order ---- */

struct twin {
    struct page_signs signs;
    double value;
    bool is_told;
};

static int by_order(const void *a, const void *b)
{
    const struct twin *x = a, *y = b;
    if (x->is_told != y->is_told)
        return x->is_told ? -1 : 1;
    if (x->value < y->value || x->value > y->value)
        return x->value > y->value ? -1 : 1;
    return x->signs.number < y->signs.number ? -1 : 1;
}

static struct page_signs some_signs(struct rng *rng, uint64_t number)
{
    struct page_signs s = {.number = number, .visited = NOW - (int64_t)rng_below(rng, 90) * DAY};
    struct change_rate c = {(float)rng_below(rng, 40) / 4, (float)rng_below(rng, 200) * 86400};
    if (rng_below(rng, 5))
        s.rate = page_rate_pack(&c);
    s.is_list = rng_below(rng, 20) == 0;
    if (rng_below(rng, 4) == 0)
        s.told = s.visited + ((int64_t)rng_below(rng, 3) - 1) * HOUR; /* before, at and after its visit */
    return s;
}

static void the_best_of_many_come_in_order(void **state)
{
    enum { N = 3000 };
    static const size_t mosts[] = {1, 10, 999, N - 1, N, N + 1, 0};
    struct rng rng;
    rng_seed(&rng, 7);
    struct twin *twins = mem_alloc(N * sizeof(*twins));
    for (size_t i = 0; i < N; i++)
        twins[i].signs = some_signs(&rng, i + 1);
    for (size_t k = 0; k < sizeof(mosts) / sizeof(*mosts); k++) {
        struct page_order o;
        size_t want = mosts[k] && mosts[k] < N ? mosts[k] : N;
        page_order_init(&o, mosts[k], NOW);
        for (size_t pass = 0; pass < 2; pass++) {
            qsort(twins, N, sizeof(*twins), by_order);
            for (size_t i = 0; i < N; i++)
                (pass ? page_order_offer : page_order_learn)(&o, &twins[(i * 1009) % N].signs);
            if (!pass)
                page_order_fit(&o);
        }
        page_order_sort(&o);
        for (size_t i = 0; i < N; i++) {
            const struct page_signs *s = &twins[i].signs;
            struct recrawl_page p = {.rate = page_rate_unpack(s->rate), .age = (double)(NOW - s->visited) / 1000};
            p.is_told = twins[i].is_told = s->told > s->visited;
            p.weight = s->is_list ? PAGE_ORDER_LIST : 1;
            twins[i].value = recrawl_page_value(&p, &o.prior);
        }
        qsort(twins, N, sizeof(*twins), by_order);
        assert_int_equal(o.count, want);
        for (size_t i = 0; i < want; i++)
            if (o.picks[i].number != twins[i].signs.number)
                fail_msg("of %zu, place %zu: %llu, want %llu", mosts[k], i, (unsigned long long)o.picks[i].number,
                         (unsigned long long)twins[i].signs.number);
        page_order_done(&o);
    }
    free(twins);
}

/* A page that changes daily and one that never did, of the same age: the one gains more for sure. And the other has
 * its turn when it is old enough. */
static void nobody_starves(void **state)
{
    uint64_t busy = 0, quiet = 0;
    wall_ms seen_busy = NOW, seen_quiet = NOW;
    int turns = 0;
    for (int i = 0; i < 60; i++) {
        busy = page_rate_visit(busy, DAY, true, -1);
        quiet = page_rate_visit(quiet, DAY, false, -1);
    }
    for (wall_ms now = NOW + DAY; now < NOW + 2000 * DAY; now += DAY) {
        struct page_order o;
        page_order_init(&o, 1, now);
        page_order_offer(&o, &(struct page_signs){.number = 1, .rate = busy, .visited = seen_busy});
        page_order_offer(&o, &(struct page_signs){.number = 2, .rate = quiet, .visited = seen_quiet});
        if (o.picks[0].number == 1) {
            seen_busy = now;
        } else {
            seen_quiet = now;
            turns++;
        }
        page_order_done(&o);
    }
    assert_true(turns > 5 && turns < 1000);
}

static void no_more_are_kept_than_memory_is_for(void **state)
{
    struct page_order o;
    page_order_init(&o, 0, NOW);
    for (size_t i = 0; i < PAGE_ORDER_MAX + 1000; i++)
        page_order_offer(&o, &(struct page_signs){.number = i + 1, .visited = NOW - (int64_t)i * HOUR / 100});
    page_order_sort(&o);
    assert_int_equal(o.count, PAGE_ORDER_MAX);
    assert_int_equal(o.picks[0].number, PAGE_ORDER_MAX + 1000); /* the oldest */
    assert_int_equal(o.picks[o.count - 1].number, 1001);
    page_order_done(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_is_eight_bytes_that_come_back),
        cmocka_unit_test(whatever_the_bytes_are_they_are_a_rate),
        cmocka_unit_test(visits_teach_how_often_a_page_changes),
        cmocka_unit_test(a_server_that_says_just_now_is_not_believed),
        cmocka_unit_test(the_best_of_many_come_in_order),
        cmocka_unit_test(nobody_starves),
        cmocka_unit_test(no_more_are_kept_than_memory_is_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
