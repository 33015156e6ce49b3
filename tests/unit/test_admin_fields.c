/* test_admin_fields.c - fields of forms: bytes and durations as people write them, pairs, lists of lines. */
#include "test.h"

#include "coord/admin_internal.h"

static void bytes_are_read_as_people_write_them(void **state)
{
    static const struct {
        const char *in;
        bool ok;
        uint64_t want;
    } cases[] = {{"0", true, 0},
                 {"5000", true, 5000},
                 {"10 GB", true, 10000000000},
                 {"10gb", true, 10000000000},
                 {"1.5 MB", true, 1500000},
                 {" 64MiB ", true, 64 << 20},
                 {"2 TiB", true, 2ull << 40},
                 {"9223372036854775807", true, INT64_MAX},
                 {"", false, 0},
                 {"-1", false, 0},
                 {"ten", false, 0},
                 {"1e9", false, 0},
                 {"0x10", false, 0},
                 {"1.2.3 MB", false, 0},
                 {". MB", false, 0},
                 {"10 XB", false, 0},
                 {"99999999999999999999", false, 0},
                 {"99999999 TB", false, 0},
                 {"nan", false, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint64_t v = 77;
        CHECK(cases[i].in, bytes_parse(span_str(cases[i].in), &v) == cases[i].ok);
        CHECK(cases[i].in, v == (cases[i].ok ? cases[i].want : 77));
    }
}

static void durations_are_read_as_people_write_them(void **state)
{
    static const struct {
        const char *in;
        bool ok;
        int64_t want;
    } cases[] = {{"0", true, 0},
                 {"1500", true, 1500},
                 {"90 s", true, 90000},
                 {"15min", true, 900000},
                 {"12 h", true, 43200000},
                 {"2 days", true, 172800000},
                 {"1 week", true, 604800000},
                 {"", false, 0},
                 {"soon", false, 0},
                 {"-1 h", false, 0},
                 {"1 y", false, 0},
                 {"9999999999 days", false, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int64_t v = 77;
        CHECK(cases[i].in, duration_parse(span_str(cases[i].in), &v) == cases[i].ok);
        CHECK(cases[i].in, v == (cases[i].ok ? cases[i].want : 77));
    }
}

static void forms_are_decoded_and_capped(void **state)
{
    struct arena a;
    struct pairs p = {0};
    arena_init(&a);
    CHECK_STATUS("form", pairs_read_form(&a, SPAN("a=1&b=x+y%26z&c&a=2&d=%zz&=e"), &p), ST_OK);
    assert_int_equal(p.n, 6);
    CHECK_SPAN("first of two", pairs_get(&p, "a"), SPAN("1"));
    CHECK_SPAN("decoded", pairs_get(&p, "b"), SPAN("x y&z"));
    CHECK("there and empty", pairs_has(&p, "c") && pairs_get(&p, "c").n == 0);
    CHECK_SPAN("bad escape stays", pairs_get(&p, "d"), SPAN("%zz"));
    CHECK("not there", !pairs_has(&p, "e") && pairs_get(&p, "e").n == 0);
    struct buf many = {0};
    for (int i = 0; i <= ADMIN_PAIRS_MAX; i++)
        buf_puts(&many, "x=1&");
    CHECK_STATUS("too many", pairs_read_form(&a, buf_span(&many), &p), ST_LIMIT);
    buf_done(&many);
    arena_done(&a);
}

static void lines_lose_comments_and_blanks(void **state)
{
    struct arena a;
    struct span *lines;
    struct json_pair list[] = {{SPAN("seeds"), SPAN("# head\r\n https://a.example/ \r\n\r\n\nhttps://b.example/")},
                               {SPAN("other"), SPAN("https://no.example/")},
                               {SPAN("seeds"), SPAN("https://c.example/")}};
    struct pairs p = {list, 3};
    arena_init(&a);
    assert_int_equal(pairs_lines(&a, &p, "seeds", 100, &lines), 3);
    CHECK_SPAN("trimmed", lines[0], SPAN("https://a.example/"));
    CHECK_SPAN("of another field", lines[2], SPAN("https://c.example/"));
    assert_int_equal(pairs_lines(&a, &p, "none", 100, &lines), 0);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_read_as_people_write_them),
        cmocka_unit_test(durations_are_read_as_people_write_them),
        cmocka_unit_test(forms_are_decoded_and_capped),
        cmocka_unit_test(lines_lose_comments_and_blanks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
