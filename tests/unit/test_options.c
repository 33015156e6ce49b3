/* test_options.c - the command line: options and their sources, start pages, numbers for people, JSON, the progress
 * line. */
#include "test.h"

#include "base/utf8.h"
#include "cli/format.h"
#include "codec/json.h"
#include "cli/options.h"
#include "cli/screen.h"
#include "cli/seeds.h"

#define ARGS_MAX 8

static int parse(struct options *o, command_set command, const char *const *words, struct buf *err)
{
    char *argv[ARGS_MAX];
    int argc = 0;
    for (; words[argc]; argc++)
        argv[argc] = (char *)words[argc];
    return options_from_args(o, command, argc, argv, err);
}

static void reads_values_of_every_type(void **state)
{
    static const struct {
        const char *label;
        const char *words[ARGS_MAX];
        opt_id id;
        int64_t want;
    } cases[] = {
        {"number", {"--pages", "12"}, OPT_PAGES, 12},
        {"number after =", {"--pages=12"}, OPT_PAGES, 12},
        {"the last one counts", {"--pages=12", "--pages", "13"}, OPT_PAGES, 13},
        {"flag", {"--json"}, OPT_JSON, 1},
        {"flag turned off", {"--json", "--no-json"}, OPT_JSON, 0},
        {"flag with value", {"--json=no"}, OPT_JSON, 0},
        {"bytes", {"--rate", "100"}, OPT_RATE, 100},
        {"kilobytes", {"--rate", "2k"}, OPT_RATE, 2048},
        {"megabytes", {"--rate", "3MiB"}, OPT_RATE, 3 << 20},
        {"milliseconds alone", {"--delay", "300"}, OPT_DELAY, 300},
        {"delay in seconds", {"--delay", "2s"}, OPT_DELAY, 2000},
        {"seconds alone", {"--max-time", "90"}, OPT_MAX_TIME, 90000},
        {"minutes", {"--max-time=10m"}, OPT_MAX_TIME, 600000},
        {"hours", {"--max-time=2h"}, OPT_MAX_TIME, 7200000},
        {"default", {"--json"}, OPT_DEPTH, 64},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct options o;
        struct buf err = {0};
        options_init(&o);
        int code = parse(&o, CMD_CRAWL, cases[i].words, &err);
        if (code != EXIT_DONE || opt_number(&o, cases[i].id) != cases[i].want)
            fail_msg("%s: code %d (%s), value %lld", cases[i].label, code, buf_cstr(&err),
                     (long long)opt_number(&o, cases[i].id));
        options_done(&o);
        buf_done(&err);
    }
}

