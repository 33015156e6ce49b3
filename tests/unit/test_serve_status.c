/* test_serve_status.c - what the server tells of a crawl that runs in its folder, ended or was killed. */
#include "serve_ask.h"

#include "io/clock.h"
#include "store/store.h"

static void put_progress(const char *json)
{
    struct store *store = NULL;
    CHECK_STATUS("open", store_open(test_folder(), STORE_WRITE, &store, NULL), ST_OK);
    CHECK_STATUS("progress", store_setting_put(store, "progress", span_str(json)), ST_OK);
    CHECK_STATUS("contact", store_setting_put(store, "contact", SPAN("me@example.org")), ST_OK);
    CHECK_STATUS("agent", store_setting_put(store, "user_agent", SPAN("mybot/2 (<b>; me@example.org)")), ST_OK);
    store_free(store);
}

static void progress_of_a_crawl_is_shown(void **state)
{
    struct buf json = {0};
    buf_printf(&json,
               "{\"running\":true,\"at\":%lld,\"pass\":1,\"pages\":1234,\"fetched\":100,\"unchanged\":0,\"errors\":7,"
               "\"queued\":56,\"known_urls\":2000,\"hosts\":9,\"hosts_waiting\":2,\"hosts_given_up\":1,\"traps\":3,"
               "\"bytes\":4096,\"seconds\":10.0,\"errors_by_kind\":{\"timeout\":4,\"http 5xx\":3,\"<x>\":1}}",
               (long long)clock_wall());
    put_progress(buf_cstr(&json));
    struct serve *s = start((struct serve_opts){0});
    const struct ask_case cases[] = {
        {"GET", "/api/v1/status", "", 200, "\"running\":true", NULL},
        {"GET", "/api/v1/status", "", 200, "\"errors_by_kind\":{\"timeout\":4,\"http 5xx\":3}", NULL},
        {"GET", "/api/v1/status", "", 200, "\"pages_per_s\":10", NULL},
        {"GET", "/api/v1/status", "", 200, "\"hosts_backoff\":2,\"hosts_given_up\":1,\"parked\":3", NULL},
        {"GET", "/status", "", 200, "A crawl is running.", "<x>"},
        {"GET", "/status", "", 200, "<dd data-key=\"crawl.pages\">1,234</dd>", NULL},
        {"GET", "/metrics", "", 200, "orb_crawl_errors_total{kind=\"http 5xx\"} 3\n", NULL},
        {"GET", "/metrics", "", 200, "orb_crawl_running 1\n", NULL},
        {"GET", "/about-this-crawler", "", 200, "User-agent: mybot\n", "<b>;"},
        {"GET", "/about-this-crawler", "", 200, "href=\"mailto:me@example.org\"", NULL},
        {"GET", "/about-this-crawler", "", 200, "name the page, the folder, the host or the domain", "left no address"},
    };
    check_cases(s, cases, sizeof(cases) / sizeof(*cases));
    serve_free(s);
    buf_done(&json);
}

static void a_crawl_that_was_killed_is_told_from_one_that_runs(void **state)
{
    put_progress("{\"running\":true,\"at\":1700000000000,\"pass\":1,\"pages\":1,\"queued\":5,\"errors_by_kind\":{}}");
    struct serve *s = start((struct serve_opts){0});
    const struct ask_case cases[] = {
        {"GET", "/api/v1/status", "", 200, "\"running\":false,\"interrupted\":true", NULL},
        {"GET", "/status", "", 200, "The last crawl was interrupted", NULL},
        {"GET", "/metrics", "", 200, "orb_crawl_running 0\n", NULL},
    };
    check_cases(s, cases, sizeof(cases) / sizeof(*cases));
    serve_free(s);
}

static void odd_progress_texts_do_no_harm(void **state)
{
    static const char *const texts[] = {"",
                                        "{",
                                        "null",
                                        "{\"errors_by_kind\":{",
                                        "{\"errors_by_kind\":{\"a\"}}",
                                        "{\"errors_by_kind\":{\"\":1}}",
                                        "{\"errors_by_kind\":{\"a\":99999999999999999999999}}",
                                        "{\"at\":-5,\"running\":true}",
                                        "{\"pages\":\"<script>\"}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        put_progress(texts[i]);
        struct serve *s = start((struct serve_opts){0});
        const struct ask_case cases[] = {{"GET", "/status", "", 200, NULL, "<script>"},
                                         {"GET", "/api/v1/status", "", 200, "\"version\":1", "<script>"},
                                         {"GET", "/metrics", "", 200, NULL, NULL}};
        check_cases(s, cases, 3);
        serve_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(progress_of_a_crawl_is_shown),
        TEST_IN_FOLDER(a_crawl_that_was_killed_is_told_from_one_that_runs),
        TEST_IN_FOLDER(odd_progress_texts_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
