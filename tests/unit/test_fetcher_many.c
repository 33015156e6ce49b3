/* test_fetcher_many.c - many requests under way: each comes back once, freeing ends them, the rate is held. */
#include "fetch_bed.h"

#include "io/clock.h"

static void many_at_once_all_come_back_once(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .connections_max = 8});
    static const char *const paths[] = {"/page", "/drop", "/small.png", "/none", "/redirect"};
    b.want = 500;
    for (int i = 0; i < b.want; i++)
        start(&b, paths[i % 5], (struct fetch_req){.is_head = i % 7 == 0});
    assert_int_equal(fetcher_active(b.fetcher), 500);
    loop_run(b.loop);
    assert_int_equal(b.done, 500);
    assert_int_equal(fetcher_active(b.fetcher), 0);
    bed_close(&b);
}

static void freeing_cancels_what_is_under_way(void **state)
{
    struct bed b;
    bed_open(&b, (struct fetcher_opts){.allow_private = true, .connections_max = 4});
    b.want = 100;
    for (int i = 0; i < 10; i++)
        start(&b, "/slow", (struct fetch_req){.addr = i == 9 ? (struct addr){4, {224}} : LOOPBACK});
    fetcher_free(b.fetcher);
    b.fetcher = NULL;
    assert_int_equal(b.done, 10);
    CHECK_STATUS("cancelled", b.last.st, ST_CANCELLED);
    bed_close(&b);
}

static void free_in_callback(void *arg, const struct fetch_result *r)
{
    struct bed *b = arg;
    b->done++;
    if (r->st == ST_CANCELLED)
        return;
    assert_true(r->st == ST_OK || r->st == ST_REFUSED || r->st == ST_TIMEOUT);
    fetcher_free(b->fetcher);
    b->fetcher = NULL;
    loop_stop(b->loop);
}

static void freeing_is_allowed_inside_the_callback(void **state)
{
    static const struct {
        const char *label, *path;
        struct addr addr;
    } cases[] = {{"done", "/page", LOOPBACK}, {"refused", "/page", {4, {224}}}, {"timeout", "/slow", LOOPBACK}};
    for (size_t c = 0; c < 3; c++) {
        struct bed b;
        bed_open(&b, (struct fetcher_opts){.allow_private = true, .connections_max = 4, .first_byte_ms = 100});
        char url[100];
        snprintf(url, sizeof(url), "http://site.test:%d%s", b.port, cases[c].path);
        for (int i = 0; i < 8; i++) {
            struct fetch_req req = {.url = span_str(url), .addr = cases[c].addr, .done = free_in_callback, .arg = &b};
            fetcher_get(b.fetcher, &req);
        }
        loop_run(b.loop);
        CHECK(cases[c].label, b.done == 8 && !b.fetcher);
        bed_close(&b);
    }
}

static void holds_the_rate(void **state)
{
    static const struct {
        const char *label, *path;
        int requests;
    } cases[] = {{"one large", "/big", 1}, {"small ones", "/small.png", 6}};
    for (size_t c = 0; c < 2; c++) {
        struct bed b;
        bed_open(&b, (struct fetcher_opts){.allow_private = true, .rate_bytes_per_s = 300000});
        mono_ms from = clock_mono();
        b.want = cases[c].requests + 1;
        for (int i = 0; i < cases[c].requests; i++)
            start(&b, cases[c].path, (struct fetch_req){.any_type = true});
        start(&b, "/page", (struct fetch_req){0});
        loop_run(b.loop);
        mono_ms took = clock_mono() - from;
        CHECK_STATUS(cases[c].label, b.last.st, ST_OK);
        if (took < 500 || took > 30000)
            fail_msg("%s: took %d ms, want about 1000", cases[c].label, (int)took);
        bed_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_at_once_all_come_back_once),
        cmocka_unit_test(freeing_cancels_what_is_under_way),
        cmocka_unit_test(freeing_is_allowed_inside_the_callback),
        cmocka_unit_test(holds_the_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
