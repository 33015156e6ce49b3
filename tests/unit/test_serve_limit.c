/* test_serve_limit.c - how often a client may ask. */
#include "test.h"

#include "serve/limit.h"

static struct addr addr_of(const char *text)
{
    struct addr a = {0};
    CHECK_STATUS(text, addr_parse(span_str(text), &a), ST_OK);
    return a;
}

static int taken(struct limiter *l, const char *from, mono_ms now, int tries)
{
    struct addr a = addr_of(from);
    int n = 0, retry_s = 0;
    for (int i = 0; i < tries; i++)
        n += limiter_take(l, &a, now, &retry_s);
    return n;
}

static void clients_are_held_to_their_rate(void **state)
{
    struct limiter *l =
        limiter_new(&(struct limiter_opts){.per_s = 2, .burst = 10, .loopback_factor = 3, .key = {1, 2}});
    assert_int_equal(taken(l, "192.0.2.1", 1000, 50), 10);
    assert_int_equal(taken(l, "192.0.2.2", 1000, 50), 10); /* another client */
    assert_int_equal(taken(l, "192.0.2.1", 1400, 5), 0);
    assert_int_equal(taken(l, "192.0.2.1", 1500, 5), 1); /* two a second */
    assert_int_equal(taken(l, "192.0.2.1", 1200, 5), 0); /* a clock that another thread read earlier */
    assert_int_equal(taken(l, "192.0.2.1", 3500, 50), 4);
    assert_int_equal(taken(l, "192.0.2.1", 1000000, 50), 10); /* never more than the burst */
    assert_int_equal(taken(l, "127.0.0.1", 1000, 100), 30);
    assert_int_equal(taken(l, "2001:db8:0:1::1", 1000, 50), 10);
    assert_int_equal(taken(l, "2001:db8:0:1:ffff::9", 1000, 50), 0); /* the same /64 */
    assert_int_equal(taken(l, "2001:db8:0:2::1", 1000, 50), 10);
    assert_int_equal(taken(l, "::ffff:192.0.2.2", 1000, 50), 0); /* the same client in other clothes */
    struct addr a = addr_of("192.0.2.2");
    int retry_s = 0;
    assert_false(limiter_take(l, &a, 1000, &retry_s));
    assert_int_equal(retry_s, 1);
    limiter_free(l);
    limiter_free(NULL);
    l = limiter_new(&(struct limiter_opts){.per_s = 0});
    assert_int_equal(taken(l, "192.0.2.1", 1000, 1000), 1000);
    limiter_free(l);
}

static void many_clients_do_not_lift_the_limit_of_a_busy_one(void **state)
{
    struct limiter *l =
        limiter_new(&(struct limiter_opts){.per_s = 1, .burst = 5, .loopback_factor = 1, .key = {3, 4}});
    struct addr busy = addr_of("198.51.100.7");
    int allowed = 0, retry_s;
    /* More strangers than there is room for, while the busy one goes on asking: what is used stays. */
    for (uint32_t i = 0; i < 4 * LIMIT_SLOTS; i++) {
        struct addr a = {4, {10, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i}};
        mono_ms now = 1000 + i / 40;
        (void)limiter_take(l, &a, now, &retry_s);
        allowed += limiter_take(l, &busy, now, &retry_s);
    }
    assert_in_range(allowed, 5, 6); /* burst, and less than a second of refill */
    limiter_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_are_held_to_their_rate),
        cmocka_unit_test(many_clients_do_not_lift_the_limit_of_a_busy_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