static void refuses_what_makes_no_sense(void **state)
{
    static const struct {
        command_set command;
        const char *words[ARGS_MAX];
        const char *want; /* part of the complaint */
    } cases[] = {
        {CMD_CRAWL, {"--dealy", "3"}, "did you mean --delay?"},
        {CMD_CRAWL, {"--alow-private"}, "did you mean --allow-private?"},
        {CMD_CRAWL, {"--qwertyuiop"}, "see --help"},
        {CMD_CRAWL, {"--base", "x"}, "not an option of this command"},
        {CMD_CRAWL, {"--pages"}, "its value is missing"},
        {CMD_CRAWL, {"--pages", "many"}, "is not a number"},
        {CMD_CRAWL, {"--pages", "-1"}, "is not a number"},
        {CMD_CRAWL, {"--pages", "99999999999999999999"}, "out of range"},
        {CMD_CRAWL, {"--rate", "99999999999999G"}, "out of range"},
        {CMD_CRAWL, {"--frontier-mib", "0"}, "out of range: give 1 to 65536"},
        {CMD_CRAWL, {"--delay", "25h"}, "out of range: give 0 to 86400000 ms"},
        {CMD_CRAWL, {"--delay", "1x"}, "is not a time"},
        {CMD_CRAWL, {"--rate", "5q"}, "is not a size"},
        {CMD_CRAWL, {"--scope", "world"}, "one of site, domain, prefix"},
        {CMD_CRAWL, {"--json=perhaps"}, "is not yes or no"},
        {CMD_CRAWL, {"--no-pages"}, "no such option"},
        {CMD_CRAWL, {"--no-json=yes"}, "takes no value"},
        {CMD_CRAWL, {"-j"}, "two dashes"},
        {CMD_URL, {"--data", "x"}, "not an option of this command"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct options o;
        struct buf err = {0};
        options_init(&o);
        int code = parse(&o, cases[i].command, cases[i].words, &err);
        if (code != EXIT_USAGE || !strstr(buf_cstr(&err), cases[i].want))
            fail_msg("%s: code %d, \"%s\" lacks \"%s\"", cases[i].words[0], code, buf_cstr(&err), cases[i].want);
        options_done(&o);
        buf_done(&err);
    }
}

static void takes_the_rest_as_arguments(void **state)
{
    static const char *const words[] = {"a", "--json", "-", "--", "--pages", "-x", NULL};
    struct options o;
    struct buf err = {0};
    options_init(&o);
    assert_int_equal(parse(&o, CMD_CRAWL, words, &err), EXIT_DONE);
    assert_int_equal(o.arg_count, 4);
    CHECK_SPAN("first", o.args[0], SPAN("a"));
    CHECK_SPAN("dash", o.args[1], SPAN("-"));
    CHECK_SPAN("after --", o.args[2], SPAN("--pages"));
    CHECK_SPAN("last", o.args[3], SPAN("-x"));
    options_done(&o);
    buf_done(&err);
}

static void stronger_sources_win_in_any_order(void **state)
{
    static const char *const words[] = {"--delay", "3000", NULL};
    static char *const envp[] = {"ORB_DELAY=2000",   "ORB_DEPTH=5", "ORB_PER_HOST=2",
                                 "ORB_INCLUDE=a\nb", "ORB_X=1",     NULL};
    static const struct span text =
        SPAN("# comment\n\n delay = 1500 \ndepth=4\npages = 7\ninclude = c\nexclude = d\nexclude = e\n");
    for (int order = 0; order < 2; order++) {
        struct options o;
        struct buf err = {0};
        size_t n;
        options_init(&o);
        if (order == 0)
            assert_int_equal(options_from_text(&o, "f", text, &err), EXIT_DONE);
        assert_int_equal(options_from_env(&o, CMD_CRAWL, envp, &err), EXIT_DONE);
        assert_int_equal(parse(&o, CMD_CRAWL, words, &err), EXIT_DONE);
        if (order == 1)
            assert_int_equal(options_from_text(&o, "f", text, &err), EXIT_DONE);
        assert_int_equal(opt_number(&o, OPT_DELAY), 3000);
        assert_int_equal(opt_number(&o, OPT_DEPTH), 5);
        assert_int_equal(opt_number(&o, OPT_PAGES), 7);
        assert_int_equal(opt_number(&o, OPT_PER_HOST), 2);
        assert_int_equal(opt_number(&o, OPT_FRONTIER_MIB), 64);
        assert_int_equal(o.v[OPT_DELAY].source, FROM_FLAG);
        assert_int_equal(o.v[OPT_DEPTH].source, FROM_ENV);
        assert_int_equal(o.v[OPT_PAGES].source, FROM_FILE);
        assert_int_equal(o.v[OPT_PAGES].line, 5);
        const struct span *list = opt_list(&o, OPT_INCLUDE, &n);
        assert_int_equal(n, 2);
        CHECK_SPAN("list from the environment", list[1], SPAN("b"));
        list = opt_list(&o, OPT_EXCLUDE, &n);
        assert_int_equal(n, 2);
        CHECK_SPAN("list from the file", list[1], SPAN("e"));
        options_done(&o);
        buf_done(&err);
    }
}

static void complains_about_the_config_file_by_line(void **state)
{
    static const struct {
        struct span text;
        const char *want;
    } cases[] = {
        {SPAN("delay = 1000\ndely = 5\n"), "f line 2: no setting is called \"dely\": did you mean delay?"},
        {SPAN("delay\n"), "f line 1: no '=' in it"},
        {SPAN("\n\ndelay = soon\n"), "f line 3: \"soon\" is not a time"},
        {SPAN("help = yes\n"), "no setting is called \"help\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct options o;
        struct buf err = {0};
        options_init(&o);
        int code = options_from_text(&o, "f", cases[i].text, &err);
        if (code != EXIT_INPUT || !strstr(buf_cstr(&err), cases[i].want))
            fail_msg("%s: code %d, \"%s\"", cases[i].want, code, buf_cstr(&err));
        options_done(&o);
        buf_done(&err);
    }
}

static void finds_contradictions(void **state)
{
    static const struct {
        const char *words[ARGS_MAX];
        const char *want; /* NULL: fine */
    } cases[] = {
        {{"--json"}, NULL},
        {{"--insecure", "--ca-file", "x"}, "--insecure and --ca-file"},
        {{"--quiet", "--progress"}, "--quiet and --progress"},
        {{"--quiet", "--no-progress"}, NULL},
        {{"--delay", "100"}, "--own-site"},
        {{"--per-host", "3"}, "--own-site"},
        {{"--delay", "100", "--own-site", "a.example"}, NULL},
        {{"--delay", "0", "--allow-private"}, NULL},
        {{"--header", "X-A: b"}, NULL},
        {{"--header", "no colon"}, "--header"},
        {{"--header", "X-A: b\r\nX-B: c"}, "--header"},
        {{"--contact", "a\nb"}, "--contact"},
        {{"--user-agent", ""}, "--user-agent"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct options o;
        struct buf err = {0};
        options_init(&o);
        assert_int_equal(parse(&o, CMD_CRAWL, cases[i].words, &err), EXIT_DONE);
        int code = options_check(&o, &err);
        bool is_right = cases[i].want ? code == EXIT_USAGE && strstr(buf_cstr(&err), cases[i].want) : code == EXIT_DONE;
        if (!is_right)
            fail_msg("%s %s: code %d, \"%s\"", cases[i].words[0], cases[i].words[1] ? cases[i].words[1] : "", code,
                     buf_cstr(&err));
        options_done(&o);
        buf_done(&err);
    }
}

static void every_option_has_a_name_a_help_and_a_sound_default(void **state)
{
    for (opt_id id = 0; id < OPT_COUNT; id++) {
        const struct opt_def *d = &option_table[id];
        if (!d->name || !d->help || !d->commands)
            fail_msg("option %d: table row is incomplete", (int)id);
        CHECK(d->name, (d->type == TYPE_FLAG) == (d->arg == NULL));
        for (opt_id other = 0; other < id; other++)
            /* One name may be two options, of different commands. */
            CHECK(d->name,
                  strcmp(d->name, option_table[other].name) != 0 || (d->commands & option_table[other].commands) == 0);
    }
}

static void counts_edits(void **state)
{
    static const struct {
        const char *a, *b;
        unsigned want;
    } cases[] = {{"", "", 0},           {"abc", "abc", 0},     {"abc", "", 3},       {"", "ab", 2},
                 {"delay", "dealy", 1}, {"crawl", "crwal", 1}, {"crawl", "rawl", 1}, {"kitten", "sitting", 3}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (edit_distance(span_str(cases[i].a), span_str(cases[i].b)) != cases[i].want)
            fail_msg("%s -> %s: %u", cases[i].a, cases[i].b, edit_distance(span_str(cases[i].a), span_str(cases[i].b)));
}

static void typed_addresses_become_urls(void **state)
{
    static const struct {
        const char *typed, *want; /* NULL: refused */
    } cases[] = {
        {"https://example.org", "https://example.org/"},
        {" http://example.org/a#b ", "http://example.org/a"},
        {"example.org", "https://example.org/"},
        {"example.org/docs", "https://example.org/docs"},
        {"example.org:8443/docs", "https://example.org:8443/docs"},
        {"//example.org/x", "https://example.org/x"},
        {"localhost:8080/x", "http://localhost:8080/x"},
        {"localhost", "http://localhost/"},
        {"127.0.0.1:81", "http://127.0.0.1:81/"},
        {"192.168.1.9/a", "http://192.168.1.9/a"},
        {"[::1]:8080/a", "http://[::1]:8080/a"},
        {"1.1.1.1", "https://1.1.1.1/"},
        {"HTTPS:example.org", "https://example.org/"},
        {"intranet/start", "https://intranet/start"},
        {"word", NULL},
        {"", NULL},
        {"/etc/passwd", NULL},
        {"mailto:a@example.org", NULL},
        {"ftp://example.org/", NULL},
        {"http://", NULL},
        {"http://a b/", NULL},
        {"http://example.org:25/", NULL},
        {"javascript:alert(1)", NULL},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct url u;
        struct buf why = {0};
        status st = seed_parse(&a, span_str(cases[i].typed), &url_norm_default, &u, &why);
        CHECK_STATUS(cases[i].typed, st, cases[i].want ? ST_OK : ST_INVALID);
        if (st == ST_OK)
            CHECK_SPAN(cases[i].typed, u.href, span_str(cases[i].want));
        else
            CHECK(cases[i].typed, why.n > 0);
        buf_done(&why);
    }
    arena_done(&a);
}

static void writes_numbers_for_people(void **state)
{
    struct buf b = {0};
    put_count(&b, 0);
    buf_putc(&b, ' ');
    put_count(&b, 999);
    buf_putc(&b, ' ');
    put_count(&b, 1234567);
    assert_string_equal(buf_cstr(&b), "0 999 1,234,567");
    buf_clear(&b);
    put_bytes(&b, 999);
    buf_putc(&b, ' ');
    put_bytes(&b, 41234567);
    buf_putc(&b, ' ');
    put_bytes(&b, 999960);
    assert_string_equal(buf_cstr(&b), "999 B 41.2 MB 1.0 MB");
    buf_clear(&b);
    put_clock(&b, 16);
    buf_putc(&b, ' ');
    put_clock(&b, 3723);
    buf_putc(&b, ' ');
    put_clock(&b, 90061);
    assert_string_equal(buf_cstr(&b), "0:16 1:02:03 1d 01:01");
    buf_clear(&b);
    put_iso_time(&b, INT64_C(951782399999));
    assert_string_equal(buf_cstr(&b), "2000-02-28T23:59:59Z");
    buf_done(&b);
}

static void guards_csv_cells(void **state)
{
    static const struct {
        const char *in, *want;
    } cases[] = {{"plain", "plain"},
                 {"", ""},
                 {"a,b", "\"a,b\""},
                 {"say \"x\"", "\"say \"\"x\"\"\""},
                 {"two\nlines", "\"two\nlines\""},
                 {"=1+1", "'=1+1"},
                 {"+1", "'+1"},
                 {"-1", "'-1"},
                 {"@x", "'@x"},
                 {"=a,b", "\"'=a,b\""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf b = {0};
        put_csv(&b, span_str(cases[i].in));
        CHECK_SPAN(cases[i].in, buf_span(&b), span_str(cases[i].want));
        buf_done(&b);
    }
}

static void json_is_valid_whatever_goes_in(void **state)
{
    static const struct {
        struct span in;
        const char *want;
    } cases[] = {{SPAN("a\"b\\c"), "\"a\\\"b\\\\c\""},
                 {SPAN("\n\t\r\x01\x7f"), "\"\\n\\t\\r\\u0001\\u007f\""},
                 {SPAN("\xff\xc3"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
                 {SPAN("gr\xC3\xBC\xC3\x9F"), "\"gr\xC3\xBC\xC3\x9F\""},
                 {SPAN("\xC2\x9B"), "\"\\u009b\""},
                 {SPAN(""), "\"\""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf b = {0};
        struct json j = {.out = &b};
        json_text(&j, cases[i].in);
        CHECK_SPAN(cases[i].want, buf_span(&b), span_str(cases[i].want));
        buf_done(&b);
    }
    struct buf b = {0};
    struct json j = {.out = &b};
    json_open(&j, '{');
    json_key(&j, "a");
    json_open(&j, '[');
    json_u64(&j, 1);
    json_i64(&j, -2);
    json_real(&j, 0.5, 2);
    json_real(&j, 1.0 / 0.0, 2);
    json_close(&j, ']');
    json_key(&j, "b");
    json_open(&j, '{');
    json_close(&j, '}');
    json_key(&j, "queued");
    json_u64(&j, 77);
    json_close(&j, '}');
    assert_string_equal(buf_cstr(&b), "{\"a\":[1,-2,0.50,null],\"b\":{},\"queued\":77}");
    assert_int_equal(json_peek_u64(buf_span(&b), "queued"), 77);
    assert_int_equal(json_peek_u64(buf_span(&b), "nothing"), 0);
    buf_done(&b);
}

static void progress_line_fits_its_width(void **state)
{
    struct crawl_stats st = {.pages = 1234, .queued = 8211, .errors = 3, .bytes_wire = 41200000, .pass = 1};
    struct speed speed = {0};
    for (int i = 0; i <= 10; i++)
        speed_add(&speed, i * 200, (uint64_t)i * 100, (uint64_t)i * 103);
    struct buf b = {0};
    progress_line(&b, &st, &speed, 0, 80, false);
    assert_string_equal(buf_cstr(&b), "  1,234 pages  500/s  queue 8,211  errors 3  41.2 MB  eta 0:16");
    for (size_t width = 0; width < 80; width++) {
        buf_clear(&b);
        progress_line(&b, &st, &speed, 0, width, false);
        CHECK("width", b.n <= width);
    }
    buf_clear(&b);
    progress_line(&b, &st, &speed, 2234, 80, false);
    CHECK("eta from the page limit", strstr(buf_cstr(&b), "eta 0:02") != NULL);
    buf_clear(&b);
    progress_line(&b, &st, &speed, 0, 80, true);
    CHECK("colour", strstr(buf_cstr(&b), "\033[33merrors 3\033[0m") != NULL);
    static const struct {
        uint64_t hosts;
        const char *says;
    } rests[] = {{1, "  1 host rests for 0:48"}, {3, "  3 hosts rest, the first for 0:48"}};
    for (size_t i = 0; i < sizeof(rests) / sizeof(*rests); i++) {
        struct crawl_stats resting = {.hosts_waiting = rests[i].hosts, .rests_ms = 47001, .pass = 1};
        buf_clear(&b);
        progress_line(&b, &resting, &(struct speed){0}, 0, 80, false);
        CHECK(rests[i].says, strstr(buf_cstr(&b), rests[i].says) != NULL);
    }
    buf_clear(&b);
    st.is_finishing = true;
    progress_line(&b, &st, &speed, 0, 80, true);
    assert_string_equal(buf_cstr(&b), "  1,234 pages  finishing");
    buf_clear(&b);
    st.is_comparing = true;
    st.compared_percent = 45;
    progress_line(&b, &st, &speed, 0, 80, true);
    assert_string_equal(buf_cstr(&b), "  1,234 pages  looking for near-duplicates, 45 %");
    buf_clear(&b);
    progress_line(&b, &st, &speed, 0, 40, true);
    assert_string_equal(buf_cstr(&b), "  1,234 pages");
    buf_done(&b);
}

static void speed_is_that_of_the_last_seconds(void **state)
{
    struct speed s = {0};
    assert_true(speed_pages(&s) == 0);
    for (int i = 0; i < 1000; i++)
        speed_add(&s, i * 200, (uint64_t)i * 2, 0);
    assert_true(speed_pages(&s) > 9.9 && speed_pages(&s) < 10.1);
    for (int i = 0; i < SPEED_SAMPLES; i++)
        speed_add(&s, 200000 + i * 200, 2000, 0);
    assert_true(speed_pages(&s) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_values_of_every_type),
        cmocka_unit_test(refuses_what_makes_no_sense),
        cmocka_unit_test(takes_the_rest_as_arguments),
        cmocka_unit_test(stronger_sources_win_in_any_order),
        cmocka_unit_test(complains_about_the_config_file_by_line),
        cmocka_unit_test(finds_contradictions),
        cmocka_unit_test(every_option_has_a_name_a_help_and_a_sound_default),
        cmocka_unit_test(counts_edits),
        cmocka_unit_test(typed_addresses_become_urls),
        cmocka_unit_test(writes_numbers_for_people),
        cmocka_unit_test(guards_csv_cells),
        cmocka_unit_test(json_is_valid_whatever_goes_in),
        cmocka_unit_test(progress_line_fits_its_width),
        cmocka_unit_test(speed_is_that_of_the_last_seconds),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
