#include "test.h"

#include "base/arena.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/pack.h"
#include "base/rng.h"
#include "base/siphash.h"
#include "base/table.h"
#include "base/utf8.h"

static void siphash_gives_the_reference_values(void **state)
{
    /* SipHash-1-3 with key 00..0f of the inputs "", 00, 00 01: values of the reference implementation's vectors
     * (little-endian). */
    const struct sip_key key = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
    const unsigned char in[64] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    assert_true(siphash(&key, span_of(in, 0)) == 0xabac0158050fc4dcu);
    assert_true(siphash(&key, span_of(in, 1)) == 0xc9f49bf37d57ca93u);
    assert_true(siphash(&key, span_of(in, 2)) == 0x82cb9b024dc7d44du);
    assert_true(siphash(&key, span_of(in, 8)) == 0x369095118d299a8eu);
}

static void pack_reads_back_what_it_wrote_and_stops_at_the_end(void **state)
{
    struct buf b = {0};
    const uint64_t values[] = {0, 1, 127, 128, 300, UINT32_MAX, UINT64_MAX};
    for (size_t i = 0; i < 7; i++)
        pack_var(&b, values[i]);
    pack_u32(&b, 0xdeadbeef);
    pack_u64(&b, 0x0123456789abcdefu);
    pack_text(&b, SPAN("text"));
    struct unpack u = unpack_of(buf_span(&b));
    for (size_t i = 0; i < 7; i++)
        assert_true(unpack_var(&u) == values[i]);
    assert_true(unpack_u32(&u) == 0xdeadbeef);
    assert_true(unpack_u64(&u) == 0x0123456789abcdefu);
    CHECK_SPAN("text", unpack_text(&u, 4), SPAN("text"));
    assert_true(unpack_at_end(&u) && !u.bad);
    unpack_u8(&u);
    assert_true(u.bad);
    for (size_t n = 0; n < b.n; n++) {
        u = unpack_of(span_of(b.p, n));
        while (!u.bad && !unpack_at_end(&u))
            (void)unpack_var(&u);
    }
    u = unpack_of(SPAN("\x05"
                       "abc"));
    (void)unpack_text(&u, 100);
    CHECK("text past the end", u.bad);
    u = unpack_of(SPAN("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));
    (void)unpack_var(&u);
    CHECK("varint past 64 bits", u.bad);
    buf_done(&b);
}

struct item {
    struct heap_node node;
    int id;
};

static void heap_gives_items_back_in_order_and_equals_as_they_came(void **state)
{
    struct heap h = {0};
    static struct item items[500];
    struct rng rng;
    rng_seed(&rng, 7);
    for (int i = 0; i < 500; i++) {
        items[i].id = i;
        heap_set(&h, &items[i].node, (int64_t)rng_below(&rng, 20));
    }
    for (int i = 0; i < 500; i += 3)
        heap_set(&h, &items[i].node, (int64_t)rng_below(&rng, 20));
    for (int i = 0; i < 500; i += 7)
        heap_remove(&h, &items[i].node);
    int64_t last_key = -1;
    uint64_t last_order = 0;
    size_t n = 0;
    for (struct heap_node *top; (top = heap_top(&h)); n++) {
        assert_true(top->key > last_key || (top->key == last_key && top->order > last_order));
        last_key = top->key;
        last_order = top->order;
        heap_remove(&h, top);
        assert_false(heap_has(top));
    }
    assert_int_equal(n, 500 - 72);
    heap_done(&h);
}

static void table_agrees_with_a_plain_array(void **state)
{
    struct table t = {0};
    static void *twin[1000];
    struct rng rng;
    rng_seed(&rng, 1);
    for (int step = 0; step < 100000; step++) {
        uint64_t key = rng_below(&rng, 1000);
        uint64_t wide = key * 0x10001;
        if (rng_below(&rng, 3)) {
            twin[key] = &twin[rng_below(&rng, 1000)];
            table_put(&t, wide, twin[key]);
        } else {
            assert_ptr_equal(table_remove(&t, wide), twin[key]);
            twin[key] = NULL;
        }
    }
    size_t n = 0;
    for (uint64_t k = 0; k < 1000; k++) {
        assert_ptr_equal(table_get(&t, k * 0x10001), twin[k]);
        n += twin[k] != NULL;
    }
    assert_int_equal(t.n, n);
    size_t at = 0, seen = 0;
    while (table_next(&t, &at))
        seen++;
    assert_int_equal(seen, n);
    table_done(&t);
}

static void arena_keeps_what_it_gave_until_reset(void **state)
{
    struct arena a;
    arena_init(&a);
    for (int round = 0; round < 3; round++) {
        char *p[200];
        for (int i = 0; i < 200; i++) {
            p[i] = arena_alloc(&a, (size_t)i * 37);
            assert_int_equal((uintptr_t)p[i] & 15, 0);
            memset(p[i], i, (size_t)i * 37);
        }
        for (int i = 1; i < 200; i++)
            assert_true(p[i][0] == (char)i && p[i][i * 37 - 1] == (char)i);
        arena_reset(&a);
    }
    CHECK_SPAN("copy", arena_copy(&a, SPAN("abc")), SPAN("abc"));
    arena_done(&a);
}

static void utf8_replaces_broken_sequences_as_the_standard_does(void **state)
{
    const struct {
        const char *in;
        unsigned scalars, bad;
    } cases[] = {
        {"abc", 3, 0},
        {"\xc3\xa4", 1, 0},
        {"\xe2\x82\xac", 1, 0},
        {"\xf0\x9f\x98\x80", 1, 0},
        {"\xc0\x80", 2, 2},
        {"\xe0\x80\x80", 3, 3},
        {"\xed\xa0\x80", 3, 3},
        {"\xf4\x90\x80\x80", 4, 4},
        {"\xf0\x9f\x98", 1, 1},
        {"\xe2\x82"
         "a",
         2, 1},
        {"\xff", 1, 1},
        {"\x80", 1, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct span s = span_str(cases[i].in);
        unsigned n = 0, bad = 0;
        for (size_t at = 0; at < s.n; n++) {
            bool valid;
            utf8_next(s, &at, &valid);
            bad += !valid;
        }
        if (n != cases[i].scalars || bad != cases[i].bad)
            fail_msg("case %zu: %u scalars, %u bad", i, n, bad);
        assert_int_equal(utf8_is_valid(s), bad == 0);
    }
    CHECK_SPAN("cut", utf8_cut(SPAN("a\xe2\x82\xac"), 3), SPAN("a"));
}

static void log_escape_leaves_no_control_bytes(void **state)
{
    struct buf b = {0};
    log_escape(&b, SPAN("a\x1b[31m\n\xe2\x80\xae\xff\xc3\xa4"), 100);
    CHECK_SPAN("escaped", buf_span(&b), SPAN("a\\x1b[31m\\x0a\\xe2\\x80\\xae\\xff\xc3\xa4"));
    buf_done(&b);
}

static void spans_split_and_read_numbers(void **state)
{
    struct span rest = SPAN("a,,b,"), part;
    const char *want[] = {"a", "", "b", ""};
    size_t n = 0;
    while (span_split(&rest, ',', &part))
        CHECK_SPAN("part", part, span_str(want[n++]));
    assert_int_equal(n, 4);
    uint64_t v = 0;
    assert_true(span_u64(SPAN("18446744073709551615"), UINT64_MAX, &v) && v == UINT64_MAX);
    assert_false(span_u64(SPAN("18446744073709551616"), UINT64_MAX, &v));
    assert_false(span_u64(SPAN("11"), 10, &v));
    assert_false(span_u64(SPAN(""), 10, &v));
    assert_false(span_u64(SPAN("1x"), 10, &v));
    assert_int_equal(span_search(SPAN("Hello"), SPAN("ELL"), true), 1);
    assert_int_equal(span_search(SPAN("Hello"), SPAN("ELL"), false), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siphash_gives_the_reference_values),
        cmocka_unit_test(pack_reads_back_what_it_wrote_and_stops_at_the_end),
        cmocka_unit_test(heap_gives_items_back_in_order_and_equals_as_they_came),
        cmocka_unit_test(table_agrees_with_a_plain_array),
        cmocka_unit_test(arena_keeps_what_it_gave_until_reset),
        cmocka_unit_test(utf8_replaces_broken_sequences_as_the_standard_does),
        cmocka_unit_test(log_escape_leaves_no_control_bytes),
        cmocka_unit_test(spans_split_and_read_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
